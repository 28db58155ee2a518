/* The wire scanner; see skeleton.h. Messages are copied level by level; a message whose content shrank gets a new
 * length in front, so each nested message is scanned into place and its length written after it is known. */
#include "frontend/onnx/skeleton.h"

#include <stdlib.h>
#include <string.h>

/* The message types that lead to tensors or that nest; everything else is copied as opaque bytes. */
typedef enum {
  MODEL,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  TRAINING,
  FUNCTION,
  VALUE_INFO,
  TYPE,
  ELEMENT,
  MAP
} Message;

/* X(message, field number, message of that field) from onnx.proto. */
#define NESTED(X)                                                                                                      \
  X(MODEL, 7, GRAPH)                                                                                                   \
  X(MODEL, 20, TRAINING)                                                                                               \
  X(MODEL, 25, FUNCTION)                                                                                               \
  X(TRAINING, 1, GRAPH)                                                                                                \
  X(TRAINING, 2, GRAPH)                                                                                                \
  X(FUNCTION, 7, NODE)                                                                                                 \
  X(GRAPH, 1, NODE)                                                                                                    \
  X(GRAPH, 5, TENSOR)                                                                                                  \
  X(GRAPH, 15, SPARSE)                                                                                                 \
  X(GRAPH, 11, VALUE_INFO)                                                                                             \
  X(GRAPH, 12, VALUE_INFO)                                                                                             \
  X(GRAPH, 13, VALUE_INFO)                                                                                             \
  X(NODE, 5, ATTRIBUTE)                                                                                                \
  X(ATTRIBUTE, 5, TENSOR)                                                                                              \
  X(ATTRIBUTE, 6, GRAPH)                                                                                               \
  X(ATTRIBUTE, 10, TENSOR)                                                                                             \
  X(ATTRIBUTE, 11, GRAPH)                                                                                              \
  X(ATTRIBUTE, 22, SPARSE)                                                                                             \
  X(ATTRIBUTE, 23, SPARSE)                                                                                             \
  X(SPARSE, 1, TENSOR)                                                                                                 \
  X(ATTRIBUTE, 14, TYPE)                                                                                               \
  X(ATTRIBUTE, 15, TYPE)                                                                                               \
  X(VALUE_INFO, 2, TYPE)                                                                                               \
  X(TYPE, 4, ELEMENT)                                                                                                  \
  X(TYPE, 9, ELEMENT)                                                                                                  \
  X(TYPE, 5, MAP)                                                                                                      \
  X(ELEMENT, 1, TYPE)                                                                                                  \
  X(MAP, 2, TYPE)                                                                                                      \
  X(SPARSE, 2, TENSOR)

enum { rawDataField = 9, wireVarint = 0, wire64 = 1, wireBytes = 2, wire32 = 5 };

typedef struct {
  const uint8_t *start;
  SambaOnnxSkeleton *skeleton;
} Scanner;

static bool nestedMessage(Message message, uint64_t field, Message *out_message) {
#define X(outer, number, inner)                                                                                        \
  if (message == outer && field == number) {                                                                           \
    *out_message = inner;                                                                                              \
    return true;                                                                                                       \
  }
  NESTED(X)
#undef X
  return false;
}

static bool readVarint(const uint8_t **at, const uint8_t *end, uint64_t *out_value) {
  *out_value = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    uint8_t byte = *(*at)++;
    *out_value |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128))
      return true;
  }
  return false;
}

static void put(Scanner *scanner, const void *data, size_t size) {
  sambaArrayReserve(&scanner->skeleton->bytes, scanner->skeleton->bytes.size + size);
  if (size)
    memcpy(scanner->skeleton->bytes.data + scanner->skeleton->bytes.size, data, size);
  scanner->skeleton->bytes.size += size;
}

/* A varint of fixed width 5 (or the shortest when wide is false): room for a length that is not known yet. */
static size_t encodeVarint(uint8_t *out, uint64_t value, bool wide) {
  size_t size = 0;
  do {
    uint8_t byte = value & 127;
    value >>= 7;
    bool more = value || (wide && size < 4);
    out[size++] = more ? byte | 128 : byte;
  } while (value || (wide && size < 5));
  return size;
}

static SambaStatus malformed(const Scanner *scanner, const uint8_t *at) {
  return sambaStatusMake(SAMBA_INVALID, "malformed or truncated at byte %llu",
                         (unsigned long long)(at - scanner->start));
}

static SambaStatus scan(Scanner *scanner, const uint8_t *at, const uint8_t *end, Message message, int depth) {
  if (depth > SAMBA_ONNX_MAX_DEPTH)
    return sambaStatusMake(SAMBA_INVALID, "messages are nested deeper than %d at byte %llu", SAMBA_ONNX_MAX_DEPTH,
                           (unsigned long long)(at - scanner->start));
  while (at < end) {
    const uint8_t *field = at;
    uint64_t key, value;
    Message inner;
    if (!readVarint(&at, end, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
      return malformed(scanner, field);
    switch (key & 7) {
    case wireVarint:
      if (!readVarint(&at, end, &value))
        return malformed(scanner, field);
      put(scanner, field, (size_t)(at - field));
      continue;
    case wire64:
    case wire32:
      value = (key & 7) == wire64 ? 8 : 4;
      if (value > (uint64_t)(end - at))
        return malformed(scanner, field);
      at += value;
      put(scanner, field, (size_t)(at - field));
      continue;
    case wireBytes:
      if (!readVarint(&at, end, &value) || value > (uint64_t)(end - at))
        return malformed(scanner, field);
      break;
    default:
      return malformed(scanner, field);
    }
    uint8_t number[16];
    if (message == TENSOR && key >> 3 == rawDataField && value >= SAMBA_ONNX_MARKER_BYTES) {
      SambaOnnxPayload payload = {(uint64_t)(at - scanner->start), value};
      uint64_t index = scanner->skeleton->payloads.size;
      sambaArrayAppend(&scanner->skeleton->payloads, payload);
      put(scanner, number, encodeVarint(number, key, false));
      uint8_t marker[SAMBA_ONNX_MARKER_BYTES] = {0};
      memcpy(marker, &index, sizeof index);
      put(scanner, number, encodeVarint(number, sizeof marker, false));
      put(scanner, marker, sizeof marker);
    } else if (nestedMessage(message, key >> 3, &inner)) {
      if (value >> 35) /* the length field below has 5 bytes */
        return sambaStatusMake(SAMBA_UNSUPPORTED, "a message of more than 32 GiB at byte %llu",
                               (unsigned long long)(field - scanner->start));
      put(scanner, number, encodeVarint(number, key, false));
      size_t length = scanner->skeleton->bytes.size;
      put(scanner, number, encodeVarint(number, 0, true));
      SAMBA_RETURN_IF_ERROR(scan(scanner, at, at + value, inner, depth + 1));
      encodeVarint(scanner->skeleton->bytes.data + length, scanner->skeleton->bytes.size - length - 5, true);
    } else {
      put(scanner, field, (size_t)(at + value - field));
    }
    at += value;
  }
  return NULL;
}

SambaStatus sambaOnnxScan(const uint8_t *data, size_t size, SambaOnnxSkeleton *out_skeleton) {
  Scanner scanner = {data, out_skeleton};
  memset(out_skeleton, 0, sizeof *out_skeleton);
  SambaStatus status = scan(&scanner, data, data + size, MODEL, 0);
  if (status)
    sambaOnnxSkeletonFree(out_skeleton);
  return status;
}

void sambaOnnxSkeletonFree(SambaOnnxSkeleton *skeleton) {
  sambaArrayFree(&skeleton->bytes);
  sambaArrayFree(&skeleton->payloads);
}
