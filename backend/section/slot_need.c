/* What a slot of a buffer must hold; see slot_need.h. */
#include "backend/section/slot_need.h"

#include "support/number/integer.h"

/* The outermost counter within a slot that has several steps; the access's counter_count where only
 * those of a token have. */
static uint32_t outermost(const SambaAccess *access) {
  uint32_t c = access->slot_level;
  while (c < access->token_level && access->trips[c] == 1)
    ++c;
  return c < access->token_level ? c : access->counter_count;
}

/* The words that a counter with steps over several slots goes through: stride * trips. 0: it does
 * not go forward. */
static uint64_t extentOf(const SambaAccess *access, uint32_t counter) {
  if (counter == access->counter_count || access->strides[counter] <= 0)
    return 0;
  return (uint64_t)access->strides[counter] * access->trips[counter];
}

/* Whether a step of the cut leaves behind all that the other counters touch: they step whole
 * extents, or stay within a part together. */
static bool fitsCut(const SambaAccess *access, uint32_t outer, SambaSlotCut cut) {
  const int64_t extent = (int64_t)(cut.stride * cut.parts);
  int64_t least = access->base % extent, most = least;
  if (access->base < 0)
    return false;
  for (uint32_t c = 0; c < access->counter_count; ++c) {
    int64_t trips = access->trips[c], stride = access->strides[c], span;
    if (c < access->slot_level && stride != 0)
      return false;
    if (c == outer)
      trips /= (int64_t)cut.parts;
    else if (stride % extent == 0)
      continue;
    if (sambaMulOverflows(stride, trips - 1, &span) ||
        sambaAddOverflows(span < 0 ? least : most, span, span < 0 ? &least : &most))
      return false;
  }
  return least >= 0 && most < (int64_t)cut.stride;
}

static const SambaAccess *accessOf(const SambaUnit *unit, uint32_t port) {
  return port < unit->input_count ? &unit->inputs[port].access
                                  : &unit->outputs[port - unit->input_count].access;
}

SambaSlotCut sambaSlotCut(const SambaUnit *unit) {
  const SambaSlotCut none = {1, 0};
  const SambaAccess *first = accessOf(unit, 0);
  const uint64_t extent = extentOf(first, outermost(first));
  SambaSlotCut cut = {0, 0};
  if (unit->buffer.loop_carried || unit->buffer.in_place || !extent ||
      unit->buffer.slot_elements % extent)
    return none;

  uint32_t count = unit->input_count + unit->output_count;
  for (uint32_t p = 0; p < count; ++p) {
    const SambaAccess *access = accessOf(unit, p);
    uint32_t outer = outermost(access);
    if (extentOf(access, outer) != extent)
      return none;
    cut.parts = sambaGreatestDivisor(cut.parts, access->trips[outer]);
  }

  cut.stride = extent / cut.parts;
  for (uint32_t p = 0; p < count; ++p)
    if (!fitsCut(accessOf(unit, p), outermost(accessOf(unit, p)), cut))
      return none;
  return cut;
}
