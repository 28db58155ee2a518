/* Functions of the model: their nodes take the place of the node that calls; see inline.h. */
#include "frontend/onnx/driver/inline.h"
#include "frontend/onnx/driver/scope.h"

/* The call with the function's default attributes (field 11 of a FunctionProto, newer than our
 * onnx.proto) added. */
static const Onnx__NodeProto *withDefaults(SambaImporter *importer, const Onnx__NodeProto *call,
                                           const Onnx__FunctionProto *function) {
  enum { ATTRIBUTE_PROTO = 11 };
  size_t most = call->n_attribute + function->base.n_unknown_fields;
  Onnx__NodeProto *proto = sambaArenaCopy(&importer->arena, call, sizeof *call);

  proto->attribute = SAMBA_ARENA_ARRAY(&importer->arena, Onnx__AttributeProto *, most);
  for (size_t i = 0; i < call->n_attribute; ++i)
    proto->attribute[i] = call->attribute[i];
  for (size_t i = 0; i < function->base.n_unknown_fields; ++i) {
    const ProtobufCMessageUnknownField *field = &function->base.unknown_fields[i];
    size_t length = 0, at = 0;
    if (field->tag != ATTRIBUTE_PROTO)
      continue;
    for (unsigned shift = 0; at < field->len; shift += 7) { /* the field's length stands first */
      length |= (size_t)(field->data[at] & 127) << shift;
      if (!(field->data[at++] & 128))
        break;
    }
    Onnx__AttributeProto *otherwise =
        onnx__attribute_proto__unpack(NULL, field->len - at, field->data + at);
    if (!otherwise)
      continue;
    sambaArrayAppend(&importer->unpacked, otherwise);
    if (length == field->len - at && otherwise->name && !sambaAttributeNamed(call, otherwise->name))
      proto->attribute[proto->n_attribute++] = otherwise;
  }

  return proto;
}

const Onnx__FunctionProto *sambaOnnxFunctionOf(const SambaOnnxNode *node) {
  const Onnx__ModelProto *model = node->importer->model;
  for (size_t i = 0; i < model->n_functions; ++i) {
    const Onnx__FunctionProto *function = model->functions[i];
    const char *domain =
        function->domain && strcmp(function->domain, "ai.onnx") != 0 ? function->domain : "";
    if (function->name && strcmp(function->name, node->proto->op_type) == 0 &&
        strcmp(domain, sambaOnnxDomain(node->proto)) == 0)
      return function;
  }
  return NULL;
}

/* Whether the scope is the function's own and not that of a branch or a body in it. */
static bool isCallOf(const SambaOnnxScope *scope, const Onnx__FunctionProto *function) {
  return !scope->graph && scope->function == function;
}

/* A function that is called while it is being put in place would never end. */
static SambaStatus refuseRecursion(const SambaOnnxNode *node, const Onnx__FunctionProto *function) {
  enum { SHOWN_CALLS = 6 };
  SambaImporter *importer = node->importer;
  const SambaOnnxScope *first = node->scope;
  while (first && !isCallOf(first, function))
    first = first->caller;
  if (!first)
    return NULL;

  /* The functions of the cycle from the last call back to the first. */
  const char *name = sambaOnnxShown(importer, function->name);
  const char *calls = name;
  unsigned count = 0;
  for (const SambaOnnxScope *at = node->scope;; at = at->caller) {
    if (at->graph)
      continue;
    if (count++ < SHOWN_CALLS)
      calls = sambaArenaFormat(&importer->arena, "%s -> %s",
                               sambaOnnxShown(importer, at->function->name), calls);
    if (at == first)
      break;
  }

  if (count > SHOWN_CALLS)
    calls =
        sambaArenaFormat(&importer->arena, "%s -> %u more -> %s", name, count - SHOWN_CALLS, calls);
  return sambaStatusMake(SAMBA_INVALID,
                         "function %s calls itself (%s); ONNX does not allow recursive functions: "
                         "export the model without the recursion",
                         name, calls);
}

SambaStatus sambaOnnxInlineFunction(const SambaOnnxNode *node,
                                    const Onnx__FunctionProto *function) {
  SAMBA_RETURN_IF_ERROR(refuseRecursion(node, function));
  SambaImporter *importer = node->importer;
  SambaOnnxScope scope;
  SambaStatus status = sambaScopeEnter(node, &scope);

  scope.closed = true;
  scope.function = function;
  scope.node = node->proto;
  if (!status && node->input_count > function->n_input)
    status = sambaStatusMake(SAMBA_INVALID, "has %u inputs, but the function takes %zu",
                             node->input_count, function->n_input);
  for (size_t i = 0; !status && i < function->n_input;
       ++i) /* one that is left out stays without a name */
    sambaScopeName(&scope, function->input[i],
                   sambaOnnxHasInput(node, (uint32_t)i) ? node->proto->input[i] : "");
  if (!status) {
    scope.call = withDefaults(importer, node->proto, function);
    status = sambaScopeImportNodes(importer, &scope, function->n_node, function->node);
  }

  for (uint32_t i = 0; !status && i < node->output_count; ++i)
    status = i < function->n_output
                 ? sambaScopeSetOutput(node, i, &scope, function->output[i])
                 : sambaStatusMake(SAMBA_INVALID, "has %u outputs, but the function makes %zu",
                                   node->output_count, function->n_output);
  sambaScopeFree(&scope);

  return status;
}
