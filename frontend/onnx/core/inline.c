/* Functions of the model, branches of If, bodies of Loop: their nodes take the place of the node.
 * Names inside get a prefix of their own; a function sees its inputs alone, a branch and a body
 * everything around. */
#include "frontend/onnx/core/importer.h"

#include <stdlib.h>

struct SambaOnnxScope {
  const SambaOnnxScope *outer;  /* whose names are seen too, NULL: nobody's or the graph's */
  const SambaOnnxScope *caller; /* where the node stands that this is put in place of */
  bool closed;                  /* names that are not defined here are not seen */
  unsigned depth;
  const char *prefix;
  const Onnx__FunctionProto *function; /* whose operator sets hold; NULL: the model's */
  const Onnx__NodeProto *call;         /* of the function: its attributes */
  const Onnx__GraphProto *graph; /* the branch or body, which declares shapes; NULL: a function */
  const Onnx__NodeProto *node;   /* whose results the scope's are, one for one; NULL: a body */
  SambaStringMap names;          /* name -> index in globals */
  SAMBA_ARRAY(const char *) globals;
};

static void freeScope(SambaOnnxScope *scope) {
  sambaStringMapFree(&scope->names);
  sambaArrayFree(&scope->globals);
}

int64_t sambaOnnxScopeVersion(const SambaImporter *importer, const SambaOnnxScope *scope,
                              const char *domain) {
  if (scope && scope->function)
    return sambaOnnxSetVersion(scope->function->n_opset_import, scope->function->opset_import,
                               domain);
  return sambaOnnxSetVersion(importer->model->n_opset_import, importer->model->opset_import,
                             domain);
}

static void name(SambaOnnxScope *scope, const char *local, const char *global) {
  uint32_t index = (uint32_t)scope->globals.size;
  if (sambaStringMapInsert(&scope->names, sambaStringRef(local), index, &index))
    sambaArrayAppend(&scope->globals, global);
  else
    scope->globals.data[index] = global;
}

static const char *define(SambaImporter *importer, SambaOnnxScope *scope, const char *local) {
  const char *global = sambaArenaFormat(&importer->arena, "%s%s", scope->prefix, local);
  uint32_t taken;
  while (sambaStringMapGet(&importer->value_names, sambaStringRef(global), &taken))
    global = sambaArenaFormat(&importer->arena, "%s'", global);
  name(scope, local, global);
  sambaOnnxValueAt(importer, global);
  return global;
}

static const char *lookUp(SambaImporter *importer, const SambaOnnxScope *scope, const char *local) {
  for (const SambaOnnxScope *at = scope; at; at = at->outer) {
    uint32_t index;
    if (sambaStringMapGet(&at->names, sambaStringRef(local), &index))
      return at->globals.data[index];
    if (at->closed)
      return sambaArenaFormat(&importer->arena, "%s%s", at->prefix, local); /* nobody makes it */
  }
  return local;
}

/* ---- Attributes of a function ---- */

static const Onnx__AttributeProto *attributeOf(const Onnx__NodeProto *proto, const char *wanted) {
  for (size_t i = 0; i < proto->n_attribute; ++i)
    if (proto->attribute[i]->name && strcmp(proto->attribute[i]->name, wanted) == 0)
      return proto->attribute[i];
  return NULL;
}

/* Attributes that say @name take the call's attribute of that name, or are left out. */
static void bindAttributes(SambaImporter *importer, const Onnx__NodeProto *call,
                           Onnx__NodeProto *proto) {
  Onnx__AttributeProto **bound =
      SAMBA_ARENA_ARRAY(&importer->arena, Onnx__AttributeProto *, proto->n_attribute);
  size_t count = 0;

  for (size_t i = 0; i < proto->n_attribute; ++i) {
    bound[count] = proto->attribute[i];
    const char *reference = bound[count]->ref_attr_name;
    if (!reference || !*reference) {
      ++count;
      continue;
    }
    const Onnx__AttributeProto *given = attributeOf(call, reference);
    if (!given)
      continue;
    bound[count] = sambaArenaCopy(&importer->arena, given, sizeof *given);
    bound[count++]->name = proto->attribute[i]->name;
  }

  proto->attribute = bound;
  proto->n_attribute = count;
}

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
    if (length == field->len - at && otherwise->name && !attributeOf(call, otherwise->name))
      proto->attribute[proto->n_attribute++] = otherwise;
  }

  return proto;
}

/* ---- Nodes ---- */

/* What the model writes down about a value inside: where it is declared there, or as the node's
 * result. */
static const Onnx__ValueInfoProto *declaredInside(SambaImporter *importer,
                                                  const SambaOnnxScope *scope, const char *local) {
  const Onnx__GraphProto *graph = scope->graph;
  size_t count = graph ? graph->n_output : scope->function ? scope->function->n_output : 0;

  for (size_t i = 0; i < count; ++i) {
    const char *result = graph ? graph->output[i]->name : scope->function->output[i];
    if (!result || strcmp(result, local) != 0)
      continue;
    uint32_t rank;
    int64_t dims[SAMBA_MAX_RANK];
    if (graph && sambaOnnxStaticShape(graph->output[i], &rank, dims))
      return graph->output[i];
    return scope->node && i < scope->node->n_output
               ? sambaOnnxValueAt(importer, scope->node->output[i])->declared
               : NULL;
  }

  for (size_t i = 0; graph && i < graph->n_value_info; ++i)
    if (graph->value_info[i]->name && strcmp(graph->value_info[i]->name, local) == 0)
      return graph->value_info[i];
  return NULL;
}

static SambaStatus importNodes(SambaImporter *importer, SambaOnnxScope *scope, size_t count,
                               Onnx__NodeProto *const *nodes) {
  enum { MOST_NODES = 1 << 17 };
  for (size_t i = 0; i < count; ++i) {
    if (++importer->inlined > MOST_NODES)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "functions, branches and loops have more than %d nodes", MOST_NODES);
    Onnx__NodeProto *proto = sambaArenaCopy(&importer->arena, nodes[i], sizeof *nodes[i]);
    proto->input = SAMBA_ARENA_ARRAY(&importer->arena, char *, proto->n_input);
    proto->output = SAMBA_ARENA_ARRAY(&importer->arena, char *, proto->n_output);
    for (size_t k = 0; k < proto->n_input; ++k) {
      const char *local = nodes[i]->input[k];
      proto->input[k] = (char *)(uintptr_t)(local && *local ? lookUp(importer, scope, local) : "");
      if (*proto->input[k])
        sambaOnnxValueAt(importer, proto->input[k]);
    }
    for (size_t k = 0; k < proto->n_output; ++k) {
      const char *local = nodes[i]->output[k];
      proto->output[k] = (char *)(uintptr_t)(local && *local ? define(importer, scope, local) : "");
      if (*proto->output[k]) {
        const Onnx__ValueInfoProto *declared = declaredInside(importer, scope, local);
        sambaOnnxValueAt(importer, proto->output[k])->declared = declared;
      }
    }
    proto->name = (char *)(uintptr_t)sambaArenaFormat(&importer->arena, "%s%s", scope->prefix,
                                                      proto->name ? proto->name : "");
    if (scope->call)
      bindAttributes(importer, scope->call, proto);
    SAMBA_RETURN_IF_ERROR(sambaOnnxImportNode(importer, proto, (uint32_t)i, scope));
  }

  return NULL;
}

static SambaStatus enter(const SambaOnnxNode *node, SambaOnnxScope *out_scope) {
  enum { MOST_DEPTH = 64 };
  unsigned depth = node->scope ? node->scope->depth + 1 : 1;
  const char *own =
      node->proto->name && *node->proto->name ? node->proto->name : node->proto->op_type;
  const char *outer = node->scope ? node->scope->prefix : "";
  size_t common = strncmp(own, outer, strlen(outer)) == 0
                      ? strlen(outer)
                      : 0; /* names inside have the prefix already */
  *out_scope = (SambaOnnxScope){.caller = node->scope,
                                .depth = depth,
                                .prefix = sambaArenaFormat(&node->importer->arena, "%s%s#%u/",
                                                           outer, own + common, node->index)};
  return depth <= MOST_DEPTH
             ? NULL
             : sambaStatusMake(SAMBA_UNSUPPORTED,
                               "functions and branches are nested deeper than %d levels",
                               MOST_DEPTH);
}

/* The node's output is what the scope knows as `local`. */
static SambaStatus setOutput(const SambaOnnxNode *node, uint32_t output,
                             const SambaOnnxScope *scope, const char *local) {
  if (!sambaOnnxOutputUsed(node, output))
    return NULL;
  uint32_t index;
  const char *global = lookUp(node->importer, scope, local ? local : "");
  if (!sambaStringMapGet(&node->importer->value_names, sambaStringRef(global), &index) ||
      !node->importer->values.data[index].defined)
    return sambaStatusMake(SAMBA_INVALID, "output %s is made by no node inside",
                           sambaOnnxShown(node->importer, local));
  SambaOnnxNode inside = *node;
  inside.input_count = 1;
  inside.inputs = &index;
  return sambaOnnxSetSame(&inside, output, 0);
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
  SambaStatus status = enter(node, &scope);

  scope.closed = true;
  scope.function = function;
  scope.node = node->proto;
  if (!status && node->input_count > function->n_input)
    status = sambaStatusMake(SAMBA_INVALID, "has %u inputs, but the function takes %zu",
                             node->input_count, function->n_input);
  for (size_t i = 0; !status && i < function->n_input;
       ++i) /* one that is left out stays without a name */
    name(&scope, function->input[i],
         sambaOnnxHasInput(node, (uint32_t)i) ? node->proto->input[i] : "");
  if (!status) {
    scope.call = withDefaults(importer, node->proto, function);
    status = importNodes(importer, &scope, function->n_node, function->node);
  }

  for (uint32_t i = 0; !status && i < node->output_count; ++i)
    status = i < function->n_output
                 ? setOutput(node, i, &scope, function->output[i])
                 : sambaStatusMake(SAMBA_INVALID, "has %u outputs, but the function makes %zu",
                                   node->output_count, function->n_output);
  freeScope(&scope);

  return status;
}

/* A condition that is known: the branch in place of the node. */
SambaStatus sambaOnnxImportIf(const SambaOnnxNode *node) {
  SambaImporter *importer = node->importer;
  const SambaConstant *condition = sambaOnnxConstant(node, 0);

  if (!condition || condition->is_float || condition->count != 1)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "an If whose condition is not known at compile time is not supported; if it comes from a "
        "graph input, use --bind NAME=FILE");
  const char *wanted = condition->data[0].i ? "then_branch" : "else_branch";
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, wanted);
  const Onnx__GraphProto *branch = attribute ? attribute->g : NULL;
  if (!branch)
    return sambaStatusMake(SAMBA_INVALID, "attribute '%s' is missing", wanted);
  SambaOnnxScope scope;
  SambaStatus status = enter(node, &scope);
  scope.outer = node->scope;
  scope.graph = branch;
  scope.node = node->proto;
  scope.function = node->scope ? node->scope->function : NULL;
  scope.call = node->scope ? node->scope->call : NULL;

  for (size_t i = 0; !status && i < branch->n_initializer; ++i) {
    const char *local = branch->initializer[i]->name ? branch->initializer[i]->name : "";
    status = sambaOnnxDeclareInitializer(importer, define(importer, &scope, local),
                                         branch->initializer[i]);
  }

  if (!status)
    status = importNodes(importer, &scope, branch->n_node, branch->node);
  for (uint32_t i = 0; !status && i < node->output_count; ++i)
    status = i < branch->n_output
                 ? setOutput(node, i, &scope, branch->output[i]->name)
                 : sambaStatusMake(SAMBA_INVALID, "has %u outputs, but the branch makes %zu",
                                   node->output_count, branch->n_output);
  freeScope(&scope);

  return status;
}

/* ---- Loops ---- */

enum { MOST_TRIPS = 1024 };

/* The value of a name of the scope. */
static SambaOnnxValue *valueOf(SambaImporter *importer, const SambaOnnxScope *scope,
                               const char *local) {
  return sambaOnnxValueAt(importer, lookUp(importer, scope, local ? local : ""));
}

/* What every trip made, one after the other along a new first dimension. */
static SambaStatus setScanned(const SambaOnnxNode *node, uint32_t output,
                              const Onnx__ValueInfoProto *declared, uint32_t count,
                              const uint32_t *values) {
  SambaOnnxNode inside = *node;
  SambaTensor **parts = SAMBA_ARENA_ARRAY(&node->importer->arena, SambaTensor *, count);

  inside.input_count = count;
  inside.inputs = values;
  if (!sambaOnnxOutputUsed(node, output))
    return NULL;
  uint32_t rank;
  int64_t each[SAMBA_MAX_RANK + 1] = {count};
  const SambaConstant *first = count ? sambaOnnxConstant(&inside, 0) : NULL;
  if (!count && !sambaOnnxStaticShape(declared, &rank, each + 1))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "output %u has no elements: the loop makes no trip, and its body does "
                           "not declare the shape",
                           output);
  if (first)
    memcpy(each + 1, first->dims, (rank = first->rank) * sizeof *each);
  if ((!count || (first && first->count == 0)) && rank < SAMBA_MAX_RANK)
    return sambaOnnxSetEmpty(node, output,
                             first ? first->onnx_type : declared->type->tensor_type->elem_type,
                             rank + 1, each);

  for (uint32_t i = 0; i < count; ++i) {
    int64_t dims[SAMBA_MAX_RANK + 1] = {1};
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(&inside, i, &parts[i]));
    memcpy(dims + 1, parts[i]->type.dims, parts[i]->type.rank * sizeof *dims);
    parts[i] = sambaReshape(parts[i], parts[i]->type.rank + 1, dims);
  }

  return sambaOnnxSetTensor(node, output, sambaCat(count, parts, 0));
}

/* One trip: carried are the names of the values that go in, then of those that come out. */
static SambaStatus trip(const SambaOnnxNode *node, const Onnx__GraphProto *body, int64_t number,
                        size_t carried_count, const char **carried, uint32_t *scanned,
                        bool *out_again) {
  enum { INT64 = 7, BOOL = 9 };
  SambaImporter *importer = node->importer;
  SambaOnnxScope scope;
  SambaStatus status = enter(node, &scope);

  scope.prefix = sambaArenaFormat(&importer->arena, "%s%lld/", scope.prefix, (long long)number);
  scope.outer = node->scope;
  scope.graph = body;
  scope.function = node->scope ? node->scope->function : NULL;
  scope.call = node->scope ? node->scope->call : NULL;
  for (size_t i = 0; i < 2; ++i) { /* the trip's number and the condition */
    SambaConstant *constant = sambaConstantNew(&importer->arena, i ? BOOL : INT64, 0, NULL);
    constant->data[0].i = i ? 1 : number;
    SambaOnnxValue *value =
        sambaOnnxValueAt(importer, define(importer, &scope, body->input[i]->name));
    value->constant = constant;
    value->defined = true;
  }

  for (size_t i = 0; i < carried_count; ++i)
    name(&scope, body->input[2 + i]->name, carried[i]);
  for (size_t i = 0; !status && i < body->n_initializer; ++i)
    status = sambaOnnxDeclareInitializer(
        importer, define(importer, &scope, body->initializer[i]->name), body->initializer[i]);
  if (!status)
    status = importNodes(importer, &scope, body->n_node, body->node);

  for (size_t i = 0; !status && i < body->n_output; ++i) {
    const char *local = body->output[i]->name;
    if (!valueOf(importer, &scope, local)->defined)
      status = sambaStatusMake(SAMBA_INVALID, "output %s is made by no node inside",
                               sambaOnnxShown(importer, local));
    else if (i > 0 && i <= carried_count)
      carried[i - 1] = lookUp(importer, &scope, local);
    else if (i > 0)
      sambaStringMapGet(&importer->value_names, sambaStringRef(lookUp(importer, &scope, local)),
                        &scanned[i - 1 - carried_count]);
  }

  if (!status) {
    const SambaConstant *again = valueOf(importer, &scope, body->output[0]->name)->constant;
    *out_again = again && again->count == 1 && again->data[0].i;
    if (!again)
      status = sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "a Loop whose condition depends on data is not supported; its trips must be known at "
          "compile time");
  }

  freeScope(&scope);
  return status;
}

/* A loop of which everything is known: its trips one after the other. */
SambaStatus sambaOnnxImportLoop(const SambaOnnxNode *node) {
  const SambaConstant *most = sambaOnnxConstant(node, 0);
  const SambaConstant *condition = sambaOnnxConstant(node, 1);
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, "body");
  const Onnx__GraphProto *body = attribute ? attribute->g : NULL;
  size_t carried_count = node->input_count > 2 ? node->input_count - 2 : 0;

  if ((sambaOnnxHasInput(node, 0) && !most) || (sambaOnnxHasInput(node, 1) && !condition))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "a Loop whose trip count or condition is not known at compile time is not supported; if it "
        "comes from a graph input, use --bind NAME=FILE");
  bool fits = body && body->n_input == 2 + carried_count && body->n_output > carried_count &&
              node->output_count < body->n_output;
  for (size_t i = 0; fits && i < body->n_input; ++i)
    fits = body->input[i]->name != NULL && (i < 2 || sambaOnnxHasInput(node, (uint32_t)i));
  if (!fits)
    return sambaStatusMake(SAMBA_INVALID,
                           "attribute 'body' does not fit to %u inputs and %u outputs",
                           node->input_count, node->output_count);
  int64_t trips = most && most->count == 1 ? most->data[0].i : INT64_MAX;
  int64_t made = 0;
  bool again = !condition || condition->data[0].i;
  size_t scanCount = body->n_output - 1 - carried_count;
  const char **carried = SAMBA_ARENA_ARRAY(&node->importer->arena, const char *, carried_count + 1);
  uint32_t *scanned =
      SAMBA_ARENA_ARRAY(&node->importer->arena, uint32_t, scanCount *MOST_TRIPS + 1);
  uint32_t *column = SAMBA_ARENA_ARRAY(&node->importer->arena, uint32_t, MOST_TRIPS);
  for (size_t i = 0; i < carried_count; ++i)
    carried[i] = node->proto->input[2 + i];

  for (; made < trips && again; ++made) {
    if (made == MOST_TRIPS)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a Loop of more than %d trips is not supported",
                             MOST_TRIPS);
    SAMBA_RETURN_IF_ERROR(
        trip(node, body, made, carried_count, carried, &scanned[(size_t)made * scanCount], &again));
  }

  SambaOnnxScope none = {0};
  for (uint32_t i = 0; i < node->output_count; ++i) {
    for (int64_t t = 0; i >= carried_count && t < made; ++t)
      column[t] = scanned[(size_t)t * scanCount + i - carried_count];
    SAMBA_RETURN_IF_ERROR(i < carried_count
                              ? setOutput(node, i, &none, carried[i])
                              : setScanned(node, i, body->output[1 + i], (uint32_t)made, column));
  }

  return NULL;
}
