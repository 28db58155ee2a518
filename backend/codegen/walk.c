/* Walks and accesses; see walk.h. */
#include "backend/codegen/walk.h"

#include "backend/section/stated_order.h"

#include <stddef.h>
#include <string.h>

void sambaWalkStart(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                    const SambaCopyRange *range) {
  memset(walk, 0, offsetof(SambaWalk, steps));
  sambaTensorPitches(&nest->graph->tensors[map->tensor], walk->pitch);
  for (uint32_t dim = 0; range && dim < nest->group->dim_count; ++dim)
    walk->dim_start[dim] = range->first[dim] * nest->copy_step[dim];
  for (uint32_t axis = 0; axis < nest->graph->tensors[map->tensor].rank; ++axis) {
    walk->axis_start[axis] = map->axes[axis].constant;
    for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
      walk->axis_start[axis] += map->axes[axis].coefficients[dim] * walk->dim_start[dim];
  }
}

void sambaWalkCopy(SambaWalk *walk, const SambaWalk *from) {
  memcpy(walk, from, offsetof(SambaWalk, steps) + from->count * sizeof *from->steps);
}

static void addDim(SambaWalk *walk, const SambaStageOperand *map, uint32_t dim, int64_t delta,
                   int64_t trips) {
  if (trips == 1 || walk->count == SAMBA_MAX_WALK_STEPS)
    return;
  SambaWalkStep *step = &walk->steps[walk->count++];
  *step = (SambaWalkStep){.trips = (uint32_t)trips};
  step->dim[dim] = delta;
  for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
    step->axis[axis] = map->axes[axis].coefficients[dim] * delta;
}

void sambaWalkLoops(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                    uint32_t from, uint32_t to) {
  for (uint32_t position = from; position < to; ++position) {
    SambaTileLoop loop = sambaTileNestLoop(nest, position);
    addDim(walk, map, loop.dim, loop.step, loop.trips);
  }
}

void sambaWalkCopies(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                     const SambaCopyRange *range) {
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    addDim(walk, map, dim, nest->copy_step[dim], range->count[dim]);
}

void sambaWalkBox(SambaWalk *walk, const SambaTileBox *box) {
  for (uint32_t axis = 0; axis < box->rank; ++axis) {
    walk->axis_start[axis] += box->low[axis];
    if (box->size[axis] == 1 || walk->count == SAMBA_MAX_WALK_STEPS)
      continue;
    SambaWalkStep *step = &walk->steps[walk->count++];
    *step = (SambaWalkStep){.trips = (uint32_t)box->size[axis]};
    step->axis[axis] = box->step[axis];
  }
}

void sambaWalkPoints(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                     uint32_t dim) {
  addDim(walk, map, dim, 1, nest->pass[dim]);
}

void sambaWalkTile(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                   uint32_t dim) {
  addDim(walk, map, dim, 1, nest->tile[dim]);
}

void sambaWalkToken(SambaWalk *walk, const SambaTileNest *nest, uint32_t operand) {
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < nest->group->dim_count; ++i)
    if (nest->streamed[operand] >> nest->inner[i] & 1)
      sambaWalkPoints(walk, nest, &nest->group->operands[operand].map, nest->inner[i]);
}

SambaTokenLayout sambaLayoutRowMajor(uint32_t rank, const int64_t *sizes) {
  SambaTokenLayout layout = {.rank = rank};
  int64_t stride = 1;
  for (uint32_t axis = rank; axis-- > 0;) {
    layout.step[axis] = 1;
    layout.stride[axis] = stride;
    stride *= sizes[axis];
  }
  return layout;
}

SambaTokenLayout sambaLayoutBox(const SambaTileBox *box) {
  SambaTokenLayout layout = sambaLayoutRowMajor(box->rank, box->size);
  for (uint32_t axis = 0; axis < box->rank; ++axis)
    layout.step[axis] = box->step[axis];
  return layout;
}

void sambaWalkMakeRelative(SambaWalk *walk, const SambaTileBox *slot) {
  for (uint32_t axis = 0; axis < slot->rank; ++axis)
    walk->axis_start[axis] = -slot->low[axis];
}

void sambaWalkFromFirst(SambaWalk *walk) { memset(walk->axis_start, 0, sizeof walk->axis_start); }

static int64_t addressOf(const SambaTokenLayout *layout, const int64_t *axis) {
  int64_t address =
      0; /* divisions are exact: walks step and start in multiples of the layout's step */
  for (uint32_t i = 0; i < layout->rank; ++i)
    address += axis[i] / layout->step[i] * layout->stride[i];
  return address;
}

uint64_t sambaWalkTokenElements(const SambaWalk *walk) {
  uint64_t elements = 1;
  for (uint32_t i = walk->token_level; i < walk->count; ++i)
    elements *= walk->steps[i].trips;
  return elements;
}

typedef struct Bound { /* one guard to be: 0 <= start + sum(step * counter) < limit */
  bool of_axis;
  uint32_t index;
  int64_t start, limit;
} Bound;

static int64_t boundStep(const Bound *bound, const SambaWalkStep *step) {
  return bound->of_axis ? step->axis[bound->index] : step->dim[bound->index];
}

static void addBound(const SambaWalk *walk, Bound bound, Bound *bounds, uint32_t *count) {
  int64_t low = bound.start, high = bound.start;
  for (uint32_t i = 0; i < walk->count; ++i) {
    int64_t span = boundStep(&bound, &walk->steps[i]) * (walk->steps[i].trips - 1);
    *(span < 0 ? &low : &high) += span;
  }
  if (bound.limit && (low < 0 || high >= bound.limit))
    bounds[(*count)++] = bound;
}

SambaAccess sambaWalkAccess(const SambaWalk *walk, const SambaTokenLayout *layout,
                            const SambaBounds *limits, uint64_t fill, SambaArena *arena) {
  Bound bounds[SAMBA_MAX_RANK + SAMBA_MAX_STAGE_DIMS];
  uint32_t bound_count = 0;

  for (uint32_t axis = 0; limits && axis < layout->rank; ++axis)
    addBound(walk, (Bound){true, axis, walk->axis_start[axis], limits->axis[axis]}, bounds,
             &bound_count);
  for (uint32_t dim = 0; limits && dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    addBound(walk, (Bound){false, dim, walk->dim_start[dim], limits->dim[dim]}, bounds,
             &bound_count);
  uint32_t *trips = SAMBA_ARENA_ARRAY(arena, uint32_t, walk->count);
  int64_t *strides = SAMBA_ARENA_ARRAY(arena, int64_t, walk->count);
  int64_t *guard_strides = SAMBA_ARENA_ARRAY(arena, int64_t, (size_t)walk->count *bound_count);
  SambaAccess access = {.trips = trips,
                        .strides = strides,
                        .fill = bound_count ? fill : 0,
                        .guard_count = bound_count};
  access.base = layout->base + addressOf(layout, walk->axis_start);
  uint32_t used = 0, slot_level = 0, token_level = 0;
  bool fixed = false; /* of the last counter */
  for (uint32_t i = 0; i < walk->count; ++i) {
    const SambaWalkStep *step = &walk->steps[i];
    int64_t stride = addressOf(layout, step->axis);
    bool merges = used && i != walk->slot_level && i != walk->token_level && !fixed &&
                  !step->fixed && strides[used - 1] == stride * step->trips &&
                  (uint64_t)trips[used - 1] * step->trips < UINT32_MAX;
    for (uint32_t b = 0; b < bound_count && merges; ++b)
      merges = guard_strides[(size_t)b * walk->count + used - 1] ==
               boundStep(&bounds[b], step) * step->trips;
    if (!merges)
      trips[used++] = 1;
    trips[used - 1] *= step->trips;
    strides[used - 1] = stride;
    for (uint32_t b = 0; b < bound_count; ++b)
      guard_strides[(size_t)b * walk->count + used - 1] = boundStep(&bounds[b], step);
    fixed = step->fixed;
    if (i < walk->slot_level)
      slot_level = used;
    if (i < walk->token_level)
      token_level = used;
  }

  access.counter_count = used;
  access.slot_level = slot_level;
  access.token_level = token_level;
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, bound_count);
  for (uint32_t b = 0; b < bound_count; ++b)
    guards[b] =
        (SambaGuard){bounds[b].start, bounds[b].limit, guard_strides + (size_t)b * walk->count};
  access.guards = guards;

  return access;
}

void sambaTensorPitches(const SambaStageTensor *tensor, int64_t *out_pitches) {
  int64_t pitch = 1;
  for (uint32_t axis = tensor->rank; axis-- > 0; pitch *= tensor->dims[axis])
    out_pitches[axis] = pitch;
}

void sambaWalkOrder(const SambaWalk *walk, SambaArena *arena, SambaPort *port) {
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, SAMBA_ORDER_PLACES);
  bool known = false;
  for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
    known |= walk->pitch[axis] != 0;

  for (uint32_t i = walk->token_level; i < walk->count && known; ++i) {
    SambaPlaceStep step = {0};
    for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
      step.place += walk->steps[i].axis[axis] * walk->pitch[axis];
    sambaStatedOrderAppend(&order, (SambaOrderStep){walk->steps[i].trips, step, step});
  }
  sambaPortState(port, &order, arena);
}
