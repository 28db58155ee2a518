/* runtime/session.h where samba-run does not reach: values of a timing-only
 * device, loading twice. */
#include "backend/machine/shipped.h"
#include "backend/pef/container/writer.h"
#include "runtime/session.h"
#include "samba/session.h"
#include "test/runtime/recording_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A PEF of one tensor and no calls. */
static void writePef(const char *path) {
  SambaPef *pef = sambaPefCreate();
  sambaPefSetMachine(pef, sambaMachineFind(sambaStringRef("tiny")));
  pef->regions_count = pef->symbols_count = 1;
  pef->regions = SAMBA_ARENA_NEW(&pef->arena, SambaPefRegion);
  pef->symbols = SAMBA_ARENA_NEW(&pef->arena, SambaPefSymbol);
  sambaPefRegionInitialize(pef->regions);
  sambaPefSymbolInitialize(pef->symbols);
  pef->regions->name = pef->symbols->name = sambaStringRef("x");
  pef->regions->memory = SAMBA_PEF_MEMORY_HBM;
  pef->regions->bytes = pef->regions->alignment = 512;
  pef->regions->owners_count = 1;
  pef->regions->owners = SAMBA_ARENA_NEW(&pef->arena, SambaPefOwner);
  pef->symbols->dims_count = 1;
  pef->symbols->dims = SAMBA_ARENA_NEW(&pef->arena, SambaPefDim);
  pef->symbols->dims->size = 4;
  pef->symbols->bytes = 16;
  assert_null(sambaPefWrite(pef, path));
  sambaPefDestroy(pef);
}

static void refused(SambaStatus status, const char *wanted) {
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), wanted))
    fail_msg("'%s' does not say '%s'", sambaStatusGetMessage(status), wanted);
  sambaStatusFree(status);
}

static void tensorsGoInAndOut(void **state) {
  SambaSession *session = *state;
  static const float data[4] = {1, 2, 3, 4};
  SambaTensor *tensor;

  refused(sambaSessionReadTensor(session, sambaStringRef("x"), &tensor),
          "read of never-written memory: symbol 'x'");
  assert_null(
      sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 1, (int64_t[]){4}, data));
  assert_null(sambaSessionReadTensor(session, sambaStringRef("x"), &tensor));
  assert_int_equal(sambaTensorGetNumBytes(tensor), 16);
  assert_memory_equal(sambaTensorGetDataPtr(tensor), data, 16);
  sambaTensorRelease(tensor);
  refused(sambaSessionSetInput(session, sambaStringRef("x"), SAMBA_DTYPE_F32, 2, (int64_t[]){2, 2},
                               data),
          "input 'x' is 4xf32, but the data are 2x2xf32");
  refused(sambaSessionReadTensor(session, sambaStringRef("y"), &tensor),
          "there is no tensor named 'y'");
  const uint32_t section = 0;
  const SambaSectionGroup group = {1, &section};
  SambaRunOptions options = {.order = {.group_count = 1, .groups = &group}};
  refused(sambaSessionRun(session, &options, NULL, NULL),
          "there is no section 0; the PEF has none");
  SambaDevice *device = sambaSessionGetDevice(session);
  refused(device->functions->load(device, sambaSessionGetPef(session)),
          "this device holds a PEF already; create another device");
}

/* A symbol goes from the simulator to a device of another kind by the table of functions alone. */
static void symbolsAreCopiedToOtherDevices(void **state) {
  SambaDevice *simulated = sambaSessionGetDevice(*state);
  Recording recording = {0};
  SambaDeviceFactory factory = recordingDevice(&recording);
  SambaSession *session;
  static const float data[4] = {5, 6, 7, 8};

  assert_null(sambaSessionOpen("session-test.pef", &factory, &session));
  assert_null(
      sambaSessionSetInput(*state, sambaStringRef("x"), SAMBA_DTYPE_F32, 1, (int64_t[]){4}, data));
  assert_null(simulated->functions->copy_peer(simulated, 0, sambaSessionGetDevice(session)));
  assert_int_equal(recording.entries.size, 2);
  assert_int_equal(recording.entries.data[1].kind, RECORDED_WRITE);
  assert_memory_equal(recording.entries.data[1].data, data, sizeof data);
  sambaSessionClose(session);
  recordingFree(&recording);
}

static void timingHasNoValues(void **state) {
  (void)state;
  SambaSession *session;
  SambaTensor *tensor;
  SambaSimulatedDeviceOptions options = {.threads = 1, .timing_only = true};
  SambaDeviceFactory factory = sambaSimulatedDevice(&options);
  assert_null(sambaSessionOpen("session-test.pef", &factory, &session));
  refused(sambaSessionReadTensor(session, sambaStringRef("x"), &tensor),
          "symbol 'x' has no values: the device ran timing only");
  sambaSessionClose(session);
}

static int setUp(void **state) {
  SambaSimulatedDeviceOptions options = {.threads = 1};
  SambaDeviceFactory factory = sambaSimulatedDevice(&options);
  writePef("session-test.pef");
  return sambaSessionOpen("session-test.pef", &factory, (SambaSession **)state) != NULL;
}

static int tearDown(void **state) {
  sambaSessionClose(*state);
  return unlink("session-test.pef");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tensorsGoInAndOut),
      cmocka_unit_test(symbolsAreCopiedToOtherDevices),
      cmocka_unit_test(timingHasNoValues),
  };
  return cmocka_run_group_tests(tests, setUp, tearDown);
}
