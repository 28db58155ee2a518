/* The rdu passes: section IR to struct, one algorithm of backend/, struct to IR. */
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"
#include "backend/split/split_programs.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/decisions.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/samba.h"
#include "lowering/lowering.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

typedef SambaStatus (*Algorithm)(SambaSection *section, const SambaMachine *machine);

/* How far a section has come: each of the algorithms that change sections changes one of these, or
 * nothing. */
typedef struct Progress {
  uint32_t units, placed, routed;
} Progress;

static Progress progressOf(const SambaSection *section) {
  Progress progress = {.units = section->unit_count};
  for (uint32_t u = 0; u < section->unit_count; ++u)
    progress.placed += sambaUnitIsPlaced(&section->units[u]);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    progress.routed += section->streams[s].hop_count > 0;
  return progress;
}

/* Runs the algorithm on the section. Only what it changed is written back: large sections are long
 * texts of hops, and those that are done already come again with each attempt for others. */
static bool runOnSection(MlirOperation operation, Algorithm algorithm) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaMachine machine;
  MlirAttribute attribute = sambaOperationAttribute(operation, "machine");
  SambaStatus status = mlirAttributeIsNull(attribute)
                           ? sambaStatusMake(SAMBA_INVALID, "has no machine")
                           : sambaMachineFromAttribute(attribute, &machine);
  if (!status)
    status = sambaSectionFromIr(operation, &arena, &section);
  if (!status) {
    Progress before = progressOf(section);
    status = algorithm(section, &machine);
    Progress after = progressOf(section);
    if (!status && memcmp(&before, &after, sizeof before) != 0)
      sambaSectionReplaceIr(operation, section);
  }

  sambaArenaDestroy(&arena);
  if (status && sambaStatusGetCode(status) == SAMBA_EXHAUSTED)
    sambaMarkFailedSection(operation); /* another mapping may do */
  return !status || sambaEmitOpStatus(operation, status);
}

static SambaStatus verifySection(SambaSection *section, const SambaMachine *machine) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckStatic(section, machine));
  return sambaSectionCheckRoutes(section, machine);
}

bool sambaRduSplitPrograms(MlirOperation section) {
  return runOnSection(section, sambaSplitPrograms);
}
bool sambaRduPlace(MlirOperation section) { return runOnSection(section, sambaSectionPlace); }
bool sambaRduRoute(MlirOperation section) { return runOnSection(section, sambaSectionRoute); }
bool sambaRduVerifySection(MlirOperation section) { return runOnSection(section, verifySection); }
