/* COMPUTE: a unit's plan (kernel, loop nest, systolic walk), made once per call, and its
 * firings. */
#include "backend/sim/value/unit/compute_unit.h"

#include "backend/section/access.h"
#include "backend/section/width.h"
#include "backend/sim/value/storage/pattern.h"
#include "backend/sim/value/unit/loop_nest.h"
#include "backend/sim/value/unit/sums.h"
#include "backend/sim/value/unit/systolic.h"

#include <stdlib.h>
#include <string.h>

typedef struct ComputeState {
  SambaToken *held;     /* per input */
  SambaBlock **outputs; /* of this firing */
  bool *after;          /* per output: made when the reductions are complete */
  bool *depends;        /* per program value */
  SambaKernelSpec spec;
  SambaKernelLayout layout;
  SambaKernelFunction function; /* NULL: the systolic walk writes the output itself */
  int64_t *arguments;
  uint32_t *counter_ops; /* the unit's counter behind each COUNTER operation */
  SambaLoopNest *nest;
  SambaBlock **accumulators; /* parked, per reduction */
  uint32_t reduce_lanes;
  uint64_t reduced_outer; /* firings per reduction */
  /* Systolic. */
  SambaSystolic *systolic;
  uint32_t mac;       /* its op */
  int32_t direct;     /* output whose tokens are the accumulators, or -1 */
  SambaBlock *making; /* the accumulators: that token while it grows, if it has their order */
  SambaSumsWalk *starting, *ending; /* from the token that the sums start at; into that output's */
  uint64_t inner_points;
} ComputeState;

static bool isReduction(uint8_t opcode) { return sambaLaneOpClass(opcode) == 'R'; }

static uint64_t innerPoints(const SambaUnit *unit) {
  return sambaTripProduct(unit->compute.trips, unit->compute.token_level,
                          unit->compute.counter_count);
}

/* Rows of strides for the kernel's ports: inputs in their blocks, outputs, then one row per COUNTER
 * operation. */
static int64_t **portStrides(SambaSectionRun *run, SambaUnitRun *unit, ComputeState *state) {
  const SambaUnit *config = unit->unit;
  SambaArena *arena = &run->arena;
  uint32_t rows = config->input_count + config->output_count + config->compute.program.op_count + 1;
  int64_t **strides = SAMBA_ARENA_ARRAY(arena, int64_t *, rows);

  for (uint32_t i = 0; i < rows; ++i)
    strides[i] = SAMBA_ARENA_ARRAY(arena, int64_t, config->compute.counter_count);
  for (uint32_t i = 0; i < config->input_count; ++i) /* section_run.c has checked it */
    (void)sambaBlockLayoutCompose(config, &config->inputs[i], &unit->inputs[i].layout, strides[i]);

  for (uint32_t i = 0; i < config->output_count; ++i)
    memcpy(strides[config->input_count + i], config->outputs[i].compute.strides,
           config->compute.counter_count * sizeof(int64_t));

  uint32_t at = config->input_count + config->output_count;
  for (uint32_t i = 0; i < config->compute.program.op_count; ++i)
    if (config->compute.program.ops[i].opcode == SAMBA_LANE_COUNTER) {
      state->counter_ops[state->spec.counter_count++] =
          (uint32_t)config->compute.program.ops[i].immediate;
      if (config->compute.program.ops[i].immediate >= config->compute.token_level)
        strides[at][config->compute.program.ops[i].immediate] = 1;
      ++at;
    }
  return strides;
}

/* The output that the accumulators are: the mac's value as f32 or i32. */
static int32_t findDirect(const SambaUnit *config, const ComputeState *state) {
  uint32_t value = config->input_count + state->mac;
  if (config->output_count != 1 || config->outputs[0].compute.value != value)
    return -1;
  if (config->outputs[0].dtype != SAMBA_DTYPE_F32 && config->outputs[0].dtype != SAMBA_DTYPE_I32)
    return -1;
  return 0;
}

/* The walk of one unit. */
typedef struct SystolicPlan {
  const SambaUnit *unit;
  const SambaLaneOp *mac;
  const int64_t *strides[2];
  uint32_t sharers[2];
  const int64_t *accumulator_strides;
  SambaSystolic *systolic;
} SystolicPlan;

/* What planning units one after the other needs. */
typedef struct Planner {
  SambaSectionRun *run;
  SystolicPlan *last; /* of the unit planned before: copies of a stage walk alike */
} Planner;

static bool walksAlike(const SystolicPlan *plan, const SambaUnit *unit, const SambaLaneOp *mac,
                       const int64_t *const strides[2], const uint32_t sharers[2]) {
  const SambaUnit *other = plan->unit;
  if (unit->compute.token_level != other->compute.token_level ||
      unit->compute.counter_count != other->compute.counter_count ||
      unit->compute.program.reduce_mask != other->compute.program.reduce_mask ||
      mac->type != plan->mac->type || sharers[0] != plan->sharers[0] ||
      sharers[1] != plan->sharers[1])
    return false;
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
    if (unit->compute.trips[c] != other->compute.trips[c] || strides[0][c] != plan->strides[0][c] ||
        strides[1][c] != plan->strides[1][c])
      return false;
  return true;
}

/* Units that get the tokens of an input. */
static uint32_t countSharers(const SambaSection *section, const SambaPort *port) {
  uint32_t count = port->stream_count ? section->streams[port->streams[0]].destination_count : 1;
  return count ? count : 1;
}

static SambaSystolic *findSystolic(Planner *planner, const SambaUnit *unit, const SambaLaneOp *mac,
                                   const int64_t *const strides[2], int64_t *out_strides) {
  const SystolicPlan *last = planner->last;
  const uint32_t sharers[2] = {
      countSharers(planner->run->section, &unit->inputs[mac->operands[0]]),
      countSharers(planner->run->section, &unit->inputs[mac->operands[1]])};
  if (last && walksAlike(last, unit, mac, strides, sharers)) {
    memcpy(out_strides, last->accumulator_strides,
           unit->compute.counter_count * sizeof *out_strides);
    return last->systolic;
  }

  SambaSectionRun *run = planner->run;
  SystolicPlan *plan = SAMBA_ARENA_NEW(&run->arena, SystolicPlan);
  *plan = (SystolicPlan){.unit = unit,
                         .mac = mac,
                         .strides = {strides[0], strides[1]},
                         .sharers = {sharers[0], sharers[1]}};
  plan->systolic =
      sambaSystolicCreate(&run->arena, unit, mac, run->context.cpu, strides, sharers, out_strides);
  plan->accumulator_strides = out_strides;
  planner->last = plan;
  return plan->systolic;
}

static void planSystolic(Planner *planner, SambaUnitRun *unit, ComputeState *state,
                         int64_t **strides, uint32_t ports) {
  const SambaUnit *config = unit->unit;
  state->direct = -1;
  if (!config->compute.program.systolic)
    return;
  while (!sambaLaneOpIsMac(config->compute.program.ops[state->mac].opcode))
    ++state->mac;
  const SambaLaneOp *mac = &config->compute.program.ops[state->mac];
  const int64_t *operands[2] = {strides[mac->operands[0]], strides[mac->operands[1]]};
  if (mac->type == SAMBA_DTYPE_I64)
    return;
  state->systolic = findSystolic(planner, config, mac, operands, strides[ports]);
  if (!state->systolic)
    return;
  SambaArena *arena = &planner->run->arena;
  if (mac->opcode == SAMBA_LANE_MAC_ON)
    state->starting = sambaSumsWalkCreate(arena, config, strides[mac->operands[2]], strides[ports]);
  state->direct = findDirect(config, state);
  if (state->direct >= 0)
    state->ending =
        sambaSumsWalkCreate(arena, config, strides[ports], config->outputs[0].compute.strides);
}

static void makeSpec(SambaSectionRun *run, SambaUnitRun *unit, ComputeState *state,
                     uint32_t ports) {
  const SambaUnit *config = unit->unit;
  SambaKernelSpec *spec = &state->spec;
  const SambaLoopNest *nest = state->nest;
  SambaKernelPort *inputs = SAMBA_ARENA_ARRAY(&run->arena, SambaKernelPort, config->input_count);
  SambaKernelPort *outputs = SAMBA_ARENA_ARRAY(&run->arena, SambaKernelPort, config->output_count);
  uint8_t *counters = SAMBA_ARENA_ARRAY(&run->arena, uint8_t, spec->counter_count);

  for (uint32_t i = 0; i < config->input_count; ++i)
    inputs[i] =
        (SambaKernelPort){(uint8_t)config->inputs[i].dtype, (uint8_t)sambaLoopNestWalk(nest, i), 0};
  for (uint32_t i = 0; i < config->output_count; ++i)
    outputs[i] = (SambaKernelPort){(uint8_t)config->outputs[i].dtype,
                                   (uint8_t)sambaLoopNestWalk(nest, config->input_count + i),
                                   (uint16_t)config->outputs[i].compute.value};
  for (uint32_t i = 0; i < spec->counter_count; ++i)
    counters[i] = (uint8_t)sambaLoopNestWalk(nest, config->input_count + config->output_count + i);
  spec->input_count = config->input_count;
  spec->output_count = config->output_count;
  spec->op_count = config->compute.program.op_count;
  spec->inputs = inputs;
  spec->outputs = outputs;
  spec->ops = config->compute.program.ops;
  spec->counter_walks = counters;
  spec->parallel_loops = nest->parallel_loops;
  spec->reduced_loops = nest->reduced_loops;
  spec->width = nest->width;
  spec->reduce_lanes = (uint16_t)state->reduce_lanes;
  spec->vector_reduced = nest->vector_reduced;
  spec->parks = !state->systolic && state->reduced_outer > 1;
  spec->external_op = state->systolic ? (uint16_t)state->mac : SAMBA_KERNEL_NO_OP;
  spec->external_walk = state->systolic ? (uint8_t)sambaLoopNestWalk(nest, ports) : 0;
}

static void fillArguments(SambaSectionRun *run, const SambaUnit *config, ComputeState *state) {
  const SambaLoopNest *nest = state->nest;
  state->layout = sambaKernelLayout(&state->spec);
  state->arguments = SAMBA_ARENA_ARRAY(&run->arena, int64_t, state->layout.count);

  for (uint32_t l = 0; l < state->layout.loops; ++l) {
    state->arguments[state->layout.trips + l] = (int64_t)nest->loops[l].trip;
    for (uint32_t p = 0; p < state->layout.ports; ++p)
      state->arguments[state->layout.strides + p * state->layout.loops + l] =
          nest->loops[l].strides[p];
  }

  state->arguments[state->layout.points] = (int64_t)nest->points;
  state->arguments[state->layout.argins] = (int64_t)(intptr_t)run->argins;
  if (!state->spec.parks)
    return;
  uint64_t lanes = state->reduce_lanes ? state->reduce_lanes : 1;
  state->accumulators = SAMBA_ARENA_ARRAY(&run->arena, SambaBlock *, state->layout.reductions);
  for (uint32_t i = 0, r = 0; i < config->compute.program.op_count; ++i)
    if (isReduction(config->compute.program.ops[i].opcode)) {
      size_t bytes = nest->points * lanes *
                     sambaStorageBytes(sambaStorageOf(config->compute.program.ops[i].type));
      state->accumulators[r] = sambaBlockCreate(run->context.pool, bytes);
      state->arguments[state->layout.accumulators + r] =
          (int64_t)(intptr_t)state->accumulators[r]->data;
      ++r;
    }
}

static ComputeState *makeState(SambaArena *arena, SambaUnitRun *unit) {
  const SambaUnit *config = unit->unit;
  ComputeState *state = SAMBA_ARENA_NEW(arena, ComputeState);
  state->held = SAMBA_ARENA_ARRAY(arena, SambaToken, config->input_count);
  state->outputs = SAMBA_ARENA_ARRAY(arena, SambaBlock *, config->output_count);
  state->after = SAMBA_ARENA_ARRAY(arena, bool, config->output_count);
  state->depends =
      SAMBA_ARENA_ARRAY(arena, bool, config->input_count + config->compute.program.op_count);
  state->counter_ops = SAMBA_ARENA_ARRAY(arena, uint32_t, config->compute.program.op_count);
  state->inner_points = innerPoints(config);

  unit->state = state;
  unit->outer_trips = config->compute.trips;
  unit->outer_count = config->compute.token_level;
  unit->counters = SAMBA_ARENA_ARRAY(arena, uint32_t, config->compute.token_level);
  unit->firings = sambaUnitFirings(config);
  return state;
}

/* Which values and outputs wait for the reductions, the systolic one included. */
static void findDependence(const SambaUnit *config, ComputeState *state) {
  SambaKernelSpec whole = state->spec;
  whole.external_op = SAMBA_KERNEL_NO_OP;
  sambaKernelDependence(&whole, state->depends);
  for (uint32_t i = 0; i < config->output_count; ++i)
    state->after[i] = state->depends[config->outputs[i].compute.value];
}

static void plan(Planner *planner, SambaUnitRun *unit) {
  SambaSectionRun *run = planner->run;
  const SambaUnit *config = unit->unit;
  ComputeState *state = makeState(&run->arena, unit);

  bool reduces = false;
  for (uint32_t i = 0; i < config->compute.program.op_count; ++i)
    reduces |= isReduction(config->compute.program.ops[i].opcode);
  const uint64_t mask = reduces ? config->compute.program.reduce_mask : 0;
  state->reduced_outer = 1;
  for (uint32_t c = 0; c < config->compute.token_level; ++c)
    if (mask >> c & 1)
      state->reduced_outer *= config->compute.trips[c];

  int64_t **strides = portStrides(run, unit, state);
  const int64_t *const *const rows = (const int64_t *const *)strides;
  uint32_t ports = config->input_count + config->output_count + state->spec.counter_count;
  planSystolic(planner, unit, state, strides, ports);

  const uint64_t lanes = sambaUnitLaneCount(config, run->context.machine);
  if (reduces && config->compute.program.lane_reduce && !config->compute.program.systolic &&
      lanes > 1)
    state->reduce_lanes = (uint32_t)lanes;
  if (state->systolic) {
    /* The tail runs over the parallel points only: no reduced loop is left of the nest. */
    state->nest = sambaLoopNestCreate(&run->arena, config, rows, ports + 1, true, mask, 0);
    state->nest->reduced_loops = 0;
  } else {
    state->nest =
        sambaLoopNestCreate(&run->arena, config, rows, ports, false, mask, state->reduce_lanes);
  }

  makeSpec(run, unit, state, ports);
  findDependence(config, state);
  fillArguments(run, config, state);
}

SambaStatus sambaComputePrepare(SambaSectionRun *run, SambaUnitRun *const *units, uint32_t count) {
  const SambaKernelSpec **specs = sambaAllocate(count * sizeof *specs);
  ComputeState **wanting = sambaAllocate(count * sizeof *wanting);
  SambaKernelFunction *functions = sambaAllocateZeroed(count, sizeof *functions);
  Planner planner = {.run = run};
  uint32_t wanted = 0;

  for (uint32_t i = 0; i < count; ++i) {
    plan(&planner, units[i]);
    ComputeState *state = units[i]->state;
    if (state->systolic && state->direct >= 0)
      continue;
    specs[wanted] = &state->spec;
    wanting[wanted++] = state;
  }

  SambaStatus status = wanted ? sambaJitCompile(run->context.jit, specs, wanted, functions) : NULL;
  for (uint32_t i = 0; i < wanted && !status; ++i)
    wanting[i]->function = functions[i];
  free(functions);
  free(wanting);
  free(specs);

  return status;
}

void sambaComputeFinish(SambaSectionRun *run, SambaUnitRun *unit) {
  ComputeState *state = unit->state;
  SambaPool *pool = run->context.pool;
  for (uint32_t i = 0; i < unit->unit->input_count; ++i)
    sambaBlockRelease(pool, state->held[i].block);
  for (uint32_t r = 0; state->accumulators && r < state->layout.reductions; ++r)
    sambaBlockRelease(pool, state->accumulators[r]);
  sambaBlockRelease(pool, state->making);
}

/* A token is taken when every counter from the port's level on starts again. */
bool sambaComputeNeedsToken(const SambaUnitRun *unit, uint32_t input) {
  for (uint32_t c = unit->unit->inputs[input].compute.level; c < unit->outer_count; ++c)
    if (unit->counters[c])
      return false;
  return true;
}

/* The place of this firing among those of one reduction. */
static uint64_t reductionStep(const SambaUnitRun *unit) {
  uint64_t step = 0;
  for (uint32_t c = 0; c < unit->outer_count; ++c)
    if (unit->unit->compute.program.reduce_mask >> c & 1)
      step = step * unit->unit->compute.trips[c] + unit->counters[c];
  return step;
}

static bool isReady(const SambaUnitRun *unit, const ComputeState *state, bool last) {
  const SambaUnit *config = unit->unit;
  for (uint32_t i = 0; i < config->input_count; ++i)
    if (sambaComputeNeedsToken(unit, i) && !sambaPortHasToken(&unit->inputs[i]))
      return false;
  for (uint32_t i = 0; i < config->output_count; ++i)
    if ((last || !state->after[i]) && !sambaPortHasSpace(&unit->outputs[i]))
      return false;
  return true;
}

/* Fills the accumulators with the token of an input. */
static void startSums(ComputeState *state, uint32_t input) {
  const SambaToken *token = &state->held[input];
  sambaSumsMove(state->starting, (const uint32_t *)(const void *)token->block->data + token->offset,
                (uint32_t *)(void *)state->making->data);
}

static void runSystolic(SambaSectionRun *run, SambaUnitRun *unit, ComputeState *state, bool first) {
  const SambaLaneOp *mac = &unit->unit->compute.program.ops[state->mac];
  SambaPool *pool = run->context.pool;
  SambaToken operands[2];
  for (int o = 0; o < 2; ++o)
    operands[o] = state->held[mac->operands[o]];
  if (!state->making)
    state->making = sambaBlockCreate(pool, sambaSystolicPoints(state->systolic) *
                                               state->systolic->element_bytes);
  bool started = first && mac->opcode == SAMBA_LANE_MAC_ON;
  if (started)
    startSums(state, mac->operands[2]);
  sambaSystolicRun(state->systolic, pool, operands, state->making->data, first && !started);
  state->arguments[state->layout.accumulators] = (int64_t)(intptr_t)state->making->data;
}

static void runKernel(const SambaUnitRun *unit, ComputeState *state, SambaBlock *const *outputs,
                      uint64_t step, bool last) {
  const SambaUnit *config = unit->unit;
  int64_t *arguments = state->arguments;

  for (uint32_t i = 0; i < config->input_count; ++i)
    arguments[i] =
        (int64_t)(intptr_t)(state->held[i].block->data +
                            state->held[i].offset * sambaStorageBytes(unit->inputs[i].storage));

  for (uint32_t i = 0; i < config->output_count; ++i)
    arguments[config->input_count + i] = outputs[i] ? (int64_t)(intptr_t)outputs[i]->data : 0;

  for (uint32_t i = 0; i < state->spec.counter_count; ++i) {
    uint32_t counter = state->counter_ops[i];
    arguments[config->input_count + config->output_count + i] =
        counter < unit->outer_count ? (int64_t)unit->counters[counter] : 0;
  }

  arguments[state->layout.first] = step == 0;
  arguments[state->layout.last] = last;
  if (state->reduce_lanes)
    arguments[state->layout.position] =
        (int64_t)(step % state->reduce_lanes * (state->nest->reduced_points % state->reduce_lanes) %
                  state->reduce_lanes);
  state->function(arguments);
}

static void fireOnce(SambaSectionRun *run, SambaUnitRun *unit, ComputeState *state, uint64_t step,
                     bool last) {
  const SambaUnit *config = unit->unit;
  SambaPool *pool = run->context.pool;

  for (uint32_t i = 0; i < config->input_count; ++i)
    if (sambaComputeNeedsToken(unit, i)) {
      sambaBlockRelease(pool, state->held[i].block);
      state->held[i] = sambaPortTake(&unit->inputs[i]);
    }
  SambaBlock **outputs = state->outputs;
  for (uint32_t i = 0; i < config->output_count; ++i)
    outputs[i] = (last || !state->after[i]) && state->direct != (int32_t)i
                     ? sambaBlockCreate(pool, config->outputs[i].token_elements *
                                                  sambaStorageBytes(unit->outputs[i].storage))
                     : NULL;
  if (state->systolic) {
    runSystolic(run, unit, state, step == 0);
    unit->macs += state->inner_points;
  }

  if (state->function && (last || !state->systolic))
    runKernel(unit, state, outputs, step, last);
  if (state->direct >= 0 && last) {
    outputs[state->direct] = state->making;
    state->making = NULL;
    if (!state->ending->copies) {
      SambaBlock *sums = outputs[state->direct];
      outputs[state->direct] = sambaBlockCreate(pool, sambaSystolicPoints(state->systolic) *
                                                          state->systolic->element_bytes);
      sambaSumsMove(state->ending, (const uint32_t *)(const void *)sums->data,
                    (uint32_t *)(void *)outputs[state->direct]->data);
      state->making = sums;
    }
  }

  for (uint32_t i = 0; i < config->output_count; ++i)
    if (outputs[i])
      sambaPortPut(&unit->outputs[i], (SambaToken){outputs[i], 0});
}

/* Lane operations of a firing: those before a reduction at every point, those after it once per
 * result. */
static uint64_t countLaneOperations(const SambaUnit *config, const ComputeState *state, bool last) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < config->compute.program.op_count; ++i) {
    uint8_t opcode = config->compute.program.ops[i].opcode;
    if (sambaLaneOpClass(opcode) == 'V' || (state->systolic && i == state->mac))
      continue;
    bool after = state->depends[config->input_count + i] && !isReduction(opcode);
    if (!after)
      count += state->inner_points;
    else if (last)
      count += state->nest->points;
  }
  return count;
}

SambaStatus sambaComputeFire(SambaSectionRun *run, SambaUnitRun *unit) {
  ComputeState *state = unit->state;
  while (unit->fired < unit->firings) {
    uint64_t step = reductionStep(unit);
    bool last = step + 1 == state->reduced_outer || state->reduced_outer == 1;
    if (state->reduced_outer == 1)
      step = 0;
    if (!isReady(unit, state, last))
      return NULL;
    fireOnce(run, unit, state, step, last);
    unit->lane_operations += countLaneOperations(unit->unit, state, last);
    sambaCountersStep(unit->counters, unit->outer_trips, unit->outer_count);
    ++unit->fired;
  }

  return NULL;
}
