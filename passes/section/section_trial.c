/* Trials of sections; see section_trial.h. Layers repeat, and what did not join one section is
 * tried again as the start of the next: dialect/stages/known_plan.h remembers. */
#include "passes/section/section_trial.h"

#include "dialect/stages/read_operators.h"

bool sambaSectionTry(const SambaPlanTarget *target, const MlirOperation *operators, uint32_t count,
                     SambaPlanCost *out_cost, SambaText *why) {
  SambaArena arena = {0};
  SambaStageGraph *graph;
  SambaStatus status = sambaOperatorsRead(operators, count, &arena, &graph);
  bool fits = !status && sambaPlanTry(target, graph, out_cost, why);
  if (status && why)
    sambaTextAppendC(why, sambaStatusGetMessage(status));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return fits;
}

bool sambaOperatorFits(const SambaPlanTarget *target, MlirOperation operation) {
  SambaArena arena = {0};
  SambaSectionStages stages;
  SambaPlanCost unused;
  SambaStatus status = sambaOperationsRead(&operation, 1, &arena, &stages);
  bool fits = !status && sambaPlanTry(target, stages.graph, &unused, NULL);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return fits;
}
