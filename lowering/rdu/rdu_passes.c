/* The rdu passes: section IR to struct, one algorithm of backend/, struct to IR. */
#include "backend/map/split_programs.h"
#include "backend/place/check.h"
#include "backend/place/place.h"
#include "backend/place/route.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section_io.h"
#include "dialect/samba/samba.h"
#include "lowering/lowering.h"
#include "lowering/rdu/decisions.h"

#include "mlir-c/BuiltinAttributes.h"

typedef SambaStatus (*Algorithm)(SambaSection *section, const SambaMachine *machine);

/* Runs the algorithm on the section; when it changes the section the operation is replaced. */
static bool runOnSection(MlirOperation operation, Algorithm algorithm, bool changes) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaMachine machine;
  MlirAttribute attribute = sambaOperationAttribute(operation, "machine");
  SambaStatus status = mlirAttributeIsNull(attribute) ? sambaStatusMake(SAMBA_INVALID, "has no machine")
                                                      : sambaMachineFromAttribute(attribute, &machine);
  if (!status)
    status = sambaSectionFromIr(operation, &arena, &section);
  if (!status)
    status = algorithm(section, &machine);
  if (!status && changes)
    sambaSectionReplaceIr(operation, section);
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

bool sambaRduSplitPrograms(MlirOperation section) { return runOnSection(section, sambaSplitPrograms, true); }
bool sambaRduPlace(MlirOperation section) { return runOnSection(section, sambaSectionPlace, true); }
bool sambaRduRoute(MlirOperation section) { return runOnSection(section, sambaSectionRoute, true); }
bool sambaRduVerifySection(MlirOperation section) { return runOnSection(section, verifySection, false); }
