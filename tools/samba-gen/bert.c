/* BERT: layers of attention and of a feed-forward part with gelu, each before a layer norm. Names
 * are those of Hugging Face's BertModel without its pooler. */
#include "tools/samba-gen/network.h"

#include <stdio.h>

static const double eps = 1e-12;

enum { LONGEST_LAYER = 80, SEGMENTS = 2 };

static SambaTraceValue *attend(const Network *network, SambaTraceValue *x, int64_t index) {
  static const char *const names[] = {"query", "key", "value"};
  const Options *options = network->options;
  char layer[LONGEST_LAYER];
  SambaTraceValue *parts[3];

  for (int i = 0; i < 3; ++i) {
    snprintf(layer, sizeof layer, "encoder.layer.%lld.attention.self.%s", (long long)index,
             names[i]);
    parts[i] =
        splitHeads(network, addLinear(network, x, layer, options->d_model, true), options->heads);
  }

  beginLayer(network, "encoder.layer.%lld.attention.self", (long long)index);
  SambaTraceValue *y = joinHeads(network, addAttention(network, parts[0], parts[1], parts[2]));
  snprintf(layer, sizeof layer, "encoder.layer.%lld.attention.output.dense", (long long)index);
  y = addLinear(network, y, layer, options->d_model, true);
  snprintf(layer, sizeof layer, "encoder.layer.%lld.attention.output.LayerNorm", (long long)index);
  return addLayerNorm(network, sambaAdd(y, x), layer, eps);
}

static SambaTraceValue *feedForward(const Network *network, SambaTraceValue *x, int64_t index) {
  char layer[LONGEST_LAYER];
  snprintf(layer, sizeof layer, "encoder.layer.%lld.intermediate.dense", (long long)index);
  SambaTraceValue *y = addLinear(network, x, layer, network->options->ffn, true);
  y = addGelu(network, y);
  snprintf(layer, sizeof layer, "encoder.layer.%lld.output.dense", (long long)index);
  y = addLinear(network, y, layer, network->options->d_model, true);
  snprintf(layer, sizeof layer, "encoder.layer.%lld.output.LayerNorm", (long long)index);
  return addLayerNorm(network, sambaAdd(y, x), layer, eps);
}

/* Words, their segments and their positions; where there are no words, hidden states alone. */
static SambaTraceValue *addEmbeddings(const Network *network) {
  const Options *options = network->options;
  SambaTraceValue *x = addTokens(network);
  if (!options->vocabulary)
    return x;

  SambaTraceValue *segments = sambaTraceInput(network->trace, "token_type_ids", SAMBA_DTYPE_I64, 2,
                                              (int64_t[]){options->batch, options->tokens});
  x = addEmbedding(network, x, "embeddings.word_embeddings", options->vocabulary, NULL);
  x = sambaAdd(x,
               addEmbedding(network, segments, "embeddings.token_type_embeddings", SEGMENTS, NULL));
  beginLayer(network, "embeddings.position_embeddings");
  SambaTraceValue *table = addWeight(network, "embeddings.position_embeddings", "weight", 2,
                                     (int64_t[]){options->positions, options->d_model});
  x = sambaAdd(x, sambaSlice(table, 0, 0, options->tokens, 1));
  return addLayerNorm(network, x, "embeddings.LayerNorm", eps);
}

void buildBert(const Network *network) {
  SambaTraceValue *x = addEmbeddings(network);
  for (int64_t i = 0; i < network->options->layers; ++i)
    x = feedForward(network, attend(network, x, i), i);
  sambaTraceOutput(network->trace, "last_hidden_state", x);
}
