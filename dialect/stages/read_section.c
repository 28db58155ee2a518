/* A section's body as a stage graph; see read_section.h. */
#include "dialect/stages/read_section.h"

#include "backend/stage/split_axes.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/work.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/emit_stage.h"
#include "dialect/stages/read_operator.h"
#include "dialect/stages/read_structured.h"
#include "dialect/stages/read_tensor.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

static SambaStatus readOperation(SambaSectionReader *reader, MlirOperation operation) {
  reader->operation = operation;
  SambaReadOperation read = sambaFindTensorReader(operation);
  if (read)
    return read(reader);
  if (sambaOperationIsStructured(operation))
    return sambaReadStructured(reader);
  if (sambaOperatorNameOf(operation).size)
    return sambaReadOperator(reader);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form",
                         SAMBA_STRING_ARGS(sambaReaderName(operation)));
}

static void destroyReader(SambaSectionReader *reader) {
  sambaArrayFree(&reader->values);
  sambaPointerMapFree(&reader->value_of);
  sambaArrayFree(&reader->stage_operations);
  sambaArrayFree(&reader->stage_ordinals);
  sambaArrayFree(&reader->formals);
  sambaArrayFree(&reader->partial);
}

static SambaSectionReader createReader(SambaArena *arena, const char *name) {
  SambaStageGraph *graph = SAMBA_ARENA_NEW(arena, SambaStageGraph);
  graph->arena = arena;
  graph->name = name;
  return (SambaSectionReader){.arena = arena, .graph = graph};
}

/* What is read completely: axes that are read as several are several, and the other shapes of
 * arguments that come with it are the same formals. */
static void splitAxes(SambaSectionReader *reader) {
  sambaStageGraphSplitAxes(reader->graph);
  for (size_t t = reader->formals.size; t < reader->graph->tensor_count; ++t)
    sambaArrayAppend(&reader->formals, reader->formals.data[reader->graph->tensors[t].alias_of]);
}

static void copyStageOrigins(const SambaSectionReader *reader, SambaSectionStages *stages) {
  stages->stage_operation =
      sambaArenaCopy(reader->arena, reader->stage_operations.data,
                     reader->stage_operations.size * sizeof *reader->stage_operations.data);
  stages->stage_ordinal =
      sambaArenaCopy(reader->arena, reader->stage_ordinals.data,
                     reader->stage_ordinals.size * sizeof *reader->stage_ordinals.data);
}

/* A tensor of the section's own that is yielded nowhere else. */
static bool mayBeResult(const SambaSectionReader *reader, const SambaSectionReaderValue *value) {
  if (!value->is_whole)
    return false;
  const SambaStageTensor *tensor = &reader->graph->tensors[value->view.tensor];
  uint32_t root = tensor->alias_of != SAMBA_NO_INDEX ? tensor->alias_of : value->view.tensor;
  return reader->graph->tensors[root].role == SAMBA_TENSOR_INTERMEDIATE;
}

/* What a section yields becomes its results. Of views, arguments and repeated values, which are no
 * tensors of its own, it yields copies. */
static SambaStatus readYield(SambaSectionReader *reader, MlirOperation yield,
                             uint32_t argument_count) {
  reader->operation = yield;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i) {
    uint32_t index;
    SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(reader, mlirOperationGetOperand(yield, i), &index));
    const SambaSectionReaderValue value = reader->values.data[index];
    uint32_t yielded = value.view.tensor;
    if (value.is_empty)
      return sambaStatusMake(SAMBA_INVALID, "a section yields a 'tensor.empty'");
    if (!mayBeResult(reader, &value)) {
      yielded = sambaReaderAddTensor(reader, &value.type, SAMBA_TENSOR_INTERMEDIATE, SAMBA_NO_INDEX,
                                     SAMBA_NO_INDEX, sambaReaderStageName(reader));
      SAMBA_RETURN_IF_ERROR(sambaReaderCopy(reader, &value, yielded, (uint32_t)i));
    }
    SambaStageTensor *tensor = &reader->graph->tensors[yielded];
    uint32_t root = tensor->alias_of != SAMBA_NO_INDEX ? tensor->alias_of : yielded;
    for (uint32_t t = 0; t < reader->graph->tensor_count;
         ++t) /* the tensor and its other shapes are one symbol */
      if (t == root || reader->graph->tensors[t].alias_of == root) {
        reader->graph->tensors[t].role = SAMBA_TENSOR_RESULT;
        reader->formals.data[t] = argument_count + (uint32_t)i;
      }
  }

  return NULL;
}

/* Argument number i of a section: the next formal, or the next slot of the argument block. */
static SambaStatus readArgument(SambaSectionReader *reader, MlirValue argument, uint32_t i) {
  SambaTensorType type;
  if (!sambaReaderTensorType(mlirValueGetType(argument), &type))
    return sambaStatusMake(SAMBA_INVALID,
                           "argument %u is not a static tensor of a type that Samba knows", i);
  if (sambaValueIsArgin(argument)) {
    sambaReaderAddArgin(reader, argument, &type);
    return NULL;
  }
  uint32_t formal = i - reader->argin_count;
  sambaReaderAddWhole(reader, argument, &type,
                      sambaReaderAddTensor(reader, &type, SAMBA_TENSOR_ARGUMENT, SAMBA_NO_INDEX,
                                           formal,
                                           sambaArenaFormat(reader->arena, "arg%u", formal)));
  return NULL;
}

SambaStatus sambaSectionRead(MlirOperation section, SambaArena *arena, SambaArena *tables,
                             SambaSectionStages *out_stages) {
  MlirStringRef symbol = mlirStringAttrGetValue(sambaOperationAttribute(section, "sym_name"));
  SambaSectionReader state = createReader(
      arena, sambaStringRefCopy(arena, (SambaStringRef){symbol.data, symbol.length}).data);
  SambaSectionReader *reader = &state;
  reader->is_section = true;
  reader->graph->tables = tables;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(section, 0));
  uint32_t arguments = (uint32_t)mlirBlockGetNumArguments(body);
  SambaStatus status = NULL;
  sambaWorkCount(SAMBA_WORK_GRAPHS_BUILT);

  for (uint32_t i = 0; i < arguments && !status; ++i)
    status = readArgument(reader, mlirBlockGetArgument(body, i), i);
  uint32_t tensors = arguments - reader->argin_count; /* those that are formals */

  uint32_t results = 0;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body);
       !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation), ++reader->place) {
    if (sambaOperationIs(operation, "samba.yield")) {
      results = (uint32_t)mlirOperationGetNumOperands(operation);
      status = readYield(reader, operation, tensors);
    } else {
      status = readOperation(reader, operation);
    }
  }

  if (!status) {
    splitAxes(reader);
    *out_stages = (SambaSectionStages){
        .graph = reader->graph, .argument_count = tensors, .result_count = results};
    copyStageOrigins(reader, out_stages);
    out_stages->tensor_formal =
        sambaArenaCopy(arena, reader->formals.data, reader->formals.size * sizeof(uint32_t));
  }

  destroyReader(reader);
  return sambaStatusAnnotate(status, "section @%.*s", (int)symbol.length, symbol.data);
}

/* A value that an operator reads, through views or not: an argument unless the members make it. */
static SambaStatus addArguments(SambaSectionReader *reader, const SambaPointerMap *members,
                                MlirValue value) {
  MlirOperation owner = sambaDefiningOperation(value);
  uint32_t unused;
  if (mlirOperationIsNull(owner) || !sambaPointerMapGet(members, owner.ptr, &unused))
    return sambaReaderGetValue(reader, value, &unused);
  if (!sambaOperationIsView(owner))
    return NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(owner); ++i)
    SAMBA_RETURN_IF_ERROR(addArguments(reader, members, mlirOperationGetOperand(owner, i)));
  return NULL;
}

/* Arguments come first, in the order in which outlining will make them: loads of shared arguments
 * are settled in this order. */
static SambaStatus readArguments(SambaSectionReader *reader, const SambaPointerMap *members,
                                 const MlirOperation *operations, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    reader->operation = operations[i];
    if (sambaOperationIsView(reader->operation))
      continue; /* comes with the operators that read it */
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(reader->operation); ++k)
      SAMBA_RETURN_IF_ERROR(
          addArguments(reader, members, mlirOperationGetOperand(reader->operation, k)));
  }
  return NULL;
}

/* Whether anybody but the members uses the value, through their views or not: a view that a member
 * reads may have other readers too. */
static bool isUsedOutside(const SambaPointerMap *members, MlirValue value) {
  uint32_t unused;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = sambaUserInBlockOf(value, use);
    if (!sambaPointerMapGet(members, user.ptr, &unused) ||
        (sambaOperationIsView(user) && isUsedOutside(members, mlirOperationGetResult(user, 0))))
      return true;
  }
  return false;
}

SambaStatus sambaOperationsRead(const MlirOperation *operations, uint32_t count, SambaArena *arena,
                                SambaSectionStages *out_stages) {
  SambaSectionReader state = createReader(arena, "trial");
  SambaSectionReader *reader = &state;
  SambaPointerMap members = {0};
  SambaStatus status = NULL;
  sambaWorkCount(SAMBA_WORK_GRAPHS_BUILT);

  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&members, operations[i].ptr, i);
  status = readArguments(reader, &members, operations, count);
  for (uint32_t i = 0; i < count && !status; ++i) {
    reader->place = i;
    status = readOperation(reader, operations[i]);
    /* A result that somebody outside uses is stored. */
    for (intptr_t k = 0; !status && k < mlirOperationGetNumResults(operations[i]); ++k) {
      MlirValue result = mlirOperationGetResult(operations[i], k);
      uint32_t index;
      if (!sambaPointerMapGet(&reader->value_of, result.ptr, &index) ||
          !reader->values.data[index].is_whole)
        continue;
      SambaStageTensor *tensor = &reader->graph->tensors[reader->values.data[index].view.tensor];
      if (tensor->alias_of != SAMBA_NO_INDEX)
        tensor = &reader->graph->tensors[tensor->alias_of];
      if (tensor->role == SAMBA_TENSOR_INTERMEDIATE && isUsedOutside(&members, result))
        tensor->role = SAMBA_TENSOR_RESULT;
    }
  }

  if (!status) {
    splitAxes(reader);
    *out_stages = (SambaSectionStages){.graph = reader->graph};
    copyStageOrigins(reader, out_stages);
  }
  sambaPointerMapFree(&members);
  destroyReader(reader);
  return status;
}
