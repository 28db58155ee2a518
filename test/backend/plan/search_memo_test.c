/* Plans with known results of searches are those without, and known results are found. */
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/plan/search_memo.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Plans a graph with known results and without: the same mappings, or the same refusal, and the
 * same work. */
static void expectSamePlan(const SambaStageGraph *graph, const SambaMachine *machine,
                           SambaPlanOptions options, SambaSearchMemo *memo) {
  size_t size = graph->stage_count * sizeof *graph->mappings;
  SambaMapping *plans[2];
  char *texts[2];
  uint64_t work[2] = {0};
  for (int i = 0; i < 2; ++i) {
    SambaStageGraph copy = *graph;
    plans[i] = copy.mappings = sambaAllocateZeroed(1, size);
    options.searches = i ? memo : NULL;
    options.work = &work[i];
    SambaStatus status = sambaPlanTiles(&copy, machine, &options);
    texts[i] = strdup(sambaStatusGetMessage(status));
    sambaStatusFree(status);
  }
  assert_string_equal(texts[0], texts[1]);
  assert_int_equal(work[0], work[1]);
  assert_memory_equal(plans[0], plans[1], size);
  for (int i = 0; i < 2; ++i) {
    free(texts[i]);
    free(plans[i]);
  }
}

/* One memo for all graphs, machines and shares of them. */
static void plansAreTheSame(void **state) {
  (void)state;
  static const char *const names[] = {"tiny", "sn40l"};
  SambaSearchMemo *memo = sambaSearchMemoCreate();
  for (uint32_t kind = 0; kind < graphKindCount; ++kind)
    for (uint32_t seed = 1; seed < 12; ++seed) {
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = "g"};
      graphKinds[kind].make(&graph, &(Random){seed * 15485863});
      for (int m = 0; m < 2; ++m) {
        SambaMachine machine = *sambaMachineFind(sambaStringRef(names[m]));
        expectSamePlan(&graph, &machine, (SambaPlanOptions){0}, memo);
        expectSamePlan(&graph, &machine, (SambaPlanOptions){.tries_beside = true}, memo);
        expectSamePlan(&graph, &machine, (SambaPlanOptions){.parallel_divisor = 2}, memo);
        machine.pmu_bytes /= 4;
        expectSamePlan(&graph, &machine, (SambaPlanOptions){0}, memo);
        machine.grid_rows /= 2;
        expectSamePlan(&graph, &machine, (SambaPlanOptions){0}, memo);
      }
      sambaArenaDestroy(&arena);
    }
  sambaSearchMemoRelease(memo);
}

/* The limits of a group alone in a section, and its groups. */
static SambaGroupLimits limitsOf(uint32_t pmus) {
  return (SambaGroupLimits){.replicas = 1,
                            .pcus = 64,
                            .pmus = pmus,
                            .units = 1000,
                            .copies = 64,
                            .ags = 16,
                            .output_buffers = 1,
                            .stored_output = true};
}

/* A result holds for the PMUs between those that the search had and those that it wanted in vain,
 * for groups of the same kind and nothing else; the last reference destroys the memo. */
static void resultsHoldForWhatWasAsked(void **state) {
  (void)state;
  SambaSearchMemo *memo = sambaSearchMemoCreate();
  assert_ptr_equal(sambaSearchMemoRetain(memo), memo);
  sambaSearchMemoRelease(memo);
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  uint64_t kinds[3];
  for (int i = 0; i < 3; ++i) {
    SambaStageGraph graph = {.arena = &arena, .name = "g"};
    const int64_t left[] = {64, 32}, right[] = {32, i == 2 ? 48 : 16};
    uint32_t a = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, left);
    uint32_t b = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, right);
    SambaGroups groups;
    addMatmul(&graph, a, b, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
    assert_null(sambaGroupsBuild(&graph, machine, &arena, &groups));
    kinds[i] = sambaSearchMemoKind(memo, &graph, groups.groups[0], machine);
  }
  assert_int_equal(kinds[0], kinds[1]);
  assert_int_not_equal(kinds[0], kinds[2]);

  SambaGroupChoice choice = {.score = 7, .pcus = 3}, found;
  bool has;
  uint64_t work;
  SambaGroupLimits limits = limitsOf(40);
  sambaSearchMemoKeep(memo, kinds[0], &limits, 2, &(SambaSearchTrace){30, 50, 0, 2000, 9}, &choice);
  static const struct {
    uint32_t pmus;
    bool known;
  } cases[] = {{29, false}, {30, true}, {49, true}, {50, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    limits = limitsOf(cases[i].pmus);
    assert_int_equal(sambaSearchMemoFind(memo, kinds[1], &limits, 2, &work, &has, &found),
                     cases[i].known);
    assert_false(sambaSearchMemoFind(memo, kinds[2], &limits, 2, &work, &has, &found));
  }
  limits = limitsOf(40);
  assert_true(sambaSearchMemoFind(memo, kinds[0], &limits, 2, &work, &has, &found));
  assert_true(has && work == 9 && found.score == 7 && found.pcus == 3);
  limits.copies = 32;
  assert_false(sambaSearchMemoFind(memo, kinds[0], &limits, 2, &work, &has, &found));
  sambaSearchMemoKeep(memo, kinds[0], &limits, 2, &(SambaSearchTrace){0, 50, 0, 2000, 9}, NULL);
  assert_true(sambaSearchMemoFind(memo, kinds[0], &limits, 2, &work, &has, &found));
  assert_false(has);
  sambaArenaDestroy(&arena);
  sambaSearchMemoRelease(memo);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plansAreTheSame),
                                     cmocka_unit_test(resultsHoldForWhatWasAsked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
