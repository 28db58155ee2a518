/* Host tensors and the device: what is written, read, counted and refused, with a device that
 * records. */
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t four[1] = {4};
static const float ones[4] = {1, 1, 1, 1}, steps[4] = {1, 2, 3, 4};

static int setUp(void **state) {
  writeTrainingPef("tensors.pef", 0);
  return openRecordedPef("tensors.pef", state);
}

/* An f32 tensor of four elements that owns a copy of the values. */
static SambaTensor *tensorOf(const char *name, const float *values) {
  SambaTensor *tensor;
  succeeded(
      sambaTensorCreateUninitialized(SAMBA_DTYPE_F32, 1, four, sambaStringRef(name), &tensor));
  succeeded(sambaTensorWriteData(tensor, values, 16, true));
  return tensor;
}

static const float *floatsOf(const SambaTensor *tensor) { return sambaTensorGetDataPtr(tensor); }

/* How often the device was asked for something since entry `from`. */
static size_t countOf(const Recording *recording, RecordedKind kind, size_t from) {
  size_t count = 0;
  for (size_t i = from; i < recording->entries.size; ++i)
    count += recording->entries.data[i].kind == kind;
  return count;
}

static SambaStatus runInput(RecordedPef *fixture, SambaTensor *tensor) {
  SambaRunOptions options = {.input_count = 1, .inputs = &tensor};
  return sambaSessionRun(fixture->session, &options, NULL, NULL);
}

/* Inputs go first, in their order; what is NULL is skipped, and a run without keeps the values. */
static void s062InputsGoFirst(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *x = tensorOf("x", steps), *weight = tensorOf("fc.weight", ones);
  SambaTensor *inputs[] = {x, NULL, weight};
  SambaRunOptions options = {.input_count = 3, .inputs = inputs};
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));

  const Recorded *first = &fixture->recording.entries.data[1];
  assert_int_equal(first[0].kind, RECORDED_WRITE);
  assert_int_equal(first[0].index, trainingX);
  assert_memory_equal(first[0].data, steps, sizeof steps);
  assert_int_equal(first[1].index, trainingWeight);
  assert_int_equal(first[2].kind, RECORDED_LAUNCH);

  size_t from = fixture->recording.entries.size;
  succeeded(sambaSessionRun(fixture->session, NULL, NULL, NULL));
  assert_int_equal(countOf(&fixture->recording, RECORDED_WRITE, from), 0);
  sambaTensorRelease(x);
  sambaTensorRelease(weight);
}

/* Whatever is wrong with an input is said before anything is written or launched. */
static void s062RefusedInputs(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *good = tensorOf("fc.weight", ones), *bad[5];
  static const char *const texts[] = {
      "input: there is no tensor named 'y'", "input 'x' is 4xf32, but the data are 2x2xf32",
      "input 'x' is 4xf32, but the data are 4xbf16",
      "an input of the run has no name; give it that of a tensor of the PEF",
      "has no data and no materializer that could make them"};
  bad[0] = tensorOf("y", ones);
  SambaBufferView square = {(void *)ones, SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2}, NULL};
  SambaBufferView narrow = {(void *)ones, SAMBA_DTYPE_BF16, 1, four, NULL};
  succeeded(sambaTensorCreateFromBuffer(&square, sambaStringRef("x"), &bad[1]));
  succeeded(sambaTensorCreateFromBuffer(&narrow, sambaStringRef("x"), &bad[2]));
  bad[3] = tensorOf("", ones);
  succeeded(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, four, sambaStringRef("x"), &bad[4]));

  for (int i = 0; i < 5; ++i) {
    SambaTensor *inputs[] = {good, bad[i]};
    SambaRunOptions options = {.input_count = 2, .inputs = inputs};
    SambaStatus status = sambaSessionRun(fixture->session, &options, NULL, NULL);
    if (i < 3 && !strstr(sambaStatusGetMessage(status), "\n  note: input 'x' is 4xf32"))
      fail_msg("the inputs are not listed: %s", sambaStatusGetMessage(status));
    refusedWith(status, texts[i]);
    sambaTensorRelease(bad[i]);
  }
  assert_int_equal(fixture->recording.entries.size, 1); /* loading */
  sambaTensorRelease(good);
}

/* A strided tensor goes over dense, a lazy one is made and stays lazy. */
static SambaStatus makeSteps(void *user, const SambaMaterializeRequest *request) {
  ++*(int *)user;
  memcpy(request->data, steps, (size_t)request->bytes);
  return NULL;
}

static void stridedAndLazyInputs(void **state) {
  RecordedPef *fixture = *state;
  static const float apart[8] = {1, 0, 2, 0, 3, 0, 4, 0};
  SambaBufferView view = {(void *)apart, SAMBA_DTYPE_F32, 1, four, (int64_t[]){2}};
  SambaTensor *inputs[2];
  int made = 0;
  succeeded(sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &inputs[0]));
  succeeded(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, four, sambaStringRef("x"), &inputs[1]));
  sambaTensorSetMaterializer(inputs[1], makeSteps, &made, NULL);

  for (int i = 0; i < 2; ++i) {
    size_t at = fixture->recording.entries.size;
    succeeded(runInput(fixture, inputs[i]));
    assert_memory_equal(fixture->recording.entries.data[at].data, steps, sizeof steps);
  }
  assert_int_equal(made, 1);
  assert_false(sambaTensorHasData(inputs[1]));
  sambaTensorRelease(inputs[0]);
  sambaTensorRelease(inputs[1]);
}

static SambaDType labelType;

static void makeLabel(SambaPef *pef) {
  SambaPefSymbol *symbol = &pef->symbols[trainingX];
  symbol->host_dtype = symbol->device_dtype = labelType;
  symbol->bytes = 4 * sambaDTypeBytes(labelType);
}

/* Labels of 64 bits go into 32 and 16 bits when they fit, and only then. */
static void labelsOfFewerBits(void **state) {
  (void)state;
  static const struct {
    SambaDType dtype;
    int64_t fits[4], bad;
    const char *text;
  } cases[] = {
      {SAMBA_DTYPE_I32,
       {0, -1, INT32_MAX, INT32_MIN},
       (int64_t)INT32_MAX + 1,
       "input 'x': element 2 is 2147483648, which i32 cannot hold"},
      {SAMBA_DTYPE_I16,
       {7, -100, INT16_MAX, INT16_MIN},
       INT16_MIN - 1,
       "input 'x': element 2 is -32769, which i16 cannot hold"},
  };
  for (size_t i = 0; i < 2; ++i) {
    Recording recording = {0};
    SambaRunReport report;
    labelType = cases[i].dtype;
    writeChangedTrainingPef("labels.pef", 0, makeLabel);
    SambaSession *session = openRecorded("labels.pef", &recording);
    int64_t values[4];
    memcpy(values, cases[i].fits, sizeof values);
    SambaBufferView view = {values, SAMBA_DTYPE_I64, 1, four, NULL};
    SambaTensor *label;
    succeeded(sambaTensorCreateFromBuffer(&view, sambaStringRef("x"), &label));
    SambaRunOptions options = {.input_count = 1, .inputs = &label};
    succeeded(sambaSessionRun(session, &options, NULL, NULL));

    SambaTensor *got;
    succeeded(sambaSessionReadTensor(session, sambaStringRef("x"), &got));
    assert_int_equal(sambaTensorGetDType(got), labelType);
    for (int k = 0; k < 4; ++k)
      assert_int_equal(labelType == SAMBA_DTYPE_I32 ? ((int32_t *)sambaTensorGetDataPtr(got))[k]
                                                    : ((int16_t *)sambaTensorGetDataPtr(got))[k],
                       values[k]);
    sambaTensorRelease(got);
    sambaSessionGetReport(session, &report);
    assert_int_equal(report.transfers.conversions, 1);

    size_t before = recording.entries.size;
    values[2] = cases[i].bad;
    refusedWith(sambaSessionRun(session, &options, NULL, NULL), cases[i].text);
    assert_int_equal(recording.entries.size, before);
    sambaTensorRelease(label);
    sambaSessionClose(session);
    recordingFree(&recording);
    unlink("labels.pef");
  }
}

/* Outputs that are asked for are read after the run, in place; others stay on the device. */
static void s064Outputs(void **state) {
  RecordedPef *fixture = *state;
  float memory[4] = {0};
  SambaBufferView view = {memory, SAMBA_DTYPE_F32, 1, four, NULL};
  SambaTensor *mean = tensorOf("bn.mean", steps), *weight, *fresh;
  succeeded(sambaTensorCreateFromBuffer(&view, sambaStringRef("fc.weight"), &weight));
  succeeded(sambaTensorCreateEmpty(SAMBA_DTYPE_F32, 1, four, sambaStringRef("bn.mean"), &fresh));
  succeeded(sambaSessionWriteTensor(fixture->session, sambaStringRef("fc.weight"), mean));

  SambaTensor *outputs[] = {weight, NULL, fresh};
  SambaRunOptions options = {
      .input_count = 1, .inputs = &mean, .output_count = 3, .outputs = outputs};
  size_t from = fixture->recording.entries.size;
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
  assert_int_equal(countOf(&fixture->recording, RECORDED_READ, from), 2);
  assert_memory_equal(memory, steps, sizeof steps);
  assert_memory_equal(floatsOf(fresh), steps, sizeof steps);

  /* An output of another shape or name is refused before the first launch. */
  SambaBufferView square = {memory, SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2}, NULL};
  SambaTensor *bad;
  succeeded(sambaTensorCreateFromBuffer(&square, sambaStringRef("fc.weight"), &bad));
  options = (SambaRunOptions){.output_count = 1, .outputs = &bad};
  from = fixture->recording.entries.size;
  refusedWith(
      sambaSessionRun(fixture->session, &options, NULL, NULL),
      "'fc.weight' is 4xf32 on the device, but the tensor that shall receive it is 2x2xf32");
  sambaTensorSetName(bad, sambaStringRef("z"));
  refusedWith(sambaSessionRun(fixture->session, &options, NULL, NULL),
              "output: there is no tensor named 'z'");
  assert_int_equal(fixture->recording.entries.size, from);
  sambaTensorRelease(mean);
  sambaTensorRelease(weight);
  sambaTensorRelease(fresh);
  sambaTensorRelease(bad);
}

/* T097, T098, S054: each reading is a tensor of its own; writing leaves the host's data alone. */
static void t097t098DataOfTheDevice(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *weight = tensorOf("fc.weight", ones), *value = tensorOf("", steps), *reads[2];
  succeeded(sambaTensorCopyToDevice(weight, fixture->session, value));
  assert_memory_equal(floatsOf(weight), ones, sizeof ones);
  for (int i = 0; i < 2; ++i)
    succeeded(sambaTensorCopyFromDevice(weight, fixture->session, &reads[i]));
  assert_memory_equal(floatsOf(reads[0]), steps, sizeof steps);
  assert_false(sambaTensorSharesStorage(reads[0], reads[1]));
  ((float *)sambaTensorGetDataPtr(reads[0]))[0] = -1;
  sambaTensorRelease(reads[1]);
  succeeded(sambaTensorCopyFromDevice(weight, fixture->session, &reads[1]));
  assert_memory_equal(floatsOf(reads[1]), steps, sizeof steps);
  assert_true(sambaStringRefEqualC(sambaTensorGetName(reads[1]), "fc.weight"));

  SambaBufferView narrow = {(void *)ones, SAMBA_DTYPE_BF16, 1, four, NULL};
  SambaTensor *bad;
  succeeded(sambaTensorCreateFromBuffer(&narrow, sambaStringRef(""), &bad));
  refusedWith(sambaTensorCopyToDevice(weight, fixture->session, bad),
              "input 'fc.weight' is 4xf32, but the data are 4xbf16");
  refusedWith(sambaTensorCopyToDevice(value, fixture->session, weight),
              "a tensor without a name has no place on the device; give it the name that it was "
              "compiled with");
  SambaTensor *all[] = {weight, value, reads[0], reads[1], bad};
  for (int i = 0; i < 5; ++i)
    sambaTensorRelease(all[i]);
}

/* The gradient is a tensor too; without one the rule is named. */
static void t099GradientOfTheDevice(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *weight = tensorOf("fc.weight", ones), *bias = tensorOf("fc.bias", ones);
  SambaTensor *value = tensorOf("", steps), *read;
  succeeded(sambaTensorCopyGradToDevice(weight, fixture->session, value));
  succeeded(sambaTensorCopyGradFromDevice(weight, fixture->session, &read));
  assert_memory_equal(floatsOf(read), steps, sizeof steps);
  assert_true(sambaStringRefEqualC(sambaTensorGetName(read), "fc.weight__grad"));
  sambaTensorRelease(read);

  static const char text[] = "there is no tensor named 'fc.bias__grad': only what was compiled "
                             "with requires_grad has a gradient, and 'fc.bias' was not";
  refusedWith(sambaTensorCopyGradFromDevice(bias, fixture->session, &read), text);
  assert_null(read);
  refusedWith(sambaTensorCopyGradToDevice(bias, fixture->session, value), text);
  sambaTensorRelease(weight);
  sambaTensorRelease(bias);
  sambaTensorRelease(value);
}

/* T101, T102, T103: data and gradient go over together, and come back into memory of their own or
 * in place. */
static void t101t102t103Both(void **state) {
  RecordedPef *fixture = *state;
  SambaSession *session = fixture->session;
  float memory[4];
  memcpy(memory, steps, sizeof memory);
  SambaBufferView view = {memory, SAMBA_DTYPE_F32, 1, four, NULL};
  SambaTensor *weight, *other = tensorOf("", ones), *grad = tensorOf("", ones);
  succeeded(sambaTensorCreateFromBuffer(&view, sambaStringRef("fc.weight"), &weight));
  succeeded(sambaTensorToDevice(weight, session)); /* it has no gradient yet: data alone */
  assert_int_equal(fixture->recording.entries.size, 2);
  bool is_written = true;
  succeeded(sambaSessionIsWritten(session, sambaStringRef("fc.weight__grad"), &is_written));
  assert_false(is_written);
  succeeded(sambaTensorToHost(weight, session, true)); /* nor has the device */
  assert_null(sambaTensorGetGrad(weight));

  succeeded(sambaTensorSetRequiresGrad(weight, true));
  succeeded(sambaTensorSetGrad(weight, grad));
  succeeded(sambaTensorToDevice(weight, session));
  const Recorded *last = &fixture->recording.entries.data[fixture->recording.entries.size - 1];
  assert_int_equal(last->index, trainingGradient);
  assert_memory_equal(last->data, ones, sizeof ones);

  /* The device changes; the host sees it when it asks. */
  succeeded(sambaTensorCopyToDevice(weight, session, other));
  SambaTensor *twos = tensorOf("", (const float[]){2, 2, 2, 2});
  succeeded(sambaTensorCopyGradToDevice(weight, session, twos));
  assert_memory_equal(memory, steps, sizeof steps);
  succeeded(sambaTensorToHost(weight, session, false));
  assert_memory_equal(memory, steps, sizeof steps); /* who shares the old memory keeps it */
  assert_ptr_not_equal(sambaTensorGetDataPtr(weight), memory);
  assert_memory_equal(floatsOf(weight), ones, sizeof ones);
  assert_true(floatsOf(sambaTensorGetGrad(weight))[3] == 2);

  /* A fault is one, also where a gradient may be missing. */
  bool written = false;
  succeeded(sambaSessionIsWritten(session, sambaStringRef("fc.weight__grad"), &written));
  assert_true(written);
  fixture->recording.fails_at = fixture->recording.entries.size + 2; /* the data, the gradient */
  fixture->recording.fails_as_fault = true;
  refusedWith(sambaTensorToHost(weight, session, false), "a bit has flipped");
  fixture->recording.fails_at = 0;

  const void *pointer = sambaTensorGetDataPtr(weight);
  succeeded(sambaTensorCopyToDevice(weight, session, twos));
  succeeded(sambaTensorToHost(weight, session, true));
  assert_ptr_equal(sambaTensorGetDataPtr(weight), pointer);
  assert_true(floatsOf(weight)[0] == 2);
  SambaTensor *all[] = {weight, other, grad, twos};
  for (int i = 0; i < 4; ++i)
    sambaTensorRelease(all[i]);
}

/* T105, G007: the counters are the bytes that moved, so a program sees what its transfers cost. */
static void t105Counters(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *weight = tensorOf("fc.weight", ones), *read;
  SambaRunReport report;
  sambaSessionGetReport(fixture->session, &report);
  assert_int_equal(report.transfers.host_to_device_bytes, 0);
  assert_true(report.transfers.seconds == 0);
  for (int i = 0; i < 3; ++i)
    succeeded(sambaTensorToDevice(weight, fixture->session));
  succeeded(runInput(fixture, weight));
  succeeded(sambaTensorCopyFromDevice(weight, fixture->session, &read));
  sambaSessionGetReport(fixture->session, &report);
  assert_int_equal(report.transfers.host_to_device_bytes, 64);
  assert_int_equal(report.transfers.device_to_host_bytes, 16);
  assert_int_equal(report.transfers.conversions, 0);
  assert_true(report.transfers.seconds > 0);
  sambaTensorRelease(weight);
  sambaTensorRelease(read);
}

static void t106FastAccess(void **state) {
  RecordedPef *fixture = *state;
  SambaSession *session = fixture->session;
  bool fast;
  succeeded(sambaSessionGetFastAccess(session, sambaStringRef("x"), &fast));
  assert_true(fast);
  succeeded(sambaSessionGetFastAccess(session, sambaStringRef("fc.weight"), &fast));
  assert_false(fast);
  succeeded(sambaSessionSetFastAccess(session, sambaStringRef("fc.weight__grad"), true));
  succeeded(sambaSessionGetFastAccess(session, sambaStringRef("fc.weight__grad"), &fast));
  assert_true(fast);
  refusedWith(sambaSessionSetFastAccess(session, sambaStringRef("z"), true),
              "there is no tensor named 'z'");
}

/* S053, S058: the tensor of a name: the one that was given, else an empty one; nothing is read. */
static void s053s058TensorsByName(void **state) {
  RecordedPef *fixture = *state;
  SambaSession *session = fixture->session;
  SambaStringRef name = sambaStringRef("fc.weight");
  SambaTensor *first, *again, *given = tensorOf("other", steps);
  succeeded(sambaSessionGetTensor(session, name, &first));
  succeeded(sambaSessionGetTensor(session, name, &again));
  assert_ptr_equal(first, again);
  sambaTensorRelease(again);
  assert_false(sambaTensorHasData(first));
  assert_true(sambaTensorGetRequiresGrad(first));
  assert_true(sambaStringRefEqualC(sambaTensorGetName(first), "fc.weight"));
  assert_true(sambaStringRefEqualC(sambaTensorGetRegionName(first), "fc.weight"));
  assert_int_equal(fixture->recording.entries.size, 1);
  refusedWith(sambaSessionGetTensor(session, sambaStringRef("fc.wight"), &again),
              "did you mean 'fc.weight'?");

  /* Another one, which goes to the device with the next transfer. */
  sambaTensorRelease(first);
  succeeded(sambaSessionUpdateTensor(session, name, given));
  succeeded(sambaSessionGetTensor(session, name, &first));
  assert_ptr_equal(first, given);
  assert_int_equal(fixture->recording.entries.size, 1);
  succeeded(sambaSessionTransferTraced(session));
  assert_int_equal(fixture->recording.entries.size, 2);
  assert_memory_equal(fixture->recording.entries.data[1].data, steps, sizeof steps);

  SambaBufferView square = {(void *)ones, SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2}, NULL};
  succeeded(sambaTensorCreateFromBuffer(&square, name, &again));
  refusedWith(sambaSessionUpdateTensor(session, name, again), "is 4xf32, but the data are 2x2xf32");
  sambaTensorRelease(again);

  succeeded(sambaSessionUpdateTensor(session, name, NULL));
  refusedWith(
      sambaSessionGetTensor(session, name, &again),
      "tensor 'fc.weight' was taken out of the session; give it another one with an update");
  succeeded(sambaSessionTransferTraced(session));
  assert_int_equal(fixture->recording.entries.size, 2);
  succeeded(sambaSessionUpdateTensor(session, name, given));
  succeeded(sambaSessionGetTensor(session, name, &again));
  sambaTensorRelease(again);
  sambaTensorRelease(first);
  sambaTensorRelease(given);
}

/* S131, S132, S133: kinds move together; others are not touched. */
static void s131s132s133Kinds(void **state) {
  RecordedPef *fixture = *state;
  SambaSession *session = fixture->session;
  SambaTensor *mean = tensorOf("bn.mean", ones), *weight = tensorOf("fc.weight", ones);
  const uint32_t buffers = 1u << SAMBA_SYMBOL_BUFFER;
  succeeded(sambaSessionUpdateTensor(session, sambaStringRef("bn.mean"), mean));
  succeeded(sambaSessionUpdateTensor(session, sambaStringRef("fc.weight"), weight));
  succeeded(sambaSessionSync(session, SAMBA_SYNC_TO_DEVICE, buffers, false));
  assert_int_equal(fixture->recording.entries.size, 2);
  assert_int_equal(fixture->recording.entries.data[1].index, trainingMean);

  SambaTensor *value = tensorOf("", steps);
  succeeded(sambaTensorCopyToDevice(mean, session, value));
  succeeded(sambaTensorCopyToDevice(weight, session, value));
  const void *pointer = sambaTensorGetDataPtr(mean);
  succeeded(sambaSessionSync(session, SAMBA_SYNC_TO_HOST, buffers, true));
  assert_ptr_equal(sambaTensorGetDataPtr(mean), pointer);
  assert_memory_equal(floatsOf(mean), steps, sizeof steps);
  assert_memory_equal(floatsOf(weight), ones, sizeof ones);

  /* Weights, buffers and state, into tensors that the session makes where it has none. */
  static const char *const others[] = {"fc.bias", "fc.weight__velocity"};
  for (int i = 0; i < 2; ++i)
    succeeded(sambaSessionWriteTensor(session, sambaStringRef(others[i]), value));
  succeeded(sambaSessionSync(
      session, SAMBA_SYNC_TO_HOST,
      buffers | 1u << SAMBA_SYMBOL_WEIGHT | 1u << SAMBA_SYMBOL_OPTIMIZER_STATE, false));
  assert_memory_equal(floatsOf(weight), steps, sizeof steps);
  SambaTensor *velocity;
  succeeded(sambaSessionGetTensor(session, sambaStringRef("fc.weight__velocity"), &velocity));
  assert_memory_equal(floatsOf(velocity), steps, sizeof steps);
  SambaTensor *all[] = {mean, weight, value, velocity};
  for (int i = 0; i < 4; ++i)
    sambaTensorRelease(all[i]);
}

/* Tensors outlive the session that knew them. */
static void s059TensorsStay(void **state) {
  RecordedPef *fixture = *state;
  SambaTensor *weight = tensorOf("fc.weight", steps), *empty;
  succeeded(sambaSessionUpdateTensor(fixture->session, sambaStringRef("fc.weight"), weight));
  succeeded(sambaSessionGetTensor(fixture->session, sambaStringRef("x"), &empty));
  succeeded(sambaSessionReset(fixture->session, NULL));
  assert_memory_equal(floatsOf(weight), steps, sizeof steps);
  assert_true(sambaStringRefEqualC(sambaTensorGetName(empty), "x"));
  refusedWith(sambaTensorToDevice(weight, fixture->session), "no PEF loaded");
  refusedWith(sambaSessionTransferTraced(fixture->session), "no PEF loaded");
  refusedWith(sambaSessionSync(fixture->session, SAMBA_SYNC_TO_HOST, 1, false), "no PEF loaded");
  refusedWith(sambaSessionInitOutputGrads(fixture->session, 0, NULL, NULL), "no PEF loaded");
  sambaTensorRelease(weight);
  sambaTensorRelease(empty);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, closeRecordedPef)
      TEST(s062InputsGoFirst),       TEST(s062RefusedInputs),     TEST(stridedAndLazyInputs),
      TEST(labelsOfFewerBits),       TEST(s064Outputs),           TEST(t097t098DataOfTheDevice),
      TEST(t099GradientOfTheDevice), TEST(t101t102t103Both),      TEST(t105Counters),
      TEST(t106FastAccess),          TEST(s053s058TensorsByName), TEST(s131s132s133Kinds),
      TEST(s059TensorsStay),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
