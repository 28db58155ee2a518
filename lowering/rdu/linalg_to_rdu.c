/* convert-linalg-to-rdu: every samba.section with mappings becomes an rdu.section of units. */
#include "backend/codegen/codegen.h"
#include "backend/section/stream_numbers.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/rdu.h"
#include "dialect/rdu/section/known_section.h"
#include "dialect/rdu/section/section_io.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/known_plan.h"
#include "dialect/stages/known_stages.h"
#include "lowering/passes.h"
#include "support/base/memory.h"
#include "support/number/shape.h"

#include "backend/section/check/section_check.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

/* The lowering numbers symbols by tensors; calls bind the section's own arguments and results.
 * Several tensors can be one formal (a reshape), and an argument may be read by nobody. */
static void renumberFormals(SambaSection *section, const SambaSectionStages *stages) {
  const SambaStageGraph *graph = stages->graph;
  uint32_t count = stages->argument_count + stages->result_count;
  uint32_t next = 0;
  uint32_t *formal_of = SAMBA_ARENA_ARRAY(section->arena, uint32_t, graph->tensor_count + 1);
  SambaFormal *formals = SAMBA_ARENA_ARRAY(section->arena, SambaFormal, count + 1);

  /* The order of sambaCodegenSection: argument tensors, then result tensors. */
  for (int pass = 0; pass < 2; ++pass)
    for (uint32_t t = 0; t < graph->tensor_count; ++t)
      if (graph->tensors[t].role == (pass == 0 ? SAMBA_TENSOR_ARGUMENT : SAMBA_TENSOR_RESULT))
        formal_of[next++] = stages->tensor_formal[t];

  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    uint32_t f = stages->tensor_formal[t];
    if (f >= count)
      continue;
    bool result = f >= stages->argument_count;
    formals[f] = (SambaFormal){
        .name = sambaArenaFormat(section->arena, result ? "result%u" : "arg%u",
                                 result ? f - stages->argument_count : f),
        .dtype = graph->tensors[t].dtype,
        .elements = (uint64_t)sambaShapeElements(graph->tensors[t].rank, graph->tensors[t].dims),
        .written = result};
  }

  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (sambaUnitIsAddressGenerator(&section->units[u]))
      section->units[u].load_store.symbol = formal_of[section->units[u].load_store.symbol];
  section->symbols = formals;
  section->symbol_count = count;
}

/* Units and streams for the stages; the section is in the arena of the graph. */
static SambaStatus emitUnits(SambaKnownStages *known, const SambaMachine *machine,
                             SambaSection **out_section) {
  SAMBA_RETURN_IF_ERROR(
      sambaCodegenSection(known->stages.graph, machine, &known->arena, out_section));
  renumberFormals(*out_section, &known->stages);
  return sambaSectionCheck(*out_section);
}

static SambaStatus convertSection(MlirOperation operation) {
  SambaKnownStages *known = NULL;
  SambaSection *section = NULL;
  SambaMachine machine;
  MlirAttribute machine_attribute = sambaOperationAttribute(operation, "machine");
  SambaStatus status =
      mlirAttributeIsNull(machine_attribute)
          ? sambaStatusMake(SAMBA_INVALID,
                            "has no machine; samba-partition-sections{target=...} gives one")
          : sambaMachineFromAttribute(machine_attribute, &machine);
  if (!status)
    status = sambaKnownStagesTake(operation, &known);
  if (!status)
    status = emitUnits(known, &machine, &section);
  if (status) {
    sambaKnownStagesDestroy(known);
    return status;
  }

  MlirOperation converted =
      sambaSectionToIr(section, machine_attribute, mlirOperationGetLocation(operation));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, converted);
  mlirOperationDestroy(operation);

  sambaSectionNumberStreams(section);
  sambaKnownSectionKeep(converted, sambaKnownSectionCreate(known->arena, section));
  known->arena = (SambaArena){0}; /* the section's from now on */
  sambaKnownStagesDestroy(known);
  return NULL;
}

/* What a graph may hold beside the calls of its sections. */
static bool needsNoSection(MlirOperation operation) {
  return sambaOperationIs(operation, "samba.call") || sambaOperationIs(operation, "func.return") ||
         sambaOperationIsView(operation) || sambaOperationIsConstant(operation) ||
         sambaOperationIsSource(operation) || sambaOperationIsPlacement(operation);
}

static bool checkSectionsOf(MlirOperation graph) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(graph));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (!needsNoSection(operation))
      return sambaEmitOpError(operation, "is in no samba.section, so it gets no units; "
                                         "samba-partition-sections makes sections of a graph");
  return true;
}

bool sambaConvertLinalgToRdu(MlirOperation module) {
  MlirOperation next;
  bool fine = true;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       fine && !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation))
      fine = checkSectionsOf(operation);
  if (!fine)
    return false;
  sambaKnownPlansTrim(mlirOperationGetContext(module));

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (!sambaOperationIs(operation, "samba.section"))
      continue;
    SambaStatus status = convertSection(operation);
    if (sambaStatusGetCode(status) == SAMBA_EXHAUSTED)
      sambaMarkFailedSection(operation); /* another mapping may do */
    if (status)
      fine = sambaEmitOpStatus(operation, status);
  }

  return fine;
}
