/* The pace of loops of streams, on ways that are drawn and counted by hand. */
#include "backend/machine/shipped.h"
#include "backend/section/fabric/stream_loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SOURCES = 2, UNITS = 4, HOPS = 12, NEAR = 2, FAR = 10, VECTORS = 512 };

/* A stream from (x, 0) through the switch two steps away, where one way ends at a unit and the
 * other goes on to a unit eight steps further. */
static void route(SambaHop *hops, int32_t x, int32_t step) {
  SambaSwitchPort ahead = step > 0 ? SAMBA_SWITCH_EAST : SAMBA_SWITCH_WEST;
  SambaSwitchPort back = step > 0 ? SAMBA_SWITCH_WEST : SAMBA_SWITCH_EAST;
  SambaSwitchPort in = SAMBA_SWITCH_UNIT;
  uint32_t count = 0;
  for (int32_t at = 0; at <= FAR; ++at, in = back) {
    SambaHop hop = {x + step * at, 0, {in, 0, 0, 0}, {SAMBA_SWITCH_UNIT, 0, 0, 0}};
    if (at == NEAR || at == FAR)
      hops[count++] = hop;
    hop.out.port = (uint8_t)ahead;
    if (at < FAR)
      hops[count++] = hop;
  }
  assert_int_equal(count, HOPS);
}

/* Units 2 and 3 at (2, 0) and (10, 0) take from sources at (0, 0) and (12, 0). */
static SambaLoop loopOf(int64_t fifo_depth, uint64_t pace, bool evenly) {
  SambaArena arena = {0};
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  SambaHop hops[SOURCES][HOPS];
  const SambaEndpoint ends[SOURCES][2] = {{{2, 0}, {3, 0}}, {{3, 1}, {2, 1}}};
  const int32_t columns[UNITS] = {0, 12, 2, 10};
  SambaUnit units[UNITS];
  SambaStream streams[SOURCES];
  SambaLoopTaker takers[2] = {{.evenly = true}, {.evenly = evenly}};
  SambaLoopStream described[SOURCES];
  uint64_t paces[UNITS] = {0, 0, pace, pace};
  SambaLoop loops[UNITS];

  machine.fifo_depth = fifo_depth;
  for (uint32_t u = 0; u < UNITS; ++u) {
    units[u] = sambaUnitMake(u < SOURCES ? SAMBA_UNIT_BUFFER : SAMBA_UNIT_COMPUTE, "u", "");
    units[u].x = columns[u];
    units[u].y = 0;
  }
  for (uint32_t s = 0; s < SOURCES; ++s) {
    route(hops[s], columns[s], s ? -1 : 1);
    streams[s] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                               .source = {s, 0},
                               .destination_count = 2,
                               .destinations = ends[s],
                               .hop_count = HOPS,
                               .hops = hops[s]};
    described[s] = (SambaLoopStream){.vectors = VECTORS, .takers = takers};
  }
  SambaSection section = {.arena = &arena,
                          .name = "loop",
                          .unit_count = UNITS,
                          .units = units,
                          .stream_count = SOURCES,
                          .streams = streams};
  sambaStreamLoopsFind(&section, &machine, sambaRoutesFind(&machine, &section, &arena), described,
                       paces, loops);
  assert_true(loops[2].tokens == loops[3].tokens && loops[2].cycles == loops[3].cycles);
  assert_true(loops[0].tokens == 0 && loops[1].tokens == 0);
  sambaArenaDestroy(&arena);
  return loops[2];
}

/* The far way from where a stream parts is 9 hops of 2 cycles. Its unit takes the vector, and two
 * FIFOs of the other stream's short way can move up: a credit of 2 cycles for the one at the unit,
 * and 2 with a hop of 2 for the one where that stream parts. So does the other half of the loop. */
static void testShortWaysHoldUpTheirSource(void **state) {
  (void)state;
  const double around = 2 * (9 * 2 + 2 + 2 + 2);
  for (int64_t depth = 8; depth <= 32; depth *= 2) {
    const double held = 2 * 2 * (double)depth;
    SambaLoop loop = loopOf(depth, 1, true);
    assert_float_equal(loop.cycles / loop.tokens, VECTORS * around / held, 1e-6);
  }
}

static void testSlowUnitsAndOtherTakersAreInNone(void **state) {
  (void)state;
  assert_true(loopOf(16, 384, true).tokens == 0); /* 512 x 48 / 64 is what FIFOs let them have */
  assert_true(loopOf(16, 383, true).tokens > 0);
  assert_true(loopOf(16, 383, false).tokens == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShortWaysHoldUpTheirSource),
                                     cmocka_unit_test(testSlowUnitsAndOtherTakersAreInNone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
