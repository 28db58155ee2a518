/* The queue of a search against a list of all that waits, which is looked through each time. */
#include "backend/place/router/route_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 3000 };

typedef struct {
  uint32_t estimate, channel;
} Waiting;

/* The least estimate, and of equals the one that came last. */
static Waiting takeLeast(Waiting *list, uint32_t *count) {
  uint32_t least = 0;
  for (uint32_t i = 1; i < *count; ++i)
    if (list[i].estimate <= list[least].estimate)
      least = i;
  Waiting taken = list[least];
  --*count;
  for (uint32_t i = least; i < *count; ++i)
    list[i] = list[i + 1];
  return taken;
}

static uint32_t draw(uint64_t *random, uint32_t bound) {
  *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((*random >> 33) % bound);
}

/* Searches one after the other with one queue, near the first estimate and far above it: what one
 * leaves must not appear in the next. */
static void givesTheLeastAndNewest(void **state) {
  (void)state;
  SambaRouteQueue *queue = calloc(1, sizeof *queue);
  Waiting *list = calloc(MOST, sizeof *list);
  uint64_t random = 1;
  static const uint32_t spans[] = {40, 3000, 2 * SAMBA_ROUTE_BUCKETS, 70};

  for (uint32_t search = 0; search < 40; ++search) {
    uint32_t first = draw(&random, 5000), least = first, count = 0, pushed = 0;
    uint32_t span = spans[search % (sizeof spans / sizeof *spans)];
    sambaRouteQueueBegin(queue, first);
    while (pushed < MOST) {
      for (uint32_t some = draw(&random, 6); some && pushed < MOST; --some, ++pushed) {
        list[count] = (Waiting){least + draw(&random, span), pushed};
        sambaRouteQueuePush(queue, list[count].estimate, pushed, list[count].estimate + 1);
        ++count;
      }
      for (uint32_t some = draw(&random, 4); some && count; --some) {
        Waiting expected = takeLeast(list, &count);
        uint32_t channel, cost;
        assert_true(sambaRouteQueuePop(queue, &channel, &cost));
        assert_int_equal(channel, expected.channel);
        assert_int_equal(cost, expected.estimate + 1);
        least = expected.estimate;
      }
    }
  }

  sambaRouteQueueBegin(queue, 0);
  uint32_t channel, cost;
  assert_false(sambaRouteQueuePop(queue, &channel, &cost));
  sambaRouteQueueFree(queue);
  free(list);
  free(queue);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(givesTheLeastAndNewest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
