/* The pace of units in loops of streams; see loops.h. */
#include "backend/sim/timing/build/loops.h"

#include "backend/section/fabric/stream_loops.h"
#include "backend/sim/timing/build/fifo_pace.h"

/* Ports that take from more streams than this are looked at in their first turns only. */
enum { mostPhases = 4 };

/* Does a unit use up a token in each firing, and evenly? Only then is its pace that of the
 * stream. phase: ports that take from several streams in turn take from this one. */
static bool takesEvenly(const SambaEngine *engine, uint32_t phase, const SambaCursor *cursor) {
  const SambaActor *actor = &engine->actors[cursor->actor];
  for (uint32_t i = 0; actor->kind == SAMBA_ACTOR_COMPUTE && i < actor->input_count; ++i) {
    const SambaActorInput *input = &actor->inputs[i];
    if (&engine->cursors[input->cursors[phase % input->cursor_count]] == cursor)
      return input->period == 1 &&
             cursor->rest * engine->streams[cursor->stream].vectors <= actor->work;
  }
  return false;
}

static bool makesEvenly(const SambaActor *actor, const SambaActorOutput *output,
                        const SambaStreamState *stream) {
  return actor->kind == SAMBA_ACTOR_COMPUTE && output->period == 1 && output->stream_count == 1 &&
         output->first_numerator * stream->vectors <= output->first_denominator;
}

/* Whether the unit of a stream makes its tokens evenly. */
static bool isTied(const SambaEngine *engine, uint32_t index) {
  const SambaStreamState *stream = &engine->streams[index];
  const SambaActor *actor = &engine->actors[stream->producer];
  bool tied = false;
  for (uint32_t o = 0; o < actor->output_count && !tied; ++o)
    tied = actor->outputs[o].stream_count && actor->outputs[o].turns->streams[0] == index &&
           makesEvenly(actor, &actor->outputs[o], stream);
  return tied;
}

/* takers: room for those of all streams. */
static void describeStreams(const SambaEngine *engine, uint32_t phase, SambaLoopStream *streams,
                            SambaLoopTaker *takers) {
  /* What short FIFOs add at the destination itself is in the work of its firings. */
  bool are_short = sambaFifosAreShort(engine->machine);
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    const SambaStream *record = &engine->section->streams[s];
    const SambaStreamState *stream = &engine->streams[s];
    streams[s] = (SambaLoopStream){stream->vectors, isTied(engine, s),
                                   engine->actors[stream->producer].latency, takers};
    for (uint32_t d = 0; d < record->destination_count; ++d) {
      const SambaCursor *cursor = &engine->cursors[stream->cursor_first + d];
      *takers++ = (SambaLoopTaker){record->kind != SAMBA_STREAM_CONTROL &&
                                       takesEvenly(engine, phase, cursor),
                                   are_short ? 0 : (uint64_t)cursor->rest, cursor->latency};
    }
  }
}

static uint64_t naturalPace(const SambaEngine *engine, const SambaActor *actor) {
  uint64_t cycles = actor->work;
  for (uint32_t i = 0; i < actor->input_count; ++i)
    if (actor->inputs[i].period == 1)
      cycles = sambaTimeMax(
          cycles, engine->streams[engine->cursors[actor->inputs[i].cursors[0]].stream].cycles);
  return cycles;
}

/* Units are in different phases at a time, so the slowest one counts. */
static void setPace(SambaActor *actor, const SambaLoop *loop, uint64_t natural) {
  uint64_t pace = (uint64_t)(loop->cycles / loop->tokens);
  if (pace <= actor->loop_cycles)
    return;
  double slack = loop->cycles - loop->tokens * (double)natural;
  actor->loop_cycles = pace;
  actor->has_loop = true;
  actor->loop_slack = slack > 0 ? (uint64_t)slack : 0;
}

void sambaLoopsBuild(SambaEngine *engine, const SambaRoutes *routes) {
  const SambaSection *section = engine->section;
  SambaArena scratch = {0};
  size_t destinations = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    destinations += section->streams[s].destination_count;
  SambaLoopStream *streams = SAMBA_ARENA_ARRAY(&scratch, SambaLoopStream, section->stream_count);
  SambaLoopTaker *takers = SAMBA_ARENA_ARRAY(&scratch, SambaLoopTaker, destinations);
  SambaLoop *loops = SAMBA_ARENA_ARRAY(&scratch, SambaLoop, section->unit_count);
  uint64_t *paces = SAMBA_ARENA_ARRAY(&scratch, uint64_t, section->unit_count);

  uint32_t phases = 1;
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    const SambaActor *actor = &engine->actors[a];
    if (actor->kind != SAMBA_ACTOR_COMPUTE)
      continue;
    paces[actor->unit] = naturalPace(engine, actor);
    for (uint32_t i = 0; i < actor->input_count; ++i)
      phases = actor->inputs[i].cursor_count > phases ? actor->inputs[i].cursor_count : phases;
  }

  for (uint32_t phase = 0; phase < phases && phase < mostPhases; ++phase) {
    describeStreams(engine, phase, streams, takers);
    sambaStreamLoopsFind(section, engine->machine, routes, streams, paces, loops);
    for (uint32_t u = 0; u < section->unit_count; ++u)
      if (loops[u].tokens > 0)
        setPace(&engine->actors[engine->unit_actors[u]], &loops[u], paces[u]);
  }
  sambaArenaDestroy(&scratch);
}
