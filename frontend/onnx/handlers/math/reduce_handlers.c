/* Handlers of ONNX operators that reduce: Reduce*, Softmax, LogSoftmax, Hardmax. */
#include "frontend/onnx/core/shape_rules.h"
#include "frontend/onnx/handlers/handlers.h"

/* [..] as [.., 1] */
static SambaTensor *withLastDimension(SambaTensor *x) {
  int64_t dims[SAMBA_MAX_RANK + 1];
  memcpy(dims, x->type.dims, x->type.rank * sizeof *dims);
  dims[x->type.rank] = 1;
  return sambaReshape(x, x->type.rank + 1, dims);
}

/* Before opset 13 the dimensions from the axis on are one. */
SambaStatus sambaOnnxImportSoftmax(const SambaOnnxNode *node) {
  SambaTensor *x;
  uint32_t axis;
  bool old = node->version < 13;
  SambaTensor *(*function)(SambaTensor *, int64_t) =
      strcmp(node->proto->op_type, "Softmax") == 0   ? sambaSoftmax
      : strcmp(node->proto->op_type, "Hardmax") == 0 ? sambaHardmax
                                                     : sambaLogSoftmax;
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
  SambaTensor *flat = function(sambaFlatten(x, axis, -1), -1);

  return sambaOnnxSetTensor(node, 0, sambaReshape(flat, x->type.rank, x->type.dims));
}

/* ---- Reductions ---- */

static SambaTensor *integers(const SambaTensor *like, int64_t value) {
  return sambaTraceScalar(like->trace, SAMBA_DTYPE_I64, (double)value);
}

/* The whole part of the square root of i64 numbers >= 0. Steps of Newton's square the relative
 * error; of the root in f32, and in bf16 where the compiler makes it that, three leave nothing, or
 * one too much. */
static SambaTensor *integerRoot(SambaTensor *x) {
  if (!x)
    return NULL;
  SambaTensor *near = sambaCast(sambaSqrt(sambaCast(x, SAMBA_DTYPE_F32)), SAMBA_DTYPE_I64);
  near = sambaMaximum(near, integers(x, 1));
  for (int step = 0; step < 3 && near; ++step)
    near =
        sambaDiv(sambaAdd(near, sambaDiv(x, sambaMaximum(near, integers(x, 1)))), integers(x, 2));
  return sambaSub(near, sambaCast(sambaGt(sambaMul(near, near), x), SAMBA_DTYPE_I64));
}

typedef struct {
  const char *form; /* what follows Reduce */
  bool nothing;     /* no axis is reduced: each element is its own sum */
  bool keep;
  size_t count;
  int64_t dims[SAMBA_MAX_RANK];
} Reduction;

static bool isForm(const Reduction *reduction, const char *form) {
  return strcmp(reduction->form, form) == 0;
}
static bool isSquare(const Reduction *reduction) {
  return isForm(reduction, "L2") || isForm(reduction, "SumSquare");
}

static SambaTensor *sumOf(const Reduction *reduction, SambaTensor *x) {
  return reduction->nothing ? x : sambaSum(x, reduction->count, reduction->dims, reduction->keep);
}

/* Whole numbers stay whole: mean and root lose their fraction, logarithms are taken in f32 in every
 * precision. */
static SambaTensor *reduceIntegers(const Reduction *reduction, SambaTensor *x) {
  SambaDType dtype = x->type.dtype;
  int64_t elements = 1;

  for (size_t i = 0; i < reduction->count; ++i)
    elements *= x->type.dims[reduction->dims[i]];
  if (strncmp(reduction->form, "Log", 3) == 0) {
    SambaTrace *trace = x->trace;
    sambaTraceKeepPrecision(trace, true);
    x = sambaCast(x, SAMBA_DTYPE_F32);
    x = isForm(reduction, "LogSum") ? sambaLog(sumOf(reduction, x))
        : reduction->nothing
            ? x
            : sambaLogsumexp(x, reduction->count, reduction->dims, reduction->keep);
    x = sambaCast(x, dtype);
    sambaTraceKeepPrecision(trace, false);
  } else if (isForm(reduction, "Mean")) {
    SambaTensor *sum = sumOf(reduction, sambaCast(x, SAMBA_DTYPE_I64));
    x = sum ? sambaDiv(sum, integers(sum, elements)) : NULL;
  } else if (isForm(reduction, "L2")) {
    x = sambaCast(x, SAMBA_DTYPE_I64);
    x = integerRoot(sumOf(reduction, sambaMul(x, x)));
  } else
    x = sumOf(reduction, isForm(reduction, "L1")          ? sambaAbs(x)
                         : isForm(reduction, "SumSquare") ? sambaMul(x, x)
                                                          : x);
  return sambaCast(x, dtype);
}

/* All steps in f32, one rounding. */
static SambaTensor *reduceFloats(const Reduction *reduction, SambaTensor *x) {
  SambaDType dtype = x->type.dtype;
  if (isForm(reduction, "LogSumExp"))
    return reduction->nothing
               ? x
               : sambaLogsumexp(x, reduction->count, reduction->dims, reduction->keep);
  if (isForm(reduction, "Mean"))
    return reduction->nothing ? x
                              : sambaMean(x, reduction->count, reduction->dims, reduction->keep);
  if (isForm(reduction, "Sum"))
    return sumOf(reduction, x);
  x = sambaCast(x, SAMBA_DTYPE_F32);
  x = sumOf(reduction, isSquare(reduction)       ? sambaMul(x, x)
                       : isForm(reduction, "L1") ? sambaAbs(x)
                                                 : x);
  return sambaCast(isForm(reduction, "L2")       ? sambaSqrt(x)
                   : isForm(reduction, "LogSum") ? sambaLog(x)
                                                 : x,
                   dtype);
}

SambaStatus sambaOnnxImportReduce(const SambaOnnxNode *node) {
  SambaTensor *x;
  bool reduced[SAMBA_MAX_RANK];

  Reduction reduction = {.form = node->proto->op_type + strlen("Reduce"),
                         .keep = sambaOnnxInt(node, "keepdims", 1) != 0};
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxReducedAxes(node, x->type.rank, reduced, &reduction.nothing));
  for (uint32_t axis = 0; axis < x->type.rank; ++axis)
    if (reduced[axis])
      reduction.dims[reduction.count++] = axis;
  if (isForm(&reduction, "Max") || isForm(&reduction, "Min"))
    x = reduction.nothing ? x
                          : (isForm(&reduction, "Max") ? sambaAmax : sambaAmin)(
                                x, reduction.count, reduction.dims, reduction.keep);
  else if (isForm(&reduction, "Prod"))
    x = reduction.nothing ? x : sambaProd(x, reduction.count, reduction.dims, reduction.keep);
  else
    x = (sambaDTypeIsFloat(x->type.dtype) ? reduceFloats : reduceIntegers)(&reduction, x);
  return sambaOnnxSetTensor(node, 0, x);
}
