/* What ports state of the order of their streams, from the maps of the group: what a step of each
 * dimension adds to the place of an element. Ports that walk a tensor state it by their walks
 * (walk.h); here are those whose walks know nothing of places, or only of one of two tensors. */
#include "backend/codegen/codegen_internal.h"
#include "backend/section/stated_order.h"

/* What `delta` steps of a dimension add to the place of an element of an operand, or of the result
 * (SAMBA_NO_INDEX). */
static SambaPlaceStep placeStep(const SambaTileNest *nest, uint32_t operand, uint32_t dim,
                                int64_t delta) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map =
      operand == SAMBA_NO_INDEX ? &group->output : &group->operands[operand].map;
  int64_t pitches[SAMBA_MAX_RANK] = {0};
  SambaPlaceStep step = {0};
  sambaTensorPitches(&nest->graph->tensors[map->tensor], pitches);
  for (uint32_t axis = 0; axis < SAMBA_MAX_RANK; ++axis)
    step.place += map->axes[axis].coefficients[dim] * pitches[axis] * delta;
  if (map->index_operand != SAMBA_NO_INDEX)
    step.index = placeStep(nest, map->index_operand, dim, delta).place;
  return step;
}

/* A counter over a dimension: from places of one tensor to places of the other. */
static void appendDim(const SambaTileNest *nest, uint32_t from, uint32_t to, uint32_t dim,
                      int64_t trips, int64_t delta, SambaStatedOrder *order) {
  sambaStatedOrderAppend(order, (SambaOrderStep){.trips = (uint64_t)trips,
                                                 .from = placeStep(nest, from, dim, delta),
                                                 .to = placeStep(nest, to, dim, delta)});
}

void sambaStateToken(const SambaTileNest *nest, uint32_t operand, SambaArena *arena,
                     SambaPort *port) {
  bool copy = nest->group->copy;
  uint32_t to = copy ? SAMBA_NO_INDEX : operand;
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, copy ? SAMBA_ORDER_MOVES : SAMBA_ORDER_PLACES);
  for (uint32_t i = 0; i < nest->group->dim_count; ++i) {
    uint32_t dim = nest->inner[i];
    if (nest->streamed[operand] >> dim & 1)
      appendDim(nest, operand, to, dim, nest->pass[dim], 1, &order);
  }
  sambaPortState(port, &order, arena);
}

void sambaStateResult(const SambaTileNest *nest, SambaArena *arena, SambaPort *port) {
  bool copy = nest->group->copy;
  uint32_t from = copy ? nest->group->result : SAMBA_NO_INDEX;
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, copy ? SAMBA_ORDER_MOVES : SAMBA_ORDER_PLACES);
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaTileNestOutputDims(nest, dims);
  for (uint32_t i = 0; i < count; ++i)
    appendDim(nest, from, SAMBA_NO_INDEX, dims[i], nest->pass[dims[i]], 1, &order);
  sambaPortState(port, &order, arena);
}

void sambaStateGather(const SambaTileNest *nest, uint32_t operand, const SambaTileGather *gather,
                      uint32_t count, SambaArena *arena, SambaPort *port) {
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, SAMBA_ORDER_PLACES);
  for (uint32_t i = 0; i < count; ++i)
    appendDim(nest, operand, operand, gather->dims[i], gather->points[i], 1, &order);
  sambaPortState(port, &order, arena);
}

void sambaStateStaged(const SambaTileNest *nest, uint32_t count, const uint32_t *dims,
                      uint32_t staged_dim, uint32_t copies, uint32_t run, SambaArena *arena,
                      SambaPort *port) {
  SambaStatedOrder order;
  sambaStatedOrderStart(&order, SAMBA_ORDER_PLACES);
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i] == staged_dim)
      appendDim(nest, SAMBA_NO_INDEX, SAMBA_NO_INDEX, dims[i], copies, nest->copy_step[dims[i]],
                &order);
    if (dims[i] == staged_dim && run > 1)
      appendDim(nest, SAMBA_NO_INDEX, SAMBA_NO_INDEX, dims[i], run, nest->loop_step[dims[i]],
                &order);
    appendDim(nest, SAMBA_NO_INDEX, SAMBA_NO_INDEX, dims[i], nest->tile[dims[i]], 1, &order);
  }
  sambaPortState(port, &order, arena);
}
