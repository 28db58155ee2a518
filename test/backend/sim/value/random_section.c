/* Seeded random sections; see random_section.h. */
#include "test/backend/sim/value/random_section.h"

#include "test/backend/sim/value/random_passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t upTo(uint32_t n) { return 1 + (uint32_t)(lrand48() % n); } /* 1..n */
static bool chance(int percent) { return lrand48() % 100 < percent; }

static const SambaDType F = SAMBA_DTYPE_F32;

static void fillSymbol(Builder *builder, uint32_t symbol, int64_t index_limit) {
  const SambaFormal *formal = &builder->section.symbols[symbol];
  bool wild = chance(20);

  for (uint64_t i = 0; i < formal->elements; ++i) {
    uint8_t *at = builder->bindings[symbol].data + i * sambaDTypeBytes(formal->dtype);
    float value = (float)(drand48() * 8 - 4);
    if (wild && chance(10)) {
      static const float odd[] = {0.0f,   -0.0f,  INFINITY, -INFINITY, NAN,
                                  1e-42f, -3e38f, 1e38f,    65519.0f,  3e-8f};
      value = odd[lrand48() % 10];
    }
    uint16_t narrow =
        formal->dtype == SAMBA_DTYPE_F16 ? sambaFloatToHalf(value) : sambaFloatToBf16(value);
    uint64_t integer;
    if (index_limit)
      integer = (uint64_t)(lrand48() % index_limit);
    else if (chance(50))
      integer = (uint64_t)(lrand48() % 9 - 4);
    else
      integer = (uint64_t)mrand48() * 0x100000001u;
    if (formal->dtype == F)
      memcpy(at, &value, 4);
    else if (sambaDTypeIsFloat(formal->dtype))
      memcpy(at, &narrow, 2);
    else if (formal->dtype == SAMBA_DTYPE_I1)
      *at = integer & 1;
    else
      memcpy(at, &integer, sambaDTypeBytes(formal->dtype));
  }
}

static SambaDType laneType(SambaDType dtype) {
  if (sambaDTypeIsFloat(dtype))
    return F;
  return dtype == SAMBA_DTYPE_I1 || dtype == SAMBA_DTYPE_I64 ? dtype : SAMBA_DTYPE_I32;
}

/* --- random programs --- */

typedef struct Pool {
  uint32_t ids[300];
  SambaDType types[300];
  int count;
} Pool;

static void addValue(Pool *pool, uint32_t id, SambaDType type) {
  pool->ids[pool->count] = id, pool->types[pool->count++] = type;
}

/* A value of this type; makes a constant when there is none. */
static uint32_t pickValue(Builder *builder, uint32_t unit, Pool *pool, SambaDType type) {
  for (int tries = 0; tries < 12; ++tries) {
    int i = (int)(lrand48() % pool->count);
    if (pool->types[i] == type)
      return pool->ids[i];
  }

  float value = (float)(drand48() * 4 - 2);
  uint32_t bits;
  memcpy(&bits, &value, 4);
  uint64_t immediate = bits;
  if (type == SAMBA_DTYPE_I1)
    immediate = (uint64_t)chance(50);
  else if (type == SAMBA_DTYPE_I64)
    immediate = (uint64_t)(lrand48() % 100 - 50);
  else if (type != F)
    immediate = (uint32_t)(lrand48() % 100 - 50);
  uint32_t id = builderOp(builder, unit, SAMBA_LANE_CONSTANT, type, 0, 0, 0, immediate);
  addValue(pool, id, type);

  return id;
}

/* Appends a random lane operation whose result has this type. */
static uint32_t randomOp(Builder *builder, uint32_t unit, Pool *pool, SambaDType type) {
  static const uint8_t real[] = {SAMBA_LANE_ADD,    SAMBA_LANE_SUB,          SAMBA_LANE_MUL,
                                 SAMBA_LANE_FMA,    SAMBA_LANE_DIV,          SAMBA_LANE_REM,
                                 SAMBA_LANE_NEG,    SAMBA_LANE_ABS,          SAMBA_LANE_MIN,
                                 SAMBA_LANE_MAX,    SAMBA_LANE_SELECT,       SAMBA_LANE_FLOOR,
                                 SAMBA_LANE_CEIL,   SAMBA_LANE_ROUNDEVEN,    SAMBA_LANE_TRUNC,
                                 SAMBA_LANE_SQRT,   SAMBA_LANE_RSQRT,        SAMBA_LANE_TO_BF16,
                                 SAMBA_LANE_TO_F16, SAMBA_LANE_INT_TO_FLOAT, SAMBA_LANE_MOVE};
  static const uint8_t integer[] = {
      SAMBA_LANE_ADD,    SAMBA_LANE_SUB,          SAMBA_LANE_MUL,        SAMBA_LANE_FMA,
      SAMBA_LANE_DIV,    SAMBA_LANE_REM,          SAMBA_LANE_NEG,        SAMBA_LANE_ABS,
      SAMBA_LANE_MIN,    SAMBA_LANE_MAX,          SAMBA_LANE_AND,        SAMBA_LANE_OR,
      SAMBA_LANE_XOR,    SAMBA_LANE_SHL,          SAMBA_LANE_SHRA,       SAMBA_LANE_SHRL,
      SAMBA_LANE_SELECT, SAMBA_LANE_FLOAT_TO_INT, SAMBA_LANE_INT_RESIZE, SAMBA_LANE_WRAP,
      SAMBA_LANE_POW};
  static const uint8_t bit[] = {SAMBA_LANE_AND, SAMBA_LANE_OR, SAMBA_LANE_XOR, SAMBA_LANE_SELECT,
                                SAMBA_LANE_EQ,  SAMBA_LANE_NE, SAMBA_LANE_LT,  SAMBA_LANE_LE,
                                SAMBA_LANE_GT,  SAMBA_LANE_GE};
  uint8_t opcode;
  if (type == F)
    opcode = real[lrand48() % (long)sizeof real];
  else if (type == SAMBA_DTYPE_I1)
    opcode = bit[lrand48() % (long)sizeof bit];
  else
    opcode = integer[lrand48() % (long)sizeof integer];
  static const SambaDType wide[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_I32, SAMBA_DTYPE_I64};
  static const SambaDType whole[] = {SAMBA_DTYPE_I32, SAMBA_DTYPE_I64, SAMBA_DTYPE_I1};
  static const SambaDType narrow[] = {SAMBA_DTYPE_I8, SAMBA_DTYPE_UI8, SAMBA_DTYPE_I16,
                                      SAMBA_DTYPE_I1};
  SambaDType of = type, first = type;
  uint64_t immediate = 0;

  if (opcode == SAMBA_LANE_WRAP && type != SAMBA_DTYPE_I32)
    opcode = SAMBA_LANE_ADD;
  if (opcode >= SAMBA_LANE_EQ && opcode <= SAMBA_LANE_GE)
    of = first = wide[lrand48() % 3];
  else if (opcode == SAMBA_LANE_SELECT)
    first = SAMBA_DTYPE_I1;
  else if (opcode == SAMBA_LANE_INT_TO_FLOAT)
    of = first = whole[lrand48() % 3];
  else if (opcode == SAMBA_LANE_FLOAT_TO_INT)
    first = F;
  else if (opcode == SAMBA_LANE_INT_RESIZE)
    first = whole[lrand48() % 3];
  else if (opcode == SAMBA_LANE_WRAP)
    immediate = narrow[lrand48() % 4];
  int operands = sambaLaneOpOperands(opcode);
  uint32_t a = pickValue(builder, unit, pool, first);
  uint32_t c = operands > 1 ? pickValue(builder, unit, pool, of) : 0;
  uint32_t d = operands > 2 ? pickValue(builder, unit, pool, of) : 0;
  uint32_t id = builderOp(builder, unit, opcode, of, a, c, d, immediate);
  addValue(pool, id, type);

  return id;
}

static SambaDType randomLaneType(void) {
  static const SambaDType types[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_F32, SAMBA_DTYPE_I32,
                                     SAMBA_DTYPE_I64, SAMBA_DTYPE_I1};
  return types[lrand48() % 5];
}

static SambaDType randomDType(void) {
  return (SambaDType)(chance(40) ? 0 : lrand48() % SAMBA_DTYPE_COUNT);
}

/* --- elementwise programs and reductions over random strides --- */

/* The walk of a token in the order in which a unit uses it, over memory in another order: some of
 * the unit's inner counters, the stride of each in memory, and in the token. */
typedef struct Walk {
  uint32_t trips[9], count; /* the first counter steps from token to token */
  int64_t memory[9], token[8];
  uint64_t size;
} Walk;

/* Counters of `unit` that are not in `left_out`, some more left out with chance `broadcast`. */
static Walk randomWalk(const SambaUnit *unit, uint32_t tokens, uint64_t left_out, int broadcast) {
  uint32_t first = unit->compute.token_level, count = unit->compute.counter_count;
  Walk walk = {.trips = {tokens}, .count = 1, .size = 1};
  uint32_t order[8], used = 0;

  for (uint32_t c = first; c < count; ++c)
    if (!(left_out >> c & 1) && !chance(broadcast))
      order[used++] = c;
  for (uint32_t i = 0; i < used; ++i)
    walk.trips[walk.count++] = unit->compute.trips[order[i]];
  for (uint32_t i = used; i-- > 0;) {
    walk.token[order[i]] = (int64_t)walk.size;
    walk.size *= unit->compute.trips[order[i]];
  }

  uint32_t place[8]; /* a random order in memory */
  for (uint32_t i = 0; i < used; ++i)
    place[i] = i;
  for (uint32_t i = used; i-- > 1 && chance(40);) {
    uint32_t j = (uint32_t)(lrand48() % (i + 1));
    uint32_t swap = place[i];
    place[i] = place[j], place[j] = swap;
  }
  walk.memory[0] = (int64_t)walk.size;
  int64_t stride = 1;
  for (uint32_t i = used; i-- > 0;) {
    walk.memory[1 + place[i]] = stride;
    stride *= walk.trips[1 + place[i]];
  }
  return walk;
}

/* One input over random broadcasts of the counters, straight from a load or through a buffer. */
static void randomInput(Builder *builder, uint32_t unit, uint32_t level, uint64_t forbidden) {
  const SambaUnit *u = &builder->section.units[unit];
  uint32_t tokens = 1;
  for (uint32_t c = 0; c < level; ++c)
    tokens *= u->compute.trips[c];
  Walk walk = randomWalk(u, tokens, forbidden, 25);

  SambaDType dtype = randomDType();
  uint32_t symbol = builderSymbol(builder, "x", dtype, walk.size * tokens + 3, false);
  fillSymbol(builder, symbol, 0);
  uint32_t port =
      builderComputeInput(builder, unit, dtype, level, walk.size,
                          builderStrides(builder, u->compute.counter_count, walk.token));
  const uint32_t *trips = builderTrips(builder, walk.count, walk.trips);
  if (chance(50)) {
    uint32_t load = builderLoad(
        builder, symbol,
        builderAccess(walk.count, 1, trips, builderStrides(builder, walk.count, walk.memory)));
    builderStream(builder, load, 0, unit, port);
    return;
  }

  /* The slots have a hole behind each element. */
  uint32_t size = (uint32_t)walk.size;
  uint32_t load = builderLoad(
      builder, symbol,
      builderAccess(2, 1, TRIPS(builder, tokens, size), STRIDES(builder, (int64_t)size, 1)));
  uint32_t buffer = builderBuffer(builder, dtype, upTo(3), walk.size * 2);
  SambaAccess write = builderAccess(2, 1, TRIPS(builder, tokens, size), STRIDES(builder, 0, 2));
  walk.memory[0] = 0;
  for (uint32_t i = 1; i < walk.count; ++i)
    walk.memory[i] *= 2;
  SambaAccess read =
      builderAccess(walk.count, 1, trips, builderStrides(builder, walk.count, walk.memory));
  write.slot_level = read.slot_level = 1;
  builderBufferWrite(builder, buffer, write);
  builderBufferRead(builder, buffer, read);
  builderStream(builder, load, 0, buffer, 0);
  builderStream(builder, buffer, 0, unit, port);
}

/* An output over the counters that are not in `reduced`, stored in a random order. */
static void randomOutput(Builder *builder, uint32_t unit, uint32_t level, uint64_t reduced,
                         uint32_t value, SambaDType type) {
  const SambaUnit *u = &builder->section.units[unit];
  static const SambaDType reals[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_F32, SAMBA_DTYPE_BF16,
                                     SAMBA_DTYPE_F16};
  static const SambaDType whole[] = {SAMBA_DTYPE_I32, SAMBA_DTYPE_I8, SAMBA_DTYPE_UI8,
                                     SAMBA_DTYPE_I16};
  SambaDType dtype = type;
  if (type == F)
    dtype = reals[lrand48() % 4];
  else if (type == SAMBA_DTYPE_I32)
    dtype = whole[lrand48() % 4];

  uint32_t tokens = 1;
  for (uint32_t c = 0; c < level; ++c)
    tokens *= u->compute.trips[c];
  Walk walk = randomWalk(u, tokens, reduced, 0);
  uint32_t port =
      builderComputeOutput(builder, unit, dtype, level, walk.size,
                           builderStrides(builder, u->compute.counter_count, walk.token), value);
  uint32_t symbol = builderSymbol(builder, "o", dtype, walk.size * tokens + 2, true);
  uint32_t store =
      builderStore(builder, symbol,
                   builderAccess(walk.count, 1, builderTrips(builder, walk.count, walk.trips),
                                 builderStrides(builder, walk.count, walk.memory)));
  builderStream(builder, unit, port, store, 0);
}

/* Reductions of values in the pool; `after` gets what they make. */
static void randomReductions(Builder *builder, uint32_t unit, Pool *pool, Pool *after) {
  static const uint8_t real[] = {SAMBA_LANE_REDUCE_ADD, SAMBA_LANE_REDUCE_MUL,
                                 SAMBA_LANE_REDUCE_MIN, SAMBA_LANE_REDUCE_MAX, SAMBA_LANE_MAC};
  static const uint8_t logic[] = {SAMBA_LANE_REDUCE_AND, SAMBA_LANE_REDUCE_OR};
  uint32_t count = upTo(2);

  for (uint32_t i = 0; i < count; ++i) {
    SambaDType type = randomLaneType();
    uint8_t opcode = type == SAMBA_DTYPE_I1 || (type != F && chance(30)) ? logic[lrand48() % 2]
                                                                         : real[lrand48() % 5];
    uint32_t a = pickValue(builder, unit, pool, type);
    uint32_t c = opcode == SAMBA_LANE_MAC ? pickValue(builder, unit, pool, type) : 0;
    addValue(after, builderOp(builder, unit, opcode, type, a, c, 0, 0), type);
  }
}

/* The counters that a unit reduces over: inner ones and, from the innermost on, outer ones. Returns
 * the level of what is left. */
static uint32_t randomReduceMask(SambaUnit *unit, uint32_t outer, uint32_t inner) {
  uint64_t mask = 0;
  uint32_t level = outer;
  for (uint32_t c = outer; c < outer + inner; ++c)
    if (chance(50))
      mask |= UINT64_C(1) << c;
  while (level > 0 && chance(50))
    mask |= UINT64_C(1) << --level;
  if (!mask)
    mask = UINT64_C(1) << (outer + inner - 1);

  /* Only counters that really step separate levels. */
  unit->compute.program.reduce_mask = mask;
  unit->compute.program.lane_reduce = chance(60);
  return level;
}

static void randomProgram(Builder *builder, bool reduce) {
  uint32_t outer = upTo(2);
  uint32_t inner = upTo(3);
  uint32_t trips[8];

  for (uint32_t c = 0; c < outer; ++c)
    trips[c] = upTo(4);
  for (uint32_t c = outer; c < outer + inner; ++c)
    trips[c] = chance(20) ? upTo(40) : upTo(9);
  uint32_t unit =
      builderCompute(builder, outer + inner, outer, builderTrips(builder, outer + inner, trips));
  SambaUnit *u = &builder->section.units[unit];
  uint32_t level = reduce ? randomReduceMask(u, outer, inner) : outer;
  uint64_t mask = u->compute.program.reduce_mask;

  uint32_t varying = upTo(3);
  uint32_t fixed = reduce ? upTo(2) : 0;
  for (uint32_t i = 0; i < varying; ++i)
    randomInput(builder, unit, outer, 0);
  for (uint32_t i = 0; i < fixed; ++i)
    randomInput(builder, unit, level, mask);
  Pool pool = {.count = 0};
  Pool after = {.count = 0};
  for (uint32_t i = 0; i < varying + fixed; ++i)
    addValue(i < varying ? &pool : &after, i, laneType(u->inputs[i].dtype));
  if (chance(50)) {
    SambaDType type = chance(50) ? SAMBA_DTYPE_I32 : F;
    addValue(&pool,
             builderOp(builder, unit, SAMBA_LANE_COUNTER, type, 0, 0, 0,
                       (uint64_t)(lrand48() % (outer + inner))),
             type);
  }

  uint32_t value = 0;
  uint32_t length = upTo(10);
  SambaDType type = F;

  for (uint32_t i = 0; i < length; ++i)
    value = randomOp(builder, unit, &pool, type = randomLaneType());
  if (!reduce || chance(30))
    randomOutput(builder, unit, outer, 0, value, type);
  if (!reduce)
    return;

  randomReductions(builder, unit, &pool, &after);
  int last = after.count - 1;
  length = upTo(4) - 1;
  value = after.ids[last];
  type = after.types[last];

  /* Each uses the value before, so that the result depends on the reduction. */
  for (uint32_t i = 0; i < length; ++i) {
    SambaLaneOpcode opcode = type == SAMBA_DTYPE_I1 ? SAMBA_LANE_XOR : SAMBA_LANE_ADD;
    value =
        builderOp(builder, unit, opcode, type, value, pickValue(builder, unit, &after, type), 0, 0);
    addValue(&after, value, type);
  }

  randomOutput(builder, unit, level, mask, value, type);
}

/* --- matrix products --- */

/* The counters of a product inside a token: batch, m, n, kk in some order. */
typedef struct Product {
  uint32_t order[4], sizes[4];
  uint32_t tokens; /* of an operand */
} Product;

/* An operand of a product over some of its counters, which a load brings token by token. */
static void addFactor(Builder *builder, uint32_t unit, const Product *product, SambaDType dtype,
                      const char *name, uint64_t left_out) {
  Walk walk = randomWalk(&builder->section.units[unit], product->tokens, left_out, 0);
  uint32_t symbol = builderSymbol(builder, name, dtype, walk.size * product->tokens, false);
  fillSymbol(builder, symbol, 0);
  uint32_t load =
      builderLoad(builder, symbol,
                  builderAccess(walk.count, 1, builderTrips(builder, walk.count, walk.trips),
                                builderStrides(builder, walk.count, walk.memory)));
  uint32_t port = builderComputeInput(builder, unit, dtype, 2, walk.size,
                                      builderStrides(builder, 6, walk.token));
  builderStream(builder, load, 0, unit, port);
}

/* What is added to each n. Returns its value in the program. */
static uint32_t addBias(Builder *builder, uint32_t unit, const Product *product, SambaDType type) {
  uint32_t port = builder->section.units[unit].input_count;
  uint32_t n = product->sizes[2];
  int64_t strides[6] = {0};
  for (int i = 0; i < 4; ++i)
    strides[2 + i] = product->order[i] == 2;

  uint32_t symbol = builderSymbol(builder, "bias", type, n, false);
  fillSymbol(builder, symbol, 0);
  uint32_t load =
      builderLoad(builder, symbol, builderAccess(1, 0, TRIPS(builder, n), STRIDES(builder, 1)));
  builderComputeInput(builder, unit, type, 0, n, builderStrides(builder, 6, strides));
  builderStream(builder, load, 0, unit, port);
  return port;
}

static void randomMatmul(Builder *builder) {
  /* Counters: outer i, k; inner batch, m, n, kk: in a random order, or, on the array, steps of k
   * with rows and columns inside. */
  uint32_t im = upTo(3);
  uint32_t ik = upTo(3);
  bool systolic = chance(80);
  Product product = {.order = {0, 1, 2, 3},
                     .sizes = {systolic ? 1 : upTo(3), upTo(chance(30) ? 40 : 10),
                               upTo(chance(30) ? 40 : 10), upTo(12)},
                     .tokens = im * ik};
  uint32_t *order = product.order, *sizes = product.sizes;

  for (uint32_t i = 3; i > 0 && chance(70) && !systolic; --i) {
    uint32_t j = (uint32_t)(lrand48() % (i + 1));
    uint32_t swap = order[i];
    order[i] = order[j], order[j] = swap;
  }
  if (systolic) {
    bool columns_first = chance(50);
    order[1] = 3;
    order[2] = columns_first ? 2 : 1;
    order[3] = columns_first ? 1 : 2;
  }

  uint32_t trips[6] = {im, ik};
  uint64_t bit[4];
  for (int i = 0; i < 4; ++i) {
    trips[2 + i] = sizes[order[i]];
    bit[order[i]] = UINT64_C(1) << (2 + i);
  }
  bool integer = chance(20);
  static const SambaDType reals[] = {SAMBA_DTYPE_F32, SAMBA_DTYPE_BF16};
  SambaDType dtype = integer ? SAMBA_DTYPE_I8 : reals[lrand48() % 2];
  uint32_t unit = builderCompute(builder, 6, 2, builderTrips(builder, 6, trips));
  SambaUnit *u = &builder->section.units[unit];
  u->compute.program.systolic = systolic;
  u->compute.program.lane_reduce = !systolic && chance(50);
  u->compute.program.reduce_mask = 1 << 1 | bit[3];

  /* A: batch, m, k; B: (batch,) n, k. */
  bool shared = chance(40);
  addFactor(builder, unit, &product, dtype, "a", bit[2]);
  addFactor(builder, unit, &product, dtype, "b", bit[1] | (shared ? bit[0] : 0));

  SambaDType type = integer ? SAMBA_DTYPE_I32 : F;
  bool tail = chance(60);
  uint32_t bias = tail ? addBias(builder, unit, &product, type) : 0;
  bool on = tail && systolic && chance(50); /* the sums start at the bias */
  uint32_t value = builderOp(builder, unit, on ? SAMBA_LANE_MAC_ON : SAMBA_LANE_MAC, type, 0, 1,
                             on ? bias : 0, 0);
  if (tail && !on)
    value = builderOp(builder, unit, SAMBA_LANE_ADD, type, value, bias, 0, 0);
  randomOutput(builder, unit, 1, u->compute.program.reduce_mask, value, type);
}

/* --- windows --- */

/* How the window moves over [y][x][c] in a buffer: `pad` rows and columns around it are 0. */
static SambaAccess windowAccess(Builder *builder, uint32_t size, uint32_t kernel, uint32_t stride,
                                uint32_t pad, uint32_t channels, uint32_t rows, uint32_t oy,
                                uint32_t out) {
  int64_t s = stride;
  int64_t w = (int64_t)size * channels;
  int64_t c = channels;
  SambaAccess window = builderAccess(6, 1, TRIPS(builder, rows, kernel, kernel, channels, oy, out),
                                     STRIDES(builder, s * oy * w, w, c, 1, s * w, s * c));
  window.base = -(int64_t)pad * (w + c);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(&builder->arena, SambaGuard, 2);
  guards[0] = (SambaGuard){-(int64_t)pad, size, STRIDES(builder, s * oy, 1, 0, 0, s, 0)};
  guards[1] = (SambaGuard){-(int64_t)pad, size, STRIDES(builder, 0, 0, 1, 0, 0, s)};
  if (pad || chance(30))
    window.guards = guards, window.guard_count = 2;
  return window;
}

static void randomWindow(Builder *builder) {
  /* out[oy][ox][n] = sum over ky, kx, c of in[oy*s + ky - pad][ox*s + kx - pad][c] *
   * w[ky][kx][c][n] */
  uint32_t size = 3 + upTo(8);
  uint32_t kernel = upTo(3);
  uint32_t stride = upTo(2);
  uint32_t pad = (uint32_t)(lrand48() % kernel);
  uint32_t channels = upTo(5);
  uint32_t outputs = upTo(20);
  uint32_t out = (size + 2 * pad - kernel) / stride + 1;
  uint32_t rows = chance(50) && out % 2 == 0 ? 2 : 1; /* firings along oy */
  uint32_t oy = out / rows;

  if (oy * rows != out)
    rows = 1, oy = out;
  bool systolic = chance(70);
  SambaDType dtype = chance(70) ? F : SAMBA_DTYPE_BF16;
  uint64_t pixels = (uint64_t)size * size * channels;
  uint32_t in = builderSymbol(builder, "in", dtype, pixels, false);
  uint32_t weights =
      builderSymbol(builder, "w", dtype, (uint64_t)kernel * kernel * channels * outputs, false);
  fillSymbol(builder, in, 0);
  fillSymbol(builder, weights, 0);
  uint32_t load = builderLoad(
      builder, in, builderAccess(1, 0, TRIPS(builder, (uint32_t)pixels), STRIDES(builder, 1)));
  uint32_t buffer = builderBuffer(builder, dtype, 1, pixels);
  builderBufferWrite(builder, buffer,
                     builderAccess(1, 0, TRIPS(builder, (uint32_t)pixels), STRIDES(builder, 1)));
  builderBufferRead(builder, buffer,
                    windowAccess(builder, size, kernel, stride, pad, channels, rows, oy, out));
  uint32_t flat = kernel * kernel * channels;
  uint32_t wload = builderLoad(
      builder, weights,
      builderAccess(2, 1, TRIPS(builder, rows, flat * outputs), STRIDES(builder, 0, 1)));
  bool apart = chance(50); /* k as three counters, or one that spans the window's dimensions */
  uint32_t unit =
      apart ? builderCompute(builder, 7, 1,
                             TRIPS(builder, rows, kernel, kernel, channels, oy, out, outputs))
            : builderCompute(builder, 5, 1, TRIPS(builder, rows, flat, oy, out, outputs));
  SambaUnit *u = &builder->section.units[unit];
  u->compute.program.systolic = systolic;
  u->compute.program.reduce_mask = apart ? 7 << 1 : 1 << 1;
  int64_t n = outputs, c = channels, p = (int64_t)oy * out;
  builderComputeInput(builder, unit, dtype, 1, (uint64_t)p * flat,
                      apart ? STRIDES(builder, 0, kernel * c * p, c * p, p, out, 1, 0)
                            : STRIDES(builder, 0, p, out, 1, 0));
  builderComputeInput(builder, unit, dtype, 1, flat * outputs,
                      apart ? STRIDES(builder, 0, kernel * c * n, c * n, n, 0, 0, 1)
                            : STRIDES(builder, 0, n, 0, 0, 1));
  uint32_t value = builderOp(builder, unit, SAMBA_LANE_MAC, F, 0, 1, 0, 0);
  randomOutput(builder, unit, 1, u->compute.program.reduce_mask, value, F);
  builderStream(builder, load, 0, buffer, 0);
  builderStream(builder, buffer, 0, unit, 0);
  builderStream(builder, wload, 0, unit, 1);
}

/* --- split, merge, multicast --- */

static void randomSpread(Builder *builder) {
  uint32_t copies = upTo(4);
  uint32_t block = upTo(3);
  uint32_t rounds = upTo(4);
  uint32_t elements = upTo(20);
  uint32_t tokens = copies * block * rounds;
  uint32_t in = builderSymbol(builder, "in", F, (uint64_t)tokens * elements, false);
  uint32_t out = builderSymbol(builder, "out", F, (uint64_t)tokens * elements, true);

  fillSymbol(builder, in, 0);
  SambaAccess access =
      builderAccess(2, 1, TRIPS(builder, tokens, elements), STRIDES(builder, elements, 1));
  uint32_t load = builderLoad(builder, in, access);
  uint32_t store = builderStore(builder, out, access);
  uint32_t source = load;
  if (chance(50)) { /* through a buffer that reverses every token */
    source = builderBuffer(builder, F, upTo(3), elements);
    SambaAccess write =
        builderAccess(2, 1, TRIPS(builder, tokens, elements), STRIDES(builder, 0, 1));
    SambaAccess read = builderAccess(2, 1, write.trips, STRIDES(builder, 0, -1));
    read.base = elements - 1;
    write.slot_level = read.slot_level = 1;
    builderBufferWrite(builder, source, write);
    builderBufferRead(builder, source, read);
    builderStream(builder, load, 0, source, 0);
  }

  builder->section.units[source].outputs[0].block = block;
  builder->section.units[store].inputs[0].block = block;
  uint32_t other = builderSymbol(builder, "other", F, elements, false);
  fillSymbol(builder, other, 0);
  uint32_t shared = builderLoad(builder, other,
                                builderAccess(1, 0, TRIPS(builder, elements), STRIDES(builder, 1)));
  uint32_t multicast = 0;

  for (uint32_t i = 0; i < copies; ++i) {
    uint32_t unit = builderCompute(builder, 2, 1, TRIPS(builder, block * rounds, elements));
    builderComputeInput(builder, unit, F, 1, elements, STRIDES(builder, 0, 1));
    builderComputeInput(builder, unit, F, 0, elements, STRIDES(builder, 0, 1));
    uint32_t value = builderOp(builder, unit, SAMBA_LANE_FMA, F, 0, 1, 1, 0);
    builderComputeOutput(builder, unit, F, 1, elements, STRIDES(builder, 0, 1), value);
    builderStream(builder, source, 0, unit, 0);
    if (i == 0)
      multicast = builderStream(builder, shared, 0, unit, 1);
    else
      builderDestination(builder, multicast, unit, 1);
    builderStream(builder, unit, 0, store, 0);
  }
}

/* --- gather, scatter, loop-carried sums --- */

/* Running sums over n rounds through a loop-carried buffer. In place a round may be several tokens,
 * and the program overwrites in every third round. */
static void addRunningSum(Builder *builder) {
  bool in_place = chance(50);
  uint32_t n = upTo(9), elements = upTo(30), parts = in_place ? upTo(4) : 1;
  uint64_t all = (uint64_t)n * parts * elements;
  uint32_t x = builderSymbol(builder, "x", F, all, false);
  uint32_t sums = builderSymbol(builder, "sums", F, all, true);
  fillSymbol(builder, x, 0);
  SambaAccess each =
      builderAccess(2, 1, TRIPS(builder, n * parts, elements), STRIDES(builder, elements, 1));
  uint32_t load = builderLoad(builder, x, each);
  uint32_t store = builderStore(builder, sums, each);
  uint32_t carried = builderBuffer(builder, F, upTo(2), (uint64_t)parts * elements);
  SambaAccess slot =
      builderAccess(3, 2, TRIPS(builder, n, parts, elements), STRIDES(builder, 0, elements, 1));
  slot.slot_level = 1;
  builderBufferWrite(builder, carried, slot);
  builderBufferRead(builder, carried, slot);
  builder->section.units[carried].buffer.loop_carried = true;
  builder->section.units[carried].buffer.in_place = in_place;
  builder->section.units[carried].buffer.initial = 0x3F800000;

  uint32_t trips = n % 3 == 0 ? 3 : 1;
  uint32_t adder = builderCompute(builder, 4, 3, TRIPS(builder, n / trips, trips, parts, elements));
  for (int i = 0; i < 2; ++i)
    builderComputeInput(builder, adder, F, 3, elements, STRIDES(builder, 0, 0, 0, 1));
  uint32_t value = builderOp(builder, adder, SAMBA_LANE_ADD, F, 0, 1, 0, 0);
  if (in_place) {
    uint32_t step = builderOp(builder, adder, SAMBA_LANE_COUNTER, SAMBA_DTYPE_I32, 0, 0, 0, 1);
    uint32_t none = builderOp(builder, adder, SAMBA_LANE_CONSTANT, SAMBA_DTYPE_I32, 0, 0, 0, 0);
    uint32_t first = builderOp(builder, adder, SAMBA_LANE_EQ, SAMBA_DTYPE_I32, step, none, 0, 0);
    value = builderOp(builder, adder, SAMBA_LANE_SELECT, F, first, 0, value, 0);
  }
  builderComputeOutput(builder, adder, F, 3, elements, STRIDES(builder, 0, 0, 0, 1), value);
  builderStream(builder, load, 0, adder, 0);
  builderStream(builder, carried, 0, adder, 1);
  builderDestination(builder, builderStream(builder, adder, 0, carried, 0), store, 0);
}

static void randomIndexed(Builder *builder) {
  uint32_t rows = 3 + upTo(20);
  uint32_t columns = upTo(9);
  uint32_t picks = upTo(6);
  uint32_t tokens = upTo(4);
  SambaDType index_type = chance(50) ? SAMBA_DTYPE_I64 : SAMBA_DTYPE_I32;
  SambaDType dtype = randomDType();
  uint32_t table = builderSymbol(builder, "table", dtype, (uint64_t)rows * columns, false);
  uint32_t index = builderSymbol(builder, "index", index_type, (uint64_t)tokens * picks, false);
  uint32_t target = builderSymbol(builder, "target", index_type, (uint64_t)tokens * picks, false);

  fillSymbol(builder, table, 0);
  fillSymbol(builder, index, rows);
  fillSymbol(builder, target, rows);
  uint32_t out = builderSymbol(builder, "out", dtype, (uint64_t)rows * columns, true);
  SambaAccess indices =
      builderAccess(2, 1, TRIPS(builder, tokens, picks), STRIDES(builder, picks, 1));
  uint32_t from = builderLoad(builder, index, indices);
  uint32_t to = builderLoad(builder, target, indices);
  SambaAccess access =
      builderAccess(3, 1, TRIPS(builder, tokens, picks, columns), STRIDES(builder, 0, 0, 1));
  access.has_index = true;
  access.index_counters = 1;
  access.index_stride = columns;
  access.index_limit = rows;
  if (chance(40)) { /* the last columns are cut off */
    SambaGuard *guard = SAMBA_ARENA_NEW(&builder->arena, SambaGuard);
    *guard = (SambaGuard){0, upTo(columns), STRIDES(builder, 0, 0, 1)};
    access.guards = guard, access.guard_count = 1;
    access.fill = dtype == SAMBA_DTYPE_I1 ? 1 : 0x40;
  }

  uint32_t gather = builderLoad(builder, table, access);
  uint32_t scatter = builderStore(builder, out, access);
  builderInput(builder, gather, (SambaPort){.dtype = index_type, .token_elements = picks});
  builderInput(builder, scatter, (SambaPort){.dtype = index_type, .token_elements = picks});
  builderStream(builder, from, 0, gather, 0);
  builderStream(builder, gather, 0, scatter, 0);
  builderStream(builder, to, 0, scatter, 1);
  addRunningSum(builder);
}

void randomSection(Builder *builder, RandomShape shape) {
  switch (shape) {
  case RANDOM_ELEMENTWISE:
    randomProgram(builder, false);
    break;
  case RANDOM_REDUCTION:
    randomProgram(builder, true);
    break;
  case RANDOM_MATMUL:
    randomMatmul(builder);
    break;
  case RANDOM_WINDOW:
    randomWindow(builder);
    break;
  case RANDOM_SPREAD:
    randomSpread(builder);
    break;
  case RANDOM_INDEXED:
    randomIndexed(builder);
    break;
  default:
    randomPasses(builder);
    for (uint32_t i = 0; i < builder->section.symbol_count; ++i)
      if (!builder->section.symbols[i].written)
        fillSymbol(builder, i, 0);
    break;
  }
}
