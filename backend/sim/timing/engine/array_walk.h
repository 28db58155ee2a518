/* Reads and writes of a PMU that meet at an array, vector by vector.
 *
 * An array has one port, and where both sides want it the read goes first. So reads take no notice
 * of writes, but for a vector that is being written when they come; and a vector is written in the
 * first cycle after the one before it in which it is there and no read has the array. Which these
 * are is known when the end of the write comes: until then reads may take more. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_ARRAY_WALK_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_ARRAY_WALK_H

#include "backend/sim/timing/engine/timing_state.h"

/* Vectors that a read has from the arrays of its slot: evenly, and for so many cycles in all. */
typedef struct SambaArrayRead {
  uint64_t begin, end, vectors, cycles;
  SambaArrayRange arrays;
} SambaArrayRead;

/* Of a buffer with a write port and a read port whose slots meet in an array. */
struct SambaArrayWalk {
  SambaArrayRead *reads; /* a ring of those that writes may meet, one after the other */
  uint64_t read_mask, read_first, read_end;
  uint64_t rest;    /* vectors of the running read that its takers keep from the array */
  uint64_t written; /* vectors of the running write that have begun, whatever comes */
  uint64_t free_at; /* the last of them has been written then */
};

/* Cycles in which a port of a buffer passes vectors [first, end) of `vectors` of its token. */
static inline uint64_t sambaPortCyclesOf(const SambaActor *port, uint64_t first, uint64_t end,
                                         uint64_t vectors) {
  if (!port->vector_cycles)
    return sambaTimeScale(port->work, end, vectors) - sambaTimeScale(port->work, first, vectors);
  uint64_t cycles = 0;
  for (uint64_t v = first; v < end; ++v)
    cycles += port->vector_cycles[v];
  return cycles;
}

/* Finds the buffers that are walked, before streams are looked at. */
void sambaArrayWalkBuild(SambaEngine *engine);
/* The next token of a port that could begin now: when its first vector can. */
uint64_t sambaArrayWalkFrom(SambaEngine *engine, const SambaActor *actor);
/* A port begins with a token; the way to the takers of a read holds so many vectors of it now. */
void sambaArrayWalkBegin(SambaEngine *engine, const SambaActor *actor, uint64_t held);
/* The end of a read is known. */
void sambaArrayWalkEndRead(SambaEngine *engine, const SambaActor *read, uint64_t end);
/* When the running write is done, as far as is known of its vectors and of reads. */
uint64_t sambaArrayWalkWritten(SambaEngine *engine, const SambaActor *write);

#endif
