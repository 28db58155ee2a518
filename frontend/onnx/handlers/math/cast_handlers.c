/* Cast, CastLike, and values that a model has as DOUBLE.
 *
 * Samba has no f64. A Cast to DOUBLE from a type whose numbers a double holds exactly (all but i64)
 * leaves the tensor as it is and marks the value: what only moves such numbers, asks for NaN and
 * infinity, or converts them again gives the same result from the narrow tensor. Every other use is
 * refused when it reads the value; which operators may is said in their rows (SambaOnnxTraits).
 * With --f64=f32 all this is not needed: DOUBLE is f32. */
#include "frontend/onnx/handlers/handlers.h"

#include "support/file/tensor_file.h"

SambaStatus sambaOnnxImportCast(const SambaOnnxNode *node) {
  SambaTraceValue *x, *like;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (strcmp(node->proto->op_type, "CastLike") == 0) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &like));
    return sambaOnnxSetTensor(node, 0, sambaCast(x, like->type.dtype));
  }

  int64_t to = sambaOnnxCastTarget(node);
  SambaDType dtype = sambaOnnxDType(node->importer, to);
  if (to == SAMBA_ONNX_DOUBLE && dtype == SAMBA_DTYPE_COUNT && x->type.dtype != SAMBA_DTYPE_I64)
    return sambaOnnxSetDouble(node, x);
  if (dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "cast to %s is not supported; the types are f32, f16, bf16, bool, int8, "
                           "uint8, int16, int32, int64",
                           sambaOnnxTypeName(to));
  return sambaOnnxSetTensor(node, 0, sambaCast(x, dtype));
}
