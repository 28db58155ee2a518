/* Placement: which site of the grid works for which unit of a section.
 *
 * Wirelength-driven and deterministic (fixed seed, integers only): units are laid along a
 * space-filling curve in the better of two orders (as written; breadth first over the streams),
 * then improved by bounded annealing of site swaps. Distances are hop latencies, so a die edge
 * costs what the machine says it costs. */
#ifndef SAMBA_BACKEND_PLACE_PLACER_PLACE_H
#define SAMBA_BACKEND_PLACE_PLACER_PLACE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Gives every BUFFER a PMU site and every COMPUTE a PCU site (x, y), every LOAD and STORE an
 * address generator (ag). What is set already (x and y, or ag, not negative) is kept: placement by
 * hand. Needs a section whose endpoints index existing units (sambaSectionCheck). On failure no
 * unit has changed. Errors: SAMBA_EXHAUSTED when a kind of unit exceeds what the machine has,
 * naming the layer that has most of them; SAMBA_INVALID when a hand-placed unit lies outside the
 * machine, on a site of the other kind, or on a site twice.
 * rates: of each stream, in permille of a lane (sambaSectionRates); busy streams are kept short. */
SambaStatus sambaSectionPlace(SambaSection *section, const SambaMachine *machine,
                              const uint32_t *rates);

#endif
