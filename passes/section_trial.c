/* Trials of sections; see section_trial.h. */
#include "passes/section_trial.h"

#include "backend/map/estimate.h"
#include "backend/map/lower.h"
#include "backend/map/plan.h"
#include "backend/map/split_programs.h"
#include "lowering/linalg/read_section.h"
#include "passes/graph.h"
#include "support/pointer_map.h"

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

/* The operators with the views and repeated constants they read, as outlining will see them. */
static MlirOperation *gather(const MlirOperation *operators, uint32_t count, SambaArena *arena, uint32_t *out_count) {
  uint32_t most = count;
  for (uint32_t i = 0; i < count; ++i)
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(operators[i]); ++k)
      most += countViews(mlirOperationGetOperand(operators[i], k));
  MlirOperation *operations = SAMBA_ARENA_ARRAY(arena, MlirOperation, most + 1), *at = operations;
  SambaPointerMap seen = {0};
  for (uint32_t i = 0; i < count; ++i) {
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(operators[i]); ++k)
      appendViews(mlirOperationGetOperand(operators[i], k), &seen, &at);
    *at++ = operators[i];
  }
  sambaPointerMapFree(&seen);
  *out_count = (uint32_t)(at - operations);
  return operations;
}

static bool tryOperations(const SambaMachine *machine, const MlirOperation *operations, uint32_t count,
                          SambaArena *arena, double *out_cycles) {
  SambaStageGraph *graph;
  SambaSection *section;
  uint32_t *origins;
  SambaStatus status = sambaOperationsRead(operations, count, arena, &graph, &origins);
  if (!status)
    status = sambaPlanTiles(graph, machine, NULL);
  if (!status)
    status = sambaLowerStages(graph, machine, arena, &section);
  if (!status)
    status = sambaSplitPrograms(section, machine);
  if (!status)
    status = sambaSectionFits(section, machine);
  if (!status)
    *out_cycles = sambaSectionEstimate(section, machine) + sambaSectionLaunchCycles(section, machine);
  bool fits = !status;
  sambaStatusFree(status);
  return fits;
}

bool sambaSectionTry(const SambaMachine *machine, const MlirOperation *operators, uint32_t count, double *out_cycles) {
  SambaArena arena = {0};
  uint32_t operationCount;
  MlirOperation *operations = gather(operators, count, &arena, &operationCount);
  bool fits = tryOperations(machine, operations, operationCount, &arena, out_cycles);
  sambaArenaDestroy(&arena);
  return fits;
}

bool sambaOperatorFits(const SambaMachine *machine, MlirOperation operation) {
  SambaArena arena = {0};
  double unused;
  bool fits = tryOperations(machine, &operation, 1, &arena, &unused);
  sambaArenaDestroy(&arena);
  return fits;
}
