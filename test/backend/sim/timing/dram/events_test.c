/* The event queue against a sorted list: near and far events, ties in the order of their coming.
 * Arithmetic on times against that on 128 bits. */
#include "backend/sim/timing/dram/events.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Expected {
  uint64_t time;
  uint32_t target;
  bool taken;
} Expected;

static void testOrder(void **state) {
  (void)state;
  enum { MOST = 3000 };
  static Expected expected[MOST];
  static const uint64_t distances[] = {
      1, 2, 64, 100, SAMBA_EVENT_WHEEL - 1, SAMBA_EVENT_WHEEL, SAMBA_EVENT_WHEEL + 900, 1000000};

  srand(3);
  SambaEvents *events = sambaAllocate(sizeof *events);
  sambaEventsInit(events);
  uint64_t now = 0;
  uint32_t pushed = 0, taken = 0;

  while (taken < MOST) {
    bool push = pushed < MOST && (pushed == taken || rand() % 5 < 3);
    if (push) {
      uint64_t time = now + (uint64_t)rand() % distances[rand() % 8];
      expected[pushed] = (Expected){time, pushed, false};
      sambaEventsPush(events, time, pushed++);
      continue;
    }
    uint32_t best = MOST;
    for (uint32_t i = 0; i < pushed; ++i)
      if (!expected[i].taken && (best == MOST || expected[i].time < expected[best].time))
        best = i;
    uint64_t time = 0;
    uint32_t target = 0;
    assert_true(sambaEventsPop(events, &time, &target));
    assert_int_equal(time, expected[best].time);
    assert_int_equal(target, best);
    expected[best].taken = true;
    now = time;
    ++taken;
  }

  uint64_t time;
  uint32_t target;
  assert_false(sambaEventsPop(events, &time, &target));
  sambaEventsFree(events);
  free(events);
}

static void testRoundingUp(void **state) {
  (void)state;
  static const uint64_t values[] = {
      0, 1, 2, 3, 63, 64, 65, 4095, UINT64_C(1) << 31, (UINT64_C(1) << 33) + 1, SAMBA_TIME_LIMIT};
  enum { COUNT = sizeof values / sizeof *values };
  for (uint32_t a = 0; a < COUNT; ++a)
    for (uint32_t b = 1; b < COUNT; ++b) {
      assert_int_equal(sambaTimeCeilDiv(values[a], values[b]),
                       values[a] / values[b] + (values[a] % values[b] != 0));
      for (uint32_t n = 0; n <= b; ++n) { /* products on both sides of 2^64 */
        unsigned __int128 product = (unsigned __int128)values[a] * values[n];
        assert_int_equal(sambaTimeScale(values[a], values[n], values[b]),
                         (uint64_t)((product + values[b] - 1) / values[b]));
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testOrder), cmocka_unit_test(testRoundingUp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
