/* Greedy sections; see grow_sections.h. The next operator joins when the section with it can be
 * planned and emitted within the machine's units, and is estimated to be no slower than two
 * sections with their launches. Elementwise operators between a value with several readers and the
 * one value that comes of it join at once. */
#include "passes/section/grow_sections.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/work.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"
#include "passes/section/placed_values.h"
#include "passes/section/section_end.h"
#include "passes/section/section_trial.h"
#include "passes/section/updates.h"
#include "support/base/side_by_side.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

/* Operators of a block around which a value goes, at most. */
enum { maxOperatorsOfBlock = 12 };

/* Operators of one section at most: keeps the trials of a long graph linear. Up to the first number
 * they are tried one by one. A trial costs as much as the section has operators, so behind it steps
 * are half of what is there, and where that is too far, halves of it. Updates are tried as wholes,
 * of which small ones have many operators each. */
enum { maxOperatorsOneByOne = 12, maxOperatorsPerSection = 96, maxOperatorsOfUpdates = 288 };

/* Sections that take so much longer together than apart are taken for equals, as estimates are no
 * truer than that: of equals the one section leaves less to launch behind it. */
static const double equalCycles = 1.01;

/* The group of rules that an operator belongs to; NULL: none. */
const SambaRuleGroup *sambaGroupOfOperator(const SambaSectionGraph *partition, uint32_t index) {
  const SambaFusedOperators *fused = &partition->fused;
  if (!fused->group_of || fused->group_of[index] == SAMBA_NO_INDEX)
    return NULL;
  return &fused->groups[fused->group_of[index]];
}

/* Whether a rule asks for a border in front of the operator. */
static bool bordersByRule(const SambaSectionGraph *partition, uint32_t index) {
  const SambaRuleGroup *before = sambaGroupOfOperator(partition, index - 1);
  const SambaRuleGroup *behind = sambaGroupOfOperator(partition, index);
  if (before == behind)
    return behind && sambaHeuristicOf(behind->rule) == SAMBA_HEURISTIC_APART;
  return (before && sambaHeuristicOf(before->rule) != SAMBA_HEURISTIC_FUSE) ||
         (behind && sambaHeuristicOf(behind->rule) != SAMBA_HEURISTIC_FUSE);
}

/* A section has one phase. */
bool sambaStartsSection(const SambaSectionGraph *partition, uint32_t index) {
  MlirOperation operation = partition->operators[index];
  MlirStringRef start = sambaMlirString(SAMBA_SECTION_START_ATTRIBUTE);
  return index == partition->border || bordersByRule(partition, index) ||
         sambaBordersByPlaces(partition->operators, index) ||
         sambaPhaseOf(partition->operators[index - 1]) != sambaPhaseOf(operation) ||
         !mlirAttributeIsNull(mlirOperationGetAttributeByName(operation, start));
}

/* Operators of a section that begins with this one, at most. */
uint32_t sambaMostOperators(MlirOperation operation) {
  return sambaPhaseOf(operation) == SAMBA_PEF_SECTION_OPT ? maxOperatorsOfUpdates
                                                          : maxOperatorsPerSection;
}

/* Whether operators can be a section, and what it takes; no longer asked for, they cannot. */
static bool tryOperators(const SambaSectionGraph *partition, const MlirOperation *operators,
                         uint32_t count, SambaPlanCost *out_cost, SambaText *why) {
  *out_cost = (SambaPlanCost){0};
  return !(partition->stops && atomic_load(partition->stops)) &&
         sambaSectionTry(partition->target, operators, count, out_cost, why);
}

/* Whether operators [from, to) join those before them: together they fit, and are estimated to be
 * no slower than the two apart, each with its launch. */
static bool join(const SambaSectionGraph *partition, const MlirOperation *operators, uint32_t from,
                 uint32_t to, double *together, SambaSectionEnd *end) {
  SambaPlanCost alone, joined;
  sambaTextClear(&end->why);
  end->kind = SAMBA_END_BY_ROOM;
  if (!tryOperators(partition, operators, to, &joined, &end->why))
    return false;
  if (joined.cycles <= equalCycles * *together) { /* whatever they take alone */
    *together = joined.cycles;
    return true;
  }
  if (!tryOperators(partition, operators + from, to - from, &alone, &end->why))
    return false;
  if (joined.cycles > equalCycles * (*together + alone.cycles)) {
    end->kind = SAMBA_END_BY_CYCLES;
    end->together = joined.cycles;
    end->apart = *together + alone.cycles;
    return false;
  }
  *together = joined.cycles;
  return true;
}

/* The operator among these that reads the value last; SAMBA_NO_INDEX: what reads it is not among
 * them. */
static uint32_t lastReader(MlirValue value, const MlirOperation *operators, uint32_t count) {
  uint32_t last = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    uint32_t at = 0;
    while (at < count && !mlirOperationEqual(operators[at], user))
      ++at;
    if (at == count)
      return SAMBA_NO_INDEX;
    last = at > last ? at : last;
  }
  return last;
}

/* An elementwise operator, or a structured operation with one result that reduces nothing. */
static bool isElementwise(MlirOperation operation) {
  const SambaOperator *operator = sambaOperatorOf(operation);
  if (operator)
    return operator->elementwise;
  MlirAttribute iterators = sambaOperationAttribute(operation, "iterator_types");
  if (!sambaOperationIsStructured(operation) || mlirAttributeIsNull(iterators) ||
      mlirOperationGetNumResults(operation) != 1)
    return false;
  MlirAttribute parallel = mlirAttributeParseGet(
      mlirOperationGetContext(operation), sambaMlirString("#linalg.iterator_type<parallel>"));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(iterators); ++i)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, i), parallel))
      return false;
  return true;
}

uint32_t sambaBranchingOperators(const MlirOperation *operators, uint32_t most) {
  uint32_t reach = 0;
  for (uint32_t i = 0; i < most; ++i) {
    if (!isElementwise(operators[i]))
      return 1;
    if (i && reach <= i)
      return i > 1 ? i + 1 : 1; /* one reader makes no branch */
    uint32_t last = lastReader(mlirOperationGetResult(operators[i], 0), operators, most);
    if (last == SAMBA_NO_INDEX)
      return 1;
    reach = last > reach ? last : reach;
  }
  return 1;
}

bool sambaOperatorFollows(MlirOperation before, MlirOperation operation) {
  if (!isElementwise(operation) || mlirOperationGetNumResults(before) != 1)
    return false;
  MlirValue made = mlirOperationGetResult(before, 0);
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(made)) && lastReader(made, &operation, 1) == 0;
}

/* The operation that makes the value, or what the value is a view of; null: there is none. */
static MlirOperation makerOf(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  while (!mlirOperationIsNull(maker) && sambaOperationIsView(maker))
    maker = sambaDefiningOperation(mlirOperationGetOperand(maker, 0));
  return maker;
}

static bool readsOneOf(MlirOperation operation, const MlirOperation *operators, uint32_t count) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirOperation maker = makerOf(mlirOperationGetOperand(operation, i));
    for (uint32_t j = 0; j < count && !mlirOperationIsNull(maker); ++j)
      if (mlirOperationEqual(maker, operators[j]))
        return true;
  }
  return false;
}

/* Whether operators[size] reads nothing that the section makes, and the next one reads it beside
 * such a value: alone it has nothing in common with the section that both could be pipelined along.
 */
static bool bringsOperand(const MlirOperation *operators, uint32_t size, uint32_t most) {
  return size && size + 1 < most && !readsOneOf(operators[size], operators, size) &&
         readsOneOf(operators[size + 1], &operators[size], 1) &&
         readsOneOf(operators[size + 1], operators, size);
}

/* A rule that cannot be kept is no error: the file may be for a larger machine. */
static void warnOfRule(const SambaSectionGraph *partition, const SambaRuleGroup *group,
                       uint32_t first, const SambaText *why) {
  MlirOperation operation = partition->operators[first];
  SambaText text = {0};
  sambaTextFormat(&text,
                  "rule '%s' joins %u operators from here on, which are no section of %s: %s",
                  group->rule->name, group->member_count, partition->target->machine->name,
                  why->size ? sambaTextGet(why) : "a section ends among them");
  sambaDiagnose(mlirOperationGetLocation(operation), MlirDiagnosticWarning,
                mlirStringRefCreate(text.data, text.size), 0, NULL);
  sambaTextFree(&text);
}

/* The operators of a group that begins with this one, when they can be a section; else 0. */
static uint32_t joinByRule(const SambaSectionGraph *partition, const MlirOperation *operators,
                           uint32_t most) {
  uint32_t first = (uint32_t)(operators - partition->operators);
  const SambaRuleGroup *group = sambaGroupOfOperator(partition, first);
  if (!group || sambaHeuristicOf(group->rule) == SAMBA_HEURISTIC_APART ||
      (first && sambaGroupOfOperator(partition, first - 1) == group))
    return 0;
  SambaPlanCost unused;
  SambaText why = {0};
  uint32_t count = group->member_count;
  bool fits = count <= most && tryOperators(partition, operators, count, &unused, &why);
  if (!fits)
    warnOfRule(partition, group, first, &why);
  sambaTextFree(&why);
  return fits ? count : 0;
}

/* How many operators join those before them at once: those of a rule; else those of a branch that
 * fits. They go into a section as a whole: cut anywhere inside, several values would go through
 * memory. */
static uint32_t joinAtOnce(const SambaSectionGraph *partition, const MlirOperation *operators,
                           uint32_t size, uint32_t most) {
  SambaPlanCost unused;
  uint32_t by_rule = joinByRule(partition, operators + size, most - size);
  if (by_rule)
    return by_rule;
  uint32_t count = sambaBranchingOperators(operators + size, most - size);
  if (count > 1 && tryOperators(partition, operators + size, count, &unused, NULL))
    return count;
  return bringsOperand(operators, size, most) ? 2 : 1;
}

/* A section of operators that grows, and what it takes. */
typedef struct Growth {
  uint32_t size;
  uint32_t step; /* operators of a step at most, as a longer one failed; 0: none did */
  double cycles;
} Growth;

/* Operators with the next step, of so many at least. */
static uint32_t sizeAfter(const SambaSectionGraph *partition, const MlirOperation *operators,
                          uint32_t most, uint32_t size, uint32_t step) {
  uint32_t next = size;
  while (next < most && next < size + step)
    next += joinAtOnce(partition, operators, next, most);
  return next;
}

/* One step: false when what comes next stays out, or there is nothing left. */
static bool growByStep(const SambaSectionGraph *partition, const MlirOperation *operators,
                       uint32_t most, Growth *growth, SambaSectionEnd *end) {
  uint32_t size = growth->size, failed = size;
  uint32_t step = size < maxOperatorsOneByOne ? 1 : size / 2;
  step = growth->step && growth->step < step ? growth->step : step;
  for (; step && size < most; growth->step = step /= 2) {
    uint32_t next = sizeAfter(partition, operators, most, size, step);
    if (next != failed && join(partition, operators, size, next, &growth->cycles, end)) {
      growth->size = next;
      return true;
    }
    failed = next;
  }
  return false;
}

/* The first operators of a section; false when they are none. */
static bool startGrowth(const SambaSectionGraph *partition, const MlirOperation *operators,
                        uint32_t most, Growth *out) {
  SambaPlanCost cost;
  *out = (Growth){.size = joinAtOnce(partition, operators, 0, most)};
  bool fits = tryOperators(partition, operators, out->size, &cost, NULL);
  out->cycles = cost.cycles;
  return fits;
}

/* What operators take that grow one by one, section after section. */
static double grownCycles(const SambaSectionGraph *partition, const MlirOperation *operators,
                          uint32_t count) {
  SambaSectionEnd end = {0};
  double cycles = 0;
  for (uint32_t first = 0; first < count;) {
    Growth growth;
    bool fits = startGrowth(partition, operators + first, count - first, &growth);
    while (fits && growByStep(partition, operators + first, count - first, &growth, &end))
      continue;
    cycles += growth.cycles;
    first += growth.size;
  }
  sambaTextFree(&end.why);
  return cycles;
}

/* The operators from a contraction on to where what it reads meets what comes of it, and what works
 * on that point by point: a residual block. 0: there is none. */
static uint32_t blockOperators(const MlirOperation *operators, uint32_t most) {
  const SambaOperator *first = most ? sambaOperatorOf(operators[0]) : NULL;
  if (!first || !first->contraction)
    return 0;
  uint32_t last = lastReader(mlirOperationGetOperand(operators[0], 0), operators,
                             most < maxOperatorsOfBlock ? most : maxOperatorsOfBlock);
  if (last == SAMBA_NO_INDEX || last < 2)
    return 0;
  uint32_t count = last + 1;
  while (count < most && isElementwise(operators[count]) &&
         readsOneOf(operators[count], &operators[count - 1], 1))
    ++count;
  return count;
}

/* A block that is no slower as one section than what its operators become one by one; size 0: there
 * is none. Among them sections end too early: two convolutions together may be slower than apart,
 * and all of a block faster, because it reads and stores least. */
static Growth wholeBlock(const SambaSectionGraph *partition, const MlirOperation *operators,
                         uint32_t most) {
  SambaPlanCost cost;
  uint32_t size = blockOperators(operators, most);
  if (size && tryOperators(partition, operators, size, &cost, NULL) &&
      cost.cycles <= grownCycles(partition, operators, size))
    return (Growth){.size = size, .cycles = cost.cycles};
  return (Growth){0};
}

/* Whether a section that would take the first of the next operators leaves them to a block that
 * begins there. `joined`: the section with that operator. */
static bool leavesToBlock(const SambaSectionGraph *partition, const MlirOperation *operators,
                          uint32_t most, const Growth *before, const Growth *joined,
                          SambaSectionEnd *end) {
  const MlirOperation *next = operators + before->size;
  Growth block = wholeBlock(partition, next, most - before->size);
  uint32_t taken = joined->size - before->size;
  if (block.size <= taken)
    return false;
  double with = joined->cycles + grownCycles(partition, next + taken, block.size - taken);
  double without = before->cycles + block.cycles;
  if (with < equalCycles * without)
    return false;
  *end = (SambaSectionEnd){SAMBA_END_BY_CYCLES, with, without, 0, end->why};
  return true;
}

static uint32_t growOneByOne(const SambaSectionGraph *partition, const MlirOperation *operators,
                             uint32_t most, SambaSectionEnd *end) {
  Growth growth = wholeBlock(partition, operators, most);
  if (!growth.size && !startGrowth(partition, operators, most, &growth))
    return growth.size;
  for (Growth next = growth; growByStep(partition, operators, most, &next, end); growth = next)
    if (leavesToBlock(partition, operators, most, &growth, &next, end))
      break;
  return growth.size;
}

/* Updates of parameters go into sections as wholes: the first operators of one have nothing in
 * common that they could be pipelined along, and what they make would go through memory. One that
 * does not fit is grown like everything else, up to its end. */
static uint32_t growUpdates(const SambaSectionGraph *partition, const MlirOperation *operators,
                            uint32_t most, SambaSectionEnd *end) {
  SambaPlanCost cost;
  uint32_t size = sambaWholeUpdates(operators, 0, most);
  if (!size || !tryOperators(partition, operators, size, &cost, NULL))
    return growOneByOne(partition, operators, size ? size : most, end);

  double together = cost.cycles;
  for (uint32_t next = sambaWholeUpdates(operators, size, most);
       next && join(partition, operators, size, next, &together, end);
       next = sambaWholeUpdates(operators, size, most))
    size = next;
  return size;
}

/* The operators of a pinned section that begins with this one; 0: none does. */
uint32_t sambaPinnedOperators(const SambaSectionGraph *partition, uint32_t first) {
  const SambaRuleGroup *group = sambaGroupOfOperator(partition, first);
  return group && !group->rule ? group->member_count : 0;
}

/* Operators from this one on that may be a section by their number and order. */
static uint32_t mostFrom(const SambaSectionGraph *partition, uint32_t first) {
  uint32_t limit = sambaMostOperators(partition->operators[first]), most = 1;
  while (first + most < partition->count && most < limit &&
         !sambaStartsSection(partition, first + most))
    ++most;
  return most;
}

static uint32_t growSection(const SambaSectionGraph *partition, uint32_t first,
                            SambaSectionEnd *end) {
  const MlirOperation *operators = &partition->operators[first];
  bool updates = sambaPhaseOf(operators[0]) == SAMBA_PEF_SECTION_OPT;
  uint32_t limit = sambaMostOperators(operators[0]);
  uint32_t most = mostFrom(partition, first);
  uint32_t size = sambaPinnedOperators(partition, first);
  if (!size)
    size = updates ? growUpdates(partition, operators, most, end)
                   : growOneByOne(partition, operators, most, end);
  if (first + size == partition->count)
    end->kind = SAMBA_END_OF_GRAPH;
  else if (sambaStartsSection(partition, first + size))
    end->kind = SAMBA_END_BY_ORDER;
  else if (size == limit)
    end->kind = SAMBA_END_BY_NUMBER;
  return size;
}

static uint32_t growAll(const SambaSectionGraph *partition, uint32_t *section_of,
                        MlirAttribute *ends, atomic_uint *reached) {
  uint32_t section = 0;
  for (uint32_t first = 0, size; first < partition->count; first += size, ++section) {
    SambaSectionEnd end = {0};
    atomic_store(reached, first);
    size = growSection(partition, first, &end);
    MlirOperation last = partition->operators[first + size - 1];
    MlirOperation next = {NULL};
    if (first + size < partition->count)
      next = partition->operators[first + size];
    ends[section] = sambaSectionEndAttribute(&end, mlirOperationGetContext(last), next);
    sambaTextFree(&end.why);
    for (uint32_t i = 0; i < size; ++i)
      section_of[first + i] = section;
  }
  return section;
}

/*===-- Growing ahead -------------------------------------------------------------------------===*/

/* Sections grow one after the other: where one ends the next begins. While they do, other threads
 * grow sections from places where some will probably begin, the last ones first, so that their
 * plans are known when growth comes there. */
typedef struct Ahead {
  const SambaSectionGraph *partition;
  uint32_t *section_of;
  MlirAttribute *ends;
  const char *pass; /* that counts the work */
  const uint32_t *starts;
  uint32_t start_count, section_count;
  atomic_uint left;    /* of the starts: those that nobody has taken */
  atomic_uint reached; /* where the section begins that growth is at */
  atomic_bool done;
} Ahead;

static void growAhead(Ahead *ahead) {
  SambaPlanTarget target = *ahead->partition->target;
  SambaSectionGraph partition = *ahead->partition;
  target.counts = sambaPortCountsCreate(target.machine);
  partition.target = &target;
  partition.stops = &ahead->done;
  sambaWorkAhead();
  for (uint32_t left; (left = atomic_load(&ahead->left)) > 0 && !atomic_load(&ahead->done);) {
    uint32_t first = ahead->starts[left - 1];
    if (first <= atomic_load(&ahead->reached))
      break;
    if (!atomic_compare_exchange_strong(&ahead->left, &left, left - 1))
      continue;
    SambaSectionEnd end = {0};
    growSection(&partition, first, &end);
    sambaTextFree(&end.why);
  }
  sambaPortCountsFree(target.counts);
}

static void growPiece(void *user, uint32_t piece, uint32_t thread) {
  (void)thread;
  Ahead *ahead = user;
  if (piece) {
    growAhead(ahead);
    sambaWorkStartPass(ahead->pass);
    return;
  }
  sambaWorkStartPass(ahead->pass);
  ahead->section_count = growAll(ahead->partition, ahead->section_of, ahead->ends, &ahead->reached);
  atomic_store(&ahead->done, true);
}

/* A number for each operator: equal ones are of one kind, as far as names and types tell. */
static uint64_t *kindsOf(const SambaSectionGraph *partition) {
  uint64_t *kinds = sambaAllocate(sambaArraySize(partition->count + 1, sizeof *kinds));
  for (uint32_t i = 0; i < partition->count; ++i) {
    MlirOperation operation = partition->operators[i];
    MlirStringRef name = sambaOperationName(operation);
    uint64_t kind = (uint64_t)(uintptr_t)name.data;
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(operation); ++k)
      kind = kind * UINT64_C(0x9e3779b97f4a7c15) +
             (uint64_t)(uintptr_t)mlirValueGetType(mlirOperationGetOperand(operation, k)).ptr;
    for (intptr_t k = 0; k < mlirOperationGetNumResults(operation); ++k)
      kind = kind * UINT64_C(0x9e3779b97f4a7c15) +
             (uint64_t)(uintptr_t)mlirValueGetType(mlirOperationGetResult(operation, k)).ptr;
    kinds[i] = kind;
  }
  return kinds;
}

/* Whether what begins here has come before: then its plans are known by then. */
static bool cameBefore(const SambaSectionGraph *partition, const uint64_t *kinds, uint32_t first) {
  uint32_t count = partition->count - first;
  count = count < maxOperatorsOneByOne ? count : maxOperatorsOneByOne;
  for (uint32_t other = 0; other < first; ++other)
    if (memcmp(kinds + other, kinds + first, count * sizeof *kinds) == 0)
      return true;
  return false;
}

/* Where sections will probably begin but the first: with blocks, and where the one before has as
 * many operators as it may have. */
static uint32_t findStarts(const SambaSectionGraph *partition, uint32_t *starts) {
  uint64_t *kinds = kindsOf(partition);
  uint32_t count = 0;
  for (uint32_t first = 0, end = 0; first < partition->count; ++first) {
    if (first < end && !(first && sambaStartsSection(partition, first)) &&
        !blockOperators(partition->operators + first, partition->count - first))
      continue;
    end = first + sambaMostOperators(partition->operators[first]);
    if (first && !cameBefore(partition, kinds, first))
      starts[count++] = first;
  }
  free(kinds);
  return count;
}

uint32_t sambaGrowSections(const SambaSectionGraph *partition, uint32_t *section_of,
                           MlirAttribute *ends) {
  enum { mostThreads = 4 };
  Ahead ahead = {
      .partition = partition, .section_of = section_of, .ends = ends, .pass = sambaWorkPass()};
  uint32_t *starts = sambaAllocate(sambaArraySize(partition->count + 1, sizeof *starts));
  uint32_t threads = 1;
  if (partition->count && !partition->fused.group_of) /* rules warn, which only one thread may */
    threads = mlirContextGetNumThreads(mlirOperationGetContext(partition->operators[0]));
  threads = threads < mostThreads ? threads : mostThreads;
  if (threads > 1) {
    ahead.starts = starts;
    ahead.start_count = findStarts(partition, starts);
    atomic_store(&ahead.left, ahead.start_count);
  }
  threads = threads < ahead.start_count + 1 ? threads : ahead.start_count + 1;
  sambaDoSideBySide(threads, threads, growPiece, &ahead);
  free(starts);
  return ahead.section_count;
}
