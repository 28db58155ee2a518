/* Graphs that are no network: one matrix product, and a chain of operators no two of which are
 * alike. */
#include "tools/samba-gen/network.h"

#include <stdio.h>

void buildMatmul(const Network *network) {
  const Options *options = network->options;
  SambaTraceValue *a =
      sambaTraceInput(network->trace, "a", options->type, 2, (int64_t[]){options->m, options->k});
  SambaTraceValue *b = sambaTraceParameter(network->trace, "b", options->type, 2,
                                           (int64_t[]){options->k, options->n}, NULL);
  beginLayer(network, "matmul");
  sambaTraceOutput(network->trace, "c", sambaMatmul(a, b));
}

/* ---- chain ---- */

/* The matrix that goes along the chain. A link changes its shape into one that was not there yet,
 * and works on it with one operator of each kind. */
enum { LEAST = 16, COLUMNS = 32 };

typedef SambaTraceValue *(*Kind)(const Network *network, SambaTraceValue *x, const char *layer);

static SambaTraceValue *vector(const Network *network, SambaTraceValue *x, const char *layer,
                               const char *name) {
  return addWeight(network, layer, name, 1, (int64_t[]){dimOf(x, -1)});
}
static SambaTraceValue *plus(const Network *network, SambaTraceValue *x, const char *layer) {
  return sambaAdd(x, vector(network, x, layer, "bias"));
}
static SambaTraceValue *times(const Network *network, SambaTraceValue *x, const char *layer) {
  return sambaMul(x, vector(network, x, layer, "scale"));
}
static SambaTraceValue *norm(const Network *network, SambaTraceValue *x, const char *layer) {
  return sambaLayerNorm(x, 1, vector(network, x, layer, "weight"),
                        vector(network, x, layer, "bias"), 1e-5);
}
static SambaTraceValue *relu(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaRelu(x);
}
static SambaTraceValue *turn(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaTanh(x);
}
static SambaTraceValue *gelu(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaGelu(x);
}
static SambaTraceValue *sigmoid(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaSigmoid(x);
}
static SambaTraceValue *softmax(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaSoftmax(x, -1);
}
static SambaTraceValue *silu(const Network *network, SambaTraceValue *x, const char *layer) {
  (void)network, (void)layer;
  return sambaSilu(x);
}

/* Rows and columns of the n-th shape: as an ox ploughs, so that one of them changes, by 1. */
static void shapeOf(int64_t n, int64_t out_shape[2]) {
  int64_t row = n / COLUMNS, column = n % COLUMNS;
  out_shape[0] = LEAST + row;
  out_shape[1] = LEAST + (row % 2 ? COLUMNS - 1 - column : column);
}

/* A product that makes the next shape: from the right where the columns change, else from the
 * left. */
static SambaTraceValue *reshapeByProduct(const Network *network, SambaTraceValue *x,
                                         const char *layer, const int64_t shape[2]) {
  if (dimOf(x, 1) != shape[1])
    return addLinear(network, x, layer, shape[1], false);
  beginLayer(network, "%s", layer);
  return sambaMatmul(addWeight(network, layer, "weight", 2, (int64_t[]){shape[0], dimOf(x, 0)}), x);
}

void buildChain(const Network *network) {
  static const struct {
    const char *name;
    Kind add;
  } kinds[] = {{"plus", plus},       {"gelu", gelu},       {"times", times},
               {"norm", norm},       {"sigmoid", sigmoid}, {"silu", silu},
               {"softmax", softmax}, {"tanh", turn},       {"relu", relu}};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  int64_t shape[2], left = network->options->operators;
  char layer[64];
  shapeOf(0, shape);
  SambaTraceValue *x = sambaTraceInput(network->trace, "x", network->options->type, 2, shape);

  for (int64_t n = 1; left; ++n) {
    shapeOf(n, shape);
    snprintf(layer, sizeof layer, "product.%lld", (long long)n);
    x = reshapeByProduct(network, x, layer, shape);
    --left;
    for (int i = 0; i < KINDS && left; ++i, --left) {
      snprintf(layer, sizeof layer, "%s.%lld", kinds[i].name, (long long)n);
      beginLayer(network, "%s", layer);
      x = kinds[i].add(network, x, layer);
    }
  }
  sambaTraceOutput(network->trace, "y", x);
}
