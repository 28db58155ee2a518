/* Updates of parameters as compositions.
 *
 * The first operands are the parameter, its gradient and the optimizer's states, the others
 * hyperparameters of one element. All is computed in f32; results are the parameter and the states,
 * rounded once. Where the last state is a master, a copy of the parameter in f32, it is what the
 * step is taken from; the parameter is no operand then, and its result has the gradient's type. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/rows.h"

#include <math.h>
#include <stdio.h>

static bool isStep(const SambaOperatorCall *call, uint32_t operand) {
  return strcmp(call->operator->operands[operand], "step") == 0;
}

static bool hasMaster(const SambaOperatorCall *call) { return call->operator->states == 1; }

/* The operand that has the type of result number i: of its old value, or the gradient. */
static uint32_t typeOfResult(const SambaOperatorCall *call, uint32_t result) {
  return result && !hasMaster(call) ? result + 1 : result;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t tensors = call->operator->host_scalars;
  const SambaTensorType *parameter = &call->operands[0];
  const char *name = hasMaster(call) ? "the gradient" : "the parameter";

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, name, parameter->dtype, SAMBA_SET_FLOAT));
  for (uint32_t i = 1; i < call->operand_count; ++i) {
    const SambaTensorType *type = &call->operands[i];
    char what[32];
    snprintf(what, sizeof what, "operand %u", i);
    if (i < tensors) {
      bool state = call->operator->states && i >= call->operator->states;
      if (!state || type->dtype != SAMBA_DTYPE_F32)
        SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, what, type->dtype, name, parameter->dtype));
      SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, what, type, parameter->rank, parameter->dims));
      continue;
    }
    SAMBA_RETURN_IF_ERROR(sambaCheckDType(
        1, what, type->dtype,
        isStep(call, i) ? 1 << SAMBA_DTYPE_I64 | 1 << SAMBA_DTYPE_I32 : (uint32_t)SAMBA_SET_FLOAT));
    if (sambaTensorTypeElements(type) != 1) {
      char text[160];
      return sambaStatusMake(SAMBA_INVALID, "(C2) %s is %s, but must have one element", what,
                             sambaTensorTypeFormat(type, text));
    }
  }

  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i)
    out[i] = call->operands[typeOfResult(call, i)];
  return NULL;
}

/* ---- Formulas in few words ---- */

static uint32_t add(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "add", a, b);
}
static uint32_t sub(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "sub", a, b);
}
static uint32_t mul(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "mul", a, b);
}
static uint32_t quotient(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "div", a, b);
}
static uint32_t root(SambaExpansion *expansion, uint32_t x) {
  return sambaExpandUnary(expansion, "sqrt", x);
}
/* 1 - x */
static uint32_t rest(SambaExpansion *expansion, uint32_t x) {
  return sub(expansion, sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1), x);
}
/* 1 - x^t */
static uint32_t restOfPower(SambaExpansion *expansion, uint32_t x, uint32_t t) {
  return rest(expansion, sambaExpandBinary(expansion, "pow", x, t));
}
static uint32_t choose(SambaExpansion *expansion, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}
static uint32_t isPositive(SambaExpansion *expansion, uint32_t x) {
  return sambaExpandWithNumber(expansion, "gt", x, 0);
}

/* All operands in f32; hyperparameters of rank 0. */
static void operandsInF32(SambaExpansion *expansion, const SambaOperatorCall *call,
                          const uint32_t *operands, uint32_t *out) {
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    out[i] = sambaExpandCast(expansion, operands[i], SAMBA_DTYPE_F32);
    if (i >= call->operator->host_scalars)
      out[i] = sambaExpandReshape(expansion, out[i], 0, NULL);
  }
}
static void finish(SambaExpansion *expansion, const SambaOperatorCall *call, const uint32_t *values,
                   uint32_t *out_results) {
  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i)
    out_results[i] =
        sambaExpandCast(expansion, values[i], call->operands[typeOfResult(call, i)].dtype);
}

/* ---- Updates ---- */

static SambaStatus decomposeSgd(const SambaOperatorCall *call, SambaExpansion *expansion,
                                const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[4];
  operandsInF32(expansion, call, operands, x);
  uint32_t w = x[0];
  uint32_t g = x[1];
  uint32_t lr = x[2];
  uint32_t decay = x[3];
  uint32_t result =
      sub(expansion, w, mul(expansion, lr, add(expansion, g, mul(expansion, decay, w))));
  finish(expansion, call, &result, out_results);
  return NULL;
}

static SambaStatus decomposeMomentum(const SambaOperatorCall *call, SambaExpansion *expansion,
                                     const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[8];
  operandsInF32(expansion, call, operands, x);
  uint32_t w = x[0];
  uint32_t v = x[2];
  uint32_t lr = x[3];
  uint32_t t = x[4];
  uint32_t alpha = x[5];
  uint32_t beta = x[6];
  uint32_t decay = x[7];
  uint32_t g = add(expansion, mul(expansion, decay, w), x[1]);

  beta = choose(expansion, isPositive(expansion, t), beta,
                sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1));
  v = add(expansion, mul(expansion, alpha, v), mul(expansion, beta, g));
  bool nesterov = sambaOperatorCallInt(call, "nesterov") != 0;
  uint32_t results[] = {
      sub(expansion, w,
          mul(expansion, lr, nesterov ? add(expansion, g, mul(expansion, alpha, v)) : v)),
      v};
  finish(expansion, call, results, out_results);

  return NULL;
}

static SambaStatus decomposeAdagrad(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[8];
  operandsInF32(expansion, call, operands, x);
  uint32_t w = x[0];
  uint32_t s = x[2];
  uint32_t lr = x[3];
  uint32_t t = x[4];
  uint32_t lrDecay = x[5];
  uint32_t eps = x[6];
  uint32_t decay = x[7];
  uint32_t rate = quotient(expansion, lr,
                           sambaExpandWithNumber(expansion, "add", mul(expansion, t, lrDecay), 1));
  uint32_t g = add(expansion, mul(expansion, decay, w), x[1]);

  s = add(expansion, s, mul(expansion, g, g));
  uint32_t results[] = {
      sub(expansion, w,
          quotient(expansion, mul(expansion, rate, g), add(expansion, root(expansion, s), eps))),
      s};
  finish(expansion, call, results, out_results);
  return NULL;
}

/* decay * old + (1 - decay) * value */
static uint32_t average(SambaExpansion *expansion, uint32_t decay, uint32_t old, uint32_t value) {
  return add(expansion, mul(expansion, decay, old), mul(expansion, rest(expansion, decay), value));
}

static SambaStatus decomposeAdam(const SambaOperatorCall *call, SambaExpansion *expansion,
                                 const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[11];
  operandsInF32(expansion, call, operands, x);
  uint32_t w = x[0];
  uint32_t lr = x[4];
  uint32_t t = x[5];
  uint32_t alpha = x[6];
  uint32_t beta = x[7];
  uint32_t eps = x[8];
  uint32_t decay = x[9];
  uint32_t post = x[10];
  uint32_t g = add(expansion, mul(expansion, decay, w), x[1]);
  uint32_t m = average(expansion, alpha, x[2], g);
  uint32_t v = average(expansion, beta, x[3], mul(expansion, g, g));
  uint32_t corrected =
      quotient(expansion, mul(expansion, lr, root(expansion, restOfPower(expansion, beta, t))),
               restOfPower(expansion, alpha, t));
  uint32_t rate = choose(expansion, isPositive(expansion, t), corrected, lr);
  uint32_t moved =
      sub(expansion, w,
          quotient(expansion, mul(expansion, rate, m), add(expansion, root(expansion, v), eps)));
  uint32_t results[] = {mul(expansion, rest(expansion, post), moved), m, v};

  finish(expansion, call, results, out_results);
  return NULL;
}

/* decay * old + (1 - decay) * value. The difference is taken before it is rounded to f32: of a
 * decay near 1 the other way loses half of its digits. */
static uint32_t averageBy(SambaExpansion *expansion, double decay, uint32_t old, uint32_t value) {
  return add(expansion, sambaExpandWithNumber(expansion, "mul", old, decay),
             sambaExpandWithNumber(expansion, "mul", value, 1 - decay));
}

/* 1 - x^t as -expm1(t ln x), for the same reason. */
static uint32_t restOfPowerOf(SambaExpansion *expansion, double x, uint32_t t) {
  uint32_t exponent = sambaExpandWithNumber(expansion, "mul", t, log(x));
  return sambaExpandUnary(expansion, "neg", sambaExpandUnary(expansion, "expm1", exponent));
}

static SambaStatus inferAdamw(const SambaOperatorCall *call, SambaTensorType *out) {
  static const char *const names[] = {"beta1", "beta2"};
  for (int i = 0; i < 2; ++i) {
    double beta = sambaOperatorCallFloat(call, names[i]);
    if (!(beta >= 0 && beta < 1))
      return sambaStatusMake(SAMBA_INVALID, "(C3) attribute '%s' is %g, but must be in [0, 1)",
                             names[i], beta);
  }
  return infer(call, out);
}

static SambaStatus inferAdamwMaster(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(inferAdamw(call, out));
  return sambaCheckDType(4, "the master", call->operands[3].dtype, 1 << SAMBA_DTYPE_F32);
}

static SambaStatus decomposeAdamw(const SambaOperatorCall *call, SambaExpansion *expansion,
                                  const uint32_t *operands, uint32_t *out_results) {
  uint32_t x[8];
  operandsInF32(expansion, call, operands, x);
  uint32_t tensors = call->operator->host_scalars;
  uint32_t states = call->operator->states;
  uint32_t w = hasMaster(call) ? x[states + 2] : x[0];
  uint32_t g = x[states - 1];
  uint32_t lr = x[tensors];
  uint32_t t = x[tensors + 1];
  uint32_t decay = x[tensors + 2];
  double beta1 = sambaOperatorCallFloat(call, "beta1");
  double beta2 = sambaOperatorCallFloat(call, "beta2");
  uint32_t m = averageBy(expansion, beta1, x[states], g);
  uint32_t v = averageBy(expansion, beta2, x[states + 1], mul(expansion, g, g));
  uint32_t rate = quotient(expansion, lr, restOfPowerOf(expansion, beta1, t));
  uint32_t scale = root(expansion, restOfPowerOf(expansion, beta2, t));
  uint32_t deviation =
      sambaExpandWithNumber(expansion, "add", quotient(expansion, root(expansion, v), scale),
                            sambaOperatorCallFloat(call, "eps"));
  uint32_t kept = mul(expansion, w, rest(expansion, mul(expansion, lr, decay)));
  uint32_t moved = sub(expansion, kept, quotient(expansion, mul(expansion, rate, m), deviation));
  uint32_t results[] = {moved, m, v, moved};

  finish(expansion, call, results, out_results);
  return NULL;
}

#define HYPERPARAMETERS                                                                            \
  "Hyperparameters are operands of one element. Composite, in f32; they stay f32 whatever the "    \
  "precision."
#define CONSTRAINTS_OF(tensors)                                                                    \
  tensors " have one float dtype (the state may be f32), hyperparameters a float dtype, the step " \
          "i64 or i32",                                                                            \
      "the former have one shape, the latter one element each"
#define UPDATE_CONSTRAINTS CONSTRAINTS_OF("parameter, gradient and state")
#define UPDATE .constraints = {UPDATE_CONSTRAINTS}, .dtypes = SAMBA_SET_FLOAT, .infer = infer

const SambaOperator sambaOptimizerOperators[] = {
    {.name = "sgd_update",
     .summary = "w - lr * (g + decay * w)",
     .computes = HYPERPARAMETERS,
     .operands = {"parameter", "gradient", "lr", "decay"},
     .example = "%w1 = samba.sgd_update %w, %g, %lr, %decay : tensor<2x3xf32>, tensor<2x3xf32>, "
                "tensor<f32>, tensor<f32>",
     .source = "torch.optim.SGD",
     .host_scalars = 2,
     .decompose = decomposeSgd,
     .no_gradient = true,
     UPDATE},
    {.name = "momentum_update",
     .summary = "w - lr * v1 with v1 = alpha * v + beta * (g + decay * w)",
     .computes = "beta is 1 in step 0; with nesterov the result is w - lr * (g + decay * w + alpha "
                 "* v1). " HYPERPARAMETERS,
     .operands = {"parameter", "gradient", "velocity", "lr", "step", "alpha", "beta", "decay"},
     .results = {"result", "new_velocity"},
     .attributes = {BOOL("nesterov", false, "Nesterov's form of momentum")},
     .example = "%w1, %v1 = samba.momentum_update %w, %g, %v, %lr, %t, %alpha, %beta, %decay : "
                "tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, "
                "tensor<f32>, tensor<f32>, tensor<f32>",
     .source = "ONNX ai.onnx.preview.training.Momentum",
     .host_scalars = 3,
     .states = 2,
     .decompose = decomposeMomentum,
     .no_gradient = true,
     UPDATE},
    {.name = "adagrad_update",
     .summary = "w - lr / (1 + t * lr_decay) * g1 / (sqrt(s1) + eps) with g1 = g + decay * w, s1 = "
                "s + g1^2",
     .computes = HYPERPARAMETERS,
     .operands = {"parameter", "gradient", "squares", "lr", "step", "lr_decay", "eps", "decay"},
     .results = {"result", "new_squares"},
     .example = "%w1, %s1 = samba.adagrad_update %w, %g, %s, %lr, %t, %lrdecay, %eps, %decay : "
                "tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, "
                "tensor<f32>, tensor<f32>, tensor<f32>",
     .source = "ONNX ai.onnx.preview.training.Adagrad; torch.optim.Adagrad",
     .host_scalars = 3,
     .states = 2,
     .decompose = decomposeAdagrad,
     .no_gradient = true,
     UPDATE},
    {.name = "adam_update",
     .summary = "w - lr * m1 / (sqrt(v1) + eps), then * (1 - post_decay), with m1 = alpha * m + (1 "
                "- alpha) g1, v1 = beta * v + (1 - beta) g1^2, g1 = g + decay * w",
     .computes =
         "From step 1 on lr is multiplied by sqrt(1 - beta^t) / (1 - alpha^t). " HYPERPARAMETERS,
     .operands = {"parameter", "gradient", "mean", "variance", "lr", "step", "alpha", "beta", "eps",
                  "decay", "post_decay"},
     .results = {"result", "new_mean", "new_variance"},
     .example =
         "%w1, %m1, %v1 = samba.adam_update %w, %g, %m, %v, %lr, %t, %alpha, %beta, %eps, %decay, "
         "%post : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, "
         "tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>",
     .source = "ONNX ai.onnx.preview.training.Adam",
     .host_scalars = 4,
     .states = 2,
     .decompose = decomposeAdam,
     .no_gradient = true,
     UPDATE},
    {.name = "adamw_update",
     .summary = "w * (1 - lr * decay) - lr / (1 - beta1^t) * m1 / (sqrt(v1) / sqrt(1 - beta2^t) + "
                "eps) with m1 = beta1 * m + (1 - beta1) g, v1 = beta2 * v + (1 - beta2) g^2",
     .computes = "t counts from 1. 1 - beta and 1 - beta^t are computed without "
                 "cancellation. " HYPERPARAMETERS,
     .operands = {"parameter", "gradient", "mean", "variance", "lr", "step", "decay"},
     .results = {"result", "new_mean", "new_variance"},
     .attributes = {FLOAT("beta1", 0.9), FLOAT("beta2", 0.999), FLOAT("eps", 1e-8)},
     .example = "%w1, %m1, %v1 = samba.adamw_update %w, %g, %m, %v, %lr, %t, %decay {beta2 = 0.99} "
                ": tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, "
                "tensor<f32>, tensor<i64>, tensor<f32>",
     .constraints = {UPDATE_CONSTRAINTS, "beta1 and beta2 are in [0, 1)"},
     .source = "torch.optim.AdamW",
     .host_scalars = 4,
     .states = 2,
     .decompose = decomposeAdamw,
     .no_gradient = true,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAdamw},
    {.name = "adamw_master_update",
     .summary = "adamw_update of a parameter of 16 bits, of which `master` is a copy in f32",
     .computes = "The step is taken from the master. The result is the new parameter, the new "
                 "master rounded to the gradient's dtype; the old parameter is not read, so who "
                 "writes it lets the master follow. " HYPERPARAMETERS,
     .operands = {"gradient", "mean", "variance", "master", "lr", "step", "decay"},
     .results = {"result", "new_mean", "new_variance", "new_master"},
     .attributes = {FLOAT("beta1", 0.9), FLOAT("beta2", 0.999), FLOAT("eps", 1e-8)},
     .example = "%w1, %m1, %v1, %c1 = samba.adamw_master_update %g, %m, %v, %c, %lr, %t, %decay "
                ": tensor<2x3xbf16>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, "
                "tensor<f32>, tensor<i64>, tensor<f32>",
     .constraints = {CONSTRAINTS_OF("gradient and state"), "beta1 and beta2 are in [0, 1)",
                     "the master is f32"},
     .source = "torch.optim.AdamW of parameters in f32",
     .host_scalars = 4,
     .states = 1,
     .decompose = decomposeAdamw,
     .no_gradient = true,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferAdamwMaster},
    {0}};
