/* Order through memory; see order_check.h.
 *
 * A store's firing happens after a load's (or another store's) when the first vector that it takes
 * cannot exist before the other has ended, or when each of its elements is made of the one that the
 * load reads of the same place.
 * How many firings of each unit a step of another one needs follows from the paces of the units on
 * the way (order_needs.h); that is counted, not guessed from the existence of a way. Whatever
 * cannot be proved counts as unordered. Sections that load nothing they store - nearly all - cost a
 * comparison of address ranges. */
#include "backend/section/check/order_check.h"

#include "backend/section/access.h"
#include "backend/section/check/order_needs.h"
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

typedef struct OrderCheck {
  const SambaSection *section;
  const uint64_t *addresses;
  SambaArena arena;
} OrderCheck;

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

/* Elements of one token. */
static uint64_t tokenElements(const Side *side) {
  return sambaTripProduct(side->access->trips, side->access->token_level,
                          side->access->counter_count);
}

/* Both walk alike, and each token of the store is made of the same elements, one by one. */
static bool storeFollows(const SambaSection *section, const Side *first, const Side *store) {
  uint64_t stored = tokenElements(store);
  for (uint64_t firing = 0; firing < store->firings; ++firing) {
    uint64_t at;
    if (!sambaNeedsFollow(section, store->unit, firing * stored, stored, first->unit, &at) ||
        at != firing * stored)
      return false;
  }
  return true;
}

/* Address of the element that a side walks as number `index`. */
static uint64_t addressOf(const Side *side, uint64_t index) {
  const SambaAccess *access = side->access;
  int64_t element = access->base;
  for (uint32_t c = access->counter_count; c-- > 0; index /= access->trips[c])
    element += access->strides[c] * (int64_t)(index % access->trips[c]);
  return side->origin + (uint64_t)element * side->element_bytes;
}

/* The firings of a load whose elements are those of a store's firing, one by one, each stored after
 * it was read. Counted from 1; 0: there are none. */
typedef struct Followed {
  uint64_t first, last;
} Followed;

static Followed followedBy(const SambaSection *section, const Side *load, const Side *store,
                           uint64_t firing) {
  const SambaAccess *access = load->access;
  uint64_t stored = tokenElements(store), taken = tokenElements(load), at, run = 1;
  uint64_t begin = (firing - 1) * stored;
  uint32_t counter = access->counter_count;
  if (load->element_bytes != store->element_bytes ||
      !sambaNeedsFollow(section, store->unit, begin, stored, load->unit, &at))
    return (Followed){0};

  while (counter > 0 && run < stored)
    run *= access->trips[--counter];
  SambaStreamOrder read = sambaAccessOrder(access, counter);
  SambaStreamOrder written = sambaAccessOrder(store->access, store->access->token_level);
  if (run != stored || at % run || !sambaOrdersEqual(&read, &written) ||
      !sambaOrderVisitsOnce(&read) || addressOf(load, at) != addressOf(store, begin))
    return (Followed){0};
  return (Followed){at / taken + 1, (at + stored - 1) / taken + 1};
}

/*===-- Walks that never meet -----------------------------------------------------------------===*/

/* A difference of the two walks' counters, `low` to `high` times `stride`; `least` and `most` of
 * those behind it, all together. */
typedef struct Term {
  __int128 stride, low, high, least, most;
} Term;

typedef struct Meeting {
  Term terms[2 * SAMBA_MAX_COUNTERS + 2]; /* of counters, and of indices */
  uint32_t count, tries;                  /* left, until it counts as a meeting */
} Meeting;

static void addTerm(Meeting *meeting, __int128 stride, __int128 last) {
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

/* What a walk steps. An index is a step of any size: of columns that are apart no row meets. */
static void addTerms(Meeting *meeting, const SambaAccess *access, int sign) {
  SambaStreamOrder chain = sambaAccessOrder(access, 0);
  for (uint32_t c = 0; c < chain.count; ++c)
    addTerm(meeting, (__int128)chain.steps[c].stride * sign, (__int128)chain.steps[c].trips - 1);
  if (access->has_index)
    addTerm(meeting, (__int128)access->index_stride * sign, (__int128)access->index_limit - 1);
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
  if (one->element_bytes != other->element_bytes || bytes % one->element_bytes)
    return true;

  addTerms(&meeting, a, 1);
  addTerms(&meeting, b, -1);
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
static uint64_t roundsToLookAt(const SambaNeeds *one, const SambaNeeds *other) {
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
static bool haveEqualRounds(const Side *first, const Side *store, SambaNeeds *of_first,
                            SambaNeeds *of_store) {
  uint64_t rounds = roundsOf(first), advance;
  if (rounds <= roundsToLookAt(of_first, of_store) || rounds != roundsOf(store) ||
      first->element_bytes != store->element_bytes ||
      first->access->strides[0] != store->access->strides[0] || guardsRounds(first->access) ||
      guardsRounds(store->access))
    return false;
  uint64_t taken = first->firings / rounds, stored = store->firings / rounds;
  return sambaNeedsAdvanceEvenly(of_store, stored, first->unit, &advance) &&
         (!advance || advance == taken) &&
         sambaNeedsAdvanceEvenly(of_first, taken, store->unit, &advance) &&
         (!advance || advance == stored) && staysNear(first, store) && staysNear(store, first);
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
  const SambaSection *section;
  const Cells *cells;
  const Side *load, *store;
  SambaNeeds *of_load, *of_store;
  uint64_t store_firing, loads_ended; /* before that firing begins */
  Followed followed;                  /* by that firing */
  uint64_t load_firing, stores_ended;
  uint64_t conflict; /* the load's firing that is not ordered, from 1 */
} Comparison;

static bool compareStore(void *user, uint64_t cell, uint64_t firing) {
  Comparison *comparison = user;
  uint64_t first = comparison->cells->first[cell], last = comparison->cells->last[cell];
  if (!first)
    return true;
  if (firing != comparison->store_firing) {
    comparison->store_firing = firing;
    comparison->loads_ended =
        sambaNeedOf(comparison->of_store, firing, comparison->load->unit).ended;
    comparison->followed =
        followedBy(comparison->section, comparison->load, comparison->store, firing);
  }
  if (last <= comparison->loads_ended ||
      (last >= comparison->followed.first && last <= comparison->followed.last))
    return true;
  if (first != comparison->load_firing) {
    comparison->load_firing = first;
    comparison->stores_ended =
        sambaNeedOf(comparison->of_load, first, comparison->store->unit).ended;
  }
  if (comparison->stores_ended >= firing) /* every load of the cell comes after the store */
    return true;
  comparison->conflict = last;
  return false;
}

/* The load's firing, from 1, that shares an element with a firing of the store and is not ordered
 * with it; 0: none. */
static uint64_t findConflict(const SambaSection *section, const Side *load, const Side *store,
                             SambaNeeds *of_load, SambaNeeds *of_store) {
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
  Comparison comparison = {.section = section,
                           .cells = &cells,
                           .load = load,
                           .store = store,
                           .of_load = of_load,
                           .of_store = of_store};
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
  SambaNeeds of_store = sambaNeedsOf(check->section, store->unit, &check->arena);
  SambaNeeds of_first = sambaNeedsOf(check->section, first->unit, &check->arena);
  if (sambaNeedOf(&of_store, 1, first->unit).ended >= first->firings ||
      sambaNeedOf(&of_first, 1, store->unit).ended >= store->firings)
    return NULL; /* one has ended before the other begins */

  bool indexed = first->access->has_index || store->access->has_index;
  Rounds some[2];
  const Side *one = first, *other = store;
  if (!indexed && haveEqualRounds(first, store, &of_first, &of_store)) {
    uint64_t rounds = roundsToLookAt(&of_first, &of_store);
    takeRounds(first, 0, rounds, &some[0]);
    takeRounds(store, 0, rounds, &some[1]);
    one = &some[0].side, other = &some[1].side;
  }
  if (indexed || other->firings > MOST_FIRINGS)
    return fault(check, first, store, 1);
  if (walkAlike(one, other) && storeFollows(check->section, one, other))
    return NULL;
  uint64_t conflict = findConflict(check->section, one, other, &of_first, &of_store);
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
