/* The reader of sections: samba operations, by the stages and views of the operator table. */
#include "dialect/stages/read_operator.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/emit_stage.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* What the address generators read: indices, and what a scatter stores. */
static bool isInMemory(const SambaStage *stage, uint32_t k) {
  if (sambaStageScatters(stage))
    return true;
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (stage->operands[i].index_operand == k)
      return true;
  return false;
}

/* Operands below operand_count whose values are splats (or argins) become sources of the lanes. The
 * last comes first, so that they stand in the order of the operands. */
static void inlineValues(SambaSectionReader *reader, SambaStage *stage, uint32_t operand_count,
                         const uint32_t *operand_values, bool argins) {
  for (uint32_t k = stage->operand_count; k-- > 0;) {
    const SambaStageOperand *operand = &stage->operands[k];
    if (operand->tensor >= operand_count)
      continue;
    const SambaSectionReaderValue *value = &reader->values.data[operand_values[operand->tensor]];
    if ((argins ? value->is_argin : value->is_splat) && !operand->guarded &&
        operand->index_operand == SAMBA_NO_INDEX && !isInMemory(stage, k))
      sambaReaderInline(reader, stage, k, value);
  }
}

static SambaStatus importFragment(SambaSectionReader *reader, const SambaStageGraph *fragment,
                                  uint32_t operand_count, const uint32_t *operand_values) {
  uint32_t *tensor_of = SAMBA_ARENA_ARRAY(reader->arena, uint32_t, fragment->tensor_count + 1);
  intptr_t result_count = mlirOperationGetNumResults(reader->operation);
  bool *used = SAMBA_ARENA_ARRAY(reader->arena, bool, fragment->tensor_count),
       *used_stages = SAMBA_ARENA_ARRAY(reader->arena, bool, fragment->stage_count + 1);
  for (intptr_t i = 0; i < result_count; ++i) /* nothing is computed for results without users */
    used[operand_count + (uint32_t)i] =
        !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(reader->operation, i)));
  sambaStageGraphMarkUsed(fragment, used, used_stages);
  for (int aliases = 0; aliases < 2; ++aliases) /* first the tensors, then their other shapes */
    for (uint32_t t = operand_count; t < fragment->tensor_count; ++t) {
      const SambaStageTensor *tensor = &fragment->tensors[t];
      if ((tensor->alias_of != SAMBA_NO_INDEX) != aliases || !used[t])
        continue;
      SambaTensorType type = {.dtype = tensor->dtype, .rank = tensor->rank};
      memcpy(type.dims, tensor->dims, sizeof type.dims);
      tensor_of[t] = sambaReaderAddTensor(reader, &type, SAMBA_TENSOR_INTERMEDIATE,
                                          aliases ? tensor_of[tensor->alias_of] : SAMBA_NO_INDEX,
                                          SAMBA_NO_INDEX, sambaReaderStageName(reader));
      if (t < operand_count + (uint32_t)result_count)
        sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, t - operand_count),
                            &type, tensor_of[t]);
    }
  for (uint32_t s = 0; s < fragment->stage_count; ++s) {
    SambaStage stage = fragment->stages[s];
    if (!used_stages[s])
      continue;

    /* As a linalg.generic that says the same is read: it has constants in its body, argins outside
     * and so in front. */
    inlineValues(reader, &stage, operand_count, operand_values, false);
    inlineValues(reader, &stage, operand_count, operand_values, true);
    for (uint32_t k = 0; k < stage.operand_count; ++k) {
      SambaStageOperand *operand = &stage.operands[k];
      if (operand->tensor >= operand_count) {
        operand->tensor = tensor_of[operand->tensor];
        continue;
      }
      const SambaSectionReaderValue *value = &reader->values.data[operand_values[operand->tensor]];
      if (value->is_empty || value->is_splat || value->is_argin) /* it cannot be inlined here */
        return sambaStatusMake(SAMBA_UNSUPPORTED,
                               "'%.*s' reads a %s that must be a tensor in memory here",
                               SAMBA_STRING_ARGS(sambaReaderName(reader->operation)),
                               value->is_argin ? "hyperparameter" : "repeated constant");
      SambaStageOperand composed;
      if (!sambaReaderCompose(reader, value, &stage, operand, &composed) ||
          (composed.guarded && isInMemory(&stage, k)))
        return sambaReaderNotComposable(reader);
      *operand = composed;
    }

    stage.output.tensor = tensor_of[stage.output.tensor];
    sambaReaderAddStage(reader, &stage, s);
  }

  return NULL;
}

static SambaStatus readView(SambaSectionReader *reader, const SambaOperatorCall *call,
                            const SambaSectionReaderValue *given, const SambaTensorType *type) {
  SambaSectionReaderValue source = *given;
  SambaSectionReaderValue result = {.type = *type};

  /* A view of a splat is a splat, unless it pads with another value; of an argin unless it pads. */
  if (source.is_splat || source.is_argin) {
    SambaStageOperand pad = {.fill = source.splat};
    if (call->operator->compose)
      SAMBA_RETURN_IF_ERROR(call->operator->compose(call, type, &pad));
    if (source.is_argin ? !pad.guarded : pad.fill == source.splat) {
      result = source;
      result.type = *type;
      sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), &result);
      return NULL;
    }
    SAMBA_RETURN_IF_ERROR(sambaReaderSettle(reader, &source));
  }

  if (!call->operator->compose) /* a reshape */
    return sambaReaderReshapeValue(reader, &source, type) ? NULL : sambaReaderNotComposable(reader);
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  SAMBA_RETURN_IF_ERROR(call->operator->compose(call, type, &map));
  SambaStage over = sambaReaderStageOver(type);
  if (!sambaReaderCompose(reader, &source, &over, &map, &result.view)) {
    SAMBA_RETURN_IF_ERROR(sambaReaderSettle(reader, &source));
    sambaReaderCompose(reader, &source, &over, &map, &result.view);
  }
  sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), &result);

  return NULL;
}

static bool isPartial(const SambaSectionReader *reader, const SambaSectionReaderValue *value) {
  bool partial = false;
  for (size_t i = 0; i < reader->partial.size; ++i)
    partial |= value->view.tensor == reader->partial.data[i];
  return partial && !value->is_splat && !value->is_argin && !value->is_empty;
}

/* A tensor into which something is put lies in memory, where the result does: of it nothing is
 * read, and of the result the section has only what is put. */
static SambaStatus checkParts(const SambaSectionReader *reader, const SambaOperatorCall *call,
                              const uint32_t *operand_values) {
  for (uint32_t i = 0; i < call->operand_count; ++i)
    if (isPartial(reader, &reader->values.data[operand_values[i]]))
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "'%s' reads a tensor of which the section has only "
                             "what it puts there",
                             call->operator->name);
  uint32_t number = sambaOperatorPutsInto(call->operator, call->operand_count);
  if (number == UINT32_MAX)
    return NULL;
  const SambaSectionReaderValue *base = &reader->values.data[operand_values[number]];
  if (base->is_whole && reader->graph->tensors[base->view.tensor].role == SAMBA_TENSOR_ARGUMENT)
    return NULL;
  return sambaStatusMake(SAMBA_UNSUPPORTED, "'%s' puts into a tensor that is not in memory",
                         call->operator->name);
}

SambaStatus sambaReadOperator(SambaSectionReader *reader) {
  SambaOperatorCall call;
  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(reader->arena, reader->operation, &call));
  SambaTensorType results[SAMBA_MAX_RESULTS];

  for (intptr_t i = 0; i < mlirOperationGetNumResults(reader->operation); ++i)
    if (!sambaReaderTensorType(mlirValueGetType(mlirOperationGetResult(reader->operation, i)),
                               &results[i]))
      return sambaStatusMake(SAMBA_INVALID, "a result of '%.*s' is not a static tensor",
                             SAMBA_STRING_ARGS(sambaReaderName(reader->operation)));
  uint32_t *operand_values = SAMBA_ARENA_ARRAY(reader->arena, uint32_t, call.operand_count + 1);
  for (uint32_t i = 0; i < call.operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(reader, mlirOperationGetOperand(reader->operation, i),
                                              &operand_values[i]));
  SAMBA_RETURN_IF_ERROR(checkParts(reader, &call, operand_values));
  if (call.operator->view)
    return readView(reader, &call, &reader->values.data[operand_values[0]], &results[0]);
  if (!call.operator->stages)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form",
                           SAMBA_STRING_ARGS(sambaReaderName(reader->operation)));
  SambaStageGraph fragment = {.arena = reader->arena, .name = ""};
  uint32_t *operands = SAMBA_ARENA_ARRAY(reader->arena, uint32_t, call.operand_count + 1);
  uint32_t resultTensors[SAMBA_MAX_RESULTS];

  for (uint32_t i = 0; i < call.operand_count; ++i) {
    SambaStageTensor tensor = {.name = "operand",
                               .role = SAMBA_TENSOR_ARGUMENT,
                               .dtype = call.operands[i].dtype,
                               .rank = call.operands[i].rank};
    memcpy(tensor.dims, call.operands[i].dims, sizeof tensor.dims);
    operands[i] = sambaStageGraphAddTensor(&fragment, &tensor);
  }

  for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i) {
    SambaStageTensor tensor = {.name = "result",
                               .role = SAMBA_TENSOR_RESULT,
                               .dtype = results[i].dtype,
                               .rank = results[i].rank};
    memcpy(tensor.dims, results[i].dims, sizeof tensor.dims);
    resultTensors[i] = sambaStageGraphAddTensor(&fragment, &tensor);
  }

  SAMBA_RETURN_IF_ERROR(
      call.operator->stages(&call, &fragment, operands, resultTensors, sambaReaderLayer(reader)));
  SAMBA_RETURN_IF_ERROR(importFragment(reader, &fragment, call.operand_count, operand_values));

  uint32_t made;
  if (call.operator->puts_into &&
      sambaPointerMapGet(&reader->value_of, mlirOperationGetResult(reader->operation, 0).ptr,
                         &made))
    sambaArrayAppend(&reader->partial, reader->values.data[made].view.tensor);
  return NULL;
}
