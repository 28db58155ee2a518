/* Tensors that the model holds: read as constants, or described as arguments whose data stay in the
 * model's file or in a file beside it. */
#include "frontend/onnx/core/importer.h"
#include "support/file/input_file.h"
#include "support/file/path.h"
#include "support/file/tensor_file.h"
#include "support/number/dtype.h"

#include <stdlib.h>
#include <unistd.h>

/* Initializers of floats are weights from two elements on: they are not looked at. */
enum { KNOWN_FLOATS = 1 };

/* ---- Elements of typed fields ---- */

/* Elements in the typed field that is filled, of those that hold what Samba computes with. */
static size_t typedElements(const Onnx__TensorProto *proto) {
  if (proto->n_float_data)
    return proto->n_float_data;
  return proto->n_int32_data ? proto->n_int32_data : proto->n_int64_data;
}

/* Element i of the field of integers that is filled; 0 when the elements are floats. */
static uint64_t integerBits(const Onnx__TensorProto *proto, size_t i) {
  if (proto->n_int32_data)
    return (uint64_t)proto->int32_data[i];
  if (proto->n_int64_data)
    return (uint64_t)proto->int64_data[i];
  return proto->n_uint64_data ? proto->uint64_data[i] : 0;
}

/* ---- As constants ---- */

SambaStatus sambaOnnxReadConstant(SambaImporter *importer, const Onnx__TensorProto *proto,
                                  SambaConstant **out_constant) {
  *out_constant = NULL;
  bool external = proto->has_data_location &&
                  proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  uint32_t width = sambaOnnxTypeBytes(proto->data_type);
  uint32_t index;

  if (external || !width || proto->n_dims > SAMBA_MAX_RANK)
    return NULL;
  SambaConstant *constant =
      sambaConstantNew(&importer->arena, proto->data_type, (uint32_t)proto->n_dims, proto->dims);
  if (!constant)
    return NULL;
  if (proto->has_raw_data && proto->raw_data.len == sizeof index) {
    memcpy(&index, proto->raw_data.data, sizeof index);
    const SambaOnnxPayload *payload =
        index < importer->skeleton.payloads.size ? &importer->skeleton.payloads.data[index] : NULL;
    if (!payload || payload->bytes != (uint64_t)constant->count * width)
      return sambaStatusMake(SAMBA_INVALID, "tensor %s needs %lld bytes, but the file holds %llu",
                             sambaOnnxShown(importer, proto->name),
                             (long long)constant->count * width,
                             (unsigned long long)(payload ? payload->bytes : 0));
    *out_constant = sambaConstantFromBytes(&importer->arena, proto->data_type, constant->rank,
                                           constant->dims, importer->file + payload->offset);
    return NULL;
  }

  size_t stored = typedElements(proto);
  if (!stored)
    stored = proto->n_double_data ? proto->n_double_data : proto->n_uint64_data;
  if (stored != (size_t)constant->count)
    return sambaStatusMake(SAMBA_INVALID, "tensor %s has %lld elements, but %zu are stored",
                           sambaOnnxShown(importer, proto->name), (long long)constant->count,
                           stored);

  for (size_t i = 0; i < stored; ++i) {
    uint64_t bits = integerBits(proto, i);
    if (proto->n_float_data || proto->n_double_data) {
      double real = proto->n_float_data ? (double)proto->float_data[i] : proto->double_data[i];
      constant->data[i] = sambaNumberConvert((SambaNumber){.r = real}, true, proto->data_type);
    } else if (constant->is_float) { /* halves are stored as their bits */
      SambaDType dtype = sambaDTypeOfOnnx(proto->data_type);
      constant->data[i].r = (double)sambaBitsToFloat(dtype, (uint32_t)bits);
    } else {
      constant->data[i] =
          sambaNumberConvert((SambaNumber){.i = (int64_t)bits}, false, proto->data_type);
    }
  }

  *out_constant = constant;
  return NULL;
}

SambaStatus sambaOnnxDeclareInitializer(SambaImporter *importer, const char *name,
                                        const Onnx__TensorProto *proto) {
  SambaOnnxValue *value = sambaOnnxValueAt(importer, name);
  if (value->defined)
    return sambaStatusMake(SAMBA_INVALID, "initializer %s is defined twice",
                           sambaOnnxShown(importer, proto->name));
  value->initializer = proto;
  value->is_weight = value->defined = true;
  if (sambaOnnxTypeIsFloat(proto->data_type)) {
    int64_t count = 1;
    for (size_t axis = 0; axis < proto->n_dims && count <= KNOWN_FLOATS; ++axis)
      count = proto->dims[axis] > KNOWN_FLOATS ? KNOWN_FLOATS + 1 : count * proto->dims[axis];
    bool empty = false;
    for (size_t axis = 0; axis < proto->n_dims; ++axis)
      empty |= proto->dims[axis] == 0;
    if (count > KNOWN_FLOATS && !empty)
      return NULL;
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxReadConstant(importer, proto, &value->constant));

  /* Single numbers are parameters of formulas rather than weights: they may be folded and appear as
   * constants. */
  bool trained = importer->trains && sambaOnnxTypeIsFloat(proto->data_type);
  if (value->constant && value->constant->count == 1 && value->constant->rank == 0 && !trained)
    value->is_weight = false;
  return NULL;
}

/* ---- As arguments ---- */

SambaDType sambaOnnxDType(SambaImporter *importer, int64_t onnx_type) {
  if (onnx_type != SAMBA_ONNX_DOUBLE || !importer->narrows_double)
    return sambaDTypeOfOnnx(onnx_type);
  ++importer->narrowed;
  return SAMBA_DTYPE_F32;
}

const char *sambaOnnxAboutDouble(int64_t onnx_type) {
  return onnx_type == SAMBA_ONNX_DOUBLE ? "; --f64=f32 makes all DOUBLE f32" : "";
}

SambaStatus sambaOnnxCheckDType(SambaImporter *importer, int64_t onnx_type, SambaDType *out_dtype) {
  *out_dtype = sambaOnnxDType(importer, onnx_type);
  if (*out_dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "element type %s is not supported; convert the model to f32, f16, bf16, bool, int8, uint8, "
        "int16, int32 or int64%s",
        sambaOnnxTypeName(onnx_type), sambaOnnxAboutDouble(onnx_type));
  return NULL;
}

static SambaStatus initializerType(SambaImporter *importer, const Onnx__TensorProto *proto,
                                   SambaTensorType *out_type) {
  *out_type = (SambaTensorType){.rank = (uint32_t)proto->n_dims};
  if (proto->n_dims > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "rank %zu is more than %d", proto->n_dims,
                           SAMBA_MAX_RANK);
  for (size_t axis = 0; axis < proto->n_dims; ++axis)
    out_type->dims[axis] = proto->dims[axis];
  return sambaOnnxCheckDType(importer, proto->data_type, &out_type->dtype);
}

/* Elements that are in the skeleton, one number per element. */
static SambaStatus typedBytes(const Onnx__TensorProto *proto, SambaDType dtype, int64_t elements,
                              uint8_t *out) {
  uint32_t width = sambaDTypeBytes(dtype);
  size_t count = typedElements(proto);
  if (count != (size_t)elements)
    return sambaStatusMake(SAMBA_INVALID, "the shape has %lld elements, but %zu are stored",
                           (long long)elements, count);

  for (size_t i = 0; i < count; ++i) {
    if (proto->n_float_data) {
      memcpy(out + i * width, &proto->float_data[i], width);
      continue;
    }
    uint64_t bits = integerBits(proto, i);
    memcpy(out + i * width, &bits, width);
  }

  return NULL;
}

/* The path as the IR will have it. */
static const char *irPath(SambaImporter *importer, const char *path) {
  const char *folder = importer->output_folder;
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
      return sambaStatusMake(SAMBA_INVALID, "external data: '%s' is not a number", key);
  }

  if (!location || !*location)
    return sambaStatusMake(SAMBA_INVALID,
                           "its external data have no location, which must name the file");
  if (length != (uint64_t)bytes)
    return sambaStatusMake(SAMBA_INVALID,
                           "its external data have %llu bytes, but the tensor needs %lld",
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

static bool isExternal(const Onnx__TensorProto *proto) {
  return proto->has_data_location &&
         proto->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

/* The elements as doubles: `count` of those that the argument's range has, or the typed field. */
static SambaStatus readDoubles(SambaImporter *importer, const Onnx__TensorProto *proto,
                               int64_t count, const SambaArgument *argument, double *out) {
  size_t bytes = (size_t)count * sizeof *out;
  if (!argument->file) {
    if (proto->n_double_data != (size_t)count)
      return sambaStatusMake(SAMBA_INVALID, "the shape has %lld elements, but %zu are stored",
                             (long long)count, proto->n_double_data);
    memcpy(out, proto->double_data, bytes);
    return NULL;
  }
  if (!isExternal(proto)) {
    memcpy(out, importer->file + argument->file_offset, bytes);
    return NULL;
  }

  uint64_t size;
  int fd;
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpenInside(importer->folder, argument->file, &fd, &size));
  uint8_t *data;
  lseek(fd, (off_t)argument->file_offset, SEEK_SET); /* a place in the file: it was checked */
  SambaStatus status = sambaInputFileRead(fd, argument->file, bytes, &data);
  close(fd);
  if (!status) {
    memcpy(out, data, bytes);
    free(data);
  }
  return status;
}

/* DOUBLE as f32: the argument gets numbers of its own instead of a range of a file. */
static SambaStatus narrow(SambaImporter *importer, const Onnx__TensorProto *proto, int64_t count,
                          SambaArgument *argument, uint8_t **out_copy) {
  double *wide = sambaAllocate(sambaArraySize((size_t)count, sizeof *wide));
  SambaStatus status = readDoubles(importer, proto, count, argument, wide);
  float *data = sambaAllocate(sambaArraySize((size_t)count, sizeof *data));

  for (int64_t i = 0; !status && i < count; ++i)
    data[i] = sambaNarrowToFloat(wide[i]);
  free(wide);
  *out_copy = (uint8_t *)data;
  argument->data = data;
  argument->file = NULL;
  argument->file_offset = 0;
  return status;
}

SambaStatus sambaOnnxMaterializeInitializer(SambaImporter *importer, SambaOnnxValue *value) {
  const Onnx__TensorProto *proto = value->initializer;
  SambaArgument argument = {.name = value->name, .kind = value->is_weight ? "weight" : "constant"};

  SAMBA_RETURN_IF_ERROR(initializerType(importer, proto, &argument.type));
  int64_t elements = 1, bytes;
  for (uint32_t axis = 0; axis < argument.type.rank; ++axis)
    if (argument.type.dims[axis] < 0 ||
        sambaMulOverflows(elements, argument.type.dims[axis], &elements))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "dimension %u is %lld: it is negative, or the tensor is too large",
                             axis, (long long)argument.type.dims[axis]);
  if (sambaMulOverflows(elements, sambaOnnxTypeBytes(proto->data_type), &bytes))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "the tensor is too large");
  uint8_t *copy = NULL;
  SambaStatus status = NULL;
  if (isExternal(proto)) {
    status = externalRange(importer, proto, bytes, &argument.file, &argument.file_offset);
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
    argument.file = importer->path;
    argument.file_offset = payload->offset;
  } else if (proto->data_type != SAMBA_ONNX_DOUBLE) {
    argument.data = copy = sambaAllocate((size_t)bytes);
    status = typedBytes(proto, argument.type.dtype, elements, copy);
  }

  if (!status && proto->data_type == SAMBA_ONNX_DOUBLE)
    status = narrow(importer, proto, elements, &argument, &copy);
  if (argument.file)
    argument.file = irPath(importer, argument.file);
  if (!status)
    value->tensor = sambaTraceArgument(importer->trace, &argument);

  free(copy);
  return status;
}
