/* The network: the FIFOs of every flow, the lanes between them, and how vectors move.
 *
 * A stream is a tree of FIFOs: one where its source meets the first switch, one at the entrance of
 * every further switch, one at every unit that takes it. A branch is the way from a FIFO over one
 * lane to the next FIFO; it takes the switch's hop_cycles. A lane is an output of a switch. It
 * passes one vector per cycle; flows that have a vector and a credit take turns. A vector of a
 * multicast leaves its FIFO when every branch has passed it on; until then some may be ahead. Flows
 * have FIFOs and credits of their own, so a blocked flow does not hold up others. Streams without
 * hops are links of one hop that nothing else uses. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_NETWORK_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_NETWORK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "backend/sim/cycle/network/clock.h"
#include "backend/sim/cycle/network/fifo.h"

typedef struct SambaBranch {
  uint32_t from, to, lane;
  uint32_t cycles;
  uint32_t place; /* among the branches of its lane */
  uint32_t ahead; /* vectors in `from` that went this way and wait for other branches */
} SambaBranch;

typedef struct SambaLane {
  uint32_t branch_count, turn;
  uint32_t *branches;
  uint32_t only;     /* the branch of a lane that has one */
  uint64_t word;     /* of `pending` when there is one */
  uint64_t *pending; /* bit set of places: branches with a vector that has not gone their way */
  uint64_t carried;  /* vectors */
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
} SambaStreamRoots;

typedef struct SambaNetwork {
  const SambaMachine *machine;
  SambaClock *clock;
  uint32_t fifo_count, branch_count, lane_count, entrance_count;
  SambaFifo *fifos;
  SambaBranch *branches;
  SambaLane *lanes;
  SambaEntrance *entrances;
  SambaStreamRoots *streams; /* per stream of the section */
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
/* Vectors that the busiest lane carried. */
uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network);

#endif
