/* Bank conflicts of a PMU port: how many cycles each of its vectors needs. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_BANKS_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_BANKS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct SambaBankPattern {
  const SambaMachine *machine;
  const SambaUnit *unit;
  const SambaPort *port;
  uint64_t slot_elements; /* that the port touches in one slot, guards aside */
  uint8_t *known;         /* cycles of each vector of a slot, 0: not known yet */
  uint64_t known_count;
} SambaBankPattern;

void sambaBankPatternBuild(SambaBankPattern *pattern, SambaArena *arena,
                           const SambaMachine *machine, const SambaUnit *unit,
                           const SambaPort *port);
/* Cycles of a vector, by its number in a slot: `count` elements from the one that the port touches
 * `first` in the slot. */
uint64_t sambaBankPatternCycles(SambaBankPattern *pattern, uint64_t vector, uint64_t first,
                                uint64_t count);

#endif
