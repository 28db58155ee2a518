/* Loads of a chosen plan; see plan_loads.h. */
#include "backend/plan/plan_loads.h"

/* A plan that loads overlapping copies together may cost this much more than one that does not. */
static const double joinedCost = 1.02;

void sambaPlanJoinLoads(const SambaGroupLimits *limits, SambaGroupChoice *choice) {
  const SambaGroup *group = choice->nest.group;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    SambaGroupChoice joined = *choice;
    if (!group->operands[i].value || limits->on_chip >> i & 1 || joined.nest.joined[i])
      continue;
    joined.nest.joined[i] = SAMBA_COPIES_JOINED;
    if (sambaTileNestSharing(&joined.nest, i).joined &&
        sambaPlanPrice(limits, joinedCost * choice->score, &joined) &&
        sambaTileNestSharing(&joined.nest, i).joined &&
        joined.elements_bytes < choice->elements_bytes)
      *choice = joined;
  }
}

bool sambaPlanIsStepped(const SambaTileNest *nest, uint32_t operand) {
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    if (nest->trips[nest->dim_at[i]] > 1 &&
        sambaGroupDepends(nest->group, operand, nest->dim_at[i]))
      return true;
  return false;
}

void sambaPlanStreamLoads(const SambaGroupLimits *limits, SambaGroupChoice *choice) {
  const SambaGroup *group = choice->nest.group;
  SambaGroupLimits own = *limits;
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    const SambaTileNest *nest = &choice->nest;
    if (!group->operands[i].value || limits->on_chip >> i & 1 ||
        nest->level[i] >= nest->pipeline_count || nest->depth[i] > 1 ||
        !sambaPlanIsStepped(nest, i))
      continue;
    SambaGroupChoice streamed = *choice;
    own.least_level[i] = limits->pipeline.count;
    if (sambaPlanPrice(&own, choice->score, &streamed))
      *choice = streamed;
    else
      own.least_level[i] = 0;
  }
}
