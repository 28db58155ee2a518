/* Known sections; see known_section.h. */
#include "dialect/rdu/section/known_section.h"

#include "backend/section/check/section_check.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/work.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

SambaKnownSection *sambaKnownSectionCreate(SambaArena arena, SambaSection *section) {
  SambaKnownSection *known = sambaAllocate(sizeof *known);
  *known = (SambaKnownSection){.arena = arena, .section = section};
  section->arena = &known->arena;
  return known;
}

void sambaKnownSectionDestroy(SambaKnownSection *known) {
  if (known)
    sambaArenaDestroy(&known->arena);
  free(known);
}
static void destroyKnown(void *known) { sambaKnownSectionDestroy(known); }

static SambaResultStore *storeOf(MlirOperation op) {
  return sambaDialectResults(mlirOperationGetContext(op), sambaOperationName(op));
}

static SambaStatus readAndCheck(MlirOperation op, SambaContentDigest digest,
                                SambaKnownSection **out_known, MlirOperation *out_fault) {
  SambaArena arena = {0};
  SambaSection *section;
  sambaWorkCount(SAMBA_WORK_SECTIONS_READ);
  SambaStatus status = sambaSectionFromIr(op, &arena, &section, out_fault);
  if (!status)
    status = sambaSectionCheck(section);
  if (status) {
    sambaArenaDestroy(&arena);
    return status;
  }

  *out_known = sambaKnownSectionCreate(arena, section);
  (*out_known)->digest = digest;
  return NULL;
}

SambaStatus sambaKnownSectionTake(MlirOperation op, SambaKnownSection **out_known) {
  SambaContentDigest digest = sambaOperationDigest(op);
  *out_known = sambaResultStoreTake(storeOf(op), digest, destroyKnown);
  return *out_known ? NULL : readAndCheck(op, digest, out_known, NULL);
}

void sambaKnownSectionKeep(MlirOperation op, SambaKnownSection *known) {
  known->digest = sambaOperationDigest(op);
  sambaKnownSectionGiveBack(op, known);
}

void sambaKnownSectionGiveBack(MlirOperation op, SambaKnownSection *known) {
  sambaResultStorePut(storeOf(op), known->digest, known, destroyKnown);
}

SambaStatus sambaKnownSectionVerify(MlirOperation op, MlirOperation *out_fault) {
  SambaContentDigest digest = sambaOperationDigest(op);
  SambaKnownSection *known;
  if (sambaResultStoreRead(storeOf(op), digest, destroyKnown, NULL, NULL))
    return NULL;
  SAMBA_RETURN_IF_ERROR(readAndCheck(op, digest, &known, out_fault));
  sambaKnownSectionGiveBack(op, known);
  return NULL;
}
