/* The bandwidth model: how long a section takes and what it is short of. Planner, partitioner and
 * reports ask here; test/benchmark/model compares it with the simulator. */
#ifndef SAMBA_BACKEND_ESTIMATE_PREDICT_H
#define SAMBA_BACKEND_ESTIMATE_PREDICT_H

#include "backend/estimate/busy.h"
#include "backend/estimate/pipeline_run.h"
#include "backend/section/port_cycles.h"

typedef struct SambaPrediction {
  double cycles; /* of one run, launch apart */
  SambaBusy busy;
  SambaResource bottleneck; /* the busiest */
} SambaPrediction;

/* counts: of the machine's ports, shared with other sections; may be NULL. */
SambaPrediction sambaSectionPredict(const SambaSection *section, const SambaMachine *machine,
                                    SambaPortCounts *counts);
/* The same where it takes `most` cycles at most. Where it takes more, the cycles of the prediction
 * are more than that too, and perhaps fewer than it takes: the pipeline, which takes longest to
 * look at, is left out where one resource alone works for longer, and not followed to its end else.
 * memo may be NULL. */
SambaPrediction sambaSectionPredictWithin(const SambaSection *section, const SambaMachine *machine,
                                          SambaPortCounts *counts, double most,
                                          const SambaPipelineMemo *memo);

#endif
