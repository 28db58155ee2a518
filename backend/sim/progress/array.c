/* Systolic bodies; see array.h. */
#include "backend/sim/progress/array.h"

#include "backend/section/access.h"
#include "backend/section/pcu.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t scaleUp(uint64_t value, uint64_t numerator, uint64_t denominator) {
  return (uint64_t)(((__uint128_t)value * numerator + denominator - 1) / denominator);
}

static uint64_t scaleDown(uint64_t value, uint64_t numerator, uint64_t denominator) {
  return (uint64_t)((__uint128_t)value * numerator / denominator);
}

static uint64_t tripsOf(const SambaUnit *unit, uint32_t from) {
  return sambaTripProduct(unit->compute.trips, from, unit->compute.token_level);
}

void sambaArrayBuild(SambaArray *body, SambaArena *arena, const SambaMachine *machine,
                     const SambaUnit *unit, const SambaProgressProgram *program,
                     SambaProgressInput *inputs, SambaProgressOutput *outputs) {
  const SambaLaneOp *mac = &unit->compute.program.ops[sambaPcuMac(unit)];
  uint64_t rows = (uint64_t)machine->systolic_rows;
  *body = (SambaArray){.unit = unit,
                       .program = program,
                       .depth = sambaPcuPass(unit).depth,
                       .operands = {mac->operands[0], mac->operands[1]},
                       .start = SAMBA_NO_INDEX,
                       .alone = !machine->systolic_shadow,
                       .firings = tripsOf(unit, 0),
                       .inputs = inputs,
                       .outputs = outputs};
  body->pass_steps = body->depth > rows ? body->depth : rows;
  if (mac->opcode == SAMBA_LANE_MAC_ON && mac->operands[2] < unit->input_count)
    body->start = mac->operands[2];
  body->periods = SAMBA_ARENA_ARRAY(arena, uint64_t, unit->input_count);
  body->per_step = SAMBA_ARENA_ARRAY(arena, uint64_t, unit->input_count);
  body->aligned = SAMBA_ARENA_ARRAY(arena, bool, unit->input_count);
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    uint64_t elements = inputs[p].turn.token_elements;
    body->periods[p] = tripsOf(unit, unit->inputs[p].compute.level);
    uint64_t whole = body->per_step[p] = elements % body->depth ? 0 : elements / body->depth;
    body->aligned[p] = whole && inputs[p].turn.vector_elements % whole == 0;
  }
}

static uint64_t vectorsOf(const SambaPortTurn *turn, uint64_t elements, bool touched) {
  return touched ? sambaPortTouched(turn, elements) : sambaPortWhole(turn, elements);
}

/* Vectors of an operand that are used up after `steps` steps, or that these have touched. */
static uint64_t usedAfter(const SambaArray *body, uint32_t p, uint64_t steps, bool touched) {
  const SambaPortTurn *turn = &body->inputs[p].turn;
  if (!steps)
    return 0;
  uint64_t firing = (steps - 1) / body->pass_steps;
  uint64_t token = firing / body->periods[p];
  if (firing % body->periods[p])
    return (token + 1) * turn->vectors;
  uint64_t k = least(steps - firing * body->pass_steps, body->depth), whole = body->per_step[p];
  uint64_t elements = whole ? k * whole : scaleUp(turn->token_elements, k, body->depth);
  return token * turn->vectors + vectorsOf(turn, elements, touched);
}

/* Steps that can be done without vector number `vector` of an operand, or of the start. */
static uint64_t stepsBefore(const SambaArray *body, uint32_t p, uint64_t vector) {
  const SambaPortTurn *turn = &body->inputs[p].turn;
  uint64_t firing = vector / turn->vectors * body->periods[p];
  if (firing >= body->firings)
    return body->firings * body->pass_steps;
  if (p == body->start)
    return (firing + 1) * body->pass_steps - 1;
  uint64_t element = vector % turn->vectors * turn->vector_elements, whole = body->per_step[p];
  return firing * body->pass_steps +
         (whole ? element / whole : scaleDown(element, body->depth, turn->token_elements));
}

static uint64_t fed(const SambaArray *body, const SambaFlows *flows, uint32_t p) {
  uint64_t arrived = sambaProgressArrived(&body->inputs[p], flows);
  return arrived == UINT64_MAX ? UINT64_MAX : stepsBefore(body, p, arrived);
}

/* Sets of sums that use one token of an input that joins them. */
static uint64_t sumsPerToken(const SambaArray *body, uint32_t p) {
  uint64_t sums = body->periods[p] / body->program->outer_reduced;
  return sums ? sums : 1;
}

/* Elements of a joining input that the first `vectors` vectors of a token of sums need. */
static uint64_t elementsJoined(const SambaPortTurn *input, const SambaPortTurn *output,
                               uint64_t vectors) {
  if (input->token_elements < output->token_elements)
    return input->token_elements;
  return scaleUp(input->token_elements, vectors, output->vectors);
}

/* Vectors of a joining input that are used up, or touched, when `drained` vectors of an output have
 * left the accumulators. */
static uint64_t usedByDrain(const SambaArray *body, uint32_t p, const SambaPortTurn *output,
                            uint64_t drained, bool touched) {
  const SambaPortTurn *input = &body->inputs[p].turn;
  if (!drained)
    return 0;
  uint64_t sums = (drained - 1) / output->vectors, per_token = sumsPerToken(body, p);
  uint64_t token = sums / per_token;
  if (sums % per_token)
    return (token + 1) * input->vectors;
  uint64_t elements = elementsJoined(input, output, drained - sums * output->vectors);
  return token * input->vectors + vectorsOf(input, elements, touched);
}

/* Vectors of an output that can leave the accumulators with what has arrived of a joining input. */
static uint64_t drainFed(const SambaArray *body, const SambaFlows *flows, uint32_t p,
                         const SambaPortTurn *output) {
  const SambaPortTurn *input = &body->inputs[p].turn;
  uint64_t arrived = sambaProgressArrived(&body->inputs[p], flows);
  if (arrived == UINT64_MAX)
    return UINT64_MAX;
  uint64_t first = arrived / input->vectors * sumsPerToken(body, p) * output->vectors;
  if (input->token_elements < output->token_elements)
    return first;
  uint64_t element = arrived % input->vectors * input->vector_elements;
  return first + scaleDown(element, output->vectors, input->token_elements);
}

static bool isEmpty(const SambaArray *body) {
  bool empty = true;
  for (uint32_t p = 0; p < body->unit->output_count; ++p)
    empty &= body->outputs[p].made == body->sums * body->outputs[p].turn.vectors;
  return empty;
}

static bool drain(SambaArray *body, SambaFlows *flows, SambaProgressOutput *output) {
  const SambaUnit *unit = body->unit;
  sambaProgressFlush(output, flows);
  if (output->made == body->sums * output->turn.vectors)
    return false;
  uint64_t free = least(body->sums * output->turn.vectors, sambaProgressRoom(output, flows));
  uint64_t drained = free;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    if (body->program->late[p])
      drained = least(drained, drainFed(body, flows, p, &output->turn));

  bool advances = drained > output->made;
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    SambaProgressInput *input = &body->inputs[p];
    if (!body->program->late[p])
      continue;
    if (advances) {
      sambaProgressTake(input, flows, usedByDrain(body, p, &output->turn, drained, false));
    } else if (free > output->made) { /* all but the last of what the next vector needs */
      uint64_t touched = usedByDrain(body, p, &output->turn, output->made + 1, true);
      if (touched > input->turn.passed + 1)
        sambaProgressTake(input, flows, least(touched - 1, sambaProgressArrived(input, flows)));
    }
  }
  if (advances)
    sambaProgressMake(output, flows, drained);
  return advances;
}

/* Steps that the body may do before sums have to leave. */
static uint64_t stepsFree(const SambaArray *body) {
  if (body->alone && !isEmpty(body))
    return body->steps;
  uint64_t firings = (body->sums + 1) * body->program->outer_reduced;
  return least(firings, body->firings) * body->pass_steps;
}

/* The start of sums comes in with the steps, one vector ahead of them. */
static void takeStart(SambaArray *body, SambaFlows *flows) {
  if (body->start == SAMBA_NO_INDEX || body->steps >= stepsFree(body))
    return;
  SambaProgressInput *input = &body->inputs[body->start];
  uint64_t firing = body->steps / body->pass_steps, step = body->steps % body->pass_steps;
  if (firing % body->periods[body->start])
    return;
  uint64_t vectors =
      step + 1 < body->pass_steps ? least(step + 1, input->turn.vectors) : input->turn.vectors;
  vectors += firing / body->periods[body->start] * input->turn.vectors;
  sambaProgressTake(input, flows, least(vectors, sambaProgressArrived(input, flows)));
}

static void takeAhead(SambaArray *body, SambaFlows *flows) {
  takeStart(body, flows);
  for (int o = 0; o < 2 && body->steps < stepsFree(body); ++o) {
    SambaProgressInput *input = &body->inputs[body->operands[o]];
    if (body->aligned[body->operands[o]])
      continue;
    uint64_t touched = usedAfter(body, body->operands[o], body->steps + 1, true);
    if (touched > input->turn.passed + 1)
      sambaProgressTake(input, flows, least(touched - 1, sambaProgressArrived(input, flows)));
  }
}

static bool step(SambaArray *body, SambaFlows *flows) {
  uint64_t steps = stepsFree(body);
  for (int o = 0; o < 2 && steps > body->steps; ++o)
    steps = least(steps, fed(body, flows, body->operands[o]));
  if (body->start != SAMBA_NO_INDEX && steps > body->steps)
    steps = least(steps, fed(body, flows, body->start));
  if (steps <= body->steps)
    return false;

  body->steps = steps;
  for (int o = 0; o < 2; ++o)
    sambaProgressTake(&body->inputs[body->operands[o]], flows,
                      usedAfter(body, body->operands[o], steps, false));
  if (body->start != SAMBA_NO_INDEX) {
    SambaProgressInput *input = &body->inputs[body->start];
    uint64_t period = body->periods[body->start];
    uint64_t tokens = (steps / body->pass_steps + period - 1) / period;
    sambaProgressTake(input, flows, tokens * input->turn.vectors);
  }
  return true;
}

void sambaArrayAdvance(SambaArray *body, SambaFlows *flows) {
  bool advances = true;
  while (advances) {
    advances = false;
    for (uint32_t p = 0; p < body->unit->output_count; ++p)
      advances |= drain(body, flows, &body->outputs[p]);
    uint64_t sums = body->steps / body->pass_steps / body->program->outer_reduced;
    if (sums > body->sums && isEmpty(body)) {
      body->sums = sums;
      advances = true;
    }
    advances |= step(body, flows);
  }
  takeAhead(body, flows);
}

bool sambaArrayIsDone(const SambaArray *body) {
  bool done = body->steps == body->firings * body->pass_steps &&
              body->sums * body->program->outer_reduced == body->firings && isEmpty(body);
  for (uint32_t p = 0; p < body->unit->output_count; ++p)
    done &= body->outputs[p].made == body->outputs[p].turn.passed;
  return done;
}

uint32_t sambaArrayMissing(const SambaArray *body, const SambaFlows *flows) {
  if (body->steps < stepsFree(body))
    for (uint32_t p = 0; p < body->unit->input_count; ++p)
      if (!body->program->late[p] && fed(body, flows, p) <= body->steps)
        return p;
  for (uint32_t o = 0; o < body->unit->output_count; ++o) {
    const SambaPortTurn *output = &body->outputs[o].turn;
    if (body->outputs[o].made == body->sums * output->vectors)
      continue;
    for (uint32_t p = 0; p < body->unit->input_count; ++p)
      if (body->program->late[p] && drainFed(body, flows, p, output) <= body->outputs[o].made)
        return p;
  }
  return SAMBA_NO_INDEX;
}
