/* Attributes of nodes: what handlers read. */
#include "frontend/onnx/core/node.h"
#include "support/file/tensor_file.h"

/* Types are checked before (signature.c); a writer may leave out a number that is 0. */

const Onnx__AttributeProto *sambaOnnxAttribute(const SambaOnnxNode *node, const char *name) {
  for (size_t i = 0; i < node->proto->n_attribute; ++i)
    if (node->proto->attribute[i]->name && strcmp(node->proto->attribute[i]->name, name) == 0)
      return node->proto->attribute[i];
  return NULL;
}
int64_t sambaOnnxInt(const SambaOnnxNode *node, const char *name, int64_t otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  return attribute && (attribute->has_i || !attribute->has_f) ? attribute->i : otherwise;
}
double sambaOnnxFloat(const SambaOnnxNode *node, const char *name, double otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  return attribute && (attribute->has_f || !attribute->has_i) ? (double)attribute->f : otherwise;
}
bool sambaOnnxStringIs(const SambaOnnxNode *node, const char *name, const char *text,
                       bool otherwise) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  if (!attribute || !attribute->has_s)
    return otherwise;
  return attribute->s.len == strlen(text) && memcmp(attribute->s.data, text, attribute->s.len) == 0;
}
bool sambaOnnxInts(const SambaOnnxNode *node, const char *name, const int64_t **out_data,
                   size_t *out_size) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, name);
  *out_data = attribute ? attribute->ints : NULL;
  *out_size = attribute ? attribute->n_ints : 0;
  return attribute != NULL;
}

int64_t sambaOnnxCastTarget(const SambaOnnxNode *node) {
  const Onnx__AttributeProto *to = sambaOnnxAttribute(node, "to");
  for (int64_t type = 1; to && to->has_s && type <= 16; ++type)
    if (sambaOnnxStringIs(node, "to", sambaOnnxTypeName(type), false))
      return type;
  return sambaOnnxInt(node, "to", 0);
}
