/* The search on operators; see search_sections.h. */
#include "passes/section/search_sections.h"

#include "backend/estimate/unit_cycles.h"
#include "backend/partition/partition.h"
#include "backend/stage/stage_key.h"
#include "dialect/bridge/work.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/read_operators.h"
#include "passes/section/grow_sections.h"
#include "passes/section/section_trial.h"
#include "support/base/side_by_side.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"
#include "support/number/shape.h"

#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Operators as the search sees them, while that is made. */
typedef struct Builder {
  const SambaSearchRequest *request;
  SambaArena arena;
  SambaPartitionOperator *operators;
  SambaPointerMap number_of; /* values */
  SAMBA_ARRAY(SambaPartitionValue) values;
  SambaStringMap kinds;
  uint32_t kind_count;
  /* Of the operator that is visited. */
  SAMBA_ARRAY(SambaPartitionRead) reads;
  SAMBA_ARRAY(uint32_t) made;
  SAMBA_ARRAY(char) key;
  uint64_t most_bytes; /* of a view on the way */
} Builder;

/*===-- Values --------------------------------------------------------------------------------===*/

static uint64_t bytesOf(MlirValue value) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &type);
  uint64_t bytes = 0;
  if (!status)
    bytes = (uint64_t)sambaShapeElements(type.rank, type.dims) * sambaDTypeBytes(type.dtype);
  sambaStatusFree(status);
  return bytes;
}

/* Whether the end of the graph reads the value, through views or not. */
static bool isReturned(MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    if (sambaOperationIs(user, "func.return") ||
        (sambaOperationIsView(user) && isReturned(mlirOperationGetResult(user, 0))))
      return true;
  }
  return false;
}

static uint32_t numberOf(Builder *builder, MlirValue value) {
  uint32_t number;
  if (sambaPointerMapGet(&builder->number_of, value.ptr, &number))
    return number;
  number = (uint32_t)builder->values.size;
  sambaPointerMapSet(&builder->number_of, value.ptr, number);
  sambaArrayAppend(&builder->values, (SambaPartitionValue){.bytes = bytesOf(value)});
  return number;
}

static void putKey(Builder *builder, const void *data, size_t size) {
  sambaArrayReserve(&builder->key, builder->key.size + size);
  memcpy(builder->key.data + builder->key.size, data, size);
  builder->key.size += size;
}

static void putName(Builder *builder, MlirOperation operation) {
  MlirStringRef name = sambaOperationName(operation);
  putKey(builder, name.data, name.length);
  putKey(builder, "", 1);
}

/* A value that the operator reads, through views: the key has their names, the list has what is
 * below them. */
static MlirValue visitRead(MlirValue value, void *user) {
  Builder *builder = user;
  MlirOperation maker = sambaDefiningOperation(value);
  if (!mlirOperationIsNull(maker) && sambaOperationIs(maker, "samba.stack")) {
    putKey(builder, ".", 1);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); ++i) {
      MlirValue part = mlirOperationGetOperand(maker, i);
      sambaArrayAppend(&builder->reads, (SambaPartitionRead){.value = numberOf(builder, part),
                                                             .bytes = bytesOf(part)});
    }
    return value;
  }
  uint64_t before = builder->most_bytes, bytes = bytesOf(value);
  builder->most_bytes = bytes < before ? bytes : before;
  if (mlirOperationIsNull(maker) ||
      !(sambaOperationIsView(maker) || sambaOperationIsSource(maker))) {
    putKey(builder, ".", 1);
    sambaArrayAppend(&builder->reads, (SambaPartitionRead){.value = numberOf(builder, value),
                                                           .bytes = builder->most_bytes});
  } else {
    putName(builder, maker);
    sambaMapInputs(maker, visitRead, builder);
  }
  builder->most_bytes = before;
  return value;
}

/*===-- Operators -----------------------------------------------------------------------------===*/

/* Cycles of the stage's multiply-adds when all arrays of the machine work on them. */
static double arrayCycles(const SambaStageGraph *graph, const SambaStage *stage,
                          const SambaMachine *machine) {
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    const SambaLaneOp *op = &stage->ops[i];
    if (!sambaLaneOpIsMac(op->opcode))
      continue;
    bool wide = false;
    for (int o = 0; o < 2; ++o)
      if (op->operands[o] < stage->operand_count)
        wide |= sambaDTypeBytes(graph->tensors[stage->operands[op->operands[o]].tensor].dtype) == 4;
    double points = 1;
    for (uint32_t d = 0; d < stage->dim_count; ++d)
      points *= (double)stage->extents[d];
    double macs = (double)(machine->grid_columns * machine->grid_rows / 2) *
                  (double)(machine->systolic_rows * machine->systolic_columns);
    return points / macs * (wide ? (double)machine->systolic_f32_rate : 1);
  }
  return 0;
}

/* Whether an operator touches only a part of what it reads or writes. */
static bool touchesParts(const SambaStageGraph *graph) {
  bool parts = false;
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    parts |= sambaStageScatters(&graph->stages[s]);
    for (uint32_t i = 0; i < graph->stages[s].operand_count; ++i)
      parts |= graph->stages[s].operands[i].index_operand != SAMBA_NO_INDEX;
  }
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    parts |= graph->tensors[t].alias_of != SAMBA_NO_INDEX;
  return parts;
}

/* Operators of one kind have the same names on the way to what they read, and the same stages. */
static uint32_t kindOf(Builder *builder, const SambaStageGraph *graph, SambaArena *arena) {
  uint32_t kind;
  if (graph) {
    SambaStringRef stages = sambaStageGraphKey(graph, arena);
    putKey(builder, stages.data, stages.size);
  } else { /* it cannot be read: one of its kind */
    putKey(builder, &builder->kind_count, sizeof builder->kind_count);
  }
  SambaStringRef key = {sambaArenaCopy(&builder->arena, builder->key.data, builder->key.size),
                        builder->key.size};
  if (sambaStringMapInsert(&builder->kinds, key, builder->kind_count, &kind))
    kind = builder->kind_count++;
  return kind;
}

/* Whether the operator makes no more bytes of what the one before it makes for nobody else: both
 * together read and write no more than each of them. */
static bool followsLast(const MlirOperation *operators, uint32_t index) {
  MlirOperation before = operators[index - 1], operation = operators[index];
  return sambaOperatorFollows(before, operation) && bytesOf(mlirOperationGetResult(operation, 0)) <=
                                                        bytesOf(mlirOperationGetResult(before, 0));
}

/* A value that the operator makes, and those that lie in it. parts: it may touch parts of it only.
 */
static void visitMade(Builder *builder, MlirValue value, bool parts) {
  uint32_t number = numberOf(builder, value);
  builder->values.data[number].leaves = isReturned(value);
  if (parts)
    builder->values.data[number].bytes = 0;
  sambaArrayAppend(&builder->made, number);
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation apart = sambaUserInBlockOf(value, use);
    for (intptr_t p = 0;
         sambaOperationIs(apart, "samba.unstack") && p < mlirOperationGetNumResults(apart); ++p)
      visitMade(builder, mlirOperationGetResult(apart, p), parts);
  }
}

static void buildOperator(Builder *builder, uint32_t index) {
  MlirOperation operation = builder->request->operators[index];
  SambaPartitionOperator *operator = &builder->operators[index];
  SambaArena arena = {0};
  SambaStageGraph *graph = NULL;
  SambaStatus status = sambaOperatorsRead(&operation, 1, &arena, &graph);
  if (status)
    graph = NULL;
  sambaStatusFree(status);

  builder->key.size = builder->reads.size = 0;
  builder->most_bytes = UINT64_MAX;
  putName(builder, operation);
  sambaMapInputs(operation, visitRead, builder);
  bool parts = !graph || touchesParts(graph);
  for (size_t i = 0; i < builder->reads.size; ++i)
    builder->reads.data[i].bytes = parts ? 0 : builder->reads.data[i].bytes;

  operator->follows = index > 0 && followsLast(builder->request->operators, index);
  operator->group = builder->request->group[index];
  operator->stretch = builder->request->stretch[index];
  operator->kind = kindOf(builder, graph, &arena);
  for (uint32_t s = 0; graph && s < graph->stage_count; ++s)
    operator->cycles += arrayCycles(graph, &graph->stages[s], builder->request->target->machine);
  operator->read_count = (uint32_t)builder->reads.size;
  operator->reads = sambaArenaCopy(&builder->arena, builder->reads.data,
                                   builder->reads.size * sizeof *builder->reads.data);
  builder->made.size = 0;
  for (intptr_t r = 0; r < mlirOperationGetNumResults(operation); ++r)
    visitMade(builder, mlirOperationGetResult(operation, r), parts);
  operator->make_count = (uint32_t)builder->made.size;
  operator->makes = sambaArenaCopy(&builder->arena, builder->made.data,
                                   builder->made.size * sizeof *builder->made.data);
  sambaArenaDestroy(&arena);
}

/* Who writes to a region does it where he stands. */
static void keepPlaces(Builder *builder) {
  const SambaSearchRequest *request = builder->request;
  for (uint32_t first = 0, end; first < request->count; first = end) {
    bool keeps = false;
    for (end = first; end < request->count && request->stretch[end] == request->stretch[first];
         ++end)
      keeps |= !mlirAttributeIsNull(
          sambaOperationAttribute(request->operators[end], SAMBA_REGION_ATTRIBUTE));
    for (uint32_t i = first; i < end; ++i)
      builder->operators[i].keeps_place = keeps;
  }
}

/*===-- Prices --------------------------------------------------------------------------------===*/

typedef struct Pricing {
  const SambaSearchRequest *request;
  SambaSearchTime *time;
  const char *pass; /* that counts the work */
  uint32_t thread_count;
  SambaPortCounts **counts; /* of each thread */
} Pricing;

/* Choices at which the planner looks in a second: about as many as a core of a server of 2023
 * does. Time is counted by them, so that the same sections are found on any host. */
static const double choicesPerSecond = 9e6;

static bool isOver(void *user, double share) {
  const Pricing *pricing = user;
  return pricing->time->used >= share * pricing->time->given;
}

static bool tryOperators(const SambaSearchRequest *request, const SambaPlanTarget *target,
                         const uint32_t *numbers, uint32_t count, SambaPlanCost *cost,
                         SambaText *why) {
  MlirOperation *operators = sambaAllocate(sambaArraySize(count + 1, sizeof *operators));
  for (uint32_t i = 0; i < count; ++i)
    operators[i] = request->operators[numbers[i]];
  bool fits = sambaSectionTry(target, operators, count, cost, why);
  free(operators);
  return fits;
}

typedef struct Trials {
  const Pricing *pricing;
  SambaPartitionTrial *trials;
  uint64_t *work; /* of each */
} Trials;

static void priceOne(void *user, uint32_t index, uint32_t thread) {
  const Trials *all = user;
  const SambaSearchRequest *request = all->pricing->request;
  SambaPartitionTrial *trial = &all->trials[index];
  SambaPlanTarget target = *request->target;
  SambaPlanCost cost = {0};
  target.counts = all->pricing->counts[thread];
  target.compares = trial->careful ? SAMBA_COMPARE_REPLICAS : SAMBA_COMPARE_NONE;
  if (thread)
    sambaWorkStartPass(all->pricing->pass);
  trial->fits = tryOperators(request, &target, trial->operators, trial->count, &cost, NULL);
  trial->cycles = cost.cycles;
  trial->load = cost.load;
  all->work[index] = cost.work;
}

static void price(void *user, SambaPartitionTrial *trials, uint32_t count) {
  const Pricing *pricing = user;
  Trials all = {pricing, trials, sambaAllocateZeroed(count + 1, sizeof *all.work)};
  sambaDoSideBySide(count, pricing->thread_count, priceOne, &all);
  for (uint32_t i = 0; i < count; ++i)
    pricing->time->used += (double)all.work[i] / choicesPerSecond;
  free(all.work);
}

/* Prices are asked for a few at a time: more threads would wait. */
static Pricing createPricing(const SambaSearchRequest *request, SambaSearchTime *time) {
  enum { mostThreads = 4 };
  Pricing pricing = {.request = request, .time = time, .pass = sambaWorkPass(), .thread_count = 1};
  if (request->count)
    pricing.thread_count = mlirContextGetNumThreads(mlirOperationGetContext(request->operators[0]));
  pricing.thread_count = pricing.thread_count < mostThreads ? pricing.thread_count : mostThreads;
  pricing.counts = sambaAllocate(mostThreads * sizeof *pricing.counts);
  pricing.counts[0] = request->target->counts;
  for (uint32_t i = 1; i < pricing.thread_count; ++i)
    pricing.counts[i] = sambaPortCountsCreate(request->target->machine);
  return pricing;
}

static void freePricing(Pricing *pricing) {
  for (uint32_t i = 1; i < pricing->thread_count; ++i)
    sambaPortCountsFree(pricing->counts[i]);
  free(pricing->counts);
}

/*===-- The result ----------------------------------------------------------------------------===*/

static MlirAttribute endOf(const SambaSearchRequest *request, const SambaPartition *found,
                           uint32_t index) {
  static const SambaSectionEndKind kinds[] = {
      [SAMBA_PARTITION_GRAPH] = SAMBA_END_OF_GRAPH,   [SAMBA_PARTITION_ORDER] = SAMBA_END_BY_ORDER,
      [SAMBA_PARTITION_NUMBER] = SAMBA_END_BY_NUMBER, [SAMBA_PARTITION_ROOM] = SAMBA_END_BY_ROOM,
      [SAMBA_PARTITION_SEARCH] = SAMBA_END_BY_SEARCH, [SAMBA_PARTITION_TIME] = SAMBA_END_BY_TIME};
  const SambaPartitionSection *section = &found->sections[index];
  const uint32_t *order = &found->order[section->first];
  SambaSectionEnd end = {.kind = kinds[section->end], .more = section->more};
  MlirOperation next = {NULL};
  if (section->end != SAMBA_PARTITION_GRAPH)
    next = request->operators[order[section->count]];
  if (section->end == SAMBA_PARTITION_ROOM) {
    SambaPlanCost unused;
    tryOperators(request, request->target, order, section->count + section->next, &unused,
                 &end.why);
  }
  MlirAttribute attribute =
      sambaSectionEndAttribute(&end, mlirOperationGetContext(request->operators[order[0]]), next);
  sambaTextFree(&end.why);
  return attribute;
}

static void countWork(const SambaPartition *found) {
  sambaWorkAdd(SAMBA_WORK_INTERVALS_PRICED, found->priced);
  sambaWorkAdd(SAMBA_WORK_INTERVALS_REUSED, found->reused);
  sambaWorkAdd(SAMBA_WORK_INTERVALS_SKIPPED, found->skipped);
  sambaWorkAdd(SAMBA_WORK_GRAPHS_REORDERED, found->reordered);
  sambaWorkAdd(SAMBA_WORK_SEARCHES_OVER, found->over);
}

static SambaPartitionProblem problemOf(const Builder *builder, Pricing *pricing) {
  const SambaSearchRequest *request = builder->request;
  const SambaMachine *machine = request->target->machine;
  uint64_t units = (uint64_t)(machine->grid_columns * machine->grid_rows / 2);
  double pair = sambaMachinePcuLoadCycles(machine) + sambaMachinePmuLoadCycles(machine);
  double clock = (double)machine->clock_hz * 1e-9;
  double load = (double)machine->load_latency_ns * clock;
  double start = (double)(machine->argument_latency_ns + machine->execute_hw_ns) * clock;
  uint64_t memory = (uint64_t)(machine->hbm_bytes ? machine->hbm_bytes : machine->ddr_bytes);
  return (SambaPartitionProblem){.operator_count = request->count,
                                 .operators = builder->operators,
                                 .value_count = (uint32_t)builder->values.size,
                                 .values = builder->values.data,
                                 .most = request->most,
                                 .bytes_per_cycle = sambaMachineDramBytesPerCycle(machine),
                                 .launch = load + start,
                                 .load = load + (double)units * pair,
                                 .memory = memory / 2, /* weights and inputs want some, too */
                                 .seed_count = request->seed_count,
                                 .seed = request->seed,
                                 .price = price,
                                 .isOver = isOver,
                                 .user = pricing};
}

/* Operators that trials plan in a second at most, and the share of its intervals without which the
 * search comes nowhere near sections as long as those that are known. */
static const double operatorsPerSecond = 110000, leastShare = 0.1;

/* Operators in the intervals that the search prices before it comes to sections as long as those
 * that are known: it goes from short ones to long ones, and of each length it has one for each kind
 * of operator at least. */
static double operatorsBefore(const Builder *builder) {
  const SambaSearchRequest *request = builder->request;
  uint32_t *seen = sambaAllocateZeroed(builder->kind_count + 1, sizeof *seen); /* 1 + the stretch */
  double operators = 0, kinds = 0, longest = 0;
  for (uint32_t s = 0, first = 0; s < request->seed_count; first += request->seed[s++]) {
    uint32_t stretch = request->stretch[first], groups = 0;
    if (first && stretch != request->stretch[first - 1]) {
      operators += kinds * longest * longest / 2;
      kinds = longest = 0;
    }
    for (uint32_t i = first; i < first + request->seed[s]; ++i) {
      uint32_t *last = &seen[builder->operators[i].kind];
      groups += i == first || request->group[i] != request->group[i - 1];
      kinds += *last != stretch + 1;
      *last = stretch + 1;
    }
    longest = fmax(longest, groups);
  }
  free(seen);
  return operators + kinds * longest * longest / 2;
}

/* Whether the time is over long before the search may find anything: in a long graph without equal
 * layers. */
static bool isHopeless(const Builder *builder, const SambaSearchTime *time) {
  double tried = operatorsPerSecond * fmax(0, time->given - time->used);
  return leastShare * operatorsBefore(builder) > tried;
}

static void freeBuilder(Builder *builder) {
  sambaPointerMapFree(&builder->number_of);
  sambaStringMapFree(&builder->kinds);
  sambaArrayFree(&builder->values);
  sambaArrayFree(&builder->reads);
  sambaArrayFree(&builder->made);
  sambaArrayFree(&builder->key);
  sambaArenaDestroy(&builder->arena);
}

uint32_t sambaSearchSections(const SambaSearchRequest *request, SambaSearchTime *time,
                             uint32_t *section_of, MlirAttribute *ends) {
  Builder builder = {.request = request};
  builder.operators = SAMBA_ARENA_ARRAY(&builder.arena, SambaPartitionOperator, request->count + 1);
  for (uint32_t i = 0; i < request->count; ++i)
    buildOperator(&builder, i);
  if (time->given > 0 && isHopeless(&builder, time)) {
    sambaWorkAdd(SAMBA_WORK_SEARCHES_OVER, 1);
    freeBuilder(&builder);
    return request->seed_count;
  }
  keepPlaces(&builder);

  Pricing pricing = createPricing(request, time);
  SambaPartitionProblem problem = problemOf(&builder, &pricing);
  SambaPartition found = sambaPartitionSearch(&problem, &builder.arena);
  for (uint32_t s = 0; s < found.section_count; ++s) {
    const SambaPartitionSection *section = &found.sections[found.runs[s]];
    for (uint32_t i = 0; i < section->count; ++i)
      section_of[found.order[section->first + i]] = s;
    ends[s] = endOf(request, &found, found.runs[s]);
  }
  countWork(&found);
  freePricing(&pricing);
  freeBuilder(&builder);
  return found.section_count;
}
