/* What handlers use: inputs and outputs of a node; see importer.h. */
#include "frontend/onnx/core/importer.h"

#include "support/file/input_file.h"
#include "support/file/path.h"
#include "support/file/tensor_file.h"
#include "support/text/escape.h"

#include <math.h>

#include <stdlib.h>
#include <unistd.h>

/* ---- Inputs ---- */

static SambaStatus traceFailure(const SambaOnnxNode *node) {
  SambaStatus status = sambaTraceStatus(node->importer->trace);
  return sambaStatusMake(status ? sambaStatusGetCode(status) : SAMBA_INVALID, "%s",
                         status ? sambaStatusGetMessage(status) : "no result");
}

static SambaOnnxValue *valueOf(const SambaOnnxNode *node, uint32_t input) {
  return sambaOnnxHasInput(node, input) ? &node->importer->values.data[node->inputs[input]] : NULL;
}

bool sambaOnnxHasInput(const SambaOnnxNode *node, uint32_t input) {
  return input < node->input_count && node->inputs[input] != UINT32_MAX;
}

static SambaStatus needInput(const SambaOnnxNode *node, uint32_t input) {
  return sambaOnnxHasInput(node, input)
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "input %u is missing", input);
}

const SambaConstant *sambaOnnxConstant(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = valueOf(node, input);
  return value ? value->constant : NULL;
}

SambaStatus sambaOnnxReadKnown(const SambaOnnxNode *node, uint32_t input,
                               const SambaConstant **out_constant) {
  const SambaOnnxValue *value = valueOf(node, input);
  SambaConstant *read = NULL;
  *out_constant = value ? value->constant : NULL;
  if (!value || value->constant || !value->initializer)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(node->importer, value->initializer, &read));
  *out_constant = read;
  return NULL;
}

static SambaStatus checkDType(int64_t onnx_type, SambaDType *out_dtype) {
  *out_dtype = sambaDTypeOfOnnx(onnx_type);
  if (*out_dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "element type %s is not supported; convert the model to f32, f16, bf16, bool, int8, uint8, "
        "int16, int32 or int64",
        sambaOnnxTypeName(onnx_type));
  return NULL;
}

SambaStatus sambaOnnxMaterialize(SambaImporter *importer, const SambaConstant *constant,
                                 SambaTensor **out_tensor) {
  SambaTensorType type = {.rank = constant->rank};
  SAMBA_RETURN_IF_ERROR(checkDType(constant->onnx_type, &type.dtype));
  memcpy(type.dims, constant->dims, sizeof type.dims);
  bool splat = constant->count > 0;
  for (int64_t i = 1; i < constant->count && splat; ++i)
    splat = constant->data[i].i == constant->data[0].i; /* bits, for floats too */
  void *bytes = sambaAllocate(sambaArraySize((size_t)constant->count, sambaDTypeBytes(type.dtype)));
  sambaConstantToBytes(constant, type.dtype, bytes);
  *out_tensor = sambaTraceConstant(importer->trace, &type, bytes, splat);
  free(bytes);
  return NULL;
}

static SambaStatus initializerType(const Onnx__TensorProto *proto, SambaTensorType *out_type) {
  *out_type = (SambaTensorType){.rank = (uint32_t)proto->n_dims};
  if (proto->n_dims > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "rank %zu is more than %d", proto->n_dims,
                           SAMBA_MAX_RANK);
  for (size_t axis = 0; axis < proto->n_dims; ++axis)
    out_type->dims[axis] = proto->dims[axis];
  return checkDType(proto->data_type, &out_type->dtype);
}

/* Elements that are in the skeleton, one number per element. */
static SambaStatus typedBytes(const Onnx__TensorProto *proto, SambaDType dtype, int64_t elements,
                              uint8_t *out) {
  uint32_t width = sambaDTypeBytes(dtype);
  size_t count = proto->n_float_data   ? proto->n_float_data
                 : proto->n_int32_data ? proto->n_int32_data
                                       : proto->n_int64_data;
  if (count != (size_t)elements)
    return sambaStatusMake(SAMBA_INVALID, "the shape has %lld elements, but %zu are stored",
                           (long long)elements, count);

  for (size_t i = 0; i < count; ++i) {
    if (proto->n_float_data) {
      memcpy(out + i * width, &proto->float_data[i], width);
      continue;
    }
    uint64_t bits =
        proto->n_int32_data ? (uint64_t)proto->int32_data[i] : (uint64_t)proto->int64_data[i];
    memcpy(out + i * width, &bits, width);
  }

  return NULL;
}

/* The path as the IR will have it. */
static const char *irPath(SambaImporter *importer, const char *path) {
  const char *folder = importer->options->output_folder;
  if (!folder || path[0] == '/')
    return path;
  const char *result = path;
  sambaStatusFree(sambaPathRelative(&importer->arena, folder, path, &result));
  return result;
}

static bool parseNumber(const char *text, uint64_t *out) {
  char *end;
  *out = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end;
}

/* Whether a component of the path is "..". */
static bool climbs(const char *path) {
  for (const char *at = path; (at = strstr(at, "..")); at += 2)
    if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
      return true;
  return false;
}

/* Data in a file of its own, inside the model's folder. */
static SambaStatus externalRange(SambaImporter *importer, const Onnx__TensorProto *proto,
                                 int64_t bytes, const char **out_path, uint64_t *out_offset) {
  const char *location = NULL;
  uint64_t offset = 0;
  uint64_t length = (uint64_t)bytes;

  for (size_t i = 0; i < proto->n_external_data; ++i) {
    const char *key = proto->external_data[i]->key;
    const char *value = proto->external_data[i]->value;
    if (!key || !value)
      continue;
    bool ok = true;
    if (strcmp(key, "location") == 0)
      location = value;
    else if (strcmp(key, "offset") == 0)
      ok = parseNumber(value, &offset);
    else if (strcmp(key, "length") == 0)
      ok = parseNumber(value, &length);
    if (!ok)
      return sambaStatusMake(SAMBA_INVALID, "external data: '%s' is no number", key);
  }

  if (!location || !*location)
    return sambaStatusMake(SAMBA_INVALID, "external data without a location");
  if (length != (uint64_t)bytes)
    return sambaStatusMake(SAMBA_INVALID, "external data of %llu bytes, but the tensor has %lld",
                           (unsigned long long)length, (long long)bytes);
  if (location[0] == '/' || climbs(location))
    return sambaStatusMake(SAMBA_INVALID,
                           "its data is said to be in %s, but a location must be relative to the "
                           "model's folder and have no '..'; copy the file into the model's folder "
                           "and change the location",
                           sambaOnnxShown(importer, location));
  const char *path = sambaArenaFormat(&importer->arena, "%s%s", importer->folder, location);
  uint64_t size;
  int fd;
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
      sambaInputFileOpenInside(importer->folder, path, &fd, &size), "external data file"));
  close(fd);
  if (offset > size || (uint64_t)bytes > size - offset)
    return sambaStatusMake(SAMBA_INVALID,
                           "external data file %s has %llu bytes, but the tensor needs %lld from "
                           "byte %llu on; the file is cut off",
                           path, (unsigned long long)size, (long long)bytes,
                           (unsigned long long)offset);
  *out_path = path;
  *out_offset = offset;

  return NULL;
}

static SambaStatus materializeInitializer(SambaImporter *importer, SambaOnnxValue *value) {
  const Onnx__TensorProto *proto = value->initializer;
  SambaArgument argument = {.name = value->name, .kind = value->is_weight ? "weight" : "constant"};

  SAMBA_RETURN_IF_ERROR(initializerType(proto, &argument.type));
  int64_t elements = 1, bytes;
  for (uint32_t axis = 0; axis < argument.type.rank; ++axis)
    if (argument.type.dims[axis] < 0 ||
        sambaMulOverflows(elements, argument.type.dims[axis], &elements))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "dimension %u is %lld; it must not be negative or so large", axis,
                             (long long)argument.type.dims[axis]);
  if (sambaMulOverflows(elements, sambaDTypeBytes(argument.type.dtype), &bytes))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the tensor is too large");
  uint8_t *copy = NULL;
  SambaStatus status = NULL;
  if (proto->has_data_location &&
      proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL) {
    status = externalRange(importer, proto, bytes, &argument.file, &argument.file_offset);
    if (!status)
      argument.file = irPath(importer, argument.file);
  } else if (proto->has_raw_data) {
    const SambaOnnxPayload *payload = NULL;
    uint32_t index;
    if (proto->raw_data.len == sizeof index) {
      memcpy(&index, proto->raw_data.data, sizeof index);
      payload = index < importer->skeleton.payloads.size ? &importer->skeleton.payloads.data[index]
                                                         : NULL;
    }

    if (!payload || payload->bytes != (uint64_t)bytes)
      return sambaStatusMake(SAMBA_INVALID, "the tensor needs %lld bytes, but the file holds %llu",
                             (long long)bytes, (unsigned long long)(payload ? payload->bytes : 0));
    argument.file = irPath(importer, importer->path);
    argument.file_offset = payload->offset;
  } else {
    argument.data = copy = sambaAllocate((size_t)bytes);
    status = typedBytes(proto, argument.type.dtype, elements, copy);
  }

  if (!status) {
    value->tensor = sambaTraceArgument(importer->trace, &argument);
    if (value->tensor)
      value->tensor->storage = (SambaStorage){0};
  }

  free(copy);
  return status;
}

SambaStatus sambaOnnxTensor(const SambaOnnxNode *node, uint32_t input, SambaTensor **out_tensor) {
  SAMBA_RETURN_IF_ERROR(needInput(node, input));
  SambaOnnxValue *value = valueOf(node, input);
  SambaStatus status = NULL;

  if (value->sequence)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input %u is a sequence; only operators on sequences take one", input);
  if (!value->tensor && value->initializer && (value->is_weight || !value->constant))
    status = materializeInitializer(node->importer, value);
  else if (!value->tensor && value->constant)
    status = sambaOnnxMaterialize(node->importer, value->constant, &value->tensor);
  if (status) {
    SambaStringRef shown = sambaStringEscape(&node->importer->arena, value->name);
    return sambaStatusAnnotate(status, "input %u, %.*s", input, SAMBA_STRING_ARGS(shown));
  }

  if (value->is_double && sambaOnnxDoubleUse(node) == SAMBA_ONNX_DOUBLE_REFUSED)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "input %u is DOUBLE, which is not supported; only Cast, IsNaN, IsInf "
                           "and changes of shape can "
                           "take what was cast to it",
                           input);
  *out_tensor = value->tensor;

  return value->tensor ? NULL : traceFailure(node);
}

int64_t sambaOnnxInputType(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = valueOf(node, input);
  if (!value || value->constant)
    return value ? value->constant->onnx_type : 0;
  if (value->tensor)
    return sambaOnnxTypeOf(value->tensor->type.dtype);
  return value->initializer ? value->initializer->data_type : 0;
}

SambaStatus sambaOnnxShape(const SambaOnnxNode *node, uint32_t input, uint32_t *out_rank,
                           int64_t *out_dims) {
  SAMBA_RETURN_IF_ERROR(needInput(node, input));
  const SambaOnnxValue *value = valueOf(node, input);

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

  const SambaConstant *constant = sambaOnnxConstant(node, input);
  if (!constant ||
      (constant->is_float && node->version >= 6)) { /* Tile 1 has numbers of the tensor's type */
    const SambaOnnxValue *value = valueOf(node, input);
    SambaStringRef shown = sambaStringEscape(&node->importer->arena, value->name);
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input %u, %.*s, must be integers known at compile time, but depends on data; if it comes "
        "from a graph input, use --bind NAME=FILE or declare the shape of the result",
        input, SAMBA_STRING_ARGS(shown));
  }

  int64_t *copy = SAMBA_ARENA_ARRAY(&node->importer->arena, int64_t, (size_t)constant->count);
  for (int64_t i = 0; i < constant->count; ++i) {
    double real = constant->is_float ? constant->data[i].r : 0;
    copy[i] = !constant->is_float ? constant->data[i].i : fabs(real) < 0x1p62 ? (int64_t)real : -1;
  }

  *out_data = copy;
  *out_size = (size_t)constant->count;
  return NULL;
}

SambaStatus sambaOnnxAxis(int64_t axis, uint32_t rank, uint32_t *out_axis) {
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    return sambaStatusMake(SAMBA_INVALID, "axis %lld is not within the rank %u", (long long)axis,
                           rank);
  *out_axis = (uint32_t)positive;
  return NULL;
}

/* ---- Outputs ---- */

bool sambaOnnxOutputUsed(const SambaOnnxNode *node, uint32_t output) {
  return output < node->output_count && node->proto->output[output] &&
         node->proto->output[output][0];
}

static SambaOnnxValue *outputOf(const SambaOnnxNode *node, uint32_t output) {
  uint32_t index;
  if (!sambaOnnxOutputUsed(node, output) ||
      !sambaStringMapGet(&node->importer->value_names, sambaStringRef(node->proto->output[output]),
                         &index))
    return NULL;
  SambaOnnxValue *value = &node->importer->values.data[index];
  value->defined = true;
  return value;
}

SambaStatus sambaOnnxSetTensor(const SambaOnnxNode *node, uint32_t output, SambaTensor *tensor) {
  if (!tensor)
    return traceFailure(node);
  SambaOnnxValue *value = outputOf(node, output);
  SambaOnnxValue *from = valueOf(node, 0);
  if (value) {
    value->tensor = tensor;
    value->is_double =
        from && from->is_double && sambaOnnxDoubleUse(node) == SAMBA_ONNX_DOUBLE_MOVED;
  }
  return NULL;
}

SambaStatus sambaOnnxSetDouble(const SambaOnnxNode *node, SambaTensor *tensor) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 0, tensor));
  SambaOnnxValue *value = outputOf(node, 0);
  if (value)
    value->is_double = true;
  return NULL;
}

SambaStatus sambaOnnxSetConstant(const SambaOnnxNode *node, uint32_t output,
                                 SambaConstant *constant) {
  SambaOnnxValue *value = outputOf(node, output);
  if (!constant)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the constant result has more than %d elements",
                           SAMBA_ONNX_MAX_FOLDED);
  if (value)
    value->constant = constant;
  return NULL;
}

SambaStatus sambaOnnxSetSame(const SambaOnnxNode *node, uint32_t output, uint32_t input) {
  SAMBA_RETURN_IF_ERROR(needInput(node, input));
  const SambaOnnxValue *from = valueOf(node, input);

  if (!from->tensor && from->initializer && from->is_weight) { /* one argument for both names */
    SambaTensor *tensor;
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &tensor));
  }

  SambaOnnxValue *value = outputOf(node, output);
  if (value) {
    value->tensor = from->tensor;
    value->constant = from->constant;
    value->sequence = from->sequence;
    value->initializer = from->initializer;
    value->is_weight = from->is_weight;
    value->is_double = from->is_double;
  }

  return NULL;
}

SambaStatus sambaOnnxRefuseOutputs(const SambaOnnxNode *node, uint32_t first) {
  for (uint32_t output = first; output < node->output_count; ++output)
    if (sambaOnnxOutputUsed(node, output))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "output %u is not supported; only the first %u can be used", output,
                             first);
  return NULL;
}
