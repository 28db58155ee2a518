/* The bandwidth model; see predict.h. */
#include "backend/estimate/predict.h"

#include "backend/estimate/link_pace.h"
#include "backend/estimate/unit_cycles.h"

#include <math.h>

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
  prediction.cycles = fmax(prediction.cycles, busiest);
  return prediction;
}

SambaPrediction sambaSectionPredict(const SambaSection *section, const SambaMachine *machine,
                                    SambaPortCounts *counts) {
  return sambaSectionPredictWithin(section, machine, counts, INFINITY, NULL);
}
