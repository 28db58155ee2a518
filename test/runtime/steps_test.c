/* Many steps: what is run, fed and read in which order; micro-batches; the step counter. */
#include "samba/session.h"
#include "support/text/text.h"
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "steps-test.pef";

typedef struct {
  Recording recording;
  SambaSession *session;
  SambaText log;
  size_t seen;            /* entries of the recording that are in the log */
  uint64_t fails_in_pass; /* of feeding; 0: never */
} Fixture;

static int setUpTypes(void **state, uint32_t types) {
  Fixture *fixture = sambaAllocateZeroed(1, sizeof *fixture);
  writeTrainingPef(path, types);
  fixture->session = openRecorded(path, &fixture->recording);
  *state = fixture;
  return 0;
}

static int setUp(void **state) { return setUpTypes(state, 0); }

static int setUpWithoutAccumulation(void **state) {
  return setUpTypes(state,
                    1u << SAMBA_SECTION_FWD | 1u << SAMBA_SECTION_BCKWD | 1u << SAMBA_SECTION_OPT);
}

static int tearDown(void **state) {
  Fixture *fixture = *state;
  sambaSessionClose(fixture->session);
  recordingFree(&fixture->recording);
  sambaTextFree(&fixture->log);
  free(fixture);
  return unlink(path);
}

/* Puts the launches since the last note into the log, and then the note. */
static void note(Fixture *fixture, const char *what, uint64_t at) {
  const char *calls = launchedCalls(&fixture->recording, fixture->seen);
  fixture->seen = fixture->recording.entries.size;
  if (*calls)
    sambaTextFormat(&fixture->log, "(%s) ", calls);
  sambaTextFormat(&fixture->log, "%s%llu ", what, (unsigned long long)at);
}

static SambaStatus feed(void *user, uint64_t pass) {
  Fixture *fixture = user;
  note(fixture, "feed", pass);
  if (fixture->fails_in_pass && pass == fixture->fails_in_pass)
    return sambaStatusMake(SAMBA_IO, "no more data");
  return NULL;
}

static SambaStatus take(void *user, uint64_t pass) {
  note(user, "take", pass);
  return NULL;
}

static SambaStatus end(void *user, uint64_t step) {
  note(user, "end", step);
  return NULL;
}

static SambaSteps stepsOf(Fixture *fixture, uint64_t count, uint32_t micro_batches) {
  return (SambaSteps){.count = count,
                      .micro_batches = micro_batches,
                      .before_pass = feed,
                      .after_pass = take,
                      .after_step = end,
                      .user = fixture};
}

static void aStepIsOneRun(void **state) {
  Fixture *fixture = *state;
  SambaSteps steps = stepsOf(fixture, 2, 0);
  succeeded(sambaSessionRunSteps(fixture->session, &steps));
  assert_string_equal(sambaTextGet(&fixture->log), "feed0 (0 1 2 3 4 5 6 7) take0 end0 "
                                                   "feed1 (0 1 2 3 4 5 6 7) take1 end1 ");
  assert_int_equal(sambaSessionGetStep(fixture->session), 2);
}

static void microBatchesAreSummed(void **state) {
  Fixture *fixture = *state;
  SambaSteps steps = stepsOf(fixture, 2, 2);
  succeeded(sambaSessionRunSteps(fixture->session, &steps));
  assert_string_equal(sambaTextGet(&fixture->log),
                      "(0) feed0 (1 2 3 4) take0 feed1 (1 2 3 4) take1 (5 6 7) end0 "
                      "(0) feed2 (1 2 3 4) take2 feed3 (1 2 3 4) take3 (5 6 7) end1 ");
  assert_int_equal(sambaSessionGetStep(fixture->session), 2);
}

/* Each forward pass has a seed of its own, the backward pass the one of its forward pass. */
static void eachMicroBatchHasItsMask(void **state) {
  Fixture *fixture = *state;
  SambaSteps steps = stepsOf(fixture, 1, 2);
  succeeded(sambaSessionRunSteps(fixture->session, &steps));
  const uint32_t seed = 5;
  assert_int_equal(launchAt(&fixture->recording, 1)->argins[seed],
                   launchAt(&fixture->recording, 4)->argins[seed]);
  assert_int_not_equal(launchAt(&fixture->recording, 4)->argins[seed],
                       launchAt(&fixture->recording, 5)->argins[seed]);
  assert_int_equal(launchAt(&fixture->recording, 5)->argins[seed],
                   launchAt(&fixture->recording, 8)->argins[seed]);
}

static void onlyTypesThatAreThere(void **state) {
  Fixture *fixture = *state;
  const SambaSectionType types[] = {SAMBA_SECTION_FWD, SAMBA_SECTION_BCKWD};
  SambaSteps steps = stepsOf(fixture, 1, 2);
  refusedWith(sambaSessionRunSteps(fixture->session, &steps),
              "micro-batches need a PEF that adds gradients up, and this one has no section of "
              "type ZEROGRAD; compile it with --accumulate-gradients");
  assert_string_equal(sambaTextGet(&fixture->log), "");

  /* Forward and backward alone are no step of the optimizer. */
  steps = stepsOf(fixture, 2, 0);
  steps.run.order.types = types;
  steps.run.order.type_count = 2;
  succeeded(sambaSessionRunSteps(fixture->session, &steps));
  assert_string_equal(sambaTextGet(&fixture->log),
                      "feed0 (0 1 2 3) take0 end0 feed1 (0 1 2 3) take1 end1 ");
  assert_int_equal(sambaSessionGetStep(fixture->session), 0);
}

static void microBatchesAreWholeSteps(void **state) {
  Fixture *fixture = *state;
  const SambaSectionType type = SAMBA_SECTION_FWD;
  SambaSteps steps = stepsOf(fixture, 1, 2);
  steps.run.order.types = &type;
  steps.run.order.type_count = 1;
  refusedWith(sambaSessionRunSteps(fixture->session, &steps),
              "micro-batches make whole steps; sections, section types and a range of calls cannot "
              "be given with them");
  assert_string_equal(sambaTextGet(&fixture->log), "");
}

static void failuresNameTheirStep(void **state) {
  Fixture *fixture = *state;
  SambaSteps steps = stepsOf(fixture, 3, 0);
  fixture->fails_in_pass = 1;
  refusedWith(sambaSessionRunSteps(fixture->session, &steps), "step 2: no more data");
  assert_int_equal(sambaSessionGetStep(fixture->session), 1);
  fixture->recording.fails_at = fixture->recording.entries.size + 3;
  fixture->fails_in_pass = 0;
  refusedWith(sambaSessionRunSteps(fixture->session, &steps), "call 2: the wire is cut");
  assert_int_equal(sambaSessionGetStep(fixture->session), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(aStepIsOneRun, setUp, tearDown),
      cmocka_unit_test_setup_teardown(microBatchesAreSummed, setUp, tearDown),
      cmocka_unit_test_setup_teardown(eachMicroBatchHasItsMask, setUp, tearDown),
      cmocka_unit_test_setup_teardown(onlyTypesThatAreThere, setUpWithoutAccumulation, tearDown),
      cmocka_unit_test_setup_teardown(microBatchesAreWholeSteps, setUp, tearDown),
      cmocka_unit_test_setup_teardown(failuresNameTheirStep, setUp, tearDown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
