/* Decisions files; see decision.h. */
#include "backend/decision/decision.h"

#include "support/container/string_map.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { version = 1 };
static const char format[] = "samba-decisions";
static const double largestSection = 2147483647;

/*===-- Writing -------------------------------------------------------------------------------===*/

static cJSON *formatOperator(const SambaOperatorDecision *decision) {
  cJSON *object = cJSON_CreateObject();
  if (decision->section >= 0)
    cJSON_AddNumberToObject(object, "section", (double)decision->section);
  if (decision->parallel)
    cJSON_AddNumberToObject(object, "parallel", decision->parallel);
  if (decision->mapping_count)
    cJSON_AddItemToObject(object, "mapping",
                          cJSON_CreateStringArray((const char *const *)decision->mappings,
                                                  (int)decision->mapping_count));
  return object;
}

void sambaDecisionsPrint(const SambaDecisions *decisions, SambaText *out) {
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "format", format);
  cJSON_AddNumberToObject(root, "version", version);
  cJSON *layers = cJSON_AddObjectToObject(root, "layers");
  for (uint32_t l = 0; l < decisions->count; ++l) {
    const SambaLayerDecisions *layer = &decisions->layers[l];
    if (layer->every) {
      cJSON_AddItemToObject(layers, layer->name, formatOperator(layer->operators));
      continue;
    }
    cJSON *list = cJSON_AddArrayToObject(layers, layer->name);
    for (uint32_t i = 0; i < layer->count; ++i)
      cJSON_AddItemToArray(list, formatOperator(&layer->operators[i]));
  }

  char *text = cJSON_Print(root);
  sambaTextAppendC(out, text);
  sambaTextAppendC(out, "\n");
  cJSON_free(text);
  cJSON_Delete(root);
}

/*===-- Reading -------------------------------------------------------------------------------===*/

typedef struct Reader {
  const char *name;  /* of the file */
  const char *layer; /* that is read */
  SambaArena *arena;
} Reader;

static SambaStatus refuse(const Reader *reader, const char *what, const char *expected) {
  return sambaStatusMake(SAMBA_INVALID, "%s: layer '%s': %s must be %s", reader->name,
                         reader->layer, what, expected);
}

static bool isInteger(const cJSON *item, double least, double most) {
  return cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= most &&
         item->valuedouble == trunc(item->valuedouble);
}

static SambaStatus readMappings(const Reader *reader, const cJSON *list,
                                SambaOperatorDecision *out) {
  static const char expected[] = "a list of texts, #rdu.mapping<...> for each stage";
  int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
  if (!count)
    return refuse(reader, "mapping", expected);
  out->mappings = SAMBA_ARENA_ARRAY(reader->arena, const char *, count);
  const cJSON *item;
  cJSON_ArrayForEach(item, list) {
    if (!cJSON_IsString(item))
      return refuse(reader, "mapping", expected);
    out->mappings[out->mapping_count++] = sambaArenaFormat(reader->arena, "%s", item->valuestring);
  }
  return NULL;
}

static SambaStatus readOperator(const Reader *reader, const cJSON *object,
                                SambaOperatorDecision *out) {
  *out = (SambaOperatorDecision){.section = -1};
  if (!cJSON_IsObject(object))
    return refuse(reader, "an entry", "an object with section, parallel or mapping");
  const cJSON *item;
  cJSON_ArrayForEach(item, object) {
    if (strcmp(item->string, "section") == 0) {
      if (!isInteger(item, 0, largestSection))
        return refuse(reader, "section", "a whole number from 0 on");
      out->section = (int64_t)item->valuedouble;
    } else if (strcmp(item->string, "parallel") == 0) {
      if (!isInteger(item, 1, SAMBA_MOST_PARALLEL_DIVISOR))
        return refuse(reader, "parallel", "a whole number from 1 to 4096");
      out->parallel = (uint32_t)item->valuedouble;
    } else if (strcmp(item->string, "mapping") == 0) {
      SAMBA_RETURN_IF_ERROR(readMappings(reader, item, out));
    } else {
      return sambaStatusMake(SAMBA_INVALID,
                             "%s: layer '%s': there is no '%s' to decide; section, parallel and "
                             "mapping are",
                             reader->name, reader->layer, item->string);
    }
  }
  return NULL;
}

static SambaStatus readLayer(const Reader *reader, const cJSON *value, SambaLayerDecisions *out) {
  *out = (SambaLayerDecisions){.name = reader->layer, .every = !cJSON_IsArray(value)};
  out->count = out->every ? 1 : (uint32_t)cJSON_GetArraySize(value);
  out->operators = SAMBA_ARENA_ARRAY(reader->arena, SambaOperatorDecision, out->count + 1);
  if (out->every)
    return readOperator(reader, value, out->operators);
  const cJSON *item;
  uint32_t at = 0;
  cJSON_ArrayForEach(item, value)
      SAMBA_RETURN_IF_ERROR(readOperator(reader, item, &out->operators[at++]));
  return NULL;
}

static SambaStatus readLayers(Reader *reader, const cJSON *layers, SambaStringMap *names,
                              SambaDecisions *out) {
  out->layers =
      SAMBA_ARENA_ARRAY(reader->arena, SambaLayerDecisions, cJSON_GetArraySize(layers) + 1);
  const cJSON *item;
  cJSON_ArrayForEach(item, layers) {
    reader->layer = sambaArenaFormat(reader->arena, "%s", item->string);
    if (!sambaStringMapInsert(names, sambaStringRef(reader->layer), out->count, NULL))
      return sambaStatusMake(SAMBA_INVALID, "%s: layer '%s' is there twice", reader->name,
                             reader->layer);
    SAMBA_RETURN_IF_ERROR(readLayer(reader, item, &out->layers[out->count++]));
  }
  return NULL;
}

static SambaStatus readRoot(Reader *reader, const cJSON *root, SambaDecisions *out) {
  const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "format"));
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(root, "version");
  const cJSON *layers = cJSON_GetObjectItemCaseSensitive(root, "layers");
  if (!found || strcmp(found, format) != 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: \"format\" is not \"%s\"; --dump-decisions writes such files",
                           reader->name, format);
  if (!isInteger(number, version, version))
    return sambaStatusMake(SAMBA_INVALID, "%s: \"version\" is not %d, the one that is known here",
                           reader->name, version);
  if (!cJSON_IsObject(layers))
    return sambaStatusMake(SAMBA_INVALID, "%s: \"layers\" is no object with names of layers",
                           reader->name);
  SambaStringMap names = {0};
  SambaStatus status = readLayers(reader, layers, &names, out);
  sambaStringMapFree(&names);
  return status;
}

static SambaStatus notJson(const char *name, const char *data, const char *place) {
  uint32_t line = 1, column = 1;
  for (; data < place; ++data, ++column)
    if (*data == '\n')
      ++line, column = 0;
  return sambaStatusMake(SAMBA_INVALID,
                         "%s:%u:%u: this is no JSON; --dump-decisions writes what a "
                         "decisions file looks like",
                         name, line, column);
}

SambaStatus sambaDecisionsRead(const char *name, const char *data, size_t size, SambaArena *arena,
                               SambaDecisions *out_decisions) {
  *out_decisions = (SambaDecisions){0};
  const char *end = data;
  cJSON *root = cJSON_ParseWithLengthOpts(data, size, &end, false);
  if (!root)
    return notJson(name, data, end && end <= data + size ? end : data);
  for (; end < data + size; ++end)
    if (!strchr(" \t\r\n", *end)) {
      cJSON_Delete(root);
      return notJson(name, data, end);
    }

  Reader reader = {.name = name, .arena = arena};
  SambaStatus status = readRoot(&reader, root, out_decisions);
  cJSON_Delete(root);
  return status;
}
