/* What both bodies share; see pcu_state.h. */
#include "backend/sim/cycle/unit/pcu_state.h"

bool sambaPcuIsDone(const SambaPcu *pcu) {
  bool done = pcu->firing == pcu->firings && !pcu->sums_from;
  for (uint32_t p = 0; p < pcu->unit->output_count; ++p)
    done &= !pcu->outputs[p].vectors.in_flight && !pcu->outputs[p].waiting;
  return done;
}

uint64_t sambaPcuTaken(const SambaPcuInput *input, uint64_t token) {
  return input->vectors.tokens > token ? input->vectors.vectors : input->vectors.taken;
}

bool sambaPcuHas(const SambaPcuInput *input, const SambaNetwork *network, uint64_t token,
                 uint64_t elements, uint64_t *wake) {
  uint64_t touched = sambaInputPortVectorsOf(&input->vectors, elements);
  uint64_t used_up = sambaInputPortWholeVectorsOf(&input->vectors, elements);
  uint64_t taken = sambaPcuTaken(input, token);
  uint64_t now = network->clock->now;
  if (touched <= taken)
    return true;

  uint64_t at = sambaInputPortHeadAt(&input->vectors, network);
  if (at <= now && used_up > taken + 1)
    return false;
  if (at <= now && touched > taken + 1)
    at = sambaInputPortSecondAt(&input->vectors, network);
  if (at > now)
    sambaKeepEarlier(wake, at);
  return at <= now;
}

void sambaPcuTakeAhead(SambaPcuInput *input, SambaNetwork *network, uint64_t token,
                       uint64_t elements, uint64_t *wake) {
  uint64_t touched = sambaInputPortVectorsOf(&input->vectors, elements);
  uint64_t now = network->clock->now;
  if (touched <= sambaPcuTaken(input, token) + 1 ||
      sambaInputPortHeadAt(&input->vectors, network) > now)
    return;
  sambaInputPortTake(&input->vectors, network);
  sambaKeepEarlier(wake, now + 1);
}

void sambaPcuUse(SambaPcuInput *input, SambaNetwork *network, uint64_t token, uint64_t elements) {
  uint64_t used_up = sambaInputPortWholeVectorsOf(&input->vectors, elements);
  if (sambaPcuTaken(input, token) < used_up)
    sambaInputPortTake(&input->vectors, network);
}
