/* Checkpoints: what is saved is what is loaded, whole or not at all; damaged ones and those of
 * other PEFs are refused and change nothing. */
#include "runtime/checkpoint/checkpoint_index.h"
#include "samba/session.h"
#include "support/file/folder.h"
#include "support/text/text.h"
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "checkpoint-test.pef";
static const char folder[] = "checkpoint-test";
static const char *const saved[] = {"fc.weight", "fc.bias", "bn.mean", "fc.weight__velocity"};
enum { savedCount = 4 };

static SambaStatus removeFile(void *user, const char *name) {
  char file[256];
  snprintf(file, sizeof file, "%s/%s", (const char *)user, name);
  unlink(file);
  return NULL;
}

static void removeFolder(const char *name) {
  sambaStatusFree(sambaFolderVisit(name, removeFile, (char *)name));
  rmdir(name);
}

static int setUp(void **state) {
  removeFolder(folder);
  writeTrainingPef(path, 0);
  return openRecordedPef(path, state);
}

static int tearDown(void **state) {
  removeFolder(folder);
  return closeRecordedPef(state);
}

static void setTensors(SambaSession *session, float first) {
  for (int i = 0; i < savedCount; ++i) {
    const float values[4] = {first + (float)i, 0.1f, -0.0f, 3e-39f};
    succeeded(sambaSessionSetInput(session, sambaStringRef(saved[i]), SAMBA_DTYPE_F32, 1,
                                   (int64_t[]){4}, values));
  }
}

static void hasTensors(SambaSession *session, float first) {
  for (int i = 0; i < savedCount; ++i) {
    const float values[4] = {first + (float)i, 0.1f, -0.0f, 3e-39f};
    SambaTensor *tensor;
    succeeded(sambaSessionReadTensor(session, sambaStringRef(saved[i]), &tensor));
    assert_memory_equal(sambaTensorGetDataPtr(tensor), values, sizeof values);
    sambaTensorRelease(tensor);
  }
}

/* A run with seeds drawn, values given and a step done. */
static void trainABit(SambaSession *session) {
  const SambaHyperparameter values[] = {{sambaStringRef("lr"), 0.3},
                                        {sambaStringRef("drop2.seed"), 77}};
  SambaRunOptions options = {.hyperparameter_count = 2, .hyperparameters = values};
  succeeded(sambaSessionRun(session, &options, NULL, NULL));
}

static const uint64_t *lastArgins(const Recording *recording) {
  return recording->entries.data[recording->entries.size - 1].argins;
}

static void whatIsSavedIsLoaded(void **state) {
  RecordedPef *fixture = *state;
  setTensors(fixture->session, 10);
  trainABit(fixture->session);
  succeeded(sambaSessionSave(fixture->session, folder));

  Recording recording = {0};
  SambaSession *session = openRecorded(path, &recording);
  setTensors(session, -5);
  succeeded(sambaSessionLoad(session, "checkpoint-test/"));
  hasTensors(session, 10);
  assert_int_equal(sambaSessionGetStep(session), 1);

  /* The next step binds the same values, the seeds that are drawn among them; so does one after the
   * generator starts again. */
  for (int i = 0; i < 2; ++i) {
    succeeded(sambaSessionRun(fixture->session, NULL, NULL, NULL));
    succeeded(sambaSessionRun(session, NULL, NULL, NULL));
    assert_memory_equal(lastArgins(&recording), lastArgins(&fixture->recording),
                        trainingArgins * sizeof(uint64_t));
    assert_int_equal(lastArgins(&recording)[6] == 77, i == 0);
    sambaSessionResetGenerator(fixture->session);
    sambaSessionResetGenerator(session);
  }
  sambaSessionClose(session);
  recordingFree(&recording);
}

/* The second checkpoint takes the place of the first; nothing else is left. */
static void savingAgainReplaces(void **state) {
  RecordedPef *fixture = *state;
  setTensors(fixture->session, 1);
  succeeded(sambaSessionSave(fixture->session, folder));
  setTensors(fixture->session, 2);
  succeeded(sambaSessionSave(fixture->session, folder));
  setTensors(fixture->session, 3);
  succeeded(sambaSessionLoad(fixture->session, folder));
  hasTensors(fixture->session, 2);
}

typedef struct {
  int count;
} Leftovers;

static SambaStatus countLeftovers(void *user, const char *name) {
  ((Leftovers *)user)->count += strncmp(name, folder, strlen(folder)) == 0 &&
                                strcmp(name, folder) != 0 && strcmp(name, path) != 0;
  return NULL;
}

/* A save that fails anywhere leaves the old checkpoint, and no other file. */
static void aSaveThatFailsKeepsTheOldOne(void **state) {
  RecordedPef *fixture = *state;
  setTensors(fixture->session, 1);
  succeeded(sambaSessionSave(fixture->session, folder));
  setTensors(fixture->session, 2);
  for (size_t nth = 1; nth <= savedCount; ++nth) {
    fixture->recording.fails_at = fixture->recording.entries.size + nth;
    refusedWith(sambaSessionSave(fixture->session, folder), "the wire is cut");
  }
  fixture->recording.fails_at = 0;

  Leftovers leftovers = {0};
  succeeded(sambaFolderVisit(".", countLeftovers, &leftovers));
  assert_int_equal(leftovers.count, 0);
  succeeded(sambaSessionLoad(fixture->session, folder));
  hasTensors(fixture->session, 1);
}

static void writeText(const char *file, const char *text) {
  succeeded(sambaWriteFile(file, text, strlen(text)));
}

static void foldersThatAreNotOurs(void **state) {
  RecordedPef *fixture = *state;
  setTensors(fixture->session, 1);
  writeText(folder, "a file");
  refusedWith(sambaSessionSave(fixture->session, folder),
              "checkpoint-test: is a file; a checkpoint is a folder, give another name");
  SambaFolderDraft draft;
  refusedWith(sambaFolderDraftCreate(folder, &draft),
              "checkpoint-test: cannot be written: it is no folder; give another name");
  unlink(folder);

  assert_int_equal(mkdir(folder, 0777), 0);
  succeeded(sambaCheckpointCheckFolder(folder));
  writeText("checkpoint-test/data.npy", "x");
  refusedWith(sambaSessionSave(fixture->session, folder),
              "checkpoint-test: holds files but no checkpoint.json, and saving would delete them; "
              "save into a folder of its own");
  writeText("checkpoint-test/notes.txt", "x");
  writeText("checkpoint-test/checkpoint.json", "{}");
  refusedWith(sambaSessionSave(fixture->session, folder),
              "checkpoint-test: holds 'notes.txt', which belongs to no checkpoint and would be "
              "deleted; save into a folder of its own");
  refusedWith(sambaCheckpointCheckFolder("no-folder/here"),
              "no-folder/here: cannot be written: No");
  refusedWith(sambaFolderVisit("no-folder", removeFile, NULL), "no-folder: cannot be read: No");
}

/* ---- Checkpoints that are refused: nothing is written to the device ---- */

static char *readText(const char *file) {
  FILE *stream = fopen(file, "r");
  SambaText text = {0};
  int c;
  assert_non_null(stream);
  while ((c = fgetc(stream)) != EOF)
    sambaTextFormat(&text, "%c", c);
  fclose(stream);
  return sambaTextTake(&text);
}

/* Loads with `from` in the index replaced by `to`. */
static void isDamaged(RecordedPef *fixture, const char *from, const char *to, const char *wanted) {
  static const char file[] = "checkpoint-test/checkpoint.json";
  setTensors(fixture->session, 1);
  succeeded(sambaSessionSave(fixture->session, folder));
  char *text = readText(file);
  char *at = strstr(text, from);
  if (!at)
    fail_msg("no '%s' in %s", from, text);
  SambaText changed = {0};
  sambaTextAppend(&changed, text, (size_t)(at - text));
  sambaTextAppendC(&changed, to);
  sambaTextAppendC(&changed, at + strlen(from));
  writeText(file, sambaTextGet(&changed));
  sambaTextFree(&changed);
  free(text);

  size_t before = fixture->recording.entries.size;
  refusedWith(sambaSessionLoad(fixture->session, folder), wanted);
  assert_int_equal(fixture->recording.entries.size, before);
}

static void damagedIndices(void **state) {
  RecordedPef *f = *state;
  isDamaged(f, "\"format\"", "format",
            "checkpoint-test/checkpoint.json: is damaged: it is no JSON from byte ");
  isDamaged(f, "samba-checkpoint", "model",
            "checkpoint.json: format is not samba-checkpoint; the "
            "checkpoint is damaged");
  isDamaged(f, "\"version\":\t1", "\"version\":\t2",
            "version 2 of checkpoints is newer than this program, which reads version 1");
  isDamaged(f, "\"version\":\t1", "\"version\":\t0.5", "version is not a whole number");
  isDamaged(f, "\"step\":\t0", "\"step\":\t-1", "step is not a whole number");
  isDamaged(f, "\"state\":\t\"0\"", "\"state\":\t\"99999999999999999999\"",
            "state is not a number of 64 bits");
  isDamaged(f, "\"seed\":\t\"0\"", "\"seed\":\t0", "seed is not a text");
  isDamaged(f, "\"hyperparameters\"", "\"others\"", "hyperparameters is not a list");
  isDamaged(f, "\"given\":\tfalse", "\"given\":\t0", "given is not true or false");
  isDamaged(f, "\"value\":\t0.1", "\"value\":\t\"0.1", "is no JSON from byte ");
  isDamaged(f, "\"value\":\t0.", "\"value\":\t null, \"v\": 0.", "value is not a number");
  isDamaged(f, "\"weight\"", "\"input\"", "kind is not weight, buffer or optimizer_state");
  isDamaged(f, "\"f32\"", "\"f31\"", "dtype is not a type of Samba");
  isDamaged(f, "[4]", "[-4]", "shape is not a list of at most 32 sizes");
  isDamaged(f, "[4]", "4", "shape is not a list of at most 32 sizes");
  isDamaged(f, "\"name\":\t\"fc.bias\"", "\"name\":\t\"fc.weight\"",
            "'fc.weight' is there twice; the checkpoint is damaged");
}

static void filesOutsideTheFolder(void **state) {
  RecordedPef *f = *state;
  isDamaged(f, "fc.bias.npy", "../fc.bias.npy",
            "'../fc.bias.npy' is no name of a .npy file in the folder of the checkpoint");
  isDamaged(f, "fc.bias.npy", "/etc/passwd", "'/etc/passwd' is no name of a .npy file");
  isDamaged(f, "fc.bias.npy", "..", "'..' is no name of a .npy file");

  /* A link that leads out of the folder. */
  setTensors(f->session, 1);
  succeeded(sambaSessionSave(f->session, folder));
  unlink("checkpoint-test/fc.bias.npy");
  assert_int_equal(rename("checkpoint-test/fc.weight.npy", "checkpoint-outside.npy"), 0);
  assert_int_equal(symlink("../checkpoint-outside.npy", "checkpoint-test/fc.weight.npy"), 0);
  refusedWith(sambaSessionLoad(f->session, folder), "lies outside the folder 'checkpoint-test'");
  unlink("checkpoint-outside.npy");
}

static void otherPefs(void **state) {
  RecordedPef *f = *state;
  isDamaged(f, "\"name\":\t\"bn.mean\"", "\"name\":\t\"bn.var\"",
            "checkpoint-test: has no value of buffer 'bn.mean'; it was saved from another PEF");
  isDamaged(f, "\"tensors\":\t[",
            "\"tensors\":\t[{\"name\": \"head\", \"kind\": \"weight\", \"dtype\": \"f32\", "
            "\"shape\": [], \"file\": \"head.npy\"},",
            "checkpoint-test: has a value of 'head', which this PEF does not have; it was saved "
            "from another PEF");
  isDamaged(f, "[4]", "[2, 2]",
            "checkpoint-test: 'fc.weight' is 4xf32 in this PEF, but 2x2xf32 in the checkpoint");
  isDamaged(f, "\"name\":\t\"lr\"", "\"name\":\t\"rate\"",
            "checkpoint-test: has a value of the hyperparameter 'rate', which this PEF does not "
            "have; it was saved from another PEF");
  isDamaged(f, "\"value\":\t0.5", "\"value\":\t1.5",
            "checkpoint-test: hyperparameter 'drop1' is 1.5, but it must be at least 0 and less");
}

static void filesThatDoNotFit(void **state) {
  RecordedPef *f = *state;
  const float values[8] = {0};
  setTensors(f->session, 1);
  refusedWith(sambaSessionLoad(f->session, folder),
              "checkpoint-test/checkpoint.json: cannot be read");
  succeeded(sambaSessionSave(f->session, folder));
  setTensors(f->session, 2);

  unlink("checkpoint-test/bn.mean.npy");
  refusedWith(sambaSessionLoad(f->session, folder),
              "checkpoint-test/bn.mean.npy: cannot be read: No such file");
  succeeded(
      sambaNpyWrite("checkpoint-test/bn.mean.npy", SAMBA_DTYPE_F32, 1, (int64_t[]){8}, values));
  refusedWith(sambaSessionLoad(f->session, folder),
              "checkpoint-test/bn.mean.npy: does not have the type and shape that checkpoint.json "
              "says; the checkpoint is damaged");
  writeText("checkpoint-test/bn.mean.npy", "no array");
  refusedWith(sambaSessionLoad(f->session, folder), "bn.mean.npy: not a .npy file");
  hasTensors(f->session, 2);

  assert_int_equal(truncate("checkpoint-test/checkpoint.json", ((off_t)1 << 28) + 1), 0);
  refusedWith(sambaSessionLoad(f->session, folder),
              "checkpoint-test/checkpoint.json: is too large for an index");
}

/* A PEF for inference takes weights and buffers of a training. */
static void inferenceFromATraining(void **state) {
  RecordedPef *f = *state;
  setTensors(f->session, 10);
  trainABit(f->session);
  succeeded(sambaSessionSave(f->session, folder));

  Recording recording = {0};
  writeTrainingPef("inference.pef", 1u << SAMBA_SECTION_FWD);
  SambaSession *session = openRecorded("inference.pef", &recording);
  succeeded(sambaSessionLoad(session, folder));
  hasTensors(session, 10);
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink("inference.pef");
}

static void devicesWithoutValues(void **state) {
  (void)state;
  Recording recording = {.timing_only = true};
  SambaSession *session = openRecorded(path, &recording);
  refusedWith(sambaSessionSave(session, folder),
              "checkpoint-test: a device that counts cycles only has no values to save");
  refusedWith(sambaSessionLoad(session, folder),
              "checkpoint-test: a device that counts cycles only takes no values");
  sambaSessionClose(session);
  recordingFree(&recording);
}

/* ---- The index by itself ---- */

static void fileNames(void **state) {
  (void)state;
  SambaArena arena = {0};
  static const char *const names[][2] = {{"fc.weight", "fc.weight.npy"},
                                         {"../a b", "%2E.%2Fa%20b.npy"},
                                         {"\xc3\xa4%41", "%C3%A4%2541.npy"},
                                         {"", "%-7.npy"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    assert_string_equal(sambaCheckpointFileName(&arena, sambaStringRef(names[i][0]), 7).data,
                        names[i][1]);
  char longer[300];
  memset(longer, 'x', sizeof longer);
  assert_string_equal(
      sambaCheckpointFileName(&arena, (SambaStringRef){longer, sizeof longer}, 12).data,
      "%-12.npy");
  sambaArenaDestroy(&arena);
}

/* Bytes of a good index are changed at random: it is read or refused, and nothing else happens. */
static void anyBytes(void **state) {
  (void)state;
  SambaCheckpointTensor tensor = {.name = sambaStringRef("w"),
                                  .kind = sambaStringRef("weight"),
                                  .rank = 2,
                                  .dims = {3, 4},
                                  .file = sambaStringRef("w.npy")};
  SambaCheckpointHyperparameter lr = {sambaStringRef("lr"), 0.1, true};
  SambaCheckpointIndex index = {.step = 12,
                                .seed = 1,
                                .generator = UINT64_MAX,
                                .hyperparameter_count = 1,
                                .tensor_count = 1,
                                .hyperparameters = &lr,
                                .tensors = &tensor};
  char *text = sambaCheckpointIndexFormat(&index);
  size_t size = strlen(text);
  uint32_t random = 1;
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    SambaArena arena = {0};
    SambaCheckpointIndex got;
    char *copy = sambaArenaCopy(&arena, text, size);
    for (uint32_t n = 0; n < 1 + random % 3; ++n) {
      random = random * 1664525u + 1013904223u;
      copy[(random >> 8) % size] = (char)(random >> 24);
    }
    SambaStatus status = sambaCheckpointIndexParse("x", copy, size - random % 2, &arena, &got);
    read += !status;
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
  assert_true(read > 100 && read < 19900);

  SambaArena arena = {0};
  SambaCheckpointIndex got;
  succeeded(sambaCheckpointIndexParse("x", text, size, &arena, &got));
  assert_true(got.step == 12 && got.seed == 1 && got.generator == UINT64_MAX);
  assert_true(got.hyperparameters->value == 0.1 && got.hyperparameters->given);
  assert_int_equal(got.tensors->dims[1], 4);
  sambaArenaDestroy(&arena);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(whatIsSavedIsLoaded, setUp, tearDown),
      cmocka_unit_test_setup_teardown(savingAgainReplaces, setUp, tearDown),
      cmocka_unit_test_setup_teardown(aSaveThatFailsKeepsTheOldOne, setUp, tearDown),
      cmocka_unit_test_setup_teardown(foldersThatAreNotOurs, setUp, tearDown),
      cmocka_unit_test_setup_teardown(damagedIndices, setUp, tearDown),
      cmocka_unit_test_setup_teardown(filesOutsideTheFolder, setUp, tearDown),
      cmocka_unit_test_setup_teardown(otherPefs, setUp, tearDown),
      cmocka_unit_test_setup_teardown(filesThatDoNotFit, setUp, tearDown),
      cmocka_unit_test_setup_teardown(inferenceFromATraining, setUp, tearDown),
      cmocka_unit_test_setup_teardown(devicesWithoutValues, setUp, tearDown),
      cmocka_unit_test(fileNames),
      cmocka_unit_test(anyBytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
