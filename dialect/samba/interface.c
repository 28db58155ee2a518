/* Arguments and results of a graph; see interface.h. */
#include "dialect/samba/interface.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>

/* The dictionary of one argument or result; an empty one when the function has none. */
static MlirAttribute dictionaryAt(MlirOperation function, const char *list, intptr_t index) {
  MlirAttribute all = sambaOperationAttribute(function, list);
  return mlirAttributeIsNull(all)
             ? mlirDictionaryAttrGet(mlirOperationGetContext(function), 0, NULL)
             : mlirArrayAttrGetElement(all, index);
}

void sambaInterfaceRead(MlirOperation function, SambaInterface *out_interface) {
  MlirBlock body = sambaBodyOf(function);
  MlirOperation terminator = mlirBlockGetTerminator(body);
  out_interface->function = function;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    sambaArrayAppend(&out_interface->arguments, dictionaryAt(function, "arg_attrs", i));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(terminator); ++i) {
    sambaArrayAppend(&out_interface->results, dictionaryAt(function, "res_attrs", i));
    sambaArrayAppend(&out_interface->returned, mlirOperationGetOperand(terminator, i));
  }
}

void sambaInterfaceFree(SambaInterface *interface) {
  sambaArrayFree(&interface->arguments);
  sambaArrayFree(&interface->results);
  sambaArrayFree(&interface->returned);
}

static void writeList(MlirOperation function, const char *list, size_t count,
                      const MlirAttribute *dictionaries) {
  MlirContext context = mlirOperationGetContext(function);
  mlirOperationSetAttributeByName(function, sambaMlirString(list),
                                  mlirArrayAttrGet(context, (intptr_t)count, dictionaries));
}

void sambaInterfaceWrite(const SambaInterface *interface) {
  MlirOperation function = interface->function;
  MlirContext context = mlirOperationGetContext(function);
  MlirBlock body = sambaBodyOf(function);
  size_t inputs = interface->arguments.size;
  size_t outputs = interface->results.size;
  MlirType *types = sambaAllocate(sambaArraySize(inputs + outputs + 1, sizeof *types));

  for (size_t i = 0; i < inputs; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(body, (intptr_t)i));
  for (size_t i = 0; i < outputs; ++i)
    types[inputs + i] = mlirValueGetType(interface->returned.data[i]);
  MlirType type =
      mlirFunctionTypeGet(context, (intptr_t)inputs, types, (intptr_t)outputs, types + inputs);
  mlirOperationSetAttributeByName(function, sambaMlirString("function_type"),
                                  mlirTypeAttrGet(type));
  free(types);
  writeList(function, "arg_attrs", inputs, interface->arguments.data);
  writeList(function, "res_attrs", outputs, interface->results.data);

  MlirOperation terminator = mlirBlockGetTerminator(body);
  SambaOperationParts parts = {.name = "func.return",
                               .location = mlirOperationGetLocation(terminator),
                               .operand_count = (intptr_t)outputs,
                               .operands = interface->returned.data};
  mlirOperationDestroy(terminator);
  sambaBuildOperationIn(body, (MlirOperation){NULL}, &parts);
}

MlirValue sambaInterfaceAddArgument(SambaInterface *interface, MlirType type, intptr_t count,
                                    const MlirNamedAttribute *attributes) {
  MlirContext context = mlirOperationGetContext(interface->function);
  sambaArrayAppend(&interface->arguments, mlirDictionaryAttrGet(context, count, attributes));
  return mlirBlockAddArgument(sambaBodyOf(interface->function), type,
                              mlirOperationGetLocation(interface->function));
}

void sambaInterfaceAddResult(SambaInterface *interface, MlirValue value, intptr_t count,
                             const MlirNamedAttribute *attributes) {
  MlirContext context = mlirOperationGetContext(interface->function);
  sambaArrayAppend(&interface->results, mlirDictionaryAttrGet(context, count, attributes));
  sambaArrayAppend(&interface->returned, value);
}

void sambaInterfaceSet(MlirAttribute *dictionary, const char *name, MlirAttribute value) {
  MlirContext context = mlirAttributeGetContext(*dictionary);
  intptr_t count = mlirDictionaryAttrGetNumElements(*dictionary), kept = 0;
  MlirNamedAttribute *entries = sambaAllocate(sambaArraySize((size_t)count + 1, sizeof *entries));
  for (intptr_t i = 0; i < count; ++i) {
    entries[kept] = mlirDictionaryAttrGetElement(*dictionary, i);
    kept += !mlirStringRefEqual(mlirIdentifierStr(entries[kept].name), sambaMlirString(name));
  }
  entries[kept++] = sambaNamedAttribute(context, name, value);
  *dictionary = mlirDictionaryAttrGet(context, kept, entries);
  free(entries);
}

SambaStringRef sambaInterfaceText(MlirAttribute dictionary, const char *name) {
  MlirAttribute value = sambaDictionaryFind(dictionary, name);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAString(value))
    return (SambaStringRef){"", 0};
  return sambaFromMlir(mlirStringAttrGetValue(value));
}

bool sambaGraphIsTraining(MlirOperation function) {
  MlirAttribute graph = sambaOperationAttribute(function, SAMBA_GRAPH_ATTRIBUTE);
  return !mlirAttributeIsNull(graph) &&
         sambaStringRefEqualC(sambaInterfaceText(graph, "mode"), "training");
}
