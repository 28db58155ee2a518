/* The nest of a mapping: trips and steps of the tile loops, and the passes that a PCU makes of a
 * tile, within the law of what a PCU holds (docs/execution-model.md, "What a PCU holds").
 *
 * A pass of the array has as many rows and columns as it. A pass of a SIMD reduction has as many
 * sums side by side as the registers hold. Anything else passes a tile at once. */
#include "backend/group/tile_nest.h"

#include "support/number/integer.h"

#include <string.h>

/* Who walks the parallel dimensions of a contraction: only the first operand of the MAC (rows),
 * only the second (columns), both. */
typedef enum { arrayRows, arrayColumns, arrayBatch } ArraySide;

static ArraySide sideOf(const SambaGroup *group, uint32_t dim) {
  bool first = sambaGroupDepends(group, group->mac[0], dim);
  bool second = sambaGroupDepends(group, group->mac[1], dim);
  if (first == second)
    return arrayBatch;
  return first ? arrayRows : arrayColumns;
}

/* Appends the parallel dimensions of a side in the order of the result. */
static uint32_t appendSide(const SambaGroup *group, ArraySide side, uint32_t count,
                           uint32_t *dims) {
  for (uint32_t i = 0; i < group->parallel_count; ++i)
    if (sideOf(group, group->output_order[i]) == side)
      dims[count++] = group->output_order[i];
  return count;
}

/* Steps of k, then rows and columns; the side that runs along the rows of the result in memory is
 * the inner one. */
static void orderArray(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  uint32_t count = appendSide(group, arrayBatch, 0, nest->inner);
  ArraySide inside = arrayColumns;

  for (uint32_t i = 0; i < group->parallel_count; ++i) {
    uint32_t dim = group->output_order[i];
    if (nest->tile[dim] > 1 && sideOf(group, dim) != arrayBatch)
      inside = sideOf(group, dim);
  }
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    nest->inner[count++] = dim;
  count = appendSide(group, inside == arrayRows ? arrayColumns : arrayRows, count, nest->inner);
  appendSide(group, inside, count, nest->inner);
}

/* Lanes that have work while they walk a row of `points`, in percent. */
static int64_t laneShare(const SambaTileNest *nest, int64_t points) {
  int64_t lanes = nest->machine->simd_lanes;
  return 100 * points / (sambaCeilDiv(points, lanes) * lanes);
}

/* Lanes walk the innermost counter. A reduction whose order is element by element cannot share
 * lanes along what it reduces, so there a parallel dimension goes innermost: the one along the rows
 * of the result when it fills the lanes, else the one with the most points. SAMBA_NO_INDEX: none.
 */
static uint32_t laneDim(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  int64_t reduced = 1;
  uint32_t widest = SAMBA_NO_INDEX;
  if (group->lane_reduce)
    return SAMBA_NO_INDEX;

  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    reduced *= nest->tile[dim];
  for (uint32_t i = group->parallel_count; i-- > 0 && reduced > 1;) {
    uint32_t dim = group->output_order[i];
    if (nest->tile[dim] == 1)
      continue;
    if (widest == SAMBA_NO_INDEX && laneShare(nest, nest->tile[dim]) >= 85)
      return dim;
    if (widest == SAMBA_NO_INDEX || nest->tile[dim] > nest->tile[widest])
      widest = dim;
  }
  return widest;
}

static void orderLanes(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  uint32_t last = laneDim(nest), count = 0;

  for (uint32_t i = 0; i < group->parallel_count; ++i)
    if (group->output_order[i] != last)
      nest->inner[count++] = group->output_order[i];
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    nest->inner[count++] = dim;
  if (last != SAMBA_NO_INDEX)
    nest->inner[count] = last;
}

/* The largest divisors of the tiles along `dims` whose product is at most `room`; the later ones
 * are made as large as can be first. Returns the product. */
static int64_t divide(const SambaTileNest *nest, const uint32_t *dims, uint32_t count, int64_t room,
                      int64_t *out_pass) {
  int64_t best = 0;
  while (count && nest->tile[dims[count - 1]] == 1)
    out_pass[dims[--count]] = 1;
  if (count == 0)
    return 1;
  uint32_t dim = dims[count - 1];

  for (int64_t own = nest->tile[dim] < room ? nest->tile[dim] : room; own >= 1 && best < room;
       --own) {
    int64_t rest[SAMBA_MAX_STAGE_DIMS];
    if (nest->tile[dim] % own || own * (room / own) <= best)
      continue;
    int64_t product = own * divide(nest, dims, count - 1, room / own, rest);
    if (product <= best)
      continue;
    best = product;
    for (uint32_t i = 0; i + 1 < count; ++i)
      out_pass[dims[i]] = rest[dims[i]];
    out_pass[dim] = own;
  }
  return best;
}

static void passArray(SambaTileNest *nest) {
  const SambaMachine *machine = nest->machine;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS] = {0};
  uint32_t count = appendSide(nest->group, arrayBatch, 0, dims);
  for (uint32_t i = 0; i < count; ++i)
    nest->pass[dims[i]] = 1;

  count = appendSide(nest->group, arrayRows, 0, dims);
  int64_t room = machine->systolic_rows < machine->systolic_accumulators
                     ? machine->systolic_rows
                     : machine->systolic_accumulators;
  int64_t rows = divide(nest, dims, count, room, nest->pass);
  count = appendSide(nest->group, arrayColumns, 0, dims);
  room = machine->systolic_accumulators / rows;
  room = machine->systolic_columns < room ? machine->systolic_columns : room;
  divide(nest, dims, count, room, nest->pass);
}

/* Whether the sums of a firing go on in the next. */
static bool goesOn(const SambaTileNest *nest) {
  bool chunked = false;
  for (uint32_t dim = nest->group->parallel_count; dim < nest->group->dim_count; ++dim)
    chunked |= nest->tiles[dim] > 1;
  return chunked;
}

/* The vectors of running sums of a pass. Those stand side by side that are inside of the outermost
 * reduced counter; where the lanes run along what is reduced, each sum has a part in every lane. */
static int64_t sumVectors(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  bool inside = goesOn(nest), across = false, reduces = inside;
  int64_t sums = 1;
  for (uint32_t i = 0; i < group->dim_count; ++i) {
    uint32_t dim = nest->inner[i];
    if (nest->pass[dim] == 1)
      continue;
    across = group->lane_reduce && group->reduced[dim];
    inside |= group->reduced[dim];
    reduces |= group->reduced[dim];
    if (inside && !group->reduced[dim])
      sums *= nest->pass[dim];
  }
  if (!reduces)
    return 0;
  return group->sum_width * (across ? sums : sambaCeilDiv(sums, nest->machine->simd_lanes));
}

/* The largest pass along a dimension with which the sums fit the registers; 1 when none does. */
static void passSums(SambaTileNest *nest, uint32_t dim) {
  for (int64_t own = nest->tile[dim]; own >= 1; --own) {
    if (nest->tile[dim] % own)
      continue;
    nest->pass[dim] = own;
    if (sumVectors(nest) <= nest->machine->simd_registers)
      return;
  }
}

static void passLanes(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  bool inside = goesOn(nest);
  for (uint32_t i = 0; i < group->dim_count; ++i) {
    uint32_t dim = nest->inner[i];
    inside |= group->reduced[dim] && nest->tile[dim] > 1;
    if (inside && !group->reduced[dim] && sumVectors(nest) > nest->machine->simd_registers)
      passSums(nest, dim);
  }
}

/* Points of a pass of SIMD lanes in a pipeline, at most, and in one that streams. */
enum { mostPoints = 4096, mostStreamedPoints = 1024 };

/* Cuts a pass along its outer counters, so that its points follow each other as before. */
static void cutPass(SambaTileNest *nest, int64_t most) {
  const SambaGroup *group = nest->group;
  int64_t points = 1;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    points *= nest->pass[dim];

  for (uint32_t i = 0; i < group->dim_count && points > most; ++i) {
    uint32_t dim = nest->inner[i];
    if (group->reduced[dim])
      return;
    int64_t inside = points / nest->pass[dim], own = nest->pass[dim];
    while (own > 1 && (nest->pass[dim] % own || inside * own > most))
      --own;
    nest->pass[dim] = own;
    points = inside * own;
  }
}

/* The points of a pass, and the order of its counters. */
static void choosePoints(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  memcpy(nest->pass, nest->tile, sizeof nest->pass);
  memcpy(nest->pass_order, group->output_order, sizeof nest->pass_order);
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    nest->pass_order[dim] = dim;

  nest->registers = nest->machine->simd_registers;
  if (group->systolic) {
    orderArray(nest);
    passArray(nest);
    return;
  }
  orderLanes(nest);
  if (group->sum_width)
    passLanes(nest);
  if (nest->pipeline_count && !group->copy)
    cutPass(nest, sambaTileNestStreams(nest) ? mostStreamedPoints : mostPoints);
  if (group->sum_width)
    nest->registers -= sumVectors(nest);
}

static void listSteppingLoops(SambaTileNest *nest) {
  nest->stepping_count = 0;
  for (uint32_t position = 0; position < sambaTileNestLoops(nest); ++position)
    if (sambaTileNestLoop(nest, position).trips > 1)
      nest->stepping[nest->stepping_count++] = position;
}

void sambaTileNestCutPasses(SambaTileNest *nest, int64_t points) {
  cutPass(nest, points);
  sambaTileNestSettlePasses(nest);
  listSteppingLoops(nest);
}

void sambaTileNestReorder(SambaTileNest *nest, const uint32_t *order, const uint32_t *unroll) {
  const SambaGroup *group = nest->group;
  nest->copies = 1;
  nest->sums_outside = group->reduced[order[0]] && group->parallel_count > 0;

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    nest->dim_at[dim] = order[dim];
    nest->unroll[dim] = unroll[dim];
    nest->trips[dim] = sambaCeilDiv(nest->tiles[dim], unroll[dim]);
    nest->copies *= unroll[dim];
    nest->loop_step[dim] = nest->tile[dim];
    nest->copy_step[dim] = nest->tile[dim] * nest->trips[dim];
  }

  listSteppingLoops(nest);
  memset(nest->level, 0, sizeof nest->level);
  memset(nest->depth, 0, sizeof nest->depth);
  memset(nest->joined, 0, sizeof nest->joined);
  sambaTileNestShareTail(nest);
}

void sambaTileNestFill(const SambaStageGraph *graph, const SambaGroup *group,
                       const SambaMachine *machine, uint32_t pipeline_count, const uint32_t *order,
                       const int64_t *tile, const uint32_t *unroll, SambaTileNest *out_nest) {
  out_nest->graph = graph;
  out_nest->group = group;
  out_nest->machine = machine;
  out_nest->pipeline_count = pipeline_count;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    out_nest->sliced[i] = pipeline_count;

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    out_nest->tile[dim] = tile[dim];
    out_nest->tiles[dim] = sambaCeilDiv(group->extents[dim], tile[dim]);
  }
  choosePoints(out_nest);
  sambaTileNestSettlePasses(out_nest);
  sambaTileNestReorder(out_nest, order, unroll);
}
