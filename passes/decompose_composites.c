/* samba-decompose-composites: composite operators of the table (recurrent layers, resampling,
 * losses ...) become the operators that they are made of. Rules and reports before this pass see
 * the composite; locations, and with them the layer's name, stay. An operator that also has stages
 * is decomposed where the target cannot hold it as one section. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/samba/table/core/expansion.h"
#include "passes/section/outline_sections.h"
#include "passes/section/section_trial.h"

#include <stdlib.h>

/* Builds the steps before the operation; values[v] is the value of the expansion's v. False after
 * an error. */
static bool buildSteps(MlirOperation operation, const SambaExpansion *expansion,
                       MlirValue *values) {
  MlirContext context = mlirOperationGetContext(operation);
  bool fine = true;

  for (size_t s = 0; fine && s < expansion->steps.size; ++s) {
    const SambaExpansionStep *step = &expansion->steps.data[s];
    MlirValue *operands = sambaAllocate(sambaArraySize(step->operand_count + 1, sizeof *operands));
    MlirNamedAttribute *attributes =
        sambaAllocate(sambaArraySize(step->attribute_count + 2, sizeof *attributes));
    for (uint32_t i = 0; i < step->operand_count; ++i)
      operands[i] = values[step->operands[i]];
    intptr_t count = step->attribute_count;
    for (uint32_t i = 0; i < step->attribute_count; ++i)
      attributes[i] =
          mlirNamedAttributeGet(mlirIdentifierGet(context, sambaToMlir(step->attributes[i].name)),
                                sambaAttributeToMlir(context, &step->attributes[i]));
    if (!step->operator) {
      const SambaTensorType *type = sambaExpansionType(expansion, step->first_value);
      attributes[count++] = sambaNamedAttribute(
          context, "value", sambaDenseAttribute(context, type, step->data, step->splat));
    }

    if (step->starts_section)
      attributes[count++] =
          sambaNamedAttribute(context, SAMBA_SECTION_START_ATTRIBUTE, mlirBoolAttrGet(context, 1));
    SambaArena arena = {0};
    SambaOperationParts parts = {
        .name = sambaArenaFormat(&arena, "samba.%s",
                                 step->operator ? step->operator->name : "constant"),
        .location = mlirOperationGetLocation(operation),
        .operand_count = step->operand_count,
        .operands = operands,
        .result_count = -1,
        .attribute_count = count,
        .attributes = attributes};
    MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(operation), operation, &parts);
    fine = !mlirOperationIsNull(made);
    for (intptr_t i = 0; fine && i < mlirOperationGetNumResults(made); ++i)
      values[step->first_value + i] = mlirOperationGetResult(made, i);
    sambaArenaDestroy(&arena);
    free(operands);
    free(attributes);
  }

  return fine;
}

/* Replaces one operation by others in its place. */
static bool decompose(MlirOperation operation) {
  SambaArena arena = {0};
  SambaExpansion expansion = {.arena = &arena, .find = sambaOperatorFind};
  SambaOperatorCall call;
  uint32_t results[SAMBA_MAX_RESULTS];
  SambaStatus status = sambaOperatorCallFromOperation(&arena, operation, &call);

  if (!status)
    status = sambaOperatorExpand(&call, &expansion, results);
  bool fine = !status || sambaEmitOpStatus(operation, status);
  if (fine) {
    MlirValue *values = sambaAllocate(sambaArraySize(expansion.types.size + 1, sizeof *values));
    for (uint32_t i = 0; i < call.operand_count; ++i)
      values[i] = mlirOperationGetOperand(operation, i);
    fine = buildSteps(operation, &expansion, values);
    for (uint32_t i = 0; fine && i < sambaOperatorResults(call.operator); ++i)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, i), values[results[i]]);
    if (fine)
      mlirOperationDestroy(operation);
    free(values);
  }

  sambaExpansionFree(&expansion);
  sambaArenaDestroy(&arena);
  return fine;
}

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
      mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, group);
      groups[made] = mlirOperationGetResult(group, 0);
    }
    MlirOperation whole = sambaOperationCreate("samba.cat", mlirOperationGetLocation(operation),
                                               made, groups, apart ? 2 : 1, attributes);
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

static bool decomposeFunction(MlirOperation function, const SambaPlanTarget *target) {
  MlirBlock body = sambaBodyOf(function);
  MlirOperation previous = {NULL};
  MlirOperation operation = mlirBlockGetFirstOperation(body); /* previous: it stays */
  intptr_t groups;

  while (!mlirOperationIsNull(operation)) {
    if (isDecomposed(operation, target)) { /* and what it is made of may be composite again */
      if (!decompose(operation))
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
