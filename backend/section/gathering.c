/* PMUs that gather what is stored; see gathering.h. */
#include "backend/section/gathering.h"

#include "backend/section/stream_order.h"

#include <string.h>

/* Whether two ports step slots and tokens alike and touch the same elements in the same order. */
static bool sameWalk(const SambaAccess *a, const SambaAccess *b) {
  return a->counter_count == b->counter_count && a->slot_level == b->slot_level &&
         a->token_level == b->token_level && a->base == b->base && !a->guard_count &&
         !b->guard_count && memcmp(a->trips, b->trips, a->counter_count * sizeof *a->trips) == 0 &&
         memcmp(a->strides, b->strides, a->counter_count * sizeof *a->strides) == 0;
}

/* Whether a slot takes each of its elements once. */
static bool visitsOnce(const SambaAccess *access) {
  SambaStreamOrder order = sambaAccessOrder(access, access->slot_level);
  return sambaOrderVisitsOnce(&order);
}

static bool hasManyTokens(const SambaAccess *access) {
  for (uint32_t c = access->slot_level; c < access->token_level; ++c)
    if (access->trips[c] > 1)
      return true;
  return false;
}

bool sambaUnitGathers(const SambaSection *section, const SambaUnit *unit) {
  if (unit->kind != SAMBA_UNIT_BUFFER || unit->buffer.slot_count != 1 || !unit->input_count ||
      !unit->output_count || unit->outputs[0].stream_count != 1)
    return false;
  const SambaStream *stream = &section->streams[unit->outputs[0].streams[0]];
  return stream->destination_count == 1 &&
         section->units[stream->destinations[0].unit].kind == SAMBA_UNIT_STORE &&
         hasManyTokens(&unit->inputs[0].access) &&
         sameWalk(&unit->inputs[0].access, &unit->outputs[0].access) &&
         visitsOnce(&unit->inputs[0].access);
}
