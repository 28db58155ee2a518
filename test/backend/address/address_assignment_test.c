/* backend/address/address_assignment.h: random intervals against a naive check and lower bound,
 * small ones against the best of all orders, and each refusal. */
#include "backend/address/address_assignment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { alignment = 64 };

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }
static uint64_t up(uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

static void fillRandom(SambaMemoryInterval *intervals, uint32_t count, uint32_t calls,
                       uint32_t *seed) {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t first = next(seed) % calls;
    intervals[i] = (SambaMemoryInterval){.bytes = next(seed) % 5 == 0 ? 0 : next(seed) % 2000,
                                         .first_call = first,
                                         .last_call = first + next(seed) % (calls - first)};
  }
}

/* Every byte of every call, one by one. */
static void checkNaively(const SambaMemoryInterval *intervals, uint32_t count, uint32_t calls,
                         uint64_t bytes) {
  uint8_t *taken = calloc(bytes + 1, 1);
  for (uint32_t call = 0; call < calls; ++call) {
    memset(taken, 0, bytes);
    for (uint32_t i = 0; i < count; ++i) {
      if (call < intervals[i].first_call || call > intervals[i].last_call)
        continue;
      assert_int_equal(intervals[i].offset % alignment, 0);
      assert_true(intervals[i].offset + intervals[i].bytes <= bytes);
      for (uint64_t b = 0; b < intervals[i].bytes; ++b)
        assert_int_equal(taken[intervals[i].offset + b]++, 0);
    }
  }
  free(taken);
}

static uint64_t naiveLargest(const SambaMemoryInterval *intervals, uint32_t count, uint32_t calls) {
  uint64_t largest = 0;
  for (uint32_t call = 0; call < calls; ++call) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i)
      sum += call >= intervals[i].first_call && call <= intervals[i].last_call
                 ? up(intervals[i].bytes)
                 : 0;
    largest = sum > largest ? sum : largest;
  }
  return largest;
}

static void randomAssignmentsHold(void **state) {
  (void)state;
  uint32_t seed = 3;

  for (int round = 0; round < 200; ++round) {
    enum { most = 40, calls = 12 };
    SambaMemoryInterval intervals[most], again[most];
    uint32_t count = next(&seed) % (most + 1);
    uint64_t bytes, bytesAgain;
    fillRandom(intervals, count, calls, &seed);
    memcpy(again, intervals, sizeof again);
    assert_null(sambaMemoryAssign(intervals, count, alignment, &bytes));
    assert_null(sambaMemoryCheck(intervals, count, alignment, bytes));
    checkNaively(intervals, count, calls, bytes);
    uint64_t largest = naiveLargest(intervals, count, calls);
    assert_true(bytes >= largest && bytes <= largest * 3 / 2 + 4 * alignment);
    assert_null(sambaMemoryAssign(again, count, alignment, &bytesAgain)); /* deterministic */
    assert_int_equal(bytesAgain, bytes);
    for (uint32_t i = 0; i < count; ++i)
      assert_int_equal(again[i].offset, intervals[i].offset);
  }
}

static void chainsNeedTwoPlaces(void **state) {
  (void)state;
  SambaMemoryInterval chain[30];
  uint64_t bytes;
  for (uint32_t i = 0; i < 30; ++i)
    chain[i] = (SambaMemoryInterval){.bytes = 1000, .first_call = i, .last_call = i + 1};
  assert_null(sambaMemoryAssign(chain, 30, alignment, &bytes));
  assert_int_equal(bytes, 2 * up(1000));
}

static void refused(SambaStatus status, const char *wanted) {
  assert_non_null(status);
  assert_non_null(strstr(sambaStatusGetMessage(status), wanted));
  sambaStatusFree(status);
}

static void refusalsAndCorruptions(void **state) {
  (void)state;
  SambaMemoryInterval huge[3] = {
      {.bytes = UINT64_MAX / 2}, {.bytes = UINT64_MAX / 2}, {.bytes = UINT64_MAX / 2}};
  uint64_t bytes;

  refused(sambaMemoryAssign(huge, 3, alignment, &bytes),
          "the tensors of this graph need more bytes than 64 bits can count");
  SambaMemoryInterval pair[2] = {{.bytes = 100, .last_call = 1},
                                 {.bytes = 100, .first_call = 1, .last_call = 2}};
  assert_null(sambaMemoryAssign(pair, 2, alignment, &bytes));
  assert_int_equal(bytes, 256);
  pair[1].offset = 4;
  refused(sambaMemoryCheck(pair, 2, alignment, bytes), "interval 1 is not aligned to 64 bytes");
  pair[1].offset = 192;
  refused(sambaMemoryCheck(pair, 2, alignment, bytes), "interval 1 ends past byte 256");
  pair[1].offset = 64;
  refused(sambaMemoryCheck(pair, 2, alignment, bytes),
          "intervals 0 and 1 are alive in one call and share bytes");
  pair[1].first_call = 2;
  assert_null(sambaMemoryCheck(pair, 2, alignment, bytes));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(randomAssignmentsHold),
      cmocka_unit_test(chainsNeedTwoPlaces),
      cmocka_unit_test(refusalsAndCorruptions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
