/* What the graph passes share; see graph.h. */
#include "dialect/samba/graph.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

MlirAttribute sambaArgumentAttribute(MlirValue value, const char *name) {
  if (!mlirValueIsABlockArgument(value))
    return mlirAttributeGetNull();
  MlirOperation owner = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  intptr_t number = mlirBlockArgumentGetArgNumber(value);
  MlirAttribute all = mlirOperationIsNull(owner) ? mlirAttributeGetNull()
                                                 : sambaOperationAttribute(owner, "arg_attrs");
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      number >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  return sambaDictionaryFind(mlirArrayAttrGetElement(all, number), name);
}

bool sambaValueIsArgin(MlirValue value) {
  MlirAttribute kind = sambaArgumentAttribute(value, SAMBA_KIND_ATTRIBUTE);
  return !mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind) &&
         sambaStringRefEqualC(sambaFromMlir(mlirStringAttrGetValue(kind)), "argin");
}

MlirBlock sambaBodyOf(MlirOperation operation) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0));
}

bool sambaOperationIsGraph(MlirOperation operation) {
  return sambaOperationIs(operation, "func.func") && !mlirBlockIsNull(sambaBodyOf(operation));
}

bool sambaGraphTrains(MlirOperation operation) {
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetParentOperation(operation)) {
    MlirAttribute graph = sambaOperationAttribute(operation, SAMBA_GRAPH_ATTRIBUTE);
    if (mlirAttributeIsNull(graph) || !mlirAttributeIsADictionary(graph))
      continue;
    MlirAttribute mode = sambaDictionaryFind(graph, "mode");
    if (!mlirAttributeIsNull(mode) && mlirAttributeIsAString(mode))
      return sambaStringRefEqualC(sambaFromMlir(mlirStringAttrGetValue(mode)), "training");
  }
  return false;
}

static bool checkType(MlirOperation function, MlirType type, const char *role, intptr_t index) {
  SambaTensorType unused;
  SambaStatus status = sambaTensorTypeFromMlir(type, &unused);
  return !status ||
         sambaEmitOpStatus(function, sambaStatusAnnotate(status, "%s %ld", role, (long)index));
}

static bool isOfGraphs(MlirOperation operation) {
  return sambaOperatorNameOf(operation).size || sambaOperationIsOperator(operation) ||
         sambaOperationIsView(operation) || sambaOperationIsSource(operation) ||
         sambaOperationIsConstant(operation);
}

static bool checkGraph(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return sambaEmitOpError(function,
                            "has several blocks, but a graph is one block without control flow");
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    if (!checkType(function, mlirValueGetType(mlirBlockGetArgument(body, i)), "argument", i))
      return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    bool is_return = sambaOperationIs(operation, "func.return");
    if (!is_return && !isOfGraphs(operation))
      return sambaEmitOpError(operation,
                              "has no place in a graph; a graph has samba operations, linalg and "
                              "tensor operations on static tensors, constants and func.return");
    for (intptr_t i = 0; is_return && i < mlirOperationGetNumOperands(operation); ++i)
      if (!checkType(function, mlirValueGetType(mlirOperationGetOperand(operation, i)), "result",
                     i))
        return false;
  }

  return true;
}

bool sambaModuleCheckGraphs(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && !checkGraph(operation))
      return false;
  return true;
}

SambaStatus sambaModuleCheckAnyGraph(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      return NULL;
  return sambaStatusMake(SAMBA_INVALID,
                         "the module has no function; a graph to compile is a func.func");
}

static SambaStringRef symbolOf(MlirOperation operation) {
  return sambaFromMlir(mlirStringAttrGetValue(sambaOperationAttribute(operation, "sym_name")));
}

static MlirOperation findGraph(MlirOperation module, SambaStringRef name) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  while (!mlirOperationIsNull(operation) &&
         !(sambaOperationIsGraph(operation) && sambaStringRefEqual(symbolOf(operation), name)))
    operation = mlirOperationGetNextInBlock(operation);
  return operation;
}

SambaStatus sambaModuleOrderGraphs(MlirOperation module) {
  MlirAttribute list = sambaOperationAttribute(module, SAMBA_GRAPHS_ATTRIBUTE);
  if (mlirAttributeIsNull(list))
    return NULL;
  intptr_t count = mlirArrayAttrGetNumElements(list), graphs = 0;
  MlirBlock body = sambaBodyOf(module);
  MlirOperation operation = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    graphs += sambaOperationIsGraph(operation);

  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute symbol = mlirArrayAttrGetElement(list, i);
    SambaStringRef name = sambaFromMlir(mlirFlatSymbolRefAttrGetValue(symbol));
    MlirOperation graph = findGraph(module, name);
    if (mlirOperationIsNull(graph))
      return sambaStatusMake(SAMBA_INVALID,
                             "samba.graphs lists @%.*s, but the module has no such "
                             "graph",
                             SAMBA_STRING_ARGS(name));
    for (intptr_t k = 0; k < i; ++k)
      if (mlirAttributeEqual(mlirArrayAttrGetElement(list, k), symbol))
        return sambaStatusMake(SAMBA_INVALID, "samba.graphs lists @%.*s twice",
                               SAMBA_STRING_ARGS(name));
  }
  if (graphs != count)
    return sambaStatusMake(SAMBA_INVALID,
                           "samba.graphs lists %ld graphs, but the module has %ld; list all of "
                           "them in order, or leave it out",
                           (long)count, (long)graphs);

  for (intptr_t i = 0; i < count; ++i) { /* one after the other to the end */
    MlirAttribute symbol = mlirArrayAttrGetElement(list, i);
    MlirOperation graph = findGraph(module, sambaFromMlir(mlirFlatSymbolRefAttrGetValue(symbol)));
    mlirOperationRemoveFromParent(graph);
    mlirBlockAppendOwnedOperation(body, graph);
  }
  return NULL;
}
