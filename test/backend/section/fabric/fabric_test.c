/* backend/section/fabric/fabric.h, recover_streams.h, machine_check.h: placement, recovery of
 * streams, every way it refuses. */
#include "backend/section/check/machine_check.h"
#include "backend/section/fabric/recover_streams.h"
#include "test/backend/section/check/check_case.h"

typedef struct Fabric {
  SambaArena arena;
  SambaSection *section;
  SambaFabric fabric;
} Fabric;

static void collect(Fabric *fabric) {
  *fabric = (Fabric){0};
  fabric->section = sampleMatmul(&fabric->arena);
  assert_null(
      sambaFabricCollect(fabric->section, sampleMachine(), &fabric->arena, &fabric->fabric));
}

static SambaStatus recover(Fabric *fabric, SambaRecoveredStream **streams, uint32_t *count) {
  return sambaStreamsRecover(sampleMachine(), fabric->section->units, fabric->section->unit_count,
                             &fabric->fabric, &fabric->arena, streams, count);
}

static void streamsComeBack(void **state) {
  (void)state;
  Fabric fabric;
  collect(&fabric);
  SambaRecoveredStream *streams;
  uint32_t count;

  assert_null(recover(&fabric, &streams, &count));
  assert_int_equal(count, fabric.section->stream_count);
  for (uint32_t i = 0; i < count; ++i) { /* the sample's streams are in canonical order */
    const SambaStream *asked = &fabric.section->streams[i];
    assert_int_equal(streams[i].kind, asked->kind);
    assert_memory_equal(&streams[i].source, &asked->source, sizeof asked->source);
    assert_int_equal(streams[i].destination_count, 1);
    assert_memory_equal(&streams[i].destinations[0], &asked->destinations[0], sizeof asked->source);
    assert_int_equal(streams[i].hop_count, asked->hop_count);
    const SambaFlowEnd *end = &fabric.fabric.ends[streams[i].destination_ends[0]];
    assert_int_equal(end->unit, asked->destinations[0].unit);
    assert_false(end->output);
  }

  sambaArenaDestroy(&fabric.arena);
}

/* The sample on an ideal network: its wires are its streams' indices. */
static void collectIdeal(Fabric *fabric, SambaMachine *out_machine) {
  *fabric = (Fabric){0};
  *out_machine = *sampleMachine();
  out_machine->network = SAMBA_NETWORK_IDEAL;
  fabric->section = sampleMatmul(&fabric->arena);
  for (uint32_t s = 0; s < fabric->section->stream_count; ++s)
    fabric->section->streams[s].hop_count = 0;
  assert_null(sambaFabricCollect(fabric->section, out_machine, &fabric->arena, &fabric->fabric));
}

static SambaFlowEnd *findWire(Fabric *fabric, uint32_t wire, bool output) {
  for (uint32_t i = 0; i < fabric->fabric.end_count; ++i)
    if (fabric->fabric.ends[i].flow == wire && fabric->fabric.ends[i].output == output)
      return &fabric->fabric.ends[i];
  fail_msg("no such end");
  return NULL;
}

static void wiresJoinPorts(void **state) {
  (void)state;
  Fabric f;
  SambaMachine machine;
  SambaRecoveredStream *streams;
  uint32_t count;
#define WIRES()                                                                                    \
  sambaStreamsRecover(&machine, f.section->units, f.section->unit_count, &f.fabric, &f.arena,      \
                      &streams, &count)
  collectIdeal(&f, &machine);
  assert_int_equal(f.fabric.entry_count, 0);
  assert_null(WIRES());
  assert_int_equal(count, f.section->stream_count);
  for (uint32_t i = 0; i < count; ++i) {
    assert_memory_equal(&streams[i].source, &f.section->streams[i].source, sizeof(SambaEndpoint));
    assert_int_equal(streams[i].destination_count, 1);
    assert_memory_equal(&streams[i].destinations[0], &f.section->streams[i].destinations[0],
                        sizeof(SambaEndpoint));
    assert_int_equal(streams[i].hop_count, 0);
  }

  findWire(&f, 2, false)->flow = 9;
  assertMessage(WIRES(), "unit 'ab' output 0: nothing takes vector wire 2");
  findWire(&f, 2, true)->flow = 3;
  assertMessage(WIRES(), "units 'ab' and 'bb' both drive vector wire 3");
  findWire(&f, 3, true)->flow = 2;
  assertMessage(WIRES(), "nothing takes vector wire 2");
  findWire(&f, 3, false)->flow = 2;
  findWire(&f, 3, true)->flow = 9;
  assert_null(WIRES());
  findWire(&f, 4, true)->flow = 5000;
  assertMessage(WIRES(), "flow 5000 does not exist: a unit has 2 such lanes of 4096 flows");
  findWire(&f, 5000, true)->flow = 5;
  assertMessage(WIRES(), "unit 'cs' input 0: nothing feeds vector wire 4");
  sambaArenaDestroy(&f.arena);
#undef WIRES
}

/* A port that deals its tokens out to more streams than there are wires. */
static void wiresAreCounted(void **state) {
  (void)state;
  Fabric f;
  SambaMachine machine;
  collectIdeal(&f, &machine);
  uint32_t *streams = SAMBA_ARENA_ARRAY(&f.arena, uint32_t, SAMBA_IDEAL_WIRES);
  f.section->units[0].outputs[0].streams = streams;
  f.section->units[0].outputs[0].stream_count = SAMBA_IDEAL_WIRES;
  assertMessage(sambaFabricCollect(f.section, &machine, &f.arena, &f.fabric),
                "has 4100 vector streams, but an ideal network has wires for 4096 of a kind");
  sambaArenaDestroy(&f.arena);
}

/* The entry that takes a flow from a side; the sample's flow ids are its stream indices. */
static SambaSwitchEntry *find(Fabric *fabric, uint32_t flow, uint8_t in_port) {
  for (uint32_t i = 0; i < fabric->fabric.entry_count; ++i)
    if (fabric->fabric.entries[i].in.flow == flow && fabric->fabric.entries[i].in.port == in_port)
      return &fabric->fabric.entries[i];
  fail_msg("no such entry");
  return NULL;
}

static void addEntry(Fabric *fabric, int32_t x, int32_t y, uint8_t in_port, uint16_t in_flow,
                     uint8_t out_port, uint16_t out_flow) {
  uint32_t count = fabric->fabric.entry_count++;
  SambaSwitchEntry *entries = SAMBA_ARENA_ARRAY(&fabric->arena, SambaSwitchEntry, count + 1);
  memcpy(entries, fabric->fabric.entries, count * sizeof *entries);
  entries[count] = (SambaSwitchEntry){
      x, y, SAMBA_STREAM_VECTOR, {in_port, 0, in_flow, 0}, {out_port, 0, out_flow, 0}};
  fabric->fabric.entries = entries;
}

static void addEnd(Fabric *fabric, SambaFlowEnd end) {
  uint32_t count = fabric->fabric.end_count++;
  SambaFlowEnd *ends = SAMBA_ARENA_ARRAY(&fabric->arena, SambaFlowEnd, count + 1);
  memcpy(ends, fabric->fabric.ends, count * sizeof *ends);
  ends[count] = end;
  fabric->fabric.ends = ends;
}

#define REFUSED(change, text)                                                                      \
  do {                                                                                             \
    Fabric f;                                                                                      \
    collect(&f);                                                                                   \
    SambaRecoveredStream *streams;                                                                 \
    uint32_t count;                                                                                \
    change;                                                                                        \
    assertMessage(recover(&f, &streams, &count), text);                                            \
    sambaArenaDestroy(&f.arena);                                                                   \
  } while (0)
#define AG_ENTRY find(&f, 0, SAMBA_SWITCH_AG) /* AG 0 -> unit `ab`, both at (1, 0) */

static void impossibleEntriesAreRefused(void **state) {
  (void)state;
  REFUSED(AG_ENTRY->x = 9, "switch (9, 0) is outside the grid of 4 x 4 switches");
  REFUSED(AG_ENTRY->kind = 5, "switch (1, 0): stream kind 5 is undefined, expected 0 to 2");
  REFUSED(AG_ENTRY->out.port = 6,
          "vector invalid lane 0 flow 0 does not exist: this port has 0 lanes of 32 flows");
  REFUSED(AG_ENTRY->out.lane = 4,
          "switch (1, 0): vector unit lane 4 flow 0 does not exist: this port has 4 lanes");
  REFUSED(AG_ENTRY->out.flow = 32, "vector unit lane 0 flow 32 does not exist");
  REFUSED(AG_ENTRY->out.ag = 1, "a lane of port unit names address generator 1, expected 0");
  REFUSED(AG_ENTRY->in.ag = 3, "switch (1, 0): address generator 3 enters the network at switch "
                               "(3, 3), the edge of tile 0, and nowhere else");
  REFUSED(AG_ENTRY->in.ag = 4000, "switch (1, 0): address generator is 4000, expected 0 to 3");
  REFUSED(f.fabric.ends[0].lane = 2, "unit 'at' output 0: vector lane 2 flow 0 does not exist: a "
                                     "unit has 2 such lanes of 32 flows");
  REFUSED(addEnd(&f, ((SambaFlowEnd){4, 0, false, SAMBA_STREAM_VECTOR, 1, 3})),
          "unit 'ct': input ports 1 and 0 both use vector lane 1 flow 3");
}

static void flowsMustArrive(void **state) {
  (void)state;
  REFUSED(AG_ENTRY->in.flow = 9,
          "unit 'at' output 0: switch (1, 0): the flow at vector ag lane 0 flow 0 ends nowhere: no "
          "entry of the switch takes it");
  REFUSED(
      AG_ENTRY->out.lane = 1,
      "switch (1, 0): the flow to vector unit lane 1 flow 0 ends nowhere: no unit input takes it");
  REFUSED((AG_ENTRY->out.port = SAMBA_SWITCH_NORTH),
          "switch (1, 0): the flow to vector north lane 0 flow 0 ends nowhere: it leaves the grid");
  REFUSED(addEnd(&f, ((SambaFlowEnd){4, 1, false, SAMBA_STREAM_VECTOR, 2, 7})),
          "unit 'ct' input 1: nothing feeds vector lane 2 flow 7");
  REFUSED(addEntry(&f, 0, 0, SAMBA_SWITCH_EAST, 5, SAMBA_SWITCH_SOUTH, 5),
          "switch (0, 0): no flow reaches the entry for vector east lane 0 flow 5");
}

static void loopsAndCollisionsAreRefused(void **state) {
  (void)state;
  /* Stream 2 goes from ab (1, 0) south to ct (1, 1); also back north, and south again. */
  REFUSED(
      (addEntry(&f, 1, 1, SAMBA_SWITCH_NORTH, 2, SAMBA_SWITCH_NORTH, 2),
       addEntry(&f, 1, 0, SAMBA_SWITCH_SOUTH, 2, SAMBA_SWITCH_SOUTH, 2)),
      "switch (1, 1): the flow at vector north lane 0 flow 2 comes back to where it was: a loop");
  /* Stream 1 passes (2, 1) on its way into bb; also west, onto the flow with which bb's stream 3
   * goes to ct. */
  REFUSED(addEntry(&f, 2, 1, SAMBA_SWITCH_NORTH, 1, SAMBA_SWITCH_WEST, 3),
          "unit 'bb' output 0: switch (1, 1): two flows collide on vector east lane 0 flow 3");
  REFUSED((find(&f, 3, SAMBA_SWITCH_EAST)->out = find(&f, 2, SAMBA_SWITCH_NORTH)->out),
          "unit 'bb' output 0: switch (1, 1): two flows collide on vector unit lane 0 flow 2 of "
          "unit 'ct'");
}

static void misplacedUnitsAreRefused(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaMachine *m = sampleMachine();
#define PLACED(change, text)                                                                       \
  do {                                                                                             \
    SambaSection *s = sampleMatmul(&arena);                                                        \
    change;                                                                                        \
    assertMessage(sambaPlacementCheck(m, s->units, s->unit_count), text);                          \
  } while (0)
  PLACED(s->units[0].load_store.ag = 4,
         "unit 'at': a load needs an address generator, ag is 4, expected 0 to 3");
  PLACED(s->units[5].load_store.ag = SAMBA_NO_INDEX,
         "unit 'cs': a store needs an address generator, but it is not placed");
  PLACED(s->units[1].load_store.ag = 0,
         "unit 'bt': address generator 0 is already taken by unit 'at'");
  /* What a load takes and what a store hands on goes the way of the other one. */
  PLACED((s->units[5].load_store.ag = 0, s->units[0].input_count = 1),
         "unit 'cs': address generator 0 is already taken by unit 'at'");
  PLACED((s->units[5].load_store.ag = 0, s->units[5].output_count = 1),
         "unit 'cs': address generator 0 is already taken by unit 'at'");
  SambaSection *shared = sampleMatmul(&arena);
  shared->units[5].load_store.ag = 0;
  assert_null(sambaPlacementCheck(m, shared->units, shared->unit_count));
  PLACED(s->units[2].y = 4,
         "unit 'ab': site (1, 4) is outside the grid of 4 x 4 sites; it is not placed");
  PLACED(s->units[2].y = 1, "unit 'ab': a buffer needs a PMU, but site (1, 1) holds a PCU");
  PLACED(s->units[4].y = 2, "unit 'ct': a compute needs a PCU, but site (1, 2) holds a PMU");
  PLACED((s->units[3].x = 1, s->units[3].y = 0),
         "unit 'bb': site (1, 0) is already taken by unit 'ab'");
  sambaArenaDestroy(&arena);
}

static void banksMustFitTheMachine(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *section = sampleMatmul(&arena);
  section->units[2].buffer.skew = 16;
  assertMessage(sambaSectionCheckMachine(section, sampleMachine()),
                "unit 'ab' (buffer): skew is 16, expected less than the 16 banks of a PMU of tiny");
  sambaArenaDestroy(&arena);
}

/* A stage of the address pipeline for the address, the row of banks, and each guard. */
static void patternsMustFitTheAddressPipeline(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = *sampleMachine();
  SambaSection *section = sampleMatmul(&arena);
  SambaBuffer *buffer = &section->units[2].buffer;
  SambaAccess *access = &section->units[2].outputs[0].access;
  int64_t *none = SAMBA_ARENA_ARRAY(&arena, int64_t, access->counter_count);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(&arena, SambaGuard, 6);
  for (uint32_t g = 0; g < 6; ++g)
    guards[g] = (SambaGuard){.limit = 1, .strides = none};

  buffer->banking = SAMBA_BANKING_COLUMN;
  assert_int_equal(sambaAddressStages(buffer, access), 1);
  buffer->banking = SAMBA_BANKING_DIAGONAL;
  assert_int_equal(sambaAddressStages(buffer, access), 2);
  access->guards = guards;
  access->guard_count = 4;
  assert_null(sambaSectionCheckMachine(section, &machine));
  access->guard_count = 5;
  assertMessage(sambaSectionCheckMachine(section, &machine),
                "unit 'ab' (buffer): output 0: its pattern needs 7 stages of the address pipeline "
                "(5 guards, the address, the row of banks), but a PMU of tiny has 6\n  note: guard "
                "fewer dimensions, or use column banking");
  buffer->banking = SAMBA_BANKING_COLUMN;
  assert_null(sambaSectionCheckMachine(section, &machine));
  machine.pmu_address_stages = 5;
  assertMessage(sambaSectionCheckMachine(section, &machine),
                "needs 6 stages of the address pipeline (5 guards, the address), but");
  access->strides = none;
  assert_int_equal(sambaAddressStages(buffer, access), 5);
  sambaArenaDestroy(&arena);
}

static void unitsMustFitTheMachine(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *s = sampleMatmul(&arena);
  SambaMachine m = *sampleMachine();

  assert_null(sambaSectionCheckMachine(s, &m));
  assert_int_equal(sambaBufferBytes(&m, &s->units[2]), 2 * 8192 * 2);
  assert_int_equal(sambaProgramStages(&s->units[4]),
                   0); /* a systolic mac and a conversion in the tail */
  m.unit_counters = 7;
  assertMessage(sambaSectionCheckMachine(s, &m), "section 'matmul': unit 'ct' (compute): its "
                                                 "chain needs 8 counters, but a unit of tiny has "
                                                 "7\n  note: tile fewer dimensions, or join "
                                                 "counters that walk the same way");
  m.unit_counters = 3;
  assertMessage(sambaSectionCheckMachine(s, &m),
                "unit 'at' (load): output 0: its chain needs 4 counters");
  m = *sampleMachine();
  s->units[2].buffer.slot_count = 5;
  assertMessage(
      sambaSectionCheckMachine(s, &m),
      "unit 'ab' (buffer): needs 81920 bytes (5 slots of 8192 elements of bf16), but a PMU "
      "of tiny has 65536\n  note: use smaller tiles, fewer slots, or interleave over "
      "several buffers");
  s->units[2].layer = "fc1";
  assertMessage(sambaSectionCheckMachine(s, &m), "\n  note: the unit works for layer 'fc1'");
  s = sampleGather(&arena);
  SambaUnit *unit = &s->units[2];
  unit->compute.program.op_count = 7;
  unit->compute.program.ops =
      LIST(&arena, SambaLaneOp, {.opcode = SAMBA_LANE_MUL}, {.opcode = SAMBA_LANE_ADD},
           {.opcode = SAMBA_LANE_REDUCE_ADD}, {.opcode = SAMBA_LANE_EXP},
           {.opcode = SAMBA_LANE_CONSTANT}, {.opcode = SAMBA_LANE_SUB},
           {.opcode = SAMBA_LANE_TO_BF16, .operands = {5}});
  assert_int_equal(sambaProgramStages(unit), 4);
  assert_null(sambaSectionCheckMachine(s, &m));
  m.simd_stages = 3;
  assertMessage(sambaSectionCheckMachine(s, &m),
                "unit 'even' (compute): its program needs 4 pipeline stages, but a PCU of "
                "tiny has 3\n  note: split the program over a chain of units");
  m.simd_stages = 6;
  unit->compute.program.ops = LIST(&arena, SambaLaneOp, {.opcode = SAMBA_LANE_EXP},
                                   {.opcode = SAMBA_LANE_TO_BF16, .operands = {2}},
                                   {.opcode = SAMBA_LANE_ADD, .operands = {0, 3}});
  unit->compute.program.op_count = 3;
  assertMessage(
      sambaSectionCheckMachine(s, &m),
      "lane operation 2 (add) comes after a transcendental function, which runs in the tail");
  unit->compute.program.op_count = 2;
  assert_null(sambaSectionCheckMachine(s, &m));
  s = sampleMatmul(&arena);
  s->units[4].compute.program.ops =
      LIST(&arena, SambaLaneOp, {.opcode = SAMBA_LANE_MAC, .operands = {0, 1}},
           {.opcode = SAMBA_LANE_NEG, .operands = {2}});
  assertMessage(sambaSectionCheckMachine(s, &m),
                "unit 'ct' (compute): its program needs 1 pipeline stages, but a systolic PCU of "
                "tiny has 0");
  sambaArenaDestroy(&arena);
}

static void lanesMustFitTheMachine(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *s = sampleMatmul(&arena);
  s->units[0].lanes = 16;
  assert_null(sambaSectionCheckMachine(s, sampleMachine()));
  s->units[0].lanes = 12;
  assertMessage(sambaSectionCheckMachine(s, sampleMachine()),
                "lanes is 12, expected a power of two up to the 16 lanes of tiny, or none for all");
  s->units[0].lanes = 32;
  assertMessage(sambaSectionCheckMachine(s, sampleMachine()),
                "lanes is 32, expected a power of two");

  /* A register is as wide as the lanes in use: 128 values are 8 vectors of 16, and 32 of 4. */
  s = sampleGather(&arena);
  SambaUnit *unit = &s->units[2];
  unit->compute.counter_count = 3;
  unit->compute.trips = LIST(&arena, uint32_t, 12, 4, 128);
  unit->inputs[0].compute.strides = LIST(&arena, int64_t, 0, 128, 1);
  unit->inputs[1].compute.strides = LIST(&arena, int64_t, 0, 0, 1);
  assert_null(sambaSectionCheckMachine(s, sampleMachine()));
  unit->lanes = 4;
  assertMessage(sambaSectionCheckMachine(s, sampleMachine()), "it would have to hold 32 vectors");
  sambaArenaDestroy(&arena);
}

/* What a PCU uses again must fit its registers, and a firing of the array its rows and columns. */
static void unitsHoldNoMoreThanTheyHave(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *s = sampleMatmul(&arena);
  SambaMachine m = *sampleMachine();
  m.systolic_columns = 8;
  assertMessage(
      sambaSectionCheckMachine(s, &m),
      "unit 'ct' (compute): a firing has 16 rows and 16 columns, so it would have to hold "
      "256 sums; the array of tiny has 16 x 8 and holds 256\n  note: make further passes "
      "further tokens: counters before token_level");
  m = *sampleMachine();

  /* 512 values of f32 are 32 vectors. */
  s = sampleGather(&arena);
  SambaUnit *unit = &s->units[2];
  unit->compute.counter_count = 3;
  unit->compute.trips = LIST(&arena, uint32_t, 12, 4, 512);
  unit->inputs[0].compute.strides = unit->inputs[1].compute.strides =
      LIST(&arena, int64_t, 0, 512, 1);
  assert_null(sambaSectionCheckMachine(s, &m));
  unit->inputs[1].compute.strides = LIST(&arena, int64_t, 0, 0, 1);
  assertMessage(
      sambaSectionCheckMachine(s, &m),
      "unit 'even' (compute): input 1: it would have to hold 32 vectors that are used "
      "again, with all that the unit holds 32, but a PCU of tiny has 16 registers\n  note: "
      "let the read pattern of a PMU send the operand again");
  unit->inputs[1].compute.strides = unit->inputs[0].compute.strides;
  unit->compute.program.reduce_mask = 2;
  unit->compute.program.ops =
      LIST(&arena, SambaLaneOp,
           {.opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0}});
  assertMessage(sambaSectionCheckMachine(s, &m),
                "it would have to hold 32 vectors of running sums, but a PCU of tiny has 16 "
                "registers\n  note: reduce fewer points side by side, or let the sums go through a "
                "PMU");
  m.simd_registers = 1;
  assertMessage(
      sambaSectionCheckMachine(sampleMatmul(&arena), &m),
      "unit 'ct' (compute): 2 values live between two stages of its program, but a PCU of "
      "tiny has 1 registers per stage\n  note: split the program over a chain of units");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streamsComeBack),
      cmocka_unit_test(impossibleEntriesAreRefused),
      cmocka_unit_test(flowsMustArrive),
      cmocka_unit_test(loopsAndCollisionsAreRefused),
      cmocka_unit_test(wiresJoinPorts),
      cmocka_unit_test(wiresAreCounted),
      cmocka_unit_test(misplacedUnitsAreRefused),
      cmocka_unit_test(banksMustFitTheMachine),
      cmocka_unit_test(patternsMustFitTheAddressPipeline),
      cmocka_unit_test(unitsMustFitTheMachine),
      cmocka_unit_test(lanesMustFitTheMachine),
      cmocka_unit_test(unitsHoldNoMoreThanTheyHave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
