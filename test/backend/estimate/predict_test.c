/* The bandwidth model on a section whose figures can be counted by hand, twins, and what meets in
 * few channels of the memory. */
#include "backend/estimate/crowding.h"
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(matmulIsShortOfItsArray),
                                     cmocka_unit_test(cyclesBeyondABoundAreNotCounted),
                                     cmocka_unit_test(equalPipelinesAreFollowedOnce),
                                     cmocka_unit_test(unitsWithOtherWorkAreNoTwins),
                                     cmocka_unit_test(whoseTurnComesLaterIsNoTwin),
                                     cmocka_unit_test(rowsMeetInOneChannel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
