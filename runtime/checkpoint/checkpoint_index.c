/* The index of a checkpoint as JSON; see checkpoint_index.h. */
#include "runtime/checkpoint/checkpoint_index.h"

#include "support/base/version.h"
#include "support/container/string_map.h"
#include "support/text/text.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { version = 1, longestFileName = 200 };
static const char format[] = "samba-checkpoint";
static const double largestInteger = 9007199254740992; /* 2^53: JSON's numbers are doubles */

/* ---- Writing ---- */

static void addText(cJSON *object, const char *key, SambaStringRef text) {
  SambaText copy = {0};
  sambaTextAppend(&copy, text.data, text.size);
  cJSON_AddStringToObject(object, key, sambaTextGet(&copy));
  sambaTextFree(&copy);
}

/* All 64 bits: as text, since a number of JSON has 53. */
static void addBits(cJSON *object, const char *key, uint64_t bits) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)bits);
  cJSON_AddStringToObject(object, key, text);
}

static cJSON *formatTensor(const SambaCheckpointTensor *tensor) {
  cJSON *object = cJSON_CreateObject();
  addText(object, "name", tensor->name);
  addText(object, "kind", tensor->kind);
  cJSON_AddStringToObject(object, "dtype", sambaDTypeName(tensor->dtype));
  cJSON *shape = cJSON_AddArrayToObject(object, "shape");
  for (uint32_t a = 0; a < tensor->rank; ++a)
    cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)tensor->dims[a]));
  addText(object, "file", tensor->file);
  return object;
}

char *sambaCheckpointIndexFormat(const SambaCheckpointIndex *index) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "format", format);
  cJSON_AddNumberToObject(root, "version", version);
  cJSON_AddStringToObject(root, "producer", "samba " SAMBA_VERSION);
  cJSON_AddNumberToObject(root, "step", (double)index->step);
  cJSON *random = cJSON_AddObjectToObject(root, "random");
  addBits(random, "seed", index->seed);
  addBits(random, "state", index->generator);

  cJSON *hyperparameters = cJSON_AddArrayToObject(root, "hyperparameters");
  for (uint32_t i = 0; i < index->hyperparameter_count; ++i) {
    cJSON *object = cJSON_CreateObject();
    addText(object, "name", index->hyperparameters[i].name);
    cJSON_AddNumberToObject(object, "value", index->hyperparameters[i].value);
    cJSON_AddBoolToObject(object, "given", index->hyperparameters[i].given);
    cJSON_AddItemToArray(hyperparameters, object);
  }

  cJSON *tensors = cJSON_AddArrayToObject(root, "tensors");
  for (uint32_t i = 0; i < index->tensor_count; ++i)
    cJSON_AddItemToArray(tensors, formatTensor(&index->tensors[i]));
  char *text = cJSON_Print(root);
  cJSON_Delete(root);
  return text;
}

SambaStringRef sambaCheckpointFileName(SambaArena *arena, SambaStringRef name, uint32_t number) {
  SambaText text = {0};
  for (size_t i = 0; i < name.size; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    bool plain = c < 128 && (isalnum(c) || c == '_' || c == '-' || (c == '.' && i));
    sambaTextFormat(&text, plain ? "%c" : "%%%02X", c);
  }

  /* "%-" is in no name that is written as it is. */
  if (text.size > longestFileName || !text.size) {
    sambaTextClear(&text);
    sambaTextFormat(&text, "%%-%u", number);
  }
  sambaTextAppendC(&text, ".npy");
  size_t size = text.size;
  return (SambaStringRef){sambaTextToArena(&text, arena), size};
}

/* ---- Reading ---- */

typedef struct {
  const char *name; /* of the file */
  SambaArena *arena;
} Reader;

static SambaStatus refuse(const Reader *reader, const char *what, const char *expected) {
  return sambaStatusMake(SAMBA_INVALID, "%s: %s is not %s; the checkpoint is damaged", reader->name,
                         what, expected);
}

static SambaStatus readText(const Reader *reader, const cJSON *object, const char *key,
                            SambaStringRef *out_text) {
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
  if (!text)
    return refuse(reader, key, "a text");
  *out_text = sambaStringRefCopy(reader->arena, sambaStringRef(text));
  return NULL;
}

static bool isInteger(const cJSON *item, double most) {
  return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble <= most &&
         item->valuedouble == trunc(item->valuedouble);
}

static SambaStatus readBits(const Reader *reader, const cJSON *object, const char *key,
                            uint64_t *out_bits) {
  SambaStringRef text = {0};
  char *end;
  SAMBA_RETURN_IF_ERROR(readText(reader, object, key, &text));
  errno = 0;
  *out_bits = strtoull(text.data, &end, 10);
  if (!isdigit((unsigned char)text.data[0]) || *end || errno)
    return refuse(reader, key, "a number of 64 bits");
  return NULL;
}

static SambaStatus readHyperparameter(const Reader *reader, const cJSON *object,
                                      SambaCheckpointHyperparameter *out) {
  SAMBA_RETURN_IF_ERROR(readText(reader, object, "name", &out->name));
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, "value");
  const cJSON *given = cJSON_GetObjectItemCaseSensitive(object, "given");
  if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble))
    return refuse(reader, "value", "a number");
  if (!cJSON_IsBool(given))
    return refuse(reader, "given", "true or false");
  out->value = value->valuedouble;
  out->given = cJSON_IsTrue(given);
  return NULL;
}

static SambaStatus readShape(const Reader *reader, const cJSON *shape,
                             SambaCheckpointTensor *out_tensor) {
  static const char wanted[] = "a list of at most 32 sizes";
  const cJSON *size;
  if (!cJSON_IsArray(shape))
    return refuse(reader, "shape", wanted);
  cJSON_ArrayForEach(size, shape) {
    if (out_tensor->rank == SAMBA_TENSOR_FILE_MAX_RANK || !isInteger(size, largestInteger))
      return refuse(reader, "shape", wanted);
    out_tensor->dims[out_tensor->rank++] = (uint64_t)size->valuedouble;
  }
  return NULL;
}

/* A name in the folder, which leads nowhere else. */
static SambaStatus checkFile(const Reader *reader, SambaStringRef file) {
  bool is_plain = file.size > 4 && file.data[0] != '.' && !memchr(file.data, '/', file.size) &&
                  memcmp(file.data + file.size - 4, ".npy", 4) == 0;
  if (is_plain)
    return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "%s: '%.*s' is no name of a .npy file in the folder of the checkpoint",
                         reader->name, SAMBA_STRING_ARGS(file));
}

static SambaStatus readTensor(const Reader *reader, const cJSON *object,
                              SambaCheckpointTensor *out) {
  static const char *const kinds[] = {"weight", "buffer", "optimizer_state", NULL};
  SambaStringRef dtype = {0};
  SAMBA_RETURN_IF_ERROR(readText(reader, object, "name", &out->name));
  SAMBA_RETURN_IF_ERROR(readText(reader, object, "kind", &out->kind));
  SAMBA_RETURN_IF_ERROR(readText(reader, object, "dtype", &dtype));
  SAMBA_RETURN_IF_ERROR(readText(reader, object, "file", &out->file));
  if (!sambaStringRefIsOneOf(out->kind, kinds))
    return refuse(reader, "kind", "weight, buffer or optimizer_state");
  out->dtype = sambaDTypeFromName(dtype.data, dtype.size);
  if (out->dtype == SAMBA_DTYPE_COUNT)
    return refuse(reader, "dtype", "a type of Samba");
  SAMBA_RETURN_IF_ERROR(checkFile(reader, out->file));
  return readShape(reader, cJSON_GetObjectItemCaseSensitive(object, "shape"), out);
}

/* A list of objects; out_count: how many. */
static SambaStatus findList(const Reader *reader, const cJSON *root, const char *key,
                            const cJSON **out_list, uint32_t *out_count) {
  *out_list = cJSON_GetObjectItemCaseSensitive(root, key);
  if (!cJSON_IsArray(*out_list))
    return refuse(reader, key, "a list");
  *out_count = (uint32_t)cJSON_GetArraySize(*out_list);
  return NULL;
}

static SambaStatus addName(const Reader *reader, SambaStringMap *names, SambaStringRef name) {
  if (sambaStringMapInsert(names, name, 0, NULL))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "%s: '%.*s' is there twice; the checkpoint is damaged",
                         reader->name, SAMBA_STRING_ARGS(name));
}

static SambaStatus readLists(const Reader *reader, const cJSON *root, SambaStringMap *names,
                             SambaStringMap *tensors, SambaCheckpointIndex *out) {
  const cJSON *list, *item;
  uint32_t at = 0;
  SAMBA_RETURN_IF_ERROR(
      findList(reader, root, "hyperparameters", &list, &out->hyperparameter_count));
  out->hyperparameters = SAMBA_ARENA_ARRAY(reader->arena, SambaCheckpointHyperparameter,
                                           out->hyperparameter_count + 1);
  cJSON_ArrayForEach(item, list) {
    SambaCheckpointHyperparameter *hyperparameter = &out->hyperparameters[at++];
    SAMBA_RETURN_IF_ERROR(readHyperparameter(reader, item, hyperparameter));
    SAMBA_RETURN_IF_ERROR(addName(reader, names, hyperparameter->name));
  }

  at = 0;
  SAMBA_RETURN_IF_ERROR(findList(reader, root, "tensors", &list, &out->tensor_count));
  out->tensors = SAMBA_ARENA_ARRAY(reader->arena, SambaCheckpointTensor, out->tensor_count + 1);
  cJSON_ArrayForEach(item, list) {
    SambaCheckpointTensor *tensor = &out->tensors[at++];
    SAMBA_RETURN_IF_ERROR(readTensor(reader, item, tensor));
    SAMBA_RETURN_IF_ERROR(addName(reader, tensors, tensor->name));
  }
  return NULL;
}

static SambaStatus readRoot(const Reader *reader, const cJSON *root, SambaCheckpointIndex *out) {
  const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "format"));
  if (!word || strcmp(word, format) != 0)
    return refuse(reader, "format", "samba-checkpoint");
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(root, "version");
  if (!isInteger(number, largestInteger) || number->valuedouble < 1)
    return refuse(reader, "version", "a whole number");
  if (number->valuedouble > version)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "%s: version %.0f of checkpoints is newer than this program, which reads "
        "version %d",
        reader->name, number->valuedouble, version);

  const cJSON *step = cJSON_GetObjectItemCaseSensitive(root, "step");
  if (!isInteger(step, largestInteger))
    return refuse(reader, "step", "a whole number");
  out->step = (uint64_t)step->valuedouble;
  const cJSON *random = cJSON_GetObjectItemCaseSensitive(root, "random");
  SAMBA_RETURN_IF_ERROR(readBits(reader, random, "seed", &out->seed));
  SAMBA_RETURN_IF_ERROR(readBits(reader, random, "state", &out->generator));

  SambaStringMap names = {0}, tensors = {0};
  SambaStatus status = readLists(reader, root, &names, &tensors, out);
  sambaStringMapFree(&names);
  sambaStringMapFree(&tensors);
  return status;
}

SambaStatus sambaCheckpointIndexParse(const char *name, const void *data, size_t size,
                                      SambaArena *arena, SambaCheckpointIndex *out_index) {
  const Reader reader = {name, arena};
  *out_index = (SambaCheckpointIndex){0};
  const char *end = NULL;
  cJSON *root = cJSON_ParseWithLengthOpts(data, size, &end, false);
  if (!root)
    return sambaStatusMake(SAMBA_INVALID, "%s: is damaged: it is no JSON from byte %zu on", name,
                           end ? (size_t)(end - (const char *)data) : 0);
  SambaStatus status = readRoot(&reader, root, out_index);
  cJSON_Delete(root);
  return status;
}
