/* samba-pin-decisions: what a decisions file says of layers becomes attributes of their operators,
 * which the partitioner and the planner follow. */
#include "backend/decision/decision.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/rdu.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/read_operators.h"
#include "passes/passes.h"
#include "passes/section/layer_names.h"
#include "passes/section/outline_sections.h"
#include "passes/section/pinned_sections.h"
#include "support/file/input_file.h"
#include "support/text/nearest.h"
#include "support/text/text.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"

#include <stdlib.h>
#include <unistd.h>

/* A decisions file while it is brought into a module. */
typedef struct Pinning {
  const char *path;
  SambaDecisions decisions;
  SambaStringMap by_name; /* to an index of the layers */
  uint32_t *seen;         /* operators of each layer that the module has */
} Pinning;

static void warn(const Pinning *pinning, MlirOperation operation, const SambaLayerDecisions *layer,
                 const char *why) {
  SambaText text = {0};
  sambaTextFormat(&text, "%s: layer '%s': %s; it is mapped anew", pinning->path, layer->name, why);
  sambaDiagnose(mlirOperationGetLocation(operation), MlirDiagnosticWarning,
                mlirStringRefCreate(text.data, text.size), 0, NULL);
  sambaTextFree(&text);
}

/* A mapping of another extent, as after a change of the batch size: tiles are no larger than what
 * there is, and there are no more copies than tiles. */
static void fitToExtents(const SambaStage *stage, SambaMapping *mapping) {
  for (uint32_t d = 0; d < mapping->dim_count; ++d) {
    int64_t extent = stage->extents[d];
    if (mapping->tile[d] > extent)
      mapping->tile[d] = extent;
    int64_t tiles = (extent + mapping->tile[d] - 1) / mapping->tile[d];
    if (mapping->unroll[d] > tiles)
      mapping->unroll[d] = (uint32_t)tiles;
  }
}

static MlirLogicalResult dropError(MlirDiagnostic diagnostic, void *user) {
  (void)diagnostic;
  (void)user;
  return mlirLogicalResultSuccess();
}

/* The mapping that the text is. False when it is none: an error is emitted. */
static bool parseMapping(const Pinning *pinning, MlirOperation operation,
                         const SambaLayerDecisions *layer, const char *text,
                         SambaMapping *out_mapping) {
  MlirContext context = mlirOperationGetContext(operation);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, dropError, NULL, NULL);
  MlirAttribute attribute = mlirAttributeParseGet(context, sambaMlirString(text));
  mlirContextDetachDiagnosticHandler(context, handler);

  if (mlirAttributeIsNull(attribute) || !sambaAttributeIs(attribute, SAMBA_MAPPING_KIND))
    return sambaEmitOpError(operation, "%s: layer '%s': '%s' is no #rdu.mapping<...>",
                            pinning->path, layer->name, text);
  SambaStatus status = sambaMappingFromAttribute(attribute, out_mapping);
  return !status || sambaEmitOpStatus(operation, status);
}

/* Sets the mappings of the operator's stages as the file has them. False: an error was emitted. */
static bool pinMappings(const Pinning *pinning, MlirOperation operation,
                        const SambaLayerDecisions *layer, const SambaOperatorDecision *decision) {
  uint32_t count = decision->mapping_count;
  SambaMapping *mappings = sambaAllocate(sambaArraySize(count, sizeof *mappings));
  bool fine = true;
  for (uint32_t m = 0; m < count && fine; ++m)
    fine = parseMapping(pinning, operation, layer, decision->mappings[m], &mappings[m]);
  if (fine)
    sambaMappingSetOnOperation(operation, count, mappings);
  free(mappings);
  return fine;
}

/* Mappings of an operator that the file has, while they are fitted to its stages. */
typedef struct Fitting {
  SambaMapping *mappings;
  uint32_t count;
  uint32_t left; /* of them: for stages that have not been seen yet */
  bool fits;
} Fitting;

static Fitting startFitting(MlirOperation operation, SambaArena *arena) {
  Fitting fitting = {.fits = true};
  while (!mlirAttributeIsNull(sambaMappingAttributeOf(operation, fitting.count)))
    ++fitting.count;
  fitting.mappings = SAMBA_ARENA_ARRAY(arena, SambaMapping, fitting.count + 1);
  for (uint32_t m = 0; m < fitting.count; ++m) {
    sambaMappingOfOperation(operation, m, &fitting.mappings[m]);
    fitting.left += fitting.mappings[m].dim_count != 0;
  }
  return fitting;
}

static void fitStage(Fitting *fitting, const SambaStage *stage, uint32_t ordinal) {
  if (ordinal >= fitting->count || !fitting->mappings[ordinal].dim_count)
    return;
  SambaMapping *mapping = &fitting->mappings[ordinal];
  --fitting->left;
  fitting->fits &= mapping->dim_count == stage->dim_count;
  if (fitting->fits)
    fitToExtents(stage, mapping);
}

/* Fits mappings to the stages that the members of a section have together: who reads a result says
 * which dimensions the stages that make it have. `layers`: of each member; NULL when the file has
 * no mappings of it. */
static bool fitMappings(const Pinning *pinning, const MlirOperation *members, uint32_t count,
                        const SambaLayerDecisions *const *layers) {
  SambaArena arena = {0};
  SambaSectionStages stages;
  SambaStatus status = sambaOperatorsReadStages(members, count, &arena, &stages);
  Fitting *fittings = SAMBA_ARENA_ARRAY(&arena, Fitting, count + 1);
  bool fine = !status || sambaEmitOpStatus(members[0], status);

  for (uint32_t m = 0; m < count && fine; ++m)
    if (layers[m])
      fittings[m] = startFitting(members[m], &arena);
  for (uint32_t s = 0; fine && s < stages.graph->stage_count; ++s)
    if (stages.stage_operation[s] != SAMBA_NO_INDEX)
      fitStage(&fittings[stages.stage_operation[s]], &stages.graph->stages[s],
               stages.stage_ordinal[s]);

  for (uint32_t m = 0; m < count && fine; ++m) {
    if (!layers[m])
      continue;
    if (fittings[m].fits && !fittings[m].left) {
      sambaMappingSetOnOperation(members[m], fittings[m].count, fittings[m].mappings);
      continue;
    }
    mlirOperationRemoveAttributeByName(members[m], sambaMlirString(SAMBA_MAPPING_ATTRIBUTE));
    warn(pinning, members[m], layers[m], "its mappings are those of other stages than it has");
  }
  sambaArenaDestroy(&arena);
  return fine;
}

/* Fits the mappings of a graph, section by section. `layers`: of each operator, as above. */
static bool fitGraph(const Pinning *pinning, const MlirOperation *operators, uint32_t count,
                     const SambaLayerDecisions *const *layers) {
  SambaPinned *pinned = sambaAllocate(sambaArraySize(count + 1, sizeof *pinned));
  MlirOperation *members = sambaAllocate(sambaArraySize(count + 1, sizeof *members));
  const SambaLayerDecisions **of = sambaAllocate(sambaArraySize(count + 1, sizeof *of));
  uint32_t found = sambaPinnedCollect(true, operators, count, pinned);
  bool fine = true;

  for (uint32_t first = 0, end; first < found && fine; first = end) {
    bool mapped = false;
    end = sambaPinnedEnd(pinned, found, first);
    for (uint32_t p = first; p < end; ++p) {
      members[p - first] = operators[pinned[p].index];
      of[p - first] = layers[pinned[p].index];
      mapped |= of[p - first] != NULL;
    }
    fine = !mapped || fitMappings(pinning, members, end - first, of);
  }
  free(pinned);
  free(members);
  free(of);
  return fine;
}

/* out_layer: set when the operator's mappings are to be fitted. */
static bool pinOperator(Pinning *pinning, MlirOperation operation, uint32_t layer_index,
                        uint32_t place, const SambaLayerDecisions **out_layer) {
  const SambaLayerDecisions *layer = &pinning->decisions.layers[layer_index];
  if (!layer->every && place >= layer->count)
    return true; /* checkSeen tells */
  const SambaOperatorDecision *decision = &layer->operators[layer->every ? 0 : place];
  MlirType type = mlirIntegerTypeGet(mlirOperationGetContext(operation), 64);
  if (decision->section >= 0)
    mlirOperationSetDiscardableAttributeByName(operation, sambaMlirString(SAMBA_SECTION_ATTRIBUTE),
                                               mlirIntegerAttrGet(type, decision->section));
  if (decision->parallel)
    sambaSetParallelDivisor(operation, decision->parallel);
  if (!decision->mapping_count)
    return true;
  *out_layer = layer;
  return pinMappings(pinning, operation, layer, decision);
}

static bool pinGraph(Pinning *pinning, SambaLayerNames *names, MlirOperation function) {
  uint32_t count;
  MlirOperation *operators = sambaFunctionOperators(function, &count);
  const SambaLayerDecisions **layers = sambaAllocateZeroed(count + 1, sizeof *layers);
  bool fine = true;
  for (uint32_t i = 0; i < count && fine; ++i) {
    uint32_t place, layer;
    uint32_t name =
        sambaLayerNamesAdd(names, sambaLayerOfLocation(mlirOperationGetLocation(operators[i])),
                           sambaFromMlir(sambaOperationName(operators[i])), &place);
    if (!sambaStringMapGet(&pinning->by_name, sambaStringRef(names->list.data[name].name), &layer))
      continue;
    ++pinning->seen[layer];
    fine = pinOperator(pinning, operators[i], layer, place, &layers[i]);
  }
  fine = fine && fitGraph(pinning, operators, count, layers);
  free(layers);
  free(operators);
  return fine;
}

/* Every layer of the file is there, with as many operators as it says. */
static bool checkSeen(const Pinning *pinning, const SambaLayerNames *names, MlirOperation module) {
  for (uint32_t l = 0; l < pinning->decisions.count; ++l) {
    const SambaLayerDecisions *layer = &pinning->decisions.layers[l];
    uint32_t seen = pinning->seen[l];
    if (seen && !layer->every && seen != layer->count)
      return sambaEmitOpError(module,
                              "%s: layer '%s' has %u operators in the graph, but %u entries; give "
                              "one for each, or one object for all",
                              pinning->path, layer->name, seen, layer->count);
    if (seen && layer->every && layer->operators[0].mapping_count && seen > 1)
      return sambaEmitOpError(module,
                              "%s: layer '%s' has %u operators in the graph, and one mapping "
                              "cannot be that of all; give a list with an entry for each",
                              pinning->path, layer->name, seen);
    if (seen)
      continue;
    SambaNearest nearest = sambaNearestStart(sambaStringRef(layer->name));
    for (size_t i = 0; i < names->list.size; ++i)
      sambaNearestOffer(&nearest, sambaStringRef(names->list.data[i].name));
    return sambaEmitOpError(module, "%s: the graph has no layer '%s'%s%.*s%s", pinning->path,
                            layer->name, nearest.found.size ? "; did you mean " : "",
                            (int)nearest.found.size, nearest.found.data,
                            nearest.found.size ? "?" : "");
  }
  return true;
}

static SambaStatus readDecisions(const char *path, SambaArena *arena, SambaDecisions *out) {
  int fd;
  uint64_t size;
  uint8_t *data = NULL;
  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &fd, &size));
  SambaStatus status = sambaInputFileRead(fd, path, size, &data);
  close(fd);
  if (!status)
    status = sambaDecisionsRead(path, (const char *)data, size, arena, out);
  free(data);
  return status;
}

bool sambaPinDecisions(MlirOperation module, const char *path) {
  SambaArena arena = {0};
  SambaLayerNames names = {0};
  Pinning pinning = {.path = path};
  SambaStatus status = readDecisions(path, &arena, &pinning.decisions);
  if (!status)
    status = sambaModuleOrderGraphs(module);
  pinning.seen = SAMBA_ARENA_ARRAY(&arena, uint32_t, pinning.decisions.count + 1);
  for (uint32_t l = 0; l < pinning.decisions.count; ++l)
    sambaStringMapInsert(&pinning.by_name, sambaStringRef(pinning.decisions.layers[l].name), l,
                         NULL);

  bool fine = !status || sambaEmitOpStatus(module, status);
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       fine && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      fine = pinGraph(&pinning, &names, operation);
  fine = fine && checkSeen(&pinning, &names, module);
  sambaStringMapFree(&pinning.by_name);
  sambaLayerNamesFree(&names);
  sambaArenaDestroy(&arena);
  return fine;
}
