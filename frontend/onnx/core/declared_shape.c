/* Shapes that the model declares for its values; see node.h. */
#include "frontend/onnx/core/importer.h"

/* Values and nodes that the search for a declared shape may look at. */
enum { MAX_STEPS = 512 };

bool sambaOnnxStaticShape(const Onnx__ValueInfoProto *info, uint32_t *out_rank, int64_t *out_dims) {
  const Onnx__TypeProto__Tensor *tensor =
      info && info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
          ? info->type->tensor_type
          : NULL;
  if (!tensor || !tensor->shape || tensor->shape->n_dim > SAMBA_MAX_RANK)
    return false;

  for (size_t axis = 0; axis < tensor->shape->n_dim; ++axis) {
    const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[axis];
    if (dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
        dim->dim_value < 0)
      return false;
    out_dims[axis] = dim->dim_value;
  }

  *out_rank = (uint32_t)tensor->shape->n_dim;
  return true;
}

/* Whether an operator of the table has one of the traits, in any version. */
static bool has(const SambaImporter *importer, const Onnx__NodeProto *proto, uint32_t traits) {
  for (const SambaOnnxRow *row = importer->rows; row->name; ++row)
    if (sambaOnnxRowIsNamed(row, proto))
      return (row->traits & traits) != 0;
  return false;
}

/* A single number, or made of numbers and of `root` element by element: with it root's shape does
 * not grow. */
static bool keepsShape(SambaImporter *importer, const char *name, const char *root,
                       uint32_t *steps) {
  const SambaOnnxValue *value = sambaOnnxFindValue(importer, name);
  if (!value || !*steps)
    return false;
  --*steps;
  if (strcmp(name, root) == 0)
    return true;
  if (value->tensor || value->constant)
    return value->tensor ? value->tensor->type.rank == 0 : value->constant->rank == 0;
  if (value->initializer)
    return value->initializer->n_dims == 0;
  if (value->producer < 0)
    return false;
  const Onnx__NodeProto *proto = importer->model->graph->node[value->producer];

  if (proto->op_type && strcmp(proto->op_type, "Constant") == 0 && proto->n_attribute == 1) {
    const Onnx__AttributeProto *a = proto->attribute[0];
    return a->t ? a->t->n_dims == 0
                : a->name && (!strcmp(a->name, "value_float") || !strcmp(a->name, "value_int"));
  }

  if (!has(importer, proto, SAMBA_ONNX_ELEMENTWISE | SAMBA_ONNX_KEEPS_SHAPE))
    return false;
  for (size_t i = 0; i < proto->n_input; ++i)
    if (proto->input[i] && *proto->input[i] && !keepsShape(importer, proto->input[i], root, steps))
      return false;
  return true;
}

/* A shape that is not written down may follow from what is made of the value element by element. */
static bool declaredShape(SambaImporter *importer, const char *name, const char *root,
                          uint32_t *steps, uint32_t *out_rank, int64_t *out_dims) {
  const Onnx__GraphProto *graph = importer->model->graph;
  const SambaOnnxValue *value = sambaOnnxFindValue(importer, name);

  if (!value || !*steps)
    return false;
  --*steps;
  if (sambaOnnxStaticShape(value->declared, out_rank, out_dims))
    return true;

  for (size_t n = 0; n < graph->n_node && *steps; ++n) {
    const Onnx__NodeProto *proto = graph->node[n];
    bool reads = false, others = true;
    for (size_t i = 0; i < proto->n_input; ++i)
      reads |= proto->input[i] && strcmp(proto->input[i], name) == 0;
    bool follows = has(importer, proto, SAMBA_ONNX_KEEPS_SHAPE);
    if (!reads || !proto->n_output || (!follows && !has(importer, proto, SAMBA_ONNX_ELEMENTWISE)))
      continue;
    if (follows && strcmp(proto->input[0], name) != 0)
      continue;
    for (size_t i = 0; i < proto->n_input && others && !follows; ++i)
      others = !proto->input[i] || strcmp(proto->input[i], name) == 0 ||
               keepsShape(importer, proto->input[i], root, steps);
    if (others && declaredShape(importer, proto->output[0], root, steps, out_rank, out_dims))
      return true;
  }

  return false;
}

bool sambaOnnxDeclaredShape(const SambaOnnxNode *node, uint32_t output, uint32_t *out_rank,
                            int64_t *out_dims) {
  uint32_t steps = MAX_STEPS;
  const char *name = sambaOnnxOutputUsed(node, output) ? node->proto->output[output] : "";
  return declaredShape(node->importer, name, name, &steps, out_rank, out_dims);
}

int64_t sambaOnnxDeclaredType(const SambaOnnxNode *node, uint32_t output) {
  const SambaOnnxValue *value = sambaOnnxFindValue(node->importer, node->proto->output[output]);
  const Onnx__TypeProto *type = value && value->declared ? value->declared->type : NULL;
  return type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
             ? type->tensor_type->elem_type
             : 0;
}
