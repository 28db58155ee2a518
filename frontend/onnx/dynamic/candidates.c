/* Lists of constants that an operand may be; see candidates.h. */
#include "frontend/onnx/dynamic/candidates.h"

void sambaOnnxAddCandidate(const SambaOnnxNode *node, SambaOnnxCandidates *candidates,
                           uint32_t rank, int64_t size, const int64_t *data, int64_t key) {
  SambaConstant *constant = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, rank, &size);
  for (int64_t i = 0; constant && i < size; ++i)
    constant->data[i].i = data[i];
  if (!constant || candidates->count == SAMBA_ONNX_MAX_CANDIDATES)
    return;
  candidates->constants[candidates->count] = constant;
  candidates->keys[candidates->count++] = key;
}

SambaStatus sambaOnnxDeclaredShapes(const SambaOnnxNode *node, uint32_t *out_rank,
                                    int64_t *out_dims, uint32_t *out_declared,
                                    int64_t *out_declared_dims, bool *out_known) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, out_rank, out_dims));
  *out_known = sambaOnnxDeclaredShape(node, 0, out_declared, out_declared_dims);
  return NULL;
}
