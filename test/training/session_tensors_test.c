/* Tensors of the host around a real training step on the simulated RDU: what goes over, when, and
 * with which gradients a backward pass begins. The model is y = x w' + b of ten outputs on a batch
 * of five, with SGD of rate 0.1, as in linear_test.c. */
#include "test/training/learner.h"

#include "samba/tensor.h"
#include "support/text/string_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { rows = 5, width = 10 };

static float x[rows * width], w[width * width], b[width];
static const int64_t inputDims[] = {rows, width}, square[] = {width, width}, line[] = {width};

static int fill(void **state) {
  (void)state;
  for (int i = 0; i < rows * width; ++i)
    x[i] = (float)(i * 7 % 11 - 5) / 4;
  for (int i = 0; i < width * width; ++i)
    w[i] = (float)(i * 5 % 13 - 6) / 8;
  for (int i = 0; i < width; ++i)
    b[i] = (float)i;
  return 0;
}

/* The tensors of the model on the host; they share the arrays above. */
typedef struct {
  Learner learner;
  SambaSession *session;
  SambaTensor *x, *w, *b;
} Fixture;

static SambaTensor *shared(const char *name, float *data, uint32_t rank, const int64_t *dims) {
  SambaTensor *tensor;
  SambaBufferView view = {data, SAMBA_DTYPE_F32, rank, dims, NULL};
  succeeds(sambaTensorCreateFromBuffer(&view, sambaStringRef(name), &tensor));
  return tensor;
}

static void open(Fixture *fixture) {
  Learner *learner = &fixture->learner;
  learnerBegin(learner, "session-tensors-test.pef");
  SambaTraceValue *input = fed(learner, "x", 2, inputDims);
  SambaTraceValue *weight = trained(learner, "w", 2, square),
                  *bias = trained(learner, "b", 1, line);
  sambaTraceOutput(learner->trace, "y", sambaLinear(input, weight, bias));
  sambaTraceAddOptimizer(learner->trace, "sgd,lr=0.1", "", 0, NULL);
  learnerOpen(learner);
  fixture->session = learner->session;
  fixture->x = shared("x", x, 2, inputDims);
  fixture->w = shared("w", w, 2, square);
  fixture->b = shared("b", b, 1, line);
}

static void remember(Fixture *fixture) {
  SambaTensor *all[] = {fixture->x, fixture->w, fixture->b};
  for (int i = 0; i < 3; ++i)
    succeeds(sambaSessionUpdateTensor(fixture->session, sambaTensorGetName(all[i]), all[i]));
}

static void end(Fixture *fixture) {
  sambaTensorRelease(fixture->x);
  sambaTensorRelease(fixture->w);
  sambaTensorRelease(fixture->b);
  learnerEnd(&fixture->learner);
}

static void runTypes(Fixture *fixture, const char *types) { runs(&fixture->learner, types); }

static const float *valueOf(Fixture *fixture, const char *name) {
  return get(&fixture->learner, name);
}

/* E01, E02 (S062, S064): inputs and outputs of a run as tensors; a second run without inputs takes
 * what lies on the device, and moves nothing to it. */
static void e02RunsWithTensors(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  float y[2][rows * width], db[width];
  SambaTensor *outputs[] = {shared("y", y[0], 2, inputDims), shared("b__grad", db, 1, line)};
  SambaTensor *inputs[] = {fixture.x, fixture.w, fixture.b};
  SambaRunOptions options = {
      .input_count = 3, .inputs = inputs, .output_count = 2, .outputs = outputs};
  succeeds(sambaSessionRun(fixture.session, &options, NULL, NULL));
  areAll(db, rows, width, 0);
  for (int n = 0; n < rows; ++n)
    for (int i = 0; i < width; ++i) {
      double expected = b[i];
      for (int j = 0; j < width; ++j)
        expected += x[n * width + j] * w[i * width + j];
      areNear(&y[0][n * width + i], &expected, 1, 1e-5);
    }

  SambaRunReport before, after;
  sambaSessionGetReport(fixture.session, &before);
  assert_int_equal(before.transfers.host_to_device_bytes, sizeof x + sizeof w + sizeof b);
  assert_int_equal(before.transfers.device_to_host_bytes, sizeof x + sizeof db);
  succeeds(sambaSessionRun(fixture.session, NULL, NULL, NULL));
  sambaSessionGetReport(fixture.session, &after);
  assert_int_equal(after.transfers.host_to_device_bytes, before.transfers.host_to_device_bytes);
  assert_int_equal(after.transfers.device_to_host_bytes, before.transfers.device_to_host_bytes);
  areAll(valueOf(&fixture, "b") + 1, 1 - 2 * 0.1 * rows, 1, 1e-6);
  sambaTensorRelease(outputs[0]);
  sambaTensorRelease(outputs[1]);
  end(&fixture);
}

/* U020, S134, S063: what nobody transferred is a fault that names it; then the transfer, and it
 * runs. Partial transfers are enough for what runs. */
static void u020TransferTraced(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  remember(&fixture);
  SambaStatus status = sambaSessionRun(fixture.session, NULL, NULL, NULL);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_FAULT);
  refuses(status, "never-written memory: symbol '");
  SambaRunReport report;
  sambaSessionGetReport(fixture.session, &report);
  assert_int_equal(report.transfers.host_to_device_bytes, 0);

  succeeds(sambaSessionTransferTraced(fixture.session));
  succeeds(sambaSessionRun(fixture.session, NULL, NULL, NULL));
  areAll(valueOf(&fixture, "b__grad"), rows, width, 0);
  end(&fixture);
}

/* T100: a weight is divided by its norm on the way; the host's stays. */
static void t100Norm(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  float copy[width * width], divided[width * width];
  memcpy(copy, w, sizeof w);
  double norm = 0;
  for (int i = 0; i < width * width; ++i)
    norm += (double)w[i] * w[i];
  for (int i = 0; i < width * width; ++i)
    divided[i] = (float)(w[i] / sqrt(norm));

  SambaTensor *value = shared("", divided, 2, square), *read;
  succeeds(sambaTensorCopyToDevice(fixture.w, fixture.session, value));
  succeeds(sambaTensorCopyFromDevice(fixture.w, fixture.session, &read));
  norm = 0;
  const float *got = sambaTensorGetDataPtr(read);
  for (int i = 0; i < width * width; ++i)
    norm += (double)got[i] * got[i];
  assert_true(fabs(sqrt(norm) - 1) < 1e-6);
  assert_memory_equal(w, copy, sizeof w);
  sambaTensorRelease(value);
  sambaTensorRelease(read);
  end(&fixture);
}

static float deviceValue(Fixture *fixture, bool gradient) {
  SambaTensor *read;
  succeeds((gradient ? sambaTensorCopyGradFromDevice
                     : sambaTensorCopyFromDevice)(fixture->b, fixture->session, &read));
  float value = *(float *)sambaTensorGetDataPtr(read);
  sambaTensorRelease(read);
  return value;
}

/* T104, T099: the six steps of the document, with the bias. A change of the host is seen on the
 * device after it went over, and a change of the device on the host after it came back. */
static void t104SixSteps(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  float fresh[width] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, zeros[width] = {0};
  SambaTensor *data = shared("", fresh, 1, line), *none = shared("", zeros, 1, line), *own;
  float grad_of_host[width] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
  SambaTensor *grad = shared("", grad_of_host, 1, line);

  /* 1: the host's value is on the device. */
  succeeds(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, line, sambaStringRef("b"), &own));
  succeeds(sambaTensorWriteData(own, b, sizeof b, false));
  succeeds(sambaTensorSetRequiresGrad(own, true));
  sambaTensorRelease(fixture.b);
  fixture.b = own;
  succeeds(sambaTensorToDevice(own, fixture.session));
  assert_true(deviceValue(&fixture, false) == 0);
  /* 2: a change on the host is not seen on the device, 3: until it goes over. */
  succeeds(sambaTensorWriteData(own, fresh, sizeof fresh, true));
  assert_true(deviceValue(&fixture, false) == 0);
  succeeds(sambaTensorToDevice(own, fixture.session));
  assert_true(deviceValue(&fixture, false) == 7);
  /* 4: the gradient goes with the data. */
  succeeds(sambaTensorSetGrad(own, grad));
  succeeds(sambaTensorToDevice(own, fixture.session));
  assert_true(deviceValue(&fixture, true) == 3);
  /* 5: zeros on the device are not seen on the host, 6: until they come back. */
  succeeds(sambaTensorCopyGradToDevice(own, fixture.session, none));
  assert_true(deviceValue(&fixture, true) == 0);
  assert_true(*(float *)sambaTensorGetDataPtr(sambaTensorGetGrad(own)) == 3);
  succeeds(sambaTensorToHost(own, fixture.session, false));
  assert_true(*(float *)sambaTensorGetDataPtr(sambaTensorGetGrad(own)) == 0);
  assert_true(grad_of_host[0] == 3);
  sambaTensorRelease(data);
  sambaTensorRelease(none);
  sambaTensorRelease(grad);
  end(&fixture);
}

static SambaTensor *constant(double value) {
  SambaTensor *tensor;
  float data[rows * width];
  for (int i = 0; i < rows * width; ++i)
    data[i] = (float)value;
  succeeds(
      sambaTensorCreateUninitialized(SAMBA_DTYPE_F32, 2, inputDims, sambaStringRef(""), &tensor));
  succeeds(sambaTensorWriteData(tensor, data, sizeof data, true));
  return tensor;
}

/* U001 to U006, E06: ones; a gradient of the user wins, here and in no later call. */
static void u001OutputGradients(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  SambaSession *session = fixture.session;
  remember(&fixture);
  succeeds(sambaSessionTransferTraced(session));
  SambaTensor *two = constant(2), *seed;
  const SambaStringRef y = sambaStringRef("y"), w_name = sambaStringRef("w");
  SambaOutputGradOptions custom = {.custom_count = 1, .custom_names = &y, .custom = &two};

  succeeds(sambaSessionInitOutputGrads(session, 1, &y, &custom));
  succeeds(sambaSessionReadGrad(session, y, &seed));
  areAll(sambaTensorGetDataPtr(seed), 2, rows * width, 0);
  sambaTensorRelease(seed);
  succeeds(sambaSessionRun(session, NULL, NULL, NULL));
  areAll(valueOf(&fixture, "b__grad"), 2 * rows, width, 0);
  areAll(valueOf(&fixture, "b") + 3, 3 - 1.0, 1, 1e-6);

  /* U006: what was given once does not stay; U002: no names are all outputs. */
  succeeds(sambaSessionInitOutputGrads(session, 0, NULL, NULL));
  runTypes(&fixture, "FB");
  areAll(valueOf(&fixture, "b__grad"), rows, width, 0);

  /* U003: further tensors begin with ones too. */
  SambaOutputGradOptions extra = {.extra_count = 1, .extra = &w_name};
  succeeds(sambaSessionInitOutputGrads(session, 1, &y, &extra));
  areAll(valueOf(&fixture, "w__grad"), 1, width * width, 0);
  sambaTensorRelease(two);
  end(&fixture);
}

/* U002, U004, U005: refusals, with nothing written. */
static void u004RefusedGradients(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  SambaSession *session = fixture.session;
  const SambaStringRef names[] = {sambaStringRef("y"), sambaStringRef("w"), sambaStringRef("z"),
                                  sambaStringRef("x")};
  SambaTensor *bad = shared("", b, 1, line), *two = constant(2);
  SambaOutputGradOptions shape = {.custom_count = 1, .custom_names = names, .custom = &bad};
  SambaOutputGradOptions among = {.custom_count = 1, .custom_names = names + 1, .custom = &two};
  SambaOutputGradOptions none = {.extra_count = 1, .extra = names + 3};
  SambaOutputGradOptions batch = {.variable_batch = true};

  refuses(sambaSessionInitOutputGrads(session, 1, names, &shape),
          "input 'y__grad' is 5x10xf32, but the data are 10xf32");
  refuses(sambaSessionInitOutputGrads(session, 1, names, &among),
          "there is a gradient for 'w', which is not among the outputs that were given");
  refuses(sambaSessionInitOutputGrads(session, 1, names + 2, NULL), "no tensor named 'z'");
  refuses(sambaSessionInitOutputGrads(session, 1, names + 1, NULL),
          "'w' is no output, so no backward pass begins with its gradient");
  refuses(sambaSessionInitOutputGrads(session, 1, names, &none),
          "only what was compiled with requires_grad has a gradient, and 'x' was not");
  refuses(sambaSessionInitOutputGrads(session, 1, names, &batch),
          "gradients of a variable batch size are not supported; compile the model for the batch "
          "size");
  SambaRunReport report;
  sambaSessionGetReport(session, &report);
  assert_int_equal(report.transfers.host_to_device_bytes, 0);
  sambaTensorRelease(bad);
  sambaTensorRelease(two);
  end(&fixture);
}

/* G006: a run up to some call, work on the host, and the rest: here the bias is exchanged between
 * the backward pass and the update. */
static void g006WorkOfTheHostBetweenRuns(void **state) {
  (void)state;
  Fixture fixture;
  open(&fixture);
  remember(&fixture);
  succeeds(sambaSessionTransferTraced(fixture.session));
  runTypes(&fixture, "FB");
  SambaTensor *grad;
  succeeds(sambaSessionReadGrad(fixture.session, sambaStringRef("b"), &grad));
  float *data = sambaTensorGetDataPtr(grad);
  for (int i = 0; i < width; ++i)
    data[i] *= 3;
  succeeds(sambaSessionWriteGrad(fixture.session, sambaStringRef("b"), grad));
  runTypes(&fixture, "O");
  areAll(valueOf(&fixture, "b") + 2, 2 - 0.1 * 3 * rows, 1, 1e-6);
  sambaTensorRelease(grad);
  end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(e02RunsWithTensors),
      cmocka_unit_test(u020TransferTraced),
      cmocka_unit_test(t100Norm),
      cmocka_unit_test(t104SixSteps),
      cmocka_unit_test(u001OutputGradients),
      cmocka_unit_test(u004RefusedGradients),
      cmocka_unit_test(g006WorkOfTheHostBetweenRuns),
  };
  return cmocka_run_group_tests(tests, fill, NULL);
}
