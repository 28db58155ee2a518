/* Attention: heads, rotary positions, masks, the cache of keys and values. */
#include "tools/samba-gen/network.h"

#include <math.h>
#include <stdio.h>

SambaTraceValue *splitHeads(const Network *network, SambaTraceValue *x, int64_t heads) {
  const Options *options = network->options;
  const int64_t dims[] = {options->batch, options->tokens, heads, dimOf(x, -1) / heads};
  return sambaTranspose(sambaReshape(x, 4, dims), 1, 2);
}

SambaTraceValue *joinHeads(const Network *network, SambaTraceValue *x) {
  const Options *options = network->options;
  return sambaReshape(sambaTranspose(x, 1, 2), 3,
                      (int64_t[]){options->batch, options->tokens, options->d_model});
}

SambaTraceValue *addRotary(const Network *network, SambaTraceValue *x, SambaTraceValue *cosines,
                           SambaTraceValue *sines) {
  if (!network->options->spelled_out) {
    SambaAttribute halves = sambaBoolAttribute("interleaved", false);
    return sambaTraceBuild("rotary_embedding", 3, 3, (SambaTraceValue *[]){x, cosines, sines}, 1,
                           &halves);
  }
  int64_t head = dimOf(x, -1);
  SambaTraceValue *first = sambaSlice(x, -1, 0, head / 2, 1);
  SambaTraceValue *second = sambaSlice(x, -1, head / 2, head, 1);
  SambaTraceValue *turned = sambaCat(2, (SambaTraceValue *[]){sambaNeg(second), first}, -1);
  return sambaAdd(sambaMul(x, cosines), sambaMul(turned, sines));
}

SambaTraceValue *addCache(const Network *network, SambaTraceValue *x, int64_t layer,
                          const char *what) {
  const Options *options = network->options;
  if (!options->decode)
    return x;
  char name[64];
  snprintf(name, sizeof name, "past_key_values.%lld.%s", (long long)layer, what);
  SambaTraceValue *past =
      sambaTraceInput(network->trace, name, options->type, 4,
                      (int64_t[]){options->batch, dimOf(x, 1), options->cache, dimOf(x, -1)});
  SambaTraceValue *all = sambaCat(2, (SambaTraceValue *[]){past, x}, 2);
  snprintf(name, sizeof name, "present.%lld.%s", (long long)layer, what);
  sambaTraceOutput(network->trace, name, all);
  return all;
}

/* Each head of keys or values `count` times, as the heads of queries want it. */
static SambaTraceValue *repeatHeads(SambaTraceValue *x, int64_t count) {
  if (count == 1)
    return x;
  int64_t batch = dimOf(x, 0), heads = dimOf(x, 1), tokens = dimOf(x, 2), head = dimOf(x, 3);
  SambaTraceValue *apart = sambaReshape(x, 5, (int64_t[]){batch, heads, 1, tokens, head});
  SambaTraceValue *wide = sambaExpand(apart, 5, (int64_t[]){batch, heads, count, tokens, head});
  return sambaReshape(wide, 4, (int64_t[]){batch, heads * count, tokens, head});
}

/* 0 where a token may look, minus infinity above the diagonal. */
static SambaTraceValue *causalMask(const Network *network, SambaDType dtype) {
  SambaTensorType type = {dtype, 2, {network->options->tokens, network->options->tokens}};
  SambaTraceValue *low = sambaTraceScalar(network->trace, dtype, -INFINITY);
  return sambaTriu(sambaExpand(low, type.rank, type.dims), 1, NULL);
}

static SambaTraceValue *softmaxOfRow(SambaTraceValue *x) {
  const int64_t last[] = {-1};
  SambaTraceValue *raised = sambaExp(sambaSub(x, sambaAmax(x, 1, last, true)));
  return sambaDiv(raised, sambaSum(raised, 1, last, true));
}

SambaTraceValue *addAttention(const Network *network, SambaTraceValue *query, SambaTraceValue *key,
                              SambaTraceValue *value) {
  const Options *options = network->options;
  int64_t shared = dimOf(query, 1) / dimOf(key, 1);
  double scale = 1 / sqrt((double)dimOf(query, -1));
  bool causal = options->causal && !options->decode;

  key = repeatHeads(key, shared);
  value = repeatHeads(value, shared);
  if (!options->spelled_out)
    return sambaScaledDotProductAttention(query, key, value, NULL, scale, causal);

  SambaTraceValue *scores = timesNumber(sambaMatmul(query, sambaTranspose(key, 2, 3)), scale);
  if (causal)
    scores = sambaAdd(scores, causalMask(network, options->type));
  SambaTraceValue *chances = softmaxOfRow(sambaCast(scores, SAMBA_DTYPE_F32));
  return sambaMatmul(sambaCast(chances, options->type), value);
}
