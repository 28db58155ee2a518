/* Ports; see port.h. */
#include "backend/sim/progress/port.h"

#include "backend/section/width.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static SambaPortTurn turnOf(const SambaMachine *machine, const SambaSection *section,
                            const SambaPort *port) {
  SambaPortTurn turn = {.count = port->stream_count, .block = port->block ? port->block : 1};
  const SambaStream *stream = port->stream_count ? &section->streams[port->streams[0]] : NULL;
  uint64_t bytes = (uint64_t)machine->vector_bytes;
  if (stream)
    bytes = sambaStreamVectorBytes(section, stream, machine);

  turn.left = turn.block;
  turn.token_elements = port->token_elements;
  turn.vector_elements = most(1, bytes / sambaDTypeBytes(port->dtype));
  if (stream && stream->kind == SAMBA_STREAM_SCALAR)
    turn.vector_elements = 1; /* a scalar link carries one */
  turn.vectors = most(1, (turn.token_elements + turn.vector_elements - 1) / turn.vector_elements);
  return turn;
}

void sambaProgressInputBuild(SambaProgressInput *input, SambaArena *arena, const SambaFlows *flows,
                             const SambaMachine *machine, const SambaSection *section,
                             SambaEndpoint end) {
  const SambaPort *port = &section->units[end.unit].inputs[end.port];
  uint32_t *ends = SAMBA_ARENA_ARRAY(arena, uint32_t, port->stream_count);
  input->turn = turnOf(machine, section, port);
  input->turn.count = 0;
  input->ends = ends;
  for (uint32_t i = 0; i < port->stream_count; ++i) {
    const SambaStream *stream = &section->streams[port->streams[i]];
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      if (stream->destinations[d].unit == end.unit && stream->destinations[d].port == end.port)
        ends[input->turn.count++] = flows->flows[port->streams[i]].end_first + d;
  }
}

void sambaProgressOutputBuild(SambaProgressOutput *output, const SambaMachine *machine,
                              const SambaSection *section, SambaEndpoint end, uint64_t stages) {
  const SambaPort *port = &section->units[end.unit].outputs[end.port];
  *output = (SambaProgressOutput){
      .turn = turnOf(machine, section, port), .streams = port->streams, .stages = most(1, stages)};
}

/* Vectors that the current stream still gets before it is the turn of the next one. */
static uint64_t leftOfTurn(const SambaPortTurn *turn) {
  if (turn->count == 1)
    return UINT64_MAX;
  return turn->left * turn->vectors - turn->passed % turn->vectors;
}

/* Vectors more of the current stream have passed, at most to the end of its turn. */
static void pass(SambaPortTurn *turn, uint64_t vectors) {
  uint64_t tokens = 0;
  if (turn->count > 1)
    tokens = (turn->passed % turn->vectors + vectors) / turn->vectors;
  turn->passed += vectors;
  turn->left -= tokens;
  if (turn->left == 0) {
    turn->left = turn->block;
    turn->current = turn->current + 1 == turn->count ? 0 : turn->current + 1;
  }
}

static uint64_t arrivedNow(const SambaProgressInput *input, const SambaFlows *flows,
                           uint32_t stream) {
  uint32_t end = input->ends[stream];
  return sambaFlowArrived(flows, end) - flows->ends[end].taken;
}

uint64_t sambaProgressArrived(const SambaProgressInput *input, const SambaFlows *flows) {
  const SambaPortTurn *turn = &input->turn;
  if (!turn->count)
    return UINT64_MAX;
  if (turn->count == 1)
    return turn->passed + arrivedNow(input, flows, 0);
  uint64_t left = leftOfTurn(turn), arrived = turn->passed;
  uint32_t stream = turn->current;

  /* Once around the streams, as far as each turn can be taken whole. */
  for (uint32_t i = 0; i < turn->count; ++i, left = turn->block * turn->vectors) {
    uint64_t now = arrivedNow(input, flows, stream);
    arrived += least(now, left);
    if (now < left)
      break;
    stream = stream + 1 == turn->count ? 0 : stream + 1;
  }
  return arrived;
}

void sambaProgressTake(SambaProgressInput *input, SambaFlows *flows, uint64_t until) {
  SambaPortTurn *turn = &input->turn;
  if (!turn->count && until > turn->passed)
    turn->passed = until;
  while (turn->passed < until) {
    uint64_t vectors = least(until - turn->passed, leftOfTurn(turn));
    uint32_t end = input->ends[turn->current];
    pass(turn, vectors);
    sambaFlowTake(flows, end, vectors);
  }
}

static uint64_t roomNow(const SambaProgressOutput *output, const SambaFlows *flows,
                        uint32_t stream) {
  uint32_t index = output->streams[stream];
  return sambaFlowLimit(flows, index) - flows->flows[index].sent;
}

uint64_t sambaProgressRoom(const SambaProgressOutput *output, const SambaFlows *flows) {
  const SambaPortTurn *turn = &output->turn;
  if (!turn->count)
    return UINT64_MAX;
  uint64_t left = leftOfTurn(turn), room = turn->passed;
  uint32_t stream = turn->current;

  for (uint32_t i = 0; i < turn->count; ++i, left = turn->block * turn->vectors) {
    uint64_t now = roomNow(output, flows, stream);
    if (now >= UINT64_MAX / 2 && turn->count == 1)
      return UINT64_MAX;
    room += least(now, left);
    if (now < left)
      break;
    stream = stream + 1 == turn->count ? 0 : stream + 1;
  }
  return room + output->stages;
}

void sambaProgressFlush(SambaProgressOutput *output, SambaFlows *flows) {
  SambaPortTurn *turn = &output->turn;
  if (!turn->count)
    turn->passed = output->made;
  while (turn->passed < output->made) {
    uint64_t vectors = least(output->made - turn->passed, leftOfTurn(turn));
    uint32_t stream = output->streams[turn->current];
    vectors = least(vectors, roomNow(output, flows, turn->current));
    if (!vectors)
      return;
    pass(turn, vectors);
    sambaFlowSend(flows, stream, vectors);
  }
}

void sambaProgressMake(SambaProgressOutput *output, SambaFlows *flows, uint64_t until) {
  output->made = until > output->made ? until : output->made;
  sambaProgressFlush(output, flows);
}
