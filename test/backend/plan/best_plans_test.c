/* Which plans are kept, in which order, and that each keeps what is its own. */
#include "backend/plan/best_plans.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { GROUPS = 2, RANK = 2 };

/* A plan whose choices and dimensions are told by its cycles. */
static bool keep(SambaBestPlans *plans, double cycles) {
  SambaGroupChoice choices[GROUPS] = {{.pcus = (uint32_t)cycles}, {.pcus = 10 * (uint32_t)cycles}};
  SambaPipelineDims dims[GROUPS] = {{.count = 1, .dim = {(uint32_t)cycles}}, {.count = 1}};
  SambaPipeline pipeline = {.count = 1, .tile = {(int64_t)cycles}, .groups = dims};
  return sambaBestPlansKeep(plans, cycles, &pipeline, choices);
}

static void expectPlaces(const SambaBestPlans *plans, const double *cycles, uint32_t count) {
  for (uint32_t place = 0; place <= RANK; ++place) {
    const SambaBestPlan *plan = &plans->places[place];
    assert_int_equal(plan->found, place < count);
    if (place >= count)
      continue;
    assert_true(plan->cycles == cycles[place]);
    assert_int_equal(plan->pipeline.tile[0], (int64_t)cycles[place]);
    assert_ptr_equal(plan->pipeline.groups, plan->dims);
    assert_int_equal(plan->dims[0].dim[0], (uint32_t)cycles[place]);
    assert_int_equal(plan->choices[0].pcus, (uint32_t)cycles[place]);
    assert_int_equal(plan->choices[1].pcus, 10 * (uint32_t)cycles[place]);
  }
}

static void testTheBestAreKeptInOrder(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaBestPlans plans = sambaBestPlansMake(&arena, GROUPS, RANK);
  assert_true(sambaBestPlansMost(&plans) == INFINITY);
  expectPlaces(&plans, NULL, 0);

  assert_true(keep(&plans, 5) && keep(&plans, 3));
  expectPlaces(&plans, (const double[]){3, 5}, 2);
  assert_true(sambaBestPlansMost(&plans) == INFINITY);
  assert_true(keep(&plans, 4));
  assert_true(sambaBestPlansMost(&plans) == 5);
  assert_false(keep(&plans, 3)); /* there is one of as many cycles */
  assert_false(keep(&plans, 5));
  assert_false(keep(&plans, 9));
  assert_true(keep(&plans, 1));
  expectPlaces(&plans, (const double[]){1, 3, 4}, 3);
  assert_true(sambaBestPlansMost(&plans) == 4);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testTheBestAreKeptInOrder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
