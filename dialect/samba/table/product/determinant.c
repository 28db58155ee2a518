/* det: determinants, by Gaussian elimination; a composition.
 *
 * In each step the element of the first column that is largest in magnitude is the pivot (the first
 * of equal ones). Its row is taken out, the first row takes its place, and the pivot's multiples
 * are subtracted. All is f32, rounded once. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/rows.h"

enum { mostRows = 32 };

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", x, 2, SAMBA_MAX_RANK));
  SAMBA_RETURN_IF_ERROR(sambaCheckDim(2, "the operand", x, x->rank - 1, x->dims[x->rank - 2]));
  if (x->dims[x->rank - 1] > mostRows)
    return sambaStatusMake(SAMBA_INVALID, "(C2) the matrices have %lld rows, but %d are the most",
                           (long long)x->dims[x->rank - 1], mostRows);
  *out = *x;
  out->rank -= 2;
  return NULL;
}

static uint32_t binary(SambaExpansion *expansion, const char *name, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, name, a, b);
}

static uint32_t sumOfRows(SambaExpansion *expansion, uint32_t x) {
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", (int64_t[]){1}, 1),
                                 sambaBoolAttribute("keepdim", true)};
  return sambaExpandCall(expansion, "sum", 1, &x, 2, attributes);
}

static uint32_t where(SambaExpansion *expansion, uint32_t condition, uint32_t yes, uint32_t no) {
  return sambaExpandCall(expansion, "where", 3, (uint32_t[]){condition, yes, no}, 0, NULL);
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *expansion,
                             const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  int64_t n = x->dims[x->rank - 1];
  int64_t count = sambaTensorTypeElements(x) / (n * n);
  uint32_t rows =
      sambaExpandReshape(expansion, sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32), 3,
                         (int64_t[]){count, n, n});
  uint32_t one = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1);
  uint32_t zero = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0);
  uint32_t product = 0;

  for (int64_t left = n; left > 0 && !expansion->status; --left) { /* rows: count x left x left */
    uint32_t pivot = rows;
    if (left > 1) {
      uint32_t column = sambaExpandSlice(expansion, rows, 2, 0, 1, 1);
      SambaAttribute dim = sambaIntAttribute("dim", 1);
      uint32_t magnitude = sambaExpandUnary(expansion, "abs", column);
      uint32_t chosen = sambaExpandCall(expansion, "hardmax", 1, &magnitude, 1, &dim);
      chosen = binary(expansion, "ne", chosen, zero);
      uint32_t pivot_row = sumOfRows(expansion, where(expansion, chosen, rows, zero));
      uint32_t first = sambaExpandSlice(expansion, rows, 1, 0, 1, 1);
      uint32_t others =
          sambaExpandSlice(expansion, where(expansion, chosen, first, rows), 1, 1, left - 1, 1);
      pivot = sambaExpandSlice(expansion, pivot_row, 2, 0, 1, 1);
      uint32_t divisor = where(expansion, binary(expansion, "eq", pivot, zero), one,
                               pivot); /* then all of the column is 0 */
      uint32_t factor =
          binary(expansion, "div", sambaExpandSlice(expansion, others, 2, 0, 1, 1), divisor);
      uint32_t subtracted = binary(expansion, "mul", factor,
                                   sambaExpandSlice(expansion, pivot_row, 2, 1, left - 1, 1));
      rows = binary(expansion, "sub", sambaExpandSlice(expansion, others, 2, 1, left - 1, 1),
                    subtracted);
      /* Two rows have changed places unless the pivot was in the first. */
      pivot = where(expansion, sambaExpandSlice(expansion, chosen, 1, 0, 1, 1), pivot,
                    sambaExpandUnary(expansion, "neg", pivot));
    }
    product = left == n ? pivot : binary(expansion, "mul", product, pivot);
  }

  if (!expansion->status)
    out_results[0] =
        sambaExpandCast(expansion, sambaExpandReshape(expansion, product, x->rank - 2, x->dims),
                        call->operands[0].dtype);
  return NULL;
}

const SambaOperator sambaDeterminantOperators[] = {
    {.name = "det",
     .summary = "determinants of the last two dimensions",
     .computes = "The determinant of each matrix, by Gaussian elimination in f32 with the largest "
                 "element of each column as its pivot. Composite.",
     .operands = {"input"},
     .constraints = {"x has a float dtype", "its last two dimensions are equal, 1 to 32"},
     .example = "%y = samba.det %x : tensor<2x3x3xf32>",
     .source = "torch.linalg.det",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = infer,
     .decompose = decompose},
    {0}};
