/* The scheduler under threads: chains of units that hand on tiny tokens spend their time waking
 * each other, and a wake that is lost shows as a deadlock. */
#include "backend/machine/shipped.h"
#include "backend/section/check/section_check.h"
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { units = 24, tokens = 20, calls = 8000 };

/* y = x + units: every unit of a chain adds one; `tokens` tokens of one element. */
static void buildChain(Builder *builder) {
  const SambaDType F = SAMBA_DTYPE_F32;
  builderInitialize(builder);
  uint32_t x = builderSymbol(builder, "x", F, tokens, false);
  uint32_t y = builderSymbol(builder, "y", F, tokens, true);
  SambaAccess access = builderAccess(2, 1, TRIPS(builder, tokens, 1), STRIDES(builder, 1, 1));
  uint32_t last = builderLoad(builder, x, access);
  uint32_t store = builderStore(builder, y, access);

  for (int i = 0; i < units; ++i) {
    uint32_t unit = builderCompute(builder, 2, 1, TRIPS(builder, tokens, 1));
    builderComputeInput(builder, unit, F, 1, 1, STRIDES(builder, 0, 1));
    uint32_t one = builderOp(builder, unit, SAMBA_LANE_CONSTANT, F, 0, 0, 0, 0x3f800000);
    uint32_t sum = builderOp(builder, unit, SAMBA_LANE_ADD, F, 0, one, 0, 0);
    builderComputeOutput(builder, unit, F, 1, 1, STRIDES(builder, 0, 1), sum);
    builderStream(builder, last, 0, unit, 0);
    last = unit;
  }

  builderStream(builder, last, 0, store, 0);
  for (int i = 0; i < tokens; ++i)
    ((float *)(void *)builder->bindings[0].data)[i] = (float)i;
  assert_null(sambaSectionCheck(&builder->section));
}

static void testWakesAreNotLost(void **state) {
  (void)state;
  Builder builder;
  buildChain(&builder);
  SambaValuesOptions options = {.threads = 2};
  SambaValues *values;
  assert_null(sambaValuesCreate(sambaMachineFind(sambaStringRef("sn40l")), &options, &values));
  for (int call = 0; call < calls; ++call) {
    assert_null(sambaValuesExecute(values, &builder.section, builder.bindings, NULL, 0, NULL));
    for (int i = 0; i < tokens; ++i)
      assert_true(((float *)(void *)builder.bindings[1].data)[i] == (float)(i + units));
  }
  sambaValuesDestroy(values);
  builderDestroy(&builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testWakesAreNotLost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
