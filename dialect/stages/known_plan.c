/* Known plans; see known_plan.h. */
#include "dialect/stages/known_plan.h"

#include "backend/codegen/banking.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/predict.h"
#include "backend/plan/search_memo.h"
#include "backend/plan/widen.h"
#include "backend/stage/stage_key.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/operation_digest.h"
#include "dialect/bridge/work.h"
#include "support/container/packed_words.h"

#include <math.h>
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

/*===-- Drafts --------------------------------------------------------------------------------===*/

static SambaContentDigest digestOfKey(const SambaPlanTarget *target, const SambaByteBuffer *key) {
  SambaContentDigest content = sambaBytesDigest(key->data, key->size);
  uint64_t all[] = {(uint64_t)(uintptr_t)target->attribute.ptr, content.words[0], content.words[1]};
  return sambaBytesDigest(all, sizeof all);
}

/* Apart from that of plans: there are more of them, and they cost less to make again. */
static SambaResultStore *draftsOf(const SambaPlanTarget *target) {
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
  return sambaResultStoreRead(draftsOf(target), digestOfKey(target, key), freeBanking, readBanking,
                              out_banking);
}

static void keepBanking(void *user, const SambaByteBuffer *key, const SambaBuffer *banking) {
  const SambaPlanTarget *target = user;
  SambaBuffer *kept = sambaAllocate(sizeof *kept);
  *kept = *banking;
  sambaResultStorePut(draftsOf(target), digestOfKey(target, key), kept, freeBanking);
}

/*===-- Pipelines of drafts -------------------------------------------------------------------===*/

static void freeCycles(void *cycles) { free(cycles); }

static void readCycles(const void *result, void *user) {
  *(double *)user = *(const double *)result;
}

static bool findCycles(void *user, const SambaByteBuffer *key, double *out_cycles) {
  const SambaPlanTarget *target = user;
  return sambaResultStoreRead(draftsOf(target), digestOfKey(target, key), freeCycles, readCycles,
                              out_cycles);
}

static void keepCycles(void *user, const SambaByteBuffer *key, double cycles) {
  const SambaPlanTarget *target = user;
  double *kept = sambaAllocate(sizeof *kept);
  *kept = cycles;
  sambaResultStorePut(draftsOf(target), digestOfKey(target, key), kept, freeCycles);
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

static bool isBeingMade(SambaContentDigest digest) {
  const Making *making = all_makings;
  while (making &&
         (making->digest.words[0] != digest.words[0] || making->digest.words[1] != digest.words[1]))
    making = making->next;
  return making;
}

static void beginMaking(Making *making) {
  pthread_mutex_lock(&makings_mutex);
  while (isBeingMade(making->digest))
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

/* Whether it is known that there is a plan, or - when nobody asks why - that there is none. */
static bool findPlan(const SambaPlanTarget *target, SambaContentDigest digest, Wanted *wanted,
                     bool say_why) {
  return sambaResultStoreRead(plans(target), digest, freePlan, readPlan, wanted) &&
         (wanted->fits || !say_why);
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

/* Another plan must be predicted to take at most this share of the cycles: the prediction is not
 * exact. */
static const double otherShare = 0.99;

/* Sums in parts need more PMUs and streams, which are loaded once however often the section runs:
 * this share of the load does not count then. */
static const double residentShare = 1;

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

/* Cycles beyond which no plan with that load is worth taking, and a little more. */
static double mostWorth(double load, const SambaPlanCost *best, bool parts) {
  const double rounding = 1 + 1e-9;
  double most = otherShare * best->cycles;
  if (parts)
    most =
        fmax(most, residentShare * load + partsShare * (best->cycles - residentShare * best->load));
  return rounding * most;
}

/* What a section costs, which is a draft without banking. best: only exact where it may be worth
 * taking instead of that, else perhaps less than it is; NULL: exact. Returns whether it is. */
static bool priceSection(const SambaPlanTarget *target, SambaSection *section,
                         const SambaPlanCost *best, bool parts, SambaPlanCost *cost) {
  SambaBankingMemo bankings = {(void *)target, findBanking, keepBanking, target->counts};
  SambaPipelineMemo pipelines = {(void *)target, findCycles, keepCycles};
  sambaChooseBanking(target->machine, section, &bankings);
  cost->load = sambaSectionLoadCycles(section, target->machine);
  double launch = cost->load + sambaSectionStartCycles(target->machine);
  double most = best ? mostWorth(cost->load, best, parts) - launch : INFINITY;
  SambaPrediction prediction =
      sambaSectionPredictWithin(section, target->machine, target->counts, most, &pipelines);
  cost->cycles = prediction.cycles + launch;
  return prediction.cycles <= most;
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
  if (wanted->fits)
    priceSection(target, section, NULL, false, &wanted->cost);
  sambaArenaDestroy(&arena);
  return status;
}

/* A way to plan otherwise: for less of the machine (divisors), with other options, or what is next
 * by the planner's own estimate (rank). */
typedef struct OtherWay {
  int64_t pmu_bytes, grid_rows, bandwidth;
  uint32_t pcus, sum_parts, rank;
  enum { AS_IS, TRIES_BESIDE, CARRIES_SUMS, LOADS_APART } option;
} OtherWay;

static const OtherWay otherWays[] = {
    /* PMU bytes, rows, bandwidth, PCUs; parts of sums; rank */
    {1, 1, 1, 1, 0, 0, TRIES_BESIDE}, {2, 1, 1, 1, 0, 0, AS_IS},
    {4, 1, 1, 1, 0, 0, AS_IS},        {8, 1, 1, 1, 0, 0, AS_IS},
    {1, 2, 1, 1, 0, 0, AS_IS},        {1, 1, 2, 1, 0, 0, AS_IS},
    {1, 1, 1, 2, 0, 0, AS_IS},        {1, 1, 1, 1, 1, 0, AS_IS},
    {1, 1, 1, 1, 2, 0, AS_IS},        {1, 1, 1, 1, 4, 0, AS_IS},
    {1, 1, 1, 1, 0, 0, CARRIES_SUMS}, {2, 1, 1, 1, 0, 0, CARRIES_SUMS},
    {4, 1, 1, 1, 0, 0, CARRIES_SUMS}, {8, 1, 1, 1, 0, 0, CARRIES_SUMS},
    {1, 1, 1, 1, 0, 0, LOADS_APART},  {1, 1, 1, 1, 0, 1, AS_IS},
    {1, 1, 1, 1, 0, 2, AS_IS},        {1, 1, 1, 1, 0, 3, AS_IS}};
enum { otherWayCount = sizeof otherWays / sizeof *otherWays };

/* Plans of a graph that have been compared: several ways lead to the same one. */
typedef struct Comparison {
  const SambaPlanTarget *target;
  SambaStageGraph *graph;
  SambaPlanCost best;
  uint32_t count, taken; /* which of them is the best */
  struct {
    SambaMapping *mappings;
    bool fits, exact; /* exact: its cycles are not just too many */
    SambaPlanCost cost;
  } plans[otherWayCount + 1];
} Comparison;

static size_t mappingBytes(const SambaStageGraph *graph) {
  return graph->stage_count * sizeof *graph->mappings;
}

static SambaMapping *copyMappings(const SambaMapping *mappings, const SambaStageGraph *graph) {
  SambaMapping *copy = sambaAllocate(mappingBytes(graph) + 1);
  memcpy(copy, mappings, mappingBytes(graph));
  return copy;
}

/* The plan of the graph among those that were compared; the count when it is none of them. */
static uint32_t findCompared(const Comparison *comparison) {
  const SambaStageGraph *graph = comparison->graph;
  uint32_t i = 0;
  while (i < comparison->count &&
         memcmp(comparison->plans[i].mappings, graph->mappings, mappingBytes(graph)) != 0)
    ++i;
  return i;
}

/* What is known of the cycles of a plan: nothing, because it does not fit; that they are too many;
 * how many. */
typedef enum { PRICED_UNFIT, PRICED_TOO_MUCH, PRICED_EXACTLY } Priced;

/* Prices the plan of the graph on the whole machine. section: its draft, when there is one. */
static Priced priceMapped(const Comparison *comparison, SambaSection *section, bool parts,
                          SambaPlanCost *out_cost) {
  const SambaPlanTarget *target = comparison->target;
  SambaArena arena = {0};
  SambaStatus status = NULL;
  Priced priced = PRICED_UNFIT;
  sambaWorkCount(SAMBA_WORK_PLANS_MADE);
  *out_cost = (SambaPlanCost){0};
  if (!section)
    status = sambaPlanSection(comparison->graph, target->machine, NULL, &arena, &section);
  if (!status && section)
    priced = priceSection(target, section, &comparison->best, parts, out_cost) ? PRICED_EXACTLY
                                                                               : PRICED_TOO_MUCH;
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return priced;
}

static void priceOther(Comparison *comparison, uint32_t index, SambaSection *section, bool parts) {
  Priced priced = priceMapped(comparison, section, parts, &comparison->plans[index].cost);
  comparison->plans[index].fits = priced != PRICED_UNFIT;
  comparison->plans[index].exact = priced != PRICED_TOO_MUCH;
}

/* Plans the graph, which has the mappings that were given, in another way, and takes that plan
 * where it is worth it. Returns the work. */
static uint64_t compareOther(Comparison *comparison, const OtherWay *way,
                             SambaSearchMemo *searches) {
  SambaMachine machine = *comparison->target->machine;
  machine.pmu_bytes /= way->pmu_bytes;
  machine.grid_rows /= way->grid_rows;
  machine.hbm_channel_mbps /= way->bandwidth;
  bool whole = way->pmu_bytes * way->grid_rows * way->bandwidth == 1;
  bool parts = way->sum_parts > 0;
  uint64_t work = 0;
  SambaPlanOptions options = {.parallel_divisor = way->pcus,
                              .sum_parts = way->sum_parts,
                              .rank = way->rank,
                              .tries_beside = way->option == TRIES_BESIDE,
                              .carries_sums = way->option == CARRIES_SUMS,
                              .loads_apart = way->option == LOADS_APART,
                              .searches = searches,
                              .work = &work};
  if (options.loads_apart || options.rank) /* the searches are those of the first plan once more */
    options.work = NULL;
  SambaArena arena = {0};
  SambaSection *section;
  SambaStatus status = sambaPlanSection(comparison->graph, &machine, &options, &arena, &section);
  if (!status) {
    uint32_t i = findCompared(comparison);
    bool is_new = i == comparison->count;
    if (is_new)
      comparison->plans[comparison->count++].mappings =
          copyMappings(comparison->graph->mappings, comparison->graph);
    if (is_new || !comparison->plans[i].exact)
      priceOther(comparison, i, whole ? section : NULL, parts);
    if (comparison->plans[i].fits &&
        isWorth(&comparison->plans[i].cost, &comparison->best, parts)) {
      comparison->taken = i;
      comparison->best = comparison->plans[i].cost;
    }
  }
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return work;
}

/* Tries all steps that widen the plan that was taken, and takes the best one where it is worth it;
 * false when none is. Takes from `trials` what it has tried. */
static bool widenOnce(Comparison *comparison, const SambaMapping *given, uint32_t *trials) {
  SambaStageGraph *graph = comparison->graph;
  SambaMapping *taken = comparison->plans[comparison->taken].mappings;
  SambaMapping *start = copyMappings(taken, graph);
  bool better = false;
  for (uint32_t step = 0; *trials; ++step, --*trials) {
    SambaPlanCost cost;
    memcpy(graph->mappings, start, mappingBytes(graph));
    if (!sambaPlanWiden(graph, comparison->target->machine, given, step))
      break;
    if (priceMapped(comparison, NULL, false, &cost) != PRICED_EXACTLY ||
        !isWorth(&cost, &comparison->best, false))
      continue;
    memcpy(taken, graph->mappings, mappingBytes(graph));
    comparison->best = cost;
    better = true;
  }
  free(start);
  return better;
}

/* Widens the plan that was taken as far as the prediction says that it pays. */
static void widenTaken(Comparison *comparison, const SambaMapping *given) {
  enum { mostTrials = 16 };
  uint32_t trials = mostTrials;
  while (trials && widenOnce(comparison, given, &trials))
    ;
}

/* Whether the plan of the graph is one group. That has no replicas, and other plans of it are made
 * quickly: whoever asks for those beside the best numbers of replicas gets all of them. */
static bool isOneGroup(const SambaStageGraph *graph) {
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    if (graph->mappings[s].group)
      return false;
  return true;
}

/* Begins with what is known of the first of the other ways, which the partitioner compares alone
 * for many sections. Returns how many ways are known. */
static uint32_t beginComparison(Comparison *comparison, SambaPlanCompare compares,
                                const SambaMapping *given) {
  SambaPlanTarget one = *comparison->target;
  Wanted known = {.graph = comparison->graph};
  one.compares = SAMBA_COMPARE_REPLICAS;
  memcpy(comparison->graph->mappings, given, mappingBytes(comparison->graph));
  if (compares != SAMBA_COMPARE_ALL ||
      !findPlan(&one, digestOf(&one, 1, comparison->graph), &known, false))
    return 0;

  uint32_t i = findCompared(comparison);
  if (i == comparison->count)
    comparison->plans[comparison->count++].mappings =
        copyMappings(comparison->graph->mappings, comparison->graph);
  comparison->plans[i].fits = comparison->plans[i].exact = true;
  comparison->plans[i].cost = comparison->best = known.cost;
  comparison->taken = i;
  return isOneGroup(comparison->graph) ? otherWayCount : 1;
}

/* The planner ranks candidates by a model that is coarser than the prediction. So what it does with
 * more room may be slower than what it does with less, and what it ranks lower may be the best:
 * these plans are made too, the first one with other numbers of replicas, and compared by the
 * prediction. `given`: the mappings that were there
 * before. */
static void compareOthers(const SambaPlanTarget *target, SambaPlanCompare compares,
                          const SambaMapping *given, Wanted *wanted) {
  SambaStageGraph *graph = wanted->graph;
  Comparison comparison = {.target = target, .graph = graph, .best = wanted->cost, .count = 1};
  comparison.plans[0].mappings = copyMappings(graph->mappings, graph);
  comparison.plans[0].fits = comparison.plans[0].exact = true;
  comparison.plans[0].cost = comparison.best;
  SambaSearchMemo *searches = searchesOf(target);
  bool alone = isOneGroup(graph); /* of such a plan there are no others by rank */
  uint32_t count = compares == SAMBA_COMPARE_ALL || alone ? otherWayCount : 1;
  uint32_t known = beginComparison(&comparison, compares, given);
  uint64_t work = comparison.best.work;
  for (uint32_t i = known; i < count; ++i) {
    memcpy(graph->mappings, given, mappingBytes(graph));
    if (!alone || !otherWays[i].rank)
      work += compareOther(&comparison, &otherWays[i], searches);
  }
  if (compares == SAMBA_COMPARE_ALL)
    widenTaken(&comparison, given);
  memcpy(graph->mappings, comparison.plans[comparison.taken].mappings, mappingBytes(graph));
  wanted->cost = comparison.best;
  wanted->cost.work = work;
  sambaSearchMemoRelease(searches);
  for (uint32_t i = 0; i < comparison.count; ++i)
    free(comparison.plans[i].mappings);
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
