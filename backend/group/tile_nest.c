/* Loop nest arithmetic: trips, boxes and levels. Pure functions of a nest; see tile_cycles.c for
 * the cycles of a firing. */
#include "backend/group/tile_nest.h"

#include "support/number/integer.h"

#include <string.h>

uint32_t sambaTileNestChainLevel(const SambaTileNest *nest, uint32_t level) {
  return level <= sambaTileNestPassesAt(nest) ? level : level + nest->group->dim_count;
}

/* Whether a tail takes tokens of several copies of the operand in turn. */
static bool takesInTurn(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  return nest->tail > 1 && group->operands[operand].late &&
         group->operands[operand].map.index_operand == SAMBA_NO_INDEX &&
         sambaTileNestTailDepends(nest, operand);
}

uint32_t sambaTileNestTailCopies(const SambaTileNest *nest, uint32_t dim) {
  if (!(nest->tail_dims >> dim & 1))
    return 1;
  if (nest->tail_dims & ((1u << dim) - 1))
    return nest->unroll[dim];
  uint32_t copies = nest->tail;
  for (uint32_t dims = nest->tail_dims & ~(1u << dim); dims; dims &= dims - 1)
    copies /= nest->unroll[__builtin_ctz(dims)];
  return copies;
}

uint32_t sambaTileNestTakenInTurn(const SambaTileNest *nest, uint32_t operand) {
  if (!takesInTurn(nest, operand))
    return 1;
  uint32_t copies = 1;
  for (uint32_t dims = nest->tail_dims & nest->group->operands[operand].depends; dims;
       dims &= dims - 1)
    copies *= sambaTileNestTailCopies(nest, (uint32_t)__builtin_ctz(dims));
  return copies;
}

uint32_t sambaTileNestTokensInTurn(const SambaTileNest *nest, uint32_t operand) {
  return takesInTurn(nest, operand) ? nest->tail : 1;
}

bool sambaTileNestTakesHalves(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  int64_t bytes =
      nest->token_elements[operand] * sambaDTypeBytes(sambaTileNestDType(nest, operand));
  return group->systolic && !group->operands[operand].late && nest->pipeline_count == 1 &&
         bytes > SAMBA_LONG_TOKEN * nest->machine->vector_bytes;
}

bool sambaTileNestMakesRuns(const SambaTileNest *nest, uint32_t operand, uint32_t dim,
                            uint32_t position) {
  const SambaGroup *group = nest->group;
  uint32_t spread;
  if (!group->operands[operand].value || !sambaGroupDepends(group, operand, dim) ||
      sambaTileNestSlotLevel(nest, operand) > position)
    return false;
  /* All copies of a tail have one slot: side by side they fill it. */
  if (takesInTurn(nest, operand) && nest->tail_dims >> dim & 1 &&
      sambaTileNestTailCopies(nest, dim) == nest->unroll[dim])
    return false;
  return sambaTileNestSpread(nest, operand, &spread) == 1 || spread != position;
}

void sambaTileNestSettle(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  for (uint32_t at = 0; at < group->dim_count; ++at) {
    uint32_t dim = nest->dim_at[at];
    uint32_t position = at < sambaTileNestPassesAt(nest) ? at : at + group->dim_count;
    bool runs = sambaTileNestIsPipelined(nest, dim); /* replicas take runs of slices */
    for (uint32_t i = 0; i < group->operand_count && nest->unroll[dim] > 1 && nest->trips[dim] > 1;
         ++i)
      runs |= sambaTileNestMakesRuns(nest, i, dim, position);
    nest->loop_step[dim] = nest->tile[dim] * (runs ? 1 : nest->unroll[dim]);
    nest->copy_step[dim] = nest->tile[dim] * (runs ? nest->trips[dim] : 1);
  }
}

uint32_t sambaTileNestReplicas(const SambaTileNest *nest) {
  uint32_t replicas = 1;
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    replicas *= nest->unroll[nest->dim_at[i]];
  return replicas;
}

/* Loops whose part of a box is left out or put in. */
typedef struct BoxLoops {
  uint32_t from;    /* the loops at positions before are left out */
  uint32_t without; /* and the one at this position; SAMBA_NO_INDEX: none */
  uint32_t joined;  /* dimensions whose copies belong to the box, as bits */
  uint32_t paired;  /* the dimension of which neighbours do; SAMBA_NO_INDEX: none */
  uint32_t neighbours;
} BoxLoops;

/* What counters sweep along an axis: from `low` on `reach` elements in multiples of `step`. */
typedef struct BoxSpan {
  int64_t low, reach, step;
} BoxSpan;

static void addSteps(BoxSpan *span, int64_t step, int64_t trips) {
  int64_t wide = step < 0 ? -step : step;
  if (!span->step)
    span->step = wide;
  else if (span->step != 1 && span->step != wide) /* divisions are most of what a box costs */
    span->step = (int64_t)sambaGreatestDivisor((uint64_t)span->step, (uint64_t)wide);
  span->reach += wide * (trips - 1);
  span->low += step < 0 ? step * (trips - 1) : 0;
}

/* A counter over a dimension: it sweeps the axes that the dimension steps along. */
static void addCounter(const SambaGroupOperand *operand, const SambaTileLoop *counter,
                       BoxSpan *spans) {
  for (uint32_t axes = operand->axes[counter->dim]; axes; axes &= axes - 1) {
    uint32_t axis = (uint32_t)__builtin_ctz(axes);
    int64_t coefficient = operand->map.axes[axis].coefficients[counter->dim];
    addSteps(&spans[axis], coefficient * counter->step, counter->trips);
  }
}

/* Counters that sweep a box: points, tile and pass loops, copies of each dimension. */
static void addCounters(const SambaTileNest *nest, const SambaGroupOperand *operand,
                        const BoxLoops *loops, BoxSpan *spans) {
  for (uint32_t dims = operand->depends; dims; dims &= dims - 1) {
    uint32_t dim = (uint32_t)__builtin_ctz(dims);
    if (nest->pass[dim] > 1)
      addCounter(operand, &(SambaTileLoop){dim, nest->pass[dim], 1}, spans);
    if (loops->joined >> dim & 1 && nest->unroll[dim] > 1)
      addCounter(operand, &(SambaTileLoop){dim, nest->unroll[dim], nest->copy_step[dim]}, spans);
    if (loops->paired == dim && loops->neighbours > 1)
      addCounter(operand, &(SambaTileLoop){dim, loops->neighbours, nest->copy_step[dim]}, spans);
  }

  for (uint32_t i = nest->stepping_count; i-- > 0 && nest->stepping[i] >= loops->from;) {
    SambaTileLoop loop = sambaTileNestLoop(nest, nest->stepping[i]);
    if (nest->stepping[i] != loops->without)
      addCounter(operand, &loop, spans);
  }
}

/* The box of the loops and of the points. */
static void boxOf(const SambaTileNest *nest, uint32_t operand, const BoxLoops *loops,
                  SambaTileBox *out_box) {
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  BoxSpan spans[SAMBA_MAX_RANK] = {{0}};
  out_box->rank = nest->graph->tensors[map->tensor].rank;
  addCounters(nest, &nest->group->operands[operand], loops, spans);

  out_box->elements = 1;
  for (uint32_t axis = 0; axis < out_box->rank; ++axis) {
    const BoxSpan *span = &spans[axis];
    out_box->low[axis] = span->low;
    out_box->step[axis] = span->step ? span->step : 1;
    out_box->size[axis] = (span->step > 1 ? span->reach / span->step : span->reach) + 1;
    out_box->elements *= out_box->size[axis];
  }
}

void sambaTileNestBox(const SambaTileNest *nest, uint32_t operand, uint32_t from,
                      SambaTileBox *out_box) {
  boxOf(nest, operand, &(BoxLoops){from, SAMBA_NO_INDEX, 0, SAMBA_NO_INDEX, 1}, out_box);
}

static bool isPassLoop(const SambaTileNest *nest, uint32_t position) {
  uint32_t first = sambaTileNestPassesAt(nest);
  return position >= first && position < first + nest->group->dim_count;
}

/* sambaTileNestSpread of an operand whose slot level is known. */
static uint32_t spreadFrom(const SambaTileNest *nest, uint32_t operand, uint32_t slot_level,
                           uint32_t *out_position) {
  const SambaGroup *group = nest->group;
  /* A tail takes the tokens of several copies in turn, not those of their iterations. */
  if (nest->tail > 1 && group->operands[operand].late && sambaTileNestTailDepends(nest, operand))
    return 1;
  if (nest->depth[operand] < 2 || group->copy || sambaTileNestTrips(nest, slot_level) > 1)
    return 1;
  uint32_t token_level = sambaTileNestTokenLevel(nest, operand);
  for (uint32_t position = slot_level; position < token_level; ++position) {
    SambaTileLoop loop = sambaTileNestLoop(nest, position);
    if (loop.trips == 1 || isPassLoop(nest, position) ||
        !sambaGroupDepends(group, operand, loop.dim))
      continue;
    *out_position = position;
    if (loop.trips != nest->depth[operand] || loop.trips > nest->machine->flows_per_lane)
      return 1;
    /* Short rows are staged across copies instead. */
    SambaTileBox box;
    boxOf(nest, operand, &(BoxLoops){slot_level, position, 0, SAMBA_NO_INDEX, 1}, &box);
    int64_t row =
        box.rank ? box.size[box.rank - 1] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) : 0;
    return row < 4 * nest->machine->dram_burst_bytes ? 1 : nest->depth[operand];
  }

  return 1;
}

uint32_t sambaTileNestSpread(const SambaTileNest *nest, uint32_t operand, uint32_t *out_position) {
  if (nest->depth[operand] < 2) /* most of them, in no time */
    return 1;
  return spreadFrom(nest, operand, sambaTileNestSlotLevel(nest, operand), out_position);
}

/* Whether copies of the dimension may touch elements of each other's slots: an axis has steps of
 * another dimension too. */
static bool mayOverlap(const SambaTileNest *nest, uint32_t operand, uint32_t dim) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  bool overlap = false;

  if (nest->unroll[dim] == 1 || sambaTileNestIsPipelined(nest, dim))
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
  if (last == SAMBA_NO_INDEX || sambaTileNestIsPipelined(nest, last) || nest->unroll[last] % 2 ||
      loops->without != SAMBA_NO_INDEX || nest->machine->unit_vector_outputs < 2)
    return;

  SambaTileBox alone, together;
  BoxLoops paired = *loops;
  paired.paired = last;
  paired.neighbours = 2;
  boxOf(nest, operand, loops, &alone);
  boxOf(nest, operand, &paired, &together);
  if (together.elements <= most && 4 * together.elements <= 9 * alone.elements)
    *loops = paired;
}

/* Adds all copies of a tail to the slot: one buffer sends it their tokens in turn. They differ
 * along one dimension only (mayShareTail). */
static void shareTailSlot(const SambaTileNest *nest, uint32_t operand, int64_t most,
                          BoxLoops *loops) {
  SambaTileBox together;
  BoxLoops shared = *loops;
  shared.paired = (uint32_t)__builtin_ctz(nest->tail_dims & nest->group->operands[operand].depends);
  shared.neighbours = sambaTileNestTakenInTurn(nest, operand);
  boxOf(nest, operand, &shared, &together);
  if (together.elements <= most)
    *loops = shared;
}

/* The loops of an operand's slot; the copies that share it belong to it. */
static BoxLoops slotLoops(const SambaTileNest *nest, uint32_t operand) {
  BoxLoops loops = {sambaTileNestSlotLevel(nest, operand), SAMBA_NO_INDEX, 0, SAMBA_NO_INDEX, 1};
  bool in_turn = takesInTurn(nest, operand);
  if (spreadFrom(nest, operand, loops.from, &loops.without) == 1)
    loops.without = SAMBA_NO_INDEX;
  if ((!nest->joined[operand] && !in_turn) || nest->group->copy)
    return loops;

  int64_t depth = sambaTileNestTrips(nest, loops.from) > 1 ? nest->depth[operand] : 1;
  int64_t most =
      nest->machine->pmu_bytes / sambaDTypeBytes(sambaTileNestDType(nest, operand)) / depth;
  if (in_turn)
    shareTailSlot(nest, operand, most, &loops);
  else if (nest->joined[operand] == SAMBA_COPIES_JOINED)
    joinCopies(nest, operand, most, &loops);
  else
    pairCopies(nest, operand, most, &loops);
  return loops;
}

SambaTileSharing sambaTileNestSharing(const SambaTileNest *nest, uint32_t operand) {
  bool in_turn = takesInTurn(nest, operand);
  if ((!nest->joined[operand] && !in_turn) || sambaTileNestIsDirect(nest, operand))
    return (SambaTileSharing){0, SAMBA_NO_INDEX, 1, 1};
  BoxLoops loops = slotLoops(nest, operand);
  return (SambaTileSharing){loops.joined, loops.paired, loops.neighbours,
                            in_turn ? 1 : loops.neighbours};
}

uint32_t sambaTileNestRing(const SambaTileNest *nest, uint32_t operand) {
  uint32_t level = sambaTileNestSlotLevel(nest, operand);
  if (nest->group->copy || level == 0 || nest->depth[operand] < 2 || nest->joined[operand] ||
      takesInTurn(nest, operand))
    return 1;
  SambaTileBox box;
  sambaTileNestSlotBox(nest, operand, &box);
  int64_t bytes = box.elements * sambaDTypeBytes(sambaTileNestDType(nest, operand));
  int64_t held = bytes ? nest->machine->pmu_bytes / bytes : nest->depth[operand];
  if (held == 0 || held >= nest->depth[operand])
    return 1;
  int64_t ring = sambaCeilDiv(nest->depth[operand], held);
  return sambaTileNestLoop(nest, level - 1).trips % ring == 0 ? (uint32_t)ring : 1;
}

void sambaTileNestOfBuffers(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest) {
  SambaTileSharing sharing = sambaTileNestSharing(nest, operand);
  *out_nest = *nest;
  if (sharing.paired != SAMBA_NO_INDEX) {
    out_nest->unroll[sharing.paired] /= sharing.neighbours;
    out_nest->copy_step[sharing.paired] *= sharing.neighbours;
  }
}

void sambaTileNestOfLoads(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest) {
  uint32_t joined = sambaTileNestSharing(nest, operand).joined;
  sambaTileNestOfBuffers(nest, operand, out_nest);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (joined >> dim & 1)
      out_nest->unroll[dim] = 1;
}

/* A burst brings what lies between elements a step apart, too: a slot has all of a row. */
static void fillRow(const SambaTileNest *nest, uint32_t operand, SambaTileBox *box) {
  uint32_t row = box->rank - 1;
  int64_t bytes = sambaDTypeBytes(sambaTileNestDType(nest, operand));
  if (!box->rank || box->step[row] == 1 || box->size[row] == 1 ||
      box->step[row] * bytes >= nest->machine->dram_burst_bytes)
    return;
  box->elements /= box->size[row];
  box->size[row] = (box->size[row] - 1) * box->step[row] + 1;
  box->elements *= box->size[row];
  box->step[row] = 1;
}

void sambaTileNestSlotBox(const SambaTileNest *nest, uint32_t operand, SambaTileBox *out_box) {
  BoxLoops loops = slotLoops(nest, operand);
  boxOf(nest, operand, &loops, out_box);
  if (!nest->group->copy)
    fillRow(nest, operand, out_box);
}

int64_t sambaTileNestTrips(const SambaTileNest *nest, uint32_t level) {
  int64_t trips = 1;
  for (uint32_t i = 0; i < nest->stepping_count && nest->stepping[i] < level; ++i)
    trips *= sambaTileNestLoop(nest, nest->stepping[i]).trips;
  return trips;
}

int64_t sambaTileNestPasses(const SambaTileNest *nest) {
  int64_t passes = 1;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    passes *= nest->pass_trips[dim];
  return passes;
}

uint32_t sambaTileNestSlotLevel(const SambaTileNest *nest, uint32_t operand) {
  uint32_t most = nest->group->dim_count;
  uint32_t level =
      sambaTileNestChainLevel(nest, nest->level[operand] < most ? nest->level[operand] : most);
  if (sambaTileNestTokenLevel(nest, operand) < level)
    level = sambaTileNestTokenLevel(nest, operand);
  for (uint32_t i = nest->stepping_count; i-- > 0;)
    if (nest->stepping[i] < level &&
        sambaGroupDepends(nest->group, operand, sambaTileNestLoop(nest, nest->stepping[i]).dim))
      return nest->stepping[i] + 1;
  return 0;
}

/* Whether the elements of a token follow each other as in the tensor's memory, each once. */
static bool isTokenInOrder(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  int64_t within = 0; /* how far the counters inside reach */
  SambaTileBox token;

  for (uint32_t i = group->dim_count; i-- > 0;) {
    uint32_t dim = nest->inner[i];
    int64_t stride = 0, axis_stride = 1;
    if (!(nest->streamed[operand] >> dim & 1))
      continue;
    for (uint32_t axis = tensor->rank; axis-- > 0; axis_stride *= tensor->dims[axis])
      stride += map->axes[axis].coefficients[dim] * axis_stride;
    if (stride <= within)
      return false;
    within += stride * (nest->pass[dim] - 1);
  }
  sambaTileNestBox(nest, operand, sambaTileNestLoops(nest), &token);
  return token.elements == nest->token_elements[operand];
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
  /* Nor does memory send again what other copies of a tail need, too. */
  if (sambaTileNestTokensInTurn(nest, operand) > sambaTileNestTakenInTurn(nest, operand))
    return false;
  uint32_t level = sambaTileNestTokenLevel(nest, operand);
  if (sambaTileNestSlotLevel(nest, operand) < level || sambaTileNestMeetsMulticast(nest, operand))
    return false;
  for (uint32_t i = 0; i < nest->stepping_count && nest->stepping[i] < level; ++i)
    if (!sambaGroupDepends(group, operand, sambaTileNestLoop(nest, nest->stepping[i]).dim))
      return false;
  return isTokenInOrder(nest, operand);
}

uint32_t sambaTileNestSources(const SambaTileNest *nest, uint32_t operand) {
  uint32_t sources = 1;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1 && sambaGroupDepends(nest->group, operand, dim))
      sources *= nest->unroll[dim];
  return sources;
}

double sambaTileNestBankTurns(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  const SambaStageTensor *tensor = &nest->graph->tensors[map->tensor];
  if (!group->systolic || (operand != group->mac[0] && operand != group->mac[1]))
    return 1;

  /* Rows or columns of the array, and whether they or the steps of k follow each other in memory.
   */
  int64_t rows = sambaDTypeBytes(tensor->dtype);
  bool side = false, dense = false, seen = false;
  for (uint32_t i = group->dim_count; i-- > 0;) {
    uint32_t dim = nest->inner[i];
    if (!sambaGroupDepends(group, operand, dim) || nest->pass[dim] == 1)
      continue;
    bool next = tensor->rank && map->axes[tensor->rank - 1].coefficients[dim] == 1;
    if (group->reduced[dim]) {
      dense |= !seen && next;
      seen = true;
    } else if (!seen) {
      dense |= !side && next;
      if (!side && next)
        return 1;
      side = true;
      rows *= nest->pass[dim];
    }
  }
  return dense && nest->machine->vector_bytes % rows == 0 ? 1 : 2;
}

/* Dimensions whose copies get different tokens of an operand from the same buffer, as bits. */
static uint32_t dimsApart(const SambaTileNest *nest, uint32_t operand) {
  uint32_t dims = 0;
  for (uint32_t position = 0; position < nest->group->dim_count; ++position) {
    uint32_t dim = nest->dim_at[position];
    if (nest->unroll[dim] > 1 && position >= nest->sliced[operand] &&
        sambaGroupDepends(nest->group, operand, dim))
      dims |= 1u << dim;
  }
  return dims;
}

/* FIFOs do not hold a token. */
static bool isLarge(const SambaTileNest *nest, uint32_t operand) {
  return nest->token_elements[operand] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) >
         nest->machine->fifo_depth * nest->machine->vector_bytes;
}

/* Whether copies along the dimensions of `apart` get the same large token of an operand. */
static bool getTheSame(const SambaTileNest *nest, uint32_t apart) {
  const SambaGroup *group = nest->group;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    if (group->operands[i].value && apart & ~group->operands[i].depends && isLarge(nest, i))
      return true;
  return false;
}

bool sambaTileNestMeetsMulticast(const SambaTileNest *nest, uint32_t operand) {
  return !nest->group->copy && isLarge(nest, operand) && getTheSame(nest, dimsApart(nest, operand));
}

/* What follows a reduction comes when all of its operands have gone in. */
bool sambaTileNestResultsMeetMulticast(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  uint32_t apart = 0;
  if (group->copy || group->parallel_count < group->dim_count)
    return false;
  int64_t bytes = sambaTileNestPassElements(nest) *
                  sambaDTypeBytes(nest->graph->tensors[group->output.tensor].dtype);
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    apart |= nest->unroll[dim] > 1 ? 1u << dim : 0;
  return bytes > nest->machine->fifo_depth * nest->machine->vector_bytes && getTheSame(nest, apart);
}

/* A PCU uses its operands side by side, and a port sends a token whole before the next. A port that
 * deals large tokens to copies in turn must not meet another one that sends the same large token to
 * several of these copies: each would wait for the other. */
uint32_t sambaTileNestReadPorts(const SambaTileNest *nest, uint32_t operand) {
  uint32_t apart = dimsApart(nest, operand), ports = 1;
  bool meets = sambaTileNestMeetsMulticast(nest, operand);
  for (uint32_t dim = 0; dim < nest->group->dim_count && meets; ++dim)
    ports *= apart >> dim & 1 ? nest->unroll[dim] : 1;
  return ports;
}

/* A multicast goes on when all who take it have room, so copies that share one wait for the
 * farthest of them; two operands of the array do so along the rows and the columns of a field of
 * copies, and FIFOs even out what they differ in only over some distance. Twins inside a section
 * take read ports and PMUs from its other buffers: blocks of ResNet-50 lose more by them than 32
 * takers cost. */
enum { mostTakers = 8, mostTakersInside = 32 };

static uint32_t twinsOf(const SambaTileNest *nest, uint32_t operand, uint32_t most_takers) {
  const SambaGroup *group = nest->group;
  if (!group->systolic || nest->joined[operand] == SAMBA_COPIES_JOINED ||
      (operand != group->mac[0] && operand != group->mac[1]) || !isLarge(nest, operand))
    return 1;
  uint32_t takers = nest->copies / sambaTileNestSources(nest, operand);
  return takers > most_takers ? (uint32_t)sambaCeilDiv(takers, mostTakers) : 1;
}

uint32_t sambaTileNestTwins(const SambaTileNest *nest, uint32_t operand) {
  return twinsOf(nest, operand, mostTakers);
}

uint32_t sambaTileNestTwinsInside(const SambaTileNest *nest, uint32_t operand) {
  return twinsOf(nest, operand, mostTakersInside);
}

uint32_t sambaTileNestLoadedSources(const SambaTileNest *nest, uint32_t operand) {
  SambaTileSharing sharing = sambaTileNestSharing(nest, operand);
  uint32_t sources = sambaTileNestSources(nest, operand);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (sharing.joined >> dim & 1)
      sources /= nest->unroll[dim];
  return sources / sharing.neighbours;
}

bool sambaTileNestCarriesSums(const SambaTileNest *nest) {
  bool chunked = false;
  for (uint32_t dim = nest->group->parallel_count; dim < nest->group->dim_count; ++dim)
    chunked |= nest->trips[dim] > 1;
  return nest->sums_outside && chunked;
}

uint32_t sambaTileNestOutputLevel(const SambaTileNest *nest) {
  return sambaTileNestPassesAt(nest) + nest->group->dim_count;
}

int64_t sambaTileNestResults(const SambaTileNest *nest) {
  int64_t results = 1;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    results *= nest->trips[dim];
  return results;
}

/* Results of a copy beside those of a run at least: the last ones leave when all of a run is there.
 */
enum { leastRuns = 4 };

uint32_t sambaTileNestRunLoop(const SambaTileNest *nest, uint32_t dim) {
  if (sambaTileNestCarriesSums(nest) || sambaTileNestIsPipelined(nest, dim) ||
      nest->trips[dim] == 1 || nest->loop_step[dim] != nest->tile[dim] ||
      nest->copy_step[dim] != nest->tile[dim] * nest->trips[dim] ||
      sambaTileNestResults(nest) < leastRuns * nest->trips[dim])
    return SAMBA_NO_INDEX;
  uint32_t position = sambaTileNestPassesAt(nest);
  while (position-- > 0 && nest->trips[nest->dim_at[position]] == 1)
    ;
  return nest->dim_at[position] == dim ? position : SAMBA_NO_INDEX;
}

int64_t sambaTileNestTileElements(const SambaTileNest *nest) {
  int64_t elements = 1;
  for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
    elements *= nest->tile[dim];
  return elements;
}

int64_t sambaTileNestPassElements(const SambaTileNest *nest) {
  return sambaTileNestTileElements(nest) / sambaTileNestPasses(nest);
}

uint32_t sambaTileNestOutputDims(const SambaTileNest *nest, uint32_t *out_dims) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < nest->group->dim_count; ++i)
    if (!nest->group->reduced[nest->inner[i]] && nest->pass[nest->inner[i]] > 1)
      out_dims[count++] = nest->inner[i];
  return count;
}
