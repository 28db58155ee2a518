/* Tokens and slots of operands that are read by index; see tile_gather.h. */
#include "backend/group/tile_gather.h"

/* The tokens of the PCUs; false when the order is another, or elements would be loaded again. */
static bool gatherTokens(const SambaTileNest *nest, uint32_t operand, SambaTileGather *gather) {
  const SambaGroup *group = nest->group;
  const uint32_t index = group->operands[operand].map.index_operand;
  *gather = (SambaTileGather){.level = sambaTileNestTokenLevel(nest, operand)};

  for (uint32_t i = 0; i < group->dim_count; ++i) {
    uint32_t dim = nest->inner[i];
    if (!(nest->streamed[operand] >> dim & 1))
      continue;
    bool indexed = sambaGroupDepends(group, index, dim);
    if (!sambaGroupDepends(group, operand, dim) || (indexed && gather->count > gather->index_count))
      return false;
    gather->index_count += indexed;
    gather->points[gather->count] = nest->pass[dim];
    gather->dims[gather->count++] = dim;
  }
  for (uint32_t position = 0; position < gather->level; ++position) {
    SambaTileLoop loop = sambaTileNestLoop(nest, position);
    if (loop.trips > 1 && !sambaGroupDepends(group, operand, loop.dim))
      return false;
  }
  return true;
}

/* The slots of the PMUs between: a tile of the dimensions on which the operand depends, or a pass
 * where the loops over what is reduced step them. */
static void gatherSlots(const SambaTileNest *nest, uint32_t operand, SambaTileGather *gather) {
  const SambaGroup *group = nest->group;
  const uint32_t index = group->operands[operand].map.index_operand;
  const uint32_t passes = sambaTileNestPassesAt(nest);
  bool whole = true;
  int64_t elements = sambaDTypeBytes(sambaTileNestDType(nest, operand));
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (sambaGroupDepends(group, operand, dim))
      elements *= nest->tile[dim];
  whole = 2 * elements <= nest->machine->pmu_bytes;
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    whole &= nest->sums_outside || nest->trips[dim] == 1 || !sambaGroupDepends(group, operand, dim);

  *gather = (SambaTileGather){.buffered = true, .level = whole ? passes : sambaTileNestLoops(nest)};
  for (int round = 0; round < 2; ++round) /* the dimensions of the index, then the others */
    for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
      int64_t points = whole ? nest->tile[dim] : nest->pass[dim];
      if (points == 1 || !sambaGroupDepends(group, operand, dim) ||
          sambaGroupDepends(group, index, dim) != (round == 0))
        continue;
      gather->index_count += round == 0;
      gather->points[gather->count] = points;
      gather->dims[gather->count++] = dim;
    }
  while (gather->level) {
    SambaTileLoop loop = sambaTileNestLoop(nest, gather->level - 1);
    if (loop.trips > 1 && sambaGroupDepends(group, operand, loop.dim))
      break;
    --gather->level;
  }
}

SambaTileGather sambaTileNestGather(const SambaTileNest *nest, uint32_t operand) {
  SambaTileGather gather;
  if (!gatherTokens(nest, operand, &gather))
    gatherSlots(nest, operand, &gather);
  return gather;
}
