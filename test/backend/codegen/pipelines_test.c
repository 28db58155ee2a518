/* Pipelines along several loops, mapped by hand and at random: executed and compared bit for bit
 * with the naive evaluation of their stages. */
#include "backend/machine/shipped.h"
#include "test/backend/execute.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* The loops of a pipeline, in the dimensions that all stages of a graph have first. */
typedef struct Loops {
  uint32_t count, dims[3];
  int64_t tile[3];
  uint32_t unroll[3];
} Loops;

/* One to three of the dimensions in any order, small tiles, few replicas. */
static Loops loopsAtRandom(const SambaStage *stage, Random *random) {
  Loops loops = {.count = (uint32_t)randomIn(random, 1, 3), .dims = {0, 1, 2}};
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t other = (uint32_t)randomIn(random, i, 2), dim = loops.dims[other];
    int64_t extent = stage->extents[dim];
    loops.dims[other] = loops.dims[i];
    loops.dims[i] = dim;
    loops.tile[i] = randomIn(random, 1, extent > 20 ? 20 : extent);
    loops.unroll[i] = (uint32_t)randomIn(random, 1, extent > 3 ? 3 : extent);
  }
  return loops;
}

/* A legal mapping of one stage in the pipeline. */
static void mapInPipeline(const SambaStage *stage, const Loops *loops, Random *random,
                          SambaMapping *mapping) {
  uint32_t used = 0;
  mapping->dim_count = stage->dim_count;
  mapping->pipeline_count = loops->count;
  for (uint32_t d = 0; d < stage->dim_count; ++d) {
    int64_t extent = stage->extents[d];
    mapping->tile[d] = stage->reduced[d] ? extent : randomIn(random, 1, extent);
    mapping->unroll[d] = stage->reduced[d] || extent < 2 ? 1 : (uint32_t)randomIn(random, 1, 2);
  }
  for (uint32_t i = 0; i < loops->count; ++i) {
    uint32_t dim = loops->dims[i];
    mapping->order[i] = mapping->pipeline_dims[i] = dim;
    mapping->tile[dim] = loops->tile[i];
    mapping->unroll[dim] = loops->unroll[i];
    used |= 1u << dim;
  }
  for (uint32_t d = 0, at = loops->count; d < stage->dim_count; ++d)
    if (!(used >> d & 1))
      mapping->order[at++] = d;
  for (uint32_t i = 0; i < stage->operand_count; ++i) {
    mapping->operand_level[i] = (uint32_t)randomIn(random, 0, stage->dim_count);
    mapping->operand_depth[i] = (uint32_t)randomIn(random, 1, 4);
    mapping->operand_joined[i] = (uint32_t)randomIn(random, 0, 2);
  }
}

/* With small PMUs several take the slices of a tensor in turn, or there is no room. */
static void runPipelines(int64_t pmu_bytes, uint32_t *ran) {
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  uint32_t heads = 0;
  machine.pmu_bytes = pmu_bytes;
  while (strcmp(graphKinds[heads].name, "heads") != 0)
    ++heads;

  for (uint64_t seed = 1; seed <= 80; ++seed) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = "heads"};
    Random random = {seed * 7907};
    graphKinds[heads].make(&graph, &random);
    Loops loops = loopsAtRandom(&graph.stages[0], &random);
    for (uint32_t s = 0; s < graph.stage_count; ++s) {
      graph.mappings[s] = (SambaMapping){.group = s};
      mapInPipeline(&graph.stages[s], &loops, &random, &graph.mappings[s]);
    }
    SambaStatus status = executeGraph(&graph, &machine, seed);
    if (status && sambaStatusGetCode(status) != SAMBA_EXHAUSTED)
      fail_msg("seed %llu: %s", (unsigned long long)seed, sambaStatusGetMessage(status));
    *ran += status == NULL;
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
}

static void pipelinesOfSeveralLoopsComputeTheSame(void **state) {
  (void)state;
  uint32_t large = 0, small = 0;
  runPipelines(524288, &large);
  assert_int_equal(large, 80);
  runPipelines(4096, &small);
  assert_in_range(small, 15, 80);
}

/* The loop over heads is one of the second group alone, so that buffers of the queries have all
 * heads of a slice. Replicas along that loop share them like copies along the rows: each has a read
 * port of its own, because all of them use the same long tokens of the keys. */
static void replicasOfInnerLoopsShareBuffers(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "scores"};
  makeScoresOfHeads(&graph);
  graph.mappings[0] = (SambaMapping){.dim_count = 4,
                                     .group = 0,
                                     .tile = {1, 32, 2, 32},
                                     .unroll = {1, 1, 1, 1},
                                     .order = {0, 1, 2, 3},
                                     .pipeline_count = 1,
                                     .operand_level = {1},
                                     .operand_depth = {2}};
  graph.mappings[1] = (SambaMapping){.dim_count = 5,
                                     .group = 1,
                                     .tile = {1, 1, 16, 40, 32},
                                     .unroll = {1, 2, 2, 1, 1},
                                     .order = {0, 1, 2, 3, 4},
                                     .pipeline_count = 2,
                                     .pipeline_dims = {0, 1},
                                     .operand_level = {1, 2},
                                     .operand_depth = {2, 2}};
  SambaStatus status = executeGraph(&graph, sambaMachineFind(sambaStringRef("sn40l")), 1);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pipelinesOfSeveralLoopsComputeTheSame),
                                     cmocka_unit_test(replicasOfInnerLoopsShareBuffers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
