/* backend/config/encoding.h: round trips, what the bits leave out, damaged bytes, the errors of
 * encoder and decoder. */
#include "backend/config/encoding.h"
#include "backend/config/record_codec.h"
#include "backend/section/fabric/fabric.h"
#include "test/backend/sample_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assertOk(SambaStatus status) {
  if (status)
    print_message("%s\n", sambaStatusGetMessage(status));
  assert_null(status);
}

static void assertFails(SambaStatus status, const char *text) {
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), text))
    print_message("got:    %s\nwanted: %s\n", sambaStatusGetMessage(status), text);
  assert_non_null(strstr(sambaStatusGetMessage(status), text));
  sambaStatusFree(status);
}

static void assertSameAccess(const SambaAccess *a, const SambaAccess *b) {
  assert_int_equal(a->counter_count, b->counter_count);
  assert_memory_equal(a->trips, b->trips, a->counter_count * sizeof *a->trips);
  assert_int_equal(a->slot_level, b->slot_level);
  assert_int_equal(a->token_level, b->token_level);
  assert_int_equal(a->base, b->base);
  assert_memory_equal(a->strides, b->strides, a->counter_count * sizeof *a->strides);
  assert_int_equal(a->guard_count, b->guard_count);

  for (uint32_t g = 0; g < a->guard_count; ++g) {
    assert_int_equal(a->guards[g].constant, b->guards[g].constant);
    assert_int_equal(a->guards[g].limit, b->guards[g].limit);
    assert_memory_equal(a->guards[g].strides, b->guards[g].strides,
                        a->counter_count * sizeof *a->strides);
  }

  assert_int_equal(a->fill, b->fill);
  assert_int_equal(a->has_index, b->has_index);
  assert_int_equal(a->index_counters, b->index_counters);
  assert_int_equal(a->index_stride, b->index_stride);
  assert_int_equal(a->index_limit, b->index_limit);
}

static void assertSamePort(const SambaUnit *unit, const SambaPort *a, const SambaPort *b) {
  assert_int_equal(a->dtype, b->dtype);
  assert_int_equal(a->stream_count, b->stream_count);
  assert_memory_equal(a->streams, b->streams, a->stream_count * sizeof *a->streams);
  assert_int_equal(a->block, b->block);
  assert_int_equal(a->token_elements, b->token_elements);
  if (unit->kind != SAMBA_UNIT_COMPUTE) {
    if (a->access.counter_count)
      assertSameAccess(&a->access, &b->access);
    return;
  }

  assert_int_equal(a->compute.level, b->compute.level);
  assert_int_equal(a->compute.value, b->compute.value);
  assert_memory_equal(a->compute.strides, b->compute.strides,
                      unit->compute.counter_count * sizeof *a->compute.strides);
}

static void assertSameKindFields(const SambaUnit *x, const SambaUnit *y) {
  switch (x->kind) {
  case SAMBA_UNIT_LOAD:
  case SAMBA_UNIT_STORE:
    assert_int_equal(x->load_store.ag, y->load_store.ag);
    assert_int_equal(x->load_store.symbol, y->load_store.symbol);
    break;
  case SAMBA_UNIT_BUFFER:
    assert_int_equal(x->buffer.slot_count, y->buffer.slot_count);
    assert_int_equal(x->buffer.slot_elements, y->buffer.slot_elements);
    assert_int_equal(x->buffer.banking, y->buffer.banking);
    assert_int_equal(x->buffer.row_words, y->buffer.row_words);
    assert_int_equal(x->buffer.skew, y->buffer.skew);
    assert_int_equal(x->buffer.in_place, y->buffer.in_place);
    assert_int_equal(x->buffer.loop_carried, y->buffer.loop_carried);
    assert_int_equal(x->buffer.initial, y->buffer.initial);
    break;
  case SAMBA_UNIT_COMPUTE: {
    const SambaCompute *a = &x->compute;
    const SambaCompute *b = &y->compute;
    assert_int_equal(a->counter_count, b->counter_count);
    if (a->counter_count)
      assert_memory_equal(a->trips, b->trips, a->counter_count * sizeof *a->trips);
    assert_int_equal(a->token_level, b->token_level);
    assert_int_equal(a->program.systolic, b->program.systolic);
    assert_int_equal(a->program.lane_reduce, b->program.lane_reduce);
    assert_int_equal(a->program.reduce_mask, b->program.reduce_mask);
    assert_int_equal(a->program.op_count, b->program.op_count);
    if (a->program.op_count)
      assert_memory_equal(a->program.ops, b->program.ops,
                          a->program.op_count * sizeof *a->program.ops);
    break;
  }
  }
}

/* Equal but for names; streams are in canonical order in both. */
static void assertSameSection(const SambaSection *a, const SambaSection *b) {
  assert_int_equal(a->symbol_count, b->symbol_count);
  assert_int_equal(a->unit_count, b->unit_count);
  assert_int_equal(a->stream_count, b->stream_count);
  assert_int_equal(a->split_k, b->split_k);

  for (uint32_t i = 0; i < a->symbol_count; ++i) {
    assert_int_equal(a->symbols[i].dtype, b->symbols[i].dtype);
    assert_int_equal(a->symbols[i].elements, b->symbols[i].elements);
    assert_int_equal(a->symbols[i].written, b->symbols[i].written);
  }

  for (uint32_t i = 0; i < a->unit_count; ++i) {
    const SambaUnit *x = &a->units[i];
    const SambaUnit *y = &b->units[i];
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->x, y->x);
    assert_int_equal(x->y, y->y);
    assert_int_equal(x->lanes, y->lanes);
    assertSameKindFields(x, y);
    assert_int_equal(x->input_count, y->input_count);
    assert_int_equal(x->output_count, y->output_count);
    for (uint32_t p = 0; p < x->input_count; ++p)
      assertSamePort(x, &x->inputs[p], &y->inputs[p]);
    for (uint32_t p = 0; p < x->output_count; ++p)
      assertSamePort(x, &x->outputs[p], &y->outputs[p]);
  }

  for (uint32_t i = 0; i < a->stream_count; ++i) {
    const SambaStream *x = &a->streams[i];
    const SambaStream *y = &b->streams[i];
    assert_int_equal(x->kind, y->kind);
    assert_memory_equal(&x->source, &y->source, sizeof x->source);
    assert_int_equal(x->destination_count, y->destination_count);
    assert_memory_equal(x->destinations, y->destinations,
                        x->destination_count * sizeof *x->destinations);
    assert_int_equal(x->hop_count, y->hop_count);
    for (uint32_t h = 0; h < x->hop_count; ++h) {
      assert_int_equal(x->hops[h].x, y->hops[h].x);
      assert_int_equal(x->hops[h].y, y->hops[h].y);
      assert_int_equal(sambaSwitchLaneCompare(&x->hops[h].in, &y->hops[h].in), 0);
      assert_int_equal(sambaSwitchLaneCompare(&x->hops[h].out, &y->hops[h].out), 0);
    }
  }
}

typedef struct Sample {
  SambaArena arena;
  SambaSection *section;
  const SambaMachine *machine;
  SambaByteBuffer bytes;
} Sample;

enum { gatherSample = 1, idealSample = 2, sampleCount = 4 };

/* The section and the machine with a network that is ideal: nothing is routed. */
static void makeIdeal(Sample *sample) {
  SambaMachine *machine = sambaArenaCopy(&sample->arena, sample->machine, sizeof *sample->machine);
  machine->network = SAMBA_NETWORK_IDEAL;
  sample->machine = machine;
  for (uint32_t s = 0; s < sample->section->stream_count; ++s)
    sample->section->streams[s].hop_count = 0;
}

static void encodeSample(Sample *sample, int which) {
  bool gather = which & gatherSample;
  *sample = (Sample){0};
  sample->section = gather ? sampleGather(&sample->arena) : sampleMatmul(&sample->arena);
  sample->machine = gather ? sampleLargeMachine() : sampleMachine();
  if (which & idealSample)
    makeIdeal(sample);
  sample->section->units[0].lanes = 8;
  assertOk(sambaSectionEncode(sample->section, sample->machine, &sample->bytes));
}

static void freeSample(Sample *sample) {
  sambaArrayFree(&sample->bytes);
  sambaArenaDestroy(&sample->arena);
}

static void roundTrips(void **state) {
  (void)state;
  for (int which = 0; which < sampleCount; ++which) {
    Sample sample;
    encodeSample(&sample, which);
    assert_int_equal(sample.bytes.size % 8, 0);
    SambaSection *decoded;
    assertOk(sambaSectionDecode(sample.bytes.data, sample.bytes.size, sample.machine, &sample.arena,
                                &decoded));
    assertSameSection(sample.section, decoded);
    assert_string_equal(decoded->units[0].name, "load0");
    assert_string_equal(decoded->units[2].name, which & gatherSample ? "compute2" : "buffer2");
    SambaByteBuffer again = {0};
    assertOk(sambaSectionEncode(decoded, sample.machine, &again));
    assert_int_equal(again.size, sample.bytes.size);
    assert_memory_equal(again.data, sample.bytes.data, again.size);
    sambaArrayFree(&again);
    freeSample(&sample);
  }
}

static void namesComeBack(void **state) {
  (void)state;
  Sample sample;
  encodeSample(&sample, 0);
  SambaSection *decoded;

  assertOk(sambaSectionDecode(sample.bytes.data, sample.bytes.size, sample.machine, &sample.arena,
                              &decoded));
  const uint32_t *order = sambaStreamsCanonicalOrder(sample.section, &sample.arena);
  for (uint32_t i = 0; i < decoded->stream_count; ++i) {
    assert_int_equal(sample.section->streams[order[i]].source.unit,
                     decoded->streams[i].source.unit);
  }

  char name[] = "mine";
  sambaSectionSetName(decoded, name);
  sambaSectionSetUnit(decoded, 0, name, "fc1");
  sambaSectionSetUnit(decoded, 99, name, name);
  sambaSectionSetSymbol(decoded, 0, name);
  sambaSectionSetSymbol(decoded, 99, name);
  name[0] = 'X';
  assert_string_equal(decoded->name, "mine");
  assert_string_equal(decoded->units[0].name, "mine");
  assert_string_equal(decoded->units[0].layer, "fc1");
  assert_string_equal(decoded->symbols[0].name, "mine");
  freeSample(&sample);
}

/* Every bit once, every length once: an error or a section that encodes to the very same bytes. */
static void decodeDamaged(const uint8_t *data, size_t size, const SambaMachine *machine) {
  SambaArena arena = {0};
  SambaSection *section;
  SambaStatus status = sambaSectionDecode(data, size, machine, &arena, &section);

  if (!status) {
    SambaByteBuffer again = {0};
    assertOk(sambaSectionEncode(section, machine, &again));
    assert_int_equal(again.size, size);
    assert_memory_equal(again.data, data, size);
    sambaArrayFree(&again);
  } else {
    assert_true(strlen(sambaStatusGetMessage(status)) > 0);
  }

  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

static void damageIsRefusedOrHonest(void **state) {
  (void)state;
  for (int which = 0; which < sampleCount; ++which) {
    Sample sample;
    encodeSample(&sample, which);
    for (size_t bit = 0; bit < sample.bytes.size * 8; ++bit) {
      sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
      decodeDamaged(sample.bytes.data, sample.bytes.size, sample.machine);
      sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    uint32_t seed = 12345;
    for (int round = 0; round < 4000; ++round) {
      uint8_t *copy = sambaAllocate(sample.bytes.size);
      memcpy(copy, sample.bytes.data, sample.bytes.size);
      for (int change = 0; change < 1 + round % 4; ++change) {
        seed = seed * 1664525u + 1013904223u;
        copy[(seed >> 8) % sample.bytes.size] = (uint8_t)(seed >> 3);
      }
      decodeDamaged(copy, sample.bytes.size, sample.machine);
      free(copy);
    }
    for (size_t size = 0; size < sample.bytes.size; ++size) {
      uint8_t *copy = sambaAllocate(size);
      memcpy(copy, sample.bytes.data, size);
      decodeDamaged(copy, size, sample.machine);
      free(copy);
    }
    freeSample(&sample);
  }
}

static void decoderNamesWhatIsWrong(void **state) {
  (void)state;
  Sample sample;
  encodeSample(&sample, 0);
  SambaSection *section;
  uint8_t *data = sample.bytes.data;
#define DECODE(size) sambaSectionDecode(data, size, sample.machine, &sample.arena, &section)
  assertFails(DECODE(0), "the bytes end at version");
  assertFails(DECODE(SIZE_MAX),
              "an image of 18446744073709551615 bytes, expected at most 1073741824");
  assertFails(DECODE(sample.bytes.size - 8), "the bytes end at");
  assertFails(DECODE(sample.bytes.size - 1), "the bytes end inside padding at bit");
  assertFails(DECODE(24), "the bytes end at");
  assertFails(DECODE(13), "the bytes end at symbols: 3 of 64 bits expected, 11 left");
  data[0] = 2;
  assertFails(DECODE(sample.bytes.size),
              "its records have version 2, this program reads version 3");
  assertFails(DECODE(2), "its records have version 2, this program reads version 3");
  data[0] = 3;
  data[sample.bytes.size - 1] |= 0x80;
  assertFails(DECODE(sample.bytes.size), "padding before bit");
  data[sample.bytes.size - 1] &= 0x7f;
  for (int i = 0; i < 8; ++i)
    sambaArrayAppend(&sample.bytes, 0);
  data = sample.bytes.data;
  assertFails(DECODE(sample.bytes.size), "8 bytes after the end of the section");
  freeSample(&sample);
}

typedef enum { SWAP_ENTRIES, SWAP_SWITCHES, EMPTY_SWITCH, SPLIT_SWITCH } Disorder;

/* Of the last switch, or the last two. */
static void disturbSwitches(SambaImage *image, Disorder disorder, SambaArena *arena) {
  SambaSwitchRecord *switches =
      SAMBA_ARENA_ARRAY(arena, SambaSwitchRecord, image->switch_count + 1);
  memcpy(switches, image->switches, image->switch_count * sizeof *switches);
  image->switches = switches;
  uint32_t with = 0; /* has two entries */
  while (switches[with].entry_count < 2)
    ++with;
  SambaSwitchRecord *last = &switches[image->switch_count - 1], before = last[-1];
  SambaSwitchEntry *entries = switches[with].entries, first = entries[0];

  switch (disorder) {
  case SWAP_ENTRIES:
    entries[0] = entries[1];
    entries[1] = first;
    break;
  case SWAP_SWITCHES:
    last[-1] = *last;
    *last = before;
    break;
  case EMPTY_SWITCH:
    last->entry_count = 0;
    break;
  case SPLIT_SWITCH: /* into two of one place and kind */
    memmove(&switches[with + 1], &switches[with],
            (image->switch_count++ - with) * sizeof *switches);
    switches[with].entry_count = 1;
    switches[with + 1].entries = &entries[1];
    --switches[with + 1].entry_count;
    break;
  }
}

static void switchesHaveOneOrder(void **state) {
  (void)state;
  static const char *const errors[] = {
      [SWAP_ENTRIES] = "entry 1 is out of order, expected ascending switches and entries",
      [SWAP_SWITCHES] = "entry 0 is out of order, expected ascending switches and entries",
      [EMPTY_SWITCH] = " has 0 entries, expected at least 1",
      [SPLIT_SWITCH] = " has two records of one kind, expected one"};
  for (int disorder = SWAP_ENTRIES; disorder <= SPLIT_SWITCH; ++disorder) {
    Sample sample;
    encodeSample(&sample, 0);
    SambaImage image = {0};
    SambaByteBuffer changed = {0};
    SambaSection *section;
    assertOk(sambaRecordRead(SAMBA_RECORD_section, sample.bytes.data, sample.bytes.size,
                             &sample.arena, &image));
    disturbSwitches(&image, (Disorder)disorder, &sample.arena);
    assertOk(sambaRecordWrite(SAMBA_RECORD_section, &image, &changed));
    assertFails(
        sambaSectionDecode(changed.data, changed.size, sample.machine, &sample.arena, &section),
        errors[disorder]);
    sambaArrayFree(&changed);
    freeSample(&sample);
  }
}

/* Turns are taken among several streams: of one there is nothing to say. */
static void oneStreamTakesNoTurns(void **state) {
  (void)state;
  Sample sample;
  encodeSample(&sample, gatherSample);
  SambaSection *decoded;
  sample.section->units[1].outputs[0].block = 3; /* two streams */
  sample.section->units[0].outputs[0].block = 7; /* one */
  sample.bytes.size = 0;
  assertOk(sambaSectionEncode(sample.section, sample.machine, &sample.bytes));
  assertOk(sambaSectionDecode(sample.bytes.data, sample.bytes.size, sample.machine, &sample.arena,
                              &decoded));
  assert_int_equal(decoded->units[1].outputs[0].block, 3);
  assert_int_equal(decoded->units[0].outputs[0].block, 1);
  freeSample(&sample);
}

static void idealNetworksHaveNoRoutes(void **state) {
  (void)state;
  Sample sample;
  encodeSample(&sample, 0);
  makeIdeal(&sample);
  SambaSection *section;
  SambaByteBuffer out = {0};

  /* What was routed for the mesh. */
  assertFails(sambaSectionDecode(sample.bytes.data, sample.bytes.size, sample.machine,
                                 &sample.arena, &section),
              "switch entries, but the network of tiny is ideal: it has no switches");
  sample.section->streams[1].hop_count = 1;
  assertFails(sambaSectionEncode(sample.section, sample.machine, &out),
              "stream 1 from unit 'bt' output 0 has hops, but the network of tiny is ideal: leave "
              "its route out");
  sample.section->streams[1].hop_count = 0;

  /* The numbers of lanes and wires follow from the rest. */
  assertOk(sambaSectionEncode(sample.section, sample.machine, &out));
  int renumbered = 0;
  for (size_t bit = 0; bit < out.size * 8; ++bit) {
    out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    SambaStatus status =
        sambaSectionDecode(out.data, out.size, sample.machine, &sample.arena, &section);
    renumbered += status && strstr(sambaStatusGetMessage(status), " and wire ") &&
                  strstr(sambaStatusGetMessage(status), ", expected lane ");
    sambaStatusFree(status);
    out.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  assert_true(renumbered > 0);

  /* A unit has as many ports of a kind as its machine says. */
  ((SambaMachine *)sample.machine)->unit_vector_inputs = 1;
  assertFails(sambaSectionEncode(sample.section, sample.machine, &out),
              "unit 'ct' has more than 1 vector inputs, which is what a unit of tiny has");
  sambaArrayFree(&out);
  freeSample(&sample);
}

static void encoderNamesWhatIsWrong(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaByteBuffer out = {0};
  SambaSection *s = sampleMatmul(&arena);
#define ENCODE() sambaSectionEncode(s, sampleMachine(), &out)
  s->units[2].x = -1;
  assertFails(ENCODE(),
              "unit 'ab': site (-1, 0) is outside the grid of 4 x 4 sites; it is not placed");
  s = sampleMatmul(&arena);
  s->streams[2].hop_count = 0;
  assertFails(ENCODE(), "stream 2 from unit 'ab' output 0 is not routed");
  s = sampleMatmul(&arena);
  ((SambaHop *)s->streams[2].hops)[0].x = 2;
  assertFails(ENCODE(), "stream 2: its first hop enters the switch at (2, 0) from 'unit', not from "
                        "its source unit 'ab'");
  s = sampleMatmul(&arena);
  s->streams[2].hop_count--;
  assertFails(ENCODE(), "stream 2: no hop of it ends at unit 'ct' input 0");

  /* At (1, 1) each of two streams goes on as the other: the bits would say something else than the
   * streams. */
  s = sampleMatmul(&arena);
  SambaHop *a = (SambaHop *)&s->streams[2].hops[s->streams[2].hop_count - 1];
  SambaHop *b = (SambaHop *)&s->streams[3].hops[s->streams[3].hop_count - 1];
  SambaSwitchLane in = a->in;
  a->in = b->in;
  b->in = in;
  assertFails(ENCODE(),
              "stream 2 from unit 'ab' output 0: its hops reach other ports than its destinations");
  s = sampleMatmul(&arena);
  s->units[0].outputs[0].access.strides = LIST(&arena, int64_t, 0, 0, 0, 0, 0);
  s->symbols[0].elements = INT64_C(1) << 44;
  s->units[0].outputs[0].access.base = 5;
  assertOk(ENCODE());
  s->units[0].outputs[0].access.guard_count = 1;
  s->units[0].outputs[0].access.guards =
      LIST(&arena, SambaGuard, {0, INT64_C(1) << 50, s->units[0].outputs[0].access.strides});
  assertFails(ENCODE(), "section 'matmul': units 0: outputs 0: guards 0: limit is "
                        "1125899906842624, which has no room in 48 bits");
  sambaArrayFree(&out);
  sambaArenaDestroy(&arena);
}

/* Counters of one step, whose strides move nothing: nothing else bounds them. */
static void encoderNamesWhatHasNoBits(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaByteBuffer out = {0};
  SambaSection *s = sampleMatmul(&arena);
  SambaAccess *access = &s->units[2].inputs[0].access;
  access->counter_count = 4;
  access->trips = LIST(&arena, uint32_t, 4, 1, 64, 128);
  access->strides = LIST(&arena, int64_t, 0, INT32_MIN, 128, 1);
  assertOk(ENCODE());
  access->strides = LIST(&arena, int64_t, 0, INT64_C(1) << 31, 128, 1);
  assertFails(ENCODE(), "section 'matmul': units 2: inputs 0: strides is 2147483648, which has no "
                        "room in 32 bits");

  /* The slots of larger machines have room. */
  s = sampleMatmul(&arena);
  SambaMachine large = *sampleMachine();
  large.pmu_bytes = 64 << 20;
  s->units[2].buffer.slot_elements = 16 << 20;
  s->units[2].inputs[0].access.base = (16 << 20) - 8192;
  assertOk(sambaSectionEncode(s, &large, &out));

  s = sampleMatmul(&arena);
  SambaUnit *unit = &s->units[4];
  unit->compute.counter_count = 9;
  unit->compute.trips = LIST(&arena, uint32_t, 2, 2, 4, 4, 2, 64, 16, 16, 1);
  unit->inputs[1].compute.strides = LIST(&arena, int64_t, 0, 0, 0, 0, 0, 16, 0, 1, 0);
  unit->outputs[0].compute.strides = LIST(&arena, int64_t, 0, 0, 0, 0, 0, 0, 16, 1, 0);
  unit->inputs[0].compute.strides = LIST(&arena, int64_t, 0, 0, 0, 0, 0, 16, 1, 0, (1 << 27) - 1);
  assertOk(ENCODE());
  unit->inputs[0].compute.strides = LIST(&arena, int64_t, 0, 0, 0, 0, 0, 16, 1, 0, 1 << 27);
  assertFails(ENCODE(), "section 'matmul': units 4: inputs 0: strides is 134217728, which has no "
                        "room in 28 bits");

  /* What says nothing has no bits. */
  s = sampleMatmul(&arena);
  s->units[3].outputs[0].access.fill = 5;
  assertFails(ENCODE(), "units 3: outputs 0: fill is 5, expected 0: it has bits only if "
                        "guard_count > 0");
  s = sampleMatmul(&arena);
  s->units[3].buffer.initial = 6;
  assertFails(ENCODE(), "units 3: initial is 6, expected 0: it has bits only if loop_carried");
  s = sampleMatmul(&arena);
  s->units[0].outputs[0].access.index_limit = 7;
  assertFails(ENCODE(), "units 0: outputs 0: index_limit is 7, expected 0: it has bits only if "
                        "has_index");
  sambaArrayFree(&out);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roundTrips),
      cmocka_unit_test(namesComeBack),
      cmocka_unit_test(damageIsRefusedOrHonest),
      cmocka_unit_test(decoderNamesWhatIsWrong),
      cmocka_unit_test(switchesHaveOneOrder),
      cmocka_unit_test(oneStreamTakesNoTurns),
      cmocka_unit_test(encoderNamesWhatIsWrong),
      cmocka_unit_test(encoderNamesWhatHasNoBits),
      cmocka_unit_test(idealNetworksHaveNoRoutes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
