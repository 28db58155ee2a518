/* Sessions before, between and after their PEFs. */
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const float values[4] = {1, 2, 3, 4};
static const int64_t four[1] = {4};

typedef struct {
  Recording recording;
  SambaSession *session;
} Fixture;

static void begin(Fixture *fixture) {
  *fixture = (Fixture){0};
  SambaDeviceFactory factory = recordingDevice(&fixture->recording);
  succeeded(sambaSessionCreate(&factory, &fixture->session));
}

static void end(Fixture *fixture) {
  sambaSessionClose(fixture->session);
  recordingFree(&fixture->recording);
}

static SambaStatus writeX(Fixture *fixture) {
  return sambaSessionSetInput(fixture->session, sambaStringRef("x"), SAMBA_DTYPE_F32, 1, four,
                              values);
}

static char *readFile(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *bytes = malloc(1 << 20);
  *out_size = fread(bytes, 1, 1 << 20, file);
  fclose(file);
  return bytes;
}

static void count(void *user, const SambaTensorInfo *info) {
  (void)info;
  ++*(int *)user;
}

static void countArgins(void *user, const SambaArginInfo *info) {
  (void)info;
  ++*(int *)user;
}

static void countCalls(void *user, uint32_t section) {
  (void)section;
  ++*(int *)user;
}

static void s001WithoutPef(void **state) {
  (void)state;
  static const char wanted[] = "no PEF loaded; load a compiled model into the session first";
  Fixture fixture;
  begin(&fixture);
  SambaSession *session = fixture.session;
  SambaStringRef name = sambaStringRef("x");
  SambaTensor *tensor;
  SambaTensorInfo info;
  SambaRunReport report;
  double value;

  assert_false(sambaSessionHasPef(session));
  refusedWith(sambaSessionRun(session, NULL, NULL, NULL), wanted);
  refusedWith(writeX(&fixture), wanted);
  refusedWith(sambaSessionReadTensor(session, name, &tensor), wanted);
  refusedWith(sambaSessionGetTensorInfo(session, name, &info), wanted);
  refusedWith(sambaSessionCheckTrace(session, name, NULL), wanted);
  refusedWith(sambaSessionSetHyperparameters(session, 0, NULL), wanted);
  refusedWith(sambaSessionGetHyperparameter(session, name, &value), wanted);
  refusedWith(sambaSessionSave(session, "folder"), wanted);
  refusedWith(sambaSessionLoad(session, "folder"), wanted);

  int things = 0;
  sambaSessionForEachTensor(session, ~0u, count, &things);
  sambaSessionForEachArgin(session, ~0u, countArgins, &things);
  sambaSessionForEachCall(session, countCalls, &things);
  assert_int_equal(things, 0);
  assert_int_equal(sambaSessionGetSectionTypes(session), 0);
  assert_false(sambaSessionSkipInput(session, name));
  assert_false(sambaSessionFindMissingInput(session, NULL, &info));
  sambaSessionGetReport(session, &report);
  assert_int_equal(report.section_count, 0);
  assert_null(sambaSessionGetDevice(session));
  end(&fixture);
}

/* S001, S061: the PEF comes later, from a file or from memory, and runs without a trace. */
static void s001PefComesLater(void **state) {
  (void)state;
  Fixture file, memory;
  size_t size;
  writeTrainingPef("loading.pef", 0);
  char *bytes = readFile("loading.pef", &size);

  begin(&file);
  begin(&memory);
  succeeded(sambaSessionLoadPef(file.session, "loading.pef"));
  succeeded(sambaSessionLoadPefMemory(memory.session, bytes, size));
  memset(bytes, 0, size); /* borrowed during the call only */
  unlink("loading.pef");
  Fixture *both[] = {&file, &memory};
  for (int i = 0; i < 2; ++i) {
    succeeded(writeX(both[i]));
    succeeded(sambaSessionRun(both[i]->session, NULL, NULL, NULL));
    assert_string_equal(launchedCalls(&both[i]->recording, 0), "0 1 2 3 4 5 6 7");
    end(both[i]);
  }
  free(bytes);
}

static void memoryThatIsNoPef(void **state) {
  (void)state;
  Fixture fixture;
  begin(&fixture);
  refusedWith(sambaSessionLoadPefMemory(fixture.session, "\177ELF", 4),
              "the PEF in memory: not a PEF: it is shorter than an ELF header (64 bytes)");
  assert_false(sambaSessionHasPef(fixture.session));
  end(&fixture);
}

/* A new PEF takes the place of the old one, with a device of its own; a bad one does not. */
static void newPefs(void **state) {
  (void)state;
  Fixture fixture;
  begin(&fixture);
  writeTrainingPef("loading.pef", 0);
  succeeded(sambaSessionLoadPef(fixture.session, "loading.pef"));
  succeeded(writeX(&fixture));
  SambaHyperparameter lr = {sambaStringRef("lr"), 3};
  succeeded(sambaSessionSetHyperparameters(fixture.session, 1, &lr));

  SambaTensor *tensor;
  refusedWith(sambaSessionLoadPef(fixture.session, "missing.pef"),
              "missing.pef: cannot be read: No such file or directory");
  succeeded(sambaSessionReadTensor(fixture.session, sambaStringRef("x"), &tensor));
  sambaTensorRelease(tensor);

  double value;
  succeeded(sambaSessionLoadPef(fixture.session, "loading.pef"));
  assert_true(fixture.recording.destroyed);
  refusedWith(sambaSessionReadTensor(fixture.session, sambaStringRef("x"), &tensor),
              "nobody wrote symbol 0");
  succeeded(sambaSessionGetHyperparameter(fixture.session, sambaStringRef("lr"), &value));
  assert_true(value == (double)0.1f);
  unlink("loading.pef");
  end(&fixture);
}

/* The bits of the seed of dropout that a run draws. */
static uint64_t seedOf(Fixture *fixture) {
  size_t launches = fixture->recording.entries.size;
  succeeded(sambaSessionRun(fixture->session, NULL, NULL, NULL));
  return fixture->recording.entries.data[launches].argins[5];
}

static void s059Reset(void **state) {
  (void)state;
  Fixture fixture;
  begin(&fixture);
  writeTrainingPef("loading.pef", 0);
  succeeded(sambaSessionReset(fixture.session, "loading.pef"));
  succeeded(writeX(&fixture));
  uint64_t first = seedOf(&fixture);
  sambaSessionSeedGenerator(fixture.session, 77);
  assert_true(seedOf(&fixture) != first);
  sambaSessionSetStep(fixture.session, 5);

  /* Device, values, steps, random numbers: all as in a new session. */
  fixture.recording.destroyed = false;
  succeeded(sambaSessionReset(fixture.session, "loading.pef"));
  assert_true(fixture.recording.destroyed);
  assert_int_equal(sambaSessionGetStep(fixture.session), 0);
  SambaTensorInfo missing;
  assert_true(sambaSessionFindMissingInput(fixture.session, NULL, &missing));
  assert_true(seedOf(&fixture) == first);

  const char *const nothing[] = {NULL, ""};
  for (int i = 0; i < 2; ++i) {
    succeeded(sambaSessionReset(fixture.session, nothing[i]));
    assert_false(sambaSessionHasPef(fixture.session));
    refusedWith(sambaSessionRun(fixture.session, NULL, NULL, NULL), "no PEF loaded");
  }
  unlink("loading.pef");
  end(&fixture);
}

/* A seed that is given before the PEF is the start of its random numbers. */
static void s060SeedBeforeThePef(void **state) {
  (void)state;
  uint64_t seeds[2];
  writeTrainingPef("loading.pef", 0);
  for (int early = 0; early < 2; ++early) {
    Fixture fixture;
    begin(&fixture);
    if (early)
      sambaSessionSeedGenerator(fixture.session, 9);
    succeeded(sambaSessionLoadPef(fixture.session, "loading.pef"));
    if (!early)
      sambaSessionSeedGenerator(fixture.session, 9);
    succeeded(writeX(&fixture));
    seeds[early] = seedOf(&fixture);
    end(&fixture);
  }
  assert_true(seeds[0] == seeds[1]);
  unlink("loading.pef");
}

typedef struct {
  char text[256];
} Seen;

static void seeSection(void *user, const SambaSectionInfo *info) {
  Seen *seen = user;
  size_t size = strlen(seen->text);
  snprintf(seen->text + size, sizeof seen->text - size, " %u:%s", info->section,
           sambaSectionTypeName(info->type));
}

static void seeCall(void *user, uint32_t section) {
  Seen *seen = user;
  size_t size = strlen(seen->text);
  snprintf(seen->text + size, sizeof seen->text - size, " %u", section);
}

static void seeGraph(void *user, const SambaGraphInfo *info) {
  Seen *seen = user;
  snprintf(seen->text, sizeof seen->text, "%.*s %s %s %u+%u", SAMBA_STRING_ARGS(info->name),
           info->is_training ? "training" : "inference", info->mapping, info->first_call,
           info->call_count);
}

/* S027, S080: sections have an id and a type; the schedule names them in its order. */
static void s080Schedule(void **state) {
  (void)state;
  Fixture fixture;
  begin(&fixture);
  writeTrainingPef("loading.pef", 0);
  succeeded(sambaSessionLoadPef(fixture.session, "loading.pef"));
  unlink("loading.pef");

  Seen sections = {""}, calls = {""}, graph = {""};
  sambaSessionForEachSection(fixture.session, seeSection, &sections);
  assert_string_equal(sections.text, " 0:ZEROGRAD 1:FWD 2:FWD 3:BCKWD 4:REDUCE 5:GRADNORM 6:OPT");
  sambaSessionForEachCall(fixture.session, seeCall, &calls);
  assert_string_equal(calls.text, " 0 1 2 1 3 4 5 6");
  sambaSessionForEachGraph(fixture.session, seeGraph, &graph);
  assert_string_equal(graph.text, "main training section 0+8");

  SambaTensorInfo info;
  succeeded(sambaSessionGetTensorInfo(fixture.session, sambaStringRef("fc.weight"), &info));
  assert_int_equal(info.kind, SAMBA_SYMBOL_WEIGHT);
  assert_true(info.requires_grad);
  assert_true(sambaStringRefEqualC(info.gradient, "fc.weight__grad"));
  assert_int_equal(info.memory, SAMBA_MEMORY_HBM);
  assert_int_equal(info.rank, 1);
  assert_int_equal(info.dims[0], 4);
  end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(s001WithoutPef),    cmocka_unit_test(s001PefComesLater),
      cmocka_unit_test(memoryThatIsNoPef), cmocka_unit_test(newPefs),
      cmocka_unit_test(s059Reset),         cmocka_unit_test(s060SeedBeforeThePef),
      cmocka_unit_test(s080Schedule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
