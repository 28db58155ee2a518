/* How long units and memory take, worked by hand from the parameters of sn40l: a 16 x 16 array that
 * drains in 38 cycles and takes two cycles per step of 32-bit operands, 16 lanes, 6 stages of one
 * cycle, a clock of 1.2 GHz, 64 HBM channels of 28125 MB/s. */
#include "backend/estimate/unit_cycles.h"
#include "backend/machine/shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static SambaMachine sn40l(void) { return *sambaMachineFind(sambaStringRef("sn40l")); }

static void expectNear(double actual, double expected) {
  assert_float_equal(actual, expected, 1e-9 * expected);
}

static void arrayPasses(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  /* 3 x 2 tiles of 16 x 16, each as long as the sums. */
  SambaArrayFiring firing = {.rows = 33, .columns = 32, .depth = 100, .batch = 1};
  expectNear(sambaArrayCycles(&machine, &firing), 600);
  firing.batch = 5;
  firing.wide = true;
  expectNear(sambaArrayCycles(&machine, &firing), 6000);

  /* Sums of 4 points are as long as 16 rows, and without shadow accumulators each of two passes
   * drains. */
  firing = (SambaArrayFiring){.rows = 16, .columns = 17, .depth = 4, .batch = 1};
  expectNear(sambaArrayCycles(&machine, &firing), 32);
  machine.systolic_shadow = 0;
  expectNear(sambaArrayCycles(&machine, &firing), 2 * (16 + 38));
}

static void simdRows(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  SambaSimdFiring firing = {.rows = 10, .innermost = 33};
  expectNear(sambaSimdCycles(&machine, &firing), 30);
  firing.stages = 7; /* two passes through six stages */
  expectNear(sambaSimdCycles(&machine, &firing), 60);
  firing.transcendentals = 3; /* share the tail */
  expectNear(sambaSimdCycles(&machine, &firing), 90);
  machine.tail_transcendentals = 2;
  expectNear(sambaSimdCycles(&machine, &firing), 60);
}

static void lanesByType(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  SambaLaneOp move = {.opcode = SAMBA_LANE_MOVE, .type = SAMBA_DTYPE_F32};
  SambaLaneOp ops[2] = {{.opcode = SAMBA_LANE_ADD, .type = SAMBA_DTYPE_F32},
                        {.opcode = SAMBA_LANE_EXP, .type = SAMBA_DTYPE_F32}};
  SambaSimdFiring firing = {.rows = 1, .innermost = 64};

  sambaSimdFiringProgram(&firing, ops, 2);
  sambaSimdFiringPort(&firing, SAMBA_DTYPE_BF16);
  assert_int_equal(firing.stages, 1);
  assert_int_equal(firing.transcendentals, 1);
  assert_int_equal(sambaSimdLanes(&machine, &firing), 16);
  sambaSimdFiringPort(&firing, SAMBA_DTYPE_I64);
  assert_int_equal(sambaSimdLanes(&machine, &firing), 8);
  expectNear(sambaSimdCycles(&machine, &firing), 8);

  sambaSimdFiringProgram(&firing, &move, 1);
  sambaSimdFiringPort(&firing, SAMBA_DTYPE_BF16);
  assert_int_equal(sambaSimdLanes(&machine, &firing), 32);
  sambaSimdFiringPort(&firing, SAMBA_DTYPE_F32);
  assert_int_equal(sambaSimdLanes(&machine, &firing), 16);
}

static void latencies(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  expectNear(sambaSimdLatency(&machine, false), 6);
  expectNear(sambaArrayLatency(&machine, false), 38);
  machine.simd_stage_cycles = 3;
  expectNear(sambaSimdLatency(&machine, false), 18);
  expectNear(sambaSimdLatency(&machine, true), 21);
  expectNear(sambaArrayLatency(&machine, true), 41);
}

/* 100 cycles on chip; 3 x 14 ns for the row; 256 bytes at 28.125 GB/s are 9.1022 ns; a refresh of
 * 160 ns each 3900 ns is met 1 time in 24.375 and then half of it is left: 3.2821 ns. Together
 * 54.3843 ns or 65.2612 cycles. */
static void memoryLatency(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  double latency = 100 + (42 + 256 / 28.125 + 80 / 24.375) * 1.2;
  assert_float_equal(latency, 165.2612, 1e-4);
  expectNear(sambaMachineLoadLatency(&machine), latency);

  /* 64 bursts of 64 bytes are under way; a short latency leaves the generator's 64 bytes. */
  expectNear(sambaMachineAgBytesPerCycle(&machine), 64 * 64 / latency);
  machine.ag_bursts = 1024;
  expectNear(sambaMachineAgBytesPerCycle(&machine), 64);
}

/* 1024 bytes at 200 GB/s are 5.12 ns. A PCU with 5 counters, two of them outer ones, two inputs, a
 * MAC and one output has 757 bits, a PMU with two ports of 3 counters 735. Ten switch entries with
 * their switch have 462 bits, in words of 64: 14 have 89 bytes. */
static void unitLoad(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  double entries = 89 * 0.006;
  expectNear(sambaMachineLoadCycles(&machine, 1024), 6.144);
  expectNear(sambaMachinePcuLoadCycles(&machine), 12 * 8 * 0.006 + entries);

  SambaMachine ideal = machine;
  ideal.network = SAMBA_NETWORK_IDEAL;
  expectNear(sambaMachinePcuLoadCycles(&ideal), 12 * 8 * 0.006);
  expectNear(sambaMachinePmuLoadCycles(&machine), 12 * 8 * 0.006 + entries);
}

/* 64 x 28.125 GB/s at 1.2 GHz; sn10 has 6 x 25.6 GB/s of DDR at 1 GHz. */
static void memoryRate(void **state) {
  (void)state;
  SambaMachine machine = sn40l();
  expectNear(sambaMachineDramBytesPerCycle(&machine), 1500);
  machine = *sambaMachineFind(sambaStringRef("sn10"));
  expectNear(sambaMachineDramBytesPerCycle(&machine), 153.6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrayPasses),   cmocka_unit_test(simdRows),
                                     cmocka_unit_test(lanesByType),   cmocka_unit_test(latencies),
                                     cmocka_unit_test(memoryLatency), cmocka_unit_test(unitLoad),
                                     cmocka_unit_test(memoryRate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
