/* samba-raise-linalg: structured operations that are operators of the table become them. What no
 * pattern takes stays. */
#include "lowering/passes.h"

#include "dialect/samba/build_expansion.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "lowering/raise/patterns.h"
#include "lowering/raise/raise_forms.h"
#include "lowering/raise/raise_views.h"
#include "lowering/raise/read_nest.h"

#include <stdlib.h>

/* In this order: each takes what none before it did. */
static const SambaNestPattern patterns[] = {
    sambaNestElementwise, sambaNestConvolution, sambaNestContraction, sambaNestPool,
    sambaNestSearch,      sambaNestReduction,   sambaNestSingle,
};

/* Whether the results are of the operation's types: a pattern that is wrong about that would make
 * an invalid module. */
static bool fitsResults(const SambaNest *nest, const SambaExpansion *expansion,
                        const uint32_t *results) {
  for (uint32_t k = 0; k < nest->output_count; ++k) {
    const SambaTensorType *wanted = &sambaNestOutput(nest, k)->type;
    const SambaTensorType *made = sambaExpansionType(expansion, results[k]);
    if (made->dtype != wanted->dtype || made->rank != wanted->rank)
      return false;
    for (uint32_t a = 0; a < wanted->rank; ++a)
      if (made->dims[a] != wanted->dims[a])
        return false;
  }
  return true;
}

/* The expansion's steps in front of the operation, whose results they replace. */
static bool replaceOperation(MlirOperation operation, const SambaExpansion *expansion,
                             const MlirValue *operands, uint32_t operand_count,
                             const uint32_t *results) {
  MlirValue *values = sambaAllocate(sambaArraySize(expansion->types.size + 1, sizeof *values));
  bool fine = true;
  for (uint32_t i = 0; i < operand_count; ++i)
    values[i] = operands[i];
  for (size_t s = 0; fine && s < expansion->steps.size; ++s)
    fine = sambaExpansionBuildStep(expansion, s, operation, mlirOperationGetLocation(operation), 0,
                                   NULL, values);
  for (intptr_t i = 0; fine && i < mlirOperationGetNumResults(operation); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, i), values[results[i]]);
  if (fine)
    mlirOperationDestroy(operation);
  free(values);
  return fine;
}

/* Forgets what a pattern wrote. */
static void resetExpansion(SambaExpansion *expansion, uint32_t operand_count) {
  sambaStatusFree(expansion->status);
  expansion->status = NULL;
  expansion->types.size = operand_count;
  expansion->steps.size = 0;
}

static bool raiseOperation(MlirOperation operation) {
  SambaArena arena = {0};
  SambaExpansion expansion = {.arena = &arena, .find = sambaOperatorFind};
  SambaNest nest;
  MlirValue operands[2 * SAMBA_MAX_NEST_OPERANDS];
  uint32_t results[SAMBA_MAX_NEST_OUTPUTS];
  bool is_nest = sambaNestRead(operation, &expansion, &nest, operands);
  uint32_t operand_count = (uint32_t)expansion.types.size;
  bool raised = false, fine = true;

  for (size_t i = 0; is_nest && i < sizeof patterns / sizeof *patterns && !raised; ++i) {
    resetExpansion(&expansion, operand_count);
    raised = patterns[i](&nest, &expansion, results) && !expansion.status &&
             fitsResults(&nest, &expansion, results);
  }
  if (raised)
    fine = replaceOperation(operation, &expansion, operands, operand_count, results);
  sambaExpansionFree(&expansion);
  sambaArenaDestroy(&arena);
  return fine;
}

static bool raiseFunction(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    if (!sambaOperationIs(operation, "linalg.fill") && !sambaRaiseTensorOperation(operation) &&
        !raiseOperation(operation))
      return false;
  }
  sambaRaiseForms(function);
  sambaEraseUnusedTensors(function);
  return true;
}

bool sambaRaiseLinalg(MlirOperation module) {
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
       !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && !raiseFunction(operation))
      return false;
  return true;
}
