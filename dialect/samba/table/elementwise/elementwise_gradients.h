/* Gradients of elementwise operators: f'(x or y) * g, summed over broadcast dimensions. Ties are
 * those of torch.autograd. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_GRADIENTS_H

#include "dialect/samba/table/core/differentiate.h"

#define RULE(name) SambaStatus name(const SambaGradientCall *gradient, SambaExpansion *e);
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

/* What such a row says. */
#define SAMBA_BY_SLOPE(name) .differentiate = sambaGradientBySlope, .slope = sambaSlope##name

#define SLOPE(name)                                                                                \
  uint32_t sambaSlope##name(const SambaOperatorCall *call, SambaExpansion *e, uint32_t x,          \
                            uint32_t y);
SLOPE(Abs)
SLOPE(Exp)
SLOPE(Log)
SLOPE(Sqrt)
SLOPE(Rsqrt)
SLOPE(Tanh)
SLOPE(Erf)
SLOPE(Sin)
SLOPE(Cos)
SLOPE(Expm1)
SLOPE(Log1p)
SLOPE(Reciprocal)
SLOPE(Atan)
SLOPE(Tan)
SLOPE(Asin)
SLOPE(Acos)
SLOPE(Sinh)
SLOPE(Cosh)
SLOPE(Asinh)
SLOPE(Acosh)
SLOPE(Atanh)
SLOPE(Sigmoid)
SLOPE(Silu)
SLOPE(Softplus)
SLOPE(Logsigmoid)
SLOPE(Hardswish)
SLOPE(LeakyRelu)
SLOPE(Elu)
SLOPE(Celu)
SLOPE(Selu)
SLOPE(Hardsigmoid)
SLOPE(Gelu)
SLOPE(Softsign)
SLOPE(Mish)
#undef SLOPE

#endif
