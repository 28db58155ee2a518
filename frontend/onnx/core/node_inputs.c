/* The inputs of a node; see node.h. */
#include "frontend/onnx/core/importer.h"

#include "support/file/tensor_file.h"
#include "support/text/escape.h"

#include <math.h>

#include <stdlib.h>

/* The number that the reference of samba's operators gives the rule, "(C3) ", is left out: whoever
 * has an ONNX model has not read it. */
SambaStatus sambaOnnxTraceFailure(const SambaOnnxNode *node) {
  SambaStatus status = sambaTraceStatus(node->trace);
  const char *message = status ? sambaStatusGetMessage(status) : "no result";
  const char *rule = strstr(message, "(C");
  const char *end = rule ? rule + 2 + strspn(rule + 2, "0123456789") : NULL;
  bool numbered = rule && end > rule + 2 && end[0] == ')' && end[1] == ' ';
  return sambaStatusMake(status ? sambaStatusGetCode(status) : SAMBA_INVALID, "%.*s%s",
                         numbered ? (int)(rule - message) : 0, message,
                         numbered ? end + 2 : message);
}

SambaOnnxValue *sambaOnnxInputValue(const SambaOnnxNode *node, uint32_t input) {
  return sambaOnnxHasInput(node, input) ? &node->importer->values.data[node->inputs[input]] : NULL;
}

bool sambaOnnxHasInput(const SambaOnnxNode *node, uint32_t input) {
  return input < node->input_count && node->inputs[input] != SAMBA_NO_INDEX;
}

SambaStatus sambaOnnxNeedInput(const SambaOnnxNode *node, uint32_t input) {
  return sambaOnnxHasInput(node, input)
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "input %u is missing", input);
}

const SambaConstant *sambaOnnxConstant(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  return value ? value->constant : NULL;
}

SambaStatus sambaOnnxReadKnown(const SambaOnnxNode *node, uint32_t input,
                               const SambaConstant **out_constant) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  SambaConstant *read = NULL;
  *out_constant = value ? value->constant : NULL;
  if (!value || value->constant || !value->initializer)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, value->initializer, &read));
  *out_constant = read;
  return NULL;
}

SambaStatus sambaOnnxMaterialize(const SambaOnnxNode *node, const SambaConstant *constant,
                                 SambaTraceValue **out_tensor) {
  SambaTensorType type = {.rank = constant->rank};
  SAMBA_RETURN_IF_ERROR(sambaOnnxCheckDType(node->importer, constant->onnx_type, &type.dtype));
  memcpy(type.dims, constant->dims, sizeof type.dims);
  bool splat = constant->count > 0;
  for (int64_t i = 1; i < constant->count && splat; ++i)
    splat = constant->data[i].i == constant->data[0].i; /* bits, for floats too */
  void *bytes = sambaAllocate(sambaArraySize((size_t)constant->count, sambaDTypeBytes(type.dtype)));
  sambaConstantToBytes(constant, type.dtype, bytes);
  *out_tensor = sambaTraceConstant(node->trace, &type, bytes, splat);
  free(bytes);
  return NULL;
}

SambaStatus sambaOnnxTensor(const SambaOnnxNode *node, uint32_t input,
                            SambaTraceValue **out_tensor) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxNeedInput(node, input));
  SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  SambaStatus status = NULL;

  if (value->sequence)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input %u is a sequence; only operators on sequences take one", input);
  if (!value->tensor && value->initializer && (value->is_weight || !value->constant))
    status = sambaOnnxMaterializeInitializer(node->importer, value);
  else if (!value->tensor && value->constant)
    status = sambaOnnxMaterialize(node, value->constant, &value->tensor);
  if (status) {
    SambaStringRef shown = sambaStringEscape(node->arena, value->name);
    return sambaStatusAnnotate(status, "input %u, %.*s", input, SAMBA_STRING_ARGS(shown));
  }

  if (value->is_double &&
      !sambaOnnxHasTrait(node, SAMBA_ONNX_MOVES_DOUBLE | SAMBA_ONNX_READS_DOUBLE))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input %u is DOUBLE, which is not supported; only Cast, IsNaN, IsInf "
                           "and changes of shape can take what was cast to it%s",
                           input, sambaOnnxAboutDouble(SAMBA_ONNX_DOUBLE));
  *out_tensor = value->tensor;

  return value->tensor ? NULL : sambaOnnxTraceFailure(node);
}

int64_t sambaOnnxInputType(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  if (!value || value->constant)
    return value ? value->constant->onnx_type : 0;
  if (value->tensor)
    return sambaOnnxTypeOf(value->tensor->type.dtype);
  return value->initializer ? value->initializer->data_type : 0;
}

SambaStatus sambaOnnxShape(const SambaOnnxNode *node, uint32_t input, uint32_t *out_rank,
                           int64_t *out_dims) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxNeedInput(node, input));
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);

  if (value->constant) {
    *out_rank = value->constant->rank;
    memcpy(out_dims, value->constant->dims, SAMBA_MAX_RANK * sizeof *out_dims);
  } else if (value->tensor) {
    *out_rank = value->tensor->type.rank;
    memcpy(out_dims, value->tensor->type.dims, SAMBA_MAX_RANK * sizeof *out_dims);
  } else {
    if (value->sequence)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "input %u is a sequence; only operators on sequences take one", input);
    if (!value->initializer || value->initializer->n_dims > SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "input %u has a rank of more than %d", input,
                             SAMBA_MAX_RANK);
    *out_rank = (uint32_t)value->initializer->n_dims;
    for (uint32_t axis = 0; axis < *out_rank; ++axis)
      out_dims[axis] = value->initializer->dims[axis];
  }

  return NULL;
}

SambaStatus sambaOnnxKnownInts(const SambaOnnxNode *node, uint32_t input, const char *name,
                               const int64_t **out_data, size_t *out_size, bool *out_found) {
  *out_found = true;
  if (!sambaOnnxHasInput(node, input)) {
    *out_found = name && sambaOnnxInts(node, name, out_data, out_size);
    return NULL;
  }

  /* Tile and Split of version 1 have numbers of the tensor's type. */
  bool floats_too = node->version < 6;
  const SambaConstant *constant = sambaOnnxConstant(node, input);
  if (!constant && floats_too)
    SAMBA_RETURN_IF_ERROR(sambaOnnxReadKnown(node, input, &constant));
  if (!constant || (constant->is_float && !floats_too)) {
    const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
    SambaStringRef shown = sambaStringEscape(node->arena, value->name);
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input %u, %.*s, must be integers known at compile time, but depends on data; if it comes "
        "from a graph input, use --bind NAME=FILE or declare the shape of the result",
        input, SAMBA_STRING_ARGS(shown));
  }

  int64_t *copy = SAMBA_ARENA_ARRAY(node->arena, int64_t, (size_t)constant->count);
  for (int64_t i = 0; i < constant->count; ++i) {
    if (!constant->is_float)
      copy[i] = constant->data[i].i;
    else
      copy[i] = fabs(constant->data[i].r) < 0x1p62 ? (int64_t)constant->data[i].r : -1;
  }

  *out_data = copy;
  *out_size = (size_t)constant->count;
  return NULL;
}

const SambaOnnxSequence *sambaOnnxSequence(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  return value ? value->sequence : NULL;
}

uint32_t sambaOnnxAddValue(const SambaOnnxNode *node, SambaTraceValue *tensor,
                           SambaConstant *constant) {
  sambaArrayAppend(
      &node->importer->values,
      (SambaOnnxValue){.tensor = tensor, .constant = constant, .producer = -1, .defined = true});
  return (uint32_t)node->importer->values.size - 1;
}

SambaOnnxNode sambaOnnxNodeWith(const SambaOnnxNode *node, uint32_t count, const uint32_t *inputs) {
  SambaOnnxNode copy = *node;
  copy.input_count = count;
  copy.inputs = inputs;
  return copy;
}

SambaStatus sambaOnnxAxis(int64_t axis, uint32_t rank, uint32_t *out_axis) {
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    return sambaStatusMake(SAMBA_INVALID, "axis %lld is not within the rank %u", (long long)axis,
                           rank);
  *out_axis = (uint32_t)positive;
  return NULL;
}
