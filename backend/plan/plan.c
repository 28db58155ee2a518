/* The planner's driver: groups, the pipeline dimension and its tile. A group alone searches freely.
 * Several groups are planned together (plan_together.h) for each pipeline class and slice size; the
 * slice size that ends soonest is kept. */
#include "backend/plan/plan.h"

#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/plan/best_plans.h"
#include "backend/plan/plan_phases.h"
#include "backend/plan/search_memo.h"
#include "backend/split/split_programs.h"
#include "backend/stage/split_axes.h"
#include "support/number/integer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loops of the pipeline in the dimensions of a stage, which may lack those of one point. */
static void writePipeline(const SambaTileNest *nest, const SambaDimMap *dims,
                          SambaMapping *mapping) {
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    for (uint32_t dim = 0; dim < mapping->dim_count; ++dim)
      if (dims->of[dim] == nest->dim_at[i])
        mapping->pipeline_dims[mapping->pipeline_count++] = dim;
}

static void writeMapping(SambaPlanner *planner, uint32_t g) {
  const SambaGroup *group = planner->groups.groups[g];
  const SambaTileNest *nest = &planner->choices[g].nest;
  uint32_t position_of[SAMBA_MAX_STAGE_DIMS];

  for (uint32_t position = 0; position < group->dim_count; ++position)
    position_of[nest->dim_at[position]] = position;
  for (uint32_t s = 0; s < group->stage_count; ++s) {
    const SambaStage *stage = &planner->graph->stages[group->stages[s]];
    SambaMapping *mapping = &planner->graph->mappings[group->stages[s]];
    memset(mapping, 0, sizeof *mapping);
    mapping->dim_count = stage->dim_count;
    mapping->group = g;
    mapping->phases = planner->phases;
    uint32_t key[SAMBA_MAX_STAGE_DIMS];
    for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
      uint32_t of = group->stage_dims[s].of[dim];
      mapping->tile[dim] = of == SAMBA_NO_INDEX ? 1 : nest->tile[of];
      mapping->unroll[dim] = of == SAMBA_NO_INDEX ? 1 : nest->unroll[of];
      key[dim] = of == SAMBA_NO_INDEX ? SAMBA_MAX_STAGE_DIMS : position_of[of];
      uint32_t at = dim;
      for (; at && key[mapping->order[at - 1]] > key[dim]; --at)
        mapping->order[at] = mapping->order[at - 1];
      mapping->order[at] = dim;
    }
    writePipeline(nest, &group->stage_dims[s], mapping);
  }

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    SambaMapping *mapping = &planner->graph->mappings[group->operands[i].stage];
    mapping->operand_level[group->operands[i].operand] = nest->level[i];
    mapping->operand_depth[group->operands[i].operand] = nest->depth[i];
    mapping->operand_joined[group->operands[i].operand] = nest->joined[i];
  }
}

/* With how many copies of each group a pipeline begins, before the slowest get more. */
typedef enum {
  START_BY_ONE,    /* one for each replica */
  START_BY_SHARES, /* those of its share of the machine, by work */
  START_BY_EITHER  /* shares first, and one only where these are not much slower than the best */
} Start;

/* The pipelines that a section can have, while they are tried. */
typedef struct Pipelines {
  SambaPlanner *planner;
  uint32_t class_count, loop_count; /* that all groups have; and those that some are without */
  uint32_t *classes[SAMBA_MAX_PIPELINE_DIMS]; /* the dimension of each group */
  SambaPipelineDims *dims;                    /* of the pipeline being tried */
  SambaBestPlans best;
  SAMBA_ARRAY(SambaPipeline) tried;
  SambaStatus why; /* the last one that cannot be planned */
  Start start;
} Pipelines;

static uint32_t contractionsOf(const SambaPlanner *planner) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    count += planner->groups.groups[g]->systolic && !planner->fixed[g];
  return count;
}

/* The best plan so far. */
static SambaBestPlan *bestOf(const Pipelines *pipelines) { return pipelines->best.places; }

/* Plans a pipeline that starts so and keeps it when it is one of the best; false when it does not
 * fit. One that cannot be is taken to fit, in INFINITY cycles. */
static bool tryStart(Pipelines *pipelines, const SambaPipeline *pipeline, bool balanced,
                     double *out_cycles) {
  SambaPlanner *planner = pipelines->planner;
  double cycles = 0;
  double most = sambaBestPlansMost(&pipelines->best);
  *out_cycles = INFINITY;
  if (sambaPlanLeastCycles(planner, pipeline) >= most)
    return true;
  SambaStatus status = sambaPlanTogether(planner, pipeline, balanced, most, &cycles);

  sambaStatusFree(pipelines->why);
  pipelines->why = status;
  if (status)
    return false;
  *out_cycles = cycles;
  sambaBestPlansKeep(&pipelines->best, cycles, pipeline, planner->choices);
  return true;
}

/* Groups that start with one copy and grow take most of the time to plan. Where shares as a start
 * end with this many times the cycles of the best plan, that is not tried. */
static const double worthGrowing = 1.25;

/* Plans a pipeline from the start or both; false when it does not fit. */
static bool tryPipeline(Pipelines *pipelines, const SambaPipeline *pipeline) {
  double cycles;
  sambaArrayAppend(&pipelines->tried, *pipeline);
  if (pipelines->start != START_BY_EITHER)
    return tryStart(pipelines, pipeline, pipelines->start == START_BY_SHARES, &cycles);
  bool fits = tryStart(pipelines, pipeline, true, &cycles);
  if (fits && cycles > worthGrowing * bestOf(pipelines)->cycles)
    return true;
  return tryStart(pipelines, pipeline, false, &cycles);
}

/* A pipeline along classes [first, first + count), a tile of it the whole of each. */
static SambaPipeline pipelineAlong(Pipelines *pipelines, uint32_t first, uint32_t count) {
  const SambaGroups *groups = &pipelines->planner->groups;
  SambaPipeline pipeline = {.count = count, .groups = pipelines->dims};

  memset(pipelines->dims, 0, groups->count * sizeof *pipelines->dims);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t *dims = pipelines->classes[first + i];
    for (uint32_t g = 0; g < groups->count; ++g) {
      if (dims[g] == SAMBA_NO_INDEX)
        continue;
      pipelines->dims[g].dim[i] = dims[g];
      pipelines->dims[g].count = i + 1;
      pipeline.extent[i] = pipeline.tile[i] = groups->groups[g]->extents[dims[g]];
    }
    pipeline.copies[i] = 1;
  }
  return pipeline;
}

/* Shares the tiles of the loops from `loop` on among as many replicas as can be, `most` at most,
 * evenly; of equals those along outer loops. Returns how many there are. */
static uint32_t shareTiles(SambaPipeline *pipeline, uint32_t loop, uint32_t most) {
  if (loop == pipeline->count || loop == SAMBA_MAX_PIPELINE_DIMS)
    return 1;
  int64_t tiles = sambaCeilDiv(pipeline->extent[loop], pipeline->tile[loop]);
  uint32_t best = 0, copies[SAMBA_MAX_PIPELINE_DIMS] = {0};

  for (int64_t own = tiles < most ? tiles : most; own > 0 && best < most; --own) {
    int64_t each = sambaCeilDiv(tiles, own);
    own = sambaCeilDiv(tiles, each); /* as many have no more tiles each */
    uint32_t made = (uint32_t)own * shareTiles(pipeline, loop + 1, most / (uint32_t)own);
    if (made <= best)
      continue;
    best = made;
    pipeline->copies[loop] = (uint32_t)own;
    memcpy(copies, pipeline->copies, sizeof copies);
  }
  memcpy(&pipeline->copies[loop], &copies[loop], (pipeline->count - loop) * sizeof *copies);
  return best;
}

/* A pipeline with one replica, and with more of them. */
static void tryReplicas(Pipelines *pipelines, SambaPipeline *pipeline) {
  uint32_t last = 0;
  int64_t slices = 1;
  for (uint32_t i = 0; i < pipeline->count; ++i)
    slices *= sambaCeilDiv(pipeline->extent[i], pipeline->tile[i]);

  /* Of several loops also three of each four: replicas divide the chip's units. */
  int64_t step = pipeline->count > 1 ? 2 : 4;
  for (int64_t replicas = 1; replicas <= slices; replicas *= step)
    for (int64_t more = 2; more <= (step == 2 && replicas > 4 ? 3 : 2); ++more) {
      int64_t most = replicas * more / 2 < slices ? replicas * more / 2 : slices;
      uint32_t made = shareTiles(pipeline, 0, (uint32_t)most);
      if (made == last)
        continue;
      last = made;
      if (!tryPipeline(pipelines, pipeline))
        return; /* more replicas need more units */
    }
}

/* Points of each of so many slices. An array takes whole blocks of rows: 12 rows keep it as long as
 * 16 do. */
static int64_t slicePoints(const Pipelines *pipelines, int64_t extent, int64_t slices) {
  int64_t points = sambaCeilDiv(extent, slices);
  bool whole = points > SAMBA_BLOCK_ROWS / 4 && sambaPlannerHasArrays(pipelines->planner);
  return whole ? sambaCeilDiv(points, SAMBA_BLOCK_ROWS) * SAMBA_BLOCK_ROWS : points;
}

/* Pipelines along one class, in slices of several sizes. */
static void tryClass(Pipelines *pipelines, uint32_t index) {
  SambaPipeline pipeline = pipelineAlong(pipelines, index, 1);
  int64_t extent = pipeline.extent[0];

  /* Many slices are many firings: more of them only where fewer leave slices too large. */
  for (int64_t slices = 1; slices <= 4 * extent && (slices <= 4096 || !bestOf(pipelines)->found);
       slices *= 4) {
    pipeline.tile[0] = slicePoints(pipelines, extent, slices);
    if (pipeline.tile[0] >= extent)
      continue; /* one slice: planned without a pipeline */
    tryReplicas(pipelines, &pipeline);
    if (pipeline.tile[0] == 1)
      break;
  }
}

/* Whether an axis of an operand is walked by reduced dimensions alone. */
static bool isReducedAxis(const SambaGroup *group, const SambaStageOperand *map, uint32_t axis) {
  bool reduced = false;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (map->axes[axis].coefficients[dim]) {
      if (!group->reduced[dim])
        return false;
      reduced = true;
    }
  return reduced;
}

/* Rows that a group reduces in a step of its loop over `dim`: those of the axes between that of the
 * loop and the last one of an operand. */
static int64_t rowsOfStep(const SambaPlanner *planner, const SambaGroup *group, uint32_t dim) {
  int64_t most = 1;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    const SambaStageOperand *map = &group->operands[i].map;
    const SambaStageTensor *tensor = &planner->graph->tensors[map->tensor];
    int64_t rows = 1;
    for (uint32_t axis = tensor->rank ? tensor->rank - 1 : 0; axis-- > 0;) {
      if (map->axes[axis].coefficients[dim])
        most = rows > most ? rows : most;
      rows = isReducedAxis(group, map, axis) ? rows * tensor->dims[axis] : 0;
    }
  }
  return most;
}

/* Points of a slice of a nest's last loop at least: one over queries feeds whole rows of an array.
 * A loop that has no more, such as one over heads, is run point by point, and so is one over blocks
 * of rows that are summed: a block has rows enough. */
static int64_t leastSlice(const Pipelines *pipelines, uint32_t class, int64_t extent) {
  const SambaPlanner *planner = pipelines->planner;
  if (extent <= SAMBA_BLOCK_ROWS)
    return 1;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    if (rowsOfStep(planner, planner->groups.groups[g], pipelines->classes[class][g]) >=
        SAMBA_BLOCK_ROWS)
      return 1;
  return SAMBA_BLOCK_ROWS;
}

/* Pipelines along the first `count` classes: one point of the outer ones, and slices of several
 * sizes of the last. */
static void tryNest(Pipelines *pipelines, uint32_t count) {
  SambaPipeline pipeline = pipelineAlong(pipelines, 0, count);
  int64_t extent = pipeline.extent[count - 1];
  for (uint32_t i = 0; i + 1 < count; ++i)
    pipeline.tile[i] = 1;
  for (int64_t tile = leastSlice(pipelines, count - 1, extent); tile < extent;
       tile = tile < SAMBA_BLOCK_ROWS ? SAMBA_BLOCK_ROWS : 2 * tile) {
    pipeline.tile[count - 1] = tile;
    tryReplicas(pipelines, &pipeline);
  }
}

/* Whether the class is the batch of a contraction. */
static bool isBatchClass(const Pipelines *pipelines, uint32_t class) {
  const SambaGroups *groups = &pipelines->planner->groups;
  for (uint32_t g = 0; g < groups->count; ++g)
    if (sambaGroupIsBatch(groups->groups[g], pipelines->classes[class][g]))
      return true;
  return false;
}

/* Where a pipeline without inner loops takes at most this many times what PCUs take that never
 * wait, inner loops are not tried: they would save little. */
static const double worthInner = 1.25;

/* Pipelines along all classes and `inner` loops that some groups are without: one point of the
 * outer classes, slices of several sizes of the last one, and all points of the inner loops, one
 * after the other, within each slice. */
static void tryInnerLoops(Pipelines *pipelines, uint32_t inner) {
  uint32_t last = pipelines->class_count - 1;
  SambaPipeline pipeline = pipelineAlong(pipelines, 0, pipelines->class_count + inner);
  int64_t extent = pipeline.extent[last];
  for (uint32_t i = 0; i < pipeline.count; ++i)
    pipeline.tile[i] = 1;
  int64_t least = isBatchClass(pipelines, last) ? 1 : leastSlice(pipelines, last, extent);
  for (int64_t tile = least; tile < extent; tile *= 4) {
    pipeline.tile[last] = tile;
    tryReplicas(pipelines, &pipeline);
  }
}

static bool wasTried(const Pipelines *pipelines, const SambaPipeline *pipeline) {
  for (size_t i = 0; i < pipelines->tried.size; ++i) {
    const SambaPipeline *other = &pipelines->tried.data[i];
    bool same = other->count == pipeline->count;
    for (uint32_t loop = 0; loop < pipeline->count && same; ++loop)
      same = other->extent[loop] == pipeline->extent[loop] &&
             other->tile[loop] == pipeline->tile[loop] &&
             other->copies[loop] == pipeline->copies[loop];
    if (same)
      return true;
  }
  return false;
}

/* PCUs of a pipeline whose groups have one copy in each replica. */
static uint64_t leastPcus(const SambaPlanner *planner, const SambaPipeline *pipeline) {
  uint64_t pcus = 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    pcus += (uint64_t)planner->groups.groups[g]->pcus * sambaPipelineReplicas(pipeline, g);
  return pcus;
}

static void tryOnce(Pipelines *pipelines, const SambaPipeline *pipeline) {
  if (leastPcus(pipelines->planner, pipeline) <= pipelines->planner->pcus &&
      !wasTried(pipelines, pipeline))
    tryPipeline(pipelines, pipeline);
}

/* Copies along a loop that have other numbers of tiles each: the next fewer, half as many, the next
 * more, twice as many. */
enum { otherCopies = 4 };
static uint32_t copiesBeside(const SambaPipeline *pipeline, uint32_t loop, uint32_t *out_copies) {
  int64_t tiles = sambaCeilDiv(pipeline->extent[loop], pipeline->tile[loop]);
  int64_t copies = pipeline->copies[loop], each = sambaCeilDiv(tiles, copies);
  int64_t more = copies > 1 ? sambaCeilDiv(tiles, copies - 1) : tiles + 1;
  int64_t wanted[otherCopies] = {each - 1, each / 2, more, 2 * each};
  uint32_t count = 0;
  for (uint32_t i = 0; i < otherCopies; ++i)
    if (wanted[i] > 0 && wanted[i] <= tiles)
      out_copies[count++] = (uint32_t)sambaCeilDiv(tiles, wanted[i]);
  return count;
}

/* Replicas beside those of the best pipeline: more or fewer along one of its loops, or half along
 * one and twice as many along another. Of as many replicas those along inner loops have smaller
 * first slots, and those along outer loops share none of their rows. */
static void tryBeside(Pipelines *pipelines) {
  const SambaPipeline start = bestOf(pipelines)->pipeline;
  SambaPipeline pipeline = start;
  pipeline.groups = pipelines->dims;
  memcpy(pipelines->dims, bestOf(pipelines)->dims,
         pipelines->planner->groups.count * sizeof *pipelines->dims);

  for (uint32_t loop = 0; loop < start.count; ++loop) {
    uint32_t copies[otherCopies], count = copiesBeside(&start, loop, copies);
    for (uint32_t i = 0; i < count; ++i) {
      pipeline.copies[loop] = copies[i];
      tryOnce(pipelines, &pipeline);
    }
    pipeline.copies[loop] = start.copies[loop] / 2;
    for (uint32_t other = 0; other < start.count && start.copies[loop] > 1; ++other) {
      pipeline.copies[other] *= 2;
      if (other != loop &&
          pipeline.copies[other] <= sambaCeilDiv(start.extent[other], start.tile[other]))
        tryOnce(pipelines, &pipeline);
      pipeline.copies[other] /= 2;
    }
    pipeline.copies[loop] = start.copies[loop];
  }
}

/* Other replicas must leave at most this share of the cycles, or the search for them ends. */
static const double worthBeside = 0.99;

/* Rounds of trials of replicas beside the best ones. Where more than two contractions share the
 * chip, the next number of replicas that was tried may leave many units idle: there in any case. */
enum { fewRounds = 2, idleShare = 8 };
static uint32_t besideRounds(const Pipelines *pipelines) {
  const SambaPlanner *planner = pipelines->planner;
  const SambaBestPlan *best = bestOf(pipelines);
  uint32_t used = 0;
  if (planner->tries_beside)
    return UINT32_MAX;
  if (!best->found || best->pipeline.count < 2 || contractionsOf(planner) < 3)
    return 0;
  for (uint32_t g = 0; g < planner->groups.count; ++g)
    used += best->choices[g].pcus;
  return used <= planner->pcus - planner->pcus / idleShare ? fewRounds : 0;
}

static void tryWithoutPipeline(Pipelines *pipelines) {
  SambaPlanner *planner = pipelines->planner;
  tryPipeline(pipelines, &(SambaPipeline){.count = 0});
  pipelines->start = contractionsOf(planner) > 1 ? START_BY_SHARES : START_BY_ONE;
  if (pipelines->start == START_BY_SHARES)
    tryPipeline(pipelines, &(SambaPipeline){.count = 0});
  if (!sambaPlannerHasArrays(planner)) { /* with as many copies as their shares of generators */
    sambaPlannerShareGenerators(planner, true);
    tryPipeline(pipelines, &(SambaPipeline){.count = 0});
  }
}

static SambaStatus noPhases(void) {
  return sambaStatusMake(SAMBA_EXHAUSTED, "the section cannot load and store in phases");
}

static SambaStatus noRank(const SambaPlanner *planner) {
  return sambaStatusMake(SAMBA_EXHAUSTED, "the section has fewer than %u plans", planner->rank + 1);
}

/* Plans the best pipeline anew, so that it works in phases. */
static SambaStatus planPhases(Pipelines *pipelines) {
  SambaPlanner *planner = pipelines->planner;
  SambaBestPlan *best = bestOf(pipelines);
  uint32_t phases;
  if (!best->found || !sambaPlanPhases(planner, &best->pipeline, &phases))
    return noPhases();
  planner->phases = phases;
  SAMBA_RETURN_IF_ERROR(
      sambaPlanTogether(planner, &best->pipeline, false, INFINITY, &best->cycles));
  memcpy(best->choices, planner->choices, planner->groups.count * sizeof *planner->choices);
  return NULL;
}

/* Appends the loops inside of the classes: a group that has one has those outside of it. */
static void findInnerLoops(Pipelines *pipelines) {
  SambaPlanner *planner = pipelines->planner;
  uint32_t groups = planner->groups.count;
  pipelines->loop_count = pipelines->class_count;
  for (uint32_t index = 0;
       pipelines->class_count && pipelines->loop_count < SAMBA_MAX_PIPELINE_DIMS; ++index) {
    uint32_t *dims = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, groups);
    if (!sambaPlanInnerLoop(planner->graph, &planner->groups, index, dims))
      break;
    const uint32_t *outside = pipelines->classes[pipelines->loop_count - 1];
    bool nested = true;
    for (uint32_t g = 0; g < groups; ++g)
      nested &= dims[g] == SAMBA_NO_INDEX || outside[g] != SAMBA_NO_INDEX;
    if (nested)
      pipelines->classes[pipelines->loop_count++] = dims;
  }
}

static SambaStatus planSeveral(SambaPlanner *planner) {
  SambaArena *scratch = &planner->scratch;
  uint32_t groups = planner->groups.count;
  Pipelines pipelines = {.planner = planner,
                         .dims = SAMBA_ARENA_ARRAY(scratch, SambaPipelineDims, groups)};
  pipelines.best = sambaBestPlansMake(scratch, groups, planner->rank);
  const SambaBestPlan *best = bestOf(&pipelines);
  for (uint32_t c = 0; c < SAMBA_MAX_PIPELINE_DIMS; ++c) {
    pipelines.classes[c] = SAMBA_ARENA_ARRAY(scratch, uint32_t, groups);
    if (!sambaPlanPipelineClass(planner->graph, &planner->groups, c, pipelines.classes[c]))
      break;
    ++pipelines.class_count;
  }
  findInnerLoops(&pipelines);

  for (uint32_t count = 2; count <= pipelines.class_count; ++count)
    tryNest(&pipelines, count);
  bool nested = best->found && sambaPlannerHasArrays(planner);
  pipelines.start = nested ? START_BY_EITHER : START_BY_ONE;
  for (uint32_t c = 0; c < 3 && c < pipelines.class_count; ++c)
    tryClass(&pipelines, c);
  /* One copy of each group is a start from which the first ones to grow leave too few PMUs for the
   * weights of the others. */
  pipelines.start = START_BY_SHARES;
  bool several = !nested && contractionsOf(planner) > 2;
  for (uint32_t c = 0; several && c < 3 && c < pipelines.class_count; ++c)
    tryClass(&pipelines, c);
  pipelines.start = START_BY_ONE;
  bool good = best->found && best->cycles <= worthInner * sambaPlannerWorkCycles(planner);
  for (uint32_t inner = 1; !good && pipelines.class_count + inner <= pipelines.loop_count; ++inner)
    tryInnerLoops(&pipelines, inner);
  uint32_t rounds = besideRounds(&pipelines);
  for (double before = INFINITY;
       rounds-- > 0 && best->found && best->cycles < worthBeside * before;) {
    before = best->cycles;
    tryBeside(&pipelines);
  }
  SambaStatus first = pipelines.why;
  pipelines.why = NULL;
  if (!planner->loads_apart)
    tryWithoutPipeline(&pipelines);

  sambaArrayFree(&pipelines.tried);
  if (!best->found && !first && !pipelines.why)
    return noPhases();
  if (!best->found) {
    sambaStatusFree(first ? pipelines.why : NULL);
    return first ? first : pipelines.why;
  }
  sambaStatusFree(first);
  sambaStatusFree(pipelines.why);
  if (planner->loads_apart)
    SAMBA_RETURN_IF_ERROR(planPhases(&pipelines));
  const SambaBestPlan *wanted = &pipelines.best.places[planner->rank];
  if (!wanted->found)
    return noRank(planner);
  memcpy(planner->choices, wanted->choices, groups * sizeof *planner->choices);
  sambaPlanChooseDepths(planner, &wanted->pipeline);

  return NULL;
}

/* What the section cannot be planned for, which has so many groups that are not mapped by hand. */
static SambaStatus checkOptions(const SambaPlanner *planner, uint32_t free_groups) {
  if (planner->loads_apart &&
      (free_groups < planner->groups.count || sambaPlannerHasArrays(planner)))
    return noPhases();
  if (planner->rank && (planner->groups.count == 1 || planner->loads_apart))
    return noRank(planner);
  if (planner->carries_sums && planner->groups.count > 1)
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "sums that go through PMUs are those of a section's only group");
  return NULL;
}

static SambaStatus planAll(SambaPlanner *planner) {
  SAMBA_RETURN_IF_ERROR(
      sambaGroupsBuild(planner->graph, planner->machine, &planner->scratch, &planner->groups));
  planner->limits = SAMBA_ARENA_ARRAY(&planner->scratch, SambaGroupLimits, planner->groups.count);
  planner->choices = SAMBA_ARENA_ARRAY(&planner->scratch, SambaGroupChoice, planner->groups.count);
  planner->fixed = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->groups.count);
  planner->kinds = SAMBA_ARENA_ARRAY(&planner->scratch, uint64_t, planner->groups.count);
  planner->level = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->groups.count);
  planner->writer = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->between = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->graph->tensor_count);
  planner->readers = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->shared =
      SAMBA_ARENA_ARRAY(&planner->scratch, SambaSharing, planner->graph->tensor_count);
  planner->slices = SAMBA_ARENA_ARRAY(&planner->scratch, SambaSlices, planner->graph->tensor_count);
  planner->depth = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->ring = SAMBA_ARENA_ARRAY(&planner->scratch, uint32_t, planner->graph->tensor_count);
  planner->ringable = SAMBA_ARENA_ARRAY(&planner->scratch, bool, planner->graph->tensor_count);
  sambaPlannerAnalyse(planner);
  for (uint32_t g = 0; g < planner->groups.count && planner->searches; ++g)
    planner->kinds[g] = sambaSearchMemoKind(planner->searches, planner->graph,
                                            planner->groups.groups[g], planner->machine);
  uint32_t free_groups = 0, pcus = 0;

  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    planner->fixed[g] = planner->graph->mappings[planner->groups.groups[g]->anchor].dim_count != 0;
    free_groups += !planner->fixed[g];
    if (planner->fixed[g])
      planner->phases = planner->graph->mappings[planner->groups.groups[g]->anchor].phases;
    pcus += planner->groups.groups[g]->pcus;
  }

  if (free_groups == 0)
    return NULL;
  if (planner->pcus < pcus && pcus <= planner->all_pcus)
    planner->pcus = pcus; /* one copy of each group is the least */
  if (pcus > planner->pcus)
    return sambaStatusMake(SAMBA_EXHAUSTED,
                           "the section needs at least %u PCUs, but %s has %u to give", pcus,
                           planner->machine->name, planner->pcus);
  SAMBA_RETURN_IF_ERROR(checkOptions(planner, free_groups));
  if (planner->groups.count == 1 && !planner->loads_apart) {
    planner->limits[0].copies = UINT32_MAX;
    planner->limits[0].pcus = planner->pcus;
    planner->limits[0].pmus = planner->pmus;
    planner->limits[0].units = planner->units;
    planner->limits[0].sum_parts = planner->groups.groups[0]->systolic ? planner->sum_parts : 0;
    planner->limits[0].carries_sums = planner->carries_sums;
    if (!sambaPlannerSearchGroup(planner, 0, &planner->choices[0]))
      return sambaPlannerNoChoice(planner, 0);
  } else {
    SAMBA_RETURN_IF_ERROR(planSeveral(planner));
  }

  for (uint32_t g = 0; g < planner->groups.count; ++g)
    if (!planner->fixed[g])
      writeMapping(planner, g);
  return NULL;
}

/* Emits the mapped graph and splits its programs; SAMBA_EXHAUSTED when that does not fit the
 * machine. Other refusals are codegen's to report: then there is no section. */
static SambaStatus emitSection(const SambaStageGraph *graph, const SambaMachine *machine,
                               SambaArena *arena, SambaSection **out_section) {
  SambaArena scratch = {0};
  SambaSection *section = NULL;
  SambaStatus status = sambaCodegenDraft(graph, machine, &scratch, &section);
  if (!status)
    status = sambaSplitPrograms(section, machine);
  if (!status)
    status = sambaSectionFits(section, machine);

  if (!status) {
    *arena = scratch;
    section->arena = arena;
    *out_section = section;
    return NULL;
  }

  sambaArenaDestroy(&scratch);
  if (sambaStatusGetCode(status) == SAMBA_EXHAUSTED)
    return status;
  sambaStatusFree(status);
  return NULL;
}

/* Takes back the mappings of the groups that were free; false when no group has copies to
 * give up. */
static bool giveUp(SambaPlanner *planner) {
  bool copies = false;
  for (uint32_t g = 0; g < planner->groups.count; ++g) {
    const SambaGroup *group = planner->groups.groups[g];
    if (planner->fixed[g])
      continue;
    copies |= planner->choices[g].nest.copies > 1;
    for (uint32_t s = 0; s < group->stage_count; ++s)
      memset(&planner->graph->mappings[group->stages[s]], 0, sizeof *planner->graph->mappings);
  }
  return copies;
}

SambaStatus sambaPlanTiles(SambaStageGraph *graph, const SambaMachine *machine,
                           const SambaPlanOptions *options) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaStatus status = sambaPlanSection(graph, machine, options, &arena, &section);
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaPlanSection(SambaStageGraph *graph, const SambaMachine *machine,
                             const SambaPlanOptions *options, SambaArena *arena,
                             SambaSection **out_section) {
  *out_section = NULL;
  SAMBA_RETURN_IF_ERROR(sambaStageGraphCheck(graph));
  uint32_t divisor = options && options->parallel_divisor > 1 ? options->parallel_divisor : 1;
  SambaUsableUnits usable = sambaMachineUsableUnits(machine);
  SambaStatus status = NULL, first = NULL;

  /* The model estimates units and streams; what it underestimates shows in codegen, and a
   * smaller share is planned. */
  for (int attempt = 0; attempt < 6; ++attempt) {
    SambaPlanner planner = {.graph = graph,
                            .machine = machine,
                            .ags = (uint32_t)machine->ag_count,
                            .all_pcus = usable.pcus};
    planner.tries_beside = options && options->tries_beside;
    planner.sum_parts = options ? options->sum_parts : 0;
    planner.carries_sums = options && options->carries_sums;
    planner.loads_apart = options && options->loads_apart;
    planner.rank = options ? options->rank : 0;
    planner.searches = options ? options->searches : NULL;
    planner.pcus = usable.pcus / divisor;
    if (attempt > 1) /* PMUs run out first */
      planner.pcus -= planner.pcus * (uint32_t)(attempt - 1) / 6;
    planner.pmus = usable.pmus - usable.pmus * (uint32_t)attempt / 8;
    planner.units = usable.together;
    planner.pcus = planner.pcus ? planner.pcus : 1;
    planner.pmus = planner.pmus ? planner.pmus : 1;
    status = sambaStatusAnnotate(planAll(&planner), "section %s", graph->name ? graph->name : "");
    bool planned = !status;
    if (planned)
      status = emitSection(graph, machine, arena, out_section);
    bool again = planned && status && giveUp(&planner);
    if (options && options->work)
      *options->work += planner.work;
    sambaArenaDestroy(&planner.scratch);
    if (!first) {
      first = status;
    } else if (status) {
      sambaStatusFree(status);
      status = first;
    } else {
      sambaStatusFree(first);
    }
    if (!again)
      break;
  }

  return status;
}
