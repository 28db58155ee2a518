/* Naive evaluation; see naive.h. */
#include "test/backend/naive_stages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef union Value {
  float f;
  int64_t i;
} Value;

uint64_t naiveElements(const SambaStageTensor *tensor) {
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    elements *= (uint64_t)tensor->dims[axis];
  return elements;
}

static Value fromBits(SambaDType dtype, uint64_t bits) {
  Value value = {.i = 0};
  uint32_t low = (uint32_t)bits;

  switch (dtype) {
  case SAMBA_DTYPE_F32: {
    float f;
    memcpy(&f, &low, sizeof f);
    value.f = f;
    break;
  }
  case SAMBA_DTYPE_BF16:
    value.f = sambaBf16ToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_F16:
    value.f = sambaHalfToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_I8:
    value.i = (int8_t)bits;
    break;
  case SAMBA_DTYPE_I16:
    value.i = (int16_t)bits;
    break;
  case SAMBA_DTYPE_I32:
    value.i = (int32_t)bits;
    break;
  default:
    value.i = (int64_t)bits;
  }

  return value;
}

static uint64_t toBits(SambaDType dtype, Value value) {
  uint32_t low;
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    memcpy(&low, &value.f, sizeof low);
    return value.f != value.f ? 0x7fc00000u : low;
  case SAMBA_DTYPE_BF16:
    return sambaFloatToBf16(value.f);
  case SAMBA_DTYPE_F16:
    return sambaFloatToHalf(value.f);
  default:
    return (uint64_t)value.i;
  }
}

static Value wrapTo(uint8_t type, Value value) {
  return type == SAMBA_DTYPE_F32
             ? value
             : fromBits((SambaDType)type,
                        type == SAMBA_DTYPE_I32 ? (uint32_t)value.i : (uint64_t)value.i);
}

static float larger(float x, float y) {
  if (x != x || y != y)
    return NAN;
  if (x == 0 && y == 0)
    return signbit(x) ? y : x;
  return x > y ? x : y;
}

/* Long: one case per opcode in one switch. */
static Value apply(const SambaLaneOp *op, Value a, Value b, Value c, const int64_t *counters) {
  bool f = op->type == SAMBA_DTYPE_F32;
  Value r = {.i = 0};
  switch (op->opcode) {
  case SAMBA_LANE_CONSTANT:
    return fromBits((SambaDType)op->type, op->immediate);
  case SAMBA_LANE_COUNTER:
    if (f)
      r.f = (float)counters[op->immediate];
    else
      r.i = counters[op->immediate];
    return r;
  case SAMBA_LANE_MOVE:
    return a;
  case SAMBA_LANE_ADD:
  case SAMBA_LANE_REDUCE_ADD:
    f ? (r.f = a.f + b.f) : (r.i = a.i + b.i);
    break;
  case SAMBA_LANE_SUB:
    f ? (r.f = a.f - b.f) : (r.i = a.i - b.i);
    break;
  case SAMBA_LANE_MUL:
    f ? (r.f = a.f * b.f) : (r.i = a.i * b.i);
    break;
  case SAMBA_LANE_MAC:
    f ? (r.f = fmaf(a.f, b.f, c.f)) : (r.i = a.i * b.i + c.i);
    break;
  case SAMBA_LANE_DIV:
    r.f = a.f / b.f;
    break;
  case SAMBA_LANE_SQRT:
    r.f = sqrtf(a.f);
    break;
  case SAMBA_LANE_NEG:
    f ? (r.f = -a.f) : (r.i = -a.i);
    break;
  case SAMBA_LANE_ABS:
    if (f)
      r.f = fabsf(a.f);
    else
      r.i = a.i < 0 ? -a.i : a.i;
    break;
  case SAMBA_LANE_MAX:
  case SAMBA_LANE_REDUCE_MAX:
    if (f)
      r.f = larger(a.f, b.f);
    else
      r.i = a.i > b.i ? a.i : b.i;
    break;
  case SAMBA_LANE_LT:
    r.i = f ? a.f < b.f : a.i < b.i;
    return r;
  case SAMBA_LANE_SELECT:
    return a.i ? b : c;
  case SAMBA_LANE_TO_BF16:
    r.f = sambaBf16ToFloat(sambaFloatToBf16(a.f));
    break;
  case SAMBA_LANE_INT_TO_FLOAT:
    r.f = (float)a.i;
    return r;
  case SAMBA_LANE_WRAP:
    return fromBits((SambaDType)op->immediate,
                    (uint64_t)a.i & ((1ull << 8 * sambaDTypeBytes((SambaDType)op->immediate)) - 1));
  default:
    fail_msg("the naive evaluator has no operation %s", sambaLaneOpName(op->opcode));
  }

  return wrapTo(op->type, r);
}

static Value identity(const SambaLaneOp *op) {
  Value v = {.i = 0};
  if (op->opcode != SAMBA_LANE_REDUCE_MAX)
    return v;

  if (op->type == SAMBA_DTYPE_F32)
    v.f = -INFINITY;
  else
    v.i = op->type == SAMBA_DTYPE_I32 ? INT32_MIN : INT64_MIN;
  return v;
}

static int64_t axisIndex(const SambaAxisMap *map, const SambaStage *stage,
                         const int64_t *counters) {
  int64_t index = map->constant;
  for (uint32_t d = 0; d < stage->dim_count; ++d)
    index += map->coefficients[d] * counters[d];
  return index;
}

static Value readElement(const SambaStageGraph *graph, const SambaStage *stage,
                         const SambaStageOperand *operand, uint8_t **tensors,
                         const int64_t *counters) {
  const SambaStageTensor *tensor = &graph->tensors[operand->tensor];
  uint32_t bytes = sambaDTypeBytes(tensor->dtype);
  int64_t address = 0;

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    int64_t index = axisIndex(&operand->axes[axis], stage, counters);
    if (operand->index_operand != SAMBA_NO_INDEX && operand->index_axis == axis)
      index +=
          readElement(graph, stage, &stage->operands[operand->index_operand], tensors, counters).i;
    if (index < 0 || index >= tensor->dims[axis]) {
      assert_true(operand->guarded);
      return fromBits(tensor->dtype, operand->fill);
    }
    address = address * tensor->dims[axis] + index;
  }

  uint64_t bits = 0;
  memcpy(&bits, tensors[operand->tensor] + (size_t)address * bytes, bytes);
  return fromBits(tensor->dtype, bits);
}

static bool step(const SambaStage *stage, int64_t *counters, uint32_t from, uint32_t to) {
  for (uint32_t d = to; d-- > from;) {
    if (++counters[d] < stage->extents[d])
      return true;
    counters[d] = 0;
  }
  return false;
}

static void evaluateStage(const SambaStageGraph *graph, const SambaStage *stage, uint8_t **tensors,
                          uint32_t lanes) {
  int64_t counters[SAMBA_MAX_STAGE_DIMS] = {0};
  Value values[256], lane[256];
  uint32_t parallel = 0;

  while (parallel < stage->dim_count && !stage->reduced[parallel])
    ++parallel;
  if (!stage->lane_reduce)
    lanes = 1;

  do {
    uint64_t element = 0;
    const SambaLaneOp *reduction = NULL;
    do {
      for (uint32_t i = 0; i < stage->operand_count; ++i)
        values[i] = readElement(graph, stage, &stage->operands[i], tensors, counters);
      for (uint32_t i = 0; i < stage->op_count; ++i) {
        const SambaLaneOp *op = &stage->ops[i];
        if (sambaLaneOpClass(op->opcode) != 'R') {
          values[stage->operand_count + i] =
              apply(op, values[op->operands[0]], values[op->operands[1]], values[op->operands[2]],
                    counters);
          continue;
        }
        for (uint32_t l = 0; !reduction && l < lanes; ++l)
          lane[l] = identity(op);
        reduction = op;
        Value *sum = &lane[element % lanes];
        *sum = op->opcode == SAMBA_LANE_MAC
                   ? apply(op, values[op->operands[0]], values[op->operands[1]], *sum, counters)
                   : apply(op, *sum, values[op->operands[0]], values[0], counters);
      }
      ++element;
    } while (step(stage, counters, parallel, stage->dim_count));
    for (uint32_t half = lanes / 2; reduction && half; half /= 2)
      for (uint32_t l = 0; l < half; ++l) {
        SambaLaneOp fold = *reduction;
        fold.opcode = fold.opcode == SAMBA_LANE_MAC ? SAMBA_LANE_ADD : fold.opcode;
        lane[l] = apply(&fold, lane[l], lane[l + half], lane[l], counters);
      }
    const SambaStageTensor *tensor = &graph->tensors[stage->output.tensor];
    uint32_t bytes = sambaDTypeBytes(tensor->dtype);
    int64_t address = 0;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      address =
          address * tensor->dims[axis] + axisIndex(&stage->output.axes[axis], stage, counters);
      if (sambaStageScatters(stage) && stage->output.index_axis == axis)
        address += values[stage->output.index_operand].i;
    }

    uint64_t bits = toBits(tensor->dtype, reduction ? lane[0] : values[stage->result]);
    memcpy(tensors[stage->output.tensor] + (size_t)address * bytes, &bits, bytes);
  } while (step(stage, counters, 0, parallel));
}

void naiveEvaluate(const SambaStageGraph *graph, uint8_t **tensors, uint32_t lanes) {
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    evaluateStage(graph, &graph->stages[s], tensors, lanes);
}
