/* Steps that widen a plan; see widen.h. */
#include "backend/plan/widen.h"

#include "backend/estimate/estimate.h"
#include "backend/group/share.h"
#include "backend/group/tile_nest.h"
#include "support/number/integer.h"

#include <math.h>
#include <string.h>

/* Groups that work for this share of the cycles of the slowest one are nearly as slow, and so are
 * PMUs that pass data for this share: an array's results may take them two cycles for a vector. */
static const double nearlyShare = 0.6, passingShare = 0.45;

typedef struct Widening {
  SambaStageGraph *graph;
  const SambaMachine *machine;
  const SambaMapping *given;
  SambaArena arena;
  SambaGroups groups;
  SambaTileNest *nests;
  double *cycles, slowest;
  uint32_t pcus, most_pcus;
} Widening;

static double cyclesOf(const SambaTileNest *nest) {
  return sambaTileNestFiringCycles(nest) *
         (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
}

/* Reads the nests of a graph whose groups are all mapped. */
static bool readNests(Widening *widening) {
  const SambaStageGraph *graph = widening->graph;
  SambaStatus status =
      sambaGroupsBuild(graph, widening->machine, &widening->arena, &widening->groups);
  uint32_t count = status ? 0 : widening->groups.count;
  widening->nests = SAMBA_ARENA_ARRAY(&widening->arena, SambaTileNest, count);
  widening->cycles = SAMBA_ARENA_ARRAY(&widening->arena, double, count);
  for (uint32_t g = 0; g < count && !status; ++g) {
    SambaTileNest *nest = &widening->nests[g];
    status = sambaTileNestMake(graph, widening->groups.groups[g], widening->machine, nest);
    if (status)
      break;
    widening->cycles[g] = widening->groups.groups[g]->copy ? 0 : cyclesOf(nest);
    widening->slowest = fmax(widening->slowest, widening->cycles[g]);
    widening->pcus += sambaTileNestPcus(nest);
  }

  bool read = !status;
  sambaStatusFree(status);
  return read;
}

static bool isPipeline(const Widening *widening) {
  bool pipeline = widening->groups.count > 1;
  for (uint32_t g = 0; g < widening->groups.count; ++g)
    pipeline &= widening->nests[g].pipeline_count > 0;
  return pipeline;
}

static bool mayChange(const Widening *widening, uint32_t g) {
  const SambaGroup *group = widening->groups.groups[g];
  return !group->copy && !widening->given[group->anchor].dim_count;
}

static bool isNearlySlowest(const Widening *widening, uint32_t g) {
  return widening->cycles[g] >= nearlyShare * widening->slowest;
}

/* Sets tile and copies of a group's dimension in the mappings of its stages. */
static void setDim(Widening *widening, const SambaGroup *group, uint32_t dim, int64_t tile,
                   uint32_t unroll) {
  for (uint32_t s = 0; s < group->stage_count; ++s) {
    SambaMapping *mapping = &widening->graph->mappings[group->stages[s]];
    for (uint32_t own = 0; own < mapping->dim_count; ++own)
      if (group->stage_dims[s].of[own] == dim) {
        mapping->tile[own] = tile;
        mapping->unroll[own] = unroll;
      }
  }
}

/* More copies along a dimension: as many as have fewer tiles each. */
static bool addCopies(Widening *widening, uint32_t g, uint32_t *index) {
  const SambaTileNest *nest = &widening->nests[g];
  const SambaGroup *group = nest->group;
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    if (sambaTileNestIsPipelined(nest, dim) || nest->trips[dim] < 2)
      continue;
    uint32_t unroll = (uint32_t)sambaCeilDiv(nest->tiles[dim], nest->trips[dim] - 1);
    uint32_t more = (uint32_t)((uint64_t)sambaTileNestPcus(nest) * unroll / nest->unroll[dim]);
    if (widening->pcus - sambaTileNestPcus(nest) + more > widening->most_pcus || (*index)-- > 0)
      continue;
    setDim(widening, group, dim, nest->tile[dim], unroll);
    return true;
  }
  return false;
}

static bool isOnChip(const Widening *widening, const SambaGroup *group, uint32_t operand) {
  uint32_t tensor = group->operands[operand].map.tensor;
  return group->operands[operand].value &&
         widening->graph->tensors[tensor].role != SAMBA_TENSOR_ARGUMENT;
}

/*===-- Tokens --------------------------------------------------------------------------------===*/

/* Smaller tiles where a port deals tokens to lanes in turn that FIFOs do not hold: the port then
 * waits for whom it sends the rest of a token, and nobody gets one meanwhile. */
static bool shortenTokens(Widening *widening, uint32_t g, bool apply) {
  const SambaTileNest *nest = &widening->nests[g];
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = widening->machine;
  int64_t held = machine->fifo_depth * (SAMBA_NEAR_HOPS + 1) * machine->vector_bytes, token = 0;
  if (group->systolic || !group->parallel_count)
    return false;
  uint32_t dim = group->parallel_count - 1;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (isOnChip(widening, group, i) && sambaGroupDepends(group, i, dim)) {
      int64_t bytes = nest->token_elements[i] * sambaDTypeBytes(sambaTileNestDType(nest, i));
      token = bytes > token ? bytes : token;
    }
  if (nest->unroll[dim] < 2 || token <= held || sambaTileNestIsPipelined(nest, dim))
    return false;

  int64_t tile = nest->tile[dim];
  while (token > held && tile % 2 == 0 && tile > machine->simd_lanes) {
    token /= 2;
    tile /= 2;
  }
  if (token <= held && apply)
    setDim(widening, group, dim, tile, nest->unroll[dim]);
  return token <= held;
}

/*===-- Rings ---------------------------------------------------------------------------------===*/

/* What the section's pipeline makes of a tensor between its groups. */
typedef struct Cut {
  int64_t slice_bytes;
  double bytes; /* of each replica */
} Cut;

/* The groups that read a tensor. */
typedef struct Readers {
  SambaSlices slices; /* of all of them and of the writer */
  uint32_t count, depth;
  uint32_t *depths[SAMBA_MAX_GROUP_OPERANDS]; /* in their mappings */
} Readers;

static SambaSlices slicesOfMap(const Widening *widening, uint32_t g, const SambaStageOperand *map) {
  const SambaTileNest *nest = &widening->nests[g];
  SambaPipelineDims dims = {.count = nest->pipeline_count};
  memcpy(dims.dim, nest->dim_at, dims.count * sizeof *dims.dim);
  return sambaMapSlices(widening->graph, nest->group, map, &dims);
}

static Cut cutOf(const Widening *widening, uint32_t writer, const SambaSlices *slices) {
  const SambaTileNest *nest = &widening->nests[writer];
  const SambaStageTensor *tensor = &widening->graph->tensors[nest->group->output.tensor];
  int64_t tile[SAMBA_MAX_PIPELINE_DIMS];
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    tile[i] = nest->tile[nest->dim_at[i]];
  Cut cut = {.slice_bytes = sambaSliceBytes(tensor, slices, tile)};
  cut.bytes = (double)cut.slice_bytes;
  for (uint32_t i = 0; i < slices->count; ++i)
    cut.bytes *= (double)nest->trips[nest->dim_at[i]];
  return cut;
}

/* Finds them; none where one of them may not change, or where there are too many. */
static void findReaders(const Widening *widening, uint32_t tensor, Readers *readers) {
  bool all = true;
  for (uint32_t g = 0; g < widening->groups.count; ++g) {
    const SambaGroup *group = widening->groups.groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaGroupOperand *operand = &group->operands[i];
      if (operand->map.tensor != tensor)
        continue;
      all &= mayChange(widening, g) && readers->count < SAMBA_MAX_GROUP_OPERANDS;
      if (!all)
        continue;
      SambaSlices own = slicesOfMap(widening, g, &operand->map);
      readers->slices = sambaSlicesMeet(&readers->slices, &own);
      uint32_t *depth = &widening->graph->mappings[operand->stage].operand_depth[operand->operand];
      readers->depths[readers->count++] = depth;
      readers->depth = *depth > readers->depth ? *depth : readers->depth;
    }
  }
  readers->count = all ? readers->count : 0;
}

/* Two PMUs that take the slices of a group's result in turn, where one passes data nearly all the
 * time: its readers ask for more slices than one holds. */
static bool addRing(Widening *widening, uint32_t writer, bool apply) {
  const SambaStageGraph *graph = widening->graph;
  const SambaStageOperand *output = &widening->nests[writer].group->output;
  Readers readers = {.slices = slicesOfMap(widening, writer, output)};
  if (graph->tensors[output->tensor].role != SAMBA_TENSOR_INTERMEDIATE)
    return false;
  findReaders(widening, output->tensor, &readers);
  Cut cut = cutOf(widening, writer, &readers.slices);
  int64_t held = cut.slice_bytes ? widening->machine->pmu_bytes / cut.slice_bytes : 0;
  double passing = cut.bytes / (double)widening->machine->pmu_port_bytes;
  if (!readers.count || !readers.slices.count || held < readers.depth || held < 1 ||
      passing < passingShare * widening->slowest)
    return false;

  for (uint32_t i = 0; i < readers.count && apply; ++i)
    *readers.depths[i] = (uint32_t)held + 1;
  return true;
}

/*===-- All of them ---------------------------------------------------------------------------===*/

/* What eases the way of data between the groups, as bits. */
enum { EASE_TOKENS = 1, EASE_RINGS = 2 };

/* Eases it everywhere; returns by which of these means there is something to do. */
static uint32_t ease(Widening *widening, uint32_t means, bool apply) {
  uint32_t found = 0;
  for (uint32_t g = 0; g < widening->groups.count; ++g) {
    if (!mayChange(widening, g))
      continue;
    if (means & EASE_TOKENS && isNearlySlowest(widening, g) && shortenTokens(widening, g, apply))
      found |= EASE_TOKENS;
    if (means & EASE_RINGS && addRing(widening, g, apply))
      found |= EASE_RINGS;
  }
  return found;
}

/* By all means together first: where everything is busy all the time, one alone changes nothing. */
static bool easeBy(Widening *widening, uint32_t *index) {
  static const uint32_t steps[] = {EASE_TOKENS | EASE_RINGS, EASE_TOKENS, EASE_RINGS};
  uint32_t found = ease(widening, EASE_TOKENS | EASE_RINGS, false);
  for (uint32_t step = 0; step < sizeof steps / sizeof *steps; ++step)
    if ((steps[step] & found) == steps[step] && (*index)-- == 0) {
      ease(widening, steps[step], true);
      return true;
    }
  return false;
}

bool sambaPlanWiden(SambaStageGraph *graph, const SambaMachine *machine, const SambaMapping *given,
                    uint32_t index) {
  Widening widening = {.graph = graph,
                       .machine = machine,
                       .given = given,
                       .most_pcus = sambaMachineUsableUnits(machine).pcus};
  bool found = false;
  if (readNests(&widening) && isPipeline(&widening)) {
    found = easeBy(&widening, &index);
    for (uint32_t g = 0; g < widening.groups.count && !found; ++g)
      found = mayChange(&widening, g) && isNearlySlowest(&widening, g) &&
              addCopies(&widening, g, &index);
  }
  sambaArenaDestroy(&widening.arena);
  return found;
}
