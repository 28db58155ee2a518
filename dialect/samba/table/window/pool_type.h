/* What a pool's window is, for its stages and its gradient; inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_WINDOW_POOL_TYPE_H
#define SAMBA_DIALECT_SAMBA_TABLE_WINDOW_POOL_TYPE_H

#include "dialect/samba/table/core/rows.h"

/* The size of the input along spatial dimension i. */
static inline int64_t sambaPoolInputSize(const SambaOperatorCall *call, uint32_t i) {
  return call->operands[0].dims[sambaImageAxis(call->operator, 2 + i)];
}
SambaStatus sambaPoolWindow(const SambaOperatorCall *call, SambaWindow *out);
/* The elements of the window at `place` along spatial dimension i that an average divides by: those
 * within the padded input, or without padding within the input. */
int64_t sambaPoolCount(const SambaOperatorCall *call, const SambaWindow *window, uint32_t i,
                       int64_t place);

#endif
