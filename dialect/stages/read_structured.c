/* Structured operations; see read_structured.h. */
#include "dialect/stages/read_structured.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/rdu_attribute_names.h"
#include "dialect/samba/kind.h"
#include "dialect/stages/read_body.h"
#include "dialect/stages/read_parts.h"
#include "dialect/stages/read_reduction.h"
#include "dialect/stages/structured_stage.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <stdlib.h>
#include <string.h>

/*===-- Loops ---------------------------------------------------------------------------------===*/

static MlirAffineMap mapOf(const SambaStructured *structured, uint32_t position) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(structured->maps, position));
}

/* Loop bounds come from axes that walk one loop plainly. */
static SambaStatus readExtents(SambaStructured *structured) {
  intptr_t count = mlirOperationGetNumOperands(structured->operation);
  for (intptr_t i = 0; i < count; ++i) {
    uint32_t index;
    SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(
        structured->reader, mlirOperationGetOperand(structured->operation, i), &index));
    const SambaTensorType *type = &structured->reader->values.data[index].type;
    MlirAffineMap map = mapOf(structured, (uint32_t)i);
    for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map) && a < type->rank; ++a) {
      MlirAffineExpr axis = mlirAffineMapGetResult(map, a);
      if (mlirAffineExprIsADim(axis))
        structured->extents[mlirAffineDimExprGetPosition(axis)] = type->dims[a];
    }
  }
  return NULL;
}

/* Named operations have no list of iterators: a loop that no result walks is reduced. */
static void readIterators(SambaStructured *structured) {
  MlirAttribute iterators = sambaOperationAttribute(structured->operation, "iterator_types");
  MlirAttribute reduction =
      mlirAttributeParseGet(mlirOperationGetContext(structured->operation),
                            sambaMlirString("#linalg.iterator_type<reduction>"));
  for (uint32_t loop = 0; loop < structured->loop_count; ++loop) {
    if (!mlirAttributeIsNull(iterators)) {
      structured->reduced[loop] =
          mlirAttributeEqual(mlirArrayAttrGetElement(iterators, loop), reduction);
      continue;
    }
    bool walked = false;
    MlirAffineMap map = mapOf(structured, structured->input_count);
    for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map); ++a)
      walked |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, a), loop);
    structured->reduced[loop] = !walked;
  }
}

static bool isReduced(const SambaStructured *structured) {
  for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
    if (structured->reduced[loop])
      return true;
  return false;
}

/* The axis of the output that a loop walks, or the rank. */
static intptr_t outputAxisOf(MlirAffineMap output, uint32_t loop) {
  intptr_t rank = mlirAffineMapGetNumResults(output), a = 0;
  while (a < rank && !mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(output, a), loop))
    ++a;
  return a;
}

/* Parallel loops in the order of the output's axes, which is that of its elements, then the reduced
 * ones. Stages of ours come as they were. */
static void orderLoops(SambaBodyStage *stage, MlirAffineMap output) {
  const SambaStructured *structured = stage->structured;
  SambaStage *made = &stage->builder.stage;
  intptr_t rank = mlirAffineMapGetNumResults(output);
  for (int reduced = 0; reduced < 2; ++reduced)
    for (intptr_t a = 0; a <= rank; ++a)
      for (uint32_t loop = 0; loop < structured->loop_count; ++loop) {
        bool first = structured->is_ours || reduced;
        if (structured->reduced[loop] != reduced ||
            (first ? a != 0 : outputAxisOf(output, loop) != a))
          continue;
        uint32_t dim = made->dim_count++;
        stage->dim_of[loop] = dim;
        made->extents[dim] = structured->extents[loop];
        made->reduced[dim] = reduced;
      }
}

/* Each axis walks one loop, or has one element. */
static SambaStatus checkOutput(const SambaBodyStage *stage, const SambaTensorType *type) {
  const SambaStage *made = &stage->builder.stage;
  MlirOperation operation = stage->structured->operation;
  for (uint32_t a = 0; a < type->rank; ++a) {
    const SambaAxisMap *axis = &made->output.axes[a];
    int64_t elements = 1, walked = 0;
    bool plain = axis->constant == 0;
    for (uint32_t d = 0; d < made->dim_count; ++d) {
      if (!axis->coefficients[d] || made->extents[d] == 1)
        continue;
      plain = plain && axis->coefficients[d] == 1 && !made->reduced[d];
      elements = made->extents[d];
      ++walked;
    }
    if (!plain || walked > 1 || elements != type->dims[a])
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a '%.*s' writes axis %u of its result by a map that is no loop of "
                             "its own; each loop that is not reduced walks one axis",
                             SAMBA_STRING_ARGS(sambaReaderName(operation)), a);
  }
  return NULL;
}

/*===-- Reductions ----------------------------------------------------------------------------===*/

/* result = initial value combined with what was reduced, rounded to the result's type. */
static SambaStatus finishReduction(SambaStructured *structured, const SambaReduction *reduction,
                                   uint32_t init, bool combines, uint32_t reduced, uint32_t result,
                                   uint32_t *ordinal) {
  SambaSectionReader *reader = structured->reader;
  SambaStageBuilder builder;
  const SambaStageTensor *tensor = &reader->graph->tensors[result];
  SambaDType dtype = tensor->dtype, lane = sambaDTypeLaneClass(dtype);
  SambaSectionReaderValue made = {.type = {.dtype = lane, .rank = tensor->rank},
                                  .view = sambaReaderIdentityView(reduced, tensor->rank),
                                  .is_whole = true};
  memcpy(made.type.dims, tensor->dims, sizeof made.type.dims);
  sambaArrayAppend(&reader->values, made);

  sambaStageBeginElementwise(&builder, reader->graph, sambaReaderStageName(reader),
                             sambaReaderLayer(reader), result);
  uint32_t inputs[] = {(uint32_t)reader->values.size - 1, init};
  for (uint32_t k = 0; k < (combines ? 2 : 1); ++k) {
    builder.stage.operands[k] = sambaReaderIdentityView(inputs[k], made.type.rank);
    builder.types[k] = (uint8_t)lane;
    ++builder.stage.operand_count;
  }

  uint16_t value = 0;
  if (reduction->is_unsigned)
    value = sambaLane2(
        &builder, SAMBA_LANE_XOR, value,
        sambaLaneInteger(&builder, lane, lane == SAMBA_DTYPE_I64 ? INT64_MIN : (int64_t)INT32_MIN));
  SambaBodyCall call = {.builder = &builder,
                        .operand_count = 2,
                        .values = {1, value},
                        .dtypes = {dtype, dtype},
                        .result = lane,
                        .predicate = -1};
  if (combines)
    value = sambaBodyRowProgram(reduction->row, &call);
  value = sambaLaneRound(&builder, value, dtype);
  return sambaStructuredAddStage(reader, &builder, value, false, ordinal);
}

/* The reduction of a stage whose body has been read, into its result or by way of a tensor as wide
 * as a lane. */
static SambaStatus addReduction(SambaBodyStage *stage, MlirValue yielded, uint32_t init,
                                const SambaTensorType *type, uint32_t result, uint32_t *ordinal) {
  SambaStructured *structured = stage->structured;
  SambaSectionReader *reader = structured->reader;
  SambaReduction reduction;
  uint16_t value;
  SAMBA_RETURN_IF_ERROR(sambaReductionRead(stage, yielded, &reduction, &value));

  const SambaSectionReaderValue *start = &reader->values.data[init];
  SambaTensorType lane = *type;
  lane.dtype = sambaDTypeLaneClass(type->dtype);
  bool combines =
      !structured->is_ours &&
      !(start->is_splat && sambaReductionIsIdentity(&reduction, type->dtype, start->splat));
  bool finishes =
      combines || (!structured->is_ours && (lane.dtype != type->dtype || reduction.is_unsigned));
  if (combines && start->is_empty)
    return sambaStatusMake(SAMBA_INVALID, "a '%.*s' reads a 'tensor.empty'",
                           SAMBA_STRING_ARGS(sambaReaderName(structured->operation)));
  uint32_t reduced = finishes ? sambaStructuredAddTensor(reader, &lane) : result;
  stage->builder.stage.output.tensor = reduced;
  if (!structured->is_ours)
    stage->builder.stage.lane_reduce =
        stage->builder.ops[stage->builder.stage.op_count - 1].opcode != SAMBA_LANE_MAC;

  SAMBA_RETURN_IF_ERROR(
      sambaStructuredAddStage(reader, &stage->builder, value, structured->is_ours, ordinal));
  return finishes
             ? finishReduction(structured, &reduction, init, combines, reduced, result, ordinal)
             : NULL;
}

/*===-- Results -------------------------------------------------------------------------------===*/

/* Later results of the operation read this one instead of computing it again. */
static void keepComputed(SambaBodyStage *stage, MlirValue yielded, uint32_t value) {
  SambaStructured *structured = stage->structured;
  MlirOperation maker = sambaDefiningOperation(yielded);
  SambaStageOperand loops = stage->builder.stage.output;
  if (mlirOperationIsNull(maker) || !mlirBlockEqual(mlirOperationGetBlock(maker), structured->body))
    return;
  for (uint32_t a = 0; a < SAMBA_MAX_RANK; ++a) {
    SambaAxisMap dims = loops.axes[a];
    memset(loops.axes[a].coefficients, 0, sizeof dims.coefficients);
    for (uint32_t l = 0; l < structured->loop_count; ++l)
      loops.axes[a].coefficients[l] = dims.coefficients[stage->dim_of[l]];
  }
  loops.tensor = value;
  sambaPointerMapSet(&structured->computed, yielded.ptr, (uint32_t)structured->whole.size);
  sambaArrayAppend(&structured->whole, loops);
}

static SambaStatus readResult(SambaBodyStage *stage, uint32_t number, uint32_t *ordinal) {
  SambaStructured *structured = stage->structured;
  SambaSectionReader *reader = structured->reader;
  uint32_t position = structured->input_count + number, init;
  MlirValue yielded =
      mlirOperationGetOperand(mlirBlockGetTerminator(structured->body), (intptr_t)number);
  MlirValue result = mlirOperationGetResult(structured->operation, (intptr_t)number);
  SambaStage *made = &stage->builder.stage;
  SambaTensorType type;

  if (!sambaReaderTensorType(mlirValueGetType(result), &type))
    return sambaStatusMake(
        SAMBA_INVALID, "the result of a '%.*s' is not a static tensor of a type that Samba knows",
        SAMBA_STRING_ARGS(sambaReaderName(structured->operation)));
  made->name = sambaReaderStageName(reader);
  made->layer = sambaReaderLayer(reader);
  made->lane_reduce = !mlirAttributeIsNull(
      sambaOperationAttribute(structured->operation, SAMBA_LANE_REDUCE_ATTRIBUTE));
  orderLoops(stage, mapOf(structured, position));
  SAMBA_RETURN_IF_ERROR(sambaReadMap(stage, position, &made->output));
  if (!structured->is_ours)
    SAMBA_RETURN_IF_ERROR(checkOutput(stage, &type));

  bool reduces = isReduced(structured);
  if (reduces)
    stage->accumulator = mlirBlockGetArgument(structured->body, (intptr_t)position);
  if (!structured->is_ours)
    SAMBA_RETURN_IF_ERROR(sambaPartsRead(structured, yielded, stage->accumulator, ordinal));
  SAMBA_RETURN_IF_ERROR(sambaBodyRead(stage, yielded));
  SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(
      reader, mlirOperationGetOperand(structured->operation, (intptr_t)position), &init));
  uint32_t tensor = sambaStructuredAddTensor(reader, &type);
  if (reduces) {
    SAMBA_RETURN_IF_ERROR(addReduction(stage, yielded, init, &type, tensor, ordinal));
  } else {
    uint16_t value;
    made->output.tensor = tensor;
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, yielded, &value));
    SAMBA_RETURN_IF_ERROR(
        sambaStructuredAddStage(reader, &stage->builder, value, structured->is_ours, ordinal));
  }

  sambaReaderAddWhole(reader, result, &type, tensor);
  if (!reduces)
    keepComputed(stage, yielded, (uint32_t)reader->values.size - 1);
  return NULL;
}

/* Loops of one iteration reduce nothing where the result is not made of what it was. */
static void dropUnitReductions(SambaStructured *structured) {
  bool unit = true, reads = false;
  for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
    unit = unit && (!structured->reduced[loop] || structured->extents[loop] == 1);
  for (intptr_t i = structured->input_count; i < mlirBlockGetNumArguments(structured->body); ++i)
    reads |= !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(structured->body, i)));
  if (unit && !reads)
    memset(structured->reduced, 0, sizeof structured->reduced);
}

static SambaStatus readAll(SambaStructured *structured) {
  uint32_t ordinal = 0;
  SAMBA_RETURN_IF_ERROR(readExtents(structured));
  readIterators(structured);
  if (!structured->is_ours)
    dropUnitReductions(structured);
  for (uint32_t r = 0; r < (uint32_t)mlirOperationGetNumResults(structured->operation); ++r) {
    MlirValue result = mlirOperationGetResult(structured->operation, r);
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(result)))
      continue;
    SambaBodyStage *stage = sambaAllocateZeroed(1, sizeof *stage);
    stage->structured = structured;
    sambaStageBegin(&stage->builder, structured->reader->graph, "", "", 0);
    SambaStatus status = readResult(stage, r, &ordinal);
    sambaBodyStageFree(stage);
    free(stage);
    SAMBA_RETURN_IF_ERROR(status);
  }
  return NULL;
}

SambaStatus sambaReadStructured(SambaSectionReader *reader) {
  MlirOperation operation = reader->operation;
  SambaStructured structured = {
      .reader = reader,
      .operation = operation,
      .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0)),
      .maps = mlirLinalgGetIndexingMapsAttribute(operation),
      .input_count = (uint32_t)(mlirOperationGetNumOperands(operation) -
                                mlirOperationGetNumResults(operation)),
      .is_ours = !mlirAttributeIsNull(sambaOperationAttribute(operation, SAMBA_STAGE_ATTRIBUTE))};
  if (mlirAttributeIsNull(structured.maps) || mlirBlockIsNull(structured.body))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form",
                           SAMBA_STRING_ARGS(sambaReaderName(operation)));

  intptr_t loops = mlirAffineMapGetNumDims(mapOf(&structured, 0));
  if (loops > SAMBA_MAX_STAGE_DIMS)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a '%.*s' with %d loops; %d are possible",
                           SAMBA_STRING_ARGS(sambaReaderName(operation)), (int)loops,
                           SAMBA_MAX_STAGE_DIMS);
  structured.loop_count = (uint32_t)loops;
  SambaStatus status = readAll(&structured);
  sambaPointerMapFree(&structured.computed);
  sambaArrayFree(&structured.whole);
  return status;
}
