/* Uses of lanes; see lane_uses.h. */
#include "backend/section/fabric/lane_uses.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* By row and column of the switch, then direction, kind, address generator, port and lane. */
static uint64_t laneOf(SambaStreamKind kind, const SambaHop *hop, bool entering) {
  const SambaSwitchLane *lane = entering ? &hop->in : &hop->out;
  uint64_t ag = lane->port == SAMBA_SWITCH_AG ? lane->ag : 0;
  uint64_t place = (uint64_t)(uint16_t)hop->y << 16 | (uint16_t)hop->x;
  return place << 32 | (uint64_t)entering << 31 | (uint64_t)kind << 28 | ag << 12 |
         (uint64_t)lane->port << 8 | lane->lane;
}
_Static_assert(SAMBA_STREAM_CONTROL < 8 && SAMBA_SWITCH_AG < 16, "fields of a lane's number");

/* Stable, digit by digit from the least one; digits that all lanes share need no pass. Returns
 * where the result stands: uses or spare. */
static SambaFabricUse *sortByLane(SambaFabricUse *uses, SambaFabricUse *spare, size_t count) {
  uint64_t varying = 0;
  for (size_t i = 1; i < count; ++i)
    varying |= uses[i].lane ^ uses[0].lane;

  for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
    size_t first[DIGITS] = {0}, before = 0;
    if (!(varying >> shift & (DIGITS - 1)))
      continue;
    for (size_t i = 0; i < count; ++i)
      ++first[uses[i].lane >> shift & (DIGITS - 1)];
    for (uint32_t digit = 0; digit < DIGITS; ++digit) {
      size_t own = first[digit];
      first[digit] = before;
      before += own;
    }
    for (size_t i = 0; i < count; ++i)
      spare[first[uses[i].lane >> shift & (DIGITS - 1)]++] = uses[i];
    SambaFabricUse *sorted = spare;
    spare = uses;
    uses = sorted;
  }
  return uses;
}

SambaFabricUse *sambaFabricUses(const SambaSection *section, SambaArena *arena, size_t *out_count) {
  size_t most = 0, count = 0, kept = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    most += 2 * (size_t)section->streams[s].hop_count;
  SambaFabricUse *uses = SAMBA_ARENA_ARRAY(arena, SambaFabricUse, most);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    for (uint32_t h = 0; h < stream->hop_count && stream->kind != SAMBA_STREAM_CONTROL; ++h) {
      const SambaHop *hop = &stream->hops[h];
      uses[count++] = (SambaFabricUse){laneOf(stream->kind, hop, false), s, h, false};
      if (hop->in.port >= SAMBA_SWITCH_UNIT)
        uses[count++] = (SambaFabricUse){laneOf(stream->kind, hop, true), s, h, true};
    }
  }

  uses = sortByLane(uses, SAMBA_ARENA_ARRAY(arena, SambaFabricUse, count), count);
  for (size_t i = 0; i < count; ++i)
    if (!kept || uses[i].lane != uses[kept - 1].lane || uses[i].stream != uses[kept - 1].stream)
      uses[kept++] = uses[i];
  *out_count = kept;
  return uses;
}
