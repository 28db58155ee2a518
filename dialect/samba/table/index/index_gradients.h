/* Gradients of gathers, scatters and orders. Sums go over indices ascending, in f32. Inside the
 * operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_INDEX_INDEX_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_INDEX_INDEX_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientTake)
RULE(sambaGradientGather)
RULE(sambaGradientScatterRows)
RULE(sambaGradientMatchReduce)
RULE(sambaGradientTriangle)
#undef RULE

#endif
