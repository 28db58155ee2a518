/* Results of searches that are known already.
 *
 * Growing a section by a group, planning it for less of the machine or along other loops asks for
 * the same group within the same limits again and again. A memo knows the last few thousand results
 * by everything they follow from; what it knows is what the search would find. Any number of
 * threads may use one. */
#ifndef SAMBA_BACKEND_PLAN_SEARCH_MEMO_H
#define SAMBA_BACKEND_PLAN_SEARCH_MEMO_H

#include "backend/plan/plan_internal.h"

typedef struct SambaSearchMemo SambaSearchMemo;

/* Whoever keeps it has a reference; the last one to release it destroys it. */
SambaSearchMemo *sambaSearchMemoCreate(void);
SambaSearchMemo *sambaSearchMemoRetain(SambaSearchMemo *memo);
void sambaSearchMemoRelease(SambaSearchMemo *memo);

/* The number under which results for groups like this one are known: of equal content as far as a
 * search looks at it, on machines of equal parameters. How many rows and columns of units a machine
 * has it does not look at: the limits say what a group may use. */
uint64_t sambaSearchMemoKind(SambaSearchMemo *memo, const SambaStageGraph *graph,
                             const SambaGroup *group, const SambaMachine *machine);

/* False when the result is not known. out_work: what the search took. *out_found: whether there is
 * a choice; all of it is filled in but what its nest points to. */
bool sambaSearchMemoFind(SambaSearchMemo *memo, uint64_t kind, const SambaGroupLimits *limits,
                         uint32_t operand_count, uint64_t *out_work, bool *out_found,
                         SambaGroupChoice *out_choice);
/* trace: what the search did. choice: NULL when there is none. */
void sambaSearchMemoKeep(SambaSearchMemo *memo, uint64_t kind, const SambaGroupLimits *limits,
                         uint32_t operand_count, const SambaSearchTrace *trace,
                         const SambaGroupChoice *choice);

#endif
