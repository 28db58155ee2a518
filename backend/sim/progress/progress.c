/* Units that go on as far as they can; see progress.h. */
#include "backend/sim/progress/progress.h"

#include "backend/section/access.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"
#include "backend/sim/call/stop.h"
#include "backend/sim/progress/fold.h"
#include "backend/sim/progress/round.h"
#include "backend/sim/progress/state.h"

#include <stdlib.h>

enum { stepsBetweenLooks = 1024 };

/* Vectors of an output that a PCU's pipeline holds: one for every cycle of its latency, and what
 * one step makes, which is several vectors when the stream is narrower than the unit. */
static uint64_t pipelinePlaces(const SambaProgress *progress, const SambaUnit *unit,
                               const SambaProgressProgram *program, const SambaPort *port) {
  uint64_t bytes = program->lanes * sambaDTypeBytes(port->dtype);
  uint64_t width = sambaPortVectorBytes(progress->section, unit, port, progress->machine);
  uint64_t more = bytes > width ? (bytes - 1) / width : 0;
  uint64_t fewest = program->lanes * 8 / (uint64_t)progress->machine->vector_bytes + 1;
  uint64_t places = program->stages + 2 * more;
  return places > fewest ? places : fewest;
}

static void buildCompute(SambaProgress *progress, uint32_t index) {
  const SambaUnit *unit = &progress->section->units[index];
  SambaProgressUnit *state = &progress->units[index];
  SambaArena *arena = &progress->arena;
  sambaProgressProgramBuild(&state->program, arena, progress->machine, unit);

  state->inputs = SAMBA_ARENA_ARRAY(arena, SambaProgressInput, unit->input_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    sambaProgressInputBuild(&state->inputs[p], arena, &progress->flows, progress->machine,
                            progress->section, (SambaEndpoint){index, p});
  state->outputs = SAMBA_ARENA_ARRAY(arena, SambaProgressOutput, unit->output_count);
  for (uint32_t p = 0; p < unit->output_count; ++p)
    sambaProgressOutputBuild(&state->outputs[p], progress->machine, progress->section,
                             (SambaEndpoint){index, p},
                             pipelinePlaces(progress, unit, &state->program, &unit->outputs[p]));

  if (sambaProgressIsArray(unit))
    sambaArrayBuild(&state->array, arena, progress->machine, unit, &state->program, state->inputs,
                    state->outputs);
  else
    sambaLanesBuild(&state->lanes, arena, unit, &state->program, state->inputs, state->outputs);
}

static void buildUnit(SambaProgress *progress, uint32_t index) {
  SambaProgressUnit *state = &progress->units[index];
  switch (progress->section->units[index].kind) {
  case SAMBA_UNIT_COMPUTE:
    buildCompute(progress, index);
    break;
  case SAMBA_UNIT_BUFFER:
    state->slots.actor_first = state->actor_first;
    sambaSlotsBuild(&state->slots, &progress->arena, &progress->flows, progress->machine,
                    progress->section, index);
    break;
  default:
    sambaProgressGeneratorBuild(&state->generator, &progress->arena, &progress->flows,
                                progress->machine, progress->section, index);
    break;
  }
}

/* Actors of sources and destinations; a buffer's ports are actors of their own. */
static void joinActors(SambaProgress *progress) {
  const SambaSection *section = progress->section;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *source = &section->units[stream->source.unit];
    SambaFlow *flow = &progress->flows.flows[s];
    flow->source = progress->units[stream->source.unit].actor_first;
    if (source->kind == SAMBA_UNIT_BUFFER)
      flow->source += source->input_count + stream->source.port;
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      SambaEndpoint to = stream->destinations[d];
      bool buffer = section->units[to.unit].kind == SAMBA_UNIT_BUFFER;
      progress->flows.ends[flow->end_first + d].actor =
          progress->units[to.unit].actor_first + (buffer ? to.port : 0);
    }
  }
}

static void build(SambaProgress *progress) {
  const SambaSection *section = progress->section;
  progress->units = SAMBA_ARENA_ARRAY(&progress->arena, SambaProgressUnit, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    progress->units[u].actor_first = progress->actor_count;
    progress->actor_count += sambaProgressActorsOf(&section->units[u]);
  }
  progress->actor_units = SAMBA_ARENA_ARRAY(&progress->arena, uint32_t, progress->actor_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t a = 0; a < sambaProgressActorsOf(&section->units[u]); ++a)
      progress->actor_units[progress->units[u].actor_first + a] = u;

  sambaAgendaInit(&progress->agenda, &progress->arena, progress->actor_count);
  sambaFlowsBuild(&progress->flows, &progress->arena, progress->machine, section,
                  &progress->agenda);
  joinActors(progress);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    buildUnit(progress, u);
}

static void advance(SambaProgress *progress, uint32_t actor) {
  uint32_t index = progress->actor_units[actor];
  const SambaUnit *unit = &progress->section->units[index];
  SambaProgressUnit *state = &progress->units[index];
  if (sambaProgressIsArray(unit))
    sambaArrayAdvance(&state->array, &progress->flows);
  else if (unit->kind == SAMBA_UNIT_COMPUTE)
    sambaLanesAdvance(&state->lanes, &progress->flows);
  else if (unit->kind == SAMBA_UNIT_BUFFER)
    sambaSlotsAdvance(&state->slots, &progress->flows, actor - state->actor_first);
  else
    sambaProgressGeneratorAdvance(&state->generator, &progress->flows);
}

static SambaProgress *runSection(const SambaMachine *machine, const SambaSection *section,
                                 const volatile sig_atomic_t *stop) {
  SambaProgress *progress = sambaAllocateZeroed(1, sizeof *progress);
  progress->machine = machine;
  progress->section = section;
  build(progress);
  for (uint32_t a = 0; a < progress->actor_count; ++a)
    sambaAgendaAdd(&progress->agenda, a, true);

  uint32_t actor;
  for (uint64_t steps = 0; sambaAgendaNext(&progress->agenda, &actor); ++steps) {
    advance(progress, actor);
    if (steps % stepsBetweenLooks == 0 && sambaIsStopped(stop)) {
      progress->stopped = true;
      break;
    }
  }
  progress->ends = !progress->stopped;
  for (uint32_t a = 0; a < progress->actor_count && progress->ends; ++a)
    progress->ends = sambaProgressActorIsDone(progress, a);
  return progress;
}

/* A link passes a vector per cycle. */
static bool isLongerThan(const SambaMachine *machine, const SambaSection *section,
                         uint64_t max_cycles) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      const SambaPort *port = &section->units[u].outputs[p];
      double bytes = (double)port->token_elements * sambaDTypeBytes(port->dtype);
      double streams = port->stream_count ? port->stream_count : 1;
      double tokens = (double)sambaPortTokens(&section->units[u], true, p) / streams;
      if (tokens * bytes / (double)machine->vector_bytes > (double)max_cycles)
        return true;
    }
  return false;
}

SambaProgress *sambaProgressRun(const SambaMachine *machine, const SambaSection *section,
                                uint64_t max_cycles, const volatile sig_atomic_t *stop) {
  SambaArena arena = {0};
  SambaSection first, folded;
  SambaProgress *progress = NULL;
  if (max_cycles && isLongerThan(machine, section, max_cycles)) {
    progress = sambaAllocateZeroed(1, sizeof *progress);
    progress->stopped = true;
    return progress;
  }
  bool repeats = sambaProgressFirstRound(section, &arena, &first);
  const SambaSection *short_one = repeats ? &first : section;
  if (sambaProgressFold(short_one, &arena, &folded))
    progress = runSection(machine, &folded, stop);
  else if (repeats)
    progress = runSection(machine, &first, stop);
  if (!progress || (!progress->ends && !progress->stopped)) {
    sambaProgressFree(progress);
    progress = runSection(machine, section, stop);
  }
  sambaArenaDestroy(&arena);
  return progress;
}

void sambaProgressFree(SambaProgress *progress) {
  if (!progress)
    return;
  sambaArenaDestroy(&progress->arena);
  free(progress);
}

bool sambaProgressWasStopped(const SambaProgress *progress) { return progress->stopped; }

bool sambaProgressEnds(const SambaProgress *progress) { return progress->ends; }

uint64_t sambaProgressFirings(const SambaProgress *progress, uint32_t index, uint32_t port) {
  const SambaUnit *unit = &progress->section->units[index];
  const SambaProgressUnit *state = &progress->units[index];
  if (sambaProgressIsArray(unit))
    return state->array.steps / state->array.pass_steps;
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return state->lanes.steps / state->lanes.firing_steps;
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return sambaSlotsTokens(&state->slots, port);
  return sambaProgressGeneratorFirings(&state->generator);
}
