/* Order through memory: an element that a store writes and a load reads in the same call must be
 * ordered by streams, or the hardware would read either value. Buffers need no such check: their
 * credits order every read after its write.
 *
 * What orders two units is a path of streams between them, in either direction. Sections that load
 * nothing they store - nearly all - cost a comparison of address ranges. */
#include "backend/sim/value/network/hazards.h"

#include "backend/section/access.h"
#include "backend/sim/value/kernel/pattern.h"

#include <stdlib.h>
#include <string.h>

typedef struct Access {
  uint32_t unit;
  uint64_t begin, end; /* host addresses of the bytes that it may touch */
} Access;

typedef SAMBA_ARRAY(Access) Accesses;

typedef struct Hazards {
  const SambaSectionRun *run;
  Accesses loads, stores;
  uint8_t *ordered; /* [load * stores + store] */
} Hazards;

/* The bytes that the whole chain can touch. */
static Access makeAccess(const SambaSectionRun *run, uint32_t index) {
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
static bool findUnordered(Hazards *hazards) {
  const SambaSection *section = hazards->run->section;
  hazards->ordered = sambaAllocateZeroed(hazards->loads.size, hazards->stores.size);
  uint8_t *from_load = sambaAllocate(section->unit_count);
  uint8_t *from_store = sambaAllocateZeroed(hazards->stores.size, section->unit_count);

  for (size_t s = 0; s < hazards->stores.size; ++s)
    markReachable(section, hazards->stores.data[s].unit, from_store + s * section->unit_count);
  bool unordered = false;
  for (size_t l = 0; l < hazards->loads.size; ++l) {
    const Access *load = &hazards->loads.data[l];
    memset(from_load, 0, section->unit_count);
    markReachable(section, load->unit, from_load);
    for (size_t s = 0; s < hazards->stores.size; ++s) {
      const Access *store = &hazards->stores.data[s];
      bool path = from_load[store->unit] || from_store[s * section->unit_count + load->unit];
      hazards->ordered[l * hazards->stores.size + s] = path;
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

static void walkUnit(const SambaSectionRun *run, Walk *walk, uint32_t index) {
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

static SambaStatus fault(const Hazards *hazards, size_t load, size_t store) {
  const SambaSectionRun *run = hazards->run;
  const SambaUnitRun *unit = &run->units[hazards->loads.data[load].unit];
  return sambaUnitFault(
      run, unit, 0, "missing synchronisation",
      "formal '%s' is written by store '%s' in the same call, and no stream orders the two",
      run->section->symbols[unit->unit->load_store.symbol].name,
      run->section->units[hazards->stores.data[store].unit].name);
}

/* The pair that shares an element, exactly; indexed accesses may share any. */
static SambaStatus compareElements(Hazards *hazards) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (size_t s = 0; s < hazards->stores.size; ++s) {
    begin = hazards->stores.data[s].begin < begin ? hazards->stores.data[s].begin : begin;
    end = hazards->stores.data[s].end > end ? hazards->stores.data[s].end : end;
  }

  uint64_t grain = 8;
  for (size_t i = 0; i < hazards->loads.size + hazards->stores.size; ++i) {
    uint32_t unit = i < hazards->loads.size ? hazards->loads.data[i].unit
                                            : hazards->stores.data[i - hazards->loads.size].unit;
    uint32_t bytes = sambaDTypeBytes(
        hazards->run->section->symbols[hazards->run->section->units[unit].load_store.symbol].dtype);
    grain = bytes < grain ? bytes : grain;
  }

  uint64_t cells = (end - begin) / grain + 1;
  Walk walk = {.hazards = hazards,
               .origin = begin,
               .limit = cells,
               .grain = grain,
               .owners = sambaAllocateZeroed(cells, sizeof(uint16_t)),
               .load = SIZE_MAX};

  for (size_t s = 0; s < hazards->stores.size; ++s) {
    walk.store = (uint16_t)(s + 1);
    walkUnit(hazards->run, &walk, hazards->stores.data[s].unit);
  }

  SambaStatus status = NULL;
  for (size_t l = 0; l < hazards->loads.size && !status; ++l) {
    walk.load = l;
    walkUnit(hazards->run, &walk, hazards->loads.data[l].unit);
    if (walk.conflict)
      status = fault(hazards, l, (size_t)walk.conflict - 1);
  }

  free(walk.owners);
  return status;
}

static bool isIndexed(const Hazards *hazards, const Access *access) {
  return sambaMemoryAccess(&hazards->run->section->units[access->unit])->has_index;
}

static SambaStatus compareAll(Hazards *hazards) {
  bool exact = hazards->stores.size < UINT16_MAX;
  for (size_t l = 0; l < hazards->loads.size; ++l)
    for (size_t s = 0; s < hazards->stores.size; ++s) {
      const Access *load = &hazards->loads.data[l];
      const Access *store = &hazards->stores.data[s];
      bool overlap = load->begin < store->end && store->begin < load->end;
      bool indexed = isIndexed(hazards, load) || isIndexed(hazards, store);
      if (overlap && !hazards->ordered[l * hazards->stores.size + s] && (indexed || !exact))
        return fault(hazards, l, s);
    }
  return compareElements(hazards);
}

SambaStatus sambaHazardsCheck(const SambaSectionRun *run) {
  Hazards hazards = {.run = run};
  for (uint32_t u = 0; u < run->section->unit_count; ++u) {
    SambaUnitKind kind = run->section->units[u].kind;
    if (kind == SAMBA_UNIT_LOAD)
      sambaArrayAppend(&hazards.loads, makeAccess(run, u));
    else if (kind == SAMBA_UNIT_STORE)
      sambaArrayAppend(&hazards.stores, makeAccess(run, u));
  }

  bool overlap = false;
  for (size_t l = 0; l < hazards.loads.size && !overlap; ++l)
    for (size_t s = 0; s < hazards.stores.size && !overlap; ++s)
      overlap = hazards.loads.data[l].begin < hazards.stores.data[s].end &&
                hazards.stores.data[s].begin < hazards.loads.data[l].end;
  SambaStatus status = overlap && findUnordered(&hazards) ? compareAll(&hazards) : NULL;
  free(hazards.ordered);
  sambaArrayFree(&hazards.loads);
  sambaArrayFree(&hazards.stores);

  return status;
}
