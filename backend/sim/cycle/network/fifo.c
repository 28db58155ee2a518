/* FIFOs; see fifo.h. */
#include "backend/sim/cycle/network/fifo.h"

void sambaFifoCountFrom(SambaFifo *fifo, uint64_t passed) {
  for (uint32_t number = 0; number <= fifo->mask; ++number) {
    uint16_t *when = sambaFifoSlot(fifo, number);
    *when = *when > passed ? (uint16_t)(*when - passed) : 0;
  }
}
