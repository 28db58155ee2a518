/* What gathers, scatters and resampling share; inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_INDEX_INDEXING_H
#define SAMBA_DIALECT_SAMBA_TABLE_INDEX_INDEXING_H

#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/stage_builder.h"

/* A stage with index < 0 ? index + size : index; what is still outside is the machine's fault. */
uint32_t sambaStageWrapIndices(SambaStageGraph *graph, const char *name, const char *layer,
                               uint32_t indices, int64_t size);
/* The dimensions of an index other than `axis` are at most x's. */
SambaStatus sambaCheckIndexFits(unsigned constraint, const SambaTensorType *index,
                                const SambaTensorType *x, uint32_t axis);
/* x[.., indices.., ..]: take along dim, batch_dims as there. */
uint32_t sambaExpandTake(SambaExpansion *expansion, uint32_t x, uint32_t indices, uint32_t dim,
                         uint32_t batch_dims);
/* samba.ravel_index; dim -1: tuples. */
uint32_t sambaExpandRavel(SambaExpansion *expansion, uint32_t indices, uint32_t rank,
                          const int64_t *shape, int64_t dim, int64_t lead);
/* The constant 0, 1, .. count - 1. */
uint32_t sambaExpandCounted(SambaExpansion *expansion, SambaDType dtype, int64_t count);

#endif
