/* Where tokens go: buffers of tensors between groups, stores of results, and the staging buffers in
 * which the tokens of several copies become long DRAM rows before they are stored. */
#include "backend/codegen/codegen_internal.h"

#include <stdlib.h>
#include <string.h>

static void appendEndpoint(SambaEndpoints *list, uint32_t unit, uint32_t port) {
  sambaArrayAppend(list, (SambaEndpoint){unit, port});
}

/* Limits on the dimensions whose tiles reach past the extent. */
static void raggedBounds(const SambaTileNest *nest, bool slice, SambaBounds *out_bounds) {
  memset(out_bounds, 0, sizeof *out_bounds);
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (!slice || dim != nest->pipeline_dim)
      out_bounds->dim[dim] = nest->group->extents[dim];
}

/* The walk that writes a group's output tokens into the buffers of one replica: the pipeline loop
 * steps slots. */
static void sliceWalk(const SambaCodegen *codegen, const SambaTileNest *nest,
                      const SambaCopyRange *range, SambaWalk *walk) {
  const SambaStageOperand *map = &nest->group->output;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaOutputDims(nest, dims);
  uint32_t first = nest->pipeline_dim != SAMBA_NO_INDEX;

  sambaWalkStart(walk, nest, map, range);
  if (first) {
    sambaWalkLoops(walk, nest, map, 0, 1);
    walk->slot_level = walk->count;
    sambaWalkClearAddresses(walk, walk->count);
    walk->dim_start[nest->pipeline_dim] = 0;
    walk->axis_start[codegen->tensors[map->tensor].pipeline_axis] = 0;
  }

  sambaWalkLoops(walk, nest, map, first, nest->group->parallel_count);
  sambaWalkCopies(walk, nest, map, range);
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < count; ++i)
    sambaWalkPoints(walk, nest, map, dims[i]);
}

static SambaStatus addBufferSinks(SambaCodegen *codegen, uint32_t g) {
  SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  uint32_t tensor = group->output.tensor;
  uint32_t mask = sambaCopyMask(nest, SAMBA_NO_INDEX);
  uint32_t port = 0;
  SambaTensorPlan *target = &codegen->tensors[tensor];
  const SambaStageTensor *type = &codegen->graph->tensors[tensor];

  while (target->writers.data[port] != g)
    ++port;
  if (port == 0)
    SAMBA_RETURN_IF_ERROR(sambaCodegenAddBuffers(
        codegen, tensor, sambaArenaFormat(codegen->arena, "%s.out", plan->prefix),
        sambaCodegenLayer(codegen, group), (uint32_t)target->writers.size));
  int64_t sizes[SAMBA_MAX_RANK];
  sambaSliceSizes(codegen, tensor, sizes);
  SambaTokenLayout layout = sambaLayoutRowMajor(type->rank, sizes);
  SambaBounds bounds;
  raggedBounds(nest, true, &bounds);
  for (uint32_t axis = 0; axis < type->rank && group->output.guarded; ++axis)
    bounds.axis[axis] = axis == target->pipeline_axis ? 0 : type->dims[axis];

  for (uint32_t replica = 0; replica < codegen->replicas; ++replica) {
    SambaCopyRange range;
    sambaReplicaRange(nest, mask, replica, &range);
    SambaWalk walk;
    sliceWalk(codegen, nest, &range, &walk);
    for (uint32_t b = 0; b < target->buffers; ++b) {
      uint32_t unit = target->first_buffer + replica * target->buffers + b;
      sambaSetPort(&sambaAssemblyUnit(&codegen->assembly, unit)->inputs[port], &walk, type->dtype,
                   sambaWalkAccess(&walk, &layout, &bounds, 0, codegen->arena));
      uint32_t copy[SAMBA_MAX_STAGE_DIMS];
      memcpy(copy, range.first, sizeof copy);
      do
        appendEndpoint(&plan->sinks[sambaCopyIndex(nest, mask, copy)], unit, port);
      while (sambaCopyNext(nest, &range, copy));
    }
  }

  return NULL;
}

/* The innermost axis of the result that a tile does not cover whole: what lies behind it is one row
 * in memory. out_row: the elements of a tile's row. */
static uint32_t rowAxis(const SambaTileNest *nest, int64_t *out_row) {
  const SambaStageOperand *map = &nest->group->output;
  const SambaStageTensor *type = &nest->graph->tensors[map->tensor];
  uint32_t axis = type->rank - 1;

  *out_row = 1;
  for (;; --axis) {
    int64_t covered = 1;
    for (uint32_t dim = 0; dim < nest->group->parallel_count; ++dim)
      covered += map->axes[axis].coefficients[dim] * (nest->tile[dim] - 1);
    *out_row *= covered;
    if (axis == 0 || covered != type->dims[axis])
      return axis;
  }
}

/* The unrolled dimension whose copies lie side by side in DRAM rows too short to be stored one by
 * one; SAMBA_NO_INDEX: none. It must be the last with several copies in the range, so that its
 * copies' tokens follow each other. */
static uint32_t stagedDim(const SambaCodegen *codegen, const SambaTileNest *nest,
                          const SambaCopyRange *range, int64_t *out_row_bytes) {
  const SambaGroup *group = nest->group;
  const SambaStageTensor *type = &codegen->graph->tensors[group->output.tensor];
  int64_t row_elements;

  if (type->rank == 0)
    return SAMBA_NO_INDEX;
  const int64_t *row = group->output.axes[rowAxis(nest, &row_elements)].coefficients;
  uint32_t last = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (range->count[dim] > 1)
      last = dim;
  if (last == SAMBA_NO_INDEX || row[last] != 1 || nest->copy_step[last] != nest->tile[last])
    return SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
    if (dim != last && row[dim] && nest->tile[dim] > 1)
      return SAMBA_NO_INDEX;

  *out_row_bytes = row_elements * sambaDTypeBytes(type->dtype);
  return *out_row_bytes < sambaStagingRowBytes(nest->machine) ? last : SAMBA_NO_INDEX;
}

/* The dimensions of a token as sambaOutputDims gives them, with staged_dim at its place even where
 * its tile is one point. */
static uint32_t stagedDims(const SambaTileNest *nest, uint32_t staged_dim, uint32_t *out_dims) {
  uint32_t count = sambaOutputDims(nest, out_dims);
  if (staged_dim == SAMBA_NO_INDEX || nest->tile[staged_dim] > 1)
    return count;

  uint32_t at = count;
  for (; at && sambaOutputStride(nest, out_dims[at - 1]) < sambaOutputStride(nest, staged_dim);
       --at)
    out_dims[at] = out_dims[at - 1];
  out_dims[at] = staged_dim;
  return count + 1;
}

/* The points of one token, and of the whole range when staged_dim's copies belong to it. */
static void walkOutputPoints(const SambaTileNest *nest, const SambaStageOperand *map,
                             uint32_t staged_dim, const SambaCopyRange *range, SambaWalk *walk) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = stagedDims(nest, staged_dim, dims);

  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i] == staged_dim) {
      SambaCopyRange only = *range;
      for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
        if (dim != staged_dim)
          only.count[dim] = 1;
      sambaWalkCopies(walk, nest, map, &only);
    }
    sambaWalkPoints(walk, nest, map, dims[i]);
  }
}

/* The slot of a staging buffer as a tensor of one axis: the element stride of each dimension, with
 * the copies along staged_dim outside of its tile. Returns how many elements it has. */
static int64_t mapStagingSlot(const SambaTileNest *nest, uint32_t staged_dim, int64_t copies,
                              SambaStageOperand *map) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = stagedDims(nest, staged_dim, dims);
  int64_t stride = 1;

  for (uint32_t i = count; i-- > 0;) {
    map->axes[0].coefficients[dims[i]] = stride;
    stride *= nest->tile[dims[i]] * (dims[i] == staged_dim ? copies : 1);
  }
  return stride;
}

/* A staging buffer: takes the tokens of the range's copies in turn, hands on one token with rows
 * across staged_dim. Other copies are slots of their own. */
static SambaStatus addStage(SambaCodegen *codegen, const SambaGroupPlan *plan, uint32_t staged_dim,
                            const SambaCopyRange *range, uint32_t number, uint32_t *out_unit) {
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  SambaDType dtype = codegen->graph->tensors[group->output.tensor].dtype;
  SambaStageOperand map = {.tensor = group->output.tensor, .index_operand = SAMBA_NO_INDEX};
  int64_t size = mapStagingSlot(nest, staged_dim, range->count[staged_dim], &map);

  /* Both ports step the slots; one writes the points of a copy, the other reads all in a row. */
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaOutputDims(nest, dims);
  SambaWalk write, read;
  memset(&write, 0, sizeof write);
  SambaCopyRange others = *range;
  SambaCopyRange staged = *range;
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    *(dim == staged_dim ? &others.count[dim] : &staged.count[dim]) = 1;
  sambaWalkLoops(&write, nest, &map, 0, sambaTileNestOutputLevel(nest));
  sambaWalkCopies(&write, nest, &map, &others);
  sambaWalkClearAddresses(&write, write.count);
  write.slot_level = write.count;
  read = write;
  sambaWalkCopies(&write, nest, &map, &staged);
  write.token_level = write.count;
  for (uint32_t i = 0; i < count; ++i)
    sambaWalkPoints(&write, nest, &map, dims[i]);
  read.token_level = read.count;
  if (size > 1) {
    read.steps[read.count] = (SambaWalkStep){.trips = (uint32_t)size};
    read.steps[read.count++].axis[0] = 1;
  }

  SambaTokenLayout layout = sambaLayoutRowMajor(1, &size);
  uint32_t depth = sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest)) > 1 ||
                           sambaCopyRangeSize(&others, group->dim_count) > 1
                       ? 2
                       : 1;
  const char *name = sambaArenaFormat(codegen->arena, "%s.out.stage%u", plan->prefix, number);

  SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, (uint64_t)size, dtype, depth));
  *out_unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name,
                                   sambaCodegenLayer(codegen, group), 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);
  unit->buffer.slot_count = depth;
  unit->buffer.slot_elements = (uint64_t)size;
  sambaSetPort(&unit->inputs[0], &write, dtype,
               sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));
  sambaSetPort(&unit->outputs[0], &read, dtype,
               sambaWalkAccess(&read, &layout, NULL, 0, codegen->arena));

  return NULL;
}

static void addSinksOf(SambaGroupPlan *plan, const SambaCopyRange *range, uint32_t unit) {
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  uint32_t mask = sambaCopyMask(&plan->nest, SAMBA_NO_INDEX);
  memcpy(copy, range->first, sizeof copy);
  do
    appendEndpoint(&plan->sinks[sambaCopyIndex(&plan->nest, mask, copy)], unit, 0);
  while (sambaCopyNext(&plan->nest, range, copy));
}

/* How a range's staging is cut. */
typedef struct Staging {
  uint32_t dim;   /* the staged dimension; SAMBA_NO_INDEX: no staging */
  uint32_t parts; /* equal parts of its copies, a staging buffer each */
  bool apart;     /* buffers of their own for each of the other copies, else they take turns in the
                     slots */
} Staging;

/* No port merges more than flows_per_lane streams, and rows longer than needed only make the last
 * ones wait. */
static Staging stagingOf(const SambaCodegen *codegen, const SambaTileNest *nest,
                         const SambaCopyRange *range) {
  int64_t row;
  Staging staging = {stagedDim(codegen, nest, range, &row), 0, false};
  if (staging.dim == SAMBA_NO_INDEX)
    return staging;
  uint64_t flows = (uint64_t)codegen->machine->flows_per_lane;
  uint64_t copies = range->count[staging.dim];
  uint64_t others = sambaCopyRangeSize(range, nest->group->dim_count) / copies;
  staging.apart = others * copies > flows;

  for (uint32_t parts = 1; parts <= copies; ++parts) {
    uint64_t merged = copies / parts;
    if (copies % parts || merged > flows || (staging.apart && others * parts > flows))
      continue;
    if (staging.parts && row * (int64_t)merged < 2 * sambaStagingRowBytes(codegen->machine))
      break;
    staging.parts = parts;
  }

  if (!staging.parts)
    staging.dim = SAMBA_NO_INDEX;
  return staging;
}

bool sambaStoresFit(const SambaCodegen *codegen, const SambaTileNest *nest, uint32_t count) {
  SambaCopyRange *ranges = sambaAllocateZeroed(count, sizeof *ranges);
  uint32_t made = sambaCutCopies(nest, sambaCopyMask(nest, SAMBA_NO_INDEX), count, ranges);
  bool fit = true;
  for (uint32_t r = 0; r < made && fit; ++r)
    fit = sambaCopyRangeSize(&ranges[r], nest->group->dim_count) <=
              (uint64_t)codegen->machine->flows_per_lane ||
          stagingOf(codegen, nest, &ranges[r]).dim != SAMBA_NO_INDEX;
  free(ranges);
  return fit;
}

/* Copies of a store's range: those that step tokens, and those inside one token. */
typedef struct StoredCopies {
  SambaCopyRange tokens, part;
} StoredCopies;

/* The walk of a store over the result in memory. */
static void walkStore(const SambaTileNest *nest, const Staging *staging,
                      const SambaCopyRange *range, const StoredCopies *copies, uint32_t rank,
                      SambaWalk *walk) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->output;
  uint32_t dim = staging->dim;

  sambaWalkStart(walk, nest, map, range);
  sambaWalkLoops(walk, nest, map, 0, sambaTileNestOutputLevel(nest));
  sambaWalkCopies(walk, nest, map, &copies->tokens);
  if (staging->parts > 1) { /* the parts take turns */
    walk->steps[walk->count] = (SambaWalkStep){.trips = staging->parts};
    int64_t delta = copies->part.count[dim] * nest->copy_step[dim];
    walk->steps[walk->count].dim[dim] = delta;
    for (uint32_t axis = 0; axis < rank; ++axis)
      walk->steps[walk->count].axis[axis] = map->axes[axis].coefficients[dim] * delta;
    ++walk->count;
  }

  walk->token_level = walk->count;
  walkOutputPoints(nest, map, dim, &copies->part, walk);
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t dim_count = sambaOutputDims(nest, dims);
  for (uint32_t i = 0; map->index_operand != SAMBA_NO_INDEX && i < dim_count; ++i)
    walk->steps[walk->token_level + i].fixed =
        sambaGroupDepends(group, map->index_operand, dims[i]);
}

/* Staging buffers in the order in which the store takes their tokens: other copies, then parts. */
static SambaStatus addStages(SambaCodegen *codegen, SambaGroupPlan *plan, const Staging *staging,
                             const SambaCopyRange *range, const StoredCopies *copies, uint32_t unit,
                             uint32_t *stage_number) {
  const SambaTileNest *nest = &plan->nest;
  SambaCopyRange part = copies->part;
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  memcpy(copy, copies->tokens.first, sizeof copy);

  do {
    for (uint32_t dim = 0; staging->apart && dim < SAMBA_MAX_STAGE_DIMS; ++dim)
      if (dim != staging->dim)
        part.first[dim] = copy[dim], part.count[dim] = 1;
    for (uint32_t p = 0; p < staging->parts; ++p) {
      uint32_t stage;
      part.first[staging->dim] = range->first[staging->dim] + p * part.count[staging->dim];
      SAMBA_RETURN_IF_ERROR(
          addStage(codegen, plan, staging->dim, &part, (*stage_number)++, &stage));
      sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){stage, 0}, &(SambaEndpoint){unit, 0},
                           1);
      addSinksOf(plan, &part, stage);
    }
  } while (staging->apart && sambaCopyNext(nest, &copies->tokens, copy));

  return NULL;
}

/* Of sums that go through a PMU only those of the last round are stored. */
static void keepFinished(const SambaTileNest *nest, SambaWalk *walk, SambaBounds *bounds) {
  const SambaGroup *group = nest->group;
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim) {
    walk->dim_start[dim] = -(nest->trips[dim] - 1) * nest->loop_step[dim];
    bounds->dim[dim] = 1;
  }
}

static SambaStatus addStore(SambaCodegen *codegen, uint32_t g, const SambaCopyRange *range,
                            uint32_t number, uint32_t *stage_number) {
  SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageTensor *type = &codegen->graph->tensors[group->output.tensor];
  const SambaStageOperand *map = &group->output;

  /* Without staging the range has few enough copies: sambaStoresFit. */
  Staging staging = stagingOf(codegen, nest, range);
  StoredCopies copies = {*range, *range};
  if (staging.dim != SAMBA_NO_INDEX) {
    copies.tokens.count[staging.dim] = 1;
    copies.part.count[staging.dim] /= staging.parts;
  }

  SambaBounds bounds;
  raggedBounds(nest, false, &bounds);
  for (uint32_t axis = 0; axis < type->rank && map->guarded; ++axis)
    bounds.axis[axis] = type->dims[axis];
  SambaTokenLayout layout = sambaLayoutRowMajor(type->rank, type->dims);
  SambaWalk walk;
  walkStore(nest, &staging, range, &copies, type->rank, &walk);
  if (sambaTileNestCarriesSums(nest))
    keepFinished(nest, &walk, &bounds);

  bool indexed = map->index_operand != SAMBA_NO_INDEX;
  uint32_t unit =
      sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_STORE,
                           sambaArenaFormat(codegen->arena, "%s.store%u", plan->prefix, number),
                           sambaCodegenLayer(codegen, group), 1 + indexed, 0);
  sambaAssemblyUnit(&codegen->assembly, unit)->load_store.symbol =
      codegen->symbols[group->output.tensor];
  sambaSetPort(&sambaAssemblyUnit(&codegen->assembly, unit)->inputs[0], &walk, type->dtype,
               sambaWalkAccess(&walk, &layout, &bounds, 0, codegen->arena));
  if (indexed)
    sambaCodegenAddStoreIndices(codegen, g, range, unit);

  if (staging.dim != SAMBA_NO_INDEX)
    return addStages(codegen, plan, &staging, range, &copies, unit, stage_number);
  addSinksOf(plan, range, unit);
  return NULL;
}

SambaStatus sambaCodegenAddSinks(SambaCodegen *codegen, uint32_t g) {
  SambaGroupPlan *plan = &codegen->plans[g];
  uint32_t tensor = plan->nest.group->output.tensor;
  uint32_t stage_number = 0;
  if (codegen->tensors[tensor].buffered)
    SAMBA_RETURN_IF_ERROR(addBufferSinks(codegen, g));
  if (codegen->graph->tensors[tensor].role != SAMBA_TENSOR_RESULT)
    return NULL;
  SambaCopyRange *ranges = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaCopyRange, plan->stores);
  sambaCutCopies(&plan->nest, sambaCopyMask(&plan->nest, SAMBA_NO_INDEX), plan->stores, ranges);
  for (uint32_t s = 0; s < plan->stores; ++s)
    SAMBA_RETURN_IF_ERROR(addStore(codegen, g, &ranges[s], s, &stage_number));
  return NULL;
}
