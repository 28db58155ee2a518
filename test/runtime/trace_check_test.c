/* S003 in a session: the trace of a model against the record in the PEF, and what may run then.
 * What makes lines differ is tested with the tracer, test/frontend/trace/record_test.c. */
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "trace-check-test.pef";
static const char trace[] = "%0 = input \"x\" : 4xf32\n%1 = relu(%0) : 4xf32\n"
                            "loss \"loss\" = %1\noptimizer \"\" = sgd\n";
static const char *const lines[] = {"%0 = input \"x\" : 4xf32", "%1 = relu(%0) : 4xf32",
                                    "loss \"loss\" = %1", "optimizer \"\" = sgd"};
static const char *const layers[] = {"", "act", "", ""};
static const char *const inference[] = {"%0 = input \"x\" : 4xf32", "%1 = relu(%0) : 4xf32",
                                        "output \"loss\" = %1"};
static const char *const other[] = {"%0 = input \"x\" : 4xf32", "%1 = gelu(%0) : 4xf32",
                                    "loss \"loss\" = %1", "optimizer \"\" = sgd"};
static const SambaStringRef any = {NULL, 0};

static void addTrace(SambaPef *pef) {
  pef->graphs->trace = (SambaPefBytes){(const uint8_t *)trace, sizeof trace - 1};
}

static int setUp(void **state) {
  writeChangedTrainingPef(path, 0, addTrace);
  return openRecordedPef(path, state);
}

static void theModelThatWasCompiled(void **state) {
  RecordedPef *fixture = *state;
  const SambaTraceRecord same = {.line_count = 4, .lines = lines};
  succeeded(sambaSessionCheckTrace(fixture->session, any, &same));
  succeeded(sambaSessionCheckTrace(fixture->session, sambaStringRef("main"), &same));
  succeeded(sambaSessionRun(fixture->session, NULL, NULL, NULL));
  assert_string_equal(launchedCalls(&fixture->recording, 0), "0 1 2 3 4 5 6 7");

  const SambaTraceRecord differs = {.line_count = 4, .lines = other, .layers = layers};
  refusedWith(sambaSessionCheckTrace(fixture->session, any, &differs),
              "the model is not the one that was compiled: line 2 of its trace differs; compile it "
              "again\n  note: expected %1 = relu(%0) : 4xf32\n"
              "  note: found    %1 = gelu(%0) : 4xf32\n  note: in layer act");
  refusedWith(sambaSessionCheckTrace(fixture->session, sambaStringRef("second"), &same),
              "there is no graph named 'second'");
}

/* Then only FWD runs, by itself and when it is asked for; until a whole training was traced. */
static void theForwardPartOfATraining(void **state) {
  RecordedPef *fixture = *state;
  const SambaTraceRecord forward = {.line_count = 3, .lines = inference};
  succeeded(sambaSessionCheckTrace(fixture->session, any, &forward));
  succeeded(sambaSessionRun(fixture->session, NULL, NULL, NULL));
  assert_string_equal(launchedCalls(&fixture->recording, 0), "1 2 3");

  const SambaSectionType types[] = {SAMBA_SECTION_FWD, SAMBA_SECTION_BCKWD};
  SambaRunOptions options = {.order = {.type_count = 2, .types = types}};
  size_t before = fixture->recording.entries.size;
  refusedWith(
      sambaSessionRun(fixture->session, &options, NULL, NULL),
      "call 4 is of type BCKWD, but the model was traced without losses or optimizers; only "
      "FWD sections run");
  assert_int_equal(fixture->recording.entries.size, before);

  const SambaTraceRecord whole = {.line_count = 4, .lines = lines};
  succeeded(sambaSessionCheckTrace(fixture->session, any, &whole));
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
}

/* What an import for inference does not know: which weights are buffers, and that the graph updates
 * them. It may know the new values as outputs. */
static void theForwardPartOfABufferedTraining(void **state) {
  (void)state;
  static const char compiled[] =
      "%0 = input \"x\" : 4xf32\n%1 = buffer \"m\" : 4xf32\n"
      "%2 = weight \"w\" : 4xf32 requires_grad\n%3, %4, %5 = norm(%0, %1, %2) : 4xf32\n"
      "loss \"loss\" = %3\nupdate \"m_new\" = %4 region \"m\"\nupdate \"n\" = %5 region \"n\"\n"
      "optimizer \"\" = sgd {nesterov = 0}\n";
  const char *found[6] = {"%0 = input \"x\" : 4xf32",  "%1 = weight \"m\" : 4xf32",
                          "%2 = weight \"w\" : 4xf32", "%3, %4, %5 = norm(%0, %1, %2) : 4xf32",
                          "output \"loss\" = %3",      "output \"m_new\" = %4"};
  SambaTraceRecord traced = {.line_count = 6, .lines = found};
  SambaStringRef record = sambaStringRef(compiled);
  bool forward_only = false;

  succeeded(sambaTraceRecordCompare(record, &traced, &forward_only));
  assert_true(forward_only);
  found[1] = "%1 = buffer \"m\" : 4xf32";
  found[5] = "update \"m_new\" = %4 region \"m\"";
  succeeded(sambaTraceRecordCompare(record, &traced, &forward_only));
  traced.line_count = 5; /* no update is told of */
  succeeded(sambaTraceRecordCompare(record, &traced, &forward_only));
  assert_true(forward_only);

  traced.line_count = 6;
  found[5] = "output \"m_new\" = %5";
  refusedWith(sambaTraceRecordCompare(record, &traced, &forward_only),
              "line 6 of its trace differs");
  traced.line_count = 5;
  found[1] = "%1 = input \"m\" : 4xf32";
  refusedWith(sambaTraceRecordCompare(record, &traced, &forward_only),
              "line 2 of its trace differs");
}

static void aPefWithoutRecord(void **state) {
  (void)state;
  Recording recording = {0};
  const SambaTraceRecord same = {.line_count = 4, .lines = lines};
  writeTrainingPef("no-record.pef", 0);
  SambaSession *session = openRecorded("no-record.pef", &recording);
  refusedWith(sambaSessionCheckTrace(session, any, &same),
              "the PEF has no record of a trace to compare with");
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink("no-record.pef");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(theModelThatWasCompiled, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(theForwardPartOfATraining, setUp, closeRecordedPef),
      cmocka_unit_test(theForwardPartOfABufferedTraining),
      cmocka_unit_test(aPefWithoutRecord),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
