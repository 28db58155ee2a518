/* Counters of the work that is worth saving: samba-compile --explain tells them. */
#ifndef SAMBA_DIALECT_BRIDGE_WORK_H
#define SAMBA_DIALECT_BRIDGE_WORK_H

#include <stdint.h>

typedef enum {
  SAMBA_WORK_GRAPHS_BUILT,  /* stage graphs, from IR */
  SAMBA_WORK_PLANS_MADE,    /* runs of the planner */
  SAMBA_WORK_SECTIONS_READ, /* rdu.sections read from IR, verifiers included */
  SAMBA_WORK_KINDS
} SambaWork;

void sambaWorkCount(SambaWork work);
/* What the process has counted so far, on all threads. */
uint64_t sambaWorkTotal(SambaWork work);

#endif
