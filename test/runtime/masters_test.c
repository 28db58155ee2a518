/* Weights of 16 bits and their copies in f32: when a copy follows, to what, and what it costs. */
#include "runtime/values.h"
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "masters-test.pef";
enum { forwardCall = 1, optimizerCall = 7, weightFormal = 0, masterFormal = 1 };

/* All calls bind the weight, that of OPT the copy, too. */
static void addMaster(SambaPef *pef) {
  static SambaPefFormal formals[] = {{.name = {"w", 1}}, {.name = {"c", 1}}};
  SambaPefSymbol *weight = &pef->symbols[trainingWeight], *master = &pef->symbols[trainingVelocity];
  weight->device_dtype = weight->host_dtype = SAMBA_DTYPE_BF16;
  weight->bytes = 8;
  weight->flags = SAMBA_PEF_PERSISTENT;
  weight->grad_symbol = SAMBA_PEF_NONE;
  weight->master = trainingVelocity;
  master->flags = SAMBA_PEF_PERSISTENT;
  pef->images->formals = formals;
  pef->images->formals_count = 2;

  for (uint32_t c = 0; c < pef->calls_count; ++c) {
    SambaPefCall *call = &pef->calls[c];
    SambaPefBinding *bindings =
        SAMBA_ARENA_ARRAY(&pef->arena, SambaPefBinding, call->bindings_count + 2);
    memcpy(bindings, call->bindings, call->bindings_count * sizeof *bindings);
    for (uint32_t formal = 0; formal < 2; ++formal)
      bindings[call->bindings_count++] = (SambaPefBinding){
          .formal = formal,
          .symbol =
              formal == masterFormal && c == optimizerCall ? trainingVelocity : trainingWeight,
          .argin = SAMBA_PEF_NONE};
    call->bindings = bindings;
  }
  weight->first_call = 0;
  weight->last_call = master->first_call = master->last_call = optimizerCall;
}

static int setUp(void **state) {
  writeChangedTrainingPef(path, 0, addMaster);
  return openRecordedPef(path, state);
}

static void run(RecordedPef *pef, uint32_t type_count, const SambaSectionType *types) {
  SambaRunOptions options = {.order = {.types = types, .type_count = type_count}};
  succeeded(sambaSessionRun(pef->session, &options, NULL, NULL));
}

static void step(RecordedPef *pef) { run(pef, 0, NULL); }

static void forward(RecordedPef *pef) {
  static const SambaSectionType types[] = {SAMBA_SECTION_FWD};
  run(pef, 1, types);
}

static void putWeight(RecordedPef *pef, const float *values) {
  uint16_t bits[4];
  int64_t dims = 4;
  for (int i = 0; i < 4; ++i)
    bits[i] = (uint16_t)sambaFloatToBits(SAMBA_DTYPE_BF16, values[i]);
  succeeded(sambaSessionSetInput(pef->session, sambaStringRef("fc.weight"), SAMBA_DTYPE_BF16, 1,
                                 &dims, bits));
}

static void putMaster(RecordedPef *pef, const float *values) {
  int64_t dims = 4;
  succeeded(sambaSessionSetInput(pef->session, sambaStringRef("fc.weight__velocity"),
                                 SAMBA_DTYPE_F32, 1, &dims, values));
}

/* Reads and writes since entry `from`, and then the launch of OPT where it comes: "r1 w4 O". */
static const char *moved(RecordedPef *pef, size_t from) {
  static char text[256];
  size_t size = 0;
  for (size_t i = from; i < pef->recording.entries.size; ++i) {
    const Recorded *entry = &pef->recording.entries.data[i];
    if (entry->kind == RECORDED_LAUNCH && entry->index != optimizerCall)
      continue;
    static const char letters[] = {[RECORDED_LOAD] = 'l',
                                   [RECORDED_WRITE] = 'w',
                                   [RECORDED_READ] = 'r',
                                   [RECORDED_LAUNCH] = 'O'};
    size += (size_t)snprintf(text + size, sizeof text - size, size ? " %c" : "%c",
                             letters[entry->kind]);
    if (entry->kind != RECORDED_LAUNCH)
      size += (size_t)snprintf(text + size, sizeof text - size, "%u", entry->index);
  }
  text[size] = '\0';
  return text;
}

static void masterIs(RecordedPef *pef, const float *expected) {
  float values[4];
  succeeded(sambaReadSymbol(pef->session->loaded, trainingVelocity, values));
  assert_memory_equal(values, expected, sizeof values);
}

/* The first step of a weight, and then steps that nobody disturbs. */
static void testFirst(void **state) {
  RecordedPef *pef = *state;
  putMaster(pef, (float[]){0, 0, 0, 0});
  putWeight(pef, (float[]){1, -2.5f, 0, 0.125f});
  size_t from = pef->recording.entries.size;
  step(pef);
  assert_string_equal(moved(pef, from), "r1 r4 w4 O");
  masterIs(pef, (float[]){1, -2.5f, 0, 0.125f});

  from = pef->recording.entries.size;
  step(pef);
  forward(pef);
  step(pef);
  assert_string_equal(moved(pef, from), "O O");
}

/* bf16 has 8 bits of significand: numbers from 1 to 2 are multiples of 1/128, those from 2 to 4 of
 * 1/64. 1.001 rounds to 1, 3.01 to 3.015625. */
static void testElements(void **state) {
  RecordedPef *pef = *state;
  static const float weight[] = {1, 3, 3.015625f, 0}, master[] = {1.001f, 3.01f, 3.01f, -0.0f};
  for (int first = 0; first < 2; ++first) {
    if (first)
      putMaster(pef, master);
    putWeight(pef, weight);
    if (!first)
      putMaster(pef, master);
    step(pef);
    masterIs(pef, (float[]){1.001f, 3, 3.01f, -0.0f});
  }

  /* What agrees is compared and not written. */
  putWeight(pef, weight);
  putWeight(pef, weight);
  size_t from = pef->recording.entries.size;
  forward(pef);
  assert_string_equal(moved(pef, from), "");
  step(pef);
  assert_string_equal(moved(pef, from), "r1 r4 O");
}

static void testSymbolsWithoutMaster(void **state) {
  RecordedPef *pef = *state;
  putMaster(pef, (float[]){0, 0, 0, 0});
  putWeight(pef, (float[]){1, 1, 1, 1});
  step(pef);
  int64_t dims = 4;
  succeeded(sambaSessionSetInput(pef->session, sambaStringRef("x"), SAMBA_DTYPE_F32, 1, &dims,
                                 (float[]){1, 2, 3, 4}));
  size_t from = pef->recording.entries.size;
  step(pef);
  assert_string_equal(moved(pef, from), "O");
}

/* A call that ended with an error may have written one of the two. */
static void testErrors(void **state) {
  RecordedPef *pef = *state;
  putMaster(pef, (float[]){0, 0, 0, 0});
  putWeight(pef, (float[]){1, 1, 1, 1});
  step(pef);
  pef->recording.fails_at = pef->recording.entries.size + 8;
  refusedWith(sambaSessionRun(pef->session, NULL, NULL, NULL), "call 7: the wire is cut");
  size_t from = pef->recording.entries.size;
  step(pef);
  assert_string_equal(moved(pef, from), "r1 r4 O");
}

static bool forwardWritesWeight(uint32_t call, uint32_t formal) {
  return call == forwardCall && formal == weightFormal;
}
static bool optimizerWritesBoth(uint32_t call, uint32_t formal) {
  return call == optimizerCall || forwardWritesWeight(call, formal);
}

static const char *movedAfter(RecordedPef *pef, void (*first)(RecordedPef *)) {
  putMaster(pef, (float[]){0, 0, 0, 0});
  putWeight(pef, (float[]){1, 1, 1, 1});
  step(pef);
  first(pef);
  size_t from = pef->recording.entries.size;
  step(pef);
  return moved(pef, from);
}

static int setUpHalves(void **state) {
  RecordedPef *pef;
  setUp(state);
  pef = *state;
  pef->recording.writes = forwardWritesWeight;
  succeeded(sambaSessionReset(pef->session, path));
  return 0;
}

static void testWeightWrittenAlone(void **state) {
  assert_string_equal(movedAfter(*state, forward), "r1 r4 O");
}

/* As one section writes the copy and another one the weight. */
static void testStepOfTwoCalls(void **state) {
  RecordedPef *pef = *state;
  pef->recording.writes = optimizerWritesBoth;
  succeeded(sambaSessionReset(pef->session, path));
  assert_string_equal(movedAfter(pef, forward), "r1 r4 O");
  pef->recording.writes = NULL;
  succeeded(sambaSessionReset(pef->session, path));
  assert_string_equal(movedAfter(pef, forward), "O");
}

static void testNothingToRead(void **state) {
  RecordedPef *pef = *state;
  refusedWith(sambaSessionRun(pef->session, NULL, NULL, NULL), "call 7: nobody wrote symbol 1");
}

static void testTimingOnly(void **state) {
  (void)state;
  Recording recording = {.timing_only = true};
  writeChangedTrainingPef(path, 0, addMaster);
  SambaSession *session = openRecorded(path, &recording);
  size_t from = recording.entries.size;
  succeeded(sambaSessionRun(session, NULL, NULL, NULL));
  assert_int_equal(recording.entries.size, from + trainingCalls);
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testFirst, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testElements, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testSymbolsWithoutMaster, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testErrors, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testWeightWrittenAlone, setUpHalves, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testStepOfTwoCalls, setUp, closeRecordedPef),
      cmocka_unit_test_setup_teardown(testNothingToRead, setUp, closeRecordedPef),
      cmocka_unit_test(testTimingOnly)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
