/* Views: operators that move no data by themselves. The planner composes them into the maps of
 * whoever reads them.
 *
 * reshape: (C1) shape's product is the number of elements. permute: (C1) dims is a permutation of
 * the dimensions. expand: (C1) shape has at least the operand's rank, (C2) a dimension that changes
 * has size 1. slice: (C1) one start, end and step per dimension, (C2) 0 <= start < size, steps are
 * not 0 and at least one element is left; end is exclusive and -1 for a negative step that runs to
 * element 0. pad: (C1) one low and one high per dimension, (C2) what is left is not empty and no
 * element is both added and removed at one side: low and high are 0 or more. */
#include "dialect/samba/table/core/stage_builder.h"

static const int64_t *integers(const SambaOperatorCall *call, const char *name, size_t *out_size) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  *out_size = attribute->value.integers.size;
  return attribute->value.integers.data;
}

static SambaStatus takeShape(const SambaOperatorCall *call, SambaTensorType *out) {
  size_t rank;
  const int64_t *shape = integers(call, "shape", &rank);

  if (rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C1) attribute 'shape' has %zu dimensions, but tensors have at most %d",
                           rank, SAMBA_MAX_RANK);
  out->dtype = call->operands[0].dtype;
  out->rank = (uint32_t)rank;
  for (size_t axis = 0; axis < rank; ++axis)
    if ((out->dims[axis] = shape[axis]) < 1 || shape[axis] >= (int64_t)1 << 48)
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C1) attribute 'shape' has %lld, but dimensions must be 1 or more and less than 2^48",
          (long long)shape[axis]);
  return NULL;
}

static SambaStatus inferReshape(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(takeShape(call, out));
  int64_t elements = 1;
  int64_t expected = sambaTensorTypeElements(&call->operands[0]);
  bool overflow = false;
  for (uint32_t axis = 0; axis < out->rank; ++axis)
    overflow |= sambaMulOverflows(elements, out->dims[axis], &elements);
  if (overflow || elements != expected) {
    char from[160], to[160];
    return sambaStatusMake(
        SAMBA_INVALID, "(C1) %s cannot become %s: the numbers of elements differ",
        sambaTensorTypeFormat(&call->operands[0], from), sambaTensorTypeFormat(out, to));
  }
  return NULL;
}

static SambaStatus inferPermute(const SambaOperatorCall *call, SambaTensorType *out) {
  size_t size;
  const int64_t *dims = integers(call, "dims", &size);
  const SambaTensorType *x = &call->operands[0];
  bool seen[SAMBA_MAX_RANK] = {false}, ok = size == x->rank;

  *out = *x;
  for (uint32_t axis = 0; ok && axis < x->rank; ++axis) {
    ok = dims[axis] >= 0 && dims[axis] < x->rank && !seen[dims[axis]];
    if (ok)
      seen[dims[axis]] = true, out->dims[axis] = x->dims[dims[axis]];
  }

  return ok ? NULL
            : sambaStatusMake(
                  SAMBA_INVALID,
                  "(C1) attribute 'dims' must name each of the %u dimensions of the operand once",
                  x->rank);
}
static SambaStatus composePermute(const SambaOperatorCall *call, const SambaTensorType *result,
                                  SambaStageOperand *out) {
  size_t size;
  const int64_t *dims = integers(call, "dims", &size);
  for (uint32_t axis = 0; axis < result->rank; ++axis)
    out->axes[dims[axis]].coefficients[axis] = 1;
  return NULL;
}

static SambaStatus inferExpand(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(takeShape(call, out));
  const SambaTensorType *x = &call->operands[0];
  if (out->rank < x->rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C1) attribute 'shape' has %u dimensions, but the operand has %u",
                           out->rank, x->rank);
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (x->dims[axis] != 1 && x->dims[axis] != out->dims[axis + out->rank - x->rank]) {
      char from[160], to[160];
      return sambaStatusMake(SAMBA_INVALID, "(C2) %s cannot expand to %s: dimension %u is not 1",
                             sambaTensorTypeFormat(x, from), sambaTensorTypeFormat(out, to), axis);
    }
  return NULL;
}
static SambaStatus composeExpand(const SambaOperatorCall *call, const SambaTensorType *result,
                                 SambaStageOperand *out) {
  const SambaTensorType *x = &call->operands[0];
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (x->dims[axis] != 1)
      out->axes[axis].coefficients[axis + result->rank - x->rank] = 1;
  return NULL;
}

static SambaStatus inferSlice(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  size_t startCount, endCount, stepCount;
  const int64_t *starts = integers(call, "starts", &startCount);
  const int64_t *ends = integers(call, "ends", &endCount);
  const int64_t *steps = integers(call, "steps", &stepCount);

  if (startCount != x->rank || endCount != x->rank || stepCount != x->rank)
    return sambaStatusMake(
        SAMBA_INVALID,
        "(C1) the operand has %u dimensions, but there are %zu starts, %zu ends and %zu steps",
        x->rank, startCount, endCount, stepCount);
  *out = *x;

  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    int64_t start = starts[axis];
    int64_t end = ends[axis];
    int64_t step = steps[axis];
    int64_t size = x->dims[axis];
    bool ok = start >= 0 && start < size && step != 0 && step > -((int64_t)1 << 48) &&
              step < (int64_t)1 << 48;
    ok = ok && (step > 0 ? end > start && end <= size : end < start && end >= -1);
    if (!ok)
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C2) dimension %u of size %lld cannot be sliced from %lld to %lld by %lld", axis,
          (long long)size, (long long)start, (long long)end, (long long)step);
    out->dims[axis] = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  }

  return NULL;
}
static SambaStatus composeSlice(const SambaOperatorCall *call, const SambaTensorType *result,
                                SambaStageOperand *out) {
  size_t size;
  const int64_t *starts = integers(call, "starts", &size);
  const int64_t *steps = integers(call, "steps", &size);
  for (uint32_t axis = 0; axis < result->rank; ++axis) {
    out->axes[axis].constant = starts[axis];
    out->axes[axis].coefficients[axis] = result->dims[axis] == 1 ? 0 : steps[axis];
  }
  return NULL;
}

static SambaStatus inferPad(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "low", x->rank, 0, 0, low));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "high", x->rank, 0, 0, high));
  *out = *x;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    out->dims[axis] += low[axis] + high[axis];
  return NULL;
}
static SambaStatus composePad(const SambaOperatorCall *call, const SambaTensorType *result,
                              SambaStageOperand *out) {
  size_t size;
  const int64_t *low = integers(call, "low", &size);
  for (uint32_t axis = 0; axis < result->rank; ++axis) {
    out->axes[axis].constant = -low[axis];
    out->axes[axis].coefficients[axis] = 1;
  }
  out->guarded = true;
  out->fill = sambaDTypeBitsOfNumber(result->dtype, sambaOperatorCallFloat(call, "value", 0));
  return NULL;
}

#define VIEW(word, function, ...)                                                                  \
  static const SambaAttributeRow word##Attributes[] = {__VA_ARGS__, {0}};                          \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = 1,            \
                                                                 .maximum_operands = 1,            \
                                                                 .attributes = word##Attributes,   \
                                                                 .result_count = 1,                \
                                                                 .view = true,                     \
                                                                 .infer = function},               \
                                                    .dtypes = SAMBA_SET_ANY};
#define AFFINE_VIEW(word, function, map, ...)                                                      \
  static const SambaAttributeRow word##Attributes[] = {__VA_ARGS__, {0}};                          \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = 1,            \
                                                                 .maximum_operands = 1,            \
                                                                 .attributes = word##Attributes,   \
                                                                 .result_count = 1,                \
                                                                 .view = true,                     \
                                                                 .infer = function,                \
                                                                 .compose = map},                  \
                                                    .dtypes = SAMBA_SET_ANY};

VIEW(reshape, inferReshape, {"shape", SAMBA_ATTRIBUTE_INTS, true, "the result's dimensions"})
AFFINE_VIEW(permute, inferPermute, composePermute,
            {"dims", SAMBA_ATTRIBUTE_INTS, true, "result dimension i is operand dimension dims[i]"})
AFFINE_VIEW(expand, inferExpand, composeExpand,
            {"shape", SAMBA_ATTRIBUTE_INTS, true, "the result's dimensions"})
AFFINE_VIEW(slice, inferSlice, composeSlice,
            {"starts", SAMBA_ATTRIBUTE_INTS, true, "first element per dimension"},
            {"ends", SAMBA_ATTRIBUTE_INTS, true,
             "exclusive; -1 with a negative step: down to element 0"},
            {"steps", SAMBA_ATTRIBUTE_INTS, true, "not 0"})
AFFINE_VIEW(pad, inferPad, composePad,
            {"low", SAMBA_ATTRIBUTE_INTS, true, "elements before, per dimension"},
            {"high", SAMBA_ATTRIBUTE_INTS, true, "elements after, per dimension"},
            {"value", SAMBA_ATTRIBUTE_FLOAT, false, "default 0"})
