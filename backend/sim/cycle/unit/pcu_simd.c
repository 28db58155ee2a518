/* SIMD bodies; see pcu_simd.h. A step covers up to `lanes` points along the innermost counter. */
#include "backend/sim/cycle/unit/pcu_simd.h"

static bool hasInner(const SambaPcu *pcu) { return pcu->counter_count > 0; }
static uint32_t innermostOf(const SambaPcu *pcu) { return pcu->counter_count - 1; }

static SambaPcuStep nextStep(const SambaPcu *pcu) {
  bool sums_end =
      pcu->program.outer_reduced == 1 || (pcu->firing + 1) % pcu->program.outer_reduced == 0;
  SambaPcuStep step = {1, sums_end, true};
  if (!hasInner(pcu))
    return step;

  const SambaPcuCounter *innermost = &pcu->counters[innermostOf(pcu)];
  step.points = sambaEarlier(pcu->program.lanes, innermost->trips - innermost->at);
  for (const SambaPcuCounter *counter = pcu->counters; counter <= innermost; ++counter) {
    uint64_t after = counter->at + (counter == innermost ? step.points : 1);
    bool last = after == counter->trips;
    step.ends_firing &= last;
    step.ends_sums &= last || !counter->is_reduced;
  }
  return step;
}

/* Elements of an input's token that have been used after the step. */
static uint64_t elementsUsed(const SambaPcu *pcu, SambaPcuInput *input, const SambaPcuStep *step) {
  bool last_use = !input->follows || (pcu->firing + 1) % input->period == 0;
  if (step->ends_firing && last_use)
    return input->vectors.token_elements;
  if (input->follows && !step->ends_sums)
    return input->needed;

  int64_t stride = hasInner(pcu) ? input->strides[innermostOf(pcu)] : 0;
  int64_t last = input->index;
  if (stride > 0)
    last += stride * (int64_t)(step->points - 1);
  uint64_t elements = last < 0 ? 0 : (uint64_t)last + 1;
  input->needed = sambaLater(input->needed, elements);
  return input->needed;
}

/* Elements and vectors of an output that a step makes. */
static uint64_t elementsMade(const SambaPcu *pcu, const SambaPcuOutput *output,
                             const SambaPcuStep *step) {
  if (!output->follows)
    return step->points;
  if (!step->ends_sums)
    return 0;
  bool folds = hasInner(pcu) && pcu->counters[innermostOf(pcu)].is_reduced;
  return folds ? 1 : step->points;
}

static uint64_t vectorsMade(const SambaPcu *pcu, const SambaPcuOutput *output,
                            const SambaPcuStep *step) {
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

static void makeOutputs(SambaPcu *pcu, uint64_t now, const SambaPcuStep *step) {
  uint64_t results = 0;
  for (uint32_t p = 0; p < pcu->output_count; ++p) {
    SambaPcuOutput *output = &pcu->outputs[p];
    uint64_t vectors = output->makes;
    if (output->follows && vectors && !results)
      results = resultsReady(
          pcu, now, sambaEarlier(output->vectors.vector_elements, output->vectors.token_elements));
    uint64_t ready = output->follows ? results : now + pcu->program.latency;
    pcu->sends |= vectors > 0;
    for (uint64_t v = 0; v < vectors; ++v)
      sambaOutputPortEnter(&output->vectors, ready + v);
    output->elements += elementsMade(pcu, output, step);
    if (output->elements >= output->vectors.token_elements)
      output->elements = 0;
  }
}

static void moveInputs(SambaPcu *pcu, uint32_t counter, int64_t steps) {
  for (uint32_t p = 0; p < pcu->input_count; ++p)
    pcu->inputs[p].index += steps * pcu->inputs[p].strides[counter];
}

static void endFiring(SambaPcu *pcu) {
  ++pcu->firing;
  sambaPcuNextTokens(pcu);
}

static void advance(SambaPcu *pcu, const SambaPcuStep *step) {
  uint64_t by = step->points;
  for (uint32_t c = pcu->counter_count; c-- > 0; by = 1) {
    SambaPcuCounter *counter = &pcu->counters[c];
    counter->at += (uint32_t)by;
    moveInputs(pcu, c, (int64_t)by);
    if (counter->at < counter->trips)
      return;
    counter->at = 0;
    moveInputs(pcu, c, -(int64_t)counter->trips);
  }
  endFiring(pcu);
}

/* Cycles until the body can take the next step: passes through the stages, or the tail. */
static uint64_t stepCycles(SambaPcu *pcu) {
  const SambaPcuProgram *program = &pcu->program;
  if (!program->body_tail)
    return program->body_passes;
  uint64_t before = (pcu->tail_work + program->tail_rate - 1) / program->tail_rate;
  pcu->tail_work += program->body_tail;
  uint64_t after = (pcu->tail_work + program->tail_rate - 1) / program->tail_rate;
  return sambaLater(program->body_passes, after - before);
}

/* The next step, what it needs and what it makes. */
static void prepare(SambaPcu *pcu) {
  pcu->step = nextStep(pcu);
  for (uint32_t p = 0; p < pcu->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    input->need = sambaPcuNeed(input, input->token, elementsUsed(pcu, input, &pcu->step));
  }
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    pcu->outputs[p].makes = vectorsMade(pcu, &pcu->outputs[p], &pcu->step);
  pcu->is_prepared = true;
}

SambaDoes sambaPcuStepLanes(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  uint64_t now = network->clock->now;
  if (pcu->firing == pcu->firings)
    return sambaPcuIsDone(pcu) ? SAMBA_DOES_NOTHING : SAMBA_AWAITS_OUTPUT;
  if (pcu->step_free_at > now) {
    sambaKeepEarlier(wake, pcu->step_free_at);
    return SAMBA_DOES_WORK;
  }

  if (!pcu->is_prepared)
    prepare(pcu);
  SambaPcuStep step = pcu->step;
  for (uint32_t p = 0; p < pcu->output_count; ++p) {
    const SambaPcuOutput *output = &pcu->outputs[p];
    if (output->makes > output->vectors.stages - output->vectors.in_flight)
      return SAMBA_AWAITS_OUTPUT;
  }

  bool complete = true;
  for (uint32_t p = 0; p < pcu->input_count; ++p)
    complete &= sambaPcuHas(&pcu->inputs[p], network, &pcu->inputs[p].need, wake);
  for (uint32_t p = 0; p < pcu->input_count && !complete; ++p)
    sambaPcuTakeAhead(&pcu->inputs[p], network, &pcu->inputs[p].need, wake);
  if (!complete)
    return SAMBA_AWAITS_INPUT;

  for (uint32_t p = 0; p < pcu->input_count; ++p)
    sambaPcuUse(&pcu->inputs[p], network, &pcu->inputs[p].need);
  makeOutputs(pcu, now, &step);
  pcu->flops += step.points * pcu->program.flops_before;
  pcu->multiply_adds += step.points * pcu->program.multiply_adds;
  if (step.ends_sums)
    pcu->flops += pcu->program.flops_after;
  advance(pcu, &step);
  pcu->is_prepared = false;
  pcu->step_free_at = now + stepCycles(pcu);
  sambaKeepEarlier(wake, pcu->step_free_at);
  return SAMBA_DOES_WORK;
}
