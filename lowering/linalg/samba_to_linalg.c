/* convert-samba-to-linalg: the operator table's stages of every operator in a section, as linalg. */
#include "dialect/bridge/build.h"
#include "dialect/samba/samba.h"
#include "lowering/linalg/emit_stage.h"
#include "lowering/lowering.h"
#include "passes/graph.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

static void addTensors(SambaStageGraph *graph, SambaTensorRole role, const SambaTensorType *types, uint32_t count,
                       uint32_t *out_tensors) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaStageTensor tensor = {.name = "", .role = role, .dtype = types[i].dtype, .rank = types[i].rank};
    memcpy(tensor.dims, types[i].dims, sizeof tensor.dims);
    out_tensors[i] = sambaStageGraphAddTensor(graph, &tensor);
  }
}

/* A result that is another shape of what the stages write. */
static MlirValue emitReshape(MlirOperation before, const SambaStageTensor *result, MlirValue source) {
  MlirNamedAttribute shape =
      sambaNamedAttribute(mlirOperationGetContext(before), "shape",
                          mlirDenseI64ArrayGet(mlirOperationGetContext(before), result->rank, result->dims));
  MlirOperation reshape =
      sambaOperationCreate("samba.reshape", mlirOperationGetLocation(before), 1, &source, 1, &shape);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, reshape);
  return mlirOperationGetResult(reshape, 0);
}

static SambaStatus convertOperator(MlirOperation operation, const SambaOperator *row, SambaArena *arena) {
  enum { maxResults = 4 };
  SambaOperatorCall call;
  SambaTensorType results[maxResults];
  uint32_t resultTensors[maxResults], resultCount = (uint32_t)mlirOperationGetNumResults(operation);
  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(arena, operation, &call));
  if (!row->stages || resultCount > maxResults)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has no hardware form");
  for (uint32_t i = 0; i < resultCount; ++i)
    SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(mlirValueGetType(mlirOperationGetResult(operation, i)), &results[i]));
  SambaStageGraph graph = {.arena = arena, .name = ""};
  uint32_t *operandTensors = SAMBA_ARENA_ARRAY(arena, uint32_t, call.operand_count + 1);
  addTensors(&graph, SAMBA_TENSOR_ARGUMENT, call.operands, call.operand_count, operandTensors);
  addTensors(&graph, SAMBA_TENSOR_RESULT, results, resultCount, resultTensors);
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  SAMBA_RETURN_IF_ERROR(
      row->stages(&call, &graph, operandTensors, resultTensors, sambaStringRefCopy(arena, layer).data));
  for (uint32_t s = 0; s < graph.stage_count; ++s)
    if (!sambaStageHasLinalgForm(&graph.stages[s]))
      return NULL; /* stays a samba operation; its stages are read from the table again */
  MlirValue *values = SAMBA_ARENA_ARRAY(arena, MlirValue, graph.tensor_count);
  MlirAttribute *constants = SAMBA_ARENA_ARRAY(arena, MlirAttribute, graph.tensor_count);
  for (uint32_t i = 0; i < call.operand_count; ++i) {
    values[i] = mlirOperationGetOperand(operation, i);
    MlirOperation owner = sambaDefiningOperation(values[i]);
    if (!mlirOperationIsNull(owner) && sambaOperationIsSplat(owner))
      constants[i] = mlirOperationGetAttributeByName(owner, sambaMlirString("value"));
  }
  for (uint32_t s = 0; s < graph.stage_count; ++s)
    sambaStageEmitLinalg(&graph, &graph.stages[s], mlirOperationGetBlock(operation), operation,
                         mlirOperationGetLocation(operation), values, constants);
  for (uint32_t i = 0; i < resultCount; ++i) {
    const SambaStageTensor *result = &graph.tensors[resultTensors[i]];
    if (result->alias_of)
      values[resultTensors[i]] = emitReshape(operation, result, values[result->alias_of - 1]);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, i), values[resultTensors[i]]);
  }
  mlirOperationDestroy(operation);
  return NULL;
}

/* Constants that went into bodies have no users any more. */
static void eraseUnusedConstants(MlirOperation section) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section)); !mlirOperationIsNull(operation);
       operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "samba.constant") &&
        mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, 0))))
      mlirOperationDestroy(operation);
  }
}

bool sambaConvertSambaToLinalg(MlirOperation section) {
  MlirOperation next;
  bool fine = true;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section));
       !mlirOperationIsNull(operation) && fine; operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    const SambaOperator *row = sambaOperatorOf(operation);
    if (!row || row->view)
      continue;
    SambaArena arena = {0};
    SambaStatus status = convertOperator(operation, row, &arena);
    if (status)
      fine = sambaEmitOpStatus(operation, status);
    sambaArenaDestroy(&arena);
  }
  eraseUnusedConstants(section);
  return fine;
}
