/* Faults of the timing engine: what waits for what when nothing can happen any more; see
 * faults.h. */
#include "backend/sim/timing/engine/faults.h"

#include <stdio.h>
#include <stdlib.h>

enum { mostNotes = 16 };

typedef struct Wait {
  uint32_t actor; /* that it waits for, SAMBA_NO_INDEX when nothing is missing */
  const char *what;
} Wait;

static bool isFinished(const SambaActor *actor) { return actor->done == actor->firings; }

static Wait waitsForConsumer(const SambaEngine *engine, uint32_t stream_index, uint64_t token) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    if (engine->cursors[stream->cursor_first + c].next <= token)
      return (Wait){engine->cursors[stream->cursor_first + c].actor, "for room on the stream to"};
  return (Wait){SAMBA_NO_INDEX, ""};
}

static Wait waitsForSlot(const SambaEngine *engine, const SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t first = buffer->actor_first + (read ? 0 : buffer->write_count);
  uint32_t count = read ? buffer->write_count : buffer->read_count;
  for (uint32_t i = 0; i < count; ++i)
    if (engine->actors[first + i].slots == (read ? buffer->written : buffer->released))
      return (Wait){first + i,
                    read ? "for a slot to be filled by" : "for a slot to be released by"};
  return (Wait){SAMBA_NO_INDEX, ""};
}

static Wait waitsFor(const SambaEngine *engine, const SambaActor *actor) {
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaActorInput *input = &actor->inputs[i];
    bool issuing = actor->running || (actor->memory && actor->memory->issuing);
    for (uint32_t c = 0; issuing && c < input->cursor_count; ++c)
      if (engine->cursors[input->cursors[c]].waiting)
        return (Wait){engine->streams[engine->cursors[input->cursors[c]].stream].producer,
                      "for the rest of a token from"};
    const SambaCursor *cursor = &engine->cursors[input->cursors[input->current]];
    if (!issuing && input->phase == 0 && cursor->next == engine->streams[cursor->stream].pushed)
      return (Wait){engine->streams[cursor->stream].producer, "for a token from"};
  }

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaActorOutput *output = &actor->outputs[o];
    for (uint32_t s = 0; s < output->stream_count; ++s) {
      const SambaStreamState *stream = &engine->streams[output->streams[s]];
      if (stream->untaken >= stream->capacity || stream->needs_acceptance ||
          (actor->memory && actor->memory->held)) {
        Wait wait = waitsForConsumer(engine, output->streams[s], stream->pushed - 1);
        if (wait.actor != SAMBA_NO_INDEX)
          return wait;
      }
    }
  }

  if (actor->kind == SAMBA_ACTOR_READ || actor->kind == SAMBA_ACTOR_WRITE)
    return waitsForSlot(engine, actor);
  return (Wait){SAMBA_NO_INDEX, ""};
}

static void describe(const SambaEngine *engine, uint32_t index, char *text, size_t size) {
  const SambaActor *actor = &engine->actors[index];
  const SambaUnit *unit = &engine->section->units[actor->unit];
  const char *port = "";
  if (actor->kind == SAMBA_ACTOR_READ)
    port = " read port";
  else if (actor->kind == SAMBA_ACTOR_WRITE)
    port = " write port";
  snprintf(text, size, "'%s'%s (%s%s%s, firing %llu of %llu)", unit->name ? unit->name : "", port,
           sambaUnitKindName(unit->kind), unit->layer && *unit->layer ? ", layer " : "",
           unit->layer ? unit->layer : "", (unsigned long long)actor->done,
           (unsigned long long)actor->firings);
}

/* Notes that follow the waits from `actor`: once around, or to the unit that has ended. */
static SambaStatus noteWaits(const SambaEngine *engine, SambaStatus status, uint32_t actor) {
  const uint32_t start = actor;
  for (uint32_t notes = 0; notes < mostNotes; ++notes) {
    Wait wait = waitsFor(engine, &engine->actors[actor]);
    if (wait.actor == SAMBA_NO_INDEX)
      break;
    char text[256], other[256];
    describe(engine, actor, text, sizeof text);
    describe(engine, wait.actor, other, sizeof other);
    status = sambaStatusNote(status, "%s waits %s %s", text, wait.what, other);
    actor = wait.actor;
    if (actor == start || isFinished(&engine->actors[actor]))
      break;
  }
  return status;
}

SambaStatus sambaEngineDeadlock(const SambaEngine *engine) {
  bool *seen = sambaAllocateZeroed(engine->actor_count, sizeof *seen);
  uint32_t waiter = 0;
  while (isFinished(&engine->actors[waiter]))
    ++waiter;

  /* Follow the waits until they come back, or reach a unit that ended early: what waits for it
   * starves. */
  Wait wait = {waiter, ""};
  while (wait.actor != SAMBA_NO_INDEX && !seen[wait.actor] &&
         !isFinished(&engine->actors[wait.actor])) {
    waiter = wait.actor;
    seen[waiter] = true;
    wait = waitsFor(engine, &engine->actors[waiter]);
  }
  free(seen);

  bool stops = wait.actor == SAMBA_NO_INDEX;
  bool starved = !stops && isFinished(&engine->actors[wait.actor]);
  const char *why = "is part of a circle of waits";
  if (starved)
    why = "waits for a unit that has ended";
  else if (stops)
    why = "cannot go on";

  char text[256];
  describe(engine, waiter, text, sizeof text);
  SambaStatus status = sambaStatusMake(
      SAMBA_FAULT,
      "%s: section '%s' stopped at cycle %llu with %u units or buffer ports unfinished; %s %s",
      starved ? "starved" : "deadlock", engine->section->name, (unsigned long long)engine->now,
      engine->unfinished, text, why);
  return noteWaits(engine, status, starved || stops ? waiter : wait.actor);
}

static uint32_t firstAtWork(const SambaEngine *engine) {
  uint32_t actor = 0;
  while (actor + 1 < engine->actor_count && isFinished(&engine->actors[actor]))
    ++actor;
  return actor;
}

SambaStatus sambaEngineTooManyCycles(const SambaEngine *engine, uint64_t limit) {
  uint32_t actor = firstAtWork(engine);
  char text[256];
  describe(engine, actor, text, sizeof text);
  SambaStatus status =
      sambaStatusMake(SAMBA_FAULT,
                      "too many cycles: section '%s' was not finished after %llu cycles; %s is "
                      "among those still at work; raise --max-cycles if this is expected",
                      engine->section->name, (unsigned long long)limit, text);
  return noteWaits(engine, status, actor);
}

SambaStatus sambaEngineInterrupted(const SambaEngine *engine) {
  uint32_t actor = firstAtWork(engine);
  char text[256];
  describe(engine, actor, text, sizeof text);
  SambaStatus status = sambaStatusMake(
      SAMBA_FAULT, "interrupted: section '%s' was at cycle %llu; %s is among those still at work",
      engine->section->name, (unsigned long long)engine->now, text);
  return noteWaits(engine, status, actor);
}
