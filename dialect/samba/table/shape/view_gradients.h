/* Gradients of operators that move elements: the inverse view, or the sum over what was repeated.
 * Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_SHAPE_VIEW_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_SHAPE_VIEW_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientReshape)
RULE(sambaGradientPermute)
RULE(sambaGradientExpand)
RULE(sambaGradientSlice)
RULE(sambaGradientPad)
RULE(sambaGradientCat)
#undef RULE

#endif
