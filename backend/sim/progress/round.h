/* Units of a section repeat themselves: the outermost trips of a loop nest differ in the addresses
 * that they walk, not in what they take and send. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_ROUND_H
#define SAMBA_BACKEND_SIM_PROGRESS_ROUND_H

#include "backend/section/section.h"

/* The section with the first of several equal rounds of its units, as short as that gets. If it
 * ends, `section` does too. All that moved in the round has arrived then, so the next one finds
 * what the first one found; what was only there for the first round, such as weights that stay in a
 * PMU, it finds in its place. False: there are no such rounds. The result lives in the arena, and
 * refers to `section`. */
bool sambaProgressFirstRound(const SambaSection *section, SambaArena *arena,
                             SambaSection *out_first);

#endif
