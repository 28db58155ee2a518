/* Weights, layers and linear maps of the models that samba-gen builds. */
#include "tools/samba-gen/network.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST_NAME = 96 }; /* of a layer and of a weight */

void beginLayer(const Network *network, const char *layer, ...) {
  char name[LONGEST_NAME];
  va_list arguments;
  va_start(arguments, layer);
  vsnprintf(name, sizeof name, layer, arguments);
  va_end(arguments);
  sambaTraceSetLayer(network->trace, sambaStringRef(name), NULL, 0);
}

SambaTraceValue *addWeight(const Network *network, const char *layer, const char *name,
                           uint32_t rank, const int64_t *dims) {
  char full[LONGEST_NAME];
  snprintf(full, sizeof full, "%s.%s", layer, name);
  return sambaTraceParameter(network->trace, full, network->options->type, rank, dims, NULL);
}

int64_t dimOf(const SambaTraceValue *x, int axis) {
  if (!x)
    return 1; /* the trace has failed, and nothing is built any more */
  uint32_t rank = sambaTraceValueGetRank(x);
  return sambaTraceValueGetDims(x)[axis < 0 ? (uint32_t)((int)rank + axis) : (uint32_t)axis];
}

SambaTraceValue *addLinear(const Network *network, SambaTraceValue *x, const char *layer,
                           int64_t outputs, bool bias) {
  beginLayer(network, "%s", layer);
  SambaTraceValue *weight =
      addWeight(network, layer, "weight", 2, (int64_t[]){outputs, dimOf(x, -1)});
  return sambaLinear(x, weight,
                     bias ? addWeight(network, layer, "bias", 1, (int64_t[]){outputs}) : NULL);
}

SambaTraceValue *addEmbedding(const Network *network, SambaTraceValue *indices, const char *layer,
                              int64_t rows, SambaTraceValue **out_weight) {
  beginLayer(network, "%s", layer);
  SambaTraceValue *weight =
      addWeight(network, layer, "weight", 2, (int64_t[]){rows, network->options->d_model});
  if (out_weight)
    *out_weight = weight;
  return sambaEmbedding(weight, indices);
}

SambaTraceValue *addTokens(const Network *network) {
  const Options *options = network->options;
  const int64_t dims[] = {options->batch, options->tokens, options->d_model};
  if (options->vocabulary)
    return sambaTraceInput(network->trace, "input_ids", SAMBA_DTYPE_I64, 2, dims);
  return sambaTraceInput(network->trace, "inputs_embeds", options->type, 3, dims);
}
