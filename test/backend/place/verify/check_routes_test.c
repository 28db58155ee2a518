/* The route checker: corrupted routes are noticed (a naive follower of flows, written here, judges
 * what it lets pass), and each of its errors. */
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

static void expectInvalid(SambaStatus status, const char *part) {
  if (!strstr(sambaStatusGetMessage(status), part))
    assert_string_equal(sambaStatusGetMessage(status), part);
  assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
  sambaStatusFree(status);
}

/* Sections whose hops may be changed. */
static void prepare(Network *network, const SambaMachine *machine, uint32_t variant) {
  networkCreate(network, "s");
  network->random += variant * 131;
  if (variant % 2)
    networkRandomGraph(network, 5, 6, 4, 3, 200);
  else
    networkMatmul(network, 2, 3, 2, 400, 20);
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
  expectOk(sambaSectionRoute(&network->section, machine, network->rates, NULL));
  expectOk(sambaSectionCheckRoutes(&network->section, machine, network->rates));
}

static SambaHop *hopsOf(Network *network, uint32_t stream) {
  return (SambaHop *)network->section.streams[stream]
      .hops; /* made in the network's arena: ours to change */
}

/* --- The judge: follows flows hop by hop through all hops, no sorting, no tables. --- */
static bool sameLane(SambaSwitchLane a, SambaSwitchLane b) {
  return a.port == b.port && a.lane == b.lane && a.flow == b.flow &&
         (a.port != SAMBA_SWITCH_AG || a.ag == b.ag);
}

static int unitAt(const SambaSection *section, const SambaMachine *machine, const SambaHop *hop,
                  SambaSwitchLane lane) {
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    bool is_ag = sambaUnitIsAddressGenerator(unit);
    int32_t x = unit->x;
    int32_t y = unit->y;
    if (is_ag)
      sambaMachineAgSite(machine, unit->load_store.ag, &x, &y);
    if (x == hop->x && y == hop->y && lane.port == (is_ag ? SAMBA_SWITCH_AG : SAMBA_SWITCH_UNIT) &&
        (!is_ag || lane.ag == unit->load_store.ag))
      return (int)u;
  }
  return -1;
}

/* Counts how often each unit is reached from (x, y, in); -1 when a flow gets lost or runs on too
 * long. */
static int follow(const SambaSection *section, const SambaMachine *machine, int32_t x, int32_t y,
                  SambaSwitchLane in, uint32_t *reached, int depth) {
  static const int step[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
  int taken = 0;

  for (uint32_t s = 0; s < section->stream_count && depth < 200; ++s)
    for (uint32_t h = 0; h < section->streams[s].hop_count; ++h) {
      const SambaHop *hop = &section->streams[s].hops[h];
      if (hop->x != x || hop->y != y || !sameLane(hop->in, in))
        continue;
      int rest = 1;
      if (hop->out.port >= SAMBA_SWITCH_UNIT) {
        int unit = unitAt(section, machine, hop, hop->out);
        if (unit < 0)
          return -1;
        ++reached[unit];
      } else {
        SambaSwitchLane next = {(uint8_t)((hop->out.port + 2) % 4), hop->out.lane, hop->out.flow,
                                0};
        rest += follow(section, machine, x + step[hop->out.port][0], y + step[hop->out.port][1],
                       next, reached, depth + 1);
        if (rest == 0)
          return -1;
      }
      taken += rest;
    }
  return taken ? taken : -1;
}

static bool judge(const SambaSection *section, const SambaMachine *machine, const uint32_t *rates) {
  uint32_t *reached = sambaAllocateZeroed(section->unit_count, sizeof *reached);
  bool legal = true;

  for (uint32_t s = 0; s < section->stream_count && legal; ++s) {
    const SambaStream *stream = &section->streams[s];
    const SambaHop *first = stream->hops;
    memset(reached, 0, section->unit_count * sizeof *reached);
    legal = unitAt(section, machine, first, first->in) == (int)stream->source.unit &&
            follow(section, machine, first->x, first->y, first->in, reached, 0) ==
                (int)stream->hop_count;
    for (uint32_t d = 0; d < stream->destination_count && legal; ++d)
      legal = reached[stream->destinations[d].unit]-- > 0;
    for (uint32_t u = 0; u < section->unit_count && legal; ++u)
      legal = reached[u] == 0;
    for (uint32_t h = 0; h < stream->hop_count && legal;
         ++h) { /* lanes and flows exist, rates fit, nobody shares a flow */
      SambaSwitchLane out = stream->hops[h].out;
      uint32_t rate = 0;
      uint32_t limit = out.port <= SAMBA_SWITCH_WEST ? (uint32_t)machine->vector_lanes
                                                     : (uint32_t)machine->unit_vector_inputs;
      for (uint32_t t = 0; t < section->stream_count; ++t)
        for (uint32_t k = 0; k < section->streams[t].hop_count; ++k) {
          const SambaHop *other = &section->streams[t].hops[k];
          if (other->x != stream->hops[h].x || other->y != stream->hops[h].y ||
              other->out.port != out.port || other->out.lane != out.lane ||
              (out.port == SAMBA_SWITCH_AG && other->out.ag != out.ag))
            continue;
          rate += rates[t];
          legal = legal && (other->out.flow != out.flow || (t == s && k == h));
        }
      legal = legal && rate <= 1000 && out.lane < limit && out.flow < machine->flows_per_lane;
    }
    legal = legal && first->in.lane < machine->unit_vector_outputs &&
            first->in.flow < machine->flows_per_lane;
  }

  free(reached);
  return legal;
}

/* --- Mutations --- */
static void mutateLane(Network *network, SambaSwitchLane *lane) {
  switch (networkRandom(network, 4)) {
  case 0:
    lane->lane ^= (uint8_t)(1u << networkRandom(network, 3));
    break;
  case 1:
    lane->flow ^= (uint16_t)(1u << networkRandom(network, 6));
    break;
  case 2:
    lane->port = (uint8_t)((lane->port + 1 + networkRandom(network, 5)) % 6);
    break;
  default:
    lane->ag ^= (uint16_t)(1u << networkRandom(network, 3));
    break;
  }
}

static void mutate(Network *network) {
  SambaSection *section = &network->section;
  uint32_t s = networkRandom(network, section->stream_count);
  uint32_t t = networkRandom(network, section->stream_count);
  SambaStream *stream = &section->streams[s];
  SambaStream *other = &section->streams[t];
  SambaHop *hops = SAMBA_ARENA_ARRAY(&network->arena, SambaHop, stream->hop_count + 1);

  memcpy(hops, stream->hops, stream->hop_count * sizeof *hops);
  uint32_t h = networkRandom(network, stream->hop_count);
  uint32_t g = networkRandom(network, stream->hop_count);
  const SambaHop *saved = stream->hops;
  stream->hops = hops;

  switch (networkRandom(network, 9)) {
  case 0:
    mutateLane(network, &hops[h].in);
    break;
  case 1:
  case 2:
    mutateLane(network, &hops[h].out);
    break;
  case 3:
    memmove(&hops[h], &hops[h + 1], (--stream->hop_count - h) * sizeof *hops);
    break;
  case 4:
    hops[stream->hop_count++] = hops[h];
    break;
  case 5: {
    SambaSwitchLane swap = hops[h].out;
    hops[h].out = hops[g].out;
    hops[g].out = swap;
    break;
  }
  case 6: {
    uint32_t count = stream->hop_count;
    stream->hops = other->hops;
    stream->hop_count = other->hop_count;
    other->hops = saved;
    other->hop_count = count;
    break;
  }
  case 7:
    *(networkRandom(network, 2) ? &hops[h].x : &hops[h].y) += networkRandom(network, 2) ? 1 : -1;
    break;
  default: {
    uint32_t count = stream->destination_count;
    const SambaEndpoint *ends = stream->destinations;
    stream->destinations = other->destinations;
    stream->destination_count = other->destination_count;
    other->destinations = ends;
    other->destination_count = count;
  }
  }
}

static void noticesCorruptedRoutes(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");
  uint32_t passed = 0, total = 0;

  for (uint32_t variant = 0; variant < 10; ++variant) {
    Network network;
    prepare(&network, &machine, variant);
    SambaSection *section = &network.section;
    assert_true(judge(section, &machine, network.rates));
    SambaStream *saved =
        sambaArenaCopy(&network.arena, section->streams, section->stream_count * sizeof *saved);
    for (uint32_t i = 0; i < 400; ++i, ++total) {
      memcpy(section->streams, saved, section->stream_count * sizeof *saved);
      for (uint32_t k = networkRandom(&network, 3); k < 3 && section->streams[0].hop_count; k += 2)
        mutate(&network);
      bool changed = false, empty = false;
      for (uint32_t s = 0; s < section->stream_count; ++s) {
        changed = changed || memcmp(&section->streams[s], &saved[s], sizeof *saved) != 0;
        empty = empty || section->streams[s].hop_count == 0;
      }
      SambaStatus status = sambaSectionCheckRoutes(section, &machine, network.rates);
      bool legal = status == NULL;
      passed += legal && changed;
      if (legal)
        assert_true(!empty && judge(section, &machine, network.rates));
      else
        assert_int_equal(sambaStatusGetCode(status), SAMBA_INVALID);
      sambaStatusFree(status);
    }
    networkDestroy(&network);
  }

  assert_true(total == 4000 &&
              passed < total / 4); /* lanes and flows of ports renamed, equal hops exchanged */
}

/* Two loads, each to a buffer; mirror images on tiny's top row. */
static void twoStreams(Network *network, const SambaMachine *machine) {
  networkCreate(network, "s");
  for (int i = 0; i < 2; ++i) {
    uint32_t load = networkUnit(network, SAMBA_UNIT_LOAD, "");
    uint32_t buffer = networkUnit(network, SAMBA_UNIT_BUFFER, "");
    network->section.units[load].load_store.ag = i; /* beside (1,0) and (3,0) */
    network->section.units[buffer].x = i ? 1 : 3;
    network->section.units[buffer].y = 0;
    networkLink(network, 600, load, buffer);
  }
  expectOk(sambaSectionPlace(&network->section, machine, network->rates));
  expectOk(sambaSectionRoute(&network->section, machine, network->rates, NULL));
  expectOk(sambaSectionCheckRoutes(&network->section, machine, network->rates));
}

static void namesWhatIsWrong(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  twoStreams(&network, &machine);
  network.section.units[1].x = 2; /* not a PMU */
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: unit 'buffer1': a buffer needs a PMU");
  networkDestroy(&network);

  twoStreams(&network, &machine); /* a flow that ends nowhere */
  --network.section.streams[0].hop_count;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates), "section @s: ");
  networkDestroy(&network);

  twoStreams(&network, &machine); /* hops written under the other stream's name */
  SambaHop *all = SAMBA_ARENA_ARRAY(&network.arena, SambaHop, 16);
  SambaStream *streams = network.section.streams;
  memcpy(all, streams[1].hops, streams[1].hop_count * sizeof *all);
  all[streams[1].hop_count++] = streams[0].hops[1];
  streams[1].hops = all;
  hopsOf(&network, 0)[1] = streams[0].hops[2];
  --streams[0].hop_count;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: stream 0 from load0 output 0 has 2 hops, "
                "but its flow takes 3 switch entries");
  networkDestroy(&network);

  twoStreams(&network, &machine); /* a port that was not asked */
  network.section.streams[0].source.port = 1;
  expectInvalid(
      sambaSectionCheckRoutes(&network.section, &machine, network.rates),
      "section @s: stream 0 was asked from load0 output 1, but is routed from load0 output 0");
  networkDestroy(&network);

  twoStreams(&network, &machine); /* a destination that nobody reaches */
  SambaEndpoint ends[] = {{1, 0}, {1, 7}};
  network.section.streams[0].destinations = ends;
  network.section.streams[0].destination_count = 2;
  expectInvalid(
      sambaSectionCheckRoutes(&network.section, &machine, network.rates),
      "section @s: stream 0 from load0 output 0 reaches 1 destinations, but 2 were asked");
  network.section.streams[0].destinations = &ends[1];
  network.section.streams[0].destination_count = 1;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates), "section @s: ");
  networkDestroy(&network);

  twoStreams(&network, &machine); /* a stream that no port knows */
  network.section.units[0].outputs[0].stream_count = 0;
  network.section.units[1].inputs[0].stream_count = 0;
  network.section.streams[0].hop_count = 0;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: 2 streams were asked, but 1 are routed");
  networkDestroy(&network);
}

/* Streams that end at each other's destinations: the second switch of the row exchanges them. */
static void noticesExchangedDestinations(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "s");
  for (int i = 0; i < 2; ++i)
    networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  for (int i = 0; i < 2; ++i)
    networkLink(&network, 300, pmu, (uint32_t)i);
  expectOk(sambaSectionPlace(&network.section, &machine, network.rates));
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  SambaSwitchLane swap = hopsOf(&network, 0)[0].out;
  hopsOf(&network, 0)[0].out = hopsOf(&network, 1)[0].out;
  hopsOf(&network, 1)[0].out = swap;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: stream 0 from buffer2 output 0 is routed to compute1 input 0, which "
                "was not asked");
  networkDestroy(&network);
}

static void noticesCrowdedLanes(void **state) {
  (void)state;
  SambaMachine machine = networkMachine("tiny");

  Network network;
  networkCreate(&network, "s");
  uint32_t pmu = networkUnit(&network, SAMBA_UNIT_BUFFER, "");
  uint32_t pcu = networkUnit(&network, SAMBA_UNIT_COMPUTE, "");
  network.section.units[pmu].x = network.section.units[pcu].y = 1;
  network.section.units[pmu].y = 0;
  network.section.units[pcu].x = 1;
  for (int i = 0; i < 2; ++i)
    networkLink(&network, 200, pmu, pcu);
  expectOk(sambaSectionRoute(&network.section, &machine, network.rates, NULL));
  for (int i = 0; i < 2; ++i) { /* straight down, both on lane 0 of the link, ports apart */
    SambaHop *hops = SAMBA_ARENA_ARRAY(&network.arena, SambaHop, 2);
    uint16_t flow = (uint16_t)i;
    uint8_t lane = (uint8_t)i;
    hops[0] = (SambaHop){1, 0, {SAMBA_SWITCH_UNIT, lane, 0, 0}, {SAMBA_SWITCH_SOUTH, 0, flow, 0}};
    hops[1] = (SambaHop){1, 1, {SAMBA_SWITCH_NORTH, 0, flow, 0}, {SAMBA_SWITCH_UNIT, lane, 0, 0}};
    network.section.streams[i].hops = hops;
    network.section.streams[i].hop_count = 2;
  }

  expectOk(sambaSectionCheckRoutes(&network.section, &machine, network.rates));
  network.rates[1] = 801;
  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: link (1,0) south vector lane 0 carries 2 streams of 1.01 in all, "
                "expected at most 1: "
                "buffer0 -> compute1; buffer0 -> compute1");
  for (int i = 0; i < 2; ++i) { /* now apart on the link, together at the unit */
    hopsOf(&network, (uint32_t)i)[0].out.lane = hopsOf(&network, (uint32_t)i)[1].in.lane =
        (uint8_t)i;
    hopsOf(&network, (uint32_t)i)[1].out.lane = 3;
    hopsOf(&network, (uint32_t)i)[1].out.flow = (uint16_t)i;
  }

  expectInvalid(sambaSectionCheckRoutes(&network.section, &machine, network.rates),
                "section @s: unit compute1 vector input 3 carries 2 streams of 1.01 in all, "
                "expected at most 1: ");
  networkDestroy(&network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noticesCorruptedRoutes), cmocka_unit_test(namesWhatIsWrong),
      cmocka_unit_test(noticesExchangedDestinations), cmocka_unit_test(noticesCrowdedLanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
