/* Convolutions and pools: an operand whose axes walk an output dimension times a stride plus a
 * reduced dimension times a dilation, in any layout. A pad of the operand becomes the operator's
 * padding where it means the same.
 *
 * What the operators compute is N x C x spatial; other layouts are views. A sum over windows is an
 * average pool times the number of elements, which raise_forms.c takes off where a division
 * follows. */
#include "dialect/samba/table/core/stage_builder.h"
#include "lowering/raise/patterns.h"
#include "lowering/raise/reduce_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { mostSpatial = 3 };

/* The operand that windows move over. Frames: its axes before the spatial ones, sorted by what they
 * are. */
typedef struct Windowed {
  const SambaNest *nest;
  SambaExpansion *expansion;
  const SambaNestOperand *operand;
  SambaNestOperand computed;
  uint32_t spatial;
  uint32_t axes[mostSpatial];                       /* of the operand */
  uint32_t outputs[mostSpatial], taps[mostSpatial]; /* dimensions; SAMBA_NEST_UNIT: none */
  int64_t stride[mostSpatial], dilation[mostSpatial];
  int64_t padding[2 * mostSpatial]; /* begins, then ends, in the order of axes */
  bool is_axis[SAMBA_MAX_RANK];
  uint32_t plain[SAMBA_MAX_RANK]; /* of the other axes: the dimension */
} Windowed;

/* One axis as output * stride + tap * dilation; false where it is of another form. */
static bool windowAxis(Windowed *windowed, uint32_t a) {
  const SambaNest *nest = windowed->nest;
  const SambaAxisMap *axis = &windowed->operand->axes[a];
  uint32_t output = SAMBA_NEST_UNIT, tap = SAMBA_NEST_UNIT;
  if (axis->constant || windowed->spatial == mostSpatial)
    return false;
  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    if (!axis->coefficients[d] || nest->extents[d] == 1)
      continue;
    uint32_t *part = nest->reduced[d] ? &tap : &output;
    if (*part != SAMBA_NEST_UNIT || axis->coefficients[d] < 0)
      return false;
    *part = d;
  }

  uint32_t i = windowed->spatial++;
  windowed->is_axis[a] = true;
  windowed->axes[i] = a;
  windowed->outputs[i] = output;
  windowed->taps[i] = tap;
  windowed->stride[i] = output == SAMBA_NEST_UNIT ? 1 : axis->coefficients[output];
  windowed->dilation[i] = tap == SAMBA_NEST_UNIT ? 1 : axis->coefficients[tap];
  return true;
}

static int64_t extentOf(const SambaNest *nest, uint32_t dim) {
  return dim == SAMBA_NEST_UNIT ? 1 : nest->extents[dim];
}

/* Whether two dimensions walk the axis, be it that one of them has one element. */
static bool isSum(const SambaNest *nest, const SambaAxisMap *axis) {
  uint32_t dims = 0;
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    dims += axis->coefficients[d] != 0;
  return dims > 1;
}

static bool sameMap(const SambaAxisMap *a, const SambaAxisMap *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

/* An element that is computed from operands which all walk axes of `whole`: the same on the whole
 * of its tensor, each element once, as an operand with the map of `whole`. */
static bool computeWhole(const SambaNest *nest, SambaExpansion *expansion, uint32_t scalar,
                         const SambaNestOperand *whole, SambaNestOperand *out) {
  SambaNest *inner = SAMBA_ARENA_ARRAY(expansion->arena, SambaNest, 1);
  bool marks[SAMBA_MAX_NEST_SCALARS];
  sambaNestMark(nest, scalar, marks);
  for (uint32_t s = 0; s <= scalar; ++s) /* places are of the nest's dimensions */
    if (marks[s] && nest->scalars[s].kind == SAMBA_SCALAR_INDEX)
      return false;
  SambaFrame frame = {0};
  *inner = *nest;
  inner->dim_count = whole->type.rank;
  for (uint32_t a = 0; a < whole->type.rank; ++a) {
    inner->extents[a] = whole->type.dims[a];
    sambaFrameAppend(&frame, a);
  }

  for (uint32_t i = 0; i < nest->operand_count; ++i) {
    const SambaNestOperand *operand = &nest->operands[i];
    if (operand->is_splat || !sambaNestReads(nest, scalar, i))
      continue;
    memset(inner->operands[i].axes, 0, sizeof inner->operands[i].axes);
    for (uint32_t a = 0; a < operand->type.rank; ++a) {
      SambaAxisMap none = {0};
      uint32_t w = 0;
      while (w < whole->type.rank && !(sameMap(&operand->axes[a], &whole->axes[w]) &&
                                       operand->type.dims[a] == whole->type.dims[w]))
        ++w;
      if (w < whole->type.rank)
        inner->operands[i].axes[a].coefficients[w] = 1;
      else if (!sameMap(&operand->axes[a], &none) || operand->type.dims[a] != 1)
        return false;
    }
  }

  *out = (SambaNestOperand){.type = whole->type};
  memcpy(out->axes, whole->axes, sizeof out->axes);
  out->type.dtype = nest->scalars[scalar].dtype;
  if (!sambaFrameEvaluate(inner, expansion, scalar, &frame, &out->value))
    return false;
  out->value = sambaFrameFill(inner, expansion, out->value, &frame);
  return !expansion->status;
}

/* The operand that the scalar is, or that it can be computed as. */
static bool findWindowed(const SambaNest *nest, SambaExpansion *expansion, uint32_t scalar,
                         Windowed *out) {
  const SambaScalar *part = &nest->scalars[scalar];
  if (part->kind == SAMBA_SCALAR_OPERAND) {
    out->operand = &nest->operands[part->operand];
    return !out->operand->is_splat && !out->operand->is_undefined;
  }
  if (part->kind != SAMBA_SCALAR_OPERATION)
    return false;

  const SambaNestOperand *whole = NULL;
  for (uint32_t i = 0; i < nest->operand_count; ++i)
    if (!nest->operands[i].is_splat && sambaNestReads(nest, scalar, i) &&
        (!whole || nest->operands[i].type.rank > whole->type.rank))
      whole = &nest->operands[i];
  bool walks = false; /* another axis than a plain one: else it is no window */
  for (uint32_t a = 0; whole && a < whole->type.rank; ++a)
    walks |= isSum(nest, &whole->axes[a]);
  out->operand = &out->computed;
  return walks && computeWhole(nest, expansion, scalar, whole, &out->computed);
}

/* Sorts the operand's axes: those that are no plain walk are spatial. */
static bool readWindow(const SambaNest *nest, SambaExpansion *expansion, uint32_t scalar,
                       Windowed *out) {
  *out = (Windowed){.nest = nest, .expansion = expansion};
  if (!findWindowed(nest, expansion, scalar, out))
    return false;

  uint32_t seen = 0;
  for (uint32_t a = 0; a < out->operand->type.rank; ++a) {
    bool plain;
    uint32_t dim = sambaNestAxisDimension(nest, &out->operand->axes[a], &plain);
    for (uint32_t d = 0; d < nest->dim_count; ++d) {
      bool here = out->operand->axes[a].coefficients[d] != 0 && nest->extents[d] != 1;
      if (here && seen >> d & 1)
        return false;
      seen |= here ? 1u << d : 0;
    }
    if (!plain || isSum(nest, &out->operand->axes[a])) {
      if (!windowAxis(out, a))
        return false;
    } else if (extentOf(nest, dim) != out->operand->type.dims[a]) {
      return false;
    }
    out->plain[a] = dim;
  }
  return out->spatial > 0;
}

/* Whether the pad of the operand can be the operator's: only around spatial axes. */
static bool isPadOfWindow(const Windowed *windowed) {
  const SambaNestOperand *operand = windowed->operand;
  for (uint32_t a = 0; a < operand->type.rank; ++a)
    if (!windowed->is_axis[a] && (operand->low[a] || operand->high[a]))
      return false;
  return operand->is_padded;
}

/* The operand as `first` axes of `frame` and then the spatial ones; takes the pad off it when
 * take_pad, and cuts off what no window reaches. */
static bool arrangeInput(Windowed *windowed, const SambaFrame *frame, const int64_t *leading,
                         uint32_t leading_count, bool take_pad, uint32_t *out_value) {
  const SambaNestOperand *operand = windowed->operand;
  SambaExpansion *expansion = windowed->expansion;
  int64_t order[SAMBA_MAX_RANK], shape[SAMBA_MAX_RANK];
  uint32_t value = take_pad ? operand->inner_value : operand->value, count = 0;

  for (uint32_t i = 0; i < windowed->spatial; ++i) {
    uint32_t a = windowed->axes[i];
    int64_t reach = (extentOf(windowed->nest, windowed->outputs[i]) - 1) * windowed->stride[i] +
                    (extentOf(windowed->nest, windowed->taps[i]) - 1) * windowed->dilation[i] + 1;
    int64_t low = take_pad ? operand->low[a] : 0;
    int64_t size = take_pad ? operand->inner_type.dims[a] : operand->type.dims[a];
    if (reach - low < 1)
      return false;
    if (reach - low < size)
      value = sambaExpandSlice(expansion, value, a, 0, reach - low, 1);
    windowed->padding[i] = low;
    windowed->padding[windowed->spatial + i] = reach - low > size ? reach - low - size : 0;
    if (reach > operand->type.dims[a] || expansion->status)
      return false;
  }

  for (uint32_t a = 0; a < operand->type.rank; ++a) /* axes of one element */
    if (!windowed->is_axis[a] && windowed->plain[a] == SAMBA_NEST_UNIT)
      order[count++] = a;
  uint32_t units = count;
  for (uint32_t f = 0; f < frame->rank; ++f)
    for (uint32_t a = 0; a < operand->type.rank; ++a)
      if (!windowed->is_axis[a] && frame->dims[f] != SAMBA_NEST_UNIT &&
          windowed->plain[a] == frame->dims[f])
        order[count++] = a;
  for (uint32_t i = 0; i < windowed->spatial; ++i)
    order[count++] = windowed->axes[i];
  if (count != operand->type.rank || leading_count + windowed->spatial > SAMBA_MAX_RANK)
    return false;

  memcpy(shape, leading, leading_count * sizeof *shape);
  for (uint32_t i = 0; i < windowed->spatial; ++i)
    shape[leading_count + i] = sambaExpansionType(expansion, value)->dims[windowed->axes[i]];
  bool moves = false; /* those of more than one element */
  for (uint32_t a = units + 1; a < count; ++a)
    moves |= order[a] < order[a - 1];
  if (moves)
    value = sambaExpandPermute(expansion, value, order);
  *out_value = sambaExpandReshape(expansion, value, leading_count + windowed->spatial, shape);
  return !expansion->status;
}

/* The result, N x C x spatial with C made of `channels`, as the nest's output. */
static bool finishWindow(const Windowed *windowed, const SambaReduceRow *row,
                         const SambaFrame *leading, uint32_t value, uint32_t *out_result) {
  SambaFrame frame = *leading;
  int64_t shape[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < windowed->spatial; ++i)
    sambaFrameAppend(&frame, windowed->outputs[i]);
  if (frame.rank > SAMBA_MAX_RANK)
    return false;
  for (uint32_t a = 0; a < frame.rank; ++a)
    shape[a] = sambaFrameSize(windowed->nest, &frame, a);
  value = sambaExpandReshape(windowed->expansion, value, frame.rank, shape);
  return !windowed->expansion->status && sambaReductionFinish(windowed->nest, windowed->expansion,
                                                              0, row, value, &frame, out_result);
}

/*===-- Convolutions --------------------------------------------------------------------------===*/

/* What the dimensions that are not spatial are. */
typedef struct Channels {
  uint32_t image, group, output, input; /* SAMBA_NEST_UNIT: there is none */
} Channels;

/* The axis that walks a dimension becomes spatial: a window of its own. */
static bool makeSpatial(Windowed *windowed, uint32_t dim) {
  for (uint32_t a = 0; a < windowed->operand->type.rank; ++a)
    if (!windowed->is_axis[a] && windowed->plain[a] == dim)
      return windowAxis(windowed, a);
  return false;
}

/* A second dimension of the image, or one that is summed, is spatial. */
static bool sortChannels(Windowed *windowed, uint32_t weight_mask, Channels *out) {
  const SambaNest *nest = windowed->nest;
  uint32_t spatial = 0, mine = 0;
  *out = (Channels){SAMBA_NEST_UNIT, SAMBA_NEST_UNIT, SAMBA_NEST_UNIT, SAMBA_NEST_UNIT};
  for (uint32_t i = 0; i < windowed->spatial; ++i) {
    uint32_t tap = windowed->taps[i], output = windowed->outputs[i];
    if (tap != SAMBA_NEST_UNIT && !(weight_mask >> tap & 1))
      return false;
    if (output != SAMBA_NEST_UNIT && weight_mask >> output & 1)
      return false;
    spatial |=
        (tap == SAMBA_NEST_UNIT ? 0 : 1u << tap) | (output == SAMBA_NEST_UNIT ? 0 : 1u << output);
  }
  for (uint32_t a = 0; a < windowed->operand->type.rank; ++a)
    if (!windowed->is_axis[a] && windowed->plain[a] != SAMBA_NEST_UNIT)
      mine |= 1u << windowed->plain[a];

  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    bool in = mine >> d & 1, in_weight = weight_mask >> d & 1;
    uint32_t *place = in ? &out->image : &out->output;
    if (in && in_weight)
      place = nest->reduced[d] ? &out->input : &out->group;
    if (nest->extents[d] == 1 || spatial >> d & 1)
      continue;
    if ((!in && !in_weight) || (in != in_weight && nest->reduced[d]))
      return false;
    if (*place == SAMBA_NEST_UNIT)
      *place = d;
    else if (!in || place == &out->group || !makeSpatial(windowed, d))
      return false;
  }
  return true;
}

static bool buildConvolution(Windowed *windowed, const Channels *channels, uint32_t weight_scalar,
                             const SambaReduceRow *row, uint32_t *out_result) {
  const SambaNest *nest = windowed->nest;
  SambaExpansion *expansion = windowed->expansion;
  const SambaNestOperand *operand = windowed->operand;
  SambaFrame input = {1, {channels->image}}, weight = {0}, result = {1, {channels->image}};
  int64_t groups = extentOf(nest, channels->group);
  int64_t leading[] = {extentOf(nest, channels->image), groups * extentOf(nest, channels->input)};
  bool take_pad = operand->is_padded && isPadOfWindow(windowed) && operand->fill == 0;
  uint32_t operands[2];

  if (channels->group != SAMBA_NEST_UNIT) {
    sambaFrameAppend(&input, channels->group);
    sambaFrameAppend(&weight, channels->group);
    sambaFrameAppend(&result, channels->group);
  }
  sambaFrameAppend(&input, channels->input);
  sambaFrameAppend(&weight, channels->output);
  sambaFrameAppend(&weight, channels->input);
  sambaFrameAppend(&result, channels->output);
  for (uint32_t i = 0; i < windowed->spatial; ++i)
    sambaFrameAppend(&weight, windowed->taps[i]);
  if (!arrangeInput(windowed, &input, leading, 2, take_pad, &operands[0]) ||
      !sambaFrameEvaluate(nest, expansion, weight_scalar, &weight, &operands[1]))
    return false;
  operands[1] = sambaFrameFill(nest, expansion, operands[1], &weight);
  int64_t shape[2 + mostSpatial] = {groups * extentOf(nest, channels->output),
                                    extentOf(nest, channels->input)};
  for (uint32_t i = 0; i < windowed->spatial; ++i)
    shape[2 + i] = extentOf(nest, windowed->taps[i]);
  operands[1] = sambaExpandReshape(expansion, operands[1], 2 + windowed->spatial, shape);
  if (expansion->status)
    return false;

  char name[16];
  snprintf(name, sizeof name, "conv%ud", windowed->spatial);
  SambaDType dtype = sambaNestYield(nest, 0)->dtype;
  SambaAttribute attributes[] = {
      sambaIntsAttribute("stride", windowed->stride, windowed->spatial),
      sambaIntsAttribute("padding", windowed->padding, 2 * windowed->spatial),
      sambaIntsAttribute("dilation", windowed->dilation, windowed->spatial),
      sambaIntAttribute("groups", groups), sambaDTypeAttribute("out_dtype", dtype)};
  bool other = sambaExpansionType(expansion, operands[0])->dtype != dtype;
  uint32_t value = sambaExpandCall(expansion, name, 2, operands, other ? 5 : 4, attributes);
  return !expansion->status && finishWindow(windowed, row, &result, value, out_result);
}

/* The scalar under a cast. */
static uint32_t withoutCast(const SambaNest *nest, uint32_t scalar) {
  const SambaScalar *part = &nest->scalars[scalar];
  bool cast = part->kind == SAMBA_SCALAR_OPERATION && strcmp(part->operator, "cast") == 0;
  return cast ? part->scalars[0] : scalar;
}

bool sambaNestConvolution(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  SambaReduction reduction;
  if (nest->output_count != 1 || !sambaReductionOf(nest, 0, &reduction) || !reduction.is_product)
    return false;
  SambaDType dtype = sambaNestYield(nest, 0)->dtype;

  for (int side = 0; side < 2; ++side) {
    uint32_t input = withoutCast(nest, reduction.factors[side]);
    uint32_t weight = withoutCast(nest, reduction.factors[1 - side]);
    SambaDType from = nest->scalars[input].dtype;
    uint32_t mask;
    if (nest->scalars[weight].dtype != from ||
        (from != dtype && sambaAccumulatorDType(from) != dtype) ||
        sambaDTypeIsFloat(from) != sambaDTypeIsFloat(dtype) || from == SAMBA_DTYPE_I1 ||
        !sambaFrameDimensions(nest, weight, &mask))
      continue;
    Windowed windowed;
    Channels channels;
    if (readWindow(nest, expansion, input, &windowed) && sortChannels(&windowed, mask, &channels))
      return buildConvolution(&windowed, &channels, weight, reduction.row, out_results);
  }
  return false;
}

/*===-- Pools ---------------------------------------------------------------------------------===*/

/* Whether a pool may leave the padding out: what it is filled with takes no part in the maximum, or
 * adds nothing to the sum. */
static bool isPadOfPool(const Windowed *windowed, bool sum, bool least) {
  const SambaNestOperand *operand = windowed->operand;
  const SambaNestOperand *start = sambaNestOutput(windowed->nest, 0);
  if (!operand->is_padded || !isPadOfWindow(windowed))
    return false;
  if (sum)
    return operand->fill == 0;
  if (sambaDTypeIsFloat(operand->type.dtype) && operand->fill == (least ? INFINITY : -INFINITY))
    return true;
  return start->is_splat && start->type.dtype == operand->type.dtype &&
         start->bits == sambaDTypeBitsOfNumber(operand->type.dtype, operand->fill);
}

/* What a pool is of: N and C, its window, and how many elements that has. */
typedef struct Pool {
  SambaFrame leading;
  int64_t shape[2], kernel[mostSpatial], count;
} Pool;

/* Every dimension that is not spatial is kept: the last of them is the channel. */
static bool measurePool(const Windowed *windowed, Pool *out) {
  const SambaNest *nest = windowed->nest;
  uint32_t kept = sambaReductionKept(nest);
  int64_t box = 1;
  *out = (Pool){.shape = {1, 1}, .count = 1};

  for (uint32_t a = 0; a < windowed->operand->type.rank; ++a)
    if (!windowed->is_axis[a] && windowed->plain[a] != SAMBA_NEST_UNIT)
      sambaFrameAppend(&out->leading, windowed->plain[a]);
  for (uint32_t a = 0; a < out->leading.rank; ++a) {
    uint32_t dim = out->leading.dims[a];
    if (nest->reduced[dim])
      return false;
    out->shape[a + 1 == out->leading.rank] *= nest->extents[dim];
    kept &= ~(1u << dim);
  }
  for (uint32_t i = 0; i < windowed->spatial; ++i) {
    out->kernel[i] = extentOf(nest, windowed->taps[i]);
    out->count *= out->kernel[i];
    if (windowed->outputs[i] != SAMBA_NEST_UNIT)
      kept &= ~(1u << windowed->outputs[i]);
  }
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    box *= nest->reduced[d] ? nest->extents[d] : 1;
  return !kept && box == out->count; /* no axis walks what is left */
}

/* The largest, the least as -max(-x), or the mean of each window; the mean of narrow floats times
 * the number of elements, which rounds in f32. */
static uint32_t expandPool(const Windowed *windowed, const Pool *pool, uint32_t value, bool sum,
                           bool least) {
  SambaExpansion *expansion = windowed->expansion;
  SambaDType dtype = windowed->operand->type.dtype;
  bool narrow = sum && dtype != SAMBA_DTYPE_F32 && sambaDTypeIsFloat(dtype);
  char name[16];
  snprintf(name, sizeof name, "%s_pool%ud", sum ? "avg" : "max", windowed->spatial);
  SambaAttribute attributes[] = {
      sambaIntsAttribute("kernel_size", pool->kernel, windowed->spatial),
      sambaIntsAttribute("stride", windowed->stride, windowed->spatial),
      sambaIntsAttribute("padding", windowed->padding, 2 * windowed->spatial),
      sambaIntsAttribute("dilation", windowed->dilation, windowed->spatial)};
  if (narrow)
    value = sambaExpandCast(expansion, value, SAMBA_DTYPE_F32);
  if (least)
    value = sambaExpandUnary(expansion, "neg", value);
  value = sambaExpandCall(expansion, name, 1, &value, 4, attributes);
  if (least)
    value = sambaExpandUnary(expansion, "neg", value);
  if (narrow)
    value = sambaExpandCast(
        expansion, sambaExpandWithNumber(expansion, "mul", value, (double)pool->count), dtype);
  return value;
}

bool sambaNestPool(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  SambaReduction reduction;
  Windowed windowed;
  Pool pool;
  uint32_t value;
  if (nest->output_count != 1 || !nest->reduces || !sambaReductionOf(nest, 0, &reduction) ||
      sambaNestYield(nest, 0)->kind == SAMBA_SCALAR_FMA)
    return false;
  bool sum = strcmp(reduction.row->reduce, "sum") == 0;
  bool least = strcmp(reduction.row->reduce, "amin") == 0;
  SambaDType dtype = sambaNestYield(nest, 0)->dtype;
  if (reduction.row->booleans || strcmp(reduction.row->reduce, "prod") == 0 ||
      (least && !sambaDTypeIsFloat(dtype))) /* the least integer has no opposite */
    return false;
  if (sum && (!sambaNestOutput(nest, 0)->is_splat || sambaNestOutput(nest, 0)->bits))
    return false;
  if (!readWindow(nest, expansion, reduction.element, &windowed) ||
      !measurePool(&windowed, &pool) ||
      !arrangeInput(&windowed, &pool.leading, pool.shape, 2, isPadOfPool(&windowed, sum, least),
                    &value))
    return false;

  value = expandPool(&windowed, &pool, value, sum, least);
  if (expansion->status ||
      !finishWindow(&windowed, reduction.row, &pool.leading, value, &out_results[0]))
    return false;
  if (sum && dtype == SAMBA_DTYPE_F32)
    out_results[0] = sambaExpandWithNumber(expansion, "mul", out_results[0], (double)pool.count);
  return true;
}
