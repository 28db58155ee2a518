/* backend/sim/launch.h: the closed forms of launches, with and without overlap. The clock is 1 GHz,
 * a load takes 1 us and a nanosecond per byte, arguments 200 ns, execute 1 us or 10 us. */
#include "backend/machine/shipped.h"
#include "backend/sim/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static SambaMachine machineWith(bool overlap) {
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  machine.clock_hz = 1000000000;
  machine.load_mbps = 1000;
  machine.load_latency_ns = 1000;
  machine.argument_latency_ns = 200;
  machine.execute_hw_ns = 1000;
  machine.execute_sw_ns = 10000;
  machine.launch_overlap = overlap;
  return machine;
}

enum { tileCount = 3 };
#define LOAD(...)                                                                                  \
  {                                                                                                \
    .bytes = sum((const uint64_t[tileCount]){__VA_ARGS__}), .tile_count = tileCount,               \
    .tile_bytes = (uint64_t[tileCount]) {                                                          \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
static uint64_t sum(const uint64_t *bytes) { return bytes[0] + bytes[1] + bytes[2]; }

static void assertCost(SambaLaunchCost cost, uint64_t cycles, uint64_t load, uint64_t hidden,
                       uint64_t bytes) {
  assert_int_equal(cost.cycles, cycles);
  assert_int_equal(cost.load_cycles, load);
  assert_int_equal(cost.hidden_cycles, hidden);
  assert_int_equal(cost.load_bytes, bytes);
}

static void loadsAreTheirBytes(void **state) {
  (void)state;
  SambaMachine machine = machineWith(false);
  SambaSectionLoad first = LOAD(3000, 0, 0), second = LOAD(0, 500, 0);
  SambaLaunchBefore none = {0}, before = {&first, 100000};

  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &none, &first), 5200, 4000, 0, 3000);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_SW, &none, &first), 14200, 4000, 0, 3000);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_NONE, &none, &first), 0, 0, 0, 0);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &before, &second), 2700, 1500, 0, 500);
  /* What is on the chip is not loaded again. */
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &before, &first), 1200, 0, 0, 0);
}

/* Hidden: what fits behind the execution of (the fixed time and the bytes of the free tiles). */
static void loadsIntoFreeTilesHideBehindExecution(void **state) {
  (void)state;
  SambaMachine machine = machineWith(true);
  SambaSectionLoad first = LOAD(3000, 0, 0), second = LOAD(0, 500, 700);
  SambaLaunchBefore none = {0}, longer = {&first, 100000}, shorter = {&first, 1600};

  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &none, &first), 5200, 4000, 0, 3000);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &longer, &second), 1200, 0, 2200, 1200);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &shorter, &second), 1800, 600, 1600, 1200);
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &longer, &first), 1200, 0, 0, 0);
  /* A host sends the next command when it has seen the end. */
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_SW, &longer, &second), 12400, 2200, 0, 1200);
}

static void tilesInUseAreNotOverwritten(void **state) {
  (void)state;
  SambaMachine machine = machineWith(true);
  SambaSectionLoad first = LOAD(3000, 8, 0), second = LOAD(0, 500, 700), third = LOAD(9, 0, 0);
  SambaLaunchBefore before = {&first, 100000};

  /* Tile 1 is in use: its 500 bytes come when the section has ended. */
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &before, &second), 1700, 500, 1700, 1200);
  /* No tile is free: the load begins when the section has ended. */
  assertCost(sambaLaunchCost(&machine, SAMBA_LAUNCH_HW, &before, &third), 2209, 1009, 0, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loadsAreTheirBytes),
                                     cmocka_unit_test(loadsIntoFreeTilesHideBehindExecution),
                                     cmocka_unit_test(tilesInUseAreNotOverwritten)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
