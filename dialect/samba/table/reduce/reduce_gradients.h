/* Gradients of reductions and of what normalizes along a dimension. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_REDUCE_REDUCE_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_REDUCE_REDUCE_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientSum)
RULE(sambaGradientMean)
RULE(sambaGradientSoftmax)
RULE(sambaGradientLogSoftmax)
RULE(sambaGradientExtreme)
RULE(sambaGradientProd)
RULE(sambaGradientCumsum)
RULE(sambaGradientLogsumexp)
RULE(sambaGradientSort) /* of sort and topk */
#undef RULE

#endif
