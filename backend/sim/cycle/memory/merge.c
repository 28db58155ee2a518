/* Merged reads; see merge.h. */
#include "backend/sim/cycle/memory/merge.h"

static SambaMergedRead **listOf(SambaMergeTable *table, uint64_t burst) {
  return &table->lists[(burst * UINT64_C(0x9E3779B97F4A7C15) >> 40) % SAMBA_MERGE_LISTS];
}

SambaMergedRead *sambaMergeTableFind(const SambaMergeTable *table, uint64_t burst, uint64_t now,
                                     uint64_t way_back) {
  SambaMergedRead *read = *listOf((SambaMergeTable *)table, burst);
  for (; read; read = read->next) {
    bool in_memory = read->done == UINT64_MAX || read->done > now + way_back;
    if (read->burst == burst && in_memory)
      return read;
  }
  return NULL;
}

SambaMergedRead *sambaMergeTableEnter(SambaMergeTable *table, uint64_t burst) {
  SambaMergedRead *read = table->free;
  if (read)
    table->free = read->next;
  else
    read = SAMBA_ARENA_NEW(table->arena, SambaMergedRead);
  SambaMergedRead **list = listOf(table, burst);
  *read = (SambaMergedRead){burst, UINT64_MAX, 1, *list};
  *list = read;
  return read;
}

void sambaMergeTableLeave(SambaMergeTable *table, SambaMergedRead *read) {
  if (--read->waiting)
    return;
  SambaMergedRead **place = listOf(table, read->burst);
  while (*place != read)
    place = &(*place)->next;
  *place = read->next;
  read->next = table->free;
  table->free = read;
}
