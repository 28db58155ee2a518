/* Handlers of ONNX operators whose results are known at compile time: constants, shapes, ranges. */
#include "frontend/onnx/handlers/handlers.h"
#include "support/number/integer.h"

SambaStatus sambaOnnxImportShape(const SambaOnnxNode *node) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  int64_t start = sambaOnnxInt(node, "start", 0);
  int64_t end = sambaOnnxInt(node, "end", rank);
  start = sambaClampInteger(start < 0 ? start + rank : start, 0, rank);
  end = sambaClampInteger(end < 0 ? end + rank : end, start, rank);
  int64_t count = end - start;
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, 1, &count);
  for (int64_t i = 0; i < count; ++i)
    result->data[i].i = dims[start + i];
  return sambaOnnxSetConstant(node, 0, result);
}

SambaStatus sambaOnnxImportSize(const SambaOnnxNode *node) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, 0, NULL);
  result->data[0].i = 1;
  for (uint32_t d = 0; d < rank; ++d)
    result->data[0].i *= dims[d];
  return sambaOnnxSetConstant(node, 0, result);
}

/* Up to the fold limit a constant, beyond it a splat of the graph. */
SambaStatus sambaOnnxImportConstantOfShape(const SambaOnnxNode *node) {
  const int64_t *shape;
  size_t size;
  bool found;

  SAMBA_RETURN_IF_ERROR(sambaOnnxKnownInts(node, 0, NULL, &shape, &size, &found));
  if (!found || size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the shape is missing or has a rank of more than %d",
                           SAMBA_MAX_RANK);
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, "value");
  SambaConstant *value = NULL;
  if (attribute && attribute->t)
    SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, attribute->t, &value));
  else
    value = sambaConstantNew(node->arena, SAMBA_ONNX_FLOAT, 0, NULL);
  if (!value || value->count != 1)
    return sambaStatusMake(SAMBA_INVALID, "the value must be one number");
  SambaConstant *result = sambaConstantNew(node->arena, value->onnx_type, (uint32_t)size, shape);
  if (result) {
    for (int64_t i = 0; i < result->count; ++i)
      result->data[i] = value->data[0];
    return sambaOnnxSetConstant(node, 0, result);
  }

  SambaTraceValue *one;
  value->rank = 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, value, &one));
  return sambaOnnxSetTensor(node, 0, sambaExpand(one, (uint32_t)size, shape));
}

SambaStatus sambaOnnxImportRange(const SambaOnnxNode *node) {
  const SambaConstant *x[3];
  for (uint32_t i = 0; i < 3; ++i)
    if (!(x[i] = sambaOnnxConstant(node, i)) || x[i]->count != 1)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "input %u must be one number known at compile time; if it is a graph "
                             "input, use --bind NAME=FILE or declare "
                             "the shape of the result",
                             i);
  int64_t count;

  if (x[0]->is_float) {
    double steps = (x[1]->data[0].r - x[0]->data[0].r) / x[2]->data[0].r;
    if (steps > SAMBA_ONNX_MAX_FOLDED)
      count = INT64_MAX;
    else
      count = steps > 0 ? (int64_t)steps + ((double)(int64_t)steps < steps) : 0;
  } else {
    int64_t step = x[2]->data[0].i;
    int64_t distance;
    int64_t most = (int64_t)1 << 60;
    int64_t values[] = {x[0]->data[0].i, x[1]->data[0].i, step};
    bool fits = step != 0;
    for (int i = 0; i < 3; ++i)
      fits = fits && values[i] > -most && values[i] < most;
    distance = fits ? values[1] - values[0] : 0;
    if (!fits)
      return sambaStatusMake(SAMBA_INVALID, "the step is 0 or the range overflows");
    count = step > 0 ? (distance + step - 1) / step : (-distance - step - 1) / -step;
    count = count < 0 ? 0 : count;
  }

  SambaConstant *result = sambaConstantNew(node->arena, x[0]->onnx_type, 1, &count);
  for (int64_t i = 0; result && i < count; ++i) {
    if (x[0]->is_float)
      result->data[i] = sambaNumberConvert(
          (SambaNumber){.r = x[0]->data[0].r + (double)i * x[2]->data[0].r}, true, x[0]->onnx_type);
    else
      result->data[i].i = x[0]->data[0].i + i * x[2]->data[0].i;
  }

  return sambaOnnxSetConstant(node, 0, result);
}

static SambaStatus numbers(const SambaOnnxNode *node, int64_t type, uint32_t rank, int64_t count,
                           const float *reals, const int64_t *integers) {
  SambaConstant *result = sambaConstantNew(node->arena, type, rank, &count);
  for (int64_t i = 0; result && i < count; ++i) {
    if (reals)
      result->data[i].r = (double)reals[i];
    else
      result->data[i].i = integers[i];
  }
  return sambaOnnxSetConstant(node, 0, result);
}

SambaStatus sambaOnnxImportConstant(const SambaOnnxNode *node) {
  for (size_t i = 0; i < node->proto->n_attribute; ++i) {
    const Onnx__AttributeProto *a = node->proto->attribute[i];
    const char *name = a->name ? a->name : "";
    if (strcmp(name, "value") == 0 && a->t)
      return sambaOnnxSetTensorProto(node, 0, a->t);
    if (strcmp(name, "value_float") == 0)
      return numbers(node, SAMBA_ONNX_FLOAT, 0, 1, &a->f, NULL);
    if (strcmp(name, "value_int") == 0)
      return numbers(node, SAMBA_ONNX_INT64, 0, 1, NULL, &a->i);
    if (strcmp(name, "value_floats") == 0)
      return numbers(node, SAMBA_ONNX_FLOAT, 1, (int64_t)a->n_floats, a->floats, NULL);
    if (strcmp(name, "value_ints") == 0)
      return numbers(node, SAMBA_ONNX_INT64, 1, (int64_t)a->n_ints, NULL, a->ints);
  }

  return sambaStatusMake(SAMBA_UNSUPPORTED, "there is no value of a supported kind (value, "
                                            "value_float, value_int, value_floats, value_ints)");
}

/* What only exists when its input is known: the result's shape depends on data. */
SambaStatus sambaOnnxImportDataDependent(const SambaOnnxNode *node) {
  (void)node;
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "the shape of the result depends on data; only inputs known at compile "
                         "time are supported (--bind NAME=FILE)");
}
