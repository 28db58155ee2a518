/* Property test: whether a section ends on the chip, as it is found out without time, is what both
 * engines that count cycles find. Random sections on machines with
 * shallow FIFOs, half of them placed and routed. */
#include "backend/machine/shipped.h"
#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/section/check/section_check.h"
#include "backend/sim/cycle/cycle.h"
#include "backend/sim/progress/progress.h"
#include "backend/sim/progress/round.h"
#include "backend/sim/timing/timing.h"
#include "test/backend/sim/value/random_network.h"
#include "test/backend/sim/value/random_section.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef SambaStatus (*Engine)(const SambaMachine *machine, const SambaSection *section,
                              const SambaBinding *bindings, const SambaIndexTraces *index_traces,
                              const SambaTimingOptions *options, SambaTimingResult *out_result);

/* The kind of a fault: what stands before its colon; "" where there is none. */
static void kindOf(SambaStatus status, char *out_kind, size_t size) {
  snprintf(out_kind, size, "%.*s", (int)strcspn(sambaStatusGetMessage(status), ":"),
           sambaStatusGetMessage(status));
  sambaStatusFree(status);
}

static void runBy(Engine engine, const SambaMachine *machine, const Builder *builder,
                  char *out_kind, size_t size) {
  SambaTimingOptions options = {.max_cycles = 10000000};
  SambaTimingResult result = {0};
  kindOf(engine(machine, &builder->section, builder->bindings, NULL, &options, &result), out_kind,
         size);
  sambaTimingResultFree(&result);
}

/* A machine on which little fits between units. */
static SambaMachine shallowMachine(void) {
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  machine.fifo_depth = 1 + lrand48() % 6;
  machine.ag_bursts = 4 << lrand48() % 5;
  machine.pmu_latency_cycles = 1 + lrand48() % 4;
  machine.simd_stages = 2 + lrand48() % 5;
  machine.systolic_shadow = lrand48() % 2;
  return machine;
}

static void placeAndRoute(Builder *builder, const SambaMachine *machine) {
  uint32_t *rates = SAMBA_ARENA_ARRAY(&builder->arena, uint32_t, builder->section.stream_count);
  for (uint32_t s = 0; s < builder->section.stream_count; ++s)
    rates[s] = 1;
  assert_null(sambaSectionPlace(&builder->section, machine, rates));
  assert_null(sambaSectionRoute(&builder->section, machine, rates, NULL));
}

/* Is there something that the sections were made for? */
typedef struct Seen {
  long ends, rounds;
} Seen;

static bool hasRounds(const SambaSection *section) {
  SambaArena arena = {0};
  SambaSection first;
  bool has = sambaProgressFirstRound(section, &arena, &first);
  sambaArenaDestroy(&arena);
  return has;
}

static void compareEngines(long seed, Seen *seen) {
  Builder builder;
  srand48(seed);
  builderInitialize(&builder);
  SambaMachine machine = shallowMachine();
  if (seed % 4 == 0)
    randomSection(&builder, (RandomShape)(seed / 4 % RANDOM_SHAPES));
  else
    randomNetwork(&builder);
  assert_null(sambaSectionCheck(&builder.section));
  if (seed % 2)
    placeAndRoute(&builder, &machine);

  char without_time[32], fast[32], stepped[32];
  SambaProgress *progress = sambaProgressRun(&machine, &builder.section, 0, NULL);
  kindOf(sambaProgressExplain(progress, NULL), without_time, sizeof without_time);
  seen->ends += sambaProgressEnds(progress);
  seen->rounds += hasRounds(&builder.section);
  sambaProgressFree(progress);
  runBy(sambaTimingExecute, &machine, &builder, fast, sizeof fast);
  runBy(sambaCycleExecute, &machine, &builder, stepped, sizeof stepped);

  bool agree = !strcmp(without_time, fast) && !strcmp(without_time, stepped);
  if (!agree)
    fprintf(stderr,
            "seed %ld, FIFOs of %d: '%s' without time, '%s' by the fast engine, '%s' by the "
            "stepped one\n",
            seed, (int)machine.fifo_depth, without_time, fast, stepped);
  assert_true(agree);
  builderDestroy(&builder);
}

static void testRandomProgress(void **state) {
  (void)state;
  const char *count = getenv("SAMBA_RANDOM_SECTIONS");
  long n = count ? atol(count) : 1500;
  Seen seen = {0};
  for (long seed = 1; seed <= n; ++seed)
    compareEngines(seed, &seen);
  assert_in_range(seen.ends, n / 10, n - n / 10);
  assert_in_range(seen.rounds, n / 10, n);
}

int main(int argc, char **argv) {
  if (argc == 2) { /* one case */
    compareEngines(atol(argv[1]), &(Seen){0});
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomProgress)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
