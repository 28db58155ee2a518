/* What is done; see state.h. */
#include "backend/sim/progress/state.h"

bool sambaProgressActorIsDone(const SambaProgress *progress, uint32_t actor) {
  uint32_t index = progress->actor_units[actor];
  const SambaUnit *unit = &progress->section->units[index];
  const SambaProgressUnit *state = &progress->units[index];
  if (sambaProgressIsArray(unit))
    return sambaArrayIsDone(&state->array);
  if (unit->kind == SAMBA_UNIT_COMPUTE)
    return sambaLanesAreDone(&state->lanes);
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return sambaSlotsPortIsDone(&state->slots, actor - state->actor_first);
  return sambaProgressGeneratorIsDone(&state->generator);
}
