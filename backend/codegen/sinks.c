/* Where tokens go: buffers of tensors between groups, stores of results, and the staging buffers in
 * which the tokens of several copies become long DRAM rows before they are stored. */
#include "backend/codegen/codegen_internal.h"

#include <stdlib.h>
#include <string.h>

static void appendEndpoint(SambaEndpoints *list, uint32_t unit, uint32_t port) {
  sambaArrayAppend(list, (SambaEndpoint){unit, port});
}

/* Limits on the dimensions whose tiles reach past the extent. */
static void raggedBounds(const SambaTileNest *nest, SambaBounds *out_bounds) {
  memset(out_bounds, 0, sizeof *out_bounds);
  memcpy(out_bounds->dim, nest->group->extents, nest->group->dim_count * sizeof(int64_t));
}

/* The elements of an output token as its PCU makes them. */
static void walkPass(const SambaTileNest *nest, const SambaStageOperand *map, SambaWalk *walk) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = sambaTileNestOutputDims(nest, dims);
  walk->token_level = walk->count;
  for (uint32_t i = 0; i < count; ++i)
    sambaWalkPoints(walk, nest, map, dims[i]);
}

/* The walk that writes a group's output tokens into the buffers of one replica. */
static void sliceWalk(const SambaCodegen *codegen, const SambaTileNest *nest,
                      const SambaCopyRange *range, SambaWalk *walk) {
  const SambaStageOperand *map = &nest->group->output;
  uint32_t first = sambaStartSlices(codegen, nest, map, range, walk);
  sambaWalkLoops(walk, nest, map, first, sambaTileNestOutputLevel(nest));
  sambaWalkCopies(walk, nest, map, range);
  walkPass(nest, map, walk);
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
  raggedBounds(nest, &bounds);
  for (uint32_t i = 0; i < target->slices.count; ++i)
    bounds.dim[nest->dim_at[i]] = 0;
  for (uint32_t axis = 0; axis < type->rank && group->output.guarded; ++axis)
    bounds.axis[axis] = type->dims[axis];
  sambaClearSliced(&target->slices, bounds.axis);

  for (uint32_t replica = 0; replica < target->replicas; ++replica) {
    SambaCopyRange range;
    sambaReplicaRange(nest, mask, target->slices.count, replica, &range);
    SambaWalk walk;
    sliceWalk(codegen, nest, &range, &walk);
    for (uint32_t b = 0; b < target->ring * target->buffers; ++b) {
      uint32_t unit = sambaBufferUnit(target, replica, b % target->buffers, b / target->buffers);
      SambaUnit *buffer = sambaAssemblyUnit(&codegen->assembly, unit);
      sambaSetPort(codegen->arena, &buffer->inputs[port], &walk, type->dtype,
                   sambaWalkAccess(&walk, &layout, &bounds, 0, codegen->arena));
      if (group->copy)
        sambaStateResult(nest, codegen->arena, &buffer->inputs[port]);
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
 * copies' tokens follow each other. Where each copy takes a run of tiles, out_run is the loop over
 * these: all of them make rows together. */
static uint32_t stagedDim(const SambaCodegen *codegen, const SambaTileNest *nest,
                          const SambaCopyRange *range, int64_t *out_row_bytes, uint32_t *out_run) {
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
  if (last == SAMBA_NO_INDEX || row[last] != 1)
    return SAMBA_NO_INDEX;
  *out_run = SAMBA_NO_INDEX;
  if (nest->copy_step[last] != nest->tile[last])
    *out_run = sambaTileNestRunLoop(nest, last);
  if (nest->copy_step[last] != nest->tile[last] && *out_run == SAMBA_NO_INDEX)
    return SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
    if (dim != last && row[dim] && nest->tile[dim] > 1)
      return SAMBA_NO_INDEX;

  /* Beside sums that go through PMUs bytes count most: there rows of whole bursts are made. */
  *out_row_bytes = row_elements * sambaDTypeBytes(type->dtype);
  bool parts = sambaTileNestCarriesSums(nest) && *out_row_bytes % nest->machine->dram_burst_bytes;
  return parts || *out_row_bytes < sambaStagingRowBytes(nest->machine) ? last : SAMBA_NO_INDEX;
}

/* Elements of the result that a pass makes one after the other as they lie in memory. */
static int64_t passRow(const SambaTileNest *nest) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  int64_t row = 1;
  for (uint32_t i = sambaTileNestOutputDims(nest, dims); i-- > 0;) {
    if (nest->group->output_stride[dims[i]] != row)
      break;
    row *= nest->pass[dims[i]];
  }
  return row;
}

/* The dimensions of a tile in the order of the result's memory, with staged_dim at its place even
 * where its tile is one point. */
static uint32_t tileDims(const SambaTileNest *nest, uint32_t staged_dim, uint32_t *out_dims) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < nest->group->parallel_count; ++i) {
    uint32_t dim = nest->group->output_order[i];
    if (nest->tile[dim] > 1 || dim == staged_dim)
      out_dims[count++] = dim;
  }
  return count;
}

/* How a range's results are staged. */
typedef struct Staging {
  bool used;
  uint32_t dim;   /* the dimension whose copies make rows together; SAMBA_NO_INDEX: none */
  uint32_t run;   /* the loop whose steps make rows with them; SAMBA_NO_INDEX: none */
  uint32_t parts; /* equal parts of its copies, a staging buffer each */
  bool apart;     /* buffers of their own for each of the other copies, else they share them */
} Staging;

/* Tiles of each copy that make rows together. */
static int64_t runOf(const SambaTileNest *nest, const Staging *staging) {
  return staging->run == SAMBA_NO_INDEX ? 1 : sambaTileNestLoop(nest, staging->run).trips;
}

/* The first loop whose results share a slot of a staging buffer. */
static uint32_t stagedLoop(const SambaTileNest *nest, const Staging *staging) {
  return staging->run == SAMBA_NO_INDEX ? sambaTileNestPassesAt(nest) : staging->run;
}

/* Of a range the copies along one dimension alone. */
static SambaCopyRange copiesAlong(const SambaCopyRange *range, uint32_t along) {
  SambaCopyRange only = *range;
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    if (dim != along)
      only.count[dim] = 1;
  return only;
}

/* The points of a tile, and of the whole range when the staged dimension's copies belong to it. */
static void walkStagedTile(const SambaTileNest *nest, const SambaStageOperand *map,
                           const Staging *staging, const SambaCopyRange *range, SambaWalk *walk) {
  const uint32_t staged_dim = staging->dim;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = tileDims(nest, staged_dim, dims);

  walk->token_level = walk->count;
  for (uint32_t i = 0; i < count; ++i) {
    if (dims[i] == staged_dim) {
      const SambaCopyRange only = copiesAlong(range, staged_dim);
      sambaWalkCopies(walk, nest, map, &only);
      if (staging->run != SAMBA_NO_INDEX)
        sambaWalkLoops(walk, nest, map, staging->run, staging->run + 1);
    }
    sambaWalkTile(walk, nest, map, dims[i]);
  }
}

/* A tile of the copies along staged_dim in a staging buffer as a tensor of one axis: the element
 * stride of each dimension, with the copies outside of the tile along staged_dim. tiles: that lie
 * side by side along it. Returns how many elements it has. */
static int64_t mapStagedTile(const SambaTileNest *nest, uint32_t staged_dim, int64_t tiles,
                             SambaStageOperand *map) {
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = tileDims(nest, staged_dim, dims);
  int64_t stride = 1;

  for (uint32_t i = count; i-- > 0;) {
    map->axes[0].coefficients[dims[i]] = stride;
    stride *= nest->tile[dims[i]] * (dims[i] == staged_dim ? tiles : 1);
  }
  return stride;
}

/* Copies of the range beside those that make rows together. */
static SambaCopyRange otherCopies(const SambaCopyRange *range, uint32_t staged_dim) {
  SambaCopyRange others = *range;
  if (staged_dim != SAMBA_NO_INDEX)
    others.count[staged_dim] = 1;
  return others;
}

/* Slots of a staging buffer: one per tile, or per run of tiles. Where that is one pass, each of the
 * other copies has slots of its own; else their passes come by turns, and they share a slot. */
static bool sharesSlots(const SambaTileNest *nest, const Staging *staging) {
  return sambaTileNestPasses(nest) * runOf(nest, staging) > 1;
}

/* Elements of a slot of a staging buffer that takes the tokens of a range. */
static int64_t stagedElements(const SambaTileNest *nest, const Staging *staging,
                              const SambaCopyRange *range) {
  uint32_t copies = sambaCopyRangeSize(range, nest->group->dim_count);
  if (!sharesSlots(nest, staging))
    copies = staging->dim == SAMBA_NO_INDEX ? 1 : range->count[staging->dim];
  return sambaTileNestTileElements(nest) * runOf(nest, staging) * copies;
}

/* Lets a walk over a staging slot step the other copies, each with `elements`. */
static void walkOthers(const SambaCopyRange *others, int64_t elements, SambaWalk *walk) {
  int64_t step = elements;
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    step *= others->count[dim];
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim) {
    step /= others->count[dim];
    if (others->count[dim] == 1)
      continue;
    walk->steps[walk->count] = (SambaWalkStep){.trips = others->count[dim]};
    walk->steps[walk->count++].axis[0] = step;
  }
}

/* A staging buffer: takes the tokens of the range's copies in turn, hands on tiles with rows across
 * staged_dim. */
static SambaStatus addStage(SambaCodegen *codegen, const SambaGroupPlan *plan,
                            const Staging *staging, const SambaCopyRange *range, uint32_t number,
                            uint32_t *out_unit) {
  const SambaTileNest *nest = &plan->nest;
  const uint32_t staged_dim = staging->dim;
  const uint32_t copies = staged_dim == SAMBA_NO_INDEX ? 1 : range->count[staged_dim];
  const int64_t run = runOf(nest, staging);
  const SambaGroup *group = nest->group;
  SambaDType dtype = codegen->graph->tensors[group->output.tensor].dtype;
  SambaStageOperand map = {.tensor = group->output.tensor, .index_operand = SAMBA_NO_INDEX};
  int64_t row = mapStagedTile(nest, staged_dim, copies * run, &map);
  int64_t size = stagedElements(nest, staging, range);
  const SambaCopyRange others = otherCopies(range, staged_dim);
  const SambaCopyRange staged = copiesAlong(range, staged_dim);

  /* Both ports step the slots; one writes the points of a copy, the other reads all in a row. */
  const uint32_t passes = stagedLoop(nest, staging);
  SambaWalk write, read;
  memset(&write, 0, sizeof write);
  sambaWalkLoops(&write, nest, &map, 0, passes);
  if (!sharesSlots(nest, staging))
    sambaWalkCopies(&write, nest, &map, &others);
  sambaWalkClearAddresses(&write, write.count);
  write.slot_level = write.count;
  read = write;
  sambaWalkLoops(&write, nest, &map, passes, sambaTileNestOutputLevel(nest));
  if (sharesSlots(nest, staging)) {
    walkOthers(&others, row, &write);
    walkOthers(&others, row, &read);
  }
  sambaWalkCopies(&write, nest, &map, &staged);
  walkPass(nest, &map, &write);
  read.token_level = read.count;
  if (row > 1) {
    read.steps[read.count] = (SambaWalkStep){.trips = (uint32_t)row};
    read.steps[read.count++].axis[0] = 1;
  }

  SambaTokenLayout layout = sambaLayoutRowMajor(1, &size);
  uint32_t depth = read.slot_level ? 2 : 1;
  const char *name = sambaArenaFormat(codegen->arena, "%s.out.stage%u", plan->prefix, number);

  SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, (uint64_t)size, dtype, depth));
  *out_unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name,
                                   sambaCodegenLayer(codegen, group), 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);
  unit->buffer.slot_count = depth;
  unit->buffer.slot_elements = (uint64_t)size;
  sambaSetPort(codegen->arena, &unit->inputs[0], &write, dtype,
               sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));
  sambaSetPort(codegen->arena, &unit->outputs[0], &read, dtype,
               sambaWalkAccess(&read, &layout, NULL, 0, codegen->arena));
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t count = tileDims(nest, staged_dim, dims);
  sambaStateResult(nest, codegen->arena, &unit->inputs[0]);
  sambaStateStaged(nest, count, dims, staged_dim, copies, (uint32_t)run, codegen->arena,
                   &unit->outputs[0]);

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

/* Whether the staging buffers of a cut hold two slots. */
static bool stagesFit(const SambaCodegen *codegen, const SambaTileNest *nest,
                      const SambaCopyRange *range, const Staging *staging) {
  SambaCopyRange own = *range;
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim) {
    if (dim == staging->dim)
      own.count[dim] /= staging->parts;
    else if (staging->apart)
      own.count[dim] = 1;
  }
  SambaDType dtype = codegen->graph->tensors[nest->group->output.tensor].dtype;
  return 2 * stagedElements(nest, staging, &own) * sambaDTypeBytes(dtype) <=
         codegen->machine->pmu_bytes;
}

/* A copy with more results than this stores for most of its time. */
enum { fewResults = 4 };

/* Bytes that rows of staged results should have. What streams is stored best in long ones. Of few
 * results the last ones are a good part, and these leave the sooner the fewer copies make a row. */
static int64_t wantedRow(const SambaTileNest *nest) {
  int64_t least = sambaStagingRowBytes(nest->machine);
  return sambaTileNestResults(nest) > fewResults ? 2 * least : least;
}

/* Cuts the copies that make rows together: no port merges more than flows_per_lane streams, and
 * rows longer than needed only make the last ones wait. False when no cut will do. */
static bool cutStages(const SambaCodegen *codegen, const SambaTileNest *nest,
                      const SambaCopyRange *range, int64_t row, Staging *staging) {
  uint64_t flows = (uint64_t)codegen->machine->flows_per_lane;
  bool whole = staging->dim == SAMBA_NO_INDEX;
  uint64_t together = whole ? 1 : sambaTileNestTailCopies(nest, staging->dim);
  uint64_t copies = whole ? 1 : range->count[staging->dim];
  uint64_t others = sambaCopyRangeSize(range, nest->group->dim_count) / copies;
  bool found = false;
  copies /= together; /* those of a tail are not cut apart */

  for (uint32_t parts = 1; parts <= copies; ++parts) {
    Staging cut = {true, staging->dim, staging->run, parts, staging->apart};
    uint64_t merged = copies / parts;
    if (copies % parts || merged > flows || (cut.apart && others * parts > flows) ||
        !stagesFit(codegen, nest, range, &cut))
      continue;
    if (found && row * (int64_t)(merged * together) < wantedRow(nest))
      break;
    *staging = cut;
    found = true;
  }
  return found;
}

/* Results are staged where copies side by side make longer rows, or all passes of a tile. */
static Staging stagingOf(const SambaCodegen *codegen, const SambaTileNest *nest,
                         const SambaCopyRange *range) {
  const SambaStageTensor *type = &codegen->graph->tensors[nest->group->output.tensor];
  int64_t row = 0, row_elements;
  const Staging none = {false, SAMBA_NO_INDEX, SAMBA_NO_INDEX, 0, false};
  Staging staging = {true, SAMBA_NO_INDEX, SAMBA_NO_INDEX, 0, false};
  staging.dim = stagedDim(codegen, nest, range, &row, &staging.run);
  if (staging.dim == SAMBA_NO_INDEX)
    staging.run = SAMBA_NO_INDEX;
  if (type->rank == 0 || nest->group->output.index_operand != SAMBA_NO_INDEX)
    return none;

  rowAxis(nest, &row_elements);
  int64_t own = passRow(nest) * sambaDTypeBytes(type->dtype);
  row = row_elements * runOf(nest, &staging) * sambaDTypeBytes(type->dtype);
  if (staging.dim == SAMBA_NO_INDEX &&
      (own >= sambaStagingRowBytes(codegen->machine) || own >= row))
    return none;
  uint64_t copies = sambaCopyRangeSize(range, nest->group->dim_count) / nest->tail;
  staging.apart = copies > (uint64_t)codegen->machine->flows_per_lane;
  if (cutStages(codegen, nest, range, row, &staging))
    return staging;
  staging.apart = true;
  return cutStages(codegen, nest, range, row, &staging) ? staging : none;
}

int64_t sambaStoredRowBytes(const SambaCodegen *codegen, const SambaTileNest *nest,
                            uint32_t count) {
  const SambaStageTensor *type = &codegen->graph->tensors[nest->group->output.tensor];
  SambaCopyRange *ranges = sambaAllocateZeroed(count, sizeof *ranges);
  sambaCutResults(nest, count, ranges);
  bool staged = stagingOf(codegen, nest, &ranges[0]).used;
  free(ranges);
  return staged ? codegen->machine->ag_bytes : passRow(nest) * sambaDTypeBytes(type->dtype);
}

bool sambaStoresFit(const SambaCodegen *codegen, const SambaTileNest *nest, uint32_t count) {
  SambaCopyRange *ranges = sambaAllocateZeroed(count, sizeof *ranges);
  uint32_t made = sambaCutResults(nest, count, ranges);
  bool fit = true;
  for (uint32_t r = 0; r < made && fit; ++r)
    fit = sambaCopyRangeSize(&ranges[r], nest->group->dim_count) / nest->tail <=
              (uint64_t)codegen->machine->flows_per_lane ||
          stagingOf(codegen, nest, &ranges[r]).used;
  free(ranges);
  return fit;
}

/* Copies of a store's range: those that step tokens, and those inside one token. */
typedef struct StoredCopies {
  SambaCopyRange tokens, part;
} StoredCopies;

/* Whether the places of an indexed store change with a step of its walk. */
static bool stepsIndex(const SambaTileNest *nest, uint32_t index, const SambaWalkStep *step) {
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (step->dim[dim] && sambaGroupDepends(nest->group, index, dim))
      return true;
  return false;
}

/* The walk of a store over the result in memory. */
static void walkStore(const SambaTileNest *nest, const Staging *staging,
                      const SambaCopyRange *range, const StoredCopies *copies, uint32_t rank,
                      SambaWalk *walk) {
  const SambaStageOperand *map = &nest->group->output;
  uint32_t dim = staging->dim;

  sambaWalkStart(walk, nest, map, range);
  sambaWalkLoops(walk, nest, map, 0,
                 staging->used ? stagedLoop(nest, staging) : sambaTileNestOutputLevel(nest));
  sambaWalkCopies(walk, nest, map, &copies->tokens);
  if (!staging->used) {
    walkPass(nest, map, walk);
    for (uint32_t i = walk->token_level; map->index_operand != SAMBA_NO_INDEX && i < walk->count;
         ++i)
      walk->steps[i].fixed = stepsIndex(nest, map->index_operand, &walk->steps[i]);
    return;
  }

  if (staging->parts > 1) { /* the parts take turns */
    walk->steps[walk->count] = (SambaWalkStep){.trips = staging->parts};
    int64_t delta = copies->part.count[dim] * nest->copy_step[dim];
    walk->steps[walk->count].dim[dim] = delta;
    for (uint32_t axis = 0; axis < rank; ++axis)
      walk->steps[walk->count].axis[axis] = map->axes[axis].coefficients[dim] * delta;
    ++walk->count;
  }
  walkStagedTile(nest, map, staging, &copies->part, walk);
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
      if (staging->dim != SAMBA_NO_INDEX)
        part.first[staging->dim] = range->first[staging->dim] + p * part.count[staging->dim];
      SAMBA_RETURN_IF_ERROR(addStage(codegen, plan, staging, &part, (*stage_number)++, &stage));
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
  StoredCopies copies = {otherCopies(range, staging.dim), *range};
  if (staging.dim != SAMBA_NO_INDEX)
    copies.part.count[staging.dim] /= staging.parts;

  SambaBounds bounds;
  raggedBounds(nest, &bounds);
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
  sambaSetPort(codegen->arena, &sambaAssemblyUnit(&codegen->assembly, unit)->inputs[0], &walk,
               type->dtype, sambaWalkAccess(&walk, &layout, &bounds, 0, codegen->arena));
  if (group->copy && !staging.used)
    sambaStateResult(nest, codegen->arena, &sambaAssemblyUnit(&codegen->assembly, unit)->inputs[0]);
  if (indexed)
    sambaCodegenAddStoreIndices(codegen, g, range, number, unit);

  uint32_t end = unit; /* that takes the results from the copies or their stages */
  if (codegen->phases && indexed)
    return sambaStatusMake(SAMBA_INVALID,
                           "mapping of stage %u (%s): a store by index does not work in phases",
                           group->anchor, codegen->graph->stages[group->anchor].name);
  if (codegen->phases)
    SAMBA_RETURN_IF_ERROR(sambaCodegenAddGathering(codegen, g, unit, number, &end));
  if (staging.used)
    return addStages(codegen, plan, &staging, range, &copies, end, stage_number);
  addSinksOf(plan, range, end);
  return NULL;
}

static bool sameSinks(const SambaEndpoints *a, const SambaEndpoints *b) {
  bool same = a->size == b->size;
  for (size_t i = 0; i < a->size && same; ++i)
    same = a->data[i].unit == b->data[i].unit && a->data[i].port == b->data[i].port;
  return same;
}

void sambaConnectSinks(SambaCodegen *codegen, uint32_t g, uint32_t copy, uint32_t copies,
                       SambaEndpoint output) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTensorPlan *target = &codegen->tensors[plan->nest.group->output.tensor];
  const SambaEndpoints *sinks = &plan->sinks[copy];
  uint32_t ring = target->buffered ? target->ring : 1;
  size_t count = sinks->size / ring;
  bool shared = true;
  for (uint32_t c = 1; c < copies; ++c)
    shared &= sameSinks(sinks, &sinks[c]);

  if (!shared) {
    for (uint32_t c = 0; c < copies; ++c)
      sambaAssemblyConnect(&codegen->assembly, output, sinks[c].data, sinks[c].size);
    return;
  }
  for (uint32_t at = 0; at < ring; ++at)
    sambaAssemblyConnect(&codegen->assembly, output, sinks->data + at * count, count);
  for (size_t s = 0; s < sinks->size; ++s)
    sambaAssemblyUnit(&codegen->assembly, sinks->data[s].unit)->inputs[sinks->data[s].port].block =
        copies;
  if (ring == 1)
    return;
  int64_t tokens = copies * sambaTileNestTrips(&plan->nest, sambaTileNestOutputLevel(&plan->nest));
  sambaAssemblyUnit(&codegen->assembly, output.unit)->outputs[output.port].block =
      (uint32_t)(tokens / sambaTileNestTrips(&plan->nest, target->slices.count));
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
  sambaCutResults(&plan->nest, plan->stores, ranges);
  for (uint32_t s = 0; s < plan->stores; ++s)
    SAMBA_RETURN_IF_ERROR(addStore(codegen, g, &ranges[s], s, &stage_number));
  return NULL;
}
