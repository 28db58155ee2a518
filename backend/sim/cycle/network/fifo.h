/* A FIFO at the entrance of a switch or of a unit, for one flow.
 *
 * Slot n % depth belongs to vectors n, n + depth, ... It keeps one cycle: while a vector is in it,
 * the cycle from which on the vector can be taken; after that, the cycle from which on the sender
 * has the credit back. So a FIFO of depth d whose credits take r cycles around passes d vectors per
 * r cycles, and at most one per cycle.
 *
 * A chip has tens of thousands of FIFOs, and the host's cache decides how fast they are stepped. So
 * a slot keeps 16 bits: cycles since one that the FIFO names and that lies behind the clock. A
 * cycle before that one is as good as that one: both are over.
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

/* How far ahead of the clock the cycles in a FIFO may lie. */
enum { SAMBA_FIFO_AHEAD = 1 << 15 };

/* What a chain keeps beside its slots. */
typedef struct SambaChain {
  uint32_t take_from;        /* the cycle after the last take, one per cycle */
  uint16_t fifos, end_depth; /* of which depth the last one has */
  uint16_t last_cycles;      /* of the link into the last one */
} SambaChain;

/* A FIFO, and the way into it. A FIFO before it and the lane between make it a branch of that one.
 */
typedef struct SambaFifo {
  union {
    uint16_t near[SAMBA_FIFO_NEAR]; /* the cycle of each slot (is_near) */
    struct {
      uint16_t *far;        /* the same */
      uint32_t *far_passed; /* see passedCycles in network.c */
      SambaChain chain;
    };
  };
  uint32_t since;                       /* cycle 0 of the slots */
  uint32_t first_branch;                /* the FIFOs behind it, when there are any */
  uint32_t taker;                       /* or the unit that takes from it */
  uint16_t depth, count, head;          /* head: slot of the next vector to take */
  uint16_t branch_count, branches_left; /* left: that have not got the vector at the head */
  bool is_near : 1, is_control : 1, is_chain : 1;
  /* The way. */
  bool fed_by_unit : 1, is_link : 1;   /* link: a lane that nothing else uses */
  bool from_memory : 1, to_memory : 1; /* the unit that sends, or takes, is a load or a store */
  uint16_t cycles;
  uint32_t from; /* the FIFO before it, or the unit that sends (fed_by_unit) */
} SambaFifo;

static inline uint16_t *sambaFifoSlots(SambaFifo *fifo) {
  return fifo->is_near ? fifo->near : fifo->far;
}

/* Vectors that whoever takes from the FIFO can see: those in the last FIFO of a chain. */
static inline uint32_t sambaFifoInReach(const SambaFifo *fifo) {
  if (fifo->is_chain && fifo->count > fifo->chain.end_depth)
    return fifo->chain.end_depth;
  return fifo->count;
}

/* The slot of the n-th vector from the head. */
static inline uint32_t sambaFifoSlot(const SambaFifo *fifo, uint32_t n) {
  uint32_t slot = fifo->head + n;
  return slot < fifo->depth ? slot : slot - fifo->depth;
}

static inline uint64_t sambaFifoWhen(const SambaFifo *fifo, uint32_t slot) {
  return (uint64_t)fifo->since + (fifo->is_near ? fifo->near : fifo->far)[slot];
}

/* Begins to count at a later cycle, which is not ahead of the clock. */
void sambaFifoCountFrom(SambaFifo *fifo, uint64_t cycle);

static inline void sambaFifoSetWhen(SambaFifo *fifo, uint32_t slot, uint64_t cycle) {
  if (cycle - fifo->since > UINT16_MAX)
    sambaFifoCountFrom(fifo, cycle - SAMBA_FIFO_AHEAD);
  sambaFifoSlots(fifo)[slot] = (uint16_t)(cycle - fifo->since);
}

static inline bool sambaFifoIsFull(const SambaFifo *fifo) { return fifo->count == fifo->depth; }

/* Nothing more fits in before something is taken; of a chain: into its last FIFO. */
static inline bool sambaFifoEndIsFull(const SambaFifo *fifo) {
  return fifo->count >= (fifo->is_chain ? fifo->chain.end_depth : fifo->depth);
}

/* The cycle from which on the next vector can be put; UINT64_MAX: not before one is taken. */
static inline uint64_t sambaFifoRoomAt(const SambaFifo *fifo) {
  if (sambaFifoIsFull(fifo))
    return UINT64_MAX;
  return sambaFifoWhen(fifo, sambaFifoSlot(fifo, fifo->count));
}

/* The cycle from which on the n-th vector can be taken, from 0; UINT64_MAX: there is none. */
static inline uint64_t sambaFifoVectorAt(const SambaFifo *fifo, uint32_t n) {
  return n < sambaFifoInReach(fifo) ? sambaFifoWhen(fifo, sambaFifoSlot(fifo, n)) : UINT64_MAX;
}

static inline void sambaFifoPut(SambaFifo *fifo, uint64_t visible_at) {
  sambaFifoSetWhen(fifo, sambaFifoSlot(fifo, fifo->count), visible_at);
  ++fifo->count;
}

static inline void sambaFifoTake(SambaFifo *fifo, uint64_t credit_at) {
  sambaFifoSetWhen(fifo, fifo->head, credit_at);
  fifo->head = fifo->head + 1 == fifo->depth ? 0 : (uint16_t)(fifo->head + 1);
  --fifo->count;
}

#endif
