/* The search for sections against brute force: all partitions of one order, and of all orders, of
 * random graphs whose prices come from a small machine of the test. */
#include "backend/partition/partition.h"

#include "support/base/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { mostOperators = 64, kinds = 5, mostReads = 3 };

/* What operators of a kind take. */
typedef struct Kind {
  uint32_t units;
  double work, bytes; /* bytes: of what it makes */
} Kind;

/* A machine that runs the operators of a section side by side. */
typedef struct Machine {
  Kind kinds[kinds];
  uint32_t units, ports;
  double bytes_per_cycle, launch, load;
  double quarrel[kinds][kinds]; /* cycles more when both are in a section */
} Machine;

typedef struct Graph {
  Machine machine;
  SambaPartitionProblem problem;
  SambaPartitionOperator operators[mostOperators];
  SambaPartitionValue values[2 * mostOperators];
  SambaPartitionRead reads[mostOperators][mostReads];
  uint32_t what[mostOperators]; /* a kind of the machine */
  uint32_t makes[mostOperators], most[mostOperators];
  uint32_t trials, over_after, longest; /* longest: operators of a trial at most */
  double rough; /* share that first prices of several operators are too high */
  uint32_t whole,
      whole_late; /* trials that cut no follower off; those of them after one that does */
  bool has_cut;
} Graph;

static uint64_t state = 1;
static uint32_t draw(uint32_t count) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % count;
}

/*===-- Prices --------------------------------------------------------------------------------===*/

static bool isMember(const SambaPartitionTrial *trial, uint32_t operator) {
  for (uint32_t i = 0; i < trial->count; ++i)
    if (trial->operators[i] == operator)
      return true;
  return false;
}

static bool leaves(const Graph *graph, const SambaPartitionTrial *trial, uint32_t value) {
  if (graph->values[value].leaves)
    return true;
  for (uint32_t o = 0; o < graph->problem.operator_count; ++o)
    for (uint32_t i = 0; i < graph->operators[o].read_count; ++i)
      if (graph->reads[o][i].value == value && !isMember(trial, o))
        return true;
  return false;
}

static void priceOne(const Graph *graph, SambaPartitionTrial *trial) {
  const Machine *machine = &graph->machine;
  bool seen[2 * mostOperators] = {false};
  double work = 0, bytes = 0;
  uint32_t units = 0, ports = 0;
  for (uint32_t i = 0; i < trial->count; ++i) {
    uint32_t o = trial->operators[i];
    const SambaPartitionOperator *operator = &graph->operators[o];
    work += machine->kinds[graph->what[o]].work;
    units += machine->kinds[graph->what[o]].units;
    for (uint32_t k = 0; k < i; ++k)
      work += machine->quarrel[graph->what[o]][graph->what[trial->operators[k]]];
    for (uint32_t k = 0; k < operator->read_count; ++k) {
      uint32_t value = operator->reads[k].value;
      bool inside = value < graph->problem.operator_count && isMember(trial, value);
      if (inside || seen[value])
        continue;
      seen[value] = true;
      ++ports;
      bytes += (double)graph->values[value].bytes;
    }
    if (leaves(graph, trial, operator->makes[0])) {
      ++ports;
      bytes += (double)graph->values[operator->makes[0]].bytes;
    }
  }
  trial->fits = units <= machine->units && ports <= machine->ports;
  trial->load = machine->load;
  double rough = trial->careful ? 1 : 1 + graph->rough;
  trial->cycles = round(rough * fmax(work, bytes / machine->bytes_per_cycle) + machine->launch);
}

static void countCuts(Graph *graph, const SambaPartitionTrial *trial) {
  uint32_t end = trial->operators[trial->count - 1] + 1;
  bool cuts = graph->operators[trial->operators[0]].follows ||
              (end < graph->problem.operator_count && graph->operators[end].follows);
  graph->whole += !cuts;
  graph->whole_late += !cuts && graph->has_cut;
  graph->has_cut |= cuts;
}

static void price(void *user, SambaPartitionTrial *trials, uint32_t count) {
  Graph *graph = user;
  graph->trials += count;
  for (uint32_t i = 0; i < count; ++i) {
    priceOne(graph, &trials[i]);
    graph->longest = trials[i].count > graph->longest ? trials[i].count : graph->longest;
    if (!trials[i].careful)
      countCuts(graph, &trials[i]);
  }
}

static bool isOver(void *user, double share) {
  Graph *graph = user;
  return graph->trials >= share * graph->over_after;
}

/*===-- Graphs --------------------------------------------------------------------------------===*/

/* The number of an operator before it that does the same with as many bytes, or its own. */
static uint32_t kindOf(const Graph *graph, uint32_t operator) {
  for (uint32_t o = 0; o < operator; ++o) {
    bool same = graph->what[o] == graph->what[operator] &&
                graph->operators[o].read_count == graph->operators[operator].read_count;
    for (uint32_t i = 0; i < graph->operators[operator].read_count && same; ++i)
      same = graph->reads[o][i].bytes == graph->reads[operator][i].bytes;
    if (same)
      return o;
  }
  return operator;
}

/* Value o is made by operator o; those behind are arguments. */
static void addOperator(Graph *graph, uint32_t kind, uint32_t read_count, const uint32_t *reads) {
  uint32_t o = graph->problem.operator_count++;
  SambaPartitionOperator *operator = &graph->operators[o];
  *operator = (SambaPartitionOperator){.group = o};
  graph->what[o] = kind;
  operator->reads = graph->reads[o];
  operator->read_count = read_count;
  operator->makes = &graph->makes[o];
  operator->make_count = 1;
  operator->cycles = graph->machine.kinds[kind].work;
  graph->makes[o] = o;
  graph->values[o] = (SambaPartitionValue){.bytes = (uint64_t)graph->machine.kinds[kind].bytes};
  for (uint32_t i = 0; i < read_count; ++i) {
    if (reads[i] >= mostOperators)
      graph->values[reads[i]].bytes = 100;
    graph->reads[o][i] = (SambaPartitionRead){reads[i], graph->values[reads[i]].bytes};
  }
  operator->kind = kindOf(graph, o);
}

static void makeMachine(Graph *graph) {
  *graph = (Graph){.over_after = UINT32_MAX};
  Machine *machine = &graph->machine;
  machine->units = 6 + draw(10);
  machine->ports = 4 + draw(4);
  machine->bytes_per_cycle = 1 + draw(4);
  machine->launch = 50 + draw(100);
  machine->load = draw(50);
  for (uint32_t k = 0; k < kinds; ++k) {
    machine->kinds[k] = (Kind){1 + draw(4), 10 + draw(300), 10 + draw(500)};
    for (uint32_t other = 0; other < kinds; ++other)
      machine->quarrel[k][other] = machine->quarrel[other][k] = draw(6) ? 0 : draw(400);
  }
  graph->problem = (SambaPartitionProblem){.operators = graph->operators,
                                           .value_count = 2 * mostOperators,
                                           .values = graph->values,
                                           .most = graph->most,
                                           .bytes_per_cycle = machine->bytes_per_cycle,
                                           .launch = machine->launch,
                                           .load = machine->load,
                                           .memory = UINT64_MAX,
                                           .price = price,
                                           .user = graph};
  for (uint32_t i = 0; i < mostOperators; ++i)
    graph->most[i] = 24;
}

static void makeRandom(Graph *graph, uint32_t count) {
  makeMachine(graph);
  for (uint32_t o = 0; o < count; ++o) {
    uint32_t reads[mostReads], read_count = 1 + draw(2);
    for (uint32_t i = 0; i < read_count; ++i) {
      uint32_t near = o < 4 ? o : 4;
      bool outside = near == 0 || draw(4) == 0;
      reads[i] = outside ? mostOperators + draw(3) : o - 1 - draw(near);
    }
    if (read_count == 2 && reads[0] == reads[1])
      --read_count;
    addOperator(graph, draw(kinds), read_count, reads);
  }
  for (uint32_t o = 0; o < count; ++o) {
    bool read = false;
    for (uint32_t r = 0; r < count; ++r)
      for (uint32_t i = 0; i < graph->operators[r].read_count; ++i)
        read |= graph->reads[r][i].value == o;
    graph->values[o].leaves = !read || draw(8) == 0;
  }
}

/*===-- Brute force ---------------------------------------------------------------------------===*/

/* Whether two lists of operators compute the same: kinds and who reads what, place by place. */
static bool isSame(const Graph *graph, const SambaPartitionTrial *a, const SambaPartitionTrial *b) {
  if (a->count != b->count)
    return false;
  uint32_t of[2 * mostOperators]; /* the value of b for each of a */
  sambaClearIndices(of, 2 * mostOperators);
  bool taken[2 * mostOperators] = {false};
  for (uint32_t i = 0; i < a->count; ++i) {
    const SambaPartitionOperator *x = &graph->operators[a->operators[i]];
    const SambaPartitionOperator *y = &graph->operators[b->operators[i]];
    if (x->kind != y->kind || x->read_count != y->read_count ||
        leaves(graph, a, x->makes[0]) != leaves(graph, b, y->makes[0]))
      return false;
    for (uint32_t k = 0; k <= x->read_count; ++k) {
      uint32_t from = k < x->read_count ? x->reads[k].value : x->makes[0];
      uint32_t to = k < x->read_count ? y->reads[k].value : y->makes[0];
      if (of[from] == SAMBA_NO_INDEX && !taken[to]) {
        of[from] = to;
        taken[to] = true;
      }
      if (of[from] != to)
        return false;
    }
  }
  return true;
}

/* The cycles of the partition whose sections begin where `cuts` has a bit; INFINITY: one of them
 * does not fit. */
static double cyclesOf(const Graph *graph, const uint32_t *order, uint32_t cuts) {
  uint32_t count = graph->problem.operator_count;
  double cycles = 0;
  SambaPartitionTrial before = {0};
  for (uint32_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && !(cuts >> end & 1);)
      ++end;
    SambaPartitionTrial trial = {.operators = order + first, .count = end - first};
    priceOne(graph, &trial);
    if (!trial.fits)
      return INFINITY;
    cycles += trial.cycles - (before.count && isSame(graph, &before, &trial) ? trial.load : 0);
    before = trial;
  }
  return cycles;
}

static double bestOfOrder(const Graph *graph, const uint32_t *order) {
  double best = INFINITY;
  for (uint32_t cuts = 0; cuts < 1u << (graph->problem.operator_count - 1); ++cuts)
    best = fmin(best, cyclesOf(graph, order, cuts << 1));
  return best;
}

static double bestOfAll(const Graph *graph, uint32_t *order, uint32_t size, uint32_t taken) {
  uint32_t count = graph->problem.operator_count;
  if (size == count)
    return bestOfOrder(graph, order);
  double best = INFINITY;
  for (uint32_t o = 0; o < count; ++o) {
    bool ready = !(taken >> o & 1);
    for (uint32_t i = 0; i < graph->operators[o].read_count; ++i) {
      uint32_t value = graph->reads[o][i].value;
      ready &= value >= count || (taken >> value & 1);
    }
    order[size] = o;
    if (ready)
      best = fmin(best, bestOfAll(graph, order, size + 1, taken | 1u << o));
  }
  return best;
}

/* Each section runs once, behind those that make what it reads. */
static void checkRuns(const Graph *graph, const SambaPartition *found) {
  bool made[mostOperators] = {false};
  uint32_t ran = 0;
  for (uint32_t s = 0; s < found->section_count; ++s) {
    const SambaPartitionSection *section = &found->sections[found->runs[s]];
    for (uint32_t at = 0; at < section->count; ++at) {
      uint32_t o = found->order[section->first + at];
      assert_false(made[o]);
      made[o] = true;
      ++ran;
      for (uint32_t i = 0; i < graph->operators[o].read_count; ++i) {
        uint32_t value = graph->reads[o][i].value;
        assert_true(value >= graph->problem.operator_count || made[value]);
      }
    }
  }
  assert_int_equal(ran, graph->problem.operator_count);
}

/* The sections cover the order, which computes what it reads first; returns their cycles. */
static double checked(const Graph *graph, const SambaPartition *found) {
  uint32_t count = graph->problem.operator_count, place[mostOperators], at = 0, cuts = 0;
  for (uint32_t i = 0; i < count; ++i)
    place[found->order[i]] = i;
  for (uint32_t o = 0; o < count; ++o)
    for (uint32_t i = 0; i < graph->operators[o].read_count; ++i) {
      uint32_t value = graph->reads[o][i].value;
      assert_true(value >= count || place[value] < place[o]);
    }
  for (uint32_t s = 0; s < found->section_count; ++s) {
    assert_int_equal(found->sections[s].first, at);
    cuts |= count <= 31 ? 1u << at : 0;
    at += found->sections[s].count;
  }
  assert_int_equal(at, count);
  checkRuns(graph, found);
  return count <= 31 ? cyclesOf(graph, found->order, cuts) : found->cycles;
}

static void bestOfItsOrder(void **unused) {
  (void)unused;
  for (state = 1; state < 600; ++state) {
    uint64_t seed = state;
    Graph graph;
    uint32_t order[mostOperators];
    makeRandom(&graph, 2 + (uint32_t)seed % 11);
    for (uint32_t i = 0; i < graph.problem.operator_count; ++i) {
      order[i] = i;
      graph.operators[i].keeps_place = true;
      graph.operators[i].follows = i > 0 && i % 3 == seed % 4; /* or none does */
    }
    double best = bestOfOrder(&graph, order);
    SambaArena arena = {0};
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    if (!isinf(best)) {
      if (checked(&graph, &found) != found.cycles)
        fail_msg("seed %d: %g, by hand %g, best %g", (int)seed, found.cycles,
                 checked(&graph, &found), best);
      if (found.cycles != best)
        fail_msg("seed %d: %g cycles, the best are %g", (int)seed, found.cycles, best);
    }
    sambaArenaDestroy(&arena);
    state = seed;
  }
}

static void nearlyBestOfAllOrders(void **unused) {
  (void)unused;
  double all = 0, least = 0, worst = 1;
  uint32_t far = 0, count = 0;
  for (state = 1; state < 400; ++state) {
    uint64_t seed = state;
    Graph graph;
    uint32_t order[mostOperators];
    makeRandom(&graph, 3 + (uint32_t)seed % 5);
    double best = bestOfAll(&graph, order, 0, 0);
    SambaArena arena = {0};
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    if (!isinf(best)) {
      assert_true(checked(&graph, &found) == found.cycles);
      all += found.cycles;
      least += best;
      worst = fmax(worst, found.cycles / best);
      far += found.cycles > 1.05 * best;
      ++count;
    }
    sambaArenaDestroy(&arena);
    state = seed;
  }
  print_message("%.4f of the best on average, %.3f at worst, %u of %u over 5%%\n", all / least,
                worst, far, count);
  assert_true(all / least < 1.02);
  assert_true(far * 10 < count);
}

/*===-- Layers, time, bounds ------------------------------------------------------------------===*/

/* A chain of equal layers, each with a branch. */
static void makeLayers(Graph *graph, uint32_t layers) {
  makeMachine(graph);
  graph->machine.kinds[2].bytes = 100; /* as the argument of the first layer */
  uint32_t input = mostOperators;
  for (uint32_t layer = 0; layer < layers; ++layer) {
    uint32_t first = graph->problem.operator_count;
    addOperator(graph, 0, 1, &input);
    addOperator(graph, 1, 1, &(uint32_t){first});
    addOperator(graph, 3, 1, &(uint32_t){first});
    addOperator(graph, 2, 2, (uint32_t[]){first + 1, first + 2});
    input = first + 3;
  }
  graph->values[input].leaves = true;
}

/* More layers are no more trials, as long as the search sees no other places for sections. */
static void equalLayersArePricedOnce(void **unused) {
  (void)unused;
  for (uint64_t seed = 1; seed < 60; ++seed) {
    SambaArena arena = {0};
    SambaPartition found[2];
    for (int i = 0; i < 2; ++i) {
      Graph graph;
      state = seed;
      makeLayers(&graph, i ? 16 : 8);
      found[i] = sambaPartitionSearch(&graph.problem, &arena);
      assert_int_equal(found[i].priced, graph.trials);
    }
    if (found[1].priced > found[0].priced * 5 / 4)
      fail_msg("seed %d: %u trials for 8 layers, %u for 16", (int)seed, found[0].priced,
               found[1].priced);
    assert_true(found[1].reused > found[0].reused);
    sambaArenaDestroy(&arena);
  }
}

/* A chain whose operators do not fit beside each other, and of each value an end of one kind: the
 * ends run one after the other behind the chain, unless memory does not hold what they read. */
static void equalEndsRunTogether(void **unused) {
  (void)unused;
  enum { length = 6 };
  for (uint32_t narrow = 0; narrow < 2; ++narrow) {
    SambaArena arena = {0};
    Graph graph;
    state = 1;
    makeMachine(&graph);
    for (uint32_t k = 0; k < kinds; ++k)
      graph.machine.kinds[k] = (Kind){.units = graph.machine.units, .work = 100, .bytes = 100};
    graph.machine.kinds[4].bytes = 1;
    graph.machine.load = 20;
    graph.problem.memory = narrow ? 1 : UINT64_MAX;
    uint32_t value = mostOperators;
    for (uint32_t i = 0; i < length; ++i) {
      uint32_t chain = graph.problem.operator_count;
      addOperator(&graph, i % 2, 1, &value);
      addOperator(&graph, 4, 1, &chain);
      graph.values[chain + 1].leaves = true;
      value = chain;
    }

    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    checked(&graph, &found);
    assert_int_equal(found.section_count, 2 * length);
    uint32_t pairs = 0;
    for (uint32_t s = 1; s < found.section_count; ++s)
      pairs += graph.what[found.order[found.sections[found.runs[s]].first]] == 4 &&
               graph.what[found.order[found.sections[found.runs[s - 1]].first]] == 4;
    if (narrow)
      assert_true(pairs < length - 1);
    else
      assert_int_equal(pairs, length - 1);
    sambaArenaDestroy(&arena);
  }
}

/* However early time is over, the result is no worse than what was known. */
static void timeIsOver(void **unused) {
  (void)unused;
  for (uint64_t seed = 1; seed < 100; ++seed)
    for (uint32_t trials = 0; trials < 60; trials += 6) {
      SambaArena arena = {0};
      Graph graph;
      uint32_t sizes[mostOperators];
      state = seed;
      makeRandom(&graph, 12);
      for (uint32_t i = 0; i < 12; ++i)
        sizes[i] = 1;
      graph.problem.seed = sizes;
      graph.problem.seed_count = 12;
      graph.problem.isOver = isOver;
      graph.over_after = trials;
      SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
      assert_true(found.cycles <= found.seed_cycles);
      assert_true(!found.over || graph.trials >= trials * 2 / 3);
      for (uint32_t s = 0; trials == 0 && s + 1 < found.section_count; ++s)
        assert_int_equal(found.sections[s].count, 1);
      sambaArenaDestroy(&arena);
    }
}

/* What is known when time is over at once are sections 0 1 | 2 3 | 0 1 2, by kinds. So 0 1 2 at the
 * start has a price, but no way behind it is known: the first section ends because time was over.
 */
static void endsAreExplained(void **unused) {
  (void)unused;
  enum { operators = 7, sections = 3 };
  static const uint32_t what[operators] = {0, 1, 2, 3, 0, 1, 2};
  static const uint32_t sizes[sections] = {2, 2, 3};
  SambaArena arena = {0};
  Graph graph;
  makeMachine(&graph);
  graph.machine.units = graph.machine.ports = UINT32_MAX;
  for (uint32_t k = 0; k < kinds; ++k)
    graph.machine.kinds[k].bytes = 100;
  for (uint32_t o = 0; o < operators; ++o)
    addOperator(&graph, what[o], 1, (uint32_t[]){o ? o - 1 : mostOperators});
  graph.values[operators - 1].leaves = true;
  graph.problem.seed = sizes;
  graph.problem.seed_count = sections;
  graph.problem.isOver = isOver;
  graph.over_after = 0;

  SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
  assert_int_equal(found.section_count, sections);
  assert_int_equal(found.sections[0].end, SAMBA_PARTITION_TIME);
  for (uint32_t s = 0; s < sections; ++s)
    assert_true(isfinite(found.sections[s].more));
  sambaArenaDestroy(&arena);
}

/* First prices may be a fifth too high: with careful ones comes nearly what
 * comes of exact prices (1.14 without careful ones). */
static void carefulPricesDecide(void **unused) {
  (void)unused;
  enum { graphs = 200 };
  double careful = 0;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    SambaArena arena = {0};
    Graph graph;
    state = seed;
    makeRandom(&graph, 14);
    SambaPartition exact = sambaPartitionSearch(&graph.problem, &arena);
    graph.rough = 0.2;
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    careful += found.cycles / exact.cycles / graphs;
    sambaArenaDestroy(&arena);
  }
  print_message("with careful prices %.4f of the cycles that exact ones find\n", careful);
  assert_true(careful < 1.02);
}

/* Sections that end in front of a follower are tried when all others are, but for one more of each
 * section in the end, which says why it ends. */
static void followersAreCutOffLast(void **unused) {
  (void)unused;
  uint32_t whole = 0;
  for (uint64_t seed = 1; seed < 100; ++seed) {
    SambaArena arena = {0};
    Graph graph;
    state = seed;
    makeRandom(&graph, 20);
    for (uint32_t o = 0; o < 20; ++o) {
      graph.operators[o].keeps_place = true;
      graph.operators[o].follows = o % 3 == 2;
    }
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    assert_true(graph.has_cut);
    assert_true(graph.whole_late <= found.section_count);
    whole += graph.whole - graph.whole_late;
    sambaArenaDestroy(&arena);
  }
  assert_true(whole > 99 * 14);
}

/* Groups stay together and stretches apart, and a section has no more operators than it may. */
static void boundsAreKept(void **unused) {
  (void)unused;
  for (uint64_t seed = 1; seed < 200; ++seed) {
    SambaArena arena = {0};
    Graph graph;
    uint32_t section_of[mostOperators];
    state = seed;
    makeRandom(&graph, 20);
    for (uint32_t o = 0; o < 20; ++o) {
      graph.operators[o].stretch = o / 7;
      graph.operators[o].group = o / 7 * 4 + o % 7 / 2; /* two by two, and one at the end */
    }
    for (uint32_t i = 0; i < 3; ++i)
      graph.most[i] = 4;
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    for (uint32_t s = 0; s < found.section_count; ++s) {
      assert_in_range(found.sections[s].count, 1, 4);
      for (uint32_t i = 0; i < found.sections[s].count; ++i)
        section_of[found.order[found.sections[s].first + i]] = s;
    }
    for (uint32_t o = 1; o < 20; ++o) {
      if (graph.operators[o].group == graph.operators[o - 1].group)
        assert_int_equal(section_of[o], section_of[o - 1]);
      for (uint32_t before = 0; before < o / 7 * 7; ++before)
        assert_true(section_of[before] < section_of[o]);
    }
    sambaArenaDestroy(&arena);
  }
}

/* 0 and 1 take far longer together than apart, and leave more values than 0 1 2 does: what they
 * take says nothing of that, but that it is not worth a price. Without the quarrel it has one. */
static void hopelessPartsAreNotExtended(void **unused) {
  (void)unused;
  for (int quarrels = 0; quarrels < 2; ++quarrels) {
    SambaArena arena = {0};
    Graph graph;
    makeMachine(&graph);
    graph.machine.units = graph.machine.ports = UINT32_MAX;
    memset(graph.machine.quarrel, 0, sizeof graph.machine.quarrel);
    for (uint32_t k = 0; k < kinds; ++k)
      graph.machine.kinds[k] = (Kind){1, 100, 100};
    graph.machine.quarrel[0][1] = graph.machine.quarrel[1][0] = quarrels ? 10000 : 0;
    addOperator(&graph, 0, 1, (uint32_t[]){mostOperators});
    addOperator(&graph, 1, 1, (uint32_t[]){0});
    addOperator(&graph, 2, 2, (uint32_t[]){0, 1});
    graph.values[2].leaves = true;
    for (uint32_t o = 0; o < 3; ++o) /* groups that move to other sections are priced there */
      graph.operators[o].keeps_place = true;
    SambaPartition found = sambaPartitionSearch(&graph.problem, &arena);
    assert_int_equal(graph.longest, quarrels ? 2 : 3);
    assert_int_equal(found.section_count, quarrels ? 2 : 1);
    sambaArenaDestroy(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bestOfItsOrder),
                                     cmocka_unit_test(nearlyBestOfAllOrders),
                                     cmocka_unit_test(equalLayersArePricedOnce),
                                     cmocka_unit_test(equalEndsRunTogether),
                                     cmocka_unit_test(timeIsOver),
                                     cmocka_unit_test(endsAreExplained),
                                     cmocka_unit_test(carefulPricesDecide),
                                     cmocka_unit_test(hopelessPartsAreNotExtended),
                                     cmocka_unit_test(followersAreCutOffLast),
                                     cmocka_unit_test(boundsAreKept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
