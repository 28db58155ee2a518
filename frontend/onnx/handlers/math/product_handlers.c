/* Handlers of ONNX operators: products. */
#include "frontend/onnx/handlers/handlers.h"

static SambaTraceValue *scaled(SambaTraceValue *x, double factor) {
  return !x || factor == 1 ? x : sambaMul(x, sambaTraceScalar(x->trace, x->type.dtype, factor));
}

/* alpha * op(A) * op(B) + beta * C. A bias along the columns goes into linear, any other C is
 * added. bf16 and f16 are f32 until one rounding at the end. */
SambaStatus sambaOnnxImportGemm(const SambaOnnxNode *node) {
  SambaTraceValue *a, *b, *c = NULL;
  double alpha = sambaOnnxFloat(node, "alpha", 1);
  double beta = sambaOnnxFloat(node, "beta", 1);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &a));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &b));
  if (sambaOnnxHasInput(node, 2) && beta != 0)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &c));
  if (a->type.rank != 2 || b->type.rank != 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "inputs 0 and 1 have ranks %u and %u, but must have rank 2",
                           a->type.rank, b->type.rank);
  if (sambaOnnxInt(node, "transA", 0))
    a = sambaTranspose(a, 0, 1);
  if (!sambaOnnxInt(node, "transB", 0))
    b = sambaTranspose(b, 0, 1);
  bool columns = c && b && alpha == 1 && beta == 1 && c->type.dtype == b->type.dtype &&
                 c->type.rank >= 1 && c->type.rank <= 2 &&
                 c->type.dims[c->type.rank - 1] == b->type.dims[0] &&
                 (c->type.rank == 1 || c->type.dims[0] == 1);
  if (columns) {
    SambaTraceValue *bias = c->type.rank == 1 ? c : sambaReshape(c, 1, &b->type.dims[0]);
    return sambaOnnxSetTensor(node, 0, sambaLinear(a, b, bias));
  }

  if (!a || !b)
    return sambaOnnxSetTensor(node, 0, NULL);
  SambaDType dtype = a->type.dtype;
  SambaDType wide = dtype == SAMBA_DTYPE_F16 || dtype == SAMBA_DTYPE_BF16 ? SAMBA_DTYPE_F32 : dtype;
  SambaAttribute out_dtype = sambaDTypeAttribute("out_dtype", wide);
  SambaTraceValue *operands[] = {a, b};
  SambaTraceValue *y = sambaTraceCall(a->trace, "linear", 2, operands, wide != dtype, &out_dtype);
  y = scaled(y, alpha);

  return sambaOnnxSetTensor(
      node, 0, sambaCast(c ? sambaAdd(y, scaled(sambaCast(c, wide), beta)) : y, dtype));
}

SambaStatus sambaOnnxImportMatMul(const SambaOnnxNode *node) {
  SambaTraceValue *a, *b;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &a));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &b));
  return sambaOnnxSetTensor(node, 0, sambaMatmul(a, b));
}
