/* The pace of units in loops of streams; see loops.h. */
#include "backend/sim/timing/build/loops.h"

#include "backend/section/fabric/stream_loops.h"

/* Whether a unit uses up a token of the input in each firing, and evenly: only then is its pace
 * that of the stream. */
static bool takesEvenly(const SambaEngine *engine, const SambaActorInput *input,
                        const SambaCursor *cursor) {
  return input->period == 1 && cursor->rest * engine->streams[cursor->stream].vectors <=
                                   engine->actors[cursor->actor].work;
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

static void describeTakers(const SambaEngine *engine, const SambaActor *actor,
                           const SambaLoopGrid *grid) {
  for (uint32_t i = 0; i < actor->input_count; ++i)
    for (uint32_t c = 0; c < actor->inputs[i].cursor_count; ++c) {
      uint32_t index = actor->inputs[i].cursors[c];
      const SambaCursor *cursor = &engine->cursors[index];
      bool control = engine->section->streams[cursor->stream].kind == SAMBA_STREAM_CONTROL;
      uint32_t destination = index - engine->streams[cursor->stream].cursor_first;
      grid->streams[cursor->stream].takers[destination] =
          (SambaLoopTaker){.evenly = !control && takesEvenly(engine, &actor->inputs[i], cursor),
                           .streams = actor->inputs[i].cursor_count,
                           .place = c,
                           .rest = (uint64_t)cursor->rest,
                           .latency = cursor->latency};
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
  SambaLoopGrid grid = sambaLoopGridMake(section);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStreamState *stream = &engine->streams[s];
    grid.streams[s].vectors = stream->vectors;
    grid.streams[s].tied = isTied(engine, s);
    grid.streams[s].latency = engine->actors[stream->producer].latency;
  }
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    const SambaActor *actor = &engine->actors[a];
    if (actor->kind != SAMBA_ACTOR_COMPUTE)
      continue;
    describeTakers(engine, actor, &grid);
    grid.paces[actor->unit] = naturalPace(engine, actor);
  }

  const SambaLoop *loops =
      sambaStreamLoopsFind(section, engine->machine, routes, &grid, &grid.scratch);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (loops[u].tokens > 0)
      setPace(&engine->actors[engine->unit_actors[u]], &loops[u], grid.paces[u]);
  sambaLoopGridDestroy(&grid);
}
