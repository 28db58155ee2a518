/* Which C bodies each rdu op has: a section is read whole as the adapters read it, with its units
 * and routes, and checked. */
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/samba/samba.h"

static bool verifySection(const SambaOpHooks *hooks, MlirOperation op) {
  (void)hooks;
  MlirAttribute machine = sambaOperationAttribute(op, "machine");
  if (!mlirAttributeIsNull(machine) && !sambaAttributeIs(machine, "rdu.machine"))
    return sambaEmitOpError(op, "attribute 'machine' must be #rdu.machine<...>");
  MlirOperation fault = op;
  SambaStatus status = sambaKnownSectionVerify(op, &fault);
  return !status || sambaEmitOpStatus(fault, status);
}

static const SambaOpHooks hooksOfOps[] = {
    {.name = {"rdu.section", 11}, .verify = verifySection},
};

SambaOpHooks sambaRduOpHooks(MlirStringRef name) {
  for (size_t i = 0; i < sizeof hooksOfOps / sizeof *hooksOfOps; ++i)
    if (mlirStringRefEqual(name, hooksOfOps[i].name))
      return hooksOfOps[i];
  return (SambaOpHooks){.name = name};
}
