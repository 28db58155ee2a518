/* The list of units that may be able to go on: what the scheduler's threads rely on. */
#include "backend/sim/value/stream/ready.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void unitsLeaveInTheOrderOfTheirWakes(void **state) {
  (void)state;
  SambaReadyList list;
  uint32_t unit;
  sambaReadyInitialize(&list, 3);
  sambaReadyWake(&list, 2);
  sambaReadyWake(&list, 0);
  sambaReadyWake(&list, 2); /* is in the list already */

  assert_true(sambaReadyTake(&list, &unit));
  assert_int_equal(unit, 2);
  assert_true(sambaReadyTake(&list, &unit));
  assert_int_equal(unit, 0);
  sambaReadyLeave(&list, false);
  sambaReadyLeave(&list, false);
  assert_false(sambaReadyTake(&list, &unit)); /* empty, and no unit runs */
  sambaReadyDestroy(&list);
}

static void aWakeWhileAUnitRunsIsNotLost(void **state) {
  (void)state;
  SambaReadyList list;
  uint32_t unit;
  sambaReadyInitialize(&list, 1);
  sambaReadyWake(&list, 0);
  assert_true(sambaReadyTake(&list, &unit));

  sambaReadyBegin(&list, 0);
  sambaReadyWake(&list, 0);
  assert_false(sambaReadyRest(&list, 0)); /* must be run again */
  sambaReadyBegin(&list, 0);
  assert_true(sambaReadyRest(&list, 0));

  sambaReadyWake(&list, 0); /* it rests, so it goes into the list */
  sambaReadyLeave(&list, false);
  assert_true(sambaReadyTake(&list, &unit));
  sambaReadyLeave(&list, false);
  sambaReadyDestroy(&list);
}

static void aStopEndsTheListForAll(void **state) {
  (void)state;
  SambaReadyList list;
  uint32_t unit;
  sambaReadyInitialize(&list, 2);
  sambaReadyWake(&list, 0);
  sambaReadyWake(&list, 1);
  assert_true(sambaReadyTake(&list, &unit));
  sambaReadyLeave(&list, true);
  assert_false(sambaReadyTake(&list, &unit)); /* although unit 1 is in it */
  sambaReadyDestroy(&list);
}

enum { workers = 4, units = 16, turns = 2000 };

typedef struct {
  SambaReadyList list;
  atomic_uint work[units]; /* turns left; whoever takes one wakes the next unit */
} Ring;

static void *takeTurns(void *argument) {
  Ring *ring = argument;
  uint32_t unit;
  while (sambaReadyTake(&ring->list, &unit)) {
    do {
      sambaReadyBegin(&ring->list, unit);
      while (atomic_load(&ring->work[unit]) > 0) {
        atomic_fetch_sub(&ring->work[unit], 1);
        sambaReadyWake(&ring->list, (unit + 1) % units);
      }
    } while (!sambaReadyRest(&ring->list, unit));
    sambaReadyLeave(&ring->list, false);
  }
  return NULL;
}

/* Several threads: every turn is taken, and all threads end. */
static void threadsShareTheList(void **state) {
  (void)state;
  Ring ring;
  pthread_t threads[workers];
  sambaReadyInitialize(&ring.list, units);
  for (uint32_t i = 0; i < units; ++i)
    atomic_init(&ring.work[i], turns);
  sambaReadyWake(&ring.list, 0);

  for (int i = 0; i < workers; ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, takeTurns, &ring), 0);
  for (int i = 0; i < workers; ++i)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < units; ++i)
    assert_int_equal(atomic_load(&ring.work[i]), 0);
  sambaReadyDestroy(&ring.list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unitsLeaveInTheOrderOfTheirWakes),
      cmocka_unit_test(aWakeWhileAUnitRunsIsNotLost),
      cmocka_unit_test(aStopEndsTheListForAll),
      cmocka_unit_test(threadsShareTheList),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
