/* Counters of the work that is worth saving. Bodies of passes count what they do; the pass's class
 * takes the numbers after the body and adds them to its statistics (-mlir-pass-statistics). */
#ifndef SAMBA_DIALECT_BRIDGE_WORK_H
#define SAMBA_DIALECT_BRIDGE_WORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  SAMBA_WORK_GRAPHS_BUILT,  /* stage graphs, from IR */
  SAMBA_WORK_PLANS_MADE,    /* runs of the planner */
  SAMBA_WORK_SECTIONS_READ, /* rdu.sections read from IR, verifiers included */
  SAMBA_WORK_KINDS
} SambaWork;

/* Counts for the calling thread. */
void sambaWorkCount(SambaWork work);
/* What this thread has counted since it was asked last. */
uint64_t sambaWorkTake(SambaWork work);

#ifdef __cplusplus
}
#endif
#endif
