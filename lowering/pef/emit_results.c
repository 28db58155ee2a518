/* Results of calls, and what a graph returns; see emitter.h. */
#include "lowering/pef/emitter.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"

/* The symbol in the region that has the value's shape. */
static uint32_t findInRegion(const SambaEmitter *emitter, SambaStringRef region, MlirValue value) {
  uint32_t place;
  if (!region.size || !sambaStringMapGet(&emitter->region_of, region, &place))
    return SAMBA_PEF_NONE;
  MlirType type = mlirValueGetType(value);
  for (uint32_t s = emitter->symbols_in.data[place].first; s != SAMBA_PEF_NONE;
       s = emitter->next_in_region.data[s]) {
    const SambaPefSymbol *symbol = &emitter->symbols.data[s];
    bool same = symbol->dims_count == (uint32_t)mlirShapedTypeGetRank(type);
    for (uint32_t a = 0; same && a < symbol->dims_count; ++a)
      same = symbol->dims[a].size == (uint64_t)mlirShapedTypeGetDimSize(type, a);
    if (same)
      return s;
  }
  return SAMBA_PEF_NONE;
}

/* The graph's result that ends up in the region, or -1. */
static intptr_t resultOfRegion(const SambaEmitter *emitter, SambaStringRef region) {
  uint32_t result;
  bool found = sambaStringMapGet(&emitter->names_in_graph.result_in, region, &result);
  return found ? (intptr_t)result : -1;
}

/* What a call's result is called: as the graph's result, or by its region or place. */
static SambaStringRef nameOfResult(SambaEmitter *emitter, MlirOperation function,
                                   SambaStringRef given, SambaStringRef region, bool returned,
                                   uint32_t call_id, intptr_t r) {
  if (given.size)
    return given;
  if (region.size) {
    intptr_t last = resultOfRegion(emitter, region);
    SambaStringRef name =
        sambaEmitText(sambaFunctionAttribute(function, "res_attrs", last, SAMBA_NAME_ATTRIBUTE));
    return last >= 0 && name.size ? name : region;
  }
  return sambaStringRef(sambaArenaFormat(
      emitter->arena, returned ? "output%u.%u" : "activation%u.%u", call_id, (unsigned)r));
}

/* What the graph says of a result: its type towards the host, and the layer that made it. */
static void describeResult(SambaEmitter *emitter, MlirOperation function, MlirOperation maker,
                           intptr_t output, uint32_t index) {
  SambaPefSymbol *symbol = &emitter->symbols.data[index];
  if (output >= 0)
    sambaEmitHostDType(
        symbol, sambaFunctionAttribute(function, "res_attrs", output, SAMBA_HOST_DTYPE_ATTRIBUTE));
  symbol->location =
      sambaStringRefCopy(emitter->arena, sambaLayerOfLocation(mlirOperationGetLocation(maker)));
}

/* A value that is written into a region is the symbol that lives there; when the graph calls it
 * differently, it is one more symbol at the same address. */
static SambaStatus emitResult(SambaEmitter *emitter, MlirOperation function, MlirOperation call,
                              intptr_t r, uint64_t address, uint32_t call_id) {
  MlirValue value = mlirOperationGetResult(call, r);
  intptr_t output = sambaGraphResultOf(function, value);
  SambaStringRef region = sambaRegionOfCallResult(function, call, r);
  SambaStringRef given = {NULL, 0};
  if (output >= 0)
    given =
        sambaEmitText(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_NAME_ATTRIBUTE));

  if (!region.size && output < 0 && sambaGraphReturns(function, value)) {
    SambaStringRef name = nameOfResult(emitter, function, given, region, true, call_id, r);
    uint32_t unused;
    return sambaEmitSymbol(emitter, value, name, SAMBA_PEF_SYMBOL_ACTIVATION, address, name,
                           &unused);
  }
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
  intptr_t last = resultOfRegion(emitter, region);
  SAMBA_RETURN_IF_ERROR(sambaEmitKindOfResult(function, output < 0 ? last : output, &kind));
  if (region.size && kind == SAMBA_PEF_SYMBOL_ACTIVATION)
    kind = SAMBA_PEF_SYMBOL_BUFFER; /* no result of the graph, but its bytes stay */
  SAMBA_RETURN_IF_ERROR(sambaEmitSymbol(
      emitter, value, nameOfResult(emitter, function, given, region, output >= 0, call_id, r), kind,
      address, region, &index));
  if (kind == SAMBA_PEF_SYMBOL_UPDATE)
    emitter->symbols.data[index].update_of = held;
  describeResult(emitter, function, call, output >= 0 ? output : last, index);
  return NULL;
}

static SambaStatus symbolOfOperand(const SambaEmitter *emitter, MlirOperation placement,
                                   intptr_t operand, uint32_t *out_symbol) {
  if (sambaPointerMapGet(&emitter->symbol_of, mlirOperationGetOperand(placement, operand).ptr,
                         out_symbol))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "operand %ld of '%.*s' is not in memory", (long)operand,
                         SAMBA_MLIR_STRING_ARGS(sambaOperationName(placement)));
}

/* A part of what lies in memory already. */
static SambaStatus emitPart(SambaEmitter *emitter, MlirOperation function, MlirOperation unstack,
                            intptr_t part, uint64_t address) {
  MlirValue value = mlirOperationGetResult(unstack, part);
  intptr_t output = sambaGraphResultOf(function, value);
  uint32_t whole, index;
  SAMBA_RETURN_IF_ERROR(symbolOfOperand(emitter, unstack, 0, &whole));

  SambaStringRef whole_name = emitter->symbols.data[whole].name;
  SambaStringRef name = {NULL, 0}, region = {NULL, 0};
  if (output >= 0)
    name =
        sambaEmitText(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_NAME_ATTRIBUTE));
  if (!name.size)
    name = sambaStringRef(
        sambaArenaFormat(emitter->arena, "%.*s.%ld", SAMBA_STRING_ARGS(whole_name), (long)part));
  if (emitter->symbols.data[whole].region != emitter->activations)
    region = emitter->regions.data[emitter->symbols.data[whole].region].name;
  SambaPefSymbolKind kind;
  SAMBA_RETURN_IF_ERROR(sambaEmitKindOfResult(function, output, &kind));
  SAMBA_RETURN_IF_ERROR(sambaEmitSymbol(emitter, value, name, kind, address, region, &index));
  emitter->symbols.data[index].part_of = whole;
  SambaStringRef own = sambaRegionOfResult(function, output);
  if (own.size)
    sambaStringMapInsert(&emitter->region_of, sambaStringRefCopy(emitter->arena, own),
                         emitter->symbols.data[index].region, NULL);
  describeResult(emitter, function, unstack, output, index);
  return NULL;
}

/* What calls have left side by side, as one. */
static SambaStatus emitStack(SambaEmitter *emitter, MlirOperation stack, uint64_t address) {
  uint32_t whole, part;
  SAMBA_RETURN_IF_ERROR(sambaEmitSymbol(emitter, mlirOperationGetResult(stack, 0),
                                        sambaStringRef("stack"), SAMBA_PEF_SYMBOL_ACTIVATION,
                                        address, (SambaStringRef){NULL, 0}, &whole));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(stack); ++i) {
    SAMBA_RETURN_IF_ERROR(symbolOfOperand(emitter, stack, i, &part));
    emitter->symbols.data[part].part_of = whole;
  }
  return NULL;
}

SambaStatus sambaEmitPlacement(SambaEmitter *emitter, MlirOperation function,
                               MlirOperation placement) {
  MlirAttribute addresses = sambaOperationAttribute(placement, SAMBA_ADDRESSES_ATTRIBUTE);
  if (mlirAttributeIsNull(addresses))
    return sambaStatusMake(SAMBA_INVALID, "a samba.stack or samba.unstack has no addresses; run "
                                          "samba-assign-memory first");
  if (sambaOperationIs(placement, "samba.stack"))
    return emitStack(emitter, placement, (uint64_t)mlirDenseI64ArrayGetElement(addresses, 0));
  for (intptr_t p = 0; p < mlirOperationGetNumResults(placement); ++p)
    SAMBA_RETURN_IF_ERROR(emitPart(emitter, function, placement, p,
                                   (uint64_t)mlirDenseI64ArrayGetElement(addresses, p)));
  return NULL;
}

SambaStatus sambaEmitResults(SambaEmitter *emitter, MlirOperation function, MlirOperation call,
                             uint32_t call_id) {
  MlirAttribute addresses = sambaOperationAttribute(call, SAMBA_ADDRESSES_ATTRIBUTE);
  if (mlirAttributeIsNull(addresses))
    return sambaStatusMake(SAMBA_INVALID, "a call has no addresses; run samba-assign-memory first");
  for (intptr_t r = 0; r < mlirOperationGetNumResults(call); ++r)
    SAMBA_RETURN_IF_ERROR(emitResult(emitter, function, call, r,
                                     (uint64_t)mlirDenseI64ArrayGetElement(addresses, r), call_id));
  return NULL;
}

/* A gradient is known to what it is the gradient of, an update says what it updates. */
static void linkResult(SambaEmitter *emitter, MlirOperation function, intptr_t index,
                       uint32_t result) {
  SambaPefSymbol *symbols = emitter->symbols.data;
  const SambaRegions *names = &emitter->names_in_graph;
  uint32_t owner = sambaEmittedArgument(
      emitter, function, &names->argument_named,
      sambaFunctionAttribute(function, "res_attrs", index, SAMBA_GRAD_OF_ATTRIBUTE));
  if (owner != SAMBA_PEF_NONE)
    symbols[owner].grad_symbol = result;

  uint32_t updated = sambaEmittedArgument(
      emitter, function, &names->argument_in,
      sambaFunctionAttribute(function, "res_attrs", index, SAMBA_REGION_ATTRIBUTE));
  if (symbols[result].kind == SAMBA_PEF_SYMBOL_UPDATE && updated != result)
    symbols[result].update_of = updated;
}

SambaStatus sambaEmitReturn(SambaEmitter *emitter, MlirOperation function, MlirOperation operation,
                            SambaPefGraph *graph) {
  intptr_t count = mlirOperationGetNumOperands(operation);
  graph->outputs = SAMBA_ARENA_ARRAY(emitter->arena, SambaPefOutput, (size_t)count + 1);

  for (intptr_t i = 0; i < count; ++i) {
    SambaPefOutput output = {0};
    SambaPefSymbolKind kind;
    if (!sambaPointerMapGet(&emitter->symbol_of, mlirOperationGetOperand(operation, i).ptr,
                            &output.symbol))
      return sambaStatusMake(SAMBA_INVALID, "result %ld of the graph is made by no call", (long)i);
    SAMBA_RETURN_IF_ERROR(sambaEmitKindOfResult(function, i, &kind));
    linkResult(emitter, function, i, output.symbol);
    if (kind == SAMBA_PEF_SYMBOL_LOSS)
      output.flags = SAMBA_PEF_OUTPUT_LOSS;
    if (kind == SAMBA_PEF_SYMBOL_OUTPUT || kind == SAMBA_PEF_SYMBOL_LOSS)
      graph->outputs[graph->outputs_count++] = output;
  }

  return NULL;
}
