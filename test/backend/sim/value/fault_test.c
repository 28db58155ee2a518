/* Every fault and refusal of the value engine, by its text. */
#include "backend/machine/shipped.h"
#include "support/number/shape.h"
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const SambaDType F = SAMBA_DTYPE_F32;

/* Runs without sambaSectionCheck when `unchecked`; the message must contain `text`. */
static void expectFault(Builder *builder, bool unchecked, const SambaValuesOptions *options,
                        SambaStatusCode code, const char *text) {
  SambaStatus status;
  if (unchecked) {
    SambaValuesOptions one = {.threads = 1};
    SambaValues *values;
    assert_null(sambaValuesCreate(sambaMachineFind(sambaStringRef("sn40l")),
                                  options ? options : &one, &values));
    status = sambaValuesExecute(values, &builder->section, builder->bindings, NULL, 0, NULL);
    sambaValuesDestroy(values);
  } else {
    status = builderRun(builder, "sn40l", options, NULL);
  }

  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), text))
    fprintf(stderr, "%s\n", sambaStatusGetMessage(status));
  assert_non_null(strstr(sambaStatusGetMessage(status), text));
  assert_int_equal(sambaStatusGetCode(status), code);
  sambaStatusFree(status);
  builderDestroy(builder);
}

/* x -> y, n tokens of 4 elements. */
static void buildCopy(Builder *builder, uint32_t n, uint32_t *out_load, uint32_t *out_store) {
  builderInitialize(builder);
  uint32_t x = builderSymbol(builder, "x", F, 4 * n, false);
  uint32_t y = builderSymbol(builder, "y", F, 4 * n, true);
  SambaAccess access = builderAccess(2, 1, TRIPS(builder, n, 4), STRIDES(builder, 4, 1));
  *out_load = builderLoad(builder, x, access);
  *out_store = builderStore(builder, y, access);
  builder->section.units[*out_load].layer = "fc1";
  builderStream(builder, *out_load, 0, *out_store, 0);
}

static void testOutOfRange(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;

  buildCopy(&builder, 8, &load, &store);
  builder.bindings[0].bytes = 4 * 20; /* the call binds less than the formal asks for */
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "address out of range: section 'test', load 'load0' of layer 'fc1', firing 5: "
              "elements 20 to 23 of "
              "formal 'x', which has 20");
  buildCopy(&builder, 8, &load, &store);
  builder.bindings[1].bytes = 4 * 10;
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "address out of range: section 'test', store 'store1', firing 2: elements 8 to 11 of "
              "formal 'y', which has 10");
}

/* A load that deals its tokens to two stores: those of one store are loaded together, and still the
 * firing is that of the section. */
static void testOutOfRangeDealt(void **state) {
  (void)state;
  Builder builder;
  builderInitialize(&builder);
  uint32_t x = builderSymbol(&builder, "x", F, 24, false);
  uint32_t load =
      builderLoad(&builder, x, builderAccess(2, 1, TRIPS(&builder, 6, 4), STRIDES(&builder, 4, 1)));
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t y = builderSymbol(&builder, "y", F, 12, true);
    uint32_t store = builderStore(
        &builder, y, builderAccess(2, 1, TRIPS(&builder, 3, 4), STRIDES(&builder, 4, 1)));
    builderStream(&builder, load, 0, store, 0);
  }
  builder.bindings[x].bytes = 4 * 16;
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "address out of range: section 'test', load 'load0', firing 4: elements 16 to 19 of "
              "formal 'x', which has 16");
}

static void expectIndexFault(int64_t value, const char *message) {
  Builder builder;
  builderInitialize(&builder);
  uint32_t table = builderSymbol(&builder, "table", F, 12, false);
  uint32_t index = builderSymbol(&builder, "index", SAMBA_DTYPE_I64, 2, false);
  uint32_t out = builderSymbol(&builder, "out", F, 8, true);
  SambaAccess access = builderAccess(2, 0, TRIPS(&builder, 2, 4), STRIDES(&builder, 0, 1));

  access.has_index = true, access.index_counters = 1, access.index_stride = 4,
  access.index_limit = 3;
  uint32_t from =
      builderLoad(&builder, index, builderAccess(1, 0, TRIPS(&builder, 2), STRIDES(&builder, 1)));
  uint32_t gather = builderLoad(&builder, table, access);
  uint32_t store =
      builderStore(&builder, out, builderAccess(1, 0, TRIPS(&builder, 8), STRIDES(&builder, 1)));
  builderInput(&builder, gather, (SambaPort){.dtype = SAMBA_DTYPE_I64, .token_elements = 2});
  builderStream(&builder, from, 0, gather, 0);
  builderStream(&builder, gather, 0, store, 0);
  ((int64_t *)(void *)builder.bindings[index].data)[1] = value;
  expectFault(&builder, false, NULL, SAMBA_FAULT, message);
}

static void testIndexOutOfRange(void **state) {
  (void)state;
  expectIndexFault(3, "address out of range: section 'test', load 'load1', firing 0: index 3 into "
                      "formal 'table', expected 0 to 2");
  expectIndexFault(SAMBA_NO_PLACE + 3,
                   "address out of range: section 'test', load 'load1', firing 0: an index is "
                   "outside of its dimension of formal 'table', expected a place from 0 to 2");
}

static void testNeverWritten(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;

  buildCopy(&builder, 64, &load, &store);
  builder.bindings[0].written = malloc(2);
  memcpy(builder.bindings[0].written, (uint8_t[]){0xFF, 0x7F},
         2); /* line 15: elements 240 to 255, firing 60 on */
  builder.bindings[1].written = calloc(2, 1);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "read of never-written memory: section 'test', load 'load0' of layer 'fc1', firing "
              "60: elements from 240 "
              "on of formal 'x' hold nothing that anybody wrote");
  buildCopy(&builder, 64, &load, &store);
  builder.bindings[0].written = malloc(2);
  memset(builder.bindings[0].written, 0xFF, 2);
  uint8_t *written = builder.bindings[1].written = calloc(2, 1);
  SambaStatus status = builderRun(&builder, "sn40l", NULL, NULL);
  assert_null(status);
  assert_int_equal(written[0] & written[1], 0xFF); /* the store marked every line */
  builderDestroy(&builder);
}

/* A slot of 8 elements of which a write port fills 4. */
static void testHole(void **state) {
  (void)state;
  for (int64_t base = 0; base < 2; ++base) {
    Builder builder;
    builderInitialize(&builder);
    uint32_t x = builderSymbol(&builder, "x", F, 4, false);
    uint32_t y = builderSymbol(&builder, "y", F, 4, true);
    uint32_t buffer = builderBuffer(&builder, F, 1, 8);
    SambaAccess four = builderAccess(1, 0, TRIPS(&builder, 4), STRIDES(&builder, 1));
    SambaAccess read = four;
    read.base = base;
    builderBufferWrite(&builder, buffer, four);
    builderBufferRead(&builder, buffer, read);
    uint32_t load = builderLoad(&builder, x, four);
    uint32_t store = builderStore(&builder, y, four);
    builderStream(&builder, load, 0, buffer, 0);
    builderStream(&builder, buffer, 0, store, 0);
    if (base == 1) {
      expectFault(&builder, false, NULL, SAMBA_FAULT,
                  "read of never-written memory: section 'test', buffer 'buffer0', firing 0: "
                  "output 0 reads element 4 "
                  "of a slot, which no input wrote");
      continue;
    }
    assert_null(builderRun(&builder, "sn40l", NULL, NULL));
    builderDestroy(&builder);
  }
}

/* As many writes as a slot has elements, of which half overlap: rows of 4, written 2 apart. */
static void testOverlappingWrites(void **state) {
  (void)state;
  Builder builder;
  builderInitialize(&builder);
  uint32_t x = builderSymbol(&builder, "x", F, 16, false);
  uint32_t y = builderSymbol(&builder, "y", F, 16, true);
  uint32_t buffer = builderBuffer(&builder, F, 1, 16);
  SambaAccess all = builderAccess(2, 0, TRIPS(&builder, 4, 4), STRIDES(&builder, 4, 1));
  SambaAccess overlapping = builderAccess(2, 0, TRIPS(&builder, 4, 4), STRIDES(&builder, 2, 1));
  builderBufferWrite(&builder, buffer, overlapping);
  builderBufferRead(&builder, buffer, all);
  uint32_t load = builderLoad(&builder, x, all);
  uint32_t store = builderStore(&builder, y, all);
  builderStream(&builder, load, 0, buffer, 0);
  builderStream(&builder, buffer, 0, store, 0);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "read of never-written memory: section 'test', buffer 'buffer0', firing 0: output 0 "
              "reads element 10 of a slot, which no input wrote");
}

/* Two rounds of one slot of 4 elements; in the second one a guard leaves half of them out. What the
 * first round left there is not what the second one reads. */
static void testHoleOfOneRound(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;
  buildCopy(&builder, 2, &load, &store);
  builder.section.stream_count = 0;
  builder.section.units[load].outputs[0].stream_count = 0;
  builder.section.units[store].inputs[0].stream_count = 0;
  uint32_t buffer = builderBuffer(&builder, F, 1, 4);
  SambaAccess read = builderAccess(2, 1, TRIPS(&builder, 2, 4), STRIDES(&builder, 0, 1));
  read.slot_level = 1;
  SambaAccess write = read;
  SambaGuard six = {.limit = 6, .strides = STRIDES(&builder, 4, 1)};
  write.guard_count = 1;
  write.guards = &six;
  builderBufferWrite(&builder, buffer, write);
  builderBufferRead(&builder, buffer, read);
  builderStream(&builder, load, 0, buffer, 0);
  builderStream(&builder, buffer, 0, store, 0);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "read of never-written memory: section 'test', buffer 'buffer2', firing 1: output 0 "
              "reads element 2 of a slot, which no input wrote");
}

/* Two write ports that fill 6 of the 8 elements of a slot each. No token orders one against the
 * other, whether the slot starts full or not. */
static void testTwoWritersOfOneElement(void **state) {
  (void)state;
  for (int carried = 0; carried < 2; ++carried) {
    Builder builder;
    builderInitialize(&builder);
    uint32_t x = builderSymbol(&builder, "x", F, 6, false);
    uint32_t y = builderSymbol(&builder, "y", F, 8, true);
    uint32_t buffer = builderBuffer(&builder, F, 1, 8);
    builder.section.units[buffer].buffer.loop_carried = carried;
    SambaAccess six = builderAccess(1, 0, TRIPS(&builder, 6), STRIDES(&builder, 1));
    SambaAccess eight = builderAccess(1, 0, TRIPS(&builder, 8), STRIDES(&builder, 1));
    for (uint32_t i = 0; i < 2; ++i) {
      SambaAccess write = six;
      write.base = 2 * i;
      builderBufferWrite(&builder, buffer, write);
      builderStream(&builder, builderLoad(&builder, x, six), 0, buffer, i);
    }
    builderBufferRead(&builder, buffer, eight);
    builderStream(&builder, buffer, 0, builderStore(&builder, y, eight), 0);
    expectFault(&builder, false, NULL, SAMBA_FAULT,
                "missing synchronisation: section 'test', buffer 'buffer0', firing 0: inputs 0 and "
                "1 write element 2 of the same slot");
  }
}

static void testNotANumber(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;

  buildCopy(&builder, 8, &load, &store);
  ((float *)(void *)builder.bindings[0].data)[9] = -NAN;
  SambaValuesOptions options = {.threads = 1, .trap_nan = true};
  expectFault(&builder, false, &options, SAMBA_FAULT,
              "not a number: section 'test', store 'store1', firing 2: among elements 8 to 11 of "
              "formal 'y'");
  buildCopy(&builder, 8, &load, &store);
  uint32_t odd = 0xFFC12345, result;
  memcpy(builder.bindings[0].data + 36, &odd, 4);
  assert_null(builderRun(&builder, "sn40l", NULL, NULL));
  memcpy(&result, builder.bindings[1].data + 36, 4);
  assert_int_equal(result, 0x7FC00000);
  builderDestroy(&builder);
}

static uint32_t addIdentity(Builder *builder, uint32_t n, uint32_t inputs) {
  uint32_t unit = builderCompute(builder, 2, 1, TRIPS(builder, n, 4));
  for (uint32_t i = 0; i < inputs; ++i)
    builderComputeInput(builder, unit, F, 1, 4, STRIDES(builder, 0, 1));
  uint32_t value = inputs == 2 ? builderOp(builder, unit, SAMBA_LANE_ADD, F, 0, 1, 0, 0) : 0;
  builderComputeOutput(builder, unit, F, 1, 4, STRIDES(builder, 0, 1), value);
  return unit;
}

static void testDeadlock(void **state) {
  (void)state;
  Builder builder;
  builderInitialize(&builder);
  uint32_t first = addIdentity(&builder, 3, 1);
  uint32_t second = addIdentity(&builder, 3, 1);

  builderStream(&builder, first, 0, second, 0);
  builderStream(&builder, second, 0, first, 0);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "deadlock: section 'test', compute 'compute0', firing 0: no unit can go on\n  note: "
              "'compute0' waits for "
              "a token of 'compute1'\n"
              "  note: 'compute1' waits for a token of 'compute0'");

  /* A sum that goes around through a buffer which is not loop-carried. */
  builderInitialize(&builder);
  uint32_t x = builderSymbol(&builder, "x", F, 12, false);
  uint32_t load =
      builderLoad(&builder, x, builderAccess(2, 1, TRIPS(&builder, 3, 4), STRIDES(&builder, 4, 1)));
  uint32_t adder = addIdentity(&builder, 3, 2);
  uint32_t buffer = builderBuffer(&builder, F, 2, 4);
  SambaAccess slot = builderAccess(2, 1, TRIPS(&builder, 3, 4), STRIDES(&builder, 0, 1));
  slot.slot_level = 1;
  builderBufferWrite(&builder, buffer, slot);
  builderBufferRead(&builder, buffer, slot);
  builderStream(&builder, load, 0, adder, 0);
  builderStream(&builder, adder, 0, buffer, 0);
  builderStream(&builder, buffer, 0, adder, 1);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "deadlock: section 'test', compute 'compute1', firing 0: no unit can go on\n  note: "
              "'compute1' waits for "
              "a token of 'buffer2'\n"
              "  note: 'buffer2': output 0 waits for input 0\n  note: 'buffer2' waits for a token "
              "of 'compute1'");
}

/* Two branches of one multicast that meet again: the adder wants all of one branch first. The
 * host's queues hold the other one, however long it is. */
static void testLongBranch(void **state) {
  (void)state;
  Builder builder;
  builderInitialize(&builder);
  enum { n = 1000 };
  uint32_t x = builderSymbol(&builder, "x", F, 4 * n, false);
  uint32_t y = builderSymbol(&builder, "y", F, 4 * n, true);
  uint32_t load =
      builderLoad(&builder, x, builderAccess(2, 1, TRIPS(&builder, n, 4), STRIDES(&builder, 4, 1)));
  uint32_t gather = builderCompute(&builder, 2, 1, TRIPS(&builder, n, 4));

  builderComputeInput(&builder, gather, F, 1, 4, STRIDES(&builder, 0, 1));
  builder.section.units[gather].compute.program.reduce_mask = 3;
  builderComputeOutput(&builder, gather, F, 0, 1, STRIDES(&builder, 0, 0),
                       builderOp(&builder, gather, SAMBA_LANE_REDUCE_ADD, F, 0, 0, 0, 0));
  uint32_t adder = builderCompute(&builder, 2, 1, TRIPS(&builder, n, 4));
  builderComputeInput(&builder, adder, F, 1, 4, STRIDES(&builder, 0, 1));
  builderComputeInput(&builder, adder, F, 0, 1, STRIDES(&builder, 0, 0));
  builderComputeOutput(&builder, adder, F, 1, 4, STRIDES(&builder, 0, 1),
                       builderOp(&builder, adder, SAMBA_LANE_ADD, F, 0, 1, 0, 0));
  uint32_t store = builderStore(
      &builder, y, builderAccess(2, 1, TRIPS(&builder, n, 4), STRIDES(&builder, 4, 1)));
  builderDestination(&builder, builderStream(&builder, load, 0, gather, 0), adder, 0);
  builderStream(&builder, gather, 0, adder, 1);
  builderStream(&builder, adder, 0, store, 0);
  for (int i = 0; i < 4 * n; ++i)
    ((float *)(void *)builder.bindings[x].data)[i] = 1;
  for (int threads = 1; threads < 3; ++threads) {
    SambaValuesOptions options = {.threads = threads};
    SambaStatus status = builderRun(&builder, "sn40l", &options, NULL);
    assert_string_equal(sambaStatusGetMessage(status), "");
    for (int i = 0; i < 4 * n; ++i)
      assert_true(((float *)(void *)builder.bindings[y].data)[i] == 4 * n + 1);
  }
  builderDestroy(&builder);
}

static void testStarved(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;
  buildCopy(&builder, 8, &load, &store);
  builder.section.units[load].outputs[0].access.trips = TRIPS(&builder, 6, 4);
  expectFault(&builder, true, NULL, SAMBA_FAULT,
              "starved: section 'test', store 'store1', firing 6: input 0 waits for a token of "
              "load 'load0', which has ended");
}

/* y is stored and loaded again: ordered by a control stream or not. */
static void buildRoundTrip(Builder *builder, bool ordered) {
  uint32_t load, store;
  buildCopy(builder, 8, &load, &store);
  uint32_t z = builderSymbol(builder, "z", F, 32, true);
  uint32_t again =
      builderLoad(builder, 1, builderAccess(1, 0, TRIPS(builder, 32), STRIDES(builder, 1)));
  uint32_t last =
      builderStore(builder, z, builderAccess(1, 0, TRIPS(builder, 32), STRIDES(builder, 1)));

  builderStream(builder, again, 0, last, 0);
  if (!ordered)
    return;
  builder->section.units[store].inputs[0].access.token_level =
      0; /* one firing, one control token */
  builder->section.units[store].inputs[0].token_elements = 32;
  builder->section.units[load].outputs[0].access.token_level = 0;
  builder->section.units[load].outputs[0].token_elements = 32;
  builderOutput(builder, store, (SambaPort){.dtype = SAMBA_DTYPE_I1});
  builderInput(builder, again, (SambaPort){.dtype = SAMBA_DTYPE_I1});
  builderStream(builder, store, 0, again, 0);
}

static void testSynchronisation(void **state) {
  (void)state;
  Builder builder;
  buildRoundTrip(&builder, false);
  expectFault(&builder, false, NULL, SAMBA_FAULT,
              "missing synchronisation: section 'test', load 'load2', firing 0: formal 'y' is "
              "written by store "
              "'store1' in the same call, and no stream orders the two");
  buildRoundTrip(&builder, true);
  for (int i = 0; i < 32; ++i)
    ((float *)(void *)builder.bindings[0].data)[i] = (float)i;
  SambaStatus status = builderRun(&builder, "sn40l", NULL, NULL);

  assert_string_equal(sambaStatusGetMessage(status), "");
  for (int i = 0; i < 32; ++i)
    assert_true(((float *)(void *)builder.bindings[2].data)[i] == (float)i);
  builderDestroy(&builder);

  /* Unordered, but other elements of the same formal. */
  buildRoundTrip(&builder, false);
  builder.section.units[1].inputs[0].access.trips = TRIPS(&builder, 8, 2);
  builder.section.units[1].inputs[0].token_elements =
      builder.section.units[0].outputs[0].token_elements = 2;
  builder.section.units[0].outputs[0].access.trips =
      builder.section.units[1].inputs[0].access.trips;
  builder.section.units[2].outputs[0].access =
      builderAccess(2, 0, TRIPS(&builder, 8, 2), STRIDES(&builder, 4, 1));
  builder.section.units[2].outputs[0].access.base = 2;
  builder.section.units[2].outputs[0].token_elements =
      builder.section.units[3].inputs[0].token_elements = 16;
  builder.section.units[3].inputs[0].access.trips = TRIPS(&builder, 16);
  status = builderRun(&builder, "sn40l", NULL, NULL);
  assert_string_equal(sambaStatusGetMessage(status), "");
  builderDestroy(&builder);
}

static void testRefusals(void **state) {
  (void)state;
  Builder builder;
  uint32_t load, store;

  buildCopy(&builder, 8, &load, &store);
  uint32_t unit = builderCompute(&builder, 1, 1, TRIPS(&builder, 1));
  uint32_t y = builderSymbol(&builder, "z", F, 1, true);
  uint32_t last =
      builderStore(&builder, y, builderAccess(1, 1, TRIPS(&builder, 1), STRIDES(&builder, 0)));
  builderComputeOutput(&builder, unit, F, 1, 1, STRIDES(&builder, 0),
                       builderOp(&builder, unit, SAMBA_LANE_ARGIN, F, 0, 0, 0, 2));
  builderStream(&builder, unit, 0, last, 0);
  expectFault(
      &builder, false, NULL, SAMBA_INVALID,
      "section 'test', unit 'compute2' reads argument slot 2, but the call has 0 argument slots");
  buildCopy(&builder, 8, &load, &store);
  SambaValuesOptions nonsense = {.threads = 1, .cpu = "z80"};
  expectFault(&builder, false, &nonsense, SAMBA_INVALID,
              "lane programs cannot be compiled for CPU 'z80'; use ");
  buildCopy(&builder, 8, &load, &store);
  uint32_t buffer = builderBuffer(&builder, F, 1u << 31, 1u << 20);
  uint32_t end =
      builderStore(&builder, 1, builderAccess(1, 0, TRIPS(&builder, 4), STRIDES(&builder, 1)));
  SambaAccess four = builderAccess(1, 0, TRIPS(&builder, 4), STRIDES(&builder, 1));
  builderBufferWrite(&builder, buffer, four);
  builderBufferRead(&builder, buffer, four);
  uint32_t start = builderLoad(&builder, 0, four);
  builderStream(&builder, start, 0, buffer, 0);
  builderStream(&builder, buffer, 0, end, 0);
  expectFault(&builder, false, NULL, SAMBA_EXHAUSTED,
              "buffer 'buffer2' needs 9007199254740992 bytes, but all PMUs of sn40l together have "
              "545259520");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testOutOfRange),
                                     cmocka_unit_test(testOutOfRangeDealt),
                                     cmocka_unit_test(testIndexOutOfRange),
                                     cmocka_unit_test(testNeverWritten),
                                     cmocka_unit_test(testNotANumber),
                                     cmocka_unit_test(testHole),
                                     cmocka_unit_test(testOverlappingWrites),
                                     cmocka_unit_test(testHoleOfOneRound),
                                     cmocka_unit_test(testTwoWritersOfOneElement),
                                     cmocka_unit_test(testDeadlock),
                                     cmocka_unit_test(testLongBranch),
                                     cmocka_unit_test(testStarved),
                                     cmocka_unit_test(testSynchronisation),
                                     cmocka_unit_test(testRefusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
