/* What streams of an emitted section want of the lanes that carry them: placer, router and the
 * check of routes are given these. */
#ifndef SAMBA_BACKEND_ESTIMATE_STREAM_RATES_H
#define SAMBA_BACKEND_ESTIMATE_STREAM_RATES_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* The rate of each stream in permille of a lane, 1 to 1000: the vectors that it carries
 * over the cycles of the unit (or the DRAM) that is busy longest, as a share of what the machine's
 * link reserve leaves of a lane. Both ends of a stream are among those units, so the slower end is
 * reckoned with. Memory from the arena. */
const uint32_t *sambaSectionRates(const SambaSection *section, const SambaMachine *machine,
                                  SambaArena *arena);
/* The same when those cycles are known (sambaSectionBusyCycles). */
const uint32_t *sambaSectionRatesIn(const SambaSection *section, const SambaMachine *machine,
                                    double cycles, SambaArena *arena);
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

#endif
