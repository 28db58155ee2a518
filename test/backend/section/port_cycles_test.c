/* Cycles of a PMU's ports: closed forms, and random patterns against the definition, counted word
 * by word. */
#include "backend/section/port_cycles.h"

#include "backend/machine/shipped.h"
#include "backend/section/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_COUNTERS = 6, MOST_GUARDS = 2 };

/* A port with room for its chain. */
typedef struct Pattern {
  SambaPort port;
  uint32_t trips[MOST_COUNTERS];
  int64_t strides[MOST_COUNTERS], guard_strides[MOST_GUARDS][MOST_COUNTERS];
  SambaGuard guards[MOST_GUARDS];
} Pattern;

static SambaMachine machineOf(int64_t banks) {
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  machine.pmu_banks = banks;
  return machine;
}

static void finish(Pattern *pattern) {
  SambaAccess *access = &pattern->port.access;
  access->trips = pattern->trips;
  access->strides = pattern->strides;
  access->guards = pattern->guards;
  for (uint32_t g = 0; g < access->guard_count; ++g)
    pattern->guards[g].strides = pattern->guard_strides[g];
  pattern->port.token_elements =
      sambaTripProduct(access->trips, access->token_level, access->counter_count);
}

/* One token of two counters, the outer one first. */
static Pattern tokenOf(SambaDType dtype, uint32_t outer, int64_t outer_stride, uint32_t inner,
                       int64_t inner_stride) {
  return (Pattern){.port = {.dtype = dtype, .access = {.counter_count = 2}},
                   .trips = {outer, inner},
                   .strides = {outer_stride, inner_stride}};
}

static uint64_t cyclesOf(const SambaMachine *machine, SambaBuffer buffer, Pattern *pattern,
                         uint64_t token) {
  SambaArena arena = {0};
  finish(pattern);
  SambaPortCycles *cycles =
      sambaPortCyclesCreate(sambaPortPatternsCreate(machine, &arena), &buffer, &pattern->port,
                            (uint64_t)machine->pmu_port_bytes);
  uint64_t result = sambaPortTokenCycles(cycles, token);
  sambaArenaDestroy(&arena);
  return result;
}

static const SambaBuffer column = {.banking = SAMBA_BANKING_COLUMN};
static SambaBuffer rowBanks(uint32_t words) {
  return (SambaBuffer){.banking = SAMBA_BANKING_ROW, .row_words = words};
}
static SambaBuffer diagonalBanks(uint32_t words, uint32_t skew) {
  return (SambaBuffer){.banking = SAMBA_BANKING_DIAGONAL, .row_words = words, .skew = skew};
}

/*===-- Closed forms --------------------------------------------------------------------------===*/

/* 64 words of one column take 64 / 16 vectors, each min(16, stride's power of two) cycles. */
static void stridesOfColumns(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  static const uint64_t expected[][2] = {{1, 4},   {2, 8},  {4, 16},  {8, 32},
                                         {16, 64}, {17, 4}, {32, 64}, {24, 32}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
    Pattern pattern = tokenOf(SAMBA_DTYPE_F32, 1, 0, 64, (int64_t)expected[i][0]);
    assert_int_equal(cyclesOf(&machine, column, &pattern, 0), expected[i][1]);
  }
}

/* [32 rows, 2] of 64 words a row: a vector is 8 pairs, which share two banks. */
static void pairsOfAColumn(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  Pattern pairs = tokenOf(SAMBA_DTYPE_F32, 32, 64, 2, 1);
  assert_int_equal(cyclesOf(&machine, column, &pairs, 0), 4 * 8);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 2), &pairs, 0), 4);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 1), &pairs, 0), 4 * 2);

  /* A pair of bf16 is one word, which serves both. */
  Pattern words = tokenOf(SAMBA_DTYPE_BF16, 32, 64, 2, 1);
  assert_int_equal(cyclesOf(&machine, column, &words, 0), 2 * 16);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(32, 1), &words, 0), 2);
}

/* A diagonal has a column at full rate only when the shift per row and the banks have no common
 * divisor, and only for columns of its own rows. */
static void shiftsOfDiagonals(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  Pattern down = tokenOf(SAMBA_DTYPE_F32, 1, 0, 64, 64);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 1), &down, 0), 4);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 2), &down, 0), 4 * 2);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 8), &down, 0), 4 * 8);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 15), &down, 0), 4);

  Pattern every_other_row = tokenOf(SAMBA_DTYPE_F32, 1, 0, 64, 128);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 1), &every_other_row, 0), 4 * 2);
  Pattern diagonal = tokenOf(SAMBA_DTYPE_F32, 1, 0, 64, 63); /* against the shift */
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 1), &diagonal, 0), 4 * 16 - 1);

  /* Rows of one bank: along a row all words meet, down a column none do. */
  Pattern along = tokenOf(SAMBA_DTYPE_F32, 1, 0, 64, 1);
  assert_int_equal(cyclesOf(&machine, rowBanks(64), &along, 0), 4 * 16);
  assert_int_equal(cyclesOf(&machine, rowBanks(64), &down, 0), 4);
}

/* Operands of the array, k-major: 16 rows of two steps of bf16 make a vector, out of [rows][k] and
 * out of [k][columns]. */
static void operandsOfTheArray(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  Pattern rows = tokenOf(SAMBA_DTYPE_BF16, 64, 1, 16, 64);
  assert_int_equal(cyclesOf(&machine, column, &rows, 0), 32 * 16);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(32, 1), &rows, 0), 32);
  Pattern columns = tokenOf(SAMBA_DTYPE_BF16, 64, 64, 16, 1);
  assert_int_equal(cyclesOf(&machine, column, &columns, 0), 32 * 2);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(32, 8), &columns, 0), 32);

  Pattern wide_rows = tokenOf(SAMBA_DTYPE_F32, 64, 1, 16, 64);
  assert_int_equal(cyclesOf(&machine, column, &wide_rows, 0), 64 * 16);
  assert_int_equal(cyclesOf(&machine, diagonalBanks(64, 1), &wide_rows, 0), 64);
  Pattern wide_columns = tokenOf(SAMBA_DTYPE_F32, 64, 64, 16, 1);
  assert_int_equal(cyclesOf(&machine, column, &wide_columns, 0), 64);
}

/* A broadcast is one word; 64-bit elements are two. */
static void wordsAndElements(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  Pattern same = tokenOf(SAMBA_DTYPE_F32, 4, 0, 16, 0);
  assert_int_equal(cyclesOf(&machine, column, &same, 0), 4);
  Pattern wide = tokenOf(SAMBA_DTYPE_I64, 1, 0, 32, 1);
  assert_int_equal(cyclesOf(&machine, column, &wide, 0), 4);
  Pattern apart = tokenOf(SAMBA_DTYPE_I64, 1, 0, 32, 8);
  assert_int_equal(cyclesOf(&machine, column, &apart, 0), 4 * 8);
  Pattern one = tokenOf(SAMBA_DTYPE_I64, 1, 0, 1, 0);
  assert_int_equal(cyclesOf(&machine, column, &one, 0), 1);

  /* Two tokens of 8 bytes that begin inside of a word and at one. */
  Pattern odd = tokenOf(SAMBA_DTYPE_I8, 2, 65, 8, 8);
  odd.port.access.token_level = 1;
  assert_int_equal(cyclesOf(&machine, column, &odd, 0), 1);
  machine.pmu_word_bytes = 64;
  assert_int_equal(cyclesOf(&machine, column, &odd, 0), 1);
  assert_int_equal(cyclesOf(&machine, column, &odd, 1), 1);
  odd.strides[0] = 9;
  machine.pmu_banks = 1;
  assert_int_equal(cyclesOf(&machine, column, &odd, 0), 1);
  assert_int_equal(cyclesOf(&machine, column, &odd, 1), 2);
}

/* A counter of 2^20 steps, and 2^27 elements: counted without walking them. */
static void longTokens(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  Pattern pattern = tokenOf(SAMBA_DTYPE_BF16, 1 << 15, 0, 1 << 12, 1);
  assert_int_equal(cyclesOf(&machine, column, &pattern, 0), 1 << 22);
}

/*===-- Against the definition ----------------------------------------------------------------===*/

static uint32_t randomBelow(uint64_t *random, uint32_t bound) {
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*random >> 33) % bound;
}

static uint64_t bankOf(const SambaMachine *machine, const SambaBuffer *buffer, uint64_t word) {
  uint64_t bank = word;
  if (buffer->banking == SAMBA_BANKING_ROW)
    bank = word / buffer->row_words;
  if (buffer->banking == SAMBA_BANKING_DIAGONAL)
    bank = word + buffer->skew * (word / buffer->row_words);
  return bank % (uint64_t)machine->pmu_banks;
}

/* The most words that one bank has among `words`, each counted once. */
static uint64_t fullestBank(const SambaMachine *machine, const SambaBuffer *buffer,
                            const uint64_t *words, uint32_t count) {
  uint64_t most = 1;
  for (int64_t bank = 0; bank < machine->pmu_banks; ++bank) {
    uint64_t here = 0;
    for (uint32_t i = 0; i < count; ++i) {
      bool first = true;
      for (uint32_t k = 0; k < i; ++k)
        first &= words[k] != words[i];
      here += first && bankOf(machine, buffer, words[i]) == (uint64_t)bank;
    }
    most = here > most ? here : most;
  }
  return most;
}

static int64_t affine(int64_t start, const int64_t *strides, const uint32_t *counters,
                      uint32_t count) {
  for (uint32_t c = 0; c < count; ++c)
    start += strides[c] * (int64_t)counters[c];
  return start;
}

/* Cycles of a token; vectors -> those of each of its vectors. */
static uint64_t definedVectors(const SambaMachine *machine, const SambaBuffer *buffer,
                               const Pattern *pattern, uint64_t token, uint32_t *vectors) {
  const SambaAccess *access = &pattern->port.access;
  uint32_t bytes = sambaDTypeBytes(pattern->port.dtype);
  uint64_t elements = pattern->port.token_elements, cycles = 0;
  uint64_t in_vector = (uint64_t)machine->pmu_port_bytes / bytes;
  uint64_t words[2048];
  uint32_t count = 0;

  for (uint64_t e = 0; e < elements; ++e) {
    uint32_t counters[MOST_COUNTERS];
    uint64_t rest = token * elements + e;
    for (uint32_t c = access->counter_count; c-- > 0; rest /= access->trips[c])
      counters[c] = (uint32_t)(rest % access->trips[c]);
    bool enabled = true;
    for (uint32_t g = 0; g < access->guard_count; ++g) {
      int64_t value = affine(access->guards[g].constant, access->guards[g].strides, counters,
                             access->counter_count);
      enabled &= value >= 0 && value < access->guards[g].limit;
    }
    int64_t at = affine(access->base, access->strides, counters, access->counter_count);
    uint64_t first = (uint64_t)at * bytes / (uint64_t)machine->pmu_word_bytes;
    uint64_t last = ((uint64_t)at * bytes + bytes - 1) / (uint64_t)machine->pmu_word_bytes;
    for (uint64_t word = first; enabled && word <= last; ++word)
      words[count++] = word;
    if ((e + 1) % in_vector == 0 || e + 1 == elements) {
      *vectors = (uint32_t)fullestBank(machine, buffer, words, count);
      cycles += *vectors++;
      count = 0;
    }
  }
  return cycles;
}

static uint64_t defined(const SambaMachine *machine, const SambaBuffer *buffer,
                        const Pattern *pattern, uint64_t token) {
  uint32_t vectors[2048];
  return definedVectors(machine, buffer, pattern, token, vectors);
}

static void fillPattern(Pattern *pattern, uint64_t *random) {
  static const SambaDType types[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_BF16, SAMBA_DTYPE_I8,
                                     SAMBA_DTYPE_I64};
  static const uint32_t trips[] = {1, 2, 3, 4, 5, 7, 8, 16, 32};
  memset(pattern, 0, sizeof *pattern);
  SambaAccess *access = &pattern->port.access;
  pattern->port.dtype = types[randomBelow(random, 4)];
  access->counter_count = 1 + randomBelow(random, MOST_COUNTERS);
  access->token_level = randomBelow(random, access->counter_count + 1);
  access->guard_count = randomBelow(random, 3) ? 0 : 1 + randomBelow(random, MOST_GUARDS);

  uint64_t steps = 1, least = 0;
  int64_t walked = 1;
  for (uint32_t c = access->counter_count; c-- > 0;) {
    uint32_t trip = trips[randomBelow(random, 9)];
    pattern->trips[c] = steps * trip <= 2048 ? trip : 1;
    steps *= pattern->trips[c];
    int64_t stride = randomBelow(random, 3) ? walked : (int64_t)randomBelow(random, 70);
    pattern->strides[c] = randomBelow(random, 8) ? stride : -stride;
    if (pattern->strides[c] < 0)
      least += (uint64_t)stride * (pattern->trips[c] - 1);
    walked = stride * pattern->trips[c] + (randomBelow(random, 4) ? 0 : 3);
    for (uint32_t g = 0; g < access->guard_count; ++g)
      pattern->guard_strides[g][c] = (int64_t)randomBelow(random, 4) - 1;
  }
  access->base = (int64_t)(least + randomBelow(random, 5));
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    pattern->guards[g].constant = (int64_t)randomBelow(random, 12) - 6;
    pattern->guards[g].limit = 1 + randomBelow(random, 24);
  }
  finish(pattern);
}

static SambaBuffer randomBanking(uint64_t *random) {
  static const uint32_t rows[] = {1, 3, 8, 16, 24, 32};
  uint32_t words = rows[randomBelow(random, 6)];
  switch (randomBelow(random, 3)) {
  case 0:
    return column;
  case 1:
    return rowBanks(words);
  default:
    return diagonalBanks(words, 1 + randomBelow(random, 15));
  }
}

/* Every token of random patterns takes what the definition says, and no bank count is beaten by a
 * smaller one. */
static void randomPatterns(void **state) {
  (void)state;
  uint64_t random = 11;
  for (int round = 0; round < 1500; ++round) {
    Pattern pattern;
    fillPattern(&pattern, &random);
    SambaBuffer buffer = randomBanking(&random);
    SambaMachine machine = machineOf(16);
    machine.pmu_word_bytes = INT64_C(1) << randomBelow(&random, 4);
    machine.pmu_port_bytes = INT64_C(8) << randomBelow(&random, 4);
    uint64_t tokens =
        sambaTripProduct(pattern.port.access.trips, 0, pattern.port.access.token_level);
    uint64_t before = UINT64_MAX;

    for (machine.pmu_banks = 1; machine.pmu_banks <= 64; machine.pmu_banks *= 4) {
      SambaArena arena = {0};
      SambaPortPatterns *patterns = sambaPortPatternsCreate(&machine, &arena);
      SambaPortCycles *cycles =
          sambaPortCyclesCreate(patterns, &buffer, &pattern.port, (uint64_t)machine.pmu_port_bytes);
      uint64_t sum = 0, step = 1 + tokens / 8;
      for (uint64_t token = 0; token < tokens; token += step) {
        uint64_t counted = sambaPortTokenCycles(cycles, token), vectors;
        uint32_t expected[2048];
        assert_int_equal(counted, definedVectors(&machine, &buffer, &pattern, token, expected));
        const uint32_t *found = sambaPortVectorCycles(cycles, token, &vectors);
        assert_memory_equal(found, expected, vectors * sizeof *expected);
        if (sambaPortCyclesAreFixed(cycles))
          assert_int_equal(counted, sambaPortTokenCycles(cycles, 0));
        sum += counted;
      }
      assert_true(sum <= before);
      before = sum;
      sambaArenaDestroy(&arena);
    }
  }
}

/* All skews of some rows at once are what each of them is alone; without a skew there are columns.
 */
static void skewsAtOnce(void **state) {
  (void)state;
  uint64_t random = 12;
  for (int round = 0; round < 300; ++round) {
    Pattern pattern;
    fillPattern(&pattern, &random);
    SambaMachine machine = machineOf(16);
    uint32_t rows = (uint32_t)(1 + randomBelow(&random, 40));
    uint64_t tokens =
        sambaTripProduct(pattern.port.access.trips, 0, pattern.port.access.token_level);
    SambaArena arena = {0};
    SambaPortCycles *cycles = sambaPortSkewsCreate(sambaPortPatternsCreate(&machine, &arena), rows,
                                                   &pattern.port, (uint64_t)machine.pmu_port_bytes);
    for (uint64_t token = 0; token < tokens; token += 1 + tokens / 4) {
      const uint64_t *counted = sambaPortTokenSkews(cycles, token);
      for (uint32_t skew = 0; skew < 16; ++skew) {
        SambaBuffer buffer = skew ? diagonalBanks(rows, skew) : column;
        assert_int_equal(counted[skew], defined(&machine, &buffer, &pattern, token));
      }
    }
    sambaArenaDestroy(&arena);
  }
}

/* Counts that sections share stay what each section counts for itself, also when there have been so
 * many that they were made anew. */
static void sectionsShareCounts(void **state) {
  (void)state;
  uint64_t random = 13;
  SambaMachine machine = machineOf(64);
  SambaPortCounts *counts = sambaPortCountsCreate(&machine);
  for (int round = 0; round < 3000; ++round) {
    Pattern pattern;
    fillPattern(&pattern, &random);
    SambaBuffer buffer = randomBanking(&random);
    uint64_t tokens =
        sambaTripProduct(pattern.port.access.trips, 0, pattern.port.access.token_level);
    SambaArena arena = {0};
    SambaPortPatterns *patterns = sambaPortPatternsShare(counts, &arena);
    SambaPortCycles *cycles =
        sambaPortCyclesCreate(patterns, &buffer, &pattern.port, (uint64_t)machine.pmu_port_bytes);
    assert_int_equal(sambaPortTokenCycles(cycles, tokens - 1),
                     defined(&machine, &buffer, &pattern, tokens - 1));
    sambaArenaDestroy(&arena);
  }
  sambaPortCountsFree(counts);
}

/* Ports whose vectors hold less than an element differ in nothing else. */
static void widthsBelowAnElement(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  SambaPortCounts *counts = sambaPortCountsCreate(&machine);
  for (uint64_t width = 8; width > 0; width /= 2) {
    SambaArena arena = {0};
    Pattern pattern = tokenOf(SAMBA_DTYPE_I64, 3, 5, 4, 1);
    finish(&pattern);
    SambaPortCycles *cycles = sambaPortCyclesCreate(sambaPortPatternsShare(counts, &arena), &column,
                                                    &pattern.port, width);
    assert_int_equal(sambaPortTokenCycles(cycles, 0), 12 * 8 / width);
    sambaArenaDestroy(&arena);
  }
  sambaPortCountsFree(counts);
}

/*===-- Arrays --------------------------------------------------------------------------------===*/

static void assertArrays(const SambaMachine *machine, const SambaUnit *unit, uint64_t slot,
                         uint32_t first, uint32_t end) {
  SambaSlotPlacement placement = sambaSlotPlacement(machine, unit);
  SambaArrayRange range = sambaSlotArrays(&placement, slot);
  assert_int_equal(range.first, first);
  assert_int_equal(range.end, end);
}

static void neighboursLieInOtherArrays(void **state) {
  (void)state;
  SambaMachine machine = machineOf(16);
  SambaPort port = {.dtype = SAMBA_DTYPE_BF16};
  SambaUnit unit = sambaUnitMake(SAMBA_UNIT_BUFFER, "ring", "");
  unit.inputs = &port;
  unit.input_count = 1;
  unit.buffer.slot_count = 2;
  unit.buffer.slot_elements = 131072; /* half of the PMU */
  assertArrays(&machine, &unit, 0, 0, 1);
  assertArrays(&machine, &unit, 1, 1, 2);

  /* Two of three slots do not fit into one array, so they follow each other. */
  unit.buffer.slot_count = 3;
  unit.buffer.slot_elements = 80000;
  assertArrays(&machine, &unit, 0, 0, 1);
  assertArrays(&machine, &unit, 1, 0, 2);
  assertArrays(&machine, &unit, 2, 1, 2);
  unit.buffer.slot_elements = 65536;
  assertArrays(&machine, &unit, 1, 1, 2);
  assertArrays(&machine, &unit, 2, 0, 1);

  machine.pmu_bank_arrays = 1;
  assertArrays(&machine, &unit, 2, 0, 1);
  machine.pmu_bank_arrays = 0;
  assertArrays(&machine, &unit, 2, 0, 0);
  assert_int_equal(sambaSlotBytes(&machine, 3, SAMBA_DTYPE_BF16), 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stridesOfColumns),
      cmocka_unit_test(pairsOfAColumn),
      cmocka_unit_test(shiftsOfDiagonals),
      cmocka_unit_test(operandsOfTheArray),
      cmocka_unit_test(wordsAndElements),
      cmocka_unit_test(longTokens),
      cmocka_unit_test(randomPatterns),
      cmocka_unit_test(skewsAtOnce),
      cmocka_unit_test(sectionsShareCounts),
      cmocka_unit_test(widthsBelowAnElement),
      cmocka_unit_test(neighboursLieInOtherArrays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
