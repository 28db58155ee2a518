/* backend/sim/timed_ahead.h: what other threads timed is what the engine counts, faults too, and
 * what nobody has begun with is given back. */
#include "backend/sim/timed_ahead.h"
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* A copy of `tokens` tokens from memory to memory. */
static TestSection *copyOf(uint32_t tokens) {
  TestSection *test = testSectionCreate();
  uint64_t elements = (uint64_t)tokens * 64;
  uint32_t in = testSymbol(test, SAMBA_DTYPE_F32, elements, false);
  uint32_t out = testSymbol(test, SAMBA_DTYPE_F32, elements, true);
  TestChain chain = TEST_CHAIN(2, {tokens, 64}, {64, 1});
  uint32_t load = testLoad(test, "load", in, chain, 1);
  uint32_t store = testStore(test, "store", out, chain, 1);
  testConnect(test, load, 0, store, 0);
  return test;
}

static SambaAheadCall callOf(const TestSection *test, uint32_t image, uint64_t most) {
  return (SambaAheadCall){image, &test->section, test->bindings, {.max_cycles = most}};
}

/* Adds the call until a thread has begun with it before it is taken. */
static SambaAheadResult takeBegun(SambaTimedAhead *ahead, const SambaAheadCall *call) {
  SambaAheadResult answer;
  for (int tries = 0; tries < 10000; ++tries) {
    sambaTimedAheadAdd(ahead, call);
    assert_true(sambaTimedAheadHas(ahead, call->image, call->bindings));
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    bool begun = sambaTimedAheadTake(ahead, call->image, call->bindings, NULL, &answer);
    assert_int_equal(sambaTimedAheadCount(ahead), 0);
    if (begun)
      return answer;
  }
  fail_msg("no thread began in ten seconds");
  return answer;
}

static void handsOverWhatTheEngineCounts(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  SambaTimedAhead *ahead = sambaTimedAheadCreate(&machine, 2);
  assert_non_null(ahead);
  for (uint32_t tokens = 1; tokens < 300; tokens += 97) {
    TestSection *test = copyOf(tokens);
    SambaAheadCall call = callOf(test, tokens, 0);
    SambaAheadResult answer = takeBegun(ahead, &call);
    assert_null(answer.status);
    assert_true(answer.ends);
    assert_int_equal(answer.result.cycles, testCycles(&machine, test));
    sambaTimingResultFree(&answer.result);
    testSectionDestroy(test);
  }
  sambaTimedAheadDestroy(ahead);
}

static void handsOverFaults(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  SambaTimedAhead *ahead = sambaTimedAheadCreate(&machine, 1);
  TestSection *test = copyOf(300);
  SambaAheadCall call = callOf(test, 0, 200);
  SambaAheadResult answer = takeBegun(ahead, &call);
  char expected[512];
  testFault(&machine, test, 200, expected, sizeof expected);
  assert_non_null(answer.status);
  assert_string_equal(sambaStatusGetMessage(answer.status), expected);
  sambaStatusFree(answer.status);
  sambaTimingResultFree(&answer.result);
  sambaTimedAheadDestroy(ahead);
  testSectionDestroy(test);
}

static void knowsCallsByImageAndAddresses(void **state) {
  (void)state;
  SambaMachine machine = testMachine("sn40l");
  SambaTimedAhead *ahead = sambaTimedAheadCreate(&machine, 1);
  TestSection *test = copyOf(4);
  SambaAheadCall call = callOf(test, 3, 0);
  SambaAheadResult answer;
  sambaTimedAheadAdd(ahead, &call);
  assert_false(sambaTimedAheadTake(ahead, 2, test->bindings, NULL, &answer));
  test->bindings[1].address += 4096;
  assert_false(sambaTimedAheadTake(ahead, 3, test->bindings, NULL, &answer));
  assert_int_equal(sambaTimedAheadCount(ahead), 1);
  sambaTimedAheadDestroy(ahead); /* with a call that nobody takes */
  testSectionDestroy(test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handsOverWhatTheEngineCounts),
      cmocka_unit_test(handsOverFaults),
      cmocka_unit_test(knowsCallsByImageAndAddresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
