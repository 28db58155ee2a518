/* Trials of sections; see section_trial.h. */
#include "passes/section/section_trial.h"

#include "backend/codegen/codegen.h"
#include "backend/plan/estimate/estimate.h"
#include "backend/plan/search/plan.h"
#include "backend/plan/stage/stage_key.h"
#include "backend/split/split_programs.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/read_section.h"
#include "support/container/pointer_map.h"

#include <stdlib.h>

static void appendViews(MlirValue value, SambaPointerMap *seen, MlirOperation **at) {
  MlirOperation owner = sambaDefiningOperation(value);
  uint32_t unused;
  bool inner =
      !mlirOperationIsNull(owner) && (sambaOperationIsView(owner) || sambaOperationIsSplat(owner));
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
static MlirOperation *gather(const MlirOperation *operators, uint32_t count, SambaArena *arena,
                             uint32_t *out_count) {
  uint32_t most = count;
  for (uint32_t i = 0; i < count; ++i)
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(operators[i]); ++k)
      most += countViews(mlirOperationGetOperand(operators[i], k));
  MlirOperation *operations = SAMBA_ARENA_ARRAY(arena, MlirOperation, most + 1);
  MlirOperation *at = operations;
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

static SambaSectionTrial tryGraph(const SambaMachine *machine, SambaStageGraph *graph,
                                  SambaArena *arena) {
  SambaSectionTrial trial = {0};
  SambaSection *section;
  SambaStatus status = sambaPlanTiles(graph, machine, NULL);

  if (!status)
    status = sambaLowerStages(graph, machine, arena, &section);
  if (!status)
    status = sambaSplitPrograms(section, machine);
  if (!status)
    status = sambaSectionFits(section, machine);
  if (!status)
    trial = (SambaSectionTrial){true, sambaSectionEstimate(section, machine) +
                                          sambaSectionLaunchCycles(section, machine)};
  sambaStatusFree(status);

  return trial;
}

static SambaSectionTrial tryOperations(SambaSectionTrials *trials, const MlirOperation *operations,
                                       uint32_t count, SambaArena *arena) {
  SambaSectionTrial trial = {0};
  SambaStageGraph *graph;
  uint32_t *origins, known;
  SambaStatus status = sambaOperationsRead(operations, count, arena, &graph, &origins);

  if (status) {
    sambaStatusFree(status);
    return trial;
  }

  SambaStringRef key = sambaStageGraphKey(graph, &trials->keys);
  if (!sambaStringMapInsert(&trials->by_graph, key, (uint32_t)trials->list.size, &known))
    return trials->list.data[known];
  trial = tryGraph(trials->machine, graph, arena);
  sambaArrayAppend(&trials->list, trial);

  return trial;
}

bool sambaSectionTry(SambaSectionTrials *trials, const MlirOperation *operators, uint32_t count,
                     double *out_cycles) {
  SambaArena arena = {0};
  uint32_t operation_count;
  MlirOperation *operations = gather(operators, count, &arena, &operation_count);
  SambaSectionTrial trial = tryOperations(trials, operations, operation_count, &arena);
  sambaArenaDestroy(&arena);
  *out_cycles = trial.cycles;
  return trial.fits;
}

bool sambaOperatorFits(SambaSectionTrials *trials, MlirOperation operation) {
  SambaArena arena = {0};
  SambaSectionTrial trial = tryOperations(trials, &operation, 1, &arena);
  sambaArenaDestroy(&arena);
  return trial.fits;
}

void sambaSectionTrialsFree(SambaSectionTrials *trials) {
  sambaArrayFree(&trials->list);
  sambaStringMapFree(&trials->by_graph);
  sambaArenaDestroy(&trials->keys);
}
