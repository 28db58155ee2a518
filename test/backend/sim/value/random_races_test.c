/* Property test: sections that load and store the same memory at random, through buffers whose
 * write ports may overlap. Whatever the order of threads and the size of joined tokens, such a
 * section is always refused with a fault, or always leaves the same bytes. */
#include "test/backend/sim/value/builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { memoryElements = 96 };

static const SambaDType F = SAMBA_DTYPE_F32;

static uint32_t upTo(uint32_t n) { return 1 + (uint32_t)(lrand48() % n); } /* 1..n */
static bool chance(int percent) { return lrand48() % 100 < percent; }

/* Tokens of a pipeline. */
typedef struct Shape {
  uint32_t rounds, tokens, elements;
} Shape;

/* Somewhere in the memory, mostly dense; a guard leaves out some of it. */
static SambaAccess randomAccess(Builder *builder, Shape shape) {
  int64_t inner = chance(80) ? 1 : upTo(2), middle = chance(80) ? shape.elements * inner : upTo(4);
  int64_t outer = chance(70) ? (int64_t)shape.tokens * middle : lrand48() % 3;
  SambaAccess access =
      builderAccess(3, 2, TRIPS(builder, shape.rounds, shape.tokens, shape.elements),
                    STRIDES(builder, outer, middle, inner));
  int64_t last =
      outer * (shape.rounds - 1) + middle * (shape.tokens - 1) + inner * (shape.elements - 1);
  if (last >= memoryElements) {
    access.strides = STRIDES(builder, 0, 0, 1);
    last = shape.elements - 1;
  }
  access.base = chance(60) ? 0 : lrand48() % (memoryElements - last);
  if (chance(20)) {
    SambaGuard *guard = SAMBA_ARENA_NEW(&builder->arena, SambaGuard);
    *guard = (SambaGuard){lrand48() % 2, upTo(6), STRIDES(builder, 0, lrand48() % 2, 1)};
    access.guards = guard, access.guard_count = 1;
  }
  return access;
}

static uint32_t addBuffer(Builder *builder, Shape shape, const uint32_t *loads, uint32_t count) {
  uint64_t slot = (uint64_t)shape.tokens * shape.elements;
  uint32_t buffer = builderBuffer(builder, F, upTo(3), slot);
  SambaAccess all = builderAccess(3, 2, TRIPS(builder, shape.rounds, shape.tokens, shape.elements),
                                  STRIDES(builder, 0, shape.elements, 1));
  all.slot_level = 1;
  for (uint32_t i = 0; i < count; ++i) {
    SambaAccess write = all;
    SambaGuard *guard = SAMBA_ARENA_NEW(&builder->arena, SambaGuard);
    *guard = (SambaGuard){i ? -1 : 0, i ? 64 : 1, STRIDES(builder, 0, chance(90), 0)};
    if (count > 1) /* the first token of a slot from one port, the others from the other */
      write.guards = guard, write.guard_count = 1;
    builderBufferWrite(builder, buffer, write);
    builderStream(builder, loads[i], 0, buffer, i);
  }
  builderBufferRead(builder, buffer, all);
  return buffer;
}

/* load(s) -> buffer or not -> compute or not -> store; returns load and store. */
static void addPipeline(Builder *builder, uint32_t symbols, uint32_t *out_load, uint32_t *out_store,
                        Shape shape) {
  uint32_t loads[2], count = chance(25) ? 2 : 1;
  for (uint32_t i = 0; i < count; ++i)
    loads[i] = builderLoad(builder, (uint32_t)lrand48() % symbols, randomAccess(builder, shape));
  uint32_t last = loads[0];
  if (count == 2 || chance(40))
    last = addBuffer(builder, shape, loads, count);

  if (chance(60)) {
    uint32_t unit =
        builderCompute(builder, 3, 2, TRIPS(builder, shape.rounds, shape.tokens, shape.elements));
    builderComputeInput(builder, unit, F, 2, shape.elements, STRIDES(builder, 0, 0, 1));
    uint32_t value = builderOp(builder, unit, SAMBA_LANE_ADD, F, 0, 0, 0, 0);
    builderComputeOutput(builder, unit, F, 2, shape.elements, STRIDES(builder, 0, 0, 1), value);
    builderStream(builder, last, 0, unit, 0);
    last = unit;
  }
  *out_load = loads[0];
  *out_store = builderStore(builder, (uint32_t)lrand48() % symbols, randomAccess(builder, shape));
  builderStream(builder, last, 0, *out_store, 0);
}

static void buildSection(Builder *builder) {
  uint32_t symbols = upTo(3), pipelines = upTo(3), loads[3], stores[3];
  Shape shape = {upTo(3), upTo(4), upTo(8)};
  for (uint32_t i = 0; i < symbols; ++i)
    builderSymbol(builder, "m", F, memoryElements, true);
  for (uint32_t i = 0; i < pipelines; ++i) {
    addPipeline(builder, symbols, &loads[i], &stores[i], shape);
    if (i == 0 || chance(50))
      continue;
    uint32_t output = builderOutput(builder, stores[i - 1], (SambaPort){.dtype = SAMBA_DTYPE_I1});
    uint32_t input = builderInput(builder, loads[i], (SambaPort){.dtype = SAMBA_DTYPE_I1});
    builderStream(builder, stores[i - 1], output, loads[i], input);
  }
}

/* A run as text: the fault, or the bytes of all formals. */
static bool runOnce(Builder *builder, int threads, bool keep, uint8_t *bytes) {
  uint32_t symbols = builder->section.symbol_count;
  for (uint32_t s = 0; s < symbols; ++s)
    for (int i = 0; i < memoryElements; ++i)
      ((float *)(void *)builder->bindings[s].data)[i] = (float)(100 * s + (uint32_t)i);
  SambaValuesOptions options = {.threads = threads, .keep_passes = keep};
  SambaStatus status = builderRun(builder, "sn40l", &options, NULL);
  for (uint32_t s = 0; s < symbols; ++s)
    memcpy(bytes + s * memoryElements * 4, builder->bindings[s].data, memoryElements * 4);
  bool runs = status == NULL;
  sambaStatusFree(status);
  return runs;
}

static bool compareRuns(long seed) {
  Builder builder;
  srand48(seed);
  builderInitialize(&builder);
  buildSection(&builder);
  uint8_t first[3 * memoryElements * 4], bytes[sizeof first];
  uint32_t size = builder.section.symbol_count * memoryElements * 4;
  uint8_t *own = builder.bindings[builder.section.symbol_count - 1].data;
  if (builder.section.symbol_count > 1 && chance(50)) /* two names of the same memory */
    builder.bindings[builder.section.symbol_count - 1].data = builder.bindings[0].data;

  bool runs = runOnce(&builder, 1, true, first);
  for (int i = 0; i < 7; ++i) {
    bool again = runOnce(&builder, 1 + i % 4, i % 2, bytes);
    if (again != runs || (runs && memcmp(first, bytes, size)))
      fprintf(stderr, "seed %ld, %d threads: %s\n", seed, 1 + i % 4,
              again == runs ? "other bytes" : "fault or no fault");
    assert_int_equal(again, runs);
    if (runs)
      assert_memory_equal(first, bytes, size);
  }

  builder.bindings[builder.section.symbol_count - 1].data = own;
  builderDestroy(&builder);
  return runs;
}

static void testRandomRaces(void **state) {
  (void)state;
  const char *count = getenv("SAMBA_RANDOM_SECTIONS");
  long n = count ? atol(count) : 150, runs = 0;
  for (long seed = 1; seed <= n; ++seed)
    runs += compareRuns(seed);
  assert_in_range(runs, n / 10, n - n / 10);
}

int main(int argc, char **argv) {
  if (argc == 2) { /* one case */
    compareRuns(atol(argv[1]));
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomRaces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
