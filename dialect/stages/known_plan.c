/* Known plans; see known_plan.h. */
#include "dialect/stages/known_plan.h"

#include "backend/codegen/banking.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/predict.h"
#include "backend/stage/stage_key.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/work.h"

#include <stdlib.h>
#include <string.h>

typedef struct Plan {
  bool fits; /* its section can be emitted within the machine's units; without one, nothing else */
  double cycles;
  char *why; /* it has none; owned */
  uint32_t stage_count;
  SambaMapping mappings[];
} Plan;

static void freePlan(void *plan) {
  free(((Plan *)plan)->why);
  free(plan);
}

/* Where a known plan goes. */
typedef struct Wanted {
  SambaStageGraph *graph;
  bool fits;
  double cycles;
  SambaText *why; /* gets the reason when there is no plan; may be NULL */
} Wanted;

static void readPlan(const void *result, void *user) {
  const Plan *plan = result;
  Wanted *wanted = user;
  wanted->fits = plan->fits;
  wanted->cycles = plan->cycles;
  if (plan->why && wanted->why)
    sambaTextAppendC(wanted->why, plan->why);
  if (plan->fits)
    memcpy(wanted->graph->mappings, plan->mappings, plan->stage_count * sizeof *plan->mappings);
}

static uint32_t divisorOf(const SambaPlanOptions *options) {
  return options && options->parallel_divisor > 1 ? options->parallel_divisor : 1;
}

static SambaContentDigest digestOf(const SambaPlanTarget *target, uint32_t divisor,
                                   const SambaStageGraph *graph) {
  SambaArena arena = {0};
  SambaStringRef key = sambaStageGraphKey(graph, &arena);
  SambaContentDigest content = sambaBytesDigest(key.data, key.size);
  sambaArenaDestroy(&arena);
  /* Attributes exist once per context for each content. */
  uint64_t all[] = {(uint64_t)(uintptr_t)target->attribute.ptr, divisor, content.words[0],
                    content.words[1]};
  return sambaBytesDigest(all, sizeof all);
}

static SambaStatus planGraph(const SambaPlanTarget *target, const SambaPlanOptions *options,
                             SambaStageGraph *graph, Wanted *wanted) {
  SambaArena arena = {0};
  SambaSection *section;
  sambaWorkCount(SAMBA_WORK_PLANS_MADE);
  SambaStatus status = sambaPlanSection(graph, target->machine, options, &arena, &section);
  wanted->fits = !status && section;
  if (wanted->fits) /* of a draft, which has no banking */
    sambaChooseBanking(target->machine, section);
  if (wanted->fits)
    wanted->cycles = sambaSectionPredict(section, target->machine).cycles +
                     sambaSectionLaunchCycles(section, target->machine);
  sambaArenaDestroy(&arena);
  return status;
}

/* Plans unless it is known that there is a plan, or - when nobody asks why - that there is none. */
static SambaStatus planOrFind(const SambaPlanTarget *target, const SambaPlanOptions *options,
                              Wanted *wanted, bool say_why) {
  SambaStageGraph *graph = wanted->graph;
  MlirContext context = mlirAttributeGetContext(target->attribute);
  SambaResultStore *store = sambaDialectResults(context, sambaMlirString("rdu"));
  SambaContentDigest digest = digestOf(target, divisorOf(options), graph);
  if (sambaResultStoreRead(store, digest, freePlan, readPlan, wanted) && (wanted->fits || !say_why))
    return NULL;

  SambaStatus status = planGraph(target, options, graph, wanted);
  uint32_t count = wanted->fits ? graph->stage_count : 0;
  Plan *plan = sambaAllocate(sizeof *plan + sambaArraySize(count, sizeof *plan->mappings));
  *plan = (Plan){.fits = wanted->fits, .cycles = wanted->cycles, .stage_count = count};
  if (!wanted->fits) {
    const char *why = status ? sambaStatusGetMessage(status) : "code generation refuses the plan";
    plan->why = strdup(why);
    if (wanted->why)
      sambaTextAppendC(wanted->why, why);
  }
  if (count)
    memcpy(plan->mappings, graph->mappings, count * sizeof *plan->mappings);
  sambaResultStorePut(store, digest, plan, freePlan);
  return status;
}

bool sambaPlanTry(const SambaPlanTarget *target, SambaStageGraph *graph, double *out_cycles,
                  SambaText *why) {
  Wanted wanted = {.graph = graph, .why = why};
  sambaStatusFree(planOrFind(target, NULL, &wanted, false));
  *out_cycles = wanted.cycles;
  return wanted.fits;
}

SambaStatus sambaPlanOnce(const SambaPlanTarget *target, const SambaPlanOptions *options,
                          SambaStageGraph *graph) {
  Wanted wanted = {.graph = graph};
  return planOrFind(target, options, &wanted, true);
}
