/* Gradients of elementwise operators: f'(x or y) * g, summed over broadcast dimensions. Ties are
 * those of torch.autograd. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H

#include "dialect/samba/table/calls/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *expansion);
RULE(sambaGradientAdd)
RULE(sambaGradientSub)
RULE(sambaGradientMul)
RULE(sambaGradientDiv)
RULE(sambaGradientPow)
RULE(sambaGradientMaximum)
RULE(sambaGradientMinimum)
RULE(sambaGradientFmod)
RULE(sambaGradientRemainder)
RULE(sambaGradientPrelu)
RULE(sambaGradientWhere)
RULE(sambaGradientNeg)
RULE(sambaGradientSame)
RULE(sambaGradientContiguousBackward)
RULE(sambaGradientCast)
RULE(sambaGradientRelu)
RULE(sambaGradientClamp)
RULE(sambaGradientThreshold)
RULE(sambaGradientShrink)
RULE(sambaGradientBySlope) /* of rows that have a slope */
#undef RULE

/* Such a row says BY_SLOPE(slopeName), a function that begins with SLOPE(slopeName) and reads some
 * of its arguments. */
#define BY_SLOPE(function) .differentiate = sambaGradientBySlope, .slope = function
#define SLOPE(name)                                                                                \
  static uint32_t name(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,       \
                       uint32_t y)
#define SLOPE_IGNORES (void)call, (void)expansion, (void)x, (void)y

#endif
