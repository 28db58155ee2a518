/* rdu IR to PEF structs; see rdu_to_pef.h. Symbols come from function arguments, constants and call
 * results; images from rdu.sections; the schedule from samba.calls. */
#include "lowering/pef/rdu_to_pef.h"

#include "backend/address/address_assignment.h"
#include "backend/address/dependences.h"
#include "backend/estimate/estimate.h"
#include "backend/pef/image/image.h"
#include "backend/section/check/order_check.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"
#include "support/container/string_map.h"
#include "support/file/path.h"
#include "support/number/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  SambaPef *pef;
  SambaArena *arena;
  const SambaEmitOptions *options;
  const SambaMachine *machine;
  SAMBA_ARRAY(SambaPefSymbol) symbols;
  SAMBA_ARRAY(SambaPefRegion) regions;
  SAMBA_ARRAY(SambaPefSection) sections;
  SAMBA_ARRAY(SambaPefArgin) argins;
  SAMBA_ARRAY(SambaPefImage) images;
  SAMBA_ARRAY(SambaPefCall) calls;
  SAMBA_ARRAY(SambaPefGraph) graphs;
  SAMBA_ARRAY(uint32_t) first_sections;    /* per image: its first section; the others follow */
  SAMBA_ARRAY(MlirAttribute) first_layers; /* per image: the layers of its first call */
  SAMBA_ARRAY(MlirAttribute) values;       /* per symbol: the initial data that it was given */
  SambaDependences dependences;            /* of the calls so far */
  SambaStringMap region_of;                /* name of a region of the graphs -> region */
  uint32_t activations;                    /* the region that activations share, SAMBA_PEF_NONE */
  uint32_t graph_symbols;                  /* symbols that earlier graphs have made */
  SambaPointerMap symbol_of;               /* SSA value -> symbol */
  SambaPointerMap argin_of;                /* SSA value -> argin */
  SambaPointerMap image_of;                /* rdu.section -> image */
  SambaStringMap names;                    /* symbol names in use */
  SambaStringMap argin_names;
} Emitter;

static SambaStringRef textOf(MlirAttribute attribute) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return (SambaStringRef){"", 0};
  return sambaFromMlir(mlirStringAttrGetValue(attribute));
}

/* A name that none of `names` is, for what is stored there: as given, or with a number behind. */
static SambaStringRef uniqueName(Emitter *emitter, SambaStringMap *names, SambaStringRef name,
                                 uint32_t index) {
  uint32_t unused;
  SambaStringRef candidate = sambaStringRefCopy(emitter->arena, name);
  for (uint32_t n = 0; candidate.size == 0 || sambaStringMapGet(names, candidate, &unused); ++n)
    candidate =
        sambaStringRef(sambaArenaFormat(emitter->arena, "%.*s_%u", SAMBA_STRING_ARGS(name), n));
  sambaStringMapInsert(names, candidate, index, NULL);
  return candidate;
}

static SambaPefMemory memoryAt(const SambaMachine *machine, uint64_t address) {
  uint64_t hbm = (uint64_t)machine->hbm_bytes;
  if (address < hbm)
    return SAMBA_PEF_MEMORY_HBM;
  return address - hbm < (uint64_t)machine->ddr_bytes ? SAMBA_PEF_MEMORY_DDR
                                                      : SAMBA_PEF_MEMORY_HOST;
}

static uint32_t addRegion(Emitter *emitter, SambaStringRef name, uint64_t address, uint64_t bytes) {
  SambaPefRegion region;
  sambaPefRegionInitialize(&region);
  region.name = name;
  region.memory_requested = SAMBA_PEF_MEMORY_ANY;
  region.memory = memoryAt(emitter->machine, address);
  region.address = address;
  region.bytes = bytes;
  region.alignment = SAMBA_MEMORY_ALIGNMENT;
  sambaArrayAppend(&emitter->regions, region);
  return (uint32_t)emitter->regions.size - 1;
}

/* The region that holds the symbol: the one of that name, which grows with its symbols, or one of
 * the symbol's own. Activations share one. */
static uint32_t regionOf(Emitter *emitter, const SambaPefSymbol *symbol, SambaStringRef name) {
  uint64_t bytes = sambaMemoryRound(symbol->bytes + (symbol->bytes == 0));
  uint32_t index = (uint32_t)emitter->regions.size;
  if (symbol->kind == SAMBA_PEF_SYMBOL_ACTIVATION && !name.size)
    return emitter->activations;
  if (!name.size)
    return addRegion(emitter, symbol->name, symbol->address, bytes);

  SambaStringRef kept = sambaStringRefCopy(emitter->arena, name);
  if (sambaStringMapInsert(&emitter->region_of, kept, index, &index))
    return addRegion(emitter, kept, symbol->address, bytes);
  SambaPefRegion *region = &emitter->regions.data[index];
  region->bytes = bytes > region->bytes ? bytes : region->bytes;
  return index;
}

/* region: the name of the one that holds it; empty: its own. */
static SambaStatus addSymbol(Emitter *emitter, MlirValue value, SambaStringRef name,
                             SambaPefSymbolKind kind, uint64_t address, SambaStringRef region,
                             uint32_t *out_symbol) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  SambaPefSymbol symbol;

  sambaPefSymbolInitialize(&symbol);
  symbol.name = uniqueName(emitter, &emitter->names, name, (uint32_t)emitter->symbols.size);
  symbol.kind = kind;
  symbol.flags = kind == SAMBA_PEF_SYMBOL_ACTIVATION ? 0 : SAMBA_PEF_PERSISTENT;
  symbol.host_dtype = symbol.device_dtype = symbol.init_dtype = type.dtype;
  symbol.dims_count = type.rank;
  symbol.dims = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefDim, type.rank + 1);
  symbol.bytes = sambaDTypeBytes(type.dtype) * (uint64_t)sambaShapeElements(type.rank, type.dims);

  for (uint32_t a = 0; a < type.rank; ++a)
    symbol.dims[a].size = (uint64_t)type.dims[a];

  symbol.address = address;
  symbol.region = regionOf(emitter, &symbol, region);
  sambaArrayAppend(&emitter->symbols, symbol);
  sambaArrayAppend(&emitter->values, mlirAttributeGetNull());
  *out_symbol = (uint32_t)emitter->symbols.size - 1;
  sambaPointerMapSet(&emitter->symbol_of, value.ptr, *out_symbol);

  return NULL;
}

/* Values in the IR keep their own type, which may be wider than the device's: loading converts. */
static SambaStatus denseData(Emitter *emitter, MlirAttribute value, SambaPefSymbol *symbol) {
  uint64_t elements = symbol->bytes / sambaDTypeBytes(symbol->device_dtype);
  SambaTensorType type;

  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type));
  uint32_t size = sambaDTypeBytes(type.dtype);
  uint8_t *data = SAMBA_ARENA_ARRAY(emitter->arena, uint8_t, elements *size + 1);
  const uint8_t *raw = mlirDenseElementsAttrGetRawData(value);
  bool splat = mlirDenseElementsAttrIsSplat(value);

  for (uint64_t i = 0; i < elements; ++i) {
    uint64_t at = splat ? 0 : i;
    if (type.dtype == SAMBA_DTYPE_I1) /* one byte each: 0 or 1 */
      data[i] = splat ? mlirDenseElementsAttrGetBoolSplatValue(value) != 0
                      : mlirDenseElementsAttrGetBoolValue(value, (intptr_t)i);
    else
      memcpy(data + i * size, raw + at * size, size);
  }

  symbol->init = SAMBA_PEF_INIT_BLOB;
  symbol->init_dtype = type.dtype;
  symbol->flags |= SAMBA_PEF_HAS_DATA;
  symbol->init_bytes = elements * size;
  symbol->source.data = data;

  return NULL;
}

static int64_t integerIn(MlirAttribute dictionary, const char *name, int64_t otherwise) {
  MlirAttribute attribute = mlirDictionaryAttrGetElementByName(dictionary, sambaMlirString(name));
  return mlirAttributeIsNull(attribute) ? otherwise : mlirIntegerAttrGetValueInt(attribute);
}

/* One value for all elements needs no data. False: it is not one, or loading has to convert it. */
static bool fillData(MlirAttribute value, SambaPefSymbol *symbol) {
  SambaTensorType type;
  SambaStatus status = sambaTensorTypeFromMlir(mlirAttributeGetType(value), &type);
  bool fills = !status && mlirDenseElementsAttrIsSplat(value) && type.dtype != SAMBA_DTYPE_I1 &&
               (type.dtype == symbol->device_dtype ||
                (sambaDTypeIsFloat(type.dtype) && sambaDTypeIsFloat(symbol->device_dtype)));
  sambaStatusFree(status);
  if (!fills)
    return false;

  memcpy(&symbol->init_value, mlirDenseElementsAttrGetRawData(value), sambaDTypeBytes(type.dtype));
  if (type.dtype != symbol->device_dtype)
    symbol->init_value = sambaNarrowToBits(
        symbol->device_dtype, sambaBitsToFloat(type.dtype, (uint32_t)symbol->init_value));
  symbol->init = SAMBA_PEF_INIT_FILL;
  return true;
}

/* The data of an argument: in a file, in the IR, or none. */
static SambaStatus initialData(Emitter *emitter, MlirAttribute value, SambaPefSymbol *symbol) {
  if (mlirAttributeIsNull(value))
    return NULL;
  if (mlirAttributeIsADenseElements(value))
    return fillData(value, symbol) ? NULL : denseData(emitter, value, symbol);
  if (!sambaAttributeIs(value, SAMBA_EXTERNAL_KIND))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "symbol '%.*s': samba.value must be #samba.external or dense elements "
                           "to be written into a PEF",
                           SAMBA_STRING_ARGS(symbol->name));
  MlirStringRef file = sambaAttributeHead(value);
  MlirAttribute body = sambaAttributeBody(value);
  symbol->source.path =
      sambaPathJoin(emitter->arena, sambaStringRef(emitter->options->folder), sambaFromMlir(file));
  if (!emitter->options->model || strcmp(symbol->source.path, emitter->options->model) != 0)
    symbol->source.folder = emitter->options->data_folder;
  symbol->source.offset = (uint64_t)integerIn(body, "offset", 0);
  symbol->init_offset = emitter->options->external_weights ? symbol->source.offset : 0;
  symbol->init = emitter->options->external_weights ? SAMBA_PEF_INIT_FILE : SAMBA_PEF_INIT_BLOB;
  symbol->flags |= SAMBA_PEF_HAS_DATA;

  /* The file holds the host's type: narrower device types are converted while loading. */
  symbol->init_dtype = symbol->host_dtype;
  symbol->init_bytes =
      (uint64_t)integerIn(body, "bytes",
                          (int64_t)(symbol->bytes / sambaDTypeBytes(symbol->device_dtype) *
                                    sambaDTypeBytes(symbol->host_dtype)));
  return NULL;
}

/* *out_kind is left alone where no kind is said. */
static SambaStatus symbolKind(SambaStringRef text, SambaPefSymbolKind *out_kind) {
#define X(enumerator, value, name)                                                                 \
  if (sambaStringRefEqualC(text, name)) {                                                          \
    *out_kind = SAMBA_PEF_##enumerator;                                                            \
    return NULL;                                                                                   \
  }
  SAMBA_PEF_SYMBOL_KINDS(X)
#undef X
  if (text.size)
    return sambaStatusMake(SAMBA_INVALID, "samba.kind \"%.*s\" is no kind of symbol",
                           SAMBA_STRING_ARGS(text));
  return NULL;
}

/* What a result of the graph is to its user; one that is none, -1, is an activation. */
static SambaStatus kindOfResult(MlirOperation function, intptr_t output,
                                SambaPefSymbolKind *out_kind) {
  *out_kind = output < 0 ? SAMBA_PEF_SYMBOL_ACTIVATION : SAMBA_PEF_SYMBOL_OUTPUT;
  if (output < 0)
    return NULL;
  return symbolKind(
      textOf(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_KIND_ATTRIBUTE)),
      out_kind);
}

static void setHostDType(SambaPefSymbol *symbol, MlirAttribute attribute) {
  if (!mlirAttributeIsNull(attribute) && mlirAttributeIsAType(attribute))
    symbol->host_dtype = sambaDTypeFromType(mlirTypeAttrGetValue(attribute));
}

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
static SambaStatus emitArgin(Emitter *emitter, MlirOperation function, intptr_t index) {
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(function), index);
  MlirAttribute attribute =
      sambaFunctionAttribute(function, "arg_attrs", index, SAMBA_ARGIN_ATTRIBUTE);
  MlirAttribute body = sambaAttributeBody(attribute);
  SambaStringRef kind = textOf(mlirDictionaryAttrGetElementByName(body, sambaMlirString("kind")));
  SambaStringRef name =
      textOf(sambaFunctionAttribute(function, "arg_attrs", index, SAMBA_NAME_ATTRIBUTE));
  SambaTensorType type;
  SambaPefArgin argin;

  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(argument), &type));
  sambaPefArginInitialize(&argin);
  argin.name = uniqueName(emitter, &emitter->argin_names, name.size ? name : kind,
                          (uint32_t)emitter->argins.size);
#define X(enumerator, value, text)                                                                 \
  if (sambaStringRefEqualC(kind, text))                                                            \
    argin.kind = SAMBA_PEF_##enumerator;
  SAMBA_PEF_ARGIN_KINDS(X)
#undef X
  argin.group = sambaStringRefCopy(
      emitter->arena, textOf(mlirDictionaryAttrGetElementByName(body, sambaMlirString("group"))));
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
static bool findShared(const Emitter *emitter, MlirType type, SambaStringRef name,
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
  if (sambaStringRefEqualC(textOf(attribute), name))                                               \
    memory = SAMBA_PEF_##enumerator;
  SAMBA_PEF_MEMORIES(X)
#undef X
  return memory;
}

/* Graphs that share a symbol need not all say what it holds at first. */
static SambaStatus giveData(Emitter *emitter, MlirAttribute value, uint32_t symbol) {
  MlirAttribute *given = &emitter->values.data[symbol];
  if (mlirAttributeIsNull(value) || mlirAttributeEqual(*given, value))
    return NULL;
  if (!mlirAttributeIsNull(*given))
    return sambaStatusMake(SAMBA_INVALID,
                           "symbol '%.*s' has one samba.value here and another one in an earlier "
                           "graph; give it once, or let the two have different names",
                           SAMBA_STRING_ARGS(emitter->symbols.data[symbol].name));
  *given = value;
  return initialData(emitter, value, &emitter->symbols.data[symbol]);
}

static SambaStatus emitArgument(Emitter *emitter, MlirOperation function, intptr_t i,
                                uint32_t *out_symbol) {
  MlirValue argument = mlirBlockGetArgument(sambaBodyOf(function), i);
  SambaStringRef name =
      textOf(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_NAME_ATTRIBUTE));
  SambaStringRef region = sambaRegionOfArgument(function, i);
  SambaPefSymbolKind kind = SAMBA_PEF_SYMBOL_INPUT;
  SAMBA_RETURN_IF_ERROR(symbolKind(
      textOf(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_KIND_ATTRIBUTE)), &kind));
  MlirAttribute address = sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_ADDRESS_ATTRIBUTE);
  if (mlirAttributeIsNull(address))
    return sambaStatusMake(SAMBA_INVALID,
                           "argument %ld has no address; run samba-assign-memory first", (long)i);

  if (findShared(emitter, mlirValueGetType(argument), name, kind, region, out_symbol)) {
    sambaPointerMapSet(&emitter->symbol_of, argument.ptr, *out_symbol);
  } else {
    SAMBA_RETURN_IF_ERROR(
        addSymbol(emitter, argument, name.size ? name : sambaStringRef("argument"), kind,
                  (uint64_t)mlirIntegerAttrGetValueInt(address), region, out_symbol));
    setHostDType(&emitter->symbols.data[*out_symbol],
                 sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_HOST_DTYPE_ATTRIBUTE));
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

static SambaStatus emitArguments(Emitter *emitter, MlirOperation function, SambaPefGraph *graph) {
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
  return NULL;
}

/* A constant that a graph returns - only those without elements are not copied - is an output. */
static SambaStatus emitConstant(Emitter *emitter, MlirOperation function, MlirOperation operation) {
  uint32_t index;
  MlirAttribute address = sambaOperationAttribute(operation, SAMBA_ADDRESS_ATTRIBUTE);

  if (mlirAttributeIsNull(address))
    return sambaStatusMake(SAMBA_INVALID,
                           "a constant has no address; run samba-assign-memory first");
  MlirValue result = mlirOperationGetResult(operation, 0);
  intptr_t output = sambaGraphResultOf(function, result);
  SambaStringRef name = {NULL, 0};
  if (output >= 0)
    name = textOf(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_NAME_ATTRIBUTE));
  SambaPefSymbolKind kind = SAMBA_PEF_SYMBOL_CONSTANT;
  if (output >= 0)
    SAMBA_RETURN_IF_ERROR(kindOfResult(function, output, &kind));
  SAMBA_RETURN_IF_ERROR(addSymbol(emitter, result, name.size ? name : sambaStringRef("constant"),
                                  kind, (uint64_t)mlirIntegerAttrGetValueInt(address),
                                  (SambaStringRef){NULL, 0}, &index));
  if (output >= 0)
    setHostDType(&emitter->symbols.data[index],
                 sambaFunctionAttribute(function, "res_attrs", output, SAMBA_HOST_DTYPE_ATTRIBUTE));
  MlirAttribute value = sambaOperationAttribute(operation, "value");
  if (!mlirAttributeIsADenseElements(value))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a constant's values are not in the IR; make it "
                                              "dense<...> or an argument with samba.value");
  return denseData(emitter, value, &emitter->symbols.data[index]);
}

/* The symbol in the region that has the value's shape. */
static uint32_t findInRegion(const Emitter *emitter, SambaStringRef region, MlirValue value) {
  uint32_t place;
  if (!region.size || !sambaStringMapGet(&emitter->region_of, region, &place))
    return SAMBA_PEF_NONE;
  MlirType type = mlirValueGetType(value);
  for (uint32_t s = 0; s < emitter->symbols.size; ++s) {
    const SambaPefSymbol *symbol = &emitter->symbols.data[s];
    bool same =
        symbol->region == place && symbol->dims_count == (uint32_t)mlirShapedTypeGetRank(type);
    for (uint32_t a = 0; same && a < symbol->dims_count; ++a)
      same = symbol->dims[a].size == (uint64_t)mlirShapedTypeGetDimSize(type, a);
    if (same)
      return s;
  }
  return SAMBA_PEF_NONE;
}

/* The graph's result that ends up in the region, or -1. */
static intptr_t resultOfRegion(MlirOperation function, SambaStringRef region) {
  intptr_t count = mlirOperationGetNumOperands(mlirBlockGetTerminator(sambaBodyOf(function)));
  for (intptr_t i = 0; i < count && region.size; ++i)
    if (sambaStringRefEqual(sambaRegionOfResult(function, i), region))
      return i;
  return -1;
}

/* What a call's result is called: as the graph's result, or by its region or place. */
static SambaStringRef nameOfResult(Emitter *emitter, MlirOperation function, SambaStringRef given,
                                   SambaStringRef region, bool returned, uint32_t call_id,
                                   intptr_t r) {
  if (given.size)
    return given;
  if (region.size) {
    intptr_t last = resultOfRegion(function, region);
    SambaStringRef name =
        textOf(sambaFunctionAttribute(function, "res_attrs", last, SAMBA_NAME_ATTRIBUTE));
    return last >= 0 && name.size ? name : region;
  }
  return sambaStringRef(sambaArenaFormat(
      emitter->arena, returned ? "output%u.%u" : "activation%u.%u", call_id, (unsigned)r));
}

/* A value that is written into a region is the symbol that lives there; when the graph calls it
 * differently, it is one more symbol at the same address. */
static SambaStatus emitResult(Emitter *emitter, MlirOperation function, MlirOperation call,
                              intptr_t r, uint64_t address, uint32_t call_id) {
  MlirValue value = mlirOperationGetResult(call, r);
  intptr_t output = sambaGraphResultOf(function, value);
  SambaStringRef region = sambaRegionOfCallResult(function, call, r);
  SambaStringRef given = {NULL, 0};
  if (output >= 0)
    given = textOf(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_NAME_ATTRIBUTE));

  uint32_t held = findInRegion(emitter, region, value);
  if (held != SAMBA_PEF_NONE) {
    emitter->symbols.data[held].flags |= SAMBA_PEF_IN_PLACE;
    if (!given.size || sambaStringRefEqual(given, emitter->symbols.data[held].name)) {
      sambaPointerMapSet(&emitter->symbol_of, value.ptr, held);
      return NULL;
    }
  }

  SambaPefSymbolKind kind;
  uint32_t index;
  intptr_t last = resultOfRegion(function, region);
  SAMBA_RETURN_IF_ERROR(kindOfResult(function, output < 0 ? last : output, &kind));
  if (region.size && kind == SAMBA_PEF_SYMBOL_ACTIVATION)
    kind = SAMBA_PEF_SYMBOL_BUFFER; /* no result of the graph, but its bytes stay */
  SAMBA_RETURN_IF_ERROR(addSymbol(
      emitter, value, nameOfResult(emitter, function, given, region, output >= 0, call_id, r), kind,
      address, region, &index));
  SambaPefSymbol *symbol = &emitter->symbols.data[index];
  symbol->update_of = held;
  if (output >= 0)
    setHostDType(symbol,
                 sambaFunctionAttribute(function, "res_attrs", output, SAMBA_HOST_DTYPE_ATTRIBUTE));
  symbol->location =
      sambaStringRefCopy(emitter->arena, sambaLayerOfLocation(mlirOperationGetLocation(call)));
  return NULL;
}

static SambaStatus emitResults(Emitter *emitter, MlirOperation function, MlirOperation call,
                               uint32_t call_id) {
  MlirAttribute addresses = sambaOperationAttribute(call, SAMBA_ADDRESSES_ATTRIBUTE);
  if (mlirAttributeIsNull(addresses))
    return sambaStatusMake(SAMBA_INVALID, "a call has no addresses; run samba-assign-memory first");
  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); ++r)
    SAMBA_RETURN_IF_ERROR(emitResult(emitter, function, call, r,
                                     (uint64_t)mlirDenseI64ArrayGetElement(addresses, r), call_id));
  return NULL;
}

/* Layers of the units in this call: those of the image (which has the layers of its first call)
 * renamed by place. */
static void emitLayers(Emitter *emitter, MlirOperation operation, SambaPefCall *call) {
  MlirAttribute layers = mlirOperationGetDiscardableAttributeByName(
      operation, sambaMlirString(SAMBA_LAYERS_ATTRIBUTE));
  if (mlirAttributeIsNull(layers) || !mlirAttributeIsAArray(layers))
    return;
  uint32_t image_id = emitter->sections.data[call->section].image;
  while (emitter->first_layers.size <= image_id)
    sambaArrayAppend(&emitter->first_layers, mlirAttributeGetNull());
  MlirAttribute *first = &emitter->first_layers.data[image_id];

  if (mlirAttributeIsNull(*first))
    *first = layers;
  if (mlirAttributeEqual(*first, layers))
    return;
  const SambaPefImage *image = &emitter->images.data[image_id];
  call->layers_count = image->units_count;
  call->layers = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefLayer, image->units_count + 1);

  for (uint32_t u = 0; u < image->units_count; ++u) {
    call->layers[u].name = image->units[u].layer;
    for (intptr_t i = 0;
         i < mlirArrayAttrGetNumElements(*first) && i < mlirArrayAttrGetNumElements(layers); ++i)
      if (sambaStringRefEqual(textOf(mlirArrayAttrGetElement(*first, i)), image->units[u].layer)) {
        call->layers[u].name =
            sambaStringRefCopy(emitter->arena, textOf(mlirArrayAttrGetElement(layers, i)));
        break;
      }
  }
}

static SambaPefSectionType typeOfCall(MlirOperation call) {
  SambaPefSectionType type = SAMBA_PEF_SECTION_FWD;
  sambaPefSectionTypeFromName(textOf(sambaOperationAttribute(call, "type")), &type);
  return type;
}

/* The section that runs the image of an rdu.section as the call says. */
static SambaStatus sectionOfCall(const Emitter *emitter, MlirOperation call, MlirOperation callee,
                                 uint32_t *out_section) {
  SambaPefSectionType type = typeOfCall(call);
  uint32_t image;
  if (mlirOperationIsNull(callee) || !sambaPointerMapGet(&emitter->image_of, callee.ptr, &image))
    return sambaStatusMake(
        SAMBA_INVALID,
        "a call names something that is no rdu.section; run convert-linalg-to-rdu first");
  *out_section = emitter->first_sections.data[image];
  while (emitter->sections.data[*out_section].type != type)
    ++*out_section;
  return NULL;
}

/* The symbol behind a formal. */
static SambaStatus bindSymbol(Emitter *emitter, MlirValue value, const SambaPefCall *call,
                              SambaPefBinding *binding) {
  uint32_t call_id = (uint32_t)emitter->calls.size;
  binding->kind = SAMBA_PEF_BINDING_SYMBOL;
  if (!sambaPointerMapGet(&emitter->symbol_of, value.ptr, &binding->symbol))
    return sambaStatusMake(SAMBA_INVALID,
                           "operand %u of a call is no argument, constant or result of a call",
                           call->bindings_count);
  SambaPefSymbol *symbol = &emitter->symbols.data[binding->symbol];
  if (symbol->first_call == SAMBA_PEF_NONE)
    symbol->first_call = call_id;
  symbol->last_call = call_id;
  return NULL;
}

/* What the call waits for: who made what it reads, and who needs what it overwrites. */
static void emitDepends(Emitter *emitter, uint32_t operands, SambaPefCall *call) {
  SambaDependences *dependences = &emitter->dependences;
  sambaDependencesBegin(dependences, (uint32_t)emitter->calls.size);
  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    if (call->bindings[i].kind != SAMBA_PEF_BINDING_SYMBOL)
      continue;
    const SambaPefSymbol *symbol = &emitter->symbols.data[call->bindings[i].symbol];
    if (i < operands)
      sambaDependencesRead(dependences, symbol->address, symbol->bytes);
    else
      sambaDependencesWrite(dependences, symbol->address, symbol->bytes);
  }

  call->depends_count = (uint32_t)dependences->calls.size;
  call->depends = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefDepend, dependences->calls.size + 1);
  for (uint32_t d = 0; d < call->depends_count; ++d)
    call->depends[d].call = dependences->calls.data[d];
}

/* A call that reads what it overwrites does so element by element. */
static SambaStatus checkInPlace(Emitter *emitter, MlirOperation section, uint32_t operands,
                                const SambaPefCall *call) {
  const SambaPefSymbol *updated = NULL;
  uint64_t *addresses =
      SAMBA_ARENA_ARRAY(emitter->arena, uint64_t, (size_t)call->bindings_count + 1);
  uint32_t formals = 0, read = 0;
  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    if (call->bindings[i].kind != SAMBA_PEF_BINDING_SYMBOL)
      continue;
    const SambaPefSymbol *symbol = &emitter->symbols.data[call->bindings[i].symbol];
    for (uint32_t f = 0; f < read && i >= operands; ++f)
      if (addresses[f] == symbol->address)
        updated = symbol;
    addresses[formals++] = symbol->address;
    read = i < operands ? formals : read;
  }
  if (!updated)
    return NULL;

  SambaKnownSection *known;
  SAMBA_RETURN_IF_ERROR(sambaKnownSectionTake(section, &known));
  SambaStatus status = sambaSectionCheckOrder(known->section, addresses);
  sambaKnownSectionDestroy(known);
  return sambaStatusAnnotate(status, "call %u updates '%.*s' in place",
                             (uint32_t)emitter->calls.size, SAMBA_STRING_ARGS(updated->name));
}

static SambaStatus emitCall(Emitter *emitter, MlirOperation function, MlirOperation operation,
                            uint32_t graph_id, MlirOperation section) {
  SambaPefCall call;
  sambaPefCallInitialize(&call);
  uint32_t call_id = (uint32_t)emitter->calls.size;

  SAMBA_RETURN_IF_ERROR(sectionOfCall(emitter, operation, section, &call.section));
  call.graph = graph_id;
  SAMBA_RETURN_IF_ERROR(emitResults(emitter, function, operation, call_id));
  intptr_t operands = mlirOperationGetNumOperands(operation);
  intptr_t results = mlirOperationGetNumResults(operation);
  call.bindings =
      SAMBA_ARENA_ARRAY(emitter->arena, SambaPefBinding, (size_t)(operands + results) + 1);
  uint32_t formals = 0, slots = 0;

  for (intptr_t i = 0; i < operands + results; ++i) {
    MlirValue value = i < operands ? mlirOperationGetOperand(operation, i)
                                   : mlirOperationGetResult(operation, i - operands);
    SambaPefBinding *binding = &call.bindings[call.bindings_count];
    sambaPefBindingInitialize(binding);
    if (sambaPointerMapGet(&emitter->argin_of, value.ptr, &binding->argin)) {
      binding->kind = SAMBA_PEF_BINDING_ARGIN;
      binding->formal = slots++;
    } else {
      binding->formal = formals++;
      SAMBA_RETURN_IF_ERROR(bindSymbol(emitter, value, &call, binding));
    }
    ++call.bindings_count;
  }

  emitDepends(emitter, (uint32_t)operands, &call);
  SAMBA_RETURN_IF_ERROR(checkInPlace(emitter, section, (uint32_t)operands, &call));
  emitLayers(emitter, operation, &call);
  sambaArrayAppend(&emitter->calls, call);
  return NULL;
}

/* An image, and a section for each type of call that it has (bits of `types`, none: FWD): the same
 * configuration may run forward and backward. */
static SambaStatus emitSection(Emitter *emitter, MlirOperation operation, uint32_t types) {
  SambaKnownSection *known;
  SambaPefImage image;
  SambaPefSection record;

  SAMBA_RETURN_IF_ERROR(sambaKnownSectionTake(operation, &known));
  const SambaSection *section = known->section;
  SambaStatus status = sambaPefEncodeImage(emitter->pef, section, emitter->machine, &image);
  if (status) {
    sambaKnownSectionDestroy(known);
    return status;
  }

  sambaPefSectionInitialize(&record);
  SambaSectionNeeds needs = sambaSectionCount(section);
  record.name = image.name;
  record.flags = section->split_k ? SAMBA_PEF_SPLIT_K : 0;
  record.pcus = needs.pcus;
  record.pmus = needs.pmus;
  record.ags = needs.ags;
  record.estimated_cycles = (uint64_t)sambaSectionEstimate(section, emitter->machine);
  sambaSectionTraffic(section, &record.estimated_read_bytes, &record.estimated_write_bytes);
  record.image = (uint32_t)emitter->images.size;
  sambaKnownSectionDestroy(known);
  sambaPointerMapSet(&emitter->image_of, operation.ptr, record.image);
  sambaArrayAppend(&emitter->images, image);
  sambaArrayAppend(&emitter->first_sections, (uint32_t)emitter->sections.size);

  types = types ? types : 1u << SAMBA_PEF_SECTION_FWD;
  for (uint32_t place = 0; place < SAMBA_PEF_SECTION_TYPE_COUNT; ++place) {
    record.type = sambaPefSectionTypeAt(place);
    if (!(types >> record.type & 1))
      continue;
    if (types & (types - 1)) /* several: their names tell them apart */
      record.name =
          sambaStringRef(sambaArenaFormat(emitter->arena, "%.*s.%s", SAMBA_STRING_ARGS(image.name),
                                          sambaPefSectionTypeName(record.type)));
    sambaArrayAppend(&emitter->sections, record);
  }

  return NULL;
}

/* Which symbols live in each region, in order of their first use. */
static void setOwners(Emitter *emitter) {
  for (size_t s = 0; s < emitter->symbols.size; ++s)
    ++emitter->regions.data[emitter->symbols.data[s].region].owners_count;
  for (size_t r = 0; r < emitter->regions.size; ++r) {
    emitter->regions.data[r].owners =
        SAMBA_ARENA_ARRAY(emitter->arena, SambaPefOwner, emitter->regions.data[r].owners_count + 1);
    emitter->regions.data[r].owners_count = 0;
  }
  for (size_t s = 0; s < emitter->symbols.size; ++s) {
    SambaPefRegion *region = &emitter->regions.data[emitter->symbols.data[s].region];
    region->owners[region->owners_count++].symbol = (uint32_t)s;
  }
}

static void fillTables(Emitter *emitter) {
  SambaPef *pef = emitter->pef;
#define TABLE(name)                                                                                \
  pef->name##_count = (uint32_t)emitter->name.size;                                                \
  pef->name = sambaArenaCopy(emitter->arena, emitter->name.data,                                   \
                             emitter->name.size * sizeof *emitter->name.data)
  TABLE(symbols);
  TABLE(regions);
  TABLE(sections);
  TABLE(argins);
  TABLE(images);
  TABLE(calls);
  TABLE(graphs);
#undef TABLE
  pef->options_count = emitter->options->option_count;
  pef->options =
      SAMBA_ARENA_ARRAY(emitter->arena, SambaPefOption, emitter->options->option_count + 1);

  for (uint32_t i = 0; i < emitter->options->option_count; ++i) {
    pef->options[i].key =
        sambaStringRefCopy(emitter->arena, sambaStringRef(emitter->options->options[i].key));
    pef->options[i].value =
        sambaStringRefCopy(emitter->arena, sambaStringRef(emitter->options->options[i].value));
  }
}

/* The rdu.sections of a module, and the types of the calls of each. */
typedef struct Sections {
  SAMBA_ARRAY(MlirOperation) list;
  SAMBA_ARRAY(uint32_t) types; /* bit t: a call has type t */
  SambaStringMap by_name;
} Sections;

static void findSections(MlirOperation module, Sections *out) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIs(operation, "rdu.section"))
      continue;
    sambaStringMapInsert(&out->by_name, textOf(sambaOperationAttribute(operation, "sym_name")),
                         (uint32_t)out->list.size, NULL);
    sambaArrayAppend(&out->list, operation);
    sambaArrayAppend(&out->types, 0);
  }
}

static bool findCallee(const Sections *sections, MlirOperation call, uint32_t *out_section) {
  MlirAttribute symbol = sambaOperationAttribute(call, "callee");
  return sambaStringMapGet(&sections->by_name, sambaFromMlir(mlirFlatSymbolRefAttrGetValue(symbol)),
                           out_section);
}

static void findTypes(MlirOperation function, Sections *sections) {
  uint32_t section;
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIs(operation, "samba.call") && findCallee(sections, operation, &section))
      sections->types.data[section] |= 1u << typeOfCall(operation);
}

/* The argument with this name (or, for updates, this region); -1 when there is none. */
static intptr_t findArgument(MlirOperation function, const char *attribute, SambaStringRef name) {
  intptr_t count = mlirBlockGetNumArguments(sambaBodyOf(function));
  for (intptr_t i = 0; i < count && name.size; ++i) {
    SambaStringRef own = textOf(sambaFunctionAttribute(function, "arg_attrs", i, attribute));
    if (!own.size)
      own = textOf(sambaFunctionAttribute(function, "arg_attrs", i, SAMBA_NAME_ATTRIBUTE));
    if (sambaStringRefEqual(own, name))
      return i;
  }
  return -1;
}

static uint32_t symbolOfArgument(const Emitter *emitter, MlirOperation function, intptr_t index) {
  uint32_t symbol = SAMBA_PEF_NONE;
  if (index >= 0)
    sambaPointerMapGet(&emitter->symbol_of, mlirBlockGetArgument(sambaBodyOf(function), index).ptr,
                       &symbol);
  return symbol;
}

/* A gradient is known to what it is the gradient of, an update says what it updates. */
static void linkResult(Emitter *emitter, MlirOperation function, intptr_t index, uint32_t result) {
  SambaPefSymbol *symbols = emitter->symbols.data;
  SambaStringRef of =
      textOf(sambaFunctionAttribute(function, "res_attrs", index, SAMBA_GRAD_OF_ATTRIBUTE));
  uint32_t owner =
      symbolOfArgument(emitter, function, findArgument(function, SAMBA_NAME_ATTRIBUTE, of));
  if (owner != SAMBA_PEF_NONE)
    symbols[owner].grad_symbol = result;

  SambaStringRef region =
      textOf(sambaFunctionAttribute(function, "res_attrs", index, SAMBA_REGION_ATTRIBUTE));
  uint32_t updated =
      symbolOfArgument(emitter, function, findArgument(function, SAMBA_REGION_ATTRIBUTE, region));
  if (symbols[result].kind == SAMBA_PEF_SYMBOL_UPDATE && updated != result)
    symbols[result].update_of = updated;
}

/* What the graph returns: outputs and losses to its user; updates and gradients are symbols. */
static SambaStatus emitReturn(Emitter *emitter, MlirOperation function, MlirOperation operation,
                              SambaPefGraph *graph) {
  intptr_t count = mlirOperationGetNumOperands(operation);
  graph->outputs = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefOutput, (size_t)count + 1);

  for (intptr_t i = 0; i < count; ++i) {
    SambaPefOutput output = {0};
    SambaPefSymbolKind kind;
    if (!sambaPointerMapGet(&emitter->symbol_of, mlirOperationGetOperand(operation, i).ptr,
                            &output.symbol))
      return sambaStatusMake(SAMBA_INVALID, "result %ld of the graph is made by no call", (long)i);
    SAMBA_RETURN_IF_ERROR(kindOfResult(function, i, &kind));
    linkResult(emitter, function, i, output.symbol);
    if (kind == SAMBA_PEF_SYMBOL_LOSS)
      output.flags = SAMBA_PEF_OUTPUT_LOSS;
    if (kind == SAMBA_PEF_SYMBOL_OUTPUT || kind == SAMBA_PEF_SYMBOL_LOSS)
      graph->outputs[graph->outputs_count++] = output;
  }

  return NULL;
}

static SambaStatus emitFunction(Emitter *emitter, MlirOperation function,
                                const Sections *sections) {
  SambaPefGraph graph;
  sambaPefGraphInitialize(&graph);
  graph.name =
      sambaStringRefCopy(emitter->arena, textOf(sambaOperationAttribute(function, "sym_name")));
  graph.mode = sambaGraphTrains(function) ? SAMBA_PEF_GRAPH_TRAINING : SAMBA_PEF_GRAPH_INFERENCE;
  graph.first_call = (uint32_t)emitter->calls.size;
  SAMBA_RETURN_IF_ERROR(emitArguments(emitter, function, &graph));
  MlirAttribute arena = sambaOperationAttribute(function, SAMBA_ACTIVATIONS_ATTRIBUTE);

  if (mlirAttributeIsNull(arena))
    return sambaStatusMake(SAMBA_INVALID,
                           "the graph has no memory assignment; run samba-assign-memory first");
  if (emitter->activations == SAMBA_PEF_NONE && mlirDenseI64ArrayGetElement(arena, 1) > 0)
    emitter->activations = addRegion(emitter, sambaStringRef("activations"),
                                     (uint64_t)mlirDenseI64ArrayGetElement(arena, 0),
                                     (uint64_t)mlirDenseI64ArrayGetElement(arena, 1));
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));

  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    uint32_t section;
    MlirOperation callee = {NULL};
    if (sambaOperationIs(operation, "samba.constant")) {
      SAMBA_RETURN_IF_ERROR(emitConstant(emitter, function, operation));
    } else if (sambaOperationIs(operation, "samba.call")) {
      if (findCallee(sections, operation, &section))
        callee = sections->list.data[section];
      SAMBA_RETURN_IF_ERROR(
          emitCall(emitter, function, operation, (uint32_t)emitter->graphs.size, callee));
    } else if (!sambaOperationIs(operation, "func.return")) {
      return sambaStatusMake(SAMBA_INVALID,
                             "'%.*s' is left in the graph; run samba-partition-sections first",
                             SAMBA_MLIR_STRING_ARGS(sambaOperationName(operation)));
    } else {
      SAMBA_RETURN_IF_ERROR(emitReturn(emitter, function, operation, &graph));
    }
  }

  graph.call_count = (uint32_t)emitter->calls.size - graph.first_call;
  if (emitter->graphs.size == 0 && emitter->options->trace_size)
    graph.trace = (SambaPefBytes){
        sambaArenaCopy(emitter->arena, emitter->options->trace, emitter->options->trace_size),
        emitter->options->trace_size};
  sambaArrayAppend(&emitter->graphs, graph);

  return NULL;
}

static SambaStatus emitModule(Emitter *emitter, MlirOperation module) {
  Sections sections = {0};
  SambaStatus status = NULL;
  MlirOperation first = mlirBlockGetFirstOperation(sambaBodyOf(module));

  findSections(module, &sections);
  for (MlirOperation operation = first; !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      findTypes(operation, &sections);
  for (size_t s = 0; s < sections.list.size && !status; ++s)
    status = emitSection(emitter, sections.list.data[s], sections.types.data[s]);
  for (MlirOperation operation = first; !mlirOperationIsNull(operation) && !status;
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      status = emitFunction(emitter, operation, &sections);

  sambaArrayFree(&sections.list);
  sambaArrayFree(&sections.types);
  sambaStringMapFree(&sections.by_name);
  return status;
}

SambaStatus sambaModuleToPef(MlirOperation module, const SambaEmitOptions *options,
                             SambaPef **out_pef) {
  SambaMachine machine;
  SAMBA_RETURN_IF_ERROR(sambaModuleCheckAnyGraph(module));
  SAMBA_RETURN_IF_ERROR(sambaModuleMachine(module, &machine));
  SambaStatus status;
  SambaPef *pef = sambaPefCreate();
  Emitter emitter = {.pef = pef,
                     .arena = &pef->arena,
                     .options = options,
                     .machine = &machine,
                     .activations = SAMBA_PEF_NONE};
  sambaPefSetMachine(pef, &machine);
  status = emitModule(&emitter, module);
  if (!status) {
    setOwners(&emitter);
    fillTables(&emitter);
  }

  sambaArrayFree(&emitter.symbols);
  sambaArrayFree(&emitter.regions);
  sambaArrayFree(&emitter.sections);
  sambaArrayFree(&emitter.argins);
  sambaArrayFree(&emitter.images);
  sambaArrayFree(&emitter.calls);
  sambaArrayFree(&emitter.graphs);
  sambaArrayFree(&emitter.values);
  sambaDependencesFree(&emitter.dependences);
  sambaArrayFree(&emitter.first_sections);
  sambaArrayFree(&emitter.first_layers);
  sambaPointerMapFree(&emitter.symbol_of);
  sambaPointerMapFree(&emitter.image_of);
  sambaPointerMapFree(&emitter.argin_of);
  sambaStringMapFree(&emitter.names);
  sambaStringMapFree(&emitter.argin_names);
  sambaStringMapFree(&emitter.region_of);
  if (status)
    sambaPefDestroy(pef);
  else
    *out_pef = pef;
  return status;
}
