/* Crowded channels; see crowding.h. */
#include "backend/estimate/crowding.h"

#include "backend/estimate/unit_law.h"
#include "backend/section/access.h"

#include <math.h>
#include <stdlib.h>

/* Places of a channel that are looked at: a streak of so many ends in a crowd, if there is one. */
enum { placesPerChannel = 16 };

/* A channel has so many standard deviations more than its part when requests come at random. */
static const double randomDeviations = 3;

typedef struct Channels {
  uint64_t count;
  bool is_power;
  uint32_t shift; /* log2 of count */
  uint32_t *places;
} Channels;

/* Higher digits of the address are folded into the number of a channel (docs/timing-model.md,
 * "Memory"). */
static uint64_t channelOf(const Channels *channels, uint64_t place) {
  if (!channels->is_power)
    return place % channels->count;
  uint64_t channel = 0;
  for (; place; place >>= channels->shift)
    channel ^= place & (channels->count - 1);
  return channel;
}

/* Counts the first places that a load or store asks for, run by run, `most` of them. */
static void countPlaces(Channels *channels, const SambaUnit *unit, const SambaMemoryLaw *law,
                        uint64_t most, const SambaMachine *machine) {
  bool load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
  const SambaAccess *access = &port->access;
  int64_t element = sambaDTypeBytes(port->dtype);
  uint64_t place = (uint64_t)machine->dram_interleave_bytes;
  uint32_t at[SAMBA_MAX_COUNTERS] = {0};
  int64_t address = access->base;

  for (uint64_t seen = 0; seen < most;) {
    uint64_t first = (uint64_t)(address > 0 ? address * element : 0);
    uint64_t last = first + (uint64_t)fmax(0, law->run - 1);
    for (uint64_t p = first / place; p <= last / place && seen < most; ++p, ++seen)
      ++channels->places[channelOf(channels, p)];
    uint32_t c = law->level;
    while (c-- > 0) {
      address += access->strides[c];
      if (++at[c] < access->trips[c])
        break;
      address -= access->strides[c] * (int64_t)access->trips[c];
      at[c] = 0;
    }
    if (c == UINT32_MAX)
      break;
  }
}

double sambaMemoryCrowding(const SambaSection *section, const SambaTwins *twins, uint32_t unit,
                           const SambaMachine *machine) {
  const SambaUnit *first = &section->units[unit];
  const SambaPort *port = first->kind == SAMBA_UNIT_LOAD ? &first->outputs[0] : &first->inputs[0];
  int64_t count = machine->hbm_channels > 0 ? machine->hbm_channels : machine->ddr_channels;
  if (port->access.has_index || count < 2)
    return 1;

  Channels channels = {.count = (uint64_t)count, .is_power = (count & (count - 1)) == 0};
  while ((UINT64_C(1) << channels.shift) < channels.count)
    ++channels.shift;
  channels.places = sambaAllocateZeroed(channels.count, sizeof *channels.places);
  SambaMemoryLaw law = sambaMemoryLaw(section, first, machine);
  uint64_t most = channels.count * placesPerChannel / twins->count[unit];
  for (uint32_t u = 0; u < section->unit_count; ++u)
    if (twins->of[u] == unit)
      countPlaces(&channels, &section->units[u], &law, most ? most : 1, machine);

  double all = 0, crowd = 0;
  for (uint64_t c = 0; c < channels.count; ++c) {
    all += channels.places[c];
    crowd = fmax(crowd, channels.places[c]);
  }
  free(channels.places);
  double mean = all / (double)channels.count;
  double more = crowd - ceil(mean) - randomDeviations * sqrt(mean);
  return mean > 0 ? 1 + fmax(0, more) / mean : 1;
}
