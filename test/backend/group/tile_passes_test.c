/* How a tile is cut into passes, and what a PCU takes, holds and is sent again: worked out by hand
 * from what the machines have. */
#include "backend/group/tile_gather.h"
#include "backend/group/tile_nest.h"
#include "backend/group/tile_sums.h"
#include "backend/machine/shipped.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* A stage under test: graph, its only group, and the nest of a mapping. */
typedef struct Sample {
  SambaArena arena;
  SambaStageGraph graph;
  SambaStage stage;
  SambaGroups groups;
  SambaTileNest nest;
} Sample;

static const SambaMachine *sn40l(void) { return sambaMachineFind(sambaStringRef("sn40l")); }

static void start(Sample *sample, uint32_t dims, const int64_t *extents, uint32_t parallel) {
  *sample = (Sample){.graph.name = "sample"};
  sample->graph.arena = &sample->arena;
  sample->stage = (SambaStage){
      .name = "stage", .layer = "", .dim_count = dims, .output.index_operand = SAMBA_NO_INDEX};
  for (uint32_t dim = 0; dim < dims; ++dim) {
    sample->stage.extents[dim] = extents[dim];
    sample->stage.reduced[dim] = dim >= parallel;
  }
}
#define START(sample, parallel, ...)                                                               \
  start(sample, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__},      \
        parallel)

/* A tensor whose axes are the dimensions `of`, in this order. */
static SambaStageOperand tensorOver(Sample *sample, SambaTensorRole role, SambaDType dtype,
                                    uint32_t rank, const uint32_t *of) {
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  int64_t dims[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < rank; ++axis) {
    dims[axis] = sample->stage.extents[of[axis]];
    map.axes[axis].coefficients[of[axis]] = 1;
  }
  map.tensor = addTensor(&sample->graph, role, dtype, rank, dims);
  return map;
}
#define OVER(sample, role, dtype, ...)                                                             \
  tensorOver(sample, SAMBA_TENSOR_##role, SAMBA_DTYPE_##dtype,                                     \
             sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static uint32_t addOperand(Sample *sample, SambaStageOperand operand) {
  sample->stage.operands[sample->stage.operand_count] = operand;
  return sample->stage.operand_count++;
}

/* Adds the stage with one operation per pair of operands, and builds its group. */
static void finish(Sample *sample, SambaLaneOpcode opcode, SambaDType type,
                   SambaStageOperand output) {
  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(&sample->arena, SambaLaneOp, SAMBA_MAX_STAGE_OPERANDS);
  SambaStage *stage = &sample->stage;
  for (uint32_t i = 1; i < stage->operand_count; ++i) {
    uint32_t before = i == 1 ? 0 : stage->operand_count + i - 2;
    ops[stage->op_count++] = (SambaLaneOp){.opcode = (uint8_t)opcode,
                                           .type = (uint8_t)type,
                                           .operands = {(uint16_t)before, (uint16_t)i}};
  }
  stage->ops = ops;
  stage->output = output;
  stage->result = stage->operand_count + stage->op_count - 1;
  sambaStageGraphAddStage(&sample->graph, stage);
  assert_null(sambaStageGraphCheck(&sample->graph));
  assert_null(sambaGroupsBuild(&sample->graph, sn40l(), &sample->arena, &sample->groups));
}

/* The nest of these tiles in the order of the dimensions, without copies. */
static const SambaTileNest *nestOf(Sample *sample, const int64_t *tile) {
  uint32_t order[SAMBA_MAX_STAGE_DIMS], unroll[SAMBA_MAX_STAGE_DIMS];
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
    order[dim] = dim, unroll[dim] = 1;
  sambaTileNestFill(&sample->graph, sample->groups.groups[0], sn40l(), 0, order, tile, unroll,
                    &sample->nest);
  sambaTileNestSettleTokens(&sample->nest);
  return &sample->nest;
}
#define NEST(sample, ...) nestOf(sample, (int64_t[]){__VA_ARGS__})

static void makeMatmul(Sample *sample, SambaDType dtype) {
  START(sample, 2, 4096, 4096, 512);
  addOperand(sample, tensorOver(sample, SAMBA_TENSOR_ARGUMENT, dtype, 2, (uint32_t[]){0, 2}));
  addOperand(sample, tensorOver(sample, SAMBA_TENSOR_ARGUMENT, dtype, 2, (uint32_t[]){2, 1}));
  bool floats = sambaDTypeIsFloat(dtype);
  finish(sample, SAMBA_LANE_MAC, floats ? SAMBA_DTYPE_F32 : SAMBA_DTYPE_I32,
         floats ? OVER(sample, RESULT, F32, 0, 1) : OVER(sample, RESULT, I32, 0, 1));
}

/* 16 x 16 at most, in equal parts of the tile; steps of k outside. */
static void arraysTakePasses(void **state) {
  (void)state;
  static const struct {
    int64_t tile[3], pass[2];
  } cases[] = {{{16, 16, 512}, {16, 16}}, {{64, 32, 512}, {16, 16}}, {{48, 40, 512}, {16, 10}},
               {{49, 2, 512}, {7, 2}},    {{13, 17, 512}, {13, 1}},  {{8, 128, 64}, {8, 16}}};
  Sample sample;
  makeMatmul(&sample, SAMBA_DTYPE_BF16);

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const SambaTileNest *nest = nestOf(&sample, cases[i].tile);
    const int64_t *pass = cases[i].pass;
    assert_int_equal(nest->pass[0], pass[0]);
    assert_int_equal(nest->pass[1], pass[1]);
    assert_int_equal(nest->pass[2], cases[i].tile[2]);
    assert_int_equal(sambaTileNestPasses(nest),
                     cases[i].tile[0] / pass[0] * (cases[i].tile[1] / pass[1]));
    assert_int_equal(nest->inner[0], 2);
    assert_int_equal(nest->inner[1], 0);
    assert_int_equal(nest->inner[2], 1);
    assert_int_equal(nest->token_elements[0], pass[0] * cases[i].tile[2]);
    assert_int_equal(nest->token_elements[1], pass[1] * cases[i].tile[2]);
    assert_int_equal(sambaTileNestPassElements(nest), pass[0] * pass[1]);
  }
  sambaArenaDestroy(&sample.arena);
}

/* The sums of a pass are whole before the next pass begins: its loops stand before those over what
 * is reduced. */
static void passesComeBeforeChunks(void **state) {
  (void)state;
  Sample sample;
  makeMatmul(&sample, SAMBA_DTYPE_BF16);
  const SambaTileNest *nest = NEST(&sample, 32, 64, 128);
  static const SambaTileLoop loops[] = {{0, 128, 32}, {1, 64, 64}, {0, 2, 16},
                                        {1, 4, 16},   {2, 1, 512}, {2, 4, 128}};

  assert_int_equal(sambaTileNestLoops(nest), 6);
  for (uint32_t position = 0; position < 6; ++position) {
    SambaTileLoop loop = sambaTileNestLoop(nest, position);
    assert_int_equal(loop.dim, loops[position].dim);
    assert_int_equal(loop.trips, loops[position].trips);
    if (loop.trips > 1)
      assert_int_equal(loop.step, loops[position].step);
  }
  assert_int_equal(sambaTileNestOutputLevel(nest), 5);
  assert_int_equal(sambaTileNestChainLevel(nest, 2), 2); /* a slot holds all chunks of its tile */
  assert_int_equal(sambaTileNestChainLevel(nest, 3), 6);
  sambaArenaDestroy(&sample.arena);
}

/* Rows of several dimensions: as many as fill the array best, along the rows of the result
 * first. */
static void dimensionsShareTheRows(void **state) {
  (void)state;
  static const struct {
    int64_t tile[5], pass[3];
  } cases[] = {{{2, 7, 7, 16, 64}, {2, 1, 7}},
               {{1, 4, 28, 16, 64}, {1, 4, 4}},
               {{1, 2, 14, 16, 64}, {1, 1, 14}},
               {{16, 7, 7, 16, 64}, {16, 1, 1}}};
  Sample sample;
  START(&sample, 4, 64, 28, 28, 256, 64);
  addOperand(&sample, OVER(&sample, ARGUMENT, BF16, 0, 1, 2, 4));
  addOperand(&sample, OVER(&sample, ARGUMENT, BF16, 4, 3));
  finish(&sample, SAMBA_LANE_MAC, SAMBA_DTYPE_F32, OVER(&sample, RESULT, F32, 0, 1, 2, 3));

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const SambaTileNest *nest = nestOf(&sample, cases[i].tile);
    for (int dim = 0; dim < 3; ++dim)
      assert_int_equal(nest->pass[dim], cases[i].pass[dim]);
    assert_int_equal(nest->pass[3], 16);
  }
  sambaArenaDestroy(&sample.arena);
}

/* 16 registers of 16 sums: lanes walk 256 points at most, and then nothing else is held. */
static void sumsFitTheRegisters(void **state) {
  (void)state;
  static const struct {
    int64_t tile[3], pass, registers;
  } cases[] = {{{2, 1024, 512}, 256, 0},
               {{2, 192, 512}, 192, 4},
               {{2, 48, 512}, 48, 13},
               {{1, 1024, 1}, 256, 0}, /* the sums go on over firings */
               {{2, 514, 512}, 2, 15}};
  Sample sample;
  makeMatmul(&sample, SAMBA_DTYPE_I32);
  assert_false(sample.groups.groups[0]->systolic);

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const SambaTileNest *nest = nestOf(&sample, cases[i].tile);
    assert_int_equal(nest->pass[1], cases[i].pass);
    assert_int_equal(nest->pass[0], cases[i].tile[0]);
    assert_int_equal(nest->registers, cases[i].registers);
  }
  sambaArenaDestroy(&sample.arena);
}

/* x + row: what is used again for each row is held while it fits the registers, 16 values of f32
 * each, and sent again with each row where it does not. */
static void smallOperandsAreHeld(void **state) {
  (void)state;
  Sample sample;
  START(&sample, 2, 64, 1024);
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 0, 1));
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 1));
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 0));
  finish(&sample, SAMBA_LANE_ADD, SAMBA_DTYPE_F32, OVER(&sample, RESULT, F32, 0, 1));

  /* One register holds the column over the tiles of a row, so 15 are left. */
  const SambaTileNest *nest = NEST(&sample, 8, 240);
  assert_int_equal(nest->streamed[0], 3);
  assert_int_equal(nest->streamed[1], 2);
  assert_int_equal(nest->token_elements[1], 240);
  assert_int_equal(nest->token_level[1], 2); /* of the loops over rows and columns */
  assert_int_equal(nest->streamed[2], 1);    /* each value is broadcast along its row */
  sample.nest.level[0] = 2; /* no slot around its tokens: dense, each element once */
  assert_true(sambaTileNestIsDirect(nest, 0));

  nest = NEST(&sample, 8, 512);
  assert_int_equal(nest->streamed[1], 3);
  assert_int_equal(nest->token_elements[1], 8 * 512);
  sample.nest.level[1] = 2;
  assert_false(sambaTileNestIsDirect(nest, 1)); /* a PMU sends it again */

  nest = NEST(&sample, 8, 1024); /* of a row that is whole there are no others to hold */
  assert_int_equal(nest->streamed[1], 3);
  assert_int_equal(nest->token_level[1], 1);
  sambaArenaDestroy(&sample.arena);
}

/* Of two that are used again but do not fit together, the smaller is held. */
static void theSmallestIsHeldFirst(void **state) {
  (void)state;
  Sample sample;
  START(&sample, 3, 16, 16, 16);
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 0, 1, 2));
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 1, 2)); /* 16 vectors */
  addOperand(&sample, OVER(&sample, ARGUMENT, F32, 2));    /* one */
  finish(&sample, SAMBA_LANE_ADD, SAMBA_DTYPE_F32, OVER(&sample, RESULT, F32, 0, 1, 2));

  const SambaTileNest *nest = NEST(&sample, 16, 16, 16);
  assert_int_equal(nest->streamed[2], 4);
  assert_int_equal(nest->streamed[1], 7);
  nest = NEST(&sample, 16, 15, 16); /* 15 vectors and one */
  assert_int_equal(nest->streamed[2], 4);
  assert_int_equal(nest->streamed[1], 6);
  sambaArenaDestroy(&sample.arena);
}

/* A gather whose order is that of its taker comes from memory; one in another order, or with
 * elements that are used again, comes through a PMU that holds a tile. */
static void gathersAreBufferedWhereTheOrderDiffers(void **state) {
  (void)state;
  for (int transposed = 0; transposed < 2; ++transposed) {
    Sample sample;
    START(&sample, 2, 32, 64);
    SambaStageOperand table = OVER(&sample, ARGUMENT, F32, 0, 1);
    table.index_operand = addOperand(&sample, OVER(&sample, ARGUMENT, I32, 0));
    table.index_axis = 0;
    table.axes[0].coefficients[0] = 0;
    uint32_t other = addOperand(&sample, OVER(&sample, ARGUMENT, F32, 0, 1));
    uint32_t gathered = addOperand(&sample, table);
    SambaLaneOp *op = SAMBA_ARENA_NEW(&sample.arena, SambaLaneOp);
    *op = (SambaLaneOp){.opcode = SAMBA_LANE_ADD,
                        .type = SAMBA_DTYPE_F32,
                        .operands = {(uint16_t)other, (uint16_t)gathered}};
    sample.stage.ops = op;
    sample.stage.op_count = 1;
    sample.stage.result = sample.stage.operand_count;
    sample.stage.output =
        transposed ? OVER(&sample, RESULT, F32, 1, 0) : OVER(&sample, RESULT, F32, 0, 1);
    sambaStageGraphAddStage(&sample.graph, &sample.stage);
    assert_null(sambaStageGraphCheck(&sample.graph));
    assert_null(sambaGroupsBuild(&sample.graph, sn40l(), &sample.arena, &sample.groups));

    const SambaTileGather gather = sambaTileNestGather(NEST(&sample, 8, 16), gathered);
    assert_int_equal(gather.buffered, transposed);
    assert_int_equal(gather.level, 2);
    assert_int_equal(gather.count, 2);
    assert_int_equal(gather.index_count, 1);
    assert_int_equal(gather.dims[0], 0); /* of the index, whatever the taker's order is */
    assert_int_equal(gather.points[0], 8);
    assert_int_equal(gather.points[1], 16);
    sambaArenaDestroy(&sample.arena);
  }
}

/* Rows are dealt to four copies while all of them get the same columns: with tokens that no FIFO
 * holds (16 vectors of 64 bytes) each copy's rows need a port of their own. */
static void largeTokensAreNotDealtBesideAMulticast(void **state) {
  (void)state;
  Sample sample;
  makeMatmul(&sample, SAMBA_DTYPE_BF16);
  const uint32_t order[] = {0, 1, 2}, rows[] = {4, 1, 1}, both[] = {4, 2, 1};
  const int64_t large[] = {16, 16, 512}, small[] = {16, 16, 32};
  const struct {
    const int64_t *tile;
    const uint32_t *unroll;
    uint32_t ports[2];
  } cases[] = {{large, rows, {4, 1}}, {large, both, {4, 2}}, {small, rows, {1, 1}}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaTileNest nest;
    sambaTileNestFill(&sample.graph, sample.groups.groups[0], sn40l(), 0, order, cases[i].tile,
                      cases[i].unroll, &nest);
    sambaTileNestSettleTokens(&nest);
    for (uint32_t operand = 0; operand < 2; ++operand)
      assert_int_equal(sambaTileNestReadPorts(&nest, operand), cases[i].ports[operand]);
  }
  sambaArenaDestroy(&sample.arena);
}

/* A source sends to eight copies at most: rows go to 64 columns of copies, columns to 16 rows. */
/* Copies along the first dimension get the same large tokens and send theirs in turn: FIFOs must
 * hold one. A copy alone, or copies along a dimension of all operands, wait for nobody. */
static void largeResultsDoNotMeetAMulticast(void **state) {
  (void)state;
  const uint32_t order[] = {0, 1, 2}, alone[] = {1, 1, 1}, first[] = {4, 1, 1},
                 second[] = {1, 2, 1};
  const int64_t tile[] = {1, 32, 128};
  const struct {
    const uint32_t *unroll;
    int64_t elements;
  } cases[] = {{alone, 4096}, {first, 512}, {second, 4096}};

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    Sample sample;
    START(&sample, 3, 8, 64, 128);
    addOperand(&sample, OVER(&sample, ARGUMENT, BF16, 0, 1, 2));
    addOperand(&sample, OVER(&sample, ARGUMENT, BF16, 1, 2));
    finish(&sample, SAMBA_LANE_MUL, SAMBA_DTYPE_F32, OVER(&sample, RESULT, BF16, 0, 1, 2));
    sambaTileNestFill(&sample.graph, sample.groups.groups[0], sn40l(), 0, order, tile,
                      cases[i].unroll, &sample.nest);
    sambaTileNestSettleTokens(&sample.nest);
    assert_int_equal(sambaTileNestPassElements(&sample.nest), cases[i].elements);
    assert_int_equal(sample.nest.token_elements[0], cases[i].elements);
    sambaArenaDestroy(&sample.arena);
  }
}

static void sourcesHaveTwins(void **state) {
  (void)state;
  Sample sample;
  makeMatmul(&sample, SAMBA_DTYPE_BF16);
  const uint32_t order[] = {0, 1, 2}, unroll[] = {16, 64, 1};
  const struct {
    int64_t tile[3];
    uint32_t twins[2];
  } cases[] = {{{16, 16, 512}, {8, 2}}, {{16, 16, 32}, {1, 1}}}; /* FIFOs hold 32 steps */

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaTileNest nest;
    sambaTileNestFill(&sample.graph, sample.groups.groups[0], sn40l(), 0, order, cases[i].tile,
                      unroll, &nest);
    sambaTileNestSettleTokens(&nest);
    for (uint32_t operand = 0; operand < 2; ++operand)
      assert_int_equal(sambaTileNestTwins(&nest, operand), cases[i].twins[operand]);
  }
  sambaArenaDestroy(&sample.arena);
}

/* 1024 copies with 64 passes of 1 KiB each, summed round by round. */
static void copiesShareTheirLastRuns(void **state) {
  (void)state;
  Sample sample;
  SambaMachine machine = *sn40l();
  makeMatmul(&sample, SAMBA_DTYPE_BF16);
  const uint32_t order[] = {2, 0, 1}, unroll[] = {16, 64, 1};
  const int64_t tile[] = {64, 64, 64};
  const struct {
    int64_t pmu_kib;
    SambaTileSums sums;
  } cases[] = {
      {1024, {.copies = 8, .buffers = 128}}, /* of 16 for which there is room */
      {128, {.copies = 2, .buffers = 512}},
      {64, {.copies = 1, .buffers = 1024}},
      /* 56 of 64 passes in a buffer of the copy's own, 8 in one that 7 copies share */
      {56, {.copies = 7, .runs = 8, .each = 7, .buffers = 1024 + 147}},
      {16, {.runs = 4, .each = 1, .buffers = 4096}},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaTileNest nest;
    SambaTileSums sums;
    machine.pmu_bytes = cases[i].pmu_kib * 1024;
    sambaTileNestFill(&sample.graph, sample.groups.groups[0], &machine, 0, order, tile, unroll,
                      &nest);
    sambaTileNestSettleTokens(&nest);
    assert_true(sambaTileNestSums(&nest, &sums));
    assert_memory_equal(&sums, &cases[i].sums, sizeof sums);
  }
  sambaArenaDestroy(&sample.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arraysTakePasses),
                                     cmocka_unit_test(passesComeBeforeChunks),
                                     cmocka_unit_test(dimensionsShareTheRows),
                                     cmocka_unit_test(sumsFitTheRegisters),
                                     cmocka_unit_test(smallOperandsAreHeld),
                                     cmocka_unit_test(theSmallestIsHeldFirst),
                                     cmocka_unit_test(gathersAreBufferedWhereTheOrderDiffers),
                                     cmocka_unit_test(largeTokensAreNotDealtBesideAMulticast),
                                     cmocka_unit_test(largeResultsDoNotMeetAMulticast),
                                     cmocka_unit_test(sourcesHaveTwins),
                                     cmocka_unit_test(copiesShareTheirLastRuns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
