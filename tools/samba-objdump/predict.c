/* What the bandwidth model says of the sections of a PEF. */
#include "backend/estimate/predict.h"
#include "backend/pef/image/image.h"
#include "tools/samba-objdump/objdump.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static void addText(cJSON *object, const char *name, SambaStringRef text) {
  char *copy = sambaAllocate(text.size + 1);
  memcpy(copy, text.data ? text.data : "", text.size);
  copy[text.size] = '\0';
  cJSON_AddStringToObject(object, name, copy);
  free(copy);
}

static cJSON *predictionOf(const SambaSection *section, const SambaMachine *machine) {
  SambaPrediction prediction = sambaSectionPredict(section, machine, NULL);
  uint32_t unit = prediction.busy.unit[prediction.bottleneck];
  cJSON *object = cJSON_CreateObject(), *busy = cJSON_CreateObject();

  cJSON_AddNumberToObject(object, "cycles", prediction.cycles);
  cJSON_AddStringToObject(object, "bottleneck", sambaResourceName(prediction.bottleneck));
  if (unit != SAMBA_NO_INDEX)
    cJSON_AddStringToObject(object, "unit", section->units[unit].name);
  for (int r = 0; r < SAMBA_RESOURCE_COUNT; ++r)
    cJSON_AddNumberToObject(busy, sambaResourceName((SambaResource)r), prediction.busy.cycles[r]);
  cJSON_AddItemToObject(object, "busy", busy);
  return object;
}

SambaStatus objdumpPredict(const SambaPef *pef, char **out_text) {
  SambaMachine machine;
  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(pef, &machine));
  cJSON *sections = cJSON_CreateArray();
  SambaStatus status = NULL;

  for (uint32_t s = 0; s < pef->sections_count && !status; ++s) {
    SambaArena arena = {0};
    SambaSection *section;
    status = sambaPefDecodeImage(pef, pef->sections[s].image, &machine, &arena, &section);
    if (!status) {
      cJSON *object = predictionOf(section, &machine);
      addText(object, "name", pef->sections[s].name);
      cJSON_AddItemToArray(sections, object);
    }
    sambaArenaDestroy(&arena);
  }

  char *json = cJSON_Print(sections);
  SambaText text = {0};
  sambaTextFormat(&text, "%s\n", json);
  *out_text = sambaTextTake(&text);
  cJSON_free(json);
  cJSON_Delete(sections);
  return status;
}
