/* What gathers, scatters and resampling share, and ravel_index; see indexing.h. */
#include "dialect/samba/table/index/indexing.h"
#include "support/number/shape.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t sambaStageWrapIndices(SambaStageGraph *graph, const char *name, const char *layer,
                               uint32_t indices, int64_t size) {
  SambaStageTensor like = graph->tensors[indices];
  uint32_t wrapped = sambaStageIntermediate(graph, like.dtype, like.rank, like.dims);
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, name, layer, wrapped);
  uint16_t index = sambaStageBroadcastOperand(&builder, indices);
  uint16_t negative =
      sambaLane2(&builder, SAMBA_LANE_LT, index, sambaLaneNumber(&builder, index, 0));
  uint16_t moved =
      sambaLane2(&builder, SAMBA_LANE_ADD, index, sambaLaneNumber(&builder, index, (double)size));
  sambaStageEnd(&builder, sambaLaneSelect(&builder, negative, moved, index));
  return wrapped;
}

SambaStatus sambaCheckIndexFits(unsigned constraint, const SambaTensorType *index,
                                const SambaTensorType *x, uint32_t axis) {
  for (uint32_t d = 0; d < x->rank; ++d)
    if (d != axis && index->dims[d] > x->dims[d])
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C%u) the index has %lld elements along dimension %u, but the tensor %lld", constraint,
          (long long)index->dims[d], d, (long long)x->dims[d]);
  return NULL;
}

uint32_t sambaExpandTake(SambaExpansion *expansion, uint32_t x, uint32_t indices, uint32_t dim,
                         uint32_t batch_dims) {
  uint32_t operands[] = {x, indices};
  SambaAttribute attributes[] = {sambaIntAttribute("dim", dim),
                                 sambaIntAttribute("batch_dims", batch_dims)};
  return sambaExpandCall(expansion, "take", 2, operands, 2, attributes);
}

uint32_t sambaExpandRavel(SambaExpansion *expansion, uint32_t indices, uint32_t rank,
                          const int64_t *shape, int64_t dim, int64_t lead) {
  SambaAttribute attributes[] = {sambaIntsAttribute("shape", shape, rank),
                                 sambaIntAttribute("dim", dim)};
  uint32_t places =
      sambaExpandCall(expansion, "ravel_index", 1, &indices, dim < 0 ? 1 : 2, attributes);
  if (!lead || expansion->status)
    return places;

  /* As a list of tuples of one, behind the places that lead. */
  int64_t list[] = {sambaTensorTypeElements(sambaExpansionType(expansion, places)), 1};
  int64_t elements = 1;
  for (uint32_t d = 0; d < rank; ++d)
    elements *= shape[d];
  SambaAttribute behind[] = {sambaIntsAttribute("shape", &elements, 1),
                             sambaIntAttribute("lead", lead)};
  places = sambaExpandReshape(expansion, places, 2, list);

  return sambaExpandCall(expansion, "ravel_index", 1, &places, 2, behind);
}

uint32_t sambaExpandCounted(SambaExpansion *expansion, SambaDType dtype, int64_t count) {
  double *numbers = sambaAllocate(sambaArraySize((size_t)count, sizeof *numbers));
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = (double)i;
  uint32_t value = sambaExpandNumbers(expansion, dtype, 1, &count, numbers);
  free(numbers);
  return value;
}

/* --- ravel_index --- */

typedef struct Ravel {
  uint32_t rank, dim;
  const int64_t *shape;
  bool tuples;
  int64_t lead, count;
} Ravel;

static SambaStatus ravelOf(const SambaOperatorCall *call, Ravel *out) {
  const SambaTensorType *indices = &call->operands[0];
  const SambaAttribute *shape = sambaOperatorCallFind(call, "shape");

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", indices->dtype, SAMBA_SET_INDEX));
  size_t rank = shape->value.integers.size;
  out->shape = shape->value.integers.data;
  int64_t elements = 1;
  bool fits = rank >= 1 && rank <= SAMBA_MAX_RANK;
  for (size_t d = 0; fits && d < rank; ++d)
    fits = out->shape[d] >= 1 && !sambaMulOverflows(elements, out->shape[d], &elements) &&
           elements < (int64_t)1 << 48;
  out->lead = sambaOperatorCallInt(call, "lead");
  if (!fits || out->lead < 0 || out->lead >= (int64_t)1 << 48)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) attribute 'shape' must have 1 to %d numbers, they and their "
                           "product 1 or more and less "
                           "than 2^48, and lead not be negative",
                           SAMBA_MAX_RANK);
  if (out->lead && indices->rank != 2)
    return sambaCheckRank(2, "the operand, with lead,", indices, 2, 2);
  out->rank = (uint32_t)rank;
  out->tuples = !sambaOperatorCallFind(call, "dim");
  out->dim = 0;
  out->count = sambaTensorTypeElements(indices);
  if (out->lead && !out->tuples)
    return sambaStatusMake(SAMBA_INVALID, "(C2) attribute 'lead' is for tuples, without 'dim'");
  if (!out->tuples) {
    SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", indices, out->rank, out->rank));
    return sambaCheckAxisAttribute(2, call, "dim", out->rank, &out->dim);
  }

  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", indices, 1, SAMBA_MAX_RANK));
  out->count /= out->rank;
  return sambaCheckDim(2, "the operand", indices, indices->rank - 1, out->rank);
}

static SambaStatus inferRavel(const SambaOperatorCall *call, SambaTensorType *out) {
  Ravel ravel;
  SAMBA_RETURN_IF_ERROR(ravelOf(call, &ravel));
  *out = call->operands[0];
  out->dtype = SAMBA_DTYPE_I64;
  out->rank -= ravel.tuples;
  if (ravel.lead)
    out->rank = 1, out->dims[0] = ravel.lead + ravel.count;
  return NULL;
}

/* The places 0, 1, .. at the front of the result. */
static void stageLead(SambaStageGraph *graph, const char *name, const char *layer, uint32_t result,
                      int64_t lead) {
  SambaStageBuilder builder;
  sambaStageBegin(&builder, graph, name, layer, result);
  uint32_t dim = sambaStageDim(&builder, lead, false);
  builder.stage.output.axes[0].coefficients[dim] = 1;
  sambaStageEnd(&builder, sambaLaneCounter(&builder, dim, SAMBA_DTYPE_I64));
}

/* place * size + index; *outside also when the index does not lie within the size. */
static uint16_t addPlace(SambaStageBuilder *builder, uint16_t place, uint16_t index, int64_t size,
                         bool checked, uint16_t *outside) {
  uint16_t extent = sambaLaneNumber(builder, index, (double)size);
  if (checked) {
    uint16_t zero = sambaLaneNumber(builder, index, 0);
    uint16_t negative = sambaLane2(builder, SAMBA_LANE_LT, index, zero);
    index = sambaLaneSelect(builder, negative, sambaLane2(builder, SAMBA_LANE_ADD, index, extent),
                            index);
    uint16_t low = sambaLane2(builder, SAMBA_LANE_LT, index, zero);
    uint16_t high = sambaLane2(builder, SAMBA_LANE_GE, index, extent);
    low = sambaLane2(builder, SAMBA_LANE_OR, low, high);
    *outside = *outside == UINT16_MAX ? low : sambaLane2(builder, SAMBA_LANE_OR, *outside, low);
  }
  return place == UINT16_MAX
             ? index
             : sambaLane2(builder, SAMBA_LANE_ADD,
                          sambaLane2(builder, SAMBA_LANE_MUL, place, extent), index);
}

static SambaStatus stagesRavel(const SambaOperatorCall *call, SambaStageGraph *graph,
                               const uint32_t *operands, const uint32_t *results,
                               const char *layer) {
  const SambaTensorType *indices = &call->operands[0];
  const char *name = call->operator->name;

  Ravel ravel;
  SAMBA_RETURN_IF_ERROR(ravelOf(call, &ravel));
  if (ravel.lead)
    stageLead(graph, name, layer, results[0], ravel.lead);
  SambaStageBuilder builder;
  sambaStageBegin(&builder, graph, name, layer, results[0]);
  uint32_t rank = indices->rank - ravel.tuples;
  uint32_t dims[SAMBA_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d)
    builder.stage.output.axes[d]
        .coefficients[dims[d] = sambaStageDim(&builder, indices->dims[d], false)] = 1;
  builder.stage.output.axes[0].constant = ravel.lead;
  uint16_t x[SAMBA_MAX_RANK], place = UINT16_MAX, outside = UINT16_MAX;
  uint32_t parts = ravel.tuples ? ravel.rank : 1;

  for (uint32_t p = 0; p < parts; ++p) {
    x[p] = sambaStageOperand(&builder, operands[0]);
    for (uint32_t d = 0; d < rank; ++d)
      sambaStageAxis(&builder, x[p], d)->coefficients[dims[d]] = 1;
    if (ravel.tuples)
      sambaStageAxis(&builder, x[p], rank)->constant = p;
  }

  for (uint32_t d = 0; d < ravel.rank; ++d) {
    bool given = ravel.tuples || d == ravel.dim;
    uint16_t index = given ? sambaLaneCast(&builder, x[ravel.tuples ? d : 0], SAMBA_DTYPE_I64)
                           : sambaLaneCounter(&builder, dims[d], SAMBA_DTYPE_I64);
    place = addPlace(&builder, place, index, ravel.shape[d], given, &outside);
  }

  uint16_t nowhere = sambaLaneNumber(&builder, place, (double)SAMBA_NO_PLACE);
  sambaStageEnd(&builder, sambaLaneSelect(&builder, outside, nowhere, place));
  return NULL;
}

const SambaOperator sambaIndexingOperators[] = {
    {.name = "ravel_index",
     .summary = "places in the row-major order of a shape",
     .computes = "Without dim the last dimension of the operand is a tuple of indices, one per "
                 "number of `shape`; the result is the flat place of each. With dim each element "
                 "is an index along that dimension of `shape`, its own position the others. An "
                 "index outside gives -2^48, which is outside of every tensor. With a list of "
                 "tuples `lead` places 0, 1, .. come first.",
     .operands = {"indices"},
     .attributes = {REQUIRED(INTS, "shape", "what is indexed"),
                    OPTIONAL(INT, "dim", "the one dimension that is indexed; absent: tuples"),
                    INT("lead", 0, "places 0, 1, .. before the others")},
     .constraints = {"indices are i32 or i64",
                     "the last dimension is the number of dimensions of shape, or with dim the "
                     "rank is, and dim names one; lead is for rank 2 without dim",
                     "shape has 1 to 8 numbers of 1 or more"},
     .example = "%y = samba.ravel_index %i {shape = [5, 4]} : tensor<3x2xi64>",
     .source = "numpy.ravel_multi_index; what gathers and scatters are made of",
     .dtypes = SAMBA_SET_INDEX,
     .infer = inferRavel,
     .no_gradient = true,
     .stages = stagesRavel},
    {0}};
