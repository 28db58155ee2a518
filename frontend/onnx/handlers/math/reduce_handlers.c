/* Handlers of ONNX operators that reduce: Reduce*, Softmax, LogSoftmax, Hardmax. */
#include "frontend/onnx/core/shape_rules.h"
#include "frontend/onnx/handlers/handlers.h"

/* [..] as [.., 1] */
static SambaTraceValue *withLastDimension(SambaTraceValue *x) {
  int64_t dims[SAMBA_MAX_RANK + 1];
  memcpy(dims, x->type.dims, x->type.rank * sizeof *dims);
  dims[x->type.rank] = 1;
  return sambaReshape(x, x->type.rank + 1, dims);
}

static SambaTraceValue *(*softmaxOf(SambaOnnxVariant variant))(SambaTraceValue *, int64_t) {
  switch (variant) {
  case SAMBA_ONNX_HARDMAX:
    return sambaHardmax;
  case SAMBA_ONNX_LOG_SOFTMAX:
    return sambaLogSoftmax;
  default:
    return sambaSoftmax;
  }
}

/* Before opset 13 the dimensions from the axis on are one. */
SambaStatus sambaOnnxImportSoftmax(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  uint32_t axis;
  bool old = node->version < 13;
  SambaTraceValue *(*function)(SambaTraceValue *, int64_t) = softmaxOf(node->row->variant);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  int64_t wanted = sambaOnnxInt(node, "axis", old ? 1 : -1);

  if (old && wanted == x->type.rank) /* what follows the last dimension is one element */
    return sambaOnnxSetTensor(
        node, 0, sambaReshape(function(withLastDimension(x), -1), x->type.rank, x->type.dims));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(wanted, x->type.rank, &axis));
  int64_t rest = 1;
  for (uint32_t d = axis + 1; d < x->type.rank; ++d)
    rest *= x->type.dims[d];
  if (!old || rest == 1)
    return sambaOnnxSetTensor(node, 0, function(x, axis));
  SambaTraceValue *flat = function(sambaFlatten(x, axis, -1), -1);

  return sambaOnnxSetTensor(node, 0, sambaReshape(flat, x->type.rank, x->type.dims));
}

/* ---- Reductions ---- */

static SambaTraceValue *integers(const SambaTraceValue *like, int64_t value) {
  return sambaTraceScalar(like->trace, SAMBA_DTYPE_I64, (double)value);
}

/* The whole part of the square root of i64 numbers >= 0. Steps of Newton's square the relative
 * error; of the root in f32, and in bf16 where the compiler makes it that, three leave nothing, or
 * one too much. */
static SambaTraceValue *integerRoot(SambaTraceValue *x) {
  if (!x)
    return NULL;
  SambaTraceValue *near = sambaCast(sambaSqrt(sambaCast(x, SAMBA_DTYPE_F32)), SAMBA_DTYPE_I64);
  near = sambaMaximum(near, integers(x, 1));
  for (int step = 0; step < 3 && near; ++step)
    near =
        sambaDiv(sambaAdd(near, sambaDiv(x, sambaMaximum(near, integers(x, 1)))), integers(x, 2));
  return sambaSub(near, sambaCast(sambaGt(sambaMul(near, near), x), SAMBA_DTYPE_I64));
}

typedef struct {
  SambaOnnxVariant variant;
  bool nothing; /* no axis is reduced: each element is its own sum */
  bool keep;
  size_t count;
  int64_t dims[SAMBA_MAX_RANK];
} Reduction;

typedef SambaTraceValue *(*Reduce)(SambaTraceValue *, size_t, const int64_t *, bool);

static SambaTraceValue *reduceWith(Reduce function, const Reduction *reduction,
                                   SambaTraceValue *x) {
  return reduction->nothing ? x : function(x, reduction->count, reduction->dims, reduction->keep);
}

static SambaTraceValue *sumOf(const Reduction *reduction, SambaTraceValue *x) {
  return reduceWith(sambaSum, reduction, x);
}

/* What is added up. */
static SambaTraceValue *summand(SambaOnnxVariant variant, SambaTraceValue *x) {
  switch (variant) {
  case SAMBA_ONNX_REDUCE_L1:
    return sambaAbs(x);
  case SAMBA_ONNX_REDUCE_L2:
  case SAMBA_ONNX_REDUCE_SUM_SQUARE:
    return sambaMul(x, x);
  default:
    return x;
  }
}

/* Logarithms are taken in f32 in every precision. */
static SambaTraceValue *logarithmOfIntegers(const Reduction *reduction, SambaTraceValue *x) {
  SambaDType dtype = x->type.dtype;
  SambaTrace *trace = x->trace;

  sambaTraceKeepPrecision(trace, true);
  x = sambaCast(x, SAMBA_DTYPE_F32);
  x = reduction->variant == SAMBA_ONNX_REDUCE_LOG_SUM ? sambaLog(sumOf(reduction, x))
                                                      : reduceWith(sambaLogsumexp, reduction, x);
  x = sambaCast(x, dtype);
  sambaTraceKeepPrecision(trace, false);
  return x;
}

/* Whole numbers stay whole: mean and root lose their fraction. */
static SambaTraceValue *reduceIntegers(const Reduction *reduction, SambaTraceValue *x) {
  SambaDType dtype = x->type.dtype;
  int64_t elements = 1;
  for (size_t i = 0; i < reduction->count; ++i)
    elements *= x->type.dims[reduction->dims[i]];

  switch (reduction->variant) {
  case SAMBA_ONNX_REDUCE_LOG_SUM:
  case SAMBA_ONNX_REDUCE_LOG_SUM_EXP:
    x = logarithmOfIntegers(reduction, x);
    break;
  case SAMBA_ONNX_REDUCE_MEAN: {
    SambaTraceValue *sum = sumOf(reduction, sambaCast(x, SAMBA_DTYPE_I64));
    x = sum ? sambaDiv(sum, integers(sum, elements)) : NULL;
    break;
  }
  case SAMBA_ONNX_REDUCE_L2:
    x = sambaCast(x, SAMBA_DTYPE_I64);
    x = integerRoot(sumOf(reduction, sambaMul(x, x)));
    break;
  default:
    x = sumOf(reduction, summand(reduction->variant, x));
  }
  return sambaCast(x, dtype);
}

/* All steps in f32, one rounding. */
static SambaTraceValue *reduceFloats(const Reduction *reduction, SambaTraceValue *x) {
  SambaDType dtype = x->type.dtype;
  switch (reduction->variant) {
  case SAMBA_ONNX_REDUCE_LOG_SUM_EXP:
    return reduceWith(sambaLogsumexp, reduction, x);
  case SAMBA_ONNX_REDUCE_MEAN:
    return reduceWith(sambaMean, reduction, x);
  case SAMBA_ONNX_REDUCE_SUM:
    return sumOf(reduction, x);
  default:
    break;
  }

  x = sambaCast(x, SAMBA_DTYPE_F32);
  x = sumOf(reduction, summand(reduction->variant, x));
  if (reduction->variant == SAMBA_ONNX_REDUCE_L2)
    x = sambaSqrt(x);
  else if (reduction->variant == SAMBA_ONNX_REDUCE_LOG_SUM)
    x = sambaLog(x);
  return sambaCast(x, dtype);
}

SambaStatus sambaOnnxImportReduce(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  bool reduced[SAMBA_MAX_RANK];

  Reduction reduction = {.variant = node->row->variant,
                         .keep = sambaOnnxInt(node, "keepdims", 1) != 0};
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxReducedAxes(node, x->type.rank, reduced, &reduction.nothing));
  for (uint32_t axis = 0; axis < x->type.rank; ++axis)
    if (reduced[axis])
      reduction.dims[reduction.count++] = axis;

  switch (reduction.variant) {
  case SAMBA_ONNX_REDUCE_MAX:
    x = reduceWith(sambaAmax, &reduction, x);
    break;
  case SAMBA_ONNX_REDUCE_MIN:
    x = reduceWith(sambaAmin, &reduction, x);
    break;
  case SAMBA_ONNX_REDUCE_PROD:
    x = reduceWith(sambaProd, &reduction, x);
    break;
  default:
    x = (sambaDTypeIsFloat(x->type.dtype) ? reduceFloats : reduceIntegers)(&reduction, x);
  }
  return sambaOnnxSetTensor(node, 0, x);
}
