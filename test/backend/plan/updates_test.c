/* What stages allow to be updated in place is in order in the section that is made of it: random
 * graphs, as the planner maps them, with every allowed pair of argument and result as one memory.
 */
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/section/check/order_check.h"
#include "backend/stage/in_place.h"
#include "test/backend/execute.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { seeds = 200 };

static uint32_t formalOf(const SambaSection *section, const char *name) {
  uint32_t formal = 0;
  while (formal < section->symbol_count && strcmp(section->symbols[formal].name, name) != 0)
    ++formal;
  return formal;
}

/* The formals of the two tensors are one memory, all others their own. */
static SambaStatus checkPair(const SambaStageGraph *graph, const SambaSection *section,
                             uint32_t old, uint32_t updated) {
  uint64_t addresses[64];
  assert_in_range(section->symbol_count, 2, 64);
  for (uint32_t f = 0; f < section->symbol_count; ++f)
    addresses[f] = (uint64_t)f << 40;
  uint32_t from = formalOf(section, graph->tensors[updated].name);
  uint32_t to = formalOf(section, graph->tensors[old].name);
  assert_in_range(from, 0, section->symbol_count - 1);
  assert_in_range(to, 0, section->symbol_count - 1);
  addresses[from] = addresses[to];
  return sambaSectionCheckOrder(section, addresses);
}

/* Returns how many pairs may be one memory; the section is made once there is one. */
static uint32_t checkGraph(const GraphKind *kind, const SambaMachine *machine, uint64_t seed) {
  SambaArena arena = {0};
  Random random = {seed};
  SambaStageGraph graph = {.arena = &arena, .name = "g"};
  SambaSection *section = NULL;
  kind->make(&graph, &random);
  for (uint32_t t = 0; t < graph.tensor_count; ++t)
    graph.tensors[t].name = sambaArenaFormat(&arena, "t%u", t);

  uint32_t pairs = 0;
  bool fits = true;
  for (uint32_t a = 0; a < graph.tensor_count && fits; ++a)
    for (uint32_t r = 0; r < graph.tensor_count && fits; ++r) {
      if (graph.tensors[a].role != SAMBA_TENSOR_ARGUMENT ||
          graph.tensors[r].role != SAMBA_TENSOR_RESULT ||
          graph.tensors[a].dtype != graph.tensors[r].dtype ||
          !sambaStageGraphUpdatesInPlace(&graph, a, r))
        continue;
      if (!section) {
        SambaStatus status = sambaPlanTiles(&graph, machine, NULL);
        if (!status)
          status = lowerGraph(&graph, machine, &arena, &section);
        fits = !status; /* the machine may be too small */
        sambaStatusFree(status);
        if (!fits)
          break;
      }
      SambaStatus status = checkPair(&graph, section, a, r);
      if (status)
        fail_msg("%s, seed %llu, %s: %s over %s: %s", kind->name, (unsigned long long)seed,
                 machine->name, graph.tensors[r].name, graph.tensors[a].name,
                 sambaStatusGetMessage(status));
      ++pairs;
    }
  sambaArenaDestroy(&arena);
  return pairs;
}

static void checkMachine(const char *name, uint32_t least) {
  uint32_t pairs = 0;
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= seeds; ++seed)
      pairs += checkGraph(&graphKinds[k], sambaMachineFind(sambaStringRef(name)), seed);
  assert_in_range(pairs, least, UINT32_MAX);
}

static void onTiny(void **state) {
  (void)state;
  checkMachine("tiny", 100);
}
static void onSn40l(void **state) {
  (void)state;
  checkMachine("sn40l", 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(onTiny), cmocka_unit_test(onSn40l)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
