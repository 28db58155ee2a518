/* Names inside functions, branches and bodies, and importing their nodes; see scope.h. */
#include "frontend/onnx/driver/scope.h"

#include <stdlib.h>

/* The version of a domain's operator set among those imported, 1 when it is not there. */
static int64_t setVersion(size_t set_count, Onnx__OperatorSetIdProto *const *sets,
                          const char *domain) {
  int64_t version = 0;
  for (size_t i = 0; i < set_count; ++i) {
    const char *name =
        !sets[i]->domain || strcmp(sets[i]->domain, "ai.onnx") == 0 ? "" : sets[i]->domain;
    if (strcmp(name, domain) == 0)
      version = sets[i]->version;
  }
  return version ? version : 1;
}

void sambaScopeFree(SambaOnnxScope *scope) {
  sambaStringMapFree(&scope->names);
  sambaArrayFree(&scope->globals);
}

int64_t sambaOnnxScopeVersion(const SambaImporter *importer, const SambaOnnxScope *scope,
                              const char *domain) {
  if (scope && scope->function)
    return setVersion(scope->function->n_opset_import, scope->function->opset_import, domain);
  return setVersion(importer->model->n_opset_import, importer->model->opset_import, domain);
}

void sambaScopeName(SambaOnnxScope *scope, const char *local, const char *global) {
  uint32_t index = (uint32_t)scope->globals.size;
  if (sambaStringMapInsert(&scope->names, sambaStringRef(local), index, &index))
    sambaArrayAppend(&scope->globals, global);
  else
    scope->globals.data[index] = global;
}

const char *sambaScopeDefine(SambaImporter *importer, SambaOnnxScope *scope, const char *local) {
  const char *global = sambaArenaFormat(&importer->arena, "%s%s", scope->prefix, local);
  uint32_t taken;
  while (sambaStringMapGet(&importer->value_names, sambaStringRef(global), &taken))
    global = sambaArenaFormat(&importer->arena, "%s'", global);
  sambaScopeName(scope, local, global);
  sambaOnnxValueAt(importer, global);
  return global;
}

const char *sambaScopeLookUp(SambaImporter *importer, const SambaOnnxScope *scope,
                             const char *local) {
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

const Onnx__AttributeProto *sambaAttributeNamed(const Onnx__NodeProto *proto, const char *wanted) {
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
    const Onnx__AttributeProto *given = sambaAttributeNamed(call, reference);
    if (!given)
      continue;
    bound[count] = sambaArenaCopy(&importer->arena, given, sizeof *given);
    bound[count++]->name = proto->attribute[i]->name;
  }

  proto->attribute = bound;
  proto->n_attribute = count;
}

/* ---- Nodes ---- */

/* What the model writes down about a value inside: where it is declared there, or as the node's
 * result. */
static const Onnx__ValueInfoProto *declaredInside(SambaImporter *importer,
                                                  const SambaOnnxScope *scope, const char *local) {
  const Onnx__GraphProto *graph = scope->graph;
  size_t count = 0;
  if (graph)
    count = graph->n_output;
  else if (scope->function)
    count = scope->function->n_output;

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

SambaStatus sambaScopeImportNodes(SambaImporter *importer, SambaOnnxScope *scope, size_t count,
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
      proto->input[k] =
          (char *)(uintptr_t)(local && *local ? sambaScopeLookUp(importer, scope, local) : "");
      if (*proto->input[k])
        sambaOnnxValueAt(importer, proto->input[k]);
    }
    for (size_t k = 0; k < proto->n_output; ++k) {
      const char *local = nodes[i]->output[k];
      proto->output[k] =
          (char *)(uintptr_t)(local && *local ? sambaScopeDefine(importer, scope, local) : "");
      if (*proto->output[k]) {
        const Onnx__ValueInfoProto *declared = declaredInside(importer, scope, local);
        sambaOnnxValueAt(importer, proto->output[k])->declared = declared;
      }
    }
    proto->name = (char *)(uintptr_t)sambaArenaFormat(&importer->arena, "%s%s", scope->prefix,
                                                      proto->name ? proto->name : "");
    if (scope->call)
      bindAttributes(importer, scope->call, proto);
    SAMBA_RETURN_IF_ERROR(importer->import_node(importer, proto, (uint32_t)i, scope));
  }

  return NULL;
}

SambaStatus sambaScopeEnter(const SambaOnnxNode *node, SambaOnnxScope *out_scope) {
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
SambaStatus sambaScopeSetOutput(const SambaOnnxNode *node, uint32_t output,
                                const SambaOnnxScope *scope, const char *local) {
  if (!sambaOnnxOutputUsed(node, output))
    return NULL;
  uint32_t index;
  const char *global = sambaScopeLookUp(node->importer, scope, local ? local : "");
  if (!sambaStringMapGet(&node->importer->value_names, sambaStringRef(global), &index) ||
      !node->importer->values.data[index].defined)
    return sambaStatusMake(SAMBA_INVALID, "output %s is made by no node inside",
                           sambaOnnxShown(node->importer, local));
  SambaOnnxNode inside = *node;
  inside.input_count = 1;
  inside.inputs = &index;
  return sambaOnnxSetSame(&inside, output, 0);
}
