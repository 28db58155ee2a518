/* Trials of sections; see section_trial.h. Layers repeat, and what did not join one section is
 * tried again as the start of the next: dialect/stages/known_plan.h remembers. */
#include "passes/section/section_trial.h"

#include "dialect/samba/graph.h"
#include "dialect/stages/read_section.h"
#include "support/container/pointer_map.h"

#include <stdlib.h>

/* The operators with the views and repeated values they read, as outlining will see them. */
typedef struct Gathered {
  SambaPointerMap seen;
  SAMBA_ARRAY(MlirOperation) operations;
} Gathered;

static MlirValue appendViews(MlirValue value, void *user) {
  Gathered *gathered = user;
  MlirOperation owner = sambaDefiningOperation(value);
  uint32_t unused;
  bool inner =
      !mlirOperationIsNull(owner) && (sambaOperationIsView(owner) || sambaOperationIsSource(owner));
  if (!inner || sambaPointerMapGet(&gathered->seen, owner.ptr, &unused))
    return value;
  sambaPointerMapSet(&gathered->seen, owner.ptr, 0);
  sambaMapInputs(owner, appendViews, gathered);
  sambaArrayAppend(&gathered->operations, owner);
  return value;
}

static void gather(const MlirOperation *operators, uint32_t count, Gathered *gathered) {
  for (uint32_t i = 0; i < count; ++i) {
    sambaMapInputs(operators[i], appendViews, gathered);
    sambaArrayAppend(&gathered->operations, operators[i]);
  }
}

bool sambaSectionTry(const SambaPlanTarget *target, const MlirOperation *operators, uint32_t count,
                     double *out_cycles) {
  SambaArena arena = {0};
  SambaStageGraph *graph;
  Gathered gathered = {0};
  gather(operators, count, &gathered);
  SambaStatus status = sambaOperationsRead(gathered.operations.data,
                                           (uint32_t)gathered.operations.size, &arena, &graph);
  bool fits = !status && sambaPlanTry(target, graph, out_cycles);
  sambaPointerMapFree(&gathered.seen);
  sambaArrayFree(&gathered.operations);
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
