/* A FIFO at the entrance of a switch or of a unit, for one flow.
 *
 * Slot n % depth belongs to vectors n, n + depth, ... It keeps one time: while a vector is in it,
 * the cycle from which on the vector can be taken; after that, the cycle from which on the sender
 * has the credit back. (32 bits of it: no section is stepped for 2^32 cycles.) So a FIFO of depth d
 * whose credits take r cycles around passes d vectors per r cycles, and at most one per cycle. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_FIFO_H

#include <stdbool.h>
#include <stdint.h>

/* Slots that a FIFO has room for itself, so that most of them lie in one place. */
enum { SAMBA_FIFO_NEAR = 16 };

typedef struct SambaFifo {
  uint32_t *when; /* of each slot */
  uint32_t depth, count;
  uint32_t head, tail; /* slots of the next vector to take and to put */
  uint32_t feeder;     /* the lane that fills it, or the unit (fed_by_unit) */
  uint32_t taker;      /* the unit that takes from it; SAMBA_NO_INDEX: lanes do */
  uint32_t first_branch, branch_count;
  uint32_t branches_left; /* lanes that have not passed on the vector at the head */
  bool fed_by_unit, is_control;
  uint32_t near[SAMBA_FIFO_NEAR];
  uint32_t unused[4]; /* whole lines of the host's cache */
} SambaFifo;

/* The cycle from which on the next vector can be put; UINT64_MAX: not before one is taken. */
static inline uint64_t sambaFifoRoomAt(const SambaFifo *fifo) {
  return fifo->count == fifo->depth ? UINT64_MAX : fifo->when[fifo->tail];
}

/* The cycle from which on the vector at the head can be taken; UINT64_MAX: there is none. */
static inline uint64_t sambaFifoHeadAt(const SambaFifo *fifo) {
  return fifo->count ? fifo->when[fifo->head] : UINT64_MAX;
}

/* The slot of the n-th vector from the head. */
static inline uint32_t sambaFifoSlot(const SambaFifo *fifo, uint32_t n) {
  uint32_t slot = fifo->head + n;
  return slot < fifo->depth ? slot : slot - fifo->depth;
}

static inline void sambaFifoPut(SambaFifo *fifo, uint64_t visible_at) {
  fifo->when[fifo->tail] = (uint32_t)visible_at;
  fifo->tail = fifo->tail + 1 == fifo->depth ? 0 : fifo->tail + 1;
  ++fifo->count;
}

static inline void sambaFifoTake(SambaFifo *fifo, uint64_t credit_at) {
  fifo->when[fifo->head] = (uint32_t)credit_at;
  fifo->head = fifo->head + 1 == fifo->depth ? 0 : fifo->head + 1;
  --fifo->count;
}

#endif
