/* Units of a section that do the same work: copies side by side have equal records but for their
 * addresses, and equal neighbours. A run of the pipeline is predicted for one unit of each kind
 * (pipeline_run.h), so its cost does not grow with the copies. */
#ifndef SAMBA_BACKEND_ESTIMATE_TWINS_H
#define SAMBA_BACKEND_ESTIMATE_TWINS_H

#include "backend/section/section.h"

/* of[u]: the unit that stands for unit u, the last of its twins; count[u]: how many it stands for,
 * 0 for those that another stands for. Both have one entry per unit. Memory from the arena. */
typedef struct SambaTwins {
  uint32_t *of;
  uint32_t *count;
} SambaTwins;

SambaTwins sambaTwinsFind(const SambaSection *section, SambaArena *arena);

#endif
