/* The COMPUTE units of all copies of a group. What the array's PCU does not do is left to tails,
 * each of which takes the sums of neighbouring copies in turn. */
#include "backend/codegen/codegen_internal.h"

SambaComputes sambaCodegenComputes(SambaCodegen *codegen, uint32_t g) {
  SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  const char *layer = sambaCodegenLayer(codegen, nest->group);
  bool cut = nest->group->handed != SAMBA_NO_INDEX;
  SambaComputes computes = {SAMBA_ARENA_ARRAY(&codegen->scratch, uint32_t, nest->copies), NULL};
  if (cut)
    computes.tails = SAMBA_ARENA_ARRAY(&codegen->scratch, uint32_t, nest->copies);
  SambaCopyRange all;
  sambaCutCopies(nest, sambaCopyMask(nest, SAMBA_NO_INDEX), 1, &all);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS] = {0}, index = 0;

  do {
    SambaCopyRange own;
    for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim)
      own.first[dim] = copy[dim], own.count[dim] = 1;
    const char *name = sambaArenaFormat(codegen->arena, "%s.compute%u", plan->prefix, index);
    computes.units[index] = sambaCodegenCompute(
        &codegen->assembly, nest, name, layer, cut ? SAMBA_COMPUTE_ARRAY : SAMBA_COMPUTE_ALL, &own);
    if (!cut) {
      sambaConnectSinks(codegen, g, index, 1, (SambaEndpoint){computes.units[index], 0});
    } else {
      if (index % nest->tail) {
        computes.tails[index] = computes.tails[index - 1];
      } else {
        for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
          own.count[dim] = sambaTileNestTailCopies(nest, dim);
        name = sambaArenaFormat(codegen->arena, "%s.tail%u", plan->prefix, index / nest->tail);
        computes.tails[index] =
            sambaCodegenCompute(&codegen->assembly, nest, name, layer, SAMBA_COMPUTE_TAIL, &own);
        sambaConnectSinks(codegen, g, index, nest->tail, (SambaEndpoint){computes.tails[index], 0});
      }
      sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){computes.units[index], 0},
                           &(SambaEndpoint){computes.tails[index], 0}, 1);
    }
    ++index;
  } while (sambaCopyNext(nest, &all, copy));

  return computes;
}

void sambaAppendTaker(const SambaCodegen *codegen, uint32_t g, const SambaComputes *computes,
                      uint32_t operand, uint32_t copy, SambaEndpoints *takers) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  const SambaGroup *group = nest->group;
  bool tail = computes->tails && group->operands[operand].late;
  uint32_t port = tail; /* input 0 of a tail is what the arrays hand on */
  for (uint32_t i = 0; i < operand; ++i)
    port += group->operands[i].value && (!computes->tails || group->operands[i].late == tail);

  /* Copies that share a tail and need the same have one taker there. */
  for (uint32_t dim = group->dim_count, index = copy; dim-- > 0; index /= nest->unroll[dim])
    if (tail && index % nest->unroll[dim] % sambaTileNestTailCopies(nest, dim) &&
        !sambaGroupDepends(group, operand, dim))
      return;
  sambaArrayAppend(takers,
                   (SambaEndpoint){tail ? computes->tails[copy] : computes->units[copy], port});
}
