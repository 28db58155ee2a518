/* Hand-made sections; see sample_sections.h. */
#include "test/backend/sample_sections.h"

#include "backend/machine/shipped.h"
#include "backend/section/fabric/fabric.h"

#include <stdlib.h>

const SambaMachine *sampleMachine(void) { return sambaMachineFind(sambaStringRef("tiny")); }
const SambaMachine *sampleLargeMachine(void) { return sambaMachineFind(sambaStringRef("sn40l")); }

static SambaSwitchLane terminal(const SambaUnit *unit, uint32_t port, uint32_t flow) {
  bool ag = sambaUnitIsAddressGenerator(unit);
  return (SambaSwitchLane){ag ? SAMBA_SWITCH_AG : SAMBA_SWITCH_UNIT, (uint8_t)port, (uint16_t)flow,
                           ag ? (uint16_t)unit->load_store.ag : 0};
}

/* All destinations are served by one path each; paths share a prefix only through equal hops, which
 * are kept once. */
static void routeStream(SambaSection *section, const SambaMachine *machine, uint32_t index) {
  SambaStream *stream = &section->streams[index];
  SAMBA_ARRAY(SambaHop) hops = {0};
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *from = &section->units[stream->source.unit];
    const SambaUnit *to = &section->units[stream->destinations[d].unit];
    int32_t x, y, toX, toY;
    sambaUnitSwitch(machine, from, &x, &y);
    sambaUnitSwitch(machine, to, &toX, &toY);
    SambaSwitchLane in = terminal(from, stream->source.port, index);
    for (bool done = false; !done;) {
      SambaSwitchLane out = terminal(to, stream->destinations[d].port, index);
      SambaHop hop = {x, y, in, out};
      if (x != toX) {
        hop.out = (SambaSwitchLane){x < toX ? SAMBA_SWITCH_EAST : SAMBA_SWITCH_WEST, 0,
                                    (uint16_t)index, 0};
        in = (SambaSwitchLane){x < toX ? SAMBA_SWITCH_WEST : SAMBA_SWITCH_EAST, 0, (uint16_t)index,
                               0};
        x += x < toX ? 1 : -1;
      } else if (y != toY) {
        hop.out = (SambaSwitchLane){y < toY ? SAMBA_SWITCH_SOUTH : SAMBA_SWITCH_NORTH, 0,
                                    (uint16_t)index, 0};
        in = (SambaSwitchLane){y < toY ? SAMBA_SWITCH_NORTH : SAMBA_SWITCH_SOUTH, 0,
                               (uint16_t)index, 0};
        y += y < toY ? 1 : -1;
      } else {
        done = true;
      }
      bool known = false;
      for (size_t h = 0; h < hops.size && !known; ++h)
        known = hops.data[h].x == hop.x && hops.data[h].y == hop.y &&
                sambaSwitchLaneCompare(&hops.data[h].in, &hop.in) == 0 &&
                sambaSwitchLaneCompare(&hops.data[h].out, &hop.out) == 0;
      if (!known)
        sambaArrayAppend(&hops, hop);
    }
  }

  stream->hop_count = (uint32_t)hops.size;
  stream->hops = sambaArenaCopy(section->arena, hops.data, hops.size * sizeof *hops.data);
  sambaArrayFree(&hops);
}

void sampleRoute(SambaSection *section, const SambaMachine *machine) {
  for (uint32_t s = 0; s < section->stream_count; ++s)
    routeStream(section, machine, s);
}

static SambaSection *newSection(SambaArena *arena, const char *name, uint32_t symbols,
                                uint32_t units, uint32_t streams) {
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  *section = (SambaSection){.arena = arena,
                            .name = name,
                            .symbol_count = symbols,
                            .unit_count = units,
                            .stream_count = streams,
                            .symbols = SAMBA_ARENA_ARRAY(arena, SambaFormal, symbols),
                            .units = SAMBA_ARENA_ARRAY(arena, SambaUnit, units),
                            .streams = SAMBA_ARENA_ARRAY(arena, SambaStream, streams)};
  return section;
}

static void setUnit(SambaSection *section, uint32_t index, SambaUnitKind kind, const char *name,
                    int32_t x, int32_t y, int32_t ag, uint32_t inputs, uint32_t outputs) {
  SambaUnit *unit = &section->units[index];
  *unit = sambaUnitMake(kind, name, "");
  unit->x = x;
  unit->y = y;
  if (sambaUnitIsAddressGenerator(unit))
    unit->load_store.ag = ag;
  unit->input_count = inputs;
  unit->output_count = outputs;
  unit->inputs = SAMBA_ARENA_ARRAY(section->arena, SambaPort, inputs);
  unit->outputs = SAMBA_ARENA_ARRAY(section->arena, SambaPort, outputs);
}

static void setStream(SambaSection *section, uint32_t index, SambaStreamKind kind, uint32_t unit,
                      uint32_t port, uint32_t to_unit, uint32_t to_port) {
  section->streams[index] =
      (SambaStream){.kind = kind,
                    .source = {unit, port},
                    .destination_count = 1,
                    .destinations = LIST(section->arena, SambaEndpoint, {to_unit, to_port})};
}

#define STREAMS(...) .streams = LIST(a, uint32_t, __VA_ARGS__)
#define TRIPS(...)                                                                                 \
  .counter_count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                           \
  .trips = LIST(a, uint32_t, __VA_ARGS__)
#define STRIDES(...) .strides = LIST(a, int64_t, __VA_ARGS__)

/* Long: the section is written down unit by unit. */
SambaSection *sampleMatmul(SambaArena *a) {
  SambaSection *s = newSection(a, "matmul", 3, 6, 5);
  const char *const names[] = {"a", "b", "c"};

  for (int i = 0; i < 3; ++i)
    s->symbols[i] = (SambaFormal){names[i], SAMBA_DTYPE_BF16, 128 * 128, i == 2};
  setUnit(s, 0, SAMBA_UNIT_LOAD, "at", -1, -1, 0, 0, 1);
  setUnit(s, 1, SAMBA_UNIT_LOAD, "bt", -1, -1, 1, 0, 1);
  setUnit(s, 2, SAMBA_UNIT_BUFFER, "ab", 1, 0, -1, 1, 1);
  setUnit(s, 3, SAMBA_UNIT_BUFFER, "bb", 2, 1, -1, 1, 1);
  setUnit(s, 4, SAMBA_UNIT_COMPUTE, "ct", 1, 1, -1, 2, 1);
  setUnit(s, 5, SAMBA_UNIT_STORE, "cs", -1, -1, 2, 1, 0);
  SambaPort port = {
      .dtype = SAMBA_DTYPE_BF16, .stream_count = 1, .block = 1, .token_elements = 8192};
  SambaPort *p = &s->units[0].outputs[0];
  *p = port;
  p->streams = LIST(a, uint32_t, 0);
  p->access = (SambaAccess){TRIPS(2, 2, 64, 128), .token_level = 2, STRIDES(8192, 0, 128, 1)};
  p = &s->units[1].outputs[0];
  *p = port;
  p->streams = LIST(a, uint32_t, 1);
  p->access = (SambaAccess){TRIPS(2, 2, 128, 64), .token_level = 2, STRIDES(0, 64, 128, 1)};
  s->units[1].load_store.symbol = 1;

  /* A slot has all of k. Each pass reads it in two halves of k, a k step of 16 elements after the
   * other. */
  for (uint32_t b = 0; b < 2; ++b) {
    SambaUnit *buffer = &s->units[2 + b];
    buffer->buffer.slot_count = 2;
    buffer->buffer.slot_elements = 8192;
    if (b == 0) {
      buffer->buffer.banking = SAMBA_BANKING_DIAGONAL;
      buffer->buffer.row_words = 64;
      buffer->buffer.skew = 1;
    }
    buffer->inputs[0] = buffer->outputs[0] = port;
    buffer->outputs[0].token_elements = 1024;
    buffer->inputs[0].streams = b ? LIST(a, uint32_t, 1) : LIST(a, uint32_t, 0);
    buffer->outputs[0].streams = b ? LIST(a, uint32_t, 3) : LIST(a, uint32_t, 2);
    buffer->inputs[0].access =
        (SambaAccess){TRIPS(4, 64, 128), .slot_level = 1, .token_level = 1, STRIDES(0, 128, 1)};
    if (b) {
      buffer->inputs[0].access.trips = LIST(a, uint32_t, 4, 128, 64);
      buffer->inputs[0].access.strides = LIST(a, int64_t, 0, 64, 1);
    }
    buffer->outputs[0].access =
        (SambaAccess){TRIPS(4, 4, 4, 2, 64, 16), .slot_level = 1, .token_level = 4,
                      .strides = b ? LIST(a, int64_t, 0, 0, 16, 4096, 64, 1)
                                   : LIST(a, int64_t, 0, 2048, 0, 64, 1, 128)};
  }

  SambaUnit *c = &s->units[4];
  c->compute.counter_count = 8;
  c->compute.trips = LIST(a, uint32_t, 2, 2, 4, 4, 2, 64, 16, 16);
  c->compute.token_level = 5;
  c->compute.program =
      (SambaProgram){.systolic = true,
                     .op_count = 2,
                     .ops = LIST(a, SambaLaneOp, {SAMBA_LANE_MAC, SAMBA_DTYPE_F32, {0, 1, 0}, 0},
                                 {SAMBA_LANE_TO_BF16, SAMBA_DTYPE_F32, {2, 0, 0}, 0}),
                     .reduce_mask = 1u << 4 | 1u << 5};
  c->inputs[0] = c->inputs[1] = c->outputs[0] = port;
  c->inputs[0].compute.level = c->inputs[1].compute.level = 5;
  c->inputs[0].token_elements = c->inputs[1].token_elements = 1024;
  c->inputs[0].streams = LIST(a, uint32_t, 2);
  c->inputs[0].compute.strides = LIST(a, int64_t, 0, 0, 0, 0, 0, 16, 1, 0);
  c->inputs[1].streams = LIST(a, uint32_t, 3);
  c->inputs[1].compute.strides = LIST(a, int64_t, 0, 0, 0, 0, 0, 16, 0, 1);
  c->outputs[0].token_elements = 256;
  c->outputs[0].streams = LIST(a, uint32_t, 4);
  c->outputs[0].compute.level = 4;
  c->outputs[0].compute.value = 3;
  c->outputs[0].compute.strides = LIST(a, int64_t, 0, 0, 0, 0, 0, 0, 16, 1);
  p = &s->units[5].inputs[0];
  *p = port;
  p->token_elements = 256;
  p->streams = LIST(a, uint32_t, 4);
  p->access = (SambaAccess){TRIPS(2, 2, 4, 4, 16, 16), .token_level = 4,
                            STRIDES(8192, 64, 2048, 16, 128, 1)};
  s->units[5].load_store.symbol = 2;
  setStream(s, 0, SAMBA_STREAM_VECTOR, 0, 0, 2, 0);
  setStream(s, 1, SAMBA_STREAM_VECTOR, 1, 0, 3, 0);
  setStream(s, 2, SAMBA_STREAM_VECTOR, 2, 0, 4, 0);
  setStream(s, 3, SAMBA_STREAM_VECTOR, 3, 0, 4, 1);
  setStream(s, 4, SAMBA_STREAM_VECTOR, 4, 0, 5, 0);
  sampleRoute(s, sampleMachine());

  return s;
}

/* Twelve rows of 20 elements, picked from a table of 9 rows by index, in pieces of 16: the second
 * piece is ragged. Odd and even tokens go to two copies of a PCU (split), which square (x * x: one
 * stream at two ports) and come back together (merge); a control stream lets a second load read the
 * first element of each piece once it is in memory.
 *
 * Long: the section is written down unit by unit. */
SambaSection *sampleGather(SambaArena *a) {
  SambaSection *s = newSection(a, "gather", 4, 7, 7);
  s->symbols[0] = (SambaFormal){"table", SAMBA_DTYPE_F32, 9 * 20, false};
  s->symbols[1] = (SambaFormal){"rows", SAMBA_DTYPE_I32, 12, false};
  s->symbols[2] = (SambaFormal){"picked", SAMBA_DTYPE_F32, 12 * 20, true};
  s->symbols[3] = (SambaFormal){"copied", SAMBA_DTYPE_F32, 24, true};
  setUnit(s, 0, SAMBA_UNIT_LOAD, "indices", -1, -1, 0, 0, 1);
  setUnit(s, 1, SAMBA_UNIT_LOAD, "table", -1, -1, 1, 1, 1);
  setUnit(s, 2, SAMBA_UNIT_COMPUTE, "even", 2, 2, -1, 2, 1);
  setUnit(s, 3, SAMBA_UNIT_COMPUTE, "odd", 3, 1, -1, 2, 1);
  setUnit(s, 4, SAMBA_UNIT_STORE, "out", -1, -1, 2, 1, 1);
  setUnit(s, 5, SAMBA_UNIT_LOAD, "after", -1, -1, 3, 1, 1);
  setUnit(s, 6, SAMBA_UNIT_STORE, "copy", -1, -1, 4, 1, 0);
  const int64_t *guard_strides = LIST(a, int64_t, 0, 16, 1);
  const SambaGuard *guard = LIST(a, SambaGuard, {0, 20, guard_strides});
  SambaPort *p = &s->units[0].outputs[0];

  *p = (SambaPort){
      .dtype = SAMBA_DTYPE_I32, .stream_count = 1, STREAMS(0), .block = 1, .token_elements = 1};
  p->access = (SambaAccess){TRIPS(12, 2), .token_level = 2, STRIDES(1, 0)};
  s->units[0].load_store.symbol = 1;
  p = &s->units[1].inputs[0];
  *p = (SambaPort){
      .dtype = SAMBA_DTYPE_I32, .stream_count = 1, STREAMS(0), .block = 1, .token_elements = 1};
  p = &s->units[1].outputs[0];
  *p = (SambaPort){
      .dtype = SAMBA_DTYPE_F32, .stream_count = 2, STREAMS(1, 2), .block = 1, .token_elements = 16};
  p->access = (SambaAccess){TRIPS(12, 2, 16),  .token_level = 2,   STRIDES(0, 16, 1),
                            .guard_count = 1,  .guards = guard,    .fill = 0x3f800000,
                            .has_index = true, .index_stride = 20, .index_limit = 9};

  for (uint32_t i = 0; i < 2; ++i) {
    SambaUnit *c = &s->units[2 + i];
    c->compute.counter_count = 2;
    c->compute.trips = LIST(a, uint32_t, 12, 16);
    c->compute.token_level = 1;
    c->compute.program = (SambaProgram){
        .op_count = 1,
        .ops = LIST(a, SambaLaneOp, {SAMBA_LANE_MUL, SAMBA_DTYPE_F32, {0, 1, 0}, 0})};
    SambaPort port = {.dtype = SAMBA_DTYPE_F32,
                      .stream_count = 1,
                      .block = 1,
                      .token_elements = 16,
                      .compute = {.level = 1, STRIDES(0, 1)}};
    c->inputs[0] = c->inputs[1] = c->outputs[0] = port;
    c->inputs[0].streams = c->inputs[1].streams = i ? LIST(a, uint32_t, 2) : LIST(a, uint32_t, 1);
    c->outputs[0].streams = i ? LIST(a, uint32_t, 4) : LIST(a, uint32_t, 3);
    c->outputs[0].compute.value = 2;
  }

  p = &s->units[4].inputs[0];
  *p = (SambaPort){
      .dtype = SAMBA_DTYPE_F32, .stream_count = 2, STREAMS(3, 4), .block = 1, .token_elements = 16};
  p->access = (SambaAccess){TRIPS(12, 2, 16), .token_level = 2, STRIDES(20, 16, 1),
                            .guard_count = 1, .guards = guard};
  s->units[4].load_store.symbol = 2;
  s->units[4].outputs[0] =
      (SambaPort){.dtype = SAMBA_DTYPE_I1, .stream_count = 1, STREAMS(5), .block = 1};
  s->units[5].inputs[0] =
      (SambaPort){.dtype = SAMBA_DTYPE_I1, .stream_count = 1, STREAMS(5), .block = 1};
  p = &s->units[5].outputs[0];
  *p = (SambaPort){
      .dtype = SAMBA_DTYPE_F32, .stream_count = 1, STREAMS(6), .block = 1, .token_elements = 1};
  p->access = (SambaAccess){TRIPS(12, 2), .token_level = 2, STRIDES(2, 1)};
  s->units[5].load_store.symbol = 2;
  s->units[6].inputs[0] = *p;
  s->units[6].load_store.symbol = 3;
  setStream(s, 0, SAMBA_STREAM_SCALAR, 0, 0, 1, 0);
  setStream(s, 1, SAMBA_STREAM_VECTOR, 1, 0, 2, 0);
  setStream(s, 2, SAMBA_STREAM_VECTOR, 1, 0, 3, 0);
  setStream(s, 3, SAMBA_STREAM_VECTOR, 2, 0, 4, 0);
  setStream(s, 4, SAMBA_STREAM_VECTOR, 3, 0, 4, 0);
  setStream(s, 5, SAMBA_STREAM_CONTROL, 4, 0, 5, 0);
  setStream(s, 6, SAMBA_STREAM_SCALAR, 5, 0, 6, 0);
  s->streams[1].destination_count = s->streams[2].destination_count = 2;
  s->streams[1].destinations = LIST(a, SambaEndpoint, {2, 0}, {2, 1});
  s->streams[2].destinations = LIST(a, SambaEndpoint, {3, 0}, {3, 1});
  sampleRoute(s, sampleLargeMachine());

  return s;
}
