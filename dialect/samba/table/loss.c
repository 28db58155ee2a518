/* Losses, as compositions.
 *
 * mse_loss x, target: (C1) both have one float dtype; (C2) one shape; (C3) reduction is "mean" (the default), "sum" or
 * "none". */
#include "dialect/samba/table/expansion.h"
#include "dialect/samba/table/rows.h"

typedef enum { REDUCE_MEAN, REDUCE_SUM, REDUCE_NONE } Reduction;

static SambaStatus reductionOf(unsigned constraint, const SambaOperatorCall *call, Reduction *out_reduction) {
  static const char *const names[] = {"mean", "sum", "none"};
  const SambaAttribute *attribute = sambaOperatorCallFind(call, "reduction");
  *out_reduction = REDUCE_MEAN;
  for (int i = 0; attribute && i < 3; ++i)
    if (sambaStringRefEqualC(attribute->value.string, names[i])) {
      *out_reduction = (Reduction)i;
      return NULL;
    }
  return attribute ? sambaStatusMake(SAMBA_INVALID, "(C%u) reduction must be mean, sum or none, not '%.*s'", constraint,
                                     SAMBA_STRING_ARGS(attribute->value.string))
                   : NULL;
}

/* values over all their dimensions, as the reduction says. */
static uint32_t reduce(SambaExpansion *expansion, Reduction reduction, uint32_t values) {
  return reduction == REDUCE_NONE ? values
                                  : sambaExpandUnary(expansion, reduction == REDUCE_SUM ? "sum" : "mean", values);
}

static SambaStatus inferMse(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0], *target = &call->operands[1];
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "the target", target->dtype, "operand 0", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "the target", target, x->rank, x->dims));
  SAMBA_RETURN_IF_ERROR(reductionOf(3, call, &reduction));
  *out = *x;
  if (reduction != REDUCE_NONE)
    out->rank = 0;
  return NULL;
}

static SambaStatus decomposeMse(const SambaOperatorCall *call, SambaExpansion *e, const uint32_t *operands,
                                uint32_t *out_results) {
  Reduction reduction;
  SAMBA_RETURN_IF_ERROR(reductionOf(3, call, &reduction));
  uint32_t difference = sambaExpandBinary(e, "sub", sambaExpandCast(e, operands[0], SAMBA_DTYPE_F32),
                                          sambaExpandCast(e, operands[1], SAMBA_DTYPE_F32));
  uint32_t loss = reduce(e, reduction, sambaExpandBinary(e, "mul", difference, difference));
  out_results[0] = sambaExpandCast(e, loss, call->operands[0].dtype);
  return NULL;
}

static const SambaAttributeRow attributes[] = {
    {"reduction", SAMBA_ATTRIBUTE_STRING, false, "mean (default), sum or none"}, {0}};
const SambaOperatorRow sambaOperatorRow_mse_loss = {.operator_ = {.name = "mse_loss",
                                                                  .minimum_operands = 2,
                                                                  .maximum_operands = 2,
                                                                  .attributes = attributes,
                                                                  .result_count = 1,
                                                                  .infer = inferMse,
                                                                  .decompose = decomposeMse},
                                                    .dtypes = SAMBA_SET_FLOAT};
