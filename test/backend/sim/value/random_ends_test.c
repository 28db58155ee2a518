/* Property test: whether a section ends on the chip does not depend on how long memory takes.
 * Random sections, on a machine with shallow FIFOs, end with memory that answers at once exactly
 * when they end with real memory. */
#include "backend/machine/shipped.h"
#include "backend/sim/timing/timing.h"
#include "test/backend/sim/value/random_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends(const SambaMachine *machine, const Builder *builder, bool instant) {
  SambaTimingOptions options = {.instant_memory = instant};
  SambaTimingResult result = {0};
  SambaStatus status =
      sambaTimingExecute(machine, &builder->section, builder->bindings, NULL, &options, &result);
  bool end = status == NULL;
  if (status)
    assert_non_null(strstr(sambaStatusGetMessage(status), "deadlock"));
  sambaStatusFree(status);
  sambaTimingResultFree(&result);
  return end;
}

/* A load whose tokens go to an adder directly and through a reduction of some of them. */
static void longBranch(Builder *builder) {
  uint32_t group = 1 + (uint32_t)(lrand48() % 40), groups = 1 + (uint32_t)(lrand48() % 3);
  uint32_t size = 16 * (1 + (uint32_t)(lrand48() % 8));
  uint32_t tokens = group * groups;
  uint32_t x = builderSymbol(builder, "x", SAMBA_DTYPE_F32, (uint64_t)tokens * size, false);
  uint32_t y = builderSymbol(builder, "y", SAMBA_DTYPE_F32, (uint64_t)tokens * size, true);
  SambaAccess all = builderAccess(2, 1, TRIPS(builder, tokens, size), STRIDES(builder, size, 1));
  uint32_t load = builderLoad(builder, x, all), store = builderStore(builder, y, all);

  uint32_t sum = builderCompute(builder, 3, 2, TRIPS(builder, groups, group, size));
  builder->section.units[sum].compute.program.reduce_mask = 1 << 1;
  builderComputeInput(builder, sum, SAMBA_DTYPE_F32, 2, size, STRIDES(builder, 0, 0, 1));
  builderComputeOutput(builder, sum, SAMBA_DTYPE_F32, 1, size, STRIDES(builder, 0, 0, 1),
                       builderOp(builder, sum, SAMBA_LANE_REDUCE_ADD, SAMBA_DTYPE_F32, 0, 0, 0, 0));
  uint32_t adder = builderCompute(builder, 3, 2, TRIPS(builder, groups, group, size));
  builderComputeInput(builder, adder, SAMBA_DTYPE_F32, 2, size, STRIDES(builder, 0, 0, 1));
  builderComputeInput(builder, adder, SAMBA_DTYPE_F32, 1, size, STRIDES(builder, 0, 0, 1));
  builderComputeOutput(builder, adder, SAMBA_DTYPE_F32, 2, size, STRIDES(builder, 0, 0, 1),
                       builderOp(builder, adder, SAMBA_LANE_ADD, SAMBA_DTYPE_F32, 0, 1, 0, 0));
  builderDestination(builder, builderStream(builder, load, 0, sum, 0), adder, 0);
  builderStream(builder, sum, 0, adder, 1);
  builderStream(builder, adder, 0, store, 0);
}

static void testRandomEnds(void **state) {
  (void)state;
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  uint32_t deadlocks = 0, branches = 0;
  for (long seed = 1; seed <= 1000; ++seed) {
    Builder builder;
    srand48(seed);
    builderInitialize(&builder);
    machine.fifo_depth = 1 + lrand48() % 6;
    machine.ag_bursts = 4 << lrand48() % 5;
    bool branch = seed % 2;
    if (branch)
      longBranch(&builder);
    else
      randomSection(&builder, (RandomShape)(seed / 2 % RANDOM_SHAPES));

    bool end = ends(&machine, &builder, false);
    if (end != ends(&machine, &builder, true))
      fprintf(stderr, "seed %ld: with real memory it %s\n", seed, end ? "ends" : "does not end");
    assert_int_equal(ends(&machine, &builder, true), end);
    deadlocks += branch && !end;
    branches += branch;
    builderDestroy(&builder);
  }
  assert_in_range(deadlocks, branches / 10, branches - branches / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomEnds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
