/* The clock; see clock.h. */
#include "backend/sim/cycle/network/clock.h"

#include <string.h>

void sambaClockInit(SambaClock *clock, SambaArena *arena, uint64_t least,
                    const uint32_t part_counts[SAMBA_PART_KINDS]) {
  uint32_t bits = 0;
  while (1u << bits < SAMBA_CLOCK_LONGEST && UINT64_C(2) << bits <= least)
    ++bits;
  *clock = (SambaClock){.window = UINT32_C(1) << bits};

  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind) {
    SambaAlarms *alarms = &clock->alarms[kind];
    alarms->bits = kind == SAMBA_PART_UNIT ? bits : 0;
    alarms->parts = part_counts[kind];
    alarms->words = part_counts[kind] / 64 + 1;
    alarms->ahead = kind == SAMBA_PART_CROSSING ? SAMBA_CLOCK_CROSSINGS_AHEAD : SAMBA_CLOCK_AHEAD;
    alarms->sets = SAMBA_ARENA_ARRAY(arena, uint64_t, (size_t)alarms->words * alarms->ahead);
    alarms->woken = SAMBA_ARENA_ARRAY(arena, uint32_t, part_counts[kind]);
    alarms->due = SAMBA_ARENA_ARRAY(arena, uint32_t, part_counts[kind]);
    for (uint32_t part = 0; part < part_counts[kind]; ++part)
      alarms->due[part] = UINT32_MAX;
  }
}

/* Is a part in a set of the window that begins at `cycle`? */
static bool someoneIsWoken(const SambaClock *clock, uint64_t cycle) {
  for (int kind = 0; kind < SAMBA_PART_KINDS; ++kind) {
    const SambaAlarms *alarms = &clock->alarms[kind];
    uint64_t end = cycle + clock->window;
    if (alarms->bits == 0) /* sets of cycles do not reach as far as those of windows */
      end = sambaEarlier(end, clock->now + alarms->ahead);
    for (uint64_t at = cycle; at < end; at += 1u << alarms->bits)
      if (alarms->used[(at >> alarms->bits) % alarms->ahead])
        return true;
  }
  return false;
}

bool sambaClockAdvance(SambaClock *clock) {
  uint64_t cycle = clock->now - clock->now % clock->window;
  for (uint32_t i = 0; i < SAMBA_CLOCK_AHEAD; ++i, cycle += clock->window)
    if (someoneIsWoken(clock, cycle)) {
      clock->now = cycle;
      return true;
    }
  return false;
}

const uint32_t *sambaClockTake(SambaClock *clock, SambaPartKind kind, uint64_t at,
                               size_t *out_count) {
  SambaAlarms *alarms = &clock->alarms[kind];
  uint32_t place = (uint32_t)(at >> alarms->bits) % SAMBA_CLOCK_AHEAD;
  uint64_t *set = &alarms->sets[(size_t)place * alarms->words];
  size_t count = 0;
  *out_count = 0;
  if (!alarms->used[place])
    return alarms->woken;

  for (uint32_t w = 0; w < alarms->words; ++w)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      uint32_t part = w * 64 + (uint32_t)__builtin_ctzll(rest);
      alarms->woken[count] = part;
      count += alarms->due[part] >> alarms->bits == at >> alarms->bits;
    }
  memset(set, 0, alarms->words * sizeof *set);
  alarms->used[place] = false;
  *out_count = count;
  return alarms->woken;
}

static void takeOver(SambaAlarms *alarms, SambaAlarms *from, uint32_t place) {
  uint64_t *set = &from->sets[(size_t)place * from->words];
  for (uint32_t w = 0; w < from->words; set[w++] = 0)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      uint32_t part = w * 64 + (uint32_t)__builtin_ctzll(rest), at = from->due[part];
      from->due[part] = UINT32_MAX;
      if (at >= alarms->due[part])
        continue;
      alarms->due[part] = at;
      sambaClockEnter(alarms, part, at);
    }
  from->used[place] = false;
}

void sambaClockTakeOver(SambaClock *clock, SambaClock *from) {
  for (int kind = 0; kind < SAMBA_PART_CROSSING; ++kind)
    for (uint32_t place = 0; place < SAMBA_CLOCK_AHEAD; ++place)
      if (from->alarms[kind].used[place])
        takeOver(&clock->alarms[kind], &from->alarms[kind], place);
  sambaClockTakeOverCrossings(clock, from);
}

void sambaClockTakeOverCrossings(SambaClock *clock, SambaClock *from) {
  SambaAlarms *alarms = &clock->alarms[SAMBA_PART_CROSSING];
  SambaAlarms *other = &from->alarms[SAMBA_PART_CROSSING];
  for (uint32_t place = 0; place < SAMBA_CLOCK_CROSSINGS_AHEAD; ++place) {
    alarms->used[place] |= other->used[place];
    alarms->looks_again[place] |= other->looks_again[place];
    other->used[place] = other->looks_again[place] = false;
  }
}

bool sambaClockIsIdle(const SambaClock *clock) {
  for (int kind = 0; kind < SAMBA_PART_CROSSING; ++kind)
    for (uint32_t part = 0; part < clock->alarms[kind].parts; ++part)
      if (clock->alarms[kind].due[part] != UINT32_MAX)
        return false;
  for (uint32_t place = 0; place < SAMBA_CLOCK_CROSSINGS_AHEAD; ++place)
    if (clock->alarms[SAMBA_PART_CROSSING].used[place])
      return false;
  return true;
}
