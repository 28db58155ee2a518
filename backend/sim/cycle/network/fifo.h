/* A FIFO at the entrance of a switch or of a unit, for one flow.
 *
 * Vectors are numbered. Vector n waits for the credit of vector n - depth, which left before it
 * comes. A ring of slots keeps one cycle per vector: while the vector is in the FIFO, the cycle
 * from which on it can be taken; after that, the cycle from which on the sender has the credit
 * back. So a FIFO of depth d whose credits take r cycles around passes d vectors per r cycles, and
 * at most one per cycle. The ring has a power of two of slots, at least the depth: numbers find
 * theirs by a mask.
 *
 * A chip has tens of thousands of FIFOs, and the host's cache decides how fast they are stepped. So
 * a slot keeps 16 bits: cycles since one that all FIFOs share and that lies behind the clock. From
 * time to time a later one is taken. A cycle before it is as good as itself then: both are over.
 *
 * A chain is n FIFOs in a row with links between them that nothing else uses, kept as one. Vectors
 * move from each to the next as they can, so what the chain does is decided at its ends. Say every
 * FIFO has depth d, r cycles pass from a take until the sender has the credit, each way into one of
 * them takes c cycles, and c + r <= d. Then
 *
 *   - the chain takes in vector k from r n cycles after vector k - n d was taken from its end;
 *   - vector k can be taken after the c of all links, but not before r + (the last c) cycles after
 *     vector k - d was taken: the last FIFO holds d, the others wait behind it.
 *
 * Nothing else binds. Every other bound on a vector comes over a path that goes to and fro over
 * some link, which says that it moves c + r cycles after a vector that is d before it, or over
 * several FIFOs in which d vectors each wait for another take at the end. But a link passes one
 * vector per cycle, so vectors that are d apart are d cycles apart anyway, and d >= c + r. Takes
 * count as one per cycle in all this: when several fall into one cycle, the last link fills their
 * slots one by one. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H

#include <stdbool.h>
#include <stdint.h>

/* Slots that a FIFO has room for itself, so that it lies in one line of the host's cache. */
enum { SAMBA_FIFO_NEAR = 16 };

/* How far ahead of the clock the cycles in a FIFO may lie, and how far behind it they begin. */
enum { SAMBA_FIFO_AHEAD = 1 << 15, SAMBA_FIFO_BEHIND = 1 << 14 };

/* What a chain keeps beside its slots. */
typedef struct SambaChain {
  uint32_t take_from;        /* the cycle after the last take, one per cycle */
  uint16_t fifos, end_depth; /* of which depth the last one has */
  uint16_t last_cycles;      /* of the link into the last one */
} SambaChain;

/* A FIFO, and the way into it. A FIFO before it and the lane between make it a branch of that one.
 */
typedef struct SambaFifo {
  uint16_t *slots;
  union {
    uint16_t near[SAMBA_FIFO_NEAR]; /* the slots (is_near) */
    struct {
      uint32_t *far_passed; /* see passedCycles in network.c */
      SambaChain chain;
    };
  };
  uint16_t head, tail;  /* numbers of the next vector to take, and to put; they wrap */
  uint16_t depth, mask; /* mask: slots - 1 */
  union {
    uint32_t first_branch; /* the FIFOs behind it, when there are any */
    uint32_t taker;        /* or the unit that takes from it */
  };
  uint16_t branch_count, branches_left; /* left: that have not got the vector at the head */
  bool is_near : 1, is_control : 1, is_chain : 1;
  /* The way. */
  bool fed_by_unit : 1, is_link : 1;   /* link: a lane that nothing else uses */
  bool from_memory : 1, to_memory : 1; /* the unit that sends, or takes, is a load or a store */
  uint16_t cycles;
  uint32_t from; /* the FIFO before it, or the unit that sends (fed_by_unit) */
} SambaFifo;

/* The slot of a vector, by its number. */
static inline uint16_t *sambaFifoSlot(const SambaFifo *fifo, uint32_t number) {
  return &fifo->slots[number & fifo->mask];
}

static inline uint32_t sambaFifoCount(const SambaFifo *fifo) {
  return (uint16_t)(fifo->tail - fifo->head);
}
static inline bool sambaFifoIsFull(const SambaFifo *fifo) {
  return sambaFifoCount(fifo) == fifo->depth;
}

/* Vectors that whoever takes from the FIFO can see: those in the last FIFO of a chain. */
static inline uint32_t sambaFifoInReach(const SambaFifo *fifo) {
  uint32_t count = sambaFifoCount(fifo);
  if (fifo->is_chain && count > fifo->chain.end_depth)
    return fifo->chain.end_depth;
  return count;
}

/* Nothing more fits in before something is taken; of a chain: into its last FIFO. */
static inline bool sambaFifoEndIsFull(const SambaFifo *fifo) {
  return sambaFifoCount(fifo) >= (fifo->is_chain ? fifo->chain.end_depth : fifo->depth);
}

/* Slots count from a cycle that is so much later. */
void sambaFifoCountFrom(SambaFifo *fifo, uint64_t passed);

#endif
