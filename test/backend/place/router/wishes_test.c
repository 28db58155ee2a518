/* Routing with wishes: operands have lanes of their own where there are enough, and where there are
 * not, what is routed without wishes is routed with them. */
#include "test/backend/place/network.h"

#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OPERAND = 300, RESULT = 10, MOST_LANES = 4 };

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void createProduct(Network *network, const SambaMachine *machine) {
  networkCreate(network, "product");
  networkMatmul(network, 40, 13, 16, OPERAND, RESULT);
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
}

/* Streams of rate `rate` wish for more. */
static uint32_t *wishesOf(const Network *network, uint32_t rate, uint32_t wish) {
  uint32_t *wishes = malloc(network->section.stream_count * sizeof *wishes);
  for (uint32_t s = 0; s < network->section.stream_count; ++s)
    wishes[s] = network->rates[s] == rate ? wish : network->rates[s];
  return wishes;
}

/* Lanes between switches on which an operand meets another stream. */
static uint32_t sharedLanes(const Network *network, const SambaMachine *machine) {
  const SambaSection *section = &network->section;
  size_t lanes = (size_t)sambaMachineSiteCount(machine) * 4 * MOST_LANES;
  uint32_t *streams = calloc(lanes, sizeof *streams), *operands = calloc(lanes, sizeof *operands);
  uint32_t shared = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t h = 0; h < section->streams[s].hop_count; ++h) {
      const SambaHop *hop = &section->streams[s].hops[h];
      if (hop->out.port > SAMBA_SWITCH_WEST)
        continue;
      size_t site = (size_t)(hop->y * machine->grid_columns + hop->x);
      size_t lane = (site * 4 + hop->out.port) * MOST_LANES + hop->out.lane;
      ++streams[lane];
      operands[lane] += network->rates[s] == OPERAND;
    }
  for (size_t lane = 0; lane < lanes; ++lane)
    shared += operands[lane] && streams[lane] > 1;
  free(operands);
  free(streams);
  return shared;
}

static uint32_t route(const SambaMachine *machine, uint32_t wish) {
  Network network;
  createProduct(&network, machine);
  uint32_t *wishes = wish ? wishesOf(&network, OPERAND, wish) : NULL;
  expectOk(sambaSectionRoute(&network.section, machine, network.rates, wishes));
  expectOk(sambaSectionCheckRoutes(&network.section, machine, network.rates));
  expectOk(sambaSectionCheckChannels(&network.section, machine));
  uint32_t shared = sharedLanes(&network, machine);
  free(wishes);
  networkDestroy(&network);
  return shared;
}

/* A lane that is full of an operand has room for nothing else. Of the few that still meet another
 * stream when the rounds for wishes are over there are no more than one in twenty. */
static void operandsHaveTheirOwnLanes(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  uint32_t without = route(&machine, 0);
  assert_true(without > 100);
  assert_in_range(route(&machine, 1000), 0, without / 20);
}

/* With one lane per link operands must share: those whose wishes are not met have their rates. */
static void wishesAreNoNeeds(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  machine.vector_lanes = 1;
  assert_true(route(&machine, 0) > 0);
  assert_true(route(&machine, 1000) > 0);
}

/* What finds its ways without wishes finds some with them, also where the wishes have led streams
 * where there is no way on. */
static void wishesCostNoRoute(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  const uint32_t full = 575;
  for (int wishing = 0; wishing < 2; ++wishing) {
    Network network;
    networkCreate(&network, "product");
    networkMatmul(&network, 40, 13, 16, full, full / 4);
    expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
    uint32_t *wishes = wishesOf(&network, full, 900);
    expectOk(sambaSectionRoute(&network.section, &machine, network.rates, wishing ? wishes : NULL));
    expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
    free(wishes);
    networkDestroy(&network);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operandsHaveTheirOwnLanes),
                                     cmocka_unit_test(wishesAreNoNeeds),
                                     cmocka_unit_test(wishesCostNoRoute)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
