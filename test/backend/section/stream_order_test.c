/* Orders of streams: merging, and what lies between two orders, against sequences that are written
 * out element by element. */
#include "backend/section/stream_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { most = 1 << 14 };
typedef struct Written {
  uint32_t length;
  int32_t places[most];
} Written;

/* Counters as they are written down, not merged. */
typedef struct Nest {
  uint32_t count;
  uint32_t trips[24];
  int64_t steps[24];
} Nest;

static void writeOut(const Nest *nest, Written *out) {
  uint32_t counters[24] = {0};
  int64_t lowest = 0;
  out->length = 0;
  for (;;) {
    int64_t place = 0;
    for (uint32_t c = 0; c < nest->count; ++c)
      place += counters[c] * nest->steps[c];
    lowest = place < lowest ? place : lowest;
    out->places[out->length++] = (int32_t)place;
    uint32_t c = nest->count;
    while (c > 0 && ++counters[c - 1] == nest->trips[c - 1])
      counters[--c] = 0;
    if (c == 0)
      break;
  }
  for (uint32_t n = 0; n < out->length; ++n)
    out->places[n] -= (int32_t)lowest;
}

static SambaStreamOrder orderOf(const Nest *nest) {
  return sambaOrderOf(nest->trips, nest->steps, 0, nest->count);
}

static uint64_t randomState = 88172645463325252u;
static uint32_t draw(uint32_t bound) {
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  return (uint32_t)((randomState >> 32) * bound >> 32);
}

/* Cuts runs of places at random into counters and puts these into a random order. */
static Nest drawNest(const uint32_t *runs, const int64_t *pitches, uint32_t run_count,
                     bool backwards) {
  Nest nest = {0};
  for (uint32_t r = 0; r < run_count; ++r) {
    int64_t step = pitches[r];
    for (uint32_t left = runs[r]; left > 1;) {
      uint32_t trips = left;
      if (draw(3)) {
        trips = 2 + draw(left - 1);
        while (left % trips)
          trips = 2 + draw(left - 1);
      }
      nest.trips[nest.count] = trips;
      nest.steps[nest.count++] = step;
      step *= trips;
      left /= trips;
    }
  }
  for (uint32_t c = 0; c < nest.count; ++c) {
    uint32_t other = c + draw(nest.count - c);
    uint32_t trips = nest.trips[c];
    int64_t step = nest.steps[c];
    nest.trips[c] = nest.trips[other];
    nest.steps[c] = nest.steps[other];
    nest.trips[other] = trips;
    nest.steps[other] = backwards && !draw(4) ? -step : step;
  }
  return nest;
}

static void insertRepeat(Nest *nest) {
  uint32_t at = draw(nest->count + 1);
  memmove(&nest->trips[at + 1], &nest->trips[at], (nest->count - at) * sizeof *nest->trips);
  memmove(&nest->steps[at + 1], &nest->steps[at], (nest->count - at) * sizeof *nest->steps);
  nest->trips[at] = 2 + draw(2);
  nest->steps[at] = 0;
  ++nest->count;
}

/* The fewest words with which a buffer gets through, and what must be there before the first read:
 * by trying sizes, with reads as early as they can be. */
static bool getsThrough(const Written *made, const Written *taken, uint32_t words,
                        uint32_t *out_first) {
  static uint32_t last[1 << 16];
  static bool there[1 << 16];
  memset(there, 0, sizeof there);
  for (uint32_t n = 0; n < taken->length; ++n)
    last[taken->places[n]] = n;
  uint32_t written = 0, read = 0, held = 0;
  while (read < taken->length) {
    if (there[taken->places[read]]) {
      held -= last[taken->places[read]] == read;
      *out_first = read ? *out_first : written;
      ++read;
    } else {
      if (written == made->length || held == words)
        return false;
      there[made->places[written++]] = true;
      ++held;
    }
  }
  return true;
}

static bool sameSets(const Written *made, const Written *taken, uint32_t block) {
  static uint32_t seen[1 << 16];
  static uint32_t round;
  uint32_t share = taken->length / (made->length / block);
  for (uint32_t b = 0; b < made->length / block; ++b) {
    ++round;
    for (uint32_t n = 0; n < block; ++n)
      seen[made->places[b * block + n]] = round;
    for (uint32_t n = 0; n < share; ++n)
      if (seen[taken->places[b * share + n]] != round)
        return false;
  }
  return true;
}

static void compare(const Nest *a, const Nest *b) {
  static Written made, taken;
  writeOut(a, &made);
  writeOut(b, &taken);
  SambaStreamOrder order = orderOf(a), other = orderOf(b);
  assert_int_equal(sambaOrdersEqual(&order, &other),
                   made.length == taken.length &&
                       memcmp(made.places, taken.places, made.length * sizeof *made.places) == 0);
  SambaConversion found;
  assert_true(sambaOrderConversion(&order, &other, &found));
  assert_true(found.exact);

  uint32_t words = 1, first = 0;
  while (!getsThrough(&made, &taken, words, &first))
    ++words;
  assert_int_equal(found.window, words);
  assert_int_equal(found.first, first);
  uint32_t block = 1;
  while (made.length % block || !sameSets(&made, &taken, block))
    ++block;
  assert_int_equal(found.block, block);
}

static void randomOrders(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
  for (uint32_t i = 0; i < 6000; ++i) {
    uint32_t runs[2] = {sizes[draw(9)], sizes[draw(9)]};
    int64_t pitches[2] = {1 + draw(3), 0};
    pitches[1] = runs[0] * pitches[0] + draw(3);
    Nest made = drawNest(runs, pitches, 2, i % 3 == 0);
    Nest taken = drawNest(runs, pitches, 2, i % 3 == 0);
    for (uint32_t repeats = draw(3); repeats > 0; --repeats)
      insertRepeat(&taken);
    compare(&made, &taken);
  }
}

/* A window over rows as a convolution takes it: places come again in no regular way. */
static void windowsThatOverlap(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 300; ++i) {
    uint32_t size = 1 + draw(3), high = 1 + draw(6), wide = 1 + draw(6);
    int64_t row = wide + size - 1;
    Nest made = {1, {(uint32_t)((high + size - 1) * row)}, {1}};
    Nest taken = {4, {high, wide, size, size}, {row, 1, row, 1}};
    if (draw(2))
      taken = (Nest){4, {size, size, high, wide}, {row, 1, row, 1}};
    static Written a, b;
    writeOut(&made, &a);
    writeOut(&taken, &b);
    SambaStreamOrder order = orderOf(&made), other = orderOf(&taken);
    SambaConversion found;
    assert_true(sambaOrderConversion(&order, &other, &found));
    uint32_t words = 1, first = 0;
    while (!getsThrough(&a, &b, words, &first))
      ++words;
    assert_true(found.exact);
    assert_int_equal(found.window, words);
    assert_int_equal(found.first, first);
    assert_true(found.block <= a.length && sameSets(&a, &b, (uint32_t)found.block));
  }
}

/* Worked out by hand. */
static void knownConversions(void **state) {
  (void)state;
  SambaConversion found;
  Nest rows = {2, {16, 8}, {8, 1}}, columns = {2, {8, 16}, {1, 8}};
  SambaStreamOrder a = orderOf(&rows), b = orderOf(&columns);

  /* Equal orders need a register; a transpose of 16 x 8 all but one row and one element. */
  assert_true(sambaOrderConversion(&a, &a, &found));
  assert_int_equal(found.window, 1);
  assert_int_equal(found.block, 1);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_int_equal(found.window, 15 * 7 + 1);
  assert_int_equal(found.first, 1);
  assert_int_equal(found.block, 128);

  /* Rows of 8 that are wanted in tiles of 4 x 4: four rows but for the last half of each. */
  Nest tiles = {4, {4, 2, 4, 4}, {32, 4, 8, 1}};
  b = orderOf(&tiles);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_int_equal(found.block, 32);
  assert_int_equal(found.window, 13);

  /* Each row twice: a row is held. All of it twice: everything is. */
  Nest twice = {3, {16, 2, 8}, {8, 0, 1}}, again = {3, {2, 16, 8}, {0, 8, 1}};
  b = orderOf(&twice);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_int_equal(found.window, 8);
  assert_int_equal(found.block, 8);
  b = orderOf(&again);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_int_equal(found.window, 128);

  /* 1,000,000 x 64 against its transpose: nothing is written out. */
  Nest large = {2, {1000000, 64}, {64, 1}}, across = {2, {64, 1000000}, {1, 64}};
  a = orderOf(&large);
  b = orderOf(&across);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_int_equal(found.window, UINT64_C(999999) * 63 + 1);
  /* Cuts that no two have in common, too many to be tried: a bound. */
  Nest odd = {2, {2999, 3001}, {1, 2999}}, even = {2, {3001, 2999}, {1, 3001}};
  a = orderOf(&odd);
  b = orderOf(&even);
  assert_true(sambaOrderConversion(&a, &b, &found));
  assert_false(found.exact);
  assert_true(found.window <= UINT64_C(2999) * 3001);
}

static void otherElements(void **state) {
  (void)state;
  SambaConversion found;
  Nest all = {1, {128}, {1}}, half = {1, {64}, {2}}, twice = {2, {2, 128}, {0, 1}};
  SambaStreamOrder a = orderOf(&all), b = orderOf(&half), c = orderOf(&twice);
  assert_false(sambaOrderConversion(&a, &b, &found));
  assert_false(sambaOrderConversion(&c, &a, &found)); /* sends everything twice */
}

static void merging(void **state) {
  (void)state;
  SambaArena arena = {0};
  Nest dense = {4, {4, 1, 8, 2}, {16, 99, 2, 1}}, flat = {1, {64}, {1}};
  SambaStreamOrder a = orderOf(&dense), b = orderOf(&flat);
  assert_true(sambaOrdersEqual(&a, &b));
  assert_int_equal(sambaOrderLength(&a), 64);
  assert_string_equal(sambaOrderText(&arena, &a), "64 by [1]");
  Nest columns = {2, {8, 16}, {1, 8}}, one = {0};
  a = orderOf(&columns);
  assert_false(sambaOrdersEqual(&a, &b));
  assert_string_equal(sambaOrderText(&arena, &a), "8x16 by [1, 8]");
  a = orderOf(&one);
  assert_string_equal(sambaOrderText(&arena, &a), "1 by []");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(merging), cmocka_unit_test(knownConversions),
                                     cmocka_unit_test(otherElements),
                                     cmocka_unit_test(windowsThatOverlap),
                                     cmocka_unit_test(randomOrders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
