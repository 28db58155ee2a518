/* Arguments, argins and constants of a graph; see emitter.h. */
#include "lowering/pef/emitter.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"

/* Bits of a number of #samba.argin in the argin's dtype; its flag when it is given. */
static uint32_t arginNumber(MlirAttribute body, const char *name, SambaDType dtype, uint32_t flag,
                            uint64_t *out_bits) {
  MlirAttribute number = mlirDictionaryAttrGetElementByName(body, sambaMlirString(name));
  if (mlirAttributeIsNull(number))
    return 0;
  bool integer = mlirAttributeIsAInteger(number);
  double value =
      integer ? (double)mlirIntegerAttrGetValueInt(number) : mlirFloatAttrGetValueDouble(number);
  *out_bits = sambaDTypeIsFloat(dtype) ? sambaFloatToBits(dtype, (float)value)
                                       : (uint64_t)mlirIntegerAttrGetValueInt(number);
  if (dtype == SAMBA_DTYPE_I32)
    *out_bits &= UINT32_MAX;
  return flag;
}

/* A scalar that comes with each launch. */
static SambaStatus emitArgin(SambaEmitter *emitter, MlirOperation function, intptr_t index) {
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(function), index);
  MlirAttribute attribute =
      sambaFunctionAttribute(function, "arg_attrs", index, SAMBA_ARGIN_ATTRIBUTE);
  MlirAttribute body = sambaAttributeBody(attribute);
  SambaStringRef kind =
      sambaEmitText(mlirDictionaryAttrGetElementByName(body, sambaMlirString("kind")));
  SambaStringRef name =
      sambaEmitText(sambaFunctionAttribute(function, "arg_attrs", index, SAMBA_NAME_ATTRIBUTE));
  SambaTensorType type;
  SambaPefArgin argin;

  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(argument), &type));
  sambaPefArginInitialize(&argin);
  argin.name = sambaEmitName(emitter, &emitter->argin_names, name.size ? name : kind,
                             (uint32_t)emitter->argins.size);
#define X(enumerator, value, text)                                                                 \
  if (sambaStringRefEqualC(kind, text))                                                            \
    argin.kind = SAMBA_PEF_##enumerator;
  SAMBA_PEF_ARGIN_KINDS(X)
#undef X
  argin.group = sambaStringRefCopy(emitter->arena, sambaEmitText(mlirDictionaryAttrGetElementByName(
                                                       body, sambaMlirString("group"))));
  argin.dtype = type.dtype;
  argin.flags =
      arginNumber(body, "default", type.dtype, SAMBA_PEF_HAS_DEFAULT, &argin.default_value) |
      arginNumber(body, "min", type.dtype, SAMBA_PEF_HAS_MINIMUM, &argin.minimum) |
      arginNumber(body, "max", type.dtype, SAMBA_PEF_HAS_MAXIMUM, &argin.maximum);
  argin.graph = (uint32_t)emitter->graphs.size;
  argin.layer =
      sambaStringRefCopy(emitter->arena, sambaLayerOfLocation(mlirValueGetLocation(argument)));
  sambaPointerMapSet(&emitter->argin_of, argument.ptr, (uint32_t)emitter->argins.size);
  sambaArrayAppend(&emitter->argins, argin);
  return NULL;
}

/* The symbol of an earlier graph that an argument is too: same name, kind, region and type. */
static bool findShared(const SambaEmitter *emitter, MlirType type, SambaStringRef name,
                       SambaPefSymbolKind kind, SambaStringRef region, uint32_t *out_symbol) {
  SambaTensorType own;
  SambaStatus status = sambaTensorTypeFromMlir(type, &own);
  sambaStatusFree(status);
  uint32_t index, place;
  if (status || !name.size || !sambaStringMapGet(&emitter->names, name, &index) ||
      index >= emitter->graph_symbols || !sambaStringMapGet(&emitter->region_of, region, &place))
    return false;

  const SambaPefSymbol *symbol = &emitter->symbols.data[index];
  bool same = symbol->kind == kind && symbol->region == place &&
              symbol->device_dtype == own.dtype && symbol->dims_count == own.rank;
  for (uint32_t a = 0; same && a < own.rank; ++a)
    same = symbol->dims[a].size == (uint64_t)own.dims[a];
  *out_symbol = index;
  return same;
}

static SambaPefMemory memoryAsked(MlirAttribute attribute) {
  SambaPefMemory memory = SAMBA_PEF_MEMORY_ANY;
#define X(enumerator, value, name)                                                                 \
  if (sambaStringRefEqualC(sambaEmitText(attribute), name))                                        \
    memory = SAMBA_PEF_##enumerator;
  SAMBA_PEF_MEMORIES(X)
#undef X
  return memory;
}

/* Graphs that share a symbol need not all say what it holds at first. */
static SambaStatus giveData(SambaEmitter *emitter, MlirAttribute value, uint32_t symbol) {
  MlirAttribute *given = &emitter->values.data[symbol];
  if (mlirAttributeIsNull(value) || mlirAttributeEqual(*given, value))
    return NULL;
  if (!mlirAttributeIsNull(*given))
    return sambaStatusMake(SAMBA_INVALID,
                           "symbol '%.*s' has one samba.value here and another one in an earlier "
                           "graph; give it once, or let the two have different names",
                           SAMBA_STRING_ARGS(emitter->symbols.data[symbol].name));
  *given = value;
  return sambaEmitInitialData(emitter, value, &emitter->symbols.data[symbol]);
}

/* What lies in blocks among the elements of a result. */
static void layOut(SambaPefSymbol *symbol, MlirAttribute block) {
  if (mlirAttributeIsNull(block))
    return;
  uint64_t bytes = sambaDTypeBytes(symbol->device_dtype);
  symbol->layout = SAMBA_PEF_LAYOUT_BLOCKS;
  symbol->block_bytes = bytes * (uint64_t)mlirDenseI64ArrayGetElement(block, 0);
  symbol->block_step = bytes * (uint64_t)mlirDenseI64ArrayGetElement(block, 1);
}

static SambaStatus emitArgument(SambaEmitter *emitter, MlirOperation function, intptr_t i,
                                uint32_t *out_symbol) {
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(function), i);
  SambaStringRef name =
      sambaEmitText(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_NAME_ATTRIBUTE));
  SambaStringRef region = emitter->names_in_graph.of_argument.data[i];
  SambaPefSymbolKind kind = SAMBA_PEF_SYMBOL_INPUT;
  SAMBA_RETURN_IF_ERROR(sambaEmitKind(
      sambaEmitText(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_KIND_ATTRIBUTE)),
      &kind));
  MlirAttribute address = sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_ADDRESS_ATTRIBUTE);
  if (mlirAttributeIsNull(address))
    return sambaStatusMake(SAMBA_INVALID,
                           "argument %ld has no address; run samba-assign-memory first", (long)i);

  if (findShared(emitter, mlirValueGetType(argument), name, kind, region, out_symbol)) {
    sambaPointerMapSet(&emitter->symbol_of, argument.ptr, *out_symbol);
  } else {
    SAMBA_RETURN_IF_ERROR(
        sambaEmitSymbol(emitter, argument, name.size ? name : sambaStringRef("argument"), kind,
                        (uint64_t)mlirIntegerAttrGetValueInt(address), region, out_symbol));
    sambaEmitHostDType(
        &emitter->symbols.data[*out_symbol],
        sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_HOST_DTYPE_ATTRIBUTE));
    layOut(&emitter->symbols.data[*out_symbol],
           sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_BLOCK_ATTRIBUTE));
  }
  MlirAttribute trained =
      sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_REQUIRES_GRAD_ATTRIBUTE);
  if (!mlirAttributeIsNull(trained) && mlirBoolAttrGetValue(trained))
    emitter->symbols.data[*out_symbol].flags |= SAMBA_PEF_REQUIRES_GRAD;
  SambaPefMemory asked =
      memoryAsked(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_MEMORY_ATTRIBUTE));
  if (asked != SAMBA_PEF_MEMORY_ANY)
    emitter->regions.data[emitter->symbols.data[*out_symbol].region].memory_requested = asked;
  return giveData(emitter, sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_VALUE_ATTRIBUTE),
                  *out_symbol);
}

uint32_t sambaEmittedArgument(const SambaEmitter *emitter, MlirOperation function,
                              const SambaStringMap *arguments, MlirAttribute text) {
  uint32_t index, symbol = SAMBA_PEF_NONE;
  if (sambaStringMapGet(arguments, sambaEmitText(text), &index))
    sambaPointerMapGet(&emitter->symbol_of, mlirBlockGetArgument(sambaBodyOf(function), index).ptr,
                       &symbol);
  return symbol;
}

/* A weight knows its copy in f32. Graphs that share the one share the other. */
static SambaStatus linkMaster(SambaEmitter *emitter, MlirOperation function, intptr_t i) {
  MlirAttribute name = sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_MASTER_ATTRIBUTE);
  uint32_t weight, master = sambaEmittedArgument(emitter, function,
                                                 &emitter->names_in_graph.argument_named, name);
  if (master == SAMBA_PEF_NONE ||
      !sambaPointerMapGet(&emitter->symbol_of, mlirBlockGetArgument(sambaBodyOf(function), i).ptr,
                          &weight))
    return NULL;

  SambaPefSymbol *symbol = &emitter->symbols.data[weight];
  if (symbol->master != SAMBA_PEF_NONE && symbol->master != master)
    return sambaStatusMake(SAMBA_INVALID,
                           "symbol '%.*s' has one samba.master here and another one in an earlier "
                           "graph; let the two have one name and type",
                           SAMBA_STRING_ARGS(symbol->name));
  symbol->master = master;
  return NULL;
}

SambaStatus sambaEmitArguments(SambaEmitter *emitter, MlirOperation function,
                               SambaPefGraph *graph) {
  intptr_t count = mlirBlockGetNumArguments(sambaBodyOf(function));
  graph->inputs = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefInput, (size_t)count + 1);
  emitter->graph_symbols = (uint32_t)emitter->symbols.size;
  for (intptr_t i = 0; i < count; ++i) {
    uint32_t index;
    if (sambaValueIsArgin(mlirBlockGetArgument(sambaBodyOf(function), i))) {
      SAMBA_RETURN_IF_ERROR(emitArgin(emitter, function, i));
      continue;
    }
    SAMBA_RETURN_IF_ERROR(emitArgument(emitter, function, i, &index));
    if (emitter->symbols.data[index].kind == SAMBA_PEF_SYMBOL_INPUT)
      graph->inputs[graph->inputs_count++].symbol = index;
  }

  for (intptr_t i = 0; i < count; ++i)
    SAMBA_RETURN_IF_ERROR(linkMaster(emitter, function, i));
  return NULL;
}

/* A constant that a graph returns - only those without elements are not copied - is an output. */
SambaStatus sambaEmitConstant(SambaEmitter *emitter, MlirOperation function,
                              MlirOperation operation) {
  uint32_t index;
  MlirAttribute address = sambaOperationAttribute(operation, SAMBA_ADDRESS_ATTRIBUTE);

  if (mlirAttributeIsNull(address))
    return sambaStatusMake(SAMBA_INVALID,
                           "a constant has no address; run samba-assign-memory first");
  MlirValue result = mlirOperationGetResult(operation, 0);
  intptr_t output = sambaGraphResultOf(function, result);
  SambaStringRef name = {NULL, 0};
  if (output >= 0)
    name =
        sambaEmitText(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_NAME_ATTRIBUTE));
  SambaPefSymbolKind kind = SAMBA_PEF_SYMBOL_CONSTANT;
  if (output >= 0)
    SAMBA_RETURN_IF_ERROR(sambaEmitKindOfResult(function, output, &kind));
  SAMBA_RETURN_IF_ERROR(sambaEmitSymbol(
      emitter, result, name.size ? name : sambaStringRef("constant"), kind,
      (uint64_t)mlirIntegerAttrGetValueInt(address), (SambaStringRef){NULL, 0}, &index));
  if (output >= 0)
    sambaEmitHostDType(
        &emitter->symbols.data[index],
        sambaFunctionAttribute(function, "res_attrs", output, SAMBA_HOST_DTYPE_ATTRIBUTE));
  MlirAttribute value = sambaOperationAttribute(operation, "value");
  if (!mlirAttributeIsADenseElements(value))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a constant's values are not in the IR; make it "
                                              "dense<...> or an argument with samba.value");
  return sambaEmitDenseData(emitter, value, &emitter->symbols.data[index]);
}
