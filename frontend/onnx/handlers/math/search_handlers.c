/* Handlers of ONNX operators that search, sort and count: ArgMax, TopK, CumSum, OneHot, Trilu,
 * Compress; and Einsum, Det. */
#include "frontend/onnx/handlers/handlers.h"

#include <stdlib.h>

SambaStatus sambaOnnxImportArgMax(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->type.rank, &axis));
  bool least = node->row->variant == SAMBA_ONNX_ARG_MIN,
       keep = sambaOnnxInt(node, "keepdims", 1) != 0,
       last = sambaOnnxInt(node, "select_last_index", 0) != 0;
  return sambaOnnxSetTensor(node, 0,
                            (least ? sambaArgmin : sambaArgmax)(x, &(int64_t){axis}, keep, last));
}

/* k is an attribute before opset 10. */
SambaStatus sambaOnnxImportTopK(const SambaOnnxNode *node) {
  SambaTraceValue *x, *indices = NULL;
  uint32_t axis;
  const int64_t *known;
  size_t size;
  bool found;
  int64_t k = sambaOnnxInt(node, "k", 0);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), x->type.rank, &axis));
  if (node->version >= 10) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &known, &size, &found));
    if (!found || size != 1)
      return sambaStatusMake(SAMBA_INVALID, "input 1, k, must be one number");
    k = known[0];
  }

  if (k == 0) {
    int64_t dims[SAMBA_MAX_RANK];
    memcpy(dims, x->type.dims, sizeof dims);
    dims[axis] = 0;
    SAMBA_RETURN_IF_ERROR(
        sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims));
    return sambaOnnxSetEmpty(node, 1, 7 /* INT64 */, x->type.rank, dims);
  }

  SambaTraceValue *values = sambaTopk(x, k, axis, sambaOnnxInt(node, "largest", 1) != 0, &indices);
  SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 0, values));
  return sambaOnnxSetTensor(node, 1, indices);
}

SambaStatus sambaOnnxImportCumSum(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  uint32_t axis;
  const int64_t *known;
  size_t size;
  bool found;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 1, NULL, &known, &size, &found));
  if (!found || size != 1)
    return sambaStatusMake(SAMBA_INVALID, "input 1, axis, must be one number");
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(known[0], x->type.rank, &axis));
  return sambaOnnxSetTensor(node, 0,
                            sambaCumsum(x, axis, sambaOnnxInt(node, "exclusive", 0) != 0,
                                        sambaOnnxInt(node, "reverse", 0) != 0));
}

/* indices, depth, values = [off, on]; depth and the indices may be of any number type. */
SambaStatus sambaOnnxImportOneHot(const SambaOnnxNode *node) {
  SambaTraceValue *indices, *values;
  const SambaConstant *depth = sambaOnnxConstant(node, 1);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &indices));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &values));
  if (!depth || depth->count != 1)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input 1, depth, must be one number known at compile time; if it comes "
                           "from a graph input, use --bind NAME=FILE");
  if (sambaDTypeIsFloat(indices->type.dtype))
    indices = sambaCast(indices, SAMBA_DTYPE_I64);
  return sambaOnnxSetTensor(node, 0,
                            sambaOneHot(indices, values, (int64_t)sambaConstantReal(depth, 0),
                                        sambaOnnxInt(node, "axis", -1)));
}

/* The upper or lower triangle of the last two dimensions; the rest becomes zero. A k that is not
 * known is an operand. */
SambaStatus sambaOnnxImportTrilu(const SambaOnnxNode *node) {
  SambaTraceValue *x, *more = NULL;
  const SambaConstant *known = sambaOnnxConstant(node, 1);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (known && (known->is_float || known->count != 1))
    return sambaStatusMake(SAMBA_INVALID, "input 1, k, must be one integer");
  if (!known && sambaOnnxHasInput(node, 1))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &more));
  bool upper = sambaOnnxInt(node, "upper", 1) != 0;
  int64_t k = known ? known->data[0].i : 0;
  return sambaOnnxSetTensor(node, 0, upper ? sambaTriu(x, k, more) : sambaTril(x, k, more));
}

/* The slices along the axis, or the elements, at which a known condition is true. */
SambaStatus sambaOnnxImportCompress(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  const SambaConstant *condition = sambaOnnxConstant(node, 1);
  uint32_t axis = 0;

  if (!condition)
    return sambaOnnxImportDataDependent(node);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (sambaOnnxAttribute(node, "axis"))
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->type.rank, &axis));
  else
    x = sambaFlatten(x, 0, -1);
  if (!x)
    return sambaOnnxSetTensor(node, 0, NULL);
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 1};
  int64_t *indices = sambaAllocate(sambaArraySize((size_t)condition->count + 1, sizeof *indices));
  for (int64_t i = 0; i < condition->count; ++i)
    if (condition->data[i].i)
      indices[type.dims[0]++] = i;
  SambaStatus status = NULL;
  if (type.dims[0] == 0) {
    int64_t dims[SAMBA_MAX_RANK];
    memcpy(dims, x->type.dims, sizeof dims);
    dims[axis] = 0;
    free(indices);
    return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), x->type.rank, dims);
  }

  if (indices[type.dims[0] - 1] >= x->type.dims[axis])
    status = sambaStatusMake(
        SAMBA_INVALID, "the condition is true at %lld, but dimension %u has the size %lld",
        (long long)indices[type.dims[0] - 1], axis, (long long)x->type.dims[axis]);
  SambaTraceValue *chosen = status ? NULL : sambaTraceConstant(x->trace, &type, indices, false);
  free(indices);

  return status ? status : sambaOnnxSetTensor(node, 0, sambaIndexSelect(x, chosen, axis));
}

SambaStatus sambaOnnxImportEinsum(const SambaOnnxNode *node) {
  SambaTraceValue **tensors = SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, node->input_count);
  const Onnx__AttributeProto *equation = sambaOnnxAttribute(node, "equation");
  if (!equation || !equation->s.len)
    return sambaStatusMake(SAMBA_INVALID, "attribute 'equation' is missing");
  for (uint32_t i = 0; i < node->input_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &tensors[i]));
  const char *text = sambaArenaFormat(node->arena, "%.*s", (int)equation->s.len, equation->s.data);
  return sambaOnnxSetTensor(node, 0, sambaEinsum(text, node->input_count, tensors));
}

SambaStatus sambaOnnxImportDet(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, sambaDet(x));
}
