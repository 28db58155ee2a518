/* Loads and stores, and the address generators that they run on.
 *
 * A generator asks for bursts in the order of the pattern, ag_bytes per cycle, and has ag_bursts
 * of them under way at most. One request asks for the consecutive bursts of a run that lie in one
 * row of one channel. A load keeps what comes back until it has left in order; that frees
 * the place of the burst. A store asks for a burst when all of its elements have come in; its place
 * is free when the write is acknowledged. Units on one generator take turns. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_GENERATOR_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_GENERATOR_H

#include "backend/sim/cycle/memory/dram.h"
#include "backend/sim/cycle/memory/merge.h"
#include "backend/sim/cycle/memory/pattern.h"
#include "backend/sim/cycle/unit/port.h"

typedef struct SambaGenerator {
  uint64_t free_at;         /* cycle of the next burst, no earlier */
  uint64_t asked_at, asked; /* bursts in the cycle asked_at */
  uint64_t under_way;
  uint32_t unit_count, *units;
  uint32_t last, waiter; /* units: that asked last, that waits for its turn */
} SambaGenerator;

/* Bursts of one request, at most. */
enum { SAMBA_GROUP_PIECES = 64 };

/* A piece of the pattern that was walked. */
typedef struct SambaAsked {
  uint64_t end;            /* elements of the unit's whole walk up to its end */
  SambaMergedRead *merged; /* NULL, or the read that it waits for instead */
  bool joined;             /* that one is another unit's */
  bool burst;              /* it takes a place among the bursts under way */
} SambaAsked;

typedef struct SambaMemoryUnit {
  const SambaUnit *unit;
  uint32_t index, generator;
  bool is_load;
  uint64_t firings, token_elements;
  uint64_t port_bytes; /* per cycle, between generator and network */
  SambaPattern pattern;
  SambaPiece group[SAMBA_GROUP_PIECES]; /* what is asked for next, by one request */
  uint32_t group_count;
  SambaPiece next; /* the piece after them, when it was walked */
  bool has_next;
  uint64_t walked;   /* elements of the pieces before it */
  uint64_t received; /* STORE: elements that came in */
  uint64_t passed;   /* elements: LOAD: that left, STORE: whose writes are acknowledged */
  uint64_t begun;    /* firings that took their control tokens */
  SambaAsked *asked; /* ring, in the order of the pattern */
  uint64_t *done;    /* of each place: the cycle at which the data are there, or the write is
                        acknowledged */
  uint64_t soonest;  /* cycle of the next return, of those that memory has told of */
  bool has_joined;   /* it waits for reads of others, of which memory does not tell it */
  uint32_t asked_size, asked_head, asked_count;
  uint32_t arrived_count; /* of those, from the head on, whose data are there */
  uint64_t arrived;       /* elements */
  SambaInputPort *inputs; /* of the unit, data, index and control */
  SambaOutputPort *outputs;
  uint32_t data_input, index_input; /* SAMBA_NO_INDEX: none */
  SambaTimeLine line;
} SambaMemoryUnit;

/* What loads and stores share. */
typedef struct SambaMemorySide {
  SambaMemory memory;
  SambaMergeTable merge;
  SambaGenerator *generators;
} SambaMemorySide;

void sambaMemoryUnitBuild(SambaMemoryUnit *unit, SambaArena *arena, const SambaNetwork *network,
                          const SambaSection *section, uint32_t index, uint64_t symbol_address,
                          const int64_t *addends, uint64_t addend_count);
/* One cycle. Returns the next cycle in which it has something to do. */
uint64_t sambaMemoryUnitStep(SambaMemoryUnit *unit, SambaMemorySide *side, SambaNetwork *network);
bool sambaMemoryUnitIsDone(const SambaMemoryUnit *unit);
/* Firings that are over. */
uint64_t sambaMemoryUnitFirings(const SambaMemoryUnit *unit);

#endif
