/* What the models of samba-gen are built from: weights without data, norms, activations, attention.
 * Each comes as one operator, or spelled out as PyTorch exports it. */
#ifndef SAMBA_TOOLS_SAMBA_GEN_NETWORK_H
#define SAMBA_TOOLS_SAMBA_GEN_NETWORK_H

#include "tools/samba-gen/options.h"

#include <samba/operators.h>
#include <samba/training.h>

typedef struct Network {
  SambaTrace *trace;
  const Options *options;
} Network;

/* ---- network.c ---- */

/* Operators from now on belong to the layer of this name. */
void beginLayer(const Network *network, const char *layer, ...)
    __attribute__((format(printf, 2, 3)));
/* A weight LAYER.NAME, of the network's type. */
SambaTraceValue *addWeight(const Network *network, const char *layer, const char *name,
                           uint32_t rank, const int64_t *dims);
/* x times the weight LAYER.weight [outputs, inputs], transposed; with LAYER.bias when asked for.
 * The layer is begun. */
SambaTraceValue *addLinear(const Network *network, SambaTraceValue *x, const char *layer,
                           int64_t outputs, bool bias);
/* Rows of the weight LAYER.weight. */
SambaTraceValue *addEmbedding(const Network *network, SambaTraceValue *indices, const char *layer,
                              int64_t rows, SambaTraceValue **out_weight);
/* Indices of tokens, or hidden states where there is no vocabulary: [batch, tokens(, width)]. */
SambaTraceValue *addTokens(const Network *network);
/* The dimension, negative ones from the end. */
int64_t dimOf(const SambaTraceValue *x, int axis);

/* ---- norms.c ---- */

/* A number beside x, in x's type. */
SambaTraceValue *plusNumber(SambaTraceValue *x, double number);
SambaTraceValue *timesNumber(SambaTraceValue *x, double number);
SambaTraceValue *addLayerNorm(const Network *network, SambaTraceValue *x, const char *layer,
                              double eps);
SambaTraceValue *addRmsNorm(const Network *network, SambaTraceValue *x, const char *layer,
                            double eps);
SambaTraceValue *addSilu(const Network *network, SambaTraceValue *x);
SambaTraceValue *addGelu(const Network *network, SambaTraceValue *x);
SambaTraceValue *addGeluTanh(const Network *network, SambaTraceValue *x);

/* ---- attention.c ---- */

/* [batch, tokens, heads * head] as [batch, heads, tokens, head], and back. */
SambaTraceValue *splitHeads(const Network *network, SambaTraceValue *x, int64_t heads);
SambaTraceValue *joinHeads(const Network *network, SambaTraceValue *x);
/* x's halves of each head, turned by the position's angles. */
SambaTraceValue *addRotary(const Network *network, SambaTraceValue *x, SambaTraceValue *cosines,
                           SambaTraceValue *sines);
/* Keys or values of all tokens: those of the cache, an input, and the new ones. The result is an
 * output of the network. what: "key", "value". */
SambaTraceValue *addCache(const Network *network, SambaTraceValue *x, int64_t layer,
                          const char *what);
/* softmax(query key^T / sqrt(head)) value; each head of keys serves as many of queries. */
SambaTraceValue *addAttention(const Network *network, SambaTraceValue *query, SambaTraceValue *key,
                              SambaTraceValue *value);

/* ---- The models ---- */

void buildLlama(const Network *network);
void buildGpt2(const Network *network);
void buildBert(const Network *network);
void buildResnet(const Network *network);
void buildMatmul(const Network *network);
void buildChain(const Network *network);

#endif
