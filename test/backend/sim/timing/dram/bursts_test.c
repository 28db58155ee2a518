/* Walking access patterns: the runs of bytes an address generator asks for, against a brute-force
 * walk element by element. */
#include "backend/sim/timing/dram/bursts.h"
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Pattern {
  uint32_t count, token_level, trips[5];
  int64_t strides[5], base;
  uint32_t guard_count;
  int64_t guards[2][7]; /* constant, limit, strides */
} Pattern;

/* Bytes touched by one token, element by element: a count per burst of 64 bytes. */
static uint64_t bruteForceBursts(const Pattern *pattern, uint64_t token, uint32_t element_bytes,
                                 uint8_t *touched, size_t size) {
  uint64_t elements = 1, enabled = 0;
  memset(touched, 0, size);
  for (uint32_t c = pattern->token_level; c < pattern->count; ++c)
    elements *= pattern->trips[c];

  for (uint64_t e = 0; e < elements; ++e) {
    uint64_t rest = token * elements + e;
    int64_t counters[5];
    int64_t address = pattern->base;
    for (uint32_t c = pattern->count; c-- > 0; rest /= pattern->trips[c])
      counters[c] = (int64_t)(rest % pattern->trips[c]);
    bool on = true;
    for (uint32_t g = 0; g < pattern->guard_count; ++g) {
      int64_t value = pattern->guards[g][0];
      for (uint32_t c = 0; c < pattern->count; ++c)
        value += pattern->guards[g][2 + c] * counters[c];
      on &= value >= 0 && value < pattern->guards[g][1];
    }
    for (uint32_t c = 0; c < pattern->count; ++c)
      address += pattern->strides[c] * counters[c];
    if (!on)
      continue;
    ++enabled;
    touched[(uint64_t)address * element_bytes / 64] =
        touched[((uint64_t)address * element_bytes + element_bytes - 1) / 64] = 1;
  }

  return enabled;
}

static void checkPattern(const Pattern *pattern, uint32_t element_bytes) {
  enum { SPACE = 1 << 12 };
  static uint8_t expected[SPACE], found[SPACE];
  SambaArena arena = {0};
  SambaGuard guards[2];

  for (uint32_t g = 0; g < pattern->guard_count; ++g)
    guards[g] = (SambaGuard){pattern->guards[g][0], pattern->guards[g][1], &pattern->guards[g][2]};
  SambaAccess access = {.counter_count = pattern->count,
                        .trips = pattern->trips,
                        .token_level = pattern->token_level,
                        .base = pattern->base,
                        .strides = pattern->strides,
                        .guard_count = pattern->guard_count,
                        .guards = guards};
  SambaBurstWalk walk;
  sambaBurstWalkInit(&walk, &arena, &access, element_bytes, 64, NULL, 0);
  uint64_t tokens = 1, elements = 1;
  for (uint32_t c = 0; c < pattern->count; ++c)
    *(c < pattern->token_level ? &tokens : &elements) *= pattern->trips[c];

  for (uint64_t token = 0; token < tokens; ++token) {
    bruteForceBursts(pattern, token, element_bytes, expected, SPACE);
    memset(found, 0, SPACE);
    uint64_t covered = 0;
    SambaBurstRun run;
    do {
      assert_true(sambaBurstWalkNext(&walk, &run));
      for (uint64_t e = run.skipped; run.begin < run.end && e < run.elements; ++e) {
        uint64_t offset = sambaBurstRunOffset(&walk, run.skipped, e);
        if (run.begin + (int64_t)offset >= run.end) /* disabled elements behind the last burst */
          break;
        assert_int_equal(sambaBurstRunElements(&walk, &run, offset), offset ? e : 0);
        assert_int_equal(sambaBurstRunElements(&walk, &run, offset + 1), e + 1);
      }
      covered += run.elements;
      for (int64_t burst = run.begin / 64; run.begin < run.end && burst <= (run.end - 1) / 64;
           ++burst)
        found[burst] = 1;
    } while (!run.ends_token);
    assert_int_equal(covered, elements);
    assert_memory_equal(found, expected, SPACE);
  }

  SambaBurstRun run;
  assert_false(sambaBurstWalkNext(&walk, &run));
  sambaArenaDestroy(&arena);
}

static void testShapes(void **state) {
  (void)state;
  Pattern patterns[] = {
      {2, 1, {4, 256}, {256, 1}, 0, 0, {{0}}},       /* one dense run per token */
      {3, 1, {4, 8, 16}, {16, 100, 1}, 5, 0, {{0}}}, /* rows with a pitch, unaligned */
      {3, 1, {2, 8, 16}, {16, 20, 1}, 0, 0, {{0}}},  /* pitch with gaps below a burst */
      {3, 1, {4, 16, 16}, {1, 64, 4}, 0, 0, {{0}}},  /* every fourth element */
      {3, 1, {2, 8, 32}, {1, 2, 64}, 0, 0, {{0}}},   /* columns */
      {3, 1, {3, 8, 16}, {0, 16, 1}, 0, 0, {{0}}},   /* the same token again */
      {3, 1, {3, 10, 12}, {10, 30, 1}, 0, 1, {{0, 30, 10, 0, 1}}}, /* ragged on the right: 30 of 36
                                                                    */
      {4,
       2,
       {2, 2, 6, 6},
       {60, 3, 12, 1},
       13,
       2,
       {{-1, 9, 5, 0, 1, 0}, {-1, 8, 0, 3, 0, 1}}},                   /* halo on all sides */
      {3, 1, {2, 4, 16}, {64, 128, -1}, 300, 0, {{0}}},               /* backwards */
      {3, 1, {2, 4, 16}, {64, 128, 1}, 300, 1, {{10, 12, 0, 0, -1}}}, /* guard against the counter
                                                                       */
      {3, 1, {2, 4, 16}, {64, 128, 1}, 300, 1, {{100, 12, 0, 0, 0}}}, /* nothing enabled */
      {3, 1, {2, 1, 1}, {64, 128, 7}, 300, 0, {{0}}},                 /* single elements */
  };
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i)
    for (uint32_t bytes = 1; bytes <= 8; bytes *= 2)
      checkPattern(&patterns[i], bytes);
}

static void testRandomPatterns(void **state) {
  (void)state;
  srand(1);
  for (int trial = 0; trial < 500; ++trial) {
    Pattern pattern = {.count = 4,
                       .token_level = 1 + (uint32_t)(rand() % 2),
                       .base = 200,
                       .guard_count = (uint32_t)(rand() % 3)};
    static const int64_t strides[] = {0, 1, 1, 1, 2, 3, 8, 40, -1, -8};
    for (uint32_t c = 0; c < 4; ++c) {
      pattern.trips[c] = 1 + (uint32_t)(rand() % 6);
      pattern.strides[c] = strides[rand() % 10];
      for (uint32_t g = 0; g < 2; ++g)
        pattern.guards[g][2 + c] = rand() % 3 ? 0 : rand() % 5 - 2;
    }
    for (uint32_t g = 0; g < 2; ++g) {
      pattern.guards[g][0] = rand() % 7 - 3;
      pattern.guards[g][1] = 1 + rand() % 6;
    }
    checkPattern(&pattern, 1u << rand() % 4);
  }
}

static void testIndexedRuns(void **state) {
  (void)state;

  /* Rows of 16 f32 picked by a traced index: one addend (in elements) per row. */
  SambaArena arena = {0};
  uint32_t trips[] = {2, 3, 16};
  int64_t strides[] = {0, 0, 1};
  int64_t addends[] = {160, 0, 48, 16, 16, 320};
  SambaAccess access = {.counter_count = 3,
                        .trips = trips,
                        .token_level = 1,
                        .strides = strides,
                        .has_index = true,
                        .index_counters = 1,
                        .index_stride = 16,
                        .index_limit = 100};
  SambaBurstWalk walk;
  SambaBurstRun run;
  sambaBurstWalkInit(&walk, &arena, &access, 4, 64, addends, 6);

  for (int i = 0; i < 6; ++i) {
    assert_true(sambaBurstWalkNext(&walk, &run));
    assert_int_equal(run.begin, addends[i] * 4);
    assert_int_equal(run.end, addends[i] * 4 + 64);
    assert_int_equal(run.ends_token, i % 3 == 2);
  }

  assert_false(sambaBurstWalkNext(&walk, &run));

  /* Without a trace the stand-in stays within the limit. */
  sambaBurstWalkInit(&walk, &arena, &access, 4, 64, NULL, 0);
  while (sambaBurstWalkNext(&walk, &run))
    assert_in_range(run.begin, 0, 99 * 64);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShapes),
                                     cmocka_unit_test(testRandomPatterns),
                                     cmocka_unit_test(testIndexedRuns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
