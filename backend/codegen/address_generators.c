/* Address generators: every operand in memory, shared argument and result gets at least one; what
 * is left goes, step by step, to whoever moves the most bytes per generator. */
#include "backend/codegen/codegen_internal.h"
#include "backend/config/load_size.h"
#include "backend/estimate/unit_cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes are posted, so most stores are done when the last token leaves. */
static const double storeShare = 0.7;

/* What streams all the time waits for other streams now and then: it takes this many times the
 * cycles of its bytes. */
static const double streamCost = 1.1;

/* Loads and stores share generators where the section then takes at most this share of its time. */
static const double sharedWorth = 0.99;

/* Of the times in which all is loaded: how much later than the first slots and the work of the PCUs
 * they may be. */
static const double slacks[] = {1, 1.15, 1.4, 2, 4, 16};

/* Cycles of a staging buffer, which stores before it forwards. */
static const double stagingCycles = 256;

/* The share of its rate that memory gives when more is asked for. */
static const double busyDramShare = 0.94;

/* An operand with fewer slots than this does not stream. */
static const double fewSlots = 4;

typedef struct AgUse {
  uint32_t *ranges, *ways; /* in the plans; ways NULL: always 1 */
  uint32_t tensor;         /* that it loads or stores */
  const SambaTileNest *nest;
  uint32_t mask, sources;
  uint32_t most_ranges, most_ways;
  uint32_t spread;   /* streams to each source: the buffers over which its slot is spread */
  uint32_t twins;    /* buffers at which each of these streams ends */
  int64_t row_bytes; /* > 0: staged, and a range should make rows of whole bursts out of these */
  bool stores;
  bool indexed;              /* a store at places that are read */
  double first_bytes, bytes; /* before the first firing; in all */
  double begins; /* cycles from the section's first firing to the first one that needs this */
  double due;    /* cycles after that one by which all of a spread slot must be there */
} AgUse;

typedef SAMBA_ARRAY(AgUse) AgUses;

typedef struct AgShare {
  uint32_t ranges, ways;
  double even; /* ranges as large as the largest that all sources make */
  double row;  /* bytes that a store moves in a cycle at most */
} AgShare;

/* No port has more streams than a lane has flow ids. */
static bool isWithinFlows(const SambaCodegen *codegen, const AgUse *use, uint32_t ranges) {
  uint64_t flows = (uint64_t)codegen->machine->flows_per_lane;
  if (use->stores)
    return sambaStoresFit(codegen, use->nest, ranges);
  if (ranges * flows < use->sources)
    return false;
  if (use->spread < 2)
    return true;

  SambaCopyRange *cut = sambaAllocateZeroed(ranges, sizeof *cut);
  uint32_t made = sambaCutCopies(use->nest, use->mask, ranges, cut);
  uint64_t largest = 0;
  for (uint32_t r = 0; r < made; ++r) {
    uint64_t size = sambaCopyRangeSize(&cut[r], use->nest->group->dim_count);
    largest = size > largest ? size : largest;
  }
  free(cut);
  return largest * use->spread <= flows * (uint64_t)codegen->machine->unit_vector_outputs;
}

/* Staged rows should be whole bursts. */
static bool hasWholeRows(const SambaCodegen *codegen, const AgUse *use, uint32_t ranges) {
  uint32_t run = (use->sources + ranges - 1) / ranges;
  return !use->row_bytes || ranges == 1 ||
         use->row_bytes * run % codegen->machine->dram_burst_bytes == 0;
}

/* Bytes per cycle that a share of generators moves: what fills one buffer together cannot exceed
 * its port. */
static double rateOf(const SambaCodegen *codegen, const AgUse *use, AgShare share) {
  double one = use->stores ? SAMBA_STORE_SHARE * share.row
                           : SAMBA_LOAD_SHARE * sambaMachineAgBytesPerCycle(codegen->machine);
  return share.even * fmin(share.ways * one, (double)codegen->machine->pmu_port_bytes);
}

/* Fewer copies for each store may be staged where more are not. */
static double storedRow(const SambaCodegen *codegen, const AgUse *use, uint32_t ranges) {
  int64_t most = codegen->machine->ag_bytes;
  if (!use->stores || use->indexed)
    return (double)most;
  int64_t row = sambaStoredRowBytes(codegen, use->nest, ranges);
  return (double)(row < most ? row : most);
}

/* The best use of at most `wanted` generators. */
static AgShare shareOf(const SambaCodegen *codegen, const AgUse *use, uint32_t wanted) {
  AgShare best = {0, 1, 0, 0};
  for (uint32_t ways = 1; ways <= use->most_ways && ways <= wanted; ways *= 2) {
    uint32_t most = wanted / ways < use->most_ranges ? wanted / ways : use->most_ranges;
    uint32_t ranges = use->stores ? sambaCutResults(use->nest, most, NULL)
                                  : sambaCutCopies(use->nest, use->mask, most, NULL);
    uint32_t largest = use->stores ? sambaLargestResults(use->nest, most)
                                   : sambaLargestCut(use->nest, use->mask, most);
    AgShare share = {ranges, ways, (double)use->sources / largest, storedRow(codegen, use, ranges)};
    if (rateOf(codegen, use, share) > rateOf(codegen, use, best) &&
        isWithinFlows(codegen, use, ranges) && hasWholeRows(codegen, use, ranges))
      best = share;
  }
  return best;
}

/* Parts of a slot that does not divide evenly have at least so many rows: then the largest is
 * little larger than the others. */
enum { leastUnevenPart = 16 };

/* Generators that may fill one buffer together: as many as its write side can take, each with a
 * part of whole rows. */
static uint32_t waysOf(const SambaCodegen *codegen, const SambaTileBox *slot) {
  int64_t size = slot->rank ? slot->size[sambaOutermostAxis(slot)] : 1;
  double rate = sambaMachineAgBytesPerCycle(codegen->machine);
  uint32_t ways = 1;
  while (2 * ways <= (uint32_t)codegen->machine->unit_vector_inputs &&
         (size % (2 * ways) == 0 || size >= 2 * ways * leastUnevenPart) &&
         slot->elements / (2 * ways) >= 512 &&
         2 * ways * rate <= 1.6 * (double)codegen->machine->pmu_port_bytes)
    ways *= 2;
  return ways;
}

/* Cycles from the first firing to the one that begins with the last part of a spread slot. */
static double spreadCycles(const SambaTileNest *nest, uint32_t spread, uint32_t position) {
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  double parts = (double)sambaTileNestTrips(nest, position + 1);
  return sambaTileNestFiringCycles(nest) * firings * (spread - 1) / parts;
}

/* Cycles in which a group makes its first slice, or all of its tensor without a pipeline. */
static double sliceCycles(const SambaTileNest *nest) {
  double slices = (double)sambaTileNestTrips(nest, nest->pipeline_count);
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  return sambaTileNestFiringCycles(nest) * firings / slices;
}

/* Cycles from the first firing of the section to the first one of each group: those before it make
 * a slice first. */
static double *beginnings(const SambaCodegen *codegen, SambaArena *arena) {
  double *begins = SAMBA_ARENA_ARRAY(arena, double, codegen->groups.count);
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaGroup *group = codegen->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaTensorPlan *read = &codegen->tensors[group->operands[i].map.tensor];
      for (size_t w = 0; w < read->writers.size; ++w) {
        uint32_t writer = read->writers.data[w];
        if (writer < g)
          begins[g] = fmax(begins[g], begins[writer] + sliceCycles(&codegen->plans[writer].nest));
      }
    }
  }
  return begins;
}

static void addOperand(SambaCodegen *codegen, SambaGroupPlan *plan, uint32_t i, double begins,
                       AgUses *uses, int64_t *total) {
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[i].map;

  plan->ways[i] = 1;
  if (map->index_operand !=
      SAMBA_NO_INDEX) { /* one load per replica and, when the indices are in memory, one for them */
    plan->loads[i] = 1;
    *total += (int64_t)sambaTileNestReplicas(nest) *
              (1 + !codegen->tensors[group->operands[map->index_operand].map.tensor].buffered);
    return;
  }

  SambaTileBox box;
  bool direct = sambaTileNestIsDirect(nest, i);
  uint32_t level = direct ? sambaTileNestTokenLevel(nest, i) : sambaTileNestSlotLevel(nest, i);
  uint32_t position;

  if (direct)
    sambaTileNestBox(nest, i, level, &box);
  else
    sambaTileNestSlotBox(nest, i, &box);
  uint32_t spread = direct ? 1 : sambaTileNestSpread(nest, i, &position);
  uint32_t ring = direct ? 1 : sambaTileNestRing(nest, i);
  int64_t slots = sambaTileNestTrips(nest, level) * spread;
  SambaTileNest *loads = SAMBA_ARENA_NEW(&codegen->scratch, SambaTileNest);
  sambaTileNestOfLoads(nest, i, loads);
  AgUse use = {.ranges = &plan->loads[i],
               .ways = &plan->ways[i],
               .tensor = map->tensor,
               .nest = loads,
               .mask = sambaCopyMask(loads, i),
               .sources = sambaTileNestSources(loads, i),
               .spread = spread * ring,
               .twins = direct ? 1 : sambaTileNestTwins(nest, i),
               .begins = begins};
  use.most_ranges = use.sources;
  use.most_ways = direct ? 1 : waysOf(codegen, &box);
  use.first_bytes =
      (double)box.elements * use.sources * sambaDTypeBytes(sambaTileNestDType(nest, i));
  use.bytes = use.first_bytes * (double)slots;
  use.due = spread > 1 ? spreadCycles(nest, spread, position) : INFINITY;
  SambaCopyRange whole;
  sambaCutCopies(loads, use.mask, 1, &whole);
  if (!direct && spread * ring == 1 &&
      sambaStagedSourceDim(loads, i, &box, &whole) != SAMBA_NO_INDEX) {
    use.most_ranges = (use.sources + 1) / 2; /* at least two copies per row */
    int64_t row = box.size[box.rank - 1] * sambaDTypeBytes(sambaTileNestDType(nest, i));
    int64_t run = 1;
    while (run <= codegen->machine->flows_per_lane &&
           row * run % codegen->machine->dram_burst_bytes)
      ++run;
    use.row_bytes = run <= codegen->machine->flows_per_lane ? row : 0;
  }

  sambaArrayAppend(uses, use);
}

static void collect(SambaCodegen *codegen, AgUses *uses, int64_t *total) {
  for (uint32_t t = 0; t < codegen->graph->tensor_count; ++t) {
    SambaTensorPlan *tensor = &codegen->tensors[t];
    if (!tensor->shared)
      continue;
    double bytes = sambaDTypeBytes(codegen->graph->tensors[t].dtype);
    for (uint32_t axis = 0; axis < codegen->graph->tensors[t].rank; ++axis)
      bytes *= (double)codegen->graph->tensors[t].dims[axis];
    const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
    const SambaTileBox slice = sambaSliceBox(codegen, t);
    AgUse use = {.ranges = &tensor->loads,
                 .ways = &tensor->ways,
                 .tensor = t,
                 .nest = nest,
                 .mask = sambaReplicaMask(nest, tensor->slices.count),
                 .sources = tensor->replicas,
                 .most_ranges = tensor->replicas,
                 .most_ways = waysOf(codegen, &slice)};
    use.first_bytes = bytes / (double)sambaSlicesOf(codegen, t);
    use.bytes = bytes;
    use.due = INFINITY;
    sambaArrayAppend(uses, use);
  }

  const double *begins = beginnings(codegen, &codegen->scratch);
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    SambaGroupPlan *plan = &codegen->plans[g];
    const SambaTileNest *nest = &plan->nest;
    const SambaGroup *group = nest->group;
    for (uint32_t i = 0; i < group->operand_count; ++i)
      if (group->operands[i].value && !codegen->tensors[group->operands[i].map.tensor].buffered)
        addOperand(codegen, plan, i, begins[g], uses, total);
    if (codegen->graph->tensors[group->output.tensor].role != SAMBA_TENSOR_RESULT)
      continue;
    *total += group->output.index_operand != SAMBA_NO_INDEX; /* loads the indices */
    double bytes = (double)sambaTileNestTileElements(nest) * (double)sambaTileNestResults(nest) *
                   nest->copies *
                   sambaDTypeBytes(codegen->graph->tensors[group->output.tensor].dtype);
    AgUse use = {.ranges = &plan->stores,
                 .tensor = group->output.tensor,
                 .nest = nest,
                 .sources = nest->copies};
    use.most_ranges = sambaTileNestWriters(nest);
    use.most_ways = 1;
    use.stores = true;
    use.due = INFINITY;
    use.indexed = group->output.index_operand != SAMBA_NO_INDEX;
    use.first_bytes = bytes / (double)sambaTileNestResults(nest); /* after the last firing */
    use.bytes = bytes;
    sambaArrayAppend(uses, use);
  }
}

typedef struct Option {
  uint32_t count; /* generators */
  AgShare share;
  double rate;
} Option;

/* What one use can do: more generators, more bytes per cycle. */
typedef struct Options {
  uint32_t size;
  Option *data;
} Options;

static Options optionsOf(SambaCodegen *codegen, const AgUse *use) {
  uint32_t most = use->most_ranges * use->most_ways;
  most = most < (uint32_t)codegen->machine->ag_count ? most : (uint32_t)codegen->machine->ag_count;
  Options options = {0, SAMBA_ARENA_ARRAY(&codegen->scratch, Option, most + 1)};
  AgUse asked = *use;

  for (int round = 0; round < 2 && !options.size; ++round) {
    for (uint32_t wanted = 1; wanted <= most; ++wanted) {
      AgShare share = shareOf(codegen, &asked, wanted);
      if (share.ranges &&
          (!options.size || rateOf(codegen, use, share) > options.data[options.size - 1].rate))
        options.data[options.size++] =
            (Option){share.ranges * share.ways, share, rateOf(codegen, use, share)};
    }
    asked.row_bytes = 0; /* no cut makes whole rows: broken ones then */
  }

  /* A generator for each source always will do. */
  AgShare each = {use->sources, 1, use->sources, storedRow(codegen, use, use->sources)};
  if (!options.size)
    options.data[options.size++] = (Option){use->sources, each, rateOf(codegen, use, each)};
  return options;
}

/* The first option of at least this rate; the last when none is. */
static const Option *atRate(const Options *options, double rate) {
  uint32_t low = 0;
  uint32_t high = options->size - 1;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (options->data[middle].rate >= rate * 0.999)
      high = middle;
    else
      low = middle + 1;
  }
  return &options->data[low];
}

/* Cycles of the use before the section's first firing when it moves so many bytes per cycle: what
 * its own first firing needs, and so much of a spread slot that the rest is not late. */
static double firstCycles(const AgUse *use, double rate) {
  double cycles = fmax(use->first_bytes / rate, use->bytes / rate - use->due);
  return fmax(0, cycles - use->begins);
}

/* When the parts of a section happen: first slots are there, everything is loaded, the last tokens
 * are stored. */
typedef struct Times {
  double fill, end, tail;
} Times;

/* The option with which a use meets the times. */
static const Option *optionFor(const AgUse *use, const Options *options, const Times *times) {
  double first = use->stores ? times->tail : times->fill + use->begins;
  double rate = use->bytes / times->end;
  if (!use->stores)
    rate = fmax(rate, use->bytes / (first + use->due));
  return atRate(options, fmax(rate, first > 0 ? use->first_bytes / first : 0));
}

/* The generators of a section. */
typedef struct Generators {
  int64_t most;
  bool shared; /* a load and a store may have the same one */
  double dram; /* bytes per cycle that memory gives them */
} Generators;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* A load on its way: bytes that are not there yet, cycles until the first slots were there, and
 * until all was. */
typedef struct Arrival {
  double left, first, all;
} Arrival;

/* Bytes per cycle of a load that no other one keeps waiting. */
static double fullRate(const Option *option) { return option->rate / SAMBA_LOAD_SHARE; }

/* What is left of a load when its first slots are there, and then nothing. */
static double nextGoal(const AgUse *use, const Arrival *arrival) {
  double rest = use->bytes - use->first_bytes;
  return arrival->first == 0 ? rest : 0;
}

/* When loads arrive that begin together, each at its generators' rate as long as memory gives that:
 * when it does not, each gets its part. chosen: an option of each use. */
static void arriveTogether(const AgUses *uses, const Option *const *chosen, double dram,
                           Arrival *arrivals) {
  double now = 0;
  for (size_t i = 0; i < uses->size; ++i)
    arrivals[i].left = uses->data[i].stores ? 0 : uses->data[i].bytes;

  for (;;) {
    double rate = 0, step = INFINITY;
    for (size_t i = 0; i < uses->size; ++i)
      rate += arrivals[i].left > 0 ? fullRate(chosen[i]) : 0;
    if (rate == 0)
      return;
    const double share = fmin(1, dram / rate);
    for (size_t i = 0; i < uses->size; ++i)
      if (arrivals[i].left > 0)
        step = fmin(step, (arrivals[i].left - nextGoal(&uses->data[i], &arrivals[i])) /
                              (share * fullRate(chosen[i])));
    now += step;

    for (size_t i = 0; i < uses->size; ++i) {
      Arrival *arrival = &arrivals[i];
      if (arrival->left <= 0)
        continue;
      const double goal = nextGoal(&uses->data[i], arrival);
      arrival->left -= step * share * fullRate(chosen[i]);
      if (arrival->left > goal + 0.5) /* byte */
        continue;
      arrival->left = goal;
      arrival->first = arrival->first == 0 ? now : arrival->first;
      arrival->all = now;
    }
  }
}

/* The load of what leads from a use's generators to its buffers counts half, as in the planner's
 * scores: a section may run often. */
static const double wiringShare = 0.5;

static double wiringCycles(const SambaMachine *machine, const AgUse *use, const Option *option) {
  uint64_t ends = (uint64_t)option->share.ways * use->sources * use->spread * use->twins;
  uint64_t entries = SAMBA_ENTRIES_PER_DESTINATION * ends;
  return wiringShare * sambaMachineLoadCycles(machine, entries * sambaSwitchEntryLoadBytes());
}

/* Cycles of the section when each use has its chosen option and memory is shared: until the first
 * slots are there and the PCUs have worked, or until the last slots have come and the PCUs have
 * taken them, and then until the last results are stored; with what its wiring adds to its load. */
static double sectionCycles(const SambaMachine *machine, const AgUses *uses,
                            const Option *const *chosen, Generators generators, double compute) {
  Arrival *arrivals = sambaAllocateZeroed(uses->size, sizeof *arrivals);
  double fill = 0, end = 0, tail = 0, bytes = 0, busy = 0, wiring = 0;
  arriveTogether(uses, chosen, generators.dram, arrivals);
  for (size_t i = 0; i < uses->size; ++i) {
    const AgUse *use = &uses->data[i];
    const double staged = use->row_bytes ? stagingCycles : 0;
    bytes += use->bytes;
    wiring += wiringCycles(machine, use, chosen[i]);
    busy += use->bytes * chosen[i]->count / fullRate(chosen[i]);
    if (use->stores) {
      tail = fmax(tail, use->first_bytes / fmin(chosen[i]->rate, generators.dram));
      continue;
    }
    double first = fmax(arrivals[i].first, arrivals[i].all - use->due);
    fill = fmax(fill, first + staged - use->begins);
    end = fmax(end, arrivals[i].all + staged + compute * use->first_bytes / use->bytes);
  }
  free(arrivals);
  end = fmax(end, fmax(bytes / generators.dram, busy / (double)generators.most));
  return fmax(fill + compute, end) + tail + wiring;
}

/* Generators that all uses need to meet the times, counted no further than beyond `most`;
 * out_times: what they then reach. */
static int64_t needOf(const AgUses *uses, const Options *options, Generators generators,
                      const Times *times, Times *out_times) {
  int64_t loads = 0, stores = 0, need = 0;
  *out_times = (Times){0};
  for (size_t i = 0; i < uses->size && need <= generators.most; ++i) {
    const AgUse *use = &uses->data[i];
    const Option *option = optionFor(use, &options[i], times);
    double *first = use->stores ? &out_times->tail : &out_times->fill;
    *(use->stores ? &stores : &loads) += option->count;
    need = generators.shared ? larger(loads, stores) : loads + stores;
    *first = fmax(*first, firstCycles(use, option->rate));
    out_times->end = fmax(out_times->end, use->bytes / option->rate);
  }
  return need;
}

/* More generators are needed than there are, even when each use takes its fewest. */
static SambaStatus tooFewAgs(const SambaCodegen *codegen, const AgUses *uses,
                             const Options *options, int64_t need) {
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "the section needs %lld address generators for its %zu operands and "
      "results in memory, but %s has %lld",
      (long long)need, uses->size, codegen->machine->name, (long long)codegen->machine->ag_count);
  size_t most = 0;
  for (size_t i = 1; i < uses->size; ++i)
    if (options[i].data[0].count > options[most].data[0].count)
      most = i;

  if (uses->size) {
    const AgUse *use = &uses->data[most];
    uint32_t stage = use->stores ? use->nest->group->last : use->nest->group->anchor;
    sambaStatusNote(status, "tensor %u needs the most, %u to %s it at stage %u (%s)", use->tensor,
                    options[most].data[0].count, use->stores ? "store" : "load", stage,
                    codegen->graph->stages[stage].name);
  }
  return sambaStatusNote(status,
                         "cut the section, so that each part reads and writes fewer tensors");
}

/* Generators that are left shorten the tail of the times, and of what the uses then take. */
static void shortenTail(const AgUses *uses, const Options *options, Generators generators,
                        Times *times, Times *reached) {
  for (double tail = reached->tail; tail > 1; tail *= 0.85) {
    Times shorter = *times, result;
    shorter.tail = tail;
    if (needOf(uses, options, generators, &shorter, &result) > generators.most)
      break;
    *times = shorter;
    *reached = result;
  }
}

/* Times with which the first slots take `fill` cycles and all is loaded `slack` times as late as
 * the PCUs then end, with the shortest tail; out_reached: what they come to. False: there are too
 * few generators, or the PCUs end no sooner than `least`. */
static bool findTimes(const AgUses *uses, const Options *options, Generators generators,
                      double fill, double slack, double compute, double least, Times *out_times,
                      Times *out_reached) {
  *out_times = (Times){fill, (fill + compute) * slack, INFINITY};
  /* The first slots come no sooner when the tail is shorter. */
  if (needOf(uses, options, generators, out_times, out_reached) > generators.most ||
      out_reached->fill + compute >= least)
    return false;
  shortenTail(uses, options, generators, out_times, out_reached);
  return true;
}

/* Of the times that the first slots can take, the one with which all ends soonest: the PCUs work
 * from then on, the rest is loaded meanwhile, the last tokens are stored afterwards. */
static Times chooseTimes(const AgUses *uses, const Options *options, int64_t most, double compute) {
  const Generators generators = {most, false, INFINITY};
  Times best = {INFINITY, INFINITY, INFINITY};
  double least = INFINITY;

  for (size_t i = 0; i < uses->size; ++i)
    for (uint32_t o = 0; o < options[i].size && !uses->data[i].stores; ++o)
      for (size_t k = 0; k < sizeof slacks / sizeof slacks[0]; ++k) {
        double fill = firstCycles(&uses->data[i], options[i].data[o].rate);
        Times times, reached;
        if (!findTimes(uses, options, generators, fill, slacks[k], compute, least, &times,
                       &reached))
          continue;
        double end =
            fmax(reached.fill + compute, streamCost * reached.end) + storeShare * reached.tail;
        if (end < least) {
          least = end;
          best = times;
        }
      }
  return best;
}

/* Whether a load that is no faster than the PCUs gets less than of its own generators. */
static bool starvesStream(const AgUses *uses, const Option *const *chosen, const Option *const *own,
                          double compute) {
  bool starves = false;
  for (size_t i = 0; i < uses->size; ++i)
    starves |= !uses->data[i].stores && chosen[i]->rate < own[i]->rate &&
               streamCost * uses->data[i].bytes / chosen[i]->rate > compute;
  return starves;
}

/* The options with which all ends soonest when stores have the generators of loads. Returns the
 * cycles. */
static double chooseShared(const SambaMachine *machine, const AgUses *uses, const Options *options,
                           Generators generators, double compute, const Option *const *own,
                           const Option **out_chosen) {
  const Option **chosen = sambaAllocate(sambaArraySize(uses->size, sizeof *chosen));
  double least = INFINITY;

  for (size_t i = 0; i < uses->size; ++i)
    for (uint32_t o = 0; o < options[i].size && !uses->data[i].stores; ++o)
      for (size_t k = 0; k < sizeof slacks / sizeof slacks[0]; ++k) {
        double fill = firstCycles(&uses->data[i], options[i].data[o].rate);
        Times times, reached;
        if (!findTimes(uses, options, generators, fill, slacks[k], compute, INFINITY, &times,
                       &reached))
          continue;
        for (size_t u = 0; u < uses->size; ++u)
          chosen[u] = optionFor(&uses->data[u], &options[u], &times);
        double cycles = sectionCycles(machine, uses, chosen, generators, compute);
        if (cycles < least && !starvesStream(uses, chosen, own, compute)) {
          least = cycles;
          memcpy(out_chosen, chosen, uses->size * sizeof *chosen);
        }
      }
  free(chosen);
  return least;
}

double sambaCodegenWorkCycles(const SambaCodegen *codegen) {
  double most = 0;
  for (uint32_t g = 0; g < codegen->groups.count; ++g) {
    const SambaTileNest *nest = &codegen->plans[g].nest;
    most = fmax(most, sambaTileNestFiringCycles(nest) *
                          (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest)));
  }
  return most;
}

/* Cycles in which a use moves its bytes, as far as it streams: what is there before the first
 * firing, and what is stored at once behind the last, is a matter of the times. */
static double streamingCycles(const AgUse *use, const Option *option) {
  return use->bytes < fewSlots * use->first_bytes ? 0 : use->bytes / option->rate;
}

/* What is left goes to whoever streams longest, as long as that is enough for its next option. */
static void giveTheRest(const AgUses *uses, const Options *options, int64_t left,
                        const Option **chosen) {
  for (;;) {
    size_t slowest = 0;
    for (size_t i = 1; i < uses->size; ++i)
      if (streamingCycles(&uses->data[i], chosen[i]) >
          streamingCycles(&uses->data[slowest], chosen[slowest]))
        slowest = i;
    if (!uses->size || streamingCycles(&uses->data[slowest], chosen[slowest]) == 0 ||
        chosen[slowest] + 1 == options[slowest].data + options[slowest].size)
      return;
    int64_t more = (int64_t)chosen[slowest][1].count - chosen[slowest]->count;
    if (more > left)
      return;
    left -= more;
    ++chosen[slowest];
  }
}

/* The options of all uses: generators of their own, or, where that is worth it, shared ones. */
static void chooseOptions(SambaCodegen *codegen, const AgUses *uses, const Options *options,
                          Generators generators, const Option **chosen) {
  const double work = sambaCodegenWorkCycles(codegen);
  const Times best = chooseTimes(uses, options, generators.most, work);
  int64_t left = generators.most;
  for (size_t i = 0; i < uses->size; ++i) {
    chosen[i] = optionFor(&uses->data[i], &options[i], &best);
    left -= chosen[i]->count;
  }
  giveTheRest(uses, options, left, chosen);
  /* Of groups behind each other this does not see who keeps whom waiting. */
  if (!generators.shared || codegen->groups.count > 1)
    return;

  generators.dram = busyDramShare * sambaMachineDramBytesPerCycle(codegen->machine);
  const double alone = sectionCycles(codegen->machine, uses, chosen, generators, work);
  const Option **shared = SAMBA_ARENA_ARRAY(&codegen->scratch, const Option *, uses->size);
  if (chooseShared(codegen->machine, uses, options, generators, work, chosen, shared) <
      sharedWorth * alone)
    memcpy(chosen, shared, uses->size * sizeof *chosen);
}

static SambaStatus shareAgs(SambaCodegen *codegen, const AgUses *uses, int64_t indexed) {
  Options *options = SAMBA_ARENA_ARRAY(&codegen->scratch, Options, uses->size);
  for (size_t i = 0; i < uses->size; ++i)
    options[i] = optionsOf(codegen, &uses->data[i]);

  const Times unhurried = {INFINITY, INFINITY, INFINITY};
  Times reached;
  int64_t most = codegen->machine->ag_count - indexed;
  int64_t fewest =
      needOf(uses, options, (Generators){INT64_MAX, false, INFINITY}, &unhurried, &reached);
  if (fewest > most)
    return tooFewAgs(codegen, uses, options, fewest + indexed);

  const Option **chosen = SAMBA_ARENA_ARRAY(&codegen->scratch, const Option *, uses->size);
  chooseOptions(codegen, uses, options, (Generators){most, !indexed, 0}, chosen);
  for (size_t i = 0; i < uses->size; ++i) {
    *uses->data[i].ranges = chosen[i]->share.ranges;
    if (uses->data[i].ways)
      *uses->data[i].ways = chosen[i]->share.ways;
  }

  return NULL;
}

SambaStatus sambaCodegenAssignAgs(SambaCodegen *codegen) {
  AgUses uses = {0};
  int64_t total = 0;
  collect(codegen, &uses, &total);
  SambaStatus status = shareAgs(codegen, &uses, total);
  sambaArrayFree(&uses);
  return status;
}
