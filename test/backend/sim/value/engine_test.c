/* What a caller of the value engine sees besides results: arguments, statistics, index traces, one
 * engine for many calls. */
#include "backend/machine/shipped.h"
#include "backend/section/check/section_check.h"
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static const SambaDType F = SAMBA_DTYPE_F32;

static SambaValues *createEngine(void) {
  SambaValuesOptions options = {.threads = 2};
  SambaValues *values;
  assert_null(sambaValuesCreate(sambaMachineFind(sambaStringRef("tiny")), &options, &values));
  return values;
}

/* y = x * argin[1] + firing, 3 tokens of 5 elements. */
static void buildScale(Builder *builder) {
  builderInitialize(builder);
  uint32_t x = builderSymbol(builder, "x", F, 15, false);
  uint32_t y = builderSymbol(builder, "y", F, 15, true);
  SambaAccess access = builderAccess(2, 1, TRIPS(builder, 3, 5), STRIDES(builder, 5, 1));
  uint32_t load = builderLoad(builder, x, access);
  uint32_t store = builderStore(builder, y, access);
  uint32_t unit = builderCompute(builder, 2, 1, TRIPS(builder, 3, 5));

  builderComputeInput(builder, unit, F, 1, 5, STRIDES(builder, 0, 1));
  uint32_t argin = builderOp(builder, unit, SAMBA_LANE_ARGIN, F, 0, 0, 0, 1);
  uint32_t counter = builderOp(builder, unit, SAMBA_LANE_COUNTER, F, 0, 0, 0, 0);
  uint32_t value = builderOp(builder, unit, SAMBA_LANE_FMA, F, 0, argin, counter, 0);
  builderComputeOutput(builder, unit, F, 1, 5, STRIDES(builder, 0, 1), value);
  builderStream(builder, load, 0, unit, 0);
  builderStream(builder, unit, 0, store, 0);
  for (int i = 0; i < 15; ++i)
    ((float *)(void *)builder->bindings[0].data)[i] = (float)i;
  assert_null(sambaSectionCheck(&builder->section));
}

static void testArguments(void **state) {
  (void)state;
  Builder builder;
  buildScale(&builder);
  SambaValues *values = createEngine();
  SambaValuesStatistics before, after;

  for (int round = 1; round <= 2;
       ++round) { /* the argument is read at every call, not compiled in */
    float scale = 0.5f * (float)round;
    uint64_t argins[2] = {0, 0};
    memcpy(&argins[1], &scale, 4);
    sambaValuesGetStatistics(values, &before);
    assert_null(sambaValuesExecute(values, &builder.section, builder.bindings, argins, 2, NULL));
    sambaValuesGetStatistics(values, &after);
    for (int i = 0; i < 15; ++i)
      assert_true(((float *)(void *)builder.bindings[1].data)[i] ==
                  (float)i * scale + (float)(i / 5));
    assert_int_equal(after.firings - before.firings, 9); /* three units, three firings each */
    assert_int_equal(after.lane_operations - before.lane_operations, 15); /* one fma per element */
    assert_int_equal(after.macs, 0);
  }

  assert_true(after.jit_seconds > 0);

  /* The second call found its program compiled: looking it up takes next to nothing. */
  assert_true(after.jit_seconds - before.jit_seconds < before.jit_seconds / 4);
  sambaValuesDestroy(values);
  builderDestroy(&builder);
}

static void testIndexTrace(void **state) {
  (void)state;
  Builder builder;
  builderInitialize(&builder);
  uint32_t table = builderSymbol(&builder, "table", SAMBA_DTYPE_I16, 30, false);
  uint32_t index = builderSymbol(&builder, "index", SAMBA_DTYPE_I32, 4, false);
  uint32_t out = builderSymbol(&builder, "out", SAMBA_DTYPE_I16, 12, true);
  SambaAccess access = builderAccess(3, 1, TRIPS(&builder, 2, 2, 3), STRIDES(&builder, 0, 0, 1));

  access.has_index = true, access.index_counters = 1, access.index_stride = 3,
  access.index_limit = 10;
  uint32_t from = builderLoad(&builder, index,
                              builderAccess(2, 1, TRIPS(&builder, 2, 2), STRIDES(&builder, 2, 1)));
  uint32_t gather = builderLoad(&builder, table, access);
  uint32_t store = builderStore(
      &builder, out, builderAccess(2, 1, TRIPS(&builder, 2, 6), STRIDES(&builder, 6, 1)));
  builderInput(&builder, gather, (SambaPort){.dtype = SAMBA_DTYPE_I32, .token_elements = 2});
  builderStream(&builder, from, 0, gather, 0);
  builderStream(&builder, gather, 0, store, 0);
  const int32_t picks[4] = {7, 0, 9, 7};
  memcpy(builder.bindings[index].data, picks, sizeof picks);
  for (int i = 0; i < 30; ++i)
    ((int16_t *)(void *)builder.bindings[table].data)[i] = (int16_t)(i - 5);
  assert_null(sambaSectionCheck(&builder.section));
  SambaValues *values = createEngine();
  SambaIndexTraces traces = {0};
  assert_null(sambaValuesExecute(values, &builder.section, builder.bindings, NULL, 0, &traces));
  assert_int_equal(traces.size, 1);
  assert_int_equal(traces.data[0].unit, gather);
  assert_int_equal(traces.data[0].size, 4);

  for (int i = 0; i < 4; ++i) {
    assert_int_equal(traces.data[0].data[i], picks[i] * 3);
    for (int j = 0; j < 3; ++j)
      assert_int_equal(((int16_t *)(void *)builder.bindings[out].data)[i * 3 + j],
                       picks[i] * 3 + j - 5);
  }

  sambaIndexTracesFree(&traces);
  sambaValuesDestroy(values);
  builderDestroy(&builder);
}

/* Reductions whose outcome depends on the order of additions: the example of docs/numerics.md by
 * hand. */
static void testReductionOrder(void **state) {
  (void)state;
  for (int lanes = 0; lanes < 2; ++lanes) {
    Builder builder;
    builderInitialize(&builder);
    enum { n = 440 };
    uint32_t x = builderSymbol(&builder, "x", F, n, false);
    uint32_t y = builderSymbol(&builder, "y", F, 1, true);
    uint32_t load = builderLoad(
        &builder, x, builderAccess(2, 1, TRIPS(&builder, 4, n / 4), STRIDES(&builder, n / 4, 1)));
    uint32_t store =
        builderStore(&builder, y, builderAccess(1, 0, TRIPS(&builder, 1), STRIDES(&builder, 1)));
    uint32_t unit = builderCompute(
        &builder, 2, 1,
        TRIPS(&builder, 4, n / 4)); /* four firings of 110: lanes go on where they were */
    builder.section.units[unit].compute.program.reduce_mask = 3;
    builder.section.units[unit].compute.program.lane_reduce = lanes;
    builderComputeInput(&builder, unit, F, 1, n / 4, STRIDES(&builder, 0, 1));
    builderComputeOutput(&builder, unit, F, 0, 1, STRIDES(&builder, 0, 0),
                         builderOp(&builder, unit, SAMBA_LANE_REDUCE_ADD, F, 0, 0, 0, 0));
    builderStream(&builder, load, 0, unit, 0);
    builderStream(&builder, unit, 0, store, 0);
    float *values = (float *)(void *)builder.bindings[x].data;
    float sums[16] = {0};
    float in_order = 0;
    for (int i = 0; i < n; ++i) {
      values[i] = (float)(1 + i % 7) * 1000.0f / (float)(i + 3);
      in_order += values[i];
      sums[i % 16] += values[i];
    }
    for (int half = 8; half >= 1; half /= 2)
      for (int l = 0; l < half; ++l)
        sums[l] += sums[l + half];
    assert_true(in_order != sums[0]);
    assert_null(builderRun(&builder, "tiny", NULL, NULL));
    assert_true(*(float *)(void *)builder.bindings[y].data == (lanes ? sums[0] : in_order));
    builderDestroy(&builder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testArguments),
                                     cmocka_unit_test(testIndexTrace),
                                     cmocka_unit_test(testReductionOrder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
