/* FIFOs; see fifo.h. */
#include "backend/sim/cycle/network/fifo.h"

void sambaFifoCountFrom(SambaFifo *fifo, uint64_t cycle) {
  uint64_t passed = cycle - fifo->since; /* cycles that are not counted any more */
  uint16_t *when = sambaFifoSlots(fifo);
  for (uint32_t slot = 0; slot < fifo->depth; ++slot)
    when[slot] = when[slot] > passed ? (uint16_t)(when[slot] - passed) : 0;
  fifo->since = (uint32_t)cycle;
}
