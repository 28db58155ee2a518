/* Recurrent layers of ONNX: LSTM, GRU, RNN. */
#include "frontend/onnx/handlers/handlers.h"

#include "support/text/escape.h"

/* Activation functions: ONNX's name, samba's, and how many of alpha and beta it takes. */
static const struct {
  const char *onnx, *samba;
  int parameters;
  double otherwise[2];
} functions[] = {{"Tanh", "tanh", 0, {0}},
                 {"Sigmoid", "sigmoid", 0, {0}},
                 {"Relu", "relu", 0, {0}},
                 {"Softplus", "softplus", 0, {0}},
                 {"Softsign", "softsign", 0, {0}},
                 {"LeakyRelu", "leaky_relu", 1, {0.01, 0}},
                 {"ThresholdedRelu", "thresholded_relu", 1, {1, 0}},
                 {"Elu", "elu", 1, {1, 0}},
                 {"HardSigmoid", "hardsigmoid", 2, {0.2, 0.5}},
                 {"ScaledTanh", "scaled_tanh", 2, {1, 1}},
                 {"Affine", "affine", 2, {1, 0}}};
enum { function_count = sizeof functions / sizeof *functions };

/* The next number of a list attribute, for functions that take one. */
static double nextNumber(const Onnx__AttributeProto *list, size_t *at, double otherwise) {
  return list && *at < list->n_floats ? (double)list->floats[(*at)++] : otherwise;
}

static bool sameName(const char *name, const char *text, size_t size) {
  if (strlen(name) != size)
    return false;
  for (size_t i = 0; i < size; ++i)
    if ((name[i] | 32) != (text[i] | 32)) /* some exporters write Sigmoid, some sigmoid */
      return false;
  return true;
}

/* "sigmoid, leaky_relu(0.1), tanh" from activations, activation_alpha, activation_beta; NULL when
 * there are none. */
static SambaStatus activationsOf(const SambaOnnxNode *node, const char **out_text) {
  const Onnx__AttributeProto *names = sambaOnnxAttribute(node, "activations");
  const Onnx__AttributeProto *alpha = sambaOnnxAttribute(node, "activation_alpha");
  const Onnx__AttributeProto *beta = sambaOnnxAttribute(node, "activation_beta");
  SambaArena *arena = node->arena;
  size_t alphas = 0, betas = 0;

  *out_text = NULL;
  for (size_t i = 0; names && i < names->n_strings; ++i) {
    const char *text = (const char *)names->strings[i].data;
    size_t size = names->strings[i].len;
    int f = 0;
    while (f < function_count && !sameName(functions[f].onnx, text, size))
      ++f;
    if (f == function_count)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED, "activation %.*s is not supported",
          SAMBA_STRING_ARGS(sambaStringEscape(arena, (SambaStringRef){text, size})));
    double a =
        functions[f].parameters > 0 ? nextNumber(alpha, &alphas, functions[f].otherwise[0]) : 0;
    double b =
        functions[f].parameters > 1 ? nextNumber(beta, &betas, functions[f].otherwise[1]) : 0;
    const char *one = functions[f].samba;
    if (functions[f].parameters == 1)
      one = sambaArenaFormat(arena, "%s(%.9g)", one, a);
    else if (functions[f].parameters == 2)
      one = sambaArenaFormat(arena, "%s(%.9g, %.9g)", one, a, b);
    *out_text = *out_text ? sambaArenaFormat(arena, "%s, %s", *out_text, one) : one;
  }

  return NULL;
}

static SambaStatus optional(const SambaOnnxNode *node, uint32_t input,
                            SambaTraceValue **out_tensor) {
  *out_tensor = NULL;
  return sambaOnnxHasInput(node, input) ? sambaOnnxTensor(node, input, out_tensor) : NULL;
}

/* Lengths that are known and all whole need no mask. */
static bool isWhole(const SambaConstant *lengths, int64_t steps) {
  for (int64_t i = 0; lengths && i < lengths->count; ++i)
    if (lengths->data[i].i != steps)
      return false;
  return lengths != NULL;
}

static SambaTraceValue *zeroState(const SambaTraceValue *like) {
  SambaTensorType type = like->type;
  return sambaTraceConstant(like->trace, &type, &(uint32_t){0}, true);
}

SambaStatus sambaOnnxImportRecurrent(const SambaOnnxNode *node) {
  bool lstm = node->row->variant == SAMBA_ONNX_LSTM;
  bool gru = node->row->variant == SAMBA_ONNX_GRU;
  SambaTraceValue *x, *results[3];
  SambaRecurrentOptions options = {
      .clip = sambaOnnxFloat(node, "clip", 0),
      .batch_first = sambaOnnxInt(node, "layout", 0) != 0,
      .input_forget = lstm && sambaOnnxInt(node, "input_forget", 0) != 0,
      .linear_before_reset = gru && sambaOnnxInt(node, "linear_before_reset", 0) != 0};
  static const char *const directions[] = {"reverse", "bidirectional"};

  for (int i = 0; i < 2; ++i)
    if (sambaOnnxStringIs(node, "direction", directions[i], false))
      options.direction = directions[i];
  if (!options.direction && !sambaOnnxStringIs(node, "direction", "forward", true))
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'direction' must be forward, reverse or bidirectional");
  SAMBA_RETURN_IF_ERROR(activationsOf(node, &options.activations));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &options.weight));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &options.recurrent));
  SAMBA_RETURN_IF_ERROR(optional(node, 3, &options.bias));
  if (x->type.rank == 3 &&
      !isWhole(sambaOnnxConstant(node, 4), x->type.dims[options.batch_first ? 1 : 0]))
    SAMBA_RETURN_IF_ERROR(optional(node, 4, &options.lengths));
  SAMBA_RETURN_IF_ERROR(optional(node, 5, &options.initial_h));
  if (lstm) {
    SAMBA_RETURN_IF_ERROR(optional(node, 6, &options.initial_c));
    SAMBA_RETURN_IF_ERROR(optional(node, 7, &options.peepholes));
    if (options.initial_h && !options.initial_c)
      options.initial_c = zeroState(options.initial_h);
    else if (options.initial_c && !options.initial_h)
      options.initial_h = zeroState(options.initial_c);
  }

  const SambaTensorType *recurrent = &options.recurrent->type;
  int64_t hidden = recurrent->rank == 3 ? recurrent->dims[2] : 0;
  if (sambaOnnxInt(node, "hidden_size", hidden) != hidden)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'hidden_size' is %lld, but the recurrent weight is for %lld",
                           (long long)sambaOnnxInt(node, "hidden_size", hidden), (long long)hidden);
  bool (*layer)(SambaTraceValue *, const SambaRecurrentOptions *, SambaTraceValue **) =
      gru ? sambaGru : sambaRnn;
  if (lstm)
    layer = sambaLstm;
  bool fine = layer(x, &options, results);
  for (uint32_t i = 0; i < (lstm ? 3 : 2); ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, i, fine ? results[i] : NULL));
  return NULL;
}
