/* Tokens of which a part is known; see partial_tokens.h. */
#include "backend/sim/timing/engine/partial_tokens.h"

#include "backend/sim/timing/engine/agenda.h"

#include <stdlib.h>

static SambaSegment *segmentAt(const SambaStreamState *stream, uint64_t token) {
  return &stream->ring[token & stream->ring_mask];
}

/* Does a unit make a vector of its result of each vector of these inputs? */
static bool passesOn(const SambaEngine *engine, const SambaActor *actor) {
  const SambaCompute *compute = &engine->section->units[actor->unit].compute;
  if (actor->kind != SAMBA_ACTOR_COMPUTE || compute->program.systolic ||
      compute->program.reduce_mask)
    return false;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].period != 1)
      return false;
  return actor->output_count == 1 && actor->outputs[0].period == 1 &&
         actor->outputs[0].stream_count > 0;
}

/* Is this one of the inputs of which each vector makes a vector of the result? */
static bool isMain(const SambaEngine *engine, const SambaActor *actor,
                   const SambaActorInput *input) {
  const SambaStreamState *in = &engine->streams[engine->cursors[input->cursors[0]].stream];
  return in->vectors == engine->streams[actor->outputs[0].streams[0]].vectors;
}

static bool leadsToStore(const SambaEngine *engine, const SambaStreamState *stream) {
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaActor *actor = &engine->actors[engine->cursors[stream->cursor_first + c].actor];
    if (actor->kind == SAMBA_ACTOR_STORE && !actor->memory->walk.access->has_index)
      return true;
    if (actor->passes_on && engine->streams[actor->outputs[0].streams[0]].leads_to_store)
      return true;
  }
  return false;
}

static bool comesFromLoad(const SambaEngine *engine, const SambaStreamState *stream) {
  const SambaActor *actor = &engine->actors[stream->producer];
  if (actor->kind == SAMBA_ACTOR_LOAD)
    return true;
  for (uint32_t i = 0; actor->passes_on && i < actor->input_count; ++i)
    if (isMain(engine, actor, &actor->inputs[i]) &&
        engine->streams[engine->cursors[actor->inputs[i].cursors[0]].stream].comes_from_load)
      return true;
  return false;
}

void sambaPartialTokensBuild(SambaEngine *engine) {
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    engine->actors[a].passes_on = passesOn(engine, &engine->actors[a]);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
      SambaStreamState *stream = &engine->streams[s];
      if (engine->section->streams[s].kind == SAMBA_STREAM_CONTROL)
        continue;
      bool to = leadsToStore(engine, stream), from = comesFromLoad(engine, stream);
      changed |= to != stream->leads_to_store || from != stream->comes_from_load;
      stream->leads_to_store = to;
      stream->comes_from_load = from;
    }
  }
  for (uint32_t s = 0; s < engine->section->stream_count; ++s)
    engine->streams[s].tells =
        engine->streams[s].leads_to_store && engine->streams[s].comes_from_load;
}

/* A STORE that works on the token. */
static void tellStore(SambaEngine *engine, const SambaCursor *cursor, const SambaSegment *segment) {
  SambaMemoryState *memory = engine->actors[cursor->actor].memory;
  memory->before = memory->known;
  memory->known = (SambaTokenPart){segment->known.vectors, segment->known.at + cursor->latency - 1};
  sambaEngineQueue(engine, cursor->actor);
}

void sambaPartialTokenTell(SambaEngine *engine, uint32_t stream_index, uint64_t vectors,
                           uint64_t at) {
  SambaStreamState *stream = &engine->streams[stream_index];
  uint64_t token = stream->pushed - 1;
  SambaSegment *segment = segmentAt(stream, token);
  if (vectors <= segment->known.vectors)
    return;
  segment->known = (SambaTokenPart){vectors, at};
  for (uint32_t c = 0; c < stream->cursor_count; ++c) {
    const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
    if (!cursor->waiting || cursor->next != token + 1)
      continue;
    if (engine->actors[cursor->actor].kind == SAMBA_ACTOR_STORE)
      tellStore(engine, cursor, segment);
    else
      sambaPartialTokenPass(engine, cursor->actor);
  }
}

void sambaPartialTokenPass(SambaEngine *engine, uint32_t actor_index) {
  const SambaActor *actor = &engine->actors[actor_index];
  if (!actor->passes_on)
    return;
  const SambaActorOutput *output = &actor->outputs[0];
  if (output->token != SAMBA_TOKEN_OPEN || !engine->streams[output->open_stream].tells)
    return;

  SambaTokenPart part = {UINT64_MAX, 0};
  for (uint32_t i = 0; i < actor->input_count; ++i) {
    const SambaCursor *cursor = &engine->cursors[actor->inputs[i].taken];
    const SambaStreamState *stream = &engine->streams[cursor->stream];
    if (!cursor->waiting || !isMain(engine, actor, &actor->inputs[i]))
      continue;
    const SambaSegment *segment = segmentAt(stream, cursor->next - 1);
    if (segment->known.vectors < part.vectors)
      part = (SambaTokenPart){segment->known.vectors, segment->known.at + cursor->latency};
  }
  if (part.vectors != UINT64_MAX && part.vectors)
    sambaPartialTokenTell(engine, output->open_stream, part.vectors, part.at + actor->latency);
}
