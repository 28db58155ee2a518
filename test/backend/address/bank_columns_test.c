/* backend/address/bank_columns.h: that teams keep out of each other's banks is asked of the
 * simulator's memory; random teams against a naive check; each refusal. */
#include "backend/address/bank_columns.h"
#include "backend/machine/shipped.h"
#include "backend/sim/timing/dram/dram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t mega = 1 << 20;

static SambaMachine machineOf(const char *name) { return *sambaMachineFind(sambaStringRef(name)); }

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

static void columnsFollowFromTheBanks(void **state) {
  (void)state;
  SambaMachine machine = machineOf("sn40l"); /* 64 channels x 1 KiB x 16 banks */
  assert_int_equal(sambaBankColumnsLeast(&machine), 16 * mega);
  assert_int_equal(sambaBankColumnBytes(&machine, mega), 4 * mega);
  assert_int_equal(sambaBankColumnBytes(&machine, 4 * mega), 4 * mega);
  assert_int_equal(sambaBankColumnBytes(&machine, 4 * mega + 64), 64 * mega);
  assert_int_equal(sambaBankColumnBytes(&machine, 65 * mega), 1024 * mega);
  assert_int_equal(sambaBankColumnBytes(&machine, UINT64_MAX), 0);
  machine.dram_interleave_bytes = mega; /* the digit begins above the channels */
  assert_int_equal(sambaBankColumnBytes(&machine, mega), 64 * mega);
}

/* Walks the team's tensors at one pace: the banks of any two are always the same distance apart. */
static void keepApart(const SambaMachine *machine, const SambaColumnTensor *tensors,
                      const uint32_t *members, uint32_t count, uint32_t *seed) {
  SambaArena arena = {0};
  SambaDram dram;
  sambaDramInit(&dram, &arena, machine, NULL, NULL);
  for (uint32_t a = 0; a < count; ++a)
    for (uint32_t b = 0; b < a; ++b) {
      const SambaColumnTensor *first = &tensors[members[a]], *second = &tensors[members[b]];
      uint64_t both = first->bytes < second->bytes ? first->bytes : second->bytes;
      uint32_t apart = sambaDramLocate(&dram, first->address).bank ^
                       sambaDramLocate(&dram, second->address).bank;
      assert_true(apart && apart % (machine->dram_banks / SAMBA_BANK_COLUMNS) == 0);
      if (count == 2)
        assert_int_equal(apart, machine->dram_banks / 2);
      for (int i = 0; i < 100; ++i) {
        uint64_t at = next(seed) * UINT64_C(64) % both;
        assert_int_equal(sambaDramLocate(&dram, first->address + at).bank ^
                             sambaDramLocate(&dram, second->address + at).bank,
                         apart);
      }
    }
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

static void checkPlaces(const SambaColumnTensor *tensors, uint32_t count, uint64_t start,
                        uint64_t end) {
  for (uint32_t a = 0; a < count; ++a) {
    assert_int_equal(tensors[a].address % 64, 0);
    assert_true(tensors[a].address >= start && tensors[a].address + tensors[a].bytes <= end);
    for (uint32_t b = 0; b < a; ++b)
      assert_true(tensors[a].address >= tensors[b].address + tensors[b].bytes ||
                  tensors[b].address >= tensors[a].address + tensors[a].bytes);
  }
}

static void teamsMeetInNoBank(void **state) {
  (void)state;
  static const char *const names[] = {"sn40l", "tiny"};
  uint32_t seed = 5;
  for (int round = 0; round < 60; ++round) {
    enum { most = 24 };
    SambaMachine machine = machineOf(names[round % 2]);
    uint64_t least = sambaBankColumnsLeast(&machine), end = (uint64_t)machine.hbm_bytes;
    uint64_t start = next(&seed) * UINT64_C(64) % (8 * least);
    SambaColumnTensor tensors[most];
    SambaColumnTeam teams[most];
    uint32_t members[most], count = 0, team_count = 0;
    while (count + 4 <= most) { /* each tensor in one team; some in none */
      uint32_t size = next(&seed) % 5;
      teams[team_count++] = (SambaColumnTeam){members + count, size};
      for (uint32_t m = 0; m < (size ? size : 1); ++m, ++count) {
        members[count] = count;
        tensors[count].bytes = least + next(&seed) * UINT64_C(64) % (6 * least);
      }
    }

    assert_true(sambaBankColumnsAssign(&machine, tensors, count, teams, team_count, start, end));
    checkPlaces(tensors, count, start, end);
    for (uint32_t t = 0; t < team_count; ++t)
      keepApart(&machine, tensors, teams[t].tensors, teams[t].count, &seed);
  }
}

/* What a small team has decided stays; the others of a large one lie at a height of their own, and
 * a fifth one beside them. */
static void smallTeamsChooseFirst(void **state) {
  (void)state;
  SambaMachine machine = machineOf("sn40l");
  static const uint32_t large[] = {0, 1, 2, 3, 4}, small[] = {3, 4};
  SambaColumnTensor tensors[5];
  SambaColumnTeam teams[] = {{large, 5}, {small, 2}};
  uint32_t seed = 7;
  for (int i = 0; i < 5; ++i)
    tensors[i].bytes = 33 * mega;
  assert_true(sambaBankColumnsAssign(&machine, tensors, 5, teams, 2, 0, 1024 * mega));
  checkPlaces(tensors, 5, 0, 1024 * mega);
  keepApart(&machine, tensors, small, 2, &seed);
  keepApart(&machine, tensors, large, 3, &seed);
}

static void refusals(void **state) {
  (void)state;
  SambaMachine machine = machineOf("sn40l");
  static const uint32_t members[] = {0, 1};
  SambaColumnTensor tensors[2] = {{.bytes = 3 * mega}, {.bytes = 3 * mega}};
  SambaColumnTeam team = {members, 2};

  assert_true(sambaBankColumnsAssign(&machine, tensors, 2, &team, 1, 0, 16 * mega));
  assert_false(sambaBankColumnsAssign(&machine, tensors, 2, &team, 1, 0, 15 * mega));
  assert_false(sambaBankColumnsAssign(&machine, tensors, 2, &team, 1, 15 * mega, 16 * mega));
  assert_true(sambaBankColumnsAssign(&machine, tensors, 2, &team, 1, 15 * mega, 32 * mega));
  checkPlaces(tensors, 2, 15 * mega, 32 * mega);

  machine.hbm_channels = 48;
  assert_int_equal(sambaBankColumnsLeast(&machine), 0);
  assert_false(sambaBankColumnsAssign(&machine, tensors, 2, &team, 1, 0, 1024 * mega));
  machine = machineOf("sn40l");
  machine.dram_banks = 2;
  assert_int_equal(sambaBankColumnsLeast(&machine), 0);
  machine = machineOf("sn10"); /* no HBM */
  assert_int_equal(sambaBankColumnsLeast(&machine), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columnsFollowFromTheBanks),
      cmocka_unit_test(teamsMeetInNoBank),
      cmocka_unit_test(smallTeamsChooseFirst),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
