/* What crowded links cost; see link_pace.h. */
#include "backend/estimate/link_pace.h"

#include "backend/estimate/stream_rates.h"
#include "support/base/memory.h"

#include <math.h>

/* Up to these shares of what links carry, streams find lanes of which they have enough. What is
 * beyond makes them wait for each other and costs so many times its share: all bursts are given up
 * where they find no lanes, wishes little by little. In 94 sections of Llama, BERT, GPT-2,
 * ResNet-50 and products those with less took 4% longer than predicted without this, those whose
 * bursts wanted 0.11 to 0.13 of the lanes 9%, 0.14 to 0.17 20%, and those whose wishes wanted 0.14
 * to 0.18 8%. */
static const double freeBursts = 0.10, lostBursts = 3, freeWishes = 0.12, lostWishes = 1;

SambaLinkShares sambaSectionLinkShares(const SambaSection *section, const SambaMachine *machine,
                                       double busiest) {
  SambaArena arena = {0};
  const uint32_t *rates = sambaSectionRatesIn(section, machine, busiest, &arena);
  const uint32_t *bursts = sambaSectionBurstRates(section, machine, rates, true, &arena);
  const uint32_t *wishes = sambaSectionWishedRates(section, rates, &arena);
  SambaLinkShares carried = {0}; /* permille of a lane */
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if (stream->kind != SAMBA_STREAM_VECTOR)
      continue;
    carried.bursts += (double)bursts[s] * stream->destination_count;
    carried.wishes += (double)wishes[s] * stream->destination_count;
  }
  sambaArenaDestroy(&arena);

  enum { sides = 4 };
  double lanes = sides * (double)machine->vector_lanes * (double)sambaMachineSiteCount(machine);
  return (SambaLinkShares){carried.bursts / 1000 / lanes, carried.wishes / 1000 / lanes};
}

double sambaSectionLinkPace(const SambaSection *section, const SambaMachine *machine,
                            double busiest) {
  if (machine->network == SAMBA_NETWORK_IDEAL)
    return 1;
  SambaLinkShares shares = sambaSectionLinkShares(section, machine, busiest);
  return 1 + lostBursts * fmax(0, shares.bursts - freeBursts) +
         lostWishes * fmax(0, shares.wishes - freeWishes);
}
