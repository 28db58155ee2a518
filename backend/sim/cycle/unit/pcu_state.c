/* What both bodies share; see pcu_state.h. */
#include "backend/sim/cycle/unit/pcu_state.h"

bool sambaPcuHasEnded(const SambaPcu *pcu) {
  if (pcu->sums_from)
    return false;
  bool done = true;
  for (uint32_t p = 0; p < pcu->output_count; ++p)
    done &= !pcu->outputs[p].vectors.in_flight && !pcu->outputs[p].waiting;
  return done;
}

void sambaPcuNextTokens(SambaPcu *pcu) {
  for (uint32_t p = 0; p < pcu->input_count; ++p) {
    SambaPcuInput *input = &pcu->inputs[p];
    uint64_t token = pcu->firing / input->period;
    if (token != input->token)
      input->needed = 0;
    input->token = token;
  }
}

SambaPcuNeed sambaPcuNeed(const SambaPcuInput *input, uint64_t token, uint64_t elements) {
  const SambaInputPort *port = &input->vectors;
  if (elements >= port->token_elements)
    return (SambaPcuNeed){token, port->vectors, port->vectors};
  uint64_t whole = sambaEarlier(elements / port->vector_elements, port->vectors);
  bool more = whole * port->vector_elements < elements;
  return (SambaPcuNeed){token, (uint32_t)(whole + more), (uint32_t)whole};
}

void sambaPcuTakeAhead(SambaPcuInput *input, SambaNetwork *network, const SambaPcuNeed *need,
                       uint64_t *wake) {
  uint64_t now = network->clock->now;
  if (need->touched <= sambaPcuTaken(input, need->token) + 1 ||
      sambaInputPortHeadAt(&input->vectors, network) > now)
    return;
  sambaInputPortTake(&input->vectors, network);
  sambaKeepEarlier(wake, now + 1);
}
