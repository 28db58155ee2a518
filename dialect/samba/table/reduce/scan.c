/* Sums of prefixes: cumsum.
 *
 * Every sum is a reduction that compares positions. Long dimensions go in blocks of 256: the sum of
 * the elements of i's block, plus the sum of the blocks before it; n elements are then n * 256 +
 * n * n / 256 points. Floats are added in f32 and rounded once; integers wrap. */
#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/samba/table/reduce/reduce_gradients.h"

enum {
  blockShift = 8,
  block = 1 << blockShift,
  unblocked = 2 * block /* the longest dimension that is one block */
};

typedef struct {
  SambaStageGraph *graph;
  const char *name, *layer;
  uint32_t axis, rank;
  int64_t size;
  bool exclusive, reverse;
} Scan;

static SambaStatus inferCumsum(const SambaOperatorCall *call, SambaTensorType *out) {
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(
      sambaCheckDType(1, "the operand", call->operands[0].dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", call->operands[0].rank, &axis));
  *out = call->operands[0];
  return NULL;
}

/* x, its axis read through the returned operand's map, which is still empty */
static uint16_t scannedOperand(SambaStageBuilder *builder, const Scan *scan, uint32_t x,
                               SambaAxisMap **out_map) {
  uint16_t value = sambaStageOperand(builder, x);
  for (uint32_t d = 0; d < scan->rank; ++d)
    if (d != scan->axis)
      sambaStageAxis(builder, value, d)->coefficients[d] = 1;
  *out_map = sambaStageAxis(builder, value, scan->axis);
  return value;
}

/* result[i] = sum of x[k] where k comparison i */
static void sumWhole(const Scan *scan, uint32_t x, uint32_t result) {
  static const SambaLaneOpcode comparison[2][2] = {{SAMBA_LANE_LE, SAMBA_LANE_GE},
                                                   {SAMBA_LANE_LT, SAMBA_LANE_GT}};
  SambaStageBuilder builder;
  SambaAxisMap *map;
  sambaStageBeginElementwise(&builder, scan->graph, scan->name, scan->layer, result);
  uint32_t k = sambaStageDim(&builder, scan->size, true);
  uint16_t value = scannedOperand(&builder, scan, x, &map);
  map->coefficients[k] = 1;
  uint16_t chosen = sambaLane2(&builder, comparison[scan->exclusive][scan->reverse],
                               sambaLaneCounter(&builder, k, SAMBA_DTYPE_I32),
                               sambaLaneCounter(&builder, scan->axis, SAMBA_DTYPE_I32));
  value = sambaLaneSelect(&builder, chosen, value, sambaLaneNumber(&builder, value, 0));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, value));
}

static void sumBlocks(const Scan *scan, uint32_t x, uint32_t totals) {
  SambaStageBuilder builder;
  SambaAxisMap *map;
  sambaStageBeginElementwise(&builder, scan->graph, scan->name, scan->layer, totals);
  uint32_t k = sambaStageDim(&builder, block, true);
  uint16_t value = scannedOperand(&builder, scan, x, &map);
  map->coefficients[scan->axis] = block;
  map->coefficients[k] = 1;
  sambaStageGuard(&builder, value, 0);
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD, value));
}

/* result[i] = the elements of i's block up to i, then the totals of the blocks before: one
 * reduction, whose first `block` points walk the window that ends (begins) at i and count as far as
 * it lies in the block. */
static void sumLong(const Scan *scan, uint32_t x, uint32_t totals, int64_t blocks,
                    uint32_t result) {
  SambaStageBuilder builder;
  SambaAxisMap *map;

  sambaStageBeginElementwise(&builder, scan->graph, scan->name, scan->layer, result);
  uint32_t k = sambaStageDim(&builder, block + blocks, true);
  uint16_t value = scannedOperand(&builder, scan, x, &map);
  map->coefficients[scan->axis] = 1;
  map->coefficients[k] = 1;
  map->constant = scan->reverse ? 0 : 1 - block;
  sambaStageGuard(&builder, value, 0);
  uint16_t total = scannedOperand(&builder, scan, totals, &map);
  map->coefficients[k] = 1;
  map->constant = -block;
  sambaStageGuard(&builder, total, 0); /* also of the first points, which are no block */
  uint16_t i = sambaLaneCounter(&builder, scan->axis, SAMBA_DTYPE_I32);
  uint16_t at = sambaLaneCounter(&builder, k, SAMBA_DTYPE_I32);
  uint16_t last = sambaLaneInteger(&builder, SAMBA_DTYPE_I32, block - 1);
  uint16_t place =
      sambaLane2(&builder, SAMBA_LANE_ADD, sambaLane2(&builder, SAMBA_LANE_AND, i, last), at);
  uint16_t inside =
      sambaLane2(&builder, scan->reverse ? SAMBA_LANE_LE : SAMBA_LANE_GE, place, last);

  /* Of the window all but, exclusive, i itself: its last element, or its first. */
  uint16_t edge = sambaLaneInteger(&builder, SAMBA_DTYPE_I32,
                                   scan->reverse ? scan->exclusive : block - 1 - scan->exclusive);
  inside =
      sambaLane2(&builder, SAMBA_LANE_AND, inside,
                 sambaLane2(&builder, scan->reverse ? SAMBA_LANE_GE : SAMBA_LANE_LE, at, edge));
  uint16_t own = sambaLane2(&builder, SAMBA_LANE_SHRL, i,
                            sambaLaneInteger(&builder, SAMBA_DTYPE_I32, blockShift));
  uint16_t other =
      sambaLane2(&builder, SAMBA_LANE_SUB, at, sambaLaneInteger(&builder, SAMBA_DTYPE_I32, block));
  uint16_t before = sambaLane2(&builder, scan->reverse ? SAMBA_LANE_GT : SAMBA_LANE_LT, other, own);
  total = sambaLaneSelect(&builder, before, total, sambaLaneNumber(&builder, total, 0));
  sambaStageEnd(&builder, sambaLane1(&builder, SAMBA_LANE_REDUCE_ADD,
                                     sambaLaneSelect(&builder, inside, value, total)));
}

static SambaStatus stagesCumsum(const SambaOperatorCall *call, SambaStageGraph *graph,
                                const uint32_t *operands, const uint32_t *results,
                                const char *layer) {
  SambaTensorType x = call->operands[0];
  Scan scan = {.graph = graph,
               .name = call->operator->name,
               .layer = layer,
               .rank = x.rank,
               .exclusive = sambaOperatorCallInt(call, "exclusive") != 0,
               .reverse = sambaOperatorCallInt(call, "reverse") != 0};
  SAMBA_RETURN_IF_ERROR(sambaCheckAxisAttribute(2, call, "dim", x.rank, &scan.axis));
  SambaDType dtype = sambaAccumulatorDType(x.dtype);

  scan.size = x.dims[scan.axis];
  if (scan.size <= unblocked) {
    uint32_t sums = sambaStageIntermediateLike(graph, results[0], dtype);
    sumWhole(&scan, operands[0], sums);
    sambaStageConvert(graph, scan.name, layer, sums, results[0]);
    return NULL;
  }

  int64_t blocks = (scan.size + block - 1) / block;
  uint32_t sums = sambaStageIntermediateLike(graph, results[0], dtype);
  x.dims[scan.axis] = blocks;
  uint32_t totals = sambaStageIntermediate(graph, dtype, x.rank, x.dims);
  sumBlocks(&scan, operands[0], totals);
  sumLong(&scan, operands[0], totals, blocks, sums);
  sambaStageConvert(graph, scan.name, layer, sums, results[0]);

  return NULL;
}

const SambaOperator sambaScanOperators[] = {
    {.name = "cumsum",
     .summary = "sums of the elements up to each along dim",
     .computes = "result[.., i, ..] = sum of x[.., k, ..] over k <= i; exclusive: k < i; reverse: "
                 "from the other end. The dtype stays.",
     .operands = {"input"},
     .attributes = {REQUIRED(INT, "dim", "negative: from the end"),
                    BOOL("exclusive", false, "without the element itself"),
                    BOOL("reverse", false, "from the other end")},
     .constraints = {"x has a number dtype", "dim names a dimension, negative from the end"},
     .example = "%y = samba.cumsum %x {dim = 1, reverse = true} : tensor<2x5xf32>",
     .source = "torch.cumsum, ONNX CumSum",
     .dtypes = SAMBA_SET_NUMBER,
     .infer = inferCumsum,
     .differentiate = sambaGradientCumsum,
     .stages = stagesCumsum},
    {0}};
