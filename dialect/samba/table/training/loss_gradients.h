/* Gradients of losses. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_TRAINING_LOSS_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_TRAINING_LOSS_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientNllLoss)
RULE(sambaGradientCrossEntropy)
RULE(sambaGradientKlDiv)
RULE(sambaGradientBinaryCrossEntropy)
#undef RULE

#endif
