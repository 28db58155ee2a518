/* GPT-2: layers of attention and of a feed-forward part with gelu, each behind a layer norm, and a
 * head that is the embedding. Names are those of Hugging Face's GPT2LMHeadModel; weights of its
 * linear maps are [inputs, outputs]. */
#include "tools/samba-gen/network.h"

#include <stdio.h>

static const double eps = 1e-5;

enum { LONGEST_LAYER = 64 };

/* x times LAYER.weight [inputs, outputs] plus LAYER.bias. */
static SambaTraceValue *addMap(const Network *network, SambaTraceValue *x, const char *layer,
                               int64_t outputs) {
  beginLayer(network, "%s", layer);
  SambaTraceValue *weight =
      addWeight(network, layer, "weight", 2, (int64_t[]){dimOf(x, -1), outputs});
  SambaTraceValue *bias = addWeight(network, layer, "bias", 1, (int64_t[]){outputs});
  return sambaAdd(sambaMatmul(x, weight), bias);
}

static SambaTraceValue *attend(const Network *network, SambaTraceValue *x, int64_t index) {
  const Options *options = network->options;
  const int64_t width = options->d_model;
  char layer[LONGEST_LAYER];
  SambaTraceValue *parts[3];

  snprintf(layer, sizeof layer, "transformer.h.%lld.attn.c_attn", (long long)index);
  x = addMap(network, x, layer, 3 * width);
  beginLayer(network, "transformer.h.%lld.attn", (long long)index);
  for (int i = 0; i < 3; ++i)
    parts[i] =
        splitHeads(network, sambaSlice(x, -1, i * width, (i + 1) * width, 1), options->heads);

  parts[1] = addCache(network, parts[1], index, "key");
  parts[2] = addCache(network, parts[2], index, "value");
  x = joinHeads(network, addAttention(network, parts[0], parts[1], parts[2]));
  snprintf(layer, sizeof layer, "transformer.h.%lld.attn.c_proj", (long long)index);
  return addMap(network, x, layer, width);
}

static SambaTraceValue *feedForward(const Network *network, SambaTraceValue *x, int64_t index) {
  char layer[LONGEST_LAYER];
  snprintf(layer, sizeof layer, "transformer.h.%lld.mlp.c_fc", (long long)index);
  x = addMap(network, x, layer, network->options->ffn);
  beginLayer(network, "transformer.h.%lld.mlp.act", (long long)index);
  x = addGeluTanh(network, x);
  snprintf(layer, sizeof layer, "transformer.h.%lld.mlp.c_proj", (long long)index);
  return addMap(network, x, layer, network->options->d_model);
}

static SambaTraceValue *addBlock(const Network *network, SambaTraceValue *x, int64_t index) {
  char layer[LONGEST_LAYER];
  snprintf(layer, sizeof layer, "transformer.h.%lld.ln_1", (long long)index);
  x = sambaAdd(x, attend(network, addLayerNorm(network, x, layer, eps), index));
  snprintf(layer, sizeof layer, "transformer.h.%lld.ln_2", (long long)index);
  return sambaAdd(x, feedForward(network, addLayerNorm(network, x, layer, eps), index));
}

/* The rows of the table of positions that the tokens have. */
static SambaTraceValue *addPositions(const Network *network) {
  const Options *options = network->options;
  int64_t first = options->decode ? options->cache : 0;
  beginLayer(network, "transformer.wpe");
  SambaTraceValue *table = addWeight(network, "transformer.wpe", "weight", 2,
                                     (int64_t[]){options->positions, options->d_model});
  return sambaSlice(table, 0, first, first + options->tokens, 1);
}

/* The mean over all tokens of what the label's logarithm of probability is short of 0. */
static void addLoss(const Network *network, SambaTraceValue *logits) {
  const Options *options = network->options;
  const int64_t dims[] = {options->batch, options->tokens};
  beginLayer(network, "loss");
  SambaTraceValue *labels = sambaTraceInput(network->trace, "labels", SAMBA_DTYPE_I64, 2, dims);
  SambaTraceValue *rows =
      sambaReshape(sambaCast(logits, SAMBA_DTYPE_F32), 2, (int64_t[]){-1, options->vocabulary});
  sambaTraceOutput(
      network->trace, "loss",
      sambaCrossEntropy(rows, sambaReshape(labels, 1, (int64_t[]){-1}), NULL, NULL, "mean"));
}

void buildGpt2(const Network *network) {
  const Options *options = network->options;
  SambaTraceValue *embedding = NULL;
  SambaTraceValue *x = addTokens(network);
  if (options->vocabulary)
    x = addEmbedding(network, x, "transformer.wte", options->vocabulary, &embedding);
  x = sambaAdd(x, addPositions(network));
  for (int64_t i = 0; i < options->layers; ++i)
    x = addBlock(network, x, i);

  x = addLayerNorm(network, x, "transformer.ln_f", eps);
  beginLayer(network, "lm_head");
  if (embedding)
    x = sambaLinear(x, embedding, NULL);
  if (options->loss)
    addLoss(network, x);
  else
    sambaTraceOutput(network->trace, embedding ? "logits" : "last_hidden_state", x);
}
