/* Struct -> IR -> struct keeps every field: a section that uses all of them, and each lane
 * operation in each type. */
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/samba.h"
#include "same_section.h"
#include "test/dialect/context.h"

#include <stdlib.h>

static void roundTrip(const SambaSection *section) {
  SambaArena arena = {0};
  SambaSection *again = NULL;
  MlirOperation op =
      sambaSectionToIr(section, mlirAttributeGetNull(), mlirLocationUnknownGet(context));
  SambaStatus status = sambaSectionFromIr(op, &arena, &again, NULL);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  assertSameSection(section, again);
  mlirOperationDestroy(op);
  sambaArenaDestroy(&arena);
}

/*===-- Everything at once --------------------------------------------------------------------===*/

/* Streams: 0 rows (scalar) load 0 -> load 1; 1, 2 data load 1 -> compute 3, both into one port
 * (merge); 3 compute -> buffer and store (multicast); 4 buffer -> compute (a cycle); 5 control
 * store -> load 0. In IR's own order.
 *
 * Long: the section is one nest of initializers, in which each field has a value. */
static void everyField(void **state) {
  (void)state;
  static const uint32_t s0[] = {0};
  static const uint32_t s12[] = {1, 2};
  static const uint32_t s3[] = {3};
  static const uint32_t s4[] = {4};
  static const uint32_t s5[] = {5};
  static const uint32_t rowTrips[] = {6};
  static const uint32_t dataTrips[] = {6, 2, 4};
  static const uint32_t slotTrips[] = {3, 2, 8};
  static const uint32_t outTrips[] = {3, 8};
  static const int64_t rowStrides[] = {1};
  static const int64_t dataStrides[] = {0, -4, 1};
  static const int64_t slotStrides[] = {0, 8, 1};
  static const int64_t outStrides[] = {8, 1};
  static const int64_t guardA[] = {0, 1, 0};
  static const int64_t guardB[] = {1, 0, -1};
  static const int64_t laneA[] = {0, 0, 2, 1};
  static const int64_t laneB[] = {0, 0, 0, 1};
  static const int64_t laneOut[] = {0, 0, 4, 1};
  static const uint32_t trips[] = {3, 2, 2, 4};
  SambaGuard guards[] = {{-1, 1, guardA}, {5, 1 << 20, guardB}};
  SambaPort rowsOut = {.dtype = SAMBA_DTYPE_I64,
                       .stream_count = 1,
                       .streams = s0,
                       .block = 1,
                       .token_elements = 1,
                       .access = {.counter_count = 1,
                                  .trips = rowTrips,
                                  .token_level = 1,
                                  .base = 3,
                                  .strides = rowStrides}};
  SambaPort controlIn = {.dtype = SAMBA_DTYPE_F32, .stream_count = 1, .streams = s5, .block = 1};
  SambaPort indexIn = {
      .dtype = SAMBA_DTYPE_I64, .stream_count = 1, .streams = s0, .block = 1, .token_elements = 1};
  SambaPort dataOut = {.dtype = SAMBA_DTYPE_BF16,
                       .stream_count = 2,
                       .streams = s12,
                       .block = 3,
                       .token_elements = 8,
                       .access = {.counter_count = 3,
                                  .trips = dataTrips,
                                  .token_level = 1,
                                  .base = -7,
                                  .strides = dataStrides,
                                  .guard_count = 2,
                                  .guards = guards,
                                  .fill = 0xff80,
                                  .has_index = true,
                                  .index_counters = 1,
                                  .index_stride = 64,
                                  .index_limit = 1000}};
  SambaPort dataIn = {.dtype = SAMBA_DTYPE_BF16,
                      .stream_count = 2,
                      .streams = s12,
                      .block = 3,
                      .token_elements = 8,
                      .compute.level = 2,
                      .compute.strides = laneA};
  SambaPort stateIn = {.dtype = SAMBA_DTYPE_BF16,
                       .stream_count = 1,
                       .streams = s4,
                       .block = 1,
                       .token_elements = 8,
                       .compute.level = 1,
                       .compute.strides = laneB};
  SambaPort sumOut = {.dtype = SAMBA_DTYPE_BF16,
                      .stream_count = 1,
                      .streams = s3,
                      .block = 2,
                      .token_elements = 8,
                      .compute.level = 1,
                      .compute.strides = laneOut,
                      .compute.value = 3};
  SambaPort slotIn = {.dtype = SAMBA_DTYPE_BF16,
                      .stream_count = 1,
                      .streams = s3,
                      .block = 2,
                      .token_elements = 8,
                      .access = {.counter_count = 3,
                                 .trips = slotTrips,
                                 .slot_level = 1,
                                 .token_level = 2,
                                 .strides = slotStrides}};
  SambaPort slotOut = slotIn;
  SambaPort storeIn = {
      .dtype = SAMBA_DTYPE_BF16,
      .stream_count = 1,
      .streams = s3,
      .block = 1,
      .token_elements = 8,
      .access = {.counter_count = 2, .trips = outTrips, .token_level = 1, .strides = outStrides}};
  slotOut.streams = s4, slotOut.block = 1;
  SambaPort controlOut = {.dtype = SAMBA_DTYPE_F32, .stream_count = 1, .streams = s5, .block = 1};
  SambaLaneOp ops[] = {{.opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0}},
                       {.opcode = SAMBA_LANE_TO_BF16, .type = SAMBA_DTYPE_F32, .operands = {2}}};
  SambaPort rowsOuts[] = {rowsOut};
  SambaPort rowsIns[] = {controlIn};
  SambaPort dataIns[] = {indexIn};
  SambaPort dataOuts[] = {dataOut};
  SambaPort sumIns[] = {dataIn, stateIn};
  SambaPort sumOuts[] = {sumOut};
  SambaPort slotIns[] = {slotIn};
  SambaPort slotOuts[] = {slotOut};
  SambaPort storeIns[] = {storeIn};
  SambaPort storeOuts[] = {controlOut};
  SambaUnit units[] = {
      {.kind = SAMBA_UNIT_LOAD,
       .name = "rows",
       .layer = "",
       .x = -1,
       .y = -1,
       .load_store.ag = 0,
       .input_count = 1,
       .output_count = 1,
       .inputs = rowsIns,
       .outputs = rowsOuts,
       .load_store.symbol = 1},
      {.kind = SAMBA_UNIT_LOAD,
       .name = "data",
       .layer = "a.b",
       .x = -1,
       .y = -1,
       .load_store.ag = 79,
       .input_count = 1,
       .output_count = 1,
       .inputs = dataIns,
       .outputs = dataOuts},
      {.kind = SAMBA_UNIT_COMPUTE,
       .name = "sum",
       .layer = "lay\"er",
       .x = 3,
       .y = 0,
       .input_count = 2,
       .output_count = 1,
       .inputs = sumIns,
       .outputs = sumOuts,
       .compute.counter_count = 4,
       .compute.trips = trips,
       .compute.token_level = 2,
       .compute.program =
           {.systolic = true, .lane_reduce = true, .op_count = 2, .ops = ops, .reduce_mask = 10}},
      {.kind = SAMBA_UNIT_BUFFER,
       .name = "state",
       .layer = "",
       .x = 0,
       .y = 7,
       .input_count = 1,
       .output_count = 1,
       .inputs = slotIns,
       .outputs = slotOuts,
       .buffer.slot_count = 3,
       .buffer.slot_elements = 16,
       .buffer.banking = SAMBA_BANKING_DIAGONAL,
       .buffer.row_words = 16,
       .buffer.skew = 1,
       .buffer.loop_carried = true,
       .buffer.initial = 0x8000},
      {.kind = SAMBA_UNIT_STORE,
       .name = "out",
       .layer = "",
       .x = -1,
       .y = -1,
       .load_store.ag = SAMBA_NO_INDEX,
       .input_count = 1,
       .output_count = 1,
       .inputs = storeIns,
       .outputs = storeOuts,
       .load_store.symbol = 2}};
  SambaEndpoint d0[] = {{1, 0}};
  SambaEndpoint d1[] = {{2, 0}};
  SambaEndpoint d3[] = {{3, 0}, {4, 0}};
  SambaEndpoint d4[] = {{2, 1}};
  SambaEndpoint d5[] = {{0, 0}};
  SambaHop hops[] = {
      {.x = 51,
       .y = 39,
       .in = {SAMBA_SWITCH_AG, 0, 65535, 79},
       .out = {SAMBA_SWITCH_NORTH, 1, 0, 0}},
      {.x = 0, .y = 0, .in = {SAMBA_SWITCH_SOUTH, 1, 0, 0}, .out = {SAMBA_SWITCH_UNIT, 3, 12, 0}}};
  SambaStream streams[] = {
      {.kind = SAMBA_STREAM_SCALAR, .source = {0, 0}, .destination_count = 1, .destinations = d0},
      {.kind = SAMBA_STREAM_VECTOR,
       .source = {1, 0},
       .destination_count = 1,
       .destinations = d1,
       .hop_count = 2,
       .hops = hops},
      {.kind = SAMBA_STREAM_VECTOR, .source = {1, 0}, .destination_count = 1, .destinations = d1},
      {.kind = SAMBA_STREAM_VECTOR, .source = {2, 0}, .destination_count = 2, .destinations = d3},
      {.kind = SAMBA_STREAM_VECTOR, .source = {3, 0}, .destination_count = 1, .destinations = d4},
      {.kind = SAMBA_STREAM_CONTROL, .source = {4, 0}, .destination_count = 1, .destinations = d5}};
  SambaFormal symbols[] = {{"w", SAMBA_DTYPE_BF16, 4096, false},
                           {"rows", SAMBA_DTYPE_I64, 9, false},
                           {"y", SAMBA_DTYPE_BF16, 24, true}};
  SambaSection section = {.name = "every",
                          .symbol_count = 3,
                          .unit_count = 5,
                          .stream_count = 6,
                          .symbols = symbols,
                          .units = units,
                          .streams = streams,
                          .split_k = true};
  roundTrip(&section);
}

/*===-- Each lane operation -------------------------------------------------------------------===*/

/* A unit with one input of each lane class and a program of one operation.
 *
 * Long: the section is one nest of initializers. */
static void oneOperation(SambaLaneOp op) {
  static const uint32_t ids[] = {0, 1, 2, 3, 4};
  static const uint32_t trips[] = {2, 4};
  static const SambaDType classes[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_I32, SAMBA_DTYPE_I64,
                                       SAMBA_DTYPE_I1};
  static const int64_t strides[] = {0, 1};
  SambaPort ins[4], outs[1], made[4];
  SambaUnit units[5];
  SambaStream streams[5];
  SambaEndpoint ends[5];
  const bool compares = op.opcode >= SAMBA_LANE_EQ && op.opcode <= SAMBA_LANE_GE;
  SambaDType result = compares ? SAMBA_DTYPE_I1 : (SambaDType)op.type;
  if (op.opcode == SAMBA_LANE_INT_TO_FLOAT)
    result = SAMBA_DTYPE_F32;

  for (uint32_t i = 0; i < 4; ++i) {
    SambaPort port = {.dtype = classes[i],
                      .stream_count = 1,
                      .streams = &ids[i],
                      .block = 1,
                      .token_elements = 4};
    ins[i] = port;
    made[i] = port;
    ins[i].compute.level = 1;
    ins[i].compute.strides = strides;
    made[i].access =
        (SambaAccess){.counter_count = 2, .trips = trips, .token_level = 1, .strides = strides};
    units[i] = (SambaUnit){.kind = SAMBA_UNIT_LOAD,
                           .name = "load",
                           .layer = "",
                           .x = -1,
                           .y = -1,
                           .load_store.ag = SAMBA_NO_INDEX,
                           .output_count = 1,
                           .outputs = &made[i],
                           .load_store.symbol = i};
    ends[i] = (SambaEndpoint){4, i};
    streams[i] = (SambaStream){.source = {i, 0}, .destination_count = 1, .destinations = &ends[i]};
  }

  outs[0] = (SambaPort){.dtype = result,
                        .stream_count = 1,
                        .streams = &ids[4],
                        .block = 1,
                        .token_elements = 4,
                        .compute.level = 1,
                        .compute.strides = strides,
                        .compute.value = 4};
  units[4] = (SambaUnit){.kind = SAMBA_UNIT_COMPUTE,
                         .name = "op",
                         .layer = "",
                         .x = -1,
                         .y = -1,
                         .input_count = 4,
                         .output_count = 1,
                         .inputs = ins,
                         .outputs = outs,
                         .compute.counter_count = 2,
                         .compute.trips = trips,
                         .compute.token_level = 1,
                         .compute.program = {.op_count = 1, .ops = &op}};
  streams[4] = (SambaStream){.source = {4, 0}, .destination_count = 0};
  SambaFormal symbols[4];
  for (int i = 0; i < 4; ++i)
    symbols[i] = (SambaFormal){"s", classes[i], 4, false};
  SambaSection section = {.name = "op",
                          .symbol_count = 4,
                          .unit_count = 5,
                          .stream_count = 5,
                          .symbols = symbols,
                          .units = units,
                          .streams = streams};
  roundTrip(&section);
}

static uint16_t inputOf(SambaDType type) {
  switch (type) {
  case SAMBA_DTYPE_F32:
    return 0;
  case SAMBA_DTYPE_I32:
    return 1;
  case SAMBA_DTYPE_I64:
    return 2;
  default:
    return 3;
  }
}

/* Which lane classes an opcode is defined on (docs/execution-model.md): f float, i
 * integers, b i1. */
static const char *classesOf(uint8_t opcode) {
  switch (opcode) {
  case SAMBA_LANE_CONSTANT:
  case SAMBA_LANE_MOVE:
  case SAMBA_LANE_EQ:
  case SAMBA_LANE_NE:
  case SAMBA_LANE_SELECT:
  case SAMBA_LANE_ARGIN:
    return "fib";
  case SAMBA_LANE_ADD:
  case SAMBA_LANE_SUB:
  case SAMBA_LANE_MUL:
  case SAMBA_LANE_DIV:
  case SAMBA_LANE_REM:
  case SAMBA_LANE_NEG:
  case SAMBA_LANE_ABS:
  case SAMBA_LANE_MIN:
  case SAMBA_LANE_MAX:
  case SAMBA_LANE_LT:
  case SAMBA_LANE_LE:
  case SAMBA_LANE_GT:
  case SAMBA_LANE_GE:
  case SAMBA_LANE_REDUCE_ADD:
  case SAMBA_LANE_REDUCE_MUL:
  case SAMBA_LANE_REDUCE_MIN:
  case SAMBA_LANE_REDUCE_MAX:
  case SAMBA_LANE_MAC:
  case SAMBA_LANE_MAC_ON:
    return "fi";
  case SAMBA_LANE_AND:
  case SAMBA_LANE_OR:
  case SAMBA_LANE_XOR:
  case SAMBA_LANE_REDUCE_AND:
  case SAMBA_LANE_REDUCE_OR:
  case SAMBA_LANE_INT_TO_FLOAT:
    return "ib";
  case SAMBA_LANE_SHL:
  case SAMBA_LANE_SHRA:
  case SAMBA_LANE_SHRL:
  case SAMBA_LANE_COUNTER:
  case SAMBA_LANE_FLOAT_TO_INT:
    return "i";
  case SAMBA_LANE_INT_RESIZE:
    return "ib";
  case SAMBA_LANE_WRAP:
    return "w";
  default:
    return "f";
  }
}

static void everyLaneOperation(void **state) {
  (void)state;
  static const uint8_t opcodes[] = {
#define X(enumerator, value, name, operands, class) value,
#include "backend/section/lane_ops.def"
#undef X
  };
  static const struct {
    SambaDType type;
    char class;
  } types[] = {{SAMBA_DTYPE_F32, 'f'},
               {SAMBA_DTYPE_I32, 'i'},
               {SAMBA_DTYPE_I64, 'i'},
               {SAMBA_DTYPE_I1, 'b'},
               {SAMBA_DTYPE_I32, 'w'}};
  for (size_t i = 0; i < sizeof opcodes; ++i)
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
      if (!strchr(classesOf(opcodes[i]), types[t].class))
        continue;
      uint16_t in = inputOf(types[t].type);
      SambaLaneOp op = {.opcode = opcodes[i], .type = (uint8_t)types[t].type};
      for (int k = 0; k < sambaLaneOpOperands(op.opcode); ++k)
        op.operands[k] = in;
      if (op.opcode == SAMBA_LANE_SELECT)
        op.operands[0] = 3;
      if (op.opcode == SAMBA_LANE_FLOAT_TO_INT)
        op.operands[0] = 0;
      if (op.opcode == SAMBA_LANE_INT_RESIZE)
        op.operands[0] = op.type == SAMBA_DTYPE_I64 ? 1 : 2;
      if (op.opcode == SAMBA_LANE_CONSTANT)
        op.immediate = op.type == SAMBA_DTYPE_F32 ? 0x80000000u : 1;
      if (op.opcode == SAMBA_LANE_WRAP)
        op.immediate = SAMBA_DTYPE_UI8;
      if (op.opcode == SAMBA_LANE_COUNTER || op.opcode == SAMBA_LANE_ARGIN)
        op.immediate = 1;
      oneOperation(op);
    }
}

/* Constants that a double cannot carry, or that print shortened. */
static void oddConstants(void **state) {
  (void)state;
  static const uint32_t bits[] = {0x7fc00000, 0x7fc12345, 0xffc00001, 0x7f800001,
                                  0x7f800000, 0xff800000, 1,          0x3dcccccd};
  for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
    oneOperation((SambaLaneOp){
        .opcode = SAMBA_LANE_CONSTANT, .type = SAMBA_DTYPE_F32, .immediate = bits[i]});
  oneOperation((SambaLaneOp){
      .opcode = SAMBA_LANE_CONSTANT, .type = SAMBA_DTYPE_I32, .immediate = 0xfffffffe});
  oneOperation((SambaLaneOp){
      .opcode = SAMBA_LANE_CONSTANT, .type = SAMBA_DTYPE_I64, .immediate = UINT64_MAX});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyField),
                                     cmocka_unit_test(everyLaneOperation),
                                     cmocka_unit_test(oddConstants)};
  return cmocka_run_group_tests(tests, start, stop);
}
