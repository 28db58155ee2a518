/* Known stage graphs; see known_stages.h. */
#include "dialect/stages/known_stages.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/operation_digest.h"

#include <stdlib.h>

void sambaKnownStagesDestroy(SambaKnownStages *known) {
  if (known)
    sambaArenaDestroy(&known->arena);
  free(known);
}
static void destroyKnown(void *known) { sambaKnownStagesDestroy(known); }

static SambaResultStore *storeOf(MlirOperation section) {
  return sambaDialectResults(mlirOperationGetContext(section), sambaMlirString("rdu"));
}

SambaStatus sambaKnownStagesTake(MlirOperation section, SambaKnownStages **out_known) {
  *out_known = sambaResultStoreTake(storeOf(section), sambaOperationDigest(section), destroyKnown);
  if (*out_known)
    return NULL;

  SambaKnownStages *known = sambaAllocateZeroed(1, sizeof *known);
  SambaStatus status = sambaSectionRead(section, &known->arena, &known->stages);
  if (status)
    sambaKnownStagesDestroy(known);
  else
    *out_known = known;
  return status;
}

void sambaKnownStagesKeep(MlirOperation section, SambaKnownStages *known) {
  sambaResultStorePut(storeOf(section), sambaOperationDigest(section), known, destroyKnown);
}
