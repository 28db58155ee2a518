/* The law of a firing: how long it occupies its unit, when its first vector is made, how many
 * operations it does. From the unit's shapes alone (docs/timing-model.md, "Occupancy"). */
#include "backend/sim/timing/build/occupancy.h"

#include "backend/section/access.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"
#include "backend/sim/timing/build/fifo_pace.h"
#include "backend/sim/timing/engine/simd_walk.h"

#include <stdlib.h>

/* Steps of the counters [from, end). */
static uint64_t innerProduct(const SambaUnit *unit, uint32_t from) {
  return sambaTripProduct(unit->compute.trips, from, unit->compute.counter_count);
}

static bool isBitSet(uint64_t bits, uint32_t bit) { return bit < 64 && (bits >> bit & 1); }

static bool isReduced(const SambaUnit *unit, uint32_t counter) {
  return isBitSet(unit->compute.program.reduce_mask, counter);
}

/* What a program asks of stages and tail, before and after its reduction. */
typedef struct ProgramCost {
  uint64_t stages_before, stages_after;
  uint64_t tail_before, tail_after;
  uint64_t flops_before, flops_after; /* per point */
  uint64_t multiply_adds;             /* per point */
  bool reduces, wide, moves_only;
  /* As bits: inputs that meet nothing but results of the reduction, and outputs that get them. */
  uint64_t late, results;
} ProgramCost;

static uint64_t flopsOf(const SambaLaneOp *op) {
  if (op->type != SAMBA_DTYPE_F32)
    return 0;
  switch (op->opcode) {
  case SAMBA_LANE_MOVE:
  case SAMBA_LANE_SELECT:
    return 0;
  case SAMBA_LANE_MAC:
  case SAMBA_LANE_MAC_ON:
  case SAMBA_LANE_FMA:
    return 2;
  default: {
    char class = sambaLaneOpClass(op->opcode);
    return class == 'S' || class == 'T' || class == 'R';
  }
  }
}

/* Inputs that an operation uses, as bits. */
static uint64_t inputsOf(const SambaUnit *unit, const SambaLaneOp *op) {
  uint64_t inputs = 0;
  for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
    if (op->operands[k] < unit->input_count && op->operands[k] < 64)
      inputs |= UINT64_C(1) << op->operands[k];
  return inputs;
}

static ProgramCost programCost(const SambaUnit *unit) {
  const SambaProgram *program = &unit->compute.program;
  ProgramCost cost = {.moves_only = true};
  uint64_t early = 0;
  bool *after = sambaAllocateZeroed(program->op_count, sizeof *after);

  for (uint32_t i = 0; i < program->op_count; ++i) {
    const SambaLaneOp *op = &program->ops[i];
    int operands = sambaLaneOpOperands(op->opcode);
    for (int k = 0; k < operands; ++k) {
      uint32_t value = op->operands[k];
      if (value < unit->input_count || value - unit->input_count >= i)
        continue;
      uint32_t maker = value - unit->input_count;
      after[i] |= after[maker] || sambaLaneOpClass(program->ops[maker].opcode) == 'R';
    }
    char class = sambaLaneOpClass(op->opcode);
    *(after[i] && class != 'R' ? &cost.late : &early) |= inputsOf(unit, op);
    *(after[i] ? &cost.flops_after : &cost.flops_before) += flopsOf(op);
    cost.multiply_adds += sambaLaneOpIsMac(op->opcode);
    if (class == 'T')
      ++*(after[i] ? &cost.tail_after : &cost.tail_before);
    else if (class == 'S')
      ++*(after[i] ? &cost.stages_after : &cost.stages_before);
    cost.reduces |= class == 'R';
    cost.wide |= op->type == SAMBA_DTYPE_I64;
    cost.moves_only &= op->opcode == SAMBA_LANE_MOVE;
  }

  cost.late &= ~early;
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    cost.wide |= unit->inputs[p].dtype == SAMBA_DTYPE_I64;
    cost.moves_only &= sambaDTypeBytes(unit->inputs[p].dtype) <= 2;
  }

  for (uint32_t p = 0; p < unit->output_count; ++p)
    cost.moves_only &= sambaDTypeBytes(unit->outputs[p].dtype) <= 2;
  for (uint32_t p = 0; p < unit->output_count && p < 64; ++p) {
    uint32_t value = unit->outputs[p].compute.value, op = value - unit->input_count;
    bool made = value >= unit->input_count && op < program->op_count;
    if (made && (after[op] || sambaLaneOpClass(program->ops[op].opcode) == 'R'))
      cost.results |= UINT64_C(1) << p;
  }
  free(after);
  return cost;
}

/* Vectors of a walk over the inner counters, lanes along the innermost, all of them or only what is
 * left after the reduction. */
static uint64_t vectorsOf(const SambaUnit *unit, uint64_t lanes, bool reduced_too) {
  uint64_t rows = 1, row = 1;
  bool innermost = true;
  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level;) {
    if (!reduced_too && isReduced(unit, c))
      continue;
    if (innermost)
      row = unit->compute.trips[c];
    else
      rows = sambaTimeMul(rows, unit->compute.trips[c]);
    innermost = false;
  }
  return sambaTimeMul(rows, sambaTimeCeilDiv(row, lanes));
}

static uint64_t pointsOf(const SambaUnit *unit, bool reduced_too) {
  uint64_t points = 1;
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
    if (reduced_too || !isReduced(unit, c))
      points = sambaTimeMul(points, unit->compute.trips[c]);
  return points;
}

/* The part of a firing of a SIMD program before its first output vector: the nest below the
 * outermost reduced inner counter must have run as often as one vector has elements from it. */
static void simdFirstVector(const SambaUnit *unit, uint64_t vector_elements,
                            uint64_t *out_numerator, uint64_t *out_denominator) {
  uint32_t c = unit->compute.token_level;
  while (c < unit->compute.counter_count && !isReduced(unit, c))
    ++c;
  uint64_t total = sambaTimeMax(1, innerProduct(unit, unit->compute.token_level));
  uint64_t kept = 1;

  *out_numerator = 0;
  *out_denominator = total;
  if (c == unit->compute.counter_count)
    return;
  for (uint32_t k = c; k < unit->compute.counter_count; ++k)
    if (!isReduced(unit, k))
      kept = sambaTimeMul(kept, unit->compute.trips[k]);
  uint64_t nests = sambaTimeCeilDiv(vector_elements, kept);
  *out_numerator = sambaTimeMin(total, sambaTimeMul(nests, innerProduct(unit, c)));
}

/* How steps walk a row of what an output gets: its elements, the steps that make them, and the
 * elements of the last step. */
typedef struct SimdRow {
  uint64_t elements, steps, last;
} SimdRow;

static SimdRow simdRow(const SambaUnit *unit, uint64_t lanes, bool reduces) {
  uint32_t inner = unit->compute.counter_count;
  SimdRow row = {1, 1, 1};
  if (inner == unit->compute.token_level || (reduces && isReduced(unit, inner - 1)))
    return row;
  row.elements = unit->compute.trips[inner - 1];
  row.steps = sambaTimeCeilDiv(row.elements, lanes);
  row.last = row.elements - (row.steps - 1) * lanes;
  return row;
}

/* Vectors that the last step of a token completes. */
static uint64_t vectorsOfLastStep(uint64_t token_elements, uint64_t vector_elements,
                                  uint64_t step_elements) {
  uint64_t before =
      (token_elements - sambaTimeMin(step_elements, token_elements)) / vector_elements;
  return sambaTimeCeilDiv(token_elements, vector_elements) - before;
}

/* Cycles by which the last step of a firing waits for its inputs: it takes vectors one per cycle,
 * and where a token ends within a vector it may use up two. */
static uint64_t inputsOfLastStep(const SambaMachine *machine, const SambaSection *section,
                                 const SambaUnit *unit, uint64_t lanes) {
  uint64_t points = pointsOf(unit, true), last = simdRow(unit, lanes, false).last, wait = 0;
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    uint64_t elements = sambaTimeMax(1, sambaPortVectorBytes(section, unit, port, machine) /
                                            sambaDTypeBytes(port->dtype));
    if (port->token_elements != points || elements < lanes)
      continue;
    uint64_t used = sambaTimeCeilDiv(points, elements) - (points - last) / elements;
    wait = sambaTimeMax(wait, used - 1);
  }
  return wait;
}

/* Cycles by which it waits for places in the pipeline: it may make two vectors where the steps
 * before it have made one each. */
static uint64_t placesOfLastStep(const SambaMachine *machine, const SambaSection *section,
                                 const SambaActor *actor) {
  const SambaUnit *unit = &section->units[actor->unit];
  SimdRow row = simdRow(unit, actor->lanes, false);
  uint64_t points = pointsOf(unit, true), steps = vectorsOf(unit, actor->lanes, true), wait = 0;
  uint64_t within = sambaTimeMin(steps - 1, (actor->latency - 1) / actor->step_cycles);
  uint64_t first = steps - 1 - within; /* of the steps whose vectors are on their way */
  uint64_t before = first / row.steps * row.elements +
                    sambaTimeMin(first % row.steps * actor->lanes, row.elements);
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    const SambaPort *port = &unit->outputs[actor->outputs[o].turns->port];
    uint64_t elements = sambaTimeMax(1, sambaPortVectorBytes(section, unit, port, machine) /
                                            sambaDTypeBytes(port->dtype));
    if (port->token_elements != points || elements < actor->lanes)
      continue;
    uint64_t made = sambaTimeCeilDiv(points, elements);
    uint64_t places =
        sambaPipelinePlaces(machine, section, unit, port, actor->lanes, actor->latency);
    if (made > (points - row.last) / elements + 1 && made - before / elements > places)
      wait = sambaTimeMax(wait, made - before / elements - places);
  }
  return wait;
}

static uint64_t log2Ceil(uint64_t value) {
  uint64_t result = 0;
  while ((UINT64_C(1) << result) < value)
    ++result;
  return result;
}

static uint64_t outerReducedTrips(const SambaUnit *unit) {
  uint64_t trips = 1;
  for (uint32_t c = 0; c < unit->compute.token_level; ++c)
    if (isReduced(unit, c))
      trips = sambaTimeMul(trips, unit->compute.trips[c]);
  return trips;
}

/* Lanes that work on elements of the program's types. */
static uint64_t simdLanes(const SambaMachine *machine, const SambaUnit *unit,
                          const ProgramCost *cost) {
  uint64_t lanes = sambaUnitLaneCount(unit, machine);
  if (cost->wide)
    return sambaTimeMax(1, lanes / 2);
  return cost->moves_only ? lanes * 2 : lanes;
}

/* Cycles per step of the systolic array, by the bytes of its operands. */
static uint64_t systolicRate(const SambaMachine *machine, uint32_t operand_bytes) {
  uint64_t f32 = (uint64_t)machine->systolic_f32_rate;
  if (operand_bytes > 4)
    return 2 * f32;
  return operand_bytes > 2 ? f32 : 1;
}

/* One firing is one pass: a step of k per cycle, and at least as long as the rows of the next
 * pass take to enter. */
static void setSystolicLaw(SambaActor *actor, const SambaMachine *machine, const SambaUnit *unit) {
  const SambaLaneOp *mac = &unit->compute.program.ops[sambaPcuMac(unit)];
  uint32_t a = sambaDTypeBytes(unit->inputs[mac->operands[0]].dtype);
  uint32_t b = sambaDTypeBytes(unit->inputs[mac->operands[1]].dtype);
  uint64_t steps = sambaTimeMax(sambaPcuPass(unit).depth, (uint64_t)machine->systolic_rows);

  actor->work = sambaTimeMul(steps, systolicRate(machine, a > b ? a : b));
  if (!machine->systolic_shadow)
    actor->work += (uint64_t)machine->systolic_drain_cycles;
  actor->latency = (uint64_t)machine->systolic_drain_cycles;
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    actor->outputs[o].first_numerator = 1;
    actor->outputs[o].first_denominator = 1;
  }
}

/* See SambaActorOutput. */
static void setRow(const SambaActor *actor, const SambaUnit *unit, SambaActorOutput *output,
                   uint64_t vector_elements, SimdRow row) {
  output->vector_elements = vector_elements;
  output->row_elements = row.elements;
  output->row_cycles = row.steps * actor->step_cycles;
  uint32_t c = unit->compute.token_level, inner = unit->compute.counter_count;
  while (c < inner && !isReduced(unit, c))
    ++c;
  if (c == inner)
    return;
  output->row_elements = 1;
  for (uint32_t k = c; k < inner; ++k)
    if (!isReduced(unit, k))
      output->row_elements = sambaTimeMul(output->row_elements, unit->compute.trips[k]);
  uint64_t nests = sambaTripProduct(unit->compute.trips, unit->compute.token_level, c);
  output->row_cycles = vectorsOf(unit, actor->lanes, true) / nests * actor->step_cycles;
}

static void setSimdLaw(SambaActor *actor, const SambaMachine *machine, const SambaSection *section,
                       const ProgramCost *cost) {
  const SambaUnit *unit = &section->units[actor->unit];
  uint64_t stage = (uint64_t)machine->simd_stage_cycles;
  uint64_t stages = (uint64_t)machine->simd_stages;
  uint64_t tail_rate = (uint64_t)machine->tail_transcendentals;
  uint64_t lanes = simdLanes(machine, unit, cost);
  uint64_t inner = vectorsOf(unit, lanes, true);
  actor->lanes = lanes;
  uint64_t passes = sambaTimeMax(1, sambaTimeCeilDiv(cost->stages_before, stages));

  actor->work = sambaTimeMax(sambaTimeMul(inner, passes),
                             sambaTimeCeilDiv(sambaTimeMul(inner, cost->tail_before), tail_rate));
  actor->latency = stages * stage;
  /* A step makes its vector when it begins. What is reduced is ready a cycle after the last step.
   */
  actor->step_cycles = actor->work / inner;
  actor->last_shift = cost->reduces - (int64_t)(actor->step_cycles - 1);

  /* A cross-lane reduction folds the lanes by halves. */
  if (cost->reduces && unit->compute.counter_count > unit->compute.token_level &&
      isReduced(unit, unit->compute.counter_count - 1))
    actor->latency += log2Ceil(lanes) * stage;

  uint64_t body = actor->work;
  if (!cost->reduces)
    actor->work += placesOfLastStep(machine, section, actor);
  actor->work += inputsOfLastStep(machine, section, unit, lanes);
  uint64_t behind_fifos = sambaFifoPace(machine, section, actor->unit, lanes, actor->step_cycles);
  actor->fifo_wait = behind_fifos > actor->work ? behind_fifos - actor->work : 0;

  for (uint32_t o = 0; o < actor->output_count; ++o) {
    SambaActorOutput *output = &actor->outputs[o];
    const SambaPort *port = &unit->outputs[output->turns->port];
    uint64_t elements = sambaTimeMax(1, sambaPortVectorBytes(section, unit, port, machine) /
                                            sambaDTypeBytes(port->dtype));
    SimdRow row = simdRow(unit, lanes, cost->reduces);
    /* A step makes its vector when it begins. What is reduced is ready a cycle after the last
     * step. */
    setRow(actor, unit, output, elements, row);
    output->last_shift = actor->last_shift;
    output->last_shift += (int64_t)vectorsOfLastStep(port->token_elements, elements, row.last) - 1;
    if (cost->reduces) {
      simdFirstVector(unit, elements, &output->first_numerator, &output->first_denominator);
    } else {
      uint64_t last = sambaTimeMin(elements, port->token_elements) - 1; /* of the first vector */
      uint64_t before = last / row.elements * row.steps + last % row.elements / lanes;
      output->first_numerator = sambaTimeMul(before, body);
      output->first_denominator = sambaTimeMul(inner, actor->work);
    }
  }
}

static void setComputeLaw(SambaActor *actor, const SambaMachine *machine,
                          const SambaSection *section) {
  const SambaUnit *unit = &section->units[actor->unit];
  ProgramCost cost = programCost(unit);
  uint64_t after = 0; /* output vectors of what follows the reduction */
  actor->wrap_period = outerReducedTrips(unit);
  actor->flops = sambaTimeMul(pointsOf(unit, true), cost.flops_before);
  actor->multiply_adds = sambaTimeMul(pointsOf(unit, true), cost.multiply_adds);
  if (cost.reduces) {
    actor->wrap_flops = sambaTimeMul(pointsOf(unit, false), cost.flops_after);
    after = vectorsOf(unit, simdLanes(machine, unit, &cost), false);
  }

  if (unit->compute.program.systolic)
    setSystolicLaw(actor, machine, unit);
  else
    setSimdLaw(actor, machine, section, &cost);

  /* What follows the reduction runs in the stages and the tail, once per output vector. */
  uint64_t passes =
      sambaTimeMax(1, sambaTimeCeilDiv(cost.stages_after, (uint64_t)machine->simd_stages));
  uint64_t tail = sambaTimeCeilDiv(sambaTimeMul(after, cost.tail_after),
                                   (uint64_t)machine->tail_transcendentals);
  uint64_t tail_cycles = sambaTimeCeilDiv(cost.tail_after, (uint64_t)machine->tail_transcendentals);
  actor->result_cycles = sambaTimeMax(passes, tail_cycles);
  for (uint32_t i = 0; i < actor->input_count; ++i)
    actor->inputs[i].is_late = isBitSet(cost.late, actor->inputs[i].port);
  for (uint32_t o = 0; o < actor->output_count; ++o)
    actor->outputs[o].is_result = isBitSet(cost.results, actor->outputs[o].turns->port);
  actor->work = sambaTimeMax(actor->work, sambaTimeMul(after, passes));
  actor->work = sambaTimeMax(actor->work, tail);
  if (cost.tail_before || cost.tail_after)
    actor->latency += (uint64_t)machine->simd_stage_cycles;
}

void sambaActorSetLaw(SambaActor *actor, const SambaMachine *machine, const SambaSection *section,
                      SambaPortPatterns *patterns) {
  const SambaUnit *unit = &section->units[actor->unit];
  actor->work = 1;
  actor->wrap_period = 1;
  for (uint32_t o = 0; o < actor->output_count; ++o) {
    actor->outputs[o].first_numerator = 0;
    actor->outputs[o].first_denominator = 1;
  }

  if (actor->kind == SAMBA_ACTOR_COMPUTE) {
    setComputeLaw(actor, machine, section);
  } else if (actor->kind == SAMBA_ACTOR_READ || actor->kind == SAMBA_ACTOR_WRITE) {
    bool read = actor->kind == SAMBA_ACTOR_READ;
    const SambaPort *port =
        read ? &unit->outputs[actor->outputs[0].turns->port] : &unit->inputs[actor->inputs[0].port];
    uint64_t width = sambaTimeMin((uint64_t)machine->pmu_port_bytes,
                                  sambaPortVectorBytes(section, unit, port, machine));
    actor->port_cycles = sambaPortCyclesCreate(patterns, &unit->buffer, port, width);
    actor->work = sambaPortTokenCycles(actor->port_cycles, 0);
    actor->tokens_differ = !sambaPortCyclesAreFixed(actor->port_cycles);
    actor->latency = read ? (uint64_t)machine->pmu_latency_cycles : 0;
  }

  actor->work = sambaTimeMax(1, actor->work);
}

/* Steps of the outer inner counters on which the port has no stride: it is used up in the first of
 * them, and held for the others. */
static uint64_t stepsHeld(const SambaUnit *unit, const SambaPort *port) {
  uint64_t held = 1;
  uint32_t c = unit->compute.token_level;
  for (; c < unit->compute.counter_count && !port->compute.strides[c]; ++c)
    held = sambaTimeMul(held, unit->compute.trips[c]);
  return c == unit->compute.counter_count ? 1 : held; /* 1: a single element */
}

/* Cycles of a firing after the step with which the last vector of a late input is used: the sums
 * that it meets end one after the other. */
static int64_t restOfLate(const SambaEngine *engine, const SambaActor *actor, const SambaPort *port,
                          uint64_t vectors) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  if (unit->compute.program.systolic) /* they join when the array has handed them over */
    return -(int64_t)vectors;
  uint32_t c = unit->compute.token_level, inner = unit->compute.counter_count;
  while (c < inner && !isReduced(unit, c))
    ++c;

  /* Sums that end with a nest of the outermost reduced counter, and points from one to the next. */
  uint64_t points = sambaTimeMax(1, innerProduct(unit, unit->compute.token_level));
  uint64_t nest = innerProduct(unit, c), sums = 1, apart = 1;
  for (uint32_t k = inner; k-- > c;)
    if (!isReduced(unit, k))
      sums = sambaTimeMul(sums, unit->compute.trips[k]);
    else if (sums == 1)
      apart = sambaTimeMul(apart, unit->compute.trips[k]);
  uint64_t width = sambaPortVectorBytes(engine->section, unit, port, engine->machine);
  uint64_t elements = sambaTimeMax(1, width / sambaDTypeBytes(port->dtype));
  uint64_t last = sambaTimeMul(vectors - 1, elements);
  uint64_t before = sambaTimeMul(last / sums + 1, nest);
  before -= sambaTimeMin(before, sambaTimeMul(sums - 1 - last % sums, apart));
  return (int64_t)sambaTimeScale(actor->work, points - sambaTimeMin(points, before), points);
}

void sambaActorSetRests(SambaEngine *engine, SambaActor *actor) {
  const SambaUnit *unit = &engine->section->units[actor->unit];
  for (uint32_t i = 0; i < actor->input_count && !actor->memory; ++i) {
    const SambaActorInput *input = &actor->inputs[i];
    uint64_t vectors = engine->streams[engine->cursors[input->cursors[0]].stream].vectors;
    bool simd = actor->kind == SAMBA_ACTOR_COMPUTE && !unit->compute.program.systolic;
    uint64_t held = simd ? stepsHeld(unit, &unit->inputs[input->port]) : 1;
    uint64_t before = (uint64_t)((unsigned __int128)actor->work * (vectors - 1) / vectors / held);
    int64_t rest = (int64_t)(actor->work - before) - 1;
    if (input->is_late)
      rest = restOfLate(engine, actor, &unit->inputs[input->port], vectors);
    for (uint32_t c = 0; c < input->cursor_count; ++c)
      engine->cursors[input->cursors[c]].rest = rest;
  }
  actor->work += actor->fifo_wait;
}
