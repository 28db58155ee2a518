/* sambaSectionCheck: symbols, units, chains, addresses, guards, indices, buffers, streams.
 * Programs: compute_check_test.c. */
#include "backend/section/access.h"
#include "backend/section/check/section_check.h"
#include "test/backend/section/check/check_case.h"

#define LOAD s->units[0].outputs[0]
#define TABLE s->units[1].outputs[0]
#define BUFFER s->units[2]
#define SET(...) LIST(&arena, int64_t, __VA_ARGS__)
#define TRIPS(...) LIST(&arena, uint32_t, __VA_ARGS__)

static void samplesPass(void **state) {
  (void)state;
  SambaArena arena = {0};
  assert_null(sambaSectionCheck(sampleMatmul(&arena)));
  assert_null(sambaSectionCheck(sampleGather(&arena)));
  sambaArenaDestroy(&arena);
}

static void symbolsAndUnits(void **state) {
  (void)state;
  CASE(sampleMatmul, s->symbols[1].name = NULL, "section 'matmul': symbol 1 has no name");
  CASE(sampleMatmul, s->symbols[1].dtype = 99, "symbol 'b': element type number 99 is undefined");
  CASE(sampleMatmul, s->symbols[1].elements = 0,
       "symbol 'b': 0 elements, expected 1 to 17592186044416");
  CASE(sampleMatmul, s->units[1].name = NULL, "unit 1 has no name");
  CASE(sampleMatmul, s->units[1].layer = NULL, "unit 1 has no layer");
  CASE(sampleMatmul, s->units[1].kind = 7, "unit 'bt' (invalid): unit kind 7 is undefined");
  CASE(sampleMatmul, s->units[0].output_count = 0,
       "unit 'at' (load): 0 outputs, expected one: the data");
  CASE(sampleMatmul, s->units[5].input_count = 0,
       "unit 'cs' (store): 0 inputs, expected the data and, with has_index, the indices");
  CASE(sampleMatmul, BUFFER.output_count = 0,
       "unit 'ab' (buffer): 1 inputs and 0 outputs, expected at least one of each");
  CASE(sampleMatmul, s->units[4].output_count = 0,
       "unit 'ct' (compute): no output, expected at least one");
  CASE(sampleMatmul, s->units[0].load_store.symbol = 3,
       "unit 'at' (load): symbol 3 does not exist, the section has 3 symbols");
  CASE(sampleMatmul, s->symbols[0].dtype = SAMBA_DTYPE_F32,
       "unit 'at' (load): output 0: element type bf16, expected f32, which is that of symbol 'a'");
  CASE(sampleMatmul, s->symbols[2].written = false,
       "stores to symbol 'c', which is not marked as written");
  CASE(sampleMatmul, LOAD.dtype = 12, "output 0: element type number 12 is undefined");
  CASE(sampleMatmul, LOAD.stream_count = 0, "output 0: no stream is connected");
  CASE(sampleMatmul, LOAD.block = 0, "output 0: block is 0, expected at least 1");
  CASE(sampleMatmul, LOAD.token_elements = UINT64_C(1) << 28,
       "token_elements is 268435456, expected at most 134217728");
  CASE(sampleGather, s->units[4].outputs[0].token_elements = 1,
       "unit 'out' (store): output 0: token_elements is 1, expected 0: this is a control port");
  CASE(sampleGather, s->units[5].inputs[0].token_elements = 2,
       "unit 'after' (load): input 0: token_elements is 2, expected 0: this is a control port");
}

static void chains(void **state) {
  (void)state;
  CASE(sampleMatmul, LOAD.access.counter_count = 65, "a chain of 65 counters, expected at most 64");
  CASE(sampleMatmul, LOAD.access.trips = TRIPS(2, 0, 64, 128),
       "counter 1 has trip count 0, expected at least 1");
  CASE(sampleMatmul, LOAD.access.trips = TRIPS(65536, 65536, 65536, 64),
       "the product of the trip counts reaches 2^48 at counter 2, expected less");
  CASE(sampleMatmul, LOAD.access.trips = TRIPS(UINT32_MAX, UINT32_MAX, UINT32_MAX, 1),
       "reaches 2^48 at counter 1");
  CASE(sampleMatmul, LOAD.access.token_level = 6,
       "token_level is 6, expected at most the 4 counters of the chain");
  CASE(sampleMatmul, LOAD.access.slot_level = 1,
       "slot_level is 1, expected 0: only a buffer has slots");
  CASE(sampleMatmul, BUFFER.inputs[0].access.slot_level = 2,
       "slot_level is 2, expected at most token_level, which is 1");
  CASE(sampleMatmul, BUFFER.inputs[0].access.slot_level = 4,
       "slot_level is 4, expected at most the 3 counters of the chain");
  CASE(sampleMatmul, LOAD.token_elements = 4095,
       "token_elements is 4095, expected 8192: the product of the trip counts from token_level");
  CASE(sampleMatmul, s->units[4].compute.token_level = 9,
       "token_level is 9, expected at most the 8 counters of the chain");
}

static void addresses(void **state) {
  (void)state;
  CASE(sampleMatmul, LOAD.access.base = 1,
       "output 0: address out of range: addresses 1 to 16384 leave the symbol of 16384 elements");
  CASE(sampleMatmul, LOAD.access.base = -1, "addresses -1 to 16382 leave the symbol");
  CASE(sampleMatmul, LOAD.access.strides = SET(INT64_MAX, 1, 0, 0), "the addresses leave 64 bits");
  CASE(sampleMatmul, LOAD.access.fill = 0x10000, "fill 0x10000 does not fit in bf16");
  CASE(sampleGather, TABLE.access.guard_count = 65, "65 guards, expected at most 64");
  CASE(sampleGather,
       TABLE.access.guards =
           LIST(&arena, SambaGuard, {INT64_MAX, 20, TABLE.access.guards[0].strides}),
       "the expression of guard 0 leaves 64 bits");

  /* What guards leave open is left to the run: no error. */
  SambaArena arena = {0};
  SambaSection *s = sampleGather(&arena);
  s->units[4].inputs[0].access.base = 1000;
  assert_null(sambaSectionCheck(s));
  assert_false(sambaAccessStaysWithin(&s->units[4].inputs[0].access, 240));
  s->units[4].inputs[0].access.base = 0;
  assert_true(sambaAccessStaysWithin(&s->units[4].inputs[0].access, 240));
  assert_false(sambaAccessStaysWithin(&s->units[4].inputs[0].access, 239));
  assert_true(sambaAccessStaysWithin(&TABLE.access, 180)); /* 8 * 20 + 19 */
  assert_false(sambaAccessStaysWithin(&TABLE.access, 179));
  sambaArenaDestroy(&arena);
}

static void indices(void **state) {
  (void)state;
  CASE(sampleMatmul, BUFFER.inputs[0].access.has_index = true,
       "has_index, but only a load or a store takes an index stream");
  CASE(sampleMatmul, LOAD.access.has_index = true,
       "has_index, but there is no input 0 to take the index stream");
  CASE(sampleGather, TABLE.access.index_counters = 2,
       "index_counters is 2, expected at most the 1 counters inside a token");
  CASE(sampleGather, TABLE.access.index_limit = 0, "index_limit is 0, expected at least 1");
  CASE(sampleGather, s->units[1].inputs[0].dtype = SAMBA_DTYPE_F32,
       "the index stream at input 0 is f32, expected an integer type");
  CASE(sampleGather, TABLE.access.index_counters = 1,
       "the index stream at input 0 has tokens of 1 elements, expected 16: the product of the 1 "
       "counters it spans");
  CASE(sampleGather, TABLE.access.index_limit = INT64_MAX,
       "the addresses with the index added leave 64 bits");
}

/* The sample's buffer of one port each way, read as it is written, and used again in place. */
static void inPlace(void **state) {
  (void)state;
#define IN_PLACE(change)                                                                           \
  (BUFFER.buffer.in_place = true, BUFFER.outputs[0].access = BUFFER.inputs[0].access,              \
   BUFFER.outputs[0].token_elements = BUFFER.inputs[0].token_elements, (change))
  CASE(sampleMatmul,
       IN_PLACE((BUFFER.inputs[0].access.guards = LIST(
                     &arena, SambaGuard, {.limit = 1, .strides = LIST(&arena, int64_t, 0, 0, 0)}),
                 BUFFER.inputs[0].access.guard_count = 1)),
       "input 0: 1 guards, expected none: the buffer is in place");
  CASE(sampleMatmul,
       IN_PLACE((BUFFER.outputs[0].access.strides = LIST(&arena, int64_t, -1, 64, 1),
                 BUFFER.outputs[0].access.base = 7, BUFFER.buffer.slot_elements = 8192)),
       "output 0: counter 0 steps slots and has stride -1, expected 0: the buffer is in place");
  CASE(sampleMatmul, IN_PLACE(BUFFER.outputs[0].access.strides = LIST(&arena, int64_t, 0, 1, 64)),
       "output 0: walks a slot otherwise than input 0, expected the same elements in the same "
       "order and tokens: the buffer is in place");
  CASE(sampleMatmul,
       IN_PLACE(BUFFER.inputs[0].access.strides = BUFFER.outputs[0].access.strides =
                    LIST(&arena, int64_t, 0, 0, 1)),
       "input 0: comes to an element of a slot twice, expected once: the buffer is in place");
}

/* Two writers cannot both follow the reads. */
static void inPlaceByOneWriter(void **state) {
  (void)state;
  CASE(sampleMatmul,
       IN_PLACE((BUFFER.inputs =
                     (SambaPort *)LIST(&arena, SambaPort, BUFFER.inputs[0], BUFFER.inputs[0]),
                 BUFFER.input_count = 2)),
       "2 inputs, expected one: the buffer is in place");
}

static void buffers(void **state) {
  (void)state;
  CASE(sampleMatmul, BUFFER.buffer.slot_count = 0, "slot_count is 0, expected at least 1");
  CASE(sampleMatmul, BUFFER.buffer.slot_elements = 0,
       "slot_elements is 0, expected 1 to 17592186044416");
  CASE(sampleMatmul, BUFFER.buffer.slot_elements = 8191,
       "input 0: addresses 0 to 8191 can leave the slot of 8191 elements");
  CASE(sampleMatmul, s->units[3].buffer.banking = SAMBA_BANKING_COUNT,
       "banking number 3 is undefined");
  CASE(sampleMatmul, s->units[3].buffer.row_words = 4,
       "row_words is 4, expected 0: its banking is column");
  CASE(sampleMatmul, s->units[3].buffer.banking = SAMBA_BANKING_ROW,
       "row_words is 0, expected at least 1: its banking is row");
  CASE(sampleMatmul, s->units[3].buffer.skew = 1, "skew is 1, expected 0: its banking is column");
  CASE(sampleMatmul,
       (s->units[3].buffer.banking = SAMBA_BANKING_DIAGONAL, s->units[3].buffer.row_words = 8),
       "skew is 0, expected at least 1: its banking is diagonal");
  CASE(sampleMatmul, BUFFER.buffer.initial = 0x12345, "initial 0x12345 does not fit in bf16");
  CASE(sampleMatmul, BUFFER.outputs[0].dtype = SAMBA_DTYPE_F16,
       "output 0: element type f16, expected bf16 like input 0: the slots hold one type");
  CASE(sampleMatmul, BUFFER.outputs[0].access.trips = TRIPS(2, 4, 4, 2, 64, 16),
       "output 0: visits 2 slots, expected 4 like input 0");
}

static void streams(void **state) {
  (void)state;
  CASE(sampleMatmul, s->streams[1].kind = 3, "stream 1: kind 3 is undefined");
  CASE(sampleMatmul, s->streams[1].destination_count = 0, "stream 1: no destination");
  CASE(sampleMatmul, s->streams[1].source.unit = 9,
       "stream 1: its source is unit 9, the section has 6 units");
  CASE(sampleMatmul, s->streams[1].source.port = 1,
       "stream 1: its source is output 1 of unit 'bt', which has 1");
  CASE(sampleMatmul, s->streams[1].destinations = LIST(&arena, SambaEndpoint, {3, 4}),
       "stream 1: its destination is input 4 of unit 'bb', which has 1");
  CASE(sampleMatmul, LOAD.streams = TRIPS(5),
       "unit 'at' output 0: stream 5 does not exist, the section has 5 streams");
  CASE(sampleGather, s->streams[2].kind = SAMBA_STREAM_SCALAR,
       "unit 'table' output 0: streams 1 and 2 are of different kinds, expected one kind per port");
  CASE(sampleMatmul, (s->units[3].inputs[0].streams = TRIPS(2)),
       "stream 1 has unit 'bb' input 0 as its destination, but that port does not list it");
  CASE(sampleMatmul, LOAD.streams = TRIPS(1),
       "stream 0 has unit 'at' output 0 as its source, but that port does not list it");
  CASE(sampleMatmul,
       (s->units[1].outputs[0].stream_count = 2, s->units[1].outputs[0].streams = TRIPS(0, 1)),
       "unit 'bt' output 0 lists stream 0, which has another source");
  CASE(sampleMatmul,
       (s->units[3].inputs[0].stream_count = 2, s->units[3].inputs[0].streams = TRIPS(0, 1)),
       "unit 'bb' input 0 lists stream 0, which does not have it as a destination");
  CASE(sampleMatmul, (LOAD.stream_count = 2, LOAD.streams = TRIPS(0, 0)),
       "unit 'at' output 0 meets stream 0 twice, expected once");
  CASE(sampleMatmul,
       (s->streams[0].destination_count = 2,
        s->streams[0].destinations = LIST(&arena, SambaEndpoint, {2, 0}, {2, 0})),
       "unit 'ab' input 0 meets stream 0 twice, expected once");
  CASE(sampleMatmul, (s->symbols[0].dtype = LOAD.dtype = SAMBA_DTYPE_F16),
       "stream 0: unit 'at' output 0 sends f16, unit 'ab' input 0 takes bf16");
  CASE(sampleMatmul, (LOAD.token_elements = 2048, LOAD.access.trips = TRIPS(2, 2, 32, 64)),
       "stream 0: unit 'at' output 0 sends tokens of 2048 elements, unit 'ab' input 0 takes tokens "
       "of 8192");
  CASE(sampleMatmul, s->streams[0].kind = SAMBA_STREAM_CONTROL,
       "stream 0: kind control with tokens of 8192 elements, expected a control stream exactly "
       "when tokens are empty");
  CASE(sampleMatmul, LOAD.access.trips = TRIPS(2, 1, 64, 128),
       "stream 0: unit 'at' output 0 sends 2 tokens, unit 'ab' input 0 takes 4");

  /* 24 tokens over two streams in blocks of 5: 14 and 10. */
  CASE(sampleGather, TABLE.block = 5,
       "stream 1: unit 'table' output 0 sends 14 tokens, unit 'even' input 0 takes 12");
}

/* Blocks of 5 over three streams, 37 tokens: two full rounds, then 5 and 2. */
static void tokensAreDealtInBlocks(void **state) {
  (void)state;
  SambaPort port = {.stream_count = 3, .block = 5};
  assert_int_equal(sambaPortStreamTokens(&port, 37, 0), 15);
  assert_int_equal(sambaPortStreamTokens(&port, 37, 1), 12);
  assert_int_equal(sambaPortStreamTokens(&port, 37, 2), 10);
  assert_int_equal(sambaPortStreamTokens(&port, 3, 1), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samplesPass), cmocka_unit_test(symbolsAndUnits),
      cmocka_unit_test(chains),      cmocka_unit_test(addresses),
      cmocka_unit_test(indices),     cmocka_unit_test(buffers),
      cmocka_unit_test(inPlace),     cmocka_unit_test(inPlaceByOneWriter),
      cmocka_unit_test(streams),     cmocka_unit_test(tokensAreDealtInBlocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
