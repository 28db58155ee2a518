/* Known plans; see known_plan.h. */
#include "dialect/stages/known_plan.h"

#include "backend/codegen/banking.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/predict.h"
#include "backend/plan/search_memo.h"
#include "backend/stage/stage_key.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/work.h"
#include "support/container/packed_words.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Plan {
  bool fits;  /* its section can be emitted within the machine's units; without one, nothing else */
  bool ahead; /* made ahead of whoever asks for it, and not asked for so far */
  SambaPlanCost cost;
  char *why; /* it has none; owned */
  uint32_t stage_count;
  uint64_t *mappings; /* packed: most sections have many plans on their way to their size */
} Plan;

static void freePlan(void *plan) {
  free(((Plan *)plan)->why);
  free(((Plan *)plan)->mappings);
  free(plan);
}

/* Where a known plan goes. */
typedef struct Wanted {
  SambaStageGraph *graph;
  bool fits;
  SambaPlanCost cost;
  SambaText *why; /* gets the reason when there is no plan; may be NULL */
} Wanted;

/* The first to ask for a plan that was made ahead counts it as made, so that counts do not depend
 * on who was faster. Nobody else reads it meanwhile. */
static void readPlan(const void *result, void *user) {
  Plan *plan = (Plan *)result;
  Wanted *wanted = user;
  if (plan->ahead && !sambaWorkIsAhead()) {
    plan->ahead = false;
    sambaWorkCount(SAMBA_WORK_PLANS_MADE);
  }
  wanted->fits = plan->fits;
  wanted->cost = plan->cost;
  if (plan->why && wanted->why)
    sambaTextAppendC(wanted->why, plan->why);
  if (plan->fits)
    sambaWordsUnpack(plan->mappings, wanted->graph->mappings,
                     plan->stage_count * sizeof *wanted->graph->mappings);
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
  uint64_t all[] = {(uint64_t)(uintptr_t)target->attribute.ptr,
                    4 * (uint64_t)divisor + target->compares, content.words[0], content.words[1]};
  return sambaBytesDigest(all, sizeof all);
}

/*===-- Banks of drafts -----------------------------------------------------------------------===*/

static SambaContentDigest digestOfKey(const SambaPlanTarget *target, const SambaByteBuffer *key) {
  SambaContentDigest content = sambaBytesDigest(key->data, key->size);
  uint64_t all[] = {(uint64_t)(uintptr_t)target->attribute.ptr, content.words[0], content.words[1]};
  return sambaBytesDigest(all, sizeof all);
}

/* Apart from that of plans: there are more of them, and they cost less to make again. */
static SambaResultStore *bankings(const SambaPlanTarget *target) {
  return sambaDialectResults(mlirAttributeGetContext(target->attribute), sambaMlirString("samba"));
}

static void freeBanking(void *banking) { free(banking); }

static void readBanking(const void *result, void *user) {
  const SambaBuffer *banking = result;
  SambaBuffer *buffer = user;
  buffer->banking = banking->banking;
  buffer->row_words = banking->row_words;
  buffer->skew = banking->skew;
}

static bool findBanking(void *user, const SambaByteBuffer *key, SambaBuffer *out_banking) {
  const SambaPlanTarget *target = user;
  return sambaResultStoreRead(bankings(target), digestOfKey(target, key), freeBanking, readBanking,
                              out_banking);
}

static void keepBanking(void *user, const SambaByteBuffer *key, const SambaBuffer *banking) {
  const SambaPlanTarget *target = user;
  SambaBuffer *kept = sambaAllocate(sizeof *kept);
  *kept = *banking;
  sambaResultStorePut(bankings(target), digestOfKey(target, key), kept, freeBanking);
}

/*===-- Plans in the making -------------------------------------------------------------------===*/

/* A plan that a thread makes: who wants the same one waits for it. */
typedef struct Making {
  SambaContentDigest digest;
  struct Making *next;
} Making;

static Making *all_makings; /* of the process: digests tell contexts apart */
static pthread_mutex_t makings_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t makings_change = PTHREAD_COND_INITIALIZER;

static bool isMade(SambaContentDigest digest) {
  const Making *making = all_makings;
  while (making &&
         (making->digest.words[0] != digest.words[0] || making->digest.words[1] != digest.words[1]))
    making = making->next;
  return making;
}

static void beginMaking(Making *making) {
  pthread_mutex_lock(&makings_mutex);
  while (isMade(making->digest))
    pthread_cond_wait(&makings_change, &makings_mutex);
  making->next = all_makings;
  all_makings = making;
  pthread_mutex_unlock(&makings_mutex);
}

static void endMaking(const Making *making) {
  pthread_mutex_lock(&makings_mutex);
  Making **link = &all_makings;
  while (*link != making)
    link = &(*link)->next;
  *link = making->next;
  pthread_cond_broadcast(&makings_change);
  pthread_mutex_unlock(&makings_mutex);
}

/*===-- Plans ---------------------------------------------------------------------------------===*/

static SambaResultStore *plansOf(MlirContext context) {
  return sambaDialectResults(context, sambaMlirString("rdu"));
}
static SambaResultStore *plans(const SambaPlanTarget *target) {
  return plansOf(mlirAttributeGetContext(target->attribute));
}

static void releaseSearches(void *memo) { sambaSearchMemoRelease(memo); }

static void retainSearches(const void *memo, void *out_memo) {
  *(SambaSearchMemo **)out_memo = sambaSearchMemoRetain((SambaSearchMemo *)memo);
}

/* The memo of the context's searches, which the caller releases. */
static SambaSearchMemo *searchesOf(const SambaPlanTarget *target) {
  const SambaContentDigest digest = {{0}}; /* of nothing */
  SambaSearchMemo *memo = NULL;
  if (!sambaResultStoreRead(plans(target), digest, releaseSearches, retainSearches, &memo)) {
    memo = sambaSearchMemoCreate();
    sambaResultStorePut(plans(target), digest, sambaSearchMemoRetain(memo), releaseSearches);
  }
  return memo;
}

static SambaStatus planGraph(const SambaPlanTarget *target, const SambaPlanOptions *options,
                             SambaStageGraph *graph, Wanted *wanted) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaPlanOptions own = options ? *options : (SambaPlanOptions){0};
  own.searches = searchesOf(target);
  own.work = &wanted->cost.work;
  sambaWorkCount(SAMBA_WORK_PLANS_MADE);
  SambaStatus status = sambaPlanSection(graph, target->machine, &own, &arena, &section);
  sambaSearchMemoRelease(own.searches);
  wanted->fits = !status && section;
  SambaBankingMemo memo = {(void *)target, findBanking, keepBanking, target->counts};
  if (wanted->fits) /* of a draft, which has no banking */
    sambaChooseBanking(target->machine, section, &memo);
  if (wanted->fits) {
    wanted->cost.cycles = sambaSectionPredict(section, target->machine, target->counts).cycles +
                          sambaSectionLaunchCycles(section, target->machine);
    wanted->cost.load = sambaSectionLoadCycles(section, target->machine);
  }
  sambaArenaDestroy(&arena);
  return status;
}

/* Whether sums of the section go through PMUs: the tiles of what is reduced are the outermost loop.
 */
static bool carriesSums(const SambaStageGraph *graph) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaMapping *mapping = &graph->mappings[s];
    uint32_t outer = mapping->order[0];
    if (mapping->dim_count > 1 && graph->stages[s].reduced[outer] &&
        mapping->tile[outer] < graph->stages[s].extents[outer])
      return true;
  }
  return false;
}

/* Another plan must be predicted to take at most this share of the cycles: the prediction is not
 * exact. */
static const double otherShare = 0.99;

/* Sums in parts need more PMUs and streams, which are loaded once however often the section runs:
 * this share of the load does not count then, as in the planner's scores. */
static const double residentShare = 0.5;

/* And such a plan must be predicted to save more: it hangs more on how memory is shared. */
static const double partsShare = 0.98;

/* Whether another plan is worth taking; parts: its sums may come in parts. */
static bool isWorth(const SambaPlanCost *other, const SambaPlanCost *best, bool parts) {
  if (!parts)
    return other->cycles <= otherShare * best->cycles;
  return other->cycles <= partsShare * best->cycles ||
         other->cycles - residentShare * other->load <=
             partsShare * (best->cycles - residentShare * best->load);
}

/* The planner ranks candidates by a model that is coarser than the prediction. So what it does with
 * more room may be slower than what it does with less: these plans are made too, the first one with
 * other numbers of replicas, and compared by the prediction. `given`: the mappings that were there
 * before. */
static void compareOthers(const SambaPlanTarget *target, SambaPlanCompare compares,
                          const SambaMapping *given, Wanted *wanted) {
  static const struct {
    int64_t pmu_bytes, grid_rows, bandwidth; /* divisors */
    uint32_t pcus;
    uint32_t sum_parts;
    bool tries_beside;
  } others[] = {{1, 1, 1, 1, 0, true},  {2, 1, 1, 1, 0, false}, {4, 1, 1, 1, 0, false},
                {1, 2, 1, 1, 0, false}, {1, 1, 2, 1, 0, false}, {1, 1, 1, 2, 0, false},
                {1, 1, 1, 1, 1, false}, {1, 1, 1, 1, 2, false}, {1, 1, 1, 1, 4, false}};
  SambaStageGraph *graph = wanted->graph;
  size_t size = graph->stage_count * sizeof *graph->mappings;
  SambaMapping *best = sambaAllocate(size + 1);
  bool carried = carriesSums(graph);
  SambaSearchMemo *searches = searchesOf(target);
  uint64_t work = wanted->cost.work;
  memcpy(best, graph->mappings, size);
  size_t count = compares == SAMBA_COMPARE_ALL ? sizeof others / sizeof *others : 1;
  for (size_t i = 0; i < count; ++i) {
    SambaMachine machine = *target->machine;
    machine.pmu_bytes /= others[i].pmu_bytes;
    machine.grid_rows /= others[i].grid_rows;
    machine.hbm_channel_mbps /= others[i].bandwidth;
    SambaPlanOptions options = {.parallel_divisor = others[i].pcus,
                                .sum_parts = others[i].sum_parts,
                                .tries_beside = others[i].tries_beside,
                                .searches = searches,
                                .work = &work};
    Wanted other = {.graph = graph};
    memcpy(graph->mappings, given, size);
    SambaStatus status = sambaPlanTiles(graph, &machine, &options);
    bool same = !status && memcmp(graph->mappings, best, size) == 0;
    /* Sums that go through PMUs are for fewer bytes, and take longer than predicted. */
    bool wanting = !status && !carried && carriesSums(graph);
    if (!status && !same && !wanting) /* it has all mappings now: emitted for the whole machine */
      status = planGraph(target, NULL, graph, &other);
    work += other.cost.work;
    if (!status && other.fits && isWorth(&other.cost, &wanted->cost, others[i].sum_parts > 0)) {
      memcpy(best, graph->mappings, size);
      wanted->cost = other.cost;
    }
    sambaStatusFree(status);
  }
  memcpy(graph->mappings, best, size);
  wanted->cost.work = work;
  sambaSearchMemoRelease(searches);
  free(best);
}

void sambaKnownPlansTrim(MlirContext context) {
  enum { most = 512 };
  sambaResultStoreTrim(plansOf(context), freePlan, most);
}

static void keepPlan(const SambaPlanTarget *target, SambaContentDigest digest, const Wanted *wanted,
                     const char *why) {
  uint32_t count = wanted->fits ? wanted->graph->stage_count : 0;
  Plan *plan = sambaAllocate(sizeof *plan);
  *plan = (Plan){.fits = wanted->fits,
                 .ahead = sambaWorkIsAhead(),
                 .cost = wanted->cost,
                 .stage_count = count};
  if (!wanted->fits)
    plan->why = strdup(why);
  SambaPackedWords words = {0};
  sambaWordsPack(wanted->graph->mappings, count * sizeof *wanted->graph->mappings, &words);
  plan->mappings = sambaReallocate(words.data, words.size, sizeof *words.data);
  sambaResultStorePut(plans(target), digest, plan, freePlan);
}

/* Whether it is known that there is a plan, or - when nobody asks why - that there is none. */
static bool findPlan(const SambaPlanTarget *target, SambaContentDigest digest, Wanted *wanted,
                     bool say_why) {
  return sambaResultStoreRead(plans(target), digest, freePlan, readPlan, wanted) &&
         (wanted->fits || !say_why);
}

/* Plans unless the plan is known, or another thread makes it just now. */
static SambaStatus planOrFind(const SambaPlanTarget *target, const SambaPlanOptions *options,
                              Wanted *wanted, bool say_why) {
  Making making = {.digest = digestOf(target, divisorOf(options), wanted->graph)};
  if (findPlan(target, making.digest, wanted, say_why))
    return NULL;
  beginMaking(&making);
  if (findPlan(target, making.digest, wanted, say_why)) {
    endMaking(&making);
    return NULL;
  }

  wanted->cost = (SambaPlanCost){0};
  SambaStatus status = planGraph(target, options, wanted->graph, wanted);
  const char *why = status ? sambaStatusGetMessage(status) : "code generation refuses the plan";
  keepPlan(target, making.digest, wanted, why);
  endMaking(&making);
  if (!wanted->fits && wanted->why)
    sambaTextAppendC(wanted->why, why);
  return status;
}

/* The same, of a target that compares. */
static SambaStatus compareOrFind(const SambaPlanTarget *target, Wanted *wanted, bool say_why) {
  SambaStageGraph *graph = wanted->graph;
  SambaContentDigest digest = digestOf(target, 1, graph);
  if (sambaResultStoreRead(plans(target), digest, freePlan, readPlan, wanted))
    return NULL;

  SambaPlanTarget own = *target;
  own.compares = SAMBA_COMPARE_NONE;
  size_t size = graph->stage_count * sizeof *graph->mappings;
  SambaMapping *given = sambaAllocate(size + 1);
  memcpy(given, graph->mappings, size);
  SambaStatus status = planOrFind(&own, NULL, wanted, say_why);
  if (wanted->fits) {
    compareOthers(&own, target->compares, given, wanted);
    keepPlan(target, digest, wanted, NULL);
  }
  free(given);
  return status;
}

bool sambaPlanTry(const SambaPlanTarget *target, SambaStageGraph *graph, SambaPlanCost *out_cost,
                  SambaText *why) {
  Wanted wanted = {.graph = graph, .why = why};
  sambaStatusFree(target->compares ? compareOrFind(target, &wanted, false)
                                   : planOrFind(target, NULL, &wanted, false));
  *out_cost = wanted.cost;
  return wanted.fits;
}

SambaStatus sambaPlanOnce(const SambaPlanTarget *target, const SambaPlanOptions *options,
                          SambaStageGraph *graph) {
  Wanted wanted = {.graph = graph};
  if (target->compares && divisorOf(options) == 1)
    return compareOrFind(target, &wanted, true);
  return planOrFind(target, options, &wanted, true);
}
