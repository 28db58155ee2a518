/* TOSA's operations that move data: shapes, places, resampling. */
#include "lowering/tosa/tosa_rows.h"

#include "support/number/dtype.h"

#include <string.h>

void sambaTosaReshape(SambaForeignCall *call) {
  call->results[0] = sambaExpandReshape(&call->expansion, call->operands[0], call->types[0].rank,
                                        call->types[0].dims);
}

void sambaTosaTranspose(SambaForeignCall *call) {
  int64_t dims[SAMBA_MAX_RANK];
  sambaForeignInts(call, "perms", dims, SAMBA_MAX_RANK);
  call->results[0] = sambaExpandPermute(&call->expansion, call->operands[0], dims);
}

void sambaTosaConcat(SambaForeignCall *call) {
  call->results[0] = sambaExpandCat(&call->expansion, call->operand_count, call->operands,
                                    (uint32_t)sambaForeignInt(call, "axis"));
}

void sambaTosaPad(SambaForeignCall *call) {
  int64_t pairs[2 * SAMBA_MAX_RANK] = {0}, low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  uint32_t rank = sambaForeignOperandInts(call, 1, pairs, 2 * SAMBA_MAX_RANK) / 2;
  for (uint32_t i = 0; i < rank; ++i) {
    low[i] = pairs[2 * i];
    high[i] = pairs[2 * i + 1];
  }
  call->results[0] = sambaForeignPad(call, call->operands[0], low, high, 2);
}

void sambaTosaSlice(SambaForeignCall *call) {
  int64_t starts[SAMBA_MAX_RANK] = {0}, ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  uint32_t rank = sambaForeignOperandInts(call, 1, starts, SAMBA_MAX_RANK);
  for (uint32_t i = 0; i < rank; ++i) {
    ends[i] = starts[i] + call->types[0].dims[i];
    steps[i] = 1;
  }
  call->results[0] = SAMBA_FOREIGN_CALL(
      call, "slice", (uint32_t[]){call->operands[0]}, sambaIntsAttribute("starts", starts, rank),
      sambaIntsAttribute("ends", ends, rank), sambaIntsAttribute("steps", steps, rank));
}

void sambaTosaReverse(SambaForeignCall *call) {
  uint32_t axis = (uint32_t)sambaForeignInt(call, "axis");
  int64_t size = call->types[0].dims[axis];
  call->results[0] =
      sambaExpandSlice(&call->expansion, call->operands[0], axis, size - 1, size, -1);
}

/* One axis after the other: a new dimension before it is repeated and joined with it. */
void sambaTosaTile(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  int64_t times[SAMBA_MAX_RANK];
  uint32_t x = call->operands[0];
  uint32_t rank = sambaForeignOperandInts(call, 1, times, SAMBA_MAX_RANK);
  for (uint32_t axis = 0; axis < rank; ++axis) {
    SambaTensorType type = sambaForeignType(call, x);
    if (times[axis] == 1)
      continue;
    if (type.rank == SAMBA_MAX_RANK) {
      uint32_t *copies = SAMBA_ARENA_ARRAY(expansion->arena, uint32_t, (size_t)times[axis]);
      for (int64_t i = 0; i < times[axis]; ++i)
        copies[i] = x;
      x = sambaExpandCat(expansion, (uint32_t)times[axis], copies, axis);
      continue;
    }
    int64_t apart[SAMBA_MAX_RANK] = {0};
    for (uint32_t i = 0; i < rank; ++i)
      apart[i < axis ? i : i + 1] = type.dims[i];
    apart[axis] = 1;
    x = sambaExpandReshape(expansion, x, rank + 1, apart);
    apart[axis] = times[axis];
    x = sambaExpandBroadcast(expansion, x, rank + 1, apart);
    type.dims[axis] *= times[axis];
    x = sambaExpandReshape(expansion, x, rank, type.dims);
  }
  call->results[0] = x;
}

void sambaTosaGather(SambaForeignCall *call) {
  call->results[0] =
      SAMBA_FOREIGN_CALL(call, "take", ((uint32_t[]){call->operands[0], call->operands[1]}),
                         sambaIntAttribute("dim", 1), sambaIntAttribute("batch_dims", 1));
}

/* Rows of operand 2 take the place of rows of operand 0: one index for all columns. */
void sambaTosaScatter(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  SambaTensorType rows = sambaForeignType(call, call->operands[2]);
  int64_t column[] = {rows.dims[0], rows.dims[1], 1};
  uint32_t index = sambaExpandReshape(expansion, call->operands[1], 3, column);
  index = sambaExpandBroadcast(expansion, index, 3, rows.dims);
  call->results[0] = SAMBA_FOREIGN_CALL(call, "scatter",
                                        ((uint32_t[]){call->operands[0], index, call->operands[2]}),
                                        sambaIntAttribute("dim", 1));
}

/* ---- Resize ---- */

static int64_t clampIndex(int64_t index, int64_t size) {
  if (index < 0)
    return 0;
  return index < size ? index : size - 1;
}

/* Of one output element: the input element at or before its place, and the rest of the way to the
 * next, in parts of `scale`. */
static int64_t placeOf(int64_t output, int64_t scale, int64_t step, int64_t offset,
                       int64_t *out_rest) {
  int64_t place = output * step + offset;
  int64_t index = place / scale - (place % scale < 0);
  *out_rest = place - index * scale;
  return index;
}

static uint32_t selectAt(SambaForeignCall *call, uint32_t x, int64_t axis, int64_t count,
                         const double *places) {
  uint32_t index =
      sambaExpandNumbers(&call->expansion, SAMBA_DTYPE_I64, 1, (int64_t[]){count}, places);
  return SAMBA_FOREIGN_CALL(call, "index_select", ((uint32_t[]){x, index}),
                            sambaIntAttribute("dim", axis));
}

/* Along one axis. Integers keep the weights' common factor `scale`, as TOSA says. */
static uint32_t resizeAxis(SambaForeignCall *call, uint32_t x, int64_t axis, int64_t scale,
                           int64_t step, int64_t offset, bool nearest) {
  SambaExpansion *expansion = &call->expansion;
  SambaTensorType type = sambaForeignType(call, x);
  int64_t size = type.dims[axis], count = call->types[0].dims[axis];
  bool exact = sambaDTypeIsFloat(type.dtype);
  double *at = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)count + 1);
  double *next = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)count + 1);
  double *weight = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)count + 1);
  bool same = size == count, between = false;

  for (int64_t i = 0; i < count; ++i) {
    int64_t rest;
    int64_t index = placeOf(i, scale, step, offset, &rest);
    if (nearest && 2 * rest >= scale)
      ++index;
    at[i] = (double)clampIndex(index, size);
    next[i] = (double)clampIndex(index + 1, size);
    weight[i] = exact ? (double)rest / (double)scale : (double)rest;
    same = same && at[i] == (double)i;
    between |= !nearest && rest != 0;
  }

  uint32_t low = same ? x : selectAt(call, x, axis, count, at);
  if (!between && (nearest || exact))
    return low;
  uint32_t high = selectAt(call, x, axis, count, next);
  int64_t dims[SAMBA_MAX_RANK] = {1, 1, 1, 1};
  dims[axis] = count;
  uint32_t part = sambaExpandNumbers(expansion, type.dtype, 4, dims, weight);
  for (int64_t i = 0; i < count; ++i)
    weight[i] = exact ? 1 - weight[i] : (double)scale - weight[i];
  uint32_t rest = sambaExpandNumbers(expansion, type.dtype, 4, dims, weight);
  return sambaExpandBinary(expansion, "add", sambaExpandBinary(expansion, "mul", low, rest),
                           sambaExpandBinary(expansion, "mul", high, part));
}

void sambaTosaResize(SambaForeignCall *call) {
  int64_t scale[4] = {1, 1, 1, 1}, offset[2] = {0};
  sambaForeignOperandInts(call, 1, scale, 4);
  sambaForeignOperandInts(call, 2, offset, 2);
  bool nearest = sambaForeignSays(call, "mode", "NEAREST");
  uint32_t x = call->operands[0];
  if (!nearest)
    x = sambaExpandCast(&call->expansion, x, call->types[0].dtype);
  x = resizeAxis(call, x, 1, scale[0], scale[1], offset[0], nearest);
  call->results[0] = resizeAxis(call, x, 2, scale[2], scale[3], offset[1], nearest);
}
