/* Random stage graphs; see graphs.h. Shapes are small and rarely multiples of anything. */
#include "test/backend/stage_graphs.h"

#include <string.h>

uint64_t randomNext(Random *random) {
  random->state = random->state * 6364136223846793005u + 1442695040888963407u;
  uint64_t x = random->state >> 17;
  return x ^ x >> 21;
}

int64_t randomIn(Random *random, int64_t low, int64_t high) {
  return low + (int64_t)(randomNext(random) % (uint64_t)(high - low + 1));
}

uint32_t addTensor(SambaStageGraph *graph, SambaTensorRole role, SambaDType dtype, uint32_t rank,
                   const int64_t *dims) {
  SambaStageTensor tensor = {.name = "t", .role = role, .dtype = dtype, .rank = rank};
  for (uint32_t axis = 0; axis < rank; ++axis)
    tensor.dims[axis] = dims[axis];
  return sambaStageGraphAddTensor(graph, &tensor);
}

#define DIMS(...)                                                                                  \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
#define OPS(...)                                                                                   \
  (const SambaLaneOp[]){__VA_ARGS__}, (sizeof((SambaLaneOp[]){__VA_ARGS__}) / sizeof(SambaLaneOp))

static SambaStage newStage(const char *name, uint32_t dims, const int64_t *extents,
                           uint32_t parallel) {
  SambaStage stage = {
      .name = name, .layer = "", .dim_count = dims, .output.index_operand = SAMBA_NO_INDEX};
  for (uint32_t d = 0; d < dims; ++d) {
    stage.extents[d] = extents[d];
    stage.reduced[d] = d >= parallel;
  }
  return stage;
}

/* The operand that reads tensor axis i along dimension map[i] (-1: index 0). */
static SambaStageOperand reading(uint32_t tensor, uint32_t rank, const int *map) {
  SambaStageOperand operand = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (map[axis] >= 0)
      operand.axes[axis].coefficients[map[axis]] = 1;
  return operand;
}
#define READ(tensor, ...)                                                                          \
  reading(tensor, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static void addOperand(SambaStage *stage, SambaStageOperand operand) {
  stage->operands[stage->operand_count++] = operand;
}

static uint32_t addStage(SambaStageGraph *graph, SambaStage *stage, SambaStageOperand output,
                         const SambaLaneOp *ops, size_t count) {
  stage->output = output;
  stage->ops = sambaArenaCopy(graph->arena, ops, count * sizeof *ops);
  stage->op_count = (uint32_t)count;
  stage->result = stage->operand_count + stage->op_count - 1;
  if (count == 0)
    stage->result = 0;
  sambaStageGraphAddStage(graph, stage);
  return output.tensor;
}

#define F SAMBA_DTYPE_F32
#define I SAMBA_DTYPE_I32
#define A SAMBA_TENSOR_ARGUMENT
#define R SAMBA_TENSOR_RESULT
#define M SAMBA_TENSOR_INTERMEDIATE
#define OP(code, lane, ...)                                                                        \
  {                                                                                                \
    .opcode = SAMBA_LANE_##code, .type = lane, .operands = { __VA_ARGS__ }                         \
  }
#define CONSTANT_F(bits) {.opcode = SAMBA_LANE_CONSTANT, .type = F, .immediate = bits}

static int64_t *dimsOf(SambaStageGraph *graph, uint32_t tensor) {
  return graph->tensors[tensor].dims;
}

uint32_t addMatmul(SambaStageGraph *graph, uint32_t a, uint32_t b, bool transposed,
                   SambaTensorRole role, SambaDType out) {
  int64_t m = dimsOf(graph, a)[0];
  int64_t k = dimsOf(graph, a)[1];
  int64_t n = dimsOf(graph, b)[transposed ? 0 : 1];
  uint32_t c = addTensor(graph, role, out, DIMS(m, n));
  SambaStage stage = newStage("matmul", DIMS(m, n, k), 2);

  addOperand(&stage, READ(a, 0, 2));
  addOperand(&stage, transposed ? READ(b, 1, 2) : READ(b, 2, 1));
  bool integer = !sambaDTypeIsFloat(graph->tensors[a].dtype);
  if (out == SAMBA_DTYPE_BF16) { /* a sum is the stage's result: rounding is a stage of its own */
    graph->tensors[c].role = SAMBA_TENSOR_INTERMEDIATE;
    graph->tensors[c].dtype = SAMBA_DTYPE_F32;
  }

  addStage(graph, &stage, READ(c, 0, 1), OPS(OP(MAC, integer ? I : F, 0, 1)));
  if (out != SAMBA_DTYPE_BF16)
    return c;
  uint32_t rounded = addTensor(graph, role, out, DIMS(m, n));
  stage = newStage("round", DIMS(m, n), 2);
  addOperand(&stage, READ(c, 0, 1));

  return addStage(graph, &stage, READ(rounded, 0, 1), OPS(OP(TO_BF16, F, 0)));
}

/* y = max(x + bias, 0) over rows; bias along the last axis. */
static uint32_t addBiasRelu(SambaStageGraph *graph, uint32_t x, SambaTensorRole role) {
  int64_t m = dimsOf(graph, x)[0];
  int64_t n = dimsOf(graph, x)[1];
  uint32_t bias = addTensor(graph, A, F, DIMS(n));
  uint32_t sum = addTensor(graph, M, F, DIMS(m, n));
  uint32_t y = addTensor(graph, role, F, DIMS(m, n));
  SambaStage stage = newStage("bias", DIMS(m, n), 2);
  addOperand(&stage, READ(x, 0, 1));
  addOperand(&stage, READ(bias, 1));
  addStage(graph, &stage, READ(sum, 0, 1), OPS(OP(ADD, F, 0, 1)));
  stage = newStage("relu", DIMS(m, n), 2);
  addOperand(&stage, READ(sum, 0, 1));
  return addStage(graph, &stage, READ(y, 0, 1), OPS(CONSTANT_F(0), OP(MAX, F, 0, 1)));
}

static void makeMatmul(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 70);
  int64_t n = randomIn(random, 1, 70);
  int64_t k = randomIn(random, 1, 90);
  bool transposed = randomIn(random, 0, 1), bf16 = randomIn(random, 0, 1);
  SambaDType dtype = bf16 ? SAMBA_DTYPE_BF16 : F;
  uint32_t a = addTensor(graph, A, dtype, DIMS(m, k));
  uint32_t b =
      transposed ? addTensor(graph, A, dtype, DIMS(n, k)) : addTensor(graph, A, dtype, DIMS(k, n));
  if (randomIn(random, 0, 1))
    addBiasRelu(graph, addMatmul(graph, a, b, transposed, M, F), R);
  else
    addMatmul(graph, a, b, transposed, R, dtype);
}

/* Large enough for several tiles per copy, staging and spread buffers; whole multiples of the array
 * half of the time. */
static void makeLargeMatmul(SambaStageGraph *graph, Random *random) {
  int64_t step = randomIn(random, 0, 1) ? 16 : 1;
  int64_t m = step * randomIn(random, 60 / step, 144 / step);
  int64_t n = step * randomIn(random, 60 / step, 144 / step);
  int64_t k = step * randomIn(random, 60 / step, 144 / step);
  SambaDType dtype = randomIn(random, 0, 1) ? SAMBA_DTYPE_BF16 : F;
  uint32_t a = addTensor(graph, A, dtype, DIMS(m, k));
  uint32_t b = addTensor(graph, A, dtype, DIMS(k, n));
  addMatmul(graph, a, b, false, R, dtype);
}

static void makeIntegers(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 40);
  int64_t n = randomIn(random, 1, 40);
  int64_t k = randomIn(random, 1, 60);
  uint32_t a = addTensor(graph, A, SAMBA_DTYPE_I8, DIMS(m, k));
  uint32_t b = addTensor(graph, A, SAMBA_DTYPE_UI8, DIMS(k, n));
  uint32_t sum = addMatmul(graph, a, b, false, M, I);
  uint32_t y = addTensor(graph, R, SAMBA_DTYPE_I8, DIMS(m, n));
  SambaStage stage = newStage("narrow", DIMS(m, n), 2);
  addOperand(&stage, READ(sum, 0, 1));
  SambaLaneOp wrap = {
      .opcode = SAMBA_LANE_WRAP, .type = I, .operands = {0}, .immediate = SAMBA_DTYPE_I8};
  addStage(graph, &stage, READ(y, 0, 1), &wrap, 1);
}

static void makeBatched(SambaStageGraph *graph, Random *random) {
  int64_t batch = randomIn(random, 1, 6);
  int64_t m = randomIn(random, 1, 40);
  int64_t n = randomIn(random, 1, 40);
  int64_t k = randomIn(random, 1, 40);
  uint32_t a = addTensor(graph, A, F, DIMS(batch, m, k));
  uint32_t b = addTensor(graph, A, F, DIMS(batch, k, n));
  uint32_t c = addTensor(graph, R, F, DIMS(m, batch, n));
  SambaStage stage = newStage("bmm", DIMS(batch, m, n, k), 3);
  addOperand(&stage, READ(a, 0, 1, 3));
  addOperand(&stage, READ(b, 0, 3, 2));
  addStage(graph, &stage, READ(c, 1, 0, 2), OPS(OP(MAC, F, 0, 1)));
}

/* Dimensions n, g, o, y, x | c, i, j; padding through a guard. */
static uint32_t addConv(SambaStageGraph *graph, Random *random, uint32_t x, int64_t groups,
                        int64_t out, SambaTensorRole role) {
  const int64_t *in = dimsOf(graph, x);
  int64_t n = in[0];
  int64_t c = in[1] / groups;
  int64_t kernel = randomIn(random, 1, 3);
  int64_t stride = randomIn(random, 1, 2);
  int64_t pad = randomIn(random, 0, kernel - 1);
  int64_t dilation = randomIn(random, 1, 2);
  int64_t h = (in[2] + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  int64_t w = (in[3] + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;

  if (in[2] + 2 * pad <= dilation * (kernel - 1) || in[3] + 2 * pad <= dilation * (kernel - 1)) {
    kernel = 1, pad = 0;
    h = (in[2] - 1) / stride + 1, w = (in[3] - 1) / stride + 1;
  }

  uint32_t weight = addTensor(graph, A, F, DIMS(groups * out, c, kernel, kernel));
  uint32_t y = addTensor(graph, role, F, DIMS(n, groups * out, h, w));
  SambaStage stage = newStage("conv", DIMS(n, groups, out, h, w, c, kernel, kernel), 5);
  SambaStageOperand image = READ(x, 0, 5, 3, 4);

  image.axes[1].coefficients[1] = c;
  for (uint32_t i = 0; i < 2; ++i) {
    image.axes[2 + i] = (SambaAxisMap){.constant = -pad};
    image.axes[2 + i].coefficients[3 + i] = stride;
    image.axes[2 + i].coefficients[6 + i] = dilation;
  }

  image.guarded = pad > 0;
  SambaStageOperand weights = READ(weight, 2, 5, 6, 7);
  weights.axes[0].coefficients[1] = out;
  SambaStageOperand output = READ(y, 0, 2, 3, 4);
  output.axes[1].coefficients[1] = out;
  addOperand(&stage, image);
  addOperand(&stage, weights);

  return addStage(graph, &stage, output, OPS(OP(MAC, F, 0, 1)));
}

static uint32_t addPool(SambaStageGraph *graph, Random *random, uint32_t x, SambaTensorRole role) {
  const int64_t *in = dimsOf(graph, x);
  int64_t window = randomIn(random, 2, 3);
  int64_t stride = randomIn(random, 1, 2);

  window = window > in[2] ? in[2] : window;
  window = window > in[3] ? in[3] : window;
  int64_t h = (in[2] - window) / stride + 1;
  int64_t w = (in[3] - window) / stride + 1;
  uint32_t y = addTensor(graph, role, F, DIMS(in[0], in[1], h, w));
  SambaStage stage = newStage("pool", DIMS(in[0], in[1], h, w, window, window), 4);
  SambaStageOperand image = READ(x, 0, 1, 2, 3);

  for (uint32_t i = 0; i < 2; ++i) {
    image.axes[2 + i].coefficients[2 + i] = stride;
    image.axes[2 + i].coefficients[4 + i] = 1;
  }

  addOperand(&stage, image);
  bool maximum = randomIn(random, 0, 1);
  SambaLaneOp op = {.opcode = maximum ? SAMBA_LANE_REDUCE_MAX : SAMBA_LANE_REDUCE_ADD,
                    .type = F,
                    .operands = {0}};
  return addStage(graph, &stage, READ(y, 0, 1, 2, 3), &op, 1);
}

static uint32_t newImage(SambaStageGraph *graph, Random *random, int64_t channels) {
  return addTensor(
      graph, A, F,
      DIMS(randomIn(random, 1, 3), channels, randomIn(random, 3, 14), randomIn(random, 3, 14)));
}

static void makeConv(SambaStageGraph *graph, Random *random) {
  int64_t groups = randomIn(random, 0, 2) ? 1 : randomIn(random, 1, 4);
  addConv(graph, random, newImage(graph, random, groups * randomIn(random, 1, 5)), groups,
          randomIn(random, 1, 20), R);
}

static void makePool(SambaStageGraph *graph, Random *random) {
  addPool(graph, random, newImage(graph, random, randomIn(random, 1, 20)), R);
}

static void makeConvNet(SambaStageGraph *graph, Random *random) {
  uint32_t x = newImage(graph, random, randomIn(random, 1, 3));
  x = addConv(graph, random, x, 1, randomIn(random, 1, 8), M);
  const int64_t *d = dimsOf(graph, x);
  uint32_t y = addTensor(graph, M, F, 4, d);
  SambaStage stage = newStage("relu", 4, dimsOf(graph, x), 4);
  addOperand(&stage, READ(x, 0, 1, 2, 3));
  addStage(graph, &stage, READ(y, 0, 1, 2, 3), OPS(CONSTANT_F(0), OP(MAX, F, 0, 1)));
  addConv(graph, random, addPool(graph, random, y, M), 1, randomIn(random, 1, 8), R);
}

/* Rows [m, n] -> [m]. */
static uint32_t addRowReduce(SambaStageGraph *graph, uint32_t x, uint8_t opcode, bool lanes) {
  int64_t m = dimsOf(graph, x)[0];
  int64_t n = dimsOf(graph, x)[1];
  uint32_t y = addTensor(graph, M, F, DIMS(m));
  SambaStage stage = newStage("reduce", DIMS(m, n), 1);
  stage.lane_reduce = lanes;
  addOperand(&stage, READ(x, 0, 1));
  SambaLaneOp op = {.opcode = opcode, .type = F, .operands = {0}};
  return addStage(graph, &stage, READ(y, 0), &op, 1);
}

static uint32_t addRowwise(SambaStageGraph *graph, uint32_t x, uint32_t row, SambaTensorRole role,
                           const SambaLaneOp *ops, size_t count) {
  int64_t m = dimsOf(graph, x)[0];
  int64_t n = dimsOf(graph, x)[1];
  uint32_t y = addTensor(graph, role, F, DIMS(m, n));
  SambaStage stage = newStage("rowwise", DIMS(m, n), 2);
  addOperand(&stage, READ(x, 0, 1));
  addOperand(&stage, READ(row, 0));
  return addStage(graph, &stage, READ(y, 0, 1), ops, count);
}

/* The shape of softmax, with a polynomial in place of exp (whose bits are the engine's own). */
static uint32_t addSoftmax(SambaStageGraph *graph, Random *random, uint32_t x,
                           SambaTensorRole role) {
  uint32_t top = addRowReduce(graph, x, SAMBA_LANE_REDUCE_MAX, randomIn(random, 0, 1));
  uint32_t e = addRowwise(graph, x, top, M,
                          OPS(OP(SUB, F, 0, 1), OP(MUL, F, 2, 2), CONSTANT_F(0x3f800000),
                              OP(ADD, F, 3, 4), OP(SQRT, F, 5)));
  return addRowwise(graph, e, addRowReduce(graph, e, SAMBA_LANE_REDUCE_ADD, true), role,
                    OPS(OP(DIV, F, 0, 1)));
}

static void makeSoftmax(SambaStageGraph *graph, Random *random) {
  addSoftmax(graph, random,
             addTensor(graph, A, F, DIMS(randomIn(random, 1, 60), randomIn(random, 1, 100))), R);
}

static void makeNorm(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 60);
  int64_t n = randomIn(random, 2, 100);
  uint32_t x = addTensor(graph, A, F, DIMS(m, n));
  uint32_t scale = addTensor(graph, A, F, DIMS(n));
  uint32_t shift = addTensor(graph, A, F, DIMS(n));
  uint32_t mean = addRowReduce(graph, x, SAMBA_LANE_REDUCE_ADD, true);
  uint32_t centred = addRowwise(graph, x, mean, M,
                                OPS(CONSTANT_F(0x3c800000), OP(MUL, F, 1, 2), OP(SUB, F, 0, 3)));
  uint32_t squares = addRowwise(graph, centred, mean, M, OPS(OP(MUL, F, 0, 0)));
  uint32_t variance = addRowReduce(graph, squares, SAMBA_LANE_REDUCE_ADD, true);
  uint32_t y = addTensor(graph, R, F, DIMS(m, n));
  SambaStage stage = newStage("scale", DIMS(m, n), 2);

  addOperand(&stage, READ(centred, 0, 1));
  addOperand(&stage, READ(variance, 0));
  addOperand(&stage, READ(scale, 1));
  addOperand(&stage, READ(shift, 1));
  addStage(
      graph, &stage, READ(y, 0, 1),
      OPS(OP(ABS, F, 1), OP(SQRT, F, 4), OP(DIV, F, 0, 5), OP(MUL, F, 6, 2), OP(ADD, F, 7, 3)));
}

/* Three inputs of different broadcast shapes, a comparison, a select, the iteration's own
 * indices. */
static void makeElementwise(SambaStageGraph *graph, Random *random) {
  int64_t a = randomIn(random, 1, 9);
  int64_t b = randomIn(random, 1, 30);
  int64_t c = randomIn(random, 1, 50);
  uint32_t x = addTensor(graph, A, F, DIMS(a, b, c));
  uint32_t y = addTensor(graph, A, F, DIMS(b, 1));
  uint32_t z = addTensor(graph, A, F, DIMS(c));
  uint32_t out = addTensor(graph, R, F, DIMS(a, b, c));
  SambaStage stage = newStage("mixed", DIMS(a, b, c), 3);

  addOperand(&stage, READ(x, 0, 1, 2));
  addOperand(&stage, READ(y, 1, -1));
  addOperand(&stage, READ(z, 2));
  SambaLaneOp counter = {
      .opcode = SAMBA_LANE_COUNTER, .type = I, .immediate = (uint64_t)randomIn(random, 0, 2)};
  addStage(graph, &stage, READ(out, 0, 1, 2),
           OPS(OP(MUL, F, 0, 1), OP(ADD, F, 3, 2), OP(LT, F, 4, 0), OP(SELECT, F, 5, 4, 0),
               OP(ABS, F, 6), OP(SQRT, F, 7), OP(SUB, F, 8, 1), OP(DIV, F, 9, 8), counter,
               OP(INT_TO_FLOAT, I, 11), OP(ADD, F, 10, 12), OP(MUL, F, 13, 2)));
}

static void makeGather(SambaStageGraph *graph, Random *random) {
  int64_t rows = randomIn(random, 1, 40);
  int64_t width = randomIn(random, 1, 70);
  int64_t b = randomIn(random, 1, 4);
  int64_t s = randomIn(random, 1, 30);
  bool copies = randomIn(random, 0, 1);
  uint32_t table = addTensor(graph, A, F, DIMS(rows, width));
  uint32_t index = addTensor(graph, A, SAMBA_DTYPE_I32, DIMS(b, s));
  uint32_t y = addTensor(graph, R, F, DIMS(b, s, width));
  SambaStage stage = newStage("gather", DIMS(b, s, width), 3);

  addOperand(&stage, READ(table, -1, 2));
  addOperand(&stage, READ(index, 0, 1));
  stage.operands[0].index_operand = 1;
  if (copies)
    addStage(graph, &stage, READ(y, 0, 1, 2), NULL, 0);
  else
    addStage(graph, &stage, READ(y, 0, 1, 2), OPS(OP(MUL, F, 0, 0)));
}

/* Rows to the places that an index gives, several to one. */
static void makeScatter(SambaStageGraph *graph, Random *random) {
  int64_t rows = randomIn(random, 1, 40);
  int64_t size = randomIn(random, 1, 20);
  int64_t a = randomIn(random, 1, 5);
  int64_t width = randomIn(random, 1, 70);
  uint32_t x = addTensor(graph, A, F, DIMS(a, rows, width));
  uint32_t index = addTensor(graph, A, SAMBA_DTYPE_I64, DIMS(rows));
  uint32_t y = addTensor(graph, R, F, DIMS(a, size, width));
  SambaStage stage = newStage("scatter", DIMS(a, rows, width), 3);
  addOperand(&stage, READ(x, 0, 1, 2));
  addOperand(&stage, READ(index, 1));
  SambaStageOperand output = READ(y, 0, -1, 2);
  output.index_operand = output.index_axis = 1;
  addStage(graph, &stage, output, NULL, 0);
}

/* A transposition, a reversal and a concatenation, all without arithmetic. */
static void makeCopies(SambaStageGraph *graph, Random *random) {
  int64_t a = randomIn(random, 1, 9);
  int64_t b = randomIn(random, 1, 30);
  int64_t c = randomIn(random, 1, 40);
  SambaDType dtype = randomIn(random, 0, 1) ? SAMBA_DTYPE_BF16 : SAMBA_DTYPE_I64;
  uint32_t x = addTensor(graph, A, dtype, DIMS(a, b, c));
  uint32_t y = addTensor(graph, R, dtype, DIMS(2 * c, a, b));
  SambaStage stage = newStage("transpose", DIMS(c, a, b), 3);

  addOperand(&stage, READ(x, 1, 2, 0));
  addStage(graph, &stage, READ(y, 0, 1, 2), NULL, 0);
  stage = newStage("reverse", DIMS(c, a, b), 3);
  addOperand(&stage, READ(x, 1, 2, 0));
  stage.operands[0].axes[2].coefficients[0] = -1;
  stage.operands[0].axes[2].constant = c - 1;
  SambaStageOperand output = READ(y, 0, 1, 2);
  output.axes[0].constant = c;
  addStage(graph, &stage, output, NULL, 0);
}

/* Copies between stages: y = relu(x)^T + x^T, z = pad(y) + broadcast row. */
static void makeInnerCopies(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 30);
  int64_t n = randomIn(random, 1, 40);
  uint32_t x = addTensor(graph, A, F, DIMS(m, n));
  uint32_t t = addTensor(graph, M, F, DIMS(n, m));
  uint32_t p = addTensor(graph, M, F, DIMS(n + 2, m));
  uint32_t y = addTensor(graph, R, F, DIMS(n + 2, m));
  uint32_t h = addBiasRelu(graph, x, M);
  SambaStage stage = newStage("turn", DIMS(n, m), 2);

  addOperand(&stage, READ(h, 1, 0));
  addStage(graph, &stage, READ(t, 0, 1), NULL, 0);
  stage = newStage("pad", DIMS(n + 2, m), 2);
  addOperand(&stage, READ(t, 0, 1));
  stage.operands[0].axes[0].constant = -1;
  stage.operands[0].guarded = true;
  stage.operands[0].fill = 0x40400000;
  addStage(graph, &stage, READ(p, 0, 1), NULL, 0);
  stage = newStage("last", DIMS(n + 2, m), 2);
  addOperand(&stage, READ(p, 0, 1));
  addOperand(&stage, READ(t, -1, 1));
  addStage(graph, &stage, READ(y, 0, 1), OPS(OP(ADD, F, 0, 1)));
}

static void makeMlp(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 90);
  int64_t widths[4];
  for (int i = 0; i < 4; ++i)
    widths[i] = randomIn(random, 1, 70);
  uint32_t x = addTensor(graph, A, F, DIMS(m, widths[0]));
  for (int i = 0; i < 2; ++i)
    x = addBiasRelu(
        graph,
        addMatmul(graph, x, addTensor(graph, A, F, DIMS(widths[i + 1], widths[i])), true, M, F), M);
  uint32_t y = addMatmul(graph, x, addTensor(graph, A, F, DIMS(widths[3], widths[2])), true, M, F);
  addSoftmax(graph, random, y, R);
  if (randomIn(random, 0, 1))
    graph->tensors[y].role = R; /* both read inside and a result */
}

/* q k^T, softmax, times v, plus the residual q: rows share k and v. */
static void makeAttention(SambaStageGraph *graph, Random *random) {
  int64_t s = randomIn(random, 1, 40);
  int64_t d = randomIn(random, 1, 24);
  uint32_t x = addTensor(graph, A, F, DIMS(s, d));
  uint32_t w = addTensor(graph, A, F, DIMS(d, d));
  uint32_t k = addTensor(graph, A, F, DIMS(s, d));
  uint32_t q = addMatmul(graph, x, w, true, M, F);
  uint32_t scores = addMatmul(graph, q, k, true, M, F);
  uint32_t p = addSoftmax(graph, random, scores, M);
  uint32_t mixed = addMatmul(graph, p, randomIn(random, 0, 1) ? k : x, false, M, F);
  uint32_t y = addTensor(graph, R, F, DIMS(s, d));
  SambaStage stage = newStage("residual", DIMS(s, d), 2);

  addOperand(&stage, READ(mixed, 0, 1));
  addOperand(&stage, READ(q, 0, 1));
  addOperand(&stage, READ(x, 0, 1));
  addStage(graph, &stage, READ(y, 0, 1), OPS(OP(ADD, F, 0, 1), OP(ADD, F, 3, 2)));
}

/* A stage of the attention of several heads, over (batch, head, query) and one more dimension. */
static uint32_t addHeadStage(SambaStageGraph *graph, SambaStage *stage, SambaTensorRole role,
                             bool rows, const SambaLaneOp *ops, size_t count) {
  const int64_t *extents = stage->extents;
  uint32_t y = rows ? addTensor(graph, role, F, DIMS(extents[0], extents[1], extents[2]))
                    : addTensor(graph, role, F, 4, extents);
  return addStage(graph, stage, rows ? READ(y, 0, 1, 2) : READ(y, 0, 1, 2, 3), ops, count);
}

/* The attention of several heads: the first three dimensions of every stage are batch, head and
 * query, k and v have no queries. */
static uint32_t addHeads(SambaStageGraph *graph, Random *random, SambaTensorRole role) {
  int64_t b = randomIn(random, 2, 3);
  int64_t h = randomIn(random, 2, 4);
  int64_t s = randomIn(random, 2, 40);
  int64_t t = randomIn(random, 1, 40);
  int64_t d = randomIn(random, 1, 24);
  uint32_t q = addTensor(graph, A, F, DIMS(b, h, s, d));
  uint32_t k = addTensor(graph, A, F, DIMS(b, h, t, d));
  uint32_t v = addTensor(graph, A, F, DIMS(b, h, t, d));

  SambaStage stage = newStage("scores", DIMS(b, h, s, t, d), 4);
  addOperand(&stage, READ(q, 0, 1, 2, 4));
  addOperand(&stage, READ(k, 0, 1, 3, 4));
  uint32_t scores = addHeadStage(graph, &stage, M, false, OPS(OP(MAC, F, 0, 1)));
  stage = newStage("top", DIMS(b, h, s, t), 3);
  stage.lane_reduce = true;
  addOperand(&stage, READ(scores, 0, 1, 2, 3));
  uint32_t top = addHeadStage(graph, &stage, M, true, OPS(OP(REDUCE_MAX, F, 0)));
  stage = newStage("less", DIMS(b, h, s, t), 4);
  addOperand(&stage, READ(scores, 0, 1, 2, 3));
  addOperand(&stage, READ(top, 0, 1, 2));
  uint32_t e = addHeadStage(graph, &stage, M, false, OPS(OP(SUB, F, 0, 1), OP(MUL, F, 2, 2)));
  stage = newStage("sum", DIMS(b, h, s, t), 3);
  stage.lane_reduce = randomIn(random, 0, 1);
  addOperand(&stage, READ(e, 0, 1, 2, 3));
  uint32_t sum = addHeadStage(graph, &stage, M, true, OPS(OP(REDUCE_ADD, F, 0)));
  stage = newStage("share", DIMS(b, h, s, t), 4);
  addOperand(&stage, READ(e, 0, 1, 2, 3));
  addOperand(&stage, READ(sum, 0, 1, 2));
  uint32_t p = addHeadStage(graph, &stage, M, false, OPS(OP(DIV, F, 0, 1)));
  stage = newStage("mixed", DIMS(b, h, s, d, t), 4);
  addOperand(&stage, READ(p, 0, 1, 2, 4));
  addOperand(&stage, READ(v, 0, 1, 4, 3));
  return addHeadStage(graph, &stage, role, false, OPS(OP(MAC, F, 0, 1)));
}

static void makeHeads(SambaStageGraph *graph, Random *random) { addHeads(graph, random, R); }

/* And a projection that sums over heads and what is within them, behind a move of the heads. */
static void makeProjectedHeads(SambaStageGraph *graph, Random *random) {
  uint32_t mixed = addHeads(graph, random, M);
  const int64_t *dims = dimsOf(graph, mixed);
  int64_t b = dims[0], h = dims[1], s = dims[2], d = dims[3], m = randomIn(random, 1, 40);
  uint32_t w = addTensor(graph, A, F, DIMS(m, h, d));
  uint32_t moved = addTensor(graph, M, F, DIMS(b, s, h, d));
  uint32_t y = addTensor(graph, R, F, DIMS(b, s, m));
  SambaStage stage = newStage("move", DIMS(b, s, h, d), 4);
  addOperand(&stage, READ(mixed, 0, 2, 1, 3));
  addStage(graph, &stage, READ(moved, 0, 1, 2, 3), OPS(CONSTANT_F(0), OP(ADD, F, 0, 1)));
  stage = newStage("projection", DIMS(b, s, m, h, d), 3);
  addOperand(&stage, READ(moved, 0, 1, 3, 4));
  addOperand(&stage, READ(w, 2, 3, 4));
  addStage(graph, &stage, READ(y, 0, 1, 2), OPS(OP(MAC, F, 0, 1)));
}

void makeScoresOfHeads(SambaStageGraph *graph) {
  const int64_t b = 2, r = 32, h = 2, d = 32, c = 40;
  uint32_t x = addTensor(graph, A, F, DIMS(b, r, h, d));
  uint32_t keys = addTensor(graph, A, F, DIMS(b, h, c, d));
  uint32_t queries = addTensor(graph, M, F, DIMS(b, r, h, d));
  uint32_t scores = addTensor(graph, R, F, DIMS(b, h, r, c));
  SambaStage stage = newStage("queries", DIMS(b, r, h, d), 4);
  addOperand(&stage, READ(x, 0, 1, 2, 3));
  addStage(graph, &stage, READ(queries, 0, 1, 2, 3), OPS(OP(ADD, F, 0, 0)));
  stage = newStage("scores", DIMS(b, h, r, c, d), 4);
  addOperand(&stage, READ(queries, 0, 2, 1, 4));
  addOperand(&stage, READ(keys, 0, 1, 3, 4));
  addStage(graph, &stage, READ(scores, 0, 1, 2, 3), OPS(OP(MAC, F, 0, 1)));
}

/* A long program with many live values over the stage's operands and a counter; folded by a sum
 * when it reduces. */
static uint32_t addProgram(SambaStageGraph *graph, Random *random, SambaStage *stage,
                           SambaStageOperand output) {
  static const uint8_t codes[] = {SAMBA_LANE_ADD, SAMBA_LANE_SUB, SAMBA_LANE_MUL, SAMBA_LANE_MAX,
                                  SAMBA_LANE_DIV};
  SambaLaneOp ops[64] = {{.opcode = SAMBA_LANE_COUNTER, .type = I, .immediate = 1}};
  uint32_t inputs = stage->operand_count;
  uint32_t length = inputs + (uint32_t)randomIn(random, 0, 22);
  uint32_t count = 2;

  ops[1] =
      (SambaLaneOp){.opcode = SAMBA_LANE_INT_TO_FLOAT, .type = I, .operands = {(uint16_t)inputs}};
  for (uint32_t i = 0; i < length; ++i, ++count) {
    ops[count] = (SambaLaneOp){.opcode = codes[randomIn(random, 0, 4)], .type = F};
    for (int k = 0; k < 2; ++k) {
      /* An operand, the counter or an operation before; each operand is used. */
      uint32_t value = k == 0 && i < inputs ? i : (uint32_t)randomIn(random, 0, inputs + i);
      ops[count].operands[k] = (uint16_t)(value < inputs ? value : value + 1);
    }
  }

  /* Everything is used in the end: all of it is alive until here. */
  for (uint32_t i = 1; i < length; ++i, ++count)
    ops[count] = (SambaLaneOp){
        .opcode = SAMBA_LANE_MAX,
        .type = F,
        .operands = {(uint16_t)(inputs + (i == 1 ? 2 : count - 1)), (uint16_t)(inputs + 2 + i)}};
  if (stage->reduced[stage->dim_count - 1]) {
    uint16_t last = (uint16_t)(inputs + count - 1);
    ops[count++] = (SambaLaneOp){.opcode = SAMBA_LANE_REDUCE_ADD, .type = F, .operands = {last}};
  }

  return addStage(graph, stage, output, ops, count);
}

static void makeProgram(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 1, 30);
  int64_t n = randomIn(random, 1, 40);
  int64_t k = randomIn(random, 1, 20);
  uint32_t x = addTensor(graph, A, F, DIMS(m, n, k));
  uint32_t y = addTensor(graph, A, F, DIMS(m, n));
  uint32_t z = addTensor(graph, A, F, DIMS(n));
  uint32_t sum = addTensor(graph, M, F, DIMS(m, n));
  uint32_t out = addTensor(graph, R, F, DIMS(m, n));
  SambaStage stage = newStage("before", DIMS(m, n, k), 2);

  addOperand(&stage, READ(x, 0, 1, 2));
  addOperand(&stage, READ(y, 0, 1));
  addOperand(&stage, READ(z, 1));
  addProgram(graph, random, &stage, READ(sum, 0, 1));
  stage = newStage("after", DIMS(m, n), 2);
  addOperand(&stage, READ(sum, 0, 1));
  addOperand(&stage, READ(y, 0, 1));
  addOperand(&stage, READ(z, 1));
  addProgram(graph, random, &stage, READ(out, 0, 1));
}

/* A product and what comes behind it: a bias of each column, a factor of each row, a residual, a
 * step that counts columns, some of them. */
static void makeTail(SambaStageGraph *graph, Random *random) {
  int64_t m = randomIn(random, 20, 150), n = randomIn(random, 20, 150);
  SambaDType dtype = randomIn(random, 0, 1) ? SAMBA_DTYPE_BF16 : F;
  uint32_t a = addTensor(graph, A, dtype, DIMS(m, randomIn(random, 30, 300)));
  uint32_t b = addTensor(graph, A, dtype, DIMS(dimsOf(graph, a)[1], n));
  uint32_t bias = addTensor(graph, A, F, DIMS(n));
  uint32_t factor = addTensor(graph, A, F, DIMS(m));
  uint32_t residual = addTensor(graph, A, F, DIMS(m, n));
  uint32_t x = addMatmul(graph, a, b, false, M, F);
  int64_t kinds = randomIn(random, 1, 15);

  for (int kind = 0; kind < 4; ++kind) {
    if (!(kinds >> kind & 1))
      continue;
    uint32_t y = addTensor(graph, kinds >> (kind + 1) ? M : R, F, DIMS(m, n));
    SambaStage stage = newStage("tail", DIMS(m, n), 2);
    addOperand(&stage, READ(x, 0, 1));
    if (kind == 0) {
      addOperand(&stage, READ(bias, 1));
      addStage(graph, &stage, READ(y, 0, 1), OPS(OP(ADD, F, 0, 1)));
    } else if (kind == 1) {
      addOperand(&stage, READ(factor, 0));
      addStage(graph, &stage, READ(y, 0, 1), OPS(OP(MUL, F, 0, 1)));
    } else if (kind == 2) {
      addOperand(&stage, READ(residual, 0, 1));
      addStage(graph, &stage, READ(y, 0, 1), OPS(OP(ADD, F, 0, 1)));
    } else {
      addStage(graph, &stage, READ(y, 0, 1),
               OPS({.opcode = SAMBA_LANE_COUNTER, .type = F, .immediate = 1}, OP(ADD, F, 0, 1)));
    }
    x = y;
  }
}

const GraphKind graphKinds[] = {{"matmul", makeMatmul},
                                {"large matmul", makeLargeMatmul},
                                {"integers", makeIntegers},
                                {"batched", makeBatched},
                                {"conv", makeConv},
                                {"pool", makePool},
                                {"convnet", makeConvNet},
                                {"softmax", makeSoftmax},
                                {"norm", makeNorm},
                                {"mixed", makeElementwise},
                                {"gather", makeGather},
                                {"copies", makeCopies},
                                {"inner copies", makeInnerCopies},
                                {"mlp", makeMlp},
                                {"attention", makeAttention},
                                {"heads", makeHeads},
                                {"projected heads", makeProjectedHeads},
                                {"program", makeProgram},
                                {"scatter", makeScatter},
                                {"tail", makeTail}};
const uint32_t graphKindCount = sizeof graphKinds / sizeof graphKinds[0];
