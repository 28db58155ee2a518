/* The operators as C functions; see operators.h. */
#include "frontend/trace/operators.h"

static SambaTensor *call(const char *name, uint32_t count, SambaTensor *const *operands,
                         uint32_t attribute_count, const SambaAttribute *attributes) {
  return operands[0] ? sambaTraceCall(operands[0]->trace, name, count, operands, attribute_count,
                                      attributes)
                     : NULL;
}

static SambaTensor *unary(const char *name, SambaTensor *x) { return call(name, 1, &x, 0, NULL); }

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

SambaTensor *sambaCast(SambaTensor *x, SambaDType dtype) {
  if (!x || x->type.dtype == dtype)
    return x;
  SambaAttribute attribute = sambaDTypeAttribute("dtype", dtype);
  return call("cast", 1, &x, 1, &attribute);
}

static SambaTensor *binary(const char *name, SambaTensor *a, SambaTensor *b) {
  if (!a || !b)
    return NULL;
  SambaDType dtype = sambaPromoteDTypes(a->type.dtype, b->type.dtype);
  SambaTensor *operands[] = {sambaCast(a, dtype), sambaCast(b, dtype)};
  return operands[1] ? call(name, 2, operands, 0, NULL) : NULL;
}

static SambaTensor *reduction(const char *name, SambaTensor *x, size_t count, const int64_t *dims,
                              bool keepdim) {
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", dims, count),
                                 sambaBoolAttribute("keepdim", keepdim)};
  return call(name, 1, &x, 2, attributes);
}

#define X(function, name)                                                                          \
  SambaTensor *function(SambaTensor *x) { return unary(name, x); }
SAMBA_UNARY_BUILDERS(X)
#undef X
#define X(function, name)                                                                          \
  SambaTensor *function(SambaTensor *a, SambaTensor *b) { return binary(name, a, b); }
SAMBA_BINARY_BUILDERS(X)
#undef X
#define X(function, name)                                                                          \
  SambaTensor *function(SambaTensor *x, size_t count, const int64_t *dims, bool keepdim) {         \
    return reduction(name, x, count, dims, keepdim);                                               \
  }
SAMBA_REDUCTION_BUILDERS(X)
#undef X

SambaTensor *sambaWhere(SambaTensor *condition, SambaTensor *a, SambaTensor *b) {
  if (!condition || !a || !b)
    return NULL;
  SambaDType dtype = sambaPromoteDTypes(a->type.dtype, b->type.dtype);
  SambaTensor *operands[] = {condition, sambaCast(a, dtype), sambaCast(b, dtype)};
  return operands[1] && operands[2] ? call("where", 3, operands, 0, NULL) : NULL;
}

SambaTensor *sambaLeakyRelu(SambaTensor *x, double negative_slope) {
  SambaAttribute attribute = sambaFloatAttribute("negative_slope", negative_slope);
  return call("leaky_relu", 1, &x, 1, &attribute);
}
SambaTensor *sambaElu(SambaTensor *x, double alpha) {
  SambaAttribute attribute = sambaFloatAttribute("alpha", alpha);
  return call("elu", 1, &x, 1, &attribute);
}
SambaTensor *sambaCelu(SambaTensor *x, double alpha) {
  SambaAttribute attribute = sambaFloatAttribute("alpha", alpha);
  return call("celu", 1, &x, 1, &attribute);
}
static SambaTensor *twoFloats(const char *name, SambaTensor *x, const char *first, double a,
                              const char *second, double b) {
  SambaAttribute attributes[] = {sambaFloatAttribute(first, a), sambaFloatAttribute(second, b)};
  return call(name, 1, &x, 2, attributes);
}
SambaTensor *sambaSelu(SambaTensor *x, double alpha, double scale) {
  return twoFloats("selu", x, "alpha", alpha, "scale", scale);
}
SambaTensor *sambaThreshold(SambaTensor *x, double threshold, double value) {
  return twoFloats("threshold", x, "threshold", threshold, "value", value);
}
SambaTensor *sambaShrink(SambaTensor *x, double lambd, double bias) {
  return twoFloats("shrink", x, "lambd", lambd, "bias", bias);
}
SambaTensor *sambaGeluTanh(SambaTensor *x) {
  SambaAttribute attribute = sambaStringAttribute("approximate", "tanh");
  return call("gelu", 1, &x, 1, &attribute);
}
SambaTensor *sambaHardsigmoid(SambaTensor *x, double alpha, double beta) {
  return twoFloats("hardsigmoid", x, "alpha", alpha, "beta", beta);
}
SambaTensor *sambaClamp(SambaTensor *x, const double *low, const double *high) {
  SambaAttribute attributes[2];
  uint32_t count = 0;
  if (low)
    attributes[count++] = sambaFloatAttribute("min", *low);
  if (high)
    attributes[count++] = sambaFloatAttribute("max", *high);
  return call("clamp", 1, &x, count, attributes);
}

static SambaTensor *shaped(const char *name, SambaTensor *seed, uint32_t rank, const int64_t *dims,
                           const char *first, double a, const char *second, double b,
                           SambaDType dtype) {
  SambaAttribute attributes[] = {sambaIntsAttribute("shape", dims, rank),
                                 sambaFloatAttribute(first, a), sambaFloatAttribute(second, b),
                                 sambaDTypeAttribute("dtype", dtype)};
  return call(name, 1, &seed, 4, attributes);
}
SambaTensor *sambaUniform(SambaTensor *seed, uint32_t rank, const int64_t *dims, double low,
                          double high, SambaDType dtype) {
  return shaped("uniform", seed, rank, dims, "low", low, "high", high, dtype);
}
SambaTensor *sambaNormal(SambaTensor *seed, uint32_t rank, const int64_t *dims, double mean,
                         double std, SambaDType dtype) {
  return shaped("normal", seed, rank, dims, "mean", mean, "std", std, dtype);
}
SambaTensor *sambaBernoulli(SambaTensor *p, SambaTensor *seed, SambaDType dtype) {
  SambaAttribute attribute = sambaDTypeAttribute("dtype", dtype);
  return seed ? call("bernoulli", 2, (SambaTensor *[]){p, seed}, 1, &attribute) : NULL;
}
SambaTensor *sambaMultinomial(SambaTensor *weights, SambaTensor *seed, int64_t num_samples,
                              SambaDType dtype) {
  SambaAttribute attributes[] = {sambaIntAttribute("num_samples", num_samples),
                                 sambaDTypeAttribute("dtype", dtype)};
  return seed ? call("multinomial", 2, (SambaTensor *[]){weights, seed}, 2, attributes) : NULL;
}
bool sambaDropout(SambaTensor *x, SambaTensor *p, SambaTensor *seed, SambaTensor **out_result,
                  SambaTensor **out_mask) {
  SambaTensor *results[2];
  if (!x || !p || !seed)
    return false;
  SambaStatus status =
      sambaTraceOperator(x->trace, "dropout", 3, (SambaTensor *[]){x, p, seed}, 0, NULL, results);
  if (status) {
    sambaTraceFail(x->trace, status);
    return false;
  }
  *out_result = results[0];
  *out_mask = results[1];
  return true;
}

SambaTensor *sambaLinear(SambaTensor *x, SambaTensor *weight, SambaTensor *bias) {
  return weight ? call("linear", 3, (SambaTensor *[]){x, weight, bias}, 0, NULL) : NULL;
}
SambaTensor *sambaMatmul(SambaTensor *a, SambaTensor *b) {
  return b ? call("matmul", 2, (SambaTensor *[]){a, b}, 0, NULL) : NULL;
}

SambaTensor *sambaSoftmax(SambaTensor *x, int64_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return call("softmax", 1, &x, 1, &attribute);
}
SambaTensor *sambaLogSoftmax(SambaTensor *x, int64_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return call("log_softmax", 1, &x, 1, &attribute);
}
SambaTensor *sambaScaledDotProductAttention(SambaTensor *query, SambaTensor *key,
                                            SambaTensor *value, SambaTensor *mask, double scale,
                                            bool causal) {
  SambaAttribute attributes[2];
  uint32_t count = 0;
  if (scale != 0)
    attributes[count++] = sambaFloatAttribute("scale", scale);
  if (causal)
    attributes[count++] = sambaBoolAttribute("is_causal", true);
  return key && value ? call("scaled_dot_product_attention", 4,
                             (SambaTensor *[]){query, key, value, mask}, count, attributes)
                      : NULL;
}

SambaTensor *sambaReshape(SambaTensor *x, uint32_t rank, const int64_t *dims) {
  if (!x)
    return NULL;
  int64_t shape[SAMBA_MAX_RANK + 1], known = 1, elements = 1;
  int open = -1;

  for (uint32_t axis = 0; axis < x->type.rank; ++axis)
    elements *= x->type.dims[axis];
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
  return call("reshape", 1, &x, 1, &attribute);
}
SambaTensor *sambaPermute(SambaTensor *x, const int64_t *dims) {
  SambaAttribute attribute = sambaIntsAttribute("dims", dims, x ? x->type.rank : 0);
  return call("permute", 1, &x, 1, &attribute);
}
SambaTensor *sambaTranspose(SambaTensor *x, int64_t dim0, int64_t dim1) {
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
    dims[axis] = axis == a ? b : axis == b ? a : axis;
  return sambaPermute(x, dims);
}
SambaTensor *sambaExpand(SambaTensor *x, uint32_t rank, const int64_t *dims) {
  SambaAttribute attribute = sambaIntsAttribute("shape", dims, rank);
  return call("expand", 1, &x, 1, &attribute);
}

static int64_t clampIndex(int64_t index, int64_t size, int64_t low, int64_t high) {
  if (index < 0)
    index += size;
  return index < low ? low : index > high ? high : index;
}

SambaTensor *sambaSlice(SambaTensor *x, int64_t dim, int64_t start, int64_t end, int64_t step) {
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
  return call("slice", 1, &x, 3, attributes);
}
SambaTensor *sambaPad(SambaTensor *x, const int64_t *low, const int64_t *high, double value) {
  uint32_t rank = x ? x->type.rank : 0;
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank),
                                 sambaFloatAttribute("value", value)};
  return call("pad", 1, &x, 3, attributes);
}
SambaTensor *sambaFlatten(SambaTensor *x, int64_t first, int64_t last) {
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

SambaTensor *sambaCat(uint32_t count, SambaTensor *const *tensors, int64_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  for (uint32_t i = 0; i < count; ++i)
    if (!tensors[i])
      return NULL;
  return count ? call("cat", count, tensors, 1, &attribute) : NULL;
}
SambaTensor *sambaEmbedding(SambaTensor *weight, SambaTensor *indices) {
  return indices ? call("embedding", 2, (SambaTensor *[]){weight, indices}, 0, NULL) : NULL;
}
SambaTensor *sambaIndexSelect(SambaTensor *x, SambaTensor *indices, int64_t dim) {
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return indices ? call("index_select", 2, (SambaTensor *[]){x, indices}, 1, &attribute) : NULL;
}

SambaTensor *sambaDft(SambaTensor *x, int64_t dim, int64_t length, bool inverse, bool onesided) {
  SambaAttribute attributes[] = {
      sambaIntAttribute("dim", dim), sambaBoolAttribute("inverse", inverse),
      sambaBoolAttribute("onesided", onesided), sambaIntAttribute("length", length)};
  return call("dft", 1, &x, length ? 4 : 3, attributes);
}
SambaTensor *sambaStft(SambaTensor *x, SambaTensor *window, int64_t hop, int64_t length,
                       bool onesided) {
  SambaAttribute attributes[] = {sambaIntAttribute("hop", hop),
                                 sambaBoolAttribute("onesided", onesided),
                                 sambaIntAttribute("length", length)};
  return call("stft", 2, (SambaTensor *[]){x, window}, length ? 3 : 2, attributes);
}
SambaTensor *sambaRotaryEmbedding(SambaTensor *x, SambaTensor *cosine, SambaTensor *sine,
                                  bool interleaved) {
  SambaAttribute attribute = sambaBoolAttribute("interleaved", interleaved);
  return cosine && sine
             ? call("rotary_embedding", 3, (SambaTensor *[]){x, cosine, sine}, 1, &attribute)
             : NULL;
}
