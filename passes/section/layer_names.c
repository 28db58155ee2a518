/* Names of operators; see layer_names.h. */
#include "passes/section/layer_names.h"

#include <stdlib.h>

/* The number of operators of the kind without a layer before this one. */
static uint32_t countUnnamed(SambaLayerNames *names, SambaStringRef kind) {
  uint32_t index = (uint32_t)names->unnamed_counts.size;
  if (sambaStringMapInsert(&names->unnamed, sambaStringRefCopy(&names->arena, kind), index, &index))
    sambaArrayAppend(&names->unnamed_counts, 0);
  return names->unnamed_counts.data[index]++;
}

uint32_t sambaLayerNamesAdd(SambaLayerNames *names, SambaStringRef layer, SambaStringRef kind,
                            uint32_t *out_place) {
  SambaStringRef name =
      layer.size
          ? sambaStringRefCopy(&names->arena, layer)
          : sambaStringRef(sambaArenaFormat(&names->arena, "%.*s#%u", SAMBA_STRING_ARGS(kind),
                                            countUnnamed(names, kind)));
  uint32_t index = (uint32_t)names->list.size;
  if (sambaStringMapInsert(&names->by_name, name, index, &index))
    sambaArrayAppend(&names->list, (SambaLayerName){.name = name.data});
  *out_place = names->list.data[index].count++;
  return index;
}

void sambaLayerNamesFree(SambaLayerNames *names) {
  sambaStringMapFree(&names->by_name);
  sambaStringMapFree(&names->unnamed);
  sambaArrayFree(&names->list);
  sambaArrayFree(&names->unnamed_counts);
  sambaArenaDestroy(&names->arena);
}
