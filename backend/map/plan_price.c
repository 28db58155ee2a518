/* The static model: what a mapped group costs in cycles, units and DRAM traffic, and the buffer levels that cost least.
 */
#include "backend/map/estimate.h"
#include "backend/map/plan_internal.h"

#include <math.h>

/* Cycles of program load that one more unit costs, counted at this share: repeated sections load once. */
static const double launchShare = 0.5;

uint32_t sambaGroupPieces(const SambaGroup *group, const SambaMachine *machine) {
  if (group->copy)
    return 0;
  uint32_t stages = (uint32_t)machine->simd_stages, simd = group->stage_ops;
  uint32_t pieces = group->systolic ? 1 : 0;
  if (group->systolic)
    --simd;
  if (!group->systolic || simd || group->transcendentals)
    pieces += (simd + stages - 1) / stages;
  if (pieces < group->transcendentals)
    pieces = group->transcendentals;
  return pieces ? pieces : 1;
}

typedef struct Pricing {
  const SambaNest *nest;
  const SambaGroupLimits *limits;
  double dram_bytes, first_bytes; /* all, and those that must arrive before the first firing */
  double slowest;                 /* cycles of the slowest port, PMU or address generator */
  double ag_cycles;
  uint32_t pmus;
} Pricing;

static void raise(double *value, double other) { *value = other > *value ? other : *value; }

/* Least traffic first; equal traffic: the smaller slot, which fills sooner. */
static bool chooseLevel(const SambaNest *nest, uint32_t operand, uint32_t *out_level, uint32_t *out_depth) {
  uint32_t bytes = sambaDTypeBytes(sambaNestDType(nest, operand)), token_level = sambaNestTokenLevel(nest, operand);
  double least = -1;
  for (uint32_t level = 0; level <= token_level; ++level) {
    if (level && nest->trips[nest->dim_at[level - 1]] == 1)
      continue; /* the same slot as one level further out */
    if (level && !sambaGroupDepends(nest->group, operand, nest->dim_at[level - 1]))
      continue; /* the same slot, loaded more often */
    SambaBox box;
    sambaNestBox(nest, operand, level, &box);
    int64_t slots = sambaNestTrips(nest, level);
    double traffic = (double)box.elements * (double)slots;
    uint32_t depth = slots > 1 ? 2 : 1;
    bool fits = box.elements * bytes * depth <= nest->machine->pmu_bytes;
    if (!fits && depth == 2 && box.elements * bytes <= nest->machine->pmu_bytes)
      fits = true, depth = 1, traffic *= 2; /* no overlap of filling and reading */
    if (fits && (least < 0 || traffic <= least * 1.0001)) {
      least = traffic;
      *out_level = level;
      *out_depth = depth;
    }
  }
  return least >= 0;
}

/* Bytes that follow each other in memory when the box is loaded; side by side copies are staged into longer rows. */
static double rowBytes(const SambaNest *nest, const SambaStageOperand *map, const SambaBox *box) {
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  double bytes = sambaDTypeBytes(tensor->dtype);
  uint32_t last_dim = UINT32_MAX;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1)
      for (uint32_t axis = 0; axis < box->rank; ++axis)
        last_dim = map->axes[axis].coefficients[dim] ? dim : last_dim;
  for (uint32_t axis = box->rank; axis-- > 0;) {
    if (box->step[axis] != 1 && box->size[axis] > 1)
      return bytes;
    bytes *= (double)box->size[axis];
    if (axis + 1 == box->rank && last_dim != UINT32_MAX &&
        box->size[axis] == nest->trips[last_dim] * nest->tile[last_dim] &&
        map->axes[axis].coefficients[last_dim] == 1 && box->rank > 1)
      bytes *= nest->unroll[last_dim] < 32 ? nest->unroll[last_dim] : 32;
    if (box->size[axis] != tensor->dims[axis])
      return bytes;
  }
  return bytes;
}

static bool priceOperand(Pricing *p, SambaNest *nest, uint32_t i) {
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  double bytes = sambaDTypeBytes(sambaNestDType(nest, i)), sources = sambaNestSources(nest, i),
         rate = sambaMachineAgBytesPerCycle(machine);
  uint32_t token_level = sambaNestTokenLevel(nest, i);
  SambaBox token;
  sambaNestBox(nest, i, group->dim_count, &token);
  double token_bytes = (double)token.elements * bytes;
  if (p->limits->on_chip >> i & 1) {
    nest->depth[i] = 2; /* the driver raises it to the distance of producer and consumer */
    nest->level[i] = nest->pipeline_dim >= 0;
    raise(&p->slowest, (double)sambaNestTrips(nest, token_level) * sources / p->limits->replicas * token_bytes *
                           (double)(group->copy ? 1 : sambaNestReplay(nest, i)) / (double)machine->pmu_port_bytes);
    return true;
  }
  if (group->operands[i].map.index_operand >= 0) {
    double all = (double)sambaNestTrips(nest, token_level) * sources * token_bytes;
    p->dram_bytes += sambaMachineBurstBytes(machine, all, rowBytes(nest, &group->operands[i].map, &token));
    p->ag_cycles += all / rate;
    raise(&p->slowest, all / p->limits->replicas / rate);
    nest->level[i] = group->dim_count;
    nest->depth[i] = 2;
    return true;
  }
  uint32_t level = 0, depth = 1;
  if (!chooseLevel(nest, i, &level, &depth))
    return false;
  nest->level[i] = level;
  nest->depth[i] = depth;
  bool direct = sambaNestIsDirect(nest, i);
  SambaBox slot;
  sambaNestBox(nest, i, direct ? group->dim_count : level, &slot);
  double slots = (double)sambaNestTrips(nest, direct ? token_level : level);
  double slot_bytes =
      sambaMachineBurstBytes(machine, (double)slot.elements * bytes, rowBytes(nest, &group->operands[i].map, &slot));
  double all = slot_bytes * slots * sources;
  p->dram_bytes += all;
  p->first_bytes += slot_bytes * sources;
  p->ag_cycles += all / rate;
  /* Several generators can fill one buffer. */
  double fill_rate = direct                                       ? rate
                     : 4 * rate < (double)machine->pmu_port_bytes ? 4 * rate
                                                                  : (double)machine->pmu_port_bytes;
  raise(&p->slowest, slot_bytes * slots / fill_rate * (depth == 1 && slots > 1 ? 2 : 1));
  if (!direct)
    p->pmus += (uint32_t)sources + (sources > 1 ? (uint32_t)(sources / 16) + 1 : 0);
  return true;
}

static double outputRowBytes(const SambaNest *nest) {
  const SambaStageOperand *map = &nest->group->output;
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  SambaBox box = {.rank = tensor->rank};
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    box.size[axis] = box.step[axis] = 1;
    for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
      if (map->axes[axis].coefficients[dim] == 1)
        box.size[axis] *= nest->tile[dim];
  }
  return rowBytes(nest, map, &box);
}

bool sambaPlanPrice(const SambaGroupLimits *limits, SambaGroupChoice *choice) {
  SambaNest *nest = &choice->nest;
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  choice->pcus = nest->copies * sambaGroupPieces(group, machine);
  if (choice->pcus > limits->pcus)
    return false;
  Pricing p = {.nest = nest, .limits = limits};
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value && !priceOperand(&p, nest, i))
      return false;
  double out_bytes =
      (double)sambaNestOutputElements(nest) * sambaDTypeBytes(nest->graph->tensors[group->output.tensor].dtype);
  double out_all = out_bytes * (double)sambaNestTrips(nest, group->parallel_count) * nest->copies;
  if (limits->stored_output) {
    p.dram_bytes += sambaMachineBurstBytes(machine, out_all, outputRowBytes(nest));
    p.ag_cycles += out_all / (double)machine->ag_bytes;
    p.pmus += nest->copies > 1 ? nest->copies / 32 + 1 : 0; /* staging */
    raise(&p.slowest, out_all / nest->copies / (double)machine->ag_bytes);
  }
  if (p.pmus > limits->pmus)
    return false;
  if (limits->buffered_output)
    raise(&p.slowest, out_all / limits->replicas / (double)machine->pmu_port_bytes);
  double firing = sambaNestFiringCycles(nest), firings = (double)sambaNestTrips(nest, group->dim_count);
  /* Copies that share multicast operands wait for the farthest of them at each firing. */
  double skew = nest->copies > 1 ? 1.2 * (double)machine->hop_cycles * sqrt(2.0 * nest->copies) : 0;
  double cycles = (firing + skew) * firings, dram = sambaMachineDramBytesPerCycle(machine);
  raise(&cycles, p.slowest);
  raise(&cycles, p.dram_bytes / dram);
  raise(&cycles, p.ag_cycles / limits->ags);
  choice->cycles = cycles;
  choice->dram_bytes = p.dram_bytes;
  choice->on_chip = limits->on_chip;
  choice->pmus = p.pmus;
  double chunks = (double)sambaNestTrips(nest, group->dim_count) / (double)sambaNestTrips(nest, group->parallel_count);
  /* What loads first gets perhaps half of the generators. */
  double first = p.first_bytes / dram,
         first_ags = p.first_bytes / sambaMachineAgBytesPerCycle(machine) / (limits->ags > 1 ? limits->ags / 2 : 1);
  choice->fill = (first > first_ags ? first : first_ags) + firing * chunks +
                 (limits->stored_output ? out_bytes * nest->copies / dram : out_bytes / (double)machine->vector_bytes);
  double unit_load =
      (double)machine->load_bytes_per_unit * 1e-6 / (double)machine->load_mbps * (double)machine->clock_hz;
  /* Each firing also costs its latency somewhere, and host time: of equals the fewer. */
  choice->score = choice->cycles + choice->fill + launchShare * unit_load * (choice->pcus + choice->pmus) +
                  firings * (4 + 0.02 * nest->copies);
  return true;
}
