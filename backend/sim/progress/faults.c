/* Who waits for whom when nothing can go on; see progress.h. */
#include "backend/sim/progress/progress.h"

#include "backend/section/access.h"
#include "backend/sim/call/waits.h"
#include "backend/sim/progress/state.h"

static const SambaWaitFor nothing = {SAMBA_NO_INDEX, ""};

/* What keeps the next vector from an input: its source, or, when that has sent it and does not wait
 * for room itself, a destination of the same stream. */
static SambaWaitFor waitsForInput(const SambaProgress *progress, const SambaProgressInput *input) {
  const SambaFlows *flows = &progress->flows;
  const SambaPortTurn *turn = &input->turn;
  if (!turn->count)
    return nothing;
  uint32_t end = input->ends[turn->current];
  uint32_t node = sambaFlowHeldUpAt(flows, end);
  const SambaFlow *flow = &flows->flows[flows->ends[end].stream];
  bool source_waits = flow->sent == sambaFlowLimit(flows, flows->ends[end].stream) &&
                      !sambaProgressActorIsDone(progress, flow->source);
  if (node != SAMBA_NO_INDEX && !source_waits)
    return (SambaWaitFor){flows->ends[sambaFlowSlowest(flows, node)].actor,
                          "for a token that is held up by"};
  return (SambaWaitFor){flow->source, turn->passed % turn->vectors ? "for the rest of a token from"
                                                                   : "for a token from"};
}

/* Who holds up the stream that an output's next vector takes. */
static SambaWaitFor waitsForTaker(const SambaProgress *progress,
                                  const SambaProgressOutput *output) {
  const SambaFlows *flows = &progress->flows;
  if (!output->turn.count || output->made == output->turn.passed)
    return nothing;
  const SambaFlow *flow = &flows->flows[output->streams[output->turn.current]];
  return (SambaWaitFor){flows->ends[sambaFlowSlowest(flows, flow->root)].actor,
                        "for room on the stream to"};
}

static SambaWaitFor lanesWaitFor(const SambaProgress *progress, const SambaProgressUnit *state) {
  const SambaLanes *body = &state->lanes;
  bool at_work = body->steps < body->firings * body->firing_steps;
  bool free = true;
  for (uint32_t p = 0; p < body->unit->output_count; ++p)
    free &= sambaLanesFree(body, &progress->flows, p) > body->steps;
  for (uint32_t p = 0; p < body->unit->input_count && at_work && free; ++p)
    if (sambaLanesFed(body, &progress->flows, p) <= body->steps)
      return waitsForInput(progress, &state->inputs[p]);
  for (uint32_t p = 0; p < body->unit->output_count; ++p) {
    SambaWaitFor wait = nothing;
    if (!at_work || sambaLanesFree(body, &progress->flows, p) <= body->steps)
      wait = waitsForTaker(progress, &state->outputs[p]);
    if (wait.waiter != SAMBA_NO_INDEX)
      return wait;
  }
  return nothing;
}

static SambaWaitFor arrayWaitsFor(const SambaProgress *progress, const SambaProgressUnit *state) {
  uint32_t missing = sambaArrayMissing(&state->array, &progress->flows);
  if (missing != SAMBA_NO_INDEX)
    return waitsForInput(progress, &state->inputs[missing]);
  SambaWaitFor wait = nothing;
  for (uint32_t p = 0; p < state->array.unit->output_count && wait.waiter == SAMBA_NO_INDEX; ++p)
    wait = waitsForTaker(progress, &state->outputs[p]);
  return wait;
}

static SambaWaitFor slotsWaitFor(const SambaProgress *progress, const SambaProgressUnit *state,
                                 uint32_t place) {
  const SambaUnit *unit = state->slots.unit;
  bool reads = place >= unit->input_count;
  bool all = reads && sambaSlotsTokens(&state->slots, place) ==
                          state->slots.reads[place - unit->input_count].tokens;
  uint32_t other = all ? SAMBA_NO_INDEX : sambaSlotsWaitFor(&state->slots, place);
  if (other != SAMBA_NO_INDEX)
    return (SambaWaitFor){state->actor_first + other,
                          reads ? "for a slot to be filled by" : "for a slot to be released by"};
  if (reads)
    return waitsForTaker(progress, &state->slots.reads[place - unit->input_count].output);
  return waitsForInput(progress, &state->slots.writes[place].input);
}

static SambaWaitFor generatorWaitsFor(const SambaProgress *progress,
                                      const SambaProgressGenerator *generator) {
  SambaWaitFor wait = nothing;
  if (generator->is_load)
    wait = waitsForTaker(progress, &generator->outputs[0]);
  uint32_t missing = sambaProgressGeneratorMissing(generator, &progress->flows);
  if (wait.waiter == SAMBA_NO_INDEX && missing != SAMBA_NO_INDEX)
    wait = waitsForInput(progress, &generator->inputs[missing]);
  return wait;
}

static SambaWaitFor waitsFor(const void *engine, uint32_t actor) {
  const SambaProgress *progress = engine;
  uint32_t index = progress->actor_units[actor];
  const SambaUnit *unit = &progress->section->units[index];
  const SambaProgressUnit *state = &progress->units[index];
  if (sambaProgressIsArray(unit))
    return arrayWaitsFor(progress, state);
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return lanesWaitFor(progress, state);
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return slotsWaitFor(progress, state, actor - state->actor_first);
  return generatorWaitsFor(progress, &state->generator);
}

static SambaWaiter describe(const void *engine, uint32_t actor) {
  const SambaProgress *progress = engine;
  uint32_t index = progress->actor_units[actor];
  const SambaUnit *unit = &progress->section->units[index];
  const SambaProgressUnit *state = &progress->units[index];
  uint32_t place = actor - state->actor_first;
  SambaWaiter waiter = {.unit = index,
                        .port = "",
                        .done = sambaProgressFirings(progress, index, place),
                        .finished = sambaProgressActorIsDone(progress, actor)};
  if (sambaProgressIsArray(unit)) {
    waiter.firings = state->array.firings;
  } else if (unit->kind == SAMBA_UNIT_COMPUTE) {
    waiter.firings = state->lanes.firings;
  } else if (unit->kind == SAMBA_UNIT_BUFFER) {
    bool reads = place >= unit->input_count;
    waiter.port = reads ? " read port" : " write port";
    waiter.firings = reads ? state->slots.reads[place - unit->input_count].tokens
                           : state->slots.writes[place].tokens;
  } else {
    waiter.firings = state->generator.firings;
  }
  return waiter;
}

SambaStatus sambaProgressExplain(const SambaProgress *progress, const uint64_t *at_cycle) {
  if (sambaProgressEnds(progress))
    return NULL;
  SambaWaitGraph graph = {.section = progress->section,
                          .now = at_cycle ? *at_cycle : 0,
                          .untimed = !at_cycle,
                          .waiter_count = progress->actor_count,
                          .engine = progress,
                          .describe = describe,
                          .waits_for = waitsFor};
  for (uint32_t a = 0; a < progress->actor_count; ++a)
    graph.unfinished += !sambaProgressActorIsDone(progress, a);
  return sambaWaitsDeadlock(&graph);
}
