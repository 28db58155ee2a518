/* The timing engine's entry; see timing.h. */
#include "backend/sim/timing/timing.h"

#include "backend/sim/progress/progress.h"
#include "backend/sim/timing/build/build_engine.h"
#include "backend/sim/timing/build/links.h"
#include "backend/sim/timing/engine/event_loop.h"
#include "backend/sim/timing/engine/faults.h"

#include <stdlib.h>

static void destroy(SambaEngine *engine) {
  for (uint32_t s = 0; engine->streams && s < engine->section->stream_count; ++s)
    free(engine->streams[s].left_at);
  for (uint32_t a = 0; a < engine->actor_count; ++a)
    if (engine->actors[a].memory)
      free(engine->actors[a].memory->tokens);
  sambaDramFree(&engine->dram);
  sambaEventsFree(&engine->events);
  sambaArrayFree(&engine->merged);
  sambaArrayFree(&engine->steps);
  sambaArenaDestroy(&engine->arena);
}

/* What units have made of tokens that have ended, and have taken. */
static void collectBytes(const SambaEngine *engine, SambaUnitActivity *units) {
  for (uint32_t s = 0; s < engine->section->stream_count; ++s) {
    const SambaStreamState *stream = &engine->streams[s];
    uint64_t ended = stream->pushed;
    if (ended && !stream->ring[(ended - 1) & stream->ring_mask].last_known)
      --ended;
    units[engine->actors[stream->producer].unit].bytes_out += ended * stream->bytes;
    for (uint32_t c = 0; c < stream->cursor_count; ++c) {
      const SambaCursor *cursor = &engine->cursors[stream->cursor_first + c];
      units[engine->actors[cursor->actor].unit].bytes_in += cursor->next * stream->bytes;
    }
  }
}

/* A unit's activity is its busiest actor's: a buffer works on all of its ports at once. */
static void collectActivity(const SambaEngine *engine, SambaTimingResult *result) {
  uint64_t *best = sambaAllocateZeroed(engine->section->unit_count, 3 * sizeof *best);
  uint64_t *sides = best + engine->section->unit_count;
  result->units = sambaAllocateZeroed(engine->section->unit_count, sizeof *result->units);
  collectBytes(engine, result->units);
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    const SambaActor *actor = &engine->actors[a];
    SambaUnitActivity *unit = &result->units[actor->unit];
    uint64_t done = sambaActorDone(actor);
    unit->firings += done;
    result->flops += done * actor->flops;
    result->multiply_adds += done * actor->multiply_adds;
    if (actor->wrap_flops)
      result->flops += done / actor->wrap_period * actor->wrap_flops;
    uint64_t *side = &sides[2 * (size_t)actor->unit + (actor->kind == SAMBA_ACTOR_WRITE)];
    *side += actor->busy;
    unit->side_busy = *side > unit->side_busy ? *side : unit->side_busy;
    if (actor->busy < best[actor->unit])
      continue;
    best[actor->unit] = actor->busy;
    unit->busy = actor->busy;
    unit->wait_input = actor->waits[SAMBA_WAIT_INPUT];
    unit->wait_output = actor->waits[SAMBA_WAIT_OUTPUT];
    unit->wait_memory = actor->waits[SAMBA_WAIT_MEMORY];
  }

  free(best);
}

/* What the section is known to do is a bound for what this engine, which sees whole tokens, takes
 * it to do. */
static void limitFirings(SambaEngine *engine, const SambaProgress *progress) {
  const SambaSection *section = engine->section;
  for (uint32_t a = 0; a < engine->actor_count; ++a) {
    SambaActor *actor = &engine->actors[a];
    uint32_t port = a - engine->unit_actors[actor->unit];
    actor->limit = sambaTimeMin(actor->firings, sambaProgressFirings(progress, actor->unit, port));
    if (sambaUnitIsAddressGenerator(&section->units[actor->unit]))
      actor->limit = actor->firings;
  }
}

/* Times a section; `progress` is NULL when it is known to end. */
static SambaStatus run(SambaEngine *engine, const SambaProgress *progress) {
  bool stopped = progress && sambaProgressWasStopped(progress);
  engine->ends = !stopped && (!progress || sambaProgressEnds(progress));
  if (!engine->ends && !stopped)
    limitFirings(engine, progress);
  SAMBA_RETURN_IF_ERROR(sambaEngineRun(engine));
  if (engine->unfinished)
    sambaEngineStandStill(engine);
  if (!engine->ends && !stopped)
    return sambaProgressExplain(progress, &engine->now);
  return engine->unfinished ? sambaEngineDeadlock(engine) : NULL;
}

SambaStatus sambaTimingExecute(const SambaMachine *machine, const SambaSection *section,
                               const SambaBinding *bindings, const SambaIndexTraces *index_traces,
                               const SambaTimingOptions *options, SambaTimingResult *out_result) {
  SambaEngine engine = {.machine = machine, .section = section, .bindings = bindings};
  if (options) {
    engine.max_cycles = options->max_cycles;
    engine.stop = options->stop;
    engine.on_firing = options->on_firing;
    engine.user = options->user;
  }
  *out_result = (SambaTimingResult){0};
  SambaStatus status = sambaEngineBuild(&engine, index_traces);

  if (!status) {
    SambaProgress *progress = NULL;
    if (!options || !options->known_to_end)
      progress = sambaProgressRun(machine, section, engine.max_cycles, engine.stop);
    status = run(&engine, progress);
    sambaProgressFree(progress);
    out_result->cycles = status ? engine.now : engine.finish;
    out_result->dram_read_bytes = engine.dram.read_bytes;
    out_result->dram_write_bytes = engine.dram.write_bytes;
    out_result->host_read_bytes = engine.dram.host_read_bytes;
    out_result->host_write_bytes = engine.dram.host_write_bytes;
    out_result->row_hits = engine.dram.row_hits;
    out_result->row_misses = engine.dram.row_misses;
    out_result->events = engine.event_count;
    out_result->link_busy_max = sambaLinksBusyMaximum(&engine);
    collectActivity(&engine, out_result);
  }

  destroy(&engine);
  return status;
}
