/* Loop nest arithmetic: trips, boxes, levels, and the cycles of a firing. Pure functions
 * of a nest. */
#include "backend/group/tile_nest.h"

#include "support/number/integer.h"

#include <math.h>
#include <string.h>

/* Lanes walk the innermost counter. A reduction whose order is element by element cannot
 * share lanes along what it reduces, so there the parallel dimension with the most points
 * goes innermost. */
static void chooseInner(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    nest->inner[dim] = dim;
  if (group->systolic || group->lane_reduce || group->parallel_count == group->dim_count)
    return;
  int64_t reduced = 1;

  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    reduced *= nest->tile[dim];
  uint32_t widest = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
    if (nest->tile[dim] > 1 && (widest == SAMBA_NO_INDEX || nest->tile[dim] >= nest->tile[widest]))
      widest = dim;
  if (widest == SAMBA_NO_INDEX || reduced == 1)
    return;
  memmove(&nest->inner[widest], &nest->inner[widest + 1],
          (group->dim_count - widest - 1) * sizeof *nest->inner);
  nest->inner[group->dim_count - 1] = widest;
}

void sambaTileNestFill(const SambaStageGraph *graph, const SambaGroup *group,
                       const SambaMachine *machine, uint32_t pipeline_dim, const uint32_t *order,
                       const int64_t *tile, const uint32_t *unroll, SambaTileNest *out_nest) {
  out_nest->graph = graph;
  out_nest->group = group;
  out_nest->machine = machine;
  out_nest->pipeline_dim = pipeline_dim;
  out_nest->copies = 1;

  out_nest->sums_outside = group->reduced[order[0]] && group->parallel_count > 0;

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    out_nest->dim_at[dim] = order[dim];
    out_nest->tile[dim] = tile[dim];
    out_nest->unroll[dim] = unroll[dim];
    out_nest->trips[dim] = sambaCeilDiv(sambaCeilDiv(group->extents[dim], tile[dim]), unroll[dim]);
    out_nest->copies *= unroll[dim];
    out_nest->loop_step[dim] = tile[dim];
    out_nest->copy_step[dim] = tile[dim] * out_nest->trips[dim];
  }

  memset(out_nest->level, 0, sizeof out_nest->level);
  memset(out_nest->depth, 0, sizeof out_nest->depth);
  memset(out_nest->joined, 0, sizeof out_nest->joined);
  chooseInner(out_nest);
}

void sambaTileNestSettle(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  for (uint32_t position = 0; position < group->dim_count; ++position) {
    uint32_t dim = nest->dim_at[position];
    bool runs = dim == nest->pipeline_dim; /* replicas take runs of slices */
    for (uint32_t i = 0; i < group->operand_count && nest->unroll[dim] > 1 && nest->trips[dim] > 1;
         ++i) {
      uint32_t spread;
      bool spans = group->operands[i].value && sambaTileNestSlotLevel(nest, i) <= position &&
                   sambaGroupDepends(group, i, dim);
      runs |= spans && (sambaTileNestSpread(nest, i, &spread) == 1 || spread != position);
    }
    nest->loop_step[dim] = nest->tile[dim] * (runs ? 1 : nest->unroll[dim]);
    nest->copy_step[dim] = nest->tile[dim] * (runs ? nest->trips[dim] : 1);
  }
}

static int64_t gcd(int64_t a, int64_t b) {
  if (a == 1)
    return a;
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* Loops whose part of a box is left out or put in. */
typedef struct BoxLoops {
  uint32_t from;    /* the loops at positions before are left out */
  uint32_t without; /* and the one at this position; SAMBA_NO_INDEX: none */
  uint32_t joined;  /* dimensions whose copies belong to the box, as bits */
  uint32_t paired;  /* the dimension of which two copies do; SAMBA_NO_INDEX: none */
} BoxLoops;

/* The box of the loops and of the points. */
static void boxOf(const SambaTileNest *nest, uint32_t operand, const BoxLoops *loops,
                  SambaTileBox *out_box) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;

  out_box->rank = nest->graph->tensors[map->tensor].rank;
  out_box->elements = 1;
  for (uint32_t axis = 0; axis < out_box->rank; ++axis) {
    int64_t low = 0, span = 0, step = 0;
    for (uint32_t position = 0; position < group->dim_count; ++position) {
      uint32_t dim = nest->dim_at[position];
      int64_t coefficient = map->axes[axis].coefficients[dim];
      if (!coefficient)
        continue;
      int64_t points = nest->tile[dim];
      int64_t reach;
      if (points > 1)
        step = gcd(step, coefficient);
      reach = points - 1;
      if (position >= loops->from && position != loops->without && nest->trips[dim] > 1) {
        step = gcd(step, coefficient * nest->loop_step[dim]);
        reach += (nest->trips[dim] - 1) * nest->loop_step[dim];
      }
      if (loops->joined >> dim & 1) {
        step = gcd(step, coefficient * nest->copy_step[dim]);
        reach += (nest->unroll[dim] - 1) * nest->copy_step[dim];
      }
      if (loops->paired != SAMBA_NO_INDEX && loops->paired == dim) {
        step = gcd(step, coefficient * nest->copy_step[dim]);
        reach += nest->copy_step[dim];
      }
      span += (coefficient < 0 ? -coefficient : coefficient) * reach;
      low += coefficient < 0 ? coefficient * reach : 0;
    }
    out_box->low[axis] = low;
    out_box->step[axis] = step ? step : 1;
    out_box->size[axis] = span / out_box->step[axis] + 1;
    out_box->elements *= out_box->size[axis];
  }
}

void sambaTileNestBox(const SambaTileNest *nest, uint32_t operand, uint32_t from,
                      SambaTileBox *out_box) {
  boxOf(nest, operand, &(BoxLoops){from, SAMBA_NO_INDEX, 0, SAMBA_NO_INDEX}, out_box);
}

uint32_t sambaTileNestSpread(const SambaTileNest *nest, uint32_t operand, uint32_t *out_position) {
  const SambaGroup *group = nest->group;
  if (nest->depth[operand] < 2 || group->copy ||
      sambaTileNestTrips(nest, sambaTileNestSlotLevel(nest, operand)) > 1)
    return 1;
  for (uint32_t position = sambaTileNestSlotLevel(nest, operand);
       position < sambaTileNestTokenLevel(nest, operand); ++position) {
    uint32_t dim = nest->dim_at[position];
    if (nest->trips[dim] == 1 || !sambaGroupDepends(group, operand, dim))
      continue;
    *out_position = position;
    if (nest->trips[dim] != nest->depth[operand] ||
        nest->trips[dim] > nest->machine->flows_per_lane)
      return 1;
    /* Short rows are staged across copies instead. */
    SambaTileBox box;
    boxOf(nest, operand,
          &(BoxLoops){sambaTileNestSlotLevel(nest, operand), position, 0, SAMBA_NO_INDEX}, &box);
    int64_t row =
        box.rank ? box.size[box.rank - 1] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) : 0;
    return row < 4 * nest->machine->dram_burst_bytes ? 1 : nest->depth[operand];
  }

  return 1;
}

/* Whether copies of the dimension may touch elements of each other's slots: an axis has steps of
 * another dimension too. */
static bool mayOverlap(const SambaTileNest *nest, uint32_t operand, uint32_t dim) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  bool overlap = false;

  if (nest->unroll[dim] == 1 || dim == nest->pipeline_dim)
    return false;
  for (uint32_t axis = 0; axis < nest->graph->tensors[map->tensor].rank; ++axis)
    for (uint32_t other = 0; other < group->dim_count && map->axes[axis].coefficients[dim]; ++other)
      overlap |= other != dim && map->axes[axis].coefficients[other] && group->extents[other] > 1;
  return overlap;
}

/* Adds the dimensions to the slot whose copies overlap. Every buffer takes all that is loaded
 * together: half as much again as its copy reads at most, or filling the buffers takes too long. */
static void joinCopies(const SambaTileNest *nest, uint32_t operand, int64_t most, BoxLoops *loops) {
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim) {
    if (!mayOverlap(nest, operand, dim))
      continue;
    SambaTileBox alone, together;
    BoxLoops joined = *loops;
    joined.joined |= 1u << dim;
    boxOf(nest, operand, loops, &alone);
    boxOf(nest, operand, &joined, &together);
    if (together.elements <= most && 2 * together.elements <= 3 * alone.elements)
      *loops = joined;
  }
}

/* Adds the neighbour to the slot that shares its buffer: along the last dimension with copies, so
 * that neighbours follow each other. What both read must lie together. */
static void pairCopies(const SambaTileNest *nest, uint32_t operand, int64_t most, BoxLoops *loops) {
  uint32_t last = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1 && sambaGroupDepends(nest->group, operand, dim))
      last = dim;
  if (last == SAMBA_NO_INDEX || last == nest->pipeline_dim || nest->unroll[last] % 2 ||
      loops->without != SAMBA_NO_INDEX || nest->machine->unit_vector_outputs < 2)
    return;

  SambaTileBox alone, together;
  BoxLoops paired = *loops;
  paired.paired = last;
  boxOf(nest, operand, loops, &alone);
  boxOf(nest, operand, &paired, &together);
  if (together.elements <= most && 4 * together.elements <= 9 * alone.elements)
    *loops = paired;
}

/* The loops of an operand's slot; the copies that share it belong to it. */
static BoxLoops slotLoops(const SambaTileNest *nest, uint32_t operand) {
  BoxLoops loops = {sambaTileNestSlotLevel(nest, operand), SAMBA_NO_INDEX, 0, SAMBA_NO_INDEX};
  if (sambaTileNestSpread(nest, operand, &loops.without) == 1)
    loops.without = SAMBA_NO_INDEX;
  if (!nest->joined[operand] || nest->group->copy)
    return loops;

  int64_t depth = sambaTileNestTrips(nest, loops.from) > 1 ? nest->depth[operand] : 1;
  int64_t most =
      nest->machine->pmu_bytes / sambaDTypeBytes(sambaTileNestDType(nest, operand)) / depth;
  if (nest->joined[operand] == SAMBA_COPIES_JOINED)
    joinCopies(nest, operand, most, &loops);
  else
    pairCopies(nest, operand, most, &loops);
  return loops;
}

SambaTileSharing sambaTileNestSharing(const SambaTileNest *nest, uint32_t operand) {
  if (!nest->joined[operand] || sambaTileNestIsDirect(nest, operand))
    return (SambaTileSharing){0, SAMBA_NO_INDEX};
  BoxLoops loops = slotLoops(nest, operand);
  return (SambaTileSharing){loops.joined, loops.paired};
}

void sambaTileNestOfBuffers(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest) {
  uint32_t paired = sambaTileNestSharing(nest, operand).paired;
  *out_nest = *nest;
  if (paired != SAMBA_NO_INDEX) {
    out_nest->unroll[paired] /= 2;
    out_nest->copy_step[paired] *= 2;
  }
}

void sambaTileNestOfLoads(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest) {
  uint32_t joined = sambaTileNestSharing(nest, operand).joined;
  sambaTileNestOfBuffers(nest, operand, out_nest);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (joined >> dim & 1)
      out_nest->unroll[dim] = 1;
}

void sambaTileNestSlotBox(const SambaTileNest *nest, uint32_t operand, SambaTileBox *out_box) {
  BoxLoops loops = slotLoops(nest, operand);
  boxOf(nest, operand, &loops, out_box);
}

int64_t sambaTileNestTrips(const SambaTileNest *nest, uint32_t level) {
  int64_t trips = 1;
  for (uint32_t position = 0; position < level; ++position)
    trips *= nest->trips[nest->dim_at[position]];
  return trips;
}

static uint32_t tokenLevel(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;

  /* A PCU keeps what its input FIFO holds; a larger token comes again for each firing. */
  bool held = nest->token_elements[operand] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) <=
              nest->machine->fifo_depth * nest->machine->vector_bytes;

  /* What no reduced dimension touches joins the sum when that is complete: it steps with the
   * parallel loops only. */
  bool reduced = false;
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    reduced |= sambaGroupDepends(group, operand, dim);
  if (group->copy) /* goes to a buffer or store, which keep nothing */
    held = false, reduced = true;
  uint32_t level = 0;
  uint32_t end = reduced || nest->sums_outside ? group->dim_count : group->parallel_count;
  for (uint32_t position = 0; position < end; ++position)
    if (nest->trips[nest->dim_at[position]] > 1 &&
        (!held || sambaGroupDepends(group, operand, nest->dim_at[position])))
      level = position + 1;
  return level;
}

void sambaTileNestSettleTokens(SambaTileNest *nest) {
  for (uint32_t i = 0; i < nest->group->operand_count; ++i) {
    SambaTileBox token;
    sambaTileNestBox(nest, i, nest->group->dim_count, &token);
    nest->token_elements[i] = token.elements;
    nest->token_level[i] = tokenLevel(nest, i);
  }
}

uint32_t sambaTileNestSlotLevel(const SambaTileNest *nest, uint32_t operand) {
  uint32_t level = sambaTileNestTokenLevel(nest, operand);
  if (nest->level[operand] < level)
    level = nest->level[operand];
  while (level && (nest->trips[nest->dim_at[level - 1]] == 1 ||
                   !sambaGroupDepends(nest->group, operand, nest->dim_at[level - 1])))
    --level;
  return level;
}

/* The shape of a firing on the array. */
static SambaArrayFiring arrayFiring(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  SambaArrayFiring firing = {1, 1, 1, 1, false};

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    bool first = sambaGroupDepends(group, group->mac[0], dim);
    bool second = sambaGroupDepends(group, group->mac[1], dim);
    if (group->reduced[dim])
      firing.depth *= nest->tile[dim];
    else if (first && !second)
      firing.rows *= nest->tile[dim];
    else if (second && !first)
      firing.columns *= nest->tile[dim];
    else
      firing.batch *= nest->tile[dim];
  }

  firing.wide = sambaDTypeBytes(sambaTileNestDType(nest, group->mac[0])) > 2 ||
                sambaDTypeBytes(sambaTileNestDType(nest, group->mac[1])) > 2;
  return firing;
}

/* Elements that pass an input port during one firing. */
static int64_t streamedElements(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  int64_t elements = 1;

  if (group->systolic && (operand == group->mac[0] || operand == group->mac[1])) {
    SambaArrayFiring firing = arrayFiring(nest);
    for (uint32_t dim = 0; dim < group->dim_count; ++dim)
      if (sambaGroupDepends(group, operand, dim))
        elements *= nest->tile[dim];
    return elements * (operand == group->mac[0]
                           ? sambaCeilDiv(firing.columns, nest->machine->systolic_columns)
                           : sambaCeilDiv(firing.rows, nest->machine->systolic_rows));
  }

  if (nest->token_elements[operand] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) <=
      nest->machine->fifo_depth * nest->machine->vector_bytes)
    return nest->token_elements[operand];
  int64_t so_far = 1;

  for (uint32_t i = 0; i < group->dim_count; ++i) {
    so_far *= nest->tile[nest->inner[i]];
    if (sambaGroupDepends(group, operand, nest->inner[i]))
      elements = so_far;
  }

  return elements;
}

int64_t sambaTileNestReplay(const SambaTileNest *nest, uint32_t operand) {
  int64_t replay = sambaCeilDiv(streamedElements(nest, operand), nest->token_elements[operand]);
  return replay < 1 ? 1 : replay;
}

bool sambaTileNestTokenOrder(const SambaTileNest *nest, uint32_t operand, const SambaTileBox *token,
                             uint32_t *out_axes) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  int32_t key[SAMBA_MAX_RANK]; /* the innermost in-tile counter that walks the axis */
  bool natural = true;
  int32_t last = -1;

  for (uint32_t axis = 0; axis < token->rank; ++axis) {
    key[axis] = -1;
    for (uint32_t i = 0; i < group->dim_count; ++i)
      if (token->size[axis] > 1 && nest->tile[nest->inner[i]] > 1 &&
          map->axes[axis].coefficients[nest->inner[i]])
        key[axis] = (int32_t)i;
    if (key[axis] < 0)
      key[axis] = last; /* size 1: stays with its neighbour */
    natural &= key[axis] >= last;
    last = key[axis];
    uint32_t at = axis;
    for (; at && key[out_axes[at - 1]] > key[axis]; --at)
      out_axes[at] = out_axes[at - 1];
    out_axes[at] = axis;
  }

  return natural;
}

bool sambaTileNestIsDirect(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  if (group->operands[operand].map.index_operand != SAMBA_NO_INDEX)
    return true;
  if (group->copy)
    return false;

  /* The array's next operands load while it works on these. */
  if (group->systolic && (operand == group->mac[0] || operand == group->mac[1]))
    return false;
  uint32_t level = sambaTileNestTokenLevel(nest, operand);
  if (sambaTileNestSlotLevel(nest, operand) < level || sambaTileNestReplay(nest, operand) > 1)
    return false;
  for (uint32_t position = 0; position < level; ++position)
    if (nest->trips[nest->dim_at[position]] > 1 &&
        !sambaGroupDepends(group, operand, nest->dim_at[position]))
      return false;
  SambaTileBox token;
  uint32_t axes[SAMBA_MAX_RANK];
  sambaTileNestBox(nest, operand, group->dim_count, &token);

  return sambaTileNestTokenOrder(nest, operand, &token, axes);
}

uint32_t sambaTileNestSources(const SambaTileNest *nest, uint32_t operand) {
  uint32_t sources = 1;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1 && sambaGroupDepends(nest->group, operand, dim))
      sources *= nest->unroll[dim];
  return sources;
}

uint32_t sambaTileNestLoadedSources(const SambaTileNest *nest, uint32_t operand) {
  SambaTileSharing sharing = sambaTileNestSharing(nest, operand);
  uint32_t sources = sambaTileNestSources(nest, operand);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (sharing.joined >> dim & 1)
      sources /= nest->unroll[dim];
  return sharing.paired == SAMBA_NO_INDEX ? sources : sources / 2;
}

bool sambaTileNestCarriesSums(const SambaTileNest *nest) {
  bool chunked = false;
  for (uint32_t dim = nest->group->parallel_count; dim < nest->group->dim_count; ++dim)
    chunked |= nest->trips[dim] > 1;
  return nest->sums_outside && chunked;
}

uint32_t sambaTileNestOutputLevel(const SambaTileNest *nest) {
  return nest->sums_outside ? nest->group->dim_count : nest->group->parallel_count;
}

int64_t sambaTileNestResults(const SambaTileNest *nest) {
  int64_t results = 1;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    results *= nest->trips[dim];
  return results;
}

int64_t sambaTileNestOutputElements(const SambaTileNest *nest) {
  int64_t elements = 1;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    elements *= nest->tile[dim];
  return elements;
}

/* A firing of one of the group's SIMD PCUs: its rows of points. Adjacent counters that are whole
 * run as one. */
static SambaSimdFiring simdFiring(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  SambaSimdFiring firing = group->simd;
  bool merging = true;

  for (uint32_t i = group->dim_count; i-- > 0;) {
    uint32_t dim = nest->inner[i];
    bool same_kind = i + 1 == group->dim_count ||
                     group->reduced[dim] == group->reduced[nest->inner[group->dim_count - 1]];
    if (merging && same_kind)
      firing.innermost *= nest->tile[dim];
    else
      firing.rows *= nest->tile[dim];
    merging = merging && same_kind && nest->tile[dim] == group->extents[dim];
  }

  return firing;
}

double sambaTileNestWorkCycles(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  if (group->copy)
    return 1;
  if (!group->systolic) {
    SambaSimdFiring firing = simdFiring(nest);
    return sambaSimdCycles(nest->machine, &firing);
  }

  SambaArrayFiring firing = arrayFiring(nest);
  double cycles = sambaArrayCycles(nest->machine, &firing);
  if (group->pcus == 1)
    return cycles;
  /* The PCUs behind the array work on its sums, as they come. */
  SambaSimdFiring behind = group->simd;
  behind.innermost = sambaTileNestOutputElements(nest);
  return fmax(cycles, sambaSimdCycles(nest->machine, &behind));
}

double sambaTileNestFiringCycles(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  double cycles = sambaTileNestWorkCycles(nest);

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    double bytes = (double)(nest->token_elements[i] * sambaTileNestReplay(nest, i)) *
                   sambaDTypeBytes(sambaTileNestDType(nest, i)) / (double)machine->vector_bytes;
    cycles = bytes > cycles ? bytes : cycles;
  }

  double out = (double)sambaTileNestOutputElements(nest) *
               sambaDTypeBytes(nest->graph->tensors[group->output.tensor].dtype) /
               (double)machine->vector_bytes;
  int64_t chunks = sambaTileNestTrips(nest, group->dim_count) /
                   sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest));
  out /= (double)chunks;

  return out > cycles ? out : cycles;
}
