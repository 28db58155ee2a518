/* Handlers of ONNX's losses. */
#include "frontend/onnx/handlers/handlers.h"

typedef struct {
  SambaTraceValue *x, *target, *weight;
  int64_t ignored;
  bool ignores;
  const char *reduction;
} Loss;

static SambaStatus readLoss(const SambaOnnxNode *node, Loss *out_loss) {
  static const char *const reductions[] = {"mean", "sum", "none"};
  Loss loss = {.ignored = sambaOnnxInt(node, "ignore_index", 0),
               .ignores = sambaOnnxAttribute(node, "ignore_index") != NULL};
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &loss.x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &loss.target));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &loss.weight));
  for (int i = 0; i < 3; ++i)
    if (sambaOnnxStringIs(node, "reduction", reductions[i], i == 0))
      loss.reduction = reductions[i];
  if (!loss.reduction)
    return sambaStatusMake(SAMBA_INVALID, "attribute 'reduction' must be mean, sum or none");
  *out_loss = loss;

  return NULL;
}

SambaStatus sambaOnnxImportNegativeLogLikelihoodLoss(const SambaOnnxNode *node) {
  Loss loss;
  SAMBA_RETURN_IF_ERROR(readLoss(node, &loss));
  return sambaOnnxSetTensor(node, 0,
                            sambaNllLoss(loss.x, loss.target, loss.weight,
                                         loss.ignores ? &loss.ignored : NULL, loss.reduction));
}

/* With the second output the logarithms are there already. */
SambaStatus sambaOnnxImportSoftmaxCrossEntropyLoss(const SambaOnnxNode *node) {
  Loss loss;
  SAMBA_RETURN_IF_ERROR(readLoss(node, &loss));
  SambaTraceValue *(*function)(SambaTraceValue *, SambaTraceValue *, SambaTraceValue *,
                               const int64_t *, const char *) = sambaCrossEntropy;
  if (sambaOnnxOutputUsed(node, 1)) {
    loss.x = sambaLogSoftmax(loss.x, loss.x->type.rank > 1);
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 1, loss.x));
    function = sambaNllLoss;
  }
  return sambaOnnxSetTensor(node, 0,
                            function(loss.x, loss.target, loss.weight,
                                     loss.ignores ? &loss.ignored : NULL, loss.reduction));
}
