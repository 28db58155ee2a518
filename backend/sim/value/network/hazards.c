/* Order through memory: an element that a store writes and a load reads in the same call must be
 * ordered by streams, or the hardware would read either value. Buffers need no such check: their
 * credits order every read after its write.
 *
 * What orders two units is a path of streams between them, in either direction. Sections that load
 * nothing they store - nearly all - cost a comparison of address ranges. */
#include "backend/sim/value/network/value_engine.h"

#include <stdlib.h>
#include <string.h>

typedef struct Access {
  uint32_t unit;
  uint64_t begin, end; /* host addresses of the bytes that it may touch */
} Access;

typedef SAMBA_ARRAY(Access) Accesses;

typedef struct Hazards {
  const SambaRun *run;
  Accesses loads, stores;
  uint8_t *ordered; /* [load * stores + store] */
} Hazards;

/* The bytes that the whole chain can touch. */
static Access makeAccess(const SambaRun *run, uint32_t index) {
  const SambaUnit *unit = &run->section->units[index];
  const SambaAccess *access = sambaMemoryAccess(unit);
  const SambaBinding *binding = &run->bindings[unit->load_store.symbol];
  const SambaFormal *formal = &run->section->symbols[unit->load_store.symbol];
  int64_t low, high;
  uint64_t bytes = sambaDTypeBytes(formal->dtype);

  Access result = {index, (uint64_t)(uintptr_t)binding->data,
                   (uint64_t)(uintptr_t)binding->data + binding->bytes};
  if (access->has_index || !sambaAffineRange(access->base, access->strides, access->trips,
                                             access->counter_count, &low, &high))
    return result;
  low = low < 0 ? 0 : low;
  high = high >= (int64_t)formal->elements ? (int64_t)formal->elements - 1 : high;
  result.begin += (uint64_t)low * bytes;
  if (high >= low)
    result.end = result.begin + (uint64_t)(high - low + 1) * bytes;
  return result;
}

/* Marks every unit that streams lead to from here. */
static void markReachable(const SambaSection *section, uint32_t from, uint8_t *seen) {
  SAMBA_ARRAY(uint32_t) open = {0};
  sambaArrayAppend(&open, from);
  while (open.size) {
    const SambaUnit *unit = &section->units[open.data[--open.size]];
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t s = 0; s < unit->outputs[p].stream_count; ++s) {
        const SambaStream *stream = &section->streams[unit->outputs[p].streams[s]];
        for (uint32_t d = 0; d < stream->destination_count; ++d) {
          uint32_t next = stream->destinations[d].unit;
          if (seen[next])
            continue;
          seen[next] = 1;
          sambaArrayAppend(&open, next);
        }
      }
  }

  sambaArrayFree(&open);
}

/* Fills `ordered`; true when an unordered pair may touch the same bytes. */
static bool findUnordered(Hazards *h) {
  const SambaSection *section = h->run->section;
  h->ordered = sambaAllocateZeroed(h->loads.size, h->stores.size);
  uint8_t *from_load = sambaAllocate(section->unit_count);
  uint8_t *from_store = sambaAllocateZeroed(h->stores.size, section->unit_count);

  for (size_t s = 0; s < h->stores.size; ++s)
    markReachable(section, h->stores.data[s].unit, from_store + s * section->unit_count);
  bool unordered = false;
  for (size_t l = 0; l < h->loads.size; ++l) {
    const Access *load = &h->loads.data[l];
    memset(from_load, 0, section->unit_count);
    markReachable(section, load->unit, from_load);
    for (size_t s = 0; s < h->stores.size; ++s) {
      const Access *store = &h->stores.data[s];
      bool path = from_load[store->unit] || from_store[s * section->unit_count + load->unit];
      h->ordered[l * h->stores.size + s] = path;
      unordered |= !path && load->begin < store->end && store->begin < load->end;
    }
  }

  free(from_store);
  free(from_load);
  return unordered;
}

/* Walks all elements of a unit's accesses in host memory. */
typedef struct Walk {
  const Hazards *hazards;
  uint64_t base;          /* address of the formal's element 0 */
  uint64_t origin, bytes; /* address of the map's first cell; bytes of an element */
  uint64_t grain;         /* bytes of a cell: the smallest element */
  uint16_t *owners;       /* per cell: 1 + store that writes it, 0: none */
  uint64_t limit;         /* cells */
  size_t load;            /* loads: which one; stores: SIZE_MAX */
  uint16_t store;
  uint16_t conflict; /* 1 + the store that an element is in conflict with */
} Walk;

static SambaStatus walkRow(void *user, const SambaRow *row) {
  Walk *walk = user;
  for (uint64_t i = row->low; i < row->high && !walk->conflict; ++i) {
    uint64_t at = walk->base + (uint64_t)(row->address + row->stride * (int64_t)i) * walk->bytes -
                  walk->origin;
    at /= walk->grain;
    if (at >= walk->limit) /* out of range: that fault comes later */
      continue;
    if (walk->load == SIZE_MAX)
      walk->owners[at] = walk->store;
    else if (walk->owners[at] &&
             !walk->hazards
                  ->ordered[walk->load * walk->hazards->stores.size + walk->owners[at] - 1])
      walk->conflict = walk->owners[at];
  }

  return NULL;
}

static void walkUnit(const SambaRun *run, Walk *walk, uint32_t index) {
  const SambaUnit *unit = &run->section->units[index];
  const SambaAccess *access = sambaMemoryAccess(unit);
  SambaArena arena = {0};
  SambaPattern *pattern = sambaPatternCreate(&arena, access);
  SambaOrigin origin = {0, SAMBA_ARENA_ARRAY(&arena, int64_t, access->guard_count)};
  uint32_t *counters = SAMBA_ARENA_ARRAY(&arena, uint32_t, access->token_level);

  walk->base = (uint64_t)(uintptr_t)run->bindings[unit->load_store.symbol].data;
  walk->bytes = sambaDTypeBytes(run->section->symbols[unit->load_store.symbol].dtype);
  uint64_t firings = sambaUnitFirings(unit);
  for (uint64_t f = 0; f < firings && !walk->conflict; ++f) {
    sambaPatternOrigin(pattern, counters, &origin);
    sambaStatusFree(sambaPatternRows(pattern, &origin, NULL, walkRow, walk));
    sambaCountersStep(counters, access->trips, access->token_level);
  }

  sambaArenaDestroy(&arena);
}

static SambaStatus fault(const Hazards *h, size_t load, size_t store) {
  const SambaRun *run = h->run;
  const SambaRunUnit *unit = &run->units[h->loads.data[load].unit];
  return sambaRunFault(
      run, unit, 0, "missing synchronisation",
      "formal '%s' is written by store '%s' in the same call, and no stream orders the two",
      run->section->symbols[unit->unit->load_store.symbol].name,
      run->section->units[h->stores.data[store].unit].name);
}

/* The pair that shares an element, exactly; indexed accesses may share any. */
static SambaStatus compareElements(Hazards *h) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (size_t s = 0; s < h->stores.size; ++s) {
    begin = h->stores.data[s].begin < begin ? h->stores.data[s].begin : begin;
    end = h->stores.data[s].end > end ? h->stores.data[s].end : end;
  }

  uint64_t grain = 8;
  for (size_t i = 0; i < h->loads.size + h->stores.size; ++i) {
    uint32_t unit =
        i < h->loads.size ? h->loads.data[i].unit : h->stores.data[i - h->loads.size].unit;
    uint32_t bytes = sambaDTypeBytes(
        h->run->section->symbols[h->run->section->units[unit].load_store.symbol].dtype);
    grain = bytes < grain ? bytes : grain;
  }

  uint64_t cells = (end - begin) / grain + 1;
  Walk walk = {.hazards = h,
               .origin = begin,
               .limit = cells,
               .grain = grain,
               .owners = sambaAllocateZeroed(cells, sizeof(uint16_t)),
               .load = SIZE_MAX};

  for (size_t s = 0; s < h->stores.size; ++s) {
    walk.store = (uint16_t)(s + 1);
    walkUnit(h->run, &walk, h->stores.data[s].unit);
  }

  SambaStatus status = NULL;
  for (size_t l = 0; l < h->loads.size && !status; ++l) {
    walk.load = l;
    walkUnit(h->run, &walk, h->loads.data[l].unit);
    if (walk.conflict)
      status = fault(h, l, (size_t)walk.conflict - 1);
  }

  free(walk.owners);
  return status;
}

static bool isIndexed(const Hazards *h, const Access *access) {
  return sambaMemoryAccess(&h->run->section->units[access->unit])->has_index;
}

static SambaStatus compareAll(Hazards *h) {
  bool exact = h->stores.size < UINT16_MAX;
  for (size_t l = 0; l < h->loads.size; ++l)
    for (size_t s = 0; s < h->stores.size; ++s) {
      const Access *load = &h->loads.data[l];
      const Access *store = &h->stores.data[s];
      bool overlap = load->begin < store->end && store->begin < load->end;
      bool indexed = isIndexed(h, load) || isIndexed(h, store);
      if (overlap && !h->ordered[l * h->stores.size + s] && (indexed || !exact))
        return fault(h, l, s);
    }
  return compareElements(h);
}

SambaStatus sambaHazardsCheck(const SambaRun *run) {
  Hazards h = {.run = run};
  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    SambaUnitKind kind = run->section->units[u].kind;
    if (kind == SAMBA_UNIT_LOAD)
      sambaArrayAppend(&h.loads, makeAccess(run, u));
    else if (kind == SAMBA_UNIT_STORE)
      sambaArrayAppend(&h.stores, makeAccess(run, u));
  }

  bool overlap = false;
  for (size_t l = 0; l < h.loads.size && !overlap; ++l)
    for (size_t s = 0; s < h.stores.size && !overlap; ++s)
      overlap = h.loads.data[l].begin < h.stores.data[s].end &&
                h.stores.data[s].begin < h.loads.data[l].end;
  SambaStatus status = overlap && findUnordered(&h) ? compareAll(&h) : NULL;
  free(h.ordered);
  sambaArrayFree(&h.loads);
  sambaArrayFree(&h.stores);

  return status;
}
