/* Operands that steer shapes - a new shape, axes, sizes, k - but are only there at run time.
 *
 * Where the model declares the shape of the node's result, that shape says what the operand must
 * be: a Reshape's shape is the declared one, a Squeeze's axes are those that lead to it. Before a
 * node is imported, such an operand is replaced by the constant that the declared shapes determine.
 * Several constants may fit (which of two equal dimensions was summed over): then the node is
 * imported once for each, and the operand's value chooses at run time by a key. An operand that no
 * declared shape determines stays as it is: runtime_forms.c or the handler's error comes next. */
#include "frontend/onnx/dynamic/declared.h"

#include "support/number/shape.h"

enum { INT64_TYPE = 7, MAX_STEPS = 512 };

/* ---- Declared shapes ---- */

bool sambaOnnxStaticShape(const Onnx__ValueInfoProto *info, uint32_t *out_rank, int64_t *out_dims) {
  const Onnx__TypeProto__Tensor *tensor =
      info && info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
          ? info->type->tensor_type
          : NULL;
  if (!tensor || !tensor->shape || tensor->shape->n_dim > SAMBA_MAX_RANK)
    return false;

  for (size_t axis = 0; axis < tensor->shape->n_dim; ++axis) {
    const Onnx__TensorShapeProto__Dimension *dim = tensor->shape->dim[axis];
    if (dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE ||
        dim->dim_value < 0)
      return false;
    out_dims[axis] = dim->dim_value;
  }

  *out_rank = (uint32_t)tensor->shape->n_dim;
  return true;
}

static const SambaOnnxValue *valueNamed(SambaImporter *importer, const char *name) {
  uint32_t index;
  if (!name || !*name || !sambaStringMapGet(&importer->value_names, sambaStringRef(name), &index))
    return NULL;
  return &importer->values.data[index];
}

/* Element by element: every operand has the result's shape or is broadcast to it. */
static bool isElementwise(const Onnx__NodeProto *proto) {
  static const char *const others[] = {"Cast", "CastLike", "Identity", "Clip", "Dropout", NULL};
  if (!proto->op_type || sambaOnnxDomain(proto)[0])
    return false;
  for (const SambaOnnxRow *row = sambaOnnxRows; row->name; ++row)
    if (!*row->domain && row->fold == sambaOnnxFoldElementwise &&
        strcmp(row->name, proto->op_type) == 0)
      return true;
  return sambaStringRefIsOneOf(sambaStringRef(proto->op_type), others);
}

/* A single number, or made of numbers and of `root` element by element: with it root's shape does
 * not grow. */
static bool keepsShape(SambaImporter *importer, const char *name, const char *root,
                       uint32_t *steps) {
  const SambaOnnxValue *value = valueNamed(importer, name);
  if (!value || !*steps)
    return false;
  --*steps;
  if (strcmp(name, root) == 0)
    return true;
  if (value->tensor || value->constant)
    return value->tensor ? value->tensor->type.rank == 0 : value->constant->rank == 0;
  if (value->initializer)
    return value->initializer->n_dims == 0;
  if (value->producer < 0)
    return false;
  const Onnx__NodeProto *proto = importer->model->graph->node[value->producer];

  if (proto->op_type && strcmp(proto->op_type, "Constant") == 0 && proto->n_attribute == 1) {
    const Onnx__AttributeProto *a = proto->attribute[0];
    return a->t ? a->t->n_dims == 0
                : a->name && (!strcmp(a->name, "value_float") || !strcmp(a->name, "value_int"));
  }

  if (!isElementwise(proto))
    return false;
  for (size_t i = 0; i < proto->n_input; ++i)
    if (proto->input[i] && *proto->input[i] && !keepsShape(importer, proto->input[i], root, steps))
      return false;
  return true;
}

/* A shape that is not written down may follow from what is made of the value element by element. */
static bool declaredShape(SambaImporter *importer, const char *name, const char *root,
                          uint32_t *steps, uint32_t *out_rank, int64_t *out_dims) {
  const Onnx__GraphProto *graph = importer->model->graph;
  const SambaOnnxValue *value = valueNamed(importer, name);

  if (!value || !*steps)
    return false;
  --*steps;
  if (sambaOnnxStaticShape(value->declared, out_rank, out_dims))
    return true;

  for (size_t n = 0; n < graph->n_node && *steps; ++n) {
    const Onnx__NodeProto *proto = graph->node[n];
    bool reads = false, others = true;
    for (size_t i = 0; i < proto->n_input; ++i)
      reads |= proto->input[i] && strcmp(proto->input[i], name) == 0;
    if (!reads || !proto->n_output || !isElementwise(proto))
      continue;
    bool follows =
        strcmp(proto->op_type, "CastLike") == 0 || strcmp(proto->op_type, "Clip") == 0 ||
        strcmp(proto->op_type, "Dropout") == 0; /* the first input alone gives the shape */
    if (follows && strcmp(proto->input[0], name) != 0)
      continue;
    for (size_t i = 0; i < proto->n_input && others && !follows; ++i)
      others = !proto->input[i] || strcmp(proto->input[i], name) == 0 ||
               keepsShape(importer, proto->input[i], root, steps);
    if (others && declaredShape(importer, proto->output[0], root, steps, out_rank, out_dims))
      return true;
  }

  return false;
}

bool sambaOnnxDeclaredShape(const SambaOnnxNode *node, uint32_t output, uint32_t *out_rank,
                            int64_t *out_dims) {
  uint32_t steps = MAX_STEPS;
  const char *name = sambaOnnxOutputUsed(node, output) ? node->proto->output[output] : "";
  return declaredShape(node->importer, name, name, &steps, out_rank, out_dims);
}

/* ---- What the operand must be ---- */

void sambaOnnxAddCandidate(const SambaOnnxNode *node, SambaOnnxCandidates *candidates,
                           uint32_t rank, int64_t size, const int64_t *data, int64_t key) {
  SambaConstant *constant = sambaConstantNew(&node->importer->arena, INT64_TYPE, rank, &size);
  for (int64_t i = 0; constant && i < size; ++i)
    constant->data[i].i = data[i];
  if (!constant || candidates->count == SAMBA_ONNX_MAX_CANDIDATES)
    return;
  candidates->constants[candidates->count] = constant;
  candidates->keys[candidates->count++] = key;
}

SambaStatus sambaOnnxDeclaredShapes(const SambaOnnxNode *node, uint32_t *out_rank,
                                    int64_t *out_dims, uint32_t *out_declared,
                                    int64_t *out_declared_dims, bool *out_known) {
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, out_rank, out_dims));
  *out_known = sambaOnnxDeclaredShape(node, 0, out_declared, out_declared_dims);
  return NULL;
}

static SambaStatus wholeShape(const SambaOnnxNode *node, uint32_t input,
                              SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (sambaOnnxDeclaredShape(node, 0, &rank, dims))
    sambaOnnxAddCandidate(node, candidates, 1, rank, dims, 0);
  return NULL;
}

/* Which dimensions of 1 are left out does not matter: the first that must. Unsqueeze is the same,
 * seen from behind. */
static SambaStatus axesOfOnes(const SambaOnnxNode *node, uint32_t input,
                              SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, from = 0;
  int64_t dims[SAMBA_MAX_RANK], declaredDims[SAMBA_MAX_RANK], axes[SAMBA_MAX_RANK], count = 0;
  bool known, squeeze = strcmp(node->proto->op_type, "Squeeze") == 0;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declaredDims, &known));
  const int64_t *wide = squeeze ? dims : declaredDims;
  const int64_t *narrow = squeeze ? declaredDims : dims;
  uint32_t wideRank = squeeze ? rank : declared;
  uint32_t narrowRank = squeeze ? declared : rank;

  for (uint32_t axis = 0; known && axis < wideRank; ++axis) {
    if (from < narrowRank && wide[axis] == narrow[from])
      ++from;
    else
      axes[count++] = axis;
  }

  if (known && from == narrowRank)
    sambaOnnxAddCandidate(node, candidates, 1, count, axes, 0);
  return NULL;
}

static SambaStatus repeats(const SambaOnnxNode *node, uint32_t input,
                           SambaOnnxCandidates *candidates) {
  uint32_t rank, declared;
  int64_t dims[SAMBA_MAX_RANK], declaredDims[SAMBA_MAX_RANK], counts[SAMBA_MAX_RANK];
  bool known;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declaredDims, &known));
  for (uint32_t axis = 0; axis < rank && known; ++axis) {
    known = declared == rank &&
            (dims[axis] ? declaredDims[axis] % dims[axis] : declaredDims[axis]) == 0;
    counts[axis] = known && dims[axis] ? declaredDims[axis] / dims[axis] : 1;
  }

  if (known && rank && node->version >= 6)
    sambaOnnxAddCandidate(node, candidates, 1, rank, counts, 0);
  return NULL;
}

/* The declared size of every part; one that is not declared is what the others leave. */
static SambaStatus partSizes(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, axis, open = UINT32_MAX;
  int64_t dims[SAMBA_MAX_RANK];
  int64_t *sizes = SAMBA_ARENA_ARRAY(&node->importer->arena, int64_t, node->output_count);

  (void)input;
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, &axis));
  int64_t left = dims[axis];

  for (uint32_t part = 0; part < node->output_count; ++part) {
    if (sambaOnnxDeclaredShape(node, part, &declared, dims) && declared == rank)
      left -= sizes[part] = dims[axis];
    else if (open == UINT32_MAX)
      open = part;
    else
      return NULL;
  }

  if (open != UINT32_MAX)
    sizes[open] = left;
  if (left >= 0)
    sambaOnnxAddCandidate(node, candidates, 1, node->output_count, sizes, 0);
  return NULL;
}

/* The size of the result along the axis of the attribute: TopK's k, OneHot's depth. */
static SambaStatus sizeOfAxis(const SambaOnnxNode *node, uint32_t input,
                              SambaOnnxCandidates *candidates) {
  uint32_t rank, axis;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  bool known =
      sambaOnnxDeclaredShape(node, 0, &rank, dims) || sambaOnnxDeclaredShape(node, 1, &rank, dims);
  if (!known || !rank)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), rank, &axis));
  sambaOnnxAddCandidate(node, candidates, 1, 1, &dims[axis], 0);
  return NULL;
}

static SambaStatus firstSize(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  if (sambaOnnxDeclaredShape(node, 0, &rank, dims) && rank)
    sambaOnnxAddCandidate(node, candidates, 0, 1, dims, 0);
  return NULL;
}

/* Sets of as many axes as the operand has that lead to the declared shape. Dimensions of 1 change
 * nothing: sets that differ in them only are one candidate, and they have no weight in the key. */
static SambaStatus reducedAxes(const SambaOnnxNode *node, uint32_t input,
                               SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, operandRank;
  int64_t dims[SAMBA_MAX_RANK], declaredDims[SAMBA_MAX_RANK], operandDims[SAMBA_MAX_RANK];
  bool known, keep = sambaOnnxInt(node, "keepdims", 1) != 0;

  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declaredDims, &known));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, input, &operandRank, operandDims));
  if (!known || operandRank > 1)
    return NULL;
  int64_t wanted = operandRank ? operandDims[0] : 1;
  candidates->rank = rank;
  for (uint32_t axis = 0; axis < rank; ++axis)
    candidates->weights[axis] = dims[axis] == 1 ? 0 : (int64_t)1 << axis;

  for (uint32_t set = 1; set < 1u << rank; ++set) {
    int64_t axes[SAMBA_MAX_RANK], count = 0, key = 0;
    uint32_t at = 0;
    bool fits = true;
    for (uint32_t axis = 0; axis < rank && fits; ++axis) {
      bool reduced = set >> axis & 1;
      if (reduced)
        axes[count++] = axis, key += candidates->weights[axis];
      if (!reduced || keep)
        fits = at < declared && declaredDims[at++] == (reduced ? 1 : dims[axis]);
    }
    for (uint32_t i = 0; i < candidates->count && fits; ++i)
      fits = candidates->keys[i] != key;
    if (fits && at == declared && count == wanted)
      sambaOnnxAddCandidate(node, candidates, 1, count, axes, key);
  }

  return NULL;
}

/* The result has the shape of the input whatever the axis is. */
static SambaStatus anyAxis(const SambaOnnxNode *node, uint32_t input,
                           SambaOnnxCandidates *candidates) {
  int64_t dims[SAMBA_MAX_RANK];
  (void)input;
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &candidates->rank, dims));
  for (int64_t axis = 0; axis < candidates->rank; ++axis) {
    candidates->weights[axis] = axis;
    sambaOnnxAddCandidate(node, candidates, 0, 1, &axis, axis);
  }
  return NULL;
}

/* One half of the spectrum has length / 2 + 1 values: the length is even or odd. */
static SambaStatus transformLength(const SambaOnnxNode *node, uint32_t input,
                                   SambaOnnxCandidates *candidates) {
  uint32_t rank, axis;
  int64_t dims[SAMBA_MAX_RANK];

  (void)input;
  const SambaConstant *given = sambaOnnxConstant(node, 2);
  if ((sambaOnnxHasInput(node, 2) && (!given || !given->count)) ||
      !sambaOnnxDeclaredShape(node, 0, &rank, dims))
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(
      given ? given->data[0].i : sambaOnnxInt(node, "axis", node->version < 20 ? 1 : -2), rank,
      &axis));
  bool half = sambaOnnxInt(node, "onesided", 0) != 0;
  int64_t size = dims[axis];
  int64_t even = 2 * (size - 1);
  int64_t odd = even + 1;
  if (!half)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &size, size);
  if (half && even > 0)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &even, even);
  if (half && odd > 0)
    sambaOnnxAddCandidate(node, candidates, 0, 1, &odd, odd);
  return NULL;
}

/* frames = (signal - frame) / step + 1, rounded down. */
static SambaStatus frameStep(const SambaOnnxNode *node, uint32_t input,
                             SambaOnnxCandidates *candidates) {
  uint32_t rank, declared, windowRank;
  int64_t dims[SAMBA_MAX_RANK], declaredDims[SAMBA_MAX_RANK], window[SAMBA_MAX_RANK];
  bool known;

  (void)input;
  SAMBA_RETURN_IF_ERROR(
      sambaOnnxDeclaredShapes(node, &rank, dims, &declared, declaredDims, &known));
  const SambaConstant *length = sambaOnnxConstant(node, 3);
  if (!known || rank < 2 || declared < 2 || (!length && !sambaOnnxHasInput(node, 2)))
    return NULL;
  if (length ? length->count != 1 : false)
    return NULL;
  if (!length)
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 2, &windowRank, window));
  int64_t left = dims[1] - (length ? length->data[0].i : window[0]);
  for (int64_t step = 1; step <= left && candidates->count < SAMBA_ONNX_MAX_CANDIDATES; ++step)
    if (left / step + 1 == declaredDims[1])
      sambaOnnxAddCandidate(node, candidates, 0, 1, &step, step);
  return NULL;
}

static const struct {
  const char *name; /* "Reduce": every operator that starts so */
  uint32_t input;
  SambaStatus (*resolve)(const SambaOnnxNode *node, uint32_t input,
                         SambaOnnxCandidates *candidates);
} rules[] = {{"Reshape", 1, wholeShape},
             {"Expand", 1, wholeShape},
             {"ConstantOfShape", 0, wholeShape},
             {"MaxUnpool", 2, wholeShape},
             {"Resize", 3, sambaOnnxSizesOfAxes},
             {"CenterCropPad", 1, sambaOnnxSizesOfAxes},
             {"Col2Im", 1, sambaOnnxPictureSizes},
             {"Col2Im", 2, sambaOnnxBlockSizes},
             {"AffineGrid", 1, sambaOnnxGridSizes},
             {"Squeeze", 1, axesOfOnes},
             {"Unsqueeze", 1, axesOfOnes},
             {"Tile", 1, repeats},
             {"Split", 1, partSizes},
             {"TopK", 1, sizeOfAxis},
             {"OneHot", 1, sizeOfAxis},
             {"HannWindow", 0, firstSize},
             {"HammingWindow", 0, firstSize},
             {"BlackmanWindow", 0, firstSize},
             {"Reduce", 1, reducedAxes},
             {"CumSum", 1, anyAxis},
             {"DFT", 1, transformLength},
             {"STFT", 1, frameStep},
             {NULL, 0, NULL}};

/* ---- The node, once per candidate ---- */

static SambaStatus keyOf(const SambaOnnxNode *node, uint32_t input,
                         const SambaOnnxCandidates *candidates, SambaTensor **out_key) {
  SambaTensor *operand;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &operand));
  SambaTrace *trace = node->importer->trace;
  int64_t count = sambaShapeElements(operand->type.rank, operand->type.dims);
  int64_t table[2 * SAMBA_MAX_RANK], first = 0;
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {2 * candidates->rank}};

  SambaTensor *flat = sambaReshape(sambaCast(operand, SAMBA_DTYPE_I64), 1, &count);
  if (candidates->listed) {
    type.dims[0] = count;
    SambaTensor *weights = sambaTraceConstant(trace, &type, candidates->weights, false);
    *out_key = sambaSum(sambaMul(flat, weights), 1, &first, true);
    return NULL;
  }

  if (!candidates->rank) {
    *out_key = flat;
    return NULL;
  }

  for (uint32_t i = 0; i < 2 * candidates->rank; ++i) /* negative axes count from the end */
    table[i] = candidates->weights[i % candidates->rank];
  SambaTensor *weights = sambaTraceConstant(trace, &type, table, false);
  flat = sambaAdd(flat, sambaTraceScalar(trace, SAMBA_DTYPE_I64, candidates->rank));
  *out_key = sambaSum(sambaIndexSelect(weights, flat, 0), 1, &first, true);

  return NULL;
}

/* Takes what the handler has set as output, so that the next candidate can set it again. */
static SambaStatus takeOutput(const SambaOnnxNode *node, uint32_t output,
                              SambaTensor **out_tensor) {
  SambaOnnxValue *value = sambaOnnxValueAt(node->importer, node->proto->output[output]);
  *out_tensor = value->tensor;
  if (!value->tensor && value->constant)
    SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node->importer, value->constant, out_tensor));
  value->tensor = NULL;
  value->constant = NULL;
  value->defined = false;
  return NULL;
}

/* All candidates give the same when that has no elements. */
static bool isEmpty(const SambaOnnxNode *node) {
  for (uint32_t output = 0; output < node->output_count; ++output) {
    if (!sambaOnnxOutputUsed(node, output))
      continue;
    const SambaConstant *constant =
        sambaOnnxValueAt(node->importer, node->proto->output[output])->constant;
    if (!constant || constant->count)
      return false;
  }
  return true;
}

static SambaStatus importEach(const SambaOnnxNode *node, uint32_t input,
                              const SambaOnnxCandidates *candidates,
                              SambaStatus (*import)(const SambaOnnxNode *node)) {
  SambaImporter *importer = node->importer;
  SambaTensor **chosen = SAMBA_ARENA_ARRAY(&importer->arena, SambaTensor *, node->output_count);
  SambaTensor *key = NULL;
  uint32_t *inputs =
      sambaArenaCopy(&importer->arena, node->inputs, node->input_count * sizeof *inputs);
  SambaOnnxNode copy = *node;

  copy.inputs = inputs;
  if (candidates->count > 1)
    SAMBA_RETURN_IF_ERROR(keyOf(node, input, candidates, &key));
  for (uint32_t i = 0; i < candidates->count; ++i) {
    inputs[input] = (uint32_t)importer->values.size;
    sambaArrayAppend(
        &importer->values,
        (SambaOnnxValue){.constant = candidates->constants[i], .producer = -1, .defined = true});
    SAMBA_RETURN_IF_ERROR(import(&copy));
    if (candidates->count == 1 || isEmpty(node))
      return NULL;
    SambaTensor *wanted =
        sambaTraceScalar(importer->trace, SAMBA_DTYPE_I64, (double)candidates->keys[i]);
    SambaTensor *matches = i ? sambaReshape(sambaEq(key, wanted), 0, NULL) : NULL;
    SambaTensor *next;
    for (uint32_t output = 0; output < node->output_count; ++output)
      if (sambaOnnxOutputUsed(node, output)) {
        SAMBA_RETURN_IF_ERROR(takeOutput(node, output, &next));
        chosen[output] = i ? sambaWhere(matches, next, chosen[output]) : next;
      }
  }

  for (uint32_t output = 0; output < node->output_count; ++output)
    if (sambaOnnxOutputUsed(node, output))
      SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, output, chosen[output]));
  return NULL;
}

SambaStatus sambaOnnxImportDeclared(const SambaOnnxNode *node,
                                    SambaStatus (*import)(const SambaOnnxNode *node),
                                    bool *out_done) {
  for (size_t r = 0; rules[r].name; ++r) {
    uint32_t input = rules[r].input;
    size_t length =
        strcmp(rules[r].name, "Reduce") == 0 ? strlen("Reduce") : strlen(rules[r].name) + 1;
    if (sambaOnnxDomain(node->proto)[0] ||
        strncmp(rules[r].name, node->proto->op_type, length) != 0 ||
        !sambaOnnxHasInput(node, input) || sambaOnnxConstant(node, input))
      continue;
    SambaOnnxCandidates candidates = {0};
    SAMBA_RETURN_IF_ERROR(rules[r].resolve(node, input, &candidates));
    if (candidates.count) {
      *out_done = true;
      return importEach(node, input, &candidates, import);
    }
  }

  return NULL;
}
