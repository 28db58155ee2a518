/* One DRAM channel alone: when requests are served, worked out by hand from the machine's
 * picoseconds.
 *
 * The machine has a clock of 1 GHz (a cycle is 1000 ps), bursts of 64 B in 4 cycles, tRCD = tRP =
 * tCL = 10, tRAS = 30.
 */
#include "backend/sim/timing/dram/dram.h"
#include "test/backend/sim/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct Trace {
  uint32_t count;
  uint32_t slots[64];
  uint64_t first[64], last[64];
} Trace;

static void record(void *user, uint32_t owner, uint32_t slot, SambaDramTimes times) {
  Trace *trace = user;
  (void)owner;
  trace->slots[trace->count] = slot;
  trace->first[trace->count] = sambaDramBurstDone(times, 0);
  trace->last[trace->count++] = sambaDramBurstDone(times, times.bursts - 1);
}

static SambaMachine dramMachine(void) {
  SambaMachine m = testMachine("tiny");
  m.clock_hz = 1000000000;
  m.hbm_bytes = 0;
  m.hbm_channels = m.hbm_channel_mbps = 0;
  m.ddr_bytes = INT64_C(1) << 32;
  m.ddr_channels = 1;
  m.ddr_channel_mbps = 16000;
  m.dram_banks = 4;
  m.dram_trcd_ps = m.dram_trp_ps = m.dram_tcl_ps = 10000;
  m.dram_tras_ps = 30000;
  m.dram_turnaround_ps = 6000;
  m.dram_refresh_ps = 0;
  m.dram_window = 8;
  m.dram_write_high = 4;
  m.dram_write_low = 1;

  return m;
}

static SambaDramRequest request(uint64_t arrival, uint32_t bank, uint64_t row, uint32_t bursts,
                                bool write, uint32_t slot) {
  return (SambaDramRequest){
      .arrival = arrival, .row = row, .bank = bank, .bursts = bursts, .write = write, .slot = slot};
}

static void submit(SambaDram *dram, uint32_t channel, const SambaDramRequest *request) {
  SambaDramRequest *entered;
  sambaDramEnter(dram, channel, request->arrival, request->order, request->write, &entered);
  *entered = *request;
}

/* Submits all and runs the channel until it is idle. */
static void run(SambaDram *dram, const SambaDramRequest *requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    submit(dram, 0, &requests[i]);
  uint64_t now = dram->channels[0].scheduled;
  while (now != SAMBA_TIME_UNKNOWN)
    now = sambaDramAdvance(dram, 0, now);
}

static void checkTrace(const Trace *trace, uint32_t count, const uint32_t *slots,
                       const uint64_t *first, const uint64_t *last) {
  assert_int_equal(trace->count, count);
  for (uint32_t i = 0; i < count; ++i) {
    assert_int_equal(trace->slots[i], slots[i]);
    assert_int_equal(trace->first[i], first[i]);
    assert_int_equal(trace->last[i], last[i]);
  }
}

static void withDram(const SambaMachine *machine, const SambaDramRequest *requests, uint32_t count,
                     Trace *trace, SambaDram *out_counters) {
  SambaArena arena = {0};
  SambaDram dram;
  *trace = (Trace){0};
  sambaDramInit(&dram, &arena, machine, record, trace);
  run(&dram, requests, count);
  *out_counters = dram;
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

static void testRows(void **state) {
  (void)state;
  SambaMachine m = dramMachine();

  Trace trace;
  SambaDram dram;

  /* Closed bank: activate 10, column 10, then two bursts of 4. Hit in the open row: the bus is free
   * at 128. Other bank: its activate hides behind the transfers. */
  SambaDramRequest rows[] = {request(100, 0, 7, 2, false, 0), request(100, 0, 7, 2, false, 1),
                             request(100, 1, 7, 1, false, 2)};
  withDram(&m, rows, 3, &trace, &dram);
  checkTrace(&trace, 3, (uint32_t[]){0, 1, 2}, (uint64_t[]){124, 132, 140},
             (uint64_t[]){128, 136, 140});
  assert_int_equal(dram.row_hits, 3);
  assert_int_equal(dram.row_misses, 2);
  assert_int_equal(dram.read_bytes, 5 * 64);

  /* Conflict: the row has to be open 30 cycles, precharge 10, activate 10, column 10. */
  SambaDramRequest conflict[] = {request(100, 0, 7, 1, false, 0), request(101, 0, 8, 1, false, 1)};
  withDram(&m, conflict, 2, &trace, &dram);
  checkTrace(&trace, 2, (uint32_t[]){0, 1}, (uint64_t[]){124, 164}, (uint64_t[]){124, 164});
}

static void testFirstReadyFirstComeFirstServed(void **state) {
  (void)state;
  SambaMachine m = dramMachine();

  Trace trace;
  SambaDram dram;

  /* The second request closes the row; the third hits it and goes first. */
  SambaDramRequest requests[] = {request(100, 0, 7, 1, false, 0), request(101, 0, 8, 1, false, 1),
                                 request(102, 0, 7, 1, false, 2)};
  withDram(&m, requests, 3, &trace, &dram);
  assert_int_equal(trace.slots[0], 0);
  m.dram_window = 1; /* a window of one is first come, first served */
  Trace strict;
  withDram(&m, requests, 3, &strict, &dram);
  checkTrace(&strict, 3, (uint32_t[]){0, 1, 2}, (uint64_t[]){124, 164, 204},
             (uint64_t[]){124, 164, 204});

  /* Requests that wait together: hits first, then the conflict. */
  SambaDramRequest waiting[] = {request(100, 0, 7, 16, false, 0), request(110, 0, 8, 1, false, 1),
                                request(111, 0, 7, 1, false, 2)};
  m.dram_window = 8;
  withDram(&m, waiting, 3, &trace, &dram);
  assert_int_equal(trace.slots[1], 2);
  assert_int_equal(trace.slots[2], 1);
}

static void testTurnaroundAndWriteDraining(void **state) {
  (void)state;
  SambaMachine m = dramMachine();

  Trace trace;
  SambaDram dram;

  /* A write is acknowledged when it finds room in the queue; reads go first, then the bus turns
   * around (6 cycles). */
  SambaDramRequest two[] = {request(100, 0, 7, 1, false, 0), request(100, 0, 7, 1, true, 1)};
  withDram(&m, two, 2, &trace, &dram);
  checkTrace(&trace, 2, (uint32_t[]){1, 0}, (uint64_t[]){100, 124}, (uint64_t[]){100, 124});
  assert_int_equal(sambaDramLastWrite(&dram), 124 + 6 + 4);
  assert_int_equal(dram.write_bytes, 64);

  /* Four queued writes force draining to one while reads wait; a fifth is only
   * acknowledged then. */
  SambaDramRequest many[10];
  for (uint32_t i = 0; i < 5; ++i) {
    many[i] = request(100, 0, 7, 1, true, i);
    many[5 + i] = request(100, 1, 7, 1, false, 5 + i);
  }

  withDram(&m, many, 10, &trace, &dram);
  assert_int_equal(trace.count, 10);
  for (uint32_t i = 0; i < 4; ++i)
    assert_int_equal(trace.last[i], 100);
  assert_int_equal(trace.slots[4], 4);
  assert_true(trace.last[5] > 120 + 3 * 4);
}

/* More writes than the queue holds all the while: a read does not wait for all of them, but for a
 * turn of a window (8 bursts), and then so do the writes. */
static void testReadsAndWritesTakeTurns(void **state) {
  (void)state;
  SambaMachine m = dramMachine();
  enum { writes = 24, reads = 12 };
  SambaDramRequest many[writes + reads];
  Trace trace;
  SambaDram dram;
  for (uint32_t i = 0; i < writes; ++i)
    many[i] = request(100, 0, 7, 1, true, i);
  for (uint32_t i = 0; i < reads; ++i)
    many[writes + i] = request(101, 1, 7, 1, false, 100 + i);

  withDram(&m, many, writes + reads, &trace, &dram);
  uint64_t read_at[reads];
  for (uint32_t i = 0, read = 0; i < trace.count; ++i)
    if (trace.slots[i] >= 100)
      read_at[read++] = trace.last[i];
  uint64_t turn = 8 * 4 + 2 * 6; /* of the writes: 8 bursts, and the bus turns around twice */
  assert_in_range(read_at[0], 100 + 8 * 4, 100 + turn + 40);
  assert_int_equal(read_at[7] - read_at[0], 7 * 4);
  assert_in_range(read_at[8] - read_at[7], turn, turn + 4 + 20);
}

static void testRefreshClosesRows(void **state) {
  (void)state;
  SambaMachine m = dramMachine();

  m.dram_refresh_ps = 100000;           /* 100 cycles */
  m.dram_refresh_interval_ps = 1000000; /* bank 0 at cycle 1000 and 5000, bank 1 at 2000, ... */
  Trace trace;
  SambaDram dram;
  SambaDramRequest requests[] = {request(100, 0, 7, 1, false, 0), request(900, 0, 7, 1, false, 1),
                                 request(1050, 0, 7, 1, false, 2), request(1950, 1, 7, 1, false, 3),
                                 request(3000, 1, 7, 1, false, 4)};
  withDram(&m, requests, 5, &trace, &dram);

  /* Hit at 900: column 10 and transfer 4. At 1050 the refresh lasts until 1100, then activate and
   * column. Bank 1: closed by the refresh at 2000. */
  checkTrace(&trace, 5, (uint32_t[]){0, 1, 2, 3, 4}, (uint64_t[]){124, 914, 1124, 1974, 3024},
             (uint64_t[]){124, 914, 1124, 1974, 3024});
}

/* A thousand refreshes of each bank later only the last one counts. */
static void testRefreshesOfAnIdleChannel(void **state) {
  (void)state;
  SambaMachine m = dramMachine();
  m.dram_refresh_ps = 100000;           /* 100 cycles */
  m.dram_refresh_interval_ps = 1000000; /* bank 0 at cycles 1000 + 4000 n, bank 1 at 2000 + ... */
  Trace trace;
  SambaDram dram;
  SambaDramRequest requests[] = {request(100, 0, 7, 1, false, 0), request(100, 1, 7, 1, false, 1),
                                 request(4001050, 0, 7, 1, false, 2),
                                 request(4001050, 1, 7, 1, false, 3)};
  withDram(&m, requests, 4, &trace, &dram);

  /* Both rows are closed; bank 0 is at work until 4001100, bank 1 has been for long. */
  checkTrace(&trace, 4, (uint32_t[]){0, 1, 3, 2}, (uint64_t[]){124, 128, 4001074, 4001124},
             (uint64_t[]){124, 128, 4001074, 4001124});
  assert_int_equal(dram.row_misses, 4);
}

/* Three channels and three banks: nothing is folded. */
static void testAddressMapWithoutPowers(void **state) {
  (void)state;
  SambaMachine m = dramMachine();
  m.ddr_channels = 3;
  m.dram_banks = 3;
  m.dram_interleave_bytes = 256;
  m.dram_row_bytes = 1024;
  SambaArena arena = {0};
  SambaDram dram;
  sambaDramInit(&dram, &arena, &m, record, NULL);
  for (uint64_t unit = 0; unit < 1000; ++unit) {
    SambaDramPlace place = sambaDramLocate(&dram, unit * 256 + 192);
    uint64_t page = unit / 3 / 4;
    assert_int_equal(place.channel, unit % 3);
    assert_int_equal(place.bank, page % 3);
    assert_int_equal(place.row, page / 3);
    assert_int_equal(place.bursts, 1);
  }
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

static void testAddressMap(void **state) {
  (void)state;
  SambaMachine m = testMachine("sn40l");
  SambaArena arena = {0};
  SambaDram dram;

  Trace trace = {0};
  sambaDramInit(&dram, &arena, &m, record, &trace);
  assert_int_equal(dram.channel_count, 64 + 8 + 1); /* the last one is the host */

  /* 64 consecutive interleave units take each channel once; HBM comes first, DDR after it. */
  uint64_t seen = 0;
  for (uint64_t unit = 0; unit < 64; ++unit) {
    SambaDramPlace place = sambaDramLocate(&dram, 0x123400000 + unit * 256);
    assert_true(place.channel < 64);
    assert_int_equal(place.bursts, 4);
    seen |= UINT64_C(1) << place.channel;
  }

  assert_true(seen == UINT64_MAX);
  SambaDramPlace place = sambaDramLocate(&dram, (uint64_t)m.hbm_bytes + 64);
  assert_true(place.channel >= 64);
  assert_int_equal(place.bursts, 3);
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

/* Host memory: a link of 16 GB/s with 200 ns of latency, so a burst of 64 B lasts 4 cycles; rows,
 * refresh and other channels have no part in it. */
static void testHostMemory(void **state) {
  (void)state;
  SambaMachine machine = dramMachine();
  machine.host_mbps = 16000;
  machine.host_latency_ns = 200;
  machine.dram_refresh_ps = 100000;
  SambaArena arena = {0};
  SambaDram dram;
  Trace trace = {0};
  sambaDramInit(&dram, &arena, &machine, record, &trace);

  uint64_t host = (uint64_t)machine.ddr_bytes;
  assert_int_equal(sambaDramLocate(&dram, host - 64).channel, 0);
  SambaDramPlace place = sambaDramLocate(&dram, host);
  assert_int_equal(place.channel, 1);
  assert_int_equal(sambaDramLocate(&dram, host + (UINT64_C(1) << 40)).channel, 1);

  /* Two bursts at 10; one at 30 that waits for nothing but its latency; a write is acknowledged at
   * once and reaches the memory behind the reads. */
  const SambaDramRequest requests[] = {request(10, 0, 0, 2, false, 1),
                                       request(30, 0, 0, 1, false, 2),
                                       request(30, 0, 0, 1, true, 3)};
  for (uint32_t i = 0; i < 3; ++i)
    submit(&dram, place.channel, &requests[i]);
  uint64_t now = dram.channels[place.channel].scheduled;
  while (now != SAMBA_TIME_UNKNOWN)
    now = sambaDramAdvance(&dram, place.channel, now);
  checkTrace(&trace, 3, (uint32_t[]){1, 3, 2}, (uint64_t[]){214, 30, 234},
             (uint64_t[]){218, 30, 234});
  assert_int_equal(sambaDramLastWrite(&dram), 238);
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

/* Generators issue ahead: of two requests that arrive in one cycle the one that is entered last may
 * come first. */
static void testOrderWithinACycle(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaMachine machine = dramMachine();
  SambaDram dram;
  Trace trace = {0};
  sambaDramInit(&dram, &arena, &machine, record, &trace);
  SambaDramRequest requests[] = {request(10, 0, 5, 1, false, 1), request(10, 1, 5, 1, false, 2)};
  requests[0].order = 7;
  requests[1].order = 3;
  run(&dram, requests, 2);
  assert_int_equal(trace.count, 2);
  assert_int_equal(trace.slots[0], 2);
  assert_int_equal(trace.slots[1], 1);
  sambaDramFree(&dram);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testRows),
      cmocka_unit_test(testFirstReadyFirstComeFirstServed),
      cmocka_unit_test(testTurnaroundAndWriteDraining),
      cmocka_unit_test(testReadsAndWritesTakeTurns),
      cmocka_unit_test(testRefreshClosesRows),
      cmocka_unit_test(testOrderWithinACycle),
      cmocka_unit_test(testRefreshesOfAnIdleChannel),
      cmocka_unit_test(testAddressMap),
      cmocka_unit_test(testAddressMapWithoutPowers),
      cmocka_unit_test(testHostMemory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
