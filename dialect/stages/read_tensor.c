/* The reader of sections: constants and operations of tensor; see read_tensor.h. */
#include "dialect/stages/read_tensor.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/emit_stage.h"
#include "support/number/dtype.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

static bool splatBits(MlirAttribute attribute, SambaDType dtype, uint64_t *out_bits) {
  if (!mlirAttributeIsADenseElements(attribute) || !mlirDenseElementsAttrIsSplat(attribute))
    return false;
  MlirAttribute element = mlirDenseElementsAttrGetSplatValue(attribute);
  if (sambaDTypeIsFloat(dtype))
    *out_bits = sambaFloatToBits(dtype, (float)mlirFloatAttrGetValueDouble(element));
  else if (dtype == SAMBA_DTYPE_UI8)
    *out_bits = mlirIntegerAttrGetValueUInt(element);
  else
    *out_bits = (uint64_t)mlirIntegerAttrGetValueInt(element);

  if (dtype == SAMBA_DTYPE_I1)
    *out_bits &= 1;
  return true;
}

static bool elementBits(MlirAttribute element, SambaDType dtype, uint64_t *out_bits) {
  unsigned bits = dtype == SAMBA_DTYPE_I1 ? 1 : 8 * sambaDTypeBytes(dtype);
  if (mlirAttributeIsAFloat(element))
    *out_bits = sambaFloatToBits(dtype, (float)mlirFloatAttrGetValueDouble(element));
  else if (mlirAttributeIsAInteger(element))
    *out_bits = (uint64_t)mlirIntegerAttrGetValueInt(element) & (UINT64_MAX >> (64 - bits));
  else
    return false;
  return true;
}

/* A scalar constant, wherever it stands. */
static bool scalarBits(MlirValue value, SambaDType dtype, uint64_t *out_bits) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (!mlirOperationIsNull(maker) && sambaOperationIs(maker, "builtin.unrealized_conversion_cast"))
    maker = sambaDefiningOperation(mlirOperationGetOperand(maker, 0));
  return !mlirOperationIsNull(maker) && sambaOperationIs(maker, "arith.constant") &&
         elementBits(sambaOperationAttribute(maker, "value"), dtype, out_bits);
}

static SambaStatus readConstant(SambaSectionReader *reader) {
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  MlirAttribute attribute = sambaOperationAttribute(reader->operation, "value");
  SambaSectionReaderValue value = {0};
  SambaDType dtype = sambaDTypeFromType(mlirValueGetType(result));

  if (dtype != SAMBA_DTYPE_COUNT) {
    value.is_scalar = true;
    value.type = (SambaTensorType){.dtype = dtype};
    elementBits(attribute, dtype, &value.splat);
    sambaReaderAddValue(reader, result, &value);
    return NULL;
  }

  if (mlirTypeIsAIndex(mlirValueGetType(result))) /* a place: whoever uses it reads it himself */
    return NULL;

  if (!sambaReaderTensorType(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a constant of a type that Samba does not know");
  return sambaStatusMake(
      SAMBA_UNSUPPORTED,
      "a constant of many values inside a section; pass it as an argument of the section");
}

/* A constant of ui8, which arith does not have. */
static SambaStatus readCast(SambaSectionReader *reader) {
  uint32_t from;
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &from));
  SambaSectionReaderValue value = reader->values.data[from];
  value.type.dtype = sambaDTypeFromType(mlirValueGetType(result));
  if (!value.is_scalar || value.type.dtype != SAMBA_DTYPE_UI8)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "'builtin.unrealized_conversion_cast' of another value than a constant");
  value.splat &= 0xff;
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

static SambaStatus readEmpty(SambaSectionReader *reader) {
  SambaSectionReaderValue value = {.is_empty = true};
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  if (!sambaReaderTensorType(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_INVALID,
                           "'tensor.empty' is not a static tensor of a type that Samba knows");
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

static SambaStatus readSplat(SambaSectionReader *reader) {
  SambaSectionReaderValue value = {.is_splat = true};
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  if (!sambaReaderTensorType(mlirValueGetType(result), &value.type) ||
      !splatBits(sambaSplatValue(reader->operation), value.type.dtype, &value.splat))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a constant of a type that Samba does not know");
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

/* The result, read from the source by `map`. */
static SambaStatus addView(SambaSectionReader *reader, SambaSectionReaderValue *source,
                           const SambaStageOperand *map, SambaSectionReaderValue *value) {
  SambaStage over = sambaReaderStageOver(&value->type);
  if (!sambaReaderCompose(reader, source, &over, map, &value->view)) {
    SAMBA_RETURN_IF_ERROR(sambaReaderSettle(reader, source));
    sambaReaderCompose(reader, source, &over, map, &value->view);
  }
  sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), value);
  return NULL;
}

static SambaStatus readPad(SambaSectionReader *reader) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(reader->operation, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  uint32_t source;
  uint64_t fill;

  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  SambaSectionReaderValue value = {0};
  SambaSectionReaderValue from = reader->values.data[source];
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  MlirAttribute low = sambaOperationAttribute(reader->operation, "static_low");
  if (mlirOperationGetNumOperands(reader->operation) != 1 ||
      !sambaReaderTensorType(mlirValueGetType(result), &value.type) ||
      !scalarBits(mlirOperationGetOperand(yield, 0), value.type.dtype, &fill))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "'tensor.pad' with dynamic amounts or a value that is not a constant");
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX, .guarded = true, .fill = fill};

  for (uint32_t a = 0; a < value.type.rank; ++a) {
    map.axes[a].coefficients[a] = 1;
    map.axes[a].constant = -mlirDenseI64ArrayGetElement(low, a);
  }

  value.is_splat = from.is_empty || (from.is_splat && from.splat == map.fill);
  value.splat = map.fill;
  if (!value.is_splat)
    return addView(reader, &from, &map, &value);
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

/*===-- Views ---------------------------------------------------------------------------------===*/

/* The value that operand 0 is, and the type of the result. */
static SambaStatus startView(SambaSectionReader *reader, SambaSectionReaderValue *out_source,
                             SambaSectionReaderValue *out_result) {
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  uint32_t source;
  *out_result = (SambaSectionReaderValue){0};
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  *out_source = reader->values.data[source];
  if (!sambaReaderTensorType(mlirValueGetType(result), &out_result->type))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "the result of '%.*s' is not a static tensor of a type that Samba knows",
                           SAMBA_STRING_ARGS(sambaReaderName(reader->operation)));
  return NULL;
}

/* What has no memory is the same in another shape. */
static bool addWithoutMemory(SambaSectionReader *reader, const SambaSectionReaderValue *source,
                             const SambaTensorType *type) {
  if (!source->is_empty && !source->is_splat && !source->is_argin)
    return false;
  SambaSectionReaderValue value = *source;
  value.type = *type;
  sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), &value);
  return true;
}

static SambaStatus readExtractSlice(SambaSectionReader *reader) {
  SambaSectionReaderValue source, value;
  uint32_t axis_of[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(startView(reader, &source, &value));
  MlirAttribute offsets = sambaOperationAttribute(reader->operation, "static_offsets");
  MlirAttribute sizes = sambaOperationAttribute(reader->operation, "static_sizes");
  MlirAttribute strides = sambaOperationAttribute(reader->operation, "static_strides");
  if (mlirOperationGetNumOperands(reader->operation) != 1)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'tensor.extract_slice' with dynamic slices");
  if (addWithoutMemory(reader, &source, &value.type))
    return NULL;

  SambaTensorType part = source.type;
  for (uint32_t a = 0; a < part.rank; ++a)
    part.dims[a] = mlirDenseI64ArrayGetElement(sizes, a);
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  if (!sambaAxesMatch(part.dims, part.rank, value.type.dims, value.type.rank, axis_of))
    return sambaReaderNotComposable(reader);
  for (uint32_t a = 0; a < part.rank; ++a) {
    map.axes[a].constant = mlirDenseI64ArrayGetElement(offsets, a);
    if (axis_of[a] != SAMBA_NO_INDEX)
      map.axes[a].coefficients[axis_of[a]] = mlirDenseI64ArrayGetElement(strides, a);
  }
  return addView(reader, &source, &map, &value);
}

static SambaStatus readExtract(SambaSectionReader *reader) {
  uint32_t source;
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  SambaSectionReaderValue from = reader->values.data[source];
  SambaSectionReaderValue value = {.type = {.dtype = from.type.dtype}};
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  if (addWithoutMemory(reader, &from, &value.type))
    return NULL;
  for (uint32_t a = 0; a < from.type.rank; ++a) {
    MlirOperation place =
        sambaDefiningOperation(mlirOperationGetOperand(reader->operation, 1 + (intptr_t)a));
    map.axes[a].constant = mlirIntegerAttrGetValueInt(sambaOperationAttribute(place, "value"));
    if (map.axes[a].constant < 0 || map.axes[a].constant >= from.type.dims[a])
      return sambaStatusMake(SAMBA_INVALID, "'tensor.extract' at place %lld of %lld",
                             (long long)map.axes[a].constant, (long long)from.type.dims[a]);
  }
  SambaStage over = sambaReaderStageOver(&value.type);
  if (!sambaReaderCompose(reader, &from, &over, &map, &value.view))
    return sambaReaderNotComposable(reader);
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

static SambaStatus readReshape(SambaSectionReader *reader) {
  SambaSectionReaderValue source, value;
  SAMBA_RETURN_IF_ERROR(startView(reader, &source, &value));
  if (addWithoutMemory(reader, &source, &value.type))
    return NULL;

  return sambaReaderReshapeValue(reader, &source, &value.type) ? NULL
                                                               : sambaReaderNotComposable(reader);
}

static SambaStatus readTensorCast(SambaSectionReader *reader) {
  SambaSectionReaderValue source, value;
  SAMBA_RETURN_IF_ERROR(startView(reader, &source, &value));
  sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), &source);
  return NULL;
}

/*===-- Partial writes ------------------------------------------------------------------------===*/

/* Nobody else sees what is written into the destination: it has no values yet, or the
 * insert_slice that made it is read by this one alone. */
static bool writesInPlace(MlirOperation operation) {
  MlirValue destination = mlirOperationGetOperand(operation, 1);
  MlirOperation maker = sambaDefiningOperation(destination);
  if (mlirOperationIsNull(maker))
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(destination);
  return sambaOperationIs(maker, "tensor.empty") ||
         (sambaOperationIs(maker, "tensor.insert_slice") &&
          mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(operation)) &&
          mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)));
}

bool sambaInsertSliceIsPartialWrite(MlirOperation operation) {
  MlirValue source = mlirOperationGetOperand(operation, 0);
  MlirOperation maker = sambaDefiningOperation(source);
  MlirOpOperand use = mlirValueGetFirstUse(source);
  if (mlirOperationIsNull(maker) || !sambaOperationIs(maker, "linalg.generic") ||
      mlirAttributeIsNull(sambaOperationAttribute(maker, SAMBA_STAGE_ATTRIBUTE)) ||
      !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)) || !writesInPlace(operation))
    return false;

  MlirOperation next = mlirOperationGetNextInBlock(maker);
  while (!mlirOperationIsNull(next) && sambaOperationIs(next, "tensor.empty"))
    next = mlirOperationGetNextInBlock(next);
  return mlirOperationEqual(next, operation);
}

/* The places of a tensor that one stage copies: along each axis `count` of them from `first` on,
 * `stride` apart. */
typedef struct Box {
  int64_t first[SAMBA_MAX_RANK], count[SAMBA_MAX_RANK], stride[SAMBA_MAX_RANK];
} Box;

static SambaStatus copyBox(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                           const Box *box, uint32_t tensor, uint32_t ordinal) {
  uint32_t rank = value->type.rank;
  SambaStage stage = {.name = sambaReaderStageName(reader),
                      .layer = sambaReaderLayer(reader),
                      .dim_count = rank,
                      .operand_count = 1};
  SambaStageOperand places = {.index_operand = SAMBA_NO_INDEX};
  for (uint32_t a = 0; a < rank; ++a) {
    stage.extents[a] = box->count[a];
    places.axes[a].constant = box->first[a];
    places.axes[a].coefficients[a] = box->stride[a];
  }
  stage.output = places;
  stage.output.tensor = tensor;
  if (value->is_splat || value->is_argin)
    sambaReaderInline(reader, &stage, 0, value);
  else if (!sambaReaderCompose(reader, value, &stage, &places, &stage.operands[0]))
    return sambaReaderNotComposable(reader);
  sambaReaderAddStage(reader, &stage, ordinal);
  return NULL;
}

/* Copies what lies outside of the part: nothing is written twice. Axis after axis, what is not of
 * the part along that axis, and of the part along those before. */
static SambaStatus copyAround(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                              const Box *part, uint32_t tensor, uint32_t *ordinal) {
  Box box;
  for (uint32_t a = 0; a < value->type.rank; ++a) {
    box.first[a] = 0;
    box.count[a] = value->type.dims[a];
    box.stride[a] = 1;
  }

  for (uint32_t a = 0; a < value->type.rank; ++a) {
    int64_t stride = part->stride[a];
    int64_t end = part->first[a] + (part->count[a] - 1) * stride + 1; /* behind the part */
    for (int64_t r = 0; r <= stride; ++r) {                           /* before, between, behind */
      box.first[a] = r == 0 ? 0 : part->first[a] + r;
      box.count[a] = r == 0 ? part->first[a] : part->count[a] - 1;
      box.stride[a] = r == 0 ? 1 : stride;
      if (r == stride) {
        box.first[a] = end;
        box.count[a] = value->type.dims[a] - end;
        box.stride[a] = 1;
      }
      if (box.count[a] > 0)
        SAMBA_RETURN_IF_ERROR(copyBox(reader, value, &box, tensor, (*ordinal)++));
    }
    box.first[a] = part->first[a];
    box.count[a] = part->count[a];
    box.stride[a] = stride;
  }
  return NULL;
}

/* A tensor that holds what the destination holds around the part that is written. */
static SambaStatus readDestination(SambaSectionReader *reader, uint32_t destination,
                                   uint32_t *out_tensor, uint32_t *ordinal) {
  SambaSectionReaderValue value = reader->values.data[destination];
  if (writesInPlace(reader->operation) && !value.is_empty && value.is_whole &&
      reader->graph->tensors[value.view.tensor].role != SAMBA_TENSOR_ARGUMENT) {
    *out_tensor = value.view.tensor;
    return NULL;
  }

  *out_tensor = sambaReaderAddTensor(reader, &value.type, SAMBA_TENSOR_INTERMEDIATE, SAMBA_NO_INDEX,
                                     SAMBA_NO_INDEX, sambaReaderStageName(reader));
  if (value.is_empty)
    return NULL;
  Box part;
  static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
  int64_t *const lists[] = {part.first, part.count, part.stride};
  for (int i = 0; i < 3; ++i)
    for (uint32_t a = 0; a < value.type.rank; ++a)
      lists[i][a] =
          mlirDenseI64ArrayGetElement(sambaOperationAttribute(reader->operation, names[i]), a);
  return copyAround(reader, &value, &part, *out_tensor, ordinal);
}

/* The last stage writes its part of the destination itself; the tensor that it has made for its
 * source is nobody's. */
static SambaStatus writeInto(SambaSectionReader *reader, uint32_t destination,
                             MlirAttribute offsets, MlirAttribute strides) {
  SambaStageGraph *graph = reader->graph;
  SambaStageOperand *output = &graph->stages[graph->stage_count - 1].output;
  uint32_t ordinal = 0;
  if (output->tensor + 1 == graph->tensor_count) {
    --graph->tensor_count;
    --reader->formals.size;
  }

  SAMBA_RETURN_IF_ERROR(readDestination(reader, destination, &output->tensor, &ordinal));
  for (uint32_t a = 0; a < graph->tensors[output->tensor].rank; ++a) {
    int64_t stride = mlirDenseI64ArrayGetElement(strides, a);
    output->axes[a].constant =
        output->axes[a].constant * stride + mlirDenseI64ArrayGetElement(offsets, a);
    for (uint32_t d = 0; d < SAMBA_MAX_STAGE_DIMS; ++d)
      output->axes[a].coefficients[d] *= stride;
  }
  const SambaTensorType type = reader->values.data[destination].type;
  sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, 0), &type, output->tensor);
  return NULL;
}

/* A stage that copies the source to its places. */
static SambaStatus writePart(SambaSectionReader *reader, const SambaSectionReaderValue *source,
                             uint32_t tensor, MlirAttribute offsets, MlirAttribute strides,
                             uint32_t ordinal) {
  uint32_t axis_of[SAMBA_MAX_RANK];
  MlirAttribute sizes = sambaOperationAttribute(reader->operation, "static_sizes");
  SambaTensorType part = {.rank = reader->graph->tensors[tensor].rank};
  for (uint32_t a = 0; a < part.rank; ++a)
    part.dims[a] = mlirDenseI64ArrayGetElement(sizes, a);
  if (!sambaAxesMatch(part.dims, part.rank, source->type.dims, source->type.rank, axis_of))
    return sambaReaderNotComposable(reader);
  for (uint32_t a = 0; a < part.rank && part.rank == source->type.rank; ++a)
    axis_of[a] = a; /* axes of one element too: as the operator that concatenates says it */

  SambaStage stage = {.name = sambaReaderStageName(reader),
                      .layer = sambaReaderLayer(reader),
                      .dim_count = source->type.rank,
                      .operand_count = 1,
                      .output = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX}};
  SambaStageOperand identity = sambaReaderIdentityView(0, source->type.rank);
  memcpy(stage.extents, source->type.dims, source->type.rank * sizeof *stage.extents);
  for (uint32_t a = 0; a < part.rank; ++a) {
    stage.output.axes[a].constant = mlirDenseI64ArrayGetElement(offsets, a);
    if (axis_of[a] != SAMBA_NO_INDEX)
      stage.output.axes[a].coefficients[axis_of[a]] = mlirDenseI64ArrayGetElement(strides, a);
  }

  if (source->is_splat || source->is_argin)
    sambaReaderInline(reader, &stage, 0, source);
  else if (!sambaReaderCompose(reader, source, &stage, &identity, &stage.operands[0]))
    return sambaReaderNotComposable(reader);
  sambaReaderAddStage(reader, &stage, ordinal);
  return NULL;
}

static SambaStatus readInsertSlice(SambaSectionReader *reader) {
  uint32_t source, destination, ordinal = 0, tensor;
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 1), &destination));
  MlirAttribute offsets = sambaOperationAttribute(reader->operation, "static_offsets");
  MlirAttribute strides = sambaOperationAttribute(reader->operation, "static_strides");
  if (mlirOperationGetNumOperands(reader->operation) != 2)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'tensor.insert_slice' with dynamic slices");
  if (sambaInsertSliceIsPartialWrite(reader->operation))
    return writeInto(reader, destination, offsets, strides);

  SAMBA_RETURN_IF_ERROR(readDestination(reader, destination, &tensor, &ordinal));
  const SambaSectionReaderValue from = reader->values.data[source];
  SAMBA_RETURN_IF_ERROR(writePart(reader, &from, tensor, offsets, strides, ordinal));
  const SambaTensorType whole = reader->values.data[destination].type;
  sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, 0), &whole, tensor);
  return NULL;
}

/*===-- Which operation is read how -----------------------------------------------------------===*/

SambaReadOperation sambaFindTensorReader(MlirOperation operation) {
  static const struct {
    const char *name;
    SambaReadOperation read;
  } readers[] = {{"builtin.unrealized_conversion_cast", readCast},
                 {"arith.constant", readConstant},
                 {"samba.constant", readConstant},
                 {"tensor.empty", readEmpty},
                 {"tensor.pad", readPad},
                 {"tensor.cast", readTensorCast},
                 {"tensor.collapse_shape", readReshape},
                 {"tensor.expand_shape", readReshape},
                 {"tensor.extract_slice", readExtractSlice},
                 {"tensor.extract", readExtract},
                 {"tensor.insert_slice", readInsertSlice}};
  if (sambaOperationIsSplat(operation))
    return readSplat;
  for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
    if (sambaOperationIs(operation, readers[i].name))
      return readers[i].read;
  return NULL;
}
