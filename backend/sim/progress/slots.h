/* PMUs without time: slots that write ports fill and read ports read, vector by vector.
 *
 * A slot is read when every write port has finished it, and written again when every read port has
 * read it into its pipeline, or, in place, when each has read the elements that are written. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_SLOTS_H
#define SAMBA_BACKEND_SIM_PROGRESS_SLOTS_H

#include "backend/sim/progress/port.h"

typedef struct SambaSlotPort {
  uint64_t tokens;
  uint64_t slot_vectors; /* vectors in which it passes a slot */
  SambaProgressInput input;
  SambaProgressOutput output;
} SambaSlotPort;

typedef struct SambaSlots {
  const SambaUnit *unit;
  uint32_t actor_first; /* write ports, then read ports */
  SambaSlotPort *writes, *reads;
} SambaSlots;

void sambaSlotsBuild(SambaSlots *slots, SambaArena *arena, const SambaFlows *flows,
                     const SambaMachine *machine, const SambaSection *section, uint32_t unit);
/* Lets one port go on as far as it can: a write port, or behind them a read port. */
void sambaSlotsAdvance(SambaSlots *slots, SambaFlows *flows, uint32_t place);
bool sambaSlotsPortIsDone(const SambaSlots *slots, uint32_t place);
/* Tokens that a port has passed. */
uint64_t sambaSlotsTokens(const SambaSlots *slots, uint32_t place);
/* The port for which a port's slot waits; SAMBA_NO_INDEX: it has one. */
uint32_t sambaSlotsWaitFor(const SambaSlots *slots, uint32_t place);

#endif
