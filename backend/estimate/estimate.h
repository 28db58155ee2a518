/* Static estimates of an emitted section: what it needs of the machine and roughly how long it
 * takes. Used by planner and partitioner to compare alternatives; never a result that anybody
 * reports as time. */
#ifndef SAMBA_BACKEND_ESTIMATE_ESTIMATE_H
#define SAMBA_BACKEND_ESTIMATE_ESTIMATE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Units that a section may use: the reserve is kept of PCUs and PMUs together, a quarter of it of
 * each kind. */
typedef struct SambaUsableUnits {
  uint32_t pcus, pmus, together;
} SambaUsableUnits;
SambaUsableUnits sambaMachineUsableUnits(const SambaMachine *machine);
/* Whether the section fits the machine with its reserve of units; the error says what is short. */
SambaStatus sambaSectionFits(const SambaSection *section, const SambaMachine *machine);

/* Bytes that one call moves between DRAM and the chip, as its address generators are configured:
 * padding counts, the rest of a burst does not. */
void sambaSectionTraffic(const SambaSection *section, uint64_t *out_read, uint64_t *out_written);
/* Operations on f32 of one call: 2 for each multiply-add, 1 for others but moves and selects, with
 * padding; as the simulator counts them. */
double sambaSectionFlops(const SambaSection *section);
/* Cycles that launching the section costs when another configuration is on the chip: those that
 * load the program, which are saved when its own is there, and those that start it. */
double sambaSectionLaunchCycles(const SambaSection *section, const SambaMachine *machine);
double sambaSectionLoadCycles(const SambaSection *section, const SambaMachine *machine);
double sambaSectionStartCycles(const SambaMachine *machine);

#endif
