/* Flows that take turns, by hand. */
#include "backend/sim/timing/engine/booking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t book(SambaShare *share, uint32_t flow, uint64_t now, uint64_t cycles,
                     uint64_t least) {
  return sambaFlowEnd(sambaShareBook(share, flow, now, cycles, least, 1));
}

/* One vector of a flow comes while another one uses the lane for 64 cycles: it goes next, and the
 * other one is owed the cycle. Of ten vectors each waits for one of the other flow but the first.
 */
static void testWhoComesGoesFirst(void **state) {
  (void)state;
  for (uint64_t vectors = 1; vectors <= 10; vectors += 9) {
    SambaFlow flows[2] = {{0}};
    SambaShare lane = {.flow_count = 2, .lets_in = true, .flows = flows};
    assert_int_equal(book(&lane, 0, 0, 64, 0), 64);
    assert_int_equal(book(&lane, 1, 10, vectors, 0), 10 + 2 * vectors - 1);
    assert_int_equal(flows[0].owed, vectors);
    sambaFlowPay(&flows[0]);
    assert_int_equal(sambaFlowEnd(&flows[0]), 64 + vectors);
  }
}

/* Turns of two cycles and of one: of 30 cycles the former has its 20, the latter its ten. */
static void testTurnsAreAsLongAsTheyNeed(void **state) {
  (void)state;
  SambaFlow flows[2] = {{0}};
  SambaShare array = {.flow_count = 2, .flows = flows};
  assert_int_equal(sambaShareBook(&array, 0, 0, 40, 0, 2)->end, 40);
  assert_int_equal(sambaShareBook(&array, 1, 20, 10, 0, 1)->end, 20 + 10 + 20);
  assert_int_equal(flows[0].owed, 10);
}

/* Who goes first whenever it likes loses nothing, and the other one waits for all of it. */
static void testWhoGoesFirstLosesNothing(void **state) {
  (void)state;
  SambaFlow flows[2] = {{0}};
  SambaShare array = {.flow_count = 2, .flows = flows};
  assert_int_equal(sambaShareBook(&array, 0, 0, 40, 0, 1)->end, 40);
  assert_int_equal(sambaShareBook(&array, 1, 10, 16, 0, 1 << 20)->end, 26);
  assert_int_equal(flows[0].owed, 16);
}

/* What is booked for later takes nothing from what passes until then. */
static void testWhoBooksAheadComesLater(void **state) {
  (void)state;
  for (uint32_t ahead = 1; ahead <= 4; ++ahead) {
    SambaFlow flows[5] = {{0}};
    SambaShare lane = {.flow_count = 5, .flows = flows};
    for (uint32_t f = 1; f <= ahead; ++f)
      book(&lane, f, 200, 16, 0);
    uint64_t owed = flows[1].owed;
    assert_int_equal(book(&lane, 0, 100, 8, 0), 108);
    assert_int_equal(book(&lane, 0, 116, 8, 0), 124);
    assert_int_equal(flows[1].owed, owed);
  }
}

/* Four of eight vectors pass before another flow comes, and the others in turn with it. Who asks
 * for every second cycle gets it also when another flow comes, which has half of 20 cycles. */
static void testWhoComesMeetsWhatIsLeft(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  assert_int_equal(book(&lane, 1, 200, 16, 0), 216);
  assert_int_equal(book(&lane, 0, 196, 8, 0), 196 + 4 + 2 * 4);
  assert_int_equal(flows[1].owed, 4);

  lane = (SambaShare){.flow_count = 3, .flows = flows};
  memset(flows, 0, sizeof flows);
  assert_int_equal(book(&lane, 0, 300, 32, 0), 332);
  assert_int_equal(sambaShareBook(&lane, 1, 200, 60, 120, 1)->end, 320);
  assert_int_equal(flows[0].owed, 10);
}

/* A flow asks for every second cycle, 100 times. Two others have 30 vectors each, and each of the
 * three gets a third of 90 cycles: so it loses 30 cycles, and has passed 30 vectors by then. It has
 * 70 left, and again asks for every second cycle: the next two take as much from it. That it is
 * told to end no earlier than it does anyway changes nothing. */
static void testWhatAFlowLosesLiesBehindIt(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  assert_int_equal(sambaShareBook(&lane, 0, 0, 100, 200, 1)->end, 200);
  for (uint64_t turn = 0; turn < 2; ++turn) {
    sambaShareStretch(&lane, 0, 90 * turn, 200);
    book(&lane, 1, 90 * turn, 30, 0);
    assert_int_equal(book(&lane, 2, 90 * turn, 30, 0), 90 * (turn + 1));
    assert_in_range(flows[0].owed, 30 * (turn + 1) - 1, 30 * (turn + 1) + 1);
  }
}

/* Two flows of half the rate fill a lane and do not hold each other up; with a third one there are
 * 96 vectors for 64 cycles, and each has a third of them. */
static void testThreeHalvesAreTooMuch(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  assert_int_equal(sambaShareBook(&lane, 0, 0, 32, 64, 1)->end, 64);
  assert_int_equal(sambaShareBook(&lane, 1, 0, 32, 64, 1)->end, 64);
  assert_int_equal(flows[0].owed, 0);
  assert_int_equal(sambaShareBook(&lane, 2, 0, 32, 64, 1)->end, 96);
  for (uint32_t f = 0; f < 2; ++f) {
    sambaFlowPay(&flows[f]);
    assert_int_equal(sambaFlowEnd(&flows[f]), 96);
  }
}

/* Flows meet only while both are under way. The second one has 40 of its vectors left when the
 * third one comes, and there are 1.3 vectors per cycle then: each gets a third of a cycle, the 40
 * take 120 cycles instead of 100, and the first flow loses 20 vectors, which are 40 cycles. The
 * third one is behind by eight vectors then, and makes up for them with the tenth of a cycle that
 * is free. */
static void testFlowsMeetWhileBothAreUnderWay(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  assert_int_equal(sambaShareBook(&lane, 0, 0, 500, 1000, 1)->end, 1000);
  assert_int_equal(sambaShareBook(&lane, 1, 0, 100, 250, 1)->end, 250);
  assert_int_equal(flows[0].owed, 0);
  assert_int_equal(sambaShareBook(&lane, 2, 150, 100, 250, 1)->end, 400);
  assert_int_equal(flows[1].owed, 20);
  assert_int_equal(flows[0].owed, 40);
}

/* A flow of half the rate meets two of 20 vectors: each has a third of 60 cycles, so it loses ten
 * vectors, which are 20 cycles. What it has lost does not make it ask for less: then it meets two
 * of ten vectors, each has a third of 30 cycles, and it loses five vectors, which are 10 cycles. */
static void testWhoIsHeldUpAsksForNoLess(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  sambaShareBook(&lane, 0, 0, 100, 200, 1);
  sambaShareBook(&lane, 1, 0, 20, 0, 1);
  sambaShareBook(&lane, 2, 0, 20, 0, 1);
  assert_int_equal(flows[0].owed, 20);
  sambaShareBook(&lane, 1, 60, 10, 0, 1);
  sambaShareBook(&lane, 2, 60, 10, 0, 1);
  assert_int_equal(flows[0].owed, 30);
}

/* Who asks for less than its part gets it: a tenth of the rate beside two that want all of it. */
static void testSmallFlowsGetWhatTheyAskFor(void **state) {
  (void)state;
  SambaFlow flows[3] = {{0}};
  SambaShare lane = {.flow_count = 3, .flows = flows};
  assert_int_equal(sambaShareBook(&lane, 0, 0, 45, 0, 1)->end, 45);
  assert_int_equal(sambaShareBook(&lane, 1, 0, 45, 0, 1)->end, 90);
  assert_int_equal(sambaShareBook(&lane, 2, 0, 10, 100, 1)->end, 100);
}

/* What a flow books follows what it has booked already. */
static void testBookingsOfOneFlowFollowEachOther(void **state) {
  (void)state;
  SambaFlow flows[1] = {{0}};
  SambaShare lane = {.flow_count = 1, .flows = flows};
  assert_int_equal(book(&lane, 0, 0, 10, 0), 10);
  assert_int_equal(book(&lane, 0, 4, 10, 0), 20);
  assert_int_equal(book(&lane, 0, 50, 10, 0), 60);
}

/* Who goes on faster than it said is done earlier, but no earlier than at a vector per cycle. What
 * others took comes on top. */
static void testWhoHurriesIsDoneEarlier(void **state) {
  (void)state;
  SambaFlow flows[2] = {{0}};
  SambaShare lane = {.flow_count = 2, .flows = flows};
  sambaShareBook(&lane, 0, 0, 50, 100, 1);
  sambaFlowHurry(&flows[0], 30);
  assert_int_equal(flows[0].end, 70);
  sambaFlowHurry(&flows[0], 30);
  assert_int_equal(flows[0].end, 50);

  /* Of 0.75 vectors per cycle each of two gets 0.5: 75 vectors take 150 cycles instead of 100. */
  sambaShareBook(&lane, 0, 100, 75, 100, 1);
  sambaShareBook(&lane, 1, 100, 75, 100, 1);
  sambaFlowHurry(&flows[0], 20);
  sambaFlowPay(&flows[0]);
  assert_int_equal(sambaFlowEnd(&flows[0]), 230);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testWhoComesGoesFirst),
      cmocka_unit_test(testTurnsAreAsLongAsTheyNeed),
      cmocka_unit_test(testWhoGoesFirstLosesNothing),
      cmocka_unit_test(testWhoBooksAheadComesLater),
      cmocka_unit_test(testWhoComesMeetsWhatIsLeft),
      cmocka_unit_test(testWhatAFlowLosesLiesBehindIt),
      cmocka_unit_test(testThreeHalvesAreTooMuch),
      cmocka_unit_test(testFlowsMeetWhileBothAreUnderWay),
      cmocka_unit_test(testWhoIsHeldUpAsksForNoLess),
      cmocka_unit_test(testSmallFlowsGetWhatTheyAskFor),
      cmocka_unit_test(testBookingsOfOneFlowFollowEachOther),
      cmocka_unit_test(testWhoHurriesIsDoneEarlier),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
