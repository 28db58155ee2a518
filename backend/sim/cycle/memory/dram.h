/* Memory, burst by burst: channels with banks and open rows, each behind a scheduler that serves
 * requests first ready, first come (docs/timing-model.md, "Memory"). Host memory is one more
 * channel, without rows. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_MEMORY_DRAM_H
#define SAMBA_BACKEND_SIM_CYCLE_MEMORY_DRAM_H

#include "backend/machine/machine.h"
#include "backend/sim/cycle/network/clock.h"

/* Inside, time is counted in 1/4096 cycles: a burst rarely lasts a whole number of cycles. */
enum { SAMBA_MEMORY_TICK_BITS = 12 };

/* Somebody waits for a burst. `done` becomes the cycle at which it knows about the data (a read),
 * or about the place in the write queue (a write); then its unit is woken. */
typedef struct SambaBurstRequest {
  uint64_t arrival; /* at the channel's scheduler */
  uint64_t row;
  uint32_t bank, unit;
  bool write;
  uint64_t *done;
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
/* Sends a request for a burst by its number (address / dram_burst_bytes); it arrives at the
 * scheduler at cycle `arrival`. Requests come in the order of their arrival. */
void sambaMemoryRequest(SambaMemory *memory, uint64_t burst, bool write, uint64_t arrival,
                        uint32_t unit, uint64_t *done);
/* One cycle of a channel. */
void sambaMemoryStepChannel(SambaMemory *memory, uint32_t channel);
/* The cycle by which the last write was in its cells. */
uint64_t sambaMemoryLastWrite(const SambaMemory *memory);

#endif
