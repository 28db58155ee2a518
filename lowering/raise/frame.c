/* Tensors as a nest's dimensions; see frame.h. */
#include "lowering/raise/frame.h"

#include <string.h>

void sambaFrameAppend(SambaFrame *frame, uint32_t dim) {
  if (frame->rank < SAMBA_MAX_RANK)
    frame->dims[frame->rank] = dim;
  ++frame->rank; /* more than SAMBA_MAX_RANK: refused where the frame is used */
}

int64_t sambaFrameSize(const SambaNest *nest, const SambaFrame *frame, uint32_t axis) {
  return frame->dims[axis] == SAMBA_NEST_UNIT ? 1 : nest->extents[frame->dims[axis]];
}

bool sambaFrameHas(const SambaFrame *frame, uint32_t dim) {
  for (uint32_t a = 0; a < frame->rank; ++a)
    if (frame->dims[a] == dim)
      return true;
  return false;
}

bool sambaFrameOfOutput(const SambaNest *nest, uint32_t output, SambaFrame *out_frame) {
  const SambaNestOperand *operand = sambaNestOutput(nest, output);
  *out_frame = (SambaFrame){0};
  for (uint32_t a = 0; a < operand->type.rank; ++a) {
    bool plain;
    uint32_t dim = sambaNestAxisDimension(nest, &operand->axes[a], &plain);
    int64_t size = dim == SAMBA_NEST_UNIT ? 1 : nest->extents[dim];
    if (!plain || operand->type.dims[a] != size ||
        (dim != SAMBA_NEST_UNIT && (sambaFrameHas(out_frame, dim) || nest->reduced[dim])))
      return false;
    sambaFrameAppend(out_frame, dim);
  }

  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (!nest->reduced[d] && nest->extents[d] != 1 && !sambaFrameHas(out_frame, d))
      return false;
  return true;
}

/* The place of a dimension in a frame; rank when it has none. */
static uint32_t placeOf(const SambaFrame *frame, uint32_t dim) {
  uint32_t place = 0;
  while (place < frame->rank && frame->dims[place] != dim)
    ++place;
  return place;
}

/* Whether numpy's rule, axes compared from the last, already puts each axis in its place. */
static bool isInPlace(const SambaFrame *from, const SambaFrame *to) {
  if (from->rank > to->rank)
    return false;
  for (uint32_t a = 0; a < from->rank; ++a)
    if (from->dims[a] != SAMBA_NEST_UNIT && from->dims[a] != to->dims[to->rank - from->rank + a])
      return false;
  return true;
}

bool sambaFrameMove(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                    const SambaFrame *from, const SambaFrame *to, uint32_t *out_value) {
  if (from->rank > SAMBA_MAX_RANK || to->rank > SAMBA_MAX_RANK)
    return false;
  *out_value = value;
  if (isInPlace(from, to))
    return true;

  /* Axes of one element keep their places; the others are put in the order of `to`. */
  int64_t order[SAMBA_MAX_RANK], shape[SAMBA_MAX_RANK];
  uint32_t moved = 0, first = to->rank;
  bool permuted = false;
  for (uint32_t a = 0, next = 0; a < from->rank; ++a) {
    order[a] = a;
    if (from->dims[a] == SAMBA_NEST_UNIT)
      continue;
    while (next < to->rank &&
           (to->dims[next] == SAMBA_NEST_UNIT || !sambaFrameHas(from, to->dims[next])))
      ++next;
    if (next == to->rank || placeOf(to, from->dims[a]) == to->rank)
      return false;
    first = next < first ? next : first;
    order[a] = placeOf(from, to->dims[next++]);
    permuted |= order[a] != a;
    ++moved;
  }
  if (permuted)
    *out_value = sambaExpandPermute(expansion, *out_value, order);

  /* Then axes of one element in between; none in front. */
  uint32_t rank = moved ? to->rank - first : 0;
  for (uint32_t a = 0; a < rank; ++a) {
    uint32_t dim = to->dims[first + a];
    shape[a] = dim != SAMBA_NEST_UNIT && sambaFrameHas(from, dim) ? nest->extents[dim] : 1;
  }
  *out_value = sambaExpandReshape(expansion, *out_value, rank, shape);
  return !expansion->status;
}

/* The dimensions that walk an axis, the slowest first, where they walk it in even steps: each makes
 * as long a step as the next one's whole walk. Their number; UINT32_MAX: it is no such walk. */
static uint32_t walkOf(const SambaNest *nest, const SambaAxisMap *axis, uint32_t *out_dims,
                       int64_t *out_step) {
  uint32_t count = 0;
  *out_step = 1;
  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    if (!axis->coefficients[d] || nest->extents[d] == 1)
      continue;
    uint32_t place = count++;
    for (; place > 0 && axis->coefficients[out_dims[place - 1]] < axis->coefficients[d]; --place)
      out_dims[place] = out_dims[place - 1];
    out_dims[place] = d;
  }
  if (count)
    *out_step = axis->coefficients[out_dims[count - 1]];
  for (uint32_t i = 0; i + 1 < count; ++i)
    if (axis->coefficients[out_dims[i]] !=
            axis->coefficients[out_dims[i + 1]] * nest->extents[out_dims[i + 1]] ||
        *out_step < 0)
      return UINT32_MAX;
  return count;
}

bool sambaFrameOfOperand(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                         const SambaTensorType *type, const SambaAxisMap *axes,
                         SambaFrame *out_frame, uint32_t *out_value) {
  int64_t shape[SAMBA_MAX_RANK];
  *out_frame = (SambaFrame){0};
  *out_value = value;

  for (uint32_t a = 0; a < type->rank; ++a) {
    uint32_t dims[SAMBA_MAX_STAGE_DIMS];
    int64_t step, count = 1;
    uint32_t walked = walkOf(nest, &axes[a], dims, &step);
    if (walked == UINT32_MAX || out_frame->rank + walked > SAMBA_MAX_RANK)
      return false;
    for (uint32_t i = 0; i < walked; ++i) {
      if (sambaFrameHas(out_frame, dims[i]))
        return false;
      count *= nest->extents[dims[i]];
      shape[out_frame->rank] = nest->extents[dims[i]];
      sambaFrameAppend(out_frame, dims[i]);
    }
    if (!walked) {
      if (out_frame->rank == SAMBA_MAX_RANK)
        return false;
      shape[out_frame->rank] = 1;
      sambaFrameAppend(out_frame, SAMBA_NEST_UNIT);
    }

    int64_t last = axes[a].constant + (count - 1) * step;
    if (axes[a].constant < 0 || axes[a].constant >= type->dims[a] || last < 0 ||
        last >= type->dims[a])
      return false;
    *out_value = sambaExpandSlice(expansion, *out_value, a, axes[a].constant, count, step);
  }
  *out_value = sambaExpandReshape(expansion, *out_value, out_frame->rank, shape);
  return !expansion->status;
}

uint32_t sambaFrameFill(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                        const SambaFrame *frame) {
  int64_t shape[SAMBA_MAX_RANK];
  SambaTensorType type = *sambaExpansionType(expansion, value);
  bool added = type.rank < frame->rank; /* axes of one element in front, and nothing else */
  for (uint32_t a = 0; a < frame->rank; ++a) {
    uint32_t before = frame->rank - type.rank;
    shape[a] = sambaFrameSize(nest, frame, a);
    added &= shape[a] == (a < before ? 1 : type.dims[a - before]);
  }
  return added ? sambaExpandReshape(expansion, value, frame->rank, shape)
               : sambaExpandBroadcast(expansion, value, frame->rank, shape);
}

/*===-- Indices -------------------------------------------------------------------------------===*/

/* What an index is: an affine sum of places, and at most one integer that the body computes. */
typedef struct Place {
  SambaAxisMap map;
  bool has_data;
  uint32_t data; /* the scalar */
} Place;

static bool placeFrom(const SambaNest *nest, uint32_t scalar, Place *out) {
  const SambaScalar *root = &nest->scalars[scalar];
  Place parts[2];
  *out = (Place){0};

  switch (root->kind) {
  case SAMBA_SCALAR_INDEX:
    out->map.coefficients[root->dimension] = 1;
    return true;
  case SAMBA_SCALAR_NUMBER:
    out->map.constant = (int64_t)root->bits;
    return true;
  case SAMBA_SCALAR_AS_INDEX: {
    const SambaScalar *source = &nest->scalars[root->scalars[0]];
    if (source->kind == SAMBA_SCALAR_FROM_INDEX) /* there and back */
      return placeFrom(nest, source->scalars[0], out);
    out->has_data = true;
    out->data = root->scalars[0];
    return true;
  }
  case SAMBA_SCALAR_SUM:
  case SAMBA_SCALAR_DIFFERENCE:
  case SAMBA_SCALAR_PRODUCT:
    break;
  default:
    return false;
  }

  if (!placeFrom(nest, root->scalars[0], &parts[0]) ||
      !placeFrom(nest, root->scalars[1], &parts[1]))
    return false;
  if (root->kind != SAMBA_SCALAR_PRODUCT) {
    int64_t sign = root->kind == SAMBA_SCALAR_SUM ? 1 : -1;
    if (parts[1].has_data && (parts[0].has_data || sign < 0))
      return false;
    *out = parts[0];
    out->has_data |= parts[1].has_data;
    out->data = parts[1].has_data ? parts[1].data : parts[0].data;
    out->map.constant += sign * parts[1].map.constant;
    for (uint32_t d = 0; d < nest->dim_count; ++d)
      out->map.coefficients[d] += sign * parts[1].map.coefficients[d];
    return true;
  }

  for (int i = 0; i < 2; ++i) { /* a product with a number */
    SambaAxisMap plain = {.constant = parts[i].map.constant};
    int64_t factor = plain.constant;
    if (parts[i].has_data || memcmp(&plain, &parts[i].map, sizeof plain) != 0 ||
        (parts[1 - i].has_data && factor != 1))
      continue;
    *out = parts[1 - i];
    out->map.constant *= factor;
    for (uint32_t d = 0; d < nest->dim_count; ++d)
      out->map.coefficients[d] *= factor;
    return true;
  }
  return false;
}

/* Where an EXTRACT reads: the map of each axis, or the scalar that chooses its place. */
typedef struct Places {
  SambaAxisMap axes[SAMBA_MAX_RANK];
  uint32_t data[SAMBA_MAX_RANK]; /* SAMBA_NO_INDEX: the map says it */
  uint32_t chosen;               /* how many axes data choose */
} Places;

static bool placesOf(const SambaNest *nest, const SambaScalar *extract, Places *out) {
  *out = (Places){0};
  for (uint32_t a = 0; a < extract->count; ++a) {
    Place place;
    SambaAxisMap none = {0};
    if (!placeFrom(nest, extract->scalars[a], &place) ||
        (place.has_data && memcmp(&none, &place.map, sizeof none) != 0))
      return false;
    out->axes[a] = place.map;
    out->data[a] = place.has_data ? place.data : SAMBA_NO_INDEX;
    out->chosen += place.has_data;
  }
  return true;
}

static uint32_t maskOfMap(const SambaNest *nest, const SambaAxisMap *axis) {
  uint32_t mask = 0;
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (axis->coefficients[d] && nest->extents[d] != 1)
      mask |= 1u << d;
  return mask;
}

bool sambaFrameDimensions(const SambaNest *nest, uint32_t scalar, uint32_t *out_mask) {
  bool marks[SAMBA_MAX_NEST_SCALARS];
  uint32_t masks[SAMBA_MAX_NEST_SCALARS] = {0};
  sambaNestMark(nest, scalar, marks);

  for (uint32_t s = 0; s <= scalar; ++s) {
    const SambaScalar *part = &nest->scalars[s];
    Places places;
    if (!marks[s])
      continue;
    switch (part->kind) {
    case SAMBA_SCALAR_OPERAND:
      for (uint32_t a = 0; a < nest->operands[part->operand].type.rank; ++a)
        masks[s] |= maskOfMap(nest, &nest->operands[part->operand].axes[a]);
      break;
    case SAMBA_SCALAR_EXTRACT:
      if (!placesOf(nest, part, &places))
        return false;
      for (uint32_t a = 0; a < part->count; ++a)
        masks[s] |= places.data[a] == SAMBA_NO_INDEX ? maskOfMap(nest, &places.axes[a])
                                                     : masks[places.data[a]];
      break;
    case SAMBA_SCALAR_OPERATION:
      for (uint32_t i = 0; i < part->count; ++i)
        masks[s] |= masks[part->scalars[i]];
      break;
    case SAMBA_SCALAR_FROM_INDEX: {
      Place place;
      if (placeFrom(nest, part->scalars[0], &place))
        masks[s] = maskOfMap(nest, &place.map);
      break;
    }
    default: /* indices count where they are used; EXTRACT takes what they are made of */
      break;
    }
  }

  *out_mask = masks[scalar];
  return nest->scalars[scalar].dtype != SAMBA_DTYPE_COUNT;
}

/*===-- Scalars as tensors --------------------------------------------------------------------===*/

/* An operand of which data choose places along one axis. */
typedef struct Take {
  const SambaNestOperand *operand;
  uint32_t axis, data, mask; /* the chosen axis, the scalar, its dimensions */
  SambaFrame own;            /* of the operand; the chosen axis is a unit */
  uint32_t shared;           /* dimensions that both have */
  int64_t order[SAMBA_MAX_RANK];
  uint32_t batch, place; /* in that order: how many are shared, where the chosen axis is */
} Take;

static bool isShared(const Take *take, uint32_t a) {
  return a != take->axis && take->own.dims[a] != SAMBA_NEST_UNIT &&
         take->shared >> take->own.dims[a] & 1;
}

/* Sorts the operand's axes: those that the indices have too, the chosen one, the rest; without the
 * first the order stays. */
static bool sortTake(const SambaNest *nest, const SambaAxisMap *axes, Take *take) {
  uint32_t others = 0, count = 0;
  if (!sambaFrameDimensions(nest, take->data, &take->mask) || take->operand->is_splat ||
      take->operand->is_undefined)
    return false;
  for (uint32_t a = 0; a < take->operand->type.rank; ++a) {
    bool plain;
    uint32_t dim = sambaNestAxisDimension(nest, &axes[a], &plain);
    int64_t size = dim == SAMBA_NEST_UNIT ? 1 : nest->extents[dim];
    sambaFrameAppend(&take->own, a == take->axis ? SAMBA_NEST_UNIT : dim);
    if (a == take->axis)
      continue;
    if (!plain || take->operand->type.dims[a] != size ||
        (dim != SAMBA_NEST_UNIT && others >> dim & 1))
      return false;
    others |= dim == SAMBA_NEST_UNIT ? 0 : 1u << dim;
  }

  take->shared = take->mask & others;
  for (uint32_t a = 0; a < take->own.rank; ++a)
    if (isShared(take, a))
      take->order[count++] = a;
  take->batch = count;
  take->place = take->shared ? count : take->axis;
  if (take->shared)
    take->order[count++] = take->axis;
  for (uint32_t a = 0; a < take->own.rank; ++a)
    if (!isShared(take, a) && (a != take->axis || !take->shared))
      take->order[count++] = a;
  return true;
}

/* samba.take or samba.embedding, with the dimensions that both have in front. */
static bool evaluateTake(const SambaNest *nest, SambaExpansion *expansion, Take *take,
                         const SambaFrame *frame, uint32_t *out_value) {
  SambaFrame indices = {0}, result = {0};
  uint32_t rank = take->own.rank, operands[2] = {take->operand->value, 0};
  bool moves = false;
  for (uint32_t a = 0; a < rank; ++a)
    moves |= take->order[a] != a;
  if (moves)
    operands[0] = sambaExpandPermute(expansion, operands[0], take->order);

  /* Of the indices: what is shared, then their own dimensions in the order of the frame. */
  for (uint32_t a = 0; a < take->batch; ++a)
    sambaFrameAppend(&indices, take->own.dims[take->order[a]]);
  for (uint32_t a = 0; a < frame->rank; ++a)
    if (frame->dims[a] != SAMBA_NEST_UNIT && (take->mask & ~take->shared) >> frame->dims[a] & 1)
      sambaFrameAppend(&indices, frame->dims[a]);
  if (indices.rank > SAMBA_MAX_RANK ||
      !sambaFrameEvaluate(nest, expansion, take->data, &indices, &operands[1]))
    return false;
  operands[1] = sambaFrameFill(nest, expansion, operands[1], &indices);

  SambaAttribute attributes[] = {sambaIntAttribute("dim", take->place),
                                 sambaIntAttribute("batch_dims", take->batch)};
  bool embedding = take->place == 0 && take->batch == 0;
  uint32_t value = sambaExpandCall(expansion, embedding ? "embedding" : "take", 2, operands,
                                   embedding ? 0 : 2, attributes);

  /* What stood before the chosen axis, the indices' own dimensions, what stood behind. */
  for (uint32_t a = 0; a < take->place; ++a)
    sambaFrameAppend(&result, take->own.dims[take->order[a]]);
  for (uint32_t a = take->batch; a < indices.rank; ++a)
    sambaFrameAppend(&result, indices.dims[a]);
  for (uint32_t a = take->place + 1; a < rank; ++a)
    sambaFrameAppend(&result, take->own.dims[take->order[a]]);
  return sambaFrameMove(nest, expansion, value, &result, frame, out_value);
}

/* Takes axis by axis where each chosen axis has its place from one dimension of its own, as a
 * resize has: then the axis walks that dimension. */
static bool takeApart(const SambaNest *nest, SambaExpansion *expansion, Places *places,
                      SambaTensorType *type, uint32_t *value) {
  uint32_t seen = 0;
  for (uint32_t a = 0; a < type->rank; ++a) {
    uint32_t mask = 0, dim = 0;
    if (places->data[a] == SAMBA_NO_INDEX)
      mask = maskOfMap(nest, &places->axes[a]);
    else if (!sambaFrameDimensions(nest, places->data[a], &mask))
      return false;
    if (mask & seen || mask & (mask - 1))
      return false;
    seen |= mask;
    if (places->data[a] == SAMBA_NO_INDEX)
      continue;

    SambaFrame indices = {0};
    while (mask && !(mask >> dim & 1))
      ++dim;
    sambaFrameAppend(&indices, mask ? dim : SAMBA_NEST_UNIT);
    uint32_t operands[2] = {*value, 0};
    if (!sambaFrameEvaluate(nest, expansion, places->data[a], &indices, &operands[1]))
      return false;
    operands[1] = sambaFrameFill(nest, expansion, operands[1], &indices);
    SambaAttribute attributes[] = {sambaIntAttribute("dim", a), sambaIntAttribute("batch_dims", 0)};
    *value = sambaExpandCall(expansion, "take", 2, operands, 2, attributes);
    type->dims[a] = mask ? nest->extents[dim] : 1;
    if (mask)
      places->axes[a].coefficients[dim] = 1;
  }
  return true;
}

static bool evaluateExtract(const SambaNest *nest, SambaExpansion *expansion,
                            const SambaScalar *extract, const SambaFrame *frame,
                            uint32_t *out_value) {
  const SambaNestOperand *operand = &nest->operands[extract->operand];
  Places places;
  SambaFrame own;

  if (!placesOf(nest, extract, &places))
    return false;
  if (places.chosen == 1) {
    uint32_t axis = 0;
    while (places.data[axis] == SAMBA_NO_INDEX)
      ++axis;
    Take take = {.operand = operand, .axis = axis, .data = places.data[axis]};
    return sortTake(nest, places.axes, &take) &&
           evaluateTake(nest, expansion, &take, frame, out_value);
  }

  uint32_t value = operand->value;
  SambaTensorType type = operand->type;
  return !operand->is_splat && !operand->is_undefined &&
         takeApart(nest, expansion, &places, &type, &value) &&
         sambaFrameOfOperand(nest, expansion, value, &type, places.axes, &own, &value) &&
         sambaFrameMove(nest, expansion, value, &own, frame, out_value);
}

/* The places along dimensions as integers: a table per dimension. */
static bool evaluatePlaces(const SambaNest *nest, SambaExpansion *expansion,
                           const SambaScalar *root, const SambaFrame *frame, uint32_t *out_value) {
  enum { mostPlaces = 1 << 16 };
  Place place;
  if (!placeFrom(nest, root->scalars[0], &place) || place.has_data)
    return false;
  bool any = false;

  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    int64_t extent = nest->extents[d];
    SambaFrame own = {1, {d}};
    uint32_t value;
    if (!place.map.coefficients[d] || extent == 1)
      continue;
    if (extent > mostPlaces)
      return false;
    double *numbers = SAMBA_ARENA_ARRAY(expansion->arena, double, (size_t)extent);
    for (int64_t i = 0; i < extent; ++i)
      numbers[i] = (double)(place.map.coefficients[d] * i + (any ? 0 : place.map.constant));
    value = sambaExpandNumbers(expansion, root->dtype, 1, &extent, numbers);
    if (!sambaFrameMove(nest, expansion, value, &own, frame, &value))
      return false;
    *out_value = any ? sambaExpandBinary(expansion, "add", *out_value, value) : value;
    any = true;
  }
  if (!any)
    *out_value = sambaExpandScalar(expansion, root->dtype, (double)place.map.constant);
  return true;
}

static bool evaluateOperand(const SambaNest *nest, SambaExpansion *expansion,
                            const SambaNestOperand *operand, const SambaFrame *frame,
                            uint32_t *out_value) {
  SambaFrame own;
  uint32_t value;
  if (operand->is_undefined)
    return false;
  if (operand->is_splat) {
    SambaTensorType scalar = {.dtype = operand->type.dtype};
    *out_value = sambaExpandConstant(expansion, &scalar, &operand->bits, true);
    return true;
  }
  return sambaFrameOfOperand(nest, expansion, operand->value, &operand->type, operand->axes, &own,
                             &value) &&
         sambaFrameMove(nest, expansion, value, &own, frame, out_value);
}

/* values: of the scalars before. */
static bool evaluateOperation(SambaExpansion *expansion, const SambaScalar *root,
                              const uint32_t *values, uint32_t *out_value) {
  uint32_t operands[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < root->count; ++i)
    operands[i] = values[root->scalars[i]];
  if (strcmp(root->operator, "cast") == 0)
    *out_value = sambaExpandCast(expansion, operands[0], root->dtype);
  else
    *out_value = sambaExpandCall(expansion, root->operator, root->count, operands, 0, NULL);
  if (root->inverted)
    *out_value = sambaExpandUnary(expansion, "logical_not", *out_value);
  return !expansion->status && sambaExpansionType(expansion, *out_value)->dtype == root->dtype;
}

bool sambaFrameEvaluate(const SambaNest *nest, SambaExpansion *expansion, uint32_t scalar,
                        const SambaFrame *frame, uint32_t *out_value) {
  bool marks[SAMBA_MAX_NEST_SCALARS], known[SAMBA_MAX_NEST_SCALARS] = {false};
  uint32_t values[SAMBA_MAX_NEST_SCALARS];
  sambaNestMark(nest, scalar, marks);

  for (uint32_t s = 0; s <= scalar; ++s) {
    const SambaScalar *root = &nest->scalars[s];
    SambaTensorType type = {.dtype = root->dtype};
    known[s] = marks[s];
    for (uint32_t i = 0; i < root->count && root->kind == SAMBA_SCALAR_OPERATION; ++i)
      known[s] &= known[root->scalars[i]];
    if (!known[s]) /* what only an index is made of */
      continue;
    switch (root->kind) {
    case SAMBA_SCALAR_OPERAND:
      known[s] =
          evaluateOperand(nest, expansion, &nest->operands[root->operand], frame, &values[s]);
      break;
    case SAMBA_SCALAR_EXTRACT:
      known[s] = evaluateExtract(nest, expansion, root, frame, &values[s]);
      break;
    case SAMBA_SCALAR_FROM_INDEX:
      known[s] = evaluatePlaces(nest, expansion, root, frame, &values[s]);
      break;
    case SAMBA_SCALAR_OPERATION:
      known[s] = evaluateOperation(expansion, root, values, &values[s]);
      break;
    case SAMBA_SCALAR_CONSTANT:
      values[s] = sambaExpandConstant(expansion, &type, &root->bits, true);
      break;
    default:
      known[s] = false;
    }
    if (expansion->status)
      return false;
  }

  *out_value = values[scalar];
  return known[scalar];
}
