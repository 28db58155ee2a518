/* backend/config/load_size.h against bits counted by hand in docs/pef-format.md, and against what
 * the encoder writes. */
#include "backend/config/load_size.h"

#include "backend/config/encoding.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* 131 bits of numbers, 2 x 32 of trip counts; each of two inputs has 85 bits, a flow of 18 and
 * 2 x 48 of strides; each of two operations 124; the output 101, 18 and 2 x 48. Together 1056,
 * which ends in the 17th word. */
static void unitsAreCountedByTheirFields(void **state) {
  (void)state;
  static const int64_t strides[2] = {0};
  static const uint32_t trips[2] = {4, 16};
  static const SambaLaneOp ops[2] = {{0}};
  SambaPort ports[3];
  for (int p = 0; p < 3; ++p)
    ports[p] = (SambaPort){.stream_count = 1, .compute = {.strides = strides}};

  SambaUnit unit = sambaUnitMake(SAMBA_UNIT_COMPUTE, "", "");
  unit.input_count = 2;
  unit.output_count = 1;
  unit.inputs = ports;
  unit.outputs = &ports[2];
  unit.compute =
      (SambaCompute){.counter_count = 2, .trips = trips, .program = {.op_count = 2, .ops = ops}};
  assert_int_equal(sambaUnitLoadBytes(&unit), 17 * 8);

  unit.outputs[0].stream_count = 4; /* three flows more: 1110 bits */
  assert_int_equal(sambaUnitLoadBytes(&unit), 18 * 8);
  unit.x = unit.y = 3;
  unit.name = "a long name";
  assert_int_equal(sambaUnitLoadBytes(&unit), 18 * 8);

  assert_int_equal(sambaSwitchEntryLoadBytes(), 16); /* 88 bits */
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

/* The switch entries end the bits, 16 bytes each that begin with y and x, 10 bits each. */
static void tilesHaveWhatLiesInThem(void **state) {
  (void)state;
  Encoded encoded;
  encode(&encoded, true);
  const SambaSection *section = encoded.section;
  SambaSectionLoad load = sambaSectionLoadMake(section, encoded.machine, &encoded.arena);
  assert_int_equal(load.tile_count, 8); /* 4 x 2 tiles of 13 x 20 sites */
  uint64_t bytes[8] = {0};

  uint64_t entries = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    entries += section->streams[s].hop_count;
  const uint8_t *entry = encoded.bytes.data + encoded.bytes.size - 16 * entries;
  for (uint64_t e = 0; e < entries; ++e, entry += 16) {
    uint32_t number = entry[0] | (uint32_t)entry[1] << 8 | (uint32_t)entry[2] << 16;
    bytes[(number & 1023) / 20 * 4 + (number >> 10 & 1023) / 13] += 16;
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
                                     cmocka_unit_test(aSectionLoadsItsUnitsAndSwitches),
                                     cmocka_unit_test(tilesHaveWhatLiesInThem)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
