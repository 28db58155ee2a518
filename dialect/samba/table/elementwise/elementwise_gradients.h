/* Gradients of elementwise operators: f'(x or y) * g, summed over broadcast dimensions. Ties are
 * those of torch.autograd. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H

#include "dialect/samba/table/core/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *e);
RULE(sambaGradientAdd)
RULE(sambaGradientSub)
RULE(sambaGradientMul)
RULE(sambaGradientDiv)
RULE(sambaGradientNeg)
RULE(sambaGradientExp)
RULE(sambaGradientLog)
RULE(sambaGradientRelu)
#undef RULE

#endif
