/* Placement: legality on every shipped machine, placement by hand, determinism, small cases against
 * brute force, errors. */
#include "test/backend/place/network.h"

#include "backend/machine/shipped.h"
#include "backend/place/placer/place.h"
#include "backend/section/fabric/fabric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expectError(SambaStatus status, SambaStatusCode code, const char *message) {
  assert_string_equal(sambaStatusGetMessage(status), message);
  assert_int_equal(sambaStatusGetCode(status), code);
  sambaStatusFree(status);
}

static void expectOk(SambaStatus status) {
  assert_string_equal(sambaStatusGetMessage(status), "");
  sambaStatusFree(status);
}

static void placesRandomSectionsLegally(void **state) {
  (void)state;
  for (const SambaMachine *const *machine =
           (const SambaMachine *[]){sambaMachineShipped(0), sambaMachineShipped(1),
                                    sambaMachineShipped(2), sambaMachineShipped(3), NULL};
       *machine; ++machine)
    for (uint32_t seed = 0; seed < 6; ++seed) {
      Network network;
      networkCreate(&network, "random");
      network.random += seed * 977;
      uint32_t pmus = (uint32_t)sambaMachinePmuCount(*machine) >> seed;
      uint32_t pcus = (uint32_t)sambaMachinePcuCount(*machine);
      networkRandomGraph(&network, pmus ? pmus : 1, pcus >> (seed / 2),
                         (uint32_t)(*machine)->ag_count, 3, 300);
      expectOk(sambaSectionPlace(&network.section, *machine, network.rates));
      expectOk(sambaPlacementCheck(*machine, network.section.units, network.section.unit_count));
      networkDestroy(&network);
    }
}

static void isDeterministic(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("sn40l");

  Network a, b;
  networkCreate(&a, "same");
  networkCreate(&b, "same");
  networkMatmul(&a, 6, 7, 3, 500, 10);
  networkMatmul(&b, 6, 7, 3, 500, 10);
  expectOk(sambaSectionPlace(&a.section, &machine, a.rates));
  expectOk(sambaSectionPlace(&b.section, &machine, b.rates));

  for (uint32_t u = 0; u < a.section.unit_count; ++u) {
    assert_int_equal(a.section.units[u].x, b.section.units[u].x);
    assert_int_equal(a.section.units[u].y, b.section.units[u].y);
    assert_int_equal(a.section.units[u].load_store.ag, b.section.units[u].load_store.ag);
  }

  /* A placed section is placed by hand: nothing moves. */
  expectOk(sambaSectionPlace(&a.section, &machine, a.rates));
  for (uint32_t u = 0; u < a.section.unit_count; ++u)
    assert_int_equal(a.section.units[u].x, b.section.units[u].x);
  networkDestroy(&a);
  networkDestroy(&b);
}

/* load -> buffer -> compute -> store on tiny: the shortest total distance over all placements,
 * counted here. */
static int chainLength(const SambaMachine *machine, int load, int buffer, int compute, int store) {
  int32_t lx, ly, sx, sy;
  sambaMachineAgSite(machine, load, &lx, &ly);
  sambaMachineAgSite(machine, store, &sx, &sy);
  int bx = buffer % 4;
  int by = buffer / 4;
  int cx = compute % 4;
  int cy = compute / 4;
  return abs(lx - bx) + abs(ly - by) + abs(bx - cx) + abs(by - cy) + abs(cx - sx) + abs(cy - sy);
}

static void findsTheShortestChain(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  int best = 1000;

  for (int load = 0; load < 4; ++load)
    for (int store = 0; store < 4; ++store)
      for (int buffer = 0; buffer < 16; ++buffer)
        for (int compute = 0; compute < 16; ++compute) {
          bool pmu = (buffer % 4 + buffer / 4) % 2 == 1, pcu = (compute % 4 + compute / 4) % 2 == 0;
          int length = chainLength(&machine, load, buffer, compute, store);
          if (load != store && pmu && pcu && length < best)
            best = length;
        }
  Network network;
  networkCreate(&network, "chain");
  uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
  uint32_t buffer = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  uint32_t compute = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
  networkLink(&network, 100, load, buffer);
  networkLink(&network, 100, buffer, compute);
  networkLink(&network, 100, compute, store);
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  const SambaUnit *u = network.section.units;
  assert_int_equal(chainLength(&machine, u[load].load_store.ag, u[buffer].y * 4 + u[buffer].x,
                               u[compute].y * 4 + u[compute].x, u[store].load_store.ag),
                   best);
  networkDestroy(&network);
}

/* All PCUs of a machine in a ring, where the next one is two hops away at best. There is no free
 * site: units only change places, also with those that they are linked to. `wide`: each sends to
 * the next two at once, and is moved within larger boxes. Returns the hops from each to the next.
 */
static int ringLength(const SambaMachine *machine, bool wide) {
  Network network;
  networkCreate(&network, "ring");
  uint32_t pcus = (uint32_t)sambaMachinePcuCount(machine);
  uint32_t *ring = SAMBA_ARENA_ARRAY(&network.arena, uint32_t, pcus);
  assert_int_not_equal(pcus % 3, 0); /* neighbours are not written side by side */
  for (uint32_t i = 0; i < pcus; ++i)
    ring[i * 3 % pcus] = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  for (uint32_t i = 0; i < pcus; ++i) {
    SambaEndpoint ends[2] = {{ring[(i + 1) % pcus], UINT32_MAX},
                             {ring[(i + 2) % pcus], UINT32_MAX}};
    networkStream(&network, 100, (SambaEndpoint){ring[i], UINT32_MAX}, ends, wide ? 2 : 1);
  }

  expectOk(sambaSectionPlace(&network.section, machine, network.rates));
  int length = 0;
  for (uint32_t i = 0; i < pcus; ++i) {
    const SambaUnit *one = &network.section.units[ring[i]];
    const SambaUnit *next = &network.section.units[ring[(i + 1) % pcus]];
    length += abs(one->x - next->x) + abs(one->y - next->y);
  }
  networkDestroy(&network);
  return length;
}

/* Boxes that are not what their units make them mislead the moves: 4% longer rings. */
static void findsShortRings(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("plasticine");
  int shortest = 2 * (int)sambaMachinePcuCount(&machine);
  assert_true(ringLength(&machine, false) <= 1.065 * shortest);
  assert_true(ringLength(&machine, true) <= 1.03 * shortest);
}

static void keepsPlacementByHand(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "hand");
  networkMatmul(&network, 2, 3, 2, 500, 10);
  SambaUnit *units = network.section.units;
  units[0].load_store.ag = 3;
  units[2].x = 3;
  units[2].y = 3;
  units[9].x = 0;
  units[9].y = 3;
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  assert_int_equal(units[0].load_store.ag, 3);
  assert_true(units[2].x == 3 && units[2].y == 3);
  assert_true(units[9].x == 0 && units[9].y == 3);
  expectOk(sambaPlacementCheck(&machine, units, network.section.unit_count));
  networkDestroy(&network);
}

static void refusesTooManyUnits(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "big");
  for (int i = 0; i < 9; ++i)
    networkUnit(&network, SAMBA_UNIT_COMPUTE, i % 3 ? "conv1" : "fc");
  expectError(sambaSectionPlace(&network.section, &machine, network.rates), SAMBA_EXHAUSTED,
              "section @big needs 9 PCUs, but tiny has 8\n  note: layer 'conv1' has the most: 6 "
              "PCUs\n  note: lower the "
              "section's parallel factor, split the section, or choose a machine with more PCUs");
  networkDestroy(&network);
  networkCreate(&network, "big");
  for (int i = 0; i < 9; ++i)
    networkUnit(&network, SAMBA_UNIT_BUFFER, i == 4 ? "fc" : "");
  expectError(sambaSectionPlace(&network.section, &machine, network.rates), SAMBA_EXHAUSTED,
              "section @big needs 9 PMUs, but tiny has 8\n  note: layer 'fc' has the most: 1 PMU\n "
              " note: lower the "
              "section's parallel factor, split the section, or choose a machine with more PMUs");
  networkDestroy(&network);
  networkCreate(&network, "big");
  for (int i = 0; i < 5; ++i)
    networkUnit(&network, SAMBA_UNIT_STORE, "");
  expectError(sambaSectionPlace(&network.section, &machine, network.rates), SAMBA_EXHAUSTED,
              "section @big needs 5 address generators, but tiny has 4\n  note: lower the "
              "section's parallel factor, "
              "split the section, or choose a machine with more address generators");
  networkDestroy(&network);
}

/* Four loads and three stores on the four generators of tiny: each has one load and one store at
 * most. A load that waits for a store's token has a generator of its own, so seven need seven. */
static void loadsAndStoresShareGenerators(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  for (int waits = 0; waits < 2; ++waits) {
    Network network;
    uint32_t users[2][4] = {{0}};
    networkCreate(&network, "s");
    for (int i = 0; i < 7; ++i)
      networkUnit(&network, i % 2 ? SAMBA_UNIT_STORE : SAMBA_UNIT_LOAD, "");
    network.section.units[2].input_count = (uint32_t)waits;
    SambaStatus status = sambaSectionPlace(&network.section, &machine, network.rates);
    if (waits) {
      expectError(status, SAMBA_EXHAUSTED,
                  "section @s needs 7 address generators, but tiny has 4\n  note: lower the "
                  "section's parallel factor, split the section, or choose a machine with more "
                  "address generators");
    } else {
      assert_null(status);
      for (uint32_t u = 0; u < network.section.unit_count; ++u)
        ++users[network.section.units[u].kind == SAMBA_UNIT_STORE]
               [network.section.units[u].load_store.ag];
      for (int ag = 0; ag < 4; ++ag)
        assert_true(users[0][ag] == 1 && users[1][ag] <= 1);
    }
    network.section.units[2].input_count = 0;
    networkDestroy(&network);
  }
}

/* Four chains of a load, a PCU and a store on the four generators of tiny. The first chain carries
 * 450 permille of a lane, more than half of what a generator gives: its load and its store, which
 * are next to one PCU, would lie on one generator and hold each other up. */
static void busyLoadsAndStoresShareNoGenerator(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  const uint32_t trips[] = {16};
  Network network;
  networkCreate(&network, "s");
  for (int chain = 0; chain < 4; ++chain) {
    const uint32_t rate = chain ? 10 : 450;
    uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
    uint32_t compute = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
    networkLink(&network, rate, load, compute);
    networkLink(&network, rate, compute, store);
    SambaAccess *stored = &network.section.units[store].inputs[0].access;
    stored->counter_count = stored->token_level = 1;
    stored->trips = trips;
  }

  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  assert_int_not_equal(network.section.units[0].load_store.ag,
                       network.section.units[2].load_store.ag);
  networkDestroy(&network);
}

/* The free site of a kind that is next to a generator. */
static void placeBeside(Network *network, const SambaMachine *machine, uint32_t unit, int32_t ag) {
  int32_t x, y, best = INT32_MAX;
  SambaUnit *units = network->section.units, *placed = &units[unit];
  SambaSiteKind kind = placed->kind == SAMBA_UNIT_BUFFER ? SAMBA_SITE_PMU : SAMBA_SITE_PCU;
  sambaMachineAgSite(machine, ag, &x, &y);
  for (int32_t row = 0; row < machine->grid_rows; ++row)
    for (int32_t column = 0; column < machine->grid_columns; ++column) {
      int32_t far = abs(column - x) + abs(row - y);
      bool taken = sambaMachineSiteKind(machine, column, row) != kind;
      for (uint32_t u = 0; u < unit; ++u)
        taken |= units[u].x == column && units[u].y == row;
      if (taken || far >= best)
        continue;
      best = far;
      placed->x = column;
      placed->y = row;
    }
}

/* Four chains of a load, a PCU, a PMU that gathers 16 tokens, and a store, on the four generators
 * of tiny. Each load is on a generator by hand, and its PMU beside the next one. The store's way
 * would be shorter from there, but the load there works while it stores, and its own load rests. */
static void storesShareWithLoadsThatRest(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  const uint32_t trips[] = {1, 16};
  const int64_t strides[] = {0, 1};
  Network network;
  networkCreate(&network, "s");
  for (uint32_t chain = 0; chain < 4; ++chain) {
    uint32_t load = networkUnit(&network, SAMBA_UNIT_LOAD, "");
    uint32_t compute = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    uint32_t buffer = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
    uint32_t store = networkUnit(&network, SAMBA_UNIT_STORE, "");
    networkLink(&network, 100, load, compute);
    networkLink(&network, 100, compute, buffer);
    networkLink(&network, 100, buffer, store);
    SambaUnit *unit = &network.section.units[buffer];
    unit->buffer.slot_count = 1;
    unit->inputs[0].access = unit->outputs[0].access = (SambaAccess){
        .counter_count = 2, .trips = trips, .slot_level = 1, .token_level = 2, .strides = strides};
    network.section.units[load].load_store.ag = chain;
    placeBeside(&network, &machine, buffer, (int32_t)(chain + 1) % 4);
  }

  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  for (uint32_t u = 0; u < network.section.unit_count; u += 4)
    assert_int_equal(network.section.units[u].load_store.ag,
                     network.section.units[u + 3].load_store.ag);
  networkDestroy(&network);
}

static void refusesBadPlacementByHand(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  static const struct {
    SambaUnitKind kind;
    int32_t x, y, ag;
    const char *message;
  } cases[] = {{SAMBA_UNIT_COMPUTE, 4, 0, -1,
                "section @s: unit compute1 is placed at (4,0), outside the 4 x 4 sites of tiny"},
               {SAMBA_UNIT_COMPUTE, 1, -1, -1,
                "section @s: unit compute1 is placed at (1,-1), outside the 4 x 4 sites of tiny"},
               {SAMBA_UNIT_BUFFER, 1, 1, -1,
                "section @s: unit buffer1 (buffer) is placed at (1,1), which is a PCU, not a PMU"},
               {SAMBA_UNIT_COMPUTE, 2, 2, -1,
                "section @s: units compute0 and compute1 are both placed at (2,2)"},
               {SAMBA_UNIT_LOAD, -1, -1, 4,
                "section @s: unit load1 is placed on address generator 4, but tiny has 4"},
               {SAMBA_UNIT_STORE, -1, -1, 2,
                "section @s: units load2 and store1 are both placed on address generator 2"}};

  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    Network network;
    networkCreate(&network, "s");
    networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
    networkUnit(&network, cases[i].kind, "");
    networkUnit(&network, SAMBA_UNIT_LOAD, "");
    SambaUnit *units = network.section.units;
    units[0].x = units[0].y = 2;
    units[1].x = cases[i].x;
    units[1].y = cases[i].y;
    units[1].load_store.ag = cases[i].ag;
    if (cases[i].kind == SAMBA_UNIT_STORE) { /* the later of the two is the one complained about */
      units[2].kind = SAMBA_UNIT_STORE;
      units[1].kind = SAMBA_UNIT_LOAD;
      units[1].name = "load2";
      units[2].name = "store1";
      units[2].load_store.ag = 2;
    }
    expectError(sambaSectionPlace(&network.section, &machine, network.rates), SAMBA_INVALID,
                cases[i].message);
    networkDestroy(&network);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(placesRandomSectionsLegally),
                                     cmocka_unit_test(isDeterministic),
                                     cmocka_unit_test(findsTheShortestChain),
                                     cmocka_unit_test(findsShortRings),
                                     cmocka_unit_test(keepsPlacementByHand),
                                     cmocka_unit_test(refusesTooManyUnits),
                                     cmocka_unit_test(refusesBadPlacementByHand),
                                     cmocka_unit_test(loadsAndStoresShareGenerators),
                                     cmocka_unit_test(busyLoadsAndStoresShareNoGenerator),
                                     cmocka_unit_test(storesShareWithLoadsThatRest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
