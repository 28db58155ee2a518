/* convert-samba-to-linalg: the operator table's stages of every operator in a section, as linalg;
 * views stay. convert-samba-graphs-to-linalg: whole graphs, the exit to other compilers. */
#include "dialect/bridge/build_operation.h"
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
    if (used_stages[s])
      sambaStageEmitLinalg(&graph, &graph.stages[s], mlirOperationGetBlock(operation), operation,
                           mlirOperationGetLocation(operation), !whole, values, constants);

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

/* Every operator of a block; views only when `whole`. */
static bool convertOperators(MlirOperation function, bool whole) {
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

bool sambaConvertSambaToLinalg(MlirOperation section) { return convertOperators(section, false); }

/*===-- Whole graphs --------------------------------------------------------------------------===*/

static MlirAttribute integers(MlirContext context, uint32_t first, uint32_t count) {
  MlirAttribute numbers[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < count; ++i)
    numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), first + i);
  return mlirArrayAttrGet(context, count, numbers);
}

/* tensor.collapse_shape or tensor.expand_shape between a flat tensor (rank 0 when `scalar`) and one
 * of `rank`. */
static MlirValue emitShape(MlirOperation before, const char *name, MlirValue source,
                           const SambaTensorType *type, uint32_t rank, bool scalar) {
  MlirContext context = mlirOperationGetContext(before);
  MlirAttribute group = integers(context, 0, rank);
  MlirType result = sambaTensorTypeToMlir(context, type);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "reassociation",
                          mlirArrayAttrGet(context, scalar ? 0 : 1, &group)),
      sambaNamedAttribute(context, "static_output_shape",
                          mlirDenseI64ArrayGet(context, type->rank, type->dims))};
  SambaOperationParts parts = {.name = name,
                               .location = mlirOperationGetLocation(before),
                               .operand_count = 1,
                               .operands = &source,
                               .result_count = 1,
                               .results = &result,
                               .attribute_count = strcmp(name, "tensor.expand_shape") == 0 ? 2 : 1,
                               .attributes = attributes};
  return mlirOperationGetResult(
      sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts), 0);
}

/* A reshape goes by way of the flat tensor. */
static bool convertReshape(MlirOperation operation) {
  SambaTensorType from, to, flat;
  MlirValue value = mlirOperationGetOperand(operation, 0);
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &from);

  if (!status)
    status = sambaTensorTypeFromMlir(mlirValueGetType(mlirOperationGetResult(operation, 0)), &to);
  if (status)
    return sambaEmitOpStatus(operation, status);
  flat = (SambaTensorType){.dtype = from.dtype, .rank = from.rank && to.rank ? 1 : 0, .dims = {1}};
  for (uint32_t axis = 0; axis < from.rank; ++axis)
    flat.dims[0] *= from.dims[axis];
  if (from.rank > flat.rank)
    value = emitShape(operation, "tensor.collapse_shape", value, &flat, from.rank, !flat.rank);
  if (to.rank > flat.rank)
    value = emitShape(operation, "tensor.expand_shape", value, &to, to.rank, !flat.rank);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), value);
  mlirOperationDestroy(operation);

  return true;
}

static bool convertRest(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (sambaOperationIs(operation, "samba.constant")) {
      MlirAttribute value = sambaOperationAttribute(operation, "value");
      MlirValue constant = sambaBuildConstant(mlirOperationGetBlock(operation), operation,
                                              mlirOperationGetLocation(operation), value);
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), constant);
      mlirOperationDestroy(operation);
    } else if (sambaOperationIs(operation, "samba.reshape")) {
      if (!convertReshape(operation))
        return false;
    } else if (sambaOperatorNameOf(operation).size) {
      return sambaEmitOpError(operation, "has no linalg form");
    }
  }

  mlirOperationRemoveAttributeByName(function, sambaMlirString("arg_attrs"));
  mlirOperationRemoveAttributeByName(function, sambaMlirString("res_attrs"));
  mlirOperationRemoveDiscardableAttributeByName(function, sambaMlirString(SAMBA_GRAPH_ATTRIBUTE));
  return true;
}

bool sambaConvertSambaGraphsToLinalg(MlirOperation module) {
  if (!sambaModuleCheckGraphs(module))
    return false;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) &&
        !(convertOperators(operation, true) && convertRest(operation)))
      return false;
  mlirOperationRemoveDiscardableAttributeByName(module, sambaMlirString(SAMBA_GRAPHS_ATTRIBUTE));
  return true;
}
