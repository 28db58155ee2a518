/* Sums of products whose factors walk plain dimensions: matmul, or linear where the second factor
 * is a matrix with the summed dimension last.
 *
 * Dimensions of the output are sorted into those of both factors, of the first alone, of the second
 * alone. The last of each kind make the matrices; what is left are dimensions of a batch, over
 * which a factor that does not have them is repeated. */
#include "dialect/samba/table/core/stage_builder.h"
#include "lowering/raise/patterns.h"
#include "lowering/raise/reduce_form.h"

#include <string.h>

typedef struct Contraction {
  const SambaNest *nest;
  SambaExpansion *expansion;
  uint32_t factors[2]; /* scalars */
  uint32_t masks[2];   /* the dimensions of each */
  SambaFrame output;
  SambaFrame batch, rows, columns, sums;
} Contraction;

/* A factor without the cast that both have, where they come from one dtype: the operator widens
 * itself. */
static void dropCasts(Contraction *contraction) {
  const SambaScalar *parts[2], *sources[2];
  for (int i = 0; i < 2; ++i) {
    parts[i] = &contraction->nest->scalars[contraction->factors[i]];
    if (parts[i]->kind != SAMBA_SCALAR_OPERATION || strcmp(parts[i]->operator, "cast") != 0)
      return;
    sources[i] = &contraction->nest->scalars[parts[i]->scalars[0]];
  }
  bool widens = sambaDTypeIsFloat(sources[0]->dtype) == sambaDTypeIsFloat(parts[0]->dtype) &&
                parts[0]->dtype == sambaAccumulatorDType(sources[0]->dtype);
  if (sources[0]->dtype != sources[1]->dtype || !widens || sources[0]->dtype == SAMBA_DTYPE_I1)
    return;
  for (int i = 0; i < 2; ++i)
    contraction->factors[i] = parts[i]->scalars[0];
}

/* What a dimension of the output is; NULL: of one element, or of neither factor, and then it is
 * repeated at the end. */
static SambaFrame *kindOf(Contraction *contraction, uint32_t dim) {
  if (dim == SAMBA_NEST_UNIT)
    return NULL;
  bool left = contraction->masks[0] >> dim & 1, right = contraction->masks[1] >> dim & 1;
  if (left && right)
    return &contraction->batch;
  if (left)
    return &contraction->rows;
  return right ? &contraction->columns : NULL;
}

static bool sortDimensions(Contraction *contraction) {
  const SambaNest *nest = contraction->nest;
  uint32_t both = contraction->masks[0] & contraction->masks[1];

  /* The last dimension of the output is a column. */
  for (uint32_t a = contraction->output.rank; a-- > 0;) {
    uint32_t dim = contraction->output.dims[a];
    if (dim == SAMBA_NEST_UNIT || !((contraction->masks[0] | contraction->masks[1]) >> dim & 1))
      continue;
    if (!(contraction->masks[1] >> dim & 1)) {
      uint32_t mask = contraction->masks[0], factor = contraction->factors[0];
      contraction->masks[0] = contraction->masks[1], contraction->masks[1] = mask;
      contraction->factors[0] = contraction->factors[1], contraction->factors[1] = factor;
    }
    break;
  }

  bool first = true; /* axes of one element in front stay */
  for (uint32_t a = 0; a < contraction->output.rank; ++a) {
    uint32_t dim = contraction->output.dims[a];
    first &= dim == SAMBA_NEST_UNIT && a + 2 < contraction->output.rank;
    SambaFrame *kind = first ? &contraction->batch : kindOf(contraction, dim);
    if (kind)
      sambaFrameAppend(kind, dim);
  }

  bool sums = false;
  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    if (!nest->reduced[d])
      continue;
    sums = true;
    if (nest->extents[d] == 1)
      continue;
    if (!(both >> d & 1))
      return false;
    sambaFrameAppend(&contraction->sums, d);
  }
  /* Rows that are multiplied and summed in pairs are no matrix product. */
  return sums && (contraction->rows.rank || contraction->columns.rank);
}

static void appendFrame(SambaFrame *frame, const SambaFrame *more, uint32_t count) {
  for (uint32_t a = 0; a < count; ++a)
    sambaFrameAppend(frame, more->dims[a]);
}

/* A factor in a frame of which the axes [first, first + count) become one. */
static bool evaluateFactor(const Contraction *contraction, uint32_t factor, const SambaFrame *frame,
                           uint32_t first, uint32_t count, uint32_t *out_value) {
  const SambaNest *nest = contraction->nest;
  SambaExpansion *expansion = contraction->expansion;
  int64_t shape[SAMBA_MAX_RANK];
  uint32_t rank = 0;
  if (!sambaFrameEvaluate(nest, expansion, contraction->factors[factor], frame, out_value))
    return false;
  if (nest->scalars[contraction->factors[factor]].kind == SAMBA_SCALAR_CONSTANT)
    *out_value = sambaFrameFill(nest, expansion, *out_value, frame);

  /* As many axes as the frame, all of their size where the factor has the dimension. */
  SambaTensorType type = *sambaExpansionType(expansion, *out_value);
  uint32_t added = frame->rank - type.rank;
  for (uint32_t a = 0; a < frame->rank; ++a) {
    int64_t size = a < added ? 1 : type.dims[a - added];
    if (a >= first && a < first + count) /* what both factors have is whole in both */
      size = sambaFrameSize(nest, frame, a);
    if (a > first && a < first + count)
      shape[rank - 1] *= size;
    else
      shape[rank++] = size;
    if (count == 0 && a + 1 == first) /* no dimension to sum over: one of one element */
      shape[rank++] = 1;
  }
  if (count == 0 && first == 0) {
    memmove(shape + 1, shape, rank * sizeof *shape);
    shape[0] = 1;
    ++rank;
  }

  uint32_t front = 0; /* broadcasting adds axes of one element to the second itself */
  while (factor == 1 && front < added && rank - front > 2 && shape[front] == 1)
    ++front;
  *out_value = sambaExpandReshape(expansion, *out_value, rank - front, shape + front);
  return !expansion->status;
}

/* The second factor where it is an operand whose axes are the column and then the summed
 * dimensions: a matrix as samba.linear takes it. */
static bool weightOf(const Contraction *contraction, uint32_t column, uint32_t *out_value) {
  const SambaNest *nest = contraction->nest;
  const SambaFrame *sums = &contraction->sums;
  const SambaScalar *factor = &nest->scalars[contraction->factors[1]];
  const SambaNestOperand *operand = &nest->operands[factor->operand];
  int64_t shape[2] = {column == SAMBA_NEST_UNIT ? 1 : nest->extents[column], 1};
  if (factor->kind != SAMBA_SCALAR_OPERAND || !sums->rank || column == SAMBA_NEST_UNIT ||
      operand->is_splat || operand->type.rank != 1 + sums->rank)
    return false;
  for (uint32_t a = 0; a < operand->type.rank; ++a) {
    bool plain;
    uint32_t dim = sambaNestAxisDimension(nest, &operand->axes[a], &plain);
    if (!plain || dim != (a ? sums->dims[a - 1] : column) ||
        operand->type.dims[a] != nest->extents[dim])
      return false;
    shape[1] *= a ? operand->type.dims[a] : 1;
  }
  *out_value = sambaExpandReshape(contraction->expansion, operand->value, 2, shape);
  return true;
}

/* The product in a frame of batch, row and column. */
static bool buildProduct(Contraction *contraction, SambaDType dtype, SambaFrame *out_frame,
                         uint32_t *out_value) {
  const SambaFrame *rows = &contraction->rows, *columns = &contraction->columns;
  const SambaFrame *sums = &contraction->sums;
  SambaExpansion *expansion = contraction->expansion;
  uint32_t row = rows->rank ? rows->dims[rows->rank - 1] : SAMBA_NEST_UNIT;
  uint32_t column = columns->rank ? columns->dims[columns->rank - 1] : SAMBA_NEST_UNIT;
  SambaFrame left, right, batch = {0};

  appendFrame(&batch, &contraction->batch, contraction->batch.rank);
  appendFrame(&batch, rows, rows->rank ? rows->rank - 1 : 0);
  appendFrame(&batch, columns, columns->rank ? columns->rank - 1 : 0);
  left = right = *out_frame = batch;
  sambaFrameAppend(&left, row);
  uint32_t left_sum = left.rank, right_sum = right.rank;
  appendFrame(&left, sums, sums->rank);
  appendFrame(&right, sums, sums->rank);
  sambaFrameAppend(&right, column);
  sambaFrameAppend(out_frame, row);
  sambaFrameAppend(out_frame, column);
  if (left.rank > SAMBA_MAX_RANK || right.rank > SAMBA_MAX_RANK || out_frame->rank > SAMBA_MAX_RANK)
    return false;

  uint32_t operands[2];
  bool linear = columns->rank == 1 && weightOf(contraction, column, &operands[1]);
  if (!evaluateFactor(contraction, 0, &left, left_sum, sums->rank, &operands[0]))
    return false;
  if (!linear && !evaluateFactor(contraction, 1, &right, right_sum, sums->rank, &operands[1]))
    return false;

  SambaAttribute attribute = sambaDTypeAttribute("out_dtype", dtype);
  bool other = sambaExpansionType(expansion, operands[0])->dtype != dtype;
  *out_value =
      sambaExpandCall(expansion, linear ? "linear" : "matmul", 2, operands, other, &attribute);
  if (expansion->status)
    return false;

  return sambaExpansionType(expansion, *out_value)->rank == out_frame->rank;
}

bool sambaNestContraction(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  Contraction contraction = {.nest = nest, .expansion = expansion};
  SambaReduction reduction;
  SambaFrame frame;
  uint32_t value;

  if (nest->output_count != 1 || !sambaReductionOf(nest, 0, &reduction) || !reduction.is_product ||
      !sambaFrameOfOutput(nest, 0, &contraction.output))
    return false;
  memcpy(contraction.factors, reduction.factors, sizeof contraction.factors);
  dropCasts(&contraction);
  for (int i = 0; i < 2; ++i)
    if (!sambaFrameDimensions(nest, contraction.factors[i], &contraction.masks[i]))
      return false;
  for (int i = 0; i < 2; ++i) /* one number is a factor of whatever size is needed */
    if (nest->scalars[contraction.factors[i]].kind == SAMBA_SCALAR_CONSTANT)
      contraction.masks[i] =
          ((1u << nest->dim_count) - 1) & ~(sambaReductionKept(nest) & contraction.masks[1 - i]);
  return sortDimensions(&contraction) &&
         buildProduct(&contraction, sambaNestYield(nest, 0)->dtype, &frame, &value) &&
         sambaReductionFinish(nest, expansion, 0, reduction.row, value, &frame, &out_results[0]);
}
