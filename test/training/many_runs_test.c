/* Ten thousand runs of one session, with tensors in and out: memory does not grow, and what a run
 * costs beside the simulator is small. */
#include "test/training/learner.h"

#include "samba/tensor.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { warm = 200, count = 10000 };

static const int64_t dims[] = {8, 16}, square[] = {16, 16};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Wall seconds of `runs` runs that are not the simulator's. */
static double runMany(SambaSession *session, const SambaRunOptions *options, int runs) {
  SambaRunReport before, after;
  sambaSessionGetReport(session, &before);
  double start = now();
  for (int i = 0; i < runs; ++i)
    succeeds(sambaSessionRun(session, options, NULL, NULL));
  double all = now() - start;
  sambaSessionGetReport(session, &after);
  return all - (after.simulate_seconds - before.simulate_seconds);
}

static void tenThousandRuns(void **state) {
  (void)state;
  static float x[8 * 16], y[8 * 16], w[16 * 16];
  Learner learner;
  learnerBegin(&learner, "many-runs-test.pef");
  SambaTraceValue *input = fed(&learner, "x", 2, dims), *weight = trained(&learner, "w", 2, square);
  sambaTraceOutput(learner.trace, "y", sambaLinear(input, weight, NULL));
  sambaTraceAddOptimizer(learner.trace, "sgd,lr=0.001", "", 0, NULL);
  learnerOpen(&learner);
  put(&learner, "w", w);

  SambaBufferView views[] = {{x, SAMBA_DTYPE_F32, 2, dims, NULL},
                             {y, SAMBA_DTYPE_F32, 2, dims, NULL}};
  SambaTensor *tensors[2];
  succeeds(sambaTensorCreateFromBuffer(&views[0], sambaStringRef("x"), &tensors[0]));
  succeeds(sambaTensorCreateFromBuffer(&views[1], sambaStringRef("y"), &tensors[1]));
  SambaHyperparameter rate = {sambaStringRef("lr"), 0.002};
  SambaRunOptions options = {.input_count = 1,
                             .inputs = &tensors[0],
                             .output_count = 1,
                             .outputs = &tensors[1],
                             .hyperparameter_count = 1,
                             .hyperparameters = &rate};

  runMany(learner.session, &options, warm);
  struct mallinfo2 before = mallinfo2();
  double overhead = runMany(learner.session, &options, count) / count;
  struct mallinfo2 after = mallinfo2();
  print_message("%.1f us a run beside the simulator\n", 1e6 * overhead);
  assert_true(overhead < 1e-3);
  assert_true(after.uordblks + after.hblkhd <= before.uordblks + before.hblkhd + 4096);
  sambaTensorRelease(tensors[0]);
  sambaTensorRelease(tensors[1]);
  learnerEnd(&learner);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tenThousandRuns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
