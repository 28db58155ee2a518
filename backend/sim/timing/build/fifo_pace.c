/* The pace of a SIMD unit behind short FIFOs; see fifo_pace.h.
 *
 * A vector is sent into the last FIFO when one that is `fifo_depth` before it has left, and comes a
 * credit's round trip later. It leaves with the step that uses its last element. A step that also
 * needs the vector behind it waits for that one first; while it waits, what it needs before leaves
 * as it comes. So the pace depends on how the rows of the steps lie in the vectors. */
#include "backend/sim/timing/build/fifo_pace.h"

#include "backend/section/access.h"
#include "backend/sim/timing/engine/simd_walk.h"

#include <stdlib.h>

/* Steps that are looked at; the others go on like them. */
enum { mostSteps = 4096 };

/* The vectors in and behind the FIFO of an input. */
typedef struct Input {
  uint64_t taken, came; /* vectors that have left the FIFO; vectors of which the arrival is known */
  uint64_t base;        /* vectors of the tokens before */
  uint64_t period;      /* firings that use one token */
  uint64_t *left;       /* when vector v left, at v modulo the depth of the FIFO */
  uint64_t came_at;     /* the last of them */
} Input;

typedef struct Walk {
  SambaSimdWalk points;
  uint64_t depth, round, firing;
  Input *inputs;
} Walk;

/* When the vector before number `count` has come, from the first token on. */
static uint64_t cameAt(const Walk *walk, Input *input, uint64_t count) {
  while (input->came < count) {
    uint64_t credit =
        input->came >= walk->depth ? input->left[input->came % walk->depth] + walk->round : 0;
    input->came_at = sambaTimeMax(input->came_at + 1, credit);
    ++input->came;
  }
  return input->came_at;
}

/* Elements of an input that have been used after a step. */
static uint64_t elementsUsed(const Walk *walk, uint32_t input, const SambaSimdStep *step) {
  bool ends = step->ends_firing && (walk->firing + 1) % walk->inputs[input].period == 0;
  return sambaSimdWalkUses(&walk->points, input, step, ends);
}

/* When all that the step needs of an input is there; what it needs before the last vector leaves
 * meanwhile, one per cycle. */
static uint64_t await(const Walk *walk, uint32_t index, uint64_t elements, uint64_t from) {
  Input *input = &walk->inputs[index];
  SambaSimdNeed need = sambaSimdInputNeed(&walk->points.inputs[index], elements);
  uint64_t needed = input->base + need.touched;
  while (input->taken + 1 < needed) {
    uint64_t count = input->taken + 1;
    uint64_t at = sambaTimeMax(from, cameAt(walk, input, count));
    /* Two can be at the head of the FIFO when the step happens, but one of them leaves then. */
    bool two = count + 1 == needed && input->base + need.used_up <= count;
    if (two && walk->depth > 1 && cameAt(walk, input, needed) <= from)
      break;
    input->left[input->taken++ % walk->depth] = at;
    from = two ? from : at + 1;
  }
  return sambaTimeMax(from, input->taken < needed ? cameAt(walk, input, needed) : 0);
}

static void use(const Walk *walk, uint32_t index, uint64_t elements, uint64_t at) {
  SambaSimdInput *used = &walk->points.inputs[index];
  Input *input = &walk->inputs[index];
  uint64_t vectors = sambaSimdInputNeed(used, elements).used_up;
  while (input->taken < input->base + vectors)
    input->left[input->taken++ % walk->depth] = at;
  used->elements = elements;
}

static void endFiring(Walk *walk) {
  ++walk->firing;
  for (uint32_t p = 0; p < walk->points.unit->input_count; ++p) {
    Input *input = &walk->inputs[p];
    SambaSimdInput *used = &walk->points.inputs[p];
    if (walk->firing % input->period)
      continue;
    input->base += sambaSimdInputNeed(used, used->port->token_elements).touched;
    used->elements = 0;
  }
}

/* Cycles of so many steps, the last of which ends at *now. */
static uint64_t walkSteps(Walk *walk, uint64_t steps, uint64_t step_cycles, uint64_t *now) {
  uint32_t inputs = walk->points.unit->input_count;
  uint64_t begin = *now;
  for (uint64_t s = 0; s < steps; ++s) {
    SambaSimdStep step = sambaSimdWalkNext(&walk->points);
    uint64_t at = *now;
    for (uint32_t p = 0; p < inputs; ++p)
      at = sambaTimeMax(at, await(walk, p, elementsUsed(walk, p, &step), *now));
    for (uint32_t p = 0; p < inputs; ++p)
      use(walk, p, elementsUsed(walk, p, &step), at);
    sambaSimdWalkAdvance(&walk->points, &step);
    if (step.ends_firing)
      endFiring(walk);
    *now = at + step_cycles;
  }
  return *now - begin;
}

static uint64_t stepsOfFiring(const SambaUnit *unit, uint64_t lanes) {
  uint32_t inner = unit->compute.counter_count;
  if (inner == unit->compute.token_level)
    return 1;
  uint64_t rows = sambaTripProduct(unit->compute.trips, unit->compute.token_level, inner - 1);
  return sambaTimeMul(rows ? rows : 1, sambaTimeCeilDiv(unit->compute.trips[inner - 1], lanes));
}

uint64_t sambaFifoPace(const SambaMachine *machine, const SambaSection *section, uint32_t index,
                       uint64_t lanes, uint64_t step_cycles) {
  const SambaUnit *unit = &section->units[index];
  SambaArena scratch = {0};
  if (!sambaMachineFifosAreShort(machine))
    return 0;

  Walk walk = {.points = sambaSimdWalkMake(&scratch, machine, section, unit, lanes),
               .depth = (uint64_t)machine->fifo_depth,
               .round = (uint64_t)machine->credit_cycles,
               .inputs = SAMBA_ARENA_ARRAY(&scratch, Input, unit->input_count)};
  for (uint32_t p = 0; p < unit->input_count; ++p)
    walk.inputs[p] =
        (Input){.period = sambaTimeMax(1, sambaTripProduct(unit->compute.trips,
                                                           unit->inputs[p].compute.level,
                                                           unit->compute.token_level)),
                .left = SAMBA_ARENA_ARRAY(&scratch, uint64_t, walk.depth)};

  /* The first firing, or part of it, fills the FIFOs. */
  uint64_t steps = stepsOfFiring(unit, lanes), looked_at = sambaTimeMin(steps, mostSteps), now = 0;
  walkSteps(&walk, looked_at, step_cycles, &now);
  uint64_t cycles = walkSteps(&walk, looked_at, step_cycles, &now);
  sambaArenaDestroy(&scratch);
  return sambaTimeScale(cycles, steps, looked_at);
}
