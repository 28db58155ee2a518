/* The scanner of ONNX files; see wire.h. */
#include "frontend/onnx/file/wire.h"

#include <stdlib.h>
#include <string.h>

/* The messages that are looked into. */
typedef enum {
  MODEL,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  VALUE_INFO,
  TYPE,
  SEQUENCE,
  MAP,
  INNER_GRAPH,
  FUNCTION
} Message;

typedef enum {
  COPY,     /* as it is */
  DROP,     /* not needed */
  DESCEND,  /* a message: copied by these rules */
  VALIDATE, /* a message: looked through for depth and lengths, not copied */
  PAYLOAD   /* elements of a tensor */
} Action;

static const struct {
  uint8_t message;
  uint8_t field;
  uint8_t action;
  uint8_t child;
} rules[] = {
    {MODEL, 7, DESCEND, GRAPH},
    {MODEL, 6, DROP, 0},
    {MODEL, 14, DROP, 0},
    {MODEL, 20, DROP, 0},
    {MODEL, 25, DESCEND, FUNCTION},
    {GRAPH, 1, DESCEND, NODE},
    {GRAPH, 5, DESCEND, TENSOR},
    {GRAPH, 10, DROP, 0},
    {GRAPH, 11, DESCEND, VALUE_INFO},
    {GRAPH, 12, DESCEND, VALUE_INFO},
    {GRAPH, 13, DESCEND, VALUE_INFO},
    {GRAPH, 14, DROP, 0},
    {GRAPH, 15, DROP, 0},
    {NODE, 5, DESCEND, ATTRIBUTE},
    {NODE, 6, DROP, 0},
    {ATTRIBUTE, 5, DESCEND, TENSOR},
    {ATTRIBUTE, 10, DESCEND, TENSOR},
    {ATTRIBUTE, 6, DESCEND, GRAPH},
    {ATTRIBUTE, 11, VALIDATE, INNER_GRAPH},
    {ATTRIBUTE, 13, DROP, 0},
    {ATTRIBUTE, 14, VALIDATE, TYPE},
    {ATTRIBUTE, 15, VALIDATE, TYPE},
    {ATTRIBUTE, 22, DROP, 0},
    {ATTRIBUTE, 23, DROP, 0},
    {TENSOR, 9, PAYLOAD, 0},
    {TENSOR, 4, PAYLOAD, 0},
    {TENSOR, 12, DROP, 0},
    {VALUE_INFO, 2, DESCEND, TYPE},
    {VALUE_INFO, 3, DROP, 0},
    {TYPE, 4, VALIDATE, SEQUENCE},
    {TYPE, 5, VALIDATE, MAP},
    {TYPE, 9, VALIDATE, SEQUENCE},
    {TYPE, 8, DROP, 0},
    {TYPE, 7, DROP, 0},
    {SEQUENCE, 1, VALIDATE, TYPE},
    {MAP, 2, VALIDATE, TYPE},
    {FUNCTION, 7, DESCEND, NODE},
    {FUNCTION, 8, DROP, 0},
    {FUNCTION, 12, DROP, 0},
    {FUNCTION, 14, DROP, 0},
    {INNER_GRAPH, 1, VALIDATE, NODE},
    {INNER_GRAPH, 11, VALIDATE, VALUE_INFO},
    {INNER_GRAPH, 12, VALIDATE, VALUE_INFO},
};

typedef struct {
  const uint8_t *start;
  SambaOnnxSkeleton *out;
} Scanner;

static void put(Scanner *scanner, const uint8_t *data, size_t size) {
  sambaArrayReserve(&scanner->out->bytes, scanner->out->bytes.size + size);
  if (size)
    memcpy(scanner->out->bytes.data + scanner->out->bytes.size, data, size);
  scanner->out->bytes.size += size;
}

static void putVarint(Scanner *scanner, uint64_t value) {
  do {
    uint8_t byte = (uint8_t)(value & 127);
    value >>= 7;
    if (value)
      byte |= 128;
    put(scanner, &byte, 1);
  } while (value);
}

/* Lengths that are not known yet are written with all five bytes, which readers accept. */
static void patchLength(Scanner *scanner, size_t at, size_t length) {
  for (int i = 0; i < 5; ++i)
    scanner->out->bytes.data[at + (size_t)i] =
        (uint8_t)((length >> (7 * i) & 127) | (i < 4 ? 128 : 0));
}

static bool readVarint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (*at >= end)
      return false;
    uint8_t byte = *(*at)++;
    *out |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128))
      return true;
  }
  return false;
}

static SambaStatus cutOff(const Scanner *scanner, const uint8_t *at) {
  return sambaStatusMake(
      SAMBA_INVALID,
      "byte %zu: a field runs beyond its message: the file is cut off, damaged or no ONNX model",
      (size_t)(at - scanner->start));
}

static SambaStatus scan(Scanner *scanner, const uint8_t *at, const uint8_t *end, Message message,
                        unsigned depth, bool copying);

/* A length-delimited field: `begin` is its key, [at, at + length) its contents. */
static SambaStatus scanField(Scanner *scanner, const uint8_t *begin, const uint8_t *at,
                             uint64_t length, Message message, uint64_t key, unsigned depth,
                             bool copying) {
  Action action = COPY;
  Message child = MODEL;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
    if (rules[i].message == message && rules[i].field == key >> 3) {
      action = (Action)rules[i].action;
      child = (Message)rules[i].child;
    }
  if (action == DESCEND && copying) {
    putVarint(scanner, key);
    size_t length_at = scanner->out->bytes.size;
    put(scanner, (const uint8_t[5]){0}, 5);
    SAMBA_RETURN_IF_ERROR(scan(scanner, at, at + length, child, depth + 1, true));
    size_t size = scanner->out->bytes.size - length_at - 5;
    if (size > INT32_MAX)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "byte %zu: a message of more than 2 GiB without its payloads",
                             (size_t)(begin - scanner->start));
    patchLength(scanner, length_at, size);
  } else if (action == DESCEND || action == VALIDATE) {
    SAMBA_RETURN_IF_ERROR(scan(scanner, at, at + length, child, depth + 1, false));
  } else if (action == PAYLOAD && copying) {
    uint32_t index = (uint32_t)scanner->out->payloads.size;
    sambaArrayAppend(&scanner->out->payloads,
                     (SambaOnnxPayload){(uint64_t)(at - scanner->start), length});
    putVarint(scanner, 9 << 3 | 2);
    putVarint(scanner, sizeof index);
    put(scanner, (const uint8_t *)&index, sizeof index);
  } else if (action == COPY && copying) {
    put(scanner, begin, (size_t)(at - begin) + length);
  }

  return NULL;
}

static SambaStatus scan(Scanner *scanner, const uint8_t *at, const uint8_t *end, Message message,
                        unsigned depth, bool copying) {
  if (depth > SAMBA_ONNX_MAX_DEPTH)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "byte %zu: messages are nested deeper than %d levels",
                           (size_t)(at - scanner->start), SAMBA_ONNX_MAX_DEPTH);

  while (at < end) {
    const uint8_t *begin = at;
    uint64_t key, value;
    if (!readVarint(&at, end, &key) || key >> 3 == 0)
      return cutOff(scanner, begin);
    switch (key & 7) {
    case 0:
      if (!readVarint(&at, end, &value))
        return cutOff(scanner, begin);
      break;
    case 1:
    case 5: {
      ptrdiff_t width = (key & 7) == 1 ? 8 : 4;
      if (end - at < width)
        return cutOff(scanner, begin);
      at += width;
      break;
    }
    case 2:
      if (!readVarint(&at, end, &value) || value > (uint64_t)(end - at))
        return cutOff(scanner, begin);
      SAMBA_RETURN_IF_ERROR(scanField(scanner, begin, at, value, message, key, depth, copying));
      at += value;
      continue;
    default:
      return cutOff(scanner, begin);
    }
    if (copying)
      put(scanner, begin, (size_t)(at - begin));
  }

  return NULL;
}

SambaStatus sambaOnnxScan(const uint8_t *data, size_t size, SambaOnnxSkeleton *out_skeleton) {
  Scanner scanner = {data, out_skeleton};
  return scan(&scanner, data, data + size, MODEL, 0, true);
}

void sambaOnnxSkeletonFree(SambaOnnxSkeleton *skeleton) {
  sambaArrayFree(&skeleton->bytes);
  sambaArrayFree(&skeleton->payloads);
}
