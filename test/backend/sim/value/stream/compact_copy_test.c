/* Copies without what a token repeats: each element of the token must be found in the copy, at the
 * place that the layout names and with the address and the guards that it has in the token. */
#include "backend/sim/value/stream/compact_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_INNER = 5, GUARDS = 2 };

typedef struct Sample {
  uint32_t trips[MOST_INNER];
  int64_t strides[MOST_INNER], guard_strides[GUARDS][MOST_INNER];
  SambaGuard guards[GUARDS];
  SambaAccess access;
} Sample;

static void makeAccess(Sample *sample, uint32_t counters) {
  for (uint32_t g = 0; g < GUARDS; ++g)
    sample->guards[g] = (SambaGuard){.limit = 8, .strides = sample->guard_strides[g]};
  sample->access = (SambaAccess){.counter_count = counters,
                                 .trips = sample->trips,
                                 .strides = sample->strides,
                                 .guard_count = GUARDS,
                                 .guards = sample->guards};
}

/* Address and guards of one element of an access. */
typedef struct Place {
  int64_t values[1 + GUARDS];
} Place;

static Place placeOf(const SambaAccess *access, uint64_t element) {
  Place place = {{0}};
  for (uint32_t c = access->counter_count; c-- > 0; element /= access->trips[c]) {
    int64_t step = (int64_t)(element % access->trips[c]);
    place.values[0] += access->strides[c] * step;
    for (uint32_t g = 0; g < GUARDS; ++g)
      place.values[1 + g] += access->guards[g].strides[c] * step;
  }
  return place;
}

static uint64_t elementsOf(const SambaAccess *access) {
  uint64_t elements = 1;
  for (uint32_t c = 0; c < access->counter_count; ++c)
    elements *= access->trips[c];
  return elements;
}

static uint64_t inCopy(const SambaBlockLayout *layout, uint64_t element) {
  int64_t at = 0;
  for (uint32_t d = layout->rank; d-- > 0; element /= layout->trips[d])
    at += layout->strides[d] * (int64_t)(element % layout->trips[d]);
  assert_int_equal(element, 0); /* the layout has as many elements as the token */
  return (uint64_t)at;
}

/* Returns the elements of the copy. */
static uint64_t checkCopy(const Sample *sample) {
  SambaArena arena = {0};
  SambaBlockLayout layout;
  bool moved = sambaCompactLayout(&arena, &sample->access, &layout);
  const SambaAccess *copy = sambaCompactAccess(&arena, &sample->access);
  uint64_t elements = elementsOf(copy);

  for (uint64_t e = 0; e < elementsOf(&sample->access); ++e) {
    uint64_t at = moved ? inCopy(&layout, e) : e;
    assert_in_range(at, 0, elements - 1);
    Place here = placeOf(&sample->access, e), there = placeOf(copy, at);
    assert_memory_equal(&here, &there, sizeof here);
  }
  sambaArenaDestroy(&arena);
  return elements;
}

/* Channels, 3 x 3 taps, 2 x 8 points of a padded image of 8 x 8: 4 rows of 10 are read. */
static void windowsOverlap(void **state) {
  (void)state;
  Sample sample = {.trips = {16, 3, 3, 2, 8},
                   .strides = {64, 8, 1, 8, 1},
                   .guard_strides = {{0, 1, 0, 1, 0}, {0, 0, 1, 0, 1}}};
  makeAccess(&sample, 5);
  assert_int_equal(checkCopy(&sample), 16 * 4 * 10);
}

/* Steps of two: neighbouring taps are one apart, points two, and no element lies between. */
static void stridedWindowsOverlap(void **state) {
  (void)state;
  Sample sample = {.trips = {3, 4}, .strides = {1, 2}, .guard_strides = {{1, 2}, {0, 0}}};
  makeAccess(&sample, 2);
  assert_int_equal(checkCopy(&sample), 9);
}

/* Points four apart under three taps: what lies between may be outside the slot. */
static void gapsAreNotCopied(void **state) {
  (void)state;
  Sample sample = {.trips = {3, 4}, .strides = {1, 4}, .guard_strides = {{1, 4}, {0, 0}}};
  makeAccess(&sample, 2);
  assert_int_equal(checkCopy(&sample), 12);
}

/* The same address under another guard is another element. */
static void guardsTellElementsApart(void **state) {
  (void)state;
  Sample sample = {.trips = {3, 4}, .strides = {1, 1}, .guard_strides = {{1, 0}, {0, 1}}};
  makeAccess(&sample, 2);
  assert_int_equal(checkCopy(&sample), 12);
}

static void repeatsAreCopiedOnce(void **state) {
  (void)state;
  Sample sample = {.trips = {5, 4, 3}, .strides = {0, 1, 4}, .guard_strides = {{0, 1, 0}, {0}}};
  makeAccess(&sample, 3);
  assert_int_equal(checkCopy(&sample), 12);
}

/* Strides and guards are drawn from few values, so that many of them go together. */
static void everyElementIsFound(void **state) {
  (void)state;
  uint32_t smaller = 0;
  srand(5);
  for (int round = 0; round < 2000; ++round) {
    Sample sample = {.trips = {0}};
    for (uint32_t c = 0; c < MOST_INNER; ++c) {
      sample.trips[c] = 1 + (uint32_t)rand() % 5;
      sample.strides[c] = rand() % 9 - 2;
      for (uint32_t g = 0; g < GUARDS; ++g)
        sample.guard_strides[g][c] = sample.strides[c] * (rand() % 3 - 1);
    }
    makeAccess(&sample, 1 + (uint32_t)rand() % MOST_INNER);
    smaller += checkCopy(&sample) < elementsOf(&sample.access);
  }
  assert_in_range(smaller, 500, 2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windowsOverlap),       cmocka_unit_test(stridedWindowsOverlap),
      cmocka_unit_test(gapsAreNotCopied),     cmocka_unit_test(guardsTellElementsApart),
      cmocka_unit_test(repeatsAreCopiedOnce), cmocka_unit_test(everyElementIsFound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
