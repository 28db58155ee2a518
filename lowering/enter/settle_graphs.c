/* samba-settle-graphs: what no pattern of samba-raise-linalg took becomes samba operations in a
 * general way (insertions anywhere, padding by a value that is computed), and what is left unused
 * goes. */
#include "lowering/foreign/foreign_call.h"
#include "lowering/passes.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>
#include <string.h>

/* ---- Insertion ---- */

typedef struct Slice {
  int64_t offsets[SAMBA_MAX_RANK], sizes[SAMBA_MAX_RANK], strides[SAMBA_MAX_RANK];
} Slice;

/* The part spread over the destination: each axis is padded where the stride is 1, else selected
 * by an index that repeats elements in between. */
static uint32_t spreadPart(SambaForeignCall *call, uint32_t part, const int64_t *dims,
                           uint32_t rank, const Slice *slice) {
  SambaExpansion *expansion = &call->expansion;
  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t stride = slice->strides[axis], offset = slice->offsets[axis];
    if (stride == 1 || slice->sizes[axis] == 1) {
      low[axis] = offset;
      high[axis] = dims[axis] - offset - slice->sizes[axis];
      continue;
    }
    double *places = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)dims[axis] + 1);
    for (int64_t i = 0; i < dims[axis]; ++i) {
      int64_t at = i < offset ? 0 : (i - offset) / stride;
      places[i] = (double)(at < slice->sizes[axis] ? at : slice->sizes[axis] - 1);
    }
    uint32_t index =
        sambaExpandNumbers(expansion, SAMBA_DTYPE_I64, 1, (int64_t[]){dims[axis]}, places);
    part = SAMBA_FOREIGN_CALL(call, "index_select", ((uint32_t[]){part, index}),
                              sambaIntAttribute("dim", axis));
  }
  return sambaForeignPad(call, part, low, high, SAMBA_FOREIGN_NO_VALUE);
}

/* True where the destination takes an element of the part. */
static uint32_t maskOf(SambaForeignCall *call, const int64_t *dims, uint32_t rank,
                       const Slice *slice) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t mask = sambaExpandScalar(expansion, SAMBA_DTYPE_I1, 1);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t shape[SAMBA_MAX_RANK];
    for (uint32_t i = 0; i < rank; ++i)
      shape[i] = i == axis ? dims[axis] : 1;
    double *inside = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)dims[axis] + 1);
    memset(inside, 0, (size_t)dims[axis] * sizeof *inside);
    for (int64_t i = 0; i < slice->sizes[axis]; ++i)
      inside[slice->offsets[axis] + i * slice->strides[axis]] = 1;
    mask = sambaExpandBinary(expansion, "logical_and", mask,
                             sambaExpandNumbers(expansion, SAMBA_DTYPE_I1, rank, shape, inside));
  }
  return mask;
}

static bool isInside(SambaForeignCall *call, const int64_t *dims, uint32_t rank,
                     const Slice *slice) {
  for (uint32_t axis = 0; axis < rank; ++axis) {
    int64_t last = slice->offsets[axis] + (slice->sizes[axis] - 1) * slice->strides[axis];
    if (slice->offsets[axis] >= 0 && slice->sizes[axis] > 0 && last >= 0 && last < dims[axis])
      continue;
    sambaForeignFail(
        call, sambaStatusMake(SAMBA_INVALID, "goes beyond dimension %u of its destination", axis));
    return false;
  }
  return true;
}

static void insertPart(SambaForeignCall *call, uint32_t part, const Slice *slice) {
  SambaExpansion *expansion = &call->expansion;
  SambaTensorType type = call->types[0];
  if (expansion->status || !isInside(call, type.dims, type.rank, slice))
    return;
  part = sambaExpandReshape(expansion, part, type.rank, slice->sizes);
  uint32_t operands[] = {maskOf(call, type.dims, type.rank, slice),
                         spreadPart(call, part, type.dims, type.rank, slice), call->operands[1]};
  call->results[0] = sambaExpandCall(expansion, "where", 3, operands, 0, NULL);
}

static void convertInsertSlice(SambaForeignCall *call) {
  uint32_t next = 2, rank = call->types[0].rank;
  Slice slice;
  sambaForeignMixed(call, "static_offsets", &next, rank, slice.offsets);
  sambaForeignMixed(call, "static_sizes", &next, rank, slice.sizes);
  sambaForeignMixed(call, "static_strides", &next, rank, slice.strides);
  insertPart(call, call->operands[0], &slice);
}

static void convertInsert(SambaForeignCall *call) {
  uint32_t rank = call->types[0].rank;
  Slice slice;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    slice.sizes[axis] = slice.strides[axis] = 1;
    if (!sambaForeignIndex(mlirOperationGetOperand(call->operation, axis + 2),
                           &slice.offsets[axis])) {
      sambaForeignFail(call,
                       sambaStatusMake(SAMBA_UNSUPPORTED,
                                       "writes at an index that is known only at run time; "
                                       "compute the result with a comparison of coordinates"));
      return;
    }
  }
  insertPart(call, call->operands[0], &slice);
}

/* ---- Slices and pads with numbers that are operands ---- */

static void convertExtractSlice(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0], next = 1;
  uint32_t rank = sambaForeignType(call, x).rank;
  Slice slice;
  sambaForeignMixed(call, "static_offsets", &next, rank, slice.offsets);
  sambaForeignMixed(call, "static_sizes", &next, rank, slice.sizes);
  sambaForeignMixed(call, "static_strides", &next, rank, slice.strides);
  for (uint32_t axis = 0; !expansion->status && axis < rank; ++axis)
    x = sambaExpandSlice(expansion, x, axis, slice.offsets[axis], slice.sizes[axis],
                         slice.strides[axis]);
  call->results[0] = sambaExpandReshape(expansion, x, call->types[0].rank, call->types[0].dims);
}

/* The value is yielded by the body; here it is one from outside. */
static void convertPad(SambaForeignCall *call) {
  uint32_t x = call->operands[0], next = 1;
  uint32_t rank = call->types[0].rank;
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  sambaForeignMixed(call, "static_low", &next, rank, low);
  sambaForeignMixed(call, "static_high", &next, rank, high);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(call->operation, 0));
  MlirValue value = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
  uint32_t number = sambaForeignScalar(call, value);
  if (number == SAMBA_FOREIGN_NO_VALUE) {
    sambaForeignFail(call, sambaStatusMake(SAMBA_UNSUPPORTED,
                                           "pads with a value that its body computes; pad with a "
                                           "constant, or with a scalar from outside"));
    return;
  }
  call->results[0] = sambaForeignPadWith(call, x, low, high, number);
}

static const SambaForeignRow rows[] = {{"tensor.insert_slice", convertInsertSlice, NULL},
                                       {"tensor.insert", convertInsert, NULL},
                                       {"tensor.extract_slice", convertExtractSlice, NULL},
                                       {"tensor.pad", convertPad, NULL}};

/* ---- What is left ---- */

static bool isUnused(MlirOperation operation) {
  static const char *const dialects[] = {"arith.", "math.", "tensor.", "linalg."};
  MlirStringRef name = sambaOperationName(operation);
  bool removable = sambaOperationIs(operation, "samba.constant");
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
    removable |= name.length > strlen(dialects[i]) &&
                 memcmp(name.data, dialects[i], strlen(dialects[i])) == 0;
  for (intptr_t i = 0; removable && i < mlirOperationGetNumResults(operation); ++i)
    removable = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, i)));
  return removable;
}

static void removeUnused(MlirOperation function) {
  MlirOperation operation = mlirBlockGetTerminator(sambaBodyOf(function));
  MlirOperation before = {NULL};
  SAMBA_ARRAY(MlirOperation) all = {0};
  for (before = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationEqual(before, operation); before = mlirOperationGetNextInBlock(before))
    sambaArrayAppend(&all, before);
  while (all.size-- > 0)
    if (isUnused(all.data[all.size]))
      mlirOperationDestroy(all.data[all.size]);
  sambaArrayFree(&all);
}

bool sambaSettleGraphs(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    removeUnused(operation);
    if (!sambaForeignConvert(operation, rows, sizeof rows / sizeof *rows))
      return false;
    removeUnused(operation);
  }
  return true;
}
