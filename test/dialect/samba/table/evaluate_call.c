/* See evaluate_call.h. */
#include "test/dialect/samba/table/evaluate_call.h"

#include "test/dialect/samba/table/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t elementsOf(const SambaTensorType *type) {
  size_t elements = 1;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    elements *= (size_t)type->dims[axis];
  return elements;
}

static uint32_t addTensor(SambaStageGraph *graph, SambaTensorRole role,
                          const SambaTensorType *type) {
  SambaStageTensor tensor = {.name = "x", .role = role, .dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof tensor.dims);
  return sambaStageGraphAddTensor(graph, &tensor);
}

static double *copied(SambaArena *arena, const double *values, const SambaTensorType *type) {
  return sambaArenaCopy(arena, values, elementsOf(type) * sizeof *values);
}

static SambaStatus evaluateStages(SambaArena *arena, const SambaOperatorCall *call,
                                  double *const *operands, const SambaTensorType *types,
                                  double **out_values) {
  SambaStageGraph graph = {.arena = arena, .name = "test"};
  uint32_t *tensors = SAMBA_ARENA_ARRAY(arena, uint32_t, call->operand_count + 1);
  uint32_t results[SAMBA_MAX_RESULTS];

  for (uint32_t i = 0; i < call->operand_count; ++i)
    tensors[i] = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, &call->operands[i]);
  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i)
    results[i] = addTensor(&graph, SAMBA_TENSOR_INTERMEDIATE, &types[i]);
  SAMBA_RETURN_IF_ERROR(call->operator->stages(call, &graph, tensors, results, "layer"));
  SAMBA_RETURN_IF_ERROR(sambaStageGraphCheck(&graph));
  double **values = calloc(graph.tensor_count, sizeof *values);
  memcpy(values, operands, call->operand_count * sizeof *values);
  evaluateStageGraph(&graph, values);

  for (uint32_t i = 0; i < sambaOperatorResults(call->operator); ++i) {
    uint32_t alias = graph.tensors[results[i]].alias_of;
    out_values[i] = copied(arena, values[alias != SAMBA_NO_INDEX ? alias : results[i]], &types[i]);
  }

  for (uint32_t t = call->operand_count; t < graph.tensor_count; ++t)
    free(values[t]);
  free(values);
  return NULL;
}

static SambaStatus evaluateView(SambaArena *arena, const SambaOperatorCall *call,
                                const double *operand, const SambaTensorType *type,
                                double **out_values) {
  const SambaTensorType *from = &call->operands[0];
  out_values[0] = SAMBA_ARENA_ARRAY(arena, double, elementsOf(type));
  if (!call->operator->compose) { /* reshape */
    memcpy(out_values[0], operand, elementsOf(type) * sizeof *operand);
    return NULL;
  }

  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  SAMBA_RETURN_IF_ERROR(call->operator->compose(call, type, &map));
  float fill;
  uint32_t bits = (uint32_t)map.fill;
  memcpy(&fill, &bits, sizeof fill);

  for (size_t i = 0; i < elementsOf(type); ++i) {
    int64_t position[SAMBA_MAX_RANK], address = 0;
    size_t rest = i;
    for (uint32_t axis = type->rank; axis-- > 0; rest /= (size_t)type->dims[axis])
      position[axis] = (int64_t)(rest % (size_t)type->dims[axis]);
    bool inside = true;
    for (uint32_t axis = 0; axis < from->rank; ++axis) {
      int64_t index = map.axes[axis].constant;
      for (uint32_t d = 0; d < type->rank; ++d)
        index += map.axes[axis].coefficients[d] * position[d];
      inside = inside && index >= 0 && index < from->dims[axis];
      address = address * from->dims[axis] + index;
    }
    if (inside)
      out_values[0][i] = operand[address];
    else
      out_values[0][i] = type->dtype == SAMBA_DTYPE_F32 ? (double)fill : (double)map.fill;
  }

  return NULL;
}

static double *constantOf(SambaArena *arena, const SambaExpansionStep *step,
                          const SambaTensorType *type) {
  size_t width = sambaDTypeBytes(type->dtype);
  size_t elements = elementsOf(type);
  double *values = SAMBA_ARENA_ARRAY(arena, double, elements);
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)step->data + (step->splat ? 0 : i * width), width);
    values[i] = evaluateBits(type->dtype, bits);
  }
  return values;
}

SambaStatus evaluateExpansion(SambaArena *arena, const SambaExpansion *expansion, double **values) {
  for (size_t s = 0; s < expansion->steps.size; ++s) {
    const SambaExpansionStep *step = &expansion->steps.data[s];
    if (!step->operator) {
      values[step->first_value] =
          constantOf(arena, step, sambaExpansionType(expansion, step->first_value));
      continue;
    }
    SambaTensorType *types = SAMBA_ARENA_ARRAY(arena, SambaTensorType, step->operand_count + 1);
    SambaTensorType results[SAMBA_MAX_RESULTS];
    double **operands = SAMBA_ARENA_ARRAY(arena, double *, step->operand_count + 1);
    for (uint32_t i = 0; i < step->operand_count; ++i) {
      types[i] = *sambaExpansionType(expansion, step->operands[i]);
      operands[i] = values[step->operands[i]];
    }
    SambaOperatorCall call = {.operator = step->operator,
                              .operand_count = step->operand_count,
                              .operands = types,
                              .attribute_count = step->attribute_count,
                              .attributes = step->attributes};
    SAMBA_RETURN_IF_ERROR(
        evaluateCall(arena, &call, operands, results, &values[step->first_value]));
  }

  return NULL;
}

SambaStatus evaluateCall(SambaArena *arena, const SambaOperatorCall *call, double *const *operands,
                         SambaTensorType *out_types, double **out_values) {
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(call, out_types));
  if (call->operator->view)
    return evaluateView(arena, call, operands[0], out_types, out_values);
  if (call->operator->stages)
    return evaluateStages(arena, call, operands, out_types, out_values);
  return evaluateDecomposed(arena, call, operands, out_types, out_values);
}

SambaStatus evaluateDecomposed(SambaArena *arena, const SambaOperatorCall *call,
                               double *const *operands, SambaTensorType *out_types,
                               double **out_values) {
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(call, out_types));
  SambaExpansion expansion = {.arena = arena, .find = sambaOperatorFind};
  uint32_t results[SAMBA_MAX_RESULTS];
  SambaStatus status = sambaOperatorExpand(call, &expansion, results);
  double **values = SAMBA_ARENA_ARRAY(arena, double *, expansion.types.size + 1);
  memcpy(values, operands, call->operand_count * sizeof *values);
  if (!status)
    status = evaluateExpansion(arena, &expansion, values);
  for (uint32_t i = 0; !status && i < sambaOperatorResults(call->operator); ++i)
    out_values[i] = values[results[i]];
  sambaExpansionFree(&expansion);
  return status;
}
