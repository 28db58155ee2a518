/* What planning and lowering refuse, each text once: mappings and sections made for it. */
#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const SambaDType F = SAMBA_DTYPE_F32;

static SambaMachine machineOf(const char *name) { return *sambaMachineFind(sambaStringRef(name)); }

/* An elementwise stage over `rank` dimensions from one tensor into another; the identity,
 * negated. */
static uint32_t addNegate(SambaStageGraph *graph, uint32_t from, SambaTensorRole role, bool copy) {
  const SambaStageTensor source = graph->tensors[from];
  uint32_t to = addTensor(graph, role, source.dtype, source.rank, source.dims);
  SambaStage stage = {.name = "point", .layer = "", .dim_count = source.rank, .operand_count = 1};

  stage.operands[0] = (SambaStageOperand){.tensor = from, .index_operand = SAMBA_NO_INDEX};
  stage.output = (SambaStageOperand){.tensor = to, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t d = 0; d < source.rank; ++d) {
    stage.extents[d] = source.dims[d];
    stage.operands[0].axes[d].coefficients[d] = stage.output.axes[d].coefficients[d] = 1;
  }

  stage.ops = SAMBA_ARENA_NEW(graph->arena, SambaLaneOp);
  *stage.ops = (SambaLaneOp){.opcode = SAMBA_LANE_NEG, .type = SAMBA_DTYPE_F32};
  stage.op_count = copy ? 0 : 1;
  stage.result = copy ? 0 : 1;
  sambaStageGraphAddStage(graph, &stage);

  return to;
}

/* Tiles of all stages whole, each its own group. */
static void mapWhole(SambaStageGraph *graph) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    SambaMapping *mapping = &graph->mappings[s];
    *mapping = (SambaMapping){.dim_count = stage->dim_count, .group = s};
    for (uint32_t d = 0; d < stage->dim_count; ++d) {
      mapping->tile[d] = stage->extents[d];
      mapping->unroll[d] = 1;
      mapping->order[d] = d;
    }
  }
}

static void expectLower(SambaStageGraph *graph, const SambaMachine *machine, SambaStatusCode code,
                        const char *text) {
  SambaSection *section;
  SambaStatus status = sambaCodegenSection(graph, machine, graph->arena, &section);
  if (sambaStatusGetCode(status) != code || !strstr(sambaStatusGetMessage(status), text))
    fail_msg("expected '%s', got '%s'", text, sambaStatusGetMessage(status));
  sambaStatusFree(status);
}

static void expectPlan(SambaStageGraph *graph, const SambaMachine *machine, const char *text) {
  SambaStatus status = sambaPlanTiles(graph, machine, NULL);
  if (sambaStatusGetCode(status) != SAMBA_EXHAUSTED || !strstr(sambaStatusGetMessage(status), text))
    fail_msg("expected '%s', got '%s'", text, sambaStatusGetMessage(status));
  sambaStatusFree(status);
}

/* x -> u -> y over 8x12, mapped whole. */
static void makeChain(SambaStageGraph *graph, SambaArena *arena, bool copy) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  uint32_t x = addTensor(graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){8, 12});
  addNegate(graph, addNegate(graph, x, SAMBA_TENSOR_INTERMEDIATE, copy), SAMBA_TENSOR_RESULT,
            false);
  mapWhole(graph);
}

static void groupsAreChains(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");

  makeChain(&graph, &arena, false);
  graph.stages[1].operands[0].axes[0].coefficients[0] = -1; /* upside down: not point by point */
  graph.stages[1].operands[0].axes[0].constant = 7;
  graph.mappings[1].group = 0;
  expectLower(
      &graph, &machine, SAMBA_INVALID,
      "but are not elementwise stages behind one of them of which only the last's result is read "
      "elsewhere");

  /* A chain of additions brings in one tensor after the other. */
  graph = (SambaStageGraph){.arena = &arena, .name = "long"};
  uint32_t sum = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 1, (int64_t[]){16});
  for (uint32_t i = 0; i < 33; ++i) {
    sum = addNegate(&graph, sum, i == 32 ? SAMBA_TENSOR_RESULT : SAMBA_TENSOR_INTERMEDIATE, false);
    SambaStage *stage = &graph.stages[i];
    stage->operands[1] = stage->operands[0];
    stage->operands[1].tensor = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 1, (int64_t[]){16});
    stage->operand_count = 2;
    stage->ops[0] = (SambaLaneOp){.opcode = SAMBA_LANE_ADD, .type = F, .operands = {0, 1}};
    stage->result = 2;
  }

  expectPlan(&graph, &machine, "brings its group to more than 32 operands");
  sambaArenaDestroy(&arena);
}

static void copiesFollowTheirSource(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("sn40l");
  SambaStageGraph graph = {.arena = &arena, .name = "g"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){8, 12});
  addNegate(&graph, x, SAMBA_TENSOR_RESULT, true);
  graph.stages[0].operands[0].axes[0].coefficients[0] = 0; /* row 0 for all rows */
  mapWhole(&graph);
  graph.mappings[0].tile[0] = 1;
  graph.mappings[0].unroll[0] = 4;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "a copy cannot be unrolled over a dimension that its source does not have");
  sambaArenaDestroy(&arena);
}

/* Row r of x to row index[r] of y. */
static void addScatter(SambaStageGraph *graph, uint32_t x) {
  uint32_t index = addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_I32, 1, (int64_t[]){8});
  uint32_t y = addTensor(graph, SAMBA_TENSOR_RESULT, F, 2, (int64_t[]){5, 12});
  SambaStage stage = {
      .name = "scatter", .layer = "", .dim_count = 2, .extents = {8, 12}, .operand_count = 2};
  stage.operands[0] = (SambaStageOperand){.tensor = x, .index_operand = SAMBA_NO_INDEX};
  stage.operands[1] = (SambaStageOperand){.tensor = index, .index_operand = SAMBA_NO_INDEX};
  stage.output = (SambaStageOperand){.tensor = y, .index_operand = 1};
  stage.operands[0].axes[0].coefficients[0] = stage.operands[0].axes[1].coefficients[1] =
      stage.operands[1].axes[0].coefficients[0] = stage.output.axes[1].coefficients[1] = 1;
  sambaStageGraphAddStage(graph, &stage);
}

static void indexedStoresStandAlone(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("sn40l");
  SambaStageGraph graph = {.arena = &arena, .name = "g"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){8, 12});

  addScatter(&graph, x);
  mapWhole(&graph);
  graph.mappings[0].tile[0] = 2;
  graph.mappings[0].unroll[0] = 4;
  expectLower(
      &graph, &machine, SAMBA_INVALID,
      "an indexed store takes its indices in order, so what they depend on is not unrolled");
  graph.mappings[0].tile[0] = 8;
  graph.mappings[0].unroll[0] = graph.mappings[0].phases = 1;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "mapping of stage 0 (scatter): a store by index does not work in phases");
  graph = (SambaStageGraph){.arena = &arena, .name = "g"};
  x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){8, 12});
  addScatter(&graph, addNegate(&graph, x, SAMBA_TENSOR_INTERMEDIATE, false));
  mapWhole(&graph);
  expectLower(&graph, &machine, SAMBA_UNSUPPORTED,
              "stage 1 (scatter) stores by index; an indexed store is a section of its own");
  sambaArenaDestroy(&arena);
}

/* A product, and a tensor of one element. */
static void phasesAreOfStreams(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("sn40l");
  for (int product = 0; product < 2; ++product) {
    SambaStageGraph graph = {.arena = &arena, .name = "g"};
    int64_t size = product ? 512 : 1;
    uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){size, size});
    if (product)
      addMatmul(&graph, x, x, false, SAMBA_TENSOR_RESULT, F);
    else
      addNegate(&graph, x, SAMBA_TENSOR_RESULT, false);
    SambaStatus status = sambaPlanTiles(&graph, &machine, &(SambaPlanOptions){.loads_apart = true});
    assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
    assert_non_null(
        strstr(sambaStatusGetMessage(status), "the section cannot load and store in phases"));
    sambaStatusFree(status);
  }
  sambaArenaDestroy(&arena);
}

static void pipelinesAgree(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");

  makeChain(&graph, &arena, false);
  graph.mappings[0].pipeline_count = 1;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "stage 1 (point) has not a pipeline dimension, but stage 0 (point) has");
  graph.mappings[1].pipeline_count = 1;
  graph.mappings[0].tile[0] = 4;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "1 x 1 tiles of 8 along pipeline dimension 0, but the section has 1 x 2 of 4");
  graph.mappings[1].tile[0] = 4;
  graph.stages[1].operands[0].axes[0].coefficients[0] = -1;
  graph.stages[1].operands[0].axes[0].constant = 7;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "does not run one axis with the section's pipeline dimension 0 point by point, as "
              "every tensor between "
              "stages must");
  sambaArenaDestroy(&arena);
}

static void tensorsBetweenStages(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");

  makeChain(&graph, &arena, false);
  graph.stages[1].operands[1] = graph.stages[1].operands[0];
  graph.tensors[0].dtype = graph.tensors[1].dtype = SAMBA_DTYPE_I32;
  graph.stages[1].operands[1].tensor = 0;
  graph.stages[1].operand_count = 2;
  graph.stages[1].operands[0].index_operand = 1;
  graph.stages[1].result = 0;
  graph.stages[1].op_count = 0;
  graph.tensors[2].dtype = SAMBA_DTYPE_I32;
  expectLower(&graph, &machine, SAMBA_UNSUPPORTED,
              "reads by index from a tensor made in the same section; indexed reads need it in "
              "memory, so the sections "
              "must be cut between them");
  makeChain(&graph, &arena, false);
  graph.tensors[2].role = SAMBA_TENSOR_INTERMEDIATE;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "stage 1 (point) writes tensor 2, which nobody reads and which is no result");

  /* Five stages write fifths of one tensor that a sixth reads. */
  graph = (SambaStageGraph){.arena = &arena, .name = "g"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 1, (int64_t[]){4});
  uint32_t whole = 0;

  for (uint32_t i = 0; i < 5; ++i) {
    uint32_t part = addNegate(&graph, x, SAMBA_TENSOR_INTERMEDIATE, false);
    whole = i ? whole : part;
    graph.stages[i].output.tensor = whole;
    graph.stages[i].output.axes[0].constant = 4 * i;
  }

  graph.tensors[whole].dims[0] = 20;
  addNegate(&graph, whole, SAMBA_TENSOR_RESULT, false);
  mapWhole(&graph);
  expectLower(&graph, &machine, SAMBA_EXHAUSTED,
              "needs 5 vector inputs at its buffer, one for each stage that writes it, but a PMU "
              "of sn40l has 4\n  note: the first stage that writes it is stage 0 (point)\n  note: "
              "cut the section before the stages that read it");
  sambaArenaDestroy(&arena);
}

static void levelsArePositionsOfLoops(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");
  SambaSection *section;

  makeChain(&graph, &arena, false);
  graph.mappings[1].operand_level[0] = 3;
  expectLower(
      &graph, &machine, SAMBA_INVALID,
      "mapping of stage 1 (point): operand 0 has level 3, but there are 2 tile loops\n  note: "
      "a level is the position of the outermost tile loop that a slot of the operand's "
      "buffer covers, or 2 for none");
  graph.mappings[1].operand_level[0] = 2;
  assert_null(sambaCodegenSection(&graph, &machine, &arena, &section));
  sambaArenaDestroy(&arena);
}

static void buffersAndCountersHaveLimits(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");

  makeChain(&graph, &arena, true);
  machine.pmu_bytes = 1024;
  graph.mappings[0].operand_depth[0] = graph.mappings[1].operand_depth[0] = 3;
  graph.mappings[0].tile[0] = graph.mappings[1].tile[0] = 4;
  graph.mappings[0].pipeline_count = graph.mappings[1].pipeline_count = 1;
  graph.mappings[1].operand_depth[0] = 6;
  expectLower(&graph, &machine, SAMBA_EXHAUSTED,
              "needs 1152 bytes (6 slots of 48 elements of f32), but a PMU of sn40l has 1024\n  "
              "note: map its stage with smaller tiles or fewer slots");
  machine = machineOf("sn40l");
  machine.unit_counters = 1;
  makeChain(&graph, &arena, false);
  graph.mappings[0].tile[0] = graph.mappings[1].tile[0] = 4;
  graph.mappings[0].tile[1] = graph.mappings[1].tile[1] = 3;
  expectLower(
      &graph, &machine, SAMBA_EXHAUSTED,
      "counters, but a unit of sn40l has 1\n  note: map its stage with fewer tiled dimensions");
  graph.stages[0].layer = graph.stages[1].layer = "fc1";
  expectLower(&graph, &machine, SAMBA_EXHAUSTED, " works for layer 'fc1'\n  note: map its stage");
  sambaArenaDestroy(&arena);
}

static void generatorsAndFlowsHaveLimits(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("sn40l");
  SambaStageGraph graph = {.arena = &arena, .name = "g"};

  /* y[j, i] = -x[i, j]: copies along i lie side by side in y, but they are not the last dimension
   * with copies. */
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){64, 64});
  addNegate(&graph, x, SAMBA_TENSOR_RESULT, false);
  graph.stages[0].output.axes[0].coefficients[0] = graph.stages[0].output.axes[1].coefficients[1] =
      0;
  graph.stages[0].output.axes[0].coefficients[1] = graph.stages[0].output.axes[1].coefficients[0] =
      1;
  mapWhole(&graph);
  graph.mappings[0].tile[0] = graph.mappings[0].tile[1] = 8;
  graph.mappings[0].unroll[0] = graph.mappings[0].unroll[1] = 8;
  machine.ag_count = 2;
  machine.flows_per_lane = 8;
  expectLower(&graph, &machine, SAMBA_EXHAUSTED,
              "address generators for its 2 operands and results in memory, but sn40l has 2\n  "
              "note: tensor 0 needs the most, 64 to load it at stage 0 (point)\n  "
              "note: cut the section, so that each part reads and writes fewer tensors");
  sambaArenaDestroy(&arena);
}

/* y[i] = sum over r, s of x[i, r, s]. */
static void makeSum(SambaStageGraph *graph, SambaArena *arena, bool lanes) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  uint32_t x = addTensor(graph, SAMBA_TENSOR_ARGUMENT, F, 3, (int64_t[]){4, 6, 24});
  uint32_t y = addTensor(graph, SAMBA_TENSOR_RESULT, F, 1, (int64_t[]){4});
  SambaStage stage = {.name = "sum",
                      .layer = "",
                      .dim_count = 3,
                      .extents = {4, 6, 24},
                      .reduced = {false, true, true}};
  stage.operand_count = 1;
  stage.operands[0] = (SambaStageOperand){.tensor = x, .index_operand = SAMBA_NO_INDEX};
  stage.output = (SambaStageOperand){.tensor = y, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t d = 0; d < 3; ++d)
    stage.operands[0].axes[d].coefficients[d] = 1;
  stage.output.axes[0].coefficients[0] = 1;
  stage.lane_reduce = lanes;
  stage.ops = SAMBA_ARENA_NEW(arena, SambaLaneOp);
  *stage.ops = (SambaLaneOp){.opcode = SAMBA_LANE_REDUCE_ADD, .type = F};
  stage.op_count = 1;
  stage.result = 1;
  sambaStageGraphAddStage(graph, &stage);
  mapWhole(graph);
}

static void sumsStayInOrder(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaMachine machine = machineOf("sn40l");

  makeSum(&graph, &arena, false);
  graph.mappings[0].tile[1] = 2;
  graph.mappings[0].tile[2] = 12;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "reduced dimension 2: tile 12; it must be the whole extent 24, because an outer "
              "reduced dimension is tiled");
  makeSum(&graph, &arena, true);
  graph.mappings[0].tile[1] = 1;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "24 reduced points per firing are no multiple of the 16 lanes that reduce together");
  makeSum(&graph, &arena, false);
  graph.mappings[0].order[0] = 1;
  graph.mappings[0].order[1] = 0;
  expectLower(&graph, &machine, SAMBA_INVALID,
              "must stay at position 1 of the loop order: sums are in order");
  makeSum(&graph, &arena, false);
  memcpy(graph.mappings[0].order, (uint32_t[]){1, 2, 0}, 3 * sizeof(uint32_t));
  expectLower(&graph, &machine, SAMBA_UNSUPPORTED,
              "reduced dimension 1 is the outermost loop, so the sums go through a PMU; that is "
              "for a contraction on the array with nothing joined to it, whose result is stored "
              "and not read in the section");
  makeSum(&graph, &arena, false);
  graph.mappings[0].tile[0] = 0;
  expectLower(&graph, &machine, SAMBA_INVALID, "mapping of stage 0 (sum): dimension 0: tile 0");
  sambaArenaDestroy(&arena);
}

static void sumsInPmusHaveLimits(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("sn40l");
  SambaStageGraph graph = {.arena = &arena, .name = "product"};
  Random random = {1};

  assert_string_equal(graphKinds[1].name, "large matmul");
  graphKinds[1].make(&graph, &random);
  graph.mappings[0] = (SambaMapping){.dim_count = 3,
                                     .order = {2, 0, 1},
                                     .tile = {16, 16, 1},
                                     .unroll = {1, 1, 1},
                                     .operand_level = {1, 1}};
  machine.pmu_bytes = 1024; /* a tile each, and more of them than a port has flows */
  machine.flows_per_lane = 2;
  expectLower(&graph, &machine, SAMBA_EXHAUSTED,
              "bytes for each copy, more than the PMUs that one PCU of sn40l reaches have");
  sambaArenaDestroy(&arena);
}

static void plansHaveLimits(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("tiny");
  SambaStageGraph graph = {.arena = &arena, .name = "chain"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, F, 2, (int64_t[]){8, 8});

  for (uint32_t i = 0; i < 9; ++i) /* transposed, so that they do not become one group */
    for (uint32_t d = 0; d < 1; ++d) {
      x = addNegate(&graph, x, i == 8 ? SAMBA_TENSOR_RESULT : SAMBA_TENSOR_INTERMEDIATE, false);
      SambaStageOperand *operand = &graph.stages[i].operands[0];
      operand->axes[0].coefficients[0] = operand->axes[1].coefficients[1] = 0;
      operand->axes[0].coefficients[1] = operand->axes[1].coefficients[0] = 1;
      operand->axes[0].constant = 0;
      operand->guarded = true;
    }
  expectPlan(&graph, &machine, "the section needs at least 9 PCUs, but tiny has 8 to give");
  graph.stage_count = 8; /* 8 PCUs, and a PMU between each two, and one reserved of all 16 */
  graph.tensors[8].role = SAMBA_TENSOR_RESULT;
  graph.tensor_count = 9;
  machine.reserve_units_percent = 20;
  expectPlan(&graph, &machine,
             "the section needs 8 PCUs and 7 PMUs, but tiny has 8 and 8 to give, 12 together");
  sambaArenaDestroy(&arena);
}

static void smallestTilesMayNotFit(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = machineOf("tiny");
  SambaStageGraph graph;

  makeSum(&graph, &arena, true);
  graph.mappings[0].dim_count = 0;
  graph.stages[0].extents[2] = graph.tensors[0].dims[2] =
      100003; /* prime: no chunk of whole lanes, and 400 KB a row */
  graph.stages[0].operands[0].axes[0].coefficients[0] = 1;
  machine.fifo_depth = 16;
  graph.stages[0].operands[0].axes[2].coefficients[2] =
      -1; /* backwards, so it must pass a buffer */
  graph.stages[0].operands[0].axes[2].constant = 100002;
  expectPlan(
      &graph, &machine,
      "stage 0 (sum) finds no mapping: its smallest tiles and buffers exceed what is left of tiny");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(groupsAreChains),
                                     cmocka_unit_test(copiesFollowTheirSource),
                                     cmocka_unit_test(indexedStoresStandAlone),
                                     cmocka_unit_test(phasesAreOfStreams),
                                     cmocka_unit_test(pipelinesAgree),
                                     cmocka_unit_test(tensorsBetweenStages),
                                     cmocka_unit_test(levelsArePositionsOfLoops),
                                     cmocka_unit_test(buffersAndCountersHaveLimits),
                                     cmocka_unit_test(generatorsAndFlowsHaveLimits),
                                     cmocka_unit_test(sumsStayInOrder),
                                     cmocka_unit_test(sumsInPmusHaveLimits),
                                     cmocka_unit_test(plansHaveLimits),
                                     cmocka_unit_test(smallestTilesMayNotFit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
