/* The state of a pipeline that is followed (pipeline_run.h): actors, what joins them, what they
 * have done so far. */
#ifndef SAMBA_BACKEND_ESTIMATE_PIPELINE_STATE_H
#define SAMBA_BACKEND_ESTIMATE_PIPELINE_STATE_H

#include "backend/estimate/twins.h"
#include "backend/machine/machine.h"
#include "backend/section/banks.h"
#include "backend/section/port_cycles.h"
#include "backend/section/section.h"

enum {
  SAMBA_PIPELINE_WINDOW = 64, /* requests of a generator that are told apart */
};

typedef enum {
  SAMBA_PIPELINE_COMPUTE,
  SAMBA_PIPELINE_READ,
  SAMBA_PIPELINE_WRITE,
  SAMBA_PIPELINE_LOAD,
  SAMBA_PIPELINE_STORE
} SambaPipelineActorKind;
typedef enum {
  SAMBA_PIPELINE_IDLE,
  SAMBA_PIPELINE_QUEUED,
  SAMBA_PIPELINE_RUNNING,
  SAMBA_PIPELINE_DONE
} SambaPipelineState;

typedef SAMBA_ARRAY(double) SambaTimes;

/* The other end of a stream. */
typedef struct SambaPipelineLink {
  uint32_t actor, port;    /* of the unit that stands for it, and which of its inputs or outputs */
  uint32_t place;          /* of the stream among those of that port */
  uint32_t streams, block; /* of that port */
  uint32_t behind; /* tokens by which the unit that stands for the other end gets its own later */
  double latency, capacity; /* cycles on the way; vectors that the way holds */
  /* Of an output's link: tokens by which it may be ahead when the next one begins, and when it has
   * left; and how much of the token that leaves is beyond what the way holds. */
  uint64_t ahead_begun, ahead_left;
  double beyond;
} SambaPipelineLink;

typedef struct SambaPipelineInput {
  uint64_t period; /* firings that one token lasts */
  uint32_t streams, block;
  SambaPipelineLink *links;  /* one for each stream */
  double vectors, cycles;    /* of a token */
  SambaTimes taken, lasting; /* of each token: when its firing began, and how long that takes */
  bool whole;                /* the firing waits for the whole token */
} SambaPipelineInput;

typedef struct SambaPipelineOutput {
  uint64_t period;
  uint32_t streams, block;
  uint32_t *first_link; /* of each stream; [streams]: the end */
  SambaPipelineLink *links;
  double vectors, cycles;
  SambaTimes first,
      last;        /* of each token: when its first vector leaves, and when its last one has */
  bool fits;       /* the ways hold a whole token */
  bool open, late; /* the running firing makes a token; its beginning is not told yet */
} SambaPipelineOutput;

/* What a generator has asked for and not got. */
typedef struct SambaPipelineWindow {
  double bytes[SAMBA_PIPELINE_WINDOW], until[SAMBA_PIPELINE_WINDOW];
  uint32_t head, size;
  double outstanding;
} SambaPipelineWindow;

typedef struct SambaPipelineActor {
  SambaPipelineActorKind kind;
  SambaPipelineState state;
  uint32_t unit, twins;
  uint64_t firings, done;
  double work, latency, first_part;
  double start, duration, end, free;
  uint32_t input_count, output_count;
  SambaPipelineInput *inputs;
  SambaPipelineOutput *outputs;
  /* ports of PMUs */
  uint64_t slot_period;
  SambaTimes slot_ends;
  /* generators */
  double bytes, issue, requests; /* of a token */
  double crowding, crowd_free;   /* crowding.h; when the channels that have most are free */
  uint32_t piece, piece_count;
  double delivered, token_first, token_last;
  SambaPipelineWindow *window;
  /* who may go on when this one has */
  uint32_t neighbour_count;
  uint32_t *neighbours;
  bool waiting; /* in the list of those to look at */
  /* Firings that have begun or ended. What this one waits for, and the steps that one had made when
   * that was seen: until it makes another, there is nothing new. */
  uint64_t steps, steps_seen;
  uint32_t waits_for; /* SAMBA_NO_INDEX: not known */
} SambaPipelineActor;

typedef struct SambaPipelineBuffer {
  uint32_t first_actor; /* write ports, then read ports */
  double write_free, read_free;
  SambaSlotPlacement placement;
  double *array_free;
} SambaPipelineBuffer;

typedef struct SambaPipelineEvent {
  double at;
  uint32_t actor;
} SambaPipelineEvent;

typedef struct SambaPipelineRun {
  SambaArena arena;
  const SambaSection *section;
  const SambaMachine *machine;
  SambaPortPatterns *patterns;
  SambaTwins twins;
  uint32_t actor_count;
  SambaPipelineActor *actors;
  uint32_t *actor_of;           /* of each unit that stands for others: its first actor */
  SambaPipelineBuffer *buffers; /* of each such unit */
  uint32_t *next_twin;          /* of each unit, the next one that the same unit stands for */
  const double *loop_paces;     /* of each unit, loop_pace.h; NULL: no streams have routes */
  uint32_t *source_place;       /* of each stream among those of its source's port */
  SAMBA_ARRAY(SambaPipelineEvent) events; /* a heap */
  uint32_t *list;                         /* of actors to look at, a ring */
  uint32_t list_head, list_size, list_mask;
  double now, finish, memory_free, memory_rate, memory_latency;
  double stream_latency;
  double turn_cycles; /* of the memory, that a write request costs beside reads */
  double write_queue; /* cycles for which all channels write what they have accepted */
  uint32_t phases;    /* rounds of loading and then storing; 0: both all the time */
  uint32_t gathering; /* the read port of a PMU that gathers what is stored, of several phases */
  uint32_t loads_left;
  uint64_t followed;
  uint32_t unfinished;
  uint32_t missing; /* the actor without whose next step an answer was not known */
} SambaPipelineRun;

/* Makes the actors of the section of a run; section, machine and patterns are set, all else is
 * zero. */
void sambaPipelineBuild(SambaPipelineRun *run);
uint32_t sambaPipelineActorsOf(const SambaUnit *unit);

#endif
