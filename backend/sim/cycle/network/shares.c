/* Shares; see shares.h. */
#include "backend/sim/cycle/network/shares.h"

#include "backend/section/access.h"

#include <stdlib.h>

/* A line before several branches is no FIFO (network.c, passedCycles). */
static bool isFifo(const SambaNetwork *network, uint32_t index) {
  return network->fifos[index].slots != NULL;
}

/* ---- Islands ---- */

/* Members of one island hang on each other: FIFOs, and behind them units. */
typedef struct Islands {
  uint32_t *hangs_on; /* itself: it stands for its island */
  uint32_t fifo_count;
} Islands;

static uint32_t islandOf(const Islands *islands, uint32_t member) {
  while (islands->hangs_on[member] != member) {
    islands->hangs_on[member] = islands->hangs_on[islands->hangs_on[member]];
    member = islands->hangs_on[member];
  }
  return member;
}
static void join(const Islands *islands, uint32_t a, uint32_t b) {
  islands->hangs_on[islandOf(islands, a)] = islandOf(islands, b);
}

/* Loads and stores are on no island: they are stepped before. */
static void joinToUnits(const Islands *islands, const SambaNetwork *network, uint32_t index) {
  const SambaFifo *fifo = &network->fifos[index];
  if (fifo->fed_by_unit && !fifo->from_memory)
    join(islands, index, islands->fifo_count + fifo->from);
  if (!fifo->branch_count && !fifo->to_memory && fifo->taker != SAMBA_NO_INDEX)
    join(islands, index, islands->fifo_count + fifo->taker);
  if (!fifo->fed_by_unit && fifo->is_link)
    join(islands, index, fifo->from);
}

/* Units whose streams leave by the same port take turns there. */
static void joinAtEntrances(const Islands *islands, const SambaNetwork *network,
                            const SambaSection *section) {
  uint32_t *first = sambaAllocate(sambaArraySize(network->entrance_count, sizeof *first));
  for (uint32_t e = 0; e < network->entrance_count; ++e)
    first[e] = SAMBA_NO_INDEX;
  for (uint32_t s = 0; s < network->stream_count; ++s) {
    uint32_t entrance = network->streams[s].entrance, unit = section->streams[s].source.unit;
    if (entrance == SAMBA_NO_INDEX || sambaUnitIsAddressGenerator(&section->units[unit]))
      continue;
    if (first[entrance] == SAMBA_NO_INDEX)
      first[entrance] = unit;
    join(islands, islands->fifo_count + unit, islands->fifo_count + first[entrance]);
  }
  free(first);
}

/* A way over a lane knows of the vector before it and of the room behind it. When units change
 * either, the two ends are joined. */
static void joinOverLanes(const Islands *islands, const SambaNetwork *network,
                          const SambaSection *section) {
  bool *has_units = sambaAllocateZeroed(islands->fifo_count + section->unit_count, sizeof(bool));
  for (uint32_t u = 0; u < section->unit_count; ++u)
    has_units[islandOf(islands, islands->fifo_count + u)] = true;
  for (uint32_t f = 0; f < network->fifo_count; ++f) {
    const SambaFifo *fifo = &network->fifos[f];
    if (isFifo(network, f) && !fifo->fed_by_unit && !fifo->is_link &&
        has_units[islandOf(islands, f)] && has_units[islandOf(islands, fifo->from)])
      join(islands, f, fifo->from);
  }
  free(has_units);
}

/* What a unit is to the host, roughly. */
static uint32_t weightOf(const SambaUnit *unit) {
  return sambaUnitIsAddressGenerator(unit) ? 0 : unit->input_count + unit->output_count;
}

/* A unit, and where it stands. */
typedef struct Place {
  int32_t x, y;
  uint32_t unit;
} Place;

static int comparePlaces(const void *a, const void *b) {
  const Place *one = a, *other = b;
  if (one->x != other->x)
    return one->x < other->x ? -1 : 1;
  if (one->y != other->y)
    return one->y < other->y ? -1 : 1;
  return (one->unit > other->unit) - (one->unit < other->unit);
}

/* Deals islands, those to the west first: the host's cores pass few lines of their caches to each
 * other when neighbours are in one share. */
static void dealIslands(const Islands *islands, const SambaSection *section, uint32_t count,
                        uint8_t *shares) {
  uint32_t members = islands->fifo_count + section->unit_count;
  Place *places = sambaAllocate(sambaArraySize(section->unit_count, sizeof *places));
  uint64_t *weights = sambaAllocateZeroed(members, sizeof *weights), all = 0, dealt = 0;
  uint8_t *share_of = sambaAllocateZeroed(members, sizeof *share_of); /* of an island: share + 1 */
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    places[u] = (Place){unit->x, unit->y, u};
    weights[islandOf(islands, islands->fifo_count + u)] += weightOf(unit);
    all += weightOf(unit);
  }

  qsort(places, section->unit_count, sizeof *places, comparePlaces);
  for (uint32_t i = 0; i < section->unit_count; ++i) {
    uint32_t island = islandOf(islands, islands->fifo_count + places[i].unit);
    if (!share_of[island]) {
      uint64_t share = all ? dealt * count / all : 0;
      share_of[island] = (uint8_t)(1 + (share < count ? share : count - 1));
      dealt += weights[island];
    }
    shares[places[i].unit] = share_of[island] - 1;
  }
  free(places);
  free(weights);
  free(share_of);
}

const uint8_t *sambaSharesOfUnits(const SambaNetwork *network, uint32_t count, SambaArena *arena,
                                  const SambaSection *section) {
  uint32_t members = network->fifo_count + section->unit_count;
  uint32_t *hangs_on = sambaAllocate(sambaArraySize(members, sizeof *hangs_on));
  Islands islands = {hangs_on, network->fifo_count};
  for (uint32_t member = 0; member < members; ++member)
    hangs_on[member] = member;
  for (uint32_t f = 0; f < network->fifo_count; ++f)
    if (isFifo(network, f))
      joinToUnits(&islands, network, f);
  joinAtEntrances(&islands, network, section);
  joinOverLanes(&islands, network, section);

  uint8_t *shares = SAMBA_ARENA_ARRAY(arena, uint8_t, section->unit_count);
  dealIslands(&islands, section, count, shares);
  free(hangs_on);
  return shares;
}

/* ---- Lanes and streams ---- */

/* Most of the units that a stream joins are in this share: it goes there. */
static uint8_t shareOfStream(const SambaSection *section, const SambaStream *stream,
                             const uint8_t *unit_shares) {
  uint32_t ends[SAMBA_TEAM_MOST] = {0};
  uint8_t most = 0;
  for (uint32_t e = 0; e <= stream->destination_count; ++e) {
    uint32_t unit = e ? stream->destinations[e - 1].unit : stream->source.unit;
    ends[unit_shares[unit]] += !sambaUnitIsAddressGenerator(&section->units[unit]);
  }
  for (uint8_t share = 1; share < SAMBA_TEAM_MOST; ++share)
    most = ends[share] > ends[most] ? share : most;
  return most;
}

/* The share that moves what crosses, per crossing. */
static const uint8_t *dealStreams(const SambaNetwork *network, SambaArena *arena,
                                  const SambaSection *section, const uint8_t *unit_shares) {
  uint8_t *of_fifo = sambaAllocateZeroed(network->fifo_count, sizeof *of_fifo);
  uint8_t *shares = SAMBA_ARENA_ARRAY(arena, uint8_t, network->crossing_count);
  for (uint32_t s = 0; s < network->stream_count; ++s)
    of_fifo[network->streams[s].first.fifo] =
        shareOfStream(section, &section->streams[s], unit_shares);

  for (uint32_t f = 0; f < network->fifo_count; ++f) {
    const SambaFifo *fifo = &network->fifos[f];
    if (!isFifo(network, f) || fifo->fed_by_unit)
      continue;
    of_fifo[f] = of_fifo[fifo->from]; /* which comes before it */
    if (network->ways[f].crossing != SAMBA_NO_INDEX)
      shares[network->ways[f].crossing] = of_fifo[f];
  }
  free(of_fifo);
  return shares;
}

/* The share whose streams have most crossings in a word. */
static uint8_t shareOfWord(const SambaNetwork *network, const uint8_t *share_of, uint32_t word) {
  uint32_t crossings[SAMBA_TEAM_MOST] = {0};
  uint8_t most = 0;
  for (uint32_t c = word * 64; share_of && c < (word + 1) * 64; ++c)
    if (network->ways[network->crossings[c].way].crossing == c)
      ++crossings[share_of[c]];
  for (uint8_t share = 1; share < SAMBA_TEAM_MOST; ++share)
    most = crossings[share] > crossings[most] ? share : most;
  return most;
}

/* Deals the words of crossings. A lane with words of its own stays together. */
static void dealWords(SambaNetwork *const *shares, uint32_t count, SambaArena *arena) {
  uint32_t words = shares[0]->crossing_count / 64;
  uint32_t *lists[SAMBA_TEAM_MOST];
  for (uint32_t s = 0; s < count; ++s)
    shares[s]->words = lists[s] = SAMBA_ARENA_LINES(arena, uint32_t, words);
  uint8_t share = 0;
  for (uint32_t w = 0; w < words; ++w) {
    const SambaLanes *lanes = &shares[0]->lanes[w];
    if (lanes->size <= SAMBA_LANES_LARGEST || lanes->firsts)
      share = shareOfWord(shares[0], shares[0]->share_of, w);
    lists[share][shares[share]->word_count++] = w;
  }
}

/* Room for what a share's lanes choose, and for what crosses. */
static void makeLists(SambaNetwork *network, SambaArena *arena) {
  enum { lists = SAMBA_TEAM_MOST * SAMBA_WAY_SORTS };
  uint32_t room[lists] = {0};
  for (uint32_t i = 0; i < network->word_count; ++i)
    for (uint32_t c = network->words[i] * 64; c < (network->words[i] + 1) * 64; ++c)
      ++room[(network->share_of ? network->share_of[c] : 0) * SAMBA_WAY_SORTS +
             network->crossings[c].sort];
  for (uint32_t list = 0; list < network->share_count * SAMBA_WAY_SORTS; ++list)
    network->chosen[list] = SAMBA_ARENA_LINES(arena, uint32_t, room[list]);
  network->passages = SAMBA_ARENA_LINES(arena, uint32_t, network->lane_count);
  network->listed = SAMBA_ARENA_LINES(arena, uint32_t, network->fifo_count);
}

void sambaSharesOfLanes(SambaNetwork *const *shares, uint32_t count, SambaArena *arena,
                        const SambaSection *section, const uint8_t *unit_shares) {
  shares[0]->shares = shares;
  shares[0]->share_count = count;
  if (unit_shares)
    shares[0]->share_of = dealStreams(shares[0], arena, section, unit_shares);
  for (uint32_t s = 0; s < count; ++s) {
    SambaClock *clock = shares[s]->clock;
    *shares[s] = *shares[0];
    shares[s]->clock = clock;
    shares[s]->share = s;
  }
  dealWords(shares, count, arena);
  for (uint32_t s = 0; s < count; ++s)
    makeLists(shares[s], arena);
}
