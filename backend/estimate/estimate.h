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
/* The rate of each stream in permille of a lane, 1 to 1000: the vectors that it carries
 * over the cycles of the unit (or the DRAM) that is busy longest, as a share of what the machine's
 * link reserve leaves of a lane. Both ends of a stream are among those units, so the slower end is
 * reckoned with. Placer, router and the check of routes are given these. Memory from the arena. */
const uint32_t *sambaSectionRates(const SambaSection *section, const SambaMachine *machine,
                                  SambaArena *arena);
/* What streams would have of a lane where lanes are left over: an operand of an array most of one,
 * so that no other stream holds it up. All units of a product work in step, so what one of them
 * waits, all do. rates: those on average. */
const uint32_t *sambaSectionWishedRates(const SambaSection *section, const uint32_t *rates,
                                        SambaArena *arena);
/* The same while memory fills buffers, as fast as its generators can: such streams come in bursts,
 * beside operands that need their share of a lane all the time. turns: so do those that a PCU takes
 * in turn, such as the PMUs over which an operand is spread. rates: those on average. */
const uint32_t *sambaSectionBurstRates(const SambaSection *section, const SambaMachine *machine,
                                       const uint32_t *rates, bool turns, SambaArena *arena);
/* Of all lanes between switches, the shares that vectors would have, as if each took one lane to
 * each of its destinations: before there are routes, this tells how hard it will be to find some.
 */
typedef struct SambaLinkShares {
  double bursts; /* all have their bursts, turns counted, or their rates on average */
  double wishes; /* all have what they wish for */
} SambaLinkShares;
SambaLinkShares sambaSectionLinkShares(const SambaSection *section, const SambaMachine *machine);

#endif
