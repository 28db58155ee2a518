/* The DRAM model: channels with banks and open rows behind FR-FCFS schedulers
 * (docs/timing-model.md, "Memory"). The link to host memory is one more channel, without rows.
 *
 * One request is a few consecutive bursts of one row. Times inside are ticks, 1/4096 of a chip
 * cycle, because a burst rarely lasts a whole number of cycles. */
#ifndef SAMBA_BACKEND_SIM_TIMING_DRAM_DRAM_H
#define SAMBA_BACKEND_SIM_TIMING_DRAM_DRAM_H

#include "backend/machine/machine.h"
#include "backend/sim/timing/dram/events.h"

enum { SAMBA_DRAM_TICK_BITS = 12 };

/* Where bursts live, and how many consecutive ones from there stay in this row and channel. */
typedef struct SambaDramPlace {
  uint64_t row;
  uint16_t channel, bank;
  uint32_t bursts;
} SambaDramPlace;

typedef struct SambaDramRequest {
  uint64_t arrival; /* cycle at which the channel's controller gets it */
  uint64_t row;
  uint16_t bank;
  uint16_t bursts : 15;
  bool write : 1;
  uint32_t order;       /* of two that arrive in one cycle the lower one comes first */
  uint32_t owner, slot; /* given back with the completion */
} SambaDramRequest;

/* When the bursts of a request are done: ticks at which the first one begins, ticks of each. */
typedef struct SambaDramTimes {
  uint64_t begin;
  uint64_t burst : 48, bursts : 16;
} SambaDramTimes;

/* The cycle by which a tick is over. */
static inline uint64_t sambaDramCycleOf(uint64_t tick) {
  uint64_t round = (UINT64_C(1) << SAMBA_DRAM_TICK_BITS) - 1;
  return (tick + round) >> SAMBA_DRAM_TICK_BITS;
}
/* The cycle by which burst n is done. */
static inline uint64_t sambaDramBurstDone(SambaDramTimes times, uint64_t n) {
  return sambaDramCycleOf(times.begin + (n + 1) * times.burst);
}

/* Reads: a burst's data leave the controller. Writes: all bursts are done when the request is
 * accepted into the write queue, from which on reads see the data; sambaDramLastWrite tells when it
 * reached the cells. Called while the channel schedules; times may lie in the future. */
typedef void SambaDramCompletion(void *user, uint32_t owner, uint32_t slot, SambaDramTimes times);

/* A bank without an open row. */
#define SAMBA_DRAM_NO_ROW UINT64_MAX

typedef struct SambaDramBank {
  uint64_t column_ready, precharge_ready, activate_ready; /* ticks */
} SambaDramBank;

typedef struct SambaDramQueue {
  SambaDramRequest *requests; /* by arrival; [head, head + size) */
  uint32_t head, size, capacity;
  uint32_t bypassed; /* decisions that passed over the oldest request */
} SambaDramQueue;

/* Two lines of the host's cache. */
typedef struct SambaDramChannel {
  _Alignas(64) SambaDramQueue reads;
  SambaDramQueue writes;
  uint64_t next_decision; /* cycle */
  uint64_t scheduled;     /* cycle of the pending event, SAMBA_TIME_UNKNOWN when none */

  uint64_t bus_free;     /* ticks */
  uint64_t next_refresh; /* tick of the first one that is not accounted for */
  uint64_t burst_ticks;
  SambaDramBank *banks;
  uint64_t *open_rows; /* of each bank, SAMBA_DRAM_NO_ROW: all are looked at for each decision */
  uint64_t turn;       /* bursts since it drains writes, or does not */
  uint32_t accepted;   /* writes at the front of the queue that have been acknowledged */
  bool is_host;        /* no banks: a burst leaves after the link's latency */
  bool last_was_write, draining;
} SambaDramChannel;

/* Each step folds twice as many digits: so many fold 64 digits of one bit. */
enum { SAMBA_DRAM_FOLDS = 6 };

/* Channels or banks that the address space is dealt to. */
typedef struct SambaDramSpread {
  uint64_t count;
  bool is_power;   /* of two */
  bool many_folds; /* addresses of the space need more steps than a few */
  /* Then: that power, and how far an address is shifted in each step of its folding. */
  uint8_t shift, folds[SAMBA_DRAM_FOLDS];
} SambaDramSpread;

typedef struct SambaDram {
  const SambaMachine *machine;
  uint64_t window, write_high, write_low; /* as the machine says */
  SambaDramSpread hbm, ddr, banks;
  uint32_t interleave_shift, row_shift, burst_shift;            /* of powers of two */
  uint32_t channel_count, hbm_channel_count, ddr_channel_count; /* the last channel: the host */
  SambaDramChannel *channels;
  uint64_t rcd, rp, cl, ras, refresh, refresh_interval, turnaround, host_latency; /* ticks */
  uint64_t write_age;  /* cycles after which a waiting write forces draining */
  uint64_t last_write; /* ticks */
  uint64_t read_bytes, write_bytes, host_read_bytes, host_write_bytes; /* DRAM, host apart */
  uint64_t row_hits, row_misses;
  SambaDramCompletion *completion;
  void *user;
} SambaDram;

void sambaDramInit(SambaDram *dram, SambaArena *arena, const SambaMachine *machine,
                   SambaDramCompletion *completion, void *user);
void sambaDramFree(SambaDram *dram);
SambaDramPlace sambaDramLocate(const SambaDram *dram, uint64_t address);
/* Queues a request; the caller fills in what else it says, where it stands. Returns the cycle at
 * which sambaDramAdvance must be called for the channel, SAMBA_TIME_UNKNOWN when an earlier call is
 * already due. */
uint64_t sambaDramEnter(SambaDram *dram, uint32_t channel, uint64_t arrival, uint32_t order,
                        bool write, SambaDramRequest **out_request);
/* Schedules what can be scheduled at cycle now. Returns the cycle of the next call,
 * SAMBA_TIME_UNKNOWN when the channel is idle. */
uint64_t sambaDramAdvance(SambaDram *dram, uint32_t channel, uint64_t now);
/* Fetches what sambaDramAdvance needs into the host's cache. */
static inline void sambaDramPrefetch(const SambaDram *dram, uint32_t channel_index) {
  const SambaDramChannel *channel = &dram->channels[channel_index];
  __builtin_prefetch(channel->reads.requests + channel->reads.head);
  __builtin_prefetch(channel->writes.requests + channel->writes.head);
  __builtin_prefetch(channel->open_rows);
}
/* Cycle at which the last write reached the cells, 0 when there was none. */
uint64_t sambaDramLastWrite(const SambaDram *dram);

#endif
