/* Order through memory; see order_check.h.
 *
 * A store's firing happens after a load's (or another store's) when its tokens cannot exist without
 * those of the other.
 * How many firings of each unit a step of another one needs follows from the paces of the units on
 * the way (pace.h); that is counted, not guessed from the existence of a way. Whatever cannot be
 * proved counts as unordered. Sections that load nothing they store - nearly all - cost a
 * comparison of address ranges. */
#include "backend/section/check/order_check.h"

#include "backend/section/access.h"
#include "backend/section/pace.h"
#include "backend/section/stream_order.h"

#include "support/number/integer.h"

#include <stdlib.h>
#include <string.h>

/* More firings or cells than these are not looked at one by one. */
enum { MOST_FIRINGS = 1 << 24, MOST_CELLS = 1 << 28 };

/* A LOAD or STORE and the bytes that it may touch. */
typedef struct Side {
  uint32_t unit;
  const SambaAccess *access;
  uint64_t origin;     /* address of the formal's element 0 */
  uint64_t begin, end; /* addresses */
  uint64_t element_bytes, firings;
} Side;

/* The units that must run before one unit can, with that one first and every other after those
 * that it feeds. */
typedef struct Cone {
  const SambaSection *section;
  uint32_t *units, count;
  uint64_t *steps; /* per unit of the section: how far it must have come; 0 outside */
  uint8_t *seen;
} Cone;

typedef struct OrderCheck {
  const SambaSection *section;
  const uint64_t *addresses;
  SambaArena arena;
} OrderCheck;

/*===-- What a step needs ---------------------------------------------------------------------===*/

/* Input number `n` of the unit, its ports' streams counted one after the other: where it comes
 * from; SAMBA_NO_INDEX behind the last. */
static uint32_t sourceOf(const SambaSection *section, const SambaUnit *unit, uint32_t n) {
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    if (n < unit->inputs[p].stream_count)
      return section->streams[unit->inputs[p].streams[n]].source.unit;
    n -= unit->inputs[p].stream_count;
  }
  return SAMBA_NO_INDEX;
}

/* Units in the order in which a depth-first walk against the streams leaves them, from the end. */
static void visit(Cone *cone, uint32_t unit) {
  typedef struct {
    uint32_t unit, next;
  } Open;
  SAMBA_ARRAY(Open) open = {0};
  cone->seen[unit] = 1;
  sambaArrayAppend(&open, ((Open){unit, 0}));

  while (open.size) {
    Open *top = &open.data[open.size - 1];
    uint32_t source = sourceOf(cone->section, &cone->section->units[top->unit], top->next++);
    if (source == SAMBA_NO_INDEX) {
      cone->units[--cone->count] = top->unit;
      --open.size;
    } else if (!cone->seen[source]) {
      cone->seen[source] = 1;
      sambaArrayAppend(&open, ((Open){source, 0}));
    }
  }
  sambaArrayFree(&open);
}

static Cone makeCone(OrderCheck *check, uint32_t unit) {
  uint32_t count = check->section->unit_count;
  Cone cone = {.section = check->section,
               .units = SAMBA_ARENA_ARRAY(&check->arena, uint32_t, count),
               .count = count,
               .steps = SAMBA_ARENA_ARRAY(&check->arena, uint64_t, count),
               .seen = SAMBA_ARENA_ARRAY(&check->arena, uint8_t, count)};
  visit(&cone, unit);
  cone.units += cone.count;
  cone.count = count - cone.count;
  return cone;
}

static uint32_t placeOf(const SambaPort *port, uint32_t stream) {
  for (uint32_t s = 0; s < port->stream_count; ++s)
    if (port->streams[s] == stream)
      return s;
  return 0;
}

/* What the sources of a unit's inputs must have done for its first `steps` steps. */
static void needInputs(Cone *cone, uint32_t index, uint64_t steps) {
  const SambaUnit *unit = &cone->section->units[index];
  if (unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.loop_carried) /* starts with full slots */
    steps -= steps < unit->buffer.slot_count ? steps : unit->buffer.slot_count;

  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    uint64_t tokens = sambaPaceTokensTaken(sambaPaceOf(unit, port), steps);
    for (uint32_t s = 0; s < port->stream_count; ++s) {
      SambaEndpoint from = cone->section->streams[port->streams[s]].source;
      const SambaUnit *source = &cone->section->units[from.unit];
      const SambaPort *output = &source->outputs[from.port];
      uint64_t sent = sambaPacePortTokens(output, placeOf(output, port->streams[s]),
                                          sambaPortStreamTokens(port, tokens, s));
      uint64_t needed = sambaPaceStepsNeeded(sambaPaceOf(source, output), sent);
      if (needed > cone->steps[from.unit])
        cone->steps[from.unit] = needed;
    }
  }
}

/* Fills `steps` for the first unit's step number `step`, counted from 1. A circle of streams is
 * followed once, which can only count too little. */
static void needStep(Cone *cone, uint64_t step) {
  for (uint32_t i = 0; i < cone->count; ++i)
    cone->steps[cone->units[i]] = 0;
  cone->steps[cone->units[0]] = step;
  for (uint32_t i = 0; i < cone->count; ++i)
    needInputs(cone, cone->units[i], cone->steps[cone->units[i]]);
}

static uint64_t stepsBefore(Cone *cone, uint64_t step, uint32_t unit) {
  if (!cone->seen[unit])
    return 0;
  needStep(cone, step);
  return cone->steps[unit];
}

/* Marks the units of the cone that `target` is before, and `target`, with 2. */
static void markWays(Cone *cone, uint32_t target) {
  cone->seen[target] = 2;
  for (bool more = true; more;) {
    more = false; /* one walk finds all but for circles */
    for (uint32_t i = cone->count; i-- > 0;) {
      uint32_t unit = cone->units[i], source;
      for (uint32_t n = 0; cone->seen[unit] == 1; ++n) {
        source = sourceOf(cone->section, &cone->section->units[unit], n);
        if (source == SAMBA_NO_INDEX)
          break;
        more |= cone->seen[source] == 2;
        cone->seen[unit] = cone->seen[source];
      }
    }
  }
}

/* What the units of the cone that `target` is before advance by when the first one advances by
 * `steps`, into `steps`. True when that is whole everywhere - tokens, turns of ports and slots -
 * and the same on all ways to a unit. Then what a step needs of the target grows by just this much
 * from round to round, once every stream on the way has had its turn. Each unit on the way may put
 * that off by a round. */
static bool advancesEvenly(Cone *cone, uint64_t steps, uint32_t target) {
  if (!cone->seen[target])
    return true;
  markWays(cone, target);
  for (uint32_t i = 0; i < cone->count; ++i)
    cone->steps[cone->units[i]] = 0;
  cone->steps[cone->units[0]] = steps;

  for (uint32_t i = 0; i < cone->count; ++i) {
    const SambaUnit *unit = &cone->section->units[cone->units[i]];
    uint64_t own = cone->steps[cone->units[i]];
    if (cone->seen[cone->units[i]] != 2 || cone->units[i] == target)
      continue;
    if (unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.loop_carried)
      return false;
    for (uint32_t p = 0; p < unit->input_count; ++p) {
      const SambaPort *port = &unit->inputs[p];
      SambaPace taking = sambaPaceOf(unit, port);
      uint64_t tokens = sambaPaceTokensTaken(taking, own);
      uint64_t turn = sambaPaceMultiply(port->block ? port->block : 1, port->stream_count);
      for (uint32_t s = 0; s < port->stream_count; ++s) {
        SambaEndpoint from = cone->section->streams[port->streams[s]].source;
        if (cone->seen[from.unit] != 2)
          continue;
        if (own % taking.steps_per_token || tokens % turn)
          return false;
        const SambaUnit *source = &cone->section->units[from.unit];
        const SambaPort *output = &source->outputs[from.port];
        SambaPace making = sambaPaceOf(source, output);
        uint64_t sent = tokens / port->stream_count;
        uint64_t made = sambaPaceMultiply(sent, output->stream_count);
        uint64_t advance = sambaPaceStepsNeeded(making, made);
        uint64_t *known = &cone->steps[from.unit];
        if (!sent || sent % (output->block ? output->block : 1) || made % making.tokens_per_step ||
            advance >= SAMBA_PACE_UNBOUNDED || (*known && *known != advance))
          return false;
        *known = advance;
      }
    }
  }
  return true;
}

/*===-- Equal walks ---------------------------------------------------------------------------===*/

/* Both walk the same bytes in the same order, each once. */
static bool walkAlike(const Side *one, const Side *other) {
  const SambaAccess *a = one->access, *b = other->access;
  if (a->guard_count || b->guard_count || a->has_index || b->has_index ||
      one->element_bytes != other->element_bytes ||
      one->origin + (uint64_t)a->base * one->element_bytes !=
          other->origin + (uint64_t)b->base * other->element_bytes)
    return false;
  SambaStreamOrder first = sambaAccessOrder(a, 0), second = sambaAccessOrder(b, 0);
  return sambaOrdersEqual(&first, &second) && sambaOrderVisitsOnce(&first);
}

static uint64_t tokenSteps(const Side *side) {
  return sambaTripProduct(side->access->trips, side->access->token_level,
                          side->access->counter_count);
}

/* Each firing of the store has every element of its token behind it in the other walk. */
static bool storeFollows(const Side *first, const Side *store, Cone *cone) {
  uint64_t taken = tokenSteps(first), stored = tokenSteps(store);
  for (uint64_t firing = 1; firing <= store->firings; ++firing) {
    uint64_t read = sambaPaceMultiply(firing, stored);
    uint64_t needed = read / taken + (read % taken != 0);
    if (stepsBefore(cone, firing, first->unit) < needed)
      return false;
  }
  return true;
}

/*===-- Walks that never meet -----------------------------------------------------------------===*/

/* A difference of the two walks' counters, `low` to `high` times `stride`; `least` and `most` of
 * those behind it, all together. */
typedef struct Term {
  __int128 stride, low, high, least, most;
} Term;

typedef struct Meeting {
  Term terms[2 * SAMBA_MAX_COUNTERS];
  uint32_t count, tries; /* left, until it counts as a meeting */
} Meeting;

static void addTerms(Meeting *meeting, const SambaStreamOrder *chain, int sign) {
  for (uint32_t c = 0; c < chain->count; ++c) {
    __int128 stride = (__int128)chain->steps[c].stride * sign;
    __int128 last = (__int128)chain->steps[c].trips - 1;
    __int128 size = stride < 0 ? -stride : stride;
    uint32_t at = 0;
    while (at < meeting->count && meeting->terms[at].stride > size)
      ++at;
    if (at == meeting->count || meeting->terms[at].stride != size) {
      memmove(&meeting->terms[at + 1], &meeting->terms[at],
              (meeting->count++ - at) * sizeof *meeting->terms);
      meeting->terms[at] = (Term){.stride = size};
    }
    meeting->terms[at].low -= stride < 0 ? last : 0;
    meeting->terms[at].high += stride < 0 ? 0 : last;
  }
}

static __int128 floorDiv(__int128 value, __int128 by) { return value / by - (value % by < 0); }

/* Is `distance` a sum of the terms from number `at` on? */
static bool reaches(Meeting *meeting, uint32_t at, __int128 distance) {
  if (at == meeting->count)
    return distance == 0;
  const Term *term = &meeting->terms[at];
  if (term->stride == 0) /* it stays where it is */
    return reaches(meeting, at + 1, distance);
  __int128 first = -floorDiv(term->most - distance, term->stride);
  __int128 last = floorDiv(distance - term->least, term->stride);
  first = first < term->low ? term->low : first;
  last = last > term->high ? term->high : last;

  for (__int128 times = first; times <= last; ++times) {
    if (!meeting->tries || !--meeting->tries)
      return true;
    if (reaches(meeting, at + 1, distance - times * term->stride))
      return true;
  }
  return false;
}

/* False: no element of one is an element of the other, as with rows that copies deal out. Guards
 * only leave elements out. */
static bool mayMeet(const Side *one, const Side *other) {
  Meeting meeting = {.tries = 1 << 12};
  const SambaAccess *a = one->access, *b = other->access;
  __int128 bytes = (__int128)other->origin - one->origin +
                   ((__int128)b->base - a->base) * (__int128)one->element_bytes;
  if (a->has_index || b->has_index || one->element_bytes != other->element_bytes ||
      bytes % one->element_bytes)
    return true;

  SambaStreamOrder first = sambaAccessOrder(a, 0), second = sambaAccessOrder(b, 0);
  addTerms(&meeting, &first, 1);
  addTerms(&meeting, &second, -1);
  uint64_t common = 0;
  for (uint32_t i = 0; i < meeting.count; ++i)
    common = sambaGreatestDivisor(common, (uint64_t)meeting.terms[i].stride);
  if (common && bytes / (__int128)one->element_bytes % common)
    return false;
  for (uint32_t i = meeting.count; i-- > 1;) {
    const Term *term = &meeting.terms[i];
    meeting.terms[i - 1].least = term->least + term->low * term->stride;
    meeting.terms[i - 1].most = term->most + term->high * term->stride;
  }
  return reaches(&meeting, 0, bytes / (__int128)one->element_bytes);
}

/*===-- Rounds of the outermost counters ------------------------------------------------------===*/

/* Rounds that are looked at when all are alike: those in which streams may still wait for their
 * turn, and those around one that stands for the others. */
static uint64_t roundsToLookAt(const Cone *one, const Cone *other) {
  return (one->count > other->count ? one->count : other->count) + 4;
}

static uint64_t roundsOf(const Side *side) {
  const SambaAccess *access = side->access;
  return access->counter_count && access->token_level ? access->trips[0] : 1;
}

/* Rounds of a side as a walk of its own. */
typedef struct Rounds {
  Side side; /* its access is the one below */
  SambaAccess access;
  uint32_t trips[SAMBA_MAX_COUNTERS];
} Rounds;

static void takeRounds(const Side *side, uint64_t first, uint64_t count, Rounds *out) {
  memcpy(out->trips, side->access->trips, side->access->counter_count * sizeof *out->trips);
  out->trips[0] = (uint32_t)count;
  out->access = *side->access;
  out->access.trips = out->trips;
  out->access.base += side->access->strides[0] * (int64_t)first;
  out->side = *side;
  out->side.access = &out->access;
  out->side.firings = side->firings / roundsOf(side) * count;
}

/* No element of a round of one side is in a round of the other side that comes two rounds later or
 * more. */
static bool staysNear(const Side *side, const Side *other) {
  Rounds round, later;
  takeRounds(side, 0, 1, &round);
  takeRounds(other, 2, roundsOf(other) - 2, &later);
  return !mayMeet(&round.side, &later.side);
}

static bool guardsRounds(const SambaAccess *access) {
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (access->guards[g].strides[0])
      return true;
  return false;
}

/* Whether the rounds of both are alike: as many, as far apart, each with what it needs of the other
 * in the same round or beside it. Then the first ones stand for all. */
static bool haveEqualRounds(const Side *first, const Side *store, Cone *first_cone,
                            Cone *store_cone) {
  uint64_t rounds = roundsOf(first);
  if (rounds <= roundsToLookAt(first_cone, store_cone) || rounds != roundsOf(store) ||
      first->element_bytes != store->element_bytes ||
      first->access->strides[0] != store->access->strides[0] || guardsRounds(first->access) ||
      guardsRounds(store->access))
    return false;
  uint64_t taken = first->firings / rounds, stored = store->firings / rounds;
  return advancesEvenly(store_cone, stored, first->unit) &&
         (!store_cone->seen[first->unit] || store_cone->steps[first->unit] == taken) &&
         advancesEvenly(first_cone, taken, store->unit) &&
         (!first_cone->seen[store->unit] || first_cone->steps[store->unit] == stored) &&
         staysNear(first, store) && staysNear(store, first);
}

/*===-- Element by element, or block by block -------------------------------------------------===*/

/* Per cell of the bytes that both may touch: the first and the last firing that loads it, from 1;
 * 0: none does. */
typedef struct Cells {
  uint64_t begin, bytes, count; /* bytes of a cell: the smaller element, or a block */
  uint64_t block;               /* elements that both always touch together */
  uint32_t *first, *last;
} Cells;

/* A divisor of the block that the guard enables as a whole or not at all, as it steps along a row.
 */
static uint64_t blockOfGuard(const SambaAccess *access, const SambaGuard *guard, uint64_t block) {
  uint32_t inner = access->counter_count - 1;
  int64_t step = guard->strides[inner];
  if (!step)
    return block;
  if (step < 0 || guard->constant % step || guard->limit % step)
    return 1;
  block = sambaGreatestDivisor(block, (uint64_t)llabs(guard->constant / step));
  block = sambaGreatestDivisor(block, (uint64_t)llabs(guard->limit / step));
  for (uint32_t c = 0; c < inner; ++c) {
    if (access->trips[c] == 1)
      continue;
    if (guard->strides[c] % step)
      return 1;
    block = sambaGreatestDivisor(block, (uint64_t)llabs(guard->strides[c] / step));
  }
  return block;
}

/* The side's runs are whole blocks of this many elements or of a divisor. */
static uint64_t blockOfSide(const Side *side, uint64_t block) {
  const SambaAccess *access = side->access;
  uint32_t inner = access->counter_count - 1;
  if (!access->counter_count || access->token_level > inner || access->strides[inner] != 1)
    return 1;
  block = sambaGreatestDivisor(block, access->trips[inner]);
  for (uint32_t c = 0; c < inner; ++c)
    if (access->trips[c] > 1)
      block = sambaGreatestDivisor(block, (uint64_t)llabs(access->strides[c]));
  for (uint32_t g = 0; g < access->guard_count; ++g)
    block = blockOfGuard(access, &access->guards[g], block);
  return block;
}

static uint64_t startOf(const Side *side) {
  return side->origin + (uint64_t)side->access->base * side->element_bytes;
}

static uint64_t blockOf(const Side *one, const Side *other) {
  uint64_t first = startOf(one), second = startOf(other);
  uint64_t apart = first > second ? first - second : second - first;
  if (one->element_bytes != other->element_bytes || apart % one->element_bytes)
    return 1;
  uint64_t block = blockOfSide(one, 0);
  return sambaGreatestDivisor(blockOfSide(other, block), apart / one->element_bytes);
}

typedef bool OnCell(void *user, uint64_t cell, uint64_t firing);

/* Steps of the innermost counter, all others standing still. */
typedef struct Row {
  uint64_t at;       /* address of step 0 */
  int64_t low, high; /* the guards enable steps [low, high) */
} Row;

static int64_t divideUp(int64_t value, int64_t by) { return value / by + (value % by > 0); }

/* Narrows the row to where 0 <= value + stride * step < limit. */
static void narrowRow(Row *row, int64_t value, int64_t stride, int64_t limit) {
  int64_t low = row->low, high = row->high;
  if (stride > 0) {
    low = divideUp(-value, stride);
    high = divideUp(limit - value, stride);
  } else if (stride < 0) {
    low = divideUp(value - limit + 1, -stride);
    high = divideUp(value + 1, -stride);
  } else if (value < 0 || value >= limit) {
    high = low;
  }
  row->low = low > row->low ? low : row->low;
  row->high = high < row->high ? high : row->high;
}

/* inner: the counter that walks the row; counter_count when a row is one element. */
static Row makeRow(const Side *side, const uint32_t *counters, uint32_t inner) {
  const SambaAccess *access = side->access;
  const bool walks = inner < access->counter_count;
  int64_t element = access->base;
  for (uint32_t c = 0; c < inner; ++c)
    element += access->strides[c] * (int64_t)counters[c];
  Row row = {.at = side->origin + (uint64_t)element * side->element_bytes,
             .high = walks ? access->trips[inner] : 1};

  for (uint32_t g = 0; g < access->guard_count; ++g) {
    const SambaGuard *guard = &access->guards[g];
    int64_t value = guard->constant;
    for (uint32_t c = 0; c < inner; ++c)
      value += guard->strides[c] * (int64_t)counters[c];
    narrowRow(&row, value, walks ? guard->strides[inner] : 0, guard->limit);
  }
  return row;
}

/* Calls back for the cells of a row, until that returns false. stride: from step to step. */
static bool walkRow(const Side *side, const Cells *cells, const Row *row, int64_t stride,
                    uint64_t firing, OnCell *on_cell, void *user) {
  const int64_t bytes = (int64_t)cells->bytes;
  const int64_t width = (int64_t)(side->element_bytes * cells->block);
  const int64_t step = stride * width; /* a block is a row's only stride of 1 */
  int64_t at = (int64_t)(row->at - cells->begin) + row->low * stride * (int64_t)side->element_bytes;
  const int64_t begin = (int64_t)(side->begin - cells->begin);
  const int64_t end = (int64_t)(side->end - cells->begin);

  const bool even = width == bytes && at % bytes == 0 && step % bytes == 0;
  int64_t cell = at / bytes;
  for (int64_t i = row->low; i < row->high; i += (int64_t)cells->block) {
    for (int64_t b = 0; b < width && at >= begin && at < end; b += bytes) {
      if (!even)
        cell = at + b < 0 ? -1 : (at + b) / bytes;
      if (cell >= 0 && (uint64_t)cell < cells->count && !on_cell(user, (uint64_t)cell, firing))
        return false;
    }
    at += step;
    cell += step / bytes;
  }
  return true;
}

/* Calls back for each cell that the side touches, until that returns false. */
static bool walkCells(const Side *side, const Cells *cells, OnCell *on_cell, void *user) {
  const SambaAccess *access = side->access;
  const bool walks = access->token_level < access->counter_count;
  const uint32_t inner = access->counter_count - walks;
  const uint64_t rows = sambaTripProduct(access->trips, access->token_level, inner);
  uint32_t counters[SAMBA_MAX_COUNTERS] = {0};
  uint64_t within = 0, firing = 1;

  for (bool more = true; more;) {
    Row row = makeRow(side, counters, inner);
    if (!walkRow(side, cells, &row, walks ? access->strides[inner] : 1, firing, on_cell, user))
      return false;
    if (++within == rows) {
      within = 0;
      ++firing;
    }
    uint32_t c = inner;
    while (c > 0 && ++counters[c - 1] == access->trips[c - 1])
      counters[--c] = 0;
    more = c > 0;
  }
  return true;
}

static bool noteLoad(void *user, uint64_t cell, uint64_t firing) {
  Cells *cells = user;
  if (!cells->first[cell])
    cells->first[cell] = (uint32_t)firing;
  cells->last[cell] = (uint32_t)firing;
  return true;
}

typedef struct Comparison {
  const Cells *cells;
  const Side *load, *store;
  Cone *load_cone, *store_cone;
  uint64_t store_firing, loads_before; /* of that firing */
  uint64_t load_firing, stores_before;
  uint64_t conflict; /* the load's firing that is not ordered, from 1 */
} Comparison;

static bool compareStore(void *user, uint64_t cell, uint64_t firing) {
  Comparison *comparison = user;
  uint64_t first = comparison->cells->first[cell], last = comparison->cells->last[cell];
  if (!first)
    return true;
  if (firing != comparison->store_firing) {
    comparison->store_firing = firing;
    comparison->loads_before = stepsBefore(comparison->store_cone, firing, comparison->load->unit);
  }
  if (last <= comparison->loads_before)
    return true;
  if (first != comparison->load_firing) {
    comparison->load_firing = first;
    comparison->stores_before = stepsBefore(comparison->load_cone, first, comparison->store->unit);
  }
  if (comparison->stores_before >= firing) /* every load of the cell comes after the store */
    return true;
  comparison->conflict = last;
  return false;
}

/* The load's firing, from 1, that shares an element with a firing of the store and is not ordered
 * with it; 0: none. */
static uint64_t findConflict(const Side *load, const Side *store, Cone *load_cone,
                             Cone *store_cone) {
  uint64_t begin = load->begin > store->begin ? load->begin : store->begin;
  uint64_t end = load->end < store->end ? load->end : store->end;
  uint64_t smaller =
      load->element_bytes < store->element_bytes ? load->element_bytes : store->element_bytes;
  Cells cells = {.begin = begin, .block = blockOf(load, store)};
  cells.bytes = smaller * cells.block;
  uint64_t start = startOf(load) % cells.bytes;
  cells.begin -= (begin % cells.bytes + cells.bytes - start) % cells.bytes;
  cells.count = (end - cells.begin) / cells.bytes + 1;
  uint64_t walked = sambaTripProduct(load->access->trips, 0, load->access->counter_count);
  walked /= cells.block;
  if (cells.count > MOST_CELLS || walked > MOST_CELLS || load->firings > UINT32_MAX)
    return 1;

  cells.first = sambaAllocateZeroed(cells.count, sizeof *cells.first);
  cells.last = sambaAllocateZeroed(cells.count, sizeof *cells.last);
  walkCells(load, &cells, noteLoad, &cells);
  Comparison comparison = {.cells = &cells,
                           .load = load,
                           .store = store,
                           .load_cone = load_cone,
                           .store_cone = store_cone};
  walkCells(store, &cells, compareStore, &comparison);
  free(cells.first);
  free(cells.last);
  return comparison.conflict;
}

/*===-- Pairs ---------------------------------------------------------------------------------===*/

static Side makeSide(const OrderCheck *check, uint32_t index) {
  const SambaUnit *unit = &check->section->units[index];
  const SambaFormal *formal = &check->section->symbols[unit->load_store.symbol];
  Side side = {.unit = index,
               .access = sambaMemoryAccess(unit),
               .origin = check->addresses[unit->load_store.symbol],
               .element_bytes = sambaDTypeBytes(formal->dtype),
               .firings = sambaUnitFirings(unit)};
  int64_t low = 0, high = (int64_t)formal->elements - 1, least, most;
  if (!side.access->has_index &&
      sambaAffineRange(side.access->base, side.access->strides, side.access->trips,
                       side.access->counter_count, &least, &most)) {
    low = least > low ? least : low;
    high = most < high ? most : high;
  }
  side.begin = side.origin + (uint64_t)low * side.element_bytes;
  side.end = high < low ? side.begin : side.origin + (uint64_t)(high + 1) * side.element_bytes;
  return side;
}

static SambaStatus fault(const OrderCheck *check, const Side *first, const Side *store,
                         uint64_t firing) {
  const SambaSection *section = check->section;
  const SambaUnit *unit = &section->units[first->unit];
  const SambaUnit *writer = &section->units[store->unit];
  const char *touched = section->symbols[unit->load_store.symbol].name;
  const char *written = section->symbols[writer->load_store.symbol].name;
  bool same = unit->load_store.symbol == writer->load_store.symbol;
  return sambaStatusMake(
      SAMBA_FAULT,
      "missing synchronisation: section '%s', %s '%s', firing %llu: formal '%s' is written by "
      "store '%s' in the same call%s%s%s, and no stream orders the two",
      section->name, sambaUnitKindName(unit->kind), unit->name, (unsigned long long)(firing - 1),
      touched, writer->name, same ? "" : " (as formal '", same ? "" : written,
      same ? "" : "', which has the same memory)");
}

/* first: a load, or another store, whose elements the store may write too. */
static SambaStatus checkPair(OrderCheck *check, const Side *first, const Side *store) {
  bool overlap = first->begin < store->end && store->begin < first->end;
  if (!overlap || !mayMeet(first, store))
    return NULL;
  Cone store_cone = makeCone(check, store->unit);
  Cone first_cone = makeCone(check, first->unit);
  if (stepsBefore(&store_cone, 1, first->unit) >= first->firings ||
      stepsBefore(&first_cone, 1, store->unit) >= store->firings)
    return NULL; /* one has ended before the other begins */

  bool indexed = first->access->has_index || store->access->has_index;
  Rounds some[2];
  const Side *one = first, *other = store;
  if (!indexed && haveEqualRounds(first, store, &first_cone, &store_cone)) {
    uint64_t rounds = roundsToLookAt(&first_cone, &store_cone);
    takeRounds(first, 0, rounds, &some[0]);
    takeRounds(store, 0, rounds, &some[1]);
    one = &some[0].side, other = &some[1].side;
  }
  if (indexed || other->firings > MOST_FIRINGS)
    return fault(check, first, store, 1);
  if (walkAlike(one, other) && storeFollows(one, other, &store_cone))
    return NULL;
  uint64_t conflict = findConflict(one, other, &first_cone, &store_cone);
  return conflict ? fault(check, first, store, conflict) : NULL;
}

SambaStatus sambaSectionCheckOrder(const SambaSection *section, const uint64_t *addresses) {
  OrderCheck check = {.section = section, .addresses = addresses};
  SAMBA_ARRAY(Side) loads = {0};
  SAMBA_ARRAY(Side) stores = {0};
  SambaStatus status = NULL;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    if (section->units[u].kind == SAMBA_UNIT_LOAD)
      sambaArrayAppend(&loads, makeSide(&check, u));
    else if (section->units[u].kind == SAMBA_UNIT_STORE)
      sambaArrayAppend(&stores, makeSide(&check, u));
  }

  for (size_t s = 0; s < stores.size && !status; ++s) {
    for (size_t l = 0; l < loads.size && !status; ++l)
      status = checkPair(&check, &loads.data[l], &stores.data[s]);
    for (size_t other = 0; other < s && !status; ++other)
      status = checkPair(&check, &stores.data[other], &stores.data[s]);
  }
  sambaArrayFree(&loads);
  sambaArrayFree(&stores);
  sambaArenaDestroy(&check.arena);
  return status;
}
