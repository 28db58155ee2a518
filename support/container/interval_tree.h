/* A set of ranges of numbers, each with a value: finds those that overlap a range without a look at
 * the others. */
#ifndef SAMBA_SUPPORT_CONTAINER_INTERVAL_TREE_H
#define SAMBA_SUPPORT_CONTAINER_INTERVAL_TREE_H

#include "support/base/memory.h"

typedef struct SambaIntervalTree { /* zero-initialize */
  SambaArena arena;
  struct SambaIntervalNode *root, *free_nodes;
} SambaIntervalTree;

typedef SAMBA_ARRAY(uint32_t) SambaIntervalValues;

/* Adds [begin, end). No two ranges that begin at the same number have the same value. */
void sambaIntervalTreeInsert(SambaIntervalTree *tree, uint64_t begin, uint64_t end, uint32_t value);
/* Takes it out again; false when there is no such range. */
bool sambaIntervalTreeRemove(SambaIntervalTree *tree, uint64_t begin, uint32_t value);
/* Appends the values of the ranges that share a number with [begin, end), by their begins. */
void sambaIntervalTreeFind(const SambaIntervalTree *tree, uint64_t begin, uint64_t end,
                           SambaIntervalValues *values);
void sambaIntervalTreeFree(SambaIntervalTree *tree);

#endif
