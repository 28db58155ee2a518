/* Loops of streams: what units pass when ways that meet again differ in length.
 *
 * Two units take vectors of two multicasts, one near the source of the first, one near the source
 * of the second. Each gets its far operand late, so the near one waits in the FIFOs on its short
 * way, and when these are full the source waits, with all others that it sends to. So around a loop
 * of ways a vector can only be sent when one that was sent before has gone around: as many vectors
 * pass as FIFOs on it hold, in the time that it takes to go around. The slowest loop sets the pace
 * of all units that such ways join (docs/timing-model.md). */
#ifndef SAMBA_BACKEND_SECTION_FABRIC_STREAM_LOOPS_H
#define SAMBA_BACKEND_SECTION_FABRIC_STREAM_LOOPS_H

#include "backend/section/fabric/routes.h"

/* How a destination takes the tokens of a stream. */
typedef struct SambaLoopTaker {
  bool evenly;             /* one for each firing, and all of it at one pace: else it is in no
                              loop */
  uint32_t streams, place; /* its port takes from so many streams in turn, and this one is there */
  uint64_t rest;           /* cycles of a firing after it has taken the last vector */
  uint64_t latency;        /* cycles on the way, where the stream has no hops to it */
} SambaLoopTaker;

typedef struct SambaLoopStream {
  uint64_t vectors;       /* of a token */
  bool tied;              /* its unit makes a token in each firing, at one pace ... */
  uint64_t latency;       /* ... and so many cycles later */
  SambaLoopTaker *takers; /* of each destination */
} SambaLoopStream;

/* A section as a search for loops sees it. */
typedef struct SambaLoopGrid {
  SambaArena scratch;
  SambaLoopStream *streams;
  uint64_t *paces; /* of each unit: cycles of a firing without loops */
} SambaLoopGrid;

/* All zero, with room for the takers of each stream. */
SambaLoopGrid sambaLoopGridMake(const SambaSection *section);
void sambaLoopGridDestroy(SambaLoopGrid *grid);

/* Cycles to go around, and firings that fit on the way: none where tokens is 0. */
typedef struct SambaLoop {
  double cycles, tokens;
} SambaLoop;

/* The slowest loop among units that streams join, for each of them, if it is slower than the
 * slowest of them is without it. Units are in different turns at a time, so of their turns the
 * slowest counts; of many turns the first few are looked at. One entry per unit, from the arena. */
SambaLoop *sambaStreamLoopsFind(const SambaSection *section, const SambaMachine *machine,
                                const SambaRoutes *routes, const SambaLoopGrid *grid,
                                SambaArena *arena);

#endif
