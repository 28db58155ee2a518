/* Cycles of something that flows take in turns: a lane, an array of a memory. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_BOOKING_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_BOOKING_H

#include "backend/sim/timing/dram/events.h"

/* What is used together lies in one line of the host's cache. */
enum { SAMBA_CACHE_LINE = 64 };

/* Cycles as a number and back: no time has more than 63 bits, and hosts convert signed numbers
 * faster. */
static inline double sambaNumberOf(uint64_t cycles) { return (double)(int64_t)cycles; }
static inline uint64_t sambaCyclesOf(double number) { return (uint64_t)(int64_t)number; }

/* What one flow has booked: so many cycles from `begin` to `end`. What others take from it lies
 * before the rest, which it passes as fast as it would have without them. */
typedef struct SambaFlow {
  _Alignas(SAMBA_CACHE_LINE) uint64_t begin;
  uint64_t end;
  double cycles;
  uint64_t owed;      /* cycles that others took while it had booked */
  bool held_up : 1;   /* by others: without them it could be done earlier */
  uint32_t next : 31; /* of the list, as in `first` */
  float turn;         /* how long its turns are: only their ratio counts */
  float pace;         /* per cycle, when others let it; 0: evenly until its end */
  uint32_t list;      /* 1 + number of the list of its share in which it was put; 0: none */
  double even;        /* per cycle, until its end */
  double left;        /* of the cycles, by the share's last booking; listed */
} SambaFlow;

typedef struct SambaShare {
  uint64_t at;    /* of the last booking */
  uint64_t until; /* no flow ends later */
  uint64_t free;  /* of an array: the short tokens that have it are done */
  uint32_t flow_count;
  uint32_t first; /* 1 + index of the first flow that may not have ended; 0: all have */
  /* The number of the list: when all have ended, another one begins, and nobody is taken out. */
  uint32_t list;
  bool lets_in; /* who has had the last turn lets a flow that comes go first */
  SambaFlow *flows;
} SambaShare;

/* Books cycles for a flow from `now` on, behind what it has booked already, which it takes in no
 * less than `least` cycles. Flows that have something booked take turns. Returns all that the flow
 * has booked then. */
const SambaFlow *sambaShareBook(SambaShare *share, uint32_t flow, uint64_t now, uint64_t cycles,
                                uint64_t least, float turn);

/* A flow has it alone from `begin` to `end`, and nothing else booked. */
void sambaShareTake(SambaShare *share, uint32_t flow, uint64_t begin, uint64_t end, float turn);

/* A flow goes on at the pace of others: it is not done before `end`. */
void sambaShareStretch(SambaShare *share, uint32_t flow, uint64_t now, uint64_t end);

/* It is done at another time but for what others took, and what it has booked passes evenly until
 * then. */
static inline void sambaFlowSpread(SambaFlow *flow, uint64_t end) {
  uint64_t begin = flow->begin, owed = flow->owed;
  if (end + owed > begin)
    flow->even *= sambaNumberOf(flow->end + owed - begin) / sambaNumberOf(end + owed - begin);
  flow->end = end;
}

/* Adds what others took since to what a flow has booked. */
static inline void sambaFlowPay(SambaFlow *flow) {
  if (!flow->owed)
    return;
  flow->held_up = true;
  flow->end += flow->owed;
  flow->owed = 0;
}

/* It goes on faster than it was to: it is done so many cycles earlier, as far as it can be. */
static inline void sambaFlowHurry(SambaFlow *flow, uint64_t cycles) {
  uint64_t least = flow->begin + sambaCyclesOf(flow->cycles + 0.5);
  if (flow->end > least)
    sambaFlowSpread(flow, sambaTimeMax(least, flow->end - sambaTimeMin(cycles, flow->end - least)));
}

/* When it is done. Who is not held up by others could do it without a pause. */
static inline uint64_t sambaFlowEnd(const SambaFlow *flow) {
  return flow->held_up ? flow->end : flow->begin + sambaCyclesOf(flow->cycles + 0.5);
}

#endif
