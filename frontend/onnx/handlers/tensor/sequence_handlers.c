/* Sequences (and optional values) that are made and used inside the graph: lists of values that
 * exist only while importing. Positions are known, or, where all elements have one shape, choose at
 * run time. */
#include "frontend/onnx/fold/fold_node.h"
#include "frontend/onnx/handlers/handlers.h"

static SambaStatus sequenceOf(const SambaOnnxNode *node, uint32_t input,
                              const SambaOnnxSequence **out) {
  *out = sambaOnnxSequence(node, input);
  return *out ? NULL : sambaStatusMake(SAMBA_INVALID, "input %u is not a sequence", input);
}

static SambaOnnxSequence *newSequence(const SambaOnnxNode *node, uint32_t count) {
  SambaOnnxSequence *sequence = SAMBA_ARENA_NEW(node->arena, SambaOnnxSequence);
  sequence->count = count;
  sequence->elements = SAMBA_ARENA_ARRAY(node->arena, uint32_t, count);
  return sequence;
}

static SambaStatus checkKnown(const SambaOnnxSequence *sequence) {
  for (uint32_t i = 0; i < sequence->count; ++i)
    if (sequence->elements[i] == SAMBA_NO_INDEX)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "element %u of the sequence is not known: the sizes of SplitToSequence must be known at "
          "compile time (--bind NAME=FILE)",
          i);
  return NULL;
}

/* A position of at most `most`, counted from the end when it is negative; *out_tensor when it is
 * there at run time. */
static SambaStatus positionOf(const SambaOnnxNode *node, uint32_t input, int64_t count,
                              int64_t most, int64_t *out, SambaTraceValue **out_tensor) {
  const SambaConstant *known = sambaOnnxConstant(node, input);
  *out_tensor = NULL;
  if (!sambaOnnxHasInput(node, input))
    return NULL;
  if (!known) {
    SambaTraceValue *position;
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &position));
    position = sambaReshape(sambaCast(position, SAMBA_DTYPE_I64), 0, NULL);
    SambaTraceValue *zero = sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, 0);
    SambaTraceValue *all = sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, (double)count);
    *out_tensor = sambaWhere(sambaLt(position, zero), sambaAdd(position, all), position);
    return NULL;
  }

  int64_t position = known->count == 1 && !known->is_float ? known->data[0].i : INT64_MAX;
  *out = position < 0 ? position + count : position;
  if (*out < 0 || *out > most)
    return sambaStatusMake(SAMBA_INVALID,
                           "position %lld is not within the %lld elements of the sequence",
                           (long long)position, (long long)count);
  return NULL;
}

/* Elements of one type and shape as tensors: the position is there at run time only. */
static SambaStatus tensorsOf(const SambaOnnxNode *node, const SambaOnnxSequence *sequence,
                             SambaTraceValue ***out) {
  SambaOnnxNode elements = sambaOnnxNodeWith(node, sequence->count, sequence->elements);
  SambaTraceValue **tensors =
      SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, sequence->count + 1);
  SAMBA_RETURN_IF_ERROR(checkKnown(sequence));

  for (uint32_t i = 0; i < sequence->count; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(&elements, i, &tensors[i]));
    const SambaTensorType *first = &tensors[0]->type;
    const SambaTensorType *type = &tensors[i]->type;
    if (type->dtype != first->dtype || type->rank != first->rank ||
        memcmp(type->dims, first->dims, first->rank * sizeof *first->dims))
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "the elements of the sequence have different shapes: the position must "
          "be known at compile time (--bind NAME=FILE)");
  }

  *out = tensors;
  return NULL;
}

SambaStatus sambaOnnxImportSequenceConstruct(const SambaOnnxNode *node) { /* and SequenceEmpty */
  SambaOnnxSequence *sequence = newSequence(node, node->input_count);
  memcpy(sequence->elements, node->inputs, node->input_count * sizeof *node->inputs);
  return sambaOnnxSetSequence(node, 0, sequence);
}

/* Element i of the result: before the position as it was, behind it moved by one. */
static SambaStatus moved(const SambaOnnxNode *node, const SambaOnnxSequence *from,
                         SambaTraceValue *position, SambaTraceValue *inserted,
                         SambaOnnxSequence *result) {
  SambaOnnxSequence all = {.count = from->count + (inserted != NULL)};
  SambaTraceValue **tensors;

  all.elements = SAMBA_ARENA_ARRAY(node->arena, uint32_t, all.count);
  memcpy(all.elements, from->elements, from->count * sizeof *from->elements);
  if (inserted)
    all.elements[from->count] = node->inputs[1];
  SAMBA_RETURN_IF_ERROR(tensorsOf(node, &all, &tensors));

  for (uint32_t i = 0; i < result->count; ++i) {
    SambaTraceValue *here = sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, i);
    SambaTraceValue *value;
    if (inserted) {
      value = i ? sambaWhere(sambaEq(here, position), inserted, tensors[i - 1]) : inserted;
      value = i < from->count ? sambaWhere(sambaLt(here, position), tensors[i], value) : value;
    } else {
      value = sambaWhere(sambaLt(here, position), tensors[i], tensors[i + 1]);
    }
    result->elements[i] = sambaOnnxAddValue(node, value, NULL);
  }

  return sambaOnnxSetSequence(node, 0, result);
}

SambaStatus sambaOnnxImportSequenceInsert(const SambaOnnxNode *node) {
  const SambaOnnxSequence *from;
  SambaTraceValue *position, *inserted;

  SAMBA_RETURN_IF_ERROR(sequenceOf(node, 0, &from));
  int64_t at = from->count;
  SAMBA_RETURN_IF_ERROR(positionOf(node, 2, from->count, from->count, &at, &position));
  SambaOnnxSequence *result = newSequence(node, from->count + 1);
  if (position) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &inserted));
    return moved(node, from, position, inserted, result);
  }

  for (uint32_t i = 0; i < at; ++i)
    result->elements[i] = from->elements[i];
  result->elements[at] = node->inputs[1];
  for (uint32_t i = at + 1; i < result->count; ++i)
    result->elements[i] = from->elements[i - 1];
  return sambaOnnxSetSequence(node, 0, result);
}

SambaStatus sambaOnnxImportSequenceErase(const SambaOnnxNode *node) {
  const SambaOnnxSequence *from;
  SambaTraceValue *position;

  SAMBA_RETURN_IF_ERROR(sequenceOf(node, 0, &from));
  int64_t last = (int64_t)from->count - 1;
  int64_t at = last;
  if (last < 0)
    return sambaStatusMake(SAMBA_INVALID, "the sequence has no elements");
  SAMBA_RETURN_IF_ERROR(positionOf(node, 1, from->count, last, &at, &position));
  SambaOnnxSequence *result = newSequence(node, from->count - 1);
  if (position)
    return moved(node, from, position, NULL, result);
  for (uint32_t i = 0; i < result->count; ++i)
    result->elements[i] = from->elements[i < at ? i : i + 1];
  return sambaOnnxSetSequence(node, 0, result);
}

SambaStatus sambaOnnxImportSequenceAt(const SambaOnnxNode *node) {
  const SambaOnnxSequence *from;
  SambaTraceValue *position, **tensors;
  int64_t at = 0;

  SAMBA_RETURN_IF_ERROR(sequenceOf(node, 0, &from));
  SAMBA_RETURN_IF_ERROR(positionOf(node, 1, from->count, (int64_t)from->count - 1, &at, &position));
  if (!position) {
    SAMBA_RETURN_IF_ERROR(checkKnown(from));
    SambaOnnxNode element = sambaOnnxNodeWith(node, from->count, from->elements);
    return sambaOnnxSetSame(&element, 0, (uint32_t)at);
  }

  SAMBA_RETURN_IF_ERROR(tensorsOf(node, from, &tensors));
  if (!from->count)
    return sambaStatusMake(SAMBA_INVALID, "the sequence has no elements");
  SambaTraceValue *chosen = tensors[0];

  for (uint32_t i = 1; i < from->count; ++i) {
    SambaTraceValue *here = sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, i);
    chosen = sambaWhere(sambaEq(here, position), tensors[i], chosen);
  }

  return sambaOnnxSetTensor(node, 0, chosen);
}

SambaStatus sambaOnnxImportSequenceLength(const SambaOnnxNode *node) {
  const SambaOnnxSequence *from;
  SAMBA_RETURN_IF_ERROR(sequenceOf(node, 0, &from));
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_INT64, 0, NULL);
  result->data[0].i = from->count;
  return sambaOnnxSetConstant(node, 0, result);
}

/* Parts [start, start + size) along the axis, without it when it is not kept. */
static SambaStatus splitPart(const SambaOnnxNode *node, uint32_t axis, int64_t start, int64_t size,
                             bool keep, uint32_t *out_element) {
  uint32_t rank, count = 0;
  int64_t dims[SAMBA_MAX_RANK], result[SAMBA_MAX_RANK], elements = 1;
  SambaTraceValue *x;

  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  dims[axis] = size;
  for (uint32_t d = 0; d < rank; ++d) {
    elements = dims[d] && elements ? 1 : 0;
    if (d != axis || keep)
      result[count++] = dims[d];
  }

  const SambaConstant *known = sambaOnnxConstant(node, 0);
  if (!elements || known) {
    SambaConstant *made = sambaConstantNew(node->arena, sambaOnnxInputType(node, 0), count, result);
    int64_t inner = 1;
    for (uint32_t d = axis + 1; d < rank; ++d)
      inner *= dims[d];
    for (int64_t i = 0; made && known && i < made->count; ++i) {
      int64_t block = i / (size * inner);
      int64_t rest = i % (size * inner);
      made->data[i] = known->data[(block * known->dims[axis] + start) * inner + rest];
    }
    *out_element = sambaOnnxAddValue(node, NULL, made);
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  x = sambaSlice(x, axis, start, start + size, 1);
  *out_element = sambaOnnxAddValue(node, keep ? x : sambaReshape(x, count, result), NULL);
  return NULL;
}

SambaStatus sambaOnnxImportSplitToSequence(const SambaOnnxNode *node) {
  uint32_t rank, axis, split_rank = 0;
  int64_t dims[SAMBA_MAX_RANK], split_dims[SAMBA_MAX_RANK] = {0}, start = 0;
  bool found = sambaOnnxHasInput(node, 1), keep = found || sambaOnnxInt(node, "keepdims", 1) != 0;
  const SambaConstant *split = sambaOnnxConstant(node, 1);

  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, &axis));
  if (found)
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 1, &split_rank, split_dims));
  int64_t chunk = split && !split_rank ? split->data[0].i : 1;
  if (split_rank > 1 || chunk < 1 || (found && !split && !split_rank))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "input 1 must be a list of sizes, or one size of 1 or more known at compile time");
  int64_t parts = split_rank ? split_dims[0] : (dims[axis] + chunk - 1) / chunk;
  if (parts > 1 << 16)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a sequence of %lld elements is too long",
                           (long long)parts);
  SambaOnnxSequence *result = newSequence(node, (uint32_t)parts);

  for (uint32_t i = 0; i < result->count; ++i) {
    int64_t left = dims[axis] - start;
    int64_t size = left < chunk ? left : chunk;
    if (split_rank && split)
      size = split->data[i].i;
    result->elements[i] = SAMBA_NO_INDEX;
    if (split_rank && !split)
      continue;
    if (size < 0 || size > left || (split_rank && i + 1 == result->count && size != left))
      return sambaStatusMake(SAMBA_INVALID, "the sizes of the parts do not fit a dimension of %lld",
                             (long long)dims[axis]);
    SAMBA_RETURN_IF_ERROR(splitPart(node, axis, start, size, keep, &result->elements[i]));
    start += size;
  }

  return sambaOnnxSetSequence(node, 0, result);
}

/* Joined along an axis that is there, or stacked along a new one. */
SambaStatus sambaOnnxImportConcatFromSequence(const SambaOnnxNode *node) {
  const SambaOnnxSequence *from;
  SambaTraceValue *x;

  SAMBA_RETURN_IF_ERROR(sequenceOf(node, 0, &from));
  SAMBA_RETURN_IF_ERROR(checkKnown(from));
  if (!from->count)
    return sambaStatusMake(SAMBA_INVALID, "the sequence has no elements");
  SambaOnnxNode elements = sambaOnnxNodeWith(node, from->count, from->elements);
  bool stack = sambaOnnxInt(node, "new_axis", 0) != 0, known = !stack, done = false;
  for (uint32_t i = 0; i < from->count; ++i)
    known = known && sambaOnnxConstant(&elements, i);
  if (known)
    SAMBA_RETURN_IF_ERROR(sambaOnnxFoldConcat(&elements, &done));
  if (done || !stack)
    return done ? NULL : sambaOnnxImportConcat(&elements);
  SambaTraceValue **parts = SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, from->count);
  uint32_t axis = 0;

  for (uint32_t i = 0; i < from->count; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(&elements, i, &x));
    if (x->type.rank == SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "tensors of rank %d cannot be stacked",
                             SAMBA_MAX_RANK);
    SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->type.rank + 1, &axis));
    int64_t dims[SAMBA_MAX_RANK] = {0};
    for (uint32_t d = 0, old = 0; d <= x->type.rank; ++d)
      dims[d] = d == axis ? 1 : x->type.dims[old++];
    parts[i] = sambaReshape(x, x->type.rank + 1, dims);
  }

  return sambaOnnxSetTensor(node, 0, sambaCat(from->count, parts, axis));
}

/* Optional values inside the graph: there, or known to be left out. */
SambaStatus sambaOnnxImportOptional(const SambaOnnxNode *node) {
  if (!sambaOnnxHasInput(node, 0))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "an optional value without an element is not supported");
  return sambaOnnxSetSame(node, 0, 0);
}

SambaStatus sambaOnnxImportOptionalHasElement(const SambaOnnxNode *node) {
  SambaConstant *result = sambaConstantNew(node->arena, SAMBA_ONNX_BOOL, 0, NULL);
  result->data[0].i = sambaOnnxHasInput(node, 0);
  return sambaOnnxSetConstant(node, 0, result);
}
