/* The network: the FIFOs of every flow, the lanes between them, and how vectors move.
 *
 * A stream is a tree of FIFOs: one where its source meets the first switch, one at the entrance of
 * every further switch, one at every unit that takes it. The way from a FIFO over one lane to the
 * next is a branch of the first; it takes the switch's hop_cycles. A lane is an output of a switch.
 * It passes one vector per cycle; flows that have a vector and a credit take turns. A vector of a
 * multicast leaves its FIFO when every branch has passed it on; until then some may be ahead. Flows
 * have FIFOs and credits of their own, so a blocked flow does not hold up others. Streams without
 * hops are links of one hop that nothing else uses.
 *
 * A lane that several ways share is stepped: who gets it depends on who is there in that cycle. A
 * lane that one way has alone, a link, chooses nothing. Its n-th vector passes in the cycle
 *
 *   max(it is at the head for this branch, the slot behind the link is free, the one before + 1)
 *
 * and all three are cycles of things that happened before. So links are not stepped: the cycle in
 * which a vector passes is written down as soon as the three are known, which is when the vector is
 * put into its FIFO or, when the FIFO behind is full, when a vector leaves that one. These cycles
 * may lie ahead of the clock. That changes no other cycle: FIFOs keep, for each slot, the cycle
 * from which on a vector may be taken or a credit used, and every lane and every unit looks at it.
 * With `steps_links` links are stepped like lanes; a test compares the two. They are as well where
 * a way through the network may be so long that FIFOs cannot tell cycles so far ahead. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_NETWORK_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_NETWORK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/sim/cycle/network/clock.h"
#include "backend/sim/cycle/network/fifo.h"

/* The way into a FIFO. A FIFO before it and the lane between make it a branch of that FIFO. */
typedef struct SambaWay {
  uint32_t from;         /* that FIFO, or the unit that sends (fed_by_unit) */
  uint32_t lane;         /* SAMBA_NO_INDEX: a link that only this way uses */
  uint32_t ahead;        /* vectors in `from` that went this way and wait for other branches */
  uint32_t link_free_at; /* the cycle after the last vector, on a link */
  uint16_t place;        /* among the ways over the lane */
  uint16_t cycles;
  bool fed_by_unit, is_listed;
} SambaWay;

typedef struct SambaLane {
  uint32_t way_count, turn;
  uint32_t *ways;
  uint64_t word;     /* of `pending` when there is one */
  uint64_t *pending; /* bit set of places: ways with a vector that has not gone over the lane */
} SambaLane;

/* The port of a unit (or an address generator) towards its switch: a vector per cycle, for all
 * streams that leave by it. */
typedef struct SambaEntrance {
  uint64_t used_at, wanted_at; /* the last cycle + 1; 0: never */
  uint32_t used_by, wanted_by; /* streams */
  uint64_t carried;
} SambaEntrance;

/* Where a stream's source puts its vectors. Control tokens are counted at their destinations; they
 * go there over circuits that nothing delays. */
typedef struct SambaStreamRoot {
  uint32_t fifo;
  uint64_t cycles;
} SambaStreamRoot;
typedef struct SambaStreamRoots {
  uint32_t count, entrance; /* entrance: SAMBA_NO_INDEX when the stream has it alone */
  SambaStreamRoot *roots;
  uint32_t *ends; /* FIFO at each destination */
  uint64_t sent;  /* vectors */
} SambaStreamRoots;

typedef struct SambaNetwork {
  const SambaMachine *machine;
  SambaClock *clock;
  uint64_t credit_cycles; /* from the cycle in which a vector leaves a FIFO until its sender has the
                             credit */
  bool steps_links;
  uint32_t stream_count, fifo_count, lane_count, entrance_count;
  SambaFifo *fifos;
  SambaWay *ways; /* the one into each FIFO */
  SambaLane *lanes;
  SambaEntrance *entrances;
  SambaStreamRoots *streams; /* per stream of the section */
  uint32_t *listed;          /* links that may be able to pass a vector */
  uint32_t listed_count;
} SambaNetwork;

/* The cycle from which on the source can send a vector of the stream: at most now when it can,
 * SAMBA_NEVER when it is woken by the credit that it needs. */
uint64_t sambaNetworkRoomAt(SambaNetwork *network, uint32_t stream);
/* Sends a vector, for which there is room. */
void sambaNetworkSend(SambaNetwork *network, uint32_t stream);
/* Takes the vector at the head of a FIFO at a unit. */
void sambaNetworkTake(SambaNetwork *network, uint32_t fifo);
/* Lanes that are stepped soon: fetches what they need into the host's cache, a level at a time. */
void sambaNetworkFetch(const SambaNetwork *network, const uint32_t *lanes, size_t count);
/* One cycle of a lane. */
void sambaNetworkStepLane(SambaNetwork *network, uint32_t lane);
/* Vectors that the busiest lane or link carried, when all have arrived. */
uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network);

#endif
