/* Routing: legal routes on shipped machines (by the independent checker), the shape of hops,
 * refusals, time. */
#include "test/backend/place/network.h"

#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"
#include "backend/section/fabric/recover_streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void expectError(SambaStatus status, SambaStatusCode code, const char *message) {
  assert_string_equal(sambaStatusGetMessage(status), message);
  assert_int_equal(sambaStatusGetCode(status), code);
  sambaStatusFree(status);
}

/* Each hop continues an earlier one of its stream; the first begins at the source. */
static void expectTree(const SambaStream *stream) {
  static const int step[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    if (hop->in.port >= SAMBA_SWITCH_UNIT) {
      assert_memory_equal(&hop->in, &stream->hops[0].in, sizeof hop->in);
      continue;
    }
    bool found = false;
    for (uint32_t b = 0; b < h && !found; ++b) {
      const SambaHop *before = &stream->hops[b];
      found = before->out.port <= SAMBA_SWITCH_WEST &&
              before->x + step[before->out.port][0] == hop->x &&
              before->y + step[before->out.port][1] == hop->y &&
              (before->out.port + 2) % 4 == hop->in.port && before->out.lane == hop->in.lane &&
              before->out.flow == hop->in.flow;
    }
    assert_true(found);
  }
}

/* Decoding gives the hops back in the same order: listings and PEFs keep it. */
static void expectSameOrder(Network *network, const SambaMachine *machine) {
  const SambaSection *section = &network->section;
  SambaFabric fabric;
  SambaRecoveredStream *found;
  uint32_t count;

  expectOk(sambaFabricCollect(section, machine, &network->arena, &fabric));
  expectOk(sambaStreamsRecover(machine, section->units, section->unit_count, &fabric,
                               &network->arena, &found, &count));
  assert_int_equal(count, section->stream_count);

  for (uint32_t i = 0; i < count; ++i) {
    uint32_t s = 0;
    while (section->streams[s].source.unit != found[i].source.unit ||
           memcmp(&section->streams[s].hops[0].in, &found[i].hops[0].in,
                  sizeof found[i].hops[0].in) != 0)
      ++s;
    assert_int_equal(section->streams[s].hop_count, found[i].hop_count);
    assert_memory_equal(section->streams[s].hops, found[i].hops,
                        found[i].hop_count * sizeof(SambaHop));
  }
}

static void placeRouteCheck(Network *network, const SambaMachine *machine) {
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
  expectOk(sambaSectionRoute(&network->section, machine, network->rates, NULL));
  expectOk(sambaSectionCheckRoutes(&network->section, machine, network->rates));
  expectOk(sambaSectionCheckChannels(&network->section, machine));
  expectOk(sambaSectionCheckDepths(&network->section, machine));
  for (uint32_t s = 0; s < network->section.stream_count; ++s)
    expectTree(&network->section.streams[s]);
  expectSameOrder(network, machine);
}

static void routesRandomSections(void **state) {
  (void)state;
  static const char *const names[] = {"tiny", "plasticine", "sn40l"};
  for (int m = 0; m < 3; ++m)
    for (uint32_t seed = 0; seed < 20; ++seed) {
      SambaMachine machine = networkMachine(names[m]);
      Network network;
      networkCreate(&network, "random");
      network.random += seed * 7919;
      uint32_t scale = m ? 20 + seed * 3 : 3 + seed % 4;
      networkRandomGraph(&network, scale, scale, m ? 20 : 4, 3, m ? 300 : 120);
      placeRouteCheck(&network, &machine);
      networkDestroy(&network);
    }
}

/* The whole chip: 64 x 13 PCUs, every operand multicast, 832 results merged into 64 stores. */
static void routesAChipFillingProductInTime(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  Network network;
  networkCreate(&network, "matmul");
  networkMatmul(&network, 64, 13, 16, 500, 10);
  clock_t start = clock();
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  assert_true((double)(clock() - start) / CLOCKS_PER_SEC <
              5.0); /* about 0.1 s; sanitizers are slower */
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  expectOk(sambaSectionCheckChannels(&network.section, &machine));
  networkDestroy(&network);
}

/* One stream to two inputs of one PCU, to the unit at the source's own switch, of every kind. */
static void routesAllKindsAndRepeatedDestinations(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "kinds");
  uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  uint32_t pcu = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
  network.section.units[load].load_store.ag = 0; /* beside (1,0), where the PMU is */
  network.section.units[pmu].x = 1;
  network.section.units[pmu].y = 0;
  networkLink(&network, 1000, load, pmu);
  SambaEndpoint twice[] = {{pcu, UINT32_MAX}, {pcu, UINT32_MAX}, {pcu, UINT32_MAX}};
  networkStream(&network, 300, (SambaEndpoint){pmu, UINT32_MAX}, twice, 3);
  uint32_t narrow[] = {networkLink(&network, 400, pcu, store),
                       networkLink(&network, 700, pcu, store),
                       networkLink(&network, 1, store, pmu)};
  for (int i = 0; i < 3; ++i)
    network.section.streams[narrow[i]].kind = i < 2 ? SAMBA_STREAM_SCALAR : SAMBA_STREAM_CONTROL;
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  const SambaStream *direct = &network.section.streams[0];
  assert_int_equal(direct->hop_count, 1);
  assert_int_equal(direct->hops[0].in.port, SAMBA_SWITCH_AG);
  assert_int_equal(direct->hops[0].out.port, SAMBA_SWITCH_UNIT);
  networkDestroy(&network);
}

static void keepsRoutesAndIsDeterministic(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("plasticine");

  Network a, b;
  networkCreate(&a, "same");
  networkCreate(&b, "same");
  networkMatmul(&a, 5, 6, 3, 400, 10);
  networkMatmul(&b, 5, 6, 3, 400, 10);
  placeRouteCheck(&a, &machine);
  placeRouteCheck(&b, &machine);

  for (uint32_t s = 0; s < a.section.stream_count; ++s) {
    assert_int_equal(a.section.streams[s].hop_count, b.section.streams[s].hop_count);
    assert_memory_equal(a.section.streams[s].hops, b.section.streams[s].hops,
                        a.section.streams[s].hop_count * sizeof(SambaHop));
  }

  const SambaHop *hops = a.section.streams[0].hops;
  expectOk(sambaSectionRoute(&a.section, &machine, a.rates, NULL));
  assert_ptr_equal(a.section.streams[0].hops, hops);
  networkDestroy(&a);
  networkDestroy(&b);
}

/* Three full streams start at the switch in the corner, which has two links of one lane. */
static void refusesACrowdedLink(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  machine.vector_lanes = 1;
  Network network;
  networkCreate(&network, "s");
  uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "fc1");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "fc1");
  SambaUnit *units = network.section.units;
  units[load].load_store.ag = 1; /* beside (3,0) */
  units[pmu].x = 3;
  units[pmu].y = 0;
  for (int i = 0; i < 3; ++i)
    networkLink(&network, 1000, i ? pmu : load, networkUnit(&network, SAMBA_UNIT_COMPUTE, ""));
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  SambaStatus status = sambaSectionRoute(&network.section, &machine, network.rates, NULL);
  const char *message = sambaStatusGetMessage(status);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(strstr(message, "section @s: link (3,0) "));
  assert_non_null(
      strstr(message, " carries 2 vector streams of 2.00 in all, but tiny has 1 lane: "));
  assert_non_null(strstr(message, "buffer1 -> compute"));
  assert_non_null(strstr(message, " with 1.00, of layer 'fc1'\n"));
  assert_non_null(strstr(message, "\n  note: the largest is "));
  assert_non_null(strstr(
      message, "\n  note: lower the section's parallel factor, split the section, place the units "
               "of these streams apart, or choose a machine with more lanes per link"));
  sambaStatusFree(status);
  for (uint32_t s = 0; s < network.section.stream_count; ++s)
    assert_int_equal(network.section.streams[s].hop_count, 0);
  machine.vector_lanes = 2; /* with two lanes it fits */
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  networkDestroy(&network);
}

static void refusesTooManyFlows(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  machine.vector_lanes = 1;
  machine.flows_per_lane = 1;
  Network network;
  networkCreate(&network, "s");
  uint32_t pcu = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
  networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  network.section.units[pcu].x =
      3; /* the corner opposite to the address generator: two links arrive */
  network.section.units[pcu].y = 3;
  network.section.units[load].load_store.ag = 0;
  networkLink(&network, 10, load, pcu);
  networkLink(&network, 10, 2, pcu);
  networkLink(&network, 10, 3, pcu);
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  SambaStatus status = sambaSectionRoute(&network.section, &machine, network.rates, NULL);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_non_null(
      strstr(sambaStatusGetMessage(status),
             " carries 2 vector streams of 0.02 in all, but tiny has 1 lane of 1 flow: "));
  sambaStatusFree(status);
  networkDestroy(&network);
}

static void refusesCrowdedPorts(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "s");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "fc1");
  for (int i = 0; i < 3; ++i)
    networkLink(&network, 1000, pmu, networkUnit(&network, SAMBA_UNIT_COMPUTE, ""));
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  expectError(sambaSectionRoute(&network.section, &machine, network.rates, NULL), SAMBA_EXHAUSTED,
              "section @s: unit buffer0 sends 3 vector streams of 3.00 in all, but a unit of tiny "
              "has 2 vector outputs: "
              "buffer0 -> compute1; buffer0 -> compute2; buffer0 -> compute3\n  note: unit buffer0 "
              "works for layer "
              "'fc1'\n  note: spread the streams over more units, or lower the parallel factor");
  machine.unit_vector_outputs = 3;
  machine.unit_vector_inputs = 1;
  machine.flows_per_lane = 1;
  networkStream(&network, 1, (SambaEndpoint){1, UINT32_MAX}, &(SambaEndpoint){2, UINT32_MAX}, 1);
  expectError(sambaSectionRoute(&network.section, &machine, network.rates, NULL), SAMBA_EXHAUSTED,
              "section @s: unit compute2 receives 2 vector streams of 1.01 in all, but a unit of "
              "tiny has 1 vector input "
              "of 1 flow: buffer0 -> compute2; compute1 -> compute2\n  note: spread the streams "
              "over more units, or "
              "lower the parallel factor");
  networkDestroy(&network);
}

static void refusesAnUnplacedSection(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  Network network;
  networkCreate(&network, "s");
  networkLink(&network, 1, networkUnit(&network, SAMBA_UNIT_BUFFER, ""),
              networkUnit(&network, SAMBA_UNIT_COMPUTE, ""));
  SambaStatus status = sambaSectionRoute(&network.section, &machine, network.rates, NULL);
  assert_non_null(strstr(sambaStatusGetMessage(status),
                         " has no place on tiny; place the section before routing it"));
  sambaStatusFree(status);
  networkDestroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(routesRandomSections),
                                     cmocka_unit_test(routesAChipFillingProductInTime),
                                     cmocka_unit_test(routesAllKindsAndRepeatedDestinations),
                                     cmocka_unit_test(keepsRoutesAndIsDeterministic),
                                     cmocka_unit_test(refusesACrowdedLink),
                                     cmocka_unit_test(refusesTooManyFlows),
                                     cmocka_unit_test(refusesCrowdedPorts),
                                     cmocka_unit_test(refusesAnUnplacedSection)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
