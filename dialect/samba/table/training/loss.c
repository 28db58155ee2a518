/* Losses of a tensor and its target, as compositions in f32, rounded once.
 *
 * mse_loss, l1_loss, smooth_l1_loss, huber_loss, kl_div, binary_cross_entropy,
 * binary_cross_entropy_with_logits x, target: (C1) both have one float dtype; (C2) one shape; (C3)
 * reduction is "mean" (the default), "sum" or "none", and for kl_div "batchmean": the sum divided
 * by dimension 0; (C4) beta is 0 or more, delta more than 0. */
#include "dialect/samba/table/core/expansion.h"
#include "dialect/samba/table/core/rows.h"

typedef enum { REDUCE_MEAN, REDUCE_SUM, REDUCE_NONE, REDUCE_BATCH_MEAN } Reduction;

static SambaStatus reductionOf(const SambaOperatorCall *call, Reduction *out_reduction) {
  static const char *const names[] = {"mean", "sum", "none", "batchmean"};
  const SambaAttribute *attribute = sambaOperatorCallFind(call, "reduction");
  bool divergence = strcmp(call->operator->name, "kl_div") == 0 && call->operands[0].rank > 0;
  *out_reduction = REDUCE_MEAN;
  for (int i = 0; attribute && i < 3 + divergence; ++i)
    if (sambaStringRefEqualC(attribute->value.string, names[i])) {
      *out_reduction = (Reduction)i;
      return NULL;
    }
  return attribute ? sambaStatusMake(SAMBA_INVALID,
                                     "(C3) reduction must be mean, sum or none, not '%.*s'",
                                     SAMBA_STRING_ARGS(attribute->value.string))
                   : NULL;
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *target = &call->operands[1];
  double beta = sambaOperatorCallFloat(call, "beta", 1);
  double delta = sambaOperatorCallFloat(call, "delta", 1);

  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "the target", target->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "the target", target, x->rank, x->dims));
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  if (!(beta >= 0) || !(delta > 0))
    return sambaStatusMake(
        SAMBA_INVALID, "(C4) beta is %g and delta %g, but they must be 0 or more and more than 0",
        beta, delta);
  *out = *x;
  if (reduction != REDUCE_NONE)
    out->rank = 0;
  return NULL;
}

static uint32_t scalar(SambaExpansion *e, double value) {
  return sambaExpandScalar(e, SAMBA_DTYPE_F32, value);
}
static uint32_t times(SambaExpansion *e, uint32_t x, double factor) {
  return sambaExpandBinary(e, "mul", x, scalar(e, factor));
}
static uint32_t where(SambaExpansion *e, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(e, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}

/* d * d / 2 / scale where d is small, else slope * (d - edge / 2); small: below the edge. */
static uint32_t bent(SambaExpansion *e, uint32_t distance, const char *comparison, double edge,
                     double scale, double slope) {
  uint32_t small = sambaExpandBinary(e, comparison, distance, scalar(e, edge));
  uint32_t square = times(e, sambaExpandBinary(e, "mul", distance, distance), 0.5);
  if (scale != 1)
    square = sambaExpandBinary(e, "div", square, scalar(e, scale));
  uint32_t line = sambaExpandBinary(e, "sub", distance, scalar(e, edge / 2));
  return where(e, small, square, slope == 1 ? line : times(e, line, slope));
}

/* max(ln x, -100), as PyTorch bounds it */
static uint32_t boundedLog(SambaExpansion *e, const char *logarithm, uint32_t x) {
  return sambaExpandBinary(e, "maximum", sambaExpandUnary(e, logarithm, x), scalar(e, -100));
}

static uint32_t divergence(SambaExpansion *e, const SambaOperatorCall *call, uint32_t x,
                           uint32_t target) {
  if (sambaOperatorCallInt(call, "log_target", 0))
    return sambaExpandBinary(e, "mul", sambaExpandUnary(e, "exp", target),
                             sambaExpandBinary(e, "sub", target, x));
  uint32_t zero = scalar(e, 0);
  uint32_t own = sambaExpandBinary(e, "mul", target, sambaExpandUnary(e, "log", target));
  own = where(e, sambaExpandBinary(e, "eq", target, zero), zero, own); /* 0 ln 0 = 0 */
  return sambaExpandBinary(e, "sub", own, sambaExpandBinary(e, "mul", target, x));
}

static uint32_t entropy(SambaExpansion *e, uint32_t x, uint32_t target) {
  uint32_t other = sambaExpandBinary(e, "sub", target, scalar(e, 1)); /* -(1 - target) */
  uint32_t wrong =
      sambaExpandBinary(e, "mul", other, boundedLog(e, "log1p", sambaExpandUnary(e, "neg", x)));
  return sambaExpandBinary(e, "sub", wrong,
                           sambaExpandBinary(e, "mul", target, boundedLog(e, "log", x)));
}

static uint32_t logitEntropy(SambaExpansion *e, uint32_t x, uint32_t target) {
  uint32_t other = sambaExpandBinary(e, "sub", scalar(e, 1), target);
  return sambaExpandBinary(e, "add", sambaExpandBinary(e, "mul", other, x),
                           sambaExpandUnary(e, "softplus", sambaExpandUnary(e, "neg", x)));
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *e,
                             const uint32_t *operands, uint32_t *out_results) {
  const char *name = call->operator->name;
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(reductionOf(call, &reduction));
  uint32_t x = sambaExpandCast(e, operands[0], SAMBA_DTYPE_F32);
  uint32_t target = sambaExpandCast(e, operands[1], SAMBA_DTYPE_F32);
  uint32_t loss;

  if (strcmp(name, "kl_div") == 0)
    loss = divergence(e, call, x, target);
  else if (strcmp(name, "binary_cross_entropy") == 0)
    loss = entropy(e, x, target);
  else if (strcmp(name, "binary_cross_entropy_with_logits") == 0)
    loss = logitEntropy(e, x, target);
  else {
    uint32_t difference = sambaExpandBinary(e, "sub", x, target);
    double beta = sambaOperatorCallFloat(call, "beta", 1);
    double delta = sambaOperatorCallFloat(call, "delta", 1);
    if (strcmp(name, "mse_loss") == 0)
      loss = sambaExpandBinary(e, "mul", difference, difference);
    else if (strcmp(name, "l1_loss") == 0 || (strcmp(name, "smooth_l1_loss") == 0 && beta == 0))
      loss = sambaExpandUnary(e, "abs", difference);
    else if (strcmp(name, "smooth_l1_loss") == 0)
      loss = bent(e, sambaExpandUnary(e, "abs", difference), "lt", beta, beta, 1);
    else
      loss = bent(e, sambaExpandUnary(e, "abs", difference), "le", delta, 1, delta);
  }

  if (reduction != REDUCE_NONE)
    loss = sambaExpandUnary(e, reduction == REDUCE_MEAN ? "mean" : "sum", loss);
  if (reduction == REDUCE_BATCH_MEAN)
    loss = sambaExpandBinary(e, "div", loss, scalar(e, (double)call->operands[0].dims[0]));
  out_results[0] = sambaExpandCast(e, loss, call->operands[0].dtype);

  return NULL;
}

#define REDUCTION {"reduction", SAMBA_ATTRIBUTE_STRING, false, "mean (default), sum or none"}
static const SambaAttributeRow plain[] = {REDUCTION, {0}};
static const SambaAttributeRow smooth[] = {
    {"beta", SAMBA_ATTRIBUTE_FLOAT, false, "default 1"}, REDUCTION, {0}};
static const SambaAttributeRow huber[] = {
    {"delta", SAMBA_ATTRIBUTE_FLOAT, false, "default 1"}, REDUCTION, {0}};
static const SambaAttributeRow logTarget[] = {
    {"log_target", SAMBA_ATTRIBUTE_BOOL, false, "the target is a logarithm; default false"},
    REDUCTION,
    {0}};
#define LOSS(word, list)                                                                           \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator = {.name = #word,                    \
                                                                 .minimum_operands = 2,            \
                                                                 .maximum_operands = 2,            \
                                                                 .attributes = list,               \
                                                                 .result_count = 1,                \
                                                                 .infer = infer,                   \
                                                                 .decompose = decompose},          \
                                                    .dtypes = SAMBA_SET_FLOAT};
LOSS(mse_loss, plain)
LOSS(l1_loss, plain)
LOSS(smooth_l1_loss, smooth)
LOSS(huber_loss, huber)
LOSS(kl_div, logTarget)
LOSS(binary_cross_entropy, plain)
LOSS(binary_cross_entropy_with_logits, plain)
