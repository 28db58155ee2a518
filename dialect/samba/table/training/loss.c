/* Losses of a tensor and its target, as compositions in f32, rounded once. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/rows.h"
#include "dialect/samba/table/training/loss_gradients.h"

typedef enum { REDUCE_MEAN, REDUCE_SUM, REDUCE_NONE, REDUCE_BATCH_MEAN } Reduction;

static SambaStatus reductionOf(const SambaOperatorCall *call, Reduction *out_reduction) {
  uint32_t choice;
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(3, call, "reduction", &choice));
  *out_reduction = (Reduction)choice;
  if (choice == REDUCE_BATCH_MEAN && call->operands[0].rank == 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) reduction batchmean divides by dimension 0, and there is none");
  return NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *target = &call->operands[1];

  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "the target", target->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "the target", target, x->rank, x->dims));
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  *out = *x;
  if (reduction != REDUCE_NONE)
    out->rank = 0;
  return NULL;
}

static uint32_t scalar(SambaExpansion *expansion, double value) {
  return sambaExpandScalar(expansion, SAMBA_DTYPE_F32, value);
}
static uint32_t times(SambaExpansion *expansion, uint32_t x, double factor) {
  return sambaExpandBinary(expansion, "mul", x, scalar(expansion, factor));
}
static uint32_t where(SambaExpansion *expansion, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}

/* d * d / 2 / scale where d is small, else slope * (d - edge / 2); small: below the edge. */
static uint32_t bent(SambaExpansion *expansion, uint32_t distance, const char *comparison,
                     double edge, double scale, double slope) {
  uint32_t small = sambaExpandBinary(expansion, comparison, distance, scalar(expansion, edge));
  uint32_t square = times(expansion, sambaExpandBinary(expansion, "mul", distance, distance), 0.5);
  if (scale != 1)
    square = sambaExpandBinary(expansion, "div", square, scalar(expansion, scale));
  uint32_t line = sambaExpandBinary(expansion, "sub", distance, scalar(expansion, edge / 2));
  return where(expansion, small, square, slope == 1 ? line : times(expansion, line, slope));
}

/* max(ln x, -100), as PyTorch bounds it */
static uint32_t boundedLog(SambaExpansion *expansion, const char *logarithm, uint32_t x) {
  return sambaExpandBinary(expansion, "maximum", sambaExpandUnary(expansion, logarithm, x),
                           scalar(expansion, -100));
}

static uint32_t squared(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                        uint32_t target) {
  (void)call;
  uint32_t difference = sambaExpandBinary(expansion, "sub", x, target);
  return sambaExpandBinary(expansion, "mul", difference, difference);
}

static uint32_t absolute(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                         uint32_t target) {
  (void)call;
  return sambaExpandUnary(expansion, "abs", sambaExpandBinary(expansion, "sub", x, target));
}

static uint32_t smooth(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                       uint32_t target) {
  double beta = sambaOperatorCallFloat(call, "beta");
  uint32_t distance = absolute(call, expansion, x, target);
  return beta == 0 ? distance : bent(expansion, distance, "lt", beta, beta, 1);
}

static uint32_t huber(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                      uint32_t target) {
  double delta = sambaOperatorCallFloat(call, "delta");
  return bent(expansion, absolute(call, expansion, x, target), "le", delta, 1, delta);
}

static uint32_t divergence(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                           uint32_t target) {
  if (sambaOperatorCallInt(call, "log_target"))
    return sambaExpandBinary(expansion, "mul", sambaExpandUnary(expansion, "exp", target),
                             sambaExpandBinary(expansion, "sub", target, x));
  uint32_t zero = scalar(expansion, 0);
  uint32_t own =
      sambaExpandBinary(expansion, "mul", target, sambaExpandUnary(expansion, "log", target));
  own = where(expansion, sambaExpandBinary(expansion, "eq", target, zero), zero,
              own); /* 0 ln 0 = 0 */
  return sambaExpandBinary(expansion, "sub", own, sambaExpandBinary(expansion, "mul", target, x));
}

static uint32_t entropy(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                        uint32_t target) {
  (void)call;
  uint32_t other =
      sambaExpandBinary(expansion, "sub", target, scalar(expansion, 1)); /* -(1 - target) */
  uint32_t wrong =
      sambaExpandBinary(expansion, "mul", other,
                        boundedLog(expansion, "log1p", sambaExpandUnary(expansion, "neg", x)));
  return sambaExpandBinary(
      expansion, "sub", wrong,
      sambaExpandBinary(expansion, "mul", target, boundedLog(expansion, "log", x)));
}

static uint32_t logitEntropy(const SambaOperatorCall *call, SambaExpansion *expansion, uint32_t x,
                             uint32_t target) {
  (void)call;
  uint32_t other = sambaExpandBinary(expansion, "sub", scalar(expansion, 1), target);
  return sambaExpandBinary(
      expansion, "add", sambaExpandBinary(expansion, "mul", other, x),
      sambaExpandUnary(expansion, "softplus", sambaExpandUnary(expansion, "neg", x)));
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *expansion,
                             const uint32_t *operands, uint32_t *out_results) {
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  uint32_t x = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t target = sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32);
  uint32_t loss = call->operator->loss(call, expansion, x, target);

  if (reduction != REDUCE_NONE)
    loss = sambaExpandUnary(expansion, reduction == REDUCE_MEAN ? "mean" : "sum", loss);
  if (reduction == REDUCE_BATCH_MEAN)
    loss = sambaExpandBinary(expansion, "div", loss,
                             scalar(expansion, (double)call->operands[0].dims[0]));
  out_results[0] = sambaExpandCast(expansion, loss, call->operands[0].dtype);

  return NULL;
}

/* (C4) of the losses that bend. */
static SambaStatus inferSmooth(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(infer(call, out));
  double beta = sambaOperatorCallFloat(call, "beta");
  return beta >= 0 ? NULL
                   : sambaStatusMake(SAMBA_INVALID, "(C4) beta is %g, but must be 0 or more", beta);
}
static SambaStatus inferHuber(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(infer(call, out));
  double delta = sambaOperatorCallFloat(call, "delta");
  return delta > 0
             ? NULL
             : sambaStatusMake(SAMBA_INVALID, "(C4) delta is %g, but must be more than 0", delta);
}

#define PAIR "x and target have one float dtype", "they have one shape"
#define REDUCTION CHOICE("reduction", "mean", "mean, sum, none")
#define LOSS                                                                                       \
  .computes = "The result is the mean of the elements' losses, their sum or, with reduction = "    \
              "\"none\", all of them. Composite.",                                                 \
  .operands = {"input", "target"}, .builder = SAMBA_BUILDER_ALL, .dtypes = SAMBA_SET_FLOAT,        \
  .decompose = decompose

const SambaOperator sambaLossOperators[] = {
    {.name = "mse_loss",
     .summary = "(x - target)^2",
     .attributes = {REDUCTION},
     .constraints = {PAIR, "reduction is one of those named"},
     .example =
         "%l = samba.mse_loss %x, %t {reduction = \"sum\"} : tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.mse_loss",
     .infer = infer,
     .loss = squared,
     LOSS},
    {.name = "l1_loss",
     .summary = "|x - target|",
     .attributes = {REDUCTION},
     .constraints = {PAIR, "reduction is one of those named"},
     .example =
         "%l = samba.l1_loss %x, %t {reduction = \"sum\"} : tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.l1_loss",
     .infer = infer,
     .loss = absolute,
     LOSS},
    {.name = "smooth_l1_loss",
     .summary = "d^2 / 2 / beta where d = |x - target| < beta, else d - beta / 2",
     .attributes = {REDUCTION, FLOAT("beta", 1)},
     .constraints = {PAIR, "reduction is one of those named", "beta is 0 or more"},
     .example = "%l = samba.smooth_l1_loss %x, %t {beta = 0.5, reduction = \"sum\"} : "
                "tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.smooth_l1_loss",
     .infer = inferSmooth,
     .loss = smooth,
     LOSS},
    {.name = "huber_loss",
     .summary = "d^2 / 2 where d = |x - target| <= delta, else delta * (d - delta / 2)",
     .attributes = {REDUCTION, FLOAT("delta", 1)},
     .constraints = {PAIR, "reduction is one of those named", "delta is more than 0"},
     .example = "%l = samba.huber_loss %x, %t {delta = 0.5, reduction = \"sum\"} : "
                "tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.huber_loss",
     .infer = inferHuber,
     .loss = huber,
     LOSS},
    {.name = "kl_div",
     .summary = "target * (ln target - x), or with log_target e^target * (target - x)",
     .attributes = {CHOICE("reduction", "mean", "mean, sum, none, batchmean"),
                    BOOL("log_target", false, "the target is a logarithm")},
     .constraints = {PAIR, "reduction is one of those named; batchmean, the sum divided by "
                           "dimension 0, needs that dimension"},
     .example = "%l = samba.kl_div %x, %t {log_target = true, reduction = \"sum\"} : "
                "tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.kl_div",
     .infer = infer,
     .loss = divergence,
     .differentiate = sambaGradientKlDiv,
     LOSS},
    {.name = "binary_cross_entropy",
     .summary = "-(target * ln x + (1 - target) * ln(1 - x)), logarithms not below -100",
     .attributes = {REDUCTION},
     .constraints = {PAIR, "reduction is one of those named"},
     .example = "%l = samba.binary_cross_entropy %x, %t {reduction = \"sum\"} : tensor<2x3xf32>, "
                "tensor<2x3xf32>",
     .source = "torch.nn.functional.binary_cross_entropy",
     .infer = infer,
     .loss = entropy,
     .differentiate = sambaGradientBinaryCrossEntropy,
     LOSS},
    {.name = "binary_cross_entropy_with_logits",
     .summary = "(1 - target) * x + ln(1 + e^-x)",
     .attributes = {REDUCTION},
     .constraints = {PAIR, "reduction is one of those named"},
     .example = "%l = samba.binary_cross_entropy_with_logits %x, %t {reduction = \"sum\"} : "
                "tensor<2x3xf32>, tensor<2x3xf32>",
     .source = "torch.nn.functional.binary_cross_entropy_with_logits",
     .infer = infer,
     .loss = logitEntropy,
     LOSS},
    {0}};
