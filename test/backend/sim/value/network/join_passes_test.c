/* Joined sections mean what the original ones mean: the naive interpreter leaves the same bytes for
 * both, and so does the value engine with joining and without. */
#include "backend/sim/value/network/join_passes.h"

#include "backend/machine/shipped.h"
#include "backend/section/access.h"
#include "test/backend/sim/value/random_section.h"
#include "test/backend/sim/value/reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of all formals. */
static uint8_t *copyFormals(const Builder *builder) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < builder->section.symbol_count; ++i)
    bytes += builder->bindings[i].bytes;
  uint8_t *copy = malloc(bytes + 1), *at = copy;
  for (uint32_t i = 0; i < builder->section.symbol_count; ++i) {
    memcpy(at, builder->bindings[i].data, builder->bindings[i].bytes);
    at += builder->bindings[i].bytes;
  }
  return copy;
}

static void restoreFormals(Builder *builder, const uint8_t *copy) {
  for (uint32_t i = 0; i < builder->section.symbol_count; ++i) {
    memcpy(builder->bindings[i].data, copy, builder->bindings[i].bytes);
    copy += builder->bindings[i].bytes;
  }
}

static void expectFormals(const Builder *builder, const uint8_t *expected, const char *who) {
  for (uint32_t i = 0; i < builder->section.symbol_count; ++i) {
    if (memcmp(builder->bindings[i].data, expected, builder->bindings[i].bytes))
      fprintf(stderr, "formal '%s' differs: %s\n", builder->section.symbols[i].name, who);
    assert_memory_equal(builder->bindings[i].data, expected, builder->bindings[i].bytes);
    expected += builder->bindings[i].bytes;
  }
}

static void expectRun(Builder *builder, const uint8_t *before, const uint8_t *expected,
                      const SambaValuesOptions *options, const char *who) {
  restoreFormals(builder, before);
  SambaStatus status = builderRun(builder, "sn40l", options, NULL);
  if (status)
    fprintf(stderr, "%s: %s\n", who, sambaStatusGetMessage(status));
  assert_null(status);
  expectFormals(builder, expected, who);
}

/* Steps of all outer counters together. */
static uint64_t countFirings(const SambaSection *section) {
  uint64_t count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    count += section->units[u].kind == SAMBA_UNIT_BUFFER ? 0 : sambaUnitFirings(&section->units[u]);
  return count;
}

static uint32_t placeOf(const SambaPort *port, uint32_t stream) {
  uint32_t place = 0;
  while (port->streams[place] != stream)
    ++place;
  return place;
}

/* Both ends of each stream agree on tokens and their sizes. */
static void expectTokens(const SambaSection *section) {
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *source = &section->units[stream->source.unit];
    const SambaPort *output = &source->outputs[stream->source.port];
    uint64_t sent = sambaPortStreamTokens(
        output, sambaPortTokens(source, true, stream->source.port), placeOf(output, s));
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      SambaEndpoint end = stream->destinations[d];
      const SambaUnit *unit = &section->units[end.unit];
      const SambaPort *input = &unit->inputs[end.port];
      assert_int_equal(input->token_elements, output->token_elements);
      assert_int_equal(
          sambaPortStreamTokens(input, sambaPortTokens(unit, false, end.port), placeOf(input, s)),
          sent);
    }
  }
}

/* Returns true when anything was joined. */
static bool compareSection(RandomShape shape, long seed) {
  Builder builder;
  srand48(seed);
  builderInitialize(&builder);
  randomSection(&builder, shape);
  SambaJoinLimits limits = {.macs = 1 + (uint64_t)(lrand48() % 3000),
                            .points = 1 + (uint64_t)(lrand48() % 1000),
                            .token_bytes = 1 + (uint64_t)(lrand48() % 2000)};
  if (seed % 2)
    limits = sambaJoinLimits;
  const int lanes = (int)sambaMachineFind(sambaStringRef("sn40l"))->simd_lanes;
  uint8_t *before = copyFormals(&builder);
  assert_true(referenceRun(&builder.section, builder.bindings, NULL, lanes));
  uint8_t *expected = copyFormals(&builder);

  SambaArena arena = {0};
  bool *ordered = SAMBA_ARENA_ARRAY(&arena, bool, builder.section.unit_count); /* none is */
  SambaTokenOrder **orders =
      SAMBA_ARENA_ARRAY(&arena, SambaTokenOrder *, builder.section.unit_count);
  const SambaSection *joined = sambaJoinPasses(&arena, &builder.section, ordered, &limits, orders);
  expectTokens(joined);
  bool fewer = joined != &builder.section;
  if (fewer)
    assert_true(countFirings(joined) < countFirings(&builder.section));
  restoreFormals(&builder, before);
  assert_true(referenceRun(joined, builder.bindings, NULL, lanes));
  expectFormals(&builder, expected, "the joined section in the interpreter");

  SambaValuesOptions options = {.threads = 1 + (int)(seed % 2), .keep_passes = true};
  expectRun(&builder, before, expected, &options, "the engine, firing by firing");
  options.keep_passes = false;
  expectRun(&builder, before, expected, &options, "the engine");

  /* What small limits joined, joined again. */
  SambaValues *values;
  restoreFormals(&builder, before);
  assert_null(sambaValuesCreate(sambaMachineFind(sambaStringRef("sn40l")), &options, &values));
  assert_null(sambaValuesExecute(values, joined, builder.bindings, NULL, 0, NULL));
  expectFormals(&builder, expected, "the engine on a joined section");
  sambaValuesDestroy(values);

  sambaArenaDestroy(&arena);
  free(before);
  free(expected);
  builderDestroy(&builder);
  return fewer;
}

static void testRandomSections(void **state) {
  (void)state;
  const char *count = getenv("SAMBA_RANDOM_SECTIONS");
  long n = count ? atol(count) : 40;
  for (int shape = 0; shape < RANDOM_SHAPES; ++shape) {
    long joined = 0;
    for (long seed = 1; seed <= n; ++seed)
      joined += compareSection((RandomShape)shape, seed * 100 + shape);
    if (shape == RANDOM_PASSES)
      assert_true(joined > n / 2);
  }
}

int main(int argc, char **argv) {
  if (argc == 3) { /* one case: shape and seed */
    compareSection((RandomShape)atoi(argv[1]), atol(argv[2]));
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandomSections)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
