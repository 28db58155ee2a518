/* The clock; see clock.h. */
#include "backend/sim/cycle/network/clock.h"

#include <stdlib.h>

void sambaClockInit(SambaClock *clock, SambaArena *arena,
                    const uint32_t part_counts[SAMBA_PART_KINDS]) {
  *clock = (SambaClock){0};
  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind) {
    clock->due[kind] = SAMBA_ARENA_ARRAY(arena, uint64_t, part_counts[kind]);
    for (uint32_t part = 0; part < part_counts[kind]; ++part)
      clock->due[kind][part] = SAMBA_NEVER;
  }
}

void sambaClockFree(SambaClock *clock) {
  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind)
    for (int slot = 0; slot < SAMBA_CLOCK_AHEAD; ++slot)
      free(clock->lists[kind][slot].data);
}

void sambaClockEnter(SambaClock *clock, SambaPartKind kind, uint32_t part, uint64_t at) {
  uint64_t last = clock->now + SAMBA_CLOCK_AHEAD - 1;
  at = at < last ? at : last;
  if (at >= clock->due[kind][part])
    return;
  clock->due[kind][part] = at;
  sambaArrayAppend(&clock->lists[kind][at % SAMBA_CLOCK_AHEAD], part);
  ++clock->listed;
}

bool sambaClockAdvance(SambaClock *clock) {
  if (!clock->listed)
    return false;
  for (;; ++clock->now) {
    uint64_t slot = clock->now % SAMBA_CLOCK_AHEAD;
    for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind)
      if (clock->lists[kind][slot].size)
        return true;
  }
}
