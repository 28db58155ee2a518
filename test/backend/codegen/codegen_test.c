/* Random stage graphs, planned and lowered for the shipped machines, executed and compared bit for
 * bit with their naive evaluation: what the planner and the lowering do may cost time, never change
 * a value. */
#include "backend/codegen/codegen.h"
#include "backend/machine/shipped.h"
#include "backend/plan/plan.h"
#include "backend/section/check/section_check.h"
#include "backend/section/stated_order.h"
#include "backend/split/split_programs.h"
#include "test/backend/execute.h"
#include "test/backend/stage_graphs.h"

#include <math.h>
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
    uint32_t parallel = 0;
    for (uint32_t d = 0; d < stage->dim_count; ++d) {
      int64_t extent = stage->extents[d];
      mapping->order[d] = d;
      mapping->unroll[d] = 1;
      mapping->tile[d] =
          stage->reduced[d] ? extent : randomIn(random, 1, extent > 40 ? 40 : extent);
      if (!stage->reduced[d]) {
        ++parallel;
        bool copied = stage->op_count == 0; /* copies are unrolled over what they read only */
        if (!copied && graph->stage_count == 1 && randomIn(random, 0, 2) == 0)
          mapping->unroll[d] = (uint32_t)randomIn(random, 1, extent > 4 ? 4 : extent);
        uint32_t other = (uint32_t)randomIn(random, 0, d);
        uint32_t swap = mapping->order[other];
        mapping->order[other] = mapping->order[d];
        mapping->order[d] = swap;
      }
    }
    for (uint32_t i = 0; i < stage->operand_count; ++i) {
      mapping->operand_level[i] = (uint32_t)randomIn(random, 0, stage->dim_count);
      mapping->operand_depth[i] = (uint32_t)randomIn(random, 1, 3);
      mapping->operand_joined[i] = (uint32_t)randomIn(random, 0, 2);
    }
    (void)parallel;
  }
}

static void runKind(const GraphKind *kind, const SambaMachine *machine, bool planned,
                    uint32_t *done) {
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

/* What the planner ranks lower has loops, copies and buffers as no best plan has. Kinds of one
 * group have no such plans. */
static void plansOfLowerRankComputeTheSame(void **state) {
  (void)state;
  enum { mostRank = 6, fewRounds = 6 };
  const char *only = getenv("SAMBA_TEST_KIND");
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  uint32_t ran = 0;
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= fewRounds && (!only || !strcmp(only, graphKinds[k].name));
         ++seed)
      for (uint32_t rank = 1; rank <= mostRank; ++rank) {
        SambaArena arena = {0};
        SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
        Random random = {seed * 7919};
        graphKinds[k].make(&graph, &random);
        SambaStatus status = sambaPlanTiles(&graph, machine, &(SambaPlanOptions){.rank = rank});
        bool planned = !status;
        if (planned)
          status = executeGraph(&graph, machine, seed);
        if (status && (planned || sambaStatusGetCode(status) != SAMBA_EXHAUSTED))
          fail_msg("%s, seed %llu, rank %u: %s", graphKinds[k].name, (unsigned long long)seed, rank,
                   sambaStatusGetMessage(status));
        ran += planned;
        sambaStatusFree(status);
        sambaArenaDestroy(&arena);
      }
  assert_true(only || ran > 100);
}

static void randomMappingsComputeTheSame(void **state) {
  (void)state;
  runAll(false, (const char *const[]){"sn40l", NULL});
}

/* Counts the buffers between two orders, and those whose orders differ. */
static void checkBuffers(const SambaSection *section, uint32_t *buffers, uint32_t *converting) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t o = 0; unit->kind == SAMBA_UNIT_BUFFER && o < unit->output_count; ++o) {
      SambaStatedOrder filled = sambaPortStates(&unit->inputs[0]);
      SambaStatedOrder sent = sambaPortStates(&unit->outputs[o]);
      SambaStreamOrder made, taken;
      SambaConversion conversion;
      if (unit->input_count > 1 || !sambaStatedOrdersAsPlaces(&filled, &sent, &made, &taken) ||
          !sambaOrderConversion(&made, &taken, &conversion))
        continue;
      ++*buffers;
      *converting += conversion.window > 1;
      assert_true(conversion.block <= unit->buffer.slot_elements);
      assert_true(conversion.window <= conversion.block);
    }
  }
}

/* Both ends of every stream say in which order its elements pass. */
static void checkPorts(const SambaSection *section) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
      bool output = i >= unit->input_count;
      uint32_t port = output ? i - unit->input_count : i;
      if (!sambaPortStatesPlaces(output ? &unit->outputs[port] : &unit->inputs[port]))
        fail_msg("unit '%s' %s %u states no order", unit->name, output ? "output" : "input", port);
    }
  }
}

/* Slots are at least what the orders of their streams ask for. */
static void streamsStateOrders(void **state) {
  (void)state;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  uint32_t buffers = 0, converting = 0;
  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= rounds; ++seed) {
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
      SambaSection *section;
      Random random = {seed * 7919};
      graphKinds[k].make(&graph, &random);
      assert_null(sambaPlanTiles(&graph, machine, NULL));
      assert_null(sambaCodegenSection(&graph, machine, &arena, &section));
      SambaStatus status = sambaSectionCheck(section);
      if (status)
        fail_msg("%s, seed %llu: %s", graphKinds[k].name, (unsigned long long)seed,
                 sambaStatusGetMessage(status));
      checkPorts(section);
      assert_null(sambaSplitPrograms(section, machine));
      assert_null(sambaSectionCheck(section));
      checkPorts(section);
      checkBuffers(section, &buffers, &converting);
      sambaArenaDestroy(&arena);
    }
  assert_true(buffers > 100 && converting > 20);
}

/* Machines between the shipped ones: few generators, small memories, narrow units. Each squeezes
 * the lowering into other corners: loads that serve many copies, buffers of several readers, chunks
 * of sums, spread and staged operands. */
static SambaMachine machineAtRandom(Random *random) {
  static const int64_t memories[] = {4096, 16384, 65536, 524288};
  static const int64_t lanes[] = {4, 8, 32};
  static const int64_t ports[] = {2, 3, 4};
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));

  machine.pmu_bytes = memories[randomIn(random, 0, 3)];
  machine.flows_per_lane = lanes[randomIn(random, 0, 2)];
  machine.unit_vector_outputs = ports[randomIn(random, 0, 2)];
  machine.unit_vector_inputs = 2 + ports[randomIn(random, 0, 2)];
  machine.ag_count = randomIn(random, 3, 80);
  machine.fifo_depth = randomIn(random, 1, 16);
  machine.dram_burst_bytes = 32 << randomIn(random, 0, 2);
  machine.simd_stages = randomIn(random, 2, 6);
  machine.simd_registers = randomIn(random, 4, 16);
  machine.load_mbps =
      randomIn(random, 0, 1) ? 100000000 : 200000; /* launches nearly for nothing: more units */
  return machine;
}

static void otherMachinesComputeTheSame(void **state) {
  (void)state;
  const char *only = getenv("SAMBA_TEST_KIND");
  const char *times = getenv("SAMBA_TEST_ROUNDS");
  uint64_t count = times ? strtoull(times, NULL, 10) : 20;
  uint64_t ran = 0;

  for (uint32_t k = 0; k < graphKindCount; ++k)
    for (uint64_t seed = 1; seed <= count; ++seed) {
      if (only && strcmp(only, graphKinds[k].name) != 0)
        continue;
      SambaArena arena = {0};
      SambaStageGraph graph = {.arena = &arena, .name = graphKinds[k].name};
      Random random = {seed * 104729};
      SambaMachine machine = machineAtRandom(&random);
      graphKinds[k].make(&graph, &random);
      SambaStatus status = sambaPlanTiles(&graph, &machine, NULL);
      if (!status)
        status = executeGraph(&graph, &machine, seed);
      if (status && sambaStatusGetCode(status) != SAMBA_EXHAUSTED)
        fail_msg("%s, seed %llu: %s", graphKinds[k].name, (unsigned long long)seed,
                 sambaStatusGetMessage(status));
      ran += !status;
      sambaStatusFree(status);
      sambaArenaDestroy(&arena);
    }
  print_message("%llu of %llu graphs fit their machine\n", (unsigned long long)ran,
                (unsigned long long)(graphKindCount * count));
  assert_true(only || ran * 2 > graphKindCount * count);
}

/* A divisor of `extent`, and not the whole of it where there is another. */
static int64_t divisorAtRandom(Random *random, int64_t extent) {
  int64_t divisor = randomIn(random, 1, extent / 2);
  while (extent % divisor)
    --divisor;
  return divisor;
}

/* A product whose sums go through PMUs: the loop over k runs outside of the others. */
static void mapCarried(SambaStageGraph *graph, Random *random) {
  const SambaStage *stage = &graph->stages[0];
  bool swapped = randomIn(random, 0, 1);
  SambaMapping *mapping = &graph->mappings[0];
  *mapping = (SambaMapping){.dim_count = 3, .order = {2, swapped, !swapped}};

  for (uint32_t d = 0; d < 2; ++d) {
    mapping->tile[d] = randomIn(random, 1, 24);
    mapping->unroll[d] = (uint32_t)randomIn(random, 1, 4);
    mapping->operand_level[d] = (uint32_t)randomIn(random, 0, 3);
    mapping->operand_depth[d] = (uint32_t)randomIn(random, 1, 3);
    mapping->operand_joined[d] = (uint32_t)randomIn(random, 0, 2);
  }
  mapping->tile[2] = divisorAtRandom(random, stage->extents[2]);
  mapping->unroll[2] = 1;
}

/* The same with the loop over k inside: tiles of several passes, each of which takes all chunks
 * before the next begins, from slots that hold them all or are filled again. */
static void mapChunked(SambaStageGraph *graph, Random *random) {
  mapCarried(graph, random);
  SambaMapping *mapping = &graph->mappings[0];
  for (uint32_t d = 0; d < 3; ++d)
    mapping->order[d] = d;
  for (uint32_t d = 0; d < 2; ++d)
    mapping->tile[d] = randomIn(random, 1, 48);
}

/* Sums of neighbouring copies go to what they have in common behind their arrays. */
static void mapTail(SambaStageGraph *graph, Random *random) {
  SambaMapping *mapping = &graph->mappings[0];
  const SambaStage *stage = &graph->stages[0];
  bool swapped = randomIn(random, 0, 1);
  *mapping = (SambaMapping){.dim_count = 3, .order = {swapped, !swapped, 2}, .unroll = {1, 1, 1}};
  mapping->tile[2] = stage->extents[2];
  for (uint32_t d = 0; d < 2; ++d) {
    int64_t extent = stage->extents[d];
    mapping->tile[d] = randomIn(random, 1, extent > 40 ? 40 : extent);
    int64_t tiles = (extent + mapping->tile[d] - 1) / mapping->tile[d];
    mapping->unroll[d] = (uint32_t)randomIn(random, 1, tiles > 6 ? 6 : tiles);
    mapping->operand_level[d] = (uint32_t)randomIn(random, 0, 3);
    mapping->operand_depth[d] = (uint32_t)randomIn(random, 1, 4);
  }
}

static void makeGraph(const char *kind, SambaStageGraph *graph, Random *random) {
  uint32_t k = 0;
  while (strcmp(graphKinds[k].name, kind) != 0)
    ++k;
  graphKinds[k].make(graph, random);
}

/* Runs large products with mappings at random; returns how many the machine had room for. */
static uint32_t runMapped(const char *name, const char *kind,
                          void (*map)(SambaStageGraph *graph, Random *random)) {
  static const int64_t memories[] = {32768, 65536, 524288};
  uint32_t ran = 0;

  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SambaArena arena = {0};
    SambaStageGraph graph = {.arena = &arena, .name = name};
    Random random = {seed * 7321};
    SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
    machine.pmu_bytes = memories[seed % 3];
    makeGraph(kind, &graph, &random);
    map(&graph, &random);
    const uint32_t *order = graph.mappings[0].order;
    bool carried = order[0] == 2;
    for (uint32_t s = 1; s < graph.stage_count; ++s) { /* what works on the result */
      graph.mappings[s] = graph.mappings[0];
      graph.mappings[s].dim_count = 2;
      graph.mappings[s].order[0] = order[carried];
      graph.mappings[s].order[1] = order[1 + carried];
    }
    SambaStatus status = executeGraph(&graph, &machine, seed);
    if (status && sambaStatusGetCode(status) != SAMBA_EXHAUSTED)
      fail_msg("%s, seed %llu: %s", name, (unsigned long long)seed, sambaStatusGetMessage(status));
    ran += !status;
    sambaStatusFree(status);
    sambaArenaDestroy(&arena);
  }
  return ran;
}

static void carriedSumsComputeTheSame(void **state) {
  (void)state;
  assert_true(runMapped("carried", "large matmul", mapCarried) > 30);
}

static void chunkedSumsComputeTheSame(void **state) {
  (void)state;
  assert_true(runMapped("chunked", "large matmul", mapChunked) > 30);
}

static void tailsComputeTheSame(void **state) {
  (void)state;
  assert_true(runMapped("tail", "tail", mapTail) > 30);
}

/* y1 = x w1, y2 = x w2 and z = y1 v over slices of rows, the last of which is smaller: x is loaded
 * once for both, each slice by several generators, each of which has its rows. */
static void sharedSlicesAreLoadedInParts(void **state) {
  (void)state;
  const int64_t rows = 150, depth = 40, columns = 48;
  const SambaDType dtype = SAMBA_DTYPE_F32;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "shared"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){rows, depth});
  uint32_t w1 = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, columns});
  uint32_t w2 = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, columns});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){columns, columns});
  uint32_t y = addMatmul(&graph, x, w1, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  addMatmul(&graph, x, w2, false, SAMBA_TENSOR_RESULT, dtype);
  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
  for (uint32_t s = 0; s < graph.stage_count; ++s)
    graph.mappings[s] = (SambaMapping){.dim_count = 3,
                                       .tile = {64, 16, graph.stages[s].extents[2]},
                                       .unroll = {1, 1, 1},
                                       .order = {0, 1, 2},
                                       .operand_depth = {2, 2},
                                       .group = s,
                                       .pipeline_count = 1};

  SambaSection *section;
  assert_null(sambaCodegenSection(&graph, machine, &arena, &section));
  uint32_t loads = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_LOAD && section->units[u].load_store.symbol == x) {
      ++loads;
      assert_true(section->units[u].outputs[0].token_elements < 64 * (uint64_t)depth);
    }
  assert_in_range(loads, 2, 4);
  assert_null(executeGraph(&graph, machine, 1));
  sambaArenaDestroy(&arena);
}

/* A product in bf16 whose tiles of 16 columns are short rows in memory: two copies have two of them
 * each, one after the other. Emits it, and compares its values with those of the stages. */
static SambaSection *emitRuns(SambaArena *arena, int64_t depth) {
  const SambaDType dtype = SAMBA_DTYPE_BF16;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaStageGraph graph = {.arena = arena, .name = "runs"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){160, depth});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, 64});
  addMatmul(&graph, x, w, false, SAMBA_TENSOR_RESULT, dtype);
  graph.mappings[0] = (SambaMapping){.dim_count = 3,
                                     .tile = {16, 16, depth},
                                     .unroll = {1, 2, 1},
                                     .order = {0, 1, 2},
                                     .operand_level = {1, 0},
                                     .operand_depth = {2, 1}};
  for (uint32_t s = 1; s < graph.stage_count; ++s) { /* what rounds the sums */
    graph.mappings[s] = graph.mappings[0];
    graph.mappings[s].dim_count = 2;
  }
  SambaSection *section;
  assert_null(sambaCodegenSection(&graph, machine, arena, &section));
  assert_null(executeGraph(&graph, machine, 1));
  return section;
}

/* What is stored together has the tiles of both runs: 64 columns of 16 rows. */
static void runsOfTilesAreStoredTogether(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaSection *section = emitRuns(&arena, 32);
  uint32_t stores = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_STORE) {
      ++stores;
      assert_int_equal(section->units[u].inputs[0].token_elements, 16 * 64);
    }
  assert_int_equal(stores, 1);
  sambaArenaDestroy(&arena);
}

/* 33 values of 2 bytes are no whole words of 4: a slot of 16 such rows has 34 for each. */
static void rowsOfSlotsBeginWords(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaSection *section = emitRuns(&arena, 33);
  uint32_t padded = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    padded += section->units[u].kind == SAMBA_UNIT_BUFFER &&
              section->units[u].buffer.slot_elements == 16 * 34;
  assert_int_equal(padded, 1);
  sambaArenaDestroy(&arena);
}

/* Adds the sum of two tensors, point by point; b may have the last axis of a alone. */
static uint32_t addSum(SambaStageGraph *graph, uint32_t a, uint32_t b, SambaTensorRole role) {
  const SambaStageTensor like = graph->tensors[a];
  const uint32_t operands[] = {a, b};
  SambaStage stage = {.name = "add", .layer = "", .dim_count = like.rank, .operand_count = 2};
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t rank = graph->tensors[operands[i]].rank;
    stage.operands[i] = (SambaStageOperand){.tensor = operands[i], .index_operand = SAMBA_NO_INDEX};
    for (uint32_t axis = 0; axis < rank; ++axis)
      stage.operands[i].axes[axis].coefficients[like.rank - rank + axis] = 1;
  }
  for (uint32_t dim = 0; dim < like.rank; ++dim)
    stage.extents[dim] = like.dims[dim];
  stage.output = stage.operands[0];
  SambaLaneOp op = {.opcode = SAMBA_LANE_ADD, .type = SAMBA_DTYPE_F32, .operands = {0, 1}};
  stage.ops = sambaArenaCopy(graph->arena, &op, sizeof op);
  stage.op_count = 1;
  stage.result = 2;
  stage.output.tensor = addTensor(graph, role, like.dtype, like.rank, like.dims);
  sambaStageGraphAddStage(graph, &stage);
  return stage.output.tensor;
}

/* r = x v, y = r + x w on more copies than a lane has flow ids: the buffer of r sends each tail the
 * tokens of all its copies on one stream. */
static void tailsTakeTheirCopiesOnOneStream(void **state) {
  (void)state;
  enum { rows = 40, depth = 32, columns = 640, copies = 40 };
  const SambaDType dtype = SAMBA_DTYPE_F32;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "tails"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){rows, depth});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, columns});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, columns});
  uint32_t r = addMatmul(&graph, x, v, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  uint32_t product = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  addSum(&graph, r, product, SAMBA_TENSOR_RESULT);
  for (uint32_t s = 0; s < graph.stage_count; ++s)
    graph.mappings[s] = (SambaMapping){.dim_count = graph.stages[s].dim_count,
                                       .tile = {16, 16, depth},
                                       .unroll = {1, s ? copies : 1, 1},
                                       .order = {0, 1, 2},
                                       .operand_level = {1, 1},
                                       .operand_depth = {2, 2},
                                       .group = s ? 1 : 0,
                                       .pipeline_count = 1};

  SambaSection *section;
  assert_null(sambaCodegenSection(&graph, machine, &arena, &section));
  double tails = 0; /* ports that feed all of them */
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaUnit *from = &section->units[stream->source.unit];
    if (from->kind != SAMBA_UNIT_BUFFER || stream->destinations[0].port != 1 ||
        !strstr(section->units[stream->destinations[0].unit].name, "tail"))
      continue;
    const SambaPort *port = &from->outputs[stream->source.port];
    assert_true(port->block > 1);
    assert_int_equal(port->stream_count * port->block, copies);
    tails += 1.0 / port->stream_count;
  }
  assert_true(fabs(tails - 1) < 1e-6);
  assert_null(executeGraph(&graph, machine, 1));
  sambaArenaDestroy(&arena);
}

/* y = x w + b, z = y v: what adds b turns over the copies of rows as over those of columns, and
 * gets a part of b again for each copy of rows. */
static void checkTurns(const uint32_t *unroll, uint32_t tails, bool made_here) {
  enum { rows = 120, depth = 320, columns = 128 };
  const SambaDType dtype = SAMBA_DTYPE_F32;
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "turns"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){rows, depth});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, columns});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){columns, 16});
  uint32_t b = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 1, (int64_t[]){columns});
  if (made_here)
    b = addSum(&graph, b, b, SAMBA_TENSOR_INTERMEDIATE);
  uint32_t product = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  uint32_t y = addSum(&graph, product, b, SAMBA_TENSOR_INTERMEDIATE);
  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
  for (uint32_t s = 0; s < graph.stage_count; ++s) {
    bool vector = graph.stages[s].dim_count == 1, last = s + 1 == graph.stage_count;
    graph.mappings[s] = (SambaMapping){.dim_count = graph.stages[s].dim_count,
                                       .tile = {vector ? columns : 16, 16, last ? columns : depth},
                                       .unroll = {1, 1, 1},
                                       .order = {0, 1, 2},
                                       .group = vector ? 0 : made_here + last};
    for (uint32_t dim = 0; dim < 2 && !vector && !last; ++dim)
      graph.mappings[s].unroll[dim] = unroll[dim];
  }

  SambaSection *section;
  assert_null(sambaCodegenSection(&graph, machine, &arena, &section));
  uint32_t found = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    found += strstr(section->units[u].name, ".tail") != NULL;
  assert_int_equal(found, tails);
  assert_null(executeGraph(&graph, machine, 1));
  sambaArenaDestroy(&arena);
}

static void tailsTurnOverRowsAndColumns(void **state) {
  (void)state;
  for (uint32_t made_here = 0; made_here < 2; ++made_here) {
    checkTurns((const uint32_t[]){1, 4}, 1, made_here);
    checkTurns((const uint32_t[]){4, 4}, 1, made_here);
    checkTurns((const uint32_t[]){2, 2}, 1, made_here);
    checkTurns((const uint32_t[]){4, 1}, 1, made_here);
    checkTurns((const uint32_t[]){8, 8}, 2, made_here); /* 32 flows on a lane: 4 of 8 rows */
  }
}

/* y = x w, z = y v by 48 copies in each of two replicas, six read ports of y each. A copy of z
 * works 512 cycles on 16 rows, in which a port sends 256 vectors. Returns the ports of a PMU that
 * holds y when x has `depth` columns: two copies of y make 16 columns each in 2 * depth cycles. */
static uint32_t portsOfPmu(int64_t depth) {
  enum { rows = 128, inner = 256, columns = 768 };
  const SambaDType dtype = SAMBA_DTYPE_F32;
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  machine.grid_columns = machine.grid_rows = 16; /* 8 and 16 PMUs: a sixteenth and an eighth */
  SambaArena arena = {0};
  SambaStageGraph graph = {.arena = &arena, .name = "ports"};
  uint32_t x = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){rows, depth});
  uint32_t w = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){depth, inner});
  uint32_t v = addTensor(&graph, SAMBA_TENSOR_ARGUMENT, dtype, 2, (int64_t[]){inner, columns});
  uint32_t y = addMatmul(&graph, x, w, false, SAMBA_TENSOR_INTERMEDIATE, dtype);
  addMatmul(&graph, y, v, false, SAMBA_TENSOR_RESULT, dtype);
  for (uint32_t s = 0; s < 2; ++s)
    graph.mappings[s] = (SambaMapping){.dim_count = 3,
                                       .tile = {16, 16, s ? inner : depth},
                                       .unroll = {2, s ? 48 : 8, 1},
                                       .order = {0, 1, 2},
                                       .operand_level = {1, 0},
                                       .operand_depth = {2, 1},
                                       .group = s,
                                       .pipeline_count = 1};

  SambaSection *section;
  assert_null(sambaCodegenSection(&graph, &machine, &arena, &section));
  uint32_t ports = 0, pmus = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (strstr(section->units[u].name, ".out.buffer")) {
      ports += section->units[u].output_count;
      ++pmus;
    }
  assert_int_equal(ports, 12);
  sambaArenaDestroy(&arena);
  return ports / pmus;
}

/* Where a port sends half of the time at the pace of the pipeline, two would leave a PMU no cycle
 * to spare. */
static void portsThatTakeHalvesHaveAPmuEach(void **state) {
  (void)state;
  assert_int_equal(portsOfPmu(128), 1);
  assert_int_equal(portsOfPmu(256), 2); /* y is the slower one: a quarter of the time */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sharedSlicesAreLoadedInParts),
                                     cmocka_unit_test(portsThatTakeHalvesHaveAPmuEach),
                                     cmocka_unit_test(runsOfTilesAreStoredTogether),
                                     cmocka_unit_test(rowsOfSlotsBeginWords),
                                     cmocka_unit_test(tailsTakeTheirCopiesOnOneStream),
                                     cmocka_unit_test(tailsTurnOverRowsAndColumns),
                                     cmocka_unit_test(tailsComputeTheSame),
                                     cmocka_unit_test(streamsStateOrders),
                                     cmocka_unit_test(plannedGraphsComputeTheSame),
                                     cmocka_unit_test(plansOfLowerRankComputeTheSame),
                                     cmocka_unit_test(randomMappingsComputeTheSame),
                                     cmocka_unit_test(carriedSumsComputeTheSame),
                                     cmocka_unit_test(chunkedSumsComputeTheSame),
                                     cmocka_unit_test(otherMachinesComputeTheSame)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
