/* convert-samba-to-linalg: the operator table's stages of every operator in a section, as linalg;
 * views stay. For whole graphs see graphs_to_linalg.c. */
#include "lowering/linalg/samba_to_linalg.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/mapping.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "dialect/stages/emit_stage.h"
#include "lowering/passes.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

static void addTensors(SambaStageGraph *graph, SambaTensorRole role, const SambaTensorType *types,
                       uint32_t count, uint32_t *out_tensors) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaStageTensor tensor = {
        .name = "", .role = role, .dtype = types[i].dtype, .rank = types[i].rank};
    memcpy(tensor.dims, types[i].dims, sizeof tensor.dims);
    out_tensors[i] = sambaStageGraphAddTensor(graph, &tensor);
  }
}

/* A result that is another shape of what the stages write. */
static MlirValue emitReshape(MlirOperation before, const SambaStageTensor *result,
                             MlirValue source) {
  MlirNamedAttribute shape = sambaNamedAttribute(
      mlirOperationGetContext(before), "shape",
      mlirDenseI64ArrayGet(mlirOperationGetContext(before), result->rank, result->dims));
  MlirOperation reshape = sambaOperationCreate("samba.reshape", mlirOperationGetLocation(before), 1,
                                               &source, 1, &shape);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, reshape);
  return mlirOperationGetResult(reshape, 0);
}

/* The stages of an operator; a view is one stage that copies. */
static SambaStatus stagesOf(const SambaOperatorCall *call, const SambaTensorType *results,
                            SambaStageGraph *graph, const uint32_t *operands,
                            const uint32_t *out_tensors, const char *layer) {
  const SambaOperator *row = call->operator;
  if (row->stages)
    return row->stages(call, graph, operands, out_tensors, layer);
  if (!row->compose)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "has no hardware form");
  SambaStage copy = {
      .name = row->name, .layer = layer, .dim_count = results->rank, .operand_count = 1};
  copy.operands[0] = (SambaStageOperand){.tensor = operands[0], .index_operand = SAMBA_NO_INDEX};
  copy.output = (SambaStageOperand){.tensor = out_tensors[0], .index_operand = SAMBA_NO_INDEX};

  for (uint32_t axis = 0; axis < results->rank; ++axis) {
    copy.extents[axis] = results->dims[axis];
    copy.output.axes[axis].coefficients[axis] = 1;
  }

  SAMBA_RETURN_IF_ERROR(row->compose(call, results, &copy.operands[0]));
  sambaStageGraphAddStage(graph, &copy);
  return NULL;
}

static bool isUsed(MlirValue value) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(value)); }

/* whole: also what indexes memory by values. Without it such an operator stays; its stages are read
 * from the table again. */
static SambaStatus convertOperator(MlirOperation operation, const SambaOperator *row,
                                   SambaArena *arena, bool whole) {
  SambaOperatorCall call;
  SambaTensorType results[SAMBA_MAX_RESULTS];
  uint32_t resultTensors[SAMBA_MAX_RESULTS];
  uint32_t resultCount = sambaOperatorResults(row);

  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(arena, operation, &call));
  for (uint32_t i = 0; i < resultCount; ++i)
    SAMBA_RETURN_IF_ERROR(sambaTensorTypeFromMlir(
        mlirValueGetType(mlirOperationGetResult(operation, i)), &results[i]));
  SambaStageGraph graph = {.arena = arena, .name = ""};
  uint32_t *operand_tensors = SAMBA_ARENA_ARRAY(arena, uint32_t, call.operand_count + 1);
  addTensors(&graph, SAMBA_TENSOR_ARGUMENT, call.operands, call.operand_count, operand_tensors);
  addTensors(&graph, SAMBA_TENSOR_RESULT, results, resultCount, resultTensors);
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(operation));
  SAMBA_RETURN_IF_ERROR(stagesOf(&call, results, &graph, operand_tensors, resultTensors,
                                 sambaStringRefCopy(arena, layer).data));
  for (uint32_t s = 0; s < graph.stage_count && whole; ++s)
    if (sambaStageScatters(&graph.stages[s]))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "stores where an index says, which has no linalg form");
  for (uint32_t s = 0; s < graph.stage_count && !whole; ++s)
    if (!sambaStageHasLinalgForm(&graph.stages[s]))
      return NULL;
  MlirValue *values = SAMBA_ARENA_ARRAY(arena, MlirValue, graph.tensor_count);
  MlirAttribute *constants = SAMBA_ARENA_ARRAY(arena, MlirAttribute, graph.tensor_count);

  for (uint32_t i = 0; i < call.operand_count; ++i) {
    values[i] = mlirOperationGetOperand(operation, i);
    MlirOperation owner = sambaDefiningOperation(values[i]);
    if (!mlirOperationIsNull(owner))
      constants[i] = sambaSplatValue(owner);
  }

  bool *used = SAMBA_ARENA_ARRAY(arena, bool, graph.tensor_count),
       *used_stages = SAMBA_ARENA_ARRAY(arena, bool, graph.stage_count + 1);
  for (uint32_t i = 0; i < resultCount; ++i)
    used[resultTensors[i]] = isUsed(mlirOperationGetResult(operation, i));
  sambaStageGraphMarkUsed(&graph, used, used_stages);
  for (uint32_t s = 0; s < graph.stage_count; ++s)
    if (used_stages[s]) {
      MlirOperation stage = sambaStageEmitLinalg(
          &graph, &graph.stages[s], mlirOperationGetBlock(operation), operation,
          mlirOperationGetLocation(operation), !whole, values, constants);
      MlirAttribute mapping =
          whole ? mlirAttributeGetNull() : sambaMappingAttributeOf(operation, s);
      if (!mlirAttributeIsNull(mapping))
        mlirOperationSetAttributeByName(stage, sambaMlirString(SAMBA_MAPPING_ATTRIBUTE), mapping);
    }

  for (uint32_t i = 0; i < resultCount; ++i) {
    const SambaStageTensor *result = &graph.tensors[resultTensors[i]];
    if (!used[resultTensors[i]])
      continue;
    if (result->alias_of != SAMBA_NO_INDEX)
      values[resultTensors[i]] = emitReshape(operation, result, values[result->alias_of]);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, i), values[resultTensors[i]]);
  }

  mlirOperationDestroy(operation);
  return NULL;
}

/* Constants that went into bodies have no users any more. */
static void eraseUnusedConstants(MlirOperation section) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(section));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "samba.constant") &&
        mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(operation, 0))))
      mlirOperationDestroy(operation);
  }
}

bool sambaOperatorsToLinalg(MlirOperation function, bool whole) {
  MlirOperation next;
  bool fine = true;

  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation) && fine; operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    const SambaOperator *row = sambaOperatorOf(operation);
    if (!row || (row->view && (!whole || !row->compose)))
      continue;
    SambaArena arena = {0};
    SambaStatus status = convertOperator(operation, row, &arena, whole);
    if (status)
      fine = sambaEmitOpStatus(operation, status);
    sambaArenaDestroy(&arena);
  }

  eraseUnusedConstants(function);
  return fine;
}

bool sambaConvertSambaToLinalg(MlirOperation section) {
  return sambaOperatorsToLinalg(section, false);
}
