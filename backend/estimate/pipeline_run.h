/* How long a section runs: its pipeline is followed firing by firing for one unit of each kind
 * (twins.h), with what streams hold, turns at buffers, banks, and one memory that all share. A long
 * run is followed for its first part; the rest goes at the pace that it has by then. */
#ifndef SAMBA_BACKEND_ESTIMATE_PIPELINE_RUN_H
#define SAMBA_BACKEND_ESTIMATE_PIPELINE_RUN_H

#include "backend/machine/machine.h"
#include "backend/section/port_cycles.h"
#include "backend/section/section.h"
#include "support/container/byte_buffer.h"

/* Where the cycles of pipelines are kept, by what they follow from, for sections of the same
 * machine. */
typedef struct SambaPipelineMemo {
  void *user;
  bool (*find)(void *user, const SambaByteBuffer *key, double *out_cycles);
  void (*keep)(void *user, const SambaByteBuffer *key, double cycles);
} SambaPipelineMemo;

/* Cycles of one run, launch apart. Negative when the units wait for each other and nobody can go
 * on, as far as this model sees: then only busy units say something (predict.h). patterns: of the
 * machine; what they know of the section's ports already need not be counted again. Where it
 * takes more than `most`, which may be infinite, it may say less than it takes. memo may be NULL.
 */
double sambaPipelineCycles(const SambaSection *section, const SambaMachine *machine,
                           SambaPortPatterns *patterns, double most, const SambaPipelineMemo *memo);

#endif
