/* The chip as the cycle engine holds it: its units over one clock, one network, one memory. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_CHIP_H
#define SAMBA_BACKEND_SIM_CYCLE_CHIP_H

#include "backend/sim/call/call.h"
#include "backend/sim/call/timed_call.h"
#include "backend/sim/cycle/network/routes.h"
#include "backend/sim/cycle/network/shares.h"
#include "backend/sim/cycle/unit/generator.h"
#include "backend/sim/cycle/unit/pcu.h"
#include "backend/sim/cycle/unit/pmu.h"

/* A unit of any kind. What belongs to a unit lies together: the host's cache holds more of it then.
 */
typedef struct SambaChipUnit {
  union {
    SambaPcu *pcu;
    SambaPmu *pmu;
    SambaMemoryUnit *memory;
  };
} SambaChipUnit;

/* A share of the chip's work (network/shares.h). The first one has the chip's clock and network. */
typedef struct SambaShare {
  _Alignas(SAMBA_CACHE_LINE) SambaClock *clock;
  SambaNetwork *network;
  uint32_t *units; /* room for those that are woken for a window */
  /* Since it was counted last: steps of parts, units that finished, and the cycle after. */
  uint64_t events, finished, finish;
} SambaShare;

typedef struct SambaChip {
  SambaArena arena;
  const SambaMachine *machine;
  const SambaSection *section;
  SambaClock clock;
  SambaNetwork network;
  SambaMemorySide memory;
  SambaChipUnit *units;
  uint8_t *kinds; /* per unit: SambaUnitKind, as the record has it */
  bool *done;     /* per unit */
  uint32_t unfinished;
  uint64_t finish;  /* the cycle after the last in which something happened */
  uint64_t events;  /* steps of parts */
  uint64_t stop_at; /* cycles; the fault `too many cycles` beyond */

  SambaShare *shares;
  uint32_t share_count;
  const uint8_t *share_of; /* per unit; NULL: one share */
  SambaTeam *team;         /* of several shares */
  /* What the team works on: units that are woken, and the end of the window; or a cycle. */
  const uint32_t *woken;
  size_t woken_count, crossed; /* crossed: in the last cycle of lanes */
  uint64_t window_end;
  bool looks_again, team_helps;
} SambaChip;

/* Refuses sections that need memory on machines that have none. threads: of the host, at most. */
SambaStatus sambaChipBuild(SambaChip *chip, const SambaBinding *bindings,
                           const SambaIndexTraces *index_traces, int threads);
void sambaChipFree(SambaChip *chip);

#endif
