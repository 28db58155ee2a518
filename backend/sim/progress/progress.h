/* Whether a section ends on the chip, and how far it gets if it does not.
 *
 * That follows from shapes alone: units are deterministic processes, FIFOs between them are
 * bounded, and no flow holds up another one. Then how far each unit gets does not depend on when
 * anything happens. So there is no time here. Every unit goes on as far as its inputs and its room
 * let it, in counts of vectors; when no unit can go on, those that are not done wait for each
 * other. The law is in docs/execution-model.md, "Progress". */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_PROGRESS_H
#define SAMBA_BACKEND_SIM_PROGRESS_PROGRESS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

#include <signal.h>

typedef struct SambaProgress SambaProgress;

/* Runs one call of a section that the checks accepted. `stop` (may be NULL): non-zero stops it
 * early. max_cycles (0: none): so does a section that cannot end within so many, because a stream
 * carries more vectors. Free the result with sambaProgressFree. */
SambaProgress *sambaProgressRun(const SambaMachine *machine, const SambaSection *section,
                                uint64_t max_cycles, const volatile sig_atomic_t *stop);
void sambaProgressFree(SambaProgress *progress);
bool sambaProgressWasStopped(const SambaProgress *progress);
/* Every unit has done all its firings. Not known of a section that was stopped. */
bool sambaProgressEnds(const SambaProgress *progress);
/* Of a section that does not end: the firings that a unit finishes, or the tokens that a port of a
 * buffer passes; write ports come before read ports. */
uint64_t sambaProgressFirings(const SambaProgress *progress, uint32_t unit, uint32_t port);
/* The fault `deadlock` or `starved`, which says who waits for whom; NULL when the section ends.
 * at_cycle (may be NULL): when nothing could go on any more. */
SambaStatus sambaProgressExplain(const SambaProgress *progress, const uint64_t *at_cycle);

#endif
