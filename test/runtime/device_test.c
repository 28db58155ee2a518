/* Sessions on a device that is not the simulator: everything goes through the table of
 * functions (S006). */
#include "backend/machine/shipped.h"
#include "backend/pef/container/writer.h"
#include "runtime/session.h"
#include "test/runtime/recording_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { symbolA, symbolB, symbolY, symbolCount, callCount = 3 };
static const char path[] = "device-test.pef";
static const int64_t four[1] = {4};

static void addSymbol(SambaPef *pef, uint32_t index, const char *name, SambaPefSymbolKind kind,
                      SambaDType device_dtype) {
  SambaPefSymbol *symbol = &pef->symbols[index];
  sambaPefSymbolInitialize(symbol);
  symbol->name = sambaStringRef(name);
  symbol->kind = kind;
  symbol->device_dtype = device_dtype;
  symbol->dims_count = 1;
  symbol->dims = SAMBA_ARENA_NEW(&pef->arena, SambaPefDim);
  symbol->dims->size = four[0];
  symbol->bytes = four[0] * sambaDTypeBytes(device_dtype);
  symbol->region = index;
  symbol->address = 512 * index;

  SambaPefRegion *region = &pef->regions[index];
  sambaPefRegionInitialize(region);
  region->name = symbol->name;
  region->memory = SAMBA_PEF_MEMORY_HBM;
  region->address = symbol->address;
  region->bytes = region->alignment = 512;
  region->owners_count = 1;
  region->owners = SAMBA_ARENA_NEW(&pef->arena, SambaPefOwner);
  region->owners->symbol = index;
}

/* Sections 0 and 1 of no code at all, called as 0, 1, 0, with two argins. */
static void addSchedule(SambaPef *pef) {
  static const uint8_t code[8] = {0};
  pef->images_count = 1;
  pef->images = SAMBA_ARENA_NEW(&pef->arena, SambaPefImage);
  sambaPefImageInitialize(pef->images);
  pef->images->name = sambaStringRef("empty");
  pef->images->code = (SambaPefBytes){code, sizeof code};

  pef->sections_count = 2;
  pef->sections = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSection, 2);
  pef->sections[0] = (SambaPefSection){.name = sambaStringRef("s0"), .type = SAMBA_PEF_SECTION_FWD};
  pef->sections[1] = (SambaPefSection){.name = sambaStringRef("s1"), .type = SAMBA_PEF_SECTION_FWD};

  pef->argins_count = 2;
  pef->argins = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefArgin, 2);
  for (uint32_t i = 0; i < 2; ++i) {
    sambaPefArginInitialize(&pef->argins[i]);
    pef->argins[i].name = sambaStringRef(i ? "momentum" : "lr");
    pef->argins[i].flags = SAMBA_PEF_HAS_DEFAULT;
    pef->argins[i].default_value = i ? 0x3f666666 : 0x3dcccccd;
  }

  pef->calls_count = callCount;
  pef->calls = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefCall, callCount);
  for (uint32_t i = 0; i < callCount; ++i) {
    sambaPefCallInitialize(&pef->calls[i]);
    pef->calls[i].section = i % 2;
    pef->calls[i].bindings_count = 1;
    pef->calls[i].bindings = SAMBA_ARENA_NEW(&pef->arena, SambaPefBinding);
    *pef->calls[i].bindings = (SambaPefBinding){
        .kind = SAMBA_PEF_BINDING_ARGIN, .symbol = SAMBA_PEF_NONE, .argin = i % 2};
  }
}

static void writePef(void) {
  SambaPef *pef = sambaPefCreate();
  sambaPefSetMachine(pef, sambaMachineFind(sambaStringRef("tiny")));
  pef->symbols_count = pef->regions_count = symbolCount;
  pef->symbols = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSymbol, symbolCount);
  pef->regions = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefRegion, symbolCount);
  addSymbol(pef, symbolA, "a", SAMBA_PEF_SYMBOL_INPUT, SAMBA_DTYPE_F32);
  addSymbol(pef, symbolB, "b", SAMBA_PEF_SYMBOL_INPUT, SAMBA_DTYPE_BF16);
  addSymbol(pef, symbolY, "y", SAMBA_PEF_SYMBOL_OUTPUT, SAMBA_DTYPE_F16);
  addSchedule(pef);

  pef->graphs_count = 1;
  pef->graphs = SAMBA_ARENA_NEW(&pef->arena, SambaPefGraph);
  *pef->graphs = (SambaPefGraph){
      .name = sambaStringRef("main"), .inputs_count = 2, .outputs_count = 1, .call_count = 3};
  pef->graphs->inputs = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefInput, 2);
  pef->graphs->inputs[0].symbol = symbolA;
  pef->graphs->inputs[1].symbol = symbolB;
  pef->graphs->outputs = SAMBA_ARENA_NEW(&pef->arena, SambaPefOutput);
  pef->graphs->outputs->symbol = symbolY;

  assert_null(sambaPefWrite(pef, path));
  sambaPefDestroy(pef);
}

static SambaSession *openSession(Recording *recording) {
  SambaDeviceFactory factory = recordingDevice(recording);
  SambaSession *session = NULL;
  SambaStatus status = sambaSessionOpen(path, &factory, &session);
  assert_string_equal(sambaStatusGetMessage(status), "");
  return session;
}

/* Has an input no value? Then the first one is of this name; NULL: there is none. */
static bool isMissing(const SambaSession *session, const char *name) {
  SambaTensorInfo info;
  bool missing = sambaSessionFindMissingInput(session, NULL, &info);
  if (missing)
    assert_true(name && sambaStringRefEqualC(info.name, name));
  return missing;
}

static SambaStatus setInput(SambaSession *session, const char *name, const float *data) {
  return sambaSessionSetInput(session, sambaStringRef(name), SAMBA_DTYPE_F32, 1, four, data);
}

static void failsWith(SambaStatus status, const char *text) {
  assert_string_equal(sambaStatusGetMessage(status), text);
  sambaStatusFree(status);
}

static void isEntry(const Recording *recording, size_t at, RecordedKind kind, uint32_t index) {
  assert_true(at < recording->entries.size);
  assert_int_equal(recording->entries.data[at].kind, kind);
  assert_int_equal(recording->entries.data[at].index, index);
}

static void theDeviceSeesWhatTheUserDoesInOrder(void **state) {
  (void)state;
  static const float ones[4] = {1, 1, 1, 1}, steps[4] = {1, 2, 3, 4};
  static const uint16_t steps_bf16[4] = {0x3f80, 0x4000, 0x4040, 0x4080};
  Recording recording = {0};
  SambaSession *session = openSession(&recording);

  assert_true(isMissing(session, "a"));
  assert_null(setInput(session, "b", steps));
  assert_null(setInput(session, "a", ones));
  assert_false(isMissing(session, NULL));
  assert_null(sambaSessionRun(session, NULL, NULL, NULL));
  sambaSessionClose(session);

  assert_string_equal(recording.machine, "tiny");
  assert_int_equal(recording.entries.size, 3 + callCount);
  isEntry(&recording, 0, RECORDED_LOAD, 0);
  isEntry(&recording, 1, RECORDED_WRITE, symbolB);
  isEntry(&recording, 2, RECORDED_WRITE, symbolA);
  assert_memory_equal(recording.entries.data[1].data, steps_bf16, sizeof steps_bf16);
  assert_memory_equal(recording.entries.data[2].data, ones, sizeof ones);
  for (uint32_t call = 0; call < callCount; ++call)
    isEntry(&recording, 3 + call, RECORDED_LAUNCH, call);
  assert_true(recording.destroyed);
  recordingFree(&recording);
}

static void everyLaunchGetsTheDefaultsOfTheArgins(void **state) {
  (void)state;
  static const uint64_t defaults[2] = {0x3dcccccd, 0x3f666666};
  Recording recording = {0};
  SambaSession *session = openSession(&recording);
  uint32_t second = 1;
  const SambaSectionGroup group = {1, &second};
  SambaRunOptions options = {.order = {.group_count = 1, .groups = &group}};

  assert_null(sambaSessionRun(session, &options, NULL, NULL));
  assert_null(sambaSessionRun(session, NULL, NULL, NULL));
  sambaSessionClose(session);

  static const uint32_t calls[] = {1, 0, 1, 2};
  assert_int_equal(recording.entries.size, 5);
  for (size_t i = 0; i < 4; ++i) {
    isEntry(&recording, 1 + i, RECORDED_LAUNCH, calls[i]);
    assert_memory_equal(recording.entries.data[1 + i].argins, defaults, sizeof defaults);
  }
  recordingFree(&recording);
}

static void readsAreConvertedToTheHostsType(void **state) {
  (void)state;
  static const float values[4] = {1.5f, -2, 70000, 0};
  static const float narrowed[4] = {1.5f, -2, 65504, 0}; /* a half holds at most 65504 */
  Recording recording = {0};
  SambaSession *session = openSession(&recording);
  SambaTensor *tensor;

  failsWith(sambaSessionReadTensor(session, sambaStringRef("y"), &tensor), "nobody wrote symbol 2");
  assert_null(setInput(session, "y", values));
  assert_null(sambaSessionReadTensor(session, sambaStringRef("y"), &tensor));
  assert_int_equal(sambaTensorGetDType(tensor), SAMBA_DTYPE_F32);
  assert_int_equal(sambaTensorGetNumBytes(tensor), sizeof narrowed);
  assert_memory_equal(sambaTensorGetDataPtr(tensor), narrowed, sizeof narrowed);
  sambaTensorRelease(tensor);
  sambaSessionClose(session);
  recordingFree(&recording);
}

static void reportsAddUpWhatTheDeviceTells(void **state) {
  (void)state;
  Recording recording = {0};
  SambaSession *session = openSession(&recording);
  SambaRunReport report;
  assert_null(sambaSessionRun(session, NULL, NULL, NULL));
  sambaSessionGetReport(session, &report);

  assert_int_equal(report.calls, 3);
  assert_int_equal(report.activity.cycles, 303);
  assert_int_equal(report.activity.launch_cycles, 21);
  assert_int_equal(report.activity.dram_read_bytes, 192);
  assert_int_equal(report.activity.dram_write_bytes, 96);
  assert_int_equal(report.activity.flops, 15);
  assert_int_equal(report.activity.multiply_adds, 6);
  assert_int_equal(report.activity.events, 9);
  assert_int_equal(report.section_count, 2);
  assert_int_equal(report.sections[0].calls, 2);
  assert_int_equal(report.sections[0].activity.cycles, 202);
  assert_int_equal(report.sections[1].section, 1);
  assert_int_equal(report.sections[1].calls, 1);
  const SambaDeviceActivity *first = &report.sections[0].activity;
  const uint64_t busy[] = {first->pcu_busy,   first->pmu_busy,    first->ag_busy,
                           first->wait_input, first->wait_output, first->wait_memory};
  for (size_t i = 0; i < sizeof busy / sizeof *busy; ++i)
    assert_int_equal(busy[i], 2);
  assert_true(report.device.compile_seconds == 0.25);
  assert_true(report.device.compile_cpu_seconds == 0.5);

  const SambaDevice *device = sambaSessionGetDevice(session);
  assert_int_equal(device->functions->now(device), 324);
  sambaSessionClose(session);
  recordingFree(&recording);
}

static void errorsOfTheDeviceSayWhatItDid(void **state) {
  (void)state;
  static const float ones[4] = {1, 1, 1, 1};
  Recording recording = {.fails_at = 1};
  SambaDeviceFactory factory = recordingDevice(&recording);
  SambaSession *session = NULL;
  failsWith(sambaSessionOpen(path, &factory, &session), "device-test.pef: the wire is cut");
  assert_null(session);
  assert_true(recording.destroyed);
  recordingFree(&recording);

  recording = (Recording){.fails_at = 2};
  session = openSession(&recording);
  failsWith(setInput(session, "a", ones), "input 'a': the wire is cut");
  assert_true(isMissing(session, "a"));

  /* The second of three launches: the first is in the report, the third is not tried. */
  SambaRunReport report;
  recording.fails_at = 4;
  failsWith(sambaSessionRun(session, NULL, NULL, NULL), "call 1: the wire is cut");
  assert_int_equal(recording.entries.size, 4);
  sambaSessionGetReport(session, &report);
  assert_int_equal(report.calls, 1);
  assert_int_equal(report.activity.cycles, 100);
  sambaSessionClose(session);
  recordingFree(&recording);
}

static void aDeviceWithoutValuesIsNotWrittenTo(void **state) {
  (void)state;
  static const float ones[4] = {1, 1, 1, 1};
  Recording recording = {.timing_only = true};
  SambaSession *session = openSession(&recording);
  assert_null(setInput(session, "a", ones));
  assert_null(setInput(session, "b", NULL));
  assert_false(isMissing(session, NULL));
  assert_int_equal(recording.entries.size, 1);
  sambaSessionClose(session);
  recordingFree(&recording);
}

static void symbolsAreCopiedFromDeviceToDevice(void **state) {
  (void)state;
  static const float values[4] = {1, 2, 3, 4};
  Recording recordings[2] = {0};
  SambaSession *sessions[2] = {openSession(&recordings[0]), openSession(&recordings[1])};
  SambaDevice *from = sambaSessionGetDevice(sessions[0]);
  SambaTensor *tensor;

  assert_null(setInput(sessions[0], "b", values));
  assert_null(from->functions->copy_peer(from, symbolB, sambaSessionGetDevice(sessions[1])));
  assert_null(sambaSessionReadTensor(sessions[1], sambaStringRef("b"), &tensor));
  assert_memory_equal(sambaTensorGetDataPtr(tensor), values, sizeof values);
  sambaTensorRelease(tensor);
  for (int i = 0; i < 2; ++i) {
    sambaSessionClose(sessions[i]);
    recordingFree(&recordings[i]);
  }
}

static int setUp(void **state) {
  (void)state;
  writePef();
  return 0;
}

static int tearDown(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(theDeviceSeesWhatTheUserDoesInOrder),
      cmocka_unit_test(everyLaunchGetsTheDefaultsOfTheArgins),
      cmocka_unit_test(readsAreConvertedToTheHostsType),
      cmocka_unit_test(reportsAddUpWhatTheDeviceTells),
      cmocka_unit_test(errorsOfTheDeviceSayWhatItDid),
      cmocka_unit_test(aDeviceWithoutValuesIsNotWrittenTo),
      cmocka_unit_test(symbolsAreCopiedFromDeviceToDevice),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
