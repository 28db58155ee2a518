/* Graph inputs of an ONNX model: their types, and the options --shape and --bind. */
#include "frontend/onnx/driver/driver.h"
#include "support/file/tensor_file.h"
#include "support/text/escape.h"

#include <errno.h>
#include <stdlib.h>

static const SambaShapeOption *shapeOptionOf(const SambaOnnxInputOptions *options,
                                             SambaStringRef name) {
  const SambaShapeOption *found = NULL;
  for (size_t i = 0; i < options->shape_count; ++i)
    if (sambaStringRefEqual(options->shapes[i].name, name))
      found = &options->shapes[i];
  return found;
}

static const SambaBindOption *bindOptionOf(const SambaOnnxInputOptions *options,
                                           SambaStringRef name) {
  const SambaBindOption *found = NULL;
  for (size_t i = 0; i < options->bind_count; ++i)
    if (sambaStringRefEqual(options->binds[i].name, name))
      found = &options->binds[i];
  return found;
}

static SambaStatus inputType(SambaImporter *importer, const SambaOnnxInputOptions *options,
                             const Onnx__ValueInfoProto *info, SambaTensorType *out) {
  SambaStringRef name = sambaStringRef(info->name ? info->name : "");
  const SambaShapeOption *option = shapeOptionOf(options, name);
  const Onnx__TypeProto__Tensor *tensor =
      info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
          ? info->type->tensor_type
          : NULL;
  if (!tensor)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "is not a tensor; only tensors can be graph inputs");
  out->dtype = sambaOnnxDType(importer, tensor->elem_type);
  if (out->dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "has element type %s; the supported ones are f32, f16, bf16, bool, "
                           "int8, uint8, int16, int32, int64%s",
                           sambaOnnxTypeName(tensor->elem_type),
                           sambaOnnxAboutDouble(tensor->elem_type));
  if (!tensor->shape && !option)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "has no shape; give it with --shape %s=1x3x224x224 (its own numbers)",
                           name.data);
  size_t rank = tensor->shape ? tensor->shape->n_dim : option->rank;

  if (option && option->rank != rank)
    return sambaStatusMake(SAMBA_INVALID, "has rank %zu, but --shape gives %u dimensions", rank,
                           option->rank);
  if (rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has rank %zu, but %d is the most", rank,
                           SAMBA_MAX_RANK);
  out->rank = (uint32_t)rank;

  for (size_t axis = 0; axis < rank; ++axis) {
    const Onnx__TensorShapeProto__Dimension *dim = tensor->shape ? tensor->shape->dim[axis] : NULL;
    bool fixed = dim && dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
                 dim->dim_value >= 0;
    if (!fixed && !option) {
      bool named = dim && dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                   dim->dim_param && *dim->dim_param;
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "has a dynamic shape: dimension %zu is %s; give its shape with "
                             "--shape %s=... (%zu numbers joined by x)",
                             axis, named ? sambaOnnxShown(importer, dim->dim_param) : "open",
                             name.data, rank);
    }

    out->dims[axis] = option ? option->dims[axis] : dim->dim_value;
    if (fixed && out->dims[axis] != dim->dim_value)
      return sambaStatusMake(SAMBA_INVALID, "has %lld as dimension %zu, but --shape gives %lld",
                             (long long)dim->dim_value, axis, (long long)out->dims[axis]);
  }

  return NULL;
}

/* --bind: the input is known now. */
static SambaStatus bindInput(SambaImporter *importer, SambaOnnxValue *value,
                             const SambaBindOption *bind, const Onnx__ValueInfoProto *info) {
  SambaTensorFile file = {0};
  SAMBA_RETURN_IF_ERROR(sambaTensorFileRead(bind->path, &importer->arena, &file));
  const Onnx__TypeProto__Tensor *tensor =
      info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
          ? info->type->tensor_type
          : NULL;
  if (tensor && sambaOnnxDType(importer, tensor->elem_type) != file.dtype)
    return sambaStatusMake(SAMBA_INVALID, "has element type %s, but %s holds %s",
                           sambaOnnxTypeName(tensor->elem_type), bind->path,
                           sambaDTypeName(file.dtype));
  if (file.rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has rank %u in %s, but %d is the most", file.rank,
                           bind->path, SAMBA_MAX_RANK);
  if (tensor && tensor->shape) {
    bool fits = tensor->shape->n_dim == file.rank;
    for (uint32_t axis = 0; fits && axis < file.rank; ++axis) {
      const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[axis];
      fits = dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
             dim->dim_value < 0 || dim->dim_value == file.dims[axis];
    }
    if (!fits)
      return sambaStatusMake(SAMBA_INVALID, "does not have the shape of the array in %s",
                             bind->path);
  }

  SambaArgument argument = {.name = value->name,
                            .kind = "constant",
                            .type = {.dtype = file.dtype, .rank = file.rank},
                            .data = file.data};
  for (uint32_t axis = 0; axis < file.rank; ++axis)
    argument.type.dims[axis] = (int64_t)file.dims[axis];
  value->constant = sambaConstantFromBytes(&importer->arena, sambaOnnxTypeOf(file.dtype), file.rank,
                                           argument.type.dims, file.data);
  value->defined = true;
  if (!value->constant)
    value->tensor = sambaTraceArgument(importer->trace, &argument);
  return NULL;
}

SambaStatus sambaOnnxDeclareInputs(SambaImporter *importer, const SambaOnnxInputOptions *options) {
  const Onnx__GraphProto *graph = importer->model->graph;
  for (size_t i = 0; i < graph->n_input; ++i) {
    const Onnx__ValueInfoProto *info = graph->input[i];
    const char *name = info->name ? info->name : "";
    SambaOnnxValue *value = sambaOnnxValueAt(importer, name);
    const SambaBindOption *bind = bindOptionOf(options, value->name);
    if (value->defined && value->initializer && !bind)
      continue; /* an initializer that older models list as an input too */
    if (value->defined && !value->initializer)
      return sambaStatusMake(SAMBA_INVALID, "graph input %s is declared twice",
                             sambaOnnxShown(importer, name));
    SambaStatus status;
    if (bind) {
      value->initializer = NULL;
      value->is_weight = false;
      status = bindInput(importer, value, bind, info);
    } else {
      SambaArgument argument = {.name = value->name, .kind = "input"};
      status = inputType(importer, options, info, &argument.type);
      if (!status)
        value->tensor = sambaTraceArgument(importer->trace, &argument);
      value->defined = true;
      for (uint32_t axis = 0; axis < argument.type.rank && !status; ++axis)
        if (argument.type.dims[axis] == 0) /* known, though given at run time */
          value->constant = sambaConstantNew(&importer->arena, sambaOnnxTypeOf(argument.type.dtype),
                                             argument.type.rank, argument.type.dims);
    }
    if (status)
      return sambaStatusAnnotate(status, "graph input %s", sambaOnnxShown(importer, name));
    if (sambaTraceStatus(importer->trace))
      return NULL; /* sambaTraceFinish returns it */
  }

  return NULL;
}

static SambaStatus parseShape(const char *text, SambaShapeOption *out) {
  const char *equals = strrchr(text, '=');
  bool good = equals && equals != text;

  *out = (SambaShapeOption){.name = {text, good ? (size_t)(equals - text) : 0}};
  for (const char *at = good ? equals + 1 : ""; good && *at;) {
    char *end = (char *)(uintptr_t)at;
    errno = 0;
    long long dim = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
    good = dim >= 0 && !errno && out->rank < SAMBA_MAX_RANK && (!*end || (*end == 'x' && end[1]));
    if (good)
      out->dims[out->rank++] = dim;
    at = *end ? end + 1 : end;
  }

  if (good)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "--shape %s: expected NAME=1x3x224x224, at most %d numbers joined by x",
                         text, SAMBA_MAX_RANK);
}

/* Options must name inputs of the graph. */
static SambaStatus checkNames(SambaImporter *importer, const SambaOnnxInputOptions *options) {
  const Onnx__GraphProto *graph = importer->model->graph;
  size_t shapes = options->shape_count;
  size_t all = shapes + options->bind_count;

  for (size_t i = 0; i < all; ++i) {
    SambaStringRef name = i < shapes ? options->shapes[i].name : options->binds[i - shapes].name;
    bool found = false;
    for (size_t k = 0; k < graph->n_input && !found; ++k)
      found = graph->input[k]->name && sambaStringRefEqualC(name, graph->input[k]->name);
    if (!found) {
      SambaStatus status =
          sambaStatusMake(SAMBA_INVALID, "%s names %.*s, but the graph has no such input",
                          i < shapes ? "--shape" : "--bind",
                          SAMBA_STRING_ARGS(sambaStringEscape(&importer->arena, name)));
      for (size_t k = 0; k < graph->n_input && k < 8; ++k)
        status = sambaStatusNote(status, "graph input %s",
                                 sambaOnnxShown(importer, graph->input[k]->name));
      return status;
    }
  }

  return NULL;
}

SambaStatus sambaOnnxInputOptionsParse(SambaImporter *importer, const SambaOnnxImportOptions *texts,
                                       SambaOnnxInputOptions *out) {
  SambaArena *arena = &importer->arena;
  SambaShapeOption *shapes = SAMBA_ARENA_ARRAY(arena, SambaShapeOption, texts->shape_count);
  SambaBindOption *binds = SAMBA_ARENA_ARRAY(arena, SambaBindOption, texts->bind_count);
  for (size_t i = 0; i < texts->shape_count; ++i)
    SAMBA_RETURN_IF_ERROR(parseShape(texts->shapes[i], &shapes[i]));
  for (size_t i = 0; i < texts->bind_count; ++i) {
    const char *equals = strchr(texts->binds[i], '=');
    if (!equals || equals == texts->binds[i] || !equals[1])
      return sambaStatusMake(SAMBA_INVALID, "--bind %s: expected NAME=FILE", texts->binds[i]);
    binds[i] = (SambaBindOption){{texts->binds[i], (size_t)(equals - texts->binds[i])}, equals + 1};
  }

  *out = (SambaOnnxInputOptions){.shapes = shapes,
                                 .shape_count = texts->shape_count,
                                 .binds = binds,
                                 .bind_count = texts->bind_count};
  return checkNames(importer, out);
}
