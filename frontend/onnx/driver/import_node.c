/* Importing one node: by its row of the table, as a function of the model, or not at all. */
#include "frontend/onnx/driver/driver.h"
#include "frontend/onnx/driver/inline.h"
#include "frontend/onnx/driver/scope.h"
#include "frontend/onnx/dynamic/dynamic.h"

SambaStatus sambaOnnxAnnotateNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                  size_t index, SambaStatus status) {
  enum { SHOWN_NAME = 80 };
  const char *name = proto->name ? proto->name : "";
  const char *cut = "";
  if (strlen(name) > SHOWN_NAME) { /* its end tells more: it is the node's own name */
    name += strlen(name) - SHOWN_NAME;
    cut = "...";
  }
  return sambaStatusAnnotate(status, "node %zu %s%s (%s)", index, cut,
                             sambaOnnxShown(importer, name), proto->op_type ? proto->op_type : "");
}

/* Why an operator is left out on purpose: "" for all others. Those of other domains are told by
 * parts of their names too. */
static const char *reasonWithout(const char *name, bool is_standard) {
  static const struct {
    const char *reason, *names[8];
    bool everywhere; /* parts of names, in every domain */
  } kinds[] = {{": quantized operators are not; export the model in float",
                {"QLinear", "Quantize", "MatMulInteger", "ConvInteger", "NBits", "Bnb4", "QMoE"},
                true},
               {": quantized operators are not; export the model in float",
                {"QAttention", "QGemm", "QEmbed", "QOrdered", "FpQ4"},
                true},
               {": it was experimental, and ONNX has it no more; export the model again",
                {"ATen", "GRUUnit", "GivenTensorFill", "ConstantFill"},
                false},
               {": control flow that depends on data is not; export the model unrolled",
                {"Loop", "Scan"},
                false},
               {": text is not",
                {"StringNormalizer", "StringConcat", "StringSplit", "RegexFullMatch"},
                false}};
  for (size_t kind = 0; name && kind < sizeof kinds / sizeof *kinds; ++kind)
    for (size_t i = 0; i < 8 && kinds[kind].names[i]; ++i)
      if (kinds[kind].everywhere ? strstr(name, kinds[kind].names[i]) != NULL
                                 : is_standard && strcmp(kinds[kind].names[i], name) == 0)
        return kinds[kind].reason;
  return "";
}

static SambaStatus noRow(const SambaOnnxNode *node) {
  const Onnx__NodeProto *proto = node->proto;
  for (const SambaOnnxRow *row = node->importer->rows; row->name; ++row)
    if (sambaOnnxRowIsNamed(row, proto))
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "operator %s of operator set version %lld is not supported; versions %lld to %lld are",
          proto->op_type, (long long)node->version, (long long)row->first, (long long)row->last);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "operator %s%s%s is not supported%s",
                         sambaOnnxDomain(proto), *sambaOnnxDomain(proto) ? "." : "",
                         proto->op_type && *proto->op_type ? proto->op_type : "without a type",
                         reasonWithout(proto->op_type, !*sambaOnnxDomain(proto)));
}

/* A weight that will be trained, although its numbers are known. */
static bool isTrained(const SambaOnnxNode *node, uint32_t input) {
  const SambaOnnxValue *value = sambaOnnxInputValue(node, input);
  return node->importer->trains && value && value->initializer && value->is_weight &&
         sambaOnnxTypeIsFloat(value->initializer->data_type);
}

/* The node with the inputs it has: folded when all are known, else as the graph's operators.
 * Operands that steer shapes are settled first. */
static SambaStatus importResolved(const SambaOnnxNode *node) {
  const SambaOnnxRow *row = node->row;
  bool done = false, known = node->input_count > 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxImportDeclared(node, importResolved, &done));
  if (!done)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportEmpty(node, &done));
  for (uint32_t i = 0; i < node->input_count && !done; ++i)
    known = known &&
            (!sambaOnnxHasInput(node, i) || (sambaOnnxConstant(node, i) && !isTrained(node, i)));
  if (!done && known && row->fold && (row->inputs[0] < 1 || sambaOnnxHasInput(node, 0)))
    SAMBA_RETURN_IF_ERROR(row->fold(node, &done));
  if (!done)
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportRuntimeForm(node, &done));
  return done ? NULL : row->import(node);
}

static SambaStatus checkInputCount(const SambaOnnxNode *node) {
  uint32_t fewest = node->row->inputs[0];
  uint32_t most = node->row->inputs[1];
  if (node->input_count >= fewest && node->input_count <= most)
    return NULL;
  if (fewest == most)
    return sambaStatusMake(SAMBA_INVALID, "has %u inputs, but must have exactly %u",
                           node->input_count, fewest);
  if (most == UINT32_MAX)
    return sambaStatusMake(SAMBA_INVALID, "has %u inputs, but must have %u at least",
                           node->input_count, fewest);
  return sambaStatusMake(SAMBA_INVALID, "has %u inputs, but must have %u to %u", node->input_count,
                         fewest, most);
}

static SambaStatus importNode(SambaOnnxNode *node) {
  SambaImporter *importer = node->importer;
  const Onnx__NodeProto *proto = node->proto;
  const SambaOnnxRow *row = node->row;
  const Onnx__FunctionProto *function = row || !proto->op_type ? NULL : sambaOnnxFunctionOf(node);

  if (!row && !function)
    return noRow(node);
  uint32_t *inputs = SAMBA_ARENA_ARRAY(&importer->arena, uint32_t, proto->n_input);
  for (uint32_t i = 0; i < proto->n_input; ++i) {
    inputs[i] = SAMBA_NO_INDEX;
    if (!proto->input[i] || !*proto->input[i])
      continue;
    sambaStringMapGet(&importer->value_names, sambaStringRef(proto->input[i]), &inputs[i]);
    const SambaOnnxValue *value = &importer->values.data[inputs[i]];
    if (!value->defined)
      return sambaStatusMake(SAMBA_INVALID,
                             "input %s is missing: no node makes it, and it is neither a graph "
                             "input nor an initializer",
                             sambaOnnxShown(importer, proto->input[i]));
  }

  node->inputs = inputs;
  node->input_count = (uint32_t)proto->n_input;
  node->output_count = (uint32_t)proto->n_output;
  while (node->input_count && inputs[node->input_count - 1] == SAMBA_NO_INDEX)
    --node->input_count; /* optional ones at the end may be written or not */
  if (function)
    return sambaOnnxInlineFunction(node, function);
  SAMBA_RETURN_IF_ERROR(checkInputCount(node));
  SAMBA_RETURN_IF_ERROR(sambaOnnxCheckSignature(node));

  return node->output_count ? importResolved(node) : NULL;
}

SambaStatus sambaOnnxImportNode(SambaImporter *importer, const Onnx__NodeProto *proto,
                                uint32_t index, const SambaOnnxScope *scope) {
  int64_t version = sambaOnnxScopeVersion(importer, scope, sambaOnnxDomain(proto));
  SambaOnnxNode node = {.importer = importer,
                        .proto = proto,
                        .row = sambaOnnxRowFor(importer, proto, version),
                        .index = index,
                        .scope = scope,
                        .version = version,
                        .trace = importer->trace,
                        .arena = &importer->arena};
  const char *layer = proto->name;
  if (!layer || !*layer)
    layer = proto->n_output && proto->output[0] ? proto->output[0] : "";
  sambaTraceSetLayer(importer->trace, sambaStringRef(layer), importer->path, index);
  SambaStatus status = importNode(&node);

  if (!status && sambaTraceStatus(importer->trace))
    status = sambaOnnxTraceFailure(&node);

  /* The innermost node says what is wrong and the graph's own node where; those between stand in
   * the innermost one's name. */
  if (status && scope && importer->failed_inside)
    return status;
  if (status) {
    importer->failed_inside = scope != NULL;
    return sambaOnnxAnnotateNode(importer, proto, index, status);
  }
  for (uint32_t k = 0; k < proto->n_output;
       ++k) { /* outputs that a handler leaves out were not asked for or are refused when read */
    if (!sambaOnnxOutputUsed(&node, k))
      continue;
    SambaOnnxValue *value = sambaOnnxValueAt(importer, proto->output[k]);
    value->defined = value->tensor || value->constant || value->initializer || value->sequence;
  }

  return NULL;
}
