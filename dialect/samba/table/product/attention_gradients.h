/* The gradient of attention; see differentiate.h. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_ATTENTION_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_ATTENTION_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

SambaStatus sambaGradientAttention(const SambaGradientCall *gradient, SambaExpansion *expansion);

#endif
