/* The operators as C functions; see operators.h. */
#include "samba/operators.h"
#include "frontend/trace/trace.h"

#include "support/number/shape.h"

SambaDType sambaPromoteDTypes(SambaDType a, SambaDType b) {
  if (a == b)
    return a;
  bool float_a = sambaDTypeIsFloat(a), float_b = sambaDTypeIsFloat(b);
  if (float_a != float_b)
    return float_a ? a : b;
  if (float_a)
    return SAMBA_DTYPE_F32; /* two different ones: nothing narrower holds both */
  if (a == SAMBA_DTYPE_I1 || b == SAMBA_DTYPE_I1)
    return a == SAMBA_DTYPE_I1 ? b : a;
  if (sambaDTypeBytes(a) != sambaDTypeBytes(b))
    return sambaDTypeBytes(a) > sambaDTypeBytes(b) ? a : b;
  return SAMBA_DTYPE_I16; /* i8 with ui8 */
}

SambaTraceValue *sambaCast(SambaTraceValue *x, SambaDType dtype) {
  if (!x || x->type.dtype == dtype)
    return x;
  SambaAttribute attribute = sambaDTypeAttribute("dtype", dtype);
  return sambaTraceBuild("cast", 1, 1, &x, 1, &attribute);
}

/* Two operands, promoted to one dtype. */
static SambaTraceValue *promoting(const char *name, SambaTraceValue *a, SambaTraceValue *b) {
  if (!a || !b)
    return NULL;
  SambaDType dtype = sambaPromoteDTypes(a->type.dtype, b->type.dtype);
  SambaTraceValue *operands[] = {sambaCast(a, dtype), sambaCast(b, dtype)};
  return operands[1] ? sambaTraceBuild(name, 1, 2, operands, 0, NULL) : NULL;
}

#include "frontend/trace/builders.c.inc"

SambaTraceValue *sambaWhere(SambaTraceValue *condition, SambaTraceValue *a, SambaTraceValue *b) {
  if (!condition || !a || !b)
    return NULL;
  SambaDType dtype = sambaPromoteDTypes(a->type.dtype, b->type.dtype);
  SambaTraceValue *operands[] = {condition, sambaCast(a, dtype), sambaCast(b, dtype)};
  return operands[1] && operands[2] ? sambaTraceBuild("where", 1, 3, operands, 0, NULL) : NULL;
}

SambaTraceValue *sambaGeluTanh(SambaTraceValue *x) {
  SambaAttribute attribute = sambaStringAttribute("approximate", "tanh");
  return sambaTraceBuild("gelu", 1, 1, &x, 1, &attribute);
}
SambaTraceValue *sambaClamp(SambaTraceValue *x, const double *low, const double *high) {
  SambaAttribute attributes[2];
  uint32_t count = 0;
  if (low)
    attributes[count++] = sambaFloatAttribute("min", *low);
  if (high)
    attributes[count++] = sambaFloatAttribute("max", *high);
  return sambaTraceBuild("clamp", 1, 1, &x, count, attributes);
}

static SambaTraceValue *shaped(const char *name, SambaTraceValue *seed, uint32_t rank,
                               const int64_t *dims, const char *first, double a, const char *second,
                               double b, SambaDType dtype) {
  SambaAttribute attributes[] = {sambaIntsAttribute("shape", dims, rank),
                                 sambaFloatAttribute(first, a), sambaFloatAttribute(second, b),
                                 sambaDTypeAttribute("dtype", dtype)};
  return sambaTraceBuild(name, 1, 1, &seed, 4, attributes);
}
SambaTraceValue *sambaUniform(SambaTraceValue *seed, uint32_t rank, const int64_t *dims, double low,
                              double high, SambaDType dtype) {
  return shaped("uniform", seed, rank, dims, "low", low, "high", high, dtype);
}
SambaTraceValue *sambaNormal(SambaTraceValue *seed, uint32_t rank, const int64_t *dims, double mean,
                             double std, SambaDType dtype) {
  return shaped("normal", seed, rank, dims, "mean", mean, "std", std, dtype);
}
bool sambaDropout(SambaTraceValue *x, SambaTraceValue *p, SambaTraceValue *seed,
                  SambaTraceValue **out_result, SambaTraceValue **out_mask) {
  SambaTraceValue *results[2];
  if (!x || !p || !seed)
    return false;
  SambaStatus status = sambaTraceOperator(x->trace, "dropout", 3, (SambaTraceValue *[]){x, p, seed},
                                          0, NULL, results);
  if (status) {
    sambaTraceFail(x->trace, status);
    return false;
  }
  *out_result = results[0];
  *out_mask = results[1];
  return true;
}

SambaTraceValue *sambaScaledDotProductAttention(SambaTraceValue *query, SambaTraceValue *key,
                                                SambaTraceValue *value, SambaTraceValue *mask,
                                                double scale, bool causal) {
  SambaAttribute attributes[2];
  uint32_t count = 0;
  if (scale != 0)
    attributes[count++] = sambaFloatAttribute("scale", scale);
  if (causal)
    attributes[count++] = sambaBoolAttribute("is_causal", true);
  return sambaTraceBuild("scaled_dot_product_attention", 3, 4,
                         (SambaTraceValue *[]){query, key, value, mask}, count, attributes);
}

SambaTraceValue *sambaReshape(SambaTraceValue *x, uint32_t rank, const int64_t *dims) {
  if (!x)
    return NULL;
  int64_t shape[SAMBA_MAX_RANK + 1], known = 1;
  int64_t elements = sambaShapeElements(x->type.rank, x->type.dims);
  int open = -1;

  for (uint32_t axis = 0; axis < rank && axis <= SAMBA_MAX_RANK; ++axis) {
    shape[axis] = dims[axis];
    if (dims[axis] == -1 && open < 0)
      open = (int)axis;
    else if (sambaMulOverflows(known, dims[axis], &known))
      known = 0;
  }

  if (open >= 0 && known > 0)
    shape[open] = elements / known; /* what does not divide is refused by the operator */
  SambaAttribute attribute =
      sambaIntsAttribute("shape", shape, rank <= SAMBA_MAX_RANK ? rank : SAMBA_MAX_RANK + 1);
  return sambaTraceBuild("reshape", 1, 1, &x, 1, &attribute);
}
SambaTraceValue *sambaPermute(SambaTraceValue *x, const int64_t *dims) {
  SambaAttribute attribute = sambaIntsAttribute("dims", dims, x ? x->type.rank : 0);
  return sambaTraceBuild("permute", 1, 1, &x, 1, &attribute);
}
SambaTraceValue *sambaTranspose(SambaTraceValue *x, int64_t dim0, int64_t dim1) {
  if (!x)
    return NULL;
  int64_t dims[SAMBA_MAX_RANK];
  int64_t rank = x->type.rank;
  int64_t a = dim0 < 0 ? dim0 + rank : dim0;
  int64_t b = dim1 < 0 ? dim1 + rank : dim1;

  if (a < 0 || a >= rank || b < 0 || b >= rank) {
    sambaTraceFail(
        x->trace,
        sambaStatusMake(
            SAMBA_INVALID,
            "permute: dimensions %lld and %lld cannot be exchanged in a tensor of rank %lld",
            (long long)dim0, (long long)dim1, (long long)rank));
    return NULL;
  }

  for (int64_t axis = 0; axis < rank; ++axis)
    dims[axis] = axis;
  dims[a] = b;
  dims[b] = a;
  return sambaPermute(x, dims);
}
SambaTraceValue *sambaExpand(SambaTraceValue *x, uint32_t rank, const int64_t *dims) {
  SambaAttribute attribute = sambaIntsAttribute("shape", dims, rank);
  return sambaTraceBuild("expand", 1, 1, &x, 1, &attribute);
}

static int64_t clampIndex(int64_t index, int64_t size, int64_t low, int64_t high) {
  if (index < 0)
    index += size;
  if (index < low)
    return low;
  return index > high ? high : index;
}

SambaTraceValue *sambaSlice(SambaTraceValue *x, int64_t dim, int64_t start, int64_t end,
                            int64_t step) {
  if (!x)
    return NULL;
  uint32_t rank = x->type.rank;
  int64_t starts[SAMBA_MAX_RANK] = {0};
  int64_t ends[SAMBA_MAX_RANK];
  int64_t steps[SAMBA_MAX_RANK];
  int64_t axis = dim < 0 ? dim + rank : dim;

  if (axis < 0 || axis >= rank) {
    sambaTraceFail(x->trace,
                   sambaStatusMake(SAMBA_INVALID,
                                   "slice: there is no dimension %lld in a tensor of rank %u",
                                   (long long)dim, rank));
    return NULL;
  }

  for (uint32_t i = 0; i < rank; ++i)
    ends[i] = x->type.dims[i], steps[i] = 1;
  int64_t size = x->type.dims[axis];
  bool back = step < 0;
  starts[axis] = clampIndex(start, size, 0, back ? size - 1 : size);
  ends[axis] = clampIndex(end, size, back ? -1 : 0, back ? size - 1 : size);
  steps[axis] = step;
  SambaAttribute attributes[] = {sambaIntsAttribute("starts", starts, rank),
                                 sambaIntsAttribute("ends", ends, rank),
                                 sambaIntsAttribute("steps", steps, rank)};
  return sambaTraceBuild("slice", 1, 1, &x, 3, attributes);
}
SambaTraceValue *sambaPad(SambaTraceValue *x, const int64_t *low, const int64_t *high,
                          double value) {
  uint32_t rank = x ? x->type.rank : 0;
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank),
                                 sambaFloatAttribute("value", value)};
  return sambaTraceBuild("pad", 1, 1, &x, 3, attributes);
}
SambaTraceValue *sambaFlatten(SambaTraceValue *x, int64_t first, int64_t last) {
  if (!x)
    return NULL;
  int64_t rank = x->type.rank;
  int64_t from = first < 0 ? first + rank : first;
  int64_t to = last < 0 ? last + rank : last;
  int64_t dims[SAMBA_MAX_RANK + 1];
  uint32_t count = 0;

  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis > from && axis <= to)
      dims[count - 1] *= x->type.dims[axis];
    else
      dims[count++] = x->type.dims[axis];
  }

  if (!count)
    dims[count++] = 1;
  return sambaReshape(x, count, dims);
}

SambaTraceValue *sambaCat(uint32_t count, SambaTraceValue *const *tensors, int64_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  for (uint32_t i = 0; i < count; ++i)
    if (!tensors[i])
      return NULL;
  return count ? sambaTraceBuild("cat", 1, count, tensors, 1, &attribute) : NULL;
}

SambaTraceValue *sambaDft(SambaTraceValue *x, int64_t dim, int64_t length, bool inverse,
                          bool onesided) {
  SambaAttribute attributes[] = {
      sambaIntAttribute("dim", dim), sambaBoolAttribute("inverse", inverse),
      sambaBoolAttribute("onesided", onesided), sambaIntAttribute("length", length)};
  return sambaTraceBuild("dft", 1, 1, &x, length ? 4 : 3, attributes);
}
SambaTraceValue *sambaStft(SambaTraceValue *x, SambaTraceValue *window, int64_t hop, int64_t length,
                           bool onesided) {
  SambaAttribute attributes[] = {sambaIntAttribute("hop", hop),
                                 sambaBoolAttribute("onesided", onesided),
                                 sambaIntAttribute("length", length)};
  return sambaTraceBuild("stft", 1, 2, (SambaTraceValue *[]){x, window}, length ? 3 : 2,
                         attributes);
}
