/* samba-tile-sections and rdu-verify-mapping: the planner's decisions as #rdu.mapping on the
 * operations of a section. */
#include "backend/group/group_print.h"
#include "backend/stage/stage_print.h"
#include "dialect/bridge/bridge.h"
#include "dialect/rdu/decisions.h"
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

static SambaStatus machineOf(MlirOperation section, SambaMachine *out_machine) {
  MlirAttribute machine = sambaOperationAttribute(section, "machine");
  if (mlirAttributeIsNull(machine))
    return sambaStatusMake(SAMBA_INVALID,
                           "has no machine; samba-partition-sections{target=...} gives one");
  return sambaMachineFromAttribute(machine, out_machine);
}

/* Stages of one operation are consecutive; one that was dropped, because nobody reads it, leaves a
 * gap. */
static void writeMappings(const SambaSectionStages *stages) {
  for (uint32_t s = 0, next; s < stages->graph->stage_count; s = next) {
    for (next = s + 1;
         next < stages->graph->stage_count &&
         mlirOperationEqual(stages->stage_operation[next], stages->stage_operation[s]);)
      ++next;
    uint32_t count = stages->stage_ordinal[next - 1] + 1;
    SambaMapping *mappings = sambaAllocate(sambaArraySize(count, sizeof *mappings));
    for (uint32_t i = 0; i < count; ++i)
      mappings[i] = (SambaMapping){0};
    for (uint32_t i = s; i < next; ++i)
      mappings[stages->stage_ordinal[i]] = stages->graph->mappings[i];
    sambaMappingSetOnOperation(stages->stage_operation[s], count, mappings);
    free(mappings);
  }
}

static SambaStatus parallelDivisor(MlirOperation section, const char *path, uint32_t *out_divisor) {
  SambaDecisions decisions = {0};
  MlirOperation module = mlirOperationGetParentOperation(section);
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  SambaArena arena = {0};
  SambaStatus status = path[0] ? sambaDecisionsRead(path, &decisions) : NULL;
  if (!status && !mlirOperationIsNull(module))
    status = sambaDecisionsFromModule(module, &decisions);
  *out_divisor =
      sambaDecisionsDivisor(&decisions, sambaStringRefCopy(&arena, sambaFromMlir(symbol)).data);
  sambaDecisionsFree(&decisions);
  sambaArenaDestroy(&arena);
  return status;
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

bool sambaTileSections(MlirOperation section, const char *decisions, const char *dump) {
  SambaKnownStages *known = NULL;
  SambaMachine machine;
  SambaPlanTarget target = {.machine = &machine,
                            .attribute = sambaOperationAttribute(section, "machine")};
  SambaPlanOptions options = {0};
  SambaStatus status = machineOf(section, &machine);

  if (!status)
    status = parallelDivisor(section, decisions, &options.parallel_divisor);
  if (!status)
    status = sambaKnownStagesTake(section, &known);
  if (!status)
    status = sambaPlanOnce(&target, &options, known->stages.graph);
  if (!status && dump[0])
    status = dumpPlan(section, known->stages.graph, &machine, dump);

  if (!status) {
    writeMappings(&known->stages);
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
