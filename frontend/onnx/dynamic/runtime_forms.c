/* Operators whose operands - where a slice starts, how much is padded - are only there at run time
 * and whose result's shape is declared: along each axis the result reads the input at computed
 * positions. The positions are arithmetic on the operands' few integers, in the graph; reading them
 * is index_select. See declared.c for operands that a declared shape determines. */
#include "frontend/onnx/dynamic/dynamic.h"

#include "support/number/shape.h"

#include <stdlib.h>

/* What a form reads and makes. Tensors of one number have the shape [1], those of one axis [size of
 * the result]. */
typedef struct {
  const SambaOnnxNode *node;
  SambaTrace *trace;
  SambaTraceValue *x;
  uint32_t rank;                /* of input and result */
  int64_t dims[SAMBA_MAX_RANK]; /* of the result */
} Form;

static SambaTraceValue *number(const Form *form, int64_t value) {
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {1}};
  return sambaTraceConstant(form->trace, &type, &value, false);
}

/* 0, 1, 2 .. */
static SambaTraceValue *counting(SambaTrace *trace, int64_t count) {
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {count}};
  int64_t *data = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *data));
  for (int64_t i = 0; i < count; ++i)
    data[i] = i;
  SambaTraceValue *result = sambaTraceConstant(trace, &type, data, false);
  free(data);
  return result;
}

static SambaTraceValue *bounded(const Form *form, SambaTraceValue *x, int64_t low, int64_t high) {
  return sambaMinimum(sambaMaximum(x, number(form, low)), number(form, high));
}

/* Elements [first, first + count) of a list of integers, as i64. */
static SambaStatus listOf(const Form *form, uint32_t input, int64_t first, int64_t count,
                          SambaTraceValue **out_list) {
  SambaTraceValue *list;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(form->node, input, &list));
  if (list->type.rank != 1 || first + count > list->type.dims[0] ||
      sambaDTypeIsFloat(list->type.dtype))
    return sambaStatusMake(
        SAMBA_INVALID, "input %u must be a list of integers, with one for each of the axes", input);
  list = sambaCast(list, SAMBA_DTYPE_I64);
  *out_list = first == 0 && count == list->type.dims[0]
                  ? list
                  : sambaSlice(list, 0, first, first + count, 1);
  return NULL;
}

/* What a list says for one axis, `otherwise` when the axis is not in it. axes: the input that names
 * the axes; without it they are 0, 1, 2 .. *out is NULL when it is known that nothing is said. */
static SambaStatus valueOfAxis(const Form *form, uint32_t input, int64_t offset, int64_t count,
                               uint32_t axes, uint32_t axis, int64_t otherwise,
                               SambaTraceValue **out) {
  const SambaConstant *known = sambaOnnxConstant(form->node, axes);
  bool named = sambaOnnxHasInput(form->node, axes);
  SambaTraceValue *list, *names;

  *out = NULL;
  if (!named || known) {
    int64_t at = named ? -1 : axis;
    if (known && known->count != count)
      return sambaStatusMake(SAMBA_INVALID, "input %u has %lld axes, but there are %lld values",
                             axes, (long long)known->count, (long long)count);
    for (int64_t i = 0; known && i < count; ++i) {
      uint32_t one;
      SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(known->data[i].i, form->rank, &one));
      at = one == axis ? i : at;
    }
    return at >= 0 && at < count ? listOf(form, input, offset + at, 1, out) : NULL;
  }

  SAMBA_RETURN_IF_ERROR(listOf(form, axes, 0, count, &names));
  SAMBA_RETURN_IF_ERROR(listOf(form, input, offset, count, &list));
  int64_t first = 0;
  SambaTraceValue *here = sambaLogicalOr(sambaEq(names, number(form, axis)),
                                         sambaEq(names, number(form, (int64_t)axis - form->rank)));
  SambaTraceValue *change =
      sambaWhere(here, sambaSub(list, number(form, otherwise)), number(form, 0));
  *out = sambaAdd(sambaSum(change, 1, &first, true), number(form, otherwise));

  return NULL;
}

static SambaStatus lengthOf(const SambaOnnxNode *node, uint32_t input, int64_t *out_count) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, input, &rank, dims));
  *out_count = rank == 1 ? dims[0] : -1;
  return rank == 1 ? NULL
                   : sambaStatusMake(SAMBA_INVALID, "input %u has rank %u, but must be a list",
                                     input, rank);
}

/* The first index is clamped into the axis; how many follow is the declared size. */
static SambaStatus importSlice(Form *form, bool *out_done) {
  enum { STARTS = 1, AXES = 3, STEPS = 4 };
  int64_t count;

  SAMBA_RETURN_IF_ERROR(lengthOf(form->node, STARTS, &count));
  for (uint32_t axis = 0; axis < form->rank; ++axis) {
    SambaTraceValue *start, *step = NULL;
    int64_t size = form->x->type.dims[axis];
    SAMBA_RETURN_IF_ERROR(valueOfAxis(form, STARTS, 0, count, AXES, axis, 0, &start));
    if (sambaOnnxHasInput(form->node, STEPS))
      SAMBA_RETURN_IF_ERROR(valueOfAxis(form, STEPS, 0, count, AXES, axis, 1, &step));
    if (!start && form->dims[axis] != size)
      return sambaStatusMake(SAMBA_INVALID,
                             "dimension %u is declared as %lld, but it is not sliced and has %lld",
                             axis, (long long)form->dims[axis], (long long)size);
    if (!start)
      continue;
    SambaTraceValue *at =
        sambaWhere(sambaLt(start, number(form, 0)), sambaAdd(start, number(form, size)), start);
    SambaTraceValue *walk = counting(form->trace, form->dims[axis]);
    walk = step ? sambaMul(walk, step) : walk;
    form->x = sambaIndexSelect(form->x, sambaAdd(bounded(form, at, 0, size - 1), walk), axis);
    if (!form->x)
      break;
  }

  *out_done = true;
  return sambaOnnxSetTensor(form->node, 0, form->x);
}

/* Positions before and behind the input are mirrored, repeated or clamped; constant: read anywhere,
 * then replaced. */
static SambaStatus importPad(Form *form, bool *out_done) {
  enum { PADS = 1, VALUE = 2, AXES = 3 };
  const SambaOnnxNode *node = form->node;
  bool constant = sambaOnnxStringIs(node, "mode", "constant", true),
       reflect = sambaOnnxStringIs(node, "mode", "reflect", false),
       wrap = sambaOnnxStringIs(node, "mode", "wrap", false);
  if (!constant && !reflect && !wrap && !sambaOnnxStringIs(node, "mode", "edge", false))
    return NULL;
  int64_t count;
  SambaTraceValue *value = sambaTraceScalar(form->trace, form->x->type.dtype, 0);

  SAMBA_RETURN_IF_ERROR(lengthOf(node, PADS, &count));
  if (constant && sambaOnnxHasInput(node, VALUE))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, VALUE, &value));
  value = value && value->type.rank ? sambaReshape(value, 0, NULL) : value;
  for (uint32_t axis = 0; axis < form->rank && constant; ++axis)
    if (form->x->type.dims[axis] == 0) { /* nothing but the number */
      *out_done = true;
      return sambaOnnxSetTensor(node, 0, sambaExpand(value, form->rank, form->dims));
    }
  for (uint32_t axis = 0; axis < form->rank && form->x; ++axis) {
    SambaTraceValue *low;
    int64_t size = form->x->type.dims[axis];
    int64_t period = 2 * (size - 1);
    int64_t wide[SAMBA_MAX_RANK];
    SAMBA_RETURN_IF_ERROR(valueOfAxis(form, PADS, 0, count / 2, AXES, axis, 0, &low));
    if (!low)
      continue;
    SambaTraceValue *at = sambaSub(counting(form->trace, form->dims[axis]), low);
    SambaTraceValue *inside = NULL;
    if (wrap) { /* around what negative pads leave */
      SambaTraceValue *zero = number(form, 0);
      SambaTraceValue *begin = sambaMaximum(sambaNeg(low), zero);
      SambaTraceValue *end =
          sambaMaximum(sambaSub(low, number(form, form->dims[axis] - size)), zero);
      SambaTraceValue *left =
          sambaMaximum(sambaSub(number(form, size), sambaAdd(begin, end)), number(form, 1));
      at = sambaSub(counting(form->trace, form->dims[axis]), sambaMaximum(low, zero));
      at = sambaAdd(sambaRemainder(at, left), begin);
    }

    if (constant)
      inside = sambaLogicalAnd(sambaGe(at, number(form, 0)), sambaLt(at, number(form, size)));
    if (reflect && period > 0)
      at = sambaRemainder(at, number(form, period));
    if (reflect)
      at = sambaMinimum(at, sambaSub(number(form, period), at));
    form->x = sambaIndexSelect(form->x, bounded(form, at, 0, size - 1), axis);
    if (!constant)
      continue;
    for (uint32_t d = 0; d < form->rank; ++d)
      wide[d] = d == axis ? form->dims[axis] : 1;
    form->x = sambaWhere(sambaReshape(inside, form->rank, wide), form->x, value);
  }

  *out_done = true;
  return sambaOnnxSetTensor(node, 0, form->x);
}

/* The pads are known, only the number around is not: a padded input and a padded mask. */
static SambaStatus importPadValue(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *pads = sambaOnnxConstant(node, 1);
  const SambaConstant *axes = sambaOnnxConstant(node, 3);
  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  SambaTraceValue *x, *value;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &value));
  int64_t count = axes ? axes->count : x->type.rank;
  int64_t numbers = sambaShapeElements(value->type.rank, value->type.dims);
  int64_t dims[SAMBA_MAX_RANK];
  bool all = false, nothing = false;
  memcpy(dims, x->type.dims, sizeof dims);
  if (pads->count != 2 * count || numbers != 1)
    return NULL; /* the handler's error */
  for (int64_t i = 0; i < count; ++i) {
    uint32_t axis;
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(axes ? axes->data[i].i : i, x->type.rank, &axis));
    int64_t size = x->type.dims[axis];
    int64_t begin = pads->data[i].i;
    int64_t end = pads->data[count + i].i;
    int64_t from = begin < 0 ? -begin : 0;
    int64_t to = end < 0 ? size + end : size;
    if (from > to)
      return NULL;
    dims[axis] = size + begin + end;
    all |= from == to, nothing |= dims[axis] == 0;
    low[axis] = begin, high[axis] = end;
  }

  *out_done = true;
  if (nothing)
    return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims);
  value = sambaReshape(value, 0, NULL);
  if (all)
    return sambaOnnxSetTensor(node, 0, sambaExpand(value, x->type.rank, dims));

  for (uint32_t axis = 0; axis < x->type.rank; ++axis) {
    int64_t size = x->type.dims[axis];
    int64_t from = low[axis] < 0 ? -low[axis] : 0;
    int64_t to = high[axis] < 0 ? size + high[axis] : size;
    SambaTraceValue *cut = from || to < size ? sambaSlice(x, axis, from, to, 1) : x;
    if (!cut)
      return sambaOnnxSetTensor(node, 0, NULL);
    x = cut;
    low[axis] += from, high[axis] += size - to;
  }

  SambaTraceValue *inside = sambaTraceScalar(node->trace, SAMBA_DTYPE_I1, 1);
  inside = sambaPad(sambaExpand(inside, x->type.rank, x->type.dims), low, high, 0);
  return sambaOnnxSetTensor(node, 0, sambaWhere(inside, sambaPad(x, low, high, 0), value));
}

/* start + i * delta */
static SambaStatus importRange(const SambaOnnxNode *node, int64_t count, bool *out_done) {
  SambaTraceValue *start, *delta, *walk;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &start));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &delta));
  walk = sambaCast(counting(node->trace, count), start->type.dtype);
  *out_done = true;
  return sambaOnnxSetTensor(
      node, 0,
      sambaAdd(sambaMul(walk, sambaReshape(delta, 0, NULL)), sambaReshape(start, 0, NULL)));
}

/* One of the inputs [first, last] is there, but not known. */
static bool anyAtRunTime(const SambaOnnxNode *node, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; ++i)
    if (sambaOnnxHasInput(node, i) && !sambaOnnxConstant(node, i))
      return true;
  return false;
}

/* An integer that no double has: attributes of the pad operator cannot say it. */
static bool isLongPad(const SambaOnnxNode *node) {
  const SambaConstant *value = sambaOnnxHasInput(node, 2) ? sambaOnnxConstant(node, 2) : NULL;
  return value && value->count == 1 && !value->is_float &&
         (value->data[0].i > INT64_C(1) << 53 || value->data[0].i < -(INT64_C(1) << 53));
}

SambaStatus sambaOnnxImportRuntimeForm(const SambaOnnxNode *node, bool *out_done) {
  const char *name = sambaOnnxDomain(node->proto)[0] ? "" : node->proto->op_type;
  bool is_slice = strcmp(name, "Slice") == 0 && anyAtRunTime(node, 1, 4),
       is_pad = strcmp(name, "Pad") == 0 && (anyAtRunTime(node, 1, 3) || isLongPad(node));
  if (is_pad && sambaOnnxStringIs(node, "mode", "constant", true) && !anyAtRunTime(node, 1, 1) &&
      !anyAtRunTime(node, 3, 3) && sambaOnnxHasInput(node, 1))
    return importPadValue(node, out_done);
  Form form = {.node = node, .trace = node->trace};
  uint32_t rank;

  if (strcmp(name, "Range") == 0 && anyAtRunTime(node, 0, 2) &&
      sambaOnnxDeclaredShape(node, 0, &rank, form.dims) && rank == 1)
    return importRange(node, form.dims[0], out_done);
  if ((!is_slice && !is_pad) || !sambaOnnxDeclaredShape(node, 0, &form.rank, form.dims))
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &form.x));
  if (form.x->type.rank != form.rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "the result is declared with rank %u, but the input has rank %u",
                           form.rank, form.x->type.rank);
  return is_slice ? importSlice(&form, out_done) : importPad(&form, out_done);
}
