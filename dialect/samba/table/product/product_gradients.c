/* Gradients of products; see product_gradients.h. Where operands and result have two dtypes
 * (out_dtype), gradients are converted to the operands' dtype first, as torch does. */
#include "dialect/samba/table/product/product_gradients.h"

#include "dialect/samba/table/calls/gradient_calls.h"

/* The product of two matrices in the accumulator's dtype would be rounded once more: it is made in
 * the dtype of the operand whose gradient it is. */
static uint32_t product(SambaExpansion *expansion, uint32_t a, uint32_t b) {
  return sambaExpandBinary(expansion, "matmul", a, b);
}

static uint32_t transposed(SambaExpansion *expansion, uint32_t x) {
  uint32_t rank = sambaExpansionType(expansion, x)->rank;
  int64_t dims[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < rank; ++axis)
    dims[axis] = axis;
  dims[rank - 2] = rank - 1;
  dims[rank - 1] = rank - 2;
  return sambaExpandPermute(expansion, x, dims);
}

/* The last dimension stays, the others become one. */
static uint32_t asMatrix(SambaExpansion *expansion, uint32_t x) {
  const SambaTensorType *type = sambaExpansionType(expansion, x);
  int64_t columns = type->dims[type->rank - 1];
  int64_t rows = 1;
  for (uint32_t axis = 0; axis + 1 < type->rank; ++axis)
    rows *= type->dims[axis];
  return sambaExpandReshape(expansion, x, 2, (int64_t[]){rows, columns});
}

/* x w^T + b: the sum of the rows of g, g^T x over all rows, and g w. The last comes last, because
 * what the operators before make of it is pipelined behind it; the others have other dimensions. */
SambaStatus sambaGradientLinear(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *types = gradient->call->operands;
  uint32_t flowing = sambaGradientOfResult(gradient);
  uint32_t g = sambaExpandCast(expansion, flowing, types[0].dtype);
  uint32_t rows = asMatrix(expansion, g);

  if (gradient->call->operand_count == 3 && gradient->needed[2])
    gradient->operand_gradients[2] = sambaExpandCast(
        expansion, sambaExpandSumTo(expansion, asMatrix(expansion, flowing), 1, types[2].dims),
        types[2].dtype);
  if (gradient->needed[1])
    gradient->operand_gradients[1] =
        product(expansion, transposed(expansion, rows), asMatrix(expansion, gradient->operands[0]));
  if (gradient->needed[0])
    gradient->operand_gradients[0] = sambaExpandReshape(
        expansion, product(expansion, rows, gradient->operands[1]), types[0].rank, types[0].dims);
  return NULL;
}

/* With a column (row) for an operand of rank 1. */
static uint32_t withMatrixRank(SambaExpansion *expansion, uint32_t x, bool as_row) {
  const SambaTensorType *type = sambaExpansionType(expansion, x);
  int64_t size = type->dims[0];
  if (type->rank > 1)
    return x;
  return as_row ? sambaExpandReshape(expansion, x, 2, (int64_t[]){1, size})
                : sambaExpandReshape(expansion, x, 2, (int64_t[]){size, 1});
}

/* The gradient of an operand from that of its matrix form, whose batch dimensions are the
 * result's. */
static void setOperand(const SambaGradientCall *gradient, SambaExpansion *expansion,
                       uint32_t operand, uint32_t matrix, uint32_t value) {
  SambaTensorType form = *sambaExpansionType(expansion, matrix);
  const SambaTensorType *type = &gradient->call->operands[operand];
  value = sambaExpandSumTo(expansion, value, form.rank, form.dims);
  gradient->operand_gradients[operand] =
      sambaExpandReshape(expansion, value, type->rank, type->dims);
}

/* a b: g b^T and a^T g, summed over the batch dimensions in which an operand was repeated. A matrix
 * that all batches share is one product over the rows of all of them. */
SambaStatus sambaGradientMatmul(const SambaGradientCall *gradient, SambaExpansion *expansion) {
  const SambaTensorType *types = gradient->call->operands;
  uint32_t a = withMatrixRank(expansion, gradient->operands[0], true);
  uint32_t b = withMatrixRank(expansion, gradient->operands[1], false);
  uint32_t g = sambaExpandCast(expansion, sambaGradientOfResult(gradient), types[0].dtype);
  const SambaTensorType *made = sambaExpansionType(expansion, g);
  int64_t dims[SAMBA_MAX_RANK + 2];
  uint32_t batch = made->rank - (types[0].rank > 1) - (types[1].rank > 1);

  memcpy(dims, made->dims, batch * sizeof *dims);
  dims[batch] = types[0].rank > 1 ? types[0].dims[types[0].rank - 2] : 1;
  dims[batch + 1] = types[1].rank > 1 ? types[1].dims[types[1].rank - 1] : 1;
  g = sambaExpandReshape(expansion, g, batch + 2, dims);

  bool shared = types[1].rank == 2 && sambaExpansionType(expansion, a)->rank > 2;
  if (gradient->needed[1]) /* first, see sambaGradientLinear */
    setOperand(gradient, expansion, 1, b,
               shared ? product(expansion, transposed(expansion, asMatrix(expansion, a)),
                                asMatrix(expansion, g))
                      : product(expansion, transposed(expansion, a), g));
  if (gradient->needed[0])
    setOperand(gradient, expansion, 0, a, product(expansion, g, transposed(expansion, b)));
  return NULL;
}
