/* Routing for rates that need not be kept: it finds what routing finds, and refuses what it must.
 */
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

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void createProduct(Network *network, const SambaMachine *machine, uint32_t rows,
                          uint32_t rate) {
  networkCreate(network, "product");
  networkMatmul(network, rows, 13, 16, rate, 10);
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
}

/* The ways of a product on the whole chip, as those that have all rounds to be found. */
static void findsTheSameWays(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  Network tried, routed;
  createProduct(&tried, &machine, 64, 500);
  createProduct(&routed, &machine, 64, 500);
  expectOk(sambaSectionTryRoute(&tried.section, &machine, tried.rates, NULL));
  expectOk(sambaSectionRoute(&routed.section, &machine, routed.rates, NULL));
  expectOk(sambaSectionCheckRoutes(&tried.section, &machine, tried.rates));
  expectOk(sambaSectionCheckChannels(&tried.section, &machine));

  for (uint32_t s = 0; s < tried.section.stream_count; ++s) {
    const SambaStream *stream = &tried.section.streams[s], *other = &routed.section.streams[s];
    assert_int_equal(stream->hop_count, other->hop_count);
    assert_memory_equal(stream->hops, other->hops, stream->hop_count * sizeof *stream->hops);
  }
  networkDestroy(&routed);
  networkDestroy(&tried);
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

/* Each stream wants a lane of its own: more than the links have, wherever the ways lead. Both
 * refuse it for an overused link, and the streams stay as they are. */
static void refusesWhatLinksCannotCarry(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  Network network;
  machine.vector_lanes = 1;
  createProduct(&network, &machine, 24, 1000);
  SambaStatus status = sambaSectionTryRoute(&network.section, &machine, network.rates, NULL);
  expectOverusedLink(status, &machine);
  sambaStatusFree(status);
  for (uint32_t s = 0; s < network.section.stream_count; ++s)
    assert_int_equal(network.section.streams[s].hop_count, 0);

  status = sambaSectionRoute(&network.section, &machine, network.rates, NULL);
  expectOverusedLink(status, &machine);
  sambaStatusFree(status);
  networkDestroy(&network);
}

/* Streams that wish for more than there is are refused as well when their rates are too much, at
 * once: the first round tells. */
static void wishesDoNotHideWhatIsTooMuch(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");
  Network network;
  machine.vector_lanes = 1;
  createProduct(&network, &machine, 64, 900);
  uint32_t *wishes = malloc(network.section.stream_count * sizeof *wishes);
  for (uint32_t s = 0; s < network.section.stream_count; ++s)
    wishes[s] = 1000;
  SambaStatus status = sambaSectionTryRoute(&network.section, &machine, network.rates, wishes);
  expectOverusedLink(status, &machine);
  sambaStatusFree(status);
  for (uint32_t s = 0; s < network.section.stream_count; ++s)
    assert_int_equal(network.section.streams[s].hop_count, 0);
  free(wishes);
  networkDestroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(findsTheSameWays),
                                     cmocka_unit_test(refusesWhatLinksCannotCarry),
                                     cmocka_unit_test(wishesDoNotHideWhatIsTooMuch)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
