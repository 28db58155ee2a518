/* The bandwidth model; see predict.h. */
#include "backend/estimate/predict.h"

#include "backend/estimate/link_pace.h"
#include "backend/estimate/unit_cycles.h"

#include <math.h>

/* A memory that works nearly all the time makes all wait that ask for something: where it works for
 * `crowdedFrom` of a section's cycles these begin to grow, and `crowdedOver` later they have grown
 * by `crowdedCost`. Of the sections of test/benchmark/model those whose memory works for more than
 * 0.8 of the predicted cycles took 6% longer than these, and the others as long. */
static const double crowdedFrom = 0.75, crowdedOver = 0.1, crowdedCost = 0.05;

/* Cycles of a section that takes so many where nobody waits for memory. */
static double crowdedCycles(const SambaBusy *busy, double cycles) {
  double memory = fmax(busy->cycles[SAMBA_RESOURCE_HBM], busy->cycles[SAMBA_RESOURCE_DDR]);
  double crowded = (memory / fmax(cycles, 1) - crowdedFrom) / crowdedOver;
  return cycles * (1 + crowdedCost * fmin(1, fmax(0, crowded)));
}

SambaPrediction sambaSectionPredictWithin(const SambaSection *section, const SambaMachine *machine,
                                          SambaPortCounts *counts, double most,
                                          const SambaPipelineMemo *memo) {
  SambaArena arena = {0};
  SambaPortPatterns *patterns =
      counts ? sambaPortPatternsShare(counts, &arena) : sambaPortPatternsCreate(machine, &arena);
  SambaPrediction prediction = {.busy = sambaSectionBusy(section, machine, patterns)};
  double unlinked = sambaBusyMost(&prediction.busy, &prediction.bottleneck);
  sambaSectionAddNetworkBusy(section, machine, &prediction.busy);
  double busiest = sambaBusyMost(&prediction.busy, &prediction.bottleneck);
  if (busiest <= most) {
    double pace = sambaSectionLinkPace(section, machine, unlinked);
    prediction.cycles = pace * sambaPipelineCycles(section, machine, patterns, most / pace, memo);
  }
  sambaArenaDestroy(&arena);
  /* Where the pipeline says nothing: the busiest, once more while it fills and empties. */
  if (prediction.cycles < 0)
    prediction.cycles = 2 * busiest + sambaMachineLoadLatency(machine);
  prediction.cycles = crowdedCycles(&prediction.busy, fmax(prediction.cycles, busiest));
  return prediction;
}

SambaPrediction sambaSectionPredict(const SambaSection *section, const SambaMachine *machine,
                                    SambaPortCounts *counts) {
  return sambaSectionPredictWithin(section, machine, counts, INFINITY, NULL);
}
