/* Cycles of planned sections in the timing engine, placed and routed, against bounds counted from
 * the operator's shape and the machine alone. */
#include "backend/codegen/codegen.h"
#include "backend/estimate/predict.h"
#include "backend/estimate/stream_rates.h"
#include "backend/estimate/unit_cycles.h"
#include "backend/machine/shipped.h"
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/plan/plan.h"
#include "backend/sim/timing/timing.h"
#include "backend/split/split_programs.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

/* Slots of the buffers between PCUs. */
typedef enum { AS_PLANNED, ONE_SLOT } Slots;

static void leaveOneSlot(SambaSection *section) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_BUFFER)
      continue;
    uint32_t source = section->streams[unit->inputs[0].streams[0]].source.unit;
    if (section->units[source].kind == SAMBA_UNIT_COMPUTE)
      unit->buffer.slot_count = 1;
  }
}

/* Routes at the section's pace, or at a slower one that the links can carry. */
static SambaStatus routeSection(SambaSection *section, const SambaMachine *machine,
                                const uint32_t *rates, SambaArena *arena) {
  static const uint32_t paces[] = {100, 80, 65, 50};
  uint32_t *slower = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  SambaStatus status = NULL;
  for (size_t i = 0; i < sizeof paces / sizeof paces[0]; ++i) {
    sambaStatusFree(status);
    for (uint32_t s = 0; s < section->stream_count; ++s)
      slower[s] = (rates[s] * paces[i] + 99) / 100;
    status = sambaSectionRoute(section, machine, slower, NULL);
    if (sambaStatusGetCode(status) != SAMBA_EXHAUSTED)
      break;
  }
  return status;
}

/* Simulated cycles, which the model predicts within its bar. */
static uint64_t cyclesOf(SambaStageGraph *graph, const SambaMachine *machine, Slots slots) {
  SambaArena arena = {0};
  SambaSection *section = NULL;
  SambaStatus status = sambaPlanTiles(graph, machine, NULL);

  if (!status)
    status = sambaCodegenSection(graph, machine, &arena, &section);
  if (!status)
    status = sambaSplitPrograms(section, machine);
  if (!status && slots == ONE_SLOT)
    leaveOneSlot(section);
  const uint32_t *rates = status ? NULL : sambaSectionRates(section, machine, &arena);
  if (!status)
    status = sambaSectionPlace(section, machine, rates);
  if (!status)
    status = routeSection(section, machine, rates, &arena);
  SambaBinding bindings[8] = {{0}};
  uint64_t address = 0;

  for (uint32_t i = 0; !status && i < section->symbol_count; ++i) {
    bindings[i].bytes = section->symbols[i].elements * sambaDTypeBytes(section->symbols[i].dtype);
    bindings[i].address = address;
    address += (bindings[i].bytes + 511) / 512 * 512;
  }

  SambaTimingResult result = {0};
  if (!status)
    status =
        sambaTimingExecute(machine, section, bindings, NULL, &(SambaTimingOptions){0}, &result);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  uint64_t cycles = result.cycles;
  double predicted = sambaSectionPredict(section, machine, NULL).cycles / (double)cycles;
  print_message("%s: predicted %.2f of %llu cycles\n", graph->name, predicted,
                (unsigned long long)cycles);
  assert_true(predicted > 0.7 && predicted < 1.3);
  sambaTimingResultFree(&result);
  sambaArenaDestroy(&arena);

  return cycles;
}

/* m x n x k in bf16; the bound is the larger of arithmetic at the arrays' peak and every byte once
 * at the HBM's peak. */
static void matmulNearBound(int64_t m, int64_t n, int64_t k, double factor) {
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "matmul"};
  uint32_t a = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){m, k});
  uint32_t b = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){k, n});

  addMatmul(&graph, a, b, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
  double arithmetic = (double)m * (double)n * (double)k / (1040.0 * 16 * 16);
  double memory = 2.0 * (double)(m * k + k * n + m * n) / (64 * 28.125e9 / 1.2e9);
  double bound = arithmetic > memory ? arithmetic : memory;
  double cycles = (double)cyclesOf(&graph, machine, AS_PLANNED);
  print_message("%lldx%lldx%lld: %.0f cycles, bound %.0f: %.2f times\n", (long long)m, (long long)n,
                (long long)k, cycles, bound, cycles / bound);
  assert_true(cycles >= bound);
  assert_true(cycles <= factor * bound);
  sambaArenaDestroy(&arena);
}

static void matmulOf1024IsWithinTwiceItsBound(void **state) {
  (void)state;
  matmulNearBound(1024, 1024, 1024, 2);
}

static void largerMatmulsComeCloser(void **state) {
  (void)state;
  matmulNearBound(2048, 2048, 2048, 1.6);
}

/* All results leave at once, in rows that few copies make. */
static void fewResultsLeaveSoon(void **state) {
  (void)state;
  matmulNearBound(256, 256, 1024, 2.85);
}

/* Loads of each symbol in the planned section. */
enum { mostSymbols = 4 };
static void countLoads(SambaStageGraph *graph, const SambaMachine *machine,
                       uint32_t counts[mostSymbols]) {
  SambaArena arena = {0};
  SambaSection *section = NULL;
  SambaStatus status = sambaPlanTiles(graph, machine, NULL);
  if (!status)
    status = sambaCodegenSection(graph, machine, &arena, &section);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));

  for (uint32_t s = 0; s < mostSymbols; ++s)
    counts[s] = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_LOAD &&
        section->units[u].load_store.symbol < mostSymbols)
      ++counts[section->units[u].load_store.symbol];
  sambaArenaDestroy(&arena);
}

/* The rows of the first operand are spread over four PMUs, the last of which is read after an
 * eighth of the firings: what loads it has to be there by then. So three quarters of its bytes come
 * within an eighth of the arrays' time, and it gets that many generators: 42. */
static void spreadOperandsComeInTime(void **state) {
  (void)state;
  enum { m = 4096, n = 3072, k = 768 };
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "matmul"};
  uint32_t a = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){m, k});
  uint32_t b = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){k, n});
  uint32_t loads[mostSymbols];

  addMatmul(&graph, a, b, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
  countLoads(&graph, machine, loads);
  double arithmetic = (double)m * n * k / (1040.0 * 16 * 16);
  double needed = 0.75 * 2.0 * m * k / (arithmetic / 8 * sambaMachineAgBytesPerCycle(machine));
  assert_true(loads[0] >= needed);
  sambaArenaDestroy(&arena);
}

/* A product of two products, in sizes whose tokens FIFOs do not hold: both operands come from
 * buffers, and dealing them to copies in both directions would be a circle of waits. */
static void productsOfProductsEnd(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));

  for (int64_t size = 64; size <= 256; size *= 2) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = "products"};
    uint32_t x[4], y[2];
    for (int i = 0; i < 4; ++i)
      x[i] = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){size, size});
    for (int i = 0; i < 2; ++i)
      y[i] = addMatmul(&graph, x[2 * i], x[2 * i + 1], false, SAMBA_TENSOR_INTERMEDIATE,
                       SAMBA_DTYPE_F32);
    addMatmul(&graph, y[0], y[1], false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32);
    assert_true(cyclesOf(&graph, machine, AS_PLANNED) > 0);
    sambaArenaDestroy(&arena);
  }
}

/* Whatever the planner does with graphs at random, they end. */
static void randomGraphsEnd(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  const char *times = getenv("SAMBA_TEST_ROUNDS");
  uint64_t rounds = times ? strtoull(times, NULL, 10) : 3;
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= rounds; ++seed) {
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
      graphKinds[k].make(&graph, &(Random){seed * 15485863});
      assert_true(cyclesOf(&graph, machine, AS_PLANNED) > 0);
      sambaArenaDestroy(&arena);
    }
}

/* Two products with one slice between them instead of two: they work in turns. */
static void turnsAtBuffersTakeTime(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  uint64_t cycles[2];

  for (int slots = AS_PLANNED; slots <= ONE_SLOT; ++slots) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = slots ? "one slice" : "two slices"};
    SambaDType dtype = SAMBA_DTYPE_BF16;
    uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){1024, 768});
    uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){768, 3072});
    uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){3072, 768});
    uint32_t y = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
    addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
    cycles[slots] = cyclesOf(&graph, machine, (Slots)slots);
    sambaArenaDestroy(&arena);
  }
  assert_true((double)cycles[ONE_SLOT] > 1.15 * (double)cycles[AS_PLANNED]);
}

/* The weights of the second product, four times those of the first, are used when that one has made
 * a slice: the first ones have more generators for their bytes. */
static void whatIsUsedLaterIsLoadedLater(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "products in a row"};
  SambaDType dtype = SAMBA_DTYPE_BF16;
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){8192, 768});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){768, 768});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){768, 3072});
  uint32_t y = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  uint32_t loads[mostSymbols];
  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
  countLoads(&graph, machine, loads);
  assert_true(4 * loads[1] > loads[2]);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matmulOf1024IsWithinTwiceItsBound),
                                     cmocka_unit_test(largerMatmulsComeCloser),
                                     cmocka_unit_test(fewResultsLeaveSoon),
                                     cmocka_unit_test(spreadOperandsComeInTime),
                                     cmocka_unit_test(whatIsUsedLaterIsLoadedLater),
                                     cmocka_unit_test(productsOfProductsEnd),
                                     cmocka_unit_test(turnsAtBuffersTakeTime),
                                     cmocka_unit_test(randomGraphsEnd)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
