/* Memory, request by request: channels with banks and open rows, each behind a scheduler that
 * serves requests first ready, first come (docs/timing-model.md, "Memory"). Host memory is one more
 * channel, without rows. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_MEMORY_DRAM_H
#define SAMBA_BACKEND_SIM_CYCLE_MEMORY_DRAM_H

#include "backend/machine/machine.h"
#include "backend/sim/cycle/network/clock.h"

/* Inside, time is counted in 1/4096 cycles: a burst rarely lasts a whole number of cycles. */
enum { SAMBA_MEMORY_TICK_BITS = 12 };

/* Consecutive bursts of one row. The cycle at which the asking unit knows about the data of each (a
 * read), or about the place in the write queue (a write), goes to `done`, a ring of the unit; then
 * the unit is woken. */
typedef struct SambaBurstRequest {
  uint64_t arrival; /* at the channel's scheduler */
  uint64_t row;
  uint32_t bank, unit, bursts;
  bool write;
  uint64_t *done, *soonest;       /* soonest: the earliest that the unit was told of */
  uint32_t done_first, done_size; /* place of the first burst in the ring, places of the ring */
} SambaBurstRequest;

typedef struct SambaMemoryBank {
  bool open;
  uint64_t row;
  uint64_t column_from, precharge_from, activate_from; /* ticks */
  uint64_t refreshes;                                  /* that took effect */
} SambaMemoryBank;

/* Requests in the order of their arrival; [head, head + size). */
typedef struct SambaBurstQueue {
  SambaBurstRequest *data;
  size_t head, size, capacity;
  uint64_t passed_over; /* how often others went before the oldest */
} SambaBurstQueue;

typedef struct SambaMemoryChannel {
  SambaBurstQueue reads, writes;
  size_t accepted; /* writes at the front of their queue that were acknowledged */
  SambaMemoryBank *banks;
  uint64_t burst_ticks, bus_free; /* ticks */
  bool is_host, wrote_last, draining;
  uint64_t turn;       /* bursts since it drains writes, or does not */
  uint64_t decides_at; /* cycle of the next decision, no earlier */
} SambaMemoryChannel;

typedef struct SambaMemory {
  const SambaMachine *machine;
  SambaClock *clock;
  uint32_t channel_count, hbm_count, ddr_count; /* the last channel is the host's */
  SambaMemoryChannel *channels;
  uint64_t rcd, rp, cl, ras, refresh, refresh_interval, turnaround, host_latency; /* ticks */
  uint64_t write_age;                                                             /* cycles */
  uint64_t last_write; /* ticks: when the last write was in its cells */
  uint64_t read_bytes, write_bytes, host_read_bytes, host_write_bytes;
  uint64_t row_hits, row_misses;
} SambaMemory;

void sambaMemoryBuild(SambaMemory *memory, SambaArena *arena, const SambaMachine *machine);
void sambaMemoryFree(SambaMemory *memory);
/* How many consecutive bursts from this one on lie in one row of one channel. */
uint64_t sambaMemoryBurstsTogether(const SambaMemory *memory, uint64_t burst);
/* Sends a request for bursts from this number (address / dram_burst_bytes) on; bank and row are
 * filled in. Requests come in the order of their arrival. */
void sambaMemoryRequest(SambaMemory *memory, uint64_t burst, SambaBurstRequest request);
/* One cycle of a channel. Returns the next cycle in which it has something to do. */
uint64_t sambaMemoryStepChannel(SambaMemory *memory, uint32_t channel);
/* The cycle by which the last write was in its cells. */
uint64_t sambaMemoryLastWrite(const SambaMemory *memory);

#endif
