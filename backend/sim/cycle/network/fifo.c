/* FIFOs; see fifo.h. */
#include "backend/sim/cycle/network/fifo.h"

void sambaFifoCountFrom(SambaFifo *fifo, uint64_t cycle) {
  uint64_t passed = cycle - fifo->since; /* cycles that are not counted any more */
  uint32_t count = fifo->depth * (fifo->branch_count > 1 ? 2 : 1);
  for (uint32_t slot = 0; slot < count; ++slot)
    fifo->when[slot] = fifo->when[slot] > passed ? (uint16_t)(fifo->when[slot] - passed) : 0;
  fifo->since = (uint32_t)cycle;
}
