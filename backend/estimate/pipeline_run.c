/* The run of a section's pipeline; see pipeline_run.h.
 *
 * An actor is a load, a store, a PCU, or one port of a PMU, of a unit that stands for its twins. A
 * firing begins when its inputs begin to arrive and its outputs have room, and ends when its work
 * is done, its inputs are there and its outputs are accepted (docs/timing-model.md). Beginnings are
 * handled in the order of time, because all share the memory. */
#include "backend/estimate/pipeline_run.h"

#include "backend/estimate/pipeline_key.h"
#include "backend/estimate/pipeline_state.h"

#include <math.h>
#include <stdlib.h>

/* Firings that are followed one by one; so many times as many while units do not go on at one pace,
 * or wait for their first firing, because those at work tell nothing of their pace. */
enum { mostFirings = 24000, mostTimes = 64 };

/*===-- Queues --------------------------------------------------------------------------------===*/

/* Who is queued or done goes on by events alone. */
static void lookAt(SambaPipelineRun *run, uint32_t actor) {
  SambaPipelineState state = run->actors[actor].state;
  if (run->actors[actor].waiting || state == SAMBA_PIPELINE_QUEUED || state == SAMBA_PIPELINE_DONE)
    return;
  run->actors[actor].waiting = true;
  run->list[(run->list_head + run->list_size++) & run->list_mask] = actor;
}

static void tellNeighbours(SambaPipelineRun *run, const SambaPipelineActor *actor) {
  for (uint32_t n = 0; n < actor->neighbour_count; ++n)
    lookAt(run, actor->neighbours[n]);
}

static void pushEvent(SambaPipelineRun *run, double at, uint32_t actor) {
  sambaArrayAppend(&run->events, (SambaPipelineEvent){at, actor});
  size_t i = run->events.size - 1;
  while (i && run->events.data[(i - 1) / 2].at > at) {
    run->events.data[i] = run->events.data[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  run->events.data[i] = (SambaPipelineEvent){at, actor};
}

static SambaPipelineEvent popEvent(SambaPipelineRun *run) {
  SambaPipelineEvent *heap = run->events.data;
  SambaPipelineEvent top = heap[0], last = heap[--run->events.size];
  size_t i = 0, child;
  while ((child = 2 * i + 1) < run->events.size) {
    child += child + 1 < run->events.size && heap[child + 1].at < heap[child].at;
    if (heap[child].at >= last.at)
      break;
    heap[i] = heap[child];
    i = child;
  }
  if (run->events.size)
    heap[i] = last;
  return top;
}

/*===-- Tokens --------------------------------------------------------------------------------===*/

/* Most firings run for each token that a port passes, and few divisions are needed. */
static bool isMultiple(uint64_t firing, uint64_t period) {
  return period == 1 || firing % period == 0;
}
static uint64_t tokenOf(uint64_t firing, uint64_t period) {
  return period == 1 ? firing : firing / period;
}

static double later(double a, double b) { return a > b ? a : b; }

/* An answer is not known before the actor makes another step. */
static bool misses(SambaPipelineRun *run, uint32_t actor) {
  run->missing = actor;
  return false;
}

/* A port deals `block` tokens to each of its streams in turn: the stream of its token, and the
 * number of the token there. */
static uint32_t streamOf(uint32_t streams, uint32_t block, uint64_t token, uint64_t *out_number) {
  if (streams == 1) {
    *out_number = token;
    return 0;
  }
  if (block == 1) {
    *out_number = token / streams;
    return (uint32_t)(token % streams);
  }
  uint64_t round = (uint64_t)streams * block;
  *out_number = token / round * block + token % block;
  return (uint32_t)(token % round / block);
}

/* The number at the other end's port of the stream's token. */
static uint64_t tokenThere(const SambaPipelineLink *link, uint64_t number) {
  if (link->streams == 1)
    return number;
  if (link->block == 1)
    return number * link->streams + link->place;
  return number / link->block * link->block * link->streams + (uint64_t)link->place * link->block +
         number % link->block;
}

/* When a token that an input takes begins or ends to arrive; false: not known yet. */
static bool arrival(SambaPipelineRun *run, const SambaPipelineInput *input, uint64_t token,
                    bool last, double *out_at) {
  uint64_t number;
  const SambaPipelineLink *link =
      &input->links[streamOf(input->streams, input->block, token, &number)];
  const SambaPipelineOutput *output = &run->actors[link->actor].outputs[link->port];
  const SambaTimes *times = last ? &output->last : &output->first;
  uint64_t there = tokenThere(link, number);
  if (there >= times->size)
    return misses(run, link->actor);
  *out_at = times->data[there] + link->latency;
  return true;
}

/* When the other end has taken token `number` of a stream, and how long its firing lasts; false:
 * not known yet. */
static bool takenAt(SambaPipelineRun *run, const SambaPipelineLink *link, uint64_t number,
                    double *out_at, double *out_lasting) {
  const SambaPipelineInput *input = &run->actors[link->actor].inputs[link->port];
  *out_at = *out_lasting = 0;
  if (number < link->behind)
    return true;
  uint64_t there = tokenThere(link, number - link->behind);
  if (there >= input->taken.size)
    return misses(run, link->actor);
  *out_at = input->taken.data[there];
  *out_lasting = input->lasting.data[there];
  return true;
}

/* When there is room for a vector of the output's next token; false: not known yet. */
static bool roomAt(SambaPipelineRun *run, const SambaPipelineOutput *output, uint64_t token,
                   double *at) {
  uint64_t number;
  uint32_t stream = streamOf(output->streams, output->block, token, &number);
  for (uint32_t l = output->first_link[stream]; l < output->first_link[stream + 1]; ++l) {
    const SambaPipelineLink *link = &output->links[l];
    double taken, lasting;
    if (number < link->ahead_begun)
      continue;
    if (!takenAt(run, link, number - link->ahead_begun, &taken, &lasting))
      return false;
    *at = later(*at, taken);
  }
  return true;
}

/* When the other ends have taken all of the token but what their ways hold. */
static bool acceptedAt(SambaPipelineRun *run, const SambaPipelineOutput *output, uint64_t token,
                       double *at) {
  uint64_t number;
  uint32_t stream = streamOf(output->streams, output->block, token, &number);
  for (uint32_t l = output->first_link[stream]; l < output->first_link[stream + 1]; ++l) {
    const SambaPipelineLink *link = &output->links[l];
    double taken, lasting;
    if (number < link->ahead_left)
      continue;
    if (!takenAt(run, link, number - link->ahead_left, &taken, &lasting))
      return false;
    *at = later(*at, taken + lasting * link->beyond);
  }
  return true;
}

/*===-- Firings -------------------------------------------------------------------------------===*/

static bool makesToken(const SambaPipelineActor *actor, const SambaPipelineOutput *output) {
  return isMultiple(actor->done + 1, output->period);
}

/* When a port of a PMU may work on its next slot; false: not known yet. */
static bool slotAt(SambaPipelineRun *run, const SambaPipelineActor *actor, double *at) {
  const SambaUnit *unit = &run->section->units[actor->unit];
  const SambaPipelineBuffer *buffer = &run->buffers[actor->unit];
  uint64_t slot = tokenOf(actor->done, actor->slot_period);
  bool read = actor->kind == SAMBA_PIPELINE_READ;
  uint64_t full = unit->buffer.loop_carried ? unit->buffer.slot_count : 0;
  uint64_t ahead = read ? full : unit->buffer.slot_count - full; /* slots that need no other port */
  uint32_t first = buffer->first_actor + (read ? 0 : unit->input_count);
  uint32_t count = read ? unit->input_count : unit->output_count;

  if (!read && unit->buffer.in_place) { /* a write follows the reads of its token */
    uint64_t empty = ahead * actor->slot_period;
    for (uint32_t i = 0; i < count && actor->done >= empty; ++i) {
      const SambaPipelineActor *other = &run->actors[first + i];
      if (!other->output_count)
        continue;
      if (actor->done - empty >= other->outputs[0].last.size)
        return misses(run, first + i);
      double length = other->duration;
      *at =
          fmax(*at, other->outputs[0].last.data[actor->done - empty] - other->latency - length + 1);
    }
    return true;
  }

  if (slot < ahead)
    return true;
  for (uint32_t i = 0; i < count; ++i) {
    const SambaTimes *ends = &run->actors[first + i].slot_ends;
    if (slot - ahead >= ends->size)
      return misses(run, first + i);
    *at = later(*at, ends->data[slot - ahead]);
  }
  return true;
}

/* When the next firing can begin; false: not known yet. */
static bool startOf(SambaPipelineRun *run, const SambaPipelineActor *actor, double *out_at) {
  double at = actor->free, arrives;
  if ((actor->kind == SAMBA_PIPELINE_READ || actor->kind == SAMBA_PIPELINE_WRITE) &&
      !slotAt(run, actor, &at))
    return false;
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaPipelineInput *input = &actor->inputs[i];
    if (!isMultiple(actor->done, input->period))
      continue;
    if (!arrival(run, input, tokenOf(actor->done, input->period), input->whole, &arrives))
      return false;
    at = later(at, arrives);
  }
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (makesToken(actor, &actor->outputs[o]) && actor->kind != SAMBA_PIPELINE_STORE &&
        !roomAt(run, &actor->outputs[o], tokenOf(actor->done, actor->outputs[o].period), &at))
      return false;
  *out_at = at;
  return true;
}

/* A use of something that one after the other gets; returns when it ends. */
static double book(double *free, double now, double cycles) {
  return *free = fmax(*free, now) + cycles;
}

/* Each side has its cycles, and so has each array, which serves reads first. */
static void bookPmu(SambaPipelineRun *run, SambaPipelineActor *actor) {
  const SambaUnit *unit = &run->section->units[actor->unit];
  SambaPipelineBuffer *buffer = &run->buffers[actor->unit];
  double *side = actor->kind == SAMBA_PIPELINE_READ ? &buffer->read_free : &buffer->write_free;
  actor->end = fmax(actor->end, book(side, actor->start, actor->work));
  SambaArrayRange arrays = sambaSlotArrays(&buffer->placement, actor->done / actor->slot_period %
                                                                   unit->buffer.slot_count);
  for (uint32_t a = arrays.first; a < arrays.end; ++a) {
    double through = book(&buffer->array_free[a], actor->start, actor->work);
    if (actor->kind == SAMBA_PIPELINE_WRITE)
      actor->end = fmax(actor->end, through);
  }
}

/* When a generator may ask for `bytes` more. */
static double creditAt(SambaPipelineRun *run, SambaPipelineWindow *window, double bytes) {
  double most = (double)(run->machine->ag_bursts * run->machine->dram_burst_bytes), at = 0;
  while (window->size &&
         (window->outstanding + bytes > most || window->size == SAMBA_PIPELINE_WINDOW)) {
    at = fmax(at, window->until[window->head]);
    window->outstanding -= window->bytes[window->head];
    window->head = (window->head + 1) % SAMBA_PIPELINE_WINDOW;
    --window->size;
  }
  return at;
}

static void pushOutstanding(SambaPipelineWindow *window, double bytes, double until) {
  uint32_t place = (window->head + window->size++) % SAMBA_PIPELINE_WINDOW;
  window->bytes[place] = bytes;
  window->until[place] = until;
  window->outstanding += bytes;
}

/* Books the channels that have most of what a crowded actor asks for: they take longer than the
 * whole memory, which serves others meanwhile. Returns when they are through with it. */
static double crowd(SambaPipelineActor *actor, double at, double moving) {
  return actor->crowding > 1 ? book(&actor->crowd_free, at, moving * actor->crowding) : 0;
}

/* Asks the memory for one piece of the running token at the time of now. Returns when the next may
 * follow. */
static double askMemory(SambaPipelineRun *run, SambaPipelineActor *actor) {
  double bytes = actor->bytes / actor->piece_count, issue = actor->issue / actor->piece_count;
  SambaPipelineWindow *window = actor->window;
  double at = fmax(run->now, creditAt(run, window, bytes));
  double latency = window->size ? run->stream_latency : run->memory_latency;
  double half = latency / 2;
  double queue = fmax(0, fmax(run->memory_free, actor->crowd_free) - (at + half));
  double moving = actor->twins * bytes / run->memory_rate;

  run->memory_free = fmax(run->memory_free, at + half) + moving;
  double first = at + latency + queue;
  double last = fmax(first + fmax(issue, moving), crowd(actor, at + half, moving) + half);
  pushOutstanding(window, bytes, last);
  if (actor->piece == 0)
    actor->token_first = first;
  actor->token_last = last;
  return at + issue;
}

/* Hands the token of a store to the memory, piece by piece. Returns when its generator is through
 * with it: writes are acknowledged after the way to the memory and back. */
static double writeMemory(SambaPipelineRun *run, SambaPipelineActor *actor) {
  double bytes = actor->bytes / actor->piece_count, issue = actor->issue / actor->piece_count;
  double at = run->now, latency = (double)run->machine->ag_latency_cycles;
  for (uint32_t piece = 0; piece < actor->piece_count; ++piece) {
    at = fmax(at, creditAt(run, actor->window, bytes)) + issue;
    double accepted = run->phases ? run->memory_free - run->write_queue : 0;
    pushOutstanding(actor->window, bytes, fmax(at, accepted) + latency);
  }
  double turns = run->loads_left && !run->phases ? actor->requests * run->turn_cycles : 0;
  double moving = actor->twins * (actor->bytes / run->memory_rate + turns);
  book(&run->memory_free, run->now, moving);
  crowd(actor, run->now + (double)run->machine->ag_latency_cycles / 2, moving);
  return at;
}

static void pushTaken(SambaPipelineActor *actor, SambaPipelineInput *input) {
  sambaArrayAppend(&input->taken, actor->start);
  sambaArrayAppend(&input->lasting, actor->duration);
}

static void beginFiring(SambaPipelineRun *run, SambaPipelineActor *actor) {
  ++run->followed;
  ++actor->steps;
  actor->state = SAMBA_PIPELINE_RUNNING;
  actor->start = run->now;
  actor->duration = actor->work;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (isMultiple(actor->done, actor->inputs[i].period))
      actor->duration = later(actor->duration, actor->inputs[i].cycles);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (makesToken(actor, &actor->outputs[o]) && actor->kind != SAMBA_PIPELINE_STORE)
      actor->duration = later(actor->duration, actor->outputs[o].cycles);
  actor->end = actor->start + actor->duration;
  if (actor->kind == SAMBA_PIPELINE_READ || actor->kind == SAMBA_PIPELINE_WRITE)
    bookPmu(run, actor);
  if (actor->kind == SAMBA_PIPELINE_STORE)
    actor->end = fmax(actor->end, writeMemory(run, actor));

  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (isMultiple(actor->done, actor->inputs[i].period))
      pushTaken(actor, &actor->inputs[i]);
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaPipelineOutput *output = &actor->outputs[o];
    output->open = makesToken(actor, output);
    if (!output->open)
      continue;
    output->late = actor->kind == SAMBA_PIPELINE_STORE || (actor->first_part > 0.5 && output->fits);
    if (output->late || actor->kind == SAMBA_PIPELINE_LOAD)
      continue;
    sambaArrayAppend(&output->first, actor->start +
                                         actor->first_part * (actor->end - actor->start) +
                                         actor->latency);
  }
}

/* The firing ends, if it is known when. */
static bool endFiring(SambaPipelineRun *run, SambaPipelineActor *actor) {
  double end = actor->end, arrives;
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaPipelineInput *input = &actor->inputs[i];
    if (!isMultiple(actor->done, input->period))
      continue;
    if (!arrival(run, input, tokenOf(actor->done, input->period), true, &arrives))
      return false;
    double rest =
        actor->kind == SAMBA_PIPELINE_COMPUTE ? fmax(0, actor->work / input->vectors - 1) : 0;
    end = fmax(end, arrives + rest);
  }
  for (uint32_t o = 0; o < actor->output_count; ++o)
    if (actor->outputs[o].open && actor->kind != SAMBA_PIPELINE_STORE &&
        !acceptedAt(run, &actor->outputs[o], tokenOf(actor->done, actor->outputs[o].period), &end))
      return false;

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaPipelineOutput *output = &actor->outputs[o];
    if (!output->open)
      continue;
    if (output->late)
      sambaArrayAppend(&output->first,
                       actor->start + actor->first_part * (end - actor->start) + actor->latency);
    double first = output->first.data[output->first.size - 1];
    double last = fmax(end + (actor->kind == SAMBA_PIPELINE_LOAD ? 0 : actor->latency),
                       first + output->cycles);
    sambaArrayAppend(&output->last, last);
    run->finish = fmax(run->finish, last);
    output->open = false;
  }

  run->finish = fmax(run->finish, end);
  ++actor->done;
  ++actor->steps;
  if (actor->slot_period && isMultiple(actor->done, actor->slot_period))
    sambaArrayAppend(&actor->slot_ends, end);
  if (actor->kind != SAMBA_PIPELINE_LOAD)
    actor->free = end;
  actor->state = actor->done == actor->firings ? SAMBA_PIPELINE_DONE : SAMBA_PIPELINE_IDLE;
  run->loads_left -= actor->state == SAMBA_PIPELINE_DONE && actor->kind == SAMBA_PIPELINE_LOAD;
  run->unfinished -= actor->state == SAMBA_PIPELINE_DONE;
  if (actor->kind == SAMBA_PIPELINE_STORE) { /* until its bytes are in memory */
    double served = fmax(run->memory_free, actor->crowd_free);
    run->finish = fmax(run->finish, fmax(end + run->memory_latency / 2, served));
  }
  return true;
}

/* A load asks for its token piece by piece, and may go on to the next before this one is there. */
static void stepLoad(SambaPipelineRun *run, uint32_t index) {
  SambaPipelineActor *actor = &run->actors[index];
  if (actor->state == SAMBA_PIPELINE_QUEUED) {
    beginFiring(run, actor);
    actor->piece = 0;
  }
  double credit = run->phases ? creditAt(run, actor->window, actor->bytes / actor->piece_count) : 0;
  if (credit > run->now) { /* what is booked ahead of its time keeps others from going before it */
    pushEvent(run, credit, index);
    return;
  }
  double next = askMemory(run, actor);
  actor->free = next;
  if (actor->piece == 0) {
    double first = fmax(actor->token_first, actor->delivered);
    for (uint32_t o = 0; o < actor->output_count; ++o)
      if (actor->outputs[o].open)
        sambaArrayAppend(&actor->outputs[o].first, first);
  }
  if (++actor->piece < actor->piece_count) {
    pushEvent(run, next, index);
    return;
  }
  actor->end = fmax(actor->token_last, actor->delivered);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    actor->end =
        fmax(actor->end, fmax(actor->token_first, actor->delivered) + actor->outputs[o].cycles);
  actor->delivered = actor->end;
}

/* The answer was not known: whom the actor waits for. */
static void waitFor(SambaPipelineRun *run, SambaPipelineActor *actor) {
  actor->waits_for = run->missing;
  actor->steps_seen = run->actors[run->missing].steps;
}

static bool waitsStill(const SambaPipelineRun *run, const SambaPipelineActor *actor) {
  return actor->waits_for != SAMBA_NO_INDEX &&
         run->actors[actor->waits_for].steps == actor->steps_seen;
}

static void process(SambaPipelineRun *run, uint32_t index) {
  SambaPipelineActor *actor = &run->actors[index];
  bool asks = actor->kind == SAMBA_PIPELINE_LOAD && actor->piece < actor->piece_count;
  double at;
  if (waitsStill(run, actor))
    return;
  actor->waits_for = SAMBA_NO_INDEX;
  if (actor->state == SAMBA_PIPELINE_RUNNING && !asks) {
    if (!endFiring(run, actor)) {
      waitFor(run, actor);
      return;
    }
    tellNeighbours(run, actor);
    lookAt(run, index);
  }
  if (actor->state != SAMBA_PIPELINE_IDLE || !actor->firings)
    return;
  if (startOf(run, actor, &at)) {
    actor->state = SAMBA_PIPELINE_QUEUED;
    pushEvent(run, later(at, run->now), index);
  } else {
    waitFor(run, actor);
  }
}

/*===-- The run -------------------------------------------------------------------------------===*/

/* Where the run was at some time. */
typedef struct Snapshot {
  double at;
  uint64_t *done;
} Snapshot;

static void takeSnapshot(const SambaPipelineRun *run, Snapshot *snapshot) {
  snapshot->at = run->now;
  for (uint32_t a = 0; a < run->actor_count; ++a)
    snapshot->done[a] = run->actors[a].done;
}

/* The end of a run that was followed to its middle, at the pace since the snapshot: that of the
 * actor with the most firings tells best. Whoever has the largest part left ends last: the end of a
 * pipeline is as far behind its beginning as it was when it began. */
static double goOn(const SambaPipelineRun *run, const Snapshot *since) {
  const SambaPipelineActor *finest = NULL;
  double rate = 0, left = 0;
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    const SambaPipelineActor *actor = &run->actors[a];
    if (actor->state == SAMBA_PIPELINE_DONE)
      continue;
    /* One firing is on its way. */
    left = fmax(left, (double)(actor->firings - actor->done - 1) / (double)actor->firings);
    if ((finest && actor->firings <= finest->firings) || actor->done == since->done[a])
      continue;
    finest = actor;
    rate = (double)(actor->done - since->done[a]) / (run->now - since->at);
  }
  if (!finest || rate <= 0)
    return -1;
  left = fmax(left * (double)finest->firings, (double)(finest->firings - finest->done));
  return run->now + left / rate;
}

/* Whether all that is unfinished went on at one pace since the snapshot: while a pipeline fills,
 * its first groups are faster than all of it is. One firing more or less is none. */
static const double evenPace = 1.1;
static bool isEven(const SambaPipelineRun *run, const Snapshot *since) {
  double fastest = 0, slowest = INFINITY;
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    const SambaPipelineActor *actor = &run->actors[a];
    if (actor->state == SAMBA_PIPELINE_DONE)
      continue;
    double made = (double)(actor->done - since->done[a]), firings = (double)actor->firings;
    fastest = fmax(fastest, (made - 1) / firings);
    slowest = fmin(slowest, (made + 1) / firings);
  }
  return fastest <= evenPace * slowest;
}

static bool allBegan(const SambaPipelineRun *run) {
  for (uint32_t a = 0; a < run->actor_count; ++a)
    if (run->actors[a].firings && !run->actors[a].done)
      return false;
  return true;
}

/* Phases that are followed before the rest goes on like the last one of them. */
enum { mostPhases = 3 };

/* The end of a run of many phases, of which enough were followed; -1: not yet. */
static double goOnInPhases(const SambaPipelineRun *run) {
  const SambaTimes *ends = &run->actors[run->gathering].slot_ends;
  if (run->phases <= mostPhases || ends->size < mostPhases)
    return -1;
  double last = ends->data[mostPhases - 1];
  return last + (run->phases - mostPhases) * (last - ends->data[mostPhases - 2]);
}

static double follow(SambaPipelineRun *run, double most) {
  Snapshot middle = {.done = SAMBA_ARENA_ARRAY(&run->arena, uint64_t, run->actor_count)};
  uint64_t next_look = mostFirings / 2;
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    if (!run->actors[a].firings)
      run->actors[a].state = SAMBA_PIPELINE_DONE;
    lookAt(run, a);
  }

  for (;;) {
    while (run->list_size) {
      uint32_t actor = run->list[run->list_head];
      run->list_head = (run->list_head + 1) & run->list_mask;
      --run->list_size;
      run->actors[actor].waiting = false;
      process(run, actor);
    }
    if (!run->events.size)
      break;
    double phased = run->phases ? goOnInPhases(run) : -1;
    if (phased >= 0)
      return phased;
    if (run->followed >= next_look && !run->phases) {
      bool last = next_look >= mostTimes * mostFirings;
      bool even = next_look >= mostFirings && allBegan(run) && isEven(run, &middle);
      if (last || even)
        return goOn(run, &middle);
      takeSnapshot(run, &middle);
      next_look *= 2; /* where slices are many firings, few firings tell nothing */
    }
    SambaPipelineEvent event = popEvent(run);
    SambaPipelineActor *actor = &run->actors[event.actor];
    run->now = event.at;
    if (run->now > most)
      return run->now;
    if (actor->kind == SAMBA_PIPELINE_LOAD)
      stepLoad(run, event.actor);
    else
      beginFiring(run, actor);
    tellNeighbours(run, actor);
    lookAt(run, event.actor);
  }
  return run->unfinished ? -1 : run->finish;
}

static void destroy(SambaPipelineRun *run) {
  for (uint32_t a = 0; a < run->actor_count; ++a) {
    SambaPipelineActor *actor = &run->actors[a];
    for (uint32_t i = 0; i < actor->input_count; ++i) {
      sambaArrayFree(&actor->inputs[i].taken);
      sambaArrayFree(&actor->inputs[i].lasting);
    }
    for (uint32_t o = 0; o < actor->output_count; ++o) {
      sambaArrayFree(&actor->outputs[o].first);
      sambaArrayFree(&actor->outputs[o].last);
    }
    sambaArrayFree(&actor->slot_ends);
  }
  sambaArrayFree(&run->events);
  sambaArenaDestroy(&run->arena);
}

static double followOrFind(SambaPipelineRun *run, double most, const SambaPipelineMemo *memo) {
  SambaByteBuffer key = {0};
  double cycles;
  sambaPipelineKey(run, &key);
  if (!memo->find(memo->user, &key, &cycles)) {
    cycles = follow(run, most);
    if (cycles <= most)
      memo->keep(memo->user, &key, cycles);
  }
  sambaArrayFree(&key);
  return cycles;
}

double sambaPipelineCycles(const SambaSection *section, const SambaMachine *machine,
                           SambaPortPatterns *patterns, double most,
                           const SambaPipelineMemo *memo) {
  SambaPipelineRun run = {.section = section, .machine = machine, .patterns = patterns};
  sambaPipelineBuild(&run);
  double cycles = memo ? followOrFind(&run, most, memo) : follow(&run, most);
  destroy(&run);
  return cycles;
}
