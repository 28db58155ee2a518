/* Elements repeated around a tensor, and blocks summed into one: pad_border, fold. */
#include "dialect/samba/table/index/indexing.h"

#include <stdlib.h>

/* --- pad_border --- */

typedef enum { REFLECT, REPLICATE, CIRCULAR } Border;

typedef struct Borders {
  Border mode;
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
} Borders;

static SambaStatus bordersOf(const SambaOperatorCall *call, Borders *out) {
  uint32_t rank = call->operands[0].rank;
  uint32_t choice;

  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "low", rank, 0, out->low));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(1, call, "high", rank, 0, out->high));
  SAMBA_RETURN_IF_ERROR(sambaCheckChoice(2, call, "mode", &choice));
  out->mode = (Border)choice;
  for (uint32_t d = 0; d < rank; ++d)
    if (out->low[d] > 1 << 20 || out->high[d] > 1 << 20)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "(C3) %lld and %lld elements are added to dimension %u; 2^20 are the most",
          (long long)out->low[d], (long long)out->high[d], d);
  return NULL;
}

static SambaStatus inferPadBorder(const SambaOperatorCall *call, SambaTensorType *out) {
  Borders borders;
  SAMBA_RETURN_IF_ERROR(bordersOf(call, &borders));
  *out = call->operands[0];
  for (uint32_t d = 0; d < out->rank; ++d)
    out->dims[d] += borders.low[d] + borders.high[d];
  return NULL;
}

/* The element of [0, size) that stands at a place around it. */
static int64_t elementAt(Border mode, int64_t place, int64_t size) {
  if (size == 1)
    return 0;
  if (mode == REPLICATE && place < 0)
    return 0;
  if (mode == REPLICATE)
    return place < size ? place : size - 1;
  int64_t period = mode == REFLECT ? 2 * (size - 1) : size;
  int64_t at = place % period;
  at += at < 0 ? period : 0;
  return at < size ? at : period - at;
}

/* One side of a dimension: places [from, from + count) as slices while few do, else a take. */
static uint32_t side(SambaExpansion *expansion, Border mode, uint32_t x, uint32_t d, int64_t from,
                     int64_t count) {
  enum { mostParts = 8 };
  SambaTensorType type = *sambaExpansionType(expansion, x);
  int64_t size = type.dims[d];
  int64_t *index = sambaAllocate(sambaArraySize((size_t)count, sizeof *index));
  int64_t done = 0;
  uint32_t parts[mostParts], used = 0;

  for (int64_t i = 0; i < count; ++i)
    index[i] = elementAt(mode, from + i, size);
  while (done < count && used < mostParts) {
    int64_t step = done + 1 < count ? index[done + 1] - index[done] : 1;
    int64_t run = 1;
    while (done + run < count && index[done + run] - index[done + run - 1] == step)
      ++run;
    parts[used] = sambaExpandSlice(expansion, x, d, index[done], step ? run : 1, step ? step : 1);
    if (!step) {
      type.dims[d] = run;
      parts[used] = sambaExpandBroadcast(expansion, parts[used], type.rank, type.dims);
    }
    ++used;
    done += run;
  }

  uint32_t result;
  if (done == count) {
    result = sambaExpandCat(expansion, used, parts, d);
  } else {
    SambaTensorType list = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {count}};
    result =
        sambaExpandTake(expansion, x, sambaExpandConstant(expansion, &list, index, false), d, 0);
  }

  free(index);
  return result;
}

static SambaStatus decomposePadBorder(const SambaOperatorCall *call, SambaExpansion *expansion,
                                      const uint32_t *operands, uint32_t *out_results) {
  Borders borders;
  SAMBA_RETURN_IF_ERROR(bordersOf(call, &borders));
  uint32_t value = operands[0];

  for (uint32_t d = 0; d < call->operands[0].rank; ++d) {
    uint32_t parts[3], used = 0;
    int64_t size = call->operands[0].dims[d];
    if (borders.low[d])
      parts[used++] = side(expansion, borders.mode, value, d, -borders.low[d], borders.low[d]);
    parts[used++] = value;
    if (borders.high[d])
      parts[used++] = side(expansion, borders.mode, value, d, size, borders.high[d]);
    value = sambaExpandCat(expansion, used, parts, d);
  }

  out_results[0] = value;
  return NULL;
}

/* --- fold --- */

enum { mostSpatial = 3 };

typedef struct Fold {
  uint32_t spatial;
  int64_t channels, out[mostSpatial], kernel[mostSpatial], stride[mostSpatial],
      dilation[mostSpatial], padding[2 * mostSpatial], blocks[mostSpatial];
} Fold;

static SambaStatus foldOf(const SambaOperatorCall *call, Fold *out) {
  const SambaTensorType *x = &call->operands[0];
  size_t spatial = sambaOperatorCallFind(call, "output_size")->value.integers.size;

  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "the operand", x->dtype, SAMBA_SET_NUMBER));
  SAMBA_RETURN_IF_ERROR(sambaCheckRank(2, "the operand", x, 3, 3));
  if (spatial < 1 || spatial > mostSpatial)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "(C3) the image has %zu spatial dimensions, but must have 1 to %d",
                           spatial, mostSpatial);
  out->spatial = (uint32_t)spatial;
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "output_size", spatial, 1, out->out));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "kernel_size", spatial, 1, out->kernel));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "stride", spatial, 1, out->stride));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "dilation", spatial, 1, out->dilation));
  SAMBA_RETURN_IF_ERROR(sambaCheckInts(3, call, "padding", 2 * spatial, 0, out->padding));
  int64_t window = 1, blocks = 1;
  bool fits = true;

  for (uint32_t d = 0; d < spatial; ++d) {
    int64_t span = 0;
    int64_t padded = out->out[d] + out->padding[d] + out->padding[spatial + d];
    fits = fits && !sambaMulOverflows(out->dilation[d], out->kernel[d] - 1, &span) && span < padded;
    out->blocks[d] = (padded - span - 1) / out->stride[d] + 1;
    fits = fits && !sambaMulOverflows(window, out->kernel[d], &window) &&
           !sambaMulOverflows(blocks, out->blocks[d], &blocks);
  }

  if (!fits || x->dims[1] % window || x->dims[2] != blocks)
    return sambaStatusMake(SAMBA_INVALID,
                           "(C4) %lld values in %lld blocks do not fit the window and the image",
                           (long long)x->dims[1], (long long)x->dims[2]);
  out->channels = x->dims[1] / window;

  return NULL;
}

static SambaStatus inferFold(const SambaOperatorCall *call, SambaTensorType *out) {
  Fold fold;
  SAMBA_RETURN_IF_ERROR(foldOf(call, &fold));
  *out = (SambaTensorType){.dtype = call->operands[0].dtype,
                           .rank = fold.spatial + 2,
                           .dims = {call->operands[0].dims[0], fold.channels}};
  memcpy(out->dims + 2, fold.out, fold.spatial * sizeof *fold.out);
  return NULL;
}

/* x has the window's dimension at `from` and the blocks' at `to`, which becomes the image's: for
 * each element of the window the block that puts it there, or a zero behind the last block. */
static uint32_t place(SambaExpansion *expansion, const Fold *fold, uint32_t d, uint32_t x,
                      uint32_t from, uint32_t to) {
  int64_t kernel = fold->kernel[d];
  int64_t out = fold->out[d];
  int64_t blocks = fold->blocks[d];
  int64_t dims[] = {kernel, out};
  double *index = sambaAllocate(sambaArraySize((size_t)(kernel * out), sizeof *index));

  for (int64_t i = 0; i < kernel * out; ++i) {
    int64_t at = i % out + fold->padding[d] - i / out * fold->dilation[d];
    bool made = at >= 0 && at % fold->stride[d] == 0 && at / fold->stride[d] < blocks;
    index[i] = (double)(made ? at / fold->stride[d] : blocks);
  }

  uint32_t table = sambaExpandNumbers(expansion, SAMBA_DTYPE_I32, 2, dims, index);
  uint32_t rank = sambaExpansionType(expansion, x)->rank;
  uint32_t count = 2;

  free(index);
  int64_t order[SAMBA_MAX_RANK] = {from, to};
  int64_t back[SAMBA_MAX_RANK];
  int64_t low[SAMBA_MAX_RANK] = {0};
  int64_t high[SAMBA_MAX_RANK] = {0};
  for (uint32_t i = 0; i < rank; ++i)
    if (i != from && i != to)
      order[count++] = i;
  for (uint32_t i = 0; i < rank; ++i)
    back[order[i]] = i;
  high[to] = 1;
  SambaAttribute pads[] = {sambaIntsAttribute("low", low, rank),
                           sambaIntsAttribute("high", high, rank)};
  uint32_t moved =
      sambaExpandPermute(expansion, sambaExpandCall(expansion, "pad", 1, &x, 2, pads), order);

  return sambaExpandPermute(expansion, sambaExpandTake(expansion, moved, table, 1, 1), back);
}

static SambaStatus decomposeFold(const SambaOperatorCall *call, SambaExpansion *expansion,
                                 const uint32_t *operands, uint32_t *out_results) {
  Fold fold;
  SAMBA_RETURN_IF_ERROR(foldOf(call, &fold));
  uint32_t spatial = fold.spatial;
  int64_t dims[SAMBA_MAX_RANK] = {call->operands[0].dims[0], fold.channels};
  int64_t window[mostSpatial];

  for (uint32_t d = 0; d < spatial; ++d) {
    dims[2 + d] = fold.kernel[d], dims[2 + spatial + d] = fold.blocks[d];
    window[d] = 2 + d;
  }

  uint32_t value = sambaExpandReshape(expansion, operands[0], 2 + 2 * spatial, dims);
  for (uint32_t d = 0; d < spatial; ++d)
    value = place(expansion, &fold, d, value, 2 + d, 2 + spatial + d);
  SambaAttribute attribute = sambaIntsAttribute("dim", window, spatial);
  out_results[0] = sambaExpandCall(expansion, "sum", 1, &value, 1, &attribute);

  return NULL;
}

const SambaOperator sambaBorderOperators[] = {
    {.name = "pad_border",
     .summary = "elements of x itself around every dimension",
     .computes =
         "`low` elements before and `high` after, per dimension: mode reflect mirrors at the outer "
         "elements, replicate repeats them, circular goes on at the other end. Composite.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "low", "elements before, per dimension"),
                    REQUIRED(INTS, "high", "elements after, per dimension"),
                    REQUIRED_CHOICE("mode", "reflect, replicate, circular")},
     .constraints = {"one low and one high per dimension, 0 or more", "mode is one of those named",
                     "at most 2^20 elements are added at a side"},
     .example = "%y = samba.pad_border %x {low = [0, 1], high = [0, 1], mode = \"reflect\"} : "
                "tensor<2x4xf32>",
     .source = "torch.nn.functional.pad; numpy.pad",
     .dtypes = SAMBA_SET_ANY,
     .infer = inferPadBorder,
     .decompose = decomposePadBorder},
    {.name = "fold",
     .summary = "sliding blocks summed into an image (col2im)",
     .computes = "x is N x (C * window) x blocks. Each block is added to the image at its place; "
                 "where blocks overlap they are summed in order of the window's elements. "
                 "`padding` has two numbers per spatial dimension: all begins, then all ends; "
                 "padded places are dropped. Composite.",
     .operands = {"input"},
     .attributes = {REQUIRED(INTS, "output_size", "the image"),
                    REQUIRED(INTS, "kernel_size", "the window"), INTS("stride", 1),
                    INTS("padding", 0, "begins, then ends"), INTS("dilation", 1)},
     .constraints = {"x has a number dtype", "x has rank 3",
                     "output_size, kernel_size, stride and dilation are 1 or more, one per spatial "
                     "dimension, padding 0 or more",
                     "the window divides dimension 1, and dimension 2 is the number of blocks"},
     .example =
         "%y = samba.fold %x {output_size = [4, 4], kernel_size = [2, 2]} : tensor<1x8x9xf32>",
     .source = "torch.nn.functional.fold; ONNX Col2Im",
     .dtypes = SAMBA_SET_NUMBER,
     .infer = inferFold,
     .decompose = decomposeFold},
    {0}};
