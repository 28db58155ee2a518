/* Rates of streams, against shares worked out by hand from docs/timing-model.md. Every shipped
 * machine moves 64 bytes per cycle and keeps 15% of its links free: a stream that carries v vectors
 * while the slowest unit works c cycles needs v / (0.85 c) of a lane. */
#include "backend/estimate/busy.h"
#include "backend/estimate/link_pace.h"
#include "backend/estimate/stream_rates.h"
#include "backend/listing/listing.h"
#include "backend/machine/shipped.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct Rates {
  uint32_t average, burst;
} Rates;

static Rates ratesOf(const char *text, uint32_t stream) {
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  SambaMachine machine = *sambaMachineFind(sambaStringRef("tiny"));
  machine.ag_bursts = machine.dram_burst_bytes = 4096; /* memory is never what is slow */
  machine.hbm_channels = machine.hbm_channel_mbps = 1000000;
  machine.ag_latency_cycles = 0;
  assert_null(sambaSectionParse(sambaStringRef(text), &position, &arena, &section));
  const uint32_t *rates = sambaSectionRates(section, &machine, &arena);
  const uint32_t *bursts = sambaSectionBurstRates(section, &machine, rates, true, &arena);
  Rates result = {rates[stream], bursts[stream]};
  sambaArenaDestroy(&arena);
  return result;
}

static uint32_t rateOf(const char *text, uint32_t stream) { return ratesOf(text, stream).average; }

#define MEMORY(elements, each)                                                                     \
  "section s {\n"                                                                                  \
  "symbol x dtype=f32 elements=" elements "\n"                                                     \
  "symbol y dtype=f32 elements=" elements " written=yes\n"                                         \
  "load lx symbol=x\n"                                                                             \
  "output dtype=f32 trips=[100 | " each "] strides=[" each " | 1]\n"                               \
  "store sy symbol=y\n"                                                                            \
  "input dtype=f32 trips=[100 | " each "] strides=[" each " | 1]\n"
#define ENDS                                                                                       \
  "stream a vector lx.out0 -> c.in0\n"                                                             \
  "stream b vector c.out0 -> sy.in0\n"                                                             \
  "}\n"

/* Four exponentials take the tail four cycles per vector: 1 / (0.85 * 4). */
static void theSlowerEndDecides(void **state) {
  (void)state;
  const char *text = MEMORY("1600", "16") "compute c trips=[100 | 16]\n"
                                          "input dtype=f32 strides=[0 | 1]\n"
                                          "%1 = exp f32 %0\n"
                                          "%2 = exp f32 %1\n"
                                          "%3 = exp f32 %2\n"
                                          "%4 = exp f32 %3\n"
                                          "output dtype=f32 strides=[0 | 1]\n" ENDS;
  assert_int_equal(rateOf(text, 0), 295);
  assert_int_equal(rateOf(text, 1), 295);
}

/* A unit that passes a vector per cycle fills its lane; no rate is above that. */
static void neverAboveOne(void **state) {
  (void)state;
  const char *text = MEMORY("1600", "16") "compute c trips=[100 | 16]\n"
                                          "input dtype=f32 strides=[0 | 1]\n"
                                          "%1 = neg f32 %0\n"
                                          "output dtype=f32 strides=[0 | 1]\n" ENDS;
  assert_int_equal(rateOf(text, 0), 1000);
}

/* A section that is over before its first load would be has no full pipeline: its one vector is
 * counted against the 14 + 14 + 14 ns of a closed row, at 1.2 GHz 51 cycles. */
static void aRunIsNoShorterThanALoad(void **state) {
  (void)state;
  const char *text = "section s {\n"
                     "symbol x dtype=f32 elements=16\n"
                     "symbol y dtype=f32 elements=16 written=yes\n"
                     "load lx symbol=x\n"
                     "output dtype=f32 trips=[| 16] strides=[| 1]\n"
                     "store sy symbol=y\n"
                     "input dtype=f32 trips=[| 16] strides=[| 1]\n"
                     "compute c trips=[| 16]\n"
                     "input dtype=f32 strides=[| 1]\n"
                     "%1 = neg f32 %0\n"
                     "output dtype=f32 strides=[| 1]\n" ENDS;
  assert_in_range(rateOf(text, 0), 15, 1000 / (0.85 * 51) + 1);
}

/* Twenty elements are two vectors, not one and a quarter; with two exponentials each token takes
 * 2 * 2 cycles: 2 / (0.85 * 4). */
static void partsOfVectorsCount(void **state) {
  (void)state;
  const char *text = MEMORY("2000", "20") "compute c trips=[100 | 20]\n"
                                          "input dtype=f32 strides=[0 | 1]\n"
                                          "%1 = exp f32 %0\n"
                                          "%2 = exp f32 %1\n"
                                          "output dtype=f32 strides=[0 | 1]\n" ENDS;
  assert_int_equal(rateOf(text, 0), 589);
}

/* A sum leaves once in 8 firings of one cycle each; its element is a vector of its own:
 * 1 / (0.85 * 8). */
static void rareTokensAreCheap(void **state) {
  (void)state;
  const char *text = "section s {\n"
                     "symbol x dtype=f32 elements=12800\n"
                     "symbol y dtype=f32 elements=100 written=yes\n"
                     "load lx symbol=x\n"
                     "output dtype=f32 trips=[100, 8 | 16] strides=[128, 16 | 1]\n"
                     "store sy symbol=y\n"
                     "input dtype=f32 trips=[100 | 1] strides=[1 | 0]\n"
                     "compute c trips=[100, 8 | 16] reduce=[1, 2]\n"
                     "input dtype=f32 strides=[0, 0 | 1]\n"
                     "%1 = reduce_add f32 %0\n"
                     "output dtype=f32 level=1 strides=[0, 0 | 0]\n" ENDS;
  assert_int_equal(rateOf(text, 0), 1000);
  assert_int_equal(rateOf(text, 1), 148);
}

/* Each element of a scalar stream takes the lane for a cycle of its own: eight times as much as the
 * half vector of the same token would. The exponentials are busy for 4 * 8 cycles per token. */
static void scalarsPassOneByOne(void **state) {
  (void)state;
  const char *text = "section s {\n"
                     "symbol x dtype=f32 elements=800\n"
                     "symbol y dtype=f32 elements=800 written=yes\n"
                     "load lx symbol=x\n"
                     "output dtype=f32 trips=[100 | 8, 1] strides=[8 | 1, 0]\n"
                     "store sy symbol=y\n"
                     "input dtype=f32 trips=[100 | 8] strides=[8 | 1]\n"
                     "compute c trips=[100 | 8, 1]\n"
                     "input dtype=f32 strides=[0 | 1, 0]\n"
                     "%1 = exp f32 %0\n"
                     "%2 = exp f32 %1\n"
                     "%3 = exp f32 %2\n"
                     "%4 = exp f32 %3\n"
                     "output dtype=f32 strides=[0 | 1, 0]\n"
                     "stream a scalar lx.out0 -> c.in0\n"
                     "stream b vector c.out0 -> sy.in0\n"
                     "}\n";
  assert_int_equal(rateOf(text, 0), 295); /* 8 / (0.85 * 32) */
  assert_int_equal(rateOf(text, 1), 37);  /* 1 / (0.85 * 32) */
}

static void expectRates(const char *text, uint32_t stream, uint32_t average, uint32_t burst) {
  Rates rates = ratesOf(text, stream);
  assert_int_equal(rates.average, average);
  assert_int_equal(rates.burst, burst);
}

/* Ten vectors are used ten times each: a load sends one in ten cycles, but those that it sends come
 * at 0.8 of its 64 bytes per cycle, through the first buffer too. The PCU takes one per cycle. What
 * it makes leaves the last buffer at 0.6 of what the store's generator takes. */
static void memoryFillsBuffersInBursts(void **state) {
  (void)state;
  const char *text = "section s {\n"
                     "symbol x dtype=f32 elements=160\n"
                     "symbol y dtype=f32 elements=160 written=yes\n"
                     "load lx symbol=x\n"
                     "output dtype=f32 trips=[10 | 16] strides=[16 | 1]\n"
                     "store sy symbol=y\n"
                     "input dtype=f32 trips=[10 | 16] strides=[16 | 1]\n"
                     "buffer b slot_count=2 slot_elements=16\n"
                     "input dtype=f32 trips=[10 | | 16] strides=[0 | | 1]\n"
                     "output dtype=f32 trips=[10 | | 16] strides=[0 | | 1]\n"
                     "buffer d slot_count=2 slot_elements=16\n"
                     "input dtype=f32 trips=[10 | | 16] strides=[0 | | 1]\n"
                     "output dtype=f32 trips=[10 | 10 | 16] strides=[0 | 0 | 1]\n"
                     "compute c trips=[10, 10 | 16] reduce=[1]\n"
                     "input dtype=f32 strides=[0, 0 | 1]\n"
                     "%1 = reduce_add f32 %0\n"
                     "output dtype=f32 level=1 strides=[0, 0 | 1]\n"
                     "buffer e slot_count=2 slot_elements=16\n"
                     "input dtype=f32 trips=[10 | | 16] strides=[0 | | 1]\n"
                     "output dtype=f32 trips=[10 | | 16] strides=[0 | | 1]\n"
                     "stream a vector lx.out0 -> b.in0\n"
                     "stream f vector b.out0 -> d.in0\n"
                     "stream g vector d.out0 -> c.in0\n"
                     "stream h vector c.out0 -> e.in0\n"
                     "stream i vector e.out0 -> sy.in0\n"
                     "}\n";
  expectRates(text, 0, 118, 942);
  expectRates(text, 1, 118, 942);
  expectRates(text, 2, 1000, 1000);
  expectRates(text, 3, 118, 118);
  expectRates(text, 4, 118, 706);
}

/* Tokens of two buffers in turn, 32 vectors that no FIFO holds. Each exponential takes the PCU a
 * cycle per vector. */
#define TURNS(exponentials, last)                                                                  \
  "section s {\n"                                                                                  \
  "symbol x dtype=f32 elements=2560\n"                                                             \
  "symbol y dtype=f32 elements=5120 written=yes\n"                                                 \
  "load lx symbol=x\n"                                                                             \
  "output dtype=f32 trips=[5 | 32, 16] strides=[0 | 16, 1]\n"                                      \
  "load ly symbol=x\n"                                                                             \
  "output dtype=f32 trips=[5 | 32, 16] strides=[0 | 16, 1]\n"                                      \
  "store sy symbol=y\n"                                                                            \
  "input dtype=f32 trips=[10 | 32, 16] strides=[512 | 16, 1]\n"                                    \
  "buffer b slot_count=1 slot_elements=512\n"                                                      \
  "input dtype=f32 trips=[5 | | 32, 16] strides=[0 | | 16, 1]\n"                                   \
  "output dtype=f32 trips=[5 | | 32, 16] strides=[0 | | 16, 1]\n"                                  \
  "buffer d slot_count=1 slot_elements=512\n"                                                      \
  "input dtype=f32 trips=[5 | | 32, 16] strides=[0 | | 16, 1]\n"                                   \
  "output dtype=f32 trips=[5 | | 32, 16] strides=[0 | | 16, 1]\n"                                  \
  "compute c trips=[10 | 32, 16]\n"                                                                \
  "input dtype=f32 strides=[0 | 16, 1]\n" exponentials "output value=" last                        \
  " dtype=f32 strides=[0 | 16, 1]\n"                                                               \
  "stream a vector lx.out0 -> b.in0\n"                                                             \
  "stream f vector ly.out0 -> d.in0\n"                                                             \
  "stream g vector b.out0 -> c.in0\n"                                                              \
  "stream h vector d.out0 -> c.in0\n"                                                              \
  "stream i vector c.out0 -> sy.in0\n"                                                             \
  "}\n"
#define TWO "%1 = exp f32 %0\n%2 = exp f32 %1\n"
#define FOUR TWO "%3 = exp f32 %2\n%4 = exp f32 %3\n"

/* A PCU that uses a vector in four cycles takes one in eight of each buffer, 1 / (0.85 * 8), but
 * all of one while it takes that one's token. At one in two, 2 / (0.85 * 4) of a lane, a stream
 * leaves room for another one that comes like that all the time. */
static void turnsComeInBursts(void **state) {
  (void)state;
  expectRates(TURNS(FOUR, "%4"), 2, 148, 296);
  expectRates(TURNS(TWO, "%2"), 3, 295, 1000 - 590);
}

/* The operand of an array that uses 1 / (0.85 * 2) of a lane wants most of it, a result what it
 * uses. */
static void operandsOfArraysWantLanes(void **state) {
  (void)state;
  const char *text = "section s {\n"
                     "symbol x dtype=bf16 elements=16384\n"
                     "symbol w dtype=bf16 elements=16384\n"
                     "symbol y dtype=f32 elements=25600 written=yes\n"
                     "load lx symbol=x\n"
                     "output dtype=bf16 trips=[100 | 1024, 16] strides=[0 | 16, 1]\n"
                     "load lw symbol=w\n"
                     "output dtype=bf16 trips=[100 | 1024, 16] strides=[0 | 16, 1]\n"
                     "store sy symbol=y\n"
                     "input dtype=f32 trips=[100 | 16, 16] strides=[256 | 16, 1]\n"
                     "compute c systolic=yes trips=[100 | 1024, 16, 16] reduce=[1]\n"
                     "input dtype=bf16 token_elements=16384 level=1 strides=[0 | 16, 1, 0]\n"
                     "input dtype=bf16 token_elements=16384 level=1 strides=[0 | 16, 0, 1]\n"
                     "%2 = mac f32 %0, %1\n"
                     "output value=%2 dtype=f32 token_elements=256 level=1 strides=[0 | 0, 16, 1]\n"
                     "stream a vector lx.out0 -> c.in0\n"
                     "stream b vector lw.out0 -> c.in1\n"
                     "stream d vector c.out0 -> sy.in0\n"
                     "}\n";
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  assert_null(sambaSectionParse(sambaStringRef(text), &position, &arena, &section));
  uint32_t rates[] = {590, 149, 19};
  const uint32_t *wishes = sambaSectionWishedRates(section, rates, &arena);
  assert_int_equal(wishes[0], 900);
  assert_int_equal(wishes[1], 149); /* it uses too little */
  assert_int_equal(wishes[2], 19);
  rates[0] = 950;
  assert_int_equal(sambaSectionWishedRates(section, rates, &arena)[0], 950);
  sambaArenaDestroy(&arena);
}

/* Two streams with one destination each; with twice the lanes they want half of them. */
static void streamsShareTheLinks(void **state) {
  (void)state;
  const char *text = MEMORY(
      "6400", "64") "compute c trips=[100 | 64]\n"
                    "input dtype=f32 token_elements=64 level=1 strides=[0 | 1]\n"
                    "%1 = exp f32 %0\n"
                    "output value=%1 dtype=f32 token_elements=64 level=1 strides=[0 | 1]\n" ENDS;
  SambaArena arena = {0};
  SambaSection *section;
  size_t position = 0;
  SambaMachine machine = *sambaMachineFind(sambaStringRef("tiny"));
  assert_null(sambaSectionParse(sambaStringRef(text), &position, &arena, &section));
  double busiest = sambaSectionBusyCycles(section, &machine);
  const uint32_t *rates = sambaSectionRates(section, &machine, &arena);
  double lanes = 4.0 * (double)machine.vector_lanes * (double)sambaMachineSiteCount(&machine);
  SambaLinkShares shares = sambaSectionLinkShares(section, &machine, busiest);
  assert_float_equal(shares.bursts, (rates[0] + rates[1]) / 1000.0 / lanes, 1e-9);
  assert_float_equal(shares.wishes, shares.bursts, 1e-9);
  machine.vector_lanes *= 2;
  assert_float_equal(sambaSectionLinkShares(section, &machine, busiest).bursts, shares.bursts / 2,
                     1e-9);
  assert_true(sambaSectionLinkPace(section, &machine, busiest) == 1);

  /* On so few links they wait for each other. */
  machine.vector_lanes = machine.grid_columns = machine.grid_rows = 1;
  double share = (rates[0] + rates[1]) / 1000.0 / 4;
  assert_true(share > 0.12);
  assert_float_equal(sambaSectionLinkPace(section, &machine, busiest),
                     1 + 3 * (share - 0.10) + share - 0.12, 1e-9);
  machine.network = SAMBA_NETWORK_IDEAL;
  assert_true(sambaSectionLinkPace(section, &machine, busiest) == 1);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(theSlowerEndDecides),        cmocka_unit_test(neverAboveOne),
      cmocka_unit_test(aRunIsNoShorterThanALoad),   cmocka_unit_test(partsOfVectorsCount),
      cmocka_unit_test(rareTokensAreCheap),         cmocka_unit_test(scalarsPassOneByOne),
      cmocka_unit_test(memoryFillsBuffersInBursts), cmocka_unit_test(turnsComeInBursts),
      cmocka_unit_test(operandsOfArraysWantLanes),  cmocka_unit_test(streamsShareTheLinks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
