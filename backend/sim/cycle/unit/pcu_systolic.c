/* Systolic bodies; see pcu_systolic.h.
 *
 * A pass takes a k step of both operands every step_cycles cycles, and as many steps as the array
 * has rows at least. Then its sums go to the shadow accumulators, from where a vector per cycle
 * enters the pipeline, and the next pass begins. A pass whose sums find the shadow accumulators in
 * use waits. Without them the next pass begins when the sums have left. */
#include "backend/sim/cycle/unit/pcu_systolic.h"

static uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator) {
  uint64_t product;
  if (!__builtin_mul_overflow(value, numerator, &product) && product <= UINT64_MAX - denominator)
    return (product + denominator - 1) / denominator;
  return (uint64_t)(((__uint128_t)value * numerator + denominator - 1) / denominator);
}

static bool sumsGoOn(const SambaPcu *pcu) {
  return (pcu->firing + 1) % pcu->program.outer_reduced != 0;
}

/* Inputs that join the sums when they leave, and what the next vector of sums needs of them: is it
 * at hand? Or it is used, or what comes before its last vector is taken. */
typedef enum { ARE_THERE, ARE_USED, ARE_TAKEN_AHEAD } Joining;

static bool joins(SambaPcu *pcu, const SambaPcuOutput *output, SambaNetwork *network,
                  Joining joining, uint64_t *wake) {
  uint64_t vectors = output->vectors.vectors;
  uint64_t sums = output->drained / vectors; /* whole tokens before */
  uint64_t place = output->drained % vectors + 1;
  bool complete = true;

  for (uint32_t p = 0; p < pcu->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    if (!input->follows)
      continue;
    uint64_t token = sums * pcu->program.outer_reduced / input->period;
    uint64_t elements = input->vectors.token_elements;
    if (input->port->token_elements >= output->port->token_elements)
      elements = scale(elements, place, vectors);
    SambaPcuNeed need = sambaPcuNeed(input, token, elements);
    if (joining == ARE_USED)
      sambaPcuUse(input, network, &need);
    else if (joining == ARE_TAKEN_AHEAD)
      sambaPcuTakeAhead(input, network, &need, wake);
    else
      complete &= sambaPcuHas(input, network, &need, wake);
  }
  return complete;
}

/* Lets one vector of each output leave the accumulators. False: something holds one up. */
static bool drain(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  const SambaPcuProgram *program = &pcu->program;
  uint64_t now = network->clock->now;
  bool waits = false, entered = false;

  for (uint32_t p = 0; p < pcu->output_count; ++p) {
    SambaPcuOutput *output = &pcu->outputs[p];
    if (!output->waiting)
      continue;
    if (pcu->after_free_at > now)
      sambaKeepEarlier(wake, pcu->after_free_at);
    bool free = pcu->after_free_at <= now && sambaOutputPortHasStage(&output->vectors);
    bool complete = free && joins(pcu, output, network, ARE_THERE, wake);
    if (free)
      joins(pcu, output, network, complete ? ARE_USED : ARE_TAKEN_AHEAD, wake);
    if (!complete) {
      waits = true;
      continue;
    }
    sambaOutputPortEnter(&output->vectors, now + program->latency);
    pcu->sends = true;
    ++output->drained;
    --output->waiting;
    entered = true;
  }
  pcu->sums_wait = false;
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    pcu->sums_wait |= pcu->outputs[p].waiting > 0;

  if (entered) {
    uint64_t tail = (program->after_tail + program->tail_rate - 1) / program->tail_rate;
    uint64_t size = pcu->outputs[0].vectors.vector_elements;
    uint64_t groups = sambaLater(1, (size + program->lanes - 1) / program->lanes);
    uint64_t interval = sambaLater(program->after_passes, tail);
    pcu->after_free_at = now + (interval > 1 ? groups * interval : 1);
    sambaKeepEarlier(wake, pcu->after_free_at);
  }
  return !waits;
}

/* The pass is through: its sums go to the shadow accumulators. */
static void handOver(SambaPcu *pcu, const SambaMachine *machine, uint64_t now) {
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    pcu->outputs[p].waiting = pcu->outputs[p].vectors.vectors;
  pcu->sums_wait = pcu->output_count > 0;
  pcu->sums_from = 0;
  if (!machine->systolic_shadow)
    pcu->step_free_at = sambaLater(pcu->step_free_at, now + pcu->program.latency);
}

/* What a k step needs of an operand, where that is not as much in every one. */
static void prepareUneven(const SambaPcu *pcu, SambaPcuInput *input, uint64_t step) {
  uint64_t depth = pcu->program.depth;
  uint64_t elements = scale(input->vectors.token_elements, sambaEarlier(step, depth), depth);
  input->need = sambaPcuNeed(input, input->token, elements);
  input->seen = step > 1 ? input->seen : 0;
}

/* What the next k step needs of an operand. */
static inline void prepareOperand(const SambaPcu *pcu, SambaPcuInput *input) {
  uint64_t step = pcu->pass_step + 1;
  if (!input->share || step >= pcu->program.depth) {
    prepareUneven(pcu, input, step);
    return;
  }
  if (step == 1) {
    input->need = (SambaPcuNeed){.token = input->token};
    input->begun = input->seen = 0;
  }
  input->begun += input->share;
  for (; input->begun >= input->vector_elements; ++input->need.used_up)
    input->begun -= input->vector_elements;
  input->need.touched = input->need.used_up + (input->begun > 0);
}

static void prepare(SambaPcu *pcu) {
  const uint32_t *operands = pcu->program.operands;
  prepareOperand(pcu, &pcu->inputs[operands[0]]);
  if (operands[1] != operands[0])
    prepareOperand(pcu, &pcu->inputs[operands[1]]);
  pcu->is_prepared = true;
}

/* What the sums start at comes in beside the operands, a vector per step, also while these are
 * missing; it is all there when the pass ends. */
static bool startIsThere(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  const SambaPcuProgram *program = &pcu->program;
  if (program->start == SAMBA_NO_INDEX)
    return true;
  SambaPcuInput *input = &pcu->inputs[program->start];
  uint64_t token = input->token;
  uint64_t now = network->clock->now;
  uint64_t needed = input->vectors.vectors;

  bool last = pcu->pass_step + 1 == program->pass_steps;
  uint64_t due = last ? needed : sambaEarlier(pcu->pass_step + 1, needed);

  if (sambaPcuTaken(input, token) < due && sambaInputPortHeadAt(&input->vectors, network) <= now)
    sambaInputPortTake(&input->vectors, network);
  if (sambaPcuTaken(input, token) < due) {
    uint64_t head_at = sambaInputPortHeadAt(&input->vectors, network);
    if (head_at != SAMBA_NEVER)
      sambaKeepEarlier(wake, sambaLater(now + 1, head_at));
    return !last;
  }
  return true;
}

/* A k step of the array. */
static void stepArray(SambaPcu *pcu, uint64_t now) {
  const SambaPcuProgram *program = &pcu->program;
  pcu->step_free_at = now + program->step_cycles;
  pcu->is_prepared = false;
  if (++pcu->pass_step < program->pass_steps)
    return;

  pcu->pass_step = 0;
  uint64_t sums = program->rows * program->columns;
  pcu->flops += sums * program->depth * program->flops_before;
  pcu->multiply_adds += sums * program->depth * program->multiply_adds;
  if (!sumsGoOn(pcu)) {
    pcu->flops += sums * program->flops_after;
    pcu->sums_from = pcu->step_free_at;
  }
  ++pcu->firing;
  sambaPcuNextTokens(pcu);
}

/* Does the next k step find what it needs of an operand at hand? */
static bool findsOperand(SambaPcuInput *input, const SambaNetwork *network, uint64_t *wake) {
  if (!sambaPcuHas(input, network, &input->need, wake))
    return false;
  input->seen = input->need.touched;
  return true;
}

/* The same. What an earlier step has seen is at hand. */
static inline bool hasOperand(SambaPcuInput *input, const SambaNetwork *network, uint64_t *wake) {
  return input->need.touched <= input->seen || findsOperand(input, network, wake);
}

static SambaDoes body(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  const SambaPcuProgram *program = &pcu->program;
  uint64_t now = network->clock->now;

  if (pcu->step_free_at > now) {
    sambaKeepEarlier(wake, pcu->step_free_at);
    return SAMBA_DOES_WORK;
  }
  if (pcu->sums_from) {
    if (pcu->sums_wait)
      return SAMBA_AWAITS_OUTPUT;
    handOver(pcu, network->machine, now);
    drain(pcu, network, wake);
  }
  if (pcu->firing == pcu->firings)
    return sambaPcuIsDone(pcu) ? SAMBA_DOES_NOTHING : SAMBA_AWAITS_OUTPUT;
  bool alone = !network->machine->systolic_shadow;
  if (pcu->step_free_at > now)
    sambaKeepEarlier(wake, pcu->step_free_at);
  if (pcu->step_free_at > now || (alone && pcu->sums_wait))
    return SAMBA_AWAITS_OUTPUT;

  if (!pcu->is_prepared)
    prepare(pcu);
  SambaPcuInput *a = &pcu->inputs[program->operands[0]];
  SambaPcuInput *b = &pcu->inputs[program->operands[1]];
  bool complete = hasOperand(a, network, wake);
  complete &= hasOperand(b, network, wake);
  complete &= startIsThere(pcu, network, wake);
  if (!complete) {
    sambaPcuTakeAhead(a, network, &a->need, wake);
    sambaPcuTakeAhead(b, network, &b->need, wake);
    return SAMBA_AWAITS_INPUT;
  }
  sambaPcuUse(a, network, &a->need);
  sambaPcuUse(b, network, &b->need);
  stepArray(pcu, now);
  sambaKeepEarlier(wake, pcu->step_free_at);
  return SAMBA_DOES_WORK;
}

SambaDoes sambaPcuStepArray(SambaPcu *pcu, SambaNetwork *network, uint64_t *wake) {
  if (pcu->sums_wait)
    drain(pcu, network, wake);
  return body(pcu, network, wake);
}
