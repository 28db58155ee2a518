/* How long a section runs: its pipeline is followed firing by firing for one unit of each kind
 * (twins.h), with what streams hold, turns at buffers, banks, and one memory that all share. A long
 * run is followed for its first part; the rest goes at the pace that it has by then. */
#ifndef SAMBA_BACKEND_ESTIMATE_PIPELINE_RUN_H
#define SAMBA_BACKEND_ESTIMATE_PIPELINE_RUN_H

#include "backend/machine/machine.h"
#include "backend/section/port_cycles.h"
#include "backend/section/section.h"

/* Cycles of one run, launch apart. Negative when the units wait for each other and nobody can go
 * on, as far as this model sees: then only busy units say something (predict.h). patterns: of the
 * machine; what they know of the section's ports already need not be counted again. */
double sambaPipelineCycles(const SambaSection *section, const SambaMachine *machine,
                           SambaPortPatterns *patterns);

#endif
