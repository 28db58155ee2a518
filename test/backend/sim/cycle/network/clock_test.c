/* The clock of the cycle engine: crossings are woken for a cycle, and look again on the way to one
 * that lies further ahead than their sets reach. */
#include "backend/sim/cycle/network/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { crossings = 70 };

static bool isIn(const SambaClock *clock, uint64_t at, uint32_t crossing) {
  return sambaClockCrossings(clock, at)[crossing / 64] >> crossing % 64 & 1;
}

static void crossingsLookAgain(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaClock clock;
  const uint32_t parts[SAMBA_PART_KINDS] = {1, 1, 1, crossings};
  sambaClockInit(&clock, &arena, 2, parts);
  assert_int_equal(clock.window, 2);
  assert_false(sambaClockAdvance(&clock));

  const uint64_t last = SAMBA_CLOCK_CROSSINGS_AHEAD - SAMBA_CLOCK_LONGEST;
  sambaClockWakeCrossing(&clock, 65, 7);
  assert_true(isIn(&clock, 7, 65));
  assert_false(sambaClockLooksAgain(&clock, 7));
  sambaClockWakeCrossing(&clock, 3, last);
  assert_true(isIn(&clock, last, 3));
  assert_false(sambaClockLooksAgain(&clock, last));
  sambaClockWakeCrossing(&clock, 4, 1000);
  assert_true(isIn(&clock, last, 4));
  assert_true(sambaClockLooksAgain(&clock, last));

  assert_true(sambaClockAdvance(&clock));
  assert_int_equal(clock.now, 6);
  sambaClockUseCrossings(&clock, 7, false);
  assert_true(sambaClockAdvance(&clock));
  assert_int_equal(clock.now, last);
  sambaArenaDestroy(&arena);
}

/* A unit that sleeps for longer than crossings can is found, and no cycle of a crossing's set is
 * taken for a later one on the way. */
static void unitsSleepLonger(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaClock clock;
  const uint32_t parts[SAMBA_PART_KINDS] = {1, 1, 1, crossings};
  sambaClockInit(&clock, &arena, 2, parts);
  sambaClockWake(&clock, SAMBA_PART_UNIT, 0, 200);
  assert_true(sambaClockAdvance(&clock));
  assert_int_equal(clock.now, 200);

  sambaClockWakeCrossing(&clock, 1, 201);
  assert_true(sambaClockAdvance(&clock));
  assert_int_equal(clock.now, 200);
  size_t count;
  assert_int_equal(sambaClockTake(&clock, SAMBA_PART_UNIT, 200, &count)[0], 0);
  assert_int_equal(count, 1);
  sambaClockUseCrossings(&clock, 201, false);
  assert_false(sambaClockAdvance(&clock));
  sambaArenaDestroy(&arena);
}

/* A clock that takes over whom another one woke has everybody for the earliest cycle. */
static void takesOver(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaClock clock, other;
  const uint32_t parts[SAMBA_PART_KINDS] = {1, 1, 3, crossings};
  sambaClockInit(&clock, &arena, 2, parts);
  sambaClockInit(&other, &arena, 2, parts);
  sambaClockWake(&clock, SAMBA_PART_UNIT, 0, 6);
  sambaClockWake(&clock, SAMBA_PART_UNIT, 1, 6);
  sambaClockHandOver(&clock, &other, 1);
  sambaClockWake(&other, SAMBA_PART_UNIT, 0, 4);
  sambaClockWake(&other, SAMBA_PART_UNIT, 1, 8); /* it is woken earlier */
  assert_int_equal(sambaClockStart(&other, SAMBA_PART_UNIT, 1), 6);
  sambaClockWake(&other, SAMBA_PART_UNIT, 2, 9);
  sambaClockWakeCrossing(&other, 65, 5);
  sambaClockTakeOver(&clock, &other);
  assert_true(isIn(&other, 5, 65));
  assert_true(sambaClockUsesCrossings(&clock, 5));
  assert_true(sambaClockIsIdle(&other));

  size_t count;
  const uint32_t *units = sambaClockTake(&clock, SAMBA_PART_UNIT, 4, &count);
  assert_int_equal(count, 1);
  assert_int_equal(units[0], 0);
  assert_int_equal(sambaClockStart(&clock, SAMBA_PART_UNIT, 0), 4);
  sambaClockTake(&clock, SAMBA_PART_UNIT, 6, &count);
  assert_int_equal(count, 0); /* unit 0 was taken, and the other clock has stepped unit 1 */
  units = sambaClockTake(&clock, SAMBA_PART_UNIT, 8, &count);
  assert_int_equal(count, 1);
  assert_int_equal(units[0], 2);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossingsLookAgain),
      cmocka_unit_test(unitsSleepLonger),
      cmocka_unit_test(takesOver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
