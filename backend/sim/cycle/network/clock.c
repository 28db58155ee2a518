/* The clock; see clock.h. */
#include "backend/sim/cycle/network/clock.h"

#include <string.h>

void sambaClockInit(SambaClock *clock, SambaArena *arena,
                    const uint32_t part_counts[SAMBA_PART_KINDS]) {
  *clock = (SambaClock){0};
  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind) {
    SambaAlarms *alarms = &clock->alarms[kind];
    alarms->words = part_counts[kind] / 64 + 1;
    alarms->sets = SAMBA_ARENA_ARRAY(arena, uint64_t, (size_t)alarms->words *SAMBA_CLOCK_AHEAD);
    alarms->woken = SAMBA_ARENA_ARRAY(arena, uint32_t, part_counts[kind]);
    alarms->due = SAMBA_ARENA_ARRAY(arena, uint64_t, part_counts[kind]);
    for (uint32_t part = 0; part < part_counts[kind]; ++part)
      alarms->due[part] = SAMBA_NEVER;
  }
}

static uint64_t *setOf(const SambaAlarms *alarms, uint64_t cycle) {
  return alarms->sets + cycle % SAMBA_CLOCK_AHEAD * alarms->words;
}

void sambaClockEnter(SambaClock *clock, SambaPartKind kind, uint32_t part, uint64_t at) {
  SambaAlarms *alarms = &clock->alarms[kind];
  uint64_t last = clock->now + SAMBA_CLOCK_AHEAD - 1;
  at = at < last ? at : last;
  if (at >= alarms->due[part])
    return;
  alarms->due[part] = at;

  uint64_t *word = &setOf(alarms, at)[part / 64], bit = UINT64_C(1) << (part % 64);
  bool is_new = !(*word & bit);
  *word |= bit;
  alarms->sizes[at % SAMBA_CLOCK_AHEAD] += is_new;
  clock->entries += is_new;
}

bool sambaClockAdvance(SambaClock *clock) {
  if (!clock->entries)
    return false;
  for (;; ++clock->now)
    for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind)
      if (clock->alarms[kind].sizes[clock->now % SAMBA_CLOCK_AHEAD])
        return true;
}

const uint32_t *sambaClockTake(SambaClock *clock, SambaPartKind kind, size_t *out_count) {
  SambaAlarms *alarms = &clock->alarms[kind];
  uint32_t *size = &alarms->sizes[clock->now % SAMBA_CLOCK_AHEAD];
  uint64_t *set = setOf(alarms, clock->now);
  size_t count = 0;

  for (uint32_t w = 0; *size && w < alarms->words; ++w)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      uint32_t part = w * 64 + (uint32_t)__builtin_ctzll(rest);
      if (alarms->due[part] != clock->now)
        continue; /* it was woken earlier, and has looked on its own since */
      alarms->due[part] = SAMBA_NEVER;
      alarms->woken[count++] = part;
    }

  memset(set, 0, *size ? alarms->words * sizeof *set : 0);
  clock->entries -= *size;
  *size = 0;
  *out_count = count;
  return alarms->woken;
}
