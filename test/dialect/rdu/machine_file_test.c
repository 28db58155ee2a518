/* Machine files: what is printed is read back as the same machine, and a file may say only what
 * differs from a shipped one. */
#include "dialect/rdu/machine_file.h"

#include "backend/machine/shipped.h"
#include "support/file/atomic_file.h"
#include "test/dialect/context.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static int setUp(void **state) {
  start(state);
  strcpy(path, "/tmp/samba-machine-XXXXXX");
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}

static int tearDown(void **state) {
  stop(state);
  return unlink(path);
}

static SambaStatus readText(const char *text, SambaMachine *out_machine) {
  MlirAttribute attribute;
  assert_null(sambaWriteFile(path, text, strlen(text)));
  return sambaTargetMachine(mlirLocationUnknownGet(context), path, out_machine, &attribute);
}

static void expectSame(const SambaMachine *a, const SambaMachine *b) {
  assert_string_equal(a->name, b->name);
  for (int i = 0; i < SAMBA_PARAMETER_COUNT; ++i) {
    assert_int_equal(sambaMachineGet(a, (SambaParameter)i), sambaMachineGet(b, (SambaParameter)i));
    assert_int_equal(a->reasons[i].kind, b->reasons[i].kind);
    assert_int_equal(!a->reasons[i].text, !b->reasons[i].text);
    if (a->reasons[i].text)
      assert_string_equal(a->reasons[i].text, b->reasons[i].text);
  }
}

static void printedMachinesComeBack(void **state) {
  (void)state;
  const SambaMachine *shipped;
  int count = 0;

  for (; (shipped = sambaMachineShipped(count)); ++count) {
    SambaText text = {0};
    SambaMachine read;
    sambaMachinePrint(shipped, &text);
    assert_null(readText(sambaTextGet(&text), &read));
    expectSame(&read, shipped);
    sambaTextFree(&text);
  }
  assert_true(count >= 4);

  /* Sources and names are any text. */
  SambaMachine odd = *sambaMachineFind(sambaStringRef("tiny")), read;
  SambaText text = {0};
  strcpy(odd.name, "a \"b\" \\");
  sambaMachineSet(&odd, SAMBA_PARAMETER_simd_lanes, 8,
                  (SambaReason){SAMBA_REASON_DERIVED, "\"quoted\" \\ // no comment\n"});
  sambaMachinePrint(&odd, &text);
  assert_null(readText(sambaTextGet(&text), &read));
  expectSame(&read, &odd);
  sambaTextFree(&text);
}

static void filesSayWhatDiffers(void **state) {
  (void)state;
  SambaMachine expected = *sambaMachineFind(sambaStringRef("sn40l")), read;
  strcpy(expected.name, "mine");
  sambaMachineSet(&expected, SAMBA_PARAMETER_simd_lanes, 32,
                  (SambaReason){SAMBA_REASON_ASSUMED, NULL});
  sambaMachineSet(&expected, SAMBA_PARAMETER_hop_cycles, 3,
                  (SambaReason){SAMBA_REASON_SOURCED, "a data sheet"});
  sambaMachineSet(&expected, SAMBA_PARAMETER_fifo_depth, 8,
                  (SambaReason){SAMBA_REASON_ANALOGY, "an ancestor"});
  assert_null(readText("module attributes {rdu.machine = #rdu.machine<\"mine\", base = \"sn40l\",\n"
                       "  simd_lanes = 32, hop_cycles = {value = 3, source = \"a data sheet\"},\n"
                       "  fifo_depth = {value = 8, analogy = \"an ancestor\"}>} {}",
                       &read));
  expectSame(&read, &expected);
}

static void errorsHaveTheirPlace(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"module {}", ":1:1: a machine file is a module with the attribute rdu.machine = "
                    "#rdu.machine<...>, but this one has none"},
      {"module attributes {\n  rdu.machine = #rdu.machine<\"m\", base = \"sn50\">} {}",
       ":2:29: #rdu.machine: base must be the name of a shipped machine\n"
       "  note: the shipped machines are tiny, plasticine, sn10, sn40l"},
      {"module attributes {\n\n  rdu.machine = #rdu.machine<\"m\", base = \"tiny\", simd_lane = "
       "4>} {}",
       ":3:29: #rdu.machine has no parameter 'simd_lane'\n  note: the parameters are clock_hz, "},
      {"module attributes {rdu.machine = #rdu.machine<\"m\", base = \"tiny\", load_bytes_per_unit "
       "= 1024>} {}",
       ":1:46: #rdu.machine has no parameter 'load_bytes_per_unit'"},
      {"module attributes {rdu.machine = #rdu.machine<\"m\", base = \"tiny\", simd_lanes = 3>} {}",
       ":1:46: #rdu.machine: machine 'm': simd_lanes is 3, expected a power of two"},
      {"module attributes {rdu.machine = #rdu.machine<\"tiny\", base = \"tiny\", simd_lanes = 8>} "
       "{}",
       ":1:46: #rdu.machine: simd_lanes is 8, but the shipped machine 'tiny' has 16\n  note: give "
       "a "
       "machine with values of its own a name of its own, as in #rdu.machine<\"my_tiny\", ...>"},
      {"module attributes {rdu.machine = #rdu.machine<\"tiny\", base = \"sn40l\">} {}",
       ":1:46: #rdu.machine: grid_columns is "},
      {"module attributes {rdu.machine = #rdu.machine<\"m\", clock_hz = 1000000000>} {}",
       ":1:46: #rdu.machine lacks parameter 'grid_columns'"},
      {"module attributes {\n  rdu.machine = } {}", ":2:16: expected attribute value"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    SambaMachine machine;
    SambaStatus status = readText(cases[i].text, &machine);
    assert_non_null(status);
    const char *message = sambaStatusGetMessage(status);
    assert_int_equal(strncmp(message, path, strlen(path)), 0);
    if (strncmp(message + strlen(path), cases[i].expected, strlen(cases[i].expected)))
      fail_msg("the error is: %s\nexpected after the file: %s", message, cases[i].expected);
    sambaStatusFree(status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(printedMachinesComeBack, setUp, tearDown),
      cmocka_unit_test_setup_teardown(filesSayWhatDiffers, setUp, tearDown),
      cmocka_unit_test_setup_teardown(errorsHaveTheirPlace, setUp, tearDown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
