/* How elements lie in blocks; see block_layout.h. */
#include "backend/sim/value/stream/block_layout.h"

bool sambaBlockLayoutCompose(const SambaUnit *unit, const SambaPort *port,
                             const SambaBlockLayout *layout, int64_t *out_strides) {
  for (uint32_t c = 0; c < unit->compute.counter_count; ++c)
    out_strides[c] = layout->rank ? 0 : port->compute.strides[c];
  int64_t place = 1;

  /* From the innermost dimension outwards: the counters that walk this dimension. */
  for (uint32_t d = layout->rank; d-- > 0;) {
    const int64_t trip = (int64_t)layout->trips[d];
    const int64_t next = place * trip;
    int64_t high = 0;
    for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
      const int64_t stride = port->compute.strides[c];
      const int64_t steps = (int64_t)unit->compute.trips[c] - 1;
      if (stride == 0 || steps == 0 || stride < place || (d > 0 && stride >= next))
        continue;
      if (stride % place)
        return false;
      const int64_t q = stride / place;
      out_strides[c] = q * layout->strides[d];
      high += q * steps;
    }
    if (high >= trip)
      return false;
    place = next;
  }

  return true;
}
