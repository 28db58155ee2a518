/* Prices of structures, and the time for them. */
#include "backend/partition/partition_internal.h"

#include <math.h>

/* The share of the time that first prices may take. */
static const double firstShare = 2.0 / 3;

bool sambaSearchIsOver(SambaSearch *search) {
  const SambaPartitionProblem *problem = search->problem;
  if (!search->result->over && problem->isOver)
    search->result->over = problem->isOver(problem->user, firstShare);
  return search->result->over;
}

bool sambaSearchIsOverForCareful(SambaSearch *search) {
  const SambaPartitionProblem *problem = search->problem;
  return problem->isOver && problem->isOver(problem->user, 1);
}

void sambaSearchPrice(SambaSearch *search, const uint32_t *classes, uint32_t count, bool careful) {
  SambaPartitionTrial trials[SAMBA_TRIALS_AT_ONCE];
  for (uint32_t i = 0; i < count; ++i) {
    const SambaSectionClass *class = &search->classes.list.data[classes[i]];
    trials[i] = (SambaPartitionTrial){
        .operators = class->operators, .count = class->count, .careful = careful};
  }
  search->problem->price(search->problem->user, trials, count);
  for (uint32_t i = 0; i < count; ++i) {
    SambaSectionClass *class = &search->classes.list.data[classes[i]];
    class->priced = true;
    class->careful = careful;
    class->fits = trials[i].fits;
    class->cycles = round(trials[i].cycles);
    class->load = fmin(round(trials[i].load), class->cycles);
  }
  search->result->priced += count;
}
