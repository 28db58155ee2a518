/* Operations of the tensor dialect as views of samba, so that idioms see through them:
 * collapse_shape and expand_shape are reshapes, extract_slice a slice, pad with a constant a pad,
 * concat and chains of insert_slice that cover their destination a cat. linalg.softmax, which has
 * no body, is among them. */
#include "lowering/raise/raise_views.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "lowering/raise/read_nest.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

enum { mostParts = 64 };

/* An operation on its way to calls: values of the expansion and their IR. */
typedef struct Views {
  MlirOperation operation;
  SambaExpansion expansion;
  uint32_t operand_count;
  MlirValue operands[mostParts + 2];
} Views;

static bool typeOf(MlirValue value, SambaTensorType *out_type) {
  if (!mlirTypeIsATensor(mlirValueGetType(value)))
    return false;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), out_type);
  sambaStatusFree(status);
  return status == NULL;
}

static bool addOperand(Views *views, MlirValue value, uint32_t *out_value) {
  SambaTensorType type;
  if (!typeOf(value, &type))
    return false;
  views->operands[views->operand_count++] = value;
  *out_value = sambaExpandOperand(&views->expansion, &type);
  return true;
}

static bool numbersOf(MlirOperation operation, const char *name, uint32_t rank, int64_t *out) {
  MlirAttribute list = sambaOperationAttribute(operation, name);
  if (mlirAttributeIsNull(list) || mlirDenseArrayGetNumElements(list) != (intptr_t)rank)
    return false;
  for (uint32_t a = 0; a < rank; ++a) {
    out[a] = mlirDenseI64ArrayGetElement(list, a);
    if (out[a] < 0) /* dynamic */
      return false;
  }
  return true;
}

/* The same with numbers that are operands, from number *first on: constants of type index. */
static bool mixedNumbersOf(MlirOperation operation, const char *name, uint32_t rank,
                           intptr_t *first, int64_t *out) {
  MlirAttribute list = sambaOperationAttribute(operation, name);
  if (mlirAttributeIsNull(list) || mlirDenseArrayGetNumElements(list) != (intptr_t)rank)
    return false;
  for (uint32_t a = 0; a < rank; ++a) {
    out[a] = mlirDenseI64ArrayGetElement(list, a);
    if (out[a] == mlirShapedTypeGetDynamicStrideOrOffset()) {
      MlirOperation owner = sambaDefiningOperation(mlirOperationGetOperand(operation, (*first)++));
      if (mlirOperationIsNull(owner) || !sambaOperationIs(owner, "arith.constant"))
        return false;
      out[a] = mlirIntegerAttrGetValueInt(sambaOperationAttribute(owner, "value"));
    }
    if (out[a] < 0)
      return false;
  }
  return true;
}

/*===-- One operand ---------------------------------------------------------------------------===*/

static bool raiseReshape(Views *views, uint32_t *out_result) {
  SambaTensorType type;
  uint32_t x;
  if (!typeOf(mlirOperationGetResult(views->operation, 0), &type) ||
      !addOperand(views, mlirOperationGetOperand(views->operation, 0), &x))
    return false;
  *out_result = sambaExpandReshape(&views->expansion, x, type.rank, type.dims);
  return true;
}

/* Offsets, sizes and strides of a static slice of `rank` axes. */
typedef struct Slice {
  int64_t offsets[SAMBA_MAX_RANK], sizes[SAMBA_MAX_RANK], strides[SAMBA_MAX_RANK];
} Slice;

static bool sliceOf(MlirOperation operation, uint32_t rank, Slice *out) {
  return numbersOf(operation, "static_offsets", rank, out->offsets) &&
         numbersOf(operation, "static_sizes", rank, out->sizes) &&
         numbersOf(operation, "static_strides", rank, out->strides);
}

static bool raiseSlice(Views *views, uint32_t *out_result) {
  SambaTensorType type;
  Slice slice;
  uint32_t x;
  if (!typeOf(mlirOperationGetResult(views->operation, 0), &type) ||
      !addOperand(views, mlirOperationGetOperand(views->operation, 0), &x))
    return false;
  uint32_t rank = sambaExpansionType(&views->expansion, x)->rank;
  if (!sliceOf(views->operation, rank, &slice))
    return false;
  for (uint32_t a = 0; a < rank; ++a)
    x = sambaExpandSlice(&views->expansion, x, a, slice.offsets[a], slice.sizes[a],
                         slice.strides[a]);
  *out_result = sambaExpandReshape(&views->expansion, x, type.rank, type.dims);
  return true;
}

static uint32_t expandPad(SambaExpansion *expansion, uint32_t x, const int64_t *low,
                          const int64_t *high, SambaDType dtype, uint64_t bits) {
  uint32_t rank = sambaExpansionType(expansion, x)->rank;
  double fill = sambaDTypeIsFloat(dtype) ? (double)sambaBitsToFloat(dtype, (uint32_t)bits)
                                         : (double)(int64_t)bits;
  if (dtype == SAMBA_DTYPE_I8)
    fill = (int8_t)bits;
  else if (dtype == SAMBA_DTYPE_I16)
    fill = (int16_t)bits;
  else if (dtype == SAMBA_DTYPE_I32)
    fill = (int32_t)bits;
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank),
                                 sambaFloatAttribute("value", fill)};
  return sambaExpandCall(expansion, "pad", 1, &x, 3, attributes);
}

static bool raisePad(Views *views, uint32_t *out_result) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(views->operation, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  SambaDType dtype;
  uint64_t bits;
  uint32_t x;
  if (!addOperand(views, mlirOperationGetOperand(views->operation, 0), &x) ||
      !sambaNestSplat(mlirOperationGetOperand(yield, 0), &dtype, &bits))
    return false;
  uint32_t rank = sambaExpansionType(&views->expansion, x)->rank;
  intptr_t next = 1;
  if (!mixedNumbersOf(views->operation, "static_low", rank, &next, low) ||
      !mixedNumbersOf(views->operation, "static_high", rank, &next, high))
    return false;
  *out_result = expandPad(&views->expansion, x, low, high, dtype, bits);
  return true;
}

/* tensor.cast between equal types, bufferization hints and the like have nothing to do. */
static bool raiseCast(Views *views, uint32_t *out_result) {
  return mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(views->operation, 0)),
                       mlirValueGetType(mlirOperationGetResult(views->operation, 0))) &&
         addOperand(views, mlirOperationGetOperand(views->operation, 0), out_result);
}

/*===-- Several operands ----------------------------------------------------------------------===*/

static bool raiseConcat(Views *views, uint32_t *out_result) {
  intptr_t count = mlirOperationGetNumOperands(views->operation);
  uint32_t parts[mostParts];
  if (count > mostParts)
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!addOperand(views, mlirOperationGetOperand(views->operation, i), &parts[i]))
      return false;
  int64_t dim = mlirIntegerAttrGetValueInt(sambaOperationAttribute(views->operation, "dim"));
  *out_result = sambaExpandCat(&views->expansion, (uint32_t)count, parts, (uint32_t)dim);
  return true;
}

static bool isOnlyUse(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

/* A part of a destination. */
typedef struct Part {
  Slice slice;
  MlirValue source;
} Part;

/* The insertions that end at the operation, the last one first, and what the first goes into. */
static bool partsOf(MlirOperation operation, uint32_t rank, Part *parts, uint32_t *out_count,
                    MlirValue *out_destination) {
  *out_count = 0;
  for (;;) {
    if (*out_count == mostParts || !sliceOf(operation, rank, &parts[*out_count].slice))
      return false;
    parts[(*out_count)++].source = mlirOperationGetOperand(operation, 0);
    *out_destination = mlirOperationGetOperand(operation, 1);
    MlirOperation before = sambaDefiningOperation(*out_destination);
    if (mlirOperationIsNull(before) || !sambaOperationIs(before, "tensor.insert_slice") ||
        !isOnlyUse(*out_destination))
      return true;
    operation = before;
  }
}

/* The only axis along which the parts do not cover the destination; rank: they are the whole of it;
 * false where there are two such axes or strides. */
static bool axisOfParts(const SambaTensorType *type, const Part *parts, uint32_t count,
                        uint32_t *out_axis) {
  *out_axis = type->rank;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t a = 0; a < type->rank; ++a) {
      const Slice *slice = &parts[i].slice;
      if (slice->offsets[a] == 0 && slice->sizes[a] == type->dims[a])
        continue;
      if ((slice->strides[a] != 1 && slice->sizes[a] != 1) ||
          (*out_axis != type->rank && *out_axis != a))
        return false;
      *out_axis = a;
    }
  return true;
}

/* The part that begins at `at` (count: none), and where the next one behind it begins. */
static uint32_t partAt(const Part *parts, uint32_t count, uint32_t axis, int64_t at,
                       int64_t *next) {
  uint32_t found = count;
  for (uint32_t i = 0; i < count; ++i) {
    int64_t offset = parts[i].slice.offsets[axis];
    if (offset == at)
      found = i;
    else if (offset > at && offset < *next)
      *next = offset;
  }
  return found;
}

static bool partsMeet(const Part *parts, uint32_t count, uint32_t axis) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < count; ++k) {
      int64_t first = parts[i].slice.offsets[axis], other = parts[k].slice.offsets[axis];
      if (k != i && first <= other && other < first + parts[i].slice.sizes[axis])
        return true;
    }
  return false;
}

/* Insertions along one axis: what they cover and, in between, the destination's elements. */
static bool raiseInsertions(Views *views, uint32_t *out_result) {
  Part parts[mostParts];
  SambaTensorType type;
  MlirValue destination;
  uint32_t count, axis, sources[mostParts], pieces[2 * mostParts + 1], piece_count = 0, into = 0;
  SambaExpansion *expansion = &views->expansion;
  if (!typeOf(mlirOperationGetResult(views->operation, 0), &type) || type.rank == 0 ||
      !partsOf(views->operation, type.rank, parts, &count, &destination) ||
      !axisOfParts(&type, parts, count, &axis))
    return false;
  if (axis == type.rank) { /* the last insertion is everything */
    axis = 0;
    count = 1;
  }
  if (partsMeet(parts, count, axis))
    return false;

  MlirOperation owner = sambaDefiningOperation(destination);
  bool empty = !mlirOperationIsNull(owner) && sambaOperationIs(owner, "tensor.empty");
  if (!empty && !addOperand(views, destination, &into))
    return false;
  for (uint32_t i = 0; i < count; ++i)
    if (!addOperand(views, parts[i].source, &sources[i]))
      return false;
  for (int64_t at = 0; at < type.dims[axis];) {
    int64_t next = type.dims[axis], shape[SAMBA_MAX_RANK];
    uint32_t found = partAt(parts, count, axis, at, &next);
    if (found == count && empty)
      return false;
    memcpy(shape, type.dims, sizeof shape);
    shape[axis] = found == count ? next - at : parts[found].slice.sizes[axis];
    pieces[piece_count++] = found == count
                                ? sambaExpandSlice(expansion, into, axis, at, next - at, 1)
                                : sambaExpandReshape(expansion, sources[found], type.rank, shape);
    at += shape[axis];
  }
  *out_result = sambaExpandCat(expansion, piece_count, pieces, axis);
  return true;
}

/* Into a tensor of one number, one part in the middle: a pad. */
static bool raiseInsertion(Views *views, uint32_t *out_result) {
  SambaTensorType type;
  Slice slice;
  SambaDType dtype;
  uint64_t bits;
  uint32_t x;
  MlirValue result = mlirOperationGetResult(views->operation, 0);
  MlirOpOperand use = mlirValueGetFirstUse(result);

  if (isOnlyUse(result) && sambaOperationIs(mlirOpOperandGetOwner(use), "tensor.insert_slice") &&
      mlirOpOperandGetOperandNumber(use) == 1)
    return false; /* the last of a chain is looked at */
  if (!typeOf(result, &type) || !sliceOf(views->operation, type.rank, &slice))
    return false;
  bool plain = true;
  for (uint32_t a = 0; a < type.rank; ++a)
    plain &= slice.strides[a] == 1 || slice.sizes[a] == 1;
  if (!plain || !sambaNestSplat(mlirOperationGetOperand(views->operation, 1), &dtype, &bits))
    return raiseInsertions(views, out_result);

  int64_t high[SAMBA_MAX_RANK];
  for (uint32_t a = 0; a < type.rank; ++a)
    high[a] = type.dims[a] - slice.offsets[a] - slice.sizes[a];
  if (!addOperand(views, mlirOperationGetOperand(views->operation, 0), &x))
    return false;
  x = sambaExpandReshape(&views->expansion, x, type.rank, slice.sizes);
  *out_result = expandPad(&views->expansion, x, slice.offsets, high, dtype, bits);
  return true;
}

/* A constant tensor as samba.constant. */
static bool raiseConstant(MlirOperation operation) {
  MlirAttribute value = sambaOperationAttribute(operation, "value");
  SambaTensorType type;
  if (!typeOf(mlirOperationGetResult(operation, 0), &type) || !mlirAttributeIsADenseElements(value))
    return false;
  MlirNamedAttribute attribute =
      sambaNamedAttribute(mlirOperationGetContext(operation), "value", value);
  MlirOperation made = sambaOperationCreate("samba.constant", mlirOperationGetLocation(operation),
                                            0, NULL, 1, &attribute);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, made);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0),
                                mlirOperationGetResult(made, 0));
  mlirOperationDestroy(operation);
  return true;
}

static bool raiseSoftmax(Views *views, uint32_t *out_result) {
  MlirAttribute dim = sambaOperationAttribute(views->operation, "dimension");
  uint32_t x;
  if (mlirAttributeIsNull(dim) ||
      !addOperand(views, mlirOperationGetOperand(views->operation, 0), &x))
    return false;
  SambaAttribute attribute = sambaIntAttribute("dim", mlirIntegerAttrGetValueInt(dim));
  *out_result = sambaExpandCall(&views->expansion, "softmax", 1, &x, 1, &attribute);
  return true;
}

static const struct {
  const char *name;
  bool (*raise)(Views *views, uint32_t *out_result);
} rows[] = {{"tensor.collapse_shape", raiseReshape},
            {"tensor.expand_shape", raiseReshape},
            {"tensor.extract_slice", raiseSlice},
            {"tensor.pad", raisePad},
            {"tensor.concat", raiseConcat},
            {"tensor.insert_slice", raiseInsertion},
            {"tensor.cast", raiseCast},
            {"linalg.softmax", raiseSoftmax}};

bool sambaRaiseTensorOperation(MlirOperation operation) {
  if (sambaOperationIs(operation, "arith.constant"))
    return raiseConstant(operation);
  bool (*raise)(Views *, uint32_t *) = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (sambaOperationIs(operation, rows[i].name))
      raise = rows[i].raise;
  if (!raise)
    return false;

  SambaArena arena = {0};
  Views views = {.operation = operation, .expansion = {.arena = &arena, .find = sambaOperatorFind}};
  uint32_t result;
  bool raised = raise(&views, &result) && !views.expansion.status;
  if (raised) {
    size_t count = views.expansion.types.size + 1;
    MlirValue *values = sambaAllocate(sambaArraySize(count, sizeof *values));
    memcpy(values, views.operands, views.operand_count * sizeof *values);
    for (size_t s = 0; raised && s < views.expansion.steps.size; ++s)
      raised = sambaExpansionBuildStep(&views.expansion, s, operation,
                                       mlirOperationGetLocation(operation), 0, NULL, values);
    MlirValue old = mlirOperationGetResult(operation, 0);
    raised = raised && mlirTypeEqual(mlirValueGetType(old), mlirValueGetType(values[result]));
    if (raised) {
      mlirValueReplaceAllUsesOfWith(old, values[result]);
      mlirOperationDestroy(operation);
    }
    free(values);
  }
  sambaExpansionFree(&views.expansion);
  sambaArenaDestroy(&arena);
  return raised;
}

/*===-- What is left --------------------------------------------------------------------------===*/

static bool isUnused(MlirOperation operation) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(operation); ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, i))))
      return false;
  return true;
}

static bool isRemovable(MlirOperation operation) {
  static const char *const names[] = {"tensor.empty",        "linalg.fill",  "arith.constant",
                                      "tensor.insert_slice", "tensor.splat", "samba.constant"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (sambaOperationIs(operation, names[i]))
      return isUnused(operation);
  return false;
}

/* A fill that something else than an operation of linalg reads. */
static void settleFill(MlirOperation fill) {
  MlirValue value = mlirOperationGetResult(fill, 0);
  SambaTensorType type;
  SambaDType dtype;
  uint64_t bits;
  bool read = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(mlirOpOperandGetOwner(use)));
    read |= name.length < 7 || memcmp(name.data, "linalg.", 7) != 0;
  }
  if (!read || !typeOf(value, &type) || !sambaNestSplat(value, &dtype, &bits))
    return;

  MlirContext context = mlirOperationGetContext(fill);
  MlirNamedAttribute attribute =
      sambaNamedAttribute(context, "value", sambaDenseAttribute(context, &type, &bits, true));
  MlirOperation made = sambaOperationCreate("samba.constant", mlirOperationGetLocation(fill), 0,
                                            NULL, 1, &attribute);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(fill), fill, made);
  mlirValueReplaceAllUsesOfWith(value, mlirOperationGetResult(made, 0));
}

void sambaEraseUnusedTensors(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "linalg.fill") || sambaOperationIs(operation, "tensor.splat"))
      settleFill(operation);

  /* From the end: what a removed operation read may be unused then. */
  bool removed = true;
  while (removed) {
    removed = false;
    MlirOperation next;
    for (MlirOperation operation = mlirBlockGetFirstOperation(body);
         !mlirOperationIsNull(operation); operation = next) {
      next = mlirOperationGetNextInBlock(operation);
      if (isRemovable(operation)) {
        mlirOperationDestroy(operation);
        removed = true;
      }
    }
  }
}
