/* The outputs of a node; see node.h. */
#include "frontend/onnx/core/importer.h"

/* Constant nodes of up to as many elements are looked at while importing. */
enum { KNOWN_CONSTANT = 1 << 12 };

bool sambaOnnxOutputUsed(const SambaOnnxNode *node, uint32_t output) {
  return output < node->output_count && node->proto->output[output] &&
         node->proto->output[output][0];
}

static SambaOnnxValue *outputOf(const SambaOnnxNode *node, uint32_t output) {
  SambaOnnxValue *value = sambaOnnxOutputUsed(node, output)
                              ? sambaOnnxFindValue(node->importer, node->proto->output[output])
                              : NULL;
  if (value)
    value->defined = true;
  return value;
}

SambaStatus sambaOnnxSetTensor(const SambaOnnxNode *node, uint32_t output,
                               SambaTraceValue *tensor) {
  if (!tensor)
    return sambaOnnxTraceFailure(node);
  SambaOnnxValue *value = outputOf(node, output);
  SambaOnnxValue *from = sambaOnnxInputValue(node, 0);
  if (value) {
    value->tensor = tensor;
    value->is_double = from && from->is_double && sambaOnnxHasTrait(node, SAMBA_ONNX_MOVES_DOUBLE);
  }
  return NULL;
}

SambaStatus sambaOnnxSetDouble(const SambaOnnxNode *node, SambaTraceValue *tensor) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 0, tensor));
  SambaOnnxValue *value = outputOf(node, 0);
  if (value)
    value->is_double = true;
  return NULL;
}

SambaStatus sambaOnnxSetConstant(const SambaOnnxNode *node, uint32_t output,
                                 SambaConstant *constant) {
  SambaOnnxValue *value = outputOf(node, output);
  if (!constant)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the constant result has more than %d elements",
                           SAMBA_ONNX_MAX_FOLDED);
  if (value)
    value->constant = constant;
  return NULL;
}

SambaStatus sambaOnnxSetSame(const SambaOnnxNode *node, uint32_t output, uint32_t input) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxNeedInput(node, input));
  const SambaOnnxValue *from = sambaOnnxInputValue(node, input);

  if (!from->tensor && from->initializer && from->is_weight) { /* one argument for both names */
    SambaTraceValue *tensor;
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &tensor));
  }

  SambaOnnxValue *value = outputOf(node, output);
  if (value) {
    value->tensor = from->tensor;
    value->constant = from->constant;
    value->sequence = from->sequence;
    value->initializer = from->initializer;
    value->is_weight = from->is_weight;
    value->is_double = from->is_double;
  }

  return NULL;
}

SambaStatus sambaOnnxFoldTo(const SambaOnnxNode *node, uint32_t output, SambaConstant *result,
                            bool *out_done) {
  if (!result)
    return NULL;
  *out_done = true;
  return sambaOnnxSetConstant(node, output, result);
}

SambaStatus sambaOnnxSetEmpty(const SambaOnnxNode *node, uint32_t output, int64_t onnx_type,
                              uint32_t rank, const int64_t *dims) {
  return sambaOnnxSetConstant(node, output, sambaConstantNew(node->arena, onnx_type, rank, dims));
}

SambaStatus sambaOnnxSetTensorProto(const SambaOnnxNode *node, uint32_t output,
                                    const Onnx__TensorProto *proto) {
  SambaConstant *constant;
  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, proto, &constant));
  if (constant &&
      (constant->count <= KNOWN_CONSTANT || !constant->is_float || !proto->has_raw_data))
    return sambaOnnxSetConstant(node, output, constant);
  SambaOnnxValue *value = outputOf(node, output);
  if (value)
    value->initializer = proto;
  return NULL;
}

SambaStatus sambaOnnxSetSequence(const SambaOnnxNode *node, uint32_t output,
                                 const SambaOnnxSequence *sequence) {
  SambaOnnxValue *value = outputOf(node, output);
  if (value)
    value->sequence = sequence;
  return NULL;
}

const SambaConstant *sambaOnnxOutputConstant(const SambaOnnxNode *node, uint32_t output) {
  const SambaOnnxValue *value = sambaOnnxFindValue(node->importer, node->proto->output[output]);
  return value ? value->constant : NULL;
}

SambaStatus sambaOnnxTakeOutput(const SambaOnnxNode *node, uint32_t output,
                                SambaTraceValue **out_tensor) {
  SambaOnnxValue *value = sambaOnnxValueAt(node->importer, node->proto->output[output]);
  *out_tensor = value->tensor;
  if (!value->tensor && value->constant)
    SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, value->constant, out_tensor));
  value->tensor = NULL;
  value->constant = NULL;
  value->defined = false;
  return NULL;
}

SambaStatus sambaOnnxRefuseOutputs(const SambaOnnxNode *node, uint32_t first) {
  for (uint32_t output = first; output < node->output_count; ++output)
    if (sambaOnnxOutputUsed(node, output))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "output %u is not supported; only the first %u can be used", output,
                             first);
  return NULL;
}
