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
  uint64_t vector_elements;
  uint8_t *known; /* cycles of each vector of a slot, 0: not known yet; ports alike share them */
  uint64_t known_count;
  struct SambaBankPattern *next; /* in the list of those that differ */
} SambaBankPattern;

/* `patterns`: a list of the patterns that were built before for this machine. */
void sambaBankPatternBuild(SambaBankPattern *pattern, SambaArena *arena,
                           const SambaMachine *machine, const SambaUnit *unit,
                           const SambaPort *port, uint64_t vector_elements,
                           SambaBankPattern **patterns);
/* What is known of a vector. Threads (shares.h) may find it out side by side: the same. */
static inline uint8_t sambaBankPatternKnown(const uint8_t *known, uint64_t vector) {
  return __atomic_load_n(&known[vector], __ATOMIC_RELAXED);
}
/* Cycles of a vector, by its number in a slot: `count` elements from the one that the port touches
 * `first` in the slot. */
uint64_t sambaBankPatternCycles(SambaBankPattern *pattern, uint64_t vector, uint64_t first,
                                uint64_t count);

#endif
