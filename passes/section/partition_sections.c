/* samba-partition-sections: which operators share a section, then outlining.
 *
 * o0: every operator its own section. o1: greedy along the trace: the next operator joins when the
 * section with it can be planned and emitted within the machine's units, and is estimated to be no
 * slower than two sections with their launches. */
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/passes.h"
#include "passes/section/outline_sections.h"
#include "passes/section/section_trial.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

/* Operators of one section at most: keeps the trials of a long graph linear. */
enum { maxOperatorsPerSection = 24 };

/* A section has one phase. */
static bool startsSection(MlirOperation before, MlirOperation operation) {
  MlirStringRef start = sambaMlirString(SAMBA_SECTION_START_ATTRIBUTE);
  return sambaPhaseOf(before) != sambaPhaseOf(operation) ||
         !mlirAttributeIsNull(mlirOperationGetAttributeByName(operation, start));
}

static uint32_t partitionGreedily(const SambaPlanTarget *target, const MlirOperation *operators,
                                  uint32_t count, uint32_t *section_of) {
  uint32_t section = 0, first = 0;
  while (first < count) {
    double together = 0;
    uint32_t size = 1;
    bool fits = sambaSectionTry(target, &operators[first], 1, &together);
    while (fits && first + size < count && size < maxOperatorsPerSection &&
           !startsSection(operators[first], operators[first + size])) {
      double alone, joined;
      if (!sambaSectionTry(target, &operators[first], size + 1, &joined) ||
          !sambaSectionTry(target, &operators[first + size], 1, &alone) ||
          joined > together + alone)
        break;
      together = joined;
      ++size;
    }
    for (uint32_t i = 0; i < size; ++i)
      section_of[first + i] = section;
    first += size;
    ++section;
  }

  return section;
}

/* The first operation of the block that reads the value, through views or not; null: none. */
static MlirOperation firstReader(MlirValue value) {
  MlirOperation first = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (sambaOperationIsView(user))
      user = firstReader(mlirOperationGetResult(user, 0));
    if (!mlirOperationIsNull(user) &&
        (mlirOperationIsNull(first) || mlirOperationIsBeforeInBlock(user, first)))
      first = user;
  }
  return first;
}

/* An argin belongs to the layer that reads it first, unless it says another. A call of a section
 * tells no more which of its layers that was. */
static void nameLayersOfArgins(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    MlirLocation location = mlirValueGetLocation(argument);
    if (!sambaValueIsArgin(argument) || sambaLayerOfLocation(location).size)
      continue;
    MlirOperation reader = firstReader(argument);
    if (mlirOperationIsNull(reader))
      continue;
    SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(reader));
    if (layer.size)
      mlirBlockArgumentSetLocation(argument, mlirLocationNameGet(mlirOperationGetContext(function),
                                                                 sambaToMlir(layer), location));
  }
}

static bool partitionFunction(MlirOperation function, const SambaPlanTarget *target, bool fuse,
                              SambaOutlinedSections *sections, int64_t *call_id) {
  uint32_t count, sectionCount;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  if (!sambaPhasesCheck(operators, count)) {
    free(operators);
    return false;
  }
  nameLayersOfArgins(function);
  uint32_t *section_of = sambaAllocate(sambaArraySize(count + 1, sizeof *section_of));

  if (fuse) {
    sectionCount = partitionGreedily(target, operators, count, section_of);
  } else {
    sectionCount = count;
    for (uint32_t i = 0; i < count; ++i)
      section_of[i] = i;
  }

  sambaOutlineSections(sections, function, operators, section_of, count, sectionCount,
                       target->attribute, call_id);
  free(section_of);
  free(operators);
  return true;
}

bool sambaPartitionSections(MlirOperation module, const char *target, const char *opt) {
  if (strcmp(opt, "o0") != 0 && strcmp(opt, "o1") != 0)
    return sambaEmitOpError(module, "samba-partition-sections: opt wants o0 or o1, not '%s'", opt);
  if (!sambaModuleCheckGraphs(module))
    return false;
  SambaMachine machine;
  SambaPlanTarget plan_target = {.machine = &machine};
  SambaStatus status = sambaTargetMachine(mlirOperationGetLocation(module), target, &machine,
                                          &plan_target.attribute);
  if (status)
    return sambaEmitOpStatus(module, status);
  SambaOutlinedSections sections = {0};
  int64_t call_id = 0;
  bool fine = true;

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       fine && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      fine =
          partitionFunction(operation, &plan_target, strcmp(opt, "o1") == 0, &sections, &call_id);
  sambaOutlinedSectionsFree(&sections);
  if (!fine)
    return false;
  status = call_id == 0 ? sambaModuleMachine(module, &machine) : NULL;
  if (status) /* there is no section that says what the machine is */
    mlirOperationSetAttributeByName(module, sambaMlirString(SAMBA_MODULE_MACHINE_ATTRIBUTE),
                                    plan_target.attribute);
  sambaStatusFree(status);

  return true;
}
