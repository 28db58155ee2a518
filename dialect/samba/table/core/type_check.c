/* The checks that shape and dtype rules share; see rows.h. */
#include "dialect/samba/table/core/rows.h"

#include "support/number/dtype.h"
#include "support/number/shape.h"

#include <math.h>
#include <stdio.h>

/* "f32, bf16 or i64" */
static const char *formatSet(uint32_t set, char *buffer, size_t size) {
  size_t used = 0;
  buffer[0] = 0;
  for (unsigned dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype) {
    if (!(set >> dtype & 1))
      continue;
    const char *before = "";
    if (used)
      before = set >> (dtype + 1) ? ", " : " or ";
    used += (size_t)snprintf(buffer + used, size - used, "%s%s", before,
                             sambaDTypeName((SambaDType)dtype));
  }
  return buffer;
}

SambaStatus sambaCheckDType(unsigned constraint, const char *what, SambaDType dtype, uint32_t set) {
  if ((unsigned)dtype < SAMBA_DTYPE_COUNT && set >> dtype & 1)
    return NULL;
  char buffer[96];
  return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s, but must be %s", constraint, what,
                         sambaDTypeName(dtype), formatSet(set, buffer, sizeof buffer));
}

SambaStatus sambaCheckSameDType(unsigned constraint, const char *what, SambaDType dtype,
                                const char *other, SambaDType expected) {
  if (dtype == expected)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s, but %s is %s; cast one of them",
                         constraint, what, sambaDTypeName(dtype), other, sambaDTypeName(expected));
}

SambaStatus sambaCheckRank(unsigned constraint, const char *what, const SambaTensorType *type,
                           uint32_t least, uint32_t most) {
  if (type->rank >= least && type->rank <= most)
    return NULL;
  char buffer[160];
  sambaTensorTypeFormat(type, buffer);
  if (least == most)
    return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s of rank %u, but must have rank %u",
                           constraint, what, buffer, type->rank, least);
  return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s of rank %u, but must have rank %u to %u",
                         constraint, what, buffer, type->rank, least, most);
}

SambaStatus sambaCheckShape(unsigned constraint, const char *what, const SambaTensorType *type,
                            uint32_t rank, const int64_t *dims) {
  bool same = type->rank == rank;
  for (uint32_t axis = 0; same && axis < rank; ++axis)
    same = type->dims[axis] == dims[axis];
  if (same)
    return NULL;
  SambaTensorType expected = {.dtype = type->dtype, .rank = rank};
  memcpy(expected.dims, dims, rank * sizeof *dims);
  char got[160], wanted[160];
  return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s, but must be %s", constraint, what,
                         sambaTensorTypeFormat(type, got),
                         sambaTensorTypeFormat(&expected, wanted));
}

SambaStatus sambaCheckDim(unsigned constraint, const char *what, const SambaTensorType *type,
                          uint32_t dim, int64_t expected) {
  if (type->dims[dim] == expected)
    return NULL;
  char buffer[160];
  return sambaStatusMake(SAMBA_INVALID, "(C%u) %s is %s: dimension %u is %lld, but must be %lld",
                         constraint, what, sambaTensorTypeFormat(type, buffer), dim,
                         (long long)type->dims[dim], (long long)expected);
}

SambaStatus sambaCheckAxis(unsigned constraint, const char *attribute, int64_t axis, uint32_t rank,
                           uint32_t *out_axis) {
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C%u) attribute '%s' names dimension %lld, but the tensor has rank %u",
                           constraint, attribute, (long long)axis, rank);
  *out_axis = (uint32_t)positive;
  return NULL;
}

SambaStatus sambaCheckAxisAttribute(unsigned constraint, const SambaOperatorCall *call,
                                    const char *attribute, uint32_t rank, uint32_t *out_axis) {
  return sambaCheckAxis(constraint, attribute, sambaOperatorCallInt(call, attribute), rank,
                        out_axis);
}

SambaStatus sambaCheckBroadcast(unsigned constraint, const SambaTensorType *a,
                                const SambaTensorType *b, SambaTensorType *out) {
  SambaTensorType result = {.dtype = a->dtype, .rank = a->rank > b->rank ? a->rank : b->rank};
  for (uint32_t back = 1; back <= result.rank; ++back) {
    int64_t x = back <= a->rank ? a->dims[a->rank - back] : 1;
    int64_t y = back <= b->rank ? b->dims[b->rank - back] : 1;
    if (x != y && x != 1 && y != 1) {
      char left[160], right[160];
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C%u) shapes %s and %s do not broadcast: %lld against %lld, %u from the end", constraint,
          sambaTensorTypeFormat(a, left), sambaTensorTypeFormat(b, right), (long long)x,
          (long long)y, back);
    }
    result.dims[result.rank - back] = x == 1 ? y : x;
  }

  *out = result;
  return NULL;
}

SambaStatus sambaCheckInts(unsigned constraint, const SambaOperatorCall *call, const char *name,
                           size_t count, int64_t least, int64_t *out) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  for (size_t i = 0; i < count; ++i)
    out[i] = sambaOperatorAttribute(call->operator, sambaStringRef(name))->otherwise.integer;
  if (!attribute)
    return NULL;
  if (attribute->value.integers.size != count)
    return sambaStatusMake(SAMBA_INVALID, "(C%u) attribute '%s' has %zu numbers, but must have %zu",
                           constraint, name, attribute->value.integers.size, count);

  for (size_t i = 0; i < count; ++i) {
    out[i] = attribute->value.integers.data[i];
    if (out[i] < least || out[i] > (int64_t)1 << 40)
      return sambaStatusMake(SAMBA_INVALID,
                             "(C%u) attribute '%s' has %lld, but numbers must be at least %lld",
                             constraint, name, (long long)out[i], (long long)least);
  }

  return NULL;
}

SambaStatus sambaCheckChoice(unsigned constraint, const SambaOperatorCall *call, const char *name,
                             uint32_t *out_choice) {
  SambaStringRef given = sambaOperatorCallString(call, name);
  const char *choices = sambaOperatorAttribute(call->operator, sambaStringRef(name))->choices;
  const char *next = choices;

  for (*out_choice = 0; *next; ++*out_choice) {
    size_t size = strcspn(next, ",");
    if (size == given.size && memcmp(next, given.data, size) == 0)
      return NULL;
    next += size;
    next += strspn(next, ", ");
  }
  return sambaStatusMake(SAMBA_INVALID, "(C%u) attribute '%s' is '%.*s', but must be one of %s",
                         constraint, name, SAMBA_STRING_ARGS(given), choices);
}

SambaStatus sambaCheckOutDType(unsigned constraint, const SambaOperatorCall *call,
                               SambaDType *out_dtype) {
  SambaDType from = call->operands[0].dtype;
  const SambaAttribute *attribute = sambaOperatorCallFind(call, "out_dtype");
  *out_dtype = attribute ? attribute->value.dtype : from;
  /* The accumulator's own dtype or the operands'. */
  uint32_t accumulator = 1u << sambaDTypeLaneClass(from);
  return sambaCheckDType(constraint, "attribute 'out_dtype'", *out_dtype, accumulator | 1u << from);
}

int64_t sambaTensorTypeElements(const SambaTensorType *type) {
  return sambaShapeElements(type->rank, type->dims);
}

SambaStatus sambaCheckWindowFits(unsigned constraint, const SambaWindow *window, uint32_t i,
                                 int64_t size, int64_t *out_room, int64_t *out_span) {
  *out_room = size + window->begin[i] + window->end[i];
  if (sambaMulOverflows(window->dilation[i], window->kernel[i] - 1, out_span) ||
      *out_span >= *out_room)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C%u) the window does not fit: %lld taps %lld apart against %lld "
                           "padded elements along spatial dimension %u",
                           constraint, (long long)window->kernel[i], (long long)window->dilation[i],
                           (long long)*out_room, i);
  return NULL;
}

SambaStatus sambaReducedAxes(unsigned constraint, const SambaOperatorCall *call,
                             bool *out_reduced) {
  const SambaTensorType *x = &call->operands[0];
  const SambaAttribute *dim = sambaOperatorCallFind(call, "dim");
  bool all = !dim || dim->value.integers.size == 0;

  for (uint32_t axis = 0; axis < x->rank; ++axis)
    out_reduced[axis] = all;
  for (size_t i = 0; !all && i < dim->value.integers.size; ++i) {
    uint32_t axis = 0;
    SAMBA_RETURN_IF_ERROR(
        sambaCheckAxis(constraint, "dim", dim->value.integers.data[i], x->rank, &axis));
    if (out_reduced[axis])
      return sambaStatusMake(SAMBA_INVALID, "(C%u) attribute 'dim' names dimension %u twice",
                             constraint, axis);
    out_reduced[axis] = true;
  }

  return NULL;
}

SambaTensorType sambaReducedType(const SambaTensorType *x, const bool *reduced, bool keepdim) {
  SambaTensorType type = {.dtype = x->dtype};
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (!reduced[axis] || keepdim)
      type.dims[type.rank++] = reduced[axis] ? 1 : x->dims[axis];
  return type;
}

/* The whole part within i64; 0 of NaN. */
static int64_t saturated(double value) {
  if (value != value)
    return 0;
  if (value >= 9223372036854775807.0)
    return INT64_MAX;
  return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

uint64_t sambaDTypeBitsOfNumber(SambaDType dtype, double value) {
  float single = (float)value;

  switch (dtype) {
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return sambaFloatToBits(dtype, single != single ? NAN : single);
  case SAMBA_DTYPE_I1:
    return value != 0;
  default: {
    int64_t whole = saturated(value);
    uint32_t width = 8 * sambaDTypeBytes(dtype);
    return width == 64 ? (uint64_t)whole : (uint64_t)whole & (((uint64_t)1 << width) - 1);
  }
  }
}
