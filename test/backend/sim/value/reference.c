/* The naive interpreter; see reference.h. */
#include "test/backend/sim/value/reference.h"
#include "test/backend/sim/value/reference_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Token {
  ReferenceValue *values;
} Token;

typedef struct Queue {
  SAMBA_ARRAY(Token) tokens;
  size_t head;
} Queue;

typedef struct Port {
  const SambaPort *port;
  Queue **queues; /* inputs: per stream; outputs: all destinations of all streams */
  uint64_t turns; /* tokens so far */
  uint64_t fired; /* buffers */
} Port;

typedef struct Unit {
  const SambaUnit *unit;
  Port *inputs, *outputs;
  uint64_t fired;
  Token *held;
  ReferenceValue **slots;
  ReferenceValue **accumulators; /* per op: [point][lane] */
  bool failed;
} Unit;

typedef struct Reference {
  const SambaSection *section;
  const SambaBinding *bindings;
  const uint64_t *argins;
  int lanes;
  Unit *units;
  SambaArena arena;
} Reference;

static uint64_t product(const uint32_t *trips, uint32_t from, uint32_t to) {
  uint64_t p = 1;
  for (uint32_t c = from; c < to; ++c)
    p *= trips[c];
  return p;
}

/* Digits of `step` in the mixed radix of trips[from, to). */
static void digits(uint64_t step, const uint32_t *trips, uint32_t from, uint32_t to,
                   uint32_t *counters) {
  for (uint32_t c = to; c-- > from;) {
    counters[c] = (uint32_t)(step % trips[c]);
    step /= trips[c];
  }
}

static uint32_t streamOfTurn(const Port *port) {
  return (uint32_t)(port->turns / port->port->block % port->port->stream_count);
}

static bool hasToken(const Port *port) {
  const Queue *q = port->queues[streamOfTurn(port)];
  return q->head < q->tokens.size;
}

static Token take(Port *port) {
  Queue *q = port->queues[streamOfTurn(port)];
  ++port->turns;
  return q->tokens.data[q->head++];
}

static void put(Reference *reference, Port *port, Token token) {
  uint32_t turn = streamOfTurn(port);
  uint32_t first = 0;
  for (uint32_t s = 0; s < turn; ++s)
    first += reference->section->streams[port->port->streams[s]].destination_count;
  for (uint32_t d = 0; d < reference->section->streams[port->port->streams[turn]].destination_count;
       ++d)
    sambaArrayAppend(&port->queues[first + d]->tokens, token);
  ++port->turns;
}

static bool enabled(const SambaAccess *access, const uint32_t *counters) {
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    int64_t value = access->guards[g].constant;
    for (uint32_t c = 0; c < access->counter_count; ++c)
      value += access->guards[g].strides[c] * counters[c];
    if (value < 0 || value >= access->guards[g].limit)
      return false;
  }
  return true;
}

static int64_t addressOf(const SambaAccess *access, const uint32_t *counters) {
  int64_t address = access->base;
  for (uint32_t c = 0; c < access->counter_count; ++c)
    address += access->strides[c] * counters[c];
  return address;
}

/* What the index token adds for the element at these counters. */
static int64_t indexAddend(const SambaAccess *access, const Token *index, const uint32_t *counters,
                           bool *ok) {
  if (!access->has_index)
    return 0;
  uint64_t at = 0;
  for (uint32_t c = access->token_level; c < access->token_level + access->index_counters; ++c)
    at = at * access->trips[c] + counters[c];
  int64_t value = index->values[at].i;
  *ok &= value >= 0 && value < access->index_limit;
  return value * access->index_stride;
}

static bool stepMemory(Reference *reference, Unit *unit, bool store) {
  const SambaUnit *u = unit->unit;
  Port *data = store ? &unit->inputs[0] : &unit->outputs[0];
  const SambaAccess *access = &data->port->access;

  if (unit->fired == product(access->trips, 0, access->token_level))
    return false;
  for (uint32_t i = 0; i < u->input_count; ++i)
    if (!hasToken(&unit->inputs[i]))
      return false;
  Token index = {NULL};
  Token token = {NULL};
  if (store)
    token = take(&unit->inputs[0]);
  if (access->has_index)
    index = take(&unit->inputs[store]);
  for (uint32_t i = store + access->has_index; i < u->input_count; ++i)
    take(&unit->inputs[i]);
  uint64_t count = product(access->trips, access->token_level, access->counter_count);
  if (!store)
    token.values = SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue, count);
  uint32_t counters[64];
  uint32_t bytes = sambaDTypeBytes(data->port->dtype);
  digits(unit->fired, access->trips, 0, access->token_level, counters);
  bool ok = true;

  for (uint64_t e = 0; e < count; ++e) {
    digits(e, access->trips, access->token_level, access->counter_count, counters);
    bool on = enabled(access, counters);
    int64_t address = addressOf(access, counters) + indexAddend(access, &index, counters, &ok);
    if (!on) {
      if (!store)
        token.values[e] = referenceFromBits(data->port->dtype, access->fill);
      continue;
    }

    ok &= address >= 0 &&
          address < (int64_t)reference->section->symbols[u->load_store.symbol].elements;
    if (!ok) {
      unit->failed = true;
      return false;
    }

    uint8_t *at = reference->bindings[u->load_store.symbol].data + address * bytes;
    uint64_t bits = 0;
    if (store) {
      bits = referenceToBits(data->port->dtype, token.values[e]);
      memcpy(at, &bits, bytes);
    } else {
      memcpy(&bits, at, bytes);
      token.values[e] = referenceFromBits(data->port->dtype, bits);
    }
  }

  if (!store)
    put(reference, &unit->outputs[0], token);
  for (uint32_t i = 0; i < u->output_count && store; ++i)
    put(reference, &unit->outputs[i], (Token){NULL});
  ++unit->fired;

  return true;
}

static uint64_t slotsDone(const Port *port) {
  const SambaAccess *a = &port->port->access;
  return port->fired / product(a->trips, a->slot_level, a->token_level);
}

/* May this port's next token happen, seen from one port of the other side? In place a write waits
 * for the elements before the end of its own token. */
static bool isReady(const SambaUnit *unit, const Port *port, const Port *other, bool read) {
  uint64_t ahead = read == unit->buffer.loop_carried ? unit->buffer.slot_count : 0;
  if (read || !unit->buffer.in_place)
    return slotsDone(port) < slotsDone(other) + ahead;
  uint64_t behind = other->fired * other->port->token_elements;
  return (port->fired + 1) * port->port->token_elements <=
         behind + ahead * product(other->port->access.trips, other->port->access.slot_level,
                                  other->port->access.counter_count);
}

static bool stepBufferPort(Reference *reference, Unit *unit, Port *port, bool read) {
  const SambaUnit *u = unit->unit;
  const SambaAccess *access = &port->port->access;

  if (port->fired == product(access->trips, 0, access->token_level) || (!read && !hasToken(port)))
    return false;
  uint64_t slot = slotsDone(port);
  for (uint32_t i = 0; i < (read ? u->input_count : u->output_count); ++i)
    if (!isReady(u, port, read ? &unit->inputs[i] : &unit->outputs[i], read))
      return false;

  ReferenceValue *memory = unit->slots[slot % u->buffer.slot_count];
  uint64_t count = product(access->trips, access->token_level, access->counter_count);
  Token token =
      read ? (Token){SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue, count)} : take(port);
  uint32_t counters[64];
  digits(port->fired, access->trips, 0, access->token_level, counters);

  for (uint64_t e = 0; e < count; ++e) {
    digits(e, access->trips, access->token_level, access->counter_count, counters);
    bool on = enabled(access, counters);
    if (read)
      token.values[e] = on ? memory[addressOf(access, counters)]
                           : referenceFromBits(port->port->dtype, access->fill);
    else if (on)
      memory[addressOf(access, counters)] = token.values[e];
  }

  ++port->fired;
  if (read)
    put(reference, port, token);
  return true;
}

static bool stepBuffer(Reference *reference, Unit *unit) {
  bool progress = false;
  for (uint32_t i = 0; i < unit->unit->input_count; ++i)
    progress |= stepBufferPort(reference, unit, &unit->inputs[i], false);
  for (uint32_t i = 0; i < unit->unit->output_count; ++i)
    progress |= stepBufferPort(reference, unit, &unit->outputs[i], true);
  return progress;
}

static ReferenceValue accumulate(const SambaLaneOp *op, ReferenceValue sum, ReferenceValue a,
                                 ReferenceValue b) {
  if (!sambaLaneOpIsMac(op->opcode))
    return referenceCombine(op, sum, a);
  SambaLaneOp fma = {.opcode = SAMBA_LANE_FMA, .type = op->type};
  const ReferenceValue operands[3] = {a, b, sum};
  return referenceEvaluate(&fma, operands);
}

/* The chain's step `counters` of one firing: all of the program that runs there. */
static void stepProgram(Reference *reference, Unit *unit, const uint32_t *counters, uint64_t point,
                        uint64_t element, bool last, Token *made) {
  const SambaUnit *u = unit->unit;
  ReferenceValue values[512];
  bool depends[512] = {false};
  int lanes = 1;
  if (u->compute.program.lane_reduce && !u->compute.program.systolic)
    lanes = u->lanes ? (int)u->lanes : reference->lanes;

  for (uint32_t i = 0; i < u->input_count; ++i) {
    int64_t at = 0;
    for (uint32_t c = u->compute.token_level; c < u->compute.counter_count; ++c)
      at += u->inputs[i].compute.strides[c] * counters[c];
    values[i] = unit->held[i].values[at];
  }

  for (uint32_t i = 0; i < u->compute.program.op_count; ++i) {
    const SambaLaneOp *op = &u->compute.program.ops[i];
    uint32_t id = u->input_count + i;
    ReferenceValue operands[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (int j = 0; j < sambaLaneOpOperands(op->opcode); ++j) {
      operands[j] = values[op->operands[j]];
      depends[id] |= depends[op->operands[j]];
    }

    if (op->opcode == SAMBA_LANE_CONSTANT || op->opcode == SAMBA_LANE_ARGIN) {
      values[id] = referenceFromBits((SambaDType)op->type, op->opcode == SAMBA_LANE_ARGIN
                                                               ? reference->argins[op->immediate]
                                                               : op->immediate);
    } else if (op->opcode == SAMBA_LANE_COUNTER) {
      values[id] = (ReferenceValue){(float)counters[op->immediate],
                                    referenceWrap(counters[op->immediate], (SambaDType)op->type)};
    } else if (sambaLaneOpClass(op->opcode) == 'R') {
      depends[id] = true;
      ReferenceValue *sums = unit->accumulators[i] + point * (uint64_t)lanes;
      for (int l = 0; l < lanes && element == 0; ++l)
        sums[l] = op->opcode == SAMBA_LANE_MAC_ON ? operands[2] : referenceIdentity(op);
      ReferenceValue *sum = &sums[element % (uint64_t)lanes];
      *sum = accumulate(op, *sum, operands[0], operands[1]);
      if (last)
        for (int live = lanes, half = (live + 1) / 2; live > 1; live = half, half = (half + 1) / 2)
          for (int l = 0; l + half < live; ++l)
            sums[l] = referenceCombine(op, sums[l], sums[l + half]);
      values[id] = sums[0];
    } else if (last || !depends[id]) {
      values[id] = referenceEvaluate(op, operands);
    }
  }

  for (uint32_t i = 0; i < u->output_count; ++i) {
    if (depends[u->outputs[i].compute.value] && !last)
      continue;
    int64_t at = 0;
    for (uint32_t c = u->compute.token_level; c < u->compute.counter_count; ++c)
      at += u->outputs[i].compute.strides[c] * counters[c];
    ReferenceValue v = values[u->outputs[i].compute.value];
    made[i].values[at] =
        referenceFromBits(u->outputs[i].dtype, referenceToBits(u->outputs[i].dtype, v));
  }
}

static bool stepCompute(Reference *reference, Unit *unit) {
  const SambaUnit *u = unit->unit;
  if (unit->fired == product(u->compute.trips, 0, u->compute.token_level))
    return false;
  uint32_t counters[64];

  digits(unit->fired, u->compute.trips, 0, u->compute.token_level, counters);
  bool fresh[64];
  for (uint32_t i = 0; i < u->input_count; ++i) {
    fresh[i] = unit->fired %
                   product(u->compute.trips, u->inputs[i].compute.level, u->compute.token_level) ==
               0;
    if (fresh[i] && !hasToken(&unit->inputs[i]))
      return false;
  }

  for (uint32_t i = 0; i < u->input_count; ++i)
    if (fresh[i])
      unit->held[i] = take(&unit->inputs[i]);
  Token made[32];
  for (uint32_t i = 0; i < u->output_count; ++i)
    made[i].values =
        SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue, u->outputs[i].token_elements);
  uint64_t steps = product(u->compute.trips, u->compute.token_level, u->compute.counter_count);

  for (uint64_t s = 0; s < steps; ++s) {
    digits(s, u->compute.trips, u->compute.token_level, u->compute.counter_count, counters);
    uint64_t point = 0, element = 0;
    bool last = true;
    for (uint32_t c = 0; c < u->compute.counter_count; ++c) {
      if (u->compute.program.reduce_mask >> c & 1) {
        element = element * u->compute.trips[c] + counters[c];
        last &= counters[c] + 1 == u->compute.trips[c];
      } else if (c >= u->compute.token_level) {
        point = point * u->compute.trips[c] + counters[c];
      }
    }
    stepProgram(reference, unit, counters, point, element, last, made);
  }

  ++unit->fired;
  for (uint32_t i = 0; i < u->output_count; ++i)
    if (unit->fired %
            product(u->compute.trips, u->outputs[i].compute.level, u->compute.token_level) ==
        0)
      put(reference, &unit->outputs[i], made[i]);
  return true;
}

static void prepareSlots(Reference *reference, Unit *unit) {
  const SambaBuffer *buffer = &unit->unit->buffer;
  unit->slots = SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue *, buffer->slot_count);
  for (uint32_t i = 0; i < buffer->slot_count; ++i) {
    unit->slots[i] = SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue, buffer->slot_elements);
    for (uint64_t e = 0; e < buffer->slot_elements && buffer->loop_carried; ++e)
      unit->slots[i][e] = referenceFromBits(unit->unit->inputs[0].dtype, buffer->initial);
  }
}

static void prepareAccumulators(Reference *reference, Unit *unit) {
  const SambaCompute *compute = &unit->unit->compute;
  uint64_t points = product(compute->trips, compute->token_level, compute->counter_count);
  unit->accumulators =
      SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue *, compute->program.op_count);
  for (uint32_t i = 0; i < compute->program.op_count; ++i)
    unit->accumulators[i] =
        SAMBA_ARENA_ARRAY(&reference->arena, ReferenceValue, points * reference->lanes);
}

static void prepare(Reference *reference) {
  const SambaSection *s = reference->section;
  reference->units = SAMBA_ARENA_ARRAY(&reference->arena, Unit, s->unit_count);
  for (uint32_t u = 0; u < s->unit_count; ++u) {
    Unit *unit = &reference->units[u];
    const SambaUnit *record = unit->unit = &s->units[u];
    unit->inputs = SAMBA_ARENA_ARRAY(&reference->arena, Port, record->input_count);
    unit->outputs = SAMBA_ARENA_ARRAY(&reference->arena, Port, record->output_count);
    unit->held = SAMBA_ARENA_ARRAY(&reference->arena, Token, record->input_count);
    for (uint32_t p = 0; p < record->input_count; ++p)
      unit->inputs[p] = (Port){
          .port = &record->inputs[p],
          .queues = SAMBA_ARENA_ARRAY(&reference->arena, Queue *, record->inputs[p].stream_count)};
    if (record->kind == SAMBA_UNIT_BUFFER)
      prepareSlots(reference, unit);
    else if (record->kind == SAMBA_UNIT_COMPUTE)
      prepareAccumulators(reference, unit);
  }

  for (uint32_t u = 0; u < s->unit_count; ++u)
    for (uint32_t p = 0; p < s->units[u].output_count; ++p) {
      Port *port = &reference->units[u].outputs[p];
      *port = (Port){.port = &s->units[u].outputs[p],
                     .queues = SAMBA_ARENA_ARRAY(&reference->arena, Queue *, 64)};
      uint32_t at = 0;
      for (uint32_t i = 0; i < port->port->stream_count; ++i) {
        const SambaStream *stream = &s->streams[port->port->streams[i]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          Queue *queue = port->queues[at++] = SAMBA_ARENA_NEW(&reference->arena, Queue);
          Port *end =
              &reference->units[stream->destinations[d].unit].inputs[stream->destinations[d].port];
          for (uint32_t j = 0; j < end->port->stream_count; ++j)
            if (end->port->streams[j] == port->port->streams[i])
              end->queues[j] = queue;
        }
      }
    }
}

bool referenceRun(const SambaSection *section, const SambaBinding *bindings, const uint64_t *argins,
                  int lanes) {
  Reference reference = {
      .section = section, .bindings = bindings, .argins = argins, .lanes = lanes};
  prepare(&reference);
  bool ok = true;

  for (bool progress = true; progress && ok;) {
    progress = false;
    for (uint32_t u = 0; u < section->unit_count && ok; ++u) {
      Unit *unit = &reference.units[u];
      SambaUnitKind kind = section->units[u].kind;
      if (kind == SAMBA_UNIT_BUFFER)
        progress |= stepBuffer(&reference, unit);
      else if (kind == SAMBA_UNIT_COMPUTE)
        progress |= stepCompute(&reference, unit);
      else
        progress |= stepMemory(&reference, unit, kind == SAMBA_UNIT_STORE);
      ok &= !unit->failed;
    }
  }

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    Unit *unit = &reference.units[u];
    for (uint32_t p = 0; p < section->units[u].input_count; ++p)
      for (uint32_t s = 0; s < section->units[u].inputs[p].stream_count; ++s) {
        Queue *q = unit->inputs[p].queues[s];
        ok &= q->head == q->tokens.size;
        sambaArrayFree(&q->tokens);
      }
  }

  sambaArenaDestroy(&reference.arena);
  return ok;
}
