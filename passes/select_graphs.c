/* samba-select-graphs: which functions of a module are graphs. Calls become the bodies of what they
 * call, and the other functions go.
 *
 * Upstream's inliner leaves a call as it is, without a word, where a dialect of the callee has no
 * inliner interface or where a function calls itself. A chip has no calls, so here each call is
 * inlined, or the first one that cannot be is an error. */
#include "passes/passes.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/base/memory.h"
#include "support/text/text.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

/* A function of the module, and what has become of it. */
typedef struct Function {
  MlirOperation operation;
  SambaStringRef name;
  bool is_private, is_graph;
  bool is_open; /* its calls are being inlined: whoever calls it now makes a circle */
  bool is_done; /* it has no calls any more */
} Function;

typedef struct Selection {
  MlirOperation module;
  SAMBA_ARRAY(Function) functions;
} Selection;

static SambaStringRef textAttribute(MlirOperation operation, const char *name) {
  MlirAttribute attribute = sambaOperationAttribute(operation, name);
  return mlirAttributeIsNull(attribute) ? (SambaStringRef){"", 0}
                                        : sambaFromMlir(mlirStringAttrGetValue(attribute));
}

static void findFunctions(Selection *selection) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(selection->module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIs(operation, "func.func"))
      continue;
    Function function = {
        .operation = operation,
        .name = textAttribute(operation, "sym_name"),
        .is_private = sambaStringRefEqualC(textAttribute(operation, "sym_visibility"), "private")};
    sambaArrayAppend(&selection->functions, function);
  }
}

static Function *findFunction(Selection *selection, SambaStringRef name) {
  for (size_t f = 0; f < selection->functions.size; ++f)
    if (sambaStringRefEqual(selection->functions.data[f].name, name))
      return &selection->functions.data[f];
  return NULL;
}

/* "@a, @b": the functions that entry can name. */
static void listFunctions(const Selection *selection, SambaText *out_names) {
  for (size_t f = 0; f < selection->functions.size; ++f) {
    const Function *function = &selection->functions.data[f];
    if (sambaOperationIsGraph(function->operation))
      sambaTextFormat(out_names, "%s@%.*s", out_names->size ? ", " : "",
                      SAMBA_STRING_ARGS(function->name));
  }
}

static SambaStatus refuseChoice(const Selection *selection, const char *entry) {
  SambaText names = {0};
  listFunctions(selection, &names);
  SambaStatus status =
      entry[0] ? sambaStatusMake(SAMBA_INVALID, "has no function @%s with a body; entry can be %s",
                                 entry, sambaTextGet(&names))
               : sambaStatusMake(SAMBA_INVALID,
                                 "has no public function; name the one to compile as entry: %s",
                                 sambaTextGet(&names));
  sambaTextFree(&names);
  return status;
}

/* The function of that name; without a name every public one, or else the only one. */
static SambaStatus chooseGraphs(Selection *selection, const char *entry) {
  size_t graphs = 0, bodies = 0;
  Function *any = NULL;
  for (size_t f = 0; f < selection->functions.size; ++f) {
    Function *function = &selection->functions.data[f];
    if (!sambaOperationIsGraph(function->operation))
      continue;
    any = function;
    function->is_graph =
        entry[0] ? sambaStringRefEqualC(function->name, entry) : !function->is_private;
    graphs += function->is_graph;
    ++bodies;
  }

  if (!entry[0] && !graphs && bodies == 1)
    any->is_graph = true;
  else if (bodies && !graphs)
    return refuseChoice(selection, entry);
  return NULL;
}

/* The callee's body in place of the call. The callee has no calls, and one block. */
static void inlineCall(MlirOperation call, MlirOperation callee) {
  MlirBlock block = mlirOperationGetBlock(call);
  MlirOperation copy = mlirOperationClone(callee);
  MlirBlock body = sambaBodyOf(copy);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetOperand(call, i));

  MlirOperation operation = mlirBlockGetFirstOperation(body);
  MlirOperation last = mlirBlockGetTerminator(body);
  while (!mlirOperationEqual(operation, last)) {
    MlirOperation next = mlirOperationGetNextInBlock(operation);
    mlirOperationRemoveFromParent(operation);
    mlirBlockInsertOwnedOperationBefore(block, call, operation);
    operation = next;
  }

  for (intptr_t i = 0; i < mlirOperationGetNumResults(call); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, i),
                                  mlirOperationGetOperand(last, i));
  mlirOperationDestroy(call);
  mlirOperationDestroy(copy);
}

static bool inlineCalls(Selection *selection, Function *function);

static bool inlineOneCall(Selection *selection, MlirOperation call) {
  MlirAttribute symbol = sambaOperationAttribute(call, "callee");
  SambaStringRef name = sambaFromMlir(mlirFlatSymbolRefAttrGetValue(symbol));
  Function *callee = findFunction(selection, name);
  if (!callee || !sambaOperationIsGraph(callee->operation))
    return sambaEmitOpError(call,
                            "calls @%.*s, which has no body; a graph is compiled as a whole, so "
                            "everything that it calls must be in the module",
                            SAMBA_STRING_ARGS(name));
  if (callee->is_open)
    return sambaEmitOpError(call,
                            "calls @%.*s, which is in the middle of this call: recursion; a chip "
                            "has no stack, so unroll it",
                            SAMBA_STRING_ARGS(name));
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(sambaBodyOf(callee->operation))))
    return sambaEmitOpError(call,
                            "calls @%.*s, which has several blocks, but a graph is one block "
                            "without control flow",
                            SAMBA_STRING_ARGS(name));
  if (!inlineCalls(selection, callee))
    return false;
  inlineCall(call, callee->operation);
  return true;
}

static bool inlineCalls(Selection *selection, Function *function) {
  if (function->is_done)
    return true;
  function->is_open = true;
  MlirBlock body = sambaBodyOf(function->operation);
  for (MlirOperation operation = mlirBlockGetFirstOperation(body), next;
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "func.call") && !inlineOneCall(selection, operation))
      return false;
  }
  function->is_open = false;
  return function->is_done = true;
}

/* What is no graph goes. A graph that was private is public now. */
static void keepGraphs(Selection *selection, bool chosen) {
  for (size_t f = 0; f < selection->functions.size; ++f) {
    Function *function = &selection->functions.data[f];
    if (!function->is_graph)
      mlirOperationDestroy(function->operation);
    else if (function->is_private)
      mlirOperationRemoveAttributeByName(function->operation, sambaMlirString("sym_visibility"));
  }
  if (chosen)
    mlirOperationRemoveAttributeByName(selection->module, sambaMlirString(SAMBA_GRAPHS_ATTRIBUTE));
}

bool sambaSelectGraphs(MlirOperation module, const char *entry) {
  Selection selection = {.module = module};
  findFunctions(&selection);
  SambaStatus status = chooseGraphs(&selection, entry);
  bool is_good = !status || sambaEmitOpStatus(module, status);
  for (size_t f = 0; is_good && f < selection.functions.size; ++f)
    if (selection.functions.data[f].is_graph)
      is_good = inlineCalls(&selection, &selection.functions.data[f]);

  if (is_good)
    keepGraphs(&selection, entry[0] != '\0');
  sambaArrayFree(&selection.functions);
  return is_good;
}
