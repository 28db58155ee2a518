/* Gradients of convolutions and transposed convolutions. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CONVOLUTION_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CONVOLUTION_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientConvolution)
RULE(sambaGradientTransposedConvolution)
RULE(sambaGradientWeightGradient)
#undef RULE

#endif
