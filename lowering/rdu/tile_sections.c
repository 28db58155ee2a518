/* samba-tile-sections and rdu-verify-mapping: the planner's decisions as #rdu.mapping on the
 * operations of a section. */
#include "backend/group/group_print.h"
#include "backend/stage/stage_print.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/failed_section.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/rdu.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/known_plan.h"
#include "dialect/stages/known_stages.h"
#include "dialect/stages/read_tensor.h"
#include "lowering/passes.h"
#include "support/file/atomic_file.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

static SambaStatus machineOf(MlirOperation section, SambaMachine *out_machine) {
  MlirAttribute machine = sambaOperationAttribute(section, "machine");
  if (mlirAttributeIsNull(machine))
    return sambaStatusMake(SAMBA_INVALID,
                           "has no machine; samba-partition-sections{target=...} gives one");
  return sambaMachineFromAttribute(machine, out_machine);
}

/* Stages of one operation are consecutive; one that was dropped, because nobody reads it, leaves a
 * gap. */
static void writeMappings(MlirOperation section, const SambaSectionStages *stages) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section));
  uint32_t place = 0;
  for (uint32_t s = 0, next; s < stages->graph->stage_count; s = next) {
    for (next = s + 1; next < stages->graph->stage_count &&
                       stages->stage_operation[next] == stages->stage_operation[s];)
      ++next;
    for (; place < stages->stage_operation[s]; ++place)
      operation = mlirOperationGetNextInBlock(operation);
    uint32_t count = stages->stage_ordinal[next - 1] + 1;
    SambaMapping *mappings = sambaAllocateZeroed(count, sizeof *mappings);
    for (uint32_t i = s; i < next; ++i)
      mappings[stages->stage_ordinal[i]] = stages->graph->mappings[i];
    sambaMappingSetOnOperation(operation, count, mappings);
    free(mappings);
  }
}

/* Writes FOLDER/SECTION.plan.txt: the stages with their mappings, and the groups they form. */
static SambaStatus dumpPlan(MlirOperation section, const SambaStageGraph *graph,
                            const SambaMachine *machine, const char *folder) {
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  SambaArena arena = {0};
  SambaText text = {0};
  SambaGroups groups;
  SambaStatus status = sambaGroupsBuild(graph, machine, &arena, &groups);

  if (!status) {
    sambaStageGraphPrint(graph, &text);
    sambaGroupsPrint(graph, &groups, &text);
    const char *path =
        sambaArenaFormat(&arena, "%s/%.*s.plan.txt", folder, (int)symbol.length, symbol.data);
    status = sambaStatusAnnotate(sambaWriteFile(path, text.data, text.size), "dump of the plan");
  }

  sambaTextFree(&text);
  sambaArenaDestroy(&arena);
  return status;
}

bool sambaTileSections(MlirOperation section, const char *dump, const char *compare) {
  SambaKnownStages *known = NULL;
  SambaMachine machine;
  SambaPlanTarget target = {.machine = &machine,
                            .attribute = sambaOperationAttribute(section, "machine"),
                            .compares = strcmp(compare, "true") == 0 ? SAMBA_COMPARE_ALL
                                                                     : SAMBA_COMPARE_NONE};
  SambaPlanOptions options = {.parallel_divisor = sambaParallelDivisor(section)};
  SambaStatus status = machineOf(section, &machine);

  if (!status && !target.compares && strcmp(compare, "false") != 0)
    status = sambaStatusMake(SAMBA_INVALID, "compare wants true or false, not '%s'", compare);
  if (!status)
    status = sambaKnownStagesTake(section, &known);
  if (!status)
    status = sambaPlanOnce(&target, &options, known->stages.graph);
  if (!status && dump[0])
    status = dumpPlan(section, known->stages.graph, &machine, dump);

  if (!status) {
    writeMappings(section, &known->stages);
    sambaKnownStagesKeep(section, known);
  } else {
    sambaKnownStagesDestroy(known);
  }
  return !status || sambaEmitOpStatus(section, status);
}

bool sambaVerifyMapping(MlirOperation section) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    bool staged = sambaOperationIsOperator(operation) &&
                  !(sambaOperationIs(operation, "tensor.insert_slice") &&
                    sambaInsertSliceIsPartialWrite(operation));
    if (staged && mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_MAPPING_ATTRIBUTE)))
      return sambaEmitOpError(operation, "has no rdu.mapping; run samba-tile-sections");
  }
  return true;
}
