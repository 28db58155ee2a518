/* The reader of sections: constants, tensor and linalg operations. linalg.generic becomes a stage
 * again. */
#include "dialect/stages/read_linalg.h"
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

  return true;
}

static SambaStatus readConstant(SambaSectionReader *reader) {
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  MlirAttribute attribute = sambaOperationAttribute(reader->operation, "value");
  SambaSectionReaderValue value = {0};
  SambaDType dtype = sambaDTypeFromType(mlirValueGetType(result));

  if (dtype != SAMBA_DTYPE_COUNT) {
    value.is_scalar = true;
    value.type = (SambaTensorType){.dtype = dtype};
    if (mlirAttributeIsAFloat(attribute)) {
      value.splat = sambaFloatToBits(dtype, (float)mlirFloatAttrGetValueDouble(attribute));
    } else if (mlirAttributeIsAInteger(attribute)) {
      unsigned bits = dtype == SAMBA_DTYPE_I1 ? 1 : 8 * sambaDTypeBytes(dtype);
      value.splat = (uint64_t)mlirIntegerAttrGetValueInt(attribute) & (UINT64_MAX >> (64 - bits));
    }
    sambaReaderAddValue(reader, result, &value);
    return NULL;
  }

  if (sambaReaderTensorType(mlirValueGetType(result), &value.type) &&
      splatBits(attribute, value.type.dtype, &value.splat)) {
    value.is_splat = true;
    sambaReaderAddValue(reader, result, &value);
    return NULL;
  }

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

static SambaStatus readFill(SambaSectionReader *reader) {
  uint32_t scalar;
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &scalar));
  SambaSectionReaderValue value = {.is_splat = true, .splat = reader->values.data[scalar].splat};
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  if (!reader->values.data[scalar].is_scalar ||
      !sambaReaderTensorType(mlirValueGetType(result), &value.type) ||
      reader->values.data[scalar].type.dtype != value.type.dtype)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "'linalg.fill' with a value that is not a constant of the tensor's type");
  sambaReaderAddValue(reader, result, &value);
  return NULL;
}

static SambaStatus readPad(SambaSectionReader *reader) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(reader->operation, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  uint32_t source, fill;

  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  SambaSectionReaderValue value = {0};
  SambaSectionReaderValue from = reader->values.data[source];
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  MlirAttribute low = sambaOperationAttribute(reader->operation, "static_low");
  if (mlirOperationGetNumOperands(reader->operation) != 1 ||
      !sambaPointerMapGet(&reader->value_of, mlirOperationGetOperand(yield, 0).ptr, &fill) ||
      !reader->values.data[fill].is_scalar ||
      !sambaReaderTensorType(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "'tensor.pad' with dynamic amounts or a value that is not a constant");
  SambaStageOperand map = {
      .index_operand = SAMBA_NO_INDEX, .guarded = true, .fill = reader->values.data[fill].splat};

  for (uint32_t a = 0; a < value.type.rank; ++a) {
    map.axes[a].coefficients[a] = 1;
    map.axes[a].constant = -mlirDenseI64ArrayGetElement(low, a);
  }

  value.is_splat = from.is_splat && from.splat == map.fill;
  value.splat = from.splat;
  SambaStage over = sambaReaderStageOver(&value.type);
  if (!value.is_splat && !sambaReaderCompose(reader, &from, &over, &map, &value.view))
    return sambaReaderNotComposable(reader);
  sambaReaderAddValue(reader, result, &value);

  return NULL;
}

bool sambaInsertSliceIsPartialWrite(MlirOperation operation) {
  MlirValue source = mlirOperationGetOperand(operation, 0);
  MlirOperation maker = sambaDefiningOperation(source);
  MlirOpOperand use = mlirValueGetFirstUse(source);
  if (mlirOperationIsNull(maker) || !sambaOperationIs(maker, "linalg.generic") ||
      !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return false;

  MlirOperation next = mlirOperationGetNextInBlock(maker);
  while (!mlirOperationIsNull(next) && sambaOperationIs(next, "tensor.empty"))
    next = mlirOperationGetNextInBlock(next);
  return mlirOperationEqual(next, operation);
}

/* The last stage writes its part of the destination itself; the tensor that it has made for its
 * source is nobody's. */
static void writeInto(SambaSectionReader *reader, uint32_t destination, MlirAttribute offsets,
                      MlirAttribute strides) {
  SambaStageGraph *graph = reader->graph;
  SambaStageOperand *output = &graph->stages[graph->stage_count - 1].output;
  if (output->tensor + 1 == graph->tensor_count) {
    --graph->tensor_count;
    --reader->formals.size;
  }

  output->tensor = sambaReaderDestination(reader, destination);
  for (uint32_t a = 0; a < graph->tensors[output->tensor].rank; ++a) {
    int64_t stride = mlirDenseI64ArrayGetElement(strides, a);
    output->axes[a].constant =
        output->axes[a].constant * stride + mlirDenseI64ArrayGetElement(offsets, a);
    for (uint32_t d = 0; d < SAMBA_MAX_STAGE_DIMS; ++d)
      output->axes[a].coefficients[d] *= stride;
  }
}

static SambaStatus readInsertSlice(SambaSectionReader *reader) {
  uint32_t source, destination;
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 0), &source));
  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, 1), &destination));
  MlirAttribute offsets = sambaOperationAttribute(reader->operation, "static_offsets");
  MlirAttribute strides = sambaOperationAttribute(reader->operation, "static_strides");
  const SambaTensorType type = reader->values.data[source].type;

  if (mlirOperationGetNumOperands(reader->operation) != 2 ||
      type.rank != reader->values.data[destination].type.rank)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "'tensor.insert_slice' with dynamic or rank-changing slices");
  if (sambaInsertSliceIsPartialWrite(reader->operation)) {
    writeInto(reader, destination, offsets, strides);
    const SambaSectionReaderValue *value = &reader->values.data[destination];
    sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, 0), &value->type,
                        value->view.tensor);
    return NULL;
  }

  uint32_t tensor = sambaReaderDestination(reader, destination);
  SambaStage stage = {.name = sambaReaderStageName(reader),
                      .layer = sambaReaderLayer(reader),
                      .dim_count = type.rank,
                      .operand_count = 1};
  SambaStageOperand identity = sambaReaderIdentityView(0, type.rank);
  stage.output = sambaReaderIdentityView(tensor, type.rank);

  for (uint32_t a = 0; a < type.rank; ++a) {
    stage.extents[a] = type.dims[a];
    stage.output.axes[a].constant = mlirDenseI64ArrayGetElement(offsets, a);
    stage.output.axes[a].coefficients[a] = mlirDenseI64ArrayGetElement(strides, a);
  }

  if (reader->values.data[source].is_splat || reader->values.data[source].is_argin)
    sambaReaderInline(reader, &stage, 0, &reader->values.data[source]);
  else if (!sambaReaderCompose(reader, &reader->values.data[source], &stage, &identity,
                               &stage.operands[0]))
    return sambaReaderNotComposable(reader);
  sambaReaderAddStage(reader, &stage, 0);
  const SambaTensorType whole = reader->values.data[destination].type;
  sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, 0), &whole, tensor);

  return NULL;
}

static bool addExpression(MlirAffineExpr expression, int64_t factor, SambaAxisMap *axis) {
  if (mlirAffineExprIsADim(expression)) {
    intptr_t d = mlirAffineDimExprGetPosition(expression);
    if (d >= SAMBA_MAX_STAGE_DIMS)
      return false;
    axis->coefficients[d] += factor;
    return true;
  }

  if (mlirAffineExprIsAConstant(expression)) {
    axis->constant += factor * mlirAffineConstantExprGetValue(expression);
    return true;
  }

  if (!mlirAffineExprIsAAdd(expression) && !mlirAffineExprIsAMul(expression))
    return false;
  MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expression);
  MlirAffineExpr right = mlirAffineBinaryOpExprGetRHS(expression);
  if (mlirAffineExprIsAAdd(expression))
    return addExpression(left, factor, axis) && addExpression(right, factor, axis);
  if (mlirAffineExprIsAConstant(left))
    return addExpression(right, factor * mlirAffineConstantExprGetValue(left), axis);
  return mlirAffineExprIsAConstant(right) &&
         addExpression(left, factor * mlirAffineConstantExprGetValue(right), axis);
}

static bool readMap(MlirAttribute maps, intptr_t position, SambaStageOperand *operand) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, position));
  operand->index_operand = SAMBA_NO_INDEX;
  for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map); ++a)
    if (a >= SAMBA_MAX_RANK || !addExpression(mlirAffineMapGetResult(map, a), 1, &operand->axes[a]))
      return false;
  return true;
}

/* ---- linalg.generic ---- */

/* A linalg.generic on its way to a stage. */
typedef struct Generic {
  SambaSectionReader *reader;
  MlirBlock body;
  MlirValue accumulator; /* the block argument of the output */
  bool has_reduction;
  SambaStage stage;
  SAMBA_ARRAY(SambaLaneOp) ops;
  SambaPointerMap value_ids; /* of block arguments and results of body operations */
  uint32_t inlined[SAMBA_MAX_STAGE_OPERANDS], inlined_count; /* operands that need no stream */
} Generic;

/* linalg.index: the cast that follows says which lane class the counter is. */
static SambaLaneOp readCounter(MlirOperation operation) {
  MlirAttribute dim = sambaOperationAttribute(operation, "dim");
  SambaLaneOp op = {.opcode = SAMBA_LANE_COUNTER,
                    .type = SAMBA_DTYPE_I32,
                    .immediate = (uint64_t)mlirIntegerAttrGetValueInt(dim)};
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(operation, 0));
  if (mlirOpOperandIsNull(use))
    return op;
  MlirOperation user = mlirOpOperandGetOwner(use);
  SambaDType cast = sambaDTypeFromType(mlirValueGetType(mlirOperationGetResult(user, 0)));
  op.type = (uint8_t)(cast == SAMBA_DTYPE_I64 ? SAMBA_DTYPE_I64 : SAMBA_DTYPE_I32);
  return op;
}

/* One operation of a body: *out_forward says that it passes its operand on, else *out_op takes
 * *out_count of its operands, which ones in out_picks. */
static SambaStatus readLaneOp(const Generic *generic, MlirOperation operation, SambaLaneOp *out_op,
                              bool *out_forward, int *out_count, int out_picks[3]) {
  *out_forward = false;
  *out_count = (int)mlirOperationGetNumOperands(operation);
  for (int i = 0; i < 3; ++i)
    out_picks[i] = i;

  if (sambaOperationIs(operation, "linalg.index")) {
    *out_op = readCounter(operation);
    *out_count = 0;
    return NULL;
  }

  int picks[2];
  if (generic->has_reduction &&
      sambaLaneBodyReadReduction(operation, generic->accumulator, out_op, out_count, picks)) {
    out_picks[0] = picks[0];
    out_picks[1] = *out_count > 1 ? picks[1] : 0;
    return NULL;
  }

  if (sambaOperationIs(operation, "arith.index_cast")) {
    *out_forward = true;
    return NULL;
  }

  SambaLaneRead read = sambaLaneBodyRead(operation, out_op);
  if (read == SAMBA_LANE_READ_UNKNOWN)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "'%.*s' in the body of a 'linalg.generic' is not a lane operation",
                           SAMBA_STRING_ARGS(sambaReaderName(operation)));
  *out_forward = read == SAMBA_LANE_READ_FORWARD;
  if (read != SAMBA_LANE_READ_FORWARD && out_op->opcode == SAMBA_LANE_CONSTANT)
    *out_count = 0;
  return NULL;
}

static SambaStatus readBodyOperation(Generic *generic, MlirOperation operation) {
  uint32_t id;
  if (sambaOperationIs(operation, "linalg.yield")) {
    if (!sambaPointerMapGet(&generic->value_ids, mlirOperationGetOperand(operation, 0).ptr, &id))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a 'linalg.generic' yields a value from outside its body");
    generic->stage.result = id;
    return NULL;
  }

  SambaLaneOp op;
  bool forward;
  int count, picks[3];
  SAMBA_RETURN_IF_ERROR(readLaneOp(generic, operation, &op, &forward, &count, picks));

  MlirValue result = mlirOperationGetResult(operation, 0);
  if (forward) {
    if (!sambaPointerMapGet(&generic->value_ids, mlirOperationGetOperand(operation, 0).ptr, &id))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a 'linalg.generic' uses its output in a way that is not a reduction");
    sambaPointerMapSet(&generic->value_ids, result.ptr, id);
    return NULL;
  }

  for (int i = 0; i < count && i < 3; ++i) {
    MlirValue operand = mlirOperationGetOperand(operation, picks[i]);
    if (!sambaPointerMapGet(&generic->value_ids, operand.ptr, &id))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a 'linalg.generic' uses its output or a value from "
                             "outside in a way that is not a reduction");
    op.operands[i] = (uint16_t)id;
  }

  id = generic->stage.operand_count + (uint32_t)generic->ops.size;
  sambaPointerMapSet(&generic->value_ids, result.ptr, id);
  sambaArrayAppend(&generic->ops, op);
  return NULL;
}

/* The body as a lane program. */
static SambaStatus readBody(Generic *generic) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(generic->body);
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    SAMBA_RETURN_IF_ERROR(readBodyOperation(generic, operation));

  SambaStage *stage = &generic->stage;
  stage->op_count = (uint32_t)generic->ops.size;
  stage->ops = sambaArenaCopy(generic->reader->arena, generic->ops.data,
                              generic->ops.size * sizeof *generic->ops.data);
  return NULL;
}

/* Loop bounds come from axes that walk one dimension plainly. */
static void takeExtents(const SambaTensorType *type, const SambaStageOperand *operand,
                        SambaStage *stage) {
  for (uint32_t a = 0; a < type->rank; ++a)
    for (uint32_t d = 0; d < stage->dim_count; ++d) {
      SambaAxisMap plain = {0};
      plain.coefficients[d] = 1;
      if (memcmp(&plain, &operand->axes[a], sizeof plain) == 0)
        stage->extents[d] = type->dims[a];
    }
}

/* Inputs and, last, the output. An input's tensor is the number of its value, until its view is
 * composed. */
static SambaStatus readOperands(Generic *generic, MlirAttribute maps) {
  SambaSectionReader *reader = generic->reader;
  SambaStage *stage = &generic->stage;
  intptr_t inputs = mlirOperationGetNumOperands(reader->operation) - 1;

  for (intptr_t i = 0; i <= inputs; ++i) {
    MlirValue argument = mlirBlockGetArgument(generic->body, i);
    SambaStageOperand outer = {0};
    uint32_t index;
    if (!readMap(maps, i, &outer))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a 'linalg.generic' with an indexing map that is not linear");
    SAMBA_RETURN_IF_ERROR(
        sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, i), &index));
    const SambaSectionReaderValue *value = &reader->values.data[index];
    takeExtents(&value->type, &outer, stage);
    if (i == inputs) {
      stage->output = outer;
      break;
    }

    if (mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      continue; /* a shape operand, or one that canonicalization left */
    if (stage->operand_count == SAMBA_MAX_STAGE_OPERANDS)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' with more than %d inputs",
                             SAMBA_MAX_STAGE_OPERANDS);
    if (value->is_empty)
      return sambaStatusMake(SAMBA_INVALID, "a 'linalg.generic' reads a 'tensor.empty'");
    if (value->is_splat || value->is_scalar || value->is_argin)
      generic->inlined[generic->inlined_count++] = stage->operand_count;

    outer.tensor = index;
    stage->operands[stage->operand_count] = outer;
    sambaPointerMapSet(&generic->value_ids, argument.ptr, stage->operand_count++);
  }

  return NULL;
}

/* Splats and argins become sources of the program; what is left are views of tensors. */
static SambaStatus composeOperands(Generic *generic) {
  SambaSectionReader *reader = generic->reader;
  SambaStage *stage = &generic->stage;

  while (generic->inlined_count) {
    uint32_t k = generic->inlined[--generic->inlined_count];
    const SambaSectionReaderValue *value = &reader->values.data[stage->operands[k].tensor];
    sambaReaderInline(reader, stage, k, value);
  }

  for (uint32_t k = 0; k < stage->operand_count; ++k) {
    SambaStageOperand composed;
    if (!sambaReaderCompose(reader, &reader->values.data[stage->operands[k].tensor], stage,
                            &stage->operands[k], &composed))
      return sambaReaderNotComposable(reader);
    stage->operands[k] = composed;
  }

  return NULL;
}

static void readIterators(Generic *generic, MlirAttribute iterators) {
  MlirAttribute reduction =
      mlirAttributeParseGet(mlirOperationGetContext(generic->reader->operation),
                            sambaMlirString("#linalg.iterator_type<reduction>"));
  for (uint32_t d = 0; d < generic->stage.dim_count; ++d)
    generic->has_reduction |= generic->stage.reduced[d] =
        mlirAttributeEqual(mlirArrayAttrGetElement(iterators, d), reduction);
}

static SambaStatus readGeneric(SambaSectionReader *reader) {
  MlirAttribute iterators = sambaOperationAttribute(reader->operation, "iterator_types");
  intptr_t dims = mlirArrayAttrGetNumElements(iterators);
  if (mlirOperationGetNumResults(reader->operation) != 1 || dims > SAMBA_MAX_STAGE_DIMS)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "a 'linalg.generic' with several results or more than %d loops",
                           SAMBA_MAX_STAGE_DIMS);

  Generic generic = {.reader = reader,
                     .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(reader->operation, 0)),
                     .stage = {.name = sambaReaderStageName(reader),
                               .layer = sambaReaderLayer(reader),
                               .dim_count = (uint32_t)dims,
                               .lane_reduce = !mlirAttributeIsNull(sambaOperationAttribute(
                                   reader->operation, SAMBA_LANE_REDUCE_ATTRIBUTE))}};
  generic.accumulator =
      mlirBlockGetArgument(generic.body, mlirOperationGetNumOperands(reader->operation) - 1);
  readIterators(&generic, iterators);
  SambaStatus status =
      readOperands(&generic, sambaOperationAttribute(reader->operation, "indexing_maps"));
  if (!status)
    status = readBody(&generic);
  sambaPointerMapFree(&generic.value_ids);
  sambaArrayFree(&generic.ops);
  if (!status)
    status = composeOperands(&generic);
  if (status)
    return status;

  SambaStage *stage = &generic.stage;
  MlirValue result = mlirOperationGetResult(reader->operation, 0);
  SambaTensorType type;
  if (!sambaReaderTensorType(mlirValueGetType(result), &type))
    return sambaStatusMake(
        SAMBA_INVALID,
        "the result of a 'linalg.generic' is not a static tensor of a type that Samba knows");
  stage->output.tensor = sambaReaderAddTensor(reader, &type, SAMBA_TENSOR_INTERMEDIATE,
                                              SAMBA_NO_INDEX, SAMBA_NO_INDEX, stage->name);

  /* A copy has no operations: its program is the operand itself. */
  if (stage->op_count == 0 && stage->operand_count == 1)
    stage->result = 0;
  sambaReaderAddStage(reader, stage, 0);
  sambaReaderAddWhole(reader, result, &type, stage->output.tensor);

  return NULL;
}

SambaReadOperation sambaFindLinalgReader(MlirOperation operation) {
  static const struct {
    const char *name;
    SambaReadOperation read;
  } readers[] = {{"builtin.unrealized_conversion_cast", readCast},
                 {"arith.constant", readConstant},
                 {"samba.constant", readConstant},
                 {"tensor.empty", readEmpty},
                 {"linalg.fill", readFill},
                 {"tensor.pad", readPad},
                 {"tensor.insert_slice", readInsertSlice},
                 {"linalg.generic", readGeneric}};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
    if (sambaOperationIs(operation, readers[i].name))
      return readers[i].read;
  return NULL;
}
