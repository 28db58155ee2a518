/* The best plans of a section; see best_plans.h. */
#include "backend/plan/best_plans.h"

#include <math.h>
#include <string.h>

SambaBestPlans sambaBestPlansMake(SambaArena *arena, uint32_t group_count, uint32_t rank) {
  SambaBestPlans plans = {group_count, rank, SAMBA_ARENA_ARRAY(arena, SambaBestPlan, rank + 1)};
  for (uint32_t place = 0; place <= rank; ++place) {
    plans.places[place].choices = SAMBA_ARENA_ARRAY(arena, SambaGroupChoice, group_count);
    plans.places[place].dims = SAMBA_ARENA_ARRAY(arena, SambaPipelineDims, group_count);
  }
  return plans;
}

double sambaBestPlansMost(const SambaBestPlans *plans) {
  const SambaBestPlan *last = &plans->places[plans->rank];
  return last->found ? last->cycles : INFINITY;
}

bool sambaBestPlansKeep(SambaBestPlans *plans, double cycles, const SambaPipeline *pipeline,
                        const SambaGroupChoice *choices) {
  SambaBestPlan *places = plans->places;
  uint32_t place = 0;
  if (cycles >= sambaBestPlansMost(plans))
    return false;
  while (places[place].found && places[place].cycles < cycles)
    ++place;
  if (places[place].found && places[place].cycles == cycles)
    return false;

  SambaBestPlan kept = places[plans->rank]; /* whose memory is used again */
  memmove(&places[place + 1], &places[place], (plans->rank - place) * sizeof *places);
  kept.found = true;
  kept.cycles = cycles;
  kept.pipeline = *pipeline;
  kept.pipeline.groups = kept.dims;
  memcpy(kept.choices, choices, plans->group_count * sizeof *choices);
  if (pipeline->count)
    memcpy(kept.dims, pipeline->groups, plans->group_count * sizeof *kept.dims);
  places[place] = kept;
  return true;
}
