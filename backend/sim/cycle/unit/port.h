/* The ports of a unit: vectors of tokens come in and go out, one per cycle and port.
 *
 * A port takes or sends its tokens on its streams in turn, `block` consecutive ones on each. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_UNIT_PORT_H
#define SAMBA_BACKEND_SIM_CYCLE_UNIT_PORT_H

#include "backend/section/section.h"
#include "backend/sim/cycle/network/network.h"

/* What a unit did in the cycle in which it was stepped, and so until it is stepped again. */
typedef enum {
  SAMBA_DOES_NOTHING,
  SAMBA_DOES_WORK,
  SAMBA_AWAITS_INPUT,
  SAMBA_AWAITS_OUTPUT,
  SAMBA_AWAITS_MEMORY,
  SAMBA_DOES_COUNT
} SambaDoes;

/* The time line of a unit, or of one port of a buffer. */
typedef struct SambaTimeLine {
  SambaDoes does;
  uint32_t since;      /* everything before is counted */
  uint32_t noted_at;   /* the cycle of the last note */
  uint32_t work_until; /* what it works on keeps it busy until then */
  uint32_t cycles[SAMBA_DOES_COUNT];
} SambaTimeLine;

/* Counts what lies before a cycle. */
void sambaTimeLineCount(SambaTimeLine *line, uint64_t cycle);

/* Counts what it has noted. */
static inline void sambaTimeLineEnd(SambaTimeLine *line) {
  if (line->noted_at > line->since)
    sambaTimeLineCount(line, line->noted_at);
}

/* Says what the unit does from now on. */
static inline void sambaTimeLineNote(SambaTimeLine *line, uint64_t now, SambaDoes does,
                                     uint64_t work_until) {
  if (line->work_until < now) /* otherwise all of it is work, and is counted later */
    sambaTimeLineCount(line, now);
  line->does = does;
  line->noted_at = (uint32_t)now;
  line->work_until = (uint32_t)sambaEarlier(sambaLater(line->work_until, work_until), UINT32_MAX);
}

/* Of the host's cache. */
enum { SAMBA_CACHE_LINE = 64 };

/* What changes from vector to vector, and what it is compared with, comes first: the host's cache
 * then holds it in one line. */
typedef struct SambaInputPort {
  uint32_t fifo;            /* of the current stream */
  uint32_t left;            /* tokens of its block */
  uint32_t taken, vectors;  /* of the current token: vectors taken, and all */
  uint64_t tokens;          /* finished */
  uint64_t token_elements;  /* of one token */
  uint32_t vector_elements; /* of a full vector */
  uint32_t fifo_count, current, block;
  const uint32_t *fifos; /* one per stream */
  const uint32_t *streams;
} SambaInputPort;

typedef struct SambaOutputPort {
  SambaStreamRoots *stream; /* the current one; NULL: there are none */
  /* Vectors that were made and have not left: the stages of the unit's pipeline hold one each. A
   * ring of the cycles at which they come out of the last stage. */
  uint32_t *ready;
  uint32_t stages, head, in_flight;
  uint32_t fifo;          /* the first one of the stream */
  uint32_t sent, vectors; /* of the current token: vectors sent, and all */
  uint64_t tokens;        /* finished */
  uint64_t token_elements;
  uint32_t vector_elements;
  uint32_t last_sent; /* the cycle after the last vector left */
  uint32_t stream_count, current, left, block;
  const uint32_t *streams;
} SambaOutputPort;

void sambaInputPortBuild(SambaInputPort *input, SambaArena *arena, const SambaNetwork *network,
                         const SambaSection *section, uint32_t unit, uint32_t port);
/* `stages`: vectors that the pipeline before the port holds, at least 1. */
void sambaOutputPortBuild(SambaOutputPort *output, SambaArena *arena, const SambaNetwork *network,
                          const SambaSection *section, uint32_t unit, uint32_t port,
                          uint64_t stages);

/* The cycle from which on the next vector can be taken; SAMBA_NEVER: the unit is woken by it. */
static inline uint64_t sambaInputPortHeadAt(const SambaInputPort *input,
                                            const SambaNetwork *network) {
  return sambaNetworkVectorAt(network, &network->fifos[input->fifo], 0);
}
/* The same of the vector behind it. */
static inline uint64_t sambaInputPortSecondAt(const SambaInputPort *input,
                                              const SambaNetwork *network) {
  return sambaNetworkVectorAt(network, &network->fifos[input->fifo], 1);
}
/* Takes it. The last one of a token ends the token. */
void sambaInputPortTake(SambaInputPort *input, SambaNetwork *network);

/* Fetches what a port of a unit that is stepped soon asks of the network into the host's cache. */
static inline void sambaInputPortFetch(const SambaInputPort *input, const SambaNetwork *network) {
  __builtin_prefetch(&network->fifos[input->fifo], 1);
}
static inline void sambaOutputPortFetch(const SambaOutputPort *output,
                                        const SambaNetwork *network) {
  __builtin_prefetch(&network->fifos[output->fifo], 1);
  __builtin_prefetch(output->stream, 1);
}
/* The same a little later: what these FIFOs keep elsewhere. */
static inline void sambaInputPortFetchSlot(const SambaInputPort *input,
                                           const SambaNetwork *network) {
  const SambaFifo *fifo = &network->fifos[input->fifo];
  __builtin_prefetch(sambaFifoSlot(fifo, fifo->head), 1);
}
static inline void sambaOutputPortFetchBehind(const SambaOutputPort *output,
                                              const SambaNetwork *network) {
  if (output->in_flight)
    sambaNetworkFetchBehind(network, &network->fifos[output->fifo]);
}

static inline bool sambaOutputPortHasStage(const SambaOutputPort *output) {
  return output->in_flight < output->stages;
}
/* Lets a vector into the pipeline; it comes out at cycle `ready`. */
void sambaOutputPortEnter(SambaOutputPort *output, uint64_t ready);
/* Sends what has come out of the pipeline and finds room. True: a vector left. Otherwise, or when
 * more follows, *wake says when to look again. */
bool sambaOutputPortSend(SambaOutputPort *output, SambaNetwork *network, uint64_t *wake);
static inline bool sambaOutputPortStep(SambaOutputPort *output, SambaNetwork *network,
                                       uint64_t *wake) {
  return output->in_flight && sambaOutputPortSend(output, network, wake);
}

#endif
