/* --explain; see explain.h. */
#include "pipeline/explain.h"

#include "backend/pef/image/image.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
#define X(NAME, name, what) FIELD_##NAME,
#include "pipeline/explain_fields.def"
#undef X
  FIELD_COUNT
} Field;

static const struct {
  const char *name, *what;
} fields[] = {
#define X(NAME, name, what) {name, what},
#include "pipeline/explain_fields.def"
#undef X
};

/* What a field is for one section. */
typedef struct Value {
  enum { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT, VALUE_LIST } kind;
  double number;
  SambaStringRef text;
  uint32_t count;
  SambaStringRef *list;
} Value;

static Value number(double value) { return (Value){.kind = VALUE_NUMBER, .number = value}; }

static Value text(SambaStringRef value) {
  return (Value){.kind = value.size ? VALUE_TEXT : VALUE_NONE, .text = value};
}

/* A key of the attribute that tells why the section ends. */
static Value endValue(MlirAttribute end, const char *key) {
  MlirAttribute value = mlirAttributeGetNull();
  if (!mlirAttributeIsNull(end) && mlirAttributeIsADictionary(end))
    value = mlirDictionaryAttrGetElementByName(end, mlirStringRefCreateFromCString(key));
  if (mlirAttributeIsNull(value))
    return (Value){0};
  if (mlirAttributeIsAInteger(value))
    return number((double)mlirIntegerAttrGetValueInt(value));
  if (!mlirAttributeIsAString(value))
    return (Value){0};
  MlirStringRef string = mlirStringAttrGetValue(value);
  return text((SambaStringRef){string.data, string.length});
}

static void readEnd(MlirAttribute end, Value *values) {
  values[FIELD_END] = endValue(end, "reason");
  values[FIELD_NEXT] = endValue(end, "next");
  values[FIELD_WHY] = endValue(end, "why");
  values[FIELD_TOGETHER] = endValue(end, "together");
  values[FIELD_APART] = endValue(end, "apart");
  values[FIELD_MORE] = endValue(end, "more");
}

static void readSection(const SambaPef *pef, const SambaEmittedSections *emitted, uint32_t index,
                        SambaArena *arena, Value *values) {
  const SambaPefSection *section = &pef->sections[index];
  const SambaEmittedSection *known = &emitted->data[section->image];
  const SambaPrediction *prediction = &known->prediction;
  double bytes = (double)section->estimated_read_bytes + (double)section->estimated_write_bytes;
  double busy = prediction->busy.cycles[prediction->bottleneck], calls = 0;
  Value layers = {.kind = VALUE_LIST};

  memset(values, 0, FIELD_COUNT * sizeof *values);
  for (uint32_t c = 0; c < pef->calls_count; ++c)
    calls += pef->calls[c].section == index;
  layers.count = sambaPefImageLayers(&pef->images[section->image], arena, &layers.list);
  values[FIELD_SECTION] = text(section->name);
  values[FIELD_CALLS] = number(calls);
  values[FIELD_LAYERS] = layers.count ? layers : (Value){0};
  values[FIELD_PCUS] = number(section->pcus);
  values[FIELD_PMUS] = number(section->pmus);
  values[FIELD_AGS] = number(section->ags);
  values[FIELD_BOTTLENECK] = text(sambaStringRef(sambaResourceName(prediction->bottleneck)));
  values[FIELD_SHARE] = number(round(100 * busy / fmax(prediction->cycles, 1)));
  values[FIELD_UNIT] = text(sambaStringRef(known->unit));
  values[FIELD_LAYER] = text(sambaStringRef(known->layer));
  values[FIELD_CYCLES] = number(round(prediction->cycles));
  values[FIELD_LAUNCH] = number(round(known->launch_cycles));
  values[FIELD_READ] = number((double)section->estimated_read_bytes);
  values[FIELD_WRITTEN] = number((double)section->estimated_write_bytes);
  values[FIELD_FLOPS] = number(known->flops);
  if (bytes > 0)
    values[FIELD_INTENSITY] = number(round(10 * known->flops / bytes) / 10);
  readEnd(known->end, values);
}

static void printValue(const Value *value, SambaText *out) {
  if (value->kind == VALUE_TEXT)
    sambaTextAppend(out, value->text.data, value->text.size);
  else if (value->kind == VALUE_NUMBER)
    sambaTextFormat(out, "%.15g", value->number);
  for (uint32_t i = 0; value->kind == VALUE_LIST && i < value->count; ++i)
    sambaTextFormat(out, "%s%.*s", i ? ", " : "", SAMBA_STRING_ARGS(value->list[i]));
}

void sambaExplainLine(const SambaPef *pef, const SambaEmittedSections *emitted, uint32_t section,
                      SambaText *out) {
  Value values[FIELD_COUNT];
  SambaArena arena = {0};
  readSection(pef, emitted, section, &arena, values);
  for (int f = 0; f < FIELD_COUNT; ++f) {
    if (values[f].kind == VALUE_NONE)
      continue;
    sambaTextAppendC(out, f ? "; " : "");
    for (const char *c = fields[f].name; *c; ++c)
      sambaTextFormat(out, "%c", *c == '_' ? ' ' : *c);
    sambaTextAppendC(out, " ");
    printValue(&values[f], out);
  }
  sambaArenaDestroy(&arena);
}

static cJSON *jsonText(SambaStringRef string, SambaArena *arena) {
  return cJSON_CreateString(sambaStringRefCopy(arena, string).data);
}

static cJSON *jsonValue(const Value *value, SambaArena *arena) {
  if (value->kind == VALUE_NUMBER)
    return cJSON_CreateNumber(value->number);
  if (value->kind == VALUE_TEXT)
    return jsonText(value->text, arena);
  cJSON *list = cJSON_CreateArray();
  for (uint32_t i = 0; i < value->count; ++i)
    cJSON_AddItemToArray(list, jsonText(value->list[i], arena));
  return list;
}

char *sambaExplainJson(const SambaPef *pef, const SambaEmittedSections *emitted) {
  cJSON *root = cJSON_CreateObject(), *sections = cJSON_CreateArray();
  for (uint32_t s = 0; s < pef->sections_count; ++s) {
    Value values[FIELD_COUNT];
    SambaArena arena = {0};
    cJSON *object = cJSON_CreateObject();
    readSection(pef, emitted, s, &arena, values);
    for (int f = 0; f < FIELD_COUNT; ++f)
      if (values[f].kind != VALUE_NONE)
        cJSON_AddItemToObject(object, fields[f].name, jsonValue(&values[f], &arena));
    cJSON_AddItemToArray(sections, object);
    sambaArenaDestroy(&arena);
  }
  cJSON_AddItemToObject(root, "sections", sections);

  char *json = cJSON_Print(root);
  SambaText text = {0};
  sambaTextFormat(&text, "%s\n", json);
  cJSON_free(json);
  cJSON_Delete(root);
  return sambaTextTake(&text);
}

void sambaExplainFields(SambaText *out) {
  sambaTextAppendC(out, "| field | what it is |\n| --- | --- |\n");
  for (int f = 0; f < FIELD_COUNT; ++f)
    sambaTextFormat(out, "| `%s` | %s |\n", fields[f].name, fields[f].what);
}
