/* Gradients of products: each operand's gradient is a product with the roles exchanged. Inside the
 * operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_PRODUCT_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_PRODUCT_PRODUCT_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientLinear)
RULE(sambaGradientMatmul)
#undef RULE

#endif
