/* Trials of sections; see section_trial.h. Layers repeat, and what did not join one section is
 * tried again as the start of the next: dialect/stages/known_plan.h remembers. */
#include "passes/section/section_trial.h"

#include "dialect/samba/graph.h"
#include "dialect/stages/read_section.h"
#include "support/container/pointer_map.h"

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

bool sambaSectionTry(const SambaPlanTarget *target, const MlirOperation *operators, uint32_t count,
                     double *out_cycles) {
  SambaArena arena = {0};
  uint32_t operation_count;
  SambaStageGraph *graph;
  MlirOperation *operations = gather(operators, count, &arena, &operation_count);
  SambaStatus status = sambaOperationsRead(operations, operation_count, &arena, &graph);
  bool fits = !status && sambaPlanTry(target, graph, out_cycles);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return fits;
}

bool sambaOperatorFits(const SambaPlanTarget *target, MlirOperation operation) {
  SambaArena arena = {0};
  SambaStageGraph *graph;
  double unused;
  SambaStatus status = sambaOperationsRead(&operation, 1, &arena, &graph);
  bool fits = !status && sambaPlanTry(target, graph, &unused);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return fits;
}
