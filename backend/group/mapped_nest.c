/* The loop nest of a mapping: its rules, and the nest that it means; see tile_nest.h. */
#include "backend/group/tile_nest.h"

/* Whether the loops over what is reduced run outside of all others: the sums go through a PMU. */
static bool sumsOutside(const SambaGroup *group, const SambaMapping *mapping) {
  return group->parallel_count && mapping->order[0] < group->dim_count &&
         group->reduced[mapping->order[0]];
}

/* Tiles, copies and the loop order, dimension by dimension. */
static SambaStatus checkDims(const SambaGroup *group, const SambaMapping *mapping) {
  uint32_t seen = 0;
  bool outside = sumsOutside(group, mapping);

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    if (mapping->tile[dim] < 1 || mapping->tile[dim] > group->extents[dim])
      return sambaStatusMake(SAMBA_INVALID, "dimension %u: tile %lld is not in [1, %lld]", dim,
                             (long long)mapping->tile[dim], (long long)group->extents[dim]);
    if (mapping->unroll[dim] < 1 || (group->reduced[dim] && mapping->unroll[dim] > 1))
      return sambaStatusMake(
          SAMBA_INVALID, "dimension %u: unroll %u; it is 1 or more, and 1 for reduced dimensions",
          dim, mapping->unroll[dim]);
    if (mapping->unroll[dim] > group->extents[dim])
      return sambaStatusMake(SAMBA_INVALID, "dimension %u: unroll %u exceeds the extent %lld", dim,
                             mapping->unroll[dim], (long long)group->extents[dim]);
    if (mapping->order[dim] >= group->dim_count || seen & 1u << mapping->order[dim])
      return sambaStatusMake(
          SAMBA_INVALID, "the loop order is not a permutation of the dimensions: position %u is %u",
          dim, mapping->order[dim]);
    seen |= 1u << mapping->order[dim];
    uint32_t position = outside ? dim - group->parallel_count : dim;
    if (dim >= group->parallel_count && mapping->order[position] != dim)
      return sambaStatusMake(
          SAMBA_INVALID,
          "reduced dimension %u must stay at position %u of the loop order: sums are in order", dim,
          position);
    if (group->reduced[dim] && group->extents[dim] % mapping->tile[dim])
      return sambaStatusMake(SAMBA_INVALID,
                             "reduced dimension %u: tile %lld does not divide the extent %lld", dim,
                             (long long)mapping->tile[dim], (long long)group->extents[dim]);
  }
  return NULL;
}

/* Sums over tiles stay in order, and whole for the lanes. */
static SambaStatus checkSums(const SambaGroup *group, const SambaMapping *mapping,
                             const SambaMachine *machine) {
  /* In-order sums: once a reduced dimension has several points in a tile, all later ones
   * are whole. */
  bool whole = false;
  int64_t chunk = 1;

  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim) {
    if (whole && mapping->tile[dim] != group->extents[dim])
      return sambaStatusMake(
          SAMBA_INVALID,
          "reduced dimension %u: tile %lld; it must be the whole extent %lld, because an outer "
          "reduced dimension is tiled",
          dim, (long long)mapping->tile[dim], (long long)group->extents[dim]);
    whole |= mapping->tile[dim] > 1;
    chunk *= mapping->tile[dim];
  }

  bool chunked = false;
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
    chunked |= mapping->tile[dim] != group->extents[dim];
  if (group->lane_reduce && chunked && chunk % machine->simd_lanes)
    return sambaStatusMake(
        SAMBA_INVALID,
        "%lld reduced points per firing are no multiple of the %lld lanes that reduce together",
        (long long)chunk, (long long)machine->simd_lanes);

  return NULL;
}

static SambaStatus checkMapping(const SambaStageGraph *graph, const SambaGroup *group,
                                const SambaMapping *mapping, const SambaMachine *machine) {
  if (mapping->dim_count != group->dim_count)
    return sambaStatusMake(SAMBA_INVALID, "the mapping has %u dimensions, the stage %u",
                           mapping->dim_count, group->dim_count);
  SAMBA_RETURN_IF_ERROR(checkDims(group, mapping));
  SAMBA_RETURN_IF_ERROR(checkSums(group, mapping, machine));
  if (sumsOutside(group, mapping) && !sambaGroupMayCarrySums(graph, group))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "reduced dimension %u is the outermost loop, so the sums go through a PMU; that is for a "
        "contraction on the array with nothing joined to it, whose result is stored and not read "
        "in the section",
        mapping->order[0]);

  for (uint32_t i = 0; i < mapping->pipeline_count; ++i) {
    uint32_t dim = mapping->pipeline_dims[i];
    if (dim >= group->parallel_count || mapping->order[i] != dim)
      return sambaStatusMake(SAMBA_INVALID,
                             "pipeline dimension %u must be a parallel dimension and loop %u, the "
                             "outermost but for those of the pipeline before it",
                             dim, i);
  }

  return NULL;
}

/* Reads the buffer level and depth of an operand from the mapping of its stage. A depth of 0 is one
 * that the mapping leaves out: one slot. */
static SambaStatus readBuffer(const SambaStageGraph *graph, uint32_t index, SambaTileNest *nest) {
  const SambaGroupOperand *operand = &nest->group->operands[index];
  const SambaMapping *mapping = &graph->mappings[operand->stage];
  uint32_t level = mapping->operand_level[operand->operand];
  uint32_t depth = mapping->operand_depth[operand->operand];

  if (level > nest->group->dim_count)
    return sambaStatusNote(
        sambaStatusMake(SAMBA_INVALID,
                        "mapping of stage %u (%s): operand %u has level %u, but there are %u tile "
                        "loops",
                        operand->stage, graph->stages[operand->stage].name, operand->operand, level,
                        nest->group->dim_count),
        "a level is the position of the outermost tile loop that a slot of the operand's buffer "
        "covers, or %u for none",
        nest->group->dim_count);
  nest->level[index] = level;
  nest->depth[index] = depth ? depth : 1;
  nest->joined[index] = mapping->operand_joined[operand->operand];
  return NULL;
}

SambaStatus sambaTileNestMake(const SambaStageGraph *graph, const SambaGroup *group,
                              const SambaMachine *machine, SambaTileNest *out_nest) {
  const SambaMapping *mapping = &graph->mappings[group->anchor];
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(checkMapping(graph, group, mapping, machine),
                                            "mapping of stage %u (%s)", group->anchor,
                                            graph->stages[group->anchor].name));
  sambaTileNestFill(graph, group, machine, mapping->pipeline_count, mapping->order, mapping->tile,
                    mapping->unroll, out_nest);

  for (uint32_t i = 0; i < group->operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(readBuffer(graph, i, out_nest));

  sambaTileNestSettleTokens(out_nest);
  sambaTileNestSettle(out_nest);
  return NULL;
}
