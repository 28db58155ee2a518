/* FIFOs of the cycle engine: which slot belongs to which vector, and what is left of cycles when
 * they are counted from a later one. */
#include "backend/sim/cycle/network/fifo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void numbersWrap(void **state) {
  (void)state;
  SambaFifo fifo = {.depth = 3, .mask = SAMBA_FIFO_NEAR - 1, .head = 65534, .tail = 65534};
  fifo.slots = fifo.near;
  for (uint32_t n = 0; n < 3; ++n) {
    assert_false(sambaFifoIsFull(&fifo));
    *sambaFifoSlot(&fifo, fifo.tail) = (uint16_t)(10 + n);
    ++fifo.tail;
    assert_int_equal(sambaFifoCount(&fifo), n + 1);
  }
  assert_true(sambaFifoIsFull(&fifo));
  assert_int_equal(fifo.tail, 1);

  /* Numbers 65534, 65535 and 0, in this order. */
  for (uint32_t n = 0; n < 3; ++n)
    assert_int_equal(*sambaFifoSlot(&fifo, fifo.head + n), 10 + n);
  assert_ptr_equal(sambaFifoSlot(&fifo, fifo.head + 2u), &fifo.near[0]);
}

static void endOfChainIsInReach(void **state) {
  (void)state;
  SambaFifo fifo = {.depth = 48, .mask = 63, .tail = 20, .is_chain = true};
  fifo.chain.end_depth = 16;
  assert_int_equal(sambaFifoInReach(&fifo), 16);
  assert_true(sambaFifoEndIsFull(&fifo));
  assert_false(sambaFifoIsFull(&fifo));
  fifo.head = 5;
  assert_int_equal(sambaFifoInReach(&fifo), 15);
  assert_false(sambaFifoEndIsFull(&fifo));
}

static void pastCyclesAreOver(void **state) {
  (void)state;
  SambaFifo fifo = {.depth = 4, .mask = SAMBA_FIFO_NEAR - 1};
  fifo.slots = fifo.near;
  fifo.near[0] = 99;
  fifo.near[1] = 100;
  fifo.near[SAMBA_FIFO_NEAR - 1] = 65535;
  sambaFifoCountFrom(&fifo, 100);
  assert_int_equal(fifo.near[0], 0);
  assert_int_equal(fifo.near[1], 0);
  assert_int_equal(fifo.near[SAMBA_FIFO_NEAR - 1], 65435);
  sambaFifoCountFrom(&fifo, 1 << 20);
  assert_int_equal(fifo.near[SAMBA_FIFO_NEAR - 1], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbersWrap),
      cmocka_unit_test(endOfChainIsInReach),
      cmocka_unit_test(pastCyclesAreOver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
