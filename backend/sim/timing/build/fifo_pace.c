/* The pace of a SIMD unit behind short FIFOs; see fifo_pace.h.
 *
 * A vector is sent into the last FIFO when one that is `fifo_depth` before it has left, and comes a
 * credit's round trip later. It leaves with the step that uses its last element. A step that also
 * needs the vector behind it waits for that one first; while it waits, what it needs before leaves
 * as it comes. So the pace depends on how the rows of the steps lie in the vectors. */
#include "backend/sim/timing/build/fifo_pace.h"

#include "backend/section/access.h"
#include "backend/section/width.h"

#include <stdlib.h>

/* Steps that are looked at; the others go on like them. */
enum { mostSteps = 4096 };

/* An input: where the next step begins in its token, and the vectors in and behind its FIFO. */
typedef struct Input {
  const SambaPort *port;
  uint64_t vector_elements;
  int64_t index;
  uint64_t elements;    /* of the token that have been used */
  uint64_t taken, came; /* vectors that have left the FIFO; vectors of which the arrival is known */
  uint64_t base;        /* vectors of the tokens before */
  uint64_t period;      /* firings that use one token */
  uint64_t *left;       /* when vector v left, at v modulo the depth of the FIFO */
  uint64_t came_at;     /* the last of them */
} Input;

typedef struct Walk {
  const SambaUnit *unit;
  uint64_t depth, round, lanes;
  uint64_t counters[SAMBA_MAX_COUNTERS], firing;
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

static uint64_t pointsOfStep(const Walk *walk) {
  uint32_t inner = walk->unit->compute.counter_count;
  if (inner == walk->unit->compute.token_level)
    return 1;
  return sambaTimeMin(walk->lanes,
                      walk->unit->compute.trips[inner - 1] - walk->counters[inner - 1]);
}

static bool endsFiring(const Walk *walk, uint64_t points) {
  const SambaUnit *unit = walk->unit;
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    uint64_t by = c + 1 == unit->compute.counter_count ? points : 1;
    if (walk->counters[c] + by < unit->compute.trips[c])
      return false;
  }
  return true;
}

static uint64_t elementsUsed(const Walk *walk, const Input *input, uint64_t points, bool ends) {
  if (ends && (walk->firing + 1) % input->period == 0)
    return input->port->token_elements;
  uint32_t inner = walk->unit->compute.counter_count;
  int64_t stride = 0;
  if (inner > walk->unit->compute.token_level)
    stride = input->port->compute.strides[inner - 1];
  uint64_t last = (uint64_t)(input->index + (stride > 0 ? stride * (int64_t)(points - 1) : 0));
  return sambaTimeMax(input->elements, last + 1);
}

/* When all that the step needs of an input is there; what it needs before the last vector leaves
 * meanwhile. */
static uint64_t await(const Walk *walk, Input *input, uint64_t elements, uint64_t from) {
  uint64_t needed = input->base + sambaTimeCeilDiv(elements, input->vector_elements);
  while (input->taken + 1 < needed) {
    uint64_t count = input->taken + 1;
    uint64_t at = sambaTimeMax(from, cameAt(walk, input, count));
    /* Two can be at the head of the FIFO: then both are there when the step happens. */
    if (count + 1 == needed && walk->depth > 1 && cameAt(walk, input, needed) <= from)
      break;
    input->left[input->taken++ % walk->depth] = at;
  }
  return sambaTimeMax(from, input->taken < needed ? cameAt(walk, input, needed) : 0);
}

static void use(const Walk *walk, Input *input, uint64_t elements, uint64_t at) {
  bool whole = elements == input->port->token_elements;
  uint64_t vectors = whole ? sambaTimeCeilDiv(elements, input->vector_elements)
                           : elements / input->vector_elements;
  while (input->taken < input->base + vectors)
    input->left[input->taken++ % walk->depth] = at;
  input->elements = elements;
}

static void advance(Walk *walk, uint64_t points, bool ends) {
  const SambaUnit *unit = walk->unit;
  uint64_t by = points;
  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level; by = 1) {
    uint64_t trips = unit->compute.trips[c];
    walk->counters[c] += by;
    bool wraps = walk->counters[c] == trips;
    for (uint32_t p = 0; p < unit->input_count; ++p)
      walk->inputs[p].index +=
          ((int64_t)by - (wraps ? (int64_t)trips : 0)) * walk->inputs[p].port->compute.strides[c];
    if (!wraps)
      break;
    walk->counters[c] = 0;
  }
  walk->firing += ends;
  for (uint32_t p = 0; p < unit->input_count && ends; ++p) {
    Input *input = &walk->inputs[p];
    if (walk->firing % input->period)
      continue;
    input->base += sambaTimeCeilDiv(input->port->token_elements, input->vector_elements);
    input->elements = 0;
  }
}

/* Cycles of so many steps, the last of which ends at *now. */
static uint64_t walkSteps(Walk *walk, uint64_t steps, uint64_t step_cycles, uint64_t *now) {
  uint64_t begin = *now;
  for (uint64_t s = 0; s < steps; ++s) {
    uint64_t points = pointsOfStep(walk), at = *now;
    bool ends = endsFiring(walk, points);
    for (uint32_t p = 0; p < walk->unit->input_count; ++p) {
      Input *input = &walk->inputs[p];
      at = sambaTimeMax(at, await(walk, input, elementsUsed(walk, input, points, ends), *now));
    }
    for (uint32_t p = 0; p < walk->unit->input_count; ++p) {
      Input *input = &walk->inputs[p];
      use(walk, input, elementsUsed(walk, input, points, ends), at);
    }
    advance(walk, points, ends);
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
  Walk walk = {.unit = unit,
               .depth = (uint64_t)machine->fifo_depth,
               .round = (uint64_t)machine->credit_cycles,
               .lanes = lanes};
  if (!sambaFifosAreShort(machine))
    return 0;

  walk.inputs = sambaAllocateZeroed(unit->input_count, sizeof *walk.inputs);
  uint64_t *left = sambaAllocateZeroed(unit->input_count * walk.depth, sizeof *left);
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    uint64_t bytes = sambaPortVectorBytes(section, unit, port, machine);
    walk.inputs[p] =
        (Input){.port = port,
                .period = sambaTimeMax(1, sambaTripProduct(unit->compute.trips, port->compute.level,
                                                           unit->compute.token_level)),
                .vector_elements = sambaTimeMax(1, bytes / sambaDTypeBytes(port->dtype)),
                .left = left + p * walk.depth};
  }

  /* The first firing, or part of it, fills the FIFOs. */
  uint64_t steps = stepsOfFiring(unit, lanes), looked_at = sambaTimeMin(steps, mostSteps), now = 0;
  walkSteps(&walk, looked_at, step_cycles, &now);
  uint64_t cycles = walkSteps(&walk, looked_at, step_cycles, &now);
  free(walk.inputs);
  free(left);
  return sambaTimeScale(cycles, steps, looked_at);
}
