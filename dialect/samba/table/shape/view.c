/* Views: operators that move no data by themselves. The planner composes them into the maps of the
 * stages that read them. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/shape/view_gradients.h"

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
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "low", x->rank, 0, low));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "high", x->rank, 0, high));
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
  out->fill = sambaDTypeBitsOfNumber(result->dtype, sambaOperatorCallFloat(call, "value"));
  return NULL;
}

const SambaOperator sambaViewOperators[] = {
    {.name = "reshape",
     .summary = "the same elements in another shape",
     .computes = "The elements in row-major order, in the dimensions `shape`.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "shape", "the result's dimensions")},
     .constraints = {"the product of shape is the number of elements"},
     .example = "%y = samba.reshape %x {shape = [6, 4]} : tensor<2x3x4xf32>",
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .differentiate = sambaGradientReshape,
     .infer = inferReshape},
    {.name = "permute",
     .summary = "dimensions reordered",
     .computes = "Result dimension i is the operand's dimension dims[i].",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "dims", "result dimension i is operand dimension dims[i]")},
     .constraints = {"dims is a permutation of the dimensions"},
     .example = "%y = samba.permute %x {dims = [2, 0, 1]} : tensor<2x3x4xf32>",
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .differentiate = sambaGradientPermute,
     .infer = inferPermute,
     .compose = composePermute},
    {.name = "expand",
     .summary = "dimensions of size 1 repeated, dimensions added in front",
     .computes = "The operand broadcast to `shape`.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "shape", "the result's dimensions")},
     .constraints = {"shape has at least the operand's rank",
                     "a dimension that changes has size 1"},
     .example = "%y = samba.expand %x {shape = [2, 3, 4]} : tensor<1x4xf32>",
     .source = "torch.Tensor.expand",
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .differentiate = sambaGradientExpand,
     .infer = inferExpand,
     .compose = composeExpand},
    {.name = "slice",
     .summary = "elements starts, starts + steps, ... before ends, along every dimension",
     .computes = "Along each dimension the elements start, start + step, ... before end, which is "
                 "-1 for a negative step that runs to element 0.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "starts", "first element per dimension"),
                    REQUIRED(INTS, "ends", "exclusive; -1 with a negative step: down to element 0"),
                    REQUIRED(INTS, "steps", "not 0")},
     .constraints = {"one start, end and step per dimension",
                     "0 <= start < size, steps are not 0 and at least one element is left"},
     .example =
         "%y = samba.slice %x {starts = [0, 1], ends = [2, 4], steps = [1, 2]} : tensor<2x4xf32>",
     .source = "numpy's basic slicing",
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .differentiate = sambaGradientSlice,
     .infer = inferSlice,
     .compose = composeSlice},
    {.name = "pad",
     .summary = "`low` and `high` elements of `value` around every dimension",
     .computes = "`low` elements before and `high` after, per dimension, each `value`.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "low", "elements before, per dimension"),
                    REQUIRED(INTS, "high", "elements after, per dimension"), FLOAT("value", 0)},
     .constraints = {"one low and one high per dimension",
                     "at least one element is left per dimension, low and high are 0 or more, the "
                     "dtype has value"},
     .example = "%y = samba.pad %x {low = [0, 1], high = [0, 1], value = 0.0} : tensor<2x4xf32>",
     .source = "torch.nn.functional.pad",
     .view = true,
     .dtypes = SAMBA_SET_ANY,
     .differentiate = sambaGradientPad,
     .infer = inferPad,
     .compose = composePad},
    {0}};
