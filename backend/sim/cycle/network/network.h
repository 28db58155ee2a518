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
#include "backend/sim/cycle/network/team.h"

/* The way into a FIFO, from another one. Those that leave one FIFO stand together, so that whoever
 * puts a vector into it sees all of them in one line of the host's cache. */
typedef struct SambaWay {
  uint32_t
      vector_at; /* the cycle from which on its next vector can go; UINT32_MAX: none is there */
  union {
    uint32_t room_at;      /* the same of the slot that it goes to; UINT32_MAX: the FIFO is full */
    uint32_t link_free_at; /* the cycle after the last vector, on a link, which does without both */
  };
  uint32_t crossing; /* SAMBA_NO_INDEX: it does not cross a lane that is stepped */
  uint16_t ahead;    /* vectors that went this way and wait for other branches */
  bool is_listed;    /* see SambaNetwork */
} SambaWay;

/* What the FIFOs at the ends of a way look like: ways that are alike keep the host busy alike. */
enum { SAMBA_WAY_SORT_BITS = 5, SAMBA_WAY_SORTS = 1 << SAMBA_WAY_SORT_BITS };
/* The sorts before this one are plain ways: between near FIFOs, the first without other branches.
 */
enum { SAMBA_WAY_PLAIN_SORTS = 4 };

/* A way over a lane that is stepped. It is woken for the cycle from which on it has both a vector
 * and room for it, and stays awake until it is its turn. Those of one lane have consecutive
 * numbers. */
typedef struct SambaCrossing {
  uint32_t way : 32 - SAMBA_WAY_SORT_BITS; /* the FIFO into which it leads */
  uint32_t sort : SAMBA_WAY_SORT_BITS;
} SambaCrossing;

/* The lanes whose crossings stand in one word of the clock's sets. They have equally many, so that
 * all of them choose at once, by arithmetic on the word. Behind the last crossing of each lane a
 * bit is left out, to which borrows go. A lane of more than 63 crossings has words of its own. */
typedef struct SambaLanes {
  uint64_t firsts, guards; /* per lane: the first crossing, and the bit behind the last one */
  uint64_t behind;         /* per lane: those behind the one that crossed last; it is their turn */
  uint32_t size;           /* crossings of each lane */
  uint32_t turn;           /* of a lane with words of its own: as `behind`, from its first one on */
} SambaLanes;
enum { SAMBA_LANES_LARGEST = 63 };

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
  SambaStreamRoot first, *others;
  uint32_t index; /* of the stream */
  uint32_t *ends; /* FIFO at each destination */
  uint64_t sent;  /* vectors */
} SambaStreamRoots;

/* Of several shares (shares.h) each has a network of its own, with the same FIFOs and lanes. */
typedef struct SambaNetwork {
  const SambaMachine *machine;
  uint64_t credit_cycles; /* from the cycle in which a vector leaves a FIFO until its sender has the
                             credit */
  bool steps_links;
  uint32_t stream_count, fifo_count, lane_count, crossing_count, entrance_count;
  SambaFifo *fifos;
  SambaWay *ways; /* per FIFO, into it */
  SambaCrossing *crossings;
  SambaLanes *lanes; /* per word of crossings */
  uint32_t *lane_of; /* per crossing */
  SambaEntrance *entrances;
  SambaStreamRoots *streams; /* per stream of the section */

  /* What each share has for itself. */
  SambaClock *clock;
  uint64_t since;   /* the cycle from which on slots of FIFOs count; the same in all shares */
  uint32_t *listed; /* links that may be able to pass a vector */
  uint32_t listed_count;
  uint32_t share, share_count;
  struct SambaNetwork *const *shares; /* all of them */
  const uint8_t *share_of;            /* per crossing: who moves what crosses; NULL: one share */
  const uint32_t *words;              /* of crossings: those whose lanes choose here, */
  uint32_t word_count;                /* in their order */
  /* Per share and sort: the ways on which a vector crosses in the cycle, and how many. */
  uint32_t *chosen[SAMBA_TEAM_MOST * SAMBA_WAY_SORTS];
  uint32_t counts[SAMBA_TEAM_MOST * SAMBA_WAY_SORTS];
  uint32_t *passages; /* all that cross in this share, sort by sort */
} SambaNetwork;

/* The cycle from which on a FIFO's n-th vector can be taken, from 0; SAMBA_NEVER: there is none. */
static inline uint64_t sambaNetworkVectorAt(const SambaNetwork *network, const SambaFifo *fifo,
                                            uint32_t n) {
  if (n >= sambaFifoInReach(fifo))
    return SAMBA_NEVER;
  return network->since + *sambaFifoSlot(fifo, fifo->head + n);
}

/* Fetches into the host's cache what a vector meets that is put into a FIFO soon: its slot, and
 * branches with the line before them. */
static inline void sambaNetworkFetchBehind(const SambaNetwork *network, const SambaFifo *fifo) {
  if (!fifo->is_near)
    __builtin_prefetch(sambaFifoSlot(fifo, fifo->tail), 1);
  for (uint32_t b = 0; fifo->branch_count > 1 && b <= fifo->branch_count; ++b)
    __builtin_prefetch(&network->fifos[fifo->first_branch + b - 1], 1);
}

/* The cycle from which on the source can send a vector of the stream: at most now when it can,
 * SAMBA_NEVER when it is woken by the credit that it needs. */
uint64_t sambaNetworkRoomAt(SambaNetwork *network, const SambaStreamRoots *stream);
/* Sends a vector, for which there is room. */
void sambaNetworkSend(SambaNetwork *network, SambaStreamRoots *stream);
/* Takes the vector at the head of a FIFO at a unit. */
void sambaNetworkTake(SambaNetwork *network, uint32_t fifo);
/* Begins a window: the slots of FIFOs count from a later cycle when it is time. */
void sambaNetworkBeginWindow(SambaNetwork *network);
/* One cycle of the lanes, of a share: first all lanes of all shares choose, then vectors cross.
 * looks_again: somebody may have been woken to look again (clock.h). Returns how many crossed. */
void sambaNetworkChoose(SambaNetwork *network, bool looks_again);
size_t sambaNetworkCross(SambaNetwork *network);
/* Cycles after which what a unit or a lane does reaches others, at least. */
uint64_t sambaNetworkLookahead(const SambaNetwork *network);
/* Vectors that the busiest lane or link carried, when all have arrived. */
uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network);

#endif
