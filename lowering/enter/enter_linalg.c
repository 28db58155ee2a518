/* samba-enter-linalg: a module of linalg on tensors, as other compilers emit it, becomes a graph:
 * samba operations, and the structured operations that stay. */
#include "lowering/enter/enter.h"
#include "lowering/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"

#include <stdio.h>

/* arg0, out0 where there is none. Arguments without a kind are inputs. */
static bool nameEntry(MlirContext context, MlirAttribute *dictionary, const char *stem,
                      size_t index) {
  if (sambaInterfaceText(*dictionary, SAMBA_NAME_ATTRIBUTE).size)
    return false;
  char name[32];
  snprintf(name, sizeof name, "%s%zu", stem, index);
  sambaInterfaceSet(dictionary, SAMBA_NAME_ATTRIBUTE,
                    mlirStringAttrGet(context, sambaMlirString(name)));
  return true;
}

void sambaEnterNames(MlirOperation function) {
  MlirContext context = mlirOperationGetContext(function);
  SambaInterface interface = {0};
  bool changed = false;
  sambaInterfaceRead(function, &interface);
  for (size_t i = 0; i < interface.arguments.size; ++i)
    changed |= nameEntry(context, &interface.arguments.data[i], "arg", i);
  for (size_t i = 0; i < interface.results.size; ++i)
    changed |= nameEntry(context, &interface.results.data[i], "out", i);
  if (changed)
    sambaInterfaceWrite(&interface);
  sambaInterfaceFree(&interface);
}

bool sambaEnterLinalg(MlirOperation module) {
  if (!sambaEnterCheck(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsGraph(operation))
      continue;
    sambaEnterNames(operation);
    sambaEnterGenerates(operation);
    if (!sambaEnterScalars(operation) || !sambaEnterTensors(operation) ||
        !sambaEnterConstants(module, operation))
      return false;
  }
  return true;
}
