/* A section's body as a stage graph; see read_section.h. */
#include "dialect/stages/read_section.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/work.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/emit_stage.h"
#include "dialect/stages/section_reader.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

static SambaStatus readOperation(SambaReader *r, MlirOperation operation) {
  r->operation = operation;
  SambaReadOperation read = sambaFindLinalgReader(operation);
  if (read)
    return read(r);
  if (sambaOperatorNameOf(operation).size)
    return sambaReadOperator(r);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form",
                         SAMBA_STRING_ARGS(sambaReaderName(operation)));
}

static void destroyReader(SambaReader *r) {
  sambaArrayFree(&r->values);
  sambaPointerMapFree(&r->value_of);
  sambaArrayFree(&r->stage_operations);
  sambaArrayFree(&r->stage_ordinals);
  sambaArrayFree(&r->formals);
}

static SambaReader createReader(SambaArena *arena, const char *name) {
  SambaStageGraph *graph = SAMBA_ARENA_NEW(arena, SambaStageGraph);
  graph->arena = arena;
  graph->name = name;
  return (SambaReader){.arena = arena, .graph = graph};
}

/* What a section yields becomes its results: whole intermediate tensors. */
static SambaStatus readYield(SambaReader *r, MlirOperation yield, uint32_t argument_count) {
  r->operation = yield;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i) {
    uint32_t index;
    SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(r, mlirOperationGetOperand(yield, i), &index));
    const SambaReaderValue *value = &r->values.data[index];
    if (!value->is_whole)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a section yields a view; samba-materialize-views makes a copy of it");
    SambaStageTensor *tensor = &r->graph->tensors[value->view.tensor];
    uint32_t root = tensor->alias_of ? tensor->alias_of - 1 : value->view.tensor;
    if (r->graph->tensors[root].role == SAMBA_TENSOR_ARGUMENT)
      return sambaStatusMake(
          SAMBA_UNSUPPORTED,
          "a section yields one of its arguments; samba-materialize-views makes a copy of it");
    if (r->graph->tensors[root].role == SAMBA_TENSOR_RESULT)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a section yields the same tensor twice");
    for (uint32_t t = 0; t < r->graph->tensor_count;
         ++t) /* the tensor and its other shapes are one symbol */
      if (t == root || r->graph->tensors[t].alias_of == root + 1) {
        r->graph->tensors[t].role = SAMBA_TENSOR_RESULT;
        r->formals.data[t] = argument_count + (uint32_t)i;
      }
  }

  return NULL;
}

SambaStatus sambaSectionRead(MlirOperation section, SambaArena *arena,
                             SambaSectionStages *out_stages) {
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  SambaReader reader = createReader(
      arena, sambaStringRefCopy(arena, (SambaStringRef){symbol.data, symbol.length}).data);
  SambaReader *r = &reader;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(section, 0));
  uint32_t arguments = (uint32_t)mlirBlockGetNumArguments(body);
  SambaStatus status = NULL;
  sambaWorkCount(SAMBA_WORK_GRAPHS_BUILT);

  for (uint32_t i = 0; i < arguments && !status; ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    SambaTensorType type;
    if (sambaReaderTensorType(mlirValueGetType(argument), &type))
      sambaReaderAddWhole(r, argument, &type,
                          sambaReaderAddTensor(r, &type, SAMBA_TENSOR_ARGUMENT, 0, i,
                                               sambaArenaFormat(arena, "arg%u", i)));
    else
      status = sambaStatusMake(SAMBA_INVALID,
                               "argument %u is not a static tensor of a type that Samba knows", i);
  }

  uint32_t results = 0;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    if (sambaOperationIs(operation, "samba.yield")) {
      results = (uint32_t)mlirOperationGetNumOperands(operation);
      status = readYield(r, operation, arguments);
    } else {
      status = readOperation(r, operation);
    }
  }

  if (!status) {
    *out_stages = (SambaSectionStages){
        .graph = r->graph, .argument_count = arguments, .result_count = results};
    out_stages->stage_operation = sambaArenaCopy(arena, r->stage_operations.data,
                                                 r->stage_operations.size * sizeof(MlirOperation));
    out_stages->stage_ordinal =
        sambaArenaCopy(arena, r->stage_ordinals.data, r->stage_ordinals.size * sizeof(uint32_t));
    out_stages->tensor_formal =
        sambaArenaCopy(arena, r->formals.data, r->formals.size * sizeof(uint32_t));
  }

  destroyReader(r);
  return sambaStatusAnnotate(status, "section @%.*s", (int)symbol.length, symbol.data);
}

SambaStatus sambaOperationsRead(const MlirOperation *operations, uint32_t count, SambaArena *arena,
                                SambaStageGraph **out_graph) {
  SambaReader reader = createReader(arena, "trial");
  SambaReader *r = &reader;
  SambaPointerMap members = {0};
  SambaStatus status = NULL;
  sambaWorkCount(SAMBA_WORK_GRAPHS_BUILT);

  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&members, operations[i].ptr, i);
  for (uint32_t i = 0; i < count && !status; ++i) {
    status = readOperation(r, operations[i]);
    /* A result that somebody outside uses is stored. */
    for (intptr_t k = 0; !status && k < mlirOperationGetNumResults(operations[i]); ++k) {
      MlirValue result = mlirOperationGetResult(operations[i], k);
      uint32_t index, unused;
      if (!sambaPointerMapGet(&r->value_of, result.ptr, &index) || !r->values.data[index].is_whole)
        continue;
      SambaStageTensor *tensor = &r->graph->tensors[r->values.data[index].view.tensor];
      if (tensor->alias_of)
        tensor = &r->graph->tensors[tensor->alias_of - 1];
      for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
           use = mlirOpOperandGetNextUse(use))
        if (tensor->role == SAMBA_TENSOR_INTERMEDIATE &&
            !sambaPointerMapGet(&members, mlirOpOperandGetOwner(use).ptr, &unused))
          tensor->role = SAMBA_TENSOR_RESULT;
    }
  }

  if (!status)
    *out_graph = r->graph;
  sambaPointerMapFree(&members);
  destroyReader(r);
  return status;
}
