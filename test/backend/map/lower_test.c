/* Random stage graphs, planned and lowered for the shipped machines, executed and compared bit for bit with their naive
 * evaluation: what the planner and the lowering do may cost time, never change a value. */
#include "backend/map/lower.h"
#include "backend/map/plan.h"
#include "test/backend/map/execute.h"
#include "test/backend/map/graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 12 };

/* A legal mapping that no planner would choose. */
static void mapAtRandom(SambaStageGraph *graph, Random *random) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    SambaMapping *mapping = &graph->mappings[s];
    memset(mapping, 0, sizeof *mapping);
    mapping->dim_count = stage->dim_count;
    mapping->group = s;
    mapping->pipeline_dim = -1;
    uint32_t parallel = 0;
    for (uint32_t d = 0; d < stage->dim_count; ++d) {
      int64_t extent = stage->extents[d];
      mapping->order[d] = d;
      mapping->unroll[d] = 1;
      mapping->tile[d] = stage->reduced[d] ? extent : randomIn(random, 1, extent > 40 ? 40 : extent);
      if (!stage->reduced[d]) {
        ++parallel;
        bool copied = stage->op_count == 0; /* copies are unrolled over what they read only */
        if (!copied && graph->stage_count == 1 && randomIn(random, 0, 2) == 0)
          mapping->unroll[d] = (uint32_t)randomIn(random, 1, extent > 4 ? 4 : extent);
        uint32_t other = (uint32_t)randomIn(random, 0, d), swap = mapping->order[other];
        mapping->order[other] = mapping->order[d];
        mapping->order[d] = swap;
      }
    }
    for (uint32_t i = 0; i < stage->operand_count; ++i) {
      mapping->operand_level[i] = (uint32_t)randomIn(random, 0, stage->dim_count);
      mapping->operand_depth[i] = (uint32_t)randomIn(random, 1, 3);
    }
    (void)parallel;
  }
}

static void runKind(const GraphKind *kind, const SambaMachine *machine, bool planned, uint32_t *done) {
  for (uint64_t seed = 1; seed <= rounds; ++seed) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = kind->name};
    Random random = {seed * 7919};
    kind->make(&graph, &random);
    SambaStatus status = sambaStageGraphCheck(&graph);
    if (!status && planned)
      status = sambaPlanTiles(&graph, machine, NULL);
    else if (!status)
      mapAtRandom(&graph, &random);
    if (!status)
      status = executeGraph(&graph, machine, seed);
    if (sambaStatusGetCode(status) != SAMBA_EXHAUSTED) {
      if (status)
        fail_msg("%s, seed %llu, %s, %s: %s", kind->name, (unsigned long long)seed, machine->name,
                 planned ? "planned" : "random mapping", sambaStatusGetMessage(status));
      ++*done;
    } else if (getenv("SAMBA_TEST_VERBOSE")) {
      print_message("%s, seed %llu, %s: %s\n", kind->name, (unsigned long long)seed, machine->name,
                    sambaStatusGetMessage(status));
    }
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
}

static void runAll(bool planned, const char *const *machines) {
  const char *only = getenv("SAMBA_TEST_KIND");
  for (; *machines; ++machines) {
    const SambaMachine *machine = sambaMachineFind(sambaStringRef(*machines));
    for (uint32_t k = 0; k < graphKindCount; ++k) {
      uint32_t done = 0;
      if (only && strcmp(only, graphKinds[k].name) != 0)
        continue;
      runKind(&graphKinds[k], machine, planned, &done);
      if (getenv("SAMBA_TEST_VERBOSE"))
        print_message("%s on %s: %u of %u ran\n", graphKinds[k].name, machine->name, done, rounds);
      /* Large machines have room for everything here. */
      assert_true(strcmp(machine->name, "tiny") == 0 || done == rounds);
    }
  }
}

static void plannedGraphsComputeTheSame(void **state) {
  (void)state;
  runAll(true, (const char *const[]){"sn40l", "plasticine", "tiny", NULL});
}

static void randomMappingsComputeTheSame(void **state) {
  (void)state;
  runAll(false, (const char *const[]){"sn40l", NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plannedGraphsComputeTheSame),
                                     cmocka_unit_test(randomMappingsComputeTheSame)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
