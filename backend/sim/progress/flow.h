/* What streams hold, vector by vector, without time.
 *
 * A stream is a tree of FIFOs: one where its source meets the first switch, one at the entrance of
 * every further switch, one at every unit that takes it, each of fifo_depth vectors. A vector of a
 * multicast leaves its FIFO when all branches have passed it on. So nothing needs to be moved to
 * know what can be where: a FIFO can have seen so many vectors as those behind it have taken and
 * the FIFOs from it to them hold, for the branch in which that is least. Only the FIFOs where ways
 * part are kept ("nodes"). Control tokens are counted, not stored. */
#ifndef SAMBA_BACKEND_SIM_PROGRESS_FLOW_H
#define SAMBA_BACKEND_SIM_PROGRESS_FLOW_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/sim/progress/agenda.h"

/* A destination. */
typedef struct SambaFlowEnd {
  uint32_t stream, actor;
  uint32_t node; /* where its way leaves that of others */
  uint64_t held; /* vectors in the FIFOs from that node's to its own */
  uint64_t taken;
} SambaFlowEnd;

typedef struct SambaFlowNode {
  uint32_t parent; /* SAMBA_NO_INDEX: the FIFO that the source fills */
  uint32_t child_count;
  const uint32_t *children; /* nodes, or SAMBA_FLOW_IS_END and the number of an end */
  uint64_t held;            /* vectors in the FIFOs from the parent's to the one before this */
  uint64_t limit;           /* vectors that its FIFO can have seen */
} SambaFlowNode;
#define SAMBA_FLOW_IS_END (UINT32_C(1) << 31)

typedef struct SambaFlow {
  uint64_t sent;
  uint32_t source; /* actor */
  uint64_t many;   /* vectors for which it is worth looking at an actor */
  uint32_t root;   /* node */
  uint32_t end_first, end_count;
} SambaFlow;

typedef struct SambaFlows {
  SambaAgenda *agenda;
  SambaFlow *flows;   /* one per stream */
  SambaFlowEnd *ends; /* one per destination of each */
  SambaFlowNode *nodes;
} SambaFlows;

/* Actors of sources and destinations are left to the caller. */
void sambaFlowsBuild(SambaFlows *flows, SambaArena *arena, const SambaMachine *machine,
                     const SambaSection *section, SambaAgenda *agenda);
/* Vectors that have got as far as the end, taken ones among them. */
uint64_t sambaFlowArrived(const SambaFlows *flows, uint32_t end);
void sambaFlowSend(SambaFlows *flows, uint32_t stream, uint64_t vectors);
void sambaFlowTake(SambaFlows *flows, uint32_t end, uint64_t vectors);
/* The end that holds up a node's FIFO. */
uint32_t sambaFlowSlowest(const SambaFlows *flows, uint32_t node);
/* The node that keeps vectors from an end; SAMBA_NO_INDEX: the source has sent no more. */
uint32_t sambaFlowHeldUpAt(const SambaFlows *flows, uint32_t end);

/* Vectors that the source can have sent, those that it has among them. */
static inline uint64_t sambaFlowLimit(const SambaFlows *flows, uint32_t stream) {
  return flows->nodes[flows->flows[stream].root].limit;
}

#endif
