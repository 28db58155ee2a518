/* Optimizers of ai.onnx.preview.training: inputs are the learning rate, the step, then n
 * parameters, n gradients and n of each state; outputs are n parameters and n of each state.
 * Attributes become constants: hyperparameters are operands in samba. */
#include "frontend/onnx/handlers/handlers.h"

/* How many tensors are optimized by a node whose inputs come in `groups` of as many. */
static SambaStatus countOf(const SambaOnnxNode *node, uint32_t groups, uint32_t *out_count) {
  *out_count = (node->input_count - 2) / groups;
  return (node->input_count - 2) % groups == 0
             ? NULL
             : sambaStatusMake(SAMBA_INVALID,
                               "has %u inputs, but must have 2 and %u for each optimized tensor",
                               node->input_count, groups);
}

static SambaStatus inputsOf(const SambaOnnxNode *node, uint32_t groups, uint32_t count,
                            uint32_t which, SambaTraceValue **out_tensors) {
  for (uint32_t i = 0; i < groups; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2 + i * count + which, &out_tensors[i]));
  return NULL;
}

/* Results are the parameter and the states; `made` is false when the call was refused. */
static SambaStatus setOutputs(const SambaOnnxNode *node, uint32_t results, uint32_t count,
                              uint32_t which, bool made, SambaTraceValue *const *tensors) {
  for (uint32_t i = 0; i < results; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, i * count + which, made ? tensors[i] : NULL));
  return NULL;
}

static SambaTraceValue *number(const SambaOnnxNode *node, const char *attribute, double otherwise) {
  return sambaTraceScalar(node->trace, SAMBA_DTYPE_F32, sambaOnnxFloat(node, attribute, otherwise));
}

static SambaStatus commonOptions(const SambaOnnxNode *node, SambaUpdateOptions *out_options) {
  *out_options = (SambaUpdateOptions){.weight_decay = number(node, "norm_coefficient", 0)};
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &out_options->lr));
  return sambaOnnxTensor(node, 1, &out_options->step);
}

SambaStatus sambaOnnxImportMomentum(const SambaOnnxNode *node) {
  SambaUpdateOptions options;
  SambaTraceValue *tensors[3], *results[2];
  uint32_t count;
  bool nesterov = sambaOnnxStringIs(node, "mode", "nesterov", false);

  if (!nesterov && !sambaOnnxStringIs(node, "mode", "standard", true))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'mode' must be standard or nesterov");
  SAMBA_RETURN_IF_ERROR(commonOptions(node, &options));
  SAMBA_RETURN_IF_ERROR(countOf(node, 3, &count));
  options.alpha = number(node, "alpha", 0);
  options.beta = number(node, "beta", 0);

  for (uint32_t i = 0; i < count; ++i) {
    SAMBA_RETURN_IF_ERROR(inputsOf(node, 3, count, i, tensors));
    bool made =
        sambaMomentumUpdate(tensors[0], tensors[1], tensors[2], &options, nesterov, results);
    SAMBA_RETURN_IF_ERROR(setOutputs(node, 2, count, i, made, results));
  }

  return NULL;
}

SambaStatus sambaOnnxImportAdagrad(const SambaOnnxNode *node) {
  SambaUpdateOptions options;
  SambaTraceValue *tensors[3], *results[2];
  uint32_t count;
  SAMBA_RETURN_IF_ERROR(commonOptions(node, &options));
  SAMBA_RETURN_IF_ERROR(countOf(node, 3, &count));
  options.lr_decay = number(node, "decay_factor", 0);
  options.eps = number(node, "epsilon", 1e-6);
  for (uint32_t i = 0; i < count; ++i) {
    SAMBA_RETURN_IF_ERROR(inputsOf(node, 3, count, i, tensors));
    bool made = sambaAdagradUpdate(tensors[0], tensors[1], tensors[2], &options, results);
    SAMBA_RETURN_IF_ERROR(setOutputs(node, 2, count, i, made, results));
  }
  return NULL;
}

SambaStatus sambaOnnxImportAdam(const SambaOnnxNode *node) {
  SambaUpdateOptions options;
  SambaTraceValue *tensors[4], *results[3];
  uint32_t count;

  SAMBA_RETURN_IF_ERROR(commonOptions(node, &options));
  SAMBA_RETURN_IF_ERROR(countOf(node, 4, &count));
  options.alpha = number(node, "alpha", 0.9);
  options.beta = number(node, "beta", 0.999);
  options.eps = number(node, "epsilon", 1e-6);
  options.post_decay = number(node, "norm_coefficient_post", 0);

  for (uint32_t i = 0; i < count; ++i) {
    SAMBA_RETURN_IF_ERROR(inputsOf(node, 4, count, i, tensors));
    bool made = sambaAdamUpdate(tensors[0], tensors[1], tensors[2], tensors[3], &options, results);
    SAMBA_RETURN_IF_ERROR(setOutputs(node, 3, count, i, made, results));
  }

  return NULL;
}
