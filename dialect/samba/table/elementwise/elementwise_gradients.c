/* Gradients of elementwise operators; see elementwise_gradients.h. */
#include "dialect/samba/table/elementwise/elementwise_gradients.h"

#include "dialect/samba/table/core/gradient_calls.h"

/* Operand `i` as the call read it. */
static uint32_t operand(const SambaGradientCall *gradient, uint32_t i) {
  return gradient->operands[i];
}

SambaStatus sambaGradientAdd(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, g);
  sambaGradientBroadcast(gradient, e, 1, g);
  return NULL;
}

SambaStatus sambaGradientSub(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, g);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, e, 1, gradientNeg(e, g));
  return NULL;
}

SambaStatus sambaGradientMul(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  for (uint32_t i = 0; i < 2; ++i)
    if (gradient->needed[i])
      sambaGradientBroadcast(gradient, e, i, gradientMul(e, g, operand(gradient, 1 - i)));
  return NULL;
}

/* a / b: g / b, and -(g / b) * (a / b) */
SambaStatus sambaGradientDiv(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t quotient = gradientDiv(e, sambaGradientOfResult(gradient), operand(gradient, 1));
  sambaGradientBroadcast(gradient, e, 0, quotient);
  if (gradient->needed[1])
    sambaGradientBroadcast(gradient, e, 1,
                           gradientNeg(e, gradientMul(e, quotient, gradient->results[0])));
  return NULL;
}

SambaStatus sambaGradientNeg(const SambaGradientCall *gradient, SambaExpansion *e) {
  sambaGradientBroadcast(gradient, e, 0, gradientNeg(e, sambaGradientOfResult(gradient)));
  return NULL;
}

SambaStatus sambaGradientExp(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, gradientMul(e, g, gradient->results[0]));
  return NULL;
}

SambaStatus sambaGradientLog(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t g = sambaGradientOfResult(gradient);
  sambaGradientBroadcast(gradient, e, 0, gradientDiv(e, g, operand(gradient, 0)));
  return NULL;
}

/* 0 at 0; a NaN passes the gradient on, as it does in torch. */
SambaStatus sambaGradientRelu(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t cut = sambaExpandWithNumber(e, "le", gradient->results[0], 0);
  uint32_t g = sambaGradientOfResult(gradient);
  uint32_t zero = sambaExpandScalar(e, sambaExpansionType(e, g)->dtype, 0);
  sambaGradientBroadcast(gradient, e, 0, gradientWhere(e, cut, zero, g));
  return NULL;
}
