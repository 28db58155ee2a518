/* Teams: in every round each share is done once, and sees what the round before did. */
#include "backend/sim/cycle/network/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { members = 3, rounds = 2000 };

typedef struct Sums {
  uint64_t own[members]; /* of each share */
  uint64_t before;       /* of all, when the round began */
} Sums;

static void addUp(void *context, uint32_t share) {
  Sums *sums = context;
  sums->own[share] += sums->before + share;
}

static void everyShareOnce(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaTeam *team = sambaTeamMake(&arena, members);
  Sums sums = {0};
  uint64_t expected = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    sums = (Sums){.before = sums.own[0] + sums.own[1] + sums.own[2]};
    sums.before %= 1000;
    sambaTeamDo(team, addUp, &sums);
    expected = expected % 1000 * members + 0 + 1 + 2;
    assert_int_equal(sums.own[0] + sums.own[1] + sums.own[2], expected);
  }
  sambaTeamPart(team);
  sambaArenaDestroy(&arena);
}

static void endsWithoutWork(void **state) {
  (void)state;
  SambaArena arena = {0};
  sambaTeamPart(sambaTeamMake(&arena, SAMBA_TEAM_MOST));
  sambaArenaDestroy(&arena);
}

/* A trial is so many pieces alone, and as many of the team. */
static void tries(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaTeam *team = sambaTeamMake(&arena, 1);
  bool helps[33];
  for (int piece = 0; piece < 33; ++piece)
    helps[piece] = sambaTeamHelps(team);
  assert_false(helps[0] || helps[15]);
  assert_true(helps[16] && helps[31]);
  sambaTeamPart(team);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyShareOnce),
                                     cmocka_unit_test(endsWithoutWork), cmocka_unit_test(tries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
