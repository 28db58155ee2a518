/* One section of a PEF as a picture, or its placement as text; see backend/view. */
#include "backend/pef/image/image.h"
#include "backend/view/placement_text.h"
#include "backend/view/section_svg.h"
#include "tools/samba-objdump/objdump.h"

#include <stdlib.h>

/* The section by name or, when no section has this name, by its id in the PEF. */
static SambaStatus findSection(const SambaPef *pef, const char *wanted, uint32_t *out_index) {
  *out_index = sambaPefFindSection(pef, sambaStringRef(wanted));
  if (*out_index != SAMBA_PEF_NONE)
    return NULL;
  char *end;
  unsigned long id = strtoul(wanted, &end, 10);
  if (*wanted < '0' || *wanted > '9' || *end || id >= pef->sections_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "there is no section '%s': expected the name of a section, or an id "
                           "from 0 to %u",
                           wanted, pef->sections_count - 1);
  *out_index = (uint32_t)id;
  return NULL;
}

/* The section with the most units; of equals the first. */
static uint32_t largestSection(const SambaPef *pef) {
  uint32_t largest = 0;
  uint64_t most = 0;
  for (uint32_t s = 0; s < pef->sections_count; ++s) {
    const SambaPefSection *section = &pef->sections[s];
    uint64_t units = (uint64_t)section->pcus + section->pmus + section->ags;
    if (units > most) {
      largest = s;
      most = units;
    }
  }
  return largest;
}

static SambaStatus decode(const SambaPef *pef, const char *wanted, SambaArena *arena,
                          SambaMachine *out_machine, SambaSection **out_section) {
  if (pef->sections_count == 0)
    return sambaStatusMake(SAMBA_INVALID, "there is nothing to draw: the PEF has no sections");
  uint32_t index = largestSection(pef);
  if (wanted)
    SAMBA_RETURN_IF_ERROR(findSection(pef, wanted, &index));

  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(pef, out_machine));
  SAMBA_RETURN_IF_ERROR(
      sambaPefDecodeImage(pef, pef->sections[index].image, out_machine, arena, out_section));
  (*out_section)->name = sambaStringRefCopy(arena, pef->sections[index].name).data;
  return NULL;
}

SambaStatus objdumpShow(const SambaPef *pef, const char *section, bool picture, SambaText *out) {
  SambaArena arena = {0};
  SambaMachine machine;
  SambaSection *decoded;
  SambaStatus status = decode(pef, section, &arena, &machine, &decoded);

  if (!status && picture) {
    status = sambaSectionDraw(decoded, &machine, out);
  } else if (!status) {
    sambaPlacementPrint(decoded, &machine, out);
    sambaRoutesPrint(decoded, &machine, out);
  }

  sambaArenaDestroy(&arena);
  return status;
}
