/* What stage graphs compute; see evaluate.h. f32 values are computed as float (or rounded to it
 * from double), integers as int64_t wrapped to their lane type. */
#include "backend/evaluate/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One evaluation of a graph. */
typedef struct Evaluation {
  const SambaStageGraph *graph;
  bool in_double;
  double **tensors;
  SambaStatus status; /* the first thing that cannot be */
} Evaluation;

double sambaEvaluateBits(SambaDType dtype, uint64_t bits) {
  float value;
  uint32_t low = (uint32_t)bits;

  switch (dtype) {
  case SAMBA_DTYPE_F32:
    memcpy(&value, &low, sizeof value);
    return (double)value;
  case SAMBA_DTYPE_BF16:
    return (double)sambaBf16ToFloat((uint16_t)bits);
  case SAMBA_DTYPE_F16:
    return (double)sambaHalfToFloat((uint16_t)bits);
  case SAMBA_DTYPE_I8:
    return (int8_t)bits;
  case SAMBA_DTYPE_I16:
    return (int16_t)bits;
  case SAMBA_DTYPE_I32:
    return (int32_t)bits;
  case SAMBA_DTYPE_I64:
    return (double)(int64_t)bits;
  default:
    return (double)bits;
  }
}

static double wrap(const Evaluation *evaluation, double value, SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return evaluation->in_double ? value : (double)(float)value;
  if (value >= 0x1p63 || value < -0x1p63) /* a product of i64, whose low bits a double has not */
    value = fmod(value, 0x1p63);
  uint64_t mask = UINT64_MAX;
  if (dtype == SAMBA_DTYPE_I1)
    mask = 1;
  else if (dtype != SAMBA_DTYPE_I64)
    mask = ((uint64_t)1 << 8 * sambaDTypeBytes(dtype)) - 1;
  return sambaEvaluateBits(dtype, (uint64_t)(int64_t)value & mask);
}

static double minimum(double x, double y) {
  if (x != x || y != y)
    return x != x ? x : y;
  return x < y || (x == y && signbit(x)) ? x : y;
}
static double maximum(double x, double y) { return -minimum(-x, -y); }

/* Toward zero, saturated (of i64: to the nearest double), NaN to 0. */
static double toInteger(double value, SambaDType dtype) {
  double low = dtype == SAMBA_DTYPE_I64 ? -0x1p63 : -0x1p31;
  double high = dtype == SAMBA_DTYPE_I64 ? 0x1p63 - 1024 : 0x1p31 - 1;
  if (value != value)
    return 0;
  if (value < low)
    return low;
  return value > high ? high : trunc(value);
}

static double powerOf(double base, double exponent) {
  int64_t result = 1;
  if (exponent < 0 && base == -1)
    return pow(base, exponent);
  if (exponent < 0)
    return base == 1;
  for (double i = 0; i < exponent; ++i)
    result *= (int64_t)base;
  return (double)result;
}

static double fusedSum(const Evaluation *evaluation, double x, double y, double z) {
  return evaluation->in_double ? fma(x, y, z) : (double)fmaf((float)x, (float)y, (float)z);
}

/* Long: one case per opcode in one switch. */
static double apply(Evaluation *evaluation, const SambaLaneOp *op, const double *v,
                    const int64_t *counters, double *accumulator) {
  double x = v[op->operands[0]];
  double y = v[op->operands[1]];
  double z = v[op->operands[2]];
  bool is_float = op->type == SAMBA_DTYPE_F32;

  switch (op->opcode) {
  case SAMBA_LANE_CONSTANT:
    return sambaEvaluateBits((SambaDType)op->type, op->immediate);
  case SAMBA_LANE_COUNTER:
    return (double)counters[op->immediate];
  case SAMBA_LANE_MOVE:
    return x;
  case SAMBA_LANE_ADD:
    return x + y;
  case SAMBA_LANE_SUB:
    return x - y;
  case SAMBA_LANE_MUL:
    return x * y;
  case SAMBA_LANE_FMA:
    return is_float ? fusedSum(evaluation, x, y, z) : x * y + z;
  case SAMBA_LANE_DIV:
    if (is_float)
      return x / y;
    return y == 0 ? 0 : trunc(x / y);
  case SAMBA_LANE_REM:
    return is_float || y != 0 ? fmod(x, y) : 0;
  case SAMBA_LANE_NEG:
    return -x;
  case SAMBA_LANE_ABS:
    return fabs(x);
  case SAMBA_LANE_MIN:
    return minimum(x, y);
  case SAMBA_LANE_MAX:
    return maximum(x, y);
  case SAMBA_LANE_AND:
    return (double)((int64_t)x & (int64_t)y);
  case SAMBA_LANE_OR:
    return (double)((int64_t)x | (int64_t)y);
  case SAMBA_LANE_XOR:
    return (double)((int64_t)x ^ (int64_t)y);
  case SAMBA_LANE_SHL:
    return (double)(int64_t)((uint64_t)(int64_t)x << (int)y);
  case SAMBA_LANE_SHRA:
    return (double)((int64_t)x >> (int)y);
  case SAMBA_LANE_SHRL: /* of what is not negative */
    return (double)((uint64_t)(int64_t)x >> (int)y);
  case SAMBA_LANE_EQ:
    return x == y;
  case SAMBA_LANE_NE:
    return x != y;
  case SAMBA_LANE_LT:
    return x < y;
  case SAMBA_LANE_LE:
    return x <= y;
  case SAMBA_LANE_GT:
    return x > y;
  case SAMBA_LANE_GE:
    return x >= y;
  case SAMBA_LANE_SELECT:
    return x != 0 ? y : z;
  case SAMBA_LANE_FLOOR:
    return floor(x);
  case SAMBA_LANE_CEIL:
    return ceil(x);
  case SAMBA_LANE_ROUNDEVEN:
    return nearbyint(x);
  case SAMBA_LANE_EXP:
    return exp(x);
  case SAMBA_LANE_LOG:
    return log(x);
  case SAMBA_LANE_SQRT:
    return sqrt(x);
  case SAMBA_LANE_RSQRT:
    return 1 / sqrt(x);
  case SAMBA_LANE_TANH:
    return tanh(x);
  case SAMBA_LANE_ERF:
    return erf(x);
  case SAMBA_LANE_SIN:
    return sin(x);
  case SAMBA_LANE_COS:
    return cos(x);
  case SAMBA_LANE_POW:
    return is_float ? pow(x, y) : powerOf(x, y);
  case SAMBA_LANE_ATAN:
    return atan(x);
  case SAMBA_LANE_TRUNC:
    return trunc(x);
  case SAMBA_LANE_EXPM1:
    return expm1(x);
  case SAMBA_LANE_LOG1P:
    return log1p(x);
  case SAMBA_LANE_TO_BF16:
    return (double)sambaBf16ToFloat(sambaFloatToBf16((float)x));
  case SAMBA_LANE_TO_F16:
    return (double)sambaHalfToFloat(sambaFloatToHalf((float)x));
  case SAMBA_LANE_FLOAT_TO_INT:
    return toInteger(x, (SambaDType)op->type);
  case SAMBA_LANE_INT_TO_FLOAT:
    return x;
  case SAMBA_LANE_INT_RESIZE:
    return x;
  case SAMBA_LANE_WRAP:
    return wrap(evaluation, x, (SambaDType)op->immediate);
  case SAMBA_LANE_REDUCE_ADD:
    return *accumulator = *accumulator + x;
  case SAMBA_LANE_REDUCE_MUL:
    return *accumulator = *accumulator * x;
  case SAMBA_LANE_REDUCE_MIN:
    return *accumulator = minimum(*accumulator, x);
  case SAMBA_LANE_REDUCE_MAX:
    return *accumulator = maximum(*accumulator, x);
  case SAMBA_LANE_REDUCE_AND:
    return *accumulator = (double)((int64_t)*accumulator & (int64_t)x);
  case SAMBA_LANE_REDUCE_OR:
    return *accumulator = (double)((int64_t)*accumulator | (int64_t)x);
  case SAMBA_LANE_MAC:
    return *accumulator =
               is_float ? fusedSum(evaluation, x, y, *accumulator) : *accumulator + x * y;
  default:
    if (!evaluation->status)
      evaluation->status = sambaStatusMake(
          SAMBA_UNSUPPORTED, "lane operation '%s' is not evaluated", sambaLaneOpName(op->opcode));
    return 0;
  }
}

static double identity(const SambaStage *stage) {
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    bool is_float = stage->ops[i].type == SAMBA_DTYPE_F32;
    if (stage->ops[i].opcode == SAMBA_LANE_REDUCE_MAX)
      return is_float ? -INFINITY
                      : -ldexp(1, 8 * (int)sambaDTypeBytes((SambaDType)stage->ops[i].type) - 1);
    if (stage->ops[i].opcode == SAMBA_LANE_REDUCE_MIN)
      return is_float ? INFINITY
                      : ldexp(1, 8 * (int)sambaDTypeBytes((SambaDType)stage->ops[i].type) - 1) - 1;
    if (stage->ops[i].opcode == SAMBA_LANE_REDUCE_MUL)
      return 1;
    if (stage->ops[i].opcode == SAMBA_LANE_REDUCE_AND)
      return stage->ops[i].type == SAMBA_DTYPE_I1 ? 1 : -1;
  }

  return 0;
}

/* The element that an operand touches at this point; -1: outside. */
static int64_t address(const SambaStageGraph *graph, const SambaStageOperand *operand,
                       const int64_t *counters, uint32_t dims, const double *values) {
  const SambaStageTensor *tensor = &graph->tensors[operand->tensor];
  int64_t at = 0;
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    int64_t index = operand->axes[axis].constant;
    for (uint32_t d = 0; d < dims; ++d)
      index += operand->axes[axis].coefficients[d] * counters[d];
    if (operand->index_operand != SAMBA_NO_INDEX && operand->index_axis == axis)
      index += (int64_t)values[operand->index_operand];
    if (index < 0 || index >= tensor->dims[axis])
      return -1;
    at = at * tensor->dims[axis] + index;
  }
  return at;
}

static void refuse(Evaluation *evaluation, const SambaStage *stage, const char *what) {
  if (!evaluation->status)
    evaluation->status =
        sambaStatusMake(SAMBA_FAULT, "'%s' %s an element outside of a tensor", stage->name, what);
}

/* An operand's element at this point, the index that it needs before it. */
static double readOperand(Evaluation *evaluation, const SambaStage *stage, uint32_t k,
                          const int64_t *counters, double *values) {
  const SambaStageGraph *graph = evaluation->graph;
  const SambaStageOperand *operand = &stage->operands[k];
  if (operand->index_operand != SAMBA_NO_INDEX)
    values[operand->index_operand] =
        readOperand(evaluation, stage, operand->index_operand, counters, values);
  int64_t at = address(graph, operand, counters, stage->dim_count, values);
  if (at < 0 && !operand->guarded)
    refuse(evaluation, stage, "reads");
  return at >= 0 ? evaluation->tensors[operand->tensor][at]
                 : sambaEvaluateBits(graph->tensors[operand->tensor].dtype, operand->fill);
}

static void evaluateStage(Evaluation *evaluation, const SambaStage *stage) {
  const SambaStageGraph *graph = evaluation->graph;
  double **tensors = evaluation->tensors;
  double *values = calloc(stage->operand_count + stage->op_count + 1, sizeof *values);
  int64_t counters[SAMBA_MAX_STAGE_DIMS] = {0};
  double accumulator = 0;
  uint32_t first_reduced = 0;

  while (first_reduced < stage->dim_count && !stage->reduced[first_reduced])
    ++first_reduced;
  for (;;) {
    bool fresh = true;
    for (uint32_t d = first_reduced; d < stage->dim_count; ++d)
      fresh &= counters[d] == 0;
    if (fresh)
      accumulator = identity(stage);
    for (uint32_t k = 0; k < stage->operand_count; ++k)
      values[k] = readOperand(evaluation, stage, k, counters, values);

    for (uint32_t i = 0; i < stage->op_count; ++i) {
      const SambaLaneOp *op = &stage->ops[i];
      bool to_other = op->opcode == SAMBA_LANE_INT_TO_FLOAT ||
                      (op->opcode >= SAMBA_LANE_EQ && op->opcode <= SAMBA_LANE_GE);
      double value = apply(evaluation, op, values, counters, &accumulator);
      values[stage->operand_count + i] =
          wrap(evaluation, value, to_other ? SAMBA_DTYPE_F32 : (SambaDType)op->type);
      if (sambaLaneOpClass(op->opcode) == 'R')
        accumulator = values[stage->operand_count + i];
    }

    int64_t at = address(graph, &stage->output, counters, stage->dim_count, values);
    if (at < 0)
      refuse(evaluation, stage, "writes");
    if (evaluation->status)
      break;
    SambaDType dtype = graph->tensors[stage->output.tensor].dtype;
    double result = values[stage->result];

    tensors[stage->output.tensor][at] =
        wrap(evaluation, result, sambaDTypeIsFloat(dtype) ? SAMBA_DTYPE_F32 : dtype);
    uint32_t d = stage->dim_count;
    while (d > 0 && ++counters[d - 1] == stage->extents[d - 1])
      counters[--d] = 0;
    if (d == 0)
      break;
  }

  free(values);
}

SambaStatus sambaEvaluateStages(const SambaStageGraph *graph, bool in_double, double **values) {
  Evaluation evaluation = {.graph = graph, .in_double = in_double, .tensors = values};
  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < graph->tensors[t].rank; ++axis)
      elements *= graph->tensors[t].dims[axis];
    if (!values[t]) {
      values[t] = sambaAllocate(sambaArraySize((size_t)elements + 1, sizeof **values));
      for (int64_t i = 0; i < elements; ++i)
        values[t][i] = NAN; /* never written: no comparison holds */
    }
  }
  for (uint32_t s = 0; s < graph->stage_count && !evaluation.status; ++s)
    evaluateStage(&evaluation, &graph->stages[s]);
  return evaluation.status;
}
