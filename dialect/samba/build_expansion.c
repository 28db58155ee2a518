/* Calls of an expansion as operations; see build_expansion.h. */
#include "dialect/samba/build_expansion.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>

/* The attributes of a step's call, and those that every step has, into `out`; their number. */
static intptr_t attributesOf(MlirContext context, const SambaExpansion *expansion,
                             const SambaExpansionStep *step, MlirNamedAttribute *out) {
  intptr_t count = 0;
  for (uint32_t i = 0; i < step->attribute_count; ++i)
    out[count++] =
        mlirNamedAttributeGet(mlirIdentifierGet(context, sambaToMlir(step->attributes[i].name)),
                              sambaAttributeToMlir(context, &step->attributes[i]));
  if (!step->operator) {
    const SambaTensorType *type = sambaExpansionType(expansion, step->first_value);
    out[count++] = sambaNamedAttribute(context, "value",
                                       sambaDenseAttribute(context, type, step->data, step->splat));
  }
  if (step->starts_section)
    out[count++] =
        sambaNamedAttribute(context, SAMBA_SECTION_START_ATTRIBUTE, mlirBoolAttrGet(context, 1));
  return count;
}

bool sambaExpansionBuildStep(const SambaExpansion *expansion, size_t index, MlirOperation before,
                             MlirLocation location, intptr_t attribute_count,
                             const MlirNamedAttribute *attributes, MlirValue *values) {
  const SambaExpansionStep *step = &expansion->steps.data[index];
  SambaArena arena = {0};
  MlirValue *operands = SAMBA_ARENA_ARRAY(&arena, MlirValue, step->operand_count + 1);
  MlirNamedAttribute *all = SAMBA_ARENA_ARRAY(&arena, MlirNamedAttribute,
                                              step->attribute_count + (size_t)attribute_count + 2);
  for (uint32_t i = 0; i < step->operand_count; ++i)
    operands[i] = values[step->operands[i]];

  intptr_t count = attributesOf(mlirLocationGetContext(location), expansion, step, all);
  for (intptr_t i = 0; i < attribute_count && step->operator; ++i)
    all[count++] = attributes[i];
  SambaOperationParts parts = {
      .name =
          sambaArenaFormat(&arena, "samba.%s", step->operator ? step->operator->name : "constant"),
      .location = location,
      .operand_count = step->operand_count,
      .operands = operands,
      .result_count = -1,
      .attribute_count = count,
      .attributes = all};
  MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts);
  bool fine = !mlirOperationIsNull(made);
  for (intptr_t i = 0; fine && i < mlirOperationGetNumResults(made); ++i)
    values[step->first_value + i] = mlirOperationGetResult(made, i);

  sambaArenaDestroy(&arena);
  return fine;
}

bool sambaOperationDecompose(MlirOperation operation) {
  SambaArena arena = {0};
  SambaExpansion expansion = {.arena = &arena, .find = sambaOperatorFind};
  SambaOperatorCall call;
  uint32_t results[SAMBA_MAX_RESULTS];
  SambaStatus status = sambaOperatorCallFromOperation(&arena, operation, &call);

  if (!status)
    status = sambaOperatorExpand(&call, &expansion, results);
  bool fine = !status || sambaEmitOpStatus(operation, status);
  MlirNamedAttribute phase;
  intptr_t phases = sambaPhaseAttribute(operation, &phase);
  if (fine) {
    MlirValue *values = sambaAllocate(sambaArraySize(expansion.types.size + 1, sizeof *values));
    for (uint32_t i = 0; i < call.operand_count; ++i)
      values[i] = mlirOperationGetOperand(operation, i);
    for (size_t s = 0; fine && s < expansion.steps.size; ++s)
      fine = sambaExpansionBuildStep(&expansion, s, operation, mlirOperationGetLocation(operation),
                                     phases, &phase, values);
    for (uint32_t i = 0; fine && i < sambaOperatorResults(call.operator); ++i)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, i), values[results[i]]);
    if (fine)
      mlirOperationDestroy(operation);
    free(values);
  }

  sambaExpansionFree(&expansion);
  sambaArenaDestroy(&arena);
  return fine;
}
