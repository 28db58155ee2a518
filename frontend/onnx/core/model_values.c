/* The values of a model by name, and the rows of the table by node; see importer.h. */
#include "frontend/onnx/core/importer.h"

#include "support/text/escape.h"

const char *sambaOnnxShown(SambaImporter *importer, const char *text) {
  return sambaStringEscape(&importer->arena, sambaStringRef(text ? text : "")).data;
}

const char *sambaOnnxDomain(const Onnx__NodeProto *proto) {
  return !proto->domain || strcmp(proto->domain, "ai.onnx") == 0 ? "" : proto->domain;
}

uint32_t sambaOnnxValueIndex(SambaImporter *importer, const char *name) {
  uint32_t index = (uint32_t)importer->values.size;
  if (!sambaStringMapInsert(&importer->value_names, sambaStringRef(name), index, &index))
    return index;
  sambaArrayAppend(&importer->values,
                   (SambaOnnxValue){.name = sambaStringRef(name), .producer = -1});
  return index;
}

SambaOnnxValue *sambaOnnxValueAt(SambaImporter *importer, const char *name) {
  uint32_t index = sambaOnnxValueIndex(importer, name); /* may move the array */
  return &importer->values.data[index];
}

SambaOnnxValue *sambaOnnxFindValue(SambaImporter *importer, const char *name) {
  uint32_t index;
  if (!name || !*name || !sambaStringMapGet(&importer->value_names, sambaStringRef(name), &index))
    return NULL;
  return &importer->values.data[index];
}

bool sambaOnnxRowIsNamed(const SambaOnnxRow *row, const Onnx__NodeProto *proto) {
  return proto->op_type && strcmp(row->name, proto->op_type) == 0 &&
         strcmp(row->domain, sambaOnnxDomain(proto)) == 0;
}

const SambaOnnxRow *sambaOnnxRowFor(const SambaImporter *importer, const Onnx__NodeProto *proto,
                                    int64_t version) {
  for (const SambaOnnxRow *row = importer->rows; row->name; ++row)
    if (sambaOnnxRowIsNamed(row, proto) && version >= row->first && version <= row->last)
      return row;
  return NULL;
}
