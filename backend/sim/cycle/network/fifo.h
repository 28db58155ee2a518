/* A FIFO at the entrance of a switch or of a unit, for one flow.
 *
 * Slot n % depth belongs to vectors n, n + depth, ... It keeps one cycle: while a vector is in it,
 * the cycle from which on the vector can be taken; after that, the cycle from which on the sender
 * has the credit back. So a FIFO of depth d whose credits take r cycles around passes d vectors per
 * r cycles, and at most one per cycle.
 *
 * A chip has tens of thousands of FIFOs, and the host's cache decides how fast they are stepped. So
 * a slot keeps 16 bits: cycles since one that the FIFO names and that lies behind the clock. A
 * cycle before that one is as good as that one: both are over. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H

#include <stdbool.h>
#include <stdint.h>

/* Slots that a FIFO has room for itself, so that it lies in one line of the host's cache. */
enum { SAMBA_FIFO_NEAR = 16 };

/* How far ahead of the clock the cycles in a FIFO may lie. */
enum { SAMBA_FIFO_AHEAD = 1 << 15 };

typedef struct SambaFifo {
  uint16_t *when; /* of each slot; then, when it has several branches, the cycle in which the last
                     of those that have passed the vector on did so */
  uint32_t since; /* cycle 0 of `when` */
  uint32_t depth : 31;
  uint32_t is_control : 1;
  uint32_t count, head; /* head: slot of the next vector to take */
  union {
    uint32_t first_branch; /* the FIFOs behind it, when there are any */
    uint32_t taker;        /* or the unit that takes from it */
  };
  uint16_t branch_count, branches_left; /* left: that have not got the vector at the head */
  uint16_t near[SAMBA_FIFO_NEAR];
} SambaFifo;

/* The slot of the n-th vector from the head. */
static inline uint32_t sambaFifoSlot(const SambaFifo *fifo, uint32_t n) {
  uint32_t slot = fifo->head + n;
  return slot < fifo->depth ? slot : slot - fifo->depth;
}

static inline uint64_t sambaFifoWhen(const SambaFifo *fifo, uint32_t slot) {
  return (uint64_t)fifo->since + fifo->when[slot];
}

/* Begins to count at a later cycle, which is not ahead of the clock. */
void sambaFifoCountFrom(SambaFifo *fifo, uint64_t cycle);

static inline void sambaFifoSetWhen(SambaFifo *fifo, uint32_t slot, uint64_t cycle) {
  if (cycle - fifo->since > UINT16_MAX)
    sambaFifoCountFrom(fifo, cycle - SAMBA_FIFO_AHEAD);
  fifo->when[slot] = (uint16_t)(cycle - fifo->since);
}

static inline bool sambaFifoIsFull(const SambaFifo *fifo) { return fifo->count == fifo->depth; }

/* The cycle from which on the next vector can be put; UINT64_MAX: not before one is taken. */
static inline uint64_t sambaFifoRoomAt(const SambaFifo *fifo) {
  if (sambaFifoIsFull(fifo))
    return UINT64_MAX;
  return sambaFifoWhen(fifo, sambaFifoSlot(fifo, fifo->count));
}

/* The cycle from which on the n-th vector can be taken, from 0; UINT64_MAX: there is none. */
static inline uint64_t sambaFifoVectorAt(const SambaFifo *fifo, uint32_t n) {
  return n < fifo->count ? sambaFifoWhen(fifo, sambaFifoSlot(fifo, n)) : UINT64_MAX;
}

static inline void sambaFifoPut(SambaFifo *fifo, uint64_t visible_at) {
  sambaFifoSetWhen(fifo, sambaFifoSlot(fifo, fifo->count), visible_at);
  ++fifo->count;
}

static inline void sambaFifoTake(SambaFifo *fifo, uint64_t credit_at) {
  sambaFifoSetWhen(fifo, fifo->head, credit_at);
  fifo->head = fifo->head + 1 == fifo->depth ? 0 : fifo->head + 1;
  --fifo->count;
}

#endif
