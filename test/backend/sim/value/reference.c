/* The naive interpreter; see reference.h. */
#include "test/backend/sim/value/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Value {
  float f;
  int64_t i;
} Value;

typedef struct Token {
  Value *values;
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
  Value **slots;
  Value **accumulators; /* per op: [point][lane] */
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
static void digits(uint64_t step, const uint32_t *trips, uint32_t from, uint32_t to, uint32_t *counters) {
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

static void put(Reference *r, Port *port, Token token) {
  uint32_t turn = streamOfTurn(port), first = 0;
  for (uint32_t s = 0; s < turn; ++s)
    first += r->section->streams[port->port->streams[s]].destination_count;
  for (uint32_t d = 0; d < r->section->streams[port->port->streams[turn]].destination_count; ++d)
    sambaArrayAppend(&port->queues[first + d]->tokens, token);
  ++port->turns;
}

static Value fromBits(SambaDType dtype, uint64_t bits) {
  Value v = {0, 0};
  uint32_t low = (uint32_t)bits;
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    memcpy(&v.f, &low, 4);
    break;
  case SAMBA_DTYPE_BF16:
    v.f = sambaBf16ToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_F16:
    v.f = sambaHalfToFloat((uint16_t)bits);
    break;
  case SAMBA_DTYPE_I1:
    v.i = (uint8_t)bits != 0;
    break;
  case SAMBA_DTYPE_I8:
    v.i = (int8_t)bits;
    break;
  case SAMBA_DTYPE_UI8:
    v.i = (uint8_t)bits;
    break;
  case SAMBA_DTYPE_I16:
    v.i = (int16_t)bits;
    break;
  case SAMBA_DTYPE_I32:
    v.i = (int32_t)bits;
    break;
  default:
    v.i = (int64_t)bits;
    break;
  }
  return v;
}

static uint64_t toBits(SambaDType dtype, Value v) {
  uint32_t low;
  switch (dtype) {
  case SAMBA_DTYPE_F32:
    if (isnan(v.f))
      return 0x7FC00000;
    memcpy(&low, &v.f, 4);
    return low;
  case SAMBA_DTYPE_BF16:
    return sambaFloatToBf16(v.f);
  case SAMBA_DTYPE_F16:
    return sambaFloatToHalf(v.f);
  case SAMBA_DTYPE_I1:
    return v.i & 1;
  default:
    return (uint64_t)v.i;
  }
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
static int64_t indexAddend(const SambaAccess *access, const Token *index, const uint32_t *counters, bool *ok) {
  if (!access->has_index)
    return 0;
  uint64_t at = 0;
  for (uint32_t c = access->token_level; c < access->token_level + access->index_counters; ++c)
    at = at * access->trips[c] + counters[c];
  int64_t value = index->values[at].i;
  *ok &= value >= 0 && value < access->index_limit;
  return value * access->index_stride;
}

static bool stepMemory(Reference *r, Unit *unit, bool store) {
  const SambaUnit *u = unit->unit;
  Port *data = store ? &unit->inputs[0] : &unit->outputs[0];
  const SambaAccess *access = &data->port->access;
  if (unit->fired == product(access->trips, 0, access->token_level))
    return false;
  for (uint32_t i = 0; i < u->input_count; ++i)
    if (!hasToken(&unit->inputs[i]))
      return false;
  Token index = {NULL}, token = {NULL};
  if (store)
    token = take(&unit->inputs[0]);
  if (access->has_index)
    index = take(&unit->inputs[store]);
  for (uint32_t i = store + access->has_index; i < u->input_count; ++i)
    take(&unit->inputs[i]);
  uint64_t count = product(access->trips, access->token_level, access->counter_count);
  if (!store)
    token.values = SAMBA_ARENA_ARRAY(&r->arena, Value, count);
  uint32_t counters[64], bytes = sambaDTypeBytes(data->port->dtype);
  digits(unit->fired, access->trips, 0, access->token_level, counters);
  bool ok = true;
  for (uint64_t e = 0; e < count; ++e) {
    digits(e, access->trips, access->token_level, access->counter_count, counters);
    bool on = enabled(access, counters);
    int64_t address = addressOf(access, counters) + indexAddend(access, &index, counters, &ok);
    if (!on) {
      if (!store)
        token.values[e] = fromBits(data->port->dtype, access->fill);
      continue;
    }
    ok &= address >= 0 && address < (int64_t)r->section->symbols[u->symbol].elements;
    if (!ok) {
      unit->failed = true;
      return false;
    }
    uint8_t *at = r->bindings[u->symbol].data + address * bytes;
    uint64_t bits = 0;
    if (store) {
      bits = toBits(data->port->dtype, token.values[e]);
      memcpy(at, &bits, bytes);
    } else {
      memcpy(&bits, at, bytes);
      token.values[e] = fromBits(data->port->dtype, bits);
    }
  }
  if (!store)
    put(r, &unit->outputs[0], token);
  for (uint32_t i = 0; i < u->output_count && store; ++i)
    put(r, &unit->outputs[i], (Token){NULL});
  ++unit->fired;
  return true;
}

static uint64_t slotsDone(const Port *port) {
  const SambaAccess *a = &port->port->access;
  return port->fired / product(a->trips, a->slot_level, a->token_level);
}

static bool stepBufferPort(Reference *r, Unit *unit, Port *port, bool read) {
  const SambaUnit *u = unit->unit;
  const SambaAccess *access = &port->port->access;
  if (port->fired == product(access->trips, 0, access->token_level) || (!read && !hasToken(port)))
    return false;
  uint64_t slot = slotsDone(port);
  for (uint32_t i = 0; i < (read ? u->input_count : u->output_count); ++i) {
    uint64_t other = slotsDone(read ? &unit->inputs[i] : &unit->outputs[i]);
    uint64_t limit = other + (read == u->loop_carried ? u->slot_count : 0);
    if (slot >= limit)
      return false;
  }
  Value *memory = unit->slots[slot % u->slot_count];
  uint64_t count = product(access->trips, access->token_level, access->counter_count);
  Token token = read ? (Token){SAMBA_ARENA_ARRAY(&r->arena, Value, count)} : take(port);
  uint32_t counters[64];
  digits(port->fired, access->trips, 0, access->token_level, counters);
  for (uint64_t e = 0; e < count; ++e) {
    digits(e, access->trips, access->token_level, access->counter_count, counters);
    bool on = enabled(access, counters);
    if (read)
      token.values[e] = on ? memory[addressOf(access, counters)] : fromBits(port->port->dtype, access->fill);
    else if (on)
      memory[addressOf(access, counters)] = token.values[e];
  }
  ++port->fired;
  if (read)
    put(r, port, token);
  return true;
}

static bool stepBuffer(Reference *r, Unit *unit) {
  bool progress = false;
  for (uint32_t i = 0; i < unit->unit->input_count; ++i)
    progress |= stepBufferPort(r, unit, &unit->inputs[i], false);
  for (uint32_t i = 0; i < unit->unit->output_count; ++i)
    progress |= stepBufferPort(r, unit, &unit->outputs[i], true);
  return progress;
}

static int64_t wrap(int64_t value, SambaDType dtype) { return fromBits(dtype, (uint64_t)value).i; }

static float minimumOf(float a, float b, bool maximum) {
  if (isnan(a) || isnan(b))
    return NAN;
  if (a == b)
    return !signbit(a) == maximum ? a : b;
  return (a < b) == !maximum ? a : b;
}

static float unaryFloat(uint8_t opcode, float x) {
  switch (opcode) {
  case SAMBA_LANE_EXP:
    return (float)exp((double)x);
  case SAMBA_LANE_LOG:
    return (float)log((double)x);
  case SAMBA_LANE_SQRT:
    return sqrtf(x);
  case SAMBA_LANE_RSQRT:
    return 1.0f / sqrtf(x);
  case SAMBA_LANE_TANH:
    return (float)tanh((double)x);
  case SAMBA_LANE_ERF:
    return (float)erf((double)x);
  case SAMBA_LANE_SIN:
    return (float)sin((double)x);
  case SAMBA_LANE_COS:
    return (float)cos((double)x);
  case SAMBA_LANE_EXPM1:
    return (float)expm1((double)x);
  case SAMBA_LANE_LOG1P:
    return (float)log1p((double)x);
  case SAMBA_LANE_ATAN:
    return (float)atan((double)x);
  case SAMBA_LANE_FLOOR:
    return floorf(x);
  case SAMBA_LANE_CEIL:
    return ceilf(x);
  case SAMBA_LANE_ROUNDEVEN:
    return rintf(x);
  case SAMBA_LANE_TRUNC:
    return truncf(x);
  case SAMBA_LANE_NEG:
    return -x;
  case SAMBA_LANE_ABS:
    return fabsf(x);
  case SAMBA_LANE_TO_BF16:
    return sambaBf16ToFloat(sambaFloatToBf16(x));
  case SAMBA_LANE_TO_F16:
    return sambaHalfToFloat(sambaFloatToHalf(x));
  default:
    return x;
  }
}

static Value compareOf(uint8_t opcode, bool real, Value a, Value b) {
  bool less = real ? a.f < b.f : a.i < b.i, equal = real ? a.f == b.f : a.i == b.i,
       greater = real ? a.f > b.f : a.i > b.i;
  const bool results[] = {equal, !equal, less, less || equal, greater, greater || equal};
  return (Value){0, results[opcode - SAMBA_LANE_EQ]};
}

static Value floatOp(uint8_t opcode, const Value *v) {
  switch (opcode) {
  case SAMBA_LANE_ADD:
    return (Value){v[0].f + v[1].f, 0};
  case SAMBA_LANE_SUB:
    return (Value){v[0].f - v[1].f, 0};
  case SAMBA_LANE_MUL:
    return (Value){v[0].f * v[1].f, 0};
  case SAMBA_LANE_FMA:
    return (Value){fmaf(v[0].f, v[1].f, v[2].f), 0};
  case SAMBA_LANE_DIV:
    return (Value){v[0].f / v[1].f, 0};
  case SAMBA_LANE_REM:
    return (Value){fmodf(v[0].f, v[1].f), 0};
  case SAMBA_LANE_MIN:
    return (Value){minimumOf(v[0].f, v[1].f, false), 0};
  case SAMBA_LANE_MAX:
    return (Value){minimumOf(v[0].f, v[1].f, true), 0};
  case SAMBA_LANE_POW:
    return (Value){(float)pow((double)v[0].f, (double)v[1].f), 0};
  case SAMBA_LANE_SELECT:
    return v[0].i ? v[1] : v[2];
  default:
    return (Value){unaryFloat(opcode, v[0].f), 0};
  }
}

static int64_t powerOf(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  uint64_t result = 1;
  for (uint64_t square = (uint64_t)base; exponent; exponent >>= 1, square *= square)
    result *= exponent & 1 ? square : 1;
  return (int64_t)result;
}

/* Exact in 128 bits, wrapped by the caller. */
static __int128 integerOp(uint8_t opcode, int bits, __int128 a, __int128 b, __int128 c, int64_t condition) {
  int amount = (int)(b & (bits - 1));
  unsigned __int128 mask = bits == 64 ? (unsigned __int128)UINT64_MAX : (unsigned __int128)UINT32_MAX;
  switch (opcode) {
  case SAMBA_LANE_ADD:
    return a + b;
  case SAMBA_LANE_SUB:
    return a - b;
  case SAMBA_LANE_MUL:
    return a * b;
  case SAMBA_LANE_FMA:
    return (__int128)((unsigned __int128)a * (unsigned __int128)b + (unsigned __int128)c);
  case SAMBA_LANE_DIV:
    return b == 0 ? 0 : a / b;
  case SAMBA_LANE_REM:
    return b == 0 ? 0 : a % b;
  case SAMBA_LANE_POW:
    return powerOf((int64_t)a, (int64_t)b);
  case SAMBA_LANE_NEG:
    return -a;
  case SAMBA_LANE_ABS:
    return a < 0 ? -a : a;
  case SAMBA_LANE_MIN:
    return a < b ? a : b;
  case SAMBA_LANE_MAX:
    return a > b ? a : b;
  case SAMBA_LANE_AND:
    return a & b;
  case SAMBA_LANE_OR:
    return a | b;
  case SAMBA_LANE_XOR:
    return a ^ b;
  case SAMBA_LANE_SHL:
    return (__int128)((unsigned __int128)a << amount);
  case SAMBA_LANE_SHRA:
    return a >> amount;
  case SAMBA_LANE_SHRL:
    return (__int128)(((unsigned __int128)a & mask) >> amount);
  case SAMBA_LANE_SELECT:
    return condition ? b : c;
  default:
    return a;
  }
}

static int64_t saturate(float x, SambaDType type) {
  if (isnan(x))
    return 0;
  double low = type == SAMBA_DTYPE_I64 ? -0x1p63 : -0x1p31, high = -low;
  if ((double)x < low)
    return type == SAMBA_DTYPE_I64 ? INT64_MIN : INT32_MIN;
  if ((double)x >= high)
    return type == SAMBA_DTYPE_I64 ? INT64_MAX : INT32_MAX;
  return (int64_t)x;
}

static Value evaluate(const SambaLaneOp *op, const Value *v) {
  SambaDType type = (SambaDType)op->type;
  bool real = type == SAMBA_DTYPE_F32;
  switch (op->opcode) {
  case SAMBA_LANE_FLOAT_TO_INT:
    return (Value){0, saturate(v[0].f, type)};
  case SAMBA_LANE_INT_TO_FLOAT:
    return (Value){(float)v[0].i, 0};
  case SAMBA_LANE_INT_RESIZE:
    return (Value){0, type == SAMBA_DTYPE_I1 ? v[0].i != 0 : wrap(v[0].i, type)};
  case SAMBA_LANE_WRAP:
    return (Value){0, op->immediate == SAMBA_DTYPE_I1 ? v[0].i & 1 : wrap(v[0].i, (SambaDType)op->immediate)};
  case SAMBA_LANE_MOVE:
    return v[0];
  default:
    break;
  }
  if (op->opcode >= SAMBA_LANE_EQ && op->opcode <= SAMBA_LANE_GE)
    return compareOf(op->opcode, real, v[0], v[1]);
  if (real)
    return floatOp(op->opcode, v);
  int bits = type == SAMBA_DTYPE_I64 ? 64 : 32;
  return (Value){0, wrap((int64_t)integerOp(op->opcode, bits, v[0].i, v[1].i, v[2].i, v[0].i), type)};
}

static Value identity(const SambaLaneOp *op) {
  bool wide = op->type == SAMBA_DTYPE_I64, bit = op->type == SAMBA_DTYPE_I1;
  switch (op->opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    return (Value){1, 1};
  case SAMBA_LANE_REDUCE_MIN:
    return (Value){INFINITY, bit ? 1 : wide ? INT64_MAX : INT32_MAX};
  case SAMBA_LANE_REDUCE_MAX:
    return (Value){-INFINITY, bit ? 0 : wide ? INT64_MIN : INT32_MIN};
  case SAMBA_LANE_REDUCE_AND:
    return (Value){0, bit ? 1 : -1};
  default:
    return (Value){0, 0};
  }
}

static Value combine(const SambaLaneOp *op, Value a, Value b) {
  static const uint8_t plain[] = {SAMBA_LANE_ADD, SAMBA_LANE_MUL, SAMBA_LANE_MIN, SAMBA_LANE_MAX,
                                  SAMBA_LANE_AND, SAMBA_LANE_OR,  SAMBA_LANE_ADD};
  SambaLaneOp simple = {.opcode = plain[op->opcode - SAMBA_LANE_REDUCE_ADD], .type = op->type};
  const Value operands[3] = {a, b, {0, 0}};
  return evaluate(&simple, operands);
}

static Value accumulate(const SambaLaneOp *op, Value sum, Value a, Value b) {
  if (op->opcode != SAMBA_LANE_MAC)
    return combine(op, sum, a);
  SambaLaneOp fma = {.opcode = SAMBA_LANE_FMA, .type = op->type};
  const Value operands[3] = {a, b, sum};
  return evaluate(&fma, operands);
}

/* The chain's step `counters` of one firing: all of the program that runs there. */
static void stepProgram(Reference *r, Unit *unit, const uint32_t *counters, uint64_t point, uint64_t element, bool last,
                        Token *made) {
  const SambaUnit *u = unit->unit;
  Value values[512];
  bool depends[512] = {false};
  int lanes = u->program.lane_reduce && !u->program.systolic ? r->lanes : 1;
  for (uint32_t i = 0; i < u->input_count; ++i) {
    int64_t at = u->inputs[i].offset;
    for (uint32_t c = u->token_level; c < u->counter_count; ++c)
      at += u->inputs[i].strides[c] * counters[c];
    values[i] = unit->held[i].values[at];
  }
  for (uint32_t i = 0; i < u->program.op_count; ++i) {
    const SambaLaneOp *op = &u->program.ops[i];
    uint32_t id = u->input_count + i;
    Value operands[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (int j = 0; j < sambaLaneOpOperands(op->opcode); ++j) {
      operands[j] = values[op->operands[j]];
      depends[id] |= depends[op->operands[j]];
    }
    if (op->opcode == SAMBA_LANE_CONSTANT || op->opcode == SAMBA_LANE_ARGIN) {
      values[id] =
          fromBits((SambaDType)op->type, op->opcode == SAMBA_LANE_ARGIN ? r->argins[op->immediate] : op->immediate);
    } else if (op->opcode == SAMBA_LANE_COUNTER) {
      values[id] = (Value){(float)counters[op->immediate], wrap(counters[op->immediate], (SambaDType)op->type)};
    } else if (sambaLaneOpClass(op->opcode) == 'R') {
      depends[id] = true;
      Value *sums = unit->accumulators[i] + point * (uint64_t)lanes;
      for (int l = 0; l < lanes && element == 0; ++l)
        sums[l] = identity(op);
      Value *sum = &sums[element % (uint64_t)lanes];
      *sum = accumulate(op, *sum, operands[0], operands[1]);
      if (last)
        for (int live = lanes, half = (live + 1) / 2; live > 1; live = half, half = (half + 1) / 2)
          for (int l = 0; l + half < live; ++l)
            sums[l] = combine(op, sums[l], sums[l + half]);
      values[id] = sums[0];
    } else if (last || !depends[id]) {
      values[id] = evaluate(op, operands);
    }
  }
  for (uint32_t i = 0; i < u->output_count; ++i) {
    if (depends[u->outputs[i].value] && !last)
      continue;
    int64_t at = u->outputs[i].offset;
    for (uint32_t c = u->token_level; c < u->counter_count; ++c)
      at += u->outputs[i].strides[c] * counters[c];
    Value v = values[u->outputs[i].value];
    made[i].values[at] = fromBits(u->outputs[i].dtype, toBits(u->outputs[i].dtype, v));
  }
}

static bool stepCompute(Reference *r, Unit *unit) {
  const SambaUnit *u = unit->unit;
  if (unit->fired == product(u->trips, 0, u->token_level))
    return false;
  uint32_t counters[64];
  digits(unit->fired, u->trips, 0, u->token_level, counters);
  bool fresh[64];
  for (uint32_t i = 0; i < u->input_count; ++i) {
    fresh[i] = unit->fired % product(u->trips, u->inputs[i].level, u->token_level) == 0;
    if (fresh[i] && !hasToken(&unit->inputs[i]))
      return false;
  }
  for (uint32_t i = 0; i < u->input_count; ++i)
    if (fresh[i])
      unit->held[i] = take(&unit->inputs[i]);
  Token made[32];
  for (uint32_t i = 0; i < u->output_count; ++i)
    made[i].values = SAMBA_ARENA_ARRAY(&r->arena, Value, u->outputs[i].token_elements);
  uint64_t steps = product(u->trips, u->token_level, u->counter_count);
  for (uint64_t s = 0; s < steps; ++s) {
    digits(s, u->trips, u->token_level, u->counter_count, counters);
    uint64_t point = 0, element = 0;
    bool last = true;
    for (uint32_t c = 0; c < u->counter_count; ++c) {
      if (u->program.reduce_mask >> c & 1) {
        element = element * u->trips[c] + counters[c];
        last &= counters[c] + 1 == u->trips[c];
      } else if (c >= u->token_level) {
        point = point * u->trips[c] + counters[c];
      }
    }
    stepProgram(r, unit, counters, point, element, last, made);
  }
  ++unit->fired;
  for (uint32_t i = 0; i < u->output_count; ++i)
    if (unit->fired % product(u->trips, u->outputs[i].level, u->token_level) == 0)
      put(r, &unit->outputs[i], made[i]);
  return true;
}

static void prepare(Reference *r) {
  const SambaSection *s = r->section;
  r->units = SAMBA_ARENA_ARRAY(&r->arena, Unit, s->unit_count);
  for (uint32_t u = 0; u < s->unit_count; ++u) {
    Unit *unit = &r->units[u];
    const SambaUnit *record = unit->unit = &s->units[u];
    unit->inputs = SAMBA_ARENA_ARRAY(&r->arena, Port, record->input_count);
    unit->outputs = SAMBA_ARENA_ARRAY(&r->arena, Port, record->output_count);
    unit->held = SAMBA_ARENA_ARRAY(&r->arena, Token, record->input_count);
    for (uint32_t p = 0; p < record->input_count; ++p)
      unit->inputs[p] = (Port){.port = &record->inputs[p],
                               .queues = SAMBA_ARENA_ARRAY(&r->arena, Queue *, record->inputs[p].stream_count)};
    unit->slots = SAMBA_ARENA_ARRAY(&r->arena, Value *, record->slot_count);
    for (uint32_t i = 0; i < record->slot_count && record->kind == SAMBA_UNIT_BUFFER; ++i) {
      unit->slots[i] = SAMBA_ARENA_ARRAY(&r->arena, Value, record->slot_elements);
      for (uint64_t e = 0; e < record->slot_elements && record->loop_carried; ++e)
        unit->slots[i][e] = fromBits(record->inputs[0].dtype, record->initial);
    }
    unit->accumulators = SAMBA_ARENA_ARRAY(&r->arena, Value *, record->program.op_count);
    for (uint32_t i = 0; i < record->program.op_count && record->kind == SAMBA_UNIT_COMPUTE; ++i)
      unit->accumulators[i] = SAMBA_ARENA_ARRAY(
          &r->arena, Value, product(record->trips, record->token_level, record->counter_count) * (uint64_t)r->lanes);
  }
  for (uint32_t u = 0; u < s->unit_count; ++u)
    for (uint32_t p = 0; p < s->units[u].output_count; ++p) {
      Port *port = &r->units[u].outputs[p];
      *port = (Port){.port = &s->units[u].outputs[p], .queues = SAMBA_ARENA_ARRAY(&r->arena, Queue *, 64)};
      uint32_t at = 0;
      for (uint32_t i = 0; i < port->port->stream_count; ++i) {
        const SambaStream *stream = &s->streams[port->port->streams[i]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          Queue *queue = port->queues[at++] = SAMBA_ARENA_NEW(&r->arena, Queue);
          Port *end = &r->units[stream->destinations[d].unit].inputs[stream->destinations[d].port];
          for (uint32_t j = 0; j < end->port->stream_count; ++j)
            if (end->port->streams[j] == port->port->streams[i])
              end->queues[j] = queue;
        }
      }
    }
}

bool referenceRun(const SambaSection *section, const SambaBinding *bindings, const uint64_t *argins, int lanes) {
  Reference r = {.section = section, .bindings = bindings, .argins = argins, .lanes = lanes};
  prepare(&r);
  bool ok = true;
  for (bool progress = true; progress && ok;) {
    progress = false;
    for (uint32_t u = 0; u < section->unit_count && ok; ++u) {
      Unit *unit = &r.units[u];
      SambaUnitKind kind = section->units[u].kind;
      progress |= kind == SAMBA_UNIT_BUFFER    ? stepBuffer(&r, unit)
                  : kind == SAMBA_UNIT_COMPUTE ? stepCompute(&r, unit)
                                               : stepMemory(&r, unit, kind == SAMBA_UNIT_STORE);
      ok &= !unit->failed;
    }
  }
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    Unit *unit = &r.units[u];
    for (uint32_t p = 0; p < section->units[u].input_count; ++p)
      for (uint32_t s = 0; s < section->units[u].inputs[p].stream_count; ++s) {
        Queue *q = unit->inputs[p].queues[s];
        ok &= q->head == q->tokens.size;
        sambaArrayFree(&q->tokens);
      }
  }
  sambaArenaDestroy(&r.arena);
  return ok;
}
