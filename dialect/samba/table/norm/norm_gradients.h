/* Gradients of normalizations. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_NORM_NORM_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_NORM_NORM_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientLayerNorm)
RULE(sambaGradientNativeLayerNorm)
RULE(sambaGradientRmsNorm)
RULE(sambaGradientGroupNorm)
RULE(sambaGradientBatchNorm)
RULE(sambaGradientBatchNormTraining)
RULE(sambaGradientMeanVarianceNorm)
RULE(sambaGradientNormalize)
RULE(sambaGradientLocalResponseNorm)
#undef RULE

#endif
