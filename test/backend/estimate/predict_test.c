/* The bandwidth model on a section whose figures can be counted by hand, twins, and what meets in
 * few channels of the memory. */
#include "backend/estimate/crowding.h"
#include "backend/estimate/link_pace.h"
#include "backend/estimate/pipeline_run.h"
#include "backend/estimate/predict.h"
#include "backend/estimate/twins.h"

#include "backend/machine/shipped.h"
#include "test/backend/sample_sections.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two loads of 4 tokens with 64 x 128 elements in bf16; 128 passes of 64 k steps on the array,
 * whose operands are 32 vectors each; one store of 128 x 128. */
static void matmulIsShortOfItsArray(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaPrediction prediction = sambaSectionPredict(sampleMatmul(&arena), machine, NULL);

  assert_int_equal(prediction.bottleneck, SAMBA_RESOURCE_COMPUTE);
  assert_string_equal(sambaResourceName(prediction.bottleneck), "compute");
  assert_int_equal(prediction.busy.unit[SAMBA_RESOURCE_COMPUTE], 4);
  assert_true(prediction.busy.cycles[SAMBA_RESOURCE_COMPUTE] == 128 * 64);
  /* Two k steps of 16 columns are a vector whose words share banks: 2 cycles. */
  assert_true(prediction.busy.cycles[SAMBA_RESOURCE_PMU] == 128 * 32 * 2);
  assert_true(prediction.busy.cycles[SAMBA_RESOURCE_GENERATORS] == 4 * 64 * 128 * 2 / 64);
  /* Rows of 16 results are half a burst, which is written as a whole. */
  double bytes = 2 * 4 * 64 * 128 * 2 + 128 * 128 * 2 * 2;
  assert_float_equal(prediction.busy.cycles[SAMBA_RESOURCE_HBM], bytes / (1.8e12 / 1.2e9), 0.01);
  assert_true(prediction.busy.cycles[SAMBA_RESOURCE_DDR] == 0);

  /* Before the first pass one generator brings 16 KB, 4 KB per round trip of 100 cycles and more;
   * after the last a quarter of a tile is stored. */
  assert_true(prediction.cycles > 128 * 64 + 4 * 100);
  assert_true(prediction.cycles < 128 * 64 + 1500);
  sambaArenaDestroy(&arena);
}

/* What one resource alone takes is known without following the pipeline, which ends at the bound
 * where that is later. */
static void cyclesBeyondABoundAreNotCounted(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  const SambaSection *section = sampleMatmul(&arena);
  double all = sambaSectionPredict(section, machine, NULL).cycles, busiest = 128 * 64;

  assert_true(all > busiest);
  assert_true(sambaSectionPredictWithin(section, machine, NULL, all, NULL).cycles == all);
  double some = sambaSectionPredictWithin(section, machine, NULL, busiest, NULL).cycles;
  assert_true(some > busiest && some < all);
  assert_true(sambaSectionPredictWithin(section, machine, NULL, busiest - 1, NULL).cycles ==
              busiest);
  sambaArenaDestroy(&arena);
}

/* One pipeline that is known. */
typedef struct Known {
  SambaByteBuffer key;
  double cycles;
  int found, kept;
} Known;

static bool findKnown(void *user, const SambaByteBuffer *key, double *out_cycles) {
  Known *known = user;
  if (known->key.size != key->size || memcmp(known->key.data, key->data, key->size) != 0)
    return false;
  ++known->found;
  *out_cycles = known->cycles;
  return true;
}

static void keepKnown(void *user, const SambaByteBuffer *key, double cycles) {
  Known *known = user;
  known->key.size = 0;
  for (size_t i = 0; i < key->size; ++i)
    sambaArrayAppend(&known->key, key->data[i]);
  known->cycles = cycles;
  ++known->kept;
}

/* A pipeline is followed once, and anew where its timing is another. */
static void equalPipelinesAreFollowedOnce(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  SambaSection *section = sampleMatmul(&arena);
  Known known = {0};
  SambaPipelineMemo memo = {&known, findKnown, keepKnown};
  double alone = sambaSectionPredict(section, machine, NULL).cycles;
  for (int i = 1; i <= 2; ++i) {
    assert_true(sambaSectionPredictWithin(section, machine, NULL, INFINITY, &memo).cycles == alone);
    assert_int_equal(known.kept, 1);
    assert_int_equal(known.found, i - 1);
  }

  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (section->units[u].kind == SAMBA_UNIT_BUFFER)
      section->units[u].buffer.slot_count = 1;
  double slower = sambaSectionPredictWithin(section, machine, NULL, INFINITY, &memo).cycles;
  assert_int_equal(known.kept, 2);
  assert_true(slower > alone);
  assert_true(slower == sambaSectionPredict(section, machine, NULL).cycles);
  sambaArrayFree(&known.key);
  sambaArenaDestroy(&arena);
}

/* Cycles of the pipeline, which does not know that a busy memory makes others wait. */
static double pipelineCycles(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  SambaPortPatterns *patterns = sambaPortPatternsCreate(machine, &arena);
  double cycles = sambaSectionLinkPace(section, machine, sambaSectionBusyCycles(section, machine)) *
                  sambaPipelineCycles(section, machine, patterns, INFINITY, NULL);
  sambaArenaDestroy(&arena);
  return cycles;
}

/* What is asked of a memory that never rests waits; of one that often rests it does not. */
static void busyMemoryIsCrowded(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = *sambaMachineFind(sambaStringRef("sn40l"));
  const SambaSection *section = sampleMatmul(&arena);
  double idle = sambaSectionPredict(section, &machine, NULL).cycles;
  assert_float_equal(idle, pipelineCycles(section, &machine), 0.01);
  machine.hbm_channels = 1;
  machine.hbm_channel_mbps /= 4;
  SambaPrediction busy = sambaSectionPredict(section, &machine, NULL);
  assert_int_equal(busy.bottleneck, SAMBA_RESOURCE_HBM);
  assert_true(busy.busy.cycles[SAMBA_RESOURCE_HBM] > 0.85 * busy.cycles / 1.05);
  assert_float_equal(busy.cycles, 1.05 * pipelineCycles(section, &machine), 0.01);
  sambaArenaDestroy(&arena);
}

static void unitsWithOtherWorkAreNoTwins(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaSection *section = sampleMatmul(&arena);
  SambaTwins twins = sambaTwinsFind(section, &arena);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    assert_int_equal(twins.of[u], u);
    assert_int_equal(twins.count[u], 1);
  }
  sambaArenaDestroy(&arena);
}

/* A load that deals its 12 tokens to four buffers, `block` to each in turn. */
static const SambaSection *dealing(SambaArena *arena, uint32_t block) {
  enum { buffers = 4, tokens = 12, elements = 64 };
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  SambaUnit *units = SAMBA_ARENA_ARRAY(arena, SambaUnit, 1 + buffers);
  SambaStream *streams = SAMBA_ARENA_ARRAY(arena, SambaStream, buffers);
  uint32_t *numbers = SAMBA_ARENA_ARRAY(arena, uint32_t, buffers);
  SambaPort *ports = SAMBA_ARENA_ARRAY(arena, SambaPort, 1 + buffers);

  for (uint32_t p = 0; p <= buffers; ++p)
    ports[p] = (SambaPort){
        .dtype = SAMBA_DTYPE_BF16,
        .stream_count = p ? 1 : buffers,
        .streams = p ? &numbers[p - 1] : numbers,
        .block = p ? 1 : block,
        .token_elements = elements,
        .access = {.counter_count = 2,
                   .trips = LIST(arena, uint32_t, p ? tokens / buffers : tokens, elements),
                   .token_level = 1,
                   .strides = LIST(arena, int64_t, elements, 1)}};
  units[0] = sambaUnitMake(SAMBA_UNIT_LOAD, "load", "");
  units[0].output_count = 1;
  units[0].outputs = ports;
  for (uint32_t b = 0; b < buffers; ++b) {
    units[1 + b] = sambaUnitMake(SAMBA_UNIT_BUFFER, "buffer", "");
    units[1 + b].input_count = 1;
    units[1 + b].inputs = &ports[1 + b];
    units[1 + b].buffer.slot_count = 1;
    units[1 + b].buffer.slot_elements = elements * tokens / buffers;
    numbers[b] = b;
    streams[b] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                               .destination_count = 1,
                               .destinations = LIST(arena, SambaEndpoint, {1 + b, 0})};
  }
  *section = (SambaSection){.arena = arena,
                            .name = "dealing",
                            .unit_count = 1 + buffers,
                            .units = units,
                            .stream_count = buffers,
                            .streams = streams};
  return section;
}

/* Of 12 tokens, three in a row are a quarter of the time. */
static void whoseTurnComesLaterIsNoTwin(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaTwins twins = sambaTwinsFind(dealing(&arena, 3), &arena);
  for (uint32_t u = 0; u <= 4; ++u)
    assert_int_equal(twins.of[u], u);
  sambaArenaDestroy(&arena);
}

/* 32 rows of 256 bytes. Each place of 256 bytes lies in the channel whose number its address has in
 * digits of 64, all of them folded by exclusive or. Rows 4097 = 64^2 + 1 places apart: the lowest
 * digit and the third one are equal, so all lie in channel 0. Of 32 requests to 64 channels at
 * random no channel has more than 1 + 3 x sqrt(1/2). */
static void rowsMeetInOneChannel(void **state) {
  (void)state;
  SambaArena arena = {0};
  const SambaMachine *machine = sambaMachineFind(sambaStringRef("sn40l"));
  const int64_t apart[] = {4097, 1, 4096};
  const double crowd[] = {32, 0, 1};

  for (int i = 0; i < 3; ++i) {
    SambaUnit unit = sambaUnitMake(SAMBA_UNIT_STORE, "store", "");
    SambaPort port = {.dtype = SAMBA_DTYPE_BF16,
                      .block = 1,
                      .token_elements = 32 * 128,
                      .access = {.counter_count = 2,
                                 .trips = LIST(&arena, uint32_t, 32, 128),
                                 .strides = LIST(&arena, int64_t, apart[i] * 128, 1)}};
    unit.input_count = 1;
    unit.inputs = &port;
    SambaSection section = {.arena = &arena, .name = "rows", .unit_count = 1, .units = &unit};
    SambaTwins twins = sambaTwinsFind(&section, &arena);
    double more = fmax(0, crowd[i] - 1 - 3 * sqrt(0.5));
    assert_float_equal(sambaMemoryCrowding(&section, &twins, 0, machine), 1 + more / 0.5, 1e-9);
  }
  sambaArenaDestroy(&arena);
}

/* A load fills slots of 16 rows of a PMU; each slot is read `reads` times, by takers in turn that
 * sum its rows. */
typedef struct Summing {
  SambaDType dtype;
  uint32_t columns, slots, slot_count, reads, takers;
} Summing;

static SambaPort summingPort(const Summing *summing, const uint32_t *streams, uint32_t count) {
  return (SambaPort){.dtype = summing->dtype,
                     .stream_count = count,
                     .streams = streams,
                     .block = 1,
                     .token_elements = 16 * summing->columns};
}

static void addTaker(SambaArena *arena, SambaSection *section, const Summing *summing, uint32_t t) {
  static const SambaLaneOp add = {.opcode = SAMBA_LANE_REDUCE_ADD, .type = SAMBA_DTYPE_F32};
  const uint32_t columns = summing->columns, unit = 2 + 2 * t, in = 1 + 2 * t, out = in + 1;
  const uint32_t tokens = summing->slots * summing->reads / summing->takers;
  SambaUnit *sum = &section->units[unit], *store = &section->units[unit + 1];
  *sum = sambaUnitMake(SAMBA_UNIT_COMPUTE, "sum", "");
  sum->compute = (SambaCompute){.counter_count = 3,
                                .token_level = 1,
                                .trips = LIST(arena, uint32_t, tokens, 16, columns),
                                .program = {.op_count = 1, .ops = &add, .reduce_mask = 2}};
  SambaPort *ports = SAMBA_ARENA_ARRAY(arena, SambaPort, 3);
  ports[0] = summingPort(summing, LIST(arena, uint32_t, in), 1);
  ports[0].compute = (SambaComputePort){.level = 1, .strides = LIST(arena, int64_t, 0, columns, 1)};
  ports[1] = summingPort(summing, LIST(arena, uint32_t, out), 1);
  ports[1].dtype = SAMBA_DTYPE_F32;
  ports[1].token_elements = columns;
  ports[1].compute =
      (SambaComputePort){.level = 1, .value = 1, .strides = LIST(arena, int64_t, 0, 0, 1)};
  sum->input_count = sum->output_count = 1;
  sum->inputs = &ports[0];
  sum->outputs = &ports[1];
  *store = sambaUnitMake(SAMBA_UNIT_STORE, "store", "");
  store->input_count = 1;
  store->inputs = &ports[2];
  ports[2] = ports[1];
  ports[2].access = (SambaAccess){.counter_count = 2,
                                  .token_level = 1,
                                  .trips = LIST(arena, uint32_t, tokens, columns),
                                  .strides = LIST(arena, int64_t, columns, 1)};
  section->streams[in] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                                       .source = {1, 0},
                                       .destination_count = 1,
                                       .destinations = LIST(arena, SambaEndpoint, {unit, 0})};
  section->streams[out] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                                        .source = {unit, 0},
                                        .destination_count = 1,
                                        .destinations = LIST(arena, SambaEndpoint, {unit + 1, 0})};
}

static double summingCycles(const Summing *summing) {
  SambaArena arena = {0};
  const uint32_t elements = 16 * summing->columns, takers = summing->takers;
  SambaSection section = {.arena = &arena,
                          .name = "summing",
                          .unit_count = 2 + 2 * takers,
                          .stream_count = 1 + 2 * takers};
  section.units = SAMBA_ARENA_ARRAY(&arena, SambaUnit, section.unit_count);
  section.streams = SAMBA_ARENA_ARRAY(&arena, SambaStream, section.stream_count);
  uint32_t *dealt = SAMBA_ARENA_ARRAY(&arena, uint32_t, takers);
  SambaPort *ports = SAMBA_ARENA_ARRAY(&arena, SambaPort, 3);
  for (uint32_t t = 0; t < takers; ++t)
    dealt[t] = 1 + 2 * t;
  ports[0] = ports[1] = summingPort(summing, LIST(&arena, uint32_t, 0), 1);
  ports[0].access = (SambaAccess){.counter_count = 2,
                                  .token_level = 1,
                                  .trips = LIST(&arena, uint32_t, summing->slots, elements),
                                  .strides = LIST(&arena, int64_t, elements, 1)};
  ports[1].access = ports[0].access;
  ports[1].access.slot_level = 1;
  ports[1].access.strides = LIST(&arena, int64_t, 0, 1);
  ports[2] = summingPort(summing, dealt, takers);
  ports[2].access =
      (SambaAccess){.counter_count = 3,
                    .slot_level = 1,
                    .token_level = 2,
                    .trips = LIST(&arena, uint32_t, summing->slots, summing->reads, elements),
                    .strides = LIST(&arena, int64_t, 0, 0, 1)};
  section.units[0] = sambaUnitMake(SAMBA_UNIT_LOAD, "load", "");
  section.units[1] = sambaUnitMake(SAMBA_UNIT_BUFFER, "buffer", "");
  section.units[0].output_count = section.units[1].output_count = 1;
  section.units[1].input_count = 1;
  section.units[0].outputs = &ports[0];
  section.units[1].inputs = &ports[1];
  section.units[1].outputs = &ports[2];
  section.units[1].buffer.slot_count = summing->slot_count;
  section.units[1].buffer.slot_elements = elements;
  section.streams[0] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                                     .destination_count = 1,
                                     .destinations = LIST(&arena, SambaEndpoint, {1, 0})};
  for (uint32_t t = 0; t < takers; ++t)
    addTaker(&arena, &section, summing, t);
  double cycles =
      sambaSectionPredict(&section, sambaMachineFind(sambaStringRef("sn40l")), NULL).cycles;
  sambaArenaDestroy(&arena);
  return cycles;
}

/* What the first slot takes before it is read, and the last sums until they are stored. */
enum { STARTING = 700 };

/* 128 tokens of 128 vectors, of which a PCU takes one every second cycle. Those of two switches and
 * of the PCU, 16 each, and four on their way out of the PMU are ahead of it: the port is done with
 * a token after 2 x (128 - 52) cycles, not after 128. With tokens of 32 vectors it never waits. */
static void tokensBeyondFifosHoldUpTheirPort(void **state) {
  (void)state;
  Summing summing = {SAMBA_DTYPE_BF16, 256, 8, 2, 16, 2};
  double cycles = summingCycles(&summing);
  assert_in_range(cycles, 128 * 152, 128 * 152 + STARTING);
  summing.columns = 64;
  summing.reads *= 4;
  cycles = summingCycles(&summing);
  assert_in_range(cycles, 128 * 128, 128 * 128 + STARTING);
}

/* Slots 0 and 2 of three lie in one of two arrays, so that one is filled while the other is read.
 * 24 slots are read four times, 128 cycles each; the load, which has time, waits, and the reads do
 * not. */
static void readsOfAnArrayGoFirst(void **state) {
  (void)state;
  double cycles = summingCycles(&(Summing){SAMBA_DTYPE_F32, 128, 24, 3, 4, 1});
  assert_in_range(cycles, 24 * 4 * 128, 24 * 4 * 128 + STARTING);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matmulIsShortOfItsArray),
                                     cmocka_unit_test(cyclesBeyondABoundAreNotCounted),
                                     cmocka_unit_test(equalPipelinesAreFollowedOnce),
                                     cmocka_unit_test(busyMemoryIsCrowded),
                                     cmocka_unit_test(unitsWithOtherWorkAreNoTwins),
                                     cmocka_unit_test(whoseTurnComesLaterIsNoTwin),
                                     cmocka_unit_test(tokensBeyondFifosHoldUpTheirPort),
                                     cmocka_unit_test(readsOfAnArrayGoFirst),
                                     cmocka_unit_test(rowsMeetInOneChannel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
