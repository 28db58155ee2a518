/* Operands that steer shapes - a new shape, axes, sizes, k - but are only there at run time.
 *
 * Where the model declares the shape of the node's result, that shape says what the operand must
 * be: a Reshape's shape is the declared one, a Squeeze's axes are those that lead to it. Before a
 * node is imported, such an operand is replaced by the constant that the declared shapes determine.
 * Several constants may fit (which of two equal dimensions was summed over): then the node is
 * imported once for each, and the operand's value chooses at run time by a key. An operand that no
 * declared shape determines stays as it is: runtime_forms.c or the handler's error comes next. */
#include "frontend/onnx/dynamic/candidates.h"
#include "frontend/onnx/dynamic/dynamic.h"
#include "support/number/shape.h"

static const struct {
  const char *name; /* "Reduce": every operator that starts so */
  uint32_t input;
  SambaStatus (*resolve)(const SambaOnnxNode *node, uint32_t input,
                         SambaOnnxCandidates *candidates);
} rules[] = {{"Reshape", 1, sambaOnnxWholeShape},
             {"Expand", 1, sambaOnnxWholeShape},
             {"ConstantOfShape", 0, sambaOnnxWholeShape},
             {"MaxUnpool", 2, sambaOnnxWholeShape},
             {"Resize", 3, sambaOnnxSizesOfAxes},
             {"CenterCropPad", 1, sambaOnnxSizesOfAxes},
             {"Col2Im", 1, sambaOnnxPictureSizes},
             {"Col2Im", 2, sambaOnnxBlockSizes},
             {"AffineGrid", 1, sambaOnnxGridSizes},
             {"Squeeze", 1, sambaOnnxAxesOfOnes},
             {"Unsqueeze", 1, sambaOnnxAxesOfOnes},
             {"Tile", 1, sambaOnnxRepeats},
             {"Split", 1, sambaOnnxPartSizes},
             {"TopK", 1, sambaOnnxSizeOfAxis},
             {"OneHot", 1, sambaOnnxSizeOfAxis},
             {"HannWindow", 0, sambaOnnxFirstSize},
             {"HammingWindow", 0, sambaOnnxFirstSize},
             {"BlackmanWindow", 0, sambaOnnxFirstSize},
             {"Reduce", 1, sambaOnnxAxesReduced},
             {"CumSum", 1, sambaOnnxAnyAxis},
             {"DFT", 1, sambaOnnxTransformLength},
             {"STFT", 1, sambaOnnxFrameStep},
             {NULL, 0, NULL}};

/* ---- The node, once per candidate ---- */

static SambaStatus keyOf(const SambaOnnxNode *node, uint32_t input,
                         const SambaOnnxCandidates *candidates, SambaTraceValue **out_key) {
  SambaTraceValue *operand;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, input, &operand));
  SambaTrace *trace = node->trace;
  int64_t count = sambaShapeElements(operand->type.rank, operand->type.dims);
  int64_t table[2 * SAMBA_MAX_RANK], first = 0;
  SambaTensorType type = {.dtype = SAMBA_DTYPE_I64, .rank = 1, .dims = {2 * candidates->rank}};

  SambaTraceValue *flat = sambaReshape(sambaCast(operand, SAMBA_DTYPE_I64), 1, &count);
  if (candidates->listed) {
    type.dims[0] = count;
    SambaTraceValue *weights = sambaTraceConstant(trace, &type, candidates->weights, false);
    *out_key = sambaSum(sambaMul(flat, weights), 1, &first, true);
    return NULL;
  }

  if (!candidates->rank) {
    *out_key = flat;
    return NULL;
  }

  for (uint32_t i = 0; i < 2 * candidates->rank; ++i) /* negative axes count from the end */
    table[i] = candidates->weights[i % candidates->rank];
  SambaTraceValue *weights = sambaTraceConstant(trace, &type, table, false);
  flat = sambaAdd(flat, sambaTraceScalar(trace, SAMBA_DTYPE_I64, candidates->rank));
  *out_key = sambaSum(sambaIndexSelect(weights, flat, 0), 1, &first, true);

  return NULL;
}

/* All candidates give the same when that has no elements. */
static bool isEmpty(const SambaOnnxNode *node) {
  for (uint32_t output = 0; output < node->output_count; ++output) {
    if (!sambaOnnxOutputUsed(node, output))
      continue;
    const SambaConstant *constant = sambaOnnxOutputConstant(node, output);
    if (!constant || constant->count)
      return false;
  }
  return true;
}

static SambaStatus importEach(const SambaOnnxNode *node, uint32_t input,
                              const SambaOnnxCandidates *candidates,
                              SambaStatus (*import)(const SambaOnnxNode *node)) {
  SambaTraceValue **chosen = SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, node->output_count);
  SambaTraceValue *key = NULL;
  uint32_t *inputs = sambaArenaCopy(node->arena, node->inputs, node->input_count * sizeof *inputs);
  SambaOnnxNode copy = sambaOnnxNodeWith(node, node->input_count, inputs);

  if (candidates->count > 1)
    SAMBA_RETURN_IF_ERROR(keyOf(node, input, candidates, &key));
  for (uint32_t i = 0; i < candidates->count; ++i) {
    inputs[input] = sambaOnnxAddValue(node, NULL, candidates->constants[i]);
    SAMBA_RETURN_IF_ERROR(import(&copy));
    if (candidates->count == 1 || isEmpty(node))
      return NULL;
    SambaTraceValue *wanted =
        sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, (double)candidates->keys[i]);
    SambaTraceValue *matches = i ? sambaReshape(sambaEq(key, wanted), 0, NULL) : NULL;
    SambaTraceValue *next;
    for (uint32_t output = 0; output < node->output_count; ++output)
      if (sambaOnnxOutputUsed(node, output)) {
        SAMBA_RETURN_IF_ERROR(sambaOnnxTakeOutput(node, output, &next));
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
