/* Handlers of ONNX operators that were experimental and went with version 10 of the operator set.
 */
#include "frontend/onnx/handlers/handlers.h"

static SambaTraceValue *number(const SambaTraceValue *like, double value) {
  return sambaTraceScalar(like->trace, like->type.dtype, value);
}

static SambaTraceValue *scaledBy(SambaTraceValue *x, double factor) {
  return !x || factor == 1 ? x : sambaMul(x, number(x, factor));
}

/* alpha * x + beta. */
SambaStatus sambaOnnxImportAffine(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SambaTraceValue *y = scaledBy(x, sambaOnnxFloat(node, "alpha", 1));
  return sambaOnnxSetTensor(node, 0, sambaAdd(y, number(x, sambaOnnxFloat(node, "beta", 0))));
}

SambaStatus sambaOnnxImportScale(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, scaledBy(x, sambaOnnxFloat(node, "scale", 1)));
}

/* alpha * tanh(beta * x). */
SambaStatus sambaOnnxImportScaledTanh(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  x = sambaTanh(scaledBy(x, sambaOnnxFloat(node, "beta", 1)));
  return sambaOnnxSetTensor(node, 0, scaledBy(x, sambaOnnxFloat(node, "alpha", 1)));
}

/* alpha * log(exp(beta * x) + 1). */
SambaStatus sambaOnnxImportParametricSoftplus(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  x = sambaSoftplus(scaledBy(x, sambaOnnxFloat(node, "beta", 1)));
  return sambaOnnxSetTensor(node, 0, scaledBy(x, sambaOnnxFloat(node, "alpha", 1)));
}

static SambaStatus checkImage(const SambaTensorType *type) {
  return type->rank == 4
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "input 0 has rank %u, but an image must have rank 4",
                               type->rank);
}

/* scale * x + the bias of the channel. */
SambaStatus sambaOnnxImportImageScaler(const SambaOnnxNode *node) {
  SambaTraceValue *x, *bias;
  const Onnx__AttributeProto *given = sambaOnnxAttribute(node, "bias");
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(checkImage(&x->type));
  int64_t channels = x->type.dims[1];
  size_t count = given ? given->n_floats : 0;
  if (count != (size_t)channels)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'bias' has %zu numbers, but there are %lld channels", count,
                           (long long)channels);

  int64_t dims[] = {channels, 1, 1};
  SambaConstant *biases = sambaConstantNew(node->arena, SAMBA_ONNX_FLOAT, 3, dims);
  for (int64_t i = 0; biases && i < channels; ++i)
    biases->data[i].r = (double)given->floats[i];
  if (!biases)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the constant result has more than %d elements",
                           SAMBA_ONNX_MAX_FOLDED);
  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, biases, &bias));
  SambaTraceValue *y = scaledBy(x, sambaOnnxFloat(node, "scale", 1));
  return sambaOnnxSetTensor(node, 0, sambaAdd(y, sambaCast(bias, x->type.dtype)));
}

/* border: left, top, right and bottom of what is cut off; with scale, that height and width are
 * left, from the left and the top on. */
SambaStatus sambaOnnxImportCrop(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const int64_t *border, *scale;
  size_t border_size, scale_size;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(checkImage(&x->type));
  sambaOnnxInts(node, "border", &border, &border_size);
  sambaOnnxInts(node, "scale", &scale, &scale_size);
  if (border_size != 4 || (scale_size && scale_size != 2))
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'border' has %zu numbers, but must have 4, and 'scale' has "
                           "%zu, but must have 2 or none",
                           border_size, scale_size);
  for (uint32_t d = 0; d < 2; ++d) { /* height, width */
    int64_t size = x->type.dims[2 + d];
    int64_t start = border[1 - d];
    int64_t end = scale_size ? start + scale[d] : size - border[3 - d];
    if (start < 0 || end > size || start >= end)
      return sambaStatusMake(SAMBA_INVALID,
                             "the image of %lld elements along dimension %u cannot be cut to %lld "
                             "to %lld",
                             (long long)size, 2 + d, (long long)start, (long long)end);
    x = sambaOnnxPart(x, 2 + d, start, end - start, 1);
    if (!x)
      return sambaOnnxTraceFailure(node);
  }

  return sambaOnnxSetTensor(node, 0, x);
}
