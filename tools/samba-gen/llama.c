/* Llama: layers of attention with rotary positions and of a gated feed-forward part, each behind an
 * RMS norm. Names are those of Hugging Face's LlamaForCausalLM. */
#include "tools/samba-gen/network.h"

#include <stdio.h>

static const double eps = 1e-6;

enum { LONGEST_LAYER = 64 };

/* Cosines and sines of the tokens' positions: [tokens, head], two equal halves. In a network that
 * reads a whole text they are numbers of the model, in one that adds a token an input. */
static void addAngles(const Network *network, SambaTraceValue *out_angles[2]) {
  static const char *const names[] = {"rotary.cos", "rotary.sin"};
  const Options *options = network->options;
  const int64_t dims[] = {options->tokens, options->d_model / options->heads};
  for (int i = 0; i < 2; ++i)
    out_angles[i] = options->decode
                        ? sambaTraceInput(network->trace, names[i], options->type, 2, dims)
                        : sambaTraceBuffer(network->trace, names[i], options->type, 2, dims, NULL);
}

static SambaTraceValue *attend(const Network *network, SambaTraceValue *x, int64_t index,
                               SambaTraceValue *const angles[2]) {
  const Options *options = network->options;
  const int64_t head = options->d_model / options->heads;
  char layer[LONGEST_LAYER];
  SambaTraceValue *parts[3];
  static const char *const names[] = {"q", "k", "v"};

  for (int i = 0; i < 3; ++i) {
    int64_t heads = i ? options->kv_heads : options->heads;
    snprintf(layer, sizeof layer, "model.layers.%lld.self_attn.%s_proj", (long long)index,
             names[i]);
    parts[i] = splitHeads(network, addLinear(network, x, layer, heads * head, false), heads);
  }

  beginLayer(network, "model.layers.%lld.self_attn.rotary", (long long)index);
  for (int i = 0; i < 2; ++i)
    parts[i] = addRotary(network, parts[i], angles[0], angles[1]);
  beginLayer(network, "model.layers.%lld.self_attn", (long long)index);
  parts[1] = addCache(network, parts[1], index, "key");
  parts[2] = addCache(network, parts[2], index, "value");
  x = joinHeads(network, addAttention(network, parts[0], parts[1], parts[2]));

  snprintf(layer, sizeof layer, "model.layers.%lld.self_attn.o_proj", (long long)index);
  return addLinear(network, x, layer, options->d_model, false);
}

static SambaTraceValue *feedForward(const Network *network, SambaTraceValue *x, int64_t index) {
  const Options *options = network->options;
  char layer[LONGEST_LAYER];

  snprintf(layer, sizeof layer, "model.layers.%lld.mlp.gate_proj", (long long)index);
  SambaTraceValue *gate = addLinear(network, x, layer, options->ffn, false);
  snprintf(layer, sizeof layer, "model.layers.%lld.mlp.act_fn", (long long)index);
  beginLayer(network, "%s", layer);
  gate = addSilu(network, gate);
  snprintf(layer, sizeof layer, "model.layers.%lld.mlp.up_proj", (long long)index);
  SambaTraceValue *up = addLinear(network, x, layer, options->ffn, false);
  beginLayer(network, "model.layers.%lld.mlp", (long long)index);
  SambaTraceValue *product = sambaMul(gate, up);
  snprintf(layer, sizeof layer, "model.layers.%lld.mlp.down_proj", (long long)index);
  return addLinear(network, product, layer, options->d_model, false);
}

static SambaTraceValue *addBlock(const Network *network, SambaTraceValue *x, int64_t index,
                                 SambaTraceValue *const angles[2]) {
  char layer[LONGEST_LAYER];
  snprintf(layer, sizeof layer, "model.layers.%lld.input_layernorm", (long long)index);
  SambaTraceValue *y = attend(network, addRmsNorm(network, x, layer, eps), index, angles);
  beginLayer(network, "model.layers.%lld", (long long)index);
  x = sambaAdd(x, y);
  snprintf(layer, sizeof layer, "model.layers.%lld.post_attention_layernorm", (long long)index);
  y = feedForward(network, addRmsNorm(network, x, layer, eps), index);
  beginLayer(network, "model.layers.%lld", (long long)index);
  return sambaAdd(x, y);
}

void buildLlama(const Network *network) {
  const Options *options = network->options;
  SambaTraceValue *x = addTokens(network);
  if (options->vocabulary)
    x = addEmbedding(network, x, "model.embed_tokens", options->vocabulary, NULL);

  SambaTraceValue *angles[2];
  addAngles(network, angles);
  for (int64_t i = 0; i < options->layers; ++i)
    x = addBlock(network, x, i, angles);

  x = addRmsNorm(network, x, "model.norm", eps);
  if (options->vocabulary)
    x = addLinear(network, x, "lm_head", options->vocabulary, false);
  sambaTraceOutput(network->trace, options->vocabulary ? "logits" : "last_hidden_state", x);
}
