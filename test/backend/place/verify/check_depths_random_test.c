/* The check of depths against brute force: whatever it refuses really gets stuck in a
 * token-by-token simulation, written here with the same room in FIFOs, registers and slots. */
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

enum { STEPS = 60, MOST_PORTS = 8 };

typedef struct {
  const SambaSection *section;
  uint64_t *steps;               /* per unit, COMPUTE, LOAD, STORE */
  uint64_t (*taken)[MOST_PORTS]; /* per unit and input port: tokens that entered the unit */
  uint64_t (*made)[MOST_PORTS];  /* per unit and output port: tokens that left the unit */
  uint64_t (*ready)[MOST_PORTS]; /* per unit and output port: tokens computed; at most one waits to
                                    leave */
} Simulation;

/* Steps per token of a port; tokens per slot for a buffer. */
static uint64_t pace(const SambaUnit *unit, const SambaPort *port) {
  if (unit->kind == SAMBA_UNIT_BUFFER)
    return port->access.trips[1];
  if (unit->kind != SAMBA_UNIT_COMPUTE)
    return 1;
  if (port->compute.level == 1)
    return 6;
  return port->compute.level == 2 ? 3 : 1;
}

static uint32_t placeOf(const SambaPort *port, uint32_t stream) {
  uint32_t place = 0;
  while (port->streams[place] != stream)
    ++place;
  return place;
}

/* No FIFO holds a whole token here (vectors are many, FIFOs shallow): a token passes when every
 * destination takes it. */
static bool takes(const Simulation *sim, SambaEndpoint end, uint32_t stream) {
  const SambaUnit *unit = &sim->section->units[end.unit];
  const SambaPort *port = &unit->inputs[end.port];
  uint64_t taken = sim->taken[end.unit][end.port];
  if (taken % port->stream_count != placeOf(port, stream))
    return false;
  if (unit->kind != SAMBA_UNIT_BUFFER) /* one token ahead of the step that runs */
    return taken < (sim->steps[end.unit] + pace(unit, port) - 1) / pace(unit, port) + 1;
  uint64_t freed = 1 << 20;
  for (uint32_t p = 0; p < unit->output_count; ++p) {
    uint64_t slots = sim->made[end.unit][p] / pace(unit, &unit->outputs[p]);
    freed = slots < freed ? slots : freed;
  }
  return taken / pace(unit, port) < freed + unit->buffer.slot_count;
}

static bool tryEmit(Simulation *sim, uint32_t u, uint32_t p) {
  const SambaUnit *unit = &sim->section->units[u];
  const SambaPort *port = &unit->outputs[p];
  uint64_t number = sim->made[u][p];

  if (unit->kind == SAMBA_UNIT_BUFFER) {
    for (uint32_t i = 0; i < unit->input_count; ++i)
      if (sim->taken[u][i] / pace(unit, &unit->inputs[i]) <= number / pace(unit, port))
        return false;
  } else if (number >= sim->ready[u][p]) {
    return false;
  }

  uint32_t s = port->streams[number % port->stream_count];
  const SambaStream *stream = &sim->section->streams[s];
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    if (!takes(sim, stream->destinations[d], s))
      return false;
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    ++sim->taken[stream->destinations[d].unit][stream->destinations[d].port];
  ++sim->made[u][p];

  return true;
}

static bool tryStep(Simulation *sim, uint32_t u) {
  const SambaUnit *unit = &sim->section->units[u];
  uint64_t step = sim->steps[u] + 1;

  if (unit->kind == SAMBA_UNIT_BUFFER || step > STEPS)
    return false;
  for (uint32_t p = 0; p < unit->input_count; ++p)
    if (sim->taken[u][p] * pace(unit, &unit->inputs[p]) < step)
      return false;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    if (step % pace(unit, &unit->outputs[p]) == 0 && sim->ready[u][p] > sim->made[u][p])
      return false;
  for (uint32_t p = 0; p < unit->output_count; ++p)
    sim->ready[u][p] = step / pace(unit, &unit->outputs[p]);
  sim->steps[u] = step;

  return true;
}

/* Runs until nothing moves; tells for each unit whether it did its first step (a buffer: filled its
 * first slot). */
static void simulate(const SambaSection *section, bool *works) {
  SambaArena arena = {0};
  Simulation sim = {.section = section};
  sim.steps = SAMBA_ARENA_ARRAY(&arena, uint64_t, section->unit_count);
  sim.taken = sambaArenaAllocate(&arena, section->unit_count * sizeof *sim.taken);
  sim.made = sambaArenaAllocate(&arena, section->unit_count * sizeof *sim.made);
  sim.ready = sambaArenaAllocate(&arena, section->unit_count * sizeof *sim.ready);
  bool moved = true;

  while (moved) {
    moved = false;
    for (uint32_t u = 0; u < section->unit_count; ++u) {
      while (tryStep(&sim, u))
        moved = true;
      for (uint32_t p = 0; p < section->units[u].output_count; ++p)
        while (tryEmit(&sim, u, p))
          moved = true;
    }
  }

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    works[u] = unit->kind == SAMBA_UNIT_BUFFER || sim.steps[u] > 0;
    for (uint32_t p = 0; p < unit->input_count && unit->kind == SAMBA_UNIT_BUFFER; ++p)
      works[u] = works[u] && sim.taken[u][p] >= pace(unit, &unit->inputs[p]);
  }

  sambaArenaDestroy(&arena);
}

/* The unit that "before NAME can work" names: names end in the unit's index. */
static uint32_t namedUnit(const char *message) {
  const char *digit = strstr(message, "before ");
  assert_non_null(digit);
  for (digit += 7; *digit < '0' || *digit > '9'; ++digit) {
  }
  return (uint32_t)strtoul(digit, NULL, 10);
}

/* Every unit runs over 10 x 2 x 3 points; a stream carries 10, 20 or 60 tokens, so that tokens
 * balance; a buffer has 5 or 10 slots' worth. What gets stuck then gets stuck for want of room. */
static void randomize(Network *network) {
  static const uint32_t trips[] = {10, 2, 3};
  static const int64_t strides[] = {0, 0};
  static const uint32_t tokens[] = {10, 20, 60};
  SambaSection *section = &network->section;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &section->units[u];
    uint32_t slot_count = 1 + networkRandom(network, 3); /* the same numbers for every kind */
    if (unit->kind == SAMBA_UNIT_BUFFER) {
      unit->buffer.slot_count = slot_count;
    } else if (unit->kind == SAMBA_UNIT_COMPUTE) {
      unit->compute.trips = trips;
      unit->compute.counter_count = unit->compute.token_level = 3;
    }
  }

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    SambaStream *stream = &section->streams[s];
    uint32_t level = networkRandom(network, 3);
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      if (section->units[stream->destinations[d].unit].kind == SAMBA_UNIT_STORE)
        level = 2;
    for (uint32_t d = 0; d <= stream->destination_count; ++d) {
      SambaEndpoint end = d ? stream->destinations[d - 1] : stream->source;
      SambaUnit *unit = &section->units[end.unit];
      SambaPort *port = d ? &unit->inputs[end.port] : &unit->outputs[end.port];
      uint32_t slots = end.unit % 2 ? 5 : 10;
      uint32_t *own = SAMBA_ARENA_ARRAY(&network->arena, uint32_t, 2);
      own[0] = slots;
      own[1] = tokens[level] / slots;
      port->token_elements = 1 << 20;
      if (unit->kind == SAMBA_UNIT_COMPUTE)
        port->compute.level = level + 1;
      else if (unit->kind == SAMBA_UNIT_BUFFER)
        port->access = (SambaAccess){.counter_count = 2,
                                     .trips = own,
                                     .strides = strides,
                                     .slot_level = 1,
                                     .token_level = 2};
    }
  }
}

static void refusesOnlyWhatGetsStuck(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("plasticine");
  uint32_t refused = 0, stuck = 0, total = 0;

  for (uint32_t seed = 0; seed < 400; ++seed) {
    Network network;
    networkCreate(&network, "s");
    network.random += seed * 6007;
    networkRandomGraph(&network, 6 + seed % 9, 6 + seed % 7, 6, 4, 5);
    randomize(&network);
    SambaStatus status = sambaSectionPlace(&network.section, &machine, network.rates);
    if (!status)
      status = sambaSectionRoute(&network.section, &machine, network.rates, NULL);
    assert_null(status);
    status = sambaSectionCheckDepths(&network.section, &machine);
    bool *works = SAMBA_ARENA_ARRAY(&network.arena, bool, network.section.unit_count);
    simulate(&network.section, works);
    if (status && works[namedUnit(sambaStatusGetMessage(status))])
      fail_msg("seed %u: refused, but it works: %s", seed, sambaStatusGetMessage(status));
    bool some_stuck = false;
    for (uint32_t u = 0; u < network.section.unit_count; ++u)
      some_stuck = some_stuck || !works[u];
    ++total;
    refused += status != NULL;
    stuck += some_stuck;
    sambaStatusFree(status);
    networkDestroy(&network);
  }

  print_message("%u sections: %u get stuck, %u refused\n", total, stuck, refused);
  assert_true(refused > total / 20 &&
              refused > stuck / 2); /* later steps are left to the simulator */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refusesOnlyWhatGetsStuck)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
