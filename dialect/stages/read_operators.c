/* Operators as one stage graph; see read_operators.h. */
#include "dialect/stages/read_operators.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/container/pointer_map.h"

#include <stdlib.h>

/* The operators with the views and repeated values they read, as outlining will see them. */
typedef struct Gathered {
  SambaPointerMap seen;
  SAMBA_ARRAY(MlirOperation) operations;
  SAMBA_ARRAY(uint32_t) operator_of; /* each of the operations; SAMBA_NO_INDEX: none */
} Gathered;

static MlirValue appendViews(MlirValue value, void *user) {
  Gathered *gathered = user;
  MlirOperation owner = sambaDefiningOperation(value);
  uint32_t unused;
  bool inner =
      !mlirOperationIsNull(owner) && (sambaOperationIsView(owner) || sambaOperationIsSource(owner));
  if (!inner || sambaPointerMapGet(&gathered->seen, owner.ptr, &unused))
    return value;
  sambaPointerMapSet(&gathered->seen, owner.ptr, 0);
  sambaMapInputs(owner, appendViews, gathered);
  sambaArrayAppend(&gathered->operations, owner);
  sambaArrayAppend(&gathered->operator_of, SAMBA_NO_INDEX);
  return value;
}

static void gather(const MlirOperation *operators, uint32_t count, Gathered *gathered) {
  for (uint32_t i = 0; i < count; ++i) {
    sambaMapInputs(operators[i], appendViews, gathered);
    sambaArrayAppend(&gathered->operations, operators[i]);
    sambaArrayAppend(&gathered->operator_of, i);
  }
}

SambaStatus sambaOperatorsReadStages(const MlirOperation *operators, uint32_t count,
                                     SambaArena *arena, SambaSectionStages *out_stages) {
  Gathered gathered = {0};
  gather(operators, count, &gathered);
  SambaStatus status = sambaOperationsRead(gathered.operations.data,
                                           (uint32_t)gathered.operations.size, arena, out_stages);
  for (uint32_t s = 0; !status && s < out_stages->graph->stage_count; ++s)
    out_stages->stage_operation[s] = gathered.operator_of.data[out_stages->stage_operation[s]];
  sambaPointerMapFree(&gathered.seen);
  sambaArrayFree(&gathered.operations);
  sambaArrayFree(&gathered.operator_of);
  return status;
}

SambaStatus sambaOperatorsRead(const MlirOperation *operators, uint32_t count, SambaArena *arena,
                               SambaStageGraph **out_graph) {
  SambaSectionStages stages;
  SAMBA_RETURN_IF_ERROR(sambaOperatorsReadStages(operators, count, arena, &stages));
  *out_graph = stages.graph;
  return NULL;
}

bool sambaGraphCheckStructured(MlirOperation function) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    if (!sambaOperationIsStructured(operation))
      continue;
    SambaArena arena = {0};
    SambaStageGraph *unused;
    SambaStatus status = sambaOperatorsRead(&operation, 1, &arena, &unused);
    sambaArenaDestroy(&arena);
    if (status)
      return sambaEmitOpStatus(operation, status);
  }
  return true;
}
