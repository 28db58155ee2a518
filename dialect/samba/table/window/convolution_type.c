/* Checks of convolutions; see convolution_type.h. */
#include "dialect/samba/table/window/convolution_type.h"

SambaStatus sambaCheckConvolution(const SambaOperatorCall *call) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *w = &call->operands[1];
  uint32_t rank = call->operator->spatial + 2u;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(2, "the weight", w->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(3, "the input", x, rank, rank));
  return sambaCheckRank(3, "the weight", w, rank, rank);
}

SambaStatus sambaConvolutionWindow(const SambaOperatorCall *call, SambaWindow *out) {
  uint32_t spatial = call->operator->spatial;
  int64_t padding[6];

  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "stride", spatial, 1, out->stride));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "dilation", spatial, 1, out->dilation));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(5, call, "padding", 2 * spatial, 0, padding));
  out->spatial = spatial;
  for (uint32_t i = 0; i < spatial; ++i) {
    out->kernel[i] = call->operands[1].dims[2 + i];
    out->begin[i] = padding[i];
    out->end[i] = padding[spatial + i];
  }
  return NULL;
}

SambaStatus sambaConvolutionResult(const SambaOperatorCall *call, const SambaWindow *window,
                                   int64_t channels, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  *out = *x;
  *sambaImageDim(call->operator, out, 1) = channels;
  for (uint32_t i = 0; i < window->spatial; ++i)
    *sambaImageDim(call->operator, out, 2 + i) = window->out[i];

  SAMBA_RETURN_IF_ERROR(sambaCheckOutDType(8, call, &out->dtype));
  if (call->operand_count < 3)
    return NULL;
  const SambaTensorType *bias = &call->operands[2];
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(7, "the bias", bias, 1, &channels));
  return sambaCheckDType(7, "the bias", bias->dtype, 1u << x->dtype | 1u << out->dtype);
}
