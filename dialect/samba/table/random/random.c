/* Random numbers: functions of a seed and of the element's index alone, so no tiling, order or
 * number of units changes them.
 *
 * The generator is Philox2x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
 * 2011): counter = (index low, index high xor seed high), key = seed low, index counting the
 * result's elements in row-major order. Two 32-bit words come out. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/calls/gradient_calls.h"
#include "dialect/samba/table/core/stage_builder.h"

static SambaStatus checkScalar(unsigned constraint, const char *what, const SambaTensorType *type,
                               uint32_t dtypes) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(constraint, what, type->dtype, dtypes));
  return sambaCheckRank(constraint, what, type, 0, 0);
}
static SambaStatus checkSeed(unsigned constraint, const SambaTensorType *type) {
  return checkScalar(constraint, "the seed", type, 1u << SAMBA_DTYPE_I64);
}

static SambaDType dtypeOf(const SambaOperatorCall *call, SambaDType otherwise) {
  const SambaAttribute *dtype = sambaOperatorCallFind(call, "dtype");
  return dtype ? dtype->value.dtype : otherwise;
}

/* ---- The generator ---- */

static uint16_t low32(SambaStageBuilder *builder, uint16_t x) {
  return sambaLane2(builder, SAMBA_LANE_AND, x, sambaLaneNumber(builder, x, 0xFFFFFFFFu));
}
static uint16_t high32(SambaStageBuilder *builder, uint16_t x) {
  return sambaLane2(builder, SAMBA_LANE_SHRL, x, sambaLaneNumber(builder, x, 32));
}
static uint16_t bitXor(SambaStageBuilder *builder, uint16_t x, uint16_t y) {
  return sambaLane2(builder, SAMBA_LANE_XOR, x, y);
}

/* The element's row-major index, as i64. */
static uint16_t elementIndex(SambaStageBuilder *builder) {
  uint16_t index = UINT16_MAX;
  int64_t stride = 1;
  for (uint32_t d = builder->stage.dim_count; d-- > 0; stride *= builder->stage.extents[d]) {
    if (builder->stage.extents[d] == 1)
      continue;
    uint16_t part = sambaLaneCounter(builder, d, SAMBA_DTYPE_I64);
    if (stride != 1)
      part =
          sambaLane2(builder, SAMBA_LANE_MUL, part, sambaLaneNumber(builder, part, (double)stride));
    index = index == UINT16_MAX ? part : sambaLane2(builder, SAMBA_LANE_ADD, part, index);
  }
  return index;
}

/* Two words of 32 bits, each in an i64. */
static void randomWords(SambaStageBuilder *builder, uint16_t seed, uint16_t out_words[2]) {
  enum { rounds = 10 };
  uint16_t index = elementIndex(builder);
  uint16_t low;
  uint16_t high = high32(builder, seed);

  if (index == UINT16_MAX) {
    low = sambaLaneNumber(builder, seed, 0);
  } else {
    low = low32(builder, index);
    high = bitXor(builder, high32(builder, index), high);
  }

  for (int round = 0; round < rounds; ++round) {
    uint16_t product =
        sambaLane2(builder, SAMBA_LANE_MUL, low, sambaLaneNumber(builder, low, 0xD256D193u));
    uint16_t key = low32(builder, sambaLane2(builder, SAMBA_LANE_ADD, seed,
                                             sambaLaneNumber(builder, seed, round * 2654435769.0)));
    low = bitXor(builder, bitXor(builder, high32(builder, product), high), key);
    high = low32(builder, product);
  }

  out_words[0] = low;
  out_words[1] = high;
}

static uint16_t toFloat(SambaStageBuilder *builder, uint16_t x) {
  return sambaLaneCast(builder, x, SAMBA_DTYPE_F32);
}
static uint16_t scaled(SambaStageBuilder *builder, uint16_t x, double factor, double offset) {
  uint16_t product = sambaLane2(builder, SAMBA_LANE_MUL, x, sambaLaneFloat(builder, factor));
  return offset == 0
             ? product
             : sambaLane2(builder, SAMBA_LANE_ADD, product, sambaLaneFloat(builder, offset));
}

/* ---- uniform, normal ---- */

static SambaStatus inferShaped(const SambaOperatorCall *call, SambaTensorType *out) {
  const SambaAttribute *shape = sambaOperatorCallFind(call, "shape");
  SAMBA_RETURN_IF_ERROR(checkSeed(1, &call->operands[0]));
  if (shape->value.integers.size > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C2) attribute 'shape' has %zu numbers, but %d is the most",
                           shape->value.integers.size, SAMBA_MAX_RANK);
  *out = (SambaTensorType){.rank = (uint32_t)shape->value.integers.size};
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(2, call, "shape", out->rank, 1, out->dims));
  out->dtype = sambaOperatorCallFind(call, "dtype")->value.dtype;
  return sambaCheckDType(3, "attribute 'dtype'", out->dtype, SAMBA_SET_FLOAT);
}

/* low + u * (high - low), u the first word's leading 24 bits as a fraction in [0, 1) */
static uint16_t programUniform(const SambaOperatorCall *call, SambaStageBuilder *builder,
                               const uint16_t *seed) {
  uint16_t words[2];
  double low = sambaOperatorCallFloat(call, "low");
  double high = sambaOperatorCallFloat(call, "high");
  randomWords(builder, *seed, words);
  uint16_t fraction = toFloat(builder, sambaLane2(builder, SAMBA_LANE_SHRL, words[0],
                                                  sambaLaneNumber(builder, words[0], 8)));
  return scaled(builder, scaled(builder, fraction, 0x1p-24, 0), high - low, low);
}

/* Box and Muller: mean + std * sqrt(-2 ln u) * cos(2 pi v), u in (0, 1] and v in [0, 1] of 32 bits
 * each */
static uint16_t programNormal(const SambaOperatorCall *call, SambaStageBuilder *builder,
                              const uint16_t *seed) {
  uint16_t words[2];
  randomWords(builder, *seed, words);
  uint16_t angle = scaled(builder, toFloat(builder, words[1]), 6.283185307179586477 * 0x1p-32, 0);
  uint16_t u = sambaLane2(builder, SAMBA_LANE_ADD, words[0], sambaLaneNumber(builder, words[0], 1));
  uint16_t logarithm =
      sambaLane1(builder, SAMBA_LANE_LOG, scaled(builder, toFloat(builder, u), 0x1p-32, 0));
  uint16_t radius = sambaLane1(builder, SAMBA_LANE_SQRT, scaled(builder, logarithm, -2, 0));
  uint16_t value =
      sambaLane2(builder, SAMBA_LANE_MUL, radius, sambaLane1(builder, SAMBA_LANE_COS, angle));
  return scaled(builder, value, sambaOperatorCallFloat(call, "std"),
                sambaOperatorCallFloat(call, "mean"));
}

static SambaStatus stages(const SambaOperatorCall *call, SambaStageGraph *graph,
                          const uint32_t *operands, const uint32_t *results, const char *layer) {
  SambaStageBuilder builder;
  sambaStageBeginElementwise(&builder, graph, call->operator->name, layer, results[0]);
  uint16_t seed = sambaStageBroadcastOperand(&builder, operands[0]);
  sambaStageEndRounded(&builder, call->operator->program(call, &builder, &seed));
  return NULL;
}

/* ---- What is drawn from uniform numbers ---- */

static uint32_t uniform(SambaExpansion *expansion, uint32_t seed, uint32_t rank,
                        const int64_t *dims) {
  SambaAttribute attributes[] = {sambaIntsAttribute("shape", dims, rank),
                                 sambaDTypeAttribute("dtype", SAMBA_DTYPE_F32)};
  return sambaExpandCall(expansion, "uniform", 1, &seed, 2, attributes);
}

static SambaStatus inferBernoulli(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(checkSeed(2, &call->operands[1]));
  *out = call->operands[0];
  out->dtype = dtypeOf(call, out->dtype);
  return NULL;
}
/* u < p */
static SambaStatus decomposeBernoulli(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *p = &call->operands[0];
  uint32_t hit =
      sambaExpandBinary(expansion, "lt", uniform(expansion, operands[1], p->rank, p->dims),
                        sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32));
  out_results[0] = sambaExpandCast(expansion, hit, dtypeOf(call, p->dtype));
  return NULL;
}

static SambaStatus inferDropout(const SambaOperatorCall *call, SambaTensorType *out) {
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(checkScalar(2, "the probability", &call->operands[1], SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(checkSeed(3, &call->operands[2]));
  out[0] = out[1] = call->operands[0];
  out[1].dtype = SAMBA_DTYPE_I1;
  return NULL;
}
/* mask = u >= p; mask ? x * (1 / (1 - p)) : 0. With p = 0 the factor is 1 and nothing is
 * dropped. */
static SambaStatus decomposeDropout(const SambaOperatorCall *call, SambaExpansion *expansion,
                                    const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *x = &call->operands[0];
  uint32_t p = sambaExpandCast(expansion, operands[1], SAMBA_DTYPE_F32);
  uint32_t one = sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 1);
  uint32_t factor =
      sambaExpandUnary(expansion, "reciprocal", sambaExpandBinary(expansion, "sub", one, p));
  uint32_t mask =
      sambaExpandBinary(expansion, "ge", uniform(expansion, operands[2], x->rank, x->dims), p);
  uint32_t kept = sambaExpandBinary(
      expansion, "mul", sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32), factor);
  uint32_t value = sambaExpandCall(
      expansion, "where", 3,
      (uint32_t[]){mask, kept, sambaExpandScalar(expansion, SAMBA_DTYPE_F32, 0)}, 0, NULL);
  out_results[0] = sambaExpandCast(expansion, value, x->dtype);
  out_results[1] = mask;
  return NULL;
}

/* By the mask that the call has saved, so that nothing is drawn again. */
static SambaStatus differentiateDropout(const SambaGradientCall *gradient, SambaExpansion *e) {
  uint32_t kept = gradientSub(e, gradientNumber(e, 1), gradientWideOperand(gradient, e, 1));
  uint32_t g =
      gradientMul(e, gradientWideFlow(gradient, e), sambaExpandUnary(e, "reciprocal", kept));
  gradientSet(gradient, e, 0, gradientWhereElseZero(e, gradient->results[1], g));
  return NULL;
}

static SambaStatus inferMultinomial(const SambaOperatorCall *call, SambaTensorType *out) {
  int64_t samples = sambaOperatorCallInt(call, "num_samples");
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", call->operands[0].dtype, SAMBA_SET_FLOAT));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "operand 0", &call->operands[0], 2, 2));
  SAMBA_RETURN_IF_ERROR(checkSeed(3, &call->operands[1]));
  if (samples < 1 || samples > (int64_t)1 << 40)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C4) attribute 'num_samples' is %lld, but must be at least 1",
                           (long long)samples);
  *out = call->operands[0];
  out->dims[1] = samples;
  out->dtype = dtypeOf(call, SAMBA_DTYPE_I64);
  return sambaCheckDType(5, "attribute 'dtype'", out->dtype, SAMBA_SET_INDEX);
}
/* The number of classes whose cumulated weight is at most u * (the sum): always fewer than there
 * are, because u < 1. */
static SambaStatus decomposeMultinomial(const SambaOperatorCall *call, SambaExpansion *expansion,
                                        const uint32_t *operands, uint32_t *out_results) {
  const SambaTensorType *weights = &call->operands[0];
  int64_t batch = weights->dims[0];
  int64_t classes = weights->dims[1];
  int64_t samples = sambaOperatorCallInt(call, "num_samples");
  int64_t last = 2;
  SambaAttribute dim = sambaIntAttribute("dim", 1);
  SambaAttribute reduced = sambaIntsAttribute("dim", &last, 1);
  uint32_t wide = sambaExpandCast(expansion, operands[0], SAMBA_DTYPE_F32);
  uint32_t sums = sambaExpandCall(expansion, "cumsum", 1, &wide, 1, &dim);
  uint32_t total = sambaExpandSlice(expansion, sums, 1, classes - 1, 1, 1);
  uint32_t points = sambaExpandBinary(
      expansion, "mul", uniform(expansion, operands[1], 2, (int64_t[]){batch, samples}), total);
  uint32_t before = sambaExpandBinary(
      expansion, "le", sambaExpandReshape(expansion, sums, 3, (int64_t[]){batch, 1, classes}),
      sambaExpandReshape(expansion, points, 3, (int64_t[]){batch, samples, 1}));
  uint32_t counted = sambaExpandCast(expansion, before, dtypeOf(call, SAMBA_DTYPE_I64));

  out_results[0] = sambaExpandCall(expansion, "sum", 1, &counted, 1, &reduced);
  return NULL;
}

#define SHAPED                                                                                     \
  .computes =                                                                                      \
      "Numbers depend on the seed and the element's row-major index alone (docs/numerics.md).",    \
  .operands = {"seed"},                                                                            \
  .constraints = {"the seed is a rank-0 i64",                                                      \
                  "shape is the result's, at most 8 numbers of 1 or more", "dtype is a float"},    \
  .dtypes = 1u << SAMBA_DTYPE_I64, .infer = inferShaped, .stages = stages

const SambaOperator sambaRandomOperators[] = {
    {.name = "uniform",
     .summary = "uniform in [low, high)",
     .attributes = {REQUIRED(INTS, "shape", "the result's dimensions"),
                    REQUIRED(DTYPE, "dtype", "a float"), FLOAT("low", 0), FLOAT("high", 1)},
     .example = "%y = samba.uniform %seed {shape = [2, 3], dtype = f32, low = -1.0} : tensor<i64>",
     .source = "torch.rand, ONNX RandomUniform",
     .program = programUniform,
     .no_gradient = true,
     SHAPED},
    {.name = "normal",
     .summary = "normally distributed",
     .attributes = {REQUIRED(INTS, "shape", "the result's dimensions"),
                    REQUIRED(DTYPE, "dtype", "a float"), FLOAT("mean", 0), FLOAT("std", 1)},
     .example = "%y = samba.normal %seed {shape = [2, 3], dtype = bf16, std = 2.0} : tensor<i64>",
     .source = "torch.normal, ONNX RandomNormal",
     .program = programNormal,
     .no_gradient = true,
     SHAPED},
    {.name = "bernoulli",
     .summary = "1 with probability p, else 0",
     .computes = "The operand has the probability of each element. Numbers depend on the seed and "
                 "the element's row-major index alone (docs/numerics.md).",
     .operands = {"probabilities", "seed"},
     .attributes = {OPTIONAL(DTYPE, "dtype", "absent: the probabilities'")},
     .constraints = {"the probabilities are floats", "the seed is a rank-0 i64"},
     .example = "%y = samba.bernoulli %x, %seed {dtype = i1} : tensor<2x3xf32>, tensor<i64>",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferBernoulli,
     .no_gradient = true,
     .decompose = decomposeBernoulli},
    {.name = "dropout",
     .summary = "0 with probability p, else x / (1 - p); and which were kept",
     .computes =
         "mask = true with probability 1 - p; result = mask ? x * (1 / (1 - p)) : 0. Numbers "
         "depend on the seed and the element's row-major index alone (docs/numerics.md).",
     .operands = {"input", "p", "seed"},
     .results = {"result", "mask"},
     .constraints = {"x is a float", "p is a rank-0 float", "the seed is a rank-0 i64"},
     .example =
         "%y, %mask = samba.dropout %x, %p, %seed : tensor<2x3xf32>, tensor<f32>, tensor<i64>",
     .source = "torch.native_dropout",
     .host_scalars = 1,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferDropout,
     .differentiate = differentiateDropout,
     .decompose = decomposeDropout},
    {.name = "multinomial",
     .summary =
         "indices drawn with replacement, with probabilities proportional to a row's weights",
     .computes = "result[b, s] = the number of classes c with w[b, 0] + .. + w[b, c] <= u[b, s] * "
                 "(sum of w[b]). Numbers depend on the seed and the element's row-major index "
                 "alone (docs/numerics.md).",
     .operands = {"weights", "seed"},
     .attributes = {INT("num_samples", 1, "per row"),
                    OPTIONAL(DTYPE, "dtype", "i32 or i64; absent: i64")},
     .constraints = {"the weights are floats", "of rank 2", "the seed is a rank-0 i64",
                     "num_samples is 1 or more", "dtype is i32 or i64"},
     .example = "%y = samba.multinomial %x, %seed {num_samples = 4} : tensor<2x3xf32>, tensor<i64>",
     .builder = SAMBA_BUILDER_ALL,
     .dtypes = SAMBA_SET_FLOAT,
     .infer = inferMultinomial,
     .no_gradient = true,
     .decompose = decomposeMultinomial},
    {0}};
