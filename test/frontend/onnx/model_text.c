/* ONNX models from short texts; see model_text.h. Field numbers are those of onnx.proto. */
#include "test/frontend/onnx/model_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  uint8_t data[1 << 16];
  size_t size;
} Bytes;

static void put(Bytes *b, const void *data, size_t size) {
  assert_true(b->size + size <= sizeof b->data);
  memcpy(b->data + b->size, data, size);
  b->size += size;
}
static void varint(Bytes *b, uint64_t value) {
  do {
    uint8_t byte = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
    put(b, &byte, 1);
    value >>= 7;
  } while (value);
}
static void number(Bytes *b, int field, int64_t value) {
  varint(b, (uint64_t)field << 3);
  varint(b, (uint64_t)value);
}
static void bytes(Bytes *b, int field, const void *data, size_t size) {
  varint(b, (uint64_t)field << 3 | 2);
  varint(b, size);
  put(b, data, size);
}
static void text(Bytes *b, int field, const char *value) { bytes(b, field, value, strlen(value)); }
static void message(Bytes *b, int field, Bytes *inner) {
  bytes(b, field, inner->data, inner->size);
  free(inner);
}
static Bytes *new(void) { return calloc(1, sizeof(Bytes)); }

static int typeNumber(const char *name) {
  static const struct {
    const char *name;
    int number;
  } types[] = {{"f32", 1},   {"ui8", 2},  {"i8", 3},  {"i16", 5},    {"f16", 10},
               {"bf16", 16}, {"i32", 6},  {"i64", 7}, {"string", 8}, {"bool", 9},
               {"f64", 11},  {"u32", 12}, {"seq", 1}, {"?", 0}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (strcmp(name, types[i].name) == 0)
      return types[i].number;
  fail_msg("no type %s", name);
  return 0;
}

static int tensorType(Bytes *b, const char *type, const char *dims) {
  int type_number = typeNumber(type);
  for (const char *at = dims; *at && *at != '-'; at += *at == 'x')
    number(b, 1, strtoll(at, (char **)&at, 10));
  number(b, 2, type_number);
  return type_number;
}

/* TYPE DIMS VALUES.. from strtok_r's rest; values as raw_data. */
static void tensor(Bytes *b, const char *type, const char *dims, char **rest) {
  int type_number = tensorType(b, type, dims);
  Bytes *raw = new();
  for (char *word; (word = strtok_r(NULL, " }", rest));) {
    float single = strtof(word, NULL);
    double real = strtod(word, NULL);
    int64_t whole = strtoll(word, NULL, 10);
    if (type_number == 1)
      put(raw, &single, 4);
    else if (type_number == 11)
      put(raw, &real, 8);
    else if (type_number == 9)
      put(raw, &whole, 1);
    else
      put(raw, &whole, type_number == 7 ? 8 : 4);
  }

  message(b, 9, raw);
}

static Bytes *valueInfo(const char *name, const char *type, const char *dims) {
  Bytes *info = new();
  Bytes *outer = new();
  Bytes *inner = new();
  text(info, 1, name);
  number(inner, 1, typeNumber(type));
  if (strcmp(dims, "none") != 0) {
    Bytes *shape = new();
    for (const char *at = dims; *at && *at != '-';) {
      Bytes *dim = new();
      size_t length = strcspn(at, "x");
      if (*at >= '0' && *at <= '9')
        number(dim, 1, strtoll(at, NULL, 10));
      else if (*at != '?')
        bytes(dim, 2, at, length);
      message(shape, 1, dim);
      at += length + (at[length] == 'x');
    }
    message(inner, 2, shape);
  }

  message(outer, strcmp(type, "seq") == 0 ? 4 : 1, inner);
  message(info, 2, outer);
  return info;
}

static void attribute(Bytes *node, char *word) {
  Bytes *a = new();
  char *value = strchr(word, '=');
  char *rest;

  *value++ = 0;
  text(a, 1, word);
  if (*value == '[') {
    for (char *item = strtok_r(value, "[,]", &rest); item; item = strtok_r(NULL, "[,]", &rest))
      number(a, 8, strtoll(item, NULL, 10));
    number(a, 20, 7);
  } else if (*value == '?') {
    number(a, 20, strtoll(value + 1, NULL, 10));
  } else if (*value == '\'') {
    bytes(a, 4, value + 1, strlen(value) - 2);
    number(a, 20, 3);
  } else if (*value == '{') {
    for (char *at = value; *at; ++at)
      *at = *at == ',' ? ' ' : *at;
    Bytes *t = new();
    char *type = strtok_r(value, "{ ", &rest);
    char *dims = strtok_r(NULL, " }", &rest);
    tensor(t, type, dims, &rest);
    message(a, 5, t);
    number(a, 20, 4);
  } else if (strchr(value, '.')) {
    float single = strtof(value, NULL);
    varint(a, 2 << 3 | 5);
    put(a, &single, 4);
    number(a, 20, 1);
  } else {
    number(a, 3, strtoll(value, NULL, 10));
    number(a, 20, 2);
  }

  message(node, 5, a);
}

static void names(Bytes *node, int field, char *list) {
  char *rest;
  for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    text(node, field, strcmp(name, "_") == 0 ? "" : name);
}

static void opset(Bytes *model, char **rest) {
  Bytes *set = new();
  char *word = strtok_r(NULL, " ", rest);
  char *second = strtok_r(NULL, " ", rest);
  if (second)
    text(set, 1, word);
  number(set, 2, strtoll(second ? second : word, NULL, 10));
  message(model, 8, set);
}

/* A name with its type, in a field of the graph; an output may leave the type out. */
static void value(Bytes *graph, int field, char **rest) {
  char *name = strtok_r(NULL, " ", rest);
  char *type = strtok_r(NULL, " ", rest);
  char *dims = strtok_r(NULL, " ", rest);
  message(graph, field, valueInfo(name, type ? type : "?", dims ? dims : "none"));
}

/* A tensor with its elements in the line, or in another file. */
static void initializer(Bytes *graph, bool external, char **rest) {
  Bytes *t = new();
  char *name = strtok_r(NULL, " ", rest);
  char *type = strtok_r(NULL, " ", rest);
  char *dims = strtok_r(NULL, " ", rest);

  text(t, 8, name);
  if (!external) {
    tensor(t, type, dims, rest);
    message(graph, 5, t);
    return;
  }

  tensorType(t, type, dims);
  for (char *word; (word = strtok_r(NULL, " ", rest));) {
    Bytes *entry = new();
    *strchr(word, '=') = 0;
    text(entry, 1, word);
    text(entry, 2, word + strlen(word) + 1);
    message(t, 13, entry);
  }

  number(t, 14, 1);
  message(graph, 5, t);
}

static void nodeOf(Bytes *graph, char **rest) {
  Bytes *node = new();
  char *operator = strtok_r(NULL, " ", rest);
  char *word = strtok_r(NULL, " ", rest);
  char *domain = strchr(operator, ':');

  if (strcmp(word, "->") != 0) {
    names(node, 1, word);
    strtok_r(NULL, " ", rest);
  }
  names(node, 2, strtok_r(NULL, " ", rest));
  if (domain) {
    *domain++ = 0;
    text(node, 7, domain);
  }

  text(node, 3, "n");
  text(node, 4, operator);
  while ((word = strtok_r(NULL, " ", rest)))
    attribute(node, word);
  message(graph, 1, node);
}

static void item(Bytes *model, Bytes *graph, char *line) {
  char *rest;
  char *kind = strtok_r(line, " ", &rest);

  if (!kind)
    return;
  if (strcmp(kind, "opset") == 0)
    opset(model, &rest);
  else if (strcmp(kind, "input") == 0)
    value(graph, 11, &rest);
  else if (strcmp(kind, "output") == 0)
    value(graph, 12, &rest);
  else if (strcmp(kind, "value") == 0)
    value(graph, 13, &rest);
  else if (strcmp(kind, "init") == 0 || strcmp(kind, "extern") == 0)
    initializer(graph, strcmp(kind, "extern") == 0, &rest);
  else
    nodeOf(graph, &rest);
}

uint8_t *modelFromText(const char *source, size_t *out_size) {
  char *copy = strdup(source);
  char *rest;

  Bytes *model = new();
  Bytes *graph = new();
  number(model, 1, 8);
  for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest))
    item(model, graph, line);
  message(model, 7, graph);
  uint8_t *result = malloc(model->size + 1);
  memcpy(result, model->data, model->size);
  *out_size = model->size;
  free(model);
  free(copy);

  return result;
}

char *writeTemporary(const void *data, size_t size, const char *ending) {
  char *path = malloc(64);
  snprintf(path, 64, "/tmp/samba-test-XXXXXX%s", ending);
  int fd = mkstemps(path, (int)strlen(ending));
  assert_true(fd >= 0);
  assert_int_equal(write(fd, data, size), (ssize_t)size);
  close(fd);
  return path;
}
