/* Gradients of losses, and what both they and losses need. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_TRAINING_LOSS_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_TRAINING_LOSS_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientNllLoss)
RULE(sambaGradientCrossEntropy)
RULE(sambaGradientKlDiv)
RULE(sambaGradientBinaryCrossEntropy)
#undef RULE

/* 1 at the target's class, else 0, in f32: x's shape. Whoever needs it as a part of a larger
 * formula asks for it where that begins: alone it would go through memory. */
uint32_t sambaExpandOneHot(SambaExpansion *expansion, const SambaTensorType *x, uint32_t target);

#endif
