/* Ports of running units: queues of tokens between them, and whose turn it is where streams split
 * and merge. A queue has one producer and one consumer; each may be on a thread of its own. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STREAM_PORT_H
#define SAMBA_BACKEND_SIM_VALUE_STREAM_PORT_H

#include "backend/section/section.h"
#include "backend/sim/value/storage/storage.h"
#include "backend/sim/value/stream/block.h"
#include "backend/sim/value/stream/block_layout.h"
#include "backend/sim/value/stream/ready.h"

/* A token: elements of the stream's storage class from `offset` elements on, in the stream's
 * layout. Control: no block. */
typedef struct SambaToken {
  SambaBlock *block;
  int64_t offset;
} SambaToken;

/* From one source port to one destination port. */
typedef struct SambaQueue {
  SambaToken *ring;
  uint32_t capacity;
  atomic_uint head, tail;       /* taken, put; modulo 2^32 */
  uint32_t source, destination; /* units */
  uint32_t source_port, destination_port;
} SambaQueue;

typedef struct SambaPortRun {
  const SambaPort *port;
  SambaReadyList *ready; /* units that wait for this port's queues are woken here */
  SambaPool *pool;
  SambaStorage storage;
  /* Inputs: one queue per stream. Outputs: per stream queues [first[s], first[s + 1]). */
  uint32_t stream_count;
  SambaQueue **queues;
  uint32_t *first;
  uint32_t stream, count;  /* whose turn it is, tokens of this turn so far */
  SambaBlockLayout layout; /* of the tokens that travel here */
} SambaPortRun;

/* Gives a full queue twice the room; no thread may be at work on it. False: it is not full, or as
 * large as queues get. */
bool sambaQueueGrow(SambaArena *arena, SambaQueue *queue);

/* An input: is there a token to take? True for a port without streams, which takes nothing. */
bool sambaPortHasToken(const SambaPortRun *port);
SambaToken sambaPortTake(SambaPortRun *port);
/* An output: can every consumer of the turn's stream take one more? */
bool sambaPortHasSpace(const SambaPortRun *port);
/* Hands one reference of the token's block over; multicast retains. */
void sambaPortPut(SambaPortRun *port, SambaToken token);
/* The queue whose token, or whose space, the port waits for; NULL: none. */
const SambaQueue *sambaPortWaits(const SambaPortRun *port, bool output);

#endif
