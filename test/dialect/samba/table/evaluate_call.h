/* Evaluates a call of any operator for tests: its stages naively, views by their maps, composites
 * by the calls that they are made of. */
#ifndef SAMBA_TEST_DIALECT_SAMBA_TABLE_EVALUATE_CALL_H
#define SAMBA_TEST_DIALECT_SAMBA_TABLE_EVALUATE_CALL_H

#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/registry/registry.h"
#include "support/base/memory.h"

/* Values are one double per element, as the dtype can hold it; results are allocated from the arena
 * and out_types filled. Also checks every stage graph as the planner does. */
SambaStatus evaluateCall(SambaArena *arena, const SambaOperatorCall *call, double *const *operands,
                         SambaTensorType *out_types, double **out_values);

/* The same by the decomposition of a composite, also where it has stages. */
SambaStatus evaluateDecomposed(SambaArena *arena, const SambaOperatorCall *call,
                               double *const *operands, SambaTensorType *out_types,
                               double **out_values);

/* All steps of an expansion. values: per value of it, the first ones filled; results are allocated
 * from the arena. */
SambaStatus evaluateExpansion(SambaArena *arena, const SambaExpansion *expansion, double **values);

#endif
