/* The static checks: circles of channels, depths where paths meet again, circles of units; legal
 * sections pass. */
#include "test/backend/place/network.h"

#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void expectInvalid(SambaStatus status, const char *message) {
  assert_string_equal(sambaStatusGetMessage(status), message);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
  sambaStatusFree(status);
}

/* Four streams around the square of switches (0,0) (1,0) (1,1) (0,1), each turning right once. */
static void findsCirclesOfChannels(void **state) {
  (void)state;
  static const struct {
    int x, y, first, second;
  } corners[] = {{0, 0, SAMBA_SWITCH_EAST, SAMBA_SWITCH_SOUTH},
                 {1, 0, SAMBA_SWITCH_SOUTH, SAMBA_SWITCH_WEST},
                 {1, 1, SAMBA_SWITCH_WEST, SAMBA_SWITCH_NORTH},
                 {0, 1, SAMBA_SWITCH_NORTH, SAMBA_SWITCH_EAST}};
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "s");
  for (int i = 0; i < 4; ++i) {
    uint32_t unit = networkUnit(&network, i % 2 ? SAMBA_UNIT_BUFFER : SAMBA_UNIT_COMPUTE, "");
    network.section.units[unit].x = corners[i].x;
    network.section.units[unit].y = corners[i].y;
  }

  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t index = networkLink(&network, 100, i, (i + 2) % 4);
    SambaStream *stream = &network.section.streams[index];
    int middle = (i + 1) % 4;
    int last = (i + 2) % 4;
    uint8_t first = (uint8_t)corners[i].first;
    uint8_t second = (uint8_t)corners[i].second;
    SambaHop hops[] = {
        {corners[i].x, corners[i].y, {SAMBA_SWITCH_UNIT, 0, 0, 0}, {first, 0, (uint16_t)i, 0}},
        {corners[middle].x,
         corners[middle].y,
         {first ^ 2, 0, (uint16_t)i, 0},
         {second, 0, (uint16_t)i, 0}},
        {corners[last].x,
         corners[last].y,
         {second ^ 2, 0, (uint16_t)i, 0},
         {SAMBA_SWITCH_UNIT, 0, 0, 0}}};
    stream->hops = sambaArenaCopy(&network.arena, hops, sizeof hops);
    stream->hop_count = 3;
  }

  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  expectInvalid(sambaSectionCheckChannels(&network.section, &machine),
                "section @s: vector links wait for each other in a circle: (0,0) east lane 0, "
                "(1,0) south lane 0, (1,1) "
                "west lane 0, (0,1) north lane 0\n  note: the streams that turn there: compute0 -> "
                "compute2; buffer1 -> "
                "buffer3; compute2 -> compute0; buffer3 -> buffer1\n  note: route one of them so "
                "that the circle stays "
                "open, or leave the routes to the router");
  SambaHop *hops = (SambaHop *)network.section.streams[2].hops; /* one on another lane: open */
  hops[0].out.lane = hops[1].in.lane = 1;
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  expectOk(sambaSectionCheckChannels(&network.section, &machine));
  for (uint32_t s = 0; s < 4; ++s) /* the router finds a legal way by itself */
    network.section.streams[s].hop_count = 0;
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  expectOk(sambaSectionCheckChannels(&network.section, &machine));
  networkDestroy(&network);
}

/* A buffer's ports: `tokens` tokens fill or empty one slot. */
static void setSlot(Network *network, uint32_t unit, uint32_t tokens, uint32_t slots) {
  SambaUnit *u = &network->section.units[unit];
  uint32_t *trips = SAMBA_ARENA_ARRAY(&network->arena, uint32_t, 2);
  trips[0] = 4;
  trips[1] = tokens;
  u->buffer.slot_count = slots;
  for (uint32_t p = 0; p < u->input_count + u->output_count; ++p) {
    SambaPort *port = p < u->input_count ? &u->inputs[p] : &u->outputs[p - u->input_count];
    port->access =
        (SambaAccess){.counter_count = 2, .trips = trips, .slot_level = 1, .token_level = 2};
  }
}

static void setTokens(Network *network, uint64_t elements) {
  for (uint32_t u = 0; u < network->section.unit_count; ++u) {
    SambaUnit *unit = &network->section.units[u];
    for (uint32_t p = 0; p < unit->input_count; ++p)
      unit->inputs[p].token_elements = elements;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      unit->outputs[p].token_elements = elements;
  }
}

/* load -> buffer (slots of `tokens` tokens) -> compute, and load -> compute directly or through
 * `second`. */
static void reconverge(Network *network, const SambaMachine *machine, uint32_t tokens,
                       uint64_t elements, bool second) {
  networkCreate(network, "s");
  uint32_t load = networkUnit(network, SAMBA_UNIT_LOAD, "");
  uint32_t buffer = networkUnit(network, SAMBA_UNIT_BUFFER, "");
  uint32_t compute = networkUnit(network, SAMBA_UNIT_COMPUTE, "");
  uint32_t shortcut = second ? networkUnit(network, SAMBA_UNIT_BUFFER, "") : compute;
  SambaEndpoint ends[] = {{buffer, UINT32_MAX}, {shortcut, UINT32_MAX}};

  networkStream(network, 100, (SambaEndpoint){load, UINT32_MAX}, ends, 2);
  networkLink(network, 100, buffer, compute);
  if (second)
    networkLink(network, 100, shortcut, compute);
  setSlot(network, buffer, tokens, 2);
  if (second)
    setSlot(network, shortcut, 1, tokens);
  setTokens(network, elements);
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
  expectOk(sambaSectionRoute(&network->section, machine, network->rates, NULL));
}

static void measuresReconvergingPaths(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  machine.fifo_depth = 4;
  Network network;

  /* A token is 64 vectors and fits no FIFO: the PCU holds one, the slot needs eight. */
  reconverge(&network, &machine, 8, 1024, false);
  expectInvalid(sambaSectionCheckDepths(&network.section, &machine),
                "section @s: before compute2 can work, the stream load0 -> compute2 has to hold 8 "
                "tokens, but it can hold "
                "only 1\n  note: put a buffer of enough slots on the path of load0 -> compute2");
  networkDestroy(&network);
  reconverge(&network, &machine, 1, 1024, false); /* one token ahead: the PCU itself holds it */
  expectOk(sambaSectionCheckDepths(&network.section, &machine));
  networkDestroy(&network);
  reconverge(&network, &machine, 8, 16,
             false); /* one vector per token: at least 2 FIFOs of 4 and the PCU hold 8 */
  expectOk(sambaSectionCheckDepths(&network.section, &machine));
  networkDestroy(&network);
  reconverge(&network, &machine, 8, 1024, true); /* a buffer of eight slots on the other path */
  expectOk(sambaSectionCheckDepths(&network.section, &machine));
  networkDestroy(&network);
}

/* Two ports instead of a multicast, a PCU on the way that makes one token of four. */
static void followsCountsThroughUnits(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  machine.fifo_depth = 1;
  static const uint32_t trips[] = {8, 4};
  for (uint32_t level = 1; level <= 2; ++level) {
    Network network;
    networkCreate(&network, "s");
    uint32_t fork = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    uint32_t sum = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    uint32_t join = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    networkLink(&network, 100, networkUnit(&network, SAMBA_UNIT_LOAD, ""), fork);
    networkLink(&network, 100, fork, sum);
    networkLink(&network, 100, sum, join);
    networkLink(&network, 100, fork, join);
    SambaUnit *u = &network.section.units[sum];
    u->compute.trips = trips;
    u->compute.counter_count = u->compute.token_level = 2;
    u->inputs[0].compute.level = 2;
    u->outputs[0].compute.level = level; /* 1: after four input tokens; 2: one for one */
    setTokens(&network, 1024);
    expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
    expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
    SambaStatus status = sambaSectionCheckDepths(&network.section, &machine);
    if (level == 1)
      expectInvalid(status, "section @s: before compute2 can work, the stream compute0 -> compute2 "
                            "has to hold 4 tokens, "
                            "but it can hold only 1\n  note: compute0 has to send that many "
                            "because compute1, which is "
                            "also upstream of compute2, needs them first\n  note: put a buffer of "
                            "enough slots on the path "
                            "of compute0 -> compute2");
    else
      expectOk(status);
    networkDestroy(&network);
  }
}

/* A split dealt one by one and merged four by four: the second branch has to hold three. */
static void comparesSplitAndMerge(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  machine.fifo_depth = 1;
  for (uint32_t block = 1; block <= 4; block += 3) {
    Network network;
    networkCreate(&network, "s");
    uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
    uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t pcu = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
      networkStream(&network, 100, (SambaEndpoint){load, i ? 0 : UINT32_MAX},
                    &(SambaEndpoint){pcu, UINT32_MAX}, 1);
      networkStream(&network, 100, (SambaEndpoint){pcu, UINT32_MAX},
                    &(SambaEndpoint){store, i ? 0 : UINT32_MAX}, 1);
    }
    network.section.units[store].inputs[0].block = block;
    setTokens(&network, 1024);
    expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
    expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
    SambaStatus status = sambaSectionCheckDepths(&network.section, &machine);
    if (block == 4)
      expectInvalid(status, "section @s: before store1 can work, the stream load0 -> compute3 has "
                            "to hold 3 tokens, but it "
                            "can hold only 2\n  note: load0 has to send that many because "
                            "compute2, which is also upstream "
                            "of store1, needs them first\n  note: put a buffer of enough slots on "
                            "the path of load0 -> "
                            "compute3");
    else
      expectOk(status);
    networkDestroy(&network);
  }
}

static void findsCirclesOfUnits(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "s");
  uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
  uint32_t pcu = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
  networkLink(&network, 100, load, pcu);
  networkLink(&network, 100, pcu, pmu);
  networkLink(&network, 100, pmu, pcu);
  networkLink(&network, 100, pcu, store);
  setSlot(&network, pmu, 1, 2);
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  expectInvalid(sambaSectionCheckDepths(&network.section, &machine),
                "section @s: units wait for each other in a circle: compute1 -> buffer2 -> "
                "compute1\n  note: make one "
                "buffer of the circle loop_carried, so that it starts with tokens");
  network.section.units[pmu].buffer.loop_carried = true;
  expectOk(sambaSectionCheckDepths(&network.section, &machine));
  networkDestroy(&network);
}

static void checksAllTogether(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  Network network;
  networkCreate(&network, "s");
  network.section.arena = &network.arena;
  expectOk(sambaSectionCheckStatic(&network.section, &machine)); /* nothing in it, nothing wrong */
  networkDestroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(findsCirclesOfChannels),    cmocka_unit_test(measuresReconvergingPaths),
      cmocka_unit_test(followsCountsThroughUnits), cmocka_unit_test(comparesSplitAndMerge),
      cmocka_unit_test(findsCirclesOfUnits),       cmocka_unit_test(checksAllTogether)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
