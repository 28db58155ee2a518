/* rdu IR to PEF structs; see rdu_to_pef.h. Each graph is walked once: arguments, constants, calls,
 * results. */
#include "lowering/pef/rdu_to_pef.h"

#include "dialect/rdu/machine_file.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/graph.h"
#include "lowering/pef/emitter.h"

#include <stdlib.h>

/* Which symbols live in each region, in order of their first use. */
static void setOwners(SambaEmitter *emitter) {
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

static void fillTables(SambaEmitter *emitter) {
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
    sambaStringMapInsert(&out->by_name,
                         sambaEmitText(sambaOperationAttribute(operation, "sym_name")),
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
      sections->types.data[section] |= 1u << sambaEmitTypeOfCall(operation);
}

static SambaStatus emitFunction(SambaEmitter *emitter, MlirOperation function,
                                const Sections *sections) {
  SambaPefGraph graph;
  sambaPefGraphInitialize(&graph);
  graph.name = sambaStringRefCopy(emitter->arena,
                                  sambaEmitText(sambaOperationAttribute(function, "sym_name")));
  graph.mode = sambaGraphTrains(function) ? SAMBA_PEF_GRAPH_TRAINING : SAMBA_PEF_GRAPH_INFERENCE;
  bool section = mlirAttributeIsNull(sambaOperationAttribute(function, SAMBA_SPATIAL_ATTRIBUTE));
  graph.mapping = section ? SAMBA_PEF_MAPPING_SECTION : SAMBA_PEF_MAPPING_SPATIAL;
  graph.first_call = (uint32_t)emitter->calls.size;
  sambaRegionsFree(&emitter->names_in_graph);
  sambaRegionsRead(function, &emitter->names_in_graph);
  SAMBA_RETURN_IF_ERROR(sambaEmitArguments(emitter, function, &graph));
  MlirAttribute arena = sambaOperationAttribute(function, SAMBA_ACTIVATIONS_ATTRIBUTE);

  if (mlirAttributeIsNull(arena))
    return sambaStatusMake(SAMBA_INVALID,
                           "the graph has no memory assignment; run samba-assign-memory first");
  if (emitter->activations == SAMBA_PEF_NONE && mlirDenseI64ArrayGetElement(arena, 1) > 0)
    emitter->activations = sambaEmitRegion(emitter, sambaStringRef("activations"),
                                           (uint64_t)mlirDenseI64ArrayGetElement(arena, 0),
                                           (uint64_t)mlirDenseI64ArrayGetElement(arena, 1));
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));

  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    uint32_t section;
    MlirOperation callee = {NULL};
    if (sambaOperationIsConstant(operation)) {
      SAMBA_RETURN_IF_ERROR(sambaEmitConstant(emitter, function, operation));
    } else if (sambaOperationIs(operation, "samba.call")) {
      if (findCallee(sections, operation, &section))
        callee = sections->list.data[section];
      SAMBA_RETURN_IF_ERROR(
          sambaEmitCall(emitter, function, operation, (uint32_t)emitter->graphs.size, callee));
    } else if (sambaOperationIsPlacement(operation)) {
      SAMBA_RETURN_IF_ERROR(sambaEmitPlacement(emitter, function, operation));
    } else if (!sambaOperationIs(operation, "func.return")) {
      return sambaStatusMake(SAMBA_INVALID,
                             "'%.*s' is left in the graph; run samba-partition-sections first",
                             SAMBA_MLIR_STRING_ARGS(sambaOperationName(operation)));
    } else {
      SAMBA_RETURN_IF_ERROR(sambaEmitReturn(emitter, function, operation, &graph));
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

static SambaStatus emitModule(SambaEmitter *emitter, MlirOperation module) {
  Sections sections = {0};
  SambaStatus status = NULL;
  MlirOperation first = mlirBlockGetFirstOperation(sambaBodyOf(module));

  findSections(module, &sections);
  for (MlirOperation operation = first; !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      findTypes(operation, &sections);
  for (size_t s = 0; s < sections.list.size && !status; ++s)
    status = sambaEmitSection(emitter, sections.list.data[s], sections.types.data[s]);
  for (MlirOperation operation = first; !mlirOperationIsNull(operation) && !status;
       operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      status = emitFunction(emitter, operation, &sections);

  sambaArrayFree(&sections.list);
  sambaArrayFree(&sections.types);
  sambaStringMapFree(&sections.by_name);
  return status;
}

/* What is in the PEF stays: that is in its arena. */
static void freeEmitter(SambaEmitter *emitter) {
  sambaArrayFree(&emitter->symbols);
  sambaArrayFree(&emitter->regions);
  sambaArrayFree(&emitter->sections);
  sambaArrayFree(&emitter->argins);
  sambaArrayFree(&emitter->images);
  sambaArrayFree(&emitter->calls);
  sambaArrayFree(&emitter->graphs);
  sambaArrayFree(&emitter->values);
  sambaArrayFree(&emitter->symbols_in);
  sambaArrayFree(&emitter->next_in_region);
  sambaRegionsFree(&emitter->names_in_graph);
  sambaDependencesFree(&emitter->dependences);
  sambaArrayFree(&emitter->first_sections);
  sambaArrayFree(&emitter->first_layers);
  sambaPointerMapFree(&emitter->symbol_of);
  sambaPointerMapFree(&emitter->image_of);
  sambaPointerMapFree(&emitter->argin_of);
  sambaStringMapFree(&emitter->names);
  sambaStringMapFree(&emitter->argin_names);
  sambaStringMapFree(&emitter->region_of);
}

SambaStatus sambaModuleToPef(MlirOperation module, const SambaEmitOptions *options,
                             SambaPef **out_pef) {
  SambaMachine machine;
  SAMBA_RETURN_IF_ERROR(sambaModuleCheckAnyGraph(module));
  SAMBA_RETURN_IF_ERROR(sambaModuleMachine(module, &machine));
  SambaStatus status;
  SambaPef *pef = sambaPefCreate();
  SambaEmitter emitter = {.pef = pef,
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

  freeEmitter(&emitter);
  if (status)
    sambaPefDestroy(pef);
  else
    *out_pef = pef;
  return status;
}
