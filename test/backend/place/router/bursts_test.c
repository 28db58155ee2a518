/* Routing with room for bursts: streams have it where there is, all have their rates where there is
 * not, and what links cannot carry is refused. */
#include "test/backend/place/network.h"

#include "backend/place/placer/place.h"
#include "backend/place/router/route.h"
#include "backend/place/verify/place_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FEW = 10 }; /* permille of a lane, of results and loads */

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void expectError(SambaStatus status, SambaStatusCode code) {
  assert_int_equal(sambaStatusGetCode(status), code);
  sambaStatusFree(status);
}

static void createProduct(Network *network, const SambaMachine *machine, uint32_t rows,
                          uint32_t rate) {
  networkCreate(network, "product");
  networkMatmul(network, rows, 13, 16, rate, FEW);
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
}

/* So much of a lane for each operand, and its rate for each of the few vectors that are loaded or
 * stored. */
static uint32_t *demandOf(const Network *network, uint32_t permille) {
  uint32_t *demand = malloc(network->section.stream_count * sizeof *demand);
  for (uint32_t s = 0; s < network->section.stream_count; ++s)
    demand[s] = network->rates[s] > FEW ? permille : network->rates[s];
  return demand;
}

/* A product on the whole chip whose bursts the links can carry: all streams have them. */
static void burstsThatFitHaveRoom(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  Network network;
  createProduct(&network, &machine, 64, 300);
  uint32_t *bursts = demandOf(&network, 500);
  expectOk(sambaSectionRouteDemands(
      &network.section, &machine,
      &(SambaStreamDemands){.rates = network.rates, .fills = network.rates, .turns = bursts}));
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, bursts));
  expectOk(sambaSectionCheckChannels(&network.section, &machine));
  free(bursts);
  networkDestroy(&network);
}

/* Bursts that need a lane each, for which there are not enough: ways are those without bursts, with
 * and without wishes. */
static void burstsThatDoNotFitCostNoRoute(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  machine.vector_lanes = 1;
  for (int wishing = 0; wishing < 2; ++wishing) {
    Network bursting, plain;
    createProduct(&bursting, &machine, 40, 200);
    createProduct(&plain, &machine, 40, 200);
    uint32_t *bursts = demandOf(&bursting, 1000);
    uint32_t *wishes = wishing ? demandOf(&bursting, 300) : NULL;
    expectError(sambaSectionRoute(&bursting.section, &machine, bursts, NULL), SAMBA_EXHAUSTED);
    expectOk(sambaSectionRouteDemands(
        &bursting.section, &machine,
        &(SambaStreamDemands){.rates = bursting.rates, .turns = bursts, .wishes = wishes}));
    expectOk(sambaSectionRoute(&plain.section, &machine, plain.rates, wishes));
    expectOk(sambaSectionCheckRoutes(&bursting.section, &machine, bursting.rates));

    for (uint32_t s = 0; s < plain.section.stream_count; ++s) {
      const SambaStream *stream = &bursting.section.streams[s], *other = &plain.section.streams[s];
      assert_int_equal(stream->hop_count, other->hop_count);
      assert_memory_equal(stream->hops, other->hops, stream->hop_count * sizeof *stream->hops);
    }
    free(wishes);
    free(bursts);
    networkDestroy(&plain);
    networkDestroy(&bursting);
  }
}

/* The link that a refusal names, and what it says of it: more than the link has. */
static void expectOverusedLink(SambaStatus status, const SambaMachine *machine) {
  const char *message = sambaStatusGetMessage(status);
  unsigned x, y, streams, whole, hundredths, lanes;
  char side[8];
  assert_int_equal(sambaStatusGetCode(status), SAMBA_EXHAUSTED);
  assert_int_equal(sscanf(message,
                          "section @product: link (%u,%u) %7s carries %u vector streams of %u.%u "
                          "in all, but sn40l has %u lane",
                          &x, &y, side, &streams, &whole, &hundredths, &lanes),
                   7);
  assert_true(x < machine->grid_columns && y < machine->grid_rows);
  assert_int_equal(lanes, machine->vector_lanes);
  assert_true(streams > lanes && 100 * whole + hundredths > 100 * lanes);
  assert_non_null(strstr(message, "\n  note: the largest is "));
}

/* Each stream needs a lane of its own, which is more than the links have wherever the ways lead. It
 * is refused for an overused link, bursts and wishes or not, and the streams stay as they are. */
static void refusesWhatLinksCannotCarry(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  machine.vector_lanes = 1;
  for (int kind = 0; kind < 3; ++kind) {
    Network network;
    createProduct(&network, &machine, kind == 2 ? 64 : 24, kind == 2 ? 900 : 1000);
    uint32_t *most = demandOf(&network, 1000);
    SambaStatus status =
        sambaSectionRouteDemands(&network.section, &machine,
                                 &(SambaStreamDemands){.rates = network.rates,
                                                       .turns = kind ? most : NULL,
                                                       .wishes = kind == 2 ? most : NULL});
    expectOverusedLink(status, &machine);
    sambaStatusFree(status);
    for (uint32_t s = 0; s < network.section.stream_count; ++s)
      assert_int_equal(network.section.streams[s].hop_count, 0);
    free(most);
    networkDestroy(&network);
  }
}

/* Two ways of one lane lead out of the corner. Three streams from there do not fit at full speed:
 * those that meet do with their rates. */
static void burstsGiveWay(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  machine.vector_lanes = 1;
  machine.unit_vector_outputs = 3;
  Network network;
  networkCreate(&network, "corner");
  uint32_t corner = networkUnit(&network, SAMBA_UNIT_COMPUTE, "corner");
  for (int i = 0; i < 3; ++i)
    networkLink(&network, 100, corner, networkUnit(&network, SAMBA_UNIT_BUFFER, "buffers"));
  network.section.units[corner].x = network.section.units[corner].y = 0;
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));

  uint32_t *bursts = demandOf(&network, 1000);
  expectError(sambaSectionRoute(&network.section, &machine, bursts, NULL), SAMBA_EXHAUSTED);
  expectOk(sambaSectionRouteDemands(
      &network.section, &machine, &(SambaStreamDemands){.rates = network.rates, .fills = bursts}));
  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  expectOk(sambaSectionCheckChannels(&network.section, &machine));
  free(bursts);
  networkDestroy(&network);
}

/* Two ways of one lane lead out of the corner. Of three streams that need 0.6 of a lane each two
 * meet: they do with the 0.5 that they must have, and the third one has all that it needs. */
static void streamsThatMeetSlowDown(void **state) {
  (void)state;
  enum { rate = 600, slow = 500, streams = 3 };
  SambaMachine machine = networkMachine("sn40l");
  machine.vector_lanes = 1;
  machine.unit_vector_outputs = streams;
  Network network;
  networkCreate(&network, "corner");
  uint32_t corner = networkUnit(&network, SAMBA_UNIT_COMPUTE, "corner");
  for (int i = 0; i < streams; ++i)
    networkLink(&network, rate, corner, networkUnit(&network, SAMBA_UNIT_BUFFER, "buffers"));
  network.section.units[corner].x = network.section.units[corner].y = 0;
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));

  uint32_t *least = demandOf(&network, slow);
  expectError(sambaSectionRoute(&network.section, &machine, network.rates, NULL), SAMBA_EXHAUSTED);
  expectOk(sambaSectionRouteDemands(&network.section, &machine,
                                    &(SambaStreamDemands){.rates = network.rates, .least = least}));
  expectError(sambaSectionCheckRoutes(&network.section, &machine, network.rates), SAMBA_INVALID);
  uint32_t whole = 0;
  for (uint32_t s = 0; s < streams; ++s) {
    SambaStatus status;
    least[s] = rate;
    status = sambaSectionCheckRoutes(&network.section, &machine, least);
    whole += !status;
    sambaStatusFree(status);
    least[s] = slow;
  }
  assert_int_equal(whole, 1);
  free(least);
  networkDestroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(burstsThatFitHaveRoom), cmocka_unit_test(burstsThatDoNotFitCostNoRoute),
      cmocka_unit_test(burstsGiveWay), cmocka_unit_test(streamsThatMeetSlowDown),
      cmocka_unit_test(refusesWhatLinksCannotCarry)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
