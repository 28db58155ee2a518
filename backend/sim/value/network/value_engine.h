/* The value engine's inside: one call of a section as a network of running units.
 *
 * A unit is worked on by one thread at a time and runs until it waits for a token, for space or for
 * a slot. Tokens are views of shared, never-changing blocks; queues have one producer and one
 * consumer each. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_VALUE_ENGINE_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_VALUE_ENGINE_H

#include "backend/section/access.h"
#include "backend/sim/value/kernel/jit.h"
#include "backend/sim/value/kernel/pattern.h"
#include "backend/sim/value/values.h"

#include <pthread.h>
#include <stdatomic.h>

/* Host memory of tokens and slots, counted by reference; never written while anybody but its maker
 * can see it. */
typedef struct SambaBlock {
  atomic_uint references;
  uint32_t size_class;
  struct SambaBlock *next; /* in the pool */
  _Atomic(struct SambaBlock *)
      packed; /* a systolic operand in the kernels' order, made once (systolic.c) */
  uint64_t packed_key;
  uint8_t *data; /* aligned to 64 */
} SambaBlock;

enum { SAMBA_POOL_CLASSES = 192 };
typedef struct SambaPool { /* one list per size, each with a lock that is held for a few
                              instructions */
  struct {
    atomic_flag taken;
    SambaBlock *blocks;
  } free[SAMBA_POOL_CLASSES];
} SambaPool;

void sambaPoolInitialize(SambaPool *pool);
void sambaPoolDestroy(SambaPool *pool);
/* At least `bytes`, one reference, contents undefined. */
SambaBlock *sambaBlockCreate(SambaPool *pool, size_t bytes);
SambaBlock *sambaBlockRetain(SambaBlock *block);
void sambaBlockRelease(SambaPool *pool, SambaBlock *block); /* NULL is fine */

/* A token: elements of the stream's storage class from `offset` elements on, in the stream's
 * layout. Control: no block. */
typedef struct SambaToken {
  SambaBlock *block;
  int64_t offset;
} SambaToken;

/* How the elements of a port's tokens lie in their blocks: dense (rank 0), or by dimension,
 * outermost first. */
typedef struct SambaLayout {
  uint32_t rank;
  uint64_t *trips;
  int64_t *strides;
} SambaLayout;

/* From one source port to one destination port. */
typedef struct SambaQueue {
  SambaToken *ring;
  uint32_t capacity;
  atomic_uint head, tail;       /* taken, put; modulo 2^32 */
  uint32_t source, destination; /* units */
  uint32_t source_port, destination_port;
} SambaQueue;

typedef struct SambaRunPort {
  const SambaPort *port;
  SambaStorage storage;
  /* Inputs: one queue per stream. Outputs: per stream queues [first[s], first[s + 1]). */
  uint32_t stream_count;
  SambaQueue **queues;
  uint32_t *first;
  uint32_t stream, count; /* whose turn it is, tokens of this turn so far */
  SambaLayout layout;     /* of the tokens that travel here */
} SambaRunPort;

typedef enum {
  SAMBA_UNIT_IDLE,
  SAMBA_UNIT_QUEUED,
  SAMBA_UNIT_RUNNING,
  SAMBA_UNIT_AGAIN
} SambaUnitActivityState;

typedef struct SambaRunUnit {
  const SambaUnit *unit;
  uint32_t index;
  SambaRunPort *inputs, *outputs;
  uint64_t firings, fired; /* LOAD, STORE, COMPUTE; BUFFER: see SambaBufferRun */
  uint32_t *counters;      /* outer counters of the next firing */
  uint32_t outer_count;
  const uint32_t *outer_trips;
  void *state;         /* by kind */
  atomic_int activity; /* SambaUnitActivityState */
  uint64_t macs, lane_operations;
} SambaRunUnit;

typedef struct SambaRun {
  SambaValues *values;
  const SambaSection *section;
  const SambaBinding *bindings;
  const uint64_t *argins;
  SambaArena arena;
  SambaRunUnit *units;
  SambaQueue *queues;
  uint32_t queue_count;
  SambaIndexTraces *traces;
  struct SambaSchedule *schedule;
  const struct SambaSystolicPlan *last_systolic; /* compute_unit.c: of the unit planned last */
} SambaRun;

struct SambaValues {
  SambaMachine machine;
  SambaValuesOptions options;
  char *cpu;
  SambaJit *jit;
  SambaPool pool;
  SambaValuesStatistics statistics;
};

/* port.c: queues and turns. */
bool sambaPortHasToken(const SambaRunPort *port);
SambaToken sambaPortTake(SambaRun *run, SambaRunPort *port);
bool sambaPortHasSpace(const SambaRunPort *port);
/* Hands one reference of the token's block over; multicast retains. */
void sambaPortPut(SambaRun *run, SambaRunPort *port, SambaToken token);
/* The queue whose token, or whose space, the port waits for. */
const SambaQueue *sambaPortWaits(const SambaRunPort *port, bool output);

/* A named fault: "FAULT: section 'S', unit 'U' (layer 'L'), firing N: ..." */
SambaStatus sambaRunFault(const SambaRun *run, const SambaRunUnit *unit, uint64_t firing,
                          const char *fault, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Steps counters like an odometer. */
void sambaCountersStep(uint32_t *counters, const uint32_t *trips, uint32_t count);
/* The host value of fill or initial bits of a dtype, as storage bits. */
uint64_t sambaStorageBits(SambaDType dtype, uint64_t bits);
void sambaStorageFill(SambaStorage storage, uint8_t *data, uint64_t count, uint64_t bits);

/* network.c */
SambaStatus sambaRunCreate(SambaValues *values, const SambaSection *section,
                           const SambaBinding *bindings, const uint64_t *argins,
                           uint32_t argin_count, SambaIndexTraces *traces, SambaRun *out_run);
void sambaRunDestroy(SambaRun *run);

/* hazards.c: the fault `missing synchronisation` for memory that the call both loads and stores. */
SambaStatus sambaHazardsCheck(const SambaRun *run);

/* schedule.c */
SambaStatus sambaScheduleExecute(SambaRun *run);
void sambaScheduleWake(SambaRun *run, uint32_t unit);

/* The kinds of units. Prepare: once per call. Fire: as often as possible. */
SambaStatus sambaMemoryPrepare(SambaRun *run, SambaRunUnit *unit);
SambaStatus sambaLoadFire(SambaRun *run, SambaRunUnit *unit);
SambaStatus sambaStoreFire(SambaRun *run, SambaRunUnit *unit);
void sambaBufferPrepare(SambaRun *run, SambaRunUnit *unit);
SambaStatus sambaBufferFire(SambaRun *run, SambaRunUnit *unit);
void sambaBufferFinish(SambaRun *run, SambaRunUnit *unit);
bool sambaBufferDone(const SambaRunUnit *unit);
/* What a port of a buffer waits for: a queue, or (NULL) another port of the buffer. */
const SambaQueue *sambaBufferWaits(const SambaRunUnit *unit, bool output, uint32_t port,
                                   bool *out_other_is_output, uint32_t *out_other);
/* A port that still has tokens to take or send. */
void sambaBufferFirstWaiting(const SambaRunUnit *unit, bool *out_output, uint32_t *out_port);
/* The layout of what a read port sends when nothing is copied; false: its tokens are copied out and
 * dense. */
bool sambaBufferViewLayout(SambaArena *arena, const SambaPort *port, SambaLayout *out_layout);
/* Makes kernels' specs; compile fills the functions in. */
SambaStatus sambaComputePrepare(SambaRun *run, SambaRunUnit *const *units, uint32_t count);
SambaStatus sambaComputeFire(SambaRun *run, SambaRunUnit *unit);
/* Must this input take a token at the next firing? */
bool sambaComputeNeedsToken(const SambaRunUnit *unit, uint32_t input);
void sambaComputeFinish(SambaRun *run, SambaRunUnit *unit);

/* nest.c: the stride in a block of every inner counter of a compute input whose tokens lie like
 * this; false when a counter walks over the end of a dimension. out_strides has counter_count
 * entries. */
bool sambaLayoutCompose(const SambaUnit *unit, const SambaPort *port, const SambaLayout *layout,
                        int64_t *out_strides, int64_t *out_offset);

#endif
