/* Running sums in another order; see sums.h. */
#include "backend/sim/value/unit/sums.h"

#include "backend/section/access.h"

#include <string.h>

SambaSumsWalk *sambaSumsWalkCreate(SambaArena *arena, const SambaUnit *unit, const int64_t *from,
                                   const int64_t *to) {
  const SambaCompute *compute = &unit->compute;
  const uint32_t inner = compute->counter_count - compute->token_level;
  SambaSumsWalk *walk = SAMBA_ARENA_NEW(arena, SambaSumsWalk);
  walk->trips = SAMBA_ARENA_ARRAY(arena, uint64_t, inner + 1);
  walk->from = SAMBA_ARENA_ARRAY(arena, int64_t, inner + 1);
  walk->to = SAMBA_ARENA_ARRAY(arena, int64_t, inner + 1);

  for (uint32_t c = compute->token_level; c < compute->counter_count; ++c) {
    const int64_t trip = compute->trips[c];
    uint32_t at = walk->rank;
    if (trip == 1 || compute->program.reduce_mask >> c & 1)
      continue;
    if (at && walk->from[at - 1] == from[c] * trip && walk->to[at - 1] == to[c] * trip)
      --at;
    else
      walk->trips[walk->rank++] = 1;
    walk->trips[at] *= (uint64_t)trip;
    walk->from[at] = from[c], walk->to[at] = to[c];
  }

  if (walk->rank == 0)
    walk->trips[walk->rank++] = 1;
  walk->copies = walk->rank == 1 && walk->from[0] == walk->to[0] && walk->to[0] <= 1;
  return walk;
}

void sambaSumsMove(const SambaSumsWalk *walk, const uint32_t *from, uint32_t *to) {
  const uint32_t last = walk->rank - 1;
  const uint64_t count = walk->trips[last];
  const int64_t read = walk->from[last], write = walk->to[last];
  uint64_t counters[SAMBA_MAX_COUNTERS] = {0};

  for (;;) {
    if (read == 1 && write == 1)
      memcpy(to, from, count * sizeof *to);
    for (uint64_t i = 0; i < count && (read != 1 || write != 1); ++i)
      to[(int64_t)i * write] = from[(int64_t)i * read];

    uint32_t d = last;
    for (;;) {
      if (d == 0)
        return;
      --d;
      from += walk->from[d], to += walk->to[d];
      if (++counters[d] < walk->trips[d])
        break;
      from -= walk->from[d] * (int64_t)walk->trips[d];
      to -= walk->to[d] * (int64_t)walk->trips[d];
      counters[d] = 0;
    }
  }
}
