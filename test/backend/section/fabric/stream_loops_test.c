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

/* What a loop is asked for with. */
typedef struct Case {
  int64_t fifo_depth;
  uint64_t pace;        /* of the units, without loops */
  uint64_t rest;        /* of them, when they have taken the last vector from far */
  uint64_t tied;        /* that many cycles after the steps of units 0 and 1, if any */
  bool unrouted, apart; /* the far streams: without hops; not taken evenly */
} Case;

/* Units 2 and 3 at (2, 0) and (10, 0) take from sources at (0, 0) and (12, 0). */
static SambaLoop loopOf(Case asked) {
  SambaArena arena = {0};
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  SambaHop hops[SOURCES][HOPS];
  const SambaEndpoint ends[SOURCES][2] = {{{2, 0}, {3, 0}}, {{3, 1}, {2, 1}}};
  const int32_t columns[UNITS] = {0, 12, 2, 10};
  SambaUnit units[UNITS];
  SambaStream streams[SOURCES];

  machine.fifo_depth = asked.fifo_depth;
  machine.hop_cycles = 2;
  machine.credit_cycles = 4;
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
                               .hop_count = asked.unrouted ? 0 : HOPS,
                               .hops = hops[s]};
  }
  SambaSection section = {.arena = &arena,
                          .name = "loop",
                          .unit_count = UNITS,
                          .units = units,
                          .stream_count = SOURCES,
                          .streams = streams};
  SambaLoopGrid grid = sambaLoopGridMake(&section);
  for (uint32_t s = 0; s < SOURCES; ++s) {
    grid.streams[s].vectors = VECTORS;
    grid.streams[s].tied = asked.tied > 0;
    grid.streams[s].latency = asked.tied;
    grid.streams[s].takers[0] = (SambaLoopTaker){.evenly = true, .streams = 1, .latency = 2};
    grid.streams[s].takers[1] =
        (SambaLoopTaker){.evenly = !asked.apart, .streams = 1, .rest = asked.rest, .latency = 2};
    grid.paces[2 + s] = asked.pace;
  }

  const SambaRoutes *routes = sambaRoutesFind(&machine, &section, &arena);
  const SambaLoop *loops = sambaStreamLoopsFind(&section, &machine, routes, &grid, &arena);
  SambaLoop loop = loops[2];
  assert_true(loop.tokens == loops[3].tokens && loop.cycles == loops[3].cycles);
  assert_true(asked.tied || (loops[0].tokens == 0 && loops[1].tokens == 0));
  sambaLoopGridDestroy(&grid);
  sambaArenaDestroy(&arena);
  return loop;
}

static void expectPace(Case asked, double around, double held) {
  SambaLoop loop = loopOf(asked);
  assert_float_equal(loop.cycles / loop.tokens, VECTORS * around / held, 1e-6);
}

/* The far way from where a stream parts is 9 hops of 2 cycles. Its unit takes the vector, and two
 * FIFOs of the other stream's short way can move up: a credit of 2 cycles for the one at the unit,
 * and 2 with a hop of 2 for the one where that stream parts. So does the other half of the loop. */
static void testShortWaysHoldUpTheirSource(void **state) {
  (void)state;
  const double around = 2 * (9 * 2 + 2 + 2 + 2);
  for (int64_t depth = 8; depth <= 32; depth *= 2)
    expectPace((Case){.fifo_depth = depth, .pace = 1}, around, 2 * 2 * (double)depth);
}

/* Units that have work left when they have taken the last vector give its place back later: then
 * the far way alone, there and with its credits back, is slower than the loop. */
static void testWhatIsLeftToDoCounts(void **state) {
  (void)state;
  const double far = 9 * 2 + 9 * 2, held = 9 * 16;
  const uint64_t rest = 200;
  expectPace((Case){.fifo_depth = 16, .pace = 1, .rest = rest}, far + rest, held);
}

/* Each unit and each of its sources have links of their own, of one FIFO each: 2 cycles there and a
 * credit of 2 back. */
static void testLinksOfTheirOwnAreShort(void **state) {
  (void)state;
  expectPace((Case){.fifo_depth = 16, .pace = 1, .unrouted = true}, 2 + 2, 16);
}

/* A unit that makes vectors while it works has one in each cycle of its latency. */
static void testMakersPassOneVectorPerCycle(void **state) {
  (void)state;
  expectPace((Case){.fifo_depth = 16, .pace = 400, .tied = 10}, 10, 10);
}

static void testSlowUnitsAndOtherTakersAreInNone(void **state) {
  (void)state;
  /* 512 x 48 / 64 is what FIFOs let them have */
  assert_true(loopOf((Case){.fifo_depth = 16, .pace = 384}).tokens == 0);
  assert_true(loopOf((Case){.fifo_depth = 16, .pace = 383}).tokens > 0);
  assert_true(loopOf((Case){.fifo_depth = 16, .pace = 383, .apart = true}).tokens == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShortWaysHoldUpTheirSource),
                                     cmocka_unit_test(testWhatIsLeftToDoCounts),
                                     cmocka_unit_test(testLinksOfTheirOwnAreShort),
                                     cmocka_unit_test(testMakersPassOneVectorPerCycle),
                                     cmocka_unit_test(testSlowUnitsAndOtherTakersAreInNone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
