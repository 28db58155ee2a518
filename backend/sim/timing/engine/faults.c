/* Faults of the timing engine: what waits for what when nothing can happen any more; see
 * faults.h. */
#include "backend/sim/timing/engine/faults.h"

#include "backend/sim/timing/engine/load_delivery.h"
#include "backend/sim/timing/engine/tokens.h"

#include "backend/sim/call/waits.h"

static SambaWaitFor waitsForConsumer(const SambaEngine *engine, uint32_t stream_index,
                                     uint64_t token) {
  const SambaStreamState *stream = &engine->streams[stream_index];
  for (uint32_t c = 0; c < stream->cursor_count; ++c)
    if (engine->cursors[stream->cursor_first + c].next <= token)
      return (SambaWaitFor){engine->cursors[stream->cursor_first + c].actor,
                            "for room on the stream to"};
  return (SambaWaitFor){SAMBA_NO_INDEX, ""};
}

static SambaWaitFor waitsForSlot(const SambaEngine *engine, const SambaActor *actor) {
  const SambaBufferState *buffer = &engine->buffers[actor->unit];
  bool read = actor->kind == SAMBA_ACTOR_READ;
  uint32_t first = buffer->actor_first + (read ? 0 : buffer->write_count);
  uint32_t count = read ? buffer->write_count : buffer->read_count;
  for (uint32_t i = 0; i < count; ++i)
    if (engine->actors[first + i].slots == (read ? buffer->written : buffer->released))
      return (SambaWaitFor){first + i,
                            read ? "for a slot to be filled by" : "for a slot to be released by"};
  return (SambaWaitFor){SAMBA_NO_INDEX, ""};
}

static SambaWaitFor waitsFor(const SambaEngine *engine, const SambaActor *actor) {
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaActorInput *input = &actor->inputs[i];
    bool issuing = actor->running || (actor->memory && actor->memory->issuing);
    for (uint32_t c = 0; issuing && c < input->cursor_count; ++c)
      if (engine->cursors[input->cursors[c]].waiting)
        return (SambaWaitFor){engine->streams[engine->cursors[input->cursors[c]].stream].producer,
                              "for the rest of a token from"};
    const SambaCursor *cursor = &engine->cursors[input->cursor];
    bool begins = input->is_awaited || (!issuing && input->phase == 0);
    if (begins && cursor->next == engine->streams[cursor->stream].pushed)
      return (SambaWaitFor){engine->streams[cursor->stream].producer, "for a token from"};
  }

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaActorOutput *output = &actor->outputs[o];
    for (uint32_t s = 0; s < output->stream_count; ++s) {
      const SambaStreamState *stream = &engine->streams[output->turns->streams[s]];
      if (sambaStreamRoom(engine, output->turns->streams[s]) <= 0 || stream->needs_acceptance ||
          (actor->memory && actor->wait == SAMBA_WAIT_OUTPUT)) {
        SambaWaitFor wait = waitsForConsumer(engine, output->turns->streams[s], stream->pushed - 1);
        if (wait.waiter != SAMBA_NO_INDEX)
          return wait;
      }
    }
  }

  if (actor->kind == SAMBA_ACTOR_READ || actor->kind == SAMBA_ACTOR_WRITE)
    return waitsForSlot(engine, actor);
  return (SambaWaitFor){SAMBA_NO_INDEX, ""};
}

static SambaWaitFor waitOf(const void *engine, uint32_t actor) {
  const SambaEngine *own = engine;
  return waitsFor(own, &own->actors[actor]);
}

static SambaWaiter describe(const void *engine, uint32_t index) {
  const SambaActor *actor = &((const SambaEngine *)engine)->actors[index];
  const char *port = "";
  if (actor->kind == SAMBA_ACTOR_READ)
    port = " read port";
  else if (actor->kind == SAMBA_ACTOR_WRITE)
    port = " write port";
  uint64_t done = sambaActorDone(actor);
  return (SambaWaiter){actor->unit, port, done, actor->firings, done == actor->firings};
}

static SambaWaitGraph graphOf(const SambaEngine *engine) {
  return (SambaWaitGraph){.section = engine->section,
                          .now = engine->now,
                          .unfinished = engine->unfinished,
                          .waiter_count = engine->actor_count,
                          .engine = engine,
                          .describe = describe,
                          .waits_for = waitOf};
}

void sambaEngineStandStill(SambaEngine *engine) {
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    if (engine->actors[a].kind == SAMBA_ACTOR_LOAD)
      engine->now = sambaTimeMax(engine->now, sambaLoadDataEnd(engine->actors[a].memory));
}

SambaStatus sambaEngineDeadlock(const SambaEngine *engine) {
  SambaWaitGraph graph = graphOf(engine);
  return sambaWaitsDeadlock(&graph);
}

SambaStatus sambaEngineTooManyCycles(const SambaEngine *engine, uint64_t limit) {
  SambaWaitGraph graph = graphOf(engine);
  return sambaWaitsTooManyCycles(&graph, limit);
}

SambaStatus sambaEngineInterrupted(const SambaEngine *engine) {
  SambaWaitGraph graph = graphOf(engine);
  return sambaWaitsInterrupted(&graph);
}
