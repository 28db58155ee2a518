/* Consistency of a PEF; see sambaPefCheck in pef.h. First every field by its kind (the schema knows
 * what is an index of what), then what the records mean together: memory, symbols, schedule. */
#include "backend/pef/pef_check.h"

#include "backend/pef/pef.h"
#include "backend/pef/schema.h"
#include "support/container/string_map.h"
#include "support/text/escape.h"

#include <math.h>
#include <stdlib.h>

typedef struct Checker {
  const SambaPef *pef;
  SambaArena arena; /* texts of messages */
  SambaMachine machine;
  const SambaPefCall **slots; /* of the argument block: the last call that binds it */
} Checker;

#define U64(x) ((uint64_t)(x))

/* "symbol 3 \"x\"". */
static const char *describe(Checker *checker, SambaPefTableId id, uint32_t index,
                            SambaStringRef name) {
  return sambaArenaFormat(&checker->arena, "%s %u %s", sambaPefTable(id)->singular, index,
                          sambaStringEscape(&checker->arena, name).data);
}
#define DESCRIBE(Type, index, record)                                                              \
  describe(checker, SAMBA_PEF_TABLE_##Type, (index), (record)->name)
#define INVALID(...) sambaStatusMake(SAMBA_INVALID, __VA_ARGS__)

static SambaStatus checkField(Checker *checker, const SambaPefField *field, const void *record) {
  uint32_t value, count;
  memcpy(&value, sambaPefFieldAt(record, field), sizeof value);
  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_ENUM:
    if (!sambaPefEnumeratorName(field->values, value))
      return INVALID("%s is %u, which has no meaning", field->name, value);
    return NULL;
  case SAMBA_PEF_FIELD_FLAGS:
    if (value & ~sambaPefFlagsMask(field->values))
      return INVALID("%s is 0x%x, but only the bits 0x%x have a meaning", field->name, value,
                     sambaPefFlagsMask(field->values));
    return NULL;
  case SAMBA_PEF_FIELD_DTYPE:
    if (value >= SAMBA_DTYPE_COUNT)
      return INVALID("%s is %u, which is no dtype", field->name, value);
    return NULL;
  case SAMBA_PEF_FIELD_OPTIONAL:
    if (value == SAMBA_PEF_NONE)
      return NULL;
    /* fallthrough */
  case SAMBA_PEF_FIELD_INDEX:
    sambaPefTableRecords(checker->pef, field->target, &count);
    if (value >= count)
      return INVALID("%s is %s %u, but there are %u", field->name,
                     sambaPefTable(field->target)->singular, value, count);
    return NULL;
  default:
    return NULL;
  }
}

/* One level of children is all there is: the schema test holds that. */
static SambaStatus checkFields(Checker *checker, const SambaPefTable *table, const void *record) {
  for (uint32_t f = 0; f < table->field_count; ++f) {
    const SambaPefField *field = &table->fields[f];
    if (field->kind != SAMBA_PEF_FIELD_CHILDREN) {
      SAMBA_RETURN_IF_ERROR(checkField(checker, field, record));
      continue;
    }
    const SambaPefTable *child_table = sambaPefTable(field->target);
    const char *children = sambaPefFieldChildren(record, field);
    uint32_t count = sambaPefFieldCount(record, field);
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t g = 0; g < child_table->field_count; ++g) {
        SambaStatus status = checkField(checker, &child_table->fields[g],
                                        children + (size_t)i * child_table->struct_bytes);
        if (status)
          return sambaStatusAnnotate(status, "%s %u", child_table->singular, i);
      }
  }

  return NULL;
}

static SambaStatus checkTables(Checker *checker) {
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    const SambaPefTable *table = sambaPefTable(t);
    uint32_t count;
    const char *records = sambaPefTableRecords(checker->pef, t, &count);
    for (uint32_t i = 0; i < count; ++i) {
      SambaStatus status = checkFields(checker, table, records + (size_t)i * table->struct_bytes);
      if (status)
        return sambaStatusAnnotate(status, "%s %u", table->singular, i);
    }
  }
  return NULL;
}

static const char *memoryTitle(SambaPefMemory memory) {
  switch (memory) {
  case SAMBA_PEF_MEMORY_HBM:
    return "HBM";
  case SAMBA_PEF_MEMORY_DDR:
    return "DDR";
  default:
    return "host memory";
  }
}

/* Bounds of a memory in the device's address space; see tables.def, region.address. */
static void memoryBounds(const SambaMachine *machine, SambaPefMemory memory, uint64_t *out_start,
                         uint64_t *out_end) {
  uint64_t hbm = U64(machine->hbm_bytes);
  uint64_t ddr = U64(machine->ddr_bytes);
  switch (memory) {
  case SAMBA_PEF_MEMORY_HBM:
    *out_start = 0;
    *out_end = hbm;
    break;
  case SAMBA_PEF_MEMORY_DDR:
    *out_start = hbm;
    *out_end = hbm + ddr;
    break;
  default:
    *out_start = hbm + ddr;
    *out_end = hbm + ddr + U64(machine->host_bytes);
  }
}

static int compareRegions(const void *a, const void *b) {
  const SambaPefRegion *const *first = a, *const *second = b;
  if ((*first)->address != (*second)->address)
    return (*first)->address < (*second)->address ? -1 : 1;
  return (*first > *second) - (*first < *second);
}

static SambaStatus checkRegions(Checker *checker) {
  const SambaPef *pef = checker->pef;
  const SambaPefRegion **sorted =
      SAMBA_ARENA_ARRAY(&checker->arena, const SambaPefRegion *, pef->regions_count);

  for (uint32_t i = 0; i < pef->regions_count; ++i) {
    const SambaPefRegion *region = sorted[i] = &pef->regions[i];
    if (region->memory == SAMBA_PEF_MEMORY_ANY)
      return INVALID("%s: memory is `any`, expected the one that was assigned",
                     DESCRIBE(Region, i, region));
    if (!region->alignment || region->alignment & (region->alignment - 1))
      return INVALID("%s: alignment is %llu, expected a power of two", DESCRIBE(Region, i, region),
                     (unsigned long long)region->alignment);
    if (region->address & (region->alignment - 1))
      return INVALID("%s: address 0x%llx is not a multiple of its alignment %llu",
                     DESCRIBE(Region, i, region), (unsigned long long)region->address,
                     (unsigned long long)region->alignment);
    uint64_t start, end;
    memoryBounds(&checker->machine, region->memory, &start, &end);
    if (!region->bytes || region->address < start || region->address > end ||
        region->bytes > end - region->address)
      return INVALID(
          "%s: address 0x%llx and %llu bytes are not within [0x%llx, 0x%llx), the %s of machine %s",
          DESCRIBE(Region, i, region), (unsigned long long)region->address,
          (unsigned long long)region->bytes, (unsigned long long)start, (unsigned long long)end,
          memoryTitle(region->memory), checker->machine.name);
    for (uint32_t k = 0; k < region->owners_count; ++k)
      if (pef->symbols[region->owners[k].symbol].region != i)
        return INVALID("%s: owner %u is symbol %u, which is in region %u",
                       DESCRIBE(Region, i, region), k, region->owners[k].symbol,
                       pef->symbols[region->owners[k].symbol].region);
  }

  qsort(sorted, pef->regions_count, sizeof *sorted, compareRegions);
  for (uint32_t i = 1; i < pef->regions_count; ++i)
    if (sorted[i]->address - sorted[i - 1]->address < sorted[i - 1]->bytes)
      return INVALID("%s overlaps %s",
                     DESCRIBE(Region, (uint32_t)(sorted[i] - pef->regions), sorted[i]),
                     DESCRIBE(Region, (uint32_t)(sorted[i - 1] - pef->regions), sorted[i - 1]));
  return NULL;
}

static SambaStatus checkShape(const SambaPefSymbol *symbol) {
  uint64_t elements = 1;
  if (symbol->dims_count > SAMBA_PEF_MAX_RANK)
    return INVALID("it has %u dimensions, expected at most %d", symbol->dims_count,
                   SAMBA_PEF_MAX_RANK);

  for (uint32_t d = 0; d < symbol->dims_count; ++d) {
    if (__builtin_mul_overflow(elements, symbol->dims[d].size, &elements) || elements >> 48 ||
        symbol->dims[d].size >> 48)
      return INVALID("its shape has 2^48 elements or more");
  }

  if (symbol->bytes != elements * sambaDTypeBytes(symbol->device_dtype))
    return INVALID("bytes is %llu, expected %llu elements of %s", (unsigned long long)symbol->bytes,
                   (unsigned long long)elements, sambaDTypeName(symbol->device_dtype));
  bool data = symbol->init == SAMBA_PEF_INIT_BLOB || symbol->init == SAMBA_PEF_INIT_FILE;
  if (data && symbol->init_bytes != elements * sambaDTypeBytes(symbol->init_dtype))
    return INVALID("init_bytes is %llu, expected %llu elements of %s",
                   (unsigned long long)symbol->init_bytes, (unsigned long long)elements,
                   sambaDTypeName(symbol->init_dtype));
  if (data && symbol->init_offset > INT64_MAX - symbol->init_bytes)
    return INVALID("init_offset %llu is beyond any file", (unsigned long long)symbol->init_offset);
  return NULL;
}

/* Where the elements of a symbol lie in its memory. */
static SambaStatus checkLayout(const SambaPefSymbol *symbol) {
  uint64_t blocks, span;
  if (symbol->layout == SAMBA_PEF_LAYOUT_ROW_MAJOR) {
    if (symbol->block_bytes || symbol->block_step)
      return INVALID("it is row_major, but block_bytes is %llu and block_step %llu; expected 0",
                     (unsigned long long)symbol->block_bytes,
                     (unsigned long long)symbol->block_step);
    return NULL;
  }
  if (!symbol->block_bytes || symbol->bytes % symbol->block_bytes ||
      symbol->block_bytes % sambaDTypeBytes(symbol->device_dtype) ||
      symbol->block_step % sambaDTypeBytes(symbol->device_dtype) ||
      symbol->block_step < symbol->block_bytes)
    return INVALID("%llu bytes do not lie in blocks of %llu bytes, one every %llu",
                   (unsigned long long)symbol->bytes, (unsigned long long)symbol->block_bytes,
                   (unsigned long long)symbol->block_step);
  blocks = symbol->bytes / symbol->block_bytes;
  if (symbol->init != SAMBA_PEF_INIT_NONE)
    return INVALID("it lies in blocks, and has init data; expected init none");
  if (__builtin_mul_overflow(blocks, symbol->block_step, &span))
    return INVALID("its %llu blocks, one every %llu bytes, lie beyond any memory",
                   (unsigned long long)blocks, (unsigned long long)symbol->block_step);
  return NULL;
}

static bool sameShape(const SambaPefSymbol *a, const SambaPefSymbol *b) {
  bool same = a->dims_count == b->dims_count;
  for (uint32_t d = 0; same && d < a->dims_count; ++d)
    same = a->dims[d].size == b->dims[d].size;
  return same;
}

/* A copy in f32 keeps its bytes, as what it is the copy of does, and lies elsewhere. */
static SambaStatus checkMaster(const SambaPef *pef, const SambaPefSymbol *symbol) {
  const SambaPefSymbol *master = &pef->symbols[symbol->master];
  if (!sambaDTypeIsFloat(symbol->device_dtype) || sambaDTypeBytes(symbol->device_dtype) != 2)
    return INVALID("it has a master, but its elements are %s, expected bf16 or f16",
                   sambaDTypeName(symbol->device_dtype));
  if (master->device_dtype != SAMBA_DTYPE_F32 || !sameShape(symbol, master))
    return INVALID("master is symbol %u, which is no f32 of its shape", symbol->master);
  if (master->kind != SAMBA_PEF_SYMBOL_OPTIMIZER_STATE)
    return INVALID("master is symbol %u, which is no optimizer_state", symbol->master);
  if (!(symbol->flags & master->flags & SAMBA_PEF_PERSISTENT))
    return INVALID("master is symbol %u; both must have the flag persistent", symbol->master);
  if (sambaPefSymbolsMeet(symbol, master))
    return INVALID("master is symbol %u, which has bytes in common with it", symbol->master);
  return NULL;
}

/* A part lies among the bytes of a symbol that is no part itself. */
static SambaStatus checkPart(const SambaPef *pef, const SambaPefSymbol *symbol) {
  const SambaPefSymbol *whole = &pef->symbols[symbol->part_of];
  if (whole->part_of != SAMBA_PEF_NONE)
    return INVALID("part_of is symbol %u, which is a part itself", symbol->part_of);
  if (whole->device_dtype != symbol->device_dtype ||
      (whole->layout | symbol->layout) != SAMBA_PEF_LAYOUT_ROW_MAJOR)
    return INVALID("part_of is symbol %u; both must have one dtype and the layout row_major",
                   symbol->part_of);
  if (symbol->init != SAMBA_PEF_INIT_NONE || whole->init != SAMBA_PEF_INIT_NONE)
    return INVALID("part_of is symbol %u; neither may have initial values", symbol->part_of);
  if (whole->region != symbol->region || symbol->address < whole->address ||
      symbol->bytes > whole->bytes ||
      symbol->address - whole->address > whole->bytes - symbol->bytes)
    return INVALID("part_of is symbol %u, but not all of its bytes are among that one's",
                   symbol->part_of);
  if ((symbol->address - whole->address) % SAMBA_MEMORY_PART)
    return INVALID("it begins at byte %llu of symbol %u, expected a multiple of %d",
                   (unsigned long long)(symbol->address - whole->address), symbol->part_of,
                   SAMBA_MEMORY_PART);
  return NULL;
}

/* What a symbol says of itself and of others in training. */
static SambaStatus checkRole(const SambaPef *pef, const SambaPefSymbol *symbol) {
  bool data = symbol->init == SAMBA_PEF_INIT_BLOB || symbol->init == SAMBA_PEF_INIT_FILE;
  if (symbol->flags & SAMBA_PEF_HAS_DATA && !data)
    return INVALID("it has the flag has_data, but init is neither blob nor file");
  if (symbol->flags & SAMBA_PEF_PERSISTENT && symbol->kind == SAMBA_PEF_SYMBOL_ACTIVATION)
    return INVALID("it is an activation, but has the flag persistent");
  if (symbol->flags & SAMBA_PEF_REQUIRES_GRAD && !sambaDTypeIsFloat(symbol->device_dtype))
    return INVALID("it has the flag requires_grad, but its elements are %s",
                   sambaDTypeName(symbol->device_dtype));

  if (symbol->grad_symbol != SAMBA_PEF_NONE) {
    const SambaPefSymbol *gradient = &pef->symbols[symbol->grad_symbol];
    if (!(symbol->flags & SAMBA_PEF_REQUIRES_GRAD))
      return INVALID("it has a gradient, but not the flag requires_grad");
    if (gradient->kind != SAMBA_PEF_SYMBOL_GRADIENT || !sameShape(symbol, gradient))
      return INVALID("grad_symbol is symbol %u, which is no gradient of its shape",
                     symbol->grad_symbol);
  }

  if (symbol->update_of != SAMBA_PEF_NONE) {
    const SambaPefSymbol *updated = &pef->symbols[symbol->update_of];
    if (symbol->kind != SAMBA_PEF_SYMBOL_UPDATE)
      return INVALID("it has update_of, but is no update");
    if (updated == symbol || updated->device_dtype != symbol->device_dtype ||
        !sameShape(symbol, updated))
      return INVALID("update_of is symbol %u, which is no other one of its shape and dtype",
                     symbol->update_of);
  }

  if (symbol->master != SAMBA_PEF_NONE)
    SAMBA_RETURN_IF_ERROR(checkMaster(pef, symbol));
  uint32_t bits = 8 * sambaDTypeBytes(symbol->device_dtype);
  if (symbol->init == SAMBA_PEF_INIT_FILL && bits < 64 && symbol->init_value >> bits)
    return INVALID("init_value is 0x%llx, which is no %s", (unsigned long long)symbol->init_value,
                   sambaDTypeName(symbol->device_dtype));
  return NULL;
}

static SambaStatus checkSymbol(Checker *checker, const SambaPefSymbol *symbol) {
  const SambaPefRegion *region = &checker->pef->regions[symbol->region];
  if (!symbol->name.size)
    return INVALID("it has no name");
  SAMBA_RETURN_IF_ERROR(checkShape(symbol));
  SAMBA_RETURN_IF_ERROR(checkLayout(symbol));
  if (symbol->address < region->address || symbol->address - region->address > region->bytes ||
      sambaPefSymbolSpan(symbol) > region->bytes - (symbol->address - region->address))
    return INVALID("address 0x%llx and %llu bytes are not within its region %u [0x%llx, 0x%llx)",
                   (unsigned long long)symbol->address, (unsigned long long)symbol->bytes,
                   symbol->region, (unsigned long long)region->address,
                   (unsigned long long)(region->address + region->bytes));
  if (symbol->address % sambaDTypeBytes(symbol->device_dtype))
    return INVALID("address 0x%llx is not a multiple of the size of %s",
                   (unsigned long long)symbol->address, sambaDTypeName(symbol->device_dtype));
  if ((symbol->first_call == SAMBA_PEF_NONE) != (symbol->last_call == SAMBA_PEF_NONE) ||
      symbol->first_call > symbol->last_call)
    return INVALID("first_call and last_call are not an interval");
  if (symbol->init == SAMBA_PEF_INIT_FILE && !symbol->init_file.size && !symbol->source.path)
    return INVALID("init is a file without init_file");
  if (symbol->part_of != SAMBA_PEF_NONE)
    SAMBA_RETURN_IF_ERROR(checkPart(checker->pef, symbol));
  return checkRole(checker->pef, symbol);
}

static SambaStatus checkSymbols(Checker *checker) {
  const SambaPef *pef = checker->pef;
  SambaStringMap names = {0};
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < pef->symbols_count && !status; ++i) {
    const SambaPefSymbol *symbol = &pef->symbols[i];
    uint32_t other;
    status = checkSymbol(checker, symbol);
    if (!status && !sambaStringMapInsert(&names, symbol->name, i, &other))
      status = INVALID("symbol %u has the same name", other);
    if (status)
      sambaStatusAnnotate(status, "%s", DESCRIBE(Symbol, i, symbol));
  }

  sambaStringMapFree(&names);
  return status;
}

/* The value of an argin as a number; NaN compares with nothing. */
static double arginValue(const SambaPefArgin *argin, uint64_t bits) {
  switch (argin->dtype) {
  case SAMBA_DTYPE_I32:
    return (int32_t)(uint32_t)bits;
  case SAMBA_DTYPE_I64:
    return (double)(int64_t)bits;
  default:
    return sambaBitsToFloat(SAMBA_DTYPE_F32, (uint32_t)bits);
  }
}

static SambaStatus checkArgin(const SambaPefArgin *argin) {
  if (!argin->name.size)
    return INVALID("it has no name");
  if (argin->dtype != SAMBA_DTYPE_F32 && argin->dtype != SAMBA_DTYPE_I32 &&
      argin->dtype != SAMBA_DTYPE_I64)
    return INVALID("dtype is %s, expected f32, i32 or i64", sambaDTypeName(argin->dtype));
  double minimum =
      argin->flags & SAMBA_PEF_HAS_MINIMUM ? arginValue(argin, argin->minimum) : -INFINITY;
  double maximum =
      argin->flags & SAMBA_PEF_HAS_MAXIMUM ? arginValue(argin, argin->maximum) : INFINITY;
  if (!(minimum <= maximum))
    return INVALID("min %g is above max %g", minimum, maximum);
  if (!(argin->flags & SAMBA_PEF_HAS_DEFAULT))
    return NULL;
  double value = arginValue(argin, argin->default_value);
  if (!(minimum <= value && value <= maximum))
    return INVALID("default %g is outside [%g, %g]", value, minimum, maximum);
  return NULL;
}

static SambaStatus checkArgins(Checker *checker) {
  const SambaPef *pef = checker->pef;
  SambaStringMap names = {0};
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < pef->argins_count && !status; ++i) {
    uint32_t other;
    status = checkArgin(&pef->argins[i]);
    if (!status && !sambaStringMapInsert(&names, pef->argins[i].name, i, &other))
      status = INVALID("argin %u has the same name", other);
    if (status)
      sambaStatusAnnotate(status, "%s", DESCRIBE(Argin, i, &pef->argins[i]));
  }

  sambaStringMapFree(&names);
  return status;
}

static SambaStatus checkBindings(Checker *checker, const SambaPefCall *call) {
  const SambaPef *pef = checker->pef;
  const SambaPefImage *image = &pef->images[pef->sections[call->section].image];
  bool *bound = SAMBA_ARENA_ARRAY(&checker->arena, bool, image->formals_count);

  for (uint32_t i = 0; i < call->bindings_count; ++i) {
    const SambaPefBinding *binding = &call->bindings[i];
    if (binding->kind == SAMBA_PEF_BINDING_ARGIN) {
      if (binding->argin == SAMBA_PEF_NONE)
        return INVALID("binding %u names no argin", i);
      if (binding->formal >= pef->argins_count)
        return INVALID("binding %u is slot %u of the argument block, which has %u", i,
                       binding->formal, pef->argins_count);
      if (checker->slots[binding->formal] == call)
        return INVALID("binding %u binds slot %u of the argument block again", i, binding->formal);
      checker->slots[binding->formal] = call;
      continue;
    }
    if (binding->symbol == SAMBA_PEF_NONE)
      return INVALID("binding %u names no symbol", i);
    if (binding->formal >= image->formals_count)
      return INVALID("binding %u is formal argument %u, but the image has %u", i, binding->formal,
                     image->formals_count);
    if (bound[binding->formal])
      return INVALID("binding %u binds formal argument %u again", i, binding->formal);
    bound[binding->formal] = true;
    if (binding->offset >= pef->symbols[binding->symbol].bytes)
      return INVALID("binding %u: offset %llu is beyond symbol %u of %llu bytes", i,
                     (unsigned long long)binding->offset, binding->symbol,
                     (unsigned long long)pef->symbols[binding->symbol].bytes);
  }

  for (uint32_t i = 0; i < image->formals_count; ++i)
    if (!bound[i])
      return INVALID("formal argument %u %s is not bound", i,
                     sambaStringEscape(&checker->arena, image->formals[i].name).data);
  return NULL;
}

/* A graph goes through its types in the order of a step; one for inference has FWD alone. */
static SambaStatus checkType(const SambaPef *pef, uint32_t id) {
  const SambaPefCall *call = &pef->calls[id];
  const SambaPefGraph *graph = &pef->graphs[call->graph];
  SambaPefSectionType type = pef->sections[call->section].type;

  if (graph->mode == SAMBA_PEF_GRAPH_INFERENCE && type != SAMBA_PEF_SECTION_FWD)
    return INVALID("it is of type %s, but its graph is for inference",
                   sambaPefSectionTypeName(type));
  if (id == graph->first_call)
    return NULL;
  SambaPefSectionType before = pef->sections[pef->calls[id - 1].section].type;
  if (sambaPefSectionTypePlace(type) < sambaPefSectionTypePlace(before))
    return INVALID("it is of type %s, but the call before it is of type %s, which comes later in a "
                   "step",
                   sambaPefSectionTypeName(type), sambaPefSectionTypeName(before));
  return NULL;
}

static SambaStatus checkCall(Checker *checker, uint32_t id) {
  const SambaPef *pef = checker->pef;
  const SambaPefCall *call = &pef->calls[id];
  const SambaPefGraph *graph = &pef->graphs[call->graph];
  for (uint32_t i = 0; i < call->depends_count; ++i)
    if (call->depends[i].call >= id)
      return INVALID("it depends on call %u, which is not earlier", call->depends[i].call);
  if (id < graph->first_call || id - graph->first_call >= graph->call_count)
    return INVALID("it is not among the calls of its graph %u", call->graph);
  uint32_t units = pef->images[pef->sections[call->section].image].units_count;
  if (call->layers_count && call->layers_count != units)
    return INVALID("it names the layers of %u units, but the image has %u", call->layers_count,
                   units);
  SAMBA_RETURN_IF_ERROR(checkType(pef, id));
  return checkBindings(checker, call);
}

static SambaStatus checkSchedule(Checker *checker) {
  const SambaPef *pef = checker->pef;
  for (uint32_t i = 0; i < pef->graphs_count; ++i) {
    const SambaPefGraph *graph = &pef->graphs[i];
    if (graph->first_call > pef->calls_count ||
        graph->call_count > pef->calls_count - graph->first_call)
      return INVALID("%s: calls %u and the %u from there do not exist; there are %u",
                     DESCRIBE(Graph, i, graph), graph->first_call, graph->call_count,
                     pef->calls_count);
    for (uint32_t k = 0; k < graph->outputs_count; ++k) {
      const SambaPefSymbol *symbol = &pef->symbols[graph->outputs[k].symbol];
      bool loss = graph->outputs[k].flags & SAMBA_PEF_OUTPUT_LOSS;
      if (loss != (symbol->kind == SAMBA_PEF_SYMBOL_LOSS))
        return INVALID("%s: output %u has %s flag loss, but symbol %u is %s loss",
                       DESCRIBE(Graph, i, graph), k, loss ? "the" : "no", graph->outputs[k].symbol,
                       loss ? "no" : "a");
    }
  }

  checker->slots = SAMBA_ARENA_ARRAY(&checker->arena, const SambaPefCall *, pef->argins_count);
  for (uint32_t i = 0; i < pef->calls_count; ++i) {
    SambaStatus status = checkCall(checker, i);
    if (status)
      return sambaStatusAnnotate(status, "call %u", i);
  }

  return NULL;
}

/* The interval of calls that touch a symbol is what the bindings say. */
static SambaStatus checkLifetimes(Checker *checker) {
  const SambaPef *pef = checker->pef;
  uint32_t *first = SAMBA_ARENA_ARRAY(&checker->arena, uint32_t, pef->symbols_count);
  uint32_t *last = SAMBA_ARENA_ARRAY(&checker->arena, uint32_t, pef->symbols_count);
  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    first[i] = last[i] = SAMBA_PEF_NONE;
  for (uint32_t c = 0; c < pef->calls_count; ++c)
    for (uint32_t b = 0; b < pef->calls[c].bindings_count; ++b) {
      const SambaPefBinding *binding = &pef->calls[c].bindings[b];
      if (binding->kind != SAMBA_PEF_BINDING_SYMBOL)
        continue;
      first[binding->symbol] =
          first[binding->symbol] == SAMBA_PEF_NONE ? c : first[binding->symbol];
      last[binding->symbol] = c;
    }

  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    const SambaPefSymbol *symbol = &pef->symbols[i];
    if (symbol->first_call != first[i] || symbol->last_call != last[i])
      return INVALID("%s: first_call and last_call are %d and %d, but the calls that touch it are "
                     "%d to %d (-1: none)",
                     DESCRIBE(Symbol, i, symbol), (int)symbol->first_call, (int)symbol->last_call,
                     (int)first[i], (int)last[i]);
  }
  return NULL;
}

SambaStatus sambaPefCheck(const SambaPef *pef) {
  Checker checker = {.pef = pef};
  SambaStatus status = NULL;

  if (pef->header.major != SAMBA_PEF_MAJOR)
    status = INVALID("header: major is %u, expected %d", pef->header.major, SAMBA_PEF_MAJOR);
  if (!status)
    status = checkTables(&checker);
  if (!status)
    status = sambaStatusAnnotate(sambaPefGetMachine(pef, &checker.machine), "machine");
  if (!status)
    status = checkRegions(&checker);
  if (!status)
    status = checkSymbols(&checker);
  if (!status)
    status = checkArgins(&checker);
  if (!status)
    status = checkSchedule(&checker);
  if (!status)
    status = checkLifetimes(&checker);
  sambaArenaDestroy(&checker.arena);

  return status;
}
