/* Bookings of what flows share; see booking.h. */
#include "backend/sim/timing/engine/booking.h"

static uint64_t remaining(const SambaFlow *flow, uint64_t now) {
  if (flow->end <= now)
    return 0;
  if (flow->begin >= now)
    return flow->cycles;
  return sambaTimeScale(flow->cycles, flow->end - now, flow->end - flow->begin);
}

const SambaFlow *sambaShareBook(SambaShare *share, uint32_t index, uint64_t now, uint64_t cycles) {
  SambaFlow *flow = &share->flows[index];
  uint64_t own = remaining(flow, now) + cycles;
  uint64_t end = now + own + flow->owed;
  share->free = sambaTimeMax(share->free, now) + cycles;

  /* In their turns, others get as many cycles as this one. What they did not reckon with when they
   * booked they are owed. */
  for (uint32_t f = 0; f < share->flow_count; ++f) {
    if (f == index || share->flows[f].end <= now)
      continue;
    uint64_t other = remaining(&share->flows[f], now);
    end += sambaTimeMin(own, other);
    share->flows[f].owed += sambaTimeMin(cycles, other);
  }
  end = sambaTimeMin(end, share->free);
  *flow = (SambaFlow){.begin = now, .end = end, .cycles = own};
  return flow;
}
