/* backend/config/load_size.h against bits counted by hand in docs/pef-format.md, and against what
 * the encoder writes. */
#include "backend/config/load_size.h"

#include "backend/config/encoding.h"
#include "backend/section/lane_ops.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* 76 bits of numbers, 2 of reduce_mask, 2 x 32 of trip counts; each of two inputs has 53 bits, a
 * flow of 18 and 28 of the inner stride; a constant 12 and 64 bits, a product 12 and 2 x 13; the
 * output 66, 18 and 28. Together 566, which ends in the 9th word. */
static void unitsAreCountedByTheirFields(void **state) {
  (void)state;
  static const int64_t strides[2] = {0};
  static const uint32_t trips[2] = {4, 16};
  static const SambaLaneOp ops[2] = {{.opcode = SAMBA_LANE_CONSTANT}, {.opcode = SAMBA_LANE_MUL}};
  SambaPort ports[3];
  for (int p = 0; p < 3; ++p)
    ports[p] = (SambaPort){.stream_count = 1, .compute = {.strides = strides}};

  SambaUnit unit = sambaUnitMake(SAMBA_UNIT_COMPUTE, "", "");
  unit.input_count = 2;
  unit.output_count = 1;
  unit.inputs = ports;
  unit.outputs = &ports[2];
  unit.compute = (SambaCompute){
      .counter_count = 2, .token_level = 1, .trips = trips, .program = {.op_count = 2, .ops = ops}};
  assert_int_equal(sambaUnitLoadBytes(&unit), 9 * 8);

  unit.outputs[0].stream_count = 4; /* three flows more, and a block: 652 bits */
  assert_int_equal(sambaUnitLoadBytes(&unit), 11 * 8);
  unit.x = unit.y = 3;
  unit.name = "a long name";
  assert_int_equal(sambaUnitLoadBytes(&unit), 11 * 8);
}

/* 42 bits of a switch, 42 of each entry. */
static void switchesAreCountedByTheirEntries(void **state) {
  (void)state;
  assert_int_equal(sambaSwitchLoadBytes(1), 2 * 8);
  assert_int_equal(sambaSwitchLoadBytes(2), 2 * 8);
  assert_int_equal(sambaSwitchLoadBytes(3), 3 * 8);
  assert_int_equal(sambaSwitchLoadBytes(100), 67 * 8); /* 4242 bits */
}

typedef struct Encoded {
  SambaArena arena;
  SambaSection *section;
  const SambaMachine *machine;
  SambaByteBuffer bytes;
} Encoded;

static void encode(Encoded *encoded, bool gather) {
  *encoded = (Encoded){0};
  encoded->section = gather ? sampleGather(&encoded->arena) : sampleMatmul(&encoded->arena);
  encoded->machine = gather ? sampleLargeMachine() : sampleMachine();
  assert_null(sambaSectionEncode(encoded->section, encoded->machine, &encoded->bytes));
}

static void destroy(Encoded *encoded) {
  sambaArrayFree(&encoded->bytes);
  sambaArenaDestroy(&encoded->arena);
}

/* Everything in the bits but the section's counts (93 bits) and its symbols (53 bits each), which
 * fill whole words. */
static void aSectionLoadsItsUnitsAndSwitches(void **state) {
  (void)state;
  for (int gather = 0; gather < 2; ++gather) {
    Encoded encoded;
    encode(&encoded, gather);
    SambaSectionLoad load = sambaSectionLoadMake(encoded.section, encoded.machine, &encoded.arena);
    assert_int_equal(load.bytes, encoded.bytes.size - 16 - 8 * encoded.section->symbol_count);
    destroy(&encoded);
  }
}

static uint32_t nextBits(const uint8_t *data, size_t *position, uint32_t bits) {
  uint32_t number = 0;
  for (uint32_t b = 0; b < bits; ++b, ++*position)
    number |= (uint32_t)(data[*position / 8] >> *position % 8 & 1) << b;
  return number;
}

/* One end of a switch entry: a port, the address generator at port 5, lane and flow. */
static void skipLane(const uint8_t *data, size_t *position) {
  *position += nextBits(data, position, 3) == 5 ? 12 + 6 + 12 : 6 + 12;
}

/* The switches end the bits: whole words that begin with y, x, kind and the number of entries. */
static void tilesHaveWhatLiesInThem(void **state) {
  (void)state;
  Encoded encoded;
  encode(&encoded, true);
  const SambaSection *section = encoded.section;
  SambaSectionLoad load = sambaSectionLoadMake(section, encoded.machine, &encoded.arena);
  assert_int_equal(load.tile_count, 8); /* 4 x 2 tiles of 13 x 20 sites */
  uint64_t bytes[8] = {0};

  uint64_t units = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    units += sambaUnitLoadBytes(&section->units[u]);
  size_t position = 8 * (16 + 8 * section->symbol_count + units);
  while (position < 8 * encoded.bytes.size) {
    size_t start = position;
    uint32_t y = nextBits(encoded.bytes.data, &position, 10);
    uint32_t x = nextBits(encoded.bytes.data, &position, 10);
    position += 2;
    for (uint32_t e = nextBits(encoded.bytes.data, &position, 20); e > 0; --e) {
      skipLane(encoded.bytes.data, &position);
      skipLane(encoded.bytes.data, &position);
    }
    position = (position + 63) / 64 * 64;
    bytes[y / 20 * 4 + x / 13] += (position - start) / 8;
  }

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    int32_t x = unit->x, y = unit->y;
    if (sambaUnitIsAddressGenerator(unit)) { /* 10 at the upper edge of each tile, then below */
      x = (int32_t)(unit->load_store.ag % 40 / 10 * 13);
      y = unit->load_store.ag < 40 ? 0 : 39;
    }
    bytes[y / 20 * 4 + x / 13] += sambaUnitLoadBytes(unit);
  }

  bool unused = false;
  for (uint32_t tile = 0; tile < 8; ++tile) {
    assert_int_equal(load.tile_bytes[tile], bytes[tile]);
    unused |= !bytes[tile];
  }
  assert_true(unused);
  destroy(&encoded);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(unitsAreCountedByTheirFields),
                                     cmocka_unit_test(switchesAreCountedByTheirEntries),
                                     cmocka_unit_test(aSectionLoadsItsUnitsAndSwitches),
                                     cmocka_unit_test(tilesHaveWhatLiesInThem)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
