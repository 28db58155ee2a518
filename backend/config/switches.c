/* Entries of switches to records and back; see switches.h. */
#include "backend/config/switches.h"

static bool isOfOneSwitch(const SambaSwitchEntry *a, const SambaSwitchEntry *b) {
  return a->y == b->y && a->x == b->x && a->kind == b->kind;
}

SambaSwitchRecord *sambaSwitchRecordsMake(SambaSwitchEntry *entries, uint32_t entry_count,
                                          SambaArena *arena, uint32_t *out_count) {
  uint32_t count = 0;
  for (uint32_t e = 0; e < entry_count; ++e)
    count += e == 0 || !isOfOneSwitch(&entries[e - 1], &entries[e]);
  SambaSwitchRecord *switches = SAMBA_ARENA_ARRAY(arena, SambaSwitchRecord, count);

  SambaSwitchRecord *next = switches;
  for (uint32_t e = 0; e < entry_count; ++e) {
    if (e == 0 || !isOfOneSwitch(&entries[e - 1], &entries[e]))
      *next++ = (SambaSwitchRecord){
          .x = entries[e].x, .y = entries[e].y, .kind = entries[e].kind, .entries = &entries[e]};
    ++next[-1].entry_count;
  }

  *out_count = count;
  return switches;
}

SambaStatus sambaSwitchRecordsJoin(const SambaSwitchRecord *switches, uint32_t switch_count,
                                   SambaArena *arena, SambaSwitchEntry **out_entries,
                                   uint32_t *out_count) {
  size_t count = 0;
  for (uint32_t s = 0; s < switch_count; ++s)
    count += switches[s].entry_count;
  SambaSwitchEntry *entries = SAMBA_ARENA_ARRAY(arena, SambaSwitchEntry, count);

  uint32_t next = 0;
  for (uint32_t s = 0; s < switch_count; ++s) {
    const SambaSwitchRecord *from = &switches[s];
    if (!from->entry_count)
      return sambaStatusMake(SAMBA_INVALID, "switch (%d, %d) has 0 entries, expected at least 1",
                             from->x, from->y);
    for (uint32_t e = 0; e < from->entry_count; ++e, ++next) {
      entries[next] = from->entries[e];
      entries[next].x = from->x;
      entries[next].y = from->y;
      entries[next].kind = from->kind;
      if (next && sambaSwitchEntryCompare(&entries[next - 1], &entries[next]) >= 0)
        return sambaStatusMake(SAMBA_INVALID,
                               "switch (%d, %d): entry %u is out of order, expected ascending "
                               "switches and entries",
                               from->x, from->y, e);
      if (next && e == 0 && isOfOneSwitch(&entries[next - 1], &entries[next]))
        return sambaStatusMake(SAMBA_INVALID,
                               "switch (%d, %d) has two records of one kind, expected one", from->x,
                               from->y);
    }
  }

  *out_entries = entries;
  *out_count = next;
  return NULL;
}
