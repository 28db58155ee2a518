/* Sections that load and store in turn; see plan_phases.h. */
#include "backend/plan/plan_phases.h"

#include "support/number/integer.h"

#include <math.h>

/* What the section loads, or stores: the bytes of its largest tensor, those of all in parts of
 * that, and tensors that are next to nothing beside it. */
typedef struct Traffic {
  double largest, parts;
  uint32_t large, small;
} Traffic;

/* A tensor with so many times fewer bytes than the largest one is loaded at once. */
enum { smallShare = 64 };

static double bytesOf(const SambaStageTensor *tensor) {
  double bytes = sambaDTypeBytes(tensor->dtype);
  for (uint32_t axis = 0; axis < tensor->rank; ++axis)
    bytes *= (double)tensor->dims[axis];
  return bytes;
}

static Traffic trafficOf(const SambaStageGraph *graph, SambaTensorRole role) {
  Traffic traffic = {0, 0, 0, 0};
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    if (graph->tensors[t].role == role)
      traffic.largest = fmax(traffic.largest, bytesOf(&graph->tensors[t]));
  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    if (graph->tensors[t].role != role)
      continue;
    double bytes = bytesOf(&graph->tensors[t]);
    bool small = bytes * smallShare < traffic.largest;
    traffic.small += small;
    traffic.large += !small;
    traffic.parts += small ? 0 : bytes / traffic.largest;
  }
  return traffic;
}

/* Replicas of which each has a generator of its own for the largest tensor. */
static double replicasFor(const SambaPlanner *planner, const Traffic *traffic) {
  double left = (double)planner->ags - traffic->small;
  return traffic->parts > 0 ? left / traffic->parts : 0;
}

/* The fewest phases in which slots of `bytes` in all are no larger than a PMU, each with as many of
 * the slices; 0: there are none. */
static int64_t phasesFor(const SambaMachine *machine, int64_t slices, double bytes) {
  const double most = (double)(machine->pmu_bytes - machine->pmu_port_bytes);
  int64_t phases = (int64_t)ceil(bytes / most);
  while (phases <= slices && slices % phases)
    ++phases;
  return phases <= slices ? phases : 0;
}

bool sambaPlanPhases(const SambaPlanner *planner, SambaPipeline *pipeline, uint32_t *out_phases) {
  const Traffic loads = trafficOf(planner->graph, SAMBA_TENSOR_ARGUMENT);
  const Traffic stores = trafficOf(planner->graph, SAMBA_TENSOR_RESULT);
  if (!pipeline->count || sambaPlannerHasArrays(planner) || loads.parts == 0 || stores.parts == 0)
    return false;

  uint32_t pcus = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    pcus += planner->groups.groups[g]->pcus;
  double most = fmin(replicasFor(planner, &loads), replicasFor(planner, &stores));
  most = pcus ? fmin(most, planner->pcus / pcus) : most;
  int64_t inner = 1; /* slices in each step of the first loop */
  for (uint32_t i = 1; i < pipeline->count; ++i)
    inner *= sambaCeilDiv(pipeline->extent[i], pipeline->tile[i]);

  /* Fewer replicas may share slices better, but not many fewer: each has a few generators. */
  const int64_t tiles = sambaCeilDiv(pipeline->extent[0], pipeline->tile[0]);
  const int64_t least = (int64_t)ceil(most * 3 / 4);
  int64_t best = 0;
  for (int64_t copies = (int64_t)most; copies >= least && copies > 0; --copies) {
    const int64_t each = sambaCeilDiv(tiles, copies);
    const double bytes = stores.largest / (double)tiles * (double)each;
    const int64_t phases = phasesFor(planner->machine, each * inner, bytes);
    /* Copies stay in step where slots of one result tell those of another. */
    if (!phases || (best && phases >= best) || (phases > 1 && stores.large < 2))
      continue;
    best = phases;
    for (uint32_t i = 0; i < pipeline->count; ++i)
      pipeline->copies[i] = 1;
    pipeline->copies[0] = (uint32_t)sambaCeilDiv(tiles, each);
  }
  *out_phases = (uint32_t)best;
  return best > 0;
}
