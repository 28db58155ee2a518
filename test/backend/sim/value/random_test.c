/* Property test: seeded random sections leave the same bytes after the value engine and after the
 * naive interpreter. */
#include "backend/machine/shipped.h"
#include "test/backend/sim/value/random_section.h"
#include "test/backend/sim/value/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some units use a part of the lanes: their reductions fold fewer sums. */
static void useSomeLanes(SambaSection *section, long seed) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if ((seed + u) % 3 == 0)
      section->units[u].lanes = 1u << (seed + u) % 5;
}

static void compareRun(RandomShape shape, long seed, int threads) {
  Builder builder;
  srand48(seed);
  builderInitialize(&builder);
  randomSection(&builder, shape);
  useSomeLanes(&builder.section, seed);
  uint8_t *before[16], *after[16];

  for (uint32_t i = 0; i < builder.section.symbol_count; ++i) {
    before[i] = malloc(builder.bindings[i].bytes + 1);
    memcpy(before[i], builder.bindings[i].data, builder.bindings[i].bytes);
  }

  const char *machines[] = {"sn40l", "sn40l", "tiny"};
  const char *machine = machines[seed % 3];
  const SambaMachine *m = sambaMachineFind(sambaStringRef(machine));
  SambaValuesOptions options = {.threads = threads, .cpu = seed % 4 == 3 ? "x86-64-v3" : NULL};
  SambaStatus status = builderRun(&builder, machine, &options, NULL);

  if (status)
    fprintf(stderr, "shape %d, seed %ld: %s\n", shape, seed, sambaStatusGetMessage(status));
  assert_null(status);
  for (uint32_t i = 0; i < builder.section.symbol_count; ++i) {
    after[i] = malloc(builder.bindings[i].bytes + 1);
    memcpy(after[i], builder.bindings[i].data, builder.bindings[i].bytes);
    memcpy(builder.bindings[i].data, before[i], builder.bindings[i].bytes);
  }

  assert_true(referenceRun(&builder.section, builder.bindings, NULL, (int)m->simd_lanes));
  for (uint32_t i = 0; i < builder.section.symbol_count; ++i) {
    if (memcmp(after[i], builder.bindings[i].data, builder.bindings[i].bytes))
      fprintf(stderr, "shape %d, seed %ld: formal '%s' (%s) differs\n", shape, seed,
              builder.section.symbols[i].name, sambaDTypeName(builder.section.symbols[i].dtype));
    assert_memory_equal(after[i], builder.bindings[i].data, builder.bindings[i].bytes);
    free(before[i]);
    free(after[i]);
  }

  builderDestroy(&builder);
}

static void testShapes(void **state) {
  (void)state;
  const char *count = getenv("SAMBA_RANDOM_SECTIONS");
  long n = count ? atol(count) : 60;
  for (long seed = 1; seed <= n; ++seed)
    for (int shape = 0; shape < RANDOM_SHAPES; ++shape)
      compareRun((RandomShape)shape, seed * 100 + shape, 1 + (int)(seed % 3));
}

int main(int argc, char **argv) {
  if (argc == 3) { /* one case: shape and seed, as a failure printed them */
    compareRun((RandomShape)atoi(argv[1]), atol(argv[2]), 1);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(testShapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
