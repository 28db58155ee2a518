/* Address generators: every operand in memory, shared argument and result gets at least one; what
 * is left goes, step by step, to whoever moves the most bytes per generator. */
#include "backend/codegen/generator_uses.h"
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

/* The share of its rate that memory gives when more is asked for. */
static const double busyDramShare = 0.94;

/* An operand with fewer slots than this does not stream. */
static const double fewSlots = 4;

/* The first option of at least this rate; the last when none is. */
static const SambaAgOption *atRate(const SambaAgOptions *options, double rate) {
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
static double firstCycles(const SambaAgUse *use, double rate) {
  double cycles = fmax(use->first_bytes / rate, use->bytes / rate - use->due);
  return fmax(0, cycles - use->begins);
}

/* When the parts of a section happen: first slots are there, everything is loaded, the last tokens
 * are stored. */
typedef struct Times {
  double fill, end, tail;
} Times;

/* The option with which a use meets the times. */
static const SambaAgOption *optionFor(const SambaAgUse *use, const SambaAgOptions *options,
                                      const Times *times) {
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
static double fullRate(const SambaAgOption *option) { return option->rate / SAMBA_LOAD_SHARE; }

/* What is left of a load when its first slots are there, and then nothing. */
static double nextGoal(const SambaAgUse *use, const Arrival *arrival) {
  double rest = use->bytes - use->first_bytes;
  return arrival->first == 0 ? rest : 0;
}

/* When loads arrive that begin together, each at its generators' rate as long as memory gives that:
 * when it does not, each gets its part. chosen: an option of each use. */
static void arriveTogether(const SambaAgUses *uses, const SambaAgOption *const *chosen, double dram,
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

static double wiringCycles(const SambaMachine *machine, const SambaAgUse *use,
                           const SambaAgOption *option) {
  uint64_t ends = (uint64_t)option->share.ways * use->sources * use->spread * use->twins;
  uint64_t entries = SAMBA_ENTRIES_PER_DESTINATION * ends;
  return wiringShare * sambaMachineLoadCycles(machine, sambaAssumedEntriesBytes(entries));
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Cycles in which the generator with most to do moves what its load and its store move, when those
 * with most are with those with least. */
static double pairedCycles(const SambaAgUses *uses, const SambaAgOption *const *chosen,
                           Generators generators) {
  double *loads = sambaAllocateZeroed((size_t)generators.most, 2 * sizeof *loads);
  double *stores = loads + generators.most;
  int64_t load_count = 0, store_count = 0;
  for (size_t i = 0; i < uses->size; ++i)
    for (uint32_t g = 0; g < chosen[i]->count; ++g)
      *(uses->data[i].stores ? &stores[store_count++] : &loads[load_count++]) =
          uses->data[i].bytes / fullRate(chosen[i]);
  qsort(loads, (size_t)generators.most, sizeof *loads, ascending);
  qsort(stores, (size_t)generators.most, sizeof *stores, ascending);

  double most = 0;
  for (int64_t g = 0; g < generators.most; ++g)
    most = fmax(most, loads[g] + stores[generators.most - 1 - g]);
  free(loads);
  return most;
}

/* Cycles in which memory moves the bytes of all uses. */
static double memoryCycles(const SambaAgUses *uses, Generators generators) {
  double bytes = 0;
  for (size_t i = 0; i < uses->size; ++i)
    bytes += uses->data[i].bytes;
  return bytes / generators.dram;
}

/* Cycles of the section when each use has its chosen option and memory is shared: until the first
 * slots are there and the PCUs have worked, or until the last slots have come and the PCUs have
 * taken them, and then until the last results are stored; with what its wiring adds to its load.
 * Those that are `most` or more are not looked at further. */
static double sectionCycles(const SambaMachine *machine, const SambaAgUses *uses,
                            const SambaAgOption *const *chosen, Generators generators,
                            double compute, double most) {
  Arrival *arrivals = sambaAllocateZeroed(uses->size, sizeof *arrivals);
  double fill = 0, end = 0, tail = 0, busy = 0, wiring = 0;
  arriveTogether(uses, chosen, generators.dram, arrivals);
  for (size_t i = 0; i < uses->size; ++i) {
    const SambaAgUse *use = &uses->data[i];
    const double staged = use->row_bytes ? SAMBA_STAGING_CYCLES : 0;
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
  end = fmax(end, fmax(memoryCycles(uses, generators), busy / (double)generators.most));
  const double cycles = fmax(fill + compute, end) + tail + wiring;
  if (cycles >= most)
    return cycles;
  return fmax(cycles, streamCost * pairedCycles(uses, chosen, generators) + wiring);
}

/* Generators that all uses need to meet the times, counted no further than beyond `most`;
 * out_times: what they then reach. */
static int64_t needOf(const SambaAgUses *uses, const SambaAgOptions *options, Generators generators,
                      const Times *times, Times *out_times) {
  int64_t loads = 0, stores = 0, need = 0;
  *out_times = (Times){0};
  for (size_t i = 0; i < uses->size && need <= generators.most; ++i) {
    const SambaAgUse *use = &uses->data[i];
    const SambaAgOption *option = optionFor(use, &options[i], times);
    double *first = use->stores ? &out_times->tail : &out_times->fill;
    *(use->stores ? &stores : &loads) += option->count;
    need = generators.shared ? larger(loads, stores) : loads + stores;
    *first = fmax(*first, firstCycles(use, option->rate));
    out_times->end = fmax(out_times->end, use->bytes / option->rate);
  }
  return need;
}

/* More generators are needed than there are, even when each use takes its fewest. */
static SambaStatus tooFewAgs(const SambaCodegen *codegen, const SambaAgUses *uses,
                             const SambaAgOptions *options, int64_t need) {
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
    const SambaAgUse *use = &uses->data[most];
    uint32_t stage = use->stores ? use->nest->group->last : use->nest->group->anchor;
    sambaStatusNote(status, "tensor %u needs the most, %u to %s it at stage %u (%s)", use->tensor,
                    options[most].data[0].count, use->stores ? "store" : "load", stage,
                    codegen->graph->stages[stage].name);
  }
  return sambaStatusNote(status,
                         "cut the section, so that each part reads and writes fewer tensors");
}

/* Generators that are left shorten the tail of the times, and of what the uses then take. */
static void shortenTail(const SambaAgUses *uses, const SambaAgOptions *options,
                        Generators generators, Times *times, Times *reached) {
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
static bool findTimes(const SambaAgUses *uses, const SambaAgOptions *options, Generators generators,
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
static Times chooseTimes(const SambaAgUses *uses, const SambaAgOptions *options, int64_t most,
                         double compute) {
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
static bool starvesStream(const SambaAgUses *uses, const SambaAgOption *const *chosen,
                          const SambaAgOption *const *own, double compute) {
  bool starves = false;
  for (size_t i = 0; i < uses->size; ++i)
    starves |= !uses->data[i].stores && chosen[i]->rate < own[i]->rate &&
               streamCost * uses->data[i].bytes / chosen[i]->rate > compute;
  return starves;
}

/* The options with which all ends soonest when stores have the generators of loads. Returns the
 * cycles. */
static double chooseShared(const SambaMachine *machine, const SambaAgUses *uses,
                           const SambaAgOptions *options, Generators generators, double compute,
                           const SambaAgOption *const *own, const SambaAgOption **out_chosen) {
  const SambaAgOption **chosen = sambaAllocate(sambaArraySize(uses->size, sizeof *chosen));
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
        double cycles = sectionCycles(machine, uses, chosen, generators, compute, least);
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
static double streamingCycles(const SambaAgUse *use, const SambaAgOption *option) {
  return use->bytes < fewSlots * use->first_bytes ? 0 : use->bytes / option->rate;
}

/* What is left goes to whoever streams longest, as long as that is enough for its next option. */
static void giveTheRest(const SambaAgUses *uses, const SambaAgOptions *options, int64_t left,
                        const SambaAgOption **chosen) {
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

/* Options of the loads, or of the stores, that have all generators while they are at work: whoever
 * takes longest gets more as long as that is enough for its next option. */
static void chooseApart(const SambaAgUses *uses, const SambaAgOptions *options, bool stores,
                        int64_t left, const SambaAgOption **chosen) {
  for (size_t i = 0; i < uses->size; ++i)
    if (uses->data[i].stores == stores) {
      chosen[i] = &options[i].data[0];
      left -= chosen[i]->count;
    }

  for (;;) {
    size_t slowest = uses->size;
    double most = 0;
    for (size_t i = 0; i < uses->size; ++i) {
      if (uses->data[i].stores != stores || chosen[i] + 1 == options[i].data + options[i].size ||
          (int64_t)chosen[i][1].count - chosen[i]->count > left)
        continue;
      double cycles = uses->data[i].bytes / chosen[i]->rate;
      if (cycles > most) {
        most = cycles;
        slowest = i;
      }
    }
    if (slowest == uses->size)
      return;
    left -= (int64_t)chosen[slowest][1].count - chosen[slowest]->count;
    ++chosen[slowest];
  }
}

/* A pipeline for which memory works so many times as long as its PCUs waits for memory itself: it
 * gains nothing from more generators, and requests of loads and stores hold up each other. */
static const double streamingWork = 1.5;

/* The options of all uses: generators of their own, or, where that is worth it, shared ones. */
static void chooseOptions(SambaCodegen *codegen, const SambaAgUses *uses,
                          const SambaAgOptions *options, Generators generators,
                          const SambaAgOption **chosen) {
  const double work = sambaCodegenWorkCycles(codegen);
  if (codegen->phases && generators.shared) {
    chooseApart(uses, options, false, generators.most, chosen);
    chooseApart(uses, options, true, generators.most, chosen);
    return;
  }
  const Times best = chooseTimes(uses, options, generators.most, work);
  int64_t left = generators.most;
  for (size_t i = 0; i < uses->size; ++i) {
    chosen[i] = optionFor(&uses->data[i], &options[i], &best);
    left -= chosen[i]->count;
  }
  giveTheRest(uses, options, left, chosen);
  if (!generators.shared)
    return;

  generators.dram = busyDramShare * sambaMachineDramBytesPerCycle(codegen->machine);
  if (codegen->groups.count > 1 && memoryCycles(uses, generators) > streamingWork * work)
    return;
  const double alone = sectionCycles(codegen->machine, uses, chosen, generators, work, INFINITY);
  const SambaAgOption **shared =
      SAMBA_ARENA_ARRAY(&codegen->scratch, const SambaAgOption *, uses->size);
  if (chooseShared(codegen->machine, uses, options, generators, work, chosen, shared) <
      sharedWorth * alone)
    memcpy(chosen, shared, uses->size * sizeof *chosen);
}

static SambaStatus shareAgs(SambaCodegen *codegen, const SambaAgUses *uses, int64_t indexed) {
  SambaAgOptions *options = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaAgOptions, uses->size);
  for (size_t i = 0; i < uses->size; ++i)
    options[i] = sambaAgOptionsOf(codegen, &uses->data[i]);

  const Times unhurried = {INFINITY, INFINITY, INFINITY};
  Times reached;
  int64_t most = codegen->machine->ag_count - indexed;
  int64_t fewest =
      needOf(uses, options, (Generators){INT64_MAX, false, INFINITY}, &unhurried, &reached);
  if (fewest > most)
    return tooFewAgs(codegen, uses, options, fewest + indexed);

  const SambaAgOption **chosen =
      SAMBA_ARENA_ARRAY(&codegen->scratch, const SambaAgOption *, uses->size);
  chooseOptions(codegen, uses, options, (Generators){most, !indexed, 0}, chosen);
  for (size_t i = 0; i < uses->size; ++i) {
    *uses->data[i].ranges = chosen[i]->share.ranges;
    if (uses->data[i].ways)
      *uses->data[i].ways = chosen[i]->share.ways;
  }

  return NULL;
}

SambaStatus sambaCodegenAssignAgs(SambaCodegen *codegen) {
  SambaAgUses uses = {0};
  int64_t total = 0;
  sambaAgUsesCollect(codegen, &uses, &total);
  SambaStatus status = shareAgs(codegen, &uses, total);
  sambaArrayFree(&uses);
  return status;
}
