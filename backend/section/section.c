/* Units by kind; see section.h. */
#include "backend/section/section.h"

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

SambaSectionNeeds sambaSectionCount(const SambaSection *section) {
  SambaSectionNeeds needs = {0};
  for (uint32_t u = 0; u < section->unit_count; ++u)
    switch (section->units[u].kind) {
    case SAMBA_UNIT_COMPUTE:
      ++needs.pcus;
      break;
    case SAMBA_UNIT_BUFFER:
      ++needs.pmus;
      break;
    default:
      ++needs.ags;
    }
  return needs;
}
