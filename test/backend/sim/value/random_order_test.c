/* Property test: a load feeds a store over memory that overlaps at random; guards, strides
 * and element sizes are random too. The check of memory order refuses exactly those pairs of which
 * one store's firing writes a byte that a later firing of the load reads. */
#include "backend/section/access.h"
#include "backend/section/check/order_check.h"
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { memoryBytes = 4096 };

static uint32_t upTo(uint32_t n) { return 1 + (uint32_t)(lrand48() % n); } /* 1..n */
static bool chance(int percent) { return lrand48() % 100 < percent; }

/* A chain of `counters` counters with these trips over few addresses, some guarded. */
static SambaAccess randomAccess(Builder *builder, uint32_t counters, uint32_t level,
                                const uint32_t *trips) {
  int64_t strides[4], dense = 1;
  for (uint32_t c = counters; c-- > 0;) {
    strides[c] = chance(70) ? dense : (int64_t)(lrand48() % 7);
    dense *= trips[c];
  }
  SambaAccess access = builderAccess(counters, level, builderTrips(builder, counters, trips),
                                     builderStrides(builder, counters, strides));
  access.base = chance(50) ? lrand48() % 4 : 0;
  if (chance(40)) {
    SambaGuard *guard = SAMBA_ARENA_NEW(&builder->arena, SambaGuard);
    int64_t steps[4];
    for (uint32_t c = 0; c < counters; ++c)
      steps[c] = lrand48() % 3 - 1;
    *guard = (SambaGuard){lrand48() % 3 - 1, 1 + lrand48() % 5,
                          builderStrides(builder, counters, steps)};
    access.guards = guard;
    access.guard_count = 1;
  }
  return access;
}

/* The first or the last firing, from 1, that touches each byte; 0: none. */
static void touch(const SambaAccess *access, uint64_t elements, uint64_t origin, uint32_t size,
                  bool last, uint32_t *firings) {
  uint64_t inner = sambaTripProduct(access->trips, access->token_level, access->counter_count);
  uint64_t steps = sambaTripProduct(access->trips, 0, access->counter_count);
  for (uint64_t step = 0; step < steps; ++step) {
    int64_t at = access->base, value = access->guard_count ? access->guards[0].constant : 0;
    uint64_t rest = step;
    for (uint32_t c = access->counter_count; c-- > 0;) {
      int64_t counter = (int64_t)(rest % access->trips[c]);
      rest /= access->trips[c];
      at += access->strides[c] * counter;
      value += access->guard_count ? access->guards[0].strides[c] * counter : 0;
    }
    if (access->guard_count && (value < 0 || value >= access->guards[0].limit))
      continue;
    assert_true(at >= 0 && (uint64_t)at < elements);
    for (uint32_t b = 0; b < size; ++b) {
      uint32_t *firing = &firings[origin + (uint64_t)at * size + b];
      if (last || !*firing)
        *firing = (uint32_t)(step / inner) + 1;
    }
  }
}

static bool compareOnce(long seed) {
  srand48(seed);
  Builder builder;
  builderInitialize(&builder);
  uint32_t counters = upTo(4), level = (uint32_t)(lrand48() % (counters + 1)), trips[4];
  for (uint32_t c = 0; c < counters; ++c)
    trips[c] = upTo(4);
  const uint64_t elements = 600;
  const SambaDType dtype = chance(50) ? SAMBA_DTYPE_F32 : SAMBA_DTYPE_BF16;
  const uint32_t size = sambaDTypeBytes(dtype);

  uint32_t x = builderSymbol(&builder, "x", dtype, elements, false);
  uint32_t y = builderSymbol(&builder, "y", dtype, elements, true);
  SambaAccess from = randomAccess(&builder, counters, level, trips);
  SambaAccess to = chance(30) ? from : randomAccess(&builder, counters, level, trips);
  uint32_t load = builderLoad(&builder, x, from), store = builderStore(&builder, y, to);
  builderStream(&builder, load, 0, store, 0);
  uint64_t addresses[2] = {64, 64 + (uint64_t)(lrand48() % 20) * size};

  uint32_t *loaded = calloc(memoryBytes, sizeof *loaded);
  uint32_t *stored = calloc(memoryBytes, sizeof *stored);
  touch(&from, elements, addresses[0], size, true, loaded);
  touch(&to, elements, addresses[1], size, false, stored);
  bool conflict = false;
  for (uint32_t b = 0; b < memoryBytes; ++b)
    conflict |= stored[b] && loaded[b] > stored[b];

  SambaStatus status = sambaSectionCheckOrder(&builder.section, addresses);
  if (!status != !conflict)
    fprintf(stderr, "seed %ld: %s\n", seed, sambaStatusGetMessage(status));
  assert_int_equal(status != NULL, conflict);
  sambaStatusFree(status);
  free(loaded);
  free(stored);
  builderDestroy(&builder);
  return conflict;
}

static void testRandomPairs(void **state) {
  (void)state;
  long conflicts = 0;
  for (long seed = 1; seed <= 5000; ++seed)
    conflicts += compareOnce(seed);
  assert_in_range(conflicts, 500, 4500);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomPairs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
