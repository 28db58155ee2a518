/* Gradients of pools: what flows into a window goes to its largest element, or to all of them.
 * Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_WINDOW_POOL_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_WINDOW_POOL_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientMaxPool)
RULE(sambaGradientAveragePool)
RULE(sambaGradientLpPool)
#undef RULE

#endif
