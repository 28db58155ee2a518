/* SIMD bodies; see lanes.h. */
#include "backend/sim/progress/lanes.h"

#include "backend/section/access.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t tripsOf(const SambaUnit *unit, uint32_t from) {
  return sambaTripProduct(unit->compute.trips, from, unit->compute.token_level);
}

static void buildCounters(SambaLanes *body, SambaArena *arena) {
  const SambaUnit *unit = body->unit;
  uint32_t first = unit->compute.token_level, end = unit->compute.counter_count;
  body->row = body->row_steps = body->firing_steps = 1;
  if (first == end)
    return;

  body->row = unit->compute.trips[end - 1];
  body->row_steps = (body->row + body->lanes - 1) / body->lanes;
  body->row_reduced = sambaProgressIsReduced(unit, end - 1);
  body->firing_steps = body->row_steps;
  body->counters = SAMBA_ARENA_ARRAY(arena, SambaLaneCounter, end - 1 - first);
  for (uint32_t c = end - 1; c-- > first;) {
    if (unit->compute.trips[c] == 1)
      continue;
    ++body->counter_count;
    body->firing_steps *= unit->compute.trips[c];
  }

  uint64_t steps = body->firing_steps;
  for (uint32_t c = first, k = 0; c < end - 1; ++c) {
    if (unit->compute.trips[c] == 1)
      continue;
    steps /= unit->compute.trips[c];
    body->counters[k++] =
        (SambaLaneCounter){unit->compute.trips[c], steps, sambaProgressIsReduced(unit, c)};
  }
}

/* An input: what it has no stride on is used again, or is one element for all. */
static void walkInput(SambaLanes *body, SambaArena *arena, const SambaPort *port,
                      SambaLaneWalk *walk) {
  const SambaUnit *unit = body->unit;
  uint32_t end = unit->compute.counter_count;
  uint64_t inside = 1;
  walk->strides = SAMBA_ARENA_ARRAY(arena, uint64_t, body->counter_count);
  walk->inside = SAMBA_ARENA_ARRAY(arena, uint64_t, body->counter_count);
  if (end == unit->compute.token_level)
    return;
  walk->row = port->compute.strides[end - 1] > 0 && body->row > 1;
  inside = walk->row ? body->row : 1;

  uint32_t k = body->counter_count;
  for (uint32_t c = end - 1; c-- > unit->compute.token_level;) {
    if (unit->compute.trips[c] == 1)
      continue;
    walk->inside[--k] = inside;
    walk->strides[k] = port->compute.strides[c] > 0 ? inside : 0;
    if (walk->strides[k])
      inside *= unit->compute.trips[c];
  }
}

/* An output: its elements come in the order of the counters that are not reduced. */
static void walkOutput(SambaLanes *body, SambaArena *arena, SambaLaneWalk *walk) {
  walk->strides = SAMBA_ARENA_ARRAY(arena, uint64_t, body->counter_count);
  walk->inside = SAMBA_ARENA_ARRAY(arena, uint64_t, body->counter_count);
  bool all = !walk->wraps;
  walk->row = all || !body->row_reduced;
  uint64_t inside = walk->row ? body->row : 1;
  for (uint32_t k = body->counter_count; k-- > 0;) {
    bool counts = all || !body->counters[k].reduced;
    walk->inside[k] = inside;
    walk->strides[k] = counts ? inside : 0;
    if (counts)
      inside *= body->counters[k].trips;
  }
}

void sambaLanesBuild(SambaLanes *body, SambaArena *arena, const SambaUnit *unit,
                     const SambaProgressProgram *program, SambaProgressInput *inputs,
                     SambaProgressOutput *outputs) {
  *body = (SambaLanes){.unit = unit,
                       .lanes = program->lanes,
                       .firings = tripsOf(unit, 0),
                       .inputs = inputs,
                       .outputs = outputs};
  buildCounters(body, arena);
  body->input_walks = SAMBA_ARENA_ARRAY(arena, SambaLaneWalk, unit->input_count);
  body->output_walks = SAMBA_ARENA_ARRAY(arena, SambaLaneWalk, unit->output_count);

  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaLaneWalk *walk = &body->input_walks[p];
    walk->wraps = program->late[p];
    walk->period = tripsOf(unit, unit->inputs[p].compute.level);
    if (walk->wraps)
      walk->firing = least(program->outer_reduced, walk->period) - 1;
    walkInput(body, arena, &unit->inputs[p], walk);
  }
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    SambaLaneWalk *walk = &body->output_walks[p];
    walk->wraps = program->reduced[p];
    walk->period = walk->wraps ? program->outer_reduced : 1;
    walk->firing = walk->period - 1;
    walkOutput(body, arena, walk);
  }
}

/* Elements of a token that the first `steps` steps of a firing walk. */
static uint64_t elementsAfter(const SambaLanes *body, const SambaLaneWalk *walk, bool input,
                              uint64_t steps) {
  uint64_t elements = 0, step = steps - 1;
  for (uint32_t k = 0; k < body->counter_count; ++k) {
    const SambaLaneCounter *counter = &body->counters[k];
    uint64_t at = step / counter->steps;
    step %= counter->steps;
    if (walk->wraps && counter->reduced) {
      if (at + 1 < counter->trips)
        return elements;
    } else if (walk->strides[k]) {
      elements += at * walk->strides[k];
    } else if (input && at) {
      return elements + walk->inside[k]; /* it has been there before */
    }
  }
  if (walk->wraps && body->row_reduced)
    return elements + (step + 1 == body->row_steps);
  return elements + (walk->row ? least((step + 1) * body->lanes, body->row) : 1);
}

/* The step of a firing that walks an element for the first time. */
static uint64_t stepOf(const SambaLanes *body, const SambaLaneWalk *walk, uint64_t element) {
  uint64_t step = 0;
  for (uint32_t k = 0; k < body->counter_count; ++k) {
    const SambaLaneCounter *counter = &body->counters[k];
    if (walk->wraps && counter->reduced) {
      step += (counter->trips - 1) * counter->steps;
    } else if (walk->strides[k]) {
      step += element / walk->strides[k] * counter->steps;
      element %= walk->strides[k];
    }
  }
  if (walk->wraps && body->row_reduced)
    return step + body->row_steps - 1;
  return step + (walk->row ? element / body->lanes : 0);
}

/* Vectors of an input that are used up after `steps` steps, or that these have touched. */
static uint64_t usedAfter(const SambaLanes *body, uint32_t p, uint64_t steps, bool touched) {
  const SambaLaneWalk *walk = &body->input_walks[p];
  const SambaPortTurn *turn = &body->inputs[p].turn;
  if (!steps)
    return 0;
  uint64_t firing = (steps - 1) / body->firing_steps;
  uint64_t token = firing / walk->period, place = firing % walk->period;
  if (place != walk->firing)
    return (token + (place > walk->firing)) * turn->vectors;
  uint64_t done = steps - firing * body->firing_steps;
  if (done == body->firing_steps)
    return (token + 1) * turn->vectors;
  uint64_t elements = elementsAfter(body, walk, true, done);
  return token * turn->vectors +
         (touched ? sambaPortTouched(turn, elements) : sambaPortWhole(turn, elements));
}

/* Steps that can be done without vector number `vector` of an input. */
static uint64_t stepsBefore(const SambaLanes *body, uint32_t p, uint64_t vector) {
  const SambaLaneWalk *walk = &body->input_walks[p];
  const SambaPortTurn *turn = &body->inputs[p].turn;
  uint64_t token = vector / turn->vectors, element = vector % turn->vectors * turn->vector_elements;
  uint64_t firing = token * walk->period + walk->firing;
  if (firing >= body->firings)
    return body->firings * body->firing_steps;
  return firing * body->firing_steps + least(stepOf(body, walk, element), body->firing_steps - 1);
}

/* Vectors of an output that are made after `steps` steps. */
static uint64_t madeAfter(const SambaLanes *body, uint32_t p, uint64_t steps) {
  const SambaLaneWalk *walk = &body->output_walks[p];
  const SambaPortTurn *turn = &body->outputs[p].turn;
  if (!steps)
    return 0;
  uint64_t firing = (steps - 1) / body->firing_steps;
  uint64_t token = firing / walk->period, place = firing % walk->period;
  if (place != walk->firing)
    return token * turn->vectors;
  uint64_t done = steps - firing * body->firing_steps;
  return token * turn->vectors + sambaPortWhole(turn, elementsAfter(body, walk, false, done));
}

/* Steps that can be done while vector number `vector` of an output must not be made. */
static uint64_t stepsWithout(const SambaLanes *body, uint32_t p, uint64_t vector) {
  const SambaLaneWalk *walk = &body->output_walks[p];
  const SambaPortTurn *turn = &body->outputs[p].turn;
  uint64_t token = vector / turn->vectors;
  uint64_t end = (vector % turn->vectors + 1) * turn->vector_elements;
  uint64_t firing = token * walk->period + walk->firing;
  if (firing >= body->firings)
    return body->firings * body->firing_steps;
  uint64_t last = least(end, turn->token_elements) - (turn->token_elements > 0);
  return firing * body->firing_steps + stepOf(body, walk, last);
}

uint64_t sambaLanesFed(const SambaLanes *body, const SambaFlows *flows, uint32_t p) {
  uint64_t arrived = sambaProgressArrived(&body->inputs[p], flows);
  return arrived == UINT64_MAX ? UINT64_MAX : stepsBefore(body, p, arrived);
}

uint64_t sambaLanesFree(const SambaLanes *body, const SambaFlows *flows, uint32_t p) {
  uint64_t room = sambaProgressRoom(&body->outputs[p], flows);
  return room == UINT64_MAX ? UINT64_MAX : stepsWithout(body, p, room);
}

/* A step that touches several vectors of an input takes all but the last as they come, once there
 * is room for what it makes. */
static void takeAhead(SambaLanes *body, SambaFlows *flows, uint64_t free) {
  if (body->steps >= free)
    return;
  for (uint32_t p = 0; p < body->unit->input_count; ++p) {
    SambaProgressInput *input = &body->inputs[p];
    uint64_t touched = usedAfter(body, p, body->steps + 1, true);
    if (touched > input->turn.passed + 1)
      sambaProgressTake(input, flows, least(touched - 1, sambaProgressArrived(input, flows)));
  }
}

void sambaLanesAdvance(SambaLanes *body, SambaFlows *flows) {
  const SambaUnit *unit = body->unit;
  for (;;) {
    uint64_t free = body->firings * body->firing_steps;
    for (uint32_t p = 0; p < unit->output_count; ++p) {
      sambaProgressFlush(&body->outputs[p], flows);
      free = least(free, sambaLanesFree(body, flows, p));
    }
    uint64_t steps = free;
    for (uint32_t p = 0; p < unit->input_count && steps > body->steps; ++p)
      steps = least(steps, sambaLanesFed(body, flows, p));
    if (steps <= body->steps) {
      takeAhead(body, flows, free);
      return;
    }

    body->steps = steps;
    for (uint32_t p = 0; p < unit->input_count; ++p)
      sambaProgressTake(&body->inputs[p], flows, usedAfter(body, p, steps, false));
    for (uint32_t p = 0; p < unit->output_count; ++p)
      sambaProgressMake(&body->outputs[p], flows, madeAfter(body, p, steps));
  }
}

bool sambaLanesAreDone(const SambaLanes *body) {
  bool done = body->steps == body->firings * body->firing_steps;
  for (uint32_t p = 0; p < body->unit->output_count; ++p)
    done &= body->outputs[p].made == body->outputs[p].turn.passed;
  return done;
}
