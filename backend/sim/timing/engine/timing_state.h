/* The state of the timing engine: actors that fire, the streams between them, address generators,
 * DRAM, and what is to be looked at when.
 *
 * An actor is a LOAD, a STORE, a COMPUTE, or one port of a BUFFER. It is idle, or in a firing whose
 * end is known once every constraint on it is (`pending` of them are not). The laws are in
 * docs/timing-model.md. Times are cycles of the chip. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_TIMING_STATE_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_TIMING_STATE_H

#include "backend/section/port_cycles.h"
#include "backend/sim/call/call.h"
#include "backend/sim/timing/dram/bursts.h"
#include "backend/sim/timing/dram/dram.h"
#include "backend/sim/timing/dram/events.h"
#include "backend/sim/timing/engine/booking.h"
#include "backend/sim/timing/engine/simd_steps.h"
#include "support/base/index.h"

#include <signal.h>

/* One token on a stream, as its source sees time: the destinations see it `latency` later. */
typedef struct SambaSegment {
  uint64_t first;     /* first vector leaves */
  uint64_t last;      /* last vector has left; an estimate until last_known */
  uint64_t dense;     /* a LOAD's: see SambaStreamState::sharers */
  uint64_t accept_at; /* earliest end of the producer's firing that the consumers allow */
  uint32_t consumers; /* destinations that have not taken it */
  bool last_known;
} SambaSegment;

/* One destination of a stream. What is asked most often lies in one line of the host's cache. */
typedef struct SambaCursor {
  _Alignas(SAMBA_CACHE_LINE) uint32_t stream;
  uint32_t actor;
  uint64_t capacity; /* vectors that the FIFOs of its route and the producer's pipeline hold */
  uint64_t next;     /* token it takes next */
  uint64_t left;     /* one_by_one: vectors of token next - 1 that it has not taken */
  uint64_t latency;
  /* Cycles of a firing after the one in which the token's last vector is used; below 0 when
   * vectors are used after its end. */
  int64_t rest;
  bool one_by_one; /* of a STORE's data: it takes vectors as it asks for bursts */
  bool waiting;    /* took token next - 1 and its end is not known yet */
  /* Of a stream that tells: it asks when vectors come; it does not ask again for so many. */
  bool asks, is_walked; /* is_walked: the steps of a COMPUTE could be, vector by vector */
  uint64_t asked;
} SambaCursor;

/* What is seldom asked of a destination. */
typedef struct SambaCursorDetail {
  /* Who asks: of token next - 1, as in its SambaSegment, which later tokens may have replaced. */
  uint64_t taken_first, taken_last;
  uint64_t credit; /* cycles after which a vector that was taken makes room for another one */
} SambaCursorDetail;

/* A lane that a stream shares with others. */
typedef struct SambaLaneUse {
  uint32_t lane, flow; /* flow: the stream's place among those of the lane */
  SambaFlow *booked;   /* what it has booked there */
  uint64_t held;       /* vectors that fit between the producer and the lane */
  uint64_t spare;      /* that takers may still get when no more pass the lane */
  uint64_t cycles;     /* from the producer to the lane */
} SambaLaneUse;

/* How far the destinations of a multicast are ahead of each other. What is walked for one of them
 * lies side by side. */
typedef struct SambaMulticast {
  uint32_t *taken;   /* tokens that each has taken, modulo 2^32 */
  uint32_t *held_by; /* of each: those that keep some of the token that it took last from it */
  uint64_t *held;    /* bit set: destinations that wait for others */
  uint32_t held_words;
  uint64_t least_lead;
  /* Vectors by which destination e can be ahead of destination d, at d x cursor_count + e; whole
   * tokens of them; the same at e x cursor_count + d. */
  uint32_t *leads, *token_leads, *leads_over;
} SambaMulticast;

/* A stream. Looks at those that take or make its tokens need its first line of the host's cache,
 * beginnings and ends of firings the second. */
typedef struct SambaStreamState {
  _Alignas(SAMBA_CACHE_LINE) uint64_t vectors; /* of one token, at least 1 */
  uint64_t base, pushed;                       /* tokens [base, pushed) are in the ring */
  uint64_t
      room_end; /* vectors of all tokens that may be pushed before a way to some taker is full */
  SambaSegment *ring;
  uint32_t ring_mask;
  uint32_t cursor_first, cursor_count;
  uint32_t producer;     /* actor */
  bool needs_acceptance; /* the end of token pushed - 1 waits for consumers */
  bool tells;            /* partial_tokens.h */
  bool in_step;          /* lockstep.h */
  bool is_wanted, is_uneven;
  bool is_used; /* as it comes: all its takers are COMPUTE */
  bool is_slow; /* its links pass less than a vector per cycle */

  SambaLaneUse *lanes; /* those on its route that other streams use too */
  uint32_t lane_count;
  uint32_t unbooked;         /* vectors of token pushed - 1 */
  SambaMulticast *multicast; /* NULL: it has one destination, or carries no data */
  uint64_t cycles;           /* of one token at the rate of its links */
  uint64_t pace;             /* cycles in which its slowest taker takes a token */
  uint64_t taken_at;         /* somebody has taken it, or the token before it */
  uint64_t passed_at;        /* that token has passed the lanes that the stream shares */
  uint64_t room_at;          /* the next token begins no earlier */

  uint64_t bytes; /* of one token */
  /* Links of short FIFOs: what they have booked, 0 flows otherwise; cycles of a token in a row of
   * tokens, by how many the last vector is earlier than that, of the vectors in the first FIFO. */
  SambaShare link;
  uint64_t link_cycles, link_slack, link_held;
  /* Of a LOAD that shares a lane, or the write side of a buffer: with how many, itself among them;
   * 0 otherwise. Say they all get data as this one does. Then what they share can work without a
   * pause from `dense` of a token on: the latest t - v x sharers, where vector v leaves at t. */
  uint64_t sharers;
  /* Of a stream that tells: when each vector leaves, at its number modulo the size of the ring.
   * Vectors are numbered through all tokens; of those before `told` it is known. There is room up
   * to `left_end`. */
  uint64_t *left_at, left_mask, told, left_end;
} SambaStreamState;

/* One lane of a link that several streams use. */
typedef struct SambaLane {
  _Alignas(SAMBA_CACHE_LINE) SambaShare share;
  uint64_t busy; /* filled in at the end */
} SambaLane;

typedef struct SambaActorInput {
  _Alignas(SAMBA_CACHE_LINE) uint32_t port;
  uint32_t cursor;   /* the current one of `cursors` */
  uint32_t *cursors; /* one per stream of the port, in round-robin order */
  uint32_t cursor_count, current, left, block;
  uint64_t period, phase; /* a token is due when phase is 0 */
  uint32_t taken;         /* the cursor that the last token came from */
  /* It joins only what follows a reduction: a firing begins without it. The running one has begun,
   * and has none yet. */
  bool is_late, is_awaited;
} SambaActorInput;

/* What is seldom asked of an output: its port deals tokens out by blocks in turn. */
typedef struct SambaOutputTurns {
  const uint32_t *streams;
  uint32_t port, current, left, block;
} SambaOutputTurns;

typedef struct SambaActorOutput {
  _Alignas(SAMBA_CACHE_LINE) uint32_t stream; /* the current one of `turns->streams` */
  uint32_t stream_count;
  uint64_t period, phase; /* a token is made when phase is period - 1 */
  uint64_t first_numerator,
      first_denominator; /* part of a firing before the first vector is made */
  int64_t last_shift;    /* the last vector has been made so long after the end of a firing */
  uint32_t open_stream;  /* of the token that the running firing makes */
  enum { SAMBA_TOKEN_NONE, SAMBA_TOKEN_OPEN, SAMBA_TOKEN_DEFERRED } token : 8;
  bool is_result; /* of a reduction */
  bool is_even;   /* steps of a COMPUTE make a vector each */
  SambaOutputTurns *turns;
  /* Of a SIMD unit: elements of a full vector; the elements of a row, or what a nest of sums
   * leaves, and the cycles in which steps make them. 0 elements: of another one. */
  uint64_t vector_elements, row_elements, row_cycles;
} SambaActorOutput;

typedef enum {
  SAMBA_ACTOR_COMPUTE,
  SAMBA_ACTOR_READ,
  SAMBA_ACTOR_WRITE,
  SAMBA_ACTOR_LOAD,
  SAMBA_ACTOR_STORE
} SambaActorKind;
typedef enum {
  SAMBA_WAIT_NONE,
  SAMBA_WAIT_INPUT,
  SAMBA_WAIT_OUTPUT,
  SAMBA_WAIT_MEMORY,
  SAMBA_WAIT_COUNT
} SambaWait;

/* A token of a LOAD that is on its way from memory, or of a STORE on its way there. */
typedef struct SambaMemoryToken {
  uint64_t first, last;   /* SAMBA_TIME_UNKNOWN: nothing has left or come back yet; last so far */
  uint64_t dense;         /* LOAD: as of a SambaSegment, so far */
  uint32_t outstanding;   /* STORE: requests whose times are unknown */
  uint32_t output_stream; /* SAMBA_NO_INDEX when it has no consumer */
  uint64_t pieces;        /* LOAD: those walked before it, of all tokens */
  bool issued, complete, pushed;
} SambaMemoryToken;

/* Pieces that a LOAD walked together: the bursts of one request, or what asks for none. They are
 * kept until their data have left, in order. */
typedef struct SambaLoadGroup {
  _Alignas(SAMBA_CACHE_LINE) SambaDramTimes times; /* of its bursts */
  uint64_t last;    /* the data of the last burst are there; SAMBA_TIME_UNKNOWN */
  uint64_t vectors; /* of its token that are whole with it */
  uint64_t left;    /* its data have left */
  uint32_t pieces, bursts;
  bool ends_token;
  bool has_run; /* otherwise all its elements come with its one burst */
} SambaLoadGroup;

/* Where the elements of a group lie: the first byte of the run of its bursts, elements of the run
 * before the first one that is enabled, elements of the token before the run, and up to the end of
 * the group. */
typedef struct SambaLoadRun {
  uint64_t address, skipped, elements_before, first_burst, elements;
} SambaLoadRun;

/* What LOAD and STORE have besides. What comes back from memory needs the first lines of the host's
 * cache. */
typedef struct SambaMemoryState {
  /* LOAD: groups [group_free, group_next) have a time at which they leave, up to group_end their
   * data are on the way. */
  _Alignas(SAMBA_CACHE_LINE) SambaLoadGroup *groups; /* ring */
  SambaLoadRun *runs; /* of those that have one, at the same places */
  uint64_t group_mask, group_free, group_next, group_end;
  uint64_t group_there;     /* the data of those before it are there */
  SambaMemoryToken *tokens; /* ring */

  uint64_t token_mask, token_base, token_end;
  uint32_t generator, actor; /* whose it is */
  bool issuing, run_ends_token;
  bool awaits_place; /* until a group leaves */
  bool is_held_up;   /* it has no place for what it walks next */
  /* LOAD: a taker has begun to make room for the last vectors of token `held_token`, of which
   * `held_left` had left; it begins with piece number `held_from`. From `resumes_at` on others
   * leave, as many as `held_vectors` in `held_cycles`. */
  bool resumes;
  int64_t held_left;
  uint64_t held_token, held_from, held_vectors, held_cycles, resumes_at;
  uint64_t pieces, pieces_kept; /* walked in all; of the groups in the ring */
  uint64_t pieces_ahead;        /* of the current run, which join its next request */
  uint64_t vectors_left;        /* of the token at token_base */

  uint64_t vectors_booked, booked_at; /* of them, on the lanes that its stream shares; until when */
  /* What is booked ahead: it begins behind so many vectors, and ends if nobody delays it; 0:
   * nothing of this token. */
  uint64_t ahead_from, ahead_end;
  double pace;           /* cycles per vector by the last part, 0: none yet */
  uint64_t left_at;      /* the last vector so far has left, of a STORE: is acknowledged */
  SambaVector vector;    /* a full one */
  uint64_t placed_burst; /* the burst that `place` is about */
  SambaDramPlace place;

  uint64_t next_burst, end_burst; /* of the current run */
  uint64_t last_burst; /* the burst that was issued last: it is not asked for twice in a row */
  uint64_t walked,
      token_elements;   /* elements of the current token that runs given out covered, all of them */
  uint64_t run_address; /* of its first byte */
  SambaVector port;     /* bytes per cycle, between generator and network */
  SambaBurstRun run;
  SambaBurstWalk walk;
  uint64_t symbol_address;
  uint64_t data_first, data_last; /* arrival of the current token's streamed inputs; data_last an
                                     estimate while pending */
  uint64_t data_vectors;
  /* STORE: where the current token comes from, how many of its vectors have been taken, and from
   * when on the next ones are. */
  uint32_t data_cursor;
  uint64_t taken, takes_at;
} SambaMemoryState;

/* An input of such a COMPUTE. */
typedef struct SambaPassingInput {
  uint64_t taken;   /* vectors of the token */
  uint64_t free_at; /* the next one is taken no earlier */
  /* The vector that was asked for last, counted from 1, and when it arrives; 0: none. */
  uint64_t found, found_at;
} SambaPassingInput;

/* An output of it. */
typedef struct SambaPassingOutput {
  uint64_t made; /* vectors of the running token */
  /* Of all tokens: when each vector leaves, at its number modulo the places of the pipeline. */
  uint64_t places, place, left, *left_at; /* place: left modulo places */
  uint64_t free_at;                       /* the next one leaves no earlier */
  uint64_t vector_elements;               /* of a vector of the token, no more than this has */
} SambaPassingOutput;

/* A COMPUTE whose results come vector by vector as its inputs do: its steps are walked. */
typedef struct SambaPassing {
  SambaSimdSteps steps;
  SambaPassingInput *inputs; /* as the actor has them */
  SambaPassingOutput *outputs;
  /* The running firing. */
  bool ended;
  uint64_t free_at;   /* the next step is no earlier */
  uint64_t result_at; /* what follows the reduction can begin another vector */
} SambaPassing;

/* What is used together lies in one line of the host's cache: what looks ask; what firings set and
 * count, in two lines; what is seldom asked; what the ports of buffers ask; counts; lockstep.h and
 * partial_tokens.h. */
typedef struct SambaActor {
  _Alignas(SAMBA_CACHE_LINE) uint32_t unit;
  SambaActorKind kind : 8;
  bool steps_inputs, steps_outputs; /* some take or make a token in some firings only */
  bool in_place;                    /* a port of such a buffer */
  bool queued, running, resolved;
  bool ends_late;            /* the end of the running firing may get later until it comes */
  uint32_t step_round;       /* lockstep.h: the last look that found it */
  uint32_t pending, awaited; /* awaited: late inputs of the running firing */
  /* Of reads in step (lockstep.h): the list in which it stands, of the actor that keeps it; the
   * first of its own list. */
  uint32_t kept_first, kept_by;
  uint32_t input_count, output_count;
  SambaActorInput *inputs;
  SambaActorOutput *outputs;
  uint64_t end_minimum;

  uint64_t start, duration;
  uint64_t firings, next; /* next: the firing to start */
  uint64_t limit;         /* firings that can end: fewer where the section deadlocks */
  uint64_t carry;         /* the end of what the firings before this one have left on their way */
  uint64_t mark;          /* statistics: everything before it is attributed */
  uint64_t work;          /* law of a firing */

  uint64_t latency;
  uint64_t busy, waits[SAMBA_WAIT_COUNT];
  uint64_t credit; /* LOAD, STORE: cycles of issuing not yet attributed */
  SambaWait wait : 8;
  bool tokens_differ; /* otherwise every token takes `work` */
  bool has_booked, has_looked;
  bool followed;            /* the running read of a buffer in place: writes wait for its end */
  bool has_steps, has_loop; /* `passing`, and `loop_cycles`, are not 0 */

  uint64_t wake; /* cycle of the pending wake-up, SAMBA_TIME_UNKNOWN when none */
  uint64_t done; /* LOAD, STORE: tokens that have left, or have come; of others see `next` */
  SambaMemoryState *memory;
  SambaPassing *passing; /* NULL: nobody asks when its vectors come */
  /* COMPUTE in a loop of streams: its pace, cycles that a burst of firings gains, and when firings
   * would have ended at this pace */
  uint64_t loop_cycles;
  uint64_t loop_slack;
  uint64_t loop_at;
  uint64_t fifo_wait; /* of work: what short FIFOs before a SIMD unit add */

  /* BUFFER ports */
  uint64_t slot_period, slot_phase, slots; /* firings per slot, within the slot, slots finished */
  uint64_t booked;     /* cycles of the side from the token's arrival to its end */
  uint64_t booked_at;  /* the side of the memory serves the next token from then on */
  uint64_t served_at;  /* the same if all tokens came without gaps */
  uint64_t gaps_from;  /* of a read: its token leaves gaps from then on; SAMBA_TIME_UNKNOWN: none */
  uint64_t side_end;   /* of a read in gaps: the side has read all that came before it, and this */
  uint64_t arrays_end; /* of its last booking at the arrays of its slot */
  const uint32_t *vector_cycles;    /* of the running token; NULL: one each */
  SambaPortCycles *port_cycles;     /* of a token */
  uint64_t flops, multiply_adds;    /* per firing */
  uint64_t wrap_flops, wrap_period; /* more at every wrap_period-th firing */
  int64_t
      last_shift; /* the last vector of an output has been made so long after the firing's end */

  uint32_t kept_before, kept_next; /* in the list in which it stands */
  /* And: the number of the last look that found that nobody keeps it and those in step with it, 0:
   * none; and that they end by then. */
  uint64_t free_with, free_by;
  uint32_t step, step_before, step_next; /* with whom it goes on, in their list */
  bool ends_alone;                       /* a read in step: the firing ends whatever others do */
  /* COMPUTE without array: cycles of a step, and of a vector in what follows the reduction. */
  uint64_t lanes, step_cycles, result_cycles;
} SambaActor;

typedef struct SambaArrayWalk SambaArrayWalk;

/* A PMU's state across its ports. */
typedef struct SambaBufferState {
  _Alignas(SAMBA_CACHE_LINE) uint32_t actor_first, write_count,
      read_count;             /* actors: write ports, then read ports */
  uint64_t written, released; /* slots finished by every write port, by every read port */
  uint64_t slots, lent;       /* all of them; those that reads have first */
  uint64_t write_side_free, read_side_free;
  SambaShare *arrays;   /* of the banks; flow 0 are writes, flow 1 reads */
  SambaArrayWalk *walk; /* array_walk.h; NULL: the shares say how long writes wait */
  /* Of the tokens that LOADs have brought to write ports, one to each: the earliest `dense`, the
   * most cycles booked for one, how many there are so far. */
  uint64_t dense, dense_cycles;
  uint32_t dense_count;
  SambaSlotPlacement placement;
} SambaBufferState;

/* An outstanding request of an address generator, where reads are merged. */
typedef struct SambaGeneratorRequest {
  uint64_t burst;  /* number of the first burst */
  uint32_t part;   /* as of a SambaDramRequest without it */
  uint32_t memory; /* of `memories` */
} SambaGeneratorRequest;

/* An address generator; each burst gives its credit back when its data are there. */
typedef struct SambaAddressGenerator {
  _Alignas(SAMBA_CACHE_LINE)
      uint64_t *returns; /* cycles in which bursts come back, as far as known, in order */
  uint32_t return_next, return_end; /* of them: [return_next, return_end) */
  bool blocked;                     /* an actor waits for credits */
  uint64_t outstanding;             /* bursts, but those that have come back by `returned` */
  uint64_t returned;                /* up to `ahead` cycles from now */
  uint64_t wake;
  uint64_t ahead; /* returns within so many cycles are all known and of use */
  uint64_t next_issue;
  uint64_t needed; /* credits that the last one that waited for some needs */
  uint32_t actor_count, turn;
  uint32_t *actors;
  /* Where reads are merged: ag_bursts of them, in use or free; the last ones that became free are
   * used first. */
  SambaGeneratorRequest *requests;
  uint32_t *free_requests, free_count;
} SambaAddressGenerator;

/* A read that is outstanding, for merging. */
typedef struct SambaOutstandingRead {
  uint64_t burst; /* number + 1; 0: free */
  SambaDramTimes times;
  uint64_t last;   /* SAMBA_TIME_UNKNOWN until scheduled; the entry is stale once it has passed */
  uint32_t waiter; /* the last that was merged with it, in `merged`; SAMBA_NO_INDEX: none */
} SambaOutstandingRead;
typedef struct SambaMergedRead {
  uint32_t generator, slot;
  uint32_t next; /* that was merged before it, or free; SAMBA_NO_INDEX ends the list */
} SambaMergedRead;

/* Reads that go on in step (lockstep.h). */
typedef struct SambaStep {
  uint64_t begin, end; /* end: of the last of them, as far as is known */
  uint32_t first;      /* SAMBA_NO_INDEX: all have ended */
  uint32_t next_free;
  bool is_looked_at; /* its event is on the way */
} SambaStep;

typedef struct SambaEngine {
  SambaArena arena;
  const SambaMachine *machine;
  const SambaSection *section;
  const SambaBinding *bindings;
  uint64_t max_cycles; /* 0: no bound */
  bool ends;           /* the section is known to run to its end on the chip */
  const volatile sig_atomic_t *stop;
  void (*on_firing)(void *user, uint32_t unit, uint64_t start_cycle, uint64_t end_cycle);
  void *user; /* of on_firing, which may be NULL */
  uint64_t now, finish;
  uint64_t event_count;
  SambaEvents events;
  uint32_t actor_count, cursor_count, lane_count, generator_count;
  SambaActor *actors;
  SambaCursor *cursors;
  SambaCursorDetail *cursor_details; /* at the same places */
  SambaStreamState *streams;
  SambaLane *lanes;
  uint32_t *unit_actors;     /* first actor of each unit; its input ports' actors come first */
  SambaBufferState *buffers; /* one per unit, used for BUFFER */
  SambaAddressGenerator *generators;
  SambaMemoryState *memories; /* of LOADs and STOREs */
  uint32_t memory_count;
  SambaDram dram;
  SambaOutstandingRead *reads; /* hash table, NULL unless reads are merged */
  uint32_t read_mask;
  SAMBA_ARRAY(SambaMergedRead) merged;
  uint32_t merged_free; /* the first that is free, SAMBA_NO_INDEX */
  uint32_t *queue;      /* actors to look at, a ring */
  uint32_t queue_mask, queue_head, queue_size;
  uint32_t unfinished;
  uint32_t widened; /* times that streams got more room than they have */
  /* lockstep.h: reads of a look; its number; the number of the last one that found nobody who keeps
   * its reads, and of the last of these that may not be right any more. */
  uint32_t *step, step_round;
  uint64_t step_free, step_unsure;
  SAMBA_ARRAY(SambaStep) steps;
  uint32_t free_step;
} SambaEngine;

enum {
  SAMBA_TARGET_ACTOR,
  SAMBA_TARGET_CHANNEL,
  SAMBA_TARGET_GENERATOR,
  SAMBA_TARGET_STEP,
  SAMBA_TARGET_KIND_BITS = 2
};
static inline uint32_t sambaTarget(uint32_t kind, uint32_t index) {
  return index << SAMBA_TARGET_KIND_BITS | kind;
}

static inline bool sambaActorIsMemory(const SambaActor *actor) {
  return actor->kind == SAMBA_ACTOR_LOAD || actor->kind == SAMBA_ACTOR_STORE;
}

/* Firings of an actor that have ended. */
static inline uint64_t sambaActorDone(const SambaActor *actor) {
  return sambaActorIsMemory(actor) ? actor->done : actor->next;
}

static inline SambaMemoryToken *sambaMemoryTokenAt(const SambaMemoryState *memory, uint64_t token) {
  return &memory->tokens[token & memory->token_mask];
}

#endif
