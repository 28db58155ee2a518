/* Occupancy: cycles of single units against sums worked out by hand from the law in
 * docs/timing-model.md.
 *
 * Every section here is fountain -> unit -> sink on `tiny`: a PMU read takes 4 cycles, a hop 2. So
 * a unit whose firing lasts D cycles and whose pipeline is L long ends n firings at 4 + 2 + n * D +
 * L + 2, and V later when its V output vectors appear only at the end. */
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PMU = 4, HOP = 2, DRAIN = 38, SIMD = 6 };

typedef struct Product {
  uint32_t firings, rows, columns, depth;
  SambaDType dtype;
} Product;

static uint64_t productCycles(SambaMachine *machine, Product p) {
  TestSection *section = testSectionCreate();
  SambaLaneOp mac = {SAMBA_LANE_MAC, SAMBA_DTYPE_F32, {0, 1, 0}, 0};
  uint32_t a = testFountain(section, "a", p.dtype, p.firings, p.rows * p.depth);
  uint32_t b = testFountain(section, "b", p.dtype, p.firings, p.columns * p.depth);
  uint32_t unit =
      testCompute(section, "pcu", 4, (uint32_t[]){p.firings, p.depth, p.rows, p.columns}, 1);

  testProgram(section, unit, true, 2, 1, &mac);
  testInput(section, unit, p.dtype, 1, p.rows * p.depth, (int64_t[]){0, p.rows, 1, 0});
  testInput(section, unit, p.dtype, 1, p.columns * p.depth, (int64_t[]){0, p.columns, 0, 1});
  testOutput(section, unit, p.dtype, 1, p.rows * p.columns, (int64_t[]){0, 0, p.columns, 1}, 2);
  uint32_t sink = testSink(section, "c", p.dtype, p.firings, p.rows * p.columns);
  testConnect(section, a, 0, unit, 0);
  testConnect(section, b, 0, unit, 1);
  testConnect(section, unit, 0, sink, 0);
  uint64_t cycles = testCycles(machine, section);
  testSectionDestroy(section);

  return cycles;
}

static void testSystolicArray(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");

  /* One pass of 16 x 16 x 64: 64 cycles, 8 vectors of result. */
  assert_int_equal(productCycles(&tiny, (Product){1, 16, 16, 64, SAMBA_DTYPE_BF16}),
                   PMU + HOP + 64 + DRAIN + 8 + HOP);

  /* The array drains while the next pass runs. */
  assert_int_equal(productCycles(&tiny, (Product){10, 16, 16, 64, SAMBA_DTYPE_BF16}),
                   PMU + HOP + 640 + DRAIN + 8 + HOP);

  /* No pass is shorter than the array's 16 rows. */
  assert_int_equal(productCycles(&tiny, (Product){10, 16, 16, 4, SAMBA_DTYPE_BF16}),
                   PMU + HOP + 160 + DRAIN + 8 + HOP);

  /* 32-bit operands: half rate; 16 vectors of result. */
  assert_int_equal(productCycles(&tiny, (Product){10, 16, 16, 64, SAMBA_DTYPE_F32}),
                   PMU + HOP + 1280 + DRAIN + 16 + HOP);

  /* Without the shadow set of accumulators every pass ends with its drain. */
  tiny.systolic_shadow = 0;
  assert_int_equal(productCycles(&tiny, (Product){10, 16, 16, 64, SAMBA_DTYPE_BF16}),
                   PMU + HOP + 10 * (64 + DRAIN) + DRAIN + 8 + HOP);
}

/* points f32 elements in rows of `row` through a program; `reduce` folds the rows. */
static uint64_t simdCycles(const SambaMachine *machine, uint32_t firings, uint32_t rows,
                           uint32_t row, SambaDType dtype, bool reduce, uint32_t op_count,
                           const SambaLaneOp *ops) {
  TestSection *section = testSectionCreate();
  uint32_t out = reduce ? rows : rows * row;
  uint32_t in = testFountain(section, "in", dtype, firings, rows * row);
  uint32_t unit = testCompute(section, "pcu", 3, (uint32_t[]){firings, rows, row}, 1);

  testProgram(section, unit, false, reduce ? 4 : 0, op_count, ops);
  testInput(section, unit, dtype, 1, rows * row, (int64_t[]){0, row, 1});
  testOutput(section, unit, dtype, 1, out, reduce ? (int64_t[]){0, 1, 0} : (int64_t[]){0, row, 1},
             op_count);
  uint32_t sink = testSink(section, "out", dtype, firings, out);
  testConnect(section, in, 0, unit, 0);
  testConnect(section, unit, 0, sink, 0);
  uint64_t cycles = testCycles(machine, section);
  assert_int_equal(testCyclesBy(TEST_CYCLE, machine, section), cycles);
  testSectionDestroy(section);

  return cycles;
}

static void testSimdPipeline(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  SambaLaneOp move = {SAMBA_LANE_MOVE, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  SambaLaneOp wide = {SAMBA_LANE_ADD, SAMBA_DTYPE_I64, {0, 0, 0}, 0};
  SambaLaneOp tail[] = {{SAMBA_LANE_EXP, SAMBA_DTYPE_F32, {0, 0, 0}, 0},
                        {SAMBA_LANE_TANH, SAMBA_DTYPE_F32, {1, 0, 0}, 0}};

  /* 1024 f32 on 16 lanes: 64 vectors per firing. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_F32, false, 1, &add),
                   PMU + HOP + 5 * 64 + SIMD + HOP);

  /* A row of 65 takes 5 vectors of lanes; 16 x 65 x 4 bytes are 65 vectors of data. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 65, SAMBA_DTYPE_F32, false, 1, &add),
                   PMU + HOP + 5 * 80 + SIMD + HOP);

  /* bf16 computes in f32: 16 lanes, although 32 elements come per cycle. Pure moves use both halves
   * of a lane. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_BF16, false, 1, &add),
                   PMU + HOP + 5 * 64 + SIMD + HOP);
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_BF16, false, 1, &move),
                   PMU + HOP + 5 * 32 + SIMD + HOP);

  /* 64-bit integers: 8 lanes, and 128 vectors of data. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_I64, false, 1, &wide),
                   PMU + HOP + 5 * 128 + SIMD + HOP);

  /* Two transcendental functions share one tail; it is one stage more. A vector enters the pipeline
   * in the first of its two cycles, the last one too. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_F32, false, 1, tail),
                   PMU + HOP + 5 * 64 + SIMD + 1 + HOP);
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_F32, false, 2, tail),
                   PMU + HOP + 5 * 128 - 1 + SIMD + 1 + HOP);
}

static void testReductionFoldsLanes(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  SambaLaneOp add = {SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  /* 16 rows of 64: all 16 sums are one vector, made at the end; 16 lanes fold in 4 stages. */
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_F32, true, 1, &add),
                   PMU + HOP + 5 * 64 + SIMD + 4 + 1 + HOP);
  /* What follows the reduction costs the tail one vector per 16 rows only. */
  SambaLaneOp after[] = {add, {SAMBA_LANE_EXP, SAMBA_DTYPE_F32, {1, 0, 0}, 0}};
  assert_int_equal(simdCycles(&tiny, 5, 16, 64, SAMBA_DTYPE_F32, true, 2, after),
                   PMU + HOP + 5 * 64 + SIMD + 4 + 1 + 1 + HOP);
}

/* A token of 7 x 7 f32 ends within its fourth vector. The last of its seven steps uses up two
 * vectors, which are taken one per cycle, and makes two. */
static void testTokensThatEndWithinVectors(void **state) {
  (void)state;
  SambaMachine tiny = testMachine("tiny");
  SambaLaneOp add = {SAMBA_LANE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  assert_int_equal(simdCycles(&tiny, 5, 7, 7, SAMBA_DTYPE_F32, false, 1, &add),
                   PMU + HOP + 5 * (7 + 1) + SIMD + 1 + HOP);

  /* Ten steps for 5 x 31, each of which makes a vector but the first, and the last makes two: it
   * also waits until the pipeline has two places, which takes one of its six cycles. */
  assert_int_equal(simdCycles(&tiny, 5, 5, 31, SAMBA_DTYPE_F32, false, 1, &add),
                   PMU + HOP + 5 * (10 + 1 + 1) + SIMD + 1 + HOP);
}

/* y = sum(x) z: z is needed when the sum is complete, and not before. It comes from a sum of the
 * same vectors. */
static void testWhatFollowsAReductionComesLate(void **state) {
  (void)state;
  enum { ELEMENTS = 160, FOLD = SIMD + 4 };
  SambaMachine tiny = testMachine("tiny");
  SambaLaneOp sum = {SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0};
  SambaLaneOp scaled[] = {{SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_F32, {0, 0, 0}, 0},
                          {SAMBA_LANE_MUL, SAMBA_DTYPE_F32, {2, 1, 0}, 0}};
  TestSection *section = testSectionCreate();
  uint32_t in = testFountain(section, "x", SAMBA_DTYPE_F32, 1, ELEMENTS);
  uint32_t first = testCompute(section, "first", 1, (uint32_t[]){ELEMENTS}, 0);
  testProgram(section, first, false, 1, 1, &sum);
  testInput(section, first, SAMBA_DTYPE_F32, 0, ELEMENTS, (int64_t[]){1});
  testOutput(section, first, SAMBA_DTYPE_F32, 0, 1, (int64_t[]){0}, 1);
  uint32_t second = testCompute(section, "second", 1, (uint32_t[]){ELEMENTS}, 0);
  testProgram(section, second, false, 1, 2, scaled);
  testInput(section, second, SAMBA_DTYPE_F32, 0, ELEMENTS, (int64_t[]){1});
  testInput(section, second, SAMBA_DTYPE_F32, 0, 1, (int64_t[]){0});
  testOutput(section, second, SAMBA_DTYPE_F32, 0, 1, (int64_t[]){0}, 3);
  uint32_t out = testSink(section, "y", SAMBA_DTYPE_F32, 1, 1);
  uint32_t stream = testConnect(section, in, 0, first, 0);
  testFork(section, stream, second, 0);
  testConnect(section, first, 0, second, 1);
  testConnect(section, second, 0, out, 0);

  /* The second unit does its last step when z is there. */
  uint64_t z = PMU + HOP + 10 + FOLD + HOP;
  for (TestEngine engine = TEST_FAST; engine < TEST_ENGINES; ++engine)
    assert_int_equal(testCyclesBy(engine, &tiny, section), z + 1 + FOLD + 1 + HOP);
  testSectionDestroy(section);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testSystolicArray),
      cmocka_unit_test(testSimdPipeline),
      cmocka_unit_test(testReductionFoldsLanes),
      cmocka_unit_test(testTokensThatEndWithinVectors),
      cmocka_unit_test(testWhatFollowsAReductionComesLate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
