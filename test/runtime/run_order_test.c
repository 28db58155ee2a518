/* Which calls a run launches, in which order (rows S080 to S093), and what a session tells about a
 * PEF (S053 to S057). */
#include "test/runtime/training_pef.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "run-order-test.pef";
static const uint32_t inferenceTypes = 1u << SAMBA_SECTION_FWD;

static int setUp(void **state) {
  writeTrainingPef(path, 0);
  return openRecordedPef(path, state);
}

/* Runs and compares the calls that were launched with the wanted ones. */
static void runs(RecordedPef *fixture, const SambaRunOrder *order, const char *wanted) {
  size_t from = fixture->recording.entries.size;
  SambaRunOptions options = {.order = *order};
  succeeded(sambaSessionRun(fixture->session, &options, NULL, NULL));
  assert_string_equal(launchedCalls(&fixture->recording, from), wanted);
}

/* Nothing is launched, nothing written. */
static void isRefused(RecordedPef *fixture, const SambaRunOrder *order, const char *wanted) {
  size_t from = fixture->recording.entries.size;
  SambaRunOptions options = {.order = *order};
  refusedWith(sambaSessionRun(fixture->session, &options, NULL, NULL), wanted);
  assert_int_equal(fixture->recording.entries.size, from);
}

static void runsSections(RecordedPef *fixture, uint32_t count, const uint32_t *sections,
                         const char *wanted) {
  const SambaSectionGroup group = {count, sections};
  runs(fixture, &(SambaRunOrder){.group_count = 1, .groups = &group}, wanted);
}

static void s080TheScheduleAsCompiled(void **state) {
  runs(*state, &(SambaRunOrder){0}, "0 1 2 3 4 5 6 7");
}

static void s081IdsInTheirOrder(void **state) {
  runsSections(*state, 2, (uint32_t[]){2, 0}, "2 0");
  runsSections(*state, 3, (uint32_t[]){6, 1, 6}, "7 1 3 7");
  const uint32_t unknown[] = {0, 7};
  const SambaSectionGroup group = {2, unknown};
  isRefused(*state, &(SambaRunOrder){.group_count = 1, .groups = &group},
            "there is no section 7; the PEF has sections 0 to 6");
}

static void s082GroupsFollowEachOther(void **state) {
  const uint32_t ids[] = {0, 1, 2, 3};
  const SambaSectionGroup groups[] = {{1, ids}, {2, ids + 1}, {1, ids + 3}};
  runs(*state, &(SambaRunOrder){.group_count = 3, .groups = groups}, "0 1 3 2 4");
  runsSections(*state, 4, ids, "0 1 3 2 4");
}

static void s083TypesInTheirOrder(void **state) {
  const SambaSectionType types[] = {SAMBA_SECTION_OPT, SAMBA_SECTION_FWD, SAMBA_SECTION_OPT};
  runs(*state, &(SambaRunOrder){.type_count = 2, .types = types}, "7 1 2 3");
  runs(*state, &(SambaRunOrder){.type_count = 3, .types = types}, "7 1 2 3 7");
}

static void s084IdsAndTypesExcludeEachOther(void **state) {
  const uint32_t id = 0;
  const SambaSectionGroup group = {1, &id};
  const SambaSectionType type = SAMBA_SECTION_FWD;
  static const char text[] =
      "sections, section types and a range of calls exclude each other; give one of them";
  isRefused(*state,
            &(SambaRunOrder){.group_count = 1, .groups = &group, .type_count = 1, .types = &type},
            text);
  isRefused(*state, &(SambaRunOrder){.group_count = 1, .groups = &group, .has_until = true}, text);
  isRefused(*state, &(SambaRunOrder){.type_count = 1, .types = &type, .has_from = true}, text);
}

static void s085TypesThatAreNotThere(void **state) {
  (void)state;
  RecordedPef fixture = {.session = NULL};
  const SambaSectionType types[] = {SAMBA_SECTION_FWD, SAMBA_SECTION_ZEROGRAD};
  writeTrainingPef("types.pef",
                   1u << SAMBA_SECTION_FWD | 1u << SAMBA_SECTION_BCKWD | 1u << SAMBA_SECTION_OPT);
  fixture.session = openRecorded("types.pef", &fixture.recording);
  isRefused(&fixture, &(SambaRunOrder){.type_count = 2, .types = types},
            "no section of this PEF has type ZEROGRAD; its sections have: FWD, BCKWD, OPT");
  sambaSessionClose(fixture.session);
  recordingFree(&fixture.recording);
  unlink("types.pef");
}

/* S086 to S091: each type alone runs its sections and no others. */
static void s086EachTypeAlone(void **state) {
  static const char *const wanted[] = {
      [SAMBA_SECTION_ZEROGRAD] = "0", [SAMBA_SECTION_FWD] = "1 2 3",
      [SAMBA_SECTION_BCKWD] = "4",    [SAMBA_SECTION_OPT] = "7",
      [SAMBA_SECTION_REDUCE] = "5",   [SAMBA_SECTION_GRADNORM] = "6"};
  for (SambaSectionType type = 0; type <= SAMBA_SECTION_GRADNORM; ++type)
    runs(*state, &(SambaRunOrder){.type_count = 1, .types = &type}, wanted[type]);
}

static void s092RangesComposeToTheWhole(void **state) {
  runs(*state, &(SambaRunOrder){.has_until = true, .until = 3}, "0 1 2");
  runs(*state, &(SambaRunOrder){.has_from = true, .from = 3}, "3 4 5 6 7");
  runs(*state, &(SambaRunOrder){.has_from = true, .from = 2, .has_until = true, .until = 2}, "");
  isRefused(*state, &(SambaRunOrder){.has_until = true, .until = 9},
            "calls [0, 9) are not in the schedule, which has 8 calls");
  isRefused(*state, &(SambaRunOrder){.has_from = true, .from = 3, .has_until = true, .until = 2},
            "calls [3, 2) are not in the schedule");
}

static void s094GraphsByName(void **state) {
  runs(*state, &(SambaRunOrder){.graph = sambaStringRef("main")}, "0 1 2 3 4 5 6 7");
  isRefused(*state, &(SambaRunOrder){.graph = sambaStringRef("other")},
            "there is no graph named 'other'\n  note: graph 'main'");
}

static void s053NamesAreFoundWithoutTheDevice(void **state) {
  RecordedPef *fixture = *state;
  const SambaPefSymbol *symbol;
  size_t before = fixture->recording.entries.size;
  succeeded(sambaSessionFindTensor(fixture->session, sambaStringRef("fc.weight"), &symbol));
  assert_int_equal(symbol->kind, SAMBA_PEF_SYMBOL_WEIGHT);
  refusedWith(sambaSessionFindTensor(fixture->session, sambaStringRef("fc.wight"), &symbol),
              "there is no tensor named 'fc.wight'\n  note: did you mean 'fc.weight'?\n"
              "  note: input 'x' is 4xf32\n  note: output 'loss'");
  refusedWith(sambaSessionFindTensor(fixture->session, sambaStringRef("head"), &symbol),
              "there is no tensor named 'head'\n  note: input 'x'");
  refusedWith(sambaSessionFindTensor(fixture->session, sambaStringRef("fc.bias__grad"), &symbol),
              "there is no tensor named 'fc.bias__grad': only what was compiled with requires_grad "
              "has a gradient, and 'fc.bias' was not");
  assert_int_equal(fixture->recording.entries.size, before);
}

/* What only training has is refused with the reason, whatever is asked of it. */
static void stateOfAPefForInference(void **state) {
  (void)state;
  Recording recording = {0};
  writeTrainingPef("inference.pef", inferenceTypes);
  SambaSession *session = openRecorded("inference.pef", &recording);
  SambaTensor *tensor;
  static const char *const names[] = {"b__grad", "fc.weight__exp_avg", "SGD__step"};
  for (size_t i = 0; i < 3; ++i)
    refusedWith(sambaSessionReadTensor(session, sambaStringRef(names[i]), &tensor),
                i ? "': this PEF was compiled for inference and has no optimizer state; compile "
                    "the model with --training"
                  : "there is no tensor named 'b__grad': this PEF was compiled for inference and "
                    "has no gradients; compile the model with --training");
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink("inference.pef");
}

static void setTensor(RecordedPef *fixture, const char *name, float first) {
  const float values[4] = {first, 2, 3, 4};
  succeeded(sambaSessionSetInput(fixture->session, sambaStringRef(name), SAMBA_DTYPE_F32, 1,
                                 (int64_t[]){4}, values));
}

/* Section 1 gets an image of its own, which reads x. */
static void bindX(SambaPef *pef) {
  SambaPefImage *images = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefImage, 2);
  images[0] = images[1] = pef->images[0];
  images[1].formals_count = 1;
  images[1].formals = SAMBA_ARENA_NEW(&pef->arena, SambaPefFormal);
  pef->images = images;
  pef->images_count = 2;
  pef->sections[1].image = 1;

  for (uint32_t c = 1; c <= 3; c += 2) {
    SambaPefBinding *bindings = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefBinding, trainingArgins + 1);
    memcpy(bindings, pef->calls[c].bindings, trainingArgins * sizeof *bindings);
    bindings[trainingArgins] = (SambaPefBinding){.symbol = trainingX, .argin = SAMBA_PEF_NONE};
    pef->calls[c].bindings = bindings;
    pef->calls[c].bindings_count = trainingArgins + 1;
    SambaPefSymbol *x = &pef->symbols[trainingX];
    x->first_call = x->first_call == SAMBA_PEF_NONE ? c : x->first_call;
    x->last_call = c;
  }
}

/* S063: only what a run reads must have a value. */
static void s063InputsThatARunReads(void **state) {
  (void)state;
  Recording recording = {0};
  writeChangedTrainingPef("inputs.pef", 0, bindX);
  SambaSession *session = openRecorded("inputs.pef", &recording);
  SambaTensorInfo missing = {0};
  SambaSectionType type = SAMBA_SECTION_FWD;
  SambaRunOrder order = {.type_count = 1, .types = &type};
  assert_true(sambaSessionFindMissingInput(session, NULL, &missing));
  assert_true(sambaStringRefEqualC(missing.name, "x"));
  assert_true(sambaSessionFindMissingInput(session, &(SambaRunOrder){0}, &missing));
  assert_true(sambaSessionFindMissingInput(session, &order, &missing));
  assert_true(sambaStringRefEqualC(missing.name, "x"));
  type = SAMBA_SECTION_OPT;
  assert_false(sambaSessionFindMissingInput(session, &order, &missing));
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink("inputs.pef");
}

static void s055SeveralTensorsAtOnce(void **state) {
  RecordedPef *fixture = *state;
  const SambaStringRef names[] = {sambaStringRef("bn.mean"), sambaStringRef("fc.weight"),
                                  sambaStringRef("fc.bias")};
  SambaTensor *tensors[3];
  setTensor(fixture, "fc.weight", 10);
  setTensor(fixture, "bn.mean", 20);
  succeeded(sambaSessionReadTensors(fixture->session, 2, names, tensors));
  assert_true(((const float *)sambaTensorGetDataPtr(tensors[0]))[0] == 20);
  assert_true(((const float *)sambaTensorGetDataPtr(tensors[1]))[0] == 10);

  /* Each reading is a copy of its own (T097): changing one changes nothing else. */
  ((float *)sambaTensorGetDataPtr(tensors[0]))[0] = -1;
  sambaTensorRelease(tensors[0]);
  sambaTensorRelease(tensors[1]);
  succeeded(sambaSessionReadTensors(fixture->session, 1, names, tensors));
  assert_true(((const float *)sambaTensorGetDataPtr(tensors[0]))[0] == 20);
  sambaTensorRelease(tensors[0]);

  /* The third has no value: what was read before it is freed. */
  refusedWith(sambaSessionReadTensors(fixture->session, 3, names, tensors), "nobody wrote symbol");
}

static void s056SectionTypes(void **state) {
  const RecordedPef *fixture = *state;
  assert_int_equal(sambaSessionGetSectionTypes(fixture->session), 63);
  Recording recording = {0};
  writeTrainingPef("inference.pef", inferenceTypes);
  SambaSession *session = openRecorded("inference.pef", &recording);
  assert_int_equal(sambaSessionGetSectionTypes(session), inferenceTypes);
  sambaSessionClose(session);
  recordingFree(&recording);
  unlink("inference.pef");
}

typedef struct {
  char text[128];
} Names;

static void addName(void *user, const SambaTensorInfo *info) {
  Names *names = user;
  size_t size = strlen(names->text);
  snprintf(names->text + size, sizeof names->text - size, " %.*s", SAMBA_STRING_ARGS(info->name));
}

static void s057Weights(void **state) {
  const RecordedPef *fixture = *state;
  Names names = {""};
  sambaSessionForEachTensor(fixture->session, 1u << SAMBA_SYMBOL_WEIGHT, addName, &names);
  assert_string_equal(names.text, " fc.weight fc.bias");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(s080TheScheduleAsCompiled),
      cmocka_unit_test(s081IdsInTheirOrder),
      cmocka_unit_test(s082GroupsFollowEachOther),
      cmocka_unit_test(s083TypesInTheirOrder),
      cmocka_unit_test(s084IdsAndTypesExcludeEachOther),
      cmocka_unit_test(s085TypesThatAreNotThere),
      cmocka_unit_test(s086EachTypeAlone),
      cmocka_unit_test(s092RangesComposeToTheWhole),
      cmocka_unit_test(s094GraphsByName),
      cmocka_unit_test(s053NamesAreFoundWithoutTheDevice),
      cmocka_unit_test(stateOfAPefForInference),
      cmocka_unit_test(s063InputsThatARunReads),
      cmocka_unit_test(s055SeveralTensorsAtOnce),
      cmocka_unit_test(s056SectionTypes),
      cmocka_unit_test(s057Weights),
  };
  return cmocka_run_group_tests(tests, setUp, closeRecordedPef);
}
