/* Cast, CastLike, and values that a model has as DOUBLE.
 *
 * Samba has no f64. A Cast to DOUBLE from a type whose numbers a double holds exactly (all but i64)
 * leaves the tensor as it is and marks the value: what only moves such numbers, asks for NaN and
 * infinity, or converts them again gives the same result from the narrow tensor. Every other use is
 * refused when it reads the value (sambaOnnxTensor). */
#include "frontend/onnx/core/importer.h"

#include "support/file/tensor_file.h"

enum { DOUBLE_TYPE = 11 };

SambaOnnxDoubleUse sambaOnnxDoubleUse(const SambaOnnxNode *node) {
  static const char *const moves[] = {"Identity",  "Reshape", "Flatten", "Squeeze",
                                      "Unsqueeze", "Expand",  "Slice",   "Transpose"};
  static const char *const asks[] = {"Cast", "IsNaN", "IsInf"};
  const char *name = node->proto ? node->proto->op_type : "";
  for (size_t i = 0; i < sizeof moves / sizeof *moves; ++i)
    if (strcmp(name, moves[i]) == 0)
      return SAMBA_ONNX_DOUBLE_MOVED;
  for (size_t i = 0; i < sizeof asks / sizeof *asks; ++i)
    if (strcmp(name, asks[i]) == 0)
      return SAMBA_ONNX_DOUBLE_READ;
  return SAMBA_ONNX_DOUBLE_REFUSED;
}

/* TensorProto.DataType; its name before opset 6. */
int64_t sambaOnnxCastTarget(const SambaOnnxNode *node) {
  const Onnx__AttributeProto *to = sambaOnnxAttribute(node, "to");
  for (int64_t type = 1; to && to->has_s && type <= 16; ++type)
    if (sambaOnnxStringIs(node, "to", sambaOnnxTypeName(type), false))
      return type;
  return sambaOnnxInt(node, "to", 0);
}

SambaStatus sambaOnnxImportCast(const SambaOnnxNode *node) {
  SambaTensor *x, *like;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (strcmp(node->proto->op_type, "CastLike") == 0) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &like));
    return sambaOnnxSetTensor(node, 0, sambaCast(x, like->type.dtype));
  }

  int64_t to = sambaOnnxCastTarget(node);
  SambaDType dtype = sambaDTypeOfOnnx(to);
  if (to == DOUBLE_TYPE && x->type.dtype != SAMBA_DTYPE_I64)
    return sambaOnnxSetDouble(node, x);
  if (dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "cast to %s is not supported; the types are f32, f16, bf16, bool, int8, "
                           "uint8, int16, int32, int64",
                           sambaOnnxTypeName(to));
  return sambaOnnxSetTensor(node, 0, sambaCast(x, dtype));
}
