/* Checks of a placed and routed section, independent of the placer and the router: nothing here
 * knows how they work.
 *
 * sambaSectionCheckRoutes reads the network's configuration back and compares it with what was
 * asked; sambaSectionCheckStatic shows that the section cannot deadlock for want of tokens, room or
 * links. */
#ifndef SAMBA_BACKEND_PLACE_VERIFY_PLACE_CHECK_H
#define SAMBA_BACKEND_PLACE_VERIFY_PLACE_CHECK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Sites: of the right kind, each used once; address generators likewise. Routes: collects the
 * switch entries and the units' flow ends of all streams, recovers streams from these alone, and
 * compares: every asked stream comes from its port and reaches exactly its destinations. Capacity:
 * on every link lane and every physical unit port the streams' rates (sambaSectionRates) sum to at
 * most 1. SAMBA_INVALID names switch, lane, stream or unit. */
SambaStatus sambaSectionCheckRoutes(const SambaSection *asked, const SambaMachine *machine,
                                    const uint32_t *rates);

/* The static checks before emission: (i) tokens balance (sambaSectionCheck); (ii) where paths part
 * and meet again, none has to hold more tokens than it can before the unit where they meet can
 * work; no unit waits for itself; (iii) the channel dependences of the network have no cycle. (ii)
 * counts FIFOs along the routes, so the section must be routed. It refuses only what certainly
 * blocks: the first steps of every unit where streams meet are counted exactly, later ones and
 * data-dependent delays are left to the simulator's fault `deadlock`. */
SambaStatus sambaSectionCheckStatic(const SambaSection *section, const SambaMachine *machine);

/* The parts of sambaSectionCheckStatic: (ii), its cases of slots that are read and written in turn
 * and of tokens that are dealt to units which share others, and (iii). */
SambaStatus sambaSectionCheckDepths(const SambaSection *section, const SambaMachine *machine);
SambaStatus sambaSectionCheckTurns(const SambaSection *section, const SambaMachine *machine);
SambaStatus sambaSectionCheckDeals(const SambaSection *section, const SambaMachine *machine);
SambaStatus sambaSectionCheckChannels(const SambaSection *section, const SambaMachine *machine);

#endif
