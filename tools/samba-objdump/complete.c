/* What a listing written by hand may leave out; see objdump.h. Each rule acts only where the
 * listing says nothing at all, so a printed listing, which says everything, passes unchanged. */
#include "backend/machine/shipped.h"
#include "backend/pef/image/image.h"
#include "support/container/string_map.h"
#include "support/text/escape.h"
#include "tools/samba-objdump/objdump.h"

#include <stdlib.h>

enum { regionAlignment = 4096 };

SambaStatus objdumpCompleteMachine(SambaPef *pef) {
  if (pef->machine.parameters_count)
    return NULL;
  const SambaMachine *machine = sambaMachineFind(pef->machine.name);

  if (!machine) {
    SambaArena arena = {0};
    SambaStatus status =
        sambaStatusMake(SAMBA_INVALID, "machine %s has no parameters and is not a shipped machine",
                        sambaStringEscape(&arena, pef->machine.name).data);
    for (int i = 0; sambaMachineShipped(i); ++i)
      sambaStatusNote(status, "shipped: %s", sambaMachineShipped(i)->name);
    sambaArenaDestroy(&arena);
    return status;
  }

  sambaPefSetMachine(pef, machine);
  return NULL;
}

static void completeSizes(SambaPef *pef) {
  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    SambaPefSymbol *symbol = &pef->symbols[i];
    uint64_t elements = 1;
    for (uint32_t d = 0; d < symbol->dims_count; ++d)
      if (__builtin_mul_overflow(elements, symbol->dims[d].size, &elements) || elements >> 48)
        elements = 0; /* the check says what is wrong */
    if (!symbol->bytes)
      symbol->bytes = elements * sambaDTypeBytes(symbol->device_dtype);
  }
}

/* One region per symbol, one after the other, in the first memory that the machine has. */
static void completeRegions(SambaPef *pef, const SambaMachine *machine) {
  if (pef->regions_count)
    return;
  SambaArena *arena = &pef->arena;
  bool hbm = machine->hbm_bytes > 0;
  uint64_t address = 0; /* DDR alone starts at 0 too */
  pef->regions_count = pef->symbols_count;
  pef->regions = SAMBA_ARENA_ARRAY(arena, SambaPefRegion, pef->regions_count);

  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    SambaPefSymbol *symbol = &pef->symbols[i];
    SambaPefRegion *region = &pef->regions[i];
    sambaPefRegionInitialize(region);
    region->name = symbol->name;
    region->memory = hbm ? SAMBA_PEF_MEMORY_HBM : SAMBA_PEF_MEMORY_DDR;
    region->bytes = symbol->bytes;
    region->alignment = regionAlignment;
    region->address = symbol->address = address;
    region->owners_count = 1;
    region->owners = SAMBA_ARENA_NEW(arena, SambaPefOwner);
    region->owners[0].symbol = i;
    symbol->region = i;
    address += (symbol->bytes + regionAlignment - 1) / regionAlignment * regionAlignment;
  }
}

/* One section per image, with its unit counts. */
static SambaStatus completeSections(SambaPef *pef, const SambaMachine *machine) {
  if (pef->sections_count)
    return NULL;
  pef->sections = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefSection, pef->images_count);

  for (uint32_t i = 0; i < pef->images_count; ++i) {
    SambaArena arena = {0};
    SambaSection *code;
    SambaStatus status = sambaPefDecodeImage(pef, i, machine, &arena, &code);
    if (status) {
      sambaArenaDestroy(&arena);
      return status;
    }
    SambaPefSection *section = &pef->sections[i];
    sambaPefSectionInitialize(section);
    section->name = pef->images[i].name;
    section->type = SAMBA_PEF_SECTION_FWD;
    section->image = i;
    section->flags = code->split_k ? SAMBA_PEF_SPLIT_K : 0;
    SambaSectionNeeds needs = sambaSectionCount(code);
    section->pcus = needs.pcus;
    section->pmus = needs.pmus;
    section->ags = needs.ags;
    sambaArenaDestroy(&arena);
  }

  pef->sections_count = pef->images_count;
  return NULL;
}

/* Formal arguments are bound to the symbols of the same name. */
static SambaStatus bindByName(SambaPef *pef, SambaPefCall *call, const SambaStringMap *symbols) {
  const SambaPefImage *image = &pef->images[pef->sections[call->section].image];
  call->bindings_count = image->formals_count;
  call->bindings = SAMBA_ARENA_ARRAY(&pef->arena, SambaPefBinding, image->formals_count);

  for (uint32_t i = 0; i < image->formals_count; ++i) {
    sambaPefBindingInitialize(&call->bindings[i]);
    call->bindings[i].formal = i;
    if (!sambaStringMapGet(symbols, image->formals[i].name, &call->bindings[i].symbol))
      return sambaStatusMake(
          SAMBA_INVALID,
          "section %s: formal argument %s: no symbol has this name; rename one, or write a call",
          sambaStringEscape(&pef->arena, pef->sections[call->section].name).data,
          sambaStringEscape(&pef->arena, image->formals[i].name).data);
  }

  return NULL;
}

/* Each section once, in order, each after the one before. */
static SambaStatus completeCalls(SambaPef *pef) {
  if (pef->calls_count)
    return NULL;
  SambaStringMap symbols = {0};

  for (uint32_t i = 0; i < pef->symbols_count; ++i)
    sambaStringMapInsert(&symbols, pef->symbols[i].name, i, NULL);
  SambaArena *arena = &pef->arena;
  SambaStatus status = NULL;
  pef->calls = SAMBA_ARENA_ARRAY(arena, SambaPefCall, pef->sections_count);

  for (uint32_t i = 0; i < pef->sections_count && !status; ++i) {
    SambaPefCall *call = &pef->calls[i];
    sambaPefCallInitialize(call);
    call->section = i;
    if (i) {
      call->depends_count = 1;
      call->depends = SAMBA_ARENA_NEW(arena, SambaPefDepend);
      call->depends[0].call = i - 1;
    }
    if (pef->sections[i].image < pef->images_count)
      status = bindByName(pef, call, &symbols);
  }

  sambaStringMapFree(&symbols);
  pef->calls_count = pef->sections_count;
  return status;
}

/* The lifetimes of symbols that state none, as the bindings say. Symbols that no call touches keep
 * none. */
static void completeLifetimes(SambaPef *pef) {
  bool *stated = SAMBA_ARENA_ARRAY(&pef->arena, bool, pef->symbols_count);
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    stated[s] =
        pef->symbols[s].first_call != SAMBA_PEF_NONE || pef->symbols[s].last_call != SAMBA_PEF_NONE;

  for (uint32_t c = 0; c < pef->calls_count; ++c)
    for (uint32_t b = 0; b < pef->calls[c].bindings_count; ++b) {
      const SambaPefBinding *binding = &pef->calls[c].bindings[b];
      uint32_t index = binding->symbol;
      if (binding->kind != SAMBA_PEF_BINDING_SYMBOL || index >= pef->symbols_count || stated[index])
        continue;
      SambaPefSymbol *symbol = &pef->symbols[index];
      symbol->first_call = symbol->first_call == SAMBA_PEF_NONE ? c : symbol->first_call;
      symbol->last_call = c;
    }
}

static void completeGraph(SambaPef *pef) {
  SambaArena *arena = &pef->arena;
  SambaPefGraph *graph = pef->graphs = SAMBA_ARENA_NEW(arena, SambaPefGraph);

  pef->graphs_count = 1;
  sambaPefGraphInitialize(graph);
  graph->name = sambaStringRef("main");
  graph->call_count = pef->calls_count;
  for (uint32_t i = 0; i < pef->sections_count; ++i)
    if (pef->sections[i].type != SAMBA_PEF_SECTION_FWD)
      graph->mode = SAMBA_PEF_GRAPH_TRAINING;
  graph->inputs = SAMBA_ARENA_ARRAY(arena, SambaPefInput, pef->symbols_count);
  graph->outputs = SAMBA_ARENA_ARRAY(arena, SambaPefOutput, pef->symbols_count);

  for (uint32_t i = 0; i < pef->symbols_count; ++i) {
    SambaPefSymbolKind kind = pef->symbols[i].kind;
    if (kind == SAMBA_PEF_SYMBOL_INPUT)
      graph->inputs[graph->inputs_count++].symbol = i;
    else if (kind == SAMBA_PEF_SYMBOL_OUTPUT || kind == SAMBA_PEF_SYMBOL_LOSS)
      graph->outputs[graph->outputs_count++] = (SambaPefOutput){
          .symbol = i, .flags = kind == SAMBA_PEF_SYMBOL_LOSS ? SAMBA_PEF_OUTPUT_LOSS : 0};
  }
}

SambaStatus objdumpComplete(SambaPef *pef) {
  SambaMachine machine;
  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(pef, &machine));
  completeSizes(pef);
  completeRegions(pef, &machine);
  SAMBA_RETURN_IF_ERROR(completeSections(pef, &machine));
  SAMBA_RETURN_IF_ERROR(completeCalls(pef));
  completeLifetimes(pef);
  if (!pef->graphs_count)
    completeGraph(pef);
  return NULL;
}
