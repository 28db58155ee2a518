/* samba-decompose-composites: composite operators of the table (recurrent layers, resampling,
 * losses ...) become the operators that they are made of. Rules and reports before this pass see
 * the composite; locations, and with them the layer's name, stay. An operator that also has stages
 * is decomposed where the target cannot hold it as one section. */
#include "passes/passes.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/section/outline_sections.h"
#include "passes/section/section_trial.h"

#include <stdlib.h>

/* A cat of more operands than one section has address generators for: groups of at most `most`
 * first. `apart`: they are sections of their own. */
static void splitCat(MlirOperation operation, intptr_t most, bool apart) {
  intptr_t count = mlirOperationGetNumOperands(operation);
  MlirOperation next = operation;
  MlirContext context = mlirOperationGetContext(operation);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "dim",
                          mlirOperationGetAttributeByName(operation, sambaMlirString("dim"))),
      sambaNamedAttribute(context, SAMBA_SECTION_START_ATTRIBUTE, mlirBoolAttrGet(context, 1))};

  while (count > most) {
    MlirValue *groups = sambaAllocate(sambaArraySize((size_t)count, sizeof *groups));
    MlirValue *members = groups;
    intptr_t made = 0;
    for (intptr_t i = 0; i < count; ++i)
      members[i] = mlirOperationGetOperand(next, i);
    for (intptr_t i = 0; i < count; i += most, ++made) {
      intptr_t size = count - i < most ? count - i : most;
      if (size == 1) {
        groups[made] = members[i];
        continue;
      }
      MlirOperation group = sambaOperationCreate("samba.cat", mlirOperationGetLocation(operation),
                                                 size, members + i, apart ? 2 : 1, attributes);
      sambaPhaseTake(group, operation);
      mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, group);
      groups[made] = mlirOperationGetResult(group, 0);
    }
    MlirOperation whole = sambaOperationCreate("samba.cat", mlirOperationGetLocation(operation),
                                               made, groups, apart ? 2 : 1, attributes);
    sambaPhaseTake(whole, operation);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, whole);
    free(groups);
    if (!mlirOperationEqual(next, operation))
      mlirOperationDestroy(next);
    next = whole;
    count = made;
  }

  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0),
                                mlirOperationGetResult(next, 0));
  mlirOperationDestroy(operation);
}

/* Into groups of how many operands a cat is cut; 0: it stays. The target counts where it may have
 * too few address generators: one for each operand, and for each or all a store. */
static intptr_t catGroups(MlirOperation operation, const SambaPlanTarget *target) {
  intptr_t count =
      sambaOperationIs(operation, "samba.cat") ? mlirOperationGetNumOperands(operation) : 0;
  if (count > SAMBA_MAX_CAT_OPERANDS)
    return SAMBA_MAX_CAT_OPERANDS;
  bool scarce = target && count > 2 && 2 * count > target->machine->ag_count;
  return scarce && !sambaOperatorFits(target, operation) ? (count + 1) / 2 : 0;
}

/* target: NULL where none is given, and what has stages stays. */
static bool isDecomposed(MlirOperation operation, const SambaPlanTarget *target) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (!operator || !operator->decompose)
    return false;
  return !operator->stages || (target && !sambaOperatorFits(target, operation));
}

/* A part of a gradient that goes through memory because no section of the target holds it: its
 * memory may then grow with products of dimensions. */
static void remarkThroughMemory(MlirOperation operation, const SambaPlanTarget *target) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (!operator->stages || sambaPhaseOf(operation) != SAMBA_PEF_SECTION_BCKWD)
    return;
  SambaArena arena = {0};
  const char *remark =
      sambaArenaFormat(&arena, "samba.%s fits no section of %s; its steps go through memory",
                       operator->name, target->machine->name);
  sambaDiagnose(mlirOperationGetLocation(operation), MlirDiagnosticRemark, sambaMlirString(remark),
                0, NULL);
  sambaArenaDestroy(&arena);
}

static bool decomposeFunction(MlirOperation function, const SambaPlanTarget *target) {
  MlirBlock body = sambaBodyOf(function);
  MlirOperation previous = {NULL};
  MlirOperation operation = mlirBlockGetFirstOperation(body); /* previous: it stays */
  intptr_t groups;

  while (!mlirOperationIsNull(operation)) {
    if (isDecomposed(operation, target)) { /* and what it is made of may be composite again */
      remarkThroughMemory(operation, target);
      if (!sambaOperationDecompose(operation))
        return false;
    } else if ((groups = catGroups(operation, target))) {
      splitCat(operation, groups, groups < SAMBA_MAX_CAT_OPERANDS);
    } else {
      previous = operation;
    }
    operation = mlirOperationIsNull(previous) ? mlirBlockGetFirstOperation(body)
                                              : mlirOperationGetNextInBlock(previous);
  }

  return true;
}

bool sambaDecomposeComposites(MlirOperation module, const char *target) {
  if (!sambaModuleCheckGraphs(module))
    return false;
  SambaMachine machine;
  SambaPlanTarget plan_target = {.machine = &machine};
  SambaStatus status = target[0] ? sambaTargetMachine(mlirOperationGetLocation(module), target,
                                                      &machine, &plan_target.attribute)
                                 : NULL;
  if (status)
    return sambaEmitOpStatus(module, status);
  bool good = true;

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       good && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      good = decomposeFunction(operation, target[0] ? &plan_target : NULL);

  return good;
}
