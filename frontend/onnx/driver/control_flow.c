/* Branches of If and bodies of Loop whose conditions are known: their nodes take the place of the
 * node. */
#include "frontend/onnx/driver/inline.h"
#include "frontend/onnx/driver/scope.h"

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
  SambaStatus status = sambaScopeEnter(node, &scope);
  scope.outer = node->scope;
  scope.graph = branch;
  scope.node = node->proto;
  scope.function = node->scope ? node->scope->function : NULL;
  scope.call = node->scope ? node->scope->call : NULL;

  for (size_t i = 0; !status && i < branch->n_initializer; ++i) {
    const char *local = branch->initializer[i]->name ? branch->initializer[i]->name : "";
    status = sambaOnnxDeclareInitializer(importer, sambaScopeDefine(importer, &scope, local),
                                         branch->initializer[i]);
  }

  if (!status)
    status = sambaScopeImportNodes(importer, &scope, branch->n_node, branch->node);
  for (uint32_t i = 0; !status && i < node->output_count; ++i)
    status = i < branch->n_output
                 ? sambaScopeSetOutput(node, i, &scope, branch->output[i]->name)
                 : sambaStatusMake(SAMBA_INVALID, "has %u outputs, but the branch makes %zu",
                                   node->output_count, branch->n_output);
  sambaScopeFree(&scope);

  return status;
}

/* ---- Loops ---- */

enum { MOST_TRIPS = 1024 };

/* The value of a name of the scope. */
static SambaOnnxValue *valueOf(SambaImporter *importer, const SambaOnnxScope *scope,
                               const char *local) {
  return sambaOnnxValueAt(importer, sambaScopeLookUp(importer, scope, local ? local : ""));
}

/* What every trip made, one after the other along a new first dimension. */
static SambaStatus setScanned(const SambaOnnxNode *node, uint32_t output,
                              const Onnx__ValueInfoProto *declared, uint32_t count,
                              const uint32_t *values) {
  SambaOnnxNode inside = *node;
  SambaTraceValue **parts = SAMBA_ARENA_ARRAY(node->arena, SambaTraceValue *, count);

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

/* Whether a body declares its input as [1]: a number of rank 0 otherwise. */
static bool isListOfOne(const Onnx__ValueInfoProto *input) {
  const Onnx__TypeProto *type = input->type;
  bool shaped =
      type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && type->tensor_type->shape;
  return shaped && type->tensor_type->shape->n_dim == 1;
}

/* One trip: carried are the names of the values that go in, then of those that come out. */
static SambaStatus trip(const SambaOnnxNode *node, const Onnx__GraphProto *body, int64_t number,
                        size_t carried_count, const char **carried, uint32_t *scanned,
                        bool *out_again) {
  SambaImporter *importer = node->importer;
  SambaOnnxScope scope;
  SambaStatus status = sambaScopeEnter(node, &scope);

  scope.prefix = sambaArenaFormat(&importer->arena, "%s%lld/", scope.prefix, (long long)number);
  scope.outer = node->scope;
  scope.graph = body;
  scope.function = node->scope ? node->scope->function : NULL;
  scope.call = node->scope ? node->scope->call : NULL;
  for (size_t i = 0; i < 2; ++i) { /* the trip's number and the condition */
    SambaConstant *constant =
        sambaConstantNew(&importer->arena, i ? SAMBA_ONNX_BOOL : SAMBA_ONNX_INT64,
                         isListOfOne(body->input[i]), (int64_t[]){1});
    constant->data[0].i = i ? 1 : number;
    SambaOnnxValue *value =
        sambaOnnxValueAt(importer, sambaScopeDefine(importer, &scope, body->input[i]->name));
    value->constant = constant;
    value->defined = true;
  }

  for (size_t i = 0; i < carried_count; ++i)
    sambaScopeName(&scope, body->input[2 + i]->name, carried[i]);
  for (size_t i = 0; !status && i < body->n_initializer; ++i)
    status = sambaOnnxDeclareInitializer(
        importer, sambaScopeDefine(importer, &scope, body->initializer[i]->name),
        body->initializer[i]);
  if (!status)
    status = sambaScopeImportNodes(importer, &scope, body->n_node, body->node);

  for (size_t i = 0; !status && i < body->n_output; ++i) {
    const char *local = body->output[i]->name;
    if (!valueOf(importer, &scope, local)->defined)
      status = sambaStatusMake(SAMBA_INVALID, "output %s is made by no node inside",
                               sambaOnnxShown(importer, local));
    else if (i > 0 && i <= carried_count)
      carried[i - 1] = sambaScopeLookUp(importer, &scope, local);
    else if (i > 0)
      sambaStringMapGet(&importer->value_names,
                        sambaStringRef(sambaScopeLookUp(importer, &scope, local)),
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

  sambaScopeFree(&scope);
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
                           "attribute 'body' does not fit the node's %u inputs and %u outputs",
                           node->input_count, node->output_count);
  int64_t trips = most && most->count == 1 ? most->data[0].i : INT64_MAX;
  int64_t made = 0;
  bool again = !condition || condition->data[0].i;
  size_t scan_count = body->n_output - 1 - carried_count;
  const char **carried = SAMBA_ARENA_ARRAY(node->arena, const char *, carried_count + 1);
  uint32_t *scanned = SAMBA_ARENA_ARRAY(node->arena, uint32_t, scan_count *MOST_TRIPS + 1);
  uint32_t *column = SAMBA_ARENA_ARRAY(node->arena, uint32_t, MOST_TRIPS);
  for (size_t i = 0; i < carried_count; ++i)
    carried[i] = node->proto->input[2 + i];

  for (; made < trips && again; ++made) {
    if (made == MOST_TRIPS)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a Loop of more than %d trips is not supported",
                             MOST_TRIPS);
    SAMBA_RETURN_IF_ERROR(trip(node, body, made, carried_count, carried,
                               &scanned[(size_t)made * scan_count], &again));
  }

  SambaOnnxScope none = {0};
  for (uint32_t i = 0; i < node->output_count; ++i) {
    for (int64_t t = 0; i >= carried_count && t < made; ++t)
      column[t] = scanned[(size_t)t * scan_count + i - carried_count];
    SAMBA_RETURN_IF_ERROR(i < carried_count
                              ? sambaScopeSetOutput(node, i, &none, carried[i])
                              : setScanned(node, i, body->output[1 + i], (uint32_t)made, column));
  }

  return NULL;
}
