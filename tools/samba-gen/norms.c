/* Norms and activations, each as one operator or as the operators that PyTorch exports. Those of a
 * network in bf16 are computed in f32, as its authors write them. */
#include "tools/samba-gen/network.h"

static SambaTraceValue *number(SambaTraceValue *x, double value) {
  return x ? sambaTraceScalar(sambaTraceValueGetTrace(x), sambaTraceValueGetDType(x), value) : NULL;
}
SambaTraceValue *plusNumber(SambaTraceValue *x, double value) {
  return sambaAdd(x, number(x, value));
}
SambaTraceValue *timesNumber(SambaTraceValue *x, double value) {
  return sambaMul(x, number(x, value));
}
static SambaTraceValue *toThe(SambaTraceValue *x, double power) {
  return sambaPow(x, number(x, power));
}
/* The mean of each row, in a column. */
static SambaTraceValue *meanOfRow(SambaTraceValue *x) {
  return sambaMean(x, 1, (int64_t[]){-1}, true);
}

SambaTraceValue *addLayerNorm(const Network *network, SambaTraceValue *x, const char *layer,
                              double eps) {
  const Options *options = network->options;
  const int64_t dims[] = {dimOf(x, -1)};
  beginLayer(network, "%s", layer);
  SambaTraceValue *weight = addWeight(network, layer, "weight", 1, dims);
  SambaTraceValue *bias = addWeight(network, layer, "bias", 1, dims);
  if (!options->spelled_out)
    return sambaLayerNorm(x, 1, weight, bias, eps);

  SambaTraceValue *wide = sambaCast(x, SAMBA_DTYPE_F32);
  SambaTraceValue *centered = sambaSub(wide, meanOfRow(wide));
  SambaTraceValue *variance = meanOfRow(toThe(centered, 2));
  SambaTraceValue *y = sambaDiv(centered, sambaSqrt(plusNumber(variance, eps)));
  return sambaAdd(sambaMul(sambaCast(y, options->type), weight), bias);
}

SambaTraceValue *addRmsNorm(const Network *network, SambaTraceValue *x, const char *layer,
                            double eps) {
  const Options *options = network->options;
  beginLayer(network, "%s", layer);
  SambaTraceValue *weight = addWeight(network, layer, "weight", 1, (int64_t[]){dimOf(x, -1)});
  if (!options->spelled_out)
    return sambaRmsNorm(x, 1, weight, eps);

  SambaTraceValue *wide = sambaCast(x, SAMBA_DTYPE_F32);
  SambaTraceValue *squares = meanOfRow(toThe(wide, 2));
  SambaTraceValue *y = sambaMul(wide, sambaRsqrt(plusNumber(squares, eps)));
  return sambaMul(weight, sambaCast(y, options->type));
}

SambaTraceValue *addSilu(const Network *network, SambaTraceValue *x) {
  return network->options->spelled_out ? sambaMul(x, sambaSigmoid(x)) : sambaSilu(x);
}

SambaTraceValue *addGelu(const Network *network, SambaTraceValue *x) {
  if (!network->options->spelled_out)
    return sambaGelu(x);
  SambaTraceValue *error = sambaErf(sambaDiv(x, number(x, 1.4142135623730951)));
  return timesNumber(sambaMul(x, plusNumber(error, 1)), 0.5);
}

SambaTraceValue *addGeluTanh(const Network *network, SambaTraceValue *x) {
  if (!network->options->spelled_out)
    return sambaGeluTanh(x);
  SambaTraceValue *inner = sambaAdd(x, timesNumber(toThe(x, 3), 0.044715));
  SambaTraceValue *turned = sambaTanh(timesNumber(inner, 0.7978845608028654));
  return sambaMul(timesNumber(x, 0.5), plusNumber(turned, 1));
}
