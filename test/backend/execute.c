/* Execution against the naive evaluation; see execute.h. */
#include "test/backend/execute.h"

#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/section/check/machine_check.h"
#include "backend/section/check/section_check.h"
#include "backend/sim/value/values.h"
#include "backend/split/split_programs.h"
#include "test/backend/naive_stages.h"
#include "test/backend/stage_graphs.h"

#include <stdlib.h>
#include <string.h>

static void fillTensor(const SambaStageTensor *tensor, int64_t index_limit, Random *random,
                       uint8_t *data) {
  uint32_t bytes = sambaDTypeBytes(tensor->dtype);
  for (uint64_t i = 0; i < naiveElements(tensor); ++i) {
    uint64_t bits = (uint64_t)randomIn(random, 0, index_limit - 1);
    float value = (float)randomIn(random, -64, 64) / 16 + (float)randomIn(random, 0, 9) / 1000;
    if (tensor->dtype == SAMBA_DTYPE_F32)
      memcpy(&bits, &value, sizeof value);
    if (tensor->dtype == SAMBA_DTYPE_BF16)
      bits = sambaFloatToBf16(value);
    memcpy(data + i * bytes, &bits, bytes);
  }
}

/* The smallest axis that the tensor's values index, or a small range. */
static int64_t limitOf(const SambaStageGraph *graph, uint32_t tensor) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStageOperand *output = &graph->stages[s].output;
    if (output->index_operand != SAMBA_NO_INDEX &&
        graph->stages[s].operands[output->index_operand].tensor == tensor)
      return graph->tensors[output->tensor].dims[output->index_axis];
    for (uint32_t i = 0; i < graph->stages[s].operand_count; ++i) {
      const SambaStageOperand *operand = &graph->stages[s].operands[i];
      if (operand->index_operand != SAMBA_NO_INDEX &&
          graph->stages[s].operands[operand->index_operand].tensor == tensor)
        return graph->tensors[operand->tensor].dims[operand->index_axis];
    }
  }
  return 100;
}

static SambaStatus compare(const SambaStageGraph *graph, uint32_t t, const uint8_t *expected,
                           const uint8_t *actual) {
  const SambaStageTensor *tensor = &graph->tensors[t];
  uint32_t bytes = sambaDTypeBytes(tensor->dtype);
  for (uint64_t i = 0; i < naiveElements(tensor); ++i)
    if (memcmp(expected + i * bytes, actual + i * bytes, bytes) != 0) {
      uint64_t e = 0, a = 0;
      memcpy(&e, expected + i * bytes, bytes);
      memcpy(&a, actual + i * bytes, bytes);
      return sambaStatusMake(SAMBA_MISMATCH,
                             "tensor %u element %llu of %llu: expected 0x%llx, is 0x%llx", t,
                             (unsigned long long)i, (unsigned long long)naiveElements(tensor),
                             (unsigned long long)e, (unsigned long long)a);
    }
  return NULL;
}

SambaStatus lowerGraph(const SambaStageGraph *graph, const SambaMachine *machine, SambaArena *arena,
                       SambaSection **out_section) {
  SAMBA_RETURN_IF_ERROR(sambaCodegenSection(graph, machine, arena, out_section));
  SAMBA_RETURN_IF_ERROR(sambaSplitPrograms(*out_section, machine));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(*out_section));
  SAMBA_RETURN_IF_ERROR(sambaSectionFits(*out_section, machine));

  /* What is made must obey the law of the units: there is no machine that it could be too large
   * for. */
  SambaStatus status = sambaSectionCheckMachine(*out_section, machine);
  if (!status)
    return NULL;
  SambaStatus broken = sambaStatusMake(SAMBA_INVALID, "%s", sambaStatusGetMessage(status));
  sambaStatusFree(status);
  return broken;
}

SambaStatus executeGraph(const SambaStageGraph *graph, const SambaMachine *machine, uint64_t seed) {
  SambaArena arena = {0};
  SambaSection *section = NULL;
  SambaStatus status = lowerGraph(graph, machine, &arena, &section);
  SambaValues *values = NULL;
  if (!status)
    status = sambaValuesCreate(machine, &(SambaValuesOptions){.threads = 1}, &values);
  if (status) {
    sambaArenaDestroy(&arena);
    return status;
  }

  Random random = {seed};
  uint8_t **expected = sambaAllocateZeroed(graph->tensor_count, sizeof *expected);
  SambaBinding *bindings = sambaAllocateZeroed(section->symbol_count, sizeof *bindings);
  uint32_t *tensor_of = sambaAllocateZeroed(section->symbol_count, sizeof *tensor_of);
  uint32_t symbols = 0;
  for (int role = SAMBA_TENSOR_ARGUMENT; role <= SAMBA_TENSOR_INTERMEDIATE; ++role)
    for (uint32_t t = 0; t < graph->tensor_count; ++t) {
      if (graph->tensors[t].role != (SambaTensorRole)role)
        continue;
      uint64_t bytes = naiveElements(&graph->tensors[t]) * sambaDTypeBytes(graph->tensors[t].dtype);
      uint64_t padded = (bytes + 63) / 64 * 64;
      expected[t] = sambaAllocateZeroed(padded, 1);
      if (role == SAMBA_TENSOR_INTERMEDIATE)
        continue;
      if (role == SAMBA_TENSOR_ARGUMENT)
        fillTensor(&graph->tensors[t], limitOf(graph, t), &random, expected[t]);
      bindings[symbols].data = aligned_alloc(64, padded);
      memcpy(bindings[symbols].data, expected[t], bytes);
      if (role == SAMBA_TENSOR_RESULT)
        memset(bindings[symbols].data, 0xa5, padded),
            memset(expected[t], 0xa5, bytes); /* what nobody writes stays */
      bindings[symbols].bytes = bytes;
      tensor_of[symbols++] = t;
    }
  naiveEvaluate(graph, expected, (uint32_t)machine->simd_lanes);
  status = sambaValuesExecute(values, section, bindings, NULL, 0, NULL);
  for (uint32_t s = 0; s < symbols && !status; ++s)
    if (graph->tensors[tensor_of[s]].role == SAMBA_TENSOR_RESULT)
      status = compare(graph, tensor_of[s], expected[tensor_of[s]], bindings[s].data);
  for (uint32_t s = 0; s < symbols; ++s)
    free(bindings[s].data);
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    free(expected[t]);
  free(expected);
  free(bindings);
  free(tensor_of);
  sambaValuesDestroy(values);
  sambaArenaDestroy(&arena);

  return status;
}
