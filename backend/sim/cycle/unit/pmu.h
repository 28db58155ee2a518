/* A PMU: slots that write ports fill and read ports read, a vector at a time.
 *
 * All read ports share one read side, all write ports one write side. A side serves one vector at a
 * time, for as many cycles as the vector needs of the banks. It goes on with the token that it
 * began first as long as that can go on; tokens of other ports get the cycles that this leaves, in
 * the order in which they came. The arrays that banks are made of have one port each: a read and a
 * write that meet in one take turns too. A slot is read when every write port has finished it, and
 * written again when every read port has, or, in place, when they have passed the elements. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PMU_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PMU_H

#include "backend/section/banks.h"
#include "backend/sim/cycle/unit/banks.h"
#include "backend/sim/cycle/unit/port.h"

/* What every vector looks at comes first, and lies in few lines of the host's cache. */
typedef struct SambaPmuPort {
  _Alignas(SAMBA_CACHE_LINE) uint64_t tokens, token; /* all, and the one at work */
  uint64_t slots;                                    /* finished */
  uint64_t finished_at;   /* the last of them: others see it from this cycle on */
  SambaArrayRange arrays; /* in which the slot at work lies */
  uint32_t vector;        /* of the token */
  uint32_t slot_tokens;   /* tokens per slot */
  uint32_t slot_token;    /* the one at work, within its slot */
  uint32_t known_count;   /* as in `banks` */
  const uint8_t *known;
  union {
    SambaInputPort input;
    SambaOutputPort output;
  };
  SambaTimeLine line;
  /* Of a side with several ports: */
  uint64_t began_at; /* when the first vector of the token passed */
  uint64_t came_at;  /* when it could begin; SAMBA_NEVER: not yet */
  /* In place: */
  uint64_t stepped_at; /* the cycle after the one in which the last vector passed */
  uint64_t stood;      /* elements of its slot that had passed before */
  SambaBankPattern banks;
} SambaPmuPort;
enum { SAMBA_PMU_PORT_LINES = 3 }; /* in so many */

/* The read side, or the write side. */
typedef struct SambaPmuSide {
  uint32_t port_count, turn;
  SambaPmuPort *ports;
  uint32_t *order; /* places of ports, in which they may work in a cycle */
  uint64_t free_at;
} SambaPmuSide;

typedef struct SambaPmu {
  _Alignas(SAMBA_CACHE_LINE) SambaPmuSide read, write;
  uint64_t *array_free_at; /* of each array */
  uint64_t slot_count;
  bool loop_carried, in_place;
  uint32_t index;
  const SambaUnit *unit;
  SambaSlotPlacement placement;
} SambaPmu;

/* `patterns`: see sambaBankPatternBuild. */
void sambaPmuBuild(SambaPmu *pmu, SambaArena *arena, const SambaNetwork *network,
                   const SambaSection *section, uint32_t unit, SambaBankPattern **patterns);
/* A unit that is stepped soon: fetches its ports into the host's cache. */
void sambaPmuFetchPorts(const SambaPmu *pmu);
/* The same a little later: what its ports need. */
void sambaPmuFetch(const SambaPmu *pmu, const SambaNetwork *network);
/* The same a little later: what the FIFOs that it fetched keep elsewhere. */
void sambaPmuFetchBehind(const SambaPmu *pmu, const SambaNetwork *network);
/* One cycle. Returns the next cycle in which it has something to do. */
uint64_t sambaPmuStep(SambaPmu *pmu, SambaNetwork *network);
bool sambaPmuPortIsDone(const SambaPmuPort *port, bool read);
bool sambaPmuIsDone(const SambaPmu *pmu);
/* The cycle at which both sides are through with what they do. */
uint64_t sambaPmuBusyUntil(const SambaPmu *pmu);
/* Slots that all ports of a side have finished, as of `now`. */
uint64_t sambaPmuSideSlots(const SambaPmuSide *side, uint64_t now);

#endif
