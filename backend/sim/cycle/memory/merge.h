/* Reads that are under way, so that others of the same burst can wait for them
 * (ag_merge_outstanding). */
#ifndef SAMBA_BACKEND_SIM_CYCLE_MEMORY_MERGE_H
#define SAMBA_BACKEND_SIM_CYCLE_MEMORY_MERGE_H

#include "support/base/memory.h"

typedef struct SambaMergedRead {
  uint64_t burst, done; /* done: as in SambaBurstRequest */
  uint64_t waiting;     /* who refers to it */
  struct SambaMergedRead *next;
} SambaMergedRead;

enum { SAMBA_MERGE_LISTS = 4096 };

typedef struct SambaMergeTable {
  SambaArena *arena;
  bool used;
  SambaMergedRead *lists[SAMBA_MERGE_LISTS], *free;
} SambaMergeTable;

/* The read of the burst that is under way at `now`, its data still in memory; NULL: there is
 * none. */
SambaMergedRead *sambaMergeTableFind(const SambaMergeTable *table, uint64_t burst, uint64_t now,
                                     uint64_t way_back);
/* Enters a read that was just asked for; the caller refers to it. */
SambaMergedRead *sambaMergeTableEnter(SambaMergeTable *table, uint64_t burst);
/* The caller refers to it no more. */
void sambaMergeTableLeave(SambaMergeTable *table, SambaMergedRead *read);

#endif
