/* The chip as the cycle engine holds it: its units over one clock, one network, one memory. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_CHIP_H
#define SAMBA_BACKEND_SIM_CYCLE_CHIP_H

#include "backend/sim/call/call.h"
#include "backend/sim/call/timed_call.h"
#include "backend/sim/cycle/network/routes.h"
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
} SambaChip;

/* Refuses sections that need memory on machines that have none. */
SambaStatus sambaChipBuild(SambaChip *chip, const SambaBinding *bindings,
                           const SambaIndexTraces *index_traces);
void sambaChipFree(SambaChip *chip);

#endif
