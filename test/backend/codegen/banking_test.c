/* The choice of banking: operands of the array come out k-major without conflicts, what needs no
 * diagonal gets none, and guards go before diagonals. */
#include "backend/codegen/banking.h"

#include "backend/machine/shipped.h"
#include "backend/section/port_cycles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A buffer of one write port and one read port. */
typedef struct Sample {
  SambaSection section;
  SambaUnit unit;
  SambaPort write, read;
  uint32_t write_trips[4], read_trips[4];
  int64_t write_strides[4], read_strides[4];
} Sample;

static void setPort(SambaPort *port, SambaDType dtype, uint32_t count, uint32_t token_level,
                    uint32_t *trips, int64_t *strides) {
  *port = (SambaPort){.dtype = dtype, .block = 1, .token_elements = 1};
  port->access = (SambaAccess){
      .counter_count = count, .token_level = token_level, .trips = trips, .strides = strides};
  for (uint32_t c = token_level; c < count; ++c)
    port->token_elements *= trips[c];
}

/* Rows of `columns` elements, written in order; a token of the read has `outer` x `inner`. */
static void makeSample(Sample *sample, SambaDType dtype, uint32_t rows, uint32_t columns,
                       const uint32_t *read_trips, const int64_t *read_strides) {
  *sample = (Sample){.unit = sambaUnitMake(SAMBA_UNIT_BUFFER, "operand", ""),
                     .write_trips = {rows * columns},
                     .write_strides = {1}};
  memcpy(sample->read_trips, read_trips, 3 * sizeof *read_trips);
  memcpy(sample->read_strides, read_strides, 3 * sizeof *read_strides);
  setPort(&sample->write, dtype, 1, 0, sample->write_trips, sample->write_strides);
  setPort(&sample->read, dtype, 3, 1, sample->read_trips, sample->read_strides);
  sample->unit.inputs = &sample->write;
  sample->unit.outputs = &sample->read;
  sample->unit.input_count = sample->unit.output_count = 1;
  sample->unit.buffer.slot_count = 1;
  sample->unit.buffer.slot_elements = (uint64_t)rows * columns;
  sample->section = (SambaSection){.name = "s", .unit_count = 1, .units = &sample->unit};
}

/* Every vector of both ports takes one cycle. */
static void assertNoConflicts(const SambaMachine *machine, const Sample *sample) {
  SambaArena arena = {0};
  SambaPortPatterns *patterns = sambaPortPatternsCreate(machine, &arena);
  for (int p = 0; p < 2; ++p) {
    const SambaPort *port = p ? &sample->read : &sample->write;
    SambaPortCycles *cycles = sambaPortCyclesCreate(patterns, &sample->unit.buffer, port, 64);
    uint64_t vectors = port->token_elements * sambaDTypeBytes(port->dtype) / 64;
    for (uint64_t token = 0; token < 4; ++token)
      assert_int_equal(sambaPortTokenCycles(cycles, token), vectors);
  }
  sambaArenaDestroy(&arena);
}

static void assertBanking(const Sample *sample, SambaBanking banking, uint32_t row_words,
                          uint32_t skew) {
  assert_int_equal(sample->unit.buffer.banking, banking);
  assert_int_equal(sample->unit.buffer.row_words, row_words);
  assert_int_equal(sample->unit.buffer.skew, skew);
}

static void operandsComeWithoutConflicts(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  static const struct {
    SambaDType dtype;
    int64_t strides[3]; /* of row or column tiles, k, and points */
    SambaBanking banking;
    uint32_t row_words, skew;
  } cases[] = {
      {SAMBA_DTYPE_BF16, {1024, 1, 64}, SAMBA_BANKING_DIAGONAL, 32, 1},
      {SAMBA_DTYPE_BF16, {16, 64, 1}, SAMBA_BANKING_DIAGONAL, 32, 8},
      {SAMBA_DTYPE_F32, {1024, 1, 64}, SAMBA_BANKING_DIAGONAL, 64, 1},
      {SAMBA_DTYPE_F32, {16, 64, 1}, SAMBA_BANKING_COLUMN, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    Sample sample;
    makeSample(&sample, cases[i].dtype, 64, 64, (uint32_t[]){4, 64, 16}, cases[i].strides);
    sambaChooseBanking(machine, &sample.section, NULL);
    assertBanking(&sample, cases[i].banking, cases[i].row_words, cases[i].skew);
    assertNoConflicts(machine, &sample);
  }
}

/* Six stages of the address pipeline: with five guards there is none for the row of the banks. */
static void guardsGoBeforeDiagonals(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  int64_t none[3] = {0};
  SambaGuard guards[5];
  for (int g = 0; g < 5; ++g)
    guards[g] = (SambaGuard){.limit = 1, .strides = none};
  for (uint32_t count = 4; count <= 5; ++count) {
    Sample sample;
    makeSample(&sample, SAMBA_DTYPE_F32, 64, 64, (uint32_t[]){4, 64, 16}, (int64_t[]){1024, 1, 64});
    sample.read.access.guards = guards;
    sample.read.access.guard_count = count;
    sambaChooseBanking(machine, &sample.section, NULL);
    if (count == 4)
      assertBanking(&sample, SAMBA_BANKING_DIAGONAL, 64, 1);
    else
      assertBanking(&sample, SAMBA_BANKING_COLUMN, 0, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operandsComeWithoutConflicts),
      cmocka_unit_test(guardsGoBeforeDiagonals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
