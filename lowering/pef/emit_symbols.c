/* Symbols, their kinds and the regions that hold them; see emitter.h. */
#include "lowering/pef/emitter.h"

#include "backend/address/address_assignment.h"
#include "dialect/rdu/regions.h"
#include "dialect/samba/graph.h"
#include "support/number/shape.h"

SambaStringRef sambaEmitName(SambaEmitter *emitter, SambaStringMap *names, SambaStringRef name,
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

uint32_t sambaEmitRegion(SambaEmitter *emitter, SambaStringRef name, uint64_t address,
                         uint64_t bytes) {
  SambaPefRegion region;
  sambaPefRegionInitialize(&region);
  region.name = name;
  region.memory_requested = SAMBA_PEF_MEMORY_ANY;
  region.memory = memoryAt(emitter->machine, address);
  region.address = address;
  region.bytes = bytes;
  region.alignment = sambaMachineMemoryAlignment(emitter->machine);
  sambaArrayAppend(&emitter->regions, region);
  sambaArrayAppend(&emitter->symbols_in, (SambaEmitterList){SAMBA_PEF_NONE, SAMBA_PEF_NONE});
  return (uint32_t)emitter->regions.size - 1;
}

/* The region that holds the symbol: the one of that name, which grows with its symbols, or one of
 * the symbol's own. Activations share one. */
static uint32_t regionOf(SambaEmitter *emitter, const SambaPefSymbol *symbol, SambaStringRef name) {
  uint64_t bytes = sambaMemoryRound(symbol->bytes + (symbol->bytes == 0),
                                    sambaMachineMemoryAlignment(emitter->machine));
  uint32_t index = (uint32_t)emitter->regions.size;
  if (symbol->kind == SAMBA_PEF_SYMBOL_ACTIVATION && !name.size)
    return emitter->activations;
  if (!name.size)
    return sambaEmitRegion(emitter, symbol->name, symbol->address, bytes);

  SambaStringRef kept = sambaStringRefCopy(emitter->arena, name);
  if (sambaStringMapInsert(&emitter->region_of, kept, index, &index))
    return sambaEmitRegion(emitter, kept, symbol->address, bytes);
  SambaPefRegion *region = &emitter->regions.data[index];
  region->bytes = bytes > region->bytes ? bytes : region->bytes;
  return index;
}

static void appendToRegion(SambaEmitter *emitter, uint32_t region, uint32_t symbol) {
  SambaEmitterList *list = &emitter->symbols_in.data[region];
  if (list->first == SAMBA_PEF_NONE)
    list->first = symbol;
  else
    emitter->next_in_region.data[list->last] = symbol;
  list->last = symbol;
  sambaArrayAppend(&emitter->next_in_region, SAMBA_PEF_NONE);
}

SambaStatus sambaEmitSymbol(SambaEmitter *emitter, MlirValue value, SambaStringRef name,
                            SambaPefSymbolKind kind, uint64_t address, SambaStringRef region,
                            uint32_t *out_symbol) {
  SambaTensorType type;
  SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(value), &type));
  SambaPefSymbol symbol;

  sambaPefSymbolInitialize(&symbol);
  symbol.name = sambaEmitName(emitter, &emitter->names, name, (uint32_t)emitter->symbols.size);
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
  *out_symbol = (uint32_t)emitter->symbols.size;
  sambaArrayAppend(&emitter->symbols, symbol);
  sambaArrayAppend(&emitter->values, mlirAttributeGetNull());
  appendToRegion(emitter, symbol.region, *out_symbol);
  sambaPointerMapSet(&emitter->symbol_of, value.ptr, *out_symbol);

  return NULL;
}

SambaStatus sambaEmitKind(SambaStringRef text, SambaPefSymbolKind *out_kind) {
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

SambaStatus sambaEmitKindOfResult(MlirOperation function, intptr_t output,
                                  SambaPefSymbolKind *out_kind) {
  *out_kind = output < 0 ? SAMBA_PEF_SYMBOL_ACTIVATION : SAMBA_PEF_SYMBOL_OUTPUT;
  if (output < 0)
    return NULL;
  return sambaEmitKind(
      sambaEmitText(sambaFunctionAttribute(function, "res_attrs", output, SAMBA_KIND_ATTRIBUTE)),
      out_kind);
}

void sambaEmitHostDType(SambaPefSymbol *symbol, MlirAttribute attribute) {
  if (!mlirAttributeIsNull(attribute) && mlirAttributeIsAType(attribute))
    symbol->host_dtype = sambaDTypeFromType(mlirTypeAttrGetValue(attribute));
}
