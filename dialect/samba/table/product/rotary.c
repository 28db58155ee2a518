/* rotary_embedding: each pair of elements turned by an angle. Pairs are halves of the last
 * dimension or neighbours (interleaved). Computed in f32, rounded once. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/stage_builder.h"

#include <string.h>

static SambaStatus inferRotary(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaTensorType *x = &call->operands[0];
  const SambaTensorType *cosine = &call->operands[1];
  const SambaTensorType *sine = &call->operands[2];
  char text[160], wanted[160];

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the input", x->dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "cos", cosine->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "sin", sine->dtype, "the input", x->dtype));
  SAMBA_RETURN_IF_ERROR(sambaCheckShape(2, "sin", sine, cosine->rank, cosine->dims));
  SAMBA_RETURN_IF_ERROR(sambaCheckBroadcast(2, x, cosine, out));
  if (out->rank != x->rank || memcmp(out->dims, x->dims, x->rank * sizeof *x->dims) != 0)
    return sambaStatusMake(SAMBA_INVALID, "(C2) cos is %s, which does not broadcast to %s",
                           sambaTensorTypeFormat(cosine, text), sambaTensorTypeFormat(x, wanted));
  if (x->rank == 0 || x->dims[x->rank - 1] % 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C3) the input is %s, but its last dimension must be even",
                           sambaTensorTypeFormat(x, text));
  return NULL;
}

/* Axes of `tensor` aligned with the last of x's; the last one is at first + step * its
 * dimension. */
static uint16_t part(SambaStageBuilder *builder, uint32_t tensor, uint32_t rank, int64_t first,
                     int64_t step) {
  uint16_t operand = sambaStageOperand(builder, tensor);
  SambaStageTensor type = builder->graph->tensors[tensor];
  uint32_t shift = rank - type.rank;
  for (uint32_t axis = 0; axis < type.rank; ++axis) {
    SambaAxisMap *map = sambaStageAxis(builder, operand, axis);
    bool last = axis + shift + 1 == rank;
    if (type.dims[axis] == 1)
      continue; /* broadcast */
    map->coefficients[axis + shift] = last ? step : 1;
    map->constant = last ? first : 0;
  }
  return operand;
}

/* One half of each pair after the other. */
static SambaStatus stagesRotary(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  const SambaTensorType *x = &call->operands[0];
  bool interleaved = sambaOperatorCallInt(call, "interleaved") != 0;
  uint32_t last = x->rank - 1;
  int64_t half = x->dims[last] / 2;
  int64_t step = interleaved ? 2 : 1;
  int64_t second = interleaved ? 1 : half;

  for (int side = 0; side < 2; ++side) {
    SambaStageBuilder builder;
    sambaStageBegin(&builder, graph, call->operator->name, layer, results[0]);
    for (uint32_t axis = 0; axis < x->rank; ++axis) {
      uint32_t dim = sambaStageDim(&builder, axis == last ? half : x->dims[axis], false);
      builder.stage.output.axes[axis].coefficients[dim] = axis == last ? step : 1;
    }
    int64_t mine = side ? second : 0;
    int64_t other = side ? 0 : second;
    builder.stage.output.axes[last].constant = mine;
    uint16_t own = part(&builder, operands[0], x->rank, mine, step);
    uint16_t partner = part(&builder, operands[0], x->rank, other, step);
    uint16_t cosine = part(&builder, operands[1], x->rank, mine, step);
    uint16_t sine = part(&builder, operands[2], x->rank, mine, step);
    uint16_t left = sambaLane2(&builder, SAMBA_LANE_MUL, own, cosine);
    uint16_t right = sambaLane2(&builder, SAMBA_LANE_MUL, partner, sine);
    sambaStageEndRounded(&builder,
                         sambaLane2(&builder, side ? SAMBA_LANE_ADD : SAMBA_LANE_SUB, left, right));
  }

  return NULL;
}

/* The members of each pair exchanged, the one that comes first negated. */
static uint32_t turned(SambaExpansion *expansion, uint32_t x, bool interleaved) {
  SambaTensorType type = *sambaExpansionType(expansion, x);
  SambaTensorType pairs = type;
  uint32_t axis = type.rank - 1 + interleaved;
  int64_t half = type.dims[type.rank - 1] / 2;
  int64_t each = interleaved ? 1 : half;
  if (interleaved)
    pairs.dims[pairs.rank - 1] = half, pairs.dims[pairs.rank++] = 2;
  x = sambaExpandReshape(expansion, x, pairs.rank, pairs.dims);
  uint32_t parts[] = {
      sambaExpandUnary(expansion, "neg", sambaExpandSlice(expansion, x, axis, each, each, 1)),
      sambaExpandSlice(expansion, x, axis, 0, each, 1)};
  return sambaExpandReshape(expansion, sambaExpandCat(expansion, 2, parts, axis), type.rank,
                            type.dims);
}

/* The same roundings, through memory: x * cos + turned * sin. */
static SambaStatus decomposeRotary(const SambaOperatorCall *call, SambaExpansion *expansion,
                                   const uint32_t *operands, uint32_t *out_results) {
  uint32_t f32[3];
  for (int i = 0; i < 3; ++i)
    f32[i] = sambaExpandCast(expansion, operands[i], SAMBA_DTYPE_F32);
  uint32_t left = sambaExpandBinary(expansion, "mul", f32[0], f32[1]);
  uint32_t other = turned(expansion, f32[0], sambaOperatorCallInt(call, "interleaved") != 0);
  uint32_t sum =
      sambaExpandBinary(expansion, "add", left, sambaExpandBinary(expansion, "mul", other, f32[2]));
  out_results[0] = sambaExpandCast(expansion, sum, call->operands[0].dtype);
  return NULL;
}

const SambaOperator sambaRotaryOperators[] = {
    {.name = "rotary_embedding",
     .summary = "pairs of elements of the last dimension turned by angles",
     .computes = "y = x * cos + turned(x) * sin; turned(x) has -x[n + half] in its first half and "
                 "x[n - half] in its second, or with interleaved -x[n + 1] at even and x[n - 1] at "
                 "odd positions.",
     .operands = {"input", "cos", "sin"},
     .attributes = {BOOL("interleaved", false, "pairs are neighbours, else halves")},
     .constraints = {"all have one float dtype",
                     "cos and sin have one shape, which broadcasts to x's",
                     "x's last dimension is even"},
     .example = "%y = samba.rotary_embedding %x, %cos, %sin : tensor<2x4x8x6xf32>, "
                "tensor<8x6xf32>, tensor<8x6xf32>",
     .source = "RoFormer, arXiv 2104.09864; ONNX RotaryEmbedding",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferRotary,
     .stages = stagesRotary,
     .decompose = decomposeRotary},
    {0}};
