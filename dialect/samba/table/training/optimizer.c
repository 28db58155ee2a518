/* Updates of parameters as compositions: sgd_update, momentum_update, adagrad_update, adam_update,
 * adamw_update.
 *
 * The first operands are the parameter, its gradient and the optimizer's states, the others
 * hyperparameters of one element: (C1) the former have one float dtype, the latter a float dtype,
 * the step i64 or i32; (C2) the former have one shape, the latter one element. All is computed in
 * f32; results are the parameter and the states, rounded once. */
#include "dialect/samba/table/core/expansion.h"
#include "dialect/samba/table/core/rows.h"

#include <stdio.h>

enum { NO_STEP = UINT32_MAX };

/* Which operand is the step; the parameter, gradient and states are `tensors`. */
static uint32_t stepOf(const SambaOperatorCall *call) { return sambaRowOfCall(call)->opcode; }

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t tensors = call->operator->host_scalars;
  const SambaTensorType *parameter = &call->operands[0];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the parameter", parameter->dtype, SAMBA_SET_FLOAT));
  for (uint32_t i = 1; i < call->operand_count; ++i) {
    const SambaTensorType *type = &call->operands[i];
    char what[32];
    snprintf(what, sizeof what, "operand %u", i);
    if (i < tensors) {
      SAMBA_RETURN_IF_ERROR(
          sambaCheckSameDType(1, what, type->dtype, "the parameter", parameter->dtype));
      SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, what, type, parameter->rank, parameter->dims));
      continue;
    }
    SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, what, type->dtype,
                                          i == stepOf(call)
                                              ? 1 << SAMBA_DTYPE_I64 | 1 << SAMBA_DTYPE_I32
                                              : (uint32_t)SAMBA_SET_FLOAT));
    if (sambaTensorTypeElements(type) != 1) {
      char text[160];
      return sambaStatusMake(SAMBA_INVALID, "(C2) %s is %s, but must have one element", what,
                             sambaTensorTypeFormat(type, text));
    }
  }

  for (uint32_t i = 0; i < call->operator->result_count; ++i)
    out[i] = *parameter;
  return NULL;
}

/* ---- Formulas in few words ---- */

static uint32_t add(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "add", a, b);
}
static uint32_t sub(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "sub", a, b);
}
static uint32_t mul(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "mul", a, b);
}
static uint32_t quotient(SambaExpansion *e, uint32_t a, uint32_t b) {
  return sambaExpandBinary(e, "div", a, b);
}
static uint32_t root(SambaExpansion *e, uint32_t x) { return sambaExpandUnary(e, "sqrt", x); }
/* 1 - x */
static uint32_t rest(SambaExpansion *e, uint32_t x) {
  return sub(e, sambaExpandScalar(e, SAMBA_DTYPE_F32, 1), x);
}
/* 1 - x^t */
static uint32_t restOfPower(SambaExpansion *e, uint32_t x, uint32_t t) {
  return rest(e, sambaExpandBinary(e, "pow", x, t));
}
static uint32_t choose(SambaExpansion *e, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(e, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}
static uint32_t isPositive(SambaExpansion *e, uint32_t x) {
  return sambaExpandWithNumber(e, "gt", x, 0);
}

/* All operands in f32; hyperparameters of rank 0. */
static void operandsInF32(SambaExpansion *e, const SambaOperatorCall *call,
                          const uint32_t *operands, uint32_t *out) {
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    out[i] = sambaExpandCast(e, operands[i], SAMBA_DTYPE_F32);
    if (i >= call->operator->host_scalars)
      out[i] = sambaExpandReshape(e, out[i], 0, NULL);
  }
}
static void finish(SambaExpansion *e, const SambaOperatorCall *call, const uint32_t *values,
                   uint32_t *out_results) {
  for (uint32_t i = 0; i < call->operator->result_count; ++i)
    out_results[i] = sambaExpandCast(e, values[i], call->operands[0].dtype);
}

/* ---- Updates ---- */

static SambaStatus decomposeSgd(const SambaOperatorCall *call, SambaExpansion *e,
                                const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[4];
  operandsInF32(e, call, operands, x);
  uint32_t w = x[0];
  uint32_t g = x[1];
  uint32_t lr = x[2];
  uint32_t decay = x[3];
  uint32_t result = sub(e, w, mul(e, lr, add(e, g, mul(e, decay, w))));
  finish(e, call, &result, out_results);
  return NULL;
}

static SambaStatus decomposeMomentum(const SambaOperatorCall *call, SambaExpansion *e,
                                     const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[8];
  operandsInF32(e, call, operands, x);
  uint32_t w = x[0];
  uint32_t v = x[2];
  uint32_t lr = x[3];
  uint32_t t = x[4];
  uint32_t alpha = x[5];
  uint32_t beta = x[6];
  uint32_t decay = x[7];
  uint32_t g = add(e, mul(e, decay, w), x[1]);

  beta = choose(e, isPositive(e, t), beta, sambaExpandScalar(e, SAMBA_DTYPE_F32, 1));
  v = add(e, mul(e, alpha, v), mul(e, beta, g));
  bool nesterov = sambaOperatorCallInt(call, "nesterov", 0) != 0;
  uint32_t results[] = {sub(e, w, mul(e, lr, nesterov ? add(e, g, mul(e, alpha, v)) : v)), v};
  finish(e, call, results, out_results);

  return NULL;
}

static SambaStatus decomposeAdagrad(const SambaOperatorCall *call, SambaExpansion *e,
                                    const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[8];
  operandsInF32(e, call, operands, x);
  uint32_t w = x[0];
  uint32_t s = x[2];
  uint32_t lr = x[3];
  uint32_t t = x[4];
  uint32_t lrDecay = x[5];
  uint32_t eps = x[6];
  uint32_t decay = x[7];
  uint32_t rate = quotient(e, lr, sambaExpandWithNumber(e, "add", mul(e, t, lrDecay), 1));
  uint32_t g = add(e, mul(e, decay, w), x[1]);

  s = add(e, s, mul(e, g, g));
  uint32_t results[] = {sub(e, w, quotient(e, mul(e, rate, g), add(e, root(e, s), eps))), s};
  finish(e, call, results, out_results);
  return NULL;
}

/* decay * old + (1 - decay) * value */
static uint32_t average(SambaExpansion *e, uint32_t decay, uint32_t old, uint32_t value) {
  return add(e, mul(e, decay, old), mul(e, rest(e, decay), value));
}

static SambaStatus decomposeAdam(const SambaOperatorCall *call, SambaExpansion *e,
                                 const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[11];
  operandsInF32(e, call, operands, x);
  uint32_t w = x[0];
  uint32_t lr = x[4];
  uint32_t t = x[5];
  uint32_t alpha = x[6];
  uint32_t beta = x[7];
  uint32_t eps = x[8];
  uint32_t decay = x[9];
  uint32_t post = x[10];
  uint32_t g = add(e, mul(e, decay, w), x[1]);
  uint32_t m = average(e, alpha, x[2], g);
  uint32_t v = average(e, beta, x[3], mul(e, g, g));
  uint32_t corrected =
      quotient(e, mul(e, lr, root(e, restOfPower(e, beta, t))), restOfPower(e, alpha, t));
  uint32_t rate = choose(e, isPositive(e, t), corrected, lr);
  uint32_t moved = sub(e, w, quotient(e, mul(e, rate, m), add(e, root(e, v), eps)));
  uint32_t results[] = {mul(e, rest(e, post), moved), m, v};

  finish(e, call, results, out_results);
  return NULL;
}

static SambaStatus decomposeAdamw(const SambaOperatorCall *call, SambaExpansion *e,
                                  const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[10];
  operandsInF32(e, call, operands, x);
  uint32_t w = x[0];
  uint32_t g = x[1];
  uint32_t lr = x[4];
  uint32_t t = x[5];
  uint32_t beta1 = x[6];
  uint32_t beta2 = x[7];
  uint32_t eps = x[8];
  uint32_t decay = x[9];
  uint32_t m = average(e, beta1, x[2], g);
  uint32_t v = average(e, beta2, x[3], mul(e, g, g));
  uint32_t rate = quotient(e, lr, restOfPower(e, beta1, t));
  uint32_t deviation = add(e, quotient(e, root(e, v), root(e, restOfPower(e, beta2, t))), eps);
  uint32_t kept = mul(e, w, rest(e, mul(e, lr, decay)));
  uint32_t results[] = {sub(e, kept, quotient(e, mul(e, rate, m), deviation)), m, v};

  finish(e, call, results, out_results);
  return NULL;
}

#define ROW(word, function, tensors, results, operands, step, ...)                                 \
  static const SambaAttributeRow word##Attributes[] = {__VA_ARGS__, {0}};                          \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = operands,     \
                                                                 .maximum_operands = operands,     \
                                                                 .attributes = word##Attributes,   \
                                                                 .result_count = results,          \
                                                                 .host_scalars = tensors,          \
                                                                 .infer = infer,                   \
                                                                 .decompose = function},           \
                                                    .dtypes = SAMBA_SET_FLOAT,                     \
                                                    .opcode = (uint8_t)step};
ROW(sgd_update, decomposeSgd, 2, 1, 4, NO_STEP, {0})
ROW(momentum_update, decomposeMomentum, 3, 2, 8, 4,
    {"nesterov", SAMBA_ATTRIBUTE_BOOL, false, "default false"})
ROW(adagrad_update, decomposeAdagrad, 3, 2, 8, 4, {0})
ROW(adam_update, decomposeAdam, 4, 3, 11, 5, {0})
ROW(adamw_update, decomposeAdamw, 4, 3, 10, 5, {0})
