/* samba-partition-sections: which operators share a section, then outlining.
 *
 * o0: every operator its own section. o1: greedy along the trace: the next operator joins when the section with it can
 * be planned and emitted within the machine's units, and is estimated to be no slower than two sections with their
 * launches. */
#include "backend/map/estimate.h"
#include "backend/map/lower.h"
#include "backend/map/plan.h"
#include "backend/map/split_programs.h"
#include "dialect/bridge/build.h"
#include "dialect/rdu/rdu.h"
#include "dialect/samba/samba.h"
#include "lowering/linalg/read_section.h"
#include "passes/assign_memory.h"
#include "passes/graph.h"
#include "passes/machine_file.h"
#include "passes/outline_sections.h"
#include "passes/passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include "support/pointer_map.h"

#include <stdlib.h>
#include <string.h>

/* Operators of one section at most: keeps the trials of a long graph linear. */
enum { maxOperatorsPerSection = 24 };

typedef struct {
  const SambaMachine *machine;
  const MlirOperation *operators;
} Trial;

static void appendViews(MlirValue value, SambaPointerMap *seen, MlirOperation **at) {
  MlirOperation owner = sambaDefiningOperation(value);
  uint32_t unused;
  bool inner = !mlirOperationIsNull(owner) && (sambaOperationIsView(owner) || sambaOperationIsSplat(owner));
  if (!inner || sambaPointerMapGet(seen, owner.ptr, &unused))
    return;
  sambaPointerMapSet(seen, owner.ptr, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(owner); ++i)
    appendViews(mlirOperationGetOperand(owner, i), seen, at);
  *(*at)++ = owner;
}

static uint32_t countViews(MlirValue value) {
  MlirOperation owner = sambaDefiningOperation(value);
  if (mlirOperationIsNull(owner) || !(sambaOperationIsView(owner) || sambaOperationIsSplat(owner)))
    return 0;
  uint32_t count = 1;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(owner); ++i)
    count += countViews(mlirOperationGetOperand(owner, i));
  return count;
}

/* Operators [first, first + count) with the views and repeated constants they read, as outlining will see them. */
static MlirOperation *gather(const Trial *trial, uint32_t first, uint32_t count, SambaArena *arena,
                             uint32_t *out_count) {
  uint32_t most = count;
  for (uint32_t i = first; i < first + count; ++i)
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(trial->operators[i]); ++k)
      most += countViews(mlirOperationGetOperand(trial->operators[i], k));
  MlirOperation *operations = SAMBA_ARENA_ARRAY(arena, MlirOperation, most + 1), *at = operations;
  SambaPointerMap seen = {0};
  for (uint32_t i = first; i < first + count; ++i) {
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(trial->operators[i]); ++k)
      appendViews(mlirOperationGetOperand(trial->operators[i], k), &seen, &at);
    *at++ = trial->operators[i];
  }
  sambaPointerMapFree(&seen);
  *out_count = (uint32_t)(at - operations);
  return operations;
}

/* Estimated cycles of operators [first, first + count) as one section, launch included; false when they cannot be one.
 */
static bool estimateSection(const Trial *trial, uint32_t first, uint32_t count, double *out_cycles) {
  SambaArena arena = {0};
  uint32_t operationCount, *origins;
  MlirOperation *operations = gather(trial, first, count, &arena, &operationCount);
  SambaStageGraph *graph;
  SambaSection *section;
  SambaStatus status = sambaOperationsRead(operations, operationCount, &arena, &graph, &origins);
  if (!status)
    status = sambaPlanTiles(graph, trial->machine, NULL);
  if (!status)
    status = sambaLowerStages(graph, trial->machine, &arena, &section);
  if (!status)
    status = sambaSplitPrograms(section, trial->machine);
  if (!status)
    status = sambaSectionFits(section, trial->machine);
  if (!status)
    *out_cycles = sambaSectionEstimate(section, trial->machine) + sambaSectionLaunchCycles(section, trial->machine);
  bool fits = !status;
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return fits;
}

static bool startsSection(MlirOperation operation) {
  return !mlirAttributeIsNull(
      mlirOperationGetAttributeByName(operation, sambaMlirString(SAMBA_SECTION_START_ATTRIBUTE)));
}

static uint32_t partitionGreedily(const Trial *trial, uint32_t count, uint32_t *section_of) {
  uint32_t section = 0, first = 0;
  while (first < count) {
    double together = 0;
    uint32_t size = 1;
    bool fits = estimateSection(trial, first, 1, &together);
    while (fits && first + size < count && size < maxOperatorsPerSection &&
           !startsSection(trial->operators[first + size])) {
      double alone, joined;
      if (!estimateSection(trial, first, size + 1, &joined) || !estimateSection(trial, first + size, 1, &alone) ||
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

static void partitionFunction(MlirOperation function, const SambaMachine *machine, MlirAttribute attribute, bool fuse,
                              SambaOutlinedSections *sections, int64_t *call_id) {
  uint32_t count, sectionCount;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  uint32_t *section_of = sambaAllocate(sambaArraySize(count + 1, sizeof *section_of));
  Trial trial = {machine, operators};
  if (fuse) {
    sectionCount = partitionGreedily(&trial, count, section_of);
  } else {
    sectionCount = count;
    for (uint32_t i = 0; i < count; ++i)
      section_of[i] = i;
  }
  sambaOutlineSections(sections, function, operators, section_of, count, sectionCount, attribute, call_id);
  free(section_of);
  free(operators);
}

bool sambaPartitionSections(MlirOperation module, const char *target, const char *opt) {
  if (strcmp(opt, "o0") != 0 && strcmp(opt, "o1") != 0)
    return sambaEmitOpError(module, "samba-partition-sections: opt wants o0 or o1, not '%s'", opt);
  if (!sambaModuleCheckGraphs(module))
    return false;
  SambaMachine machine;
  MlirAttribute attribute;
  SambaStatus status = sambaTargetMachine(mlirOperationGetLocation(module), target, &machine, &attribute);
  if (status)
    return sambaEmitOpStatus(module, status);
  SambaOutlinedSections sections = {0};
  int64_t call_id = 0;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module)); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      partitionFunction(operation, &machine, attribute, strcmp(opt, "o1") == 0, &sections, &call_id);
  sambaOutlinedSectionsFree(&sections);
  status = call_id == 0 ? sambaModuleMachine(module, &machine) : NULL;
  if (status) /* there is no section that says what the machine is */
    mlirOperationSetAttributeByName(module, sambaMlirString(SAMBA_MODULE_MACHINE_ATTRIBUTE), attribute);
  sambaStatusFree(status);
  return true;
}
