/* How the banks of buffers are laid out: for each buffer the banking in which its ports need the
 * fewest cycles, by the law of the ports themselves. Candidates are columns, and diagonals whose
 * rows are those that a port steps over, with every shift. The slower side decides, so reads that
 * come again weigh more than writes. */
#include "backend/codegen/banking.h"

#include "backend/section/access.h"
#include "backend/section/check/machine_check.h"
#include "backend/section/width.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 6, SAMPLES = 4 };

/* Cycles that the sides of a buffer need per slot. */
typedef struct Cost {
  uint64_t slower, both;
} Cost;

/* A buffer whose banking is known; others with the same ports are laid out alike. */
typedef struct Known {
  uint64_t hash;
  const SambaUnit *unit;
} Known;

typedef struct Chooser {
  const SambaMachine *machine;
  const SambaSection *section;
  SAMBA_ARRAY(Known) known;
  SambaPortPatterns *patterns;     /* of the buffer that is being looked at */
  uint64_t *reads, *writes, *sums; /* [skew] */
} Chooser;

/* Bankings that are compared with one look at the addresses: columns alone, or all diagonals with
 * these rows. */
typedef struct Bankings {
  uint32_t row_words; /* 0: columns */
  uint32_t count;
} Bankings;

static bool isBetter(Cost one, Cost other) {
  return one.slower != other.slower ? one.slower < other.slower : one.both < other.both;
}

/*===-- Costs ---------------------------------------------------------------------------------===*/

static uint64_t portVectorBytes(const Chooser *chooser, const SambaUnit *unit,
                                const SambaPort *port) {
  uint64_t stream = sambaPortVectorBytes(chooser->section, unit, port, chooser->machine);
  uint64_t side = (uint64_t)chooser->machine->pmu_port_bytes;
  return stream < side ? stream : side;
}

static uint64_t tokensPerSlot(const SambaPort *port) {
  return sambaTripProduct(port->access.trips, port->access.slot_level, port->access.token_level);
}

/* Cycles per slot of some ports with each banking, from a few of their tokens. */
static void countSide(const Chooser *chooser, const SambaPort *ports, uint32_t port_count,
                      const SambaUnit *unit, const Bankings *bankings, uint64_t *cycles) {
  static const SambaBuffer columns = {.banking = SAMBA_BANKING_COLUMN};
  size_t bytes = bankings->count * sizeof *cycles;
  memset(cycles, 0, bytes);
  for (uint32_t p = 0; p < port_count; ++p) {
    uint64_t vector = portVectorBytes(chooser, unit, &ports[p]);
    SambaPortCycles *law =
        bankings->row_words
            ? sambaPortSkewsCreate(chooser->patterns, bankings->row_words, &ports[p], vector)
            : sambaPortCyclesCreate(chooser->patterns, &columns, &ports[p], vector);
    uint64_t tokens = tokensPerSlot(&ports[p]);
    uint64_t step = (tokens + SAMPLES - 1) / SAMPLES, samples = (tokens + step - 1) / step;

    memset(chooser->sums, 0, bytes);
    for (uint64_t token = 0; token < tokens; token += step) {
      const uint64_t *counted = sambaPortTokenSkews(law, token);
      for (uint32_t b = 0; b < bankings->count; ++b)
        chooser->sums[b] += counted[b];
    }
    for (uint32_t b = 0; b < bankings->count; ++b)
      cycles[b] += chooser->sums[b] * tokens / samples;
  }
}

/* No banking can do better: a cycle per vector. */
static uint64_t leastCycles(const Chooser *chooser, const SambaUnit *unit, const SambaPort *ports,
                            uint32_t count) {
  uint64_t total = 0;
  for (uint32_t p = 0; p < count; ++p) {
    uint64_t bytes = ports[p].token_elements * sambaDTypeBytes(ports[p].dtype);
    uint64_t vector = portVectorBytes(chooser, unit, &ports[p]);
    total += tokensPerSlot(&ports[p]) * ((bytes + vector - 1) / vector);
  }
  return total;
}

static Cost costOfSides(uint64_t writes, uint64_t reads) {
  return (Cost){writes > reads ? writes : reads, writes + reads};
}

/* Finds the banking that costs less than `best`, which then becomes what it costs, and returns its
 * index; the first of equals. NO_INDEX: there is none. What reads cost alone may show that. */
static uint32_t findCheaper(const Chooser *chooser, const SambaUnit *unit, const Bankings *bankings,
                            Cost *best) {
  uint64_t least = leastCycles(chooser, unit, unit->inputs, unit->input_count);
  countSide(chooser, unit->outputs, unit->output_count, unit, bankings, chooser->reads);
  bool may = false;
  for (uint32_t b = 0; b < bankings->count && !may; ++b)
    may = isBetter(costOfSides(least, chooser->reads[b]), *best);
  if (!may)
    return SAMBA_NO_INDEX;

  uint32_t found = SAMBA_NO_INDEX;
  countSide(chooser, unit->inputs, unit->input_count, unit, bankings, chooser->writes);
  for (uint32_t b = 0; b < bankings->count; ++b) {
    Cost cost = costOfSides(chooser->writes[b], chooser->reads[b]);
    if (isBetter(cost, *best)) {
      *best = cost;
      found = b;
    }
  }
  return found;
}

/*===-- Candidates ----------------------------------------------------------------------------===*/

/* Rows that the ports step over within a token, in words. */
static uint32_t rowsOf(const Chooser *chooser, const SambaUnit *unit, uint32_t *out_rows) {
  uint32_t count = 0;
  for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p) {
    const SambaPort *port =
        p < unit->input_count ? &unit->inputs[p] : &unit->outputs[p - unit->input_count];
    for (uint32_t c = port->access.counter_count; c-- > port->access.token_level;) {
      int64_t stride = port->access.strides[c];
      uint64_t bytes =
          (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride) * sambaDTypeBytes(port->dtype);
      uint64_t words = bytes / (uint64_t)chooser->machine->pmu_word_bytes;
      bool listed = port->access.trips[c] == 1 || words < 2 || words > UINT32_MAX ||
                    bytes % (uint64_t)chooser->machine->pmu_word_bytes;
      for (uint32_t i = 0; i < count && !listed; ++i)
        listed = out_rows[i] == words;
      if (!listed && count < MOST_ROWS)
        out_rows[count++] = (uint32_t)words;
    }
  }
  return count;
}

/* A diagonal asks for a stage of the address pipeline, which guards may need. */
static bool hasStageForRows(const Chooser *chooser, SambaUnit *unit) {
  unit->buffer.banking = SAMBA_BANKING_DIAGONAL;
  bool fits = true;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    fits &= sambaAddressStages(&unit->buffer, &unit->inputs[p].access) <=
            chooser->machine->pmu_address_stages;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    fits &= sambaAddressStages(&unit->buffer, &unit->outputs[p].access) <=
            chooser->machine->pmu_address_stages;
  unit->buffer.banking = SAMBA_BANKING_COLUMN;
  return fits;
}

static void choose(const Chooser *chooser, SambaUnit *unit) {
  uint32_t rows[MOST_ROWS];
  uint64_t least = leastCycles(chooser, unit, unit->inputs, unit->input_count) +
                   leastCycles(chooser, unit, unit->outputs, unit->output_count);
  Cost best = {UINT64_MAX, UINT64_MAX};
  findCheaper(chooser, unit, &(Bankings){.count = 1}, &best);
  if (best.both == least || !hasStageForRows(chooser, unit))
    return;

  uint32_t count = rowsOf(chooser, unit, rows);
  for (uint32_t r = 0; r < count && best.both > least; ++r) {
    Bankings diagonals = {rows[r], (uint32_t)chooser->machine->pmu_banks};
    uint32_t skew = findCheaper(chooser, unit, &diagonals, &best);
    if (skew == SAMBA_NO_INDEX)
      continue;
    unit->buffer.banking = SAMBA_BANKING_DIAGONAL;
    unit->buffer.row_words = rows[r];
    unit->buffer.skew = skew;
  }
}

/*===-- Buffers with the same ports -----------------------------------------------------------===*/

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static uint64_t hashPorts(uint64_t hash, const SambaPort *ports, uint32_t count) {
  for (uint32_t p = 0; p < count; ++p) {
    const SambaAccess *access = &ports[p].access;
    hash = mix(hash, &ports[p].dtype, sizeof ports[p].dtype);
    hash = mix(hash, &access->token_level, sizeof access->token_level);
    hash = mix(hash, access->trips, access->counter_count * sizeof *access->trips);
    hash = mix(hash, access->strides, access->counter_count * sizeof *access->strides);
  }
  return hash;
}

static bool samePorts(const SambaPort *one, const SambaPort *other, uint32_t count) {
  bool same = true;
  for (uint32_t p = 0; p < count && same; ++p) {
    const SambaAccess *a = &one[p].access, *b = &other[p].access;
    same = one[p].dtype == other[p].dtype && a->counter_count == b->counter_count &&
           a->slot_level == b->slot_level && a->token_level == b->token_level &&
           a->guard_count == b->guard_count &&
           memcmp(a->trips, b->trips, a->counter_count * sizeof *a->trips) == 0 &&
           memcmp(a->strides, b->strides, a->counter_count * sizeof *a->strides) == 0;
  }
  return same;
}

static const SambaUnit *findKnown(Chooser *chooser, const SambaUnit *unit) {
  uint64_t hash =
      hashPorts(hashPorts(0, unit->inputs, unit->input_count), unit->outputs, unit->output_count);
  for (size_t i = 0; i < chooser->known.size; ++i) {
    const SambaUnit *known = chooser->known.data[i].unit;
    if (chooser->known.data[i].hash == hash && known->input_count == unit->input_count &&
        known->output_count == unit->output_count &&
        samePorts(known->inputs, unit->inputs, unit->input_count) &&
        samePorts(known->outputs, unit->outputs, unit->output_count))
      return known;
  }
  sambaArrayAppend(&chooser->known, ((Known){hash, unit}));
  return NULL;
}

/*===-- Buffers of other sections -------------------------------------------------------------===*/

static void addNumber(SambaByteBuffer *key, uint64_t number) {
  sambaArrayReserve(key, key->size + sizeof number);
  memcpy(key->data + key->size, &number, sizeof number);
  key->size += sizeof number;
}

/* Counters that step from slot to slot do not matter: the sampled tokens are those of one slot. */
static void addPort(const Chooser *chooser, const SambaUnit *unit, const SambaPort *port,
                    SambaByteBuffer *key) {
  const SambaAccess *access = &port->access;
  addNumber(key, port->dtype);
  addNumber(key, port->token_elements);
  addNumber(key, portVectorBytes(chooser, unit, port));
  addNumber(key, (uint64_t)access->base);
  addNumber(key, access->token_level - access->slot_level);
  addNumber(key, access->counter_count - access->slot_level);
  for (uint32_t c = access->slot_level; c < access->counter_count; ++c) {
    addNumber(key, access->trips[c]);
    addNumber(key, (uint64_t)access->strides[c]);
  }
  addNumber(key, sambaAddressStages(&unit->buffer, access));
  addNumber(key, access->guard_count);
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    const SambaGuard *guard = &access->guards[g];
    addNumber(key, (uint64_t)guard->constant);
    addNumber(key, (uint64_t)guard->limit);
    for (uint32_t c = access->slot_level; c < access->counter_count; ++c)
      addNumber(key, (uint64_t)guard->strides[c]);
  }
}

/* All that the choice for a buffer follows from, on one machine. */
static void makeKey(const Chooser *chooser, const SambaUnit *unit, SambaByteBuffer *key) {
  key->size = 0;
  addNumber(key, unit->input_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    addPort(chooser, unit, &unit->inputs[p], key);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    addPort(chooser, unit, &unit->outputs[p], key);
}

static void chooseAnew(Chooser *chooser, SambaUnit *unit, SambaPortCounts *counts) {
  SambaArena arena = {0};
  chooser->patterns = counts ? sambaPortPatternsShare(counts, &arena)
                             : sambaPortPatternsCreate(chooser->machine, &arena);
  choose(chooser, unit);
  sambaArenaDestroy(&arena);
}

static void chooseOrFind(Chooser *chooser, SambaUnit *unit, const SambaBankingMemo *memo,
                         SambaByteBuffer *key) {
  if (!memo) {
    chooseAnew(chooser, unit, NULL);
    return;
  }
  makeKey(chooser, unit, key);
  if (memo->find(memo->user, key, &unit->buffer))
    return;
  chooseAnew(chooser, unit, memo->counts);
  memo->keep(memo->user, key, &unit->buffer);
}

void sambaChooseBanking(const SambaMachine *machine, SambaSection *section,
                        const SambaBankingMemo *memo) {
  SambaByteBuffer key = {0};
  size_t skews = (size_t)machine->pmu_banks;
  uint64_t *cycles = sambaAllocateZeroed(skews, 3 * sizeof *cycles);
  Chooser chooser = {.machine = machine,
                     .section = section,
                     .reads = cycles,
                     .writes = cycles + skews,
                     .sums = cycles + 2 * skews};
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_BUFFER)
      continue;
    const SambaUnit *known = findKnown(&chooser, unit);
    if (known) {
      unit->buffer.banking = known->buffer.banking;
      unit->buffer.row_words = known->buffer.row_words;
      unit->buffer.skew = known->buffer.skew;
    } else {
      chooseOrFind(&chooser, unit, memo, &key);
    }
  }
  sambaArrayFree(&key);
  sambaArrayFree(&chooser.known);
  free(cycles);
}
