/* Which C bodies each rdu op has: units are read as the adapters read them, a section is read whole
 * and checked. */
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/rdu/section/section_text.h"
#include "dialect/samba/samba.h"

static bool verifyUnit(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  SambaArena arena = {0};
  SambaUnit unit;
  SambaStatus status = sambaUnitFromIr(op, &arena, &unit);
  sambaArenaDestroy(&arena);
  return !status || sambaEmitOpStatus(op, status);
}

static bool verifySection(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute machine = sambaOperationAttribute(op, "machine");
  if (!mlirAttributeIsNull(machine) && !sambaAttributeIs(machine, "rdu.machine"))
    return sambaEmitOpError(op, "attribute 'machine' must be #rdu.machine<...>");
  SambaArena arena = {0};
  SambaSection *section;
  SambaStatus status = sambaSectionFromIr(op, &arena, &section);
  if (!status)
    status = sambaSectionCheck(section);
  sambaArenaDestroy(&arena);
  return !status || sambaEmitOpStatus(op, status);
}

static bool verifyRoute(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute hops = sambaOperationAttribute(op, "hops");
  SambaStatus status = NULL;
  SambaHop hop;
  for (intptr_t i = 0;
       !status && !mlirAttributeIsNull(hops) && i < mlirArrayAttrGetNumElements(hops); ++i)
    status = sambaHopParse(sambaFromMlir(mlirStringAttrGetValue(mlirArrayAttrGetElement(hops, i))),
                           &hop);
  return !status || sambaEmitOpStatus(op, status);
}

static const SambaOpHooks hooksOfOps[] = {
    {.name = {"rdu.section", 11}, .verify = verifySection},
    {.name = {"rdu.load", 8}, .verify = verifyUnit},
    {.name = {"rdu.store", 9}, .verify = verifyUnit},
    {.name = {"rdu.buffer", 10}, .verify = verifyUnit},
    {.name = {"rdu.compute", 11}, .verify = verifyUnit},
    {.name = {"rdu.route", 9}, .verify = verifyRoute},
};

SambaOpHooks sambaRduOpHooks(MlirStringRef name) {
  for (size_t i = 0; i < sizeof hooksOfOps / sizeof *hooksOfOps; ++i)
    if (mlirStringRefEqual(name, hooksOfOps[i].name))
      return hooksOfOps[i];
  return (SambaOpHooks){.name = name};
}
