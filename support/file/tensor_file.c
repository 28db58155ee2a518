/* Tensors in files; see tensor_file.h. */
#include "support/file/tensor_file.h"

#include "support/file/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NumPy's names for dtypes, without the byte order character. NumPy has no bf16: its bits are
 * 16-bit unsigned integers (as in ONNX's own data) or raw bytes (as ml_dtypes writes them); the
 * first row of a dtype is the one written. */
static const struct {
  const char *descr;
  SambaDType dtype;
} npyTypes[] = {{"f4", SAMBA_DTYPE_F32},  {"f2", SAMBA_DTYPE_F16}, {"u2", SAMBA_DTYPE_BF16},
                {"V2", SAMBA_DTYPE_BF16}, {"b1", SAMBA_DTYPE_I1},  {"i1", SAMBA_DTYPE_I8},
                {"u1", SAMBA_DTYPE_UI8},  {"i2", SAMBA_DTYPE_I16}, {"i4", SAMBA_DTYPE_I32},
                {"i8", SAMBA_DTYPE_I64},  {"f8", SAMBA_DTYPE_F64}};
enum { npyTypeCount = sizeof npyTypes / sizeof *npyTypes };

/* ONNX TensorProto.DataType. */
static const struct {
  const char *name;
  SambaDType dtype;
} onnxTypes[] = {{"UNDEFINED", SAMBA_DTYPE_COUNT},
                 {"FLOAT", SAMBA_DTYPE_F32},
                 {"UINT8", SAMBA_DTYPE_UI8},
                 {"INT8", SAMBA_DTYPE_I8},
                 {"UINT16", SAMBA_DTYPE_COUNT},
                 {"INT16", SAMBA_DTYPE_I16},
                 {"INT32", SAMBA_DTYPE_I32},
                 {"INT64", SAMBA_DTYPE_I64},
                 {"STRING", SAMBA_DTYPE_COUNT},
                 {"BOOL", SAMBA_DTYPE_I1},
                 {"FLOAT16", SAMBA_DTYPE_F16},
                 {"DOUBLE", SAMBA_DTYPE_COUNT},
                 {"UINT32", SAMBA_DTYPE_COUNT},
                 {"UINT64", SAMBA_DTYPE_COUNT},
                 {"COMPLEX64", SAMBA_DTYPE_COUNT},
                 {"COMPLEX128", SAMBA_DTYPE_COUNT},
                 {"BFLOAT16", SAMBA_DTYPE_BF16},
                 {"FLOAT8E4M3FN", SAMBA_DTYPE_COUNT},
                 {"FLOAT8E4M3FNUZ", SAMBA_DTYPE_COUNT},
                 {"FLOAT8E5M2", SAMBA_DTYPE_COUNT},
                 {"FLOAT8E5M2FNUZ", SAMBA_DTYPE_COUNT},
                 {"UINT4", SAMBA_DTYPE_COUNT},
                 {"INT4", SAMBA_DTYPE_COUNT},
                 {"FLOAT4E2M1", SAMBA_DTYPE_COUNT},
                 {"FLOAT8E8M0", SAMBA_DTYPE_COUNT},
                 {"UINT2", SAMBA_DTYPE_COUNT},
                 {"INT2", SAMBA_DTYPE_COUNT}};
enum {
  onnxTypeCount = sizeof onnxTypes / sizeof *onnxTypes,
  onnxUint16 = 4 /* in files: the bits of bf16 */
};

SambaDType sambaDTypeOfOnnx(int64_t type) {
  return type >= 0 && type < onnxTypeCount ? onnxTypes[type].dtype : SAMBA_DTYPE_COUNT;
}
const char *sambaOnnxTypeName(int64_t type) {
  return type >= 0 && type < onnxTypeCount ? onnxTypes[type].name : "?";
}

static SambaStatus bad(const char *name, const char *what) {
  return sambaStatusMake(SAMBA_INVALID, "%s: %s", name, what);
}

static SambaStatus countElements(const char *name, SambaTensorFile *tensor) {
  tensor->elements = 1;
  for (uint32_t a = 0; a < tensor->rank; ++a)
    if (__builtin_mul_overflow(tensor->elements, (uint64_t)tensor->dims[a], &tensor->elements))
      return bad(name, "the shape has more elements than 64 bits can count");
  if (__builtin_mul_overflow(tensor->elements, (uint64_t)sambaDTypeBytes(tensor->dtype),
                             &tensor->bytes))
    return bad(name, "the shape has more bytes than 64 bits can count");
  return NULL;
}

/* Booleans are one byte, 0 or 1, whatever the file has for true. */
static void normalizeBooleans(SambaTensorFile *tensor) {
  uint8_t *bytes = tensor->data;
  for (uint64_t i = 0; tensor->dtype == SAMBA_DTYPE_I1 && i < tensor->elements; ++i)
    bytes[i] = bytes[i] != 0;
}

/* ---- .npy ---- */

static const char *findKey(const char *header, const char *key) {
  const char *at = strstr(header, key);
  if (!at)
    return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':')
    ++at;
  return at;
}

static SambaStatus parseShape(const char *name, const char *at, SambaTensorFile *tensor) {
  if (*at++ != '(')
    return bad(name, "the .npy header has no shape");
  while (*at && *at != ')') {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    char *end;
    errno = 0;
    unsigned long long dim = strtoull(at, &end, 10);
    if (end == at || *at == '-' || errno || dim > INT64_MAX ||
        tensor->rank == SAMBA_TENSOR_FILE_MAX_RANK)
      return bad(name, "the .npy header has a malformed shape");
    tensor->dims[tensor->rank++] = (int64_t)dim;
    at = end;
  }

  return NULL;
}

/* Column-major data into row-major order. */
static void transposeFortran(const SambaTensorFile *tensor, const uint8_t *source,
                             uint8_t *target) {
  uint32_t size = sambaDTypeBytes(tensor->dtype);
  uint64_t index[SAMBA_TENSOR_FILE_MAX_RANK] = {0};
  for (uint64_t i = 0; i < tensor->elements;
       ++i) { /* i walks the source: the first index fastest */
    uint64_t at = 0;
    for (uint32_t a = 0; a < tensor->rank; ++a)
      at = at * (uint64_t)tensor->dims[a] + index[a];
    memcpy(target + at * size, source + i * size, size);
    for (uint32_t a = 0; a < tensor->rank && ++index[a] == (uint64_t)tensor->dims[a]; ++a)
      index[a] = 0;
  }
}

static SambaStatus parseNpy(const char *name, const uint8_t *data, size_t size, bool allows_f64,
                            SambaArena *arena, SambaTensorFile *out_tensor) {
  memset(out_tensor, 0, sizeof *out_tensor);
  if (size < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
    return bad(name, "not a .npy file: it does not start with \\x93NUMPY");
  bool wide = data[6] >= 2;
  size_t start = wide ? 12 : 10;
  size_t length = data[8] | (size_t)data[9] << 8;

  if (wide && size >= 12)
    length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  if (size < start || length > size - start)
    return bad(name, "the .npy header is cut off");
  char *header = sambaArenaAllocate(arena, length + 1);
  memcpy(header, data + start, length);
  const char *descr = findKey(header, "'descr'");
  const char *order = findKey(header, "'fortran_order'");
  const char *shape = findKey(header, "'shape'");
  if (!descr || !order || !shape || (*descr != '\'' && *descr != '"'))
    return bad(name, "the .npy header lacks descr, fortran_order or shape");
  ++descr;
  bool foreign = *descr == '>';
  if (*descr == '<' || *descr == '|' || *descr == '=' || *descr == '>')
    ++descr;
  out_tensor->dtype = SAMBA_DTYPE_COUNT;
  for (int i = 0; i < npyTypeCount; ++i)
    if (strncmp(descr, npyTypes[i].descr, 2) == 0 && (descr[2] == '\'' || descr[2] == '"'))
      out_tensor->dtype = npyTypes[i].dtype;
  if (out_tensor->dtype == SAMBA_DTYPE_F64 && !allows_f64)
    out_tensor->dtype = SAMBA_DTYPE_COUNT;
  if (out_tensor->dtype == SAMBA_DTYPE_COUNT || (foreign && sambaDTypeBytes(out_tensor->dtype) > 1))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s: elements of type '%s%.*s' are not supported; use little-endian f4, "
                           "f2, b1, i1, u1, i2, i4 or i8",
                           name, foreign ? ">" : "", (int)strcspn(descr, "'\""), descr);
  SAMBA_RETURN_IF_ERROR(parseShape(name, shape, out_tensor));
  SAMBA_RETURN_IF_ERROR(countElements(name, out_tensor));
  const uint8_t *body = data + start + length;
  if (out_tensor->bytes != size - start - length)
    return sambaStatusMake(
        SAMBA_INVALID, "%s: the shape asks for %llu bytes of data, but the file has %llu", name,
        (unsigned long long)out_tensor->bytes, (unsigned long long)(size - start - length));
  out_tensor->data = sambaArenaAllocate(arena, out_tensor->bytes);
  if (strncmp(order, "True", 4) == 0 && out_tensor->rank > 1)
    transposeFortran(out_tensor, body, out_tensor->data);
  else if (out_tensor->bytes)
    memcpy(out_tensor->data, body, out_tensor->bytes);
  normalizeBooleans(out_tensor);

  return NULL;
}

SambaStatus sambaNpyParse(const char *name, const uint8_t *data, size_t size, SambaArena *arena,
                          SambaTensorFile *out_tensor) {
  return parseNpy(name, data, size, false, arena, out_tensor);
}

SambaStatus sambaHostNpyParse(const char *name, const uint8_t *data, size_t size, SambaArena *arena,
                              SambaTensorFile *out_tensor) {
  return parseNpy(name, data, size, true, arena, out_tensor);
}

SambaStatus sambaNpyBegin(const char *path, SambaDType dtype, uint32_t rank, const int64_t *dims,
                          SambaAtomicFile *out_file) {
  const char *descr = "f4";
  for (int i = npyTypeCount; i-- > 0;)
    if (npyTypes[i].dtype == dtype)
      descr = npyTypes[i].descr;
  char shape[SAMBA_TENSOR_FILE_MAX_RANK * 22 + 4], header[sizeof shape + 160];
  size_t at = 0;

  shape[0] = '\0';
  for (uint32_t a = 0; a < rank && a < SAMBA_TENSOR_FILE_MAX_RANK; ++a) {
    at += (size_t)snprintf(shape + at, sizeof shape - at, a == 0 ? "%lld" : ", %lld",
                           (long long)dims[a]);
  }
  if (rank == 1) /* Python's tuple of one */
    snprintf(shape + at, sizeof shape - at, ",");

  /* One-byte elements have no byte order. The data start at a multiple of 64. */
  int length =
      snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
               sambaDTypeBytes(dtype) == 1 ? '|' : '<', descr, shape);
  size_t padded = (10 + (size_t)length + 1 + 63) / 64 * 64;
  uint8_t prefix[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)(padded - 10), (uint8_t)((padded - 10) >> 8)};
  char *text = sambaAllocate(padded);
  memset(text, ' ', padded);
  memcpy(text, prefix, sizeof prefix);
  memcpy(text + 10, header, (size_t)length);
  text[padded - 1] = '\n';

  SambaStatus status = sambaAtomicFileCreate(path, out_file);
  if (!status) {
    status = sambaAtomicFileWrite(out_file, text, padded);
    if (status)
      sambaAtomicFileDiscard(out_file);
  }
  free(text);
  return status;
}

SambaStatus sambaNpyWrite(const char *path, SambaDType dtype, uint32_t rank, const int64_t *dims,
                          const void *data) {
  uint64_t bytes = sambaDTypeBytes(dtype);
  for (uint32_t a = 0; a < rank; ++a)
    bytes *= (uint64_t)dims[a];

  SambaAtomicFile file;
  SAMBA_RETURN_IF_ERROR(sambaNpyBegin(path, dtype, rank, dims, &file));
  SambaStatus status = sambaAtomicFileWrite(&file, data, bytes);
  if (!status)
    return sambaAtomicFileCommit(&file);
  sambaAtomicFileDiscard(&file);
  return status;
}

/* ---- TensorProto ---- */

typedef struct {
  const uint8_t *at, *end;
} Wire;

static bool readVarint(Wire *wire, uint64_t *out_value) {
  *out_value = 0;
  for (unsigned shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
    uint8_t byte = *wire->at++;
    *out_value |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128))
      return true;
  }
  return false;
}

/* A field: varint in *out_value, or bytes in *out_bytes. Fixed32 and fixed64 arrive as bytes. */
static bool readField(Wire *wire, uint32_t *out_number, uint32_t *out_type, uint64_t *out_value,
                      Wire *out_bytes) {
  uint64_t key, length;
  if (!readVarint(wire, &key))
    return false;
  *out_number = (uint32_t)(key >> 3);
  *out_type = key & 7;

  switch (*out_type) {
  case 0:
    return readVarint(wire, out_value);
  case 1:
    length = 8;
    break;
  case 5:
    length = 4;
    break;
  case 2:
    if (!readVarint(wire, &length))
      return false;
    break;
  default:
    return false;
  }

  if (length > (uint64_t)(wire->end - wire->at))
    return false;
  *out_bytes = (Wire){wire->at, wire->at + length};
  wire->at += length;

  return true;
}

typedef struct {
  int64_t type;
  Wire raw;
  bool has_raw;
  uint8_t *elements; /* of typed fields, in the tensor's dtype */
  uint64_t count, capacity;
} Payload;

static bool addElement(const SambaTensorFile *tensor, Payload *payload, uint64_t bits) {
  uint32_t size = sambaDTypeBytes(tensor->dtype);
  if (payload->count == tensor->elements)
    return false;
  memcpy(payload->elements + payload->count++ * size, &bits, size); /* little-endian hosts */
  return true;
}

/* Second pass: float_data (4), int32_data (5), int64_data (7), packed or not. */
static bool readTyped(Wire wire, const SambaTensorFile *tensor, Payload *payload) {
  while (wire.at < wire.end) {
    uint32_t number, type;
    uint64_t value;
    Wire bytes;
    if (!readField(&wire, &number, &type, &value, &bytes))
      return false;
    if (number == 4 && (type == 5 || type == 2)) {
      for (; bytes.end - bytes.at >= 4; bytes.at += 4) {
        uint32_t bits;
        memcpy(&bits, bytes.at, 4);
        if (!addElement(tensor, payload, bits))
          return false;
      }
    } else if ((number == 5 || number == 7) && type == 0) {
      if (!addElement(tensor, payload, value))
        return false;
    } else if ((number == 5 || number == 7) && type == 2) {
      while (bytes.at < bytes.end)
        if (!readVarint(&bytes, &value) || !addElement(tensor, payload, value))
          return false;
    }
  }

  return true;
}

static bool addDim(SambaTensorFile *tensor, uint64_t size) {
  if (tensor->rank == SAMBA_TENSOR_FILE_MAX_RANK || (int64_t)size < 0)
    return false;
  tensor->dims[tensor->rank++] = (int64_t)size;
  return true;
}

static bool readPackedDims(Wire bytes, SambaTensorFile *tensor) {
  uint64_t size;
  while (bytes.at < bytes.end)
    if (!readVarint(&bytes, &size) || !addDim(tensor, size))
      return false;
  return true;
}

SambaStatus sambaTensorProtoParse(const char *name, const uint8_t *data, size_t size,
                                  SambaArena *arena, SambaTensorFile *out_tensor) {
  memset(out_tensor, 0, sizeof *out_tensor);
  Payload payload = {0};
  Wire wire = {data, data + size};

  while (wire.at < wire.end) {
    uint32_t number, type;
    uint64_t value = 0;
    Wire bytes = {0};
    if (!readField(&wire, &number, &type, &value, &bytes))
      return bad(name, "not a serialized TensorProto, or cut off");
    if (number == 1) {
      if (!(type == 2 ? readPackedDims(bytes, out_tensor) : addDim(out_tensor, value)))
        return bad(name, "the tensor has a malformed shape");
    } else if (number == 2 && type == 0) {
      payload.type = (int64_t)value;
    } else if (number == 9 && type == 2) {
      payload.raw = bytes;
      payload.has_raw = true;
    } else if (number == 13 || (number == 14 && type == 0 && value == 1)) {
      return bad(name, "tensors with external data are not supported in tensor files");
    }
  }

  out_tensor->dtype =
      payload.type == onnxUint16 ? SAMBA_DTYPE_BF16 : sambaDTypeOfOnnx(payload.type);
  if (out_tensor->dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s: elements of type %s (%lld) are not supported",
                           name, sambaOnnxTypeName(payload.type), (long long)payload.type);
  SAMBA_RETURN_IF_ERROR(countElements(name, out_tensor));
  uint64_t raw_bytes = payload.has_raw ? (uint64_t)(payload.raw.end - payload.raw.at) : 0;
  if (out_tensor->bytes > (payload.has_raw && raw_bytes
                               ? raw_bytes
                               : (uint64_t)size * 8)) /* before anything is allocated */
    return bad(name, "the shape asks for more data than the file has");
  out_tensor->data = sambaArenaAllocate(arena, out_tensor->bytes);
  payload.elements = out_tensor->data;
  if (payload.has_raw && (raw_bytes || !out_tensor->bytes)) {
    if (raw_bytes != out_tensor->bytes)
      return sambaStatusMake(
          SAMBA_INVALID, "%s: the shape asks for %llu bytes of data, but the file has %llu", name,
          (unsigned long long)out_tensor->bytes, (unsigned long long)raw_bytes);
    if (raw_bytes)
      memcpy(out_tensor->data, payload.raw.at, raw_bytes);
    normalizeBooleans(out_tensor);
    return NULL;
  }

  if (!readTyped((Wire){data, data + size}, out_tensor, &payload) ||
      payload.count != out_tensor->elements)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: the shape asks for %llu elements, but the file has another number",
                           name, (unsigned long long)out_tensor->elements);
  normalizeBooleans(out_tensor);

  return NULL;
}

SambaStatus sambaTensorFileRead(const char *path, SambaArena *arena, SambaTensorFile *out_tensor) {
  size_t length = strlen(path);
  bool npy = length > 4 && strcmp(path + length - 4, ".npy") == 0,
       pb = length > 3 && strcmp(path + length - 3, ".pb") == 0;
  if (!npy && !pb)
    return bad(path, "a tensor file ends in .npy or .pb");
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  struct stat information;
  if (fd < 0 || fstat(fd, &information) < 0 || !S_ISREG(information.st_mode)) {
    SambaStatus status =
        sambaStatusMake(SAMBA_IO, "%s: %s", path, fd < 0 ? strerror(errno) : "not a regular file");
    if (fd >= 0)
      close(fd);
    return status;
  }

  uint8_t *data = NULL;
  size_t size = (size_t)information.st_size;
  SambaStatus status = sambaInputFileRead(fd, path, size, &data);
  close(fd);
  if (!status)
    status = npy ? sambaNpyParse(path, data, size, arena, out_tensor)
                 : sambaTensorProtoParse(path, data, size, arena, out_tensor);
  free(data);

  return status;
}
