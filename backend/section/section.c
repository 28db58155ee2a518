/* Units by kind; see section.h. */
#include "backend/section/section.h"

#include "support/base/index.h"
#include "support/base/memory.h"

#include <stdlib.h>

SambaUnit sambaUnitMake(SambaUnitKind kind, const char *name, const char *layer) {
  SambaUnit unit = {.kind = kind, .name = name, .layer = layer, .x = -1, .y = -1};
  if (sambaUnitIsAddressGenerator(&unit))
    unit.load_store.ag = SAMBA_NO_INDEX;
  return unit;
}

bool sambaUnitIsPlaced(const SambaUnit *unit) {
  return sambaUnitIsAddressGenerator(unit) ? unit->load_store.ag != SAMBA_NO_INDEX
                                           : unit->x >= 0 && unit->y >= 0;
}

const char *sambaUnitKindName(SambaUnitKind kind) {
  static const char *const names[] = {"load", "store", "buffer", "compute"};
  return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "invalid";
}

static const char *const banking_names[] = {"column", "row", "diagonal"};

const char *sambaBankingName(SambaBanking banking) {
  return (unsigned)banking < SAMBA_BANKING_COUNT ? banking_names[banking] : NULL;
}

SambaBanking sambaBankingFromName(SambaStringRef name) {
  int banking = 0;
  while (banking < SAMBA_BANKING_COUNT && !sambaStringRefEqualC(name, banking_names[banking]))
    ++banking;
  return (SambaBanking)banking;
}

static int compareIndices(const void *a, const void *b) {
  uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
  return (first > second) - (first < second);
}

/* Counts loads, stores and their address generators. */
static void countGenerators(const SambaSection *section, SambaSectionNeeds *needs) {
  uint32_t *ags = sambaAllocate(sambaArraySize(section->unit_count, sizeof *ags));
  uint32_t loads = 0, stores = 0, both = 0, placed = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (!sambaUnitIsAddressGenerator(unit))
      continue;
    if (!sambaUnitIsOneWay(unit))
      ++both;
    else
      ++*(unit->kind == SAMBA_UNIT_LOAD ? &loads : &stores);
    if (unit->load_store.ag == SAMBA_NO_INDEX)
      ++needs->ags;
    else
      ags[placed++] = unit->load_store.ag;
  }
  qsort(ags, placed, sizeof *ags, compareIndices);
  for (uint32_t i = 0; i < placed; ++i)
    needs->ags += i == 0 || ags[i] != ags[i - 1];
  needs->fewest_ags = loads > stores ? loads : stores;
  if (both)
    needs->fewest_ags = loads + stores + both;
  free(ags);
}

SambaSectionNeeds sambaSectionCount(const SambaSection *section) {
  SambaSectionNeeds needs = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    needs.pcus += section->units[u].kind == SAMBA_UNIT_COMPUTE;
    needs.pmus += section->units[u].kind == SAMBA_UNIT_BUFFER;
  }
  countGenerators(section, &needs);
  return needs;
}
