/* Mappings that break a rule, sections that do not fit, and what the planner promises about its
 * choices. */
#include "backend/codegen/codegen.h"
#include "backend/estimate/estimate.h"
#include "backend/estimate/predict.h"
#include "backend/group/tile_nest.h"
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/section/check/section_check.h"
#include "test/backend/execute.h"
#include "test/backend/stage_graphs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static const SambaMachine *machineOf(const char *name) {
  return sambaMachineFind(sambaStringRef(name));
}

static void makeMatmul(SambaStageGraph *graph, SambaArena *arena, SambaDType dtype, int64_t m,
                       int64_t n, int64_t k) {
  *graph = (SambaStageGraph){.arena = arena, .name = "g"};
  uint32_t a = addTensor(graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){m, k});
  uint32_t b = addTensor(graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){k, n});
  addMatmul(graph, a, b, false, SAMBA_TENSOR_RESULT, dtype);
}

static uint32_t addVector(SambaStageGraph *graph, int64_t size) {
  return addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){1, size});
}

/* x times the transpose of a matrix of `rows` rows, which is the next tensor. */
static void addVectorByMatrix(SambaStageGraph *graph, uint32_t x, int64_t size, int64_t rows) {
  uint32_t matrix =
      addTensor(graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){rows, size});
  addMatmul(graph, x, matrix, true, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
}

static SambaSection *lowered(SambaStageGraph *graph, const SambaMachine *machine,
                             SambaArena *arena) {
  SambaSection *section = NULL;
  SambaStatus status = sambaPlanTiles(graph, machine, NULL);
  if (!status)
    status = lowerGraph(graph, machine, arena, &section);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  return section;
}

typedef struct Case {
  const char *text;
  void (*spoil)(SambaMapping *mapping);
} Case;
#define CASE(name, ...)                                                                            \
  static void name(SambaMapping *mapping) { __VA_ARGS__; }
CASE(otherDims, mapping->dim_count = 2)
CASE(tileTooLarge, mapping->tile[0] = 65)
CASE(reducedUnroll, mapping->unroll[2] = 2)
CASE(unrollTooLarge, mapping->tile[0] = 1; mapping->unroll[0] = 65)
CASE(noPermutation, mapping->order[0] = 1)
CASE(reducedEarly, mapping->order[1] = 2; mapping->order[2] = 1)
CASE(noDivisor, mapping->tile[2] = 7)
CASE(pipelineInside, mapping->pipeline_count = 1; mapping->pipeline_dims[0] = 1;
     mapping->order[0] = 0; mapping->order[1] = 1)

static void mappingsAreChecked(void **state) {
  (void)state;
  static const Case cases[] = {
      {"the mapping has 2 dimensions, the stage 3", otherDims},
      {"dimension 0: tile 65 is not in [1, 64]", tileTooLarge},
      {"dimension 2: unroll 2; it is 1 or more, and 1 for reduced dimensions", reducedUnroll},
      {"dimension 0: unroll 65 exceeds the extent 64", unrollTooLarge},
      {"the loop order is not a permutation of the dimensions: position 1 is 1", noPermutation},
      {"reduced dimension 2 must stay at position 2 of the loop order", reducedEarly},
      {"reduced dimension 2: tile 7 does not divide the extent 48", noDivisor},
      {"pipeline dimension 1 must be a parallel dimension and loop 0, the "
       "outermost but for those of the pipeline before it",
       pipelineInside},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    SambaArena arena = {0};
    SambaStageGraph graph;
    SambaSection *section;
    makeMatmul(&graph, &arena, SAMBA_DTYPE_F32, 64, 64, 48);
    assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
    for (uint32_t d = 0; d < 3; ++d)
      graph.mappings[0].order[d] = d;
    cases[i].spoil(&graph.mappings[0]);
    SambaStatus status = sambaCodegenSection(&graph, machineOf("sn40l"), &arena, &section);
    if (!strstr(sambaStatusGetMessage(status), cases[i].text))
      fail_msg("expected '%s', got '%s'", cases[i].text, sambaStatusGetMessage(status));
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
}

/* 2^33 accumulated bytes: the intermediate of x W V cannot be on chip whole, nor can any
 * row of it. */
static void whatDoesNotFitIsExhausted(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "wide"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){4, 8});
  uint32_t w =
      addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){8, 1 << 20});
  uint32_t v =
      addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_F32, 2, (int64_t[]){1 << 20, 4});
  uint32_t y = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_F32);

  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_F32);
  SambaStatus status = sambaPlanTiles(&graph, machineOf("tiny"), NULL);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(strstr(sambaStatusGetMessage(status),
                         "bytes on chip, but a PMU of tiny has 65536; cut the section there"));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

/* Copies along one side are tried first, then both together. */
static void copiesAreAlongBothSides(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 1024, 1024, 1024);
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
  const uint32_t *unroll = graph.mappings[0].unroll;
  assert_true(unroll[0] > 1 && unroll[1] > 1);
  assert_true(unroll[0] * unroll[1] >= 128);
  sambaArenaDestroy(&arena);
}

/* Sums go through PMUs where that loads operands once. Where there is room, each copy has buffers
 * of its own. */
static void copiesHaveBuffersWhereThereIsRoom(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "deep"};
  uint32_t a =
      addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){4096, 11008});
  uint32_t b =
      addTensor(&graph, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){4096, 11008});
  addMatmul(&graph, a, b, true, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
  const SambaMapping *mapping = &graph.mappings[0];
  assert_int_equal(mapping->order[0], 2); /* sums go through PMUs */
  for (uint32_t i = 0; i < 2; ++i)
    assert_int_not_equal(mapping->operand_joined[i], 2);
  sambaArenaDestroy(&arena);
}

/* Buffers that two copies share have twins, too: none sends large tokens of an operand to more than
 * eight of 1,024 copies. */
static void sharedBuffersHaveTwins(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaSection *section;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 512, 4096, 2048);
  graph.mappings[0] = (SambaMapping){.dim_count = 3,
                                     .order = {2, 1, 0},
                                     .tile = {16, 32, 1024},
                                     .unroll = {16, 64, 1},
                                     .operand_level = {1, 2},
                                     .operand_depth = {2, 2},
                                     .operand_joined = {0, SAMBA_COPIES_PAIRED}};
  graph.mappings[1] =
      (SambaMapping){.dim_count = 2, .order = {1, 0}, .tile = {16, 32}, .unroll = {16, 64}};
  assert_null(sambaCodegenSection(&graph, machineOf("sn40l"), &arena, &section));
  uint32_t most = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (section->units[stream->source.unit].kind == SAMBA_UNIT_BUFFER &&
        section->units[stream->destinations[0].unit].kind == SAMBA_UNIT_COMPUTE &&
        stream->destination_count > most)
      most = stream->destination_count;
  }
  assert_int_equal(most, 8);
  sambaArenaDestroy(&arena);
}

static void lowerWantsMappings(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaSection *section;

  makeMatmul(&graph, &arena, SAMBA_DTYPE_F32, 4, 4, 4);
  SambaStatus status = sambaCodegenSection(&graph, machineOf("tiny"), &arena, &section);
  assert_non_null(strstr(sambaStatusGetMessage(status),
                         "stage 0 (matmul) has no mapping; plan the section first"));
  sambaStatusFree(status);
  graph.stage_count = 0;
  status = sambaCodegenSection(&graph, machineOf("tiny"), &arena, &section);
  assert_non_null(strstr(sambaStatusGetMessage(status), "section g has no stages"));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

/* 1024^3 in bf16 keeps nearly all arrays busy and reads each element of A and B once: 2 MB each. */
static void largeMatmulUsesTheChip(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 1024, 1024, 1024);
  SambaSection *section = lowered(&graph, machineOf("sn40l"), &arena);
  SambaSectionNeeds needs = sambaSectionCount(section);
  assert_true(needs.pcus >= 832);
  assert_true(needs.fewest_ags <= 80);
  assert_true(sambaSectionPredict(section, machineOf("sn40l"), NULL).cycles < 2 * 4194.0);
  sambaArenaDestroy(&arena);
}

/* Sums in parts: the first one works when its operands are there, half of A and an eighth of B; and
 * its stores have the generators of the loads. */
static void sumsComeInParts(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaSection *section;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 1024, 1024, 1024);
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), &(SambaPlanOptions){.sum_parts = 2}));
  const SambaMapping *mapping = &graph.mappings[0];
  assert_int_equal(mapping->tile[2], 512);
  assert_null(sambaCodegenSection(&graph, machineOf("sn40l"), &arena, &section));
  SambaSectionNeeds needs = sambaSectionCount(section);
  assert_true(needs.ags > 80 && needs.fewest_ags <= 80);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_BUFFER)
      assert_true(section->units[u].buffer.slot_elements <= 16 * 512);

  /* Groups behind each other are planned as without. */
  SambaStageGraph chain = {.arena = &arena, .name = "chain"}, plain = {.arena = &arena};
  SambaStageGraph *graphs[] = {&chain, &plain};
  for (int i = 0; i < 2; ++i) {
    const int64_t dims[] = {512, 512};
    uint32_t x = addTensor(graphs[i], SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, dims);
    uint32_t w = addTensor(graphs[i], SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, dims);
    uint32_t y = addMatmul(graphs[i], x, w, false, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_BF16);
    addMatmul(graphs[i], y, w, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
    SambaPlanOptions options = {.sum_parts = i ? 0 : 2};
    assert_null(sambaPlanTiles(graphs[i], machineOf("sn40l"), &options));
  }
  assert_memory_equal(chain.mappings, plain.mappings, 2 * sizeof *plain.mappings);
  sambaArenaDestroy(&arena);
}

/* Sums through PMUs: the array begins when the first part of its operands is there. Refused where
 * there is no array, and of several groups. */
static void sumsAreCarried(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaSection *section;
  SambaPlanOptions options = {.carries_sums = true};
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 512, 4096, 4096);
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
  assert_int_not_equal(graph.mappings[0].order[0], 2);
  memset(graph.mappings, 0, graph.stage_count * sizeof *graph.mappings);
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), &options));
  assert_int_equal(graph.mappings[0].order[0], 2);
  assert_true(graph.mappings[0].tile[2] < 4096);
  assert_null(sambaCodegenSection(&graph, machineOf("sn40l"), &arena, &section));

  SambaStageGraph vector = {.arena = &arena, .name = "vector"};
  addVectorByMatrix(&vector, addVector(&vector, 64), 64, 64);
  SambaStageGraph chain = {.arena = &arena, .name = "chain"};
  uint32_t x = addTensor(&chain, SAMBA_TENSOR_ARGUMENT, SAMBA_DTYPE_BF16, 2, (int64_t[]){64, 64});
  uint32_t y = addMatmul(&chain, x, x, false, SAMBA_TENSOR_INTERMEDIATE, SAMBA_DTYPE_BF16);
  addMatmul(&chain, y, x, false, SAMBA_TENSOR_RESULT, SAMBA_DTYPE_BF16);
  SambaStageGraph *refused[] = {&vector, &chain};
  const char *whys[] = {"", "sums that go through PMUs are those of a section's only group"};
  for (int i = 0; i < 2; ++i) {
    SambaStatus status = sambaPlanTiles(refused[i], machineOf("sn40l"), &options);
    assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
    assert_non_null(strstr(sambaStatusGetMessage(status), whys[i]));
    sambaStatusFree(status);
  }
  sambaArenaDestroy(&arena);
}

static void decisionsReduceParallelism(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;
  SambaSection *section;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 1024, 1024, 1024);
  assert_null(
      sambaPlanTiles(&graph, machineOf("sn40l"), &(SambaPlanOptions){.parallel_divisor = 4}));
  assert_null(sambaCodegenSection(&graph, machineOf("sn40l"), &arena, &section));
  assert_true(sambaSectionCount(section).pcus <= 260);
  sambaArenaDestroy(&arena);
}

/* Hand-written mappings win: planning twice changes nothing. */
static void planningIsIdempotent(void **state) {
  (void)state;
  for (uint32_t k = 0; k < graphKindCount; ++k) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
    graphKinds[k].make(&graph, &(Random){k + 1});
    assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
    SambaMapping *before =
        sambaArenaCopy(&arena, graph.mappings, graph.stage_count * sizeof *before);
    assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), NULL));
    assert_memory_equal(before, graph.mappings, graph.stage_count * sizeof *before);
    sambaArenaDestroy(&arena);
  }
}

static void sectionsTooLargeAreNamed(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph;

  makeMatmul(&graph, &arena, SAMBA_DTYPE_F32, 512, 512, 64);
  SambaSection *section = lowered(&graph, machineOf("sn40l"), &arena);
  SambaStatus status = sambaSectionFits(section, machineOf("tiny"));
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(strstr(sambaStatusGetMessage(status), "PCUs, but tiny has 8 to give"));
  sambaStatusFree(status);
  SambaMachine machine = *machineOf("sn40l");
  machine.reserve_units_percent = 89;
  status = sambaSectionFits(section, &machine);
  assert_non_null(strstr(sambaStatusGetMessage(status), "PCUs and PMUs together, but sn40l has"));
  sambaStatusFree(status);
  machine = *machineOf("sn40l");
  machine.flows_per_lane = 0;
  status = sambaSectionFits(section, &machine);
  assert_non_null(
      strstr(sambaStatusGetMessage(status),
             "vector streams, but a unit of sn40l has 4 inputs and 2 outputs of 0 flows"));
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

/* Two products in a section, with `hidden` columns between them. */
static void makeTwoProducts(SambaStageGraph *graph, int64_t hidden) {
  SambaDType dtype = SAMBA_DTYPE_BF16;
  uint32_t x = addTensor(graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){1024, 768});
  uint32_t w = addTensor(graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){768, hidden});
  uint32_t v = addTensor(graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){hidden, 768});
  uint32_t y = addMatmul(graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  addMatmul(graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
}

static SambaSection *twoProducts(const SambaMachine *machine, SambaArena *arena, int64_t hidden) {
  SambaStageGraph graph = {.arena = arena, .name = "mlp"};
  makeTwoProducts(&graph, hidden);
  return lowered(&graph, machine, arena);
}

/* What many arrays use goes to eight of them at most, also what the section makes. */
static void buffersBetweenProductsHaveTwins(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaSection *section = twoProducts(machineOf("sn40l"), &arena, 12288);
  uint32_t largest = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (section->units[stream->source.unit].kind == SAMBA_UNIT_BUFFER &&
        stream->destination_count > largest)
      largest = stream->destination_count;
  }
  assert_int_equal(largest, 8);
  sambaArenaDestroy(&arena);
}

/* There are two slices in the buffers between two products. Were there one, it would be written and
 * read in turns, which the model sees. */
static void buffersOfOneSlotCostTurns(void **state) {
  (void)state;
  const SambaMachine *machine = machineOf("sn40l");
  SambaArena arena = {0};
  SambaSection *section = twoProducts(machine, &arena, 3072);
  double cycles = sambaSectionPredict(section, machine, NULL).cycles;
  uint32_t between = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &section->units[u];
    if (unit->kind != SAMBA_UNIT_BUFFER)
      continue;
    uint32_t source = section->streams[unit->inputs[0].streams[0]].source.unit;
    if (section->units[source].kind != SAMBA_UNIT_COMPUTE)
      continue;
    assert_true(unit->buffer.slot_count >= 2);
    unit->buffer.slot_count = 1;
    ++between;
  }

  assert_true(between > 0);
  assert_true(sambaSectionPredict(section, machine, NULL).cycles > 1.15 * cycles);
  sambaArenaDestroy(&arena);
}

/* Spreads the units over the chip, as a bad placement might. */
static void spreadUnits(SambaSection *section, const SambaMachine *machine) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &section->units[u];
    unit->x = (int32_t)(u * 17 % (uint32_t)machine->grid_columns);
    unit->y = (int32_t)(u * 23 % (uint32_t)machine->grid_rows);
    if (sambaUnitIsAddressGenerator(unit))
      unit->load_store.ag = u % (uint32_t)machine->ag_count;
  }
}

/* The order in which a stream names its destinations says nothing, and a PEF has another one: the
 * prediction is the same. */
static void destinationsHaveNoOrder(void **state) {
  (void)state;
  const SambaMachine *machine = machineOf("sn40l");
  SambaArena arena = {0};
  SambaStageGraph graph;
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 2048, 1024, 4096);
  SambaSection *section = lowered(&graph, machine, &arena);
  spreadUnits(section, machine);
  double cycles = sambaSectionPredict(section, machine, NULL).cycles;
  uint32_t turned = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    SambaStream *stream = &section->streams[s];
    uint32_t count = stream->destination_count;
    SambaEndpoint *turn = SAMBA_ARENA_ARRAY(&arena, SambaEndpoint, count);
    for (uint32_t d = 0; d < count; ++d)
      turn[d] = stream->destinations[(d + s) % count];
    turned += count > 1 && s % count > 0;
    stream->destinations = turn;
  }

  assert_true(turned > 0);
  assert_true(sambaSectionPredict(section, machine, NULL).cycles == cycles);
  sambaArenaDestroy(&arena);
}

static uint32_t loadsOf(const SambaSection *section, uint32_t symbol) {
  uint32_t count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    count +=
        section->units[u].kind == SAMBA_UNIT_LOAD && section->units[u].load_store.symbol == symbol;
  return count;
}

/* A matrix of which each element is used once comes as fast as memory can bring it: all generators
 * load it but those of the vector and the result, and each feeds as many PCUs as the others. Rows
 * that the last round of copies lacks are not loaded, so they are no reason for fewer copies. */
static void longStreamsTakeAllGenerators(void **state) {
  (void)state;
  const SambaMachine *machine = machineOf("sn40l");
  for (int64_t depth = 4096; depth <= 11008; depth += 6912) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = "g"};
    addVectorByMatrix(&graph, addVector(&graph, depth), depth, 4096);
    SambaSection *section = lowered(&graph, machine, &arena);
    uint32_t loads = loadsOf(section, 1);
    assert_int_equal(loads, machine->ag_count - 2);
    assert_int_equal(sambaSectionCount(section).pcus % loads, 0);
    sambaArenaDestroy(&arena);
  }
}

/* Two of them share the generators, and no PCU is there for nothing. */
static void longStreamsShareGenerators(void **state) {
  (void)state;
  const SambaMachine *machine = machineOf("sn40l");
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "g"};
  uint32_t x = addVector(&graph, 4096);
  addVectorByMatrix(&graph, x, 4096, 11008);
  addVectorByMatrix(&graph, x, 4096, 11008);
  SambaSection *section = lowered(&graph, machine, &arena);
  uint32_t first = loadsOf(section, 1);
  uint32_t second = loadsOf(section, 2);
  assert_true(first + second >= machine->ag_count * 9 / 10);
  assert_true(first <= second + 2 && second <= first + 2);
  assert_true(sambaSectionCount(section).pcus <= first + second);
  sambaArenaDestroy(&arena);
}

/* 16 replicas leave units idle, and 64 have to wait for their first slots: what lies between is
 * tried, too, where that is asked for. */
static void replicasAreRefined(void **state) {
  (void)state;
  const int64_t rows = 4096, width = 512;
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "mlp"};
  SambaDType dtype = SAMBA_DTYPE_BF16;
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){rows, width});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){width, width});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){width, width});
  uint32_t y = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);

  SambaPlanOptions options = {.tries_beside = true};
  assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), &options));
  const SambaMapping *mapping = &graph.mappings[0];
  assert_int_equal(mapping->pipeline_count, 1);
  assert_int_equal(mapping->unroll[mapping->pipeline_dims[0]], 32);
  sambaArenaDestroy(&arena);
}

static void expectExhausted(SambaStatus status, const char *message) {
  assert_non_null(status);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(strstr(sambaStatusGetMessage(status), message));
  sambaStatusFree(status);
}

/* Plans of other ranks are other ones. */
static void plansHaveRanks(void **state) {
  (void)state;
  enum { ranks = 3 };
  SambaMapping first[ranks];
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = "mlp"};
    makeTwoProducts(&graph, 3072);
    assert_null(sambaPlanTiles(&graph, machineOf("sn40l"), &(SambaPlanOptions){.rank = rank}));
    for (uint32_t other = 0; other < rank; ++other)
      assert_memory_not_equal(&first[other], &graph.mappings[0], sizeof *first);
    first[rank] = graph.mappings[0];
    sambaArenaDestroy(&arena);
  }
}

/* There are no more than are tried, and a group alone has one. */
static void ranksEnd(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "mlp"};
  makeTwoProducts(&graph, 3072);
  expectExhausted(sambaPlanTiles(&graph, machineOf("sn40l"), &(SambaPlanOptions){.rank = 1000}),
                  "section mlp: the section has fewer than 1001 plans");
  makeMatmul(&graph, &arena, SAMBA_DTYPE_BF16, 256, 256, 256);
  expectExhausted(sambaPlanTiles(&graph, machineOf("sn40l"), &(SambaPlanOptions){.rank = 1}),
                  "section g: the section has fewer than 2 plans");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mappingsAreChecked),
                                     cmocka_unit_test(replicasAreRefined),
                                     cmocka_unit_test(whatDoesNotFitIsExhausted),
                                     cmocka_unit_test(copiesAreAlongBothSides),
                                     cmocka_unit_test(copiesHaveBuffersWhereThereIsRoom),
                                     cmocka_unit_test(sharedBuffersHaveTwins),
                                     cmocka_unit_test(lowerWantsMappings),
                                     cmocka_unit_test(largeMatmulUsesTheChip),
                                     cmocka_unit_test(sumsComeInParts),
                                     cmocka_unit_test(sumsAreCarried),
                                     cmocka_unit_test(decisionsReduceParallelism),
                                     cmocka_unit_test(planningIsIdempotent),
                                     cmocka_unit_test(sectionsTooLargeAreNamed),
                                     cmocka_unit_test(buffersOfOneSlotCostTurns),
                                     cmocka_unit_test(destinationsHaveNoOrder),
                                     cmocka_unit_test(plansHaveRanks),
                                     cmocka_unit_test(ranksEnd),
                                     cmocka_unit_test(buffersBetweenProductsHaveTwins),
                                     cmocka_unit_test(longStreamsTakeAllGenerators),
                                     cmocka_unit_test(longStreamsShareGenerators)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
