/* SIMD bodies; see pcu_simd.h. A step covers up to `lanes` points along the innermost counter. */
#include "backend/sim/cycle/unit/pcu_simd.h"

/* One step: its points, and what it ends. */
typedef struct Step {
  uint64_t points;
  bool ends_sums;   /* every reduced counter is at its last value */
  bool ends_firing; /* every inner counter is */
} Step;

static uint32_t innermostOf(const SambaUnit *unit) { return unit->compute.counter_count - 1; }
static bool hasInner(const SambaUnit *unit) {
  return unit->compute.counter_count > unit->compute.token_level;
}

static Step nextStep(const SambaPcu *pcu) {
  const SambaUnit *unit = pcu->unit;
  bool sums_end = (pcu->firing + 1) % pcu->program.outer_reduced == 0;
  Step step = {1, sums_end, true};
  if (!hasInner(unit))
    return step;

  uint32_t innermost = innermostOf(unit);
  uint64_t left = unit->compute.trips[innermost] - pcu->counters[innermost];
  step.points = sambaEarlier(pcu->program.lanes, left);
  for (uint32_t c = unit->compute.token_level; c <= innermost; ++c) {
    uint64_t after = pcu->counters[c] + (c == innermost ? step.points : 1);
    bool last = after == unit->compute.trips[c];
    step.ends_firing &= last;
    step.ends_sums &= last || !sambaPcuCounterIsReduced(unit, c);
  }
  return step;
}

/* Elements of an input's token that have been used after the step. */
static uint64_t elementsUsed(const SambaPcu *pcu, SambaPcuInput *input, const Step *step) {
  bool last_use = !input->follows || (pcu->firing + 1) % input->period == 0;
  if (step->ends_firing && last_use)
    return input->vectors.token_elements;
  if (input->follows && !step->ends_sums)
    return input->needed;

  int64_t stride = 0;
  if (hasInner(pcu->unit))
    stride = input->port->compute.strides[innermostOf(pcu->unit)];
  int64_t last = input->index;
  if (stride > 0)
    last += stride * (int64_t)(step->points - 1);
  uint64_t elements = last < 0 ? 0 : (uint64_t)last + 1;
  input->needed = sambaLater(input->needed, elements);
  return input->needed;
}

/* Elements and vectors of an output that a step makes. */
static uint64_t elementsMade(const SambaPcu *pcu, const SambaPcuOutput *output, const Step *step) {
  if (!output->follows)
    return step->points;
  if (!step->ends_sums)
    return 0;
  bool folds = hasInner(pcu->unit) && sambaPcuCounterIsReduced(pcu->unit, innermostOf(pcu->unit));
  return folds ? 1 : step->points;
}

static uint64_t vectorsMade(const SambaPcu *pcu, const SambaPcuOutput *output, const Step *step) {
  uint64_t size = output->vectors.vector_elements;
  uint64_t before = output->elements / size;
  uint64_t after = output->elements + elementsMade(pcu, output, step);
  if (after >= output->vectors.token_elements)
    return output->vectors.vectors - sambaEarlier(before, output->vectors.vectors);
  return after / size - before;
}

/* The cycle at which results of the reduction that become whole now come out: they start from the
 * accumulators in the next cycle, and go through stages and tail at their own rate. */
static uint64_t resultsReady(SambaPcu *pcu, uint64_t now, uint64_t elements) {
  const SambaPcuProgram *program = &pcu->program;
  uint64_t interval = sambaLater(
      program->after_passes, (program->after_tail + program->tail_rate - 1) / program->tail_rate);
  uint64_t groups = sambaLater(1, (elements + program->lanes - 1) / program->lanes);
  uint64_t begin = sambaLater(now + 1, pcu->after_free_at);
  pcu->after_free_at = begin + groups * interval;
  return begin + (groups - 1) * interval + program->latency;
}

static void makeOutputs(SambaPcu *pcu, uint64_t now, const Step *step) {
  uint64_t results = 0;
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p) {
    SambaPcuOutput *output = &pcu->outputs[p];
    uint64_t vectors = vectorsMade(pcu, output, step);
    if (output->follows && vectors && !results)
      results = resultsReady(
          pcu, now, sambaEarlier(output->vectors.vector_elements, output->vectors.token_elements));
    uint64_t ready = output->follows ? results : now + pcu->program.latency;
    for (uint64_t v = 0; v < vectors; ++v)
      sambaOutputPortEnter(&output->vectors, ready + v);
    output->elements += elementsMade(pcu, output, step);
    if (output->elements >= output->vectors.token_elements)
      output->elements = 0;
  }
}

static void moveInputs(SambaPcu *pcu, uint32_t counter, int64_t steps) {
  for (uint32_t p = 0; p < pcu->unit->input_count; ++p)
    pcu->inputs[p].index += steps * pcu->inputs[p].port->compute.strides[counter];
}

static void endFiring(SambaPcu *pcu) {
  ++pcu->firing;
  for (uint32_t p = 0; p < pcu->unit->input_count; ++p)
    if (pcu->firing % pcu->inputs[p].period == 0)
      pcu->inputs[p].needed = 0;
}

static void advance(SambaPcu *pcu, const Step *step) {
  const SambaUnit *unit = pcu->unit;
  uint64_t by = step->points;
  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level; by = 1) {
    uint64_t trips = unit->compute.trips[c];
    pcu->counters[c] += by;
    moveInputs(pcu, c, (int64_t)by);
    if (pcu->counters[c] < trips)
      return;
    pcu->counters[c] = 0;
    moveInputs(pcu, c, -(int64_t)trips);
  }
  endFiring(pcu);
}

/* Cycles until the body can take the next step: passes through the stages, or the tail. */
static uint64_t stepCycles(SambaPcu *pcu) {
  const SambaPcuProgram *program = &pcu->program;
  uint64_t before = (pcu->tail_work + program->tail_rate - 1) / program->tail_rate;
  pcu->tail_work += program->body_tail;
  uint64_t after = (pcu->tail_work + program->tail_rate - 1) / program->tail_rate;
  return sambaLater(program->body_passes, after - before);
}

SambaDoes sambaPcuStepLanes(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  uint64_t now = network->clock->now;
  if (pcu->firing == pcu->firings)
    return sambaPcuIsDone(pcu) ? SAMBA_DOES_NOTHING : SAMBA_AWAITS_OUTPUT;
  if (pcu->step_free_at > now) {
    sambaKeepEarlier(wake, pcu->step_free_at);
    return SAMBA_DOES_WORK;
  }

  Step step = nextStep(pcu);
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p) {
    const SambaOutputPort *port = &pcu->outputs[p].vectors;
    if (vectorsMade(pcu, &pcu->outputs[p], &step) > port->stages - port->in_flight)
      return SAMBA_AWAITS_OUTPUT;
  }

  bool complete = true;
  for (uint32_t p = 0; p < pcu->unit->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    uint64_t token = pcu->firing / input->period;
    complete &= sambaPcuHas(input, network, token, elementsUsed(pcu, input, &step), wake);
  }
  for (uint32_t p = 0; p < pcu->unit->input_count && !complete; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    sambaPcuTakeAhead(input, network, pcu->firing / input->period, elementsUsed(pcu, input, &step),
                      wake);
  }
  if (!complete)
    return SAMBA_AWAITS_INPUT;

  for (uint32_t p = 0; p < pcu->unit->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    sambaPcuUse(input, network, pcu->firing / input->period, elementsUsed(pcu, input, &step));
  }
  makeOutputs(pcu, now, &step);
  pcu->flops += step.points * pcu->program.flops_before;
  pcu->multiply_adds += step.points * pcu->program.multiply_adds;
  if (step.ends_sums)
    pcu->flops += pcu->program.flops_after;
  advance(pcu, &step);
  pcu->step_free_at = now + stepCycles(pcu);
  sambaKeepEarlier(wake, pcu->step_free_at);
  return SAMBA_DOES_WORK;
}
