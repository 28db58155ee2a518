/* Memory channels; see dram.h. */
#include "backend/sim/cycle/memory/dram.h"

#include <stdlib.h>
#include <string.h>

/* A request that was passed over for so many windows of requests goes first; a write that is older
 * than so many windows of bursts is served before reads. */
enum { patienceWindows = 4 };

static uint64_t ticksOf(const SambaMachine *machine, int64_t picoseconds) {
  __uint128_t ticks = ((__uint128_t)(uint64_t)picoseconds * (uint64_t)machine->clock_hz)
                      << SAMBA_MEMORY_TICK_BITS;
  return (uint64_t)((ticks + 999999999999u) / 1000000000000u);
}

static uint64_t burstTicks(const SambaMachine *machine, int64_t megabytes_per_second) {
  __uint128_t ticks =
      ((__uint128_t)(uint64_t)machine->dram_burst_bytes * (uint64_t)machine->clock_hz)
      << SAMBA_MEMORY_TICK_BITS;
  __uint128_t rate = (__uint128_t)(uint64_t)megabytes_per_second * 1000000u;
  return (uint64_t)((ticks + rate - 1) / rate);
}

static uint64_t wholeCycles(uint64_t ticks) {
  return (ticks + (UINT64_C(1) << SAMBA_MEMORY_TICK_BITS) - 1) >> SAMBA_MEMORY_TICK_BITS;
}

void sambaMemoryBuild(SambaMemory *memory, SambaArena *arena, const SambaMachine *machine) {
  bool hbm = machine->hbm_bytes > 0 && machine->hbm_channel_mbps > 0;
  bool ddr = machine->ddr_bytes > 0 && machine->ddr_channel_mbps > 0;
  *memory = (SambaMemory){.machine = machine};
  memory->hbm_count = hbm ? (uint32_t)machine->hbm_channels : 0;
  memory->ddr_count = ddr ? (uint32_t)machine->ddr_channels : 0;
  memory->channel_count = memory->hbm_count + memory->ddr_count + 1;
  memory->channels = SAMBA_ARENA_ARRAY(arena, SambaMemoryChannel, memory->channel_count);

  uint64_t slowest = 0;
  for (uint32_t c = 0; c + 1 < memory->channel_count; ++c) {
    SambaMemoryChannel *channel = &memory->channels[c];
    channel->banks = SAMBA_ARENA_ARRAY(arena, SambaMemoryBank, (size_t)machine->dram_banks);
    channel->burst_ticks = burstTicks(machine, c < memory->hbm_count ? machine->hbm_channel_mbps
                                                                     : machine->ddr_channel_mbps);
    channel->turn = (uint64_t)machine->dram_window;
    slowest = sambaLater(slowest, channel->burst_ticks);
  }

  SambaMemoryChannel *host = &memory->channels[memory->channel_count - 1];
  host->is_host = true;
  host->burst_ticks = burstTicks(machine, machine->host_mbps);
  memory->host_latency = ticksOf(machine, machine->host_latency_ns * 1000);
  memory->rcd = ticksOf(machine, machine->dram_trcd_ps);
  memory->rp = ticksOf(machine, machine->dram_trp_ps);
  memory->cl = ticksOf(machine, machine->dram_tcl_ps);
  memory->ras = ticksOf(machine, machine->dram_tras_ps);
  memory->refresh = ticksOf(machine, machine->dram_refresh_ps);
  memory->refresh_interval = ticksOf(machine, machine->dram_refresh_interval_ps);
  memory->turnaround = ticksOf(machine, machine->dram_turnaround_ps);
  memory->write_age =
      (slowest * (uint64_t)machine->dram_window * patienceWindows >> SAMBA_MEMORY_TICK_BITS) + 1;
}

void sambaMemoryFree(SambaMemory *memory) {
  for (uint32_t c = 0; c < memory->channel_count; ++c) {
    free(memory->channels[c].reads.data);
    free(memory->channels[c].writes.data);
  }
}

/* Which of `count` places holds a piece of the address space. For powers of two the higher bits
 * are folded in by exclusive or. */
static uint64_t placeOf(uint64_t piece, uint64_t count) {
  if (count & (count - 1))
    return piece % count;
  uint64_t place = 0;
  for (; piece && count > 1; piece /= count)
    place ^= piece % count;
  return place;
}

/* The channel of a burst; its bank and row go into the request. */
static uint32_t locate(const SambaMemory *memory, uint64_t address, SambaBurstRequest *request) {
  const SambaMachine *machine = memory->machine;
  uint64_t hbm_bytes = (uint64_t)machine->hbm_bytes;
  if (address >= hbm_bytes + (uint64_t)machine->ddr_bytes)
    return memory->channel_count - 1;

  bool in_hbm = memory->hbm_count && (address < hbm_bytes || !memory->ddr_count);
  uint64_t first = in_hbm ? 0 : memory->hbm_count;
  uint64_t count = in_hbm ? memory->hbm_count : memory->ddr_count;
  if (!in_hbm && memory->hbm_count)
    address -= hbm_bytes;

  uint64_t interleave = (uint64_t)machine->dram_interleave_bytes;
  uint64_t piece = address / interleave;
  uint64_t in_channel = piece / count * interleave + address % interleave;
  uint64_t page = in_channel / (uint64_t)machine->dram_row_bytes;
  request->bank = (uint32_t)placeOf(page, (uint64_t)machine->dram_banks);
  request->row = page / (uint64_t)machine->dram_banks;
  return (uint32_t)(first + placeOf(piece, count));
}

static SambaBurstRequest *oldest(const SambaBurstQueue *queue) { return queue->data + queue->head; }

static void append(SambaBurstQueue *queue, const SambaBurstRequest *request) {
  if (queue->head > 64 && queue->head > queue->size) {
    memmove(queue->data, oldest(queue), queue->size * sizeof *queue->data);
    queue->head = 0;
  }
  if (queue->head + queue->size == queue->capacity)
    queue->data =
        sambaArrayGrow(queue->data, &queue->capacity, queue->capacity + 1, sizeof *queue->data);
  queue->data[queue->head + queue->size++] = *request;
}

static SambaBurstRequest removeAt(SambaBurstQueue *queue, size_t place) {
  SambaBurstRequest *requests = oldest(queue), taken = requests[place];
  memmove(requests + 1, requests, place * sizeof *requests);
  ++queue->head;
  --queue->size;
  queue->passed_over = place ? queue->passed_over + 1 : 0;
  return taken;
}

uint64_t sambaMemoryBurstsTogether(const SambaMemory *memory, uint64_t burst) {
  const SambaMachine *machine = memory->machine;
  uint64_t burst_bytes = (uint64_t)machine->dram_burst_bytes,
           row = (uint64_t)machine->dram_row_bytes;
  uint64_t together = sambaEarlier((uint64_t)machine->dram_interleave_bytes, row);
  uint64_t left = together - burst * burst_bytes % together;
  return sambaLater(1, left / burst_bytes);
}

void sambaMemoryRequest(SambaMemory *memory, uint64_t burst, SambaBurstRequest request) {
  uint32_t index = locate(memory, burst * (uint64_t)memory->machine->dram_burst_bytes, &request);
  SambaMemoryChannel *channel = &memory->channels[index];
  append(request.write ? &channel->writes : &channel->reads, &request);
  uint64_t at = request.write ? request.arrival : sambaLater(request.arrival, channel->decides_at);
  sambaClockWake(memory->clock, SAMBA_PART_CHANNEL, index, at);
}

/* The n-th burst of a request is done at this cycle, as its unit sees it. */
static void complete(SambaMemory *memory, const SambaBurstRequest *request, uint32_t n,
                     uint64_t cycle) {
  uint64_t latency = (uint64_t)memory->machine->ag_latency_cycles;
  uint64_t done = cycle + (latency - latency / 2);
  uint32_t place = request->done_first + n;
  request->done[place < request->done_size ? place : place - request->done_size] = done;
  sambaKeepEarlier(request->soonest, done);
  if (n == 0)
    sambaClockWake(memory->clock, SAMBA_PART_MEMORY, request->unit,
                   sambaLater(done, memory->clock->now + 1));
}

/* The write queue holds dram_write_high requests; those that find a place are acknowledged. */
static void acceptWrites(SambaMemory *memory, SambaMemoryChannel *channel) {
  SambaBurstQueue *queue = &channel->writes;
  while (channel->accepted < queue->size &&
         channel->accepted < (size_t)memory->machine->dram_write_high &&
         oldest(queue)[channel->accepted].arrival <= memory->clock->now) {
    const SambaBurstRequest *request = &oldest(queue)[channel->accepted++];
    for (uint32_t n = request->bursts; n-- > 0;)
      complete(memory, request, n, memory->clock->now);
  }
}

/* Bank b is refreshed at every interval number b + 1, b + 1 + banks, ...; that closes its row. */
static void refresh(const SambaMemory *memory, SambaMemoryBank *bank, uint64_t index,
                    uint64_t now) {
  uint64_t banks = (uint64_t)memory->machine->dram_banks;
  uint64_t intervals = now / memory->refresh_interval;
  if (!memory->refresh || intervals <= index)
    return;
  uint64_t refreshes = (intervals - index - 1) / banks + 1;
  if (refreshes == bank->refreshes)
    return;
  uint64_t last = index + 1 + (refreshes - 1) * banks;
  bank->refreshes = refreshes;
  bank->open = false;
  bank->activate_from =
      sambaLater(bank->activate_from, last * memory->refresh_interval + memory->refresh);
}

/* When a row that is not open can be activated. */
static uint64_t activateAt(const SambaMemory *memory, const SambaMemoryBank *bank, uint64_t now) {
  uint64_t closed = bank->open ? sambaLater(now, bank->precharge_from) + memory->rp : now;
  return sambaLater(closed, bank->activate_from);
}

static bool hitsOpenRow(const SambaMemoryChannel *channel, const SambaBurstRequest *request) {
  const SambaMemoryBank *bank = &channel->banks[request->bank];
  return bank->open && bank->row == request->row;
}

/* When the data of a request could begin. */
static uint64_t dataAt(const SambaMemory *memory, const SambaMemoryChannel *channel,
                       const SambaBurstRequest *request, uint64_t now) {
  if (channel->is_host)
    return sambaLater(now + memory->host_latency, channel->bus_free);
  const SambaMemoryBank *bank = &channel->banks[request->bank];
  uint64_t column = hitsOpenRow(channel, request) ? sambaLater(now, bank->column_from)
                                                  : activateAt(memory, bank, now) + memory->rcd;
  bool turns = channel->bus_free && channel->wrote_last != request->write;
  return sambaLater(column + memory->cl, channel->bus_free + (turns ? memory->turnaround : 0));
}

/* The oldest request of the window that hits an open row, else the one whose data can begin
 * first. */
static size_t choose(SambaMemory *memory, SambaMemoryChannel *channel, SambaBurstQueue *queue,
                     size_t most, uint64_t now) {
  size_t window = (size_t)memory->machine->dram_window, best = 0;
  uint64_t best_at = UINT64_MAX;
  if (queue->passed_over >= window * patienceWindows)
    window = 1;
  window = window < most ? window : most;

  for (size_t i = 0; i < window; ++i) {
    const SambaBurstRequest *request = &oldest(queue)[i];
    if (request->arrival > memory->clock->now)
      break;
    if (channel->is_host)
      return 0;
    refresh(memory, &channel->banks[request->bank], request->bank, now);
    if (hitsOpenRow(channel, request))
      return i;
    uint64_t at = dataAt(memory, channel, request, now);
    if (at < best_at) {
      best_at = at;
      best = i;
    }
  }
  return best;
}

/* Gives the commands that a request needs, and the data bus. */
static void serve(SambaMemory *memory, SambaMemoryChannel *channel,
                  const SambaBurstRequest *request, uint64_t now) {
  uint64_t begin = dataAt(memory, channel, request, now);
  uint64_t end = begin + request->bursts * channel->burst_ticks;

  memory->row_hits += request->bursts;
  if (!channel->is_host) {
    SambaMemoryBank *bank = &channel->banks[request->bank];
    if (!hitsOpenRow(channel, request)) {
      ++memory->row_misses;
      --memory->row_hits;
      bank->activate_from = activateAt(memory, bank, now);
      bank->open = true;
      bank->row = request->row;
      bank->column_from = bank->activate_from + memory->rcd;
      bank->precharge_from = bank->activate_from + memory->ras;
    }
    /* The row must stay open until the column command of a read was given, or a write is in. */
    uint64_t needed = request->write ? end : end - memory->cl;
    bank->precharge_from = sambaLater(bank->precharge_from, needed);
  }

  channel->bus_free = end;
  channel->wrote_last = request->write;
  uint64_t bytes = request->bursts * (uint64_t)memory->machine->dram_burst_bytes;
  if (request->write) {
    *(channel->is_host ? &memory->host_write_bytes : &memory->write_bytes) += bytes;
    memory->last_write = sambaLater(memory->last_write, end);
  } else {
    *(channel->is_host ? &memory->host_read_bytes : &memory->read_bytes) += bytes;
    for (uint32_t n = request->bursts; n-- > 0;)
      complete(memory, request, n, wholeCycles(begin + (n + 1) * channel->burst_ticks));
  }
}

/* Writes are served when no read waits, from dram_write_high of them down to dram_write_low, and
 * when the oldest has waited too long; where reads wait meanwhile, in turns of a window. */
static bool servesWrite(const SambaMemory *memory, SambaMemoryChannel *channel, bool reads) {
  if (!channel->accepted)
    return false;
  uint64_t window = (uint64_t)memory->machine->dram_window;
  bool old = memory->clock->now - oldest(&channel->writes)->arrival > memory->write_age;
  bool urgent = channel->accepted >= (size_t)memory->machine->dram_write_high || old;
  bool enough = !old && channel->accepted <= (size_t)memory->machine->dram_write_low;
  bool turn_ends = reads && channel->turn >= window;
  if (channel->draining ? enough || turn_ends : urgent && (turn_ends || !reads)) {
    channel->draining = !channel->draining;
    channel->turn = 0;
  }
  return !reads || channel->draining;
}

uint64_t sambaMemoryStepChannel(SambaMemory *memory, uint32_t index) {
  SambaMemoryChannel *channel = &memory->channels[index];
  uint64_t now = memory->clock->now;
  /* Decisions are made so far ahead of the data bus that activates hide behind transfers. */
  uint64_t ahead = memory->rp + memory->rcd + memory->cl;
  if (channel->is_host)
    ahead = memory->host_latency;

  acceptWrites(memory, channel);
  while (channel->decides_at <= now) {
    bool reads = channel->reads.size && oldest(&channel->reads)->arrival <= now;
    bool write = servesWrite(memory, channel, reads);
    if (!reads && !write)
      break;
    SambaBurstQueue *queue = write ? &channel->writes : &channel->reads;
    uint64_t tick = now << SAMBA_MEMORY_TICK_BITS;
    size_t place = choose(memory, channel, queue, write ? channel->accepted : queue->size, tick);
    SambaBurstRequest request = removeAt(queue, place);
    serve(memory, channel, &request, tick);
    channel->turn += request.bursts;
    channel->accepted -= write;
    acceptWrites(memory, channel);
    uint64_t next = channel->bus_free > ahead ? channel->bus_free - ahead : 0;
    channel->decides_at = next >> SAMBA_MEMORY_TICK_BITS;
  }

  uint64_t next = SAMBA_NEVER;
  if (channel->accepted)
    next = channel->decides_at;
  if (channel->reads.size)
    sambaKeepEarlier(&next, sambaLater(channel->decides_at, oldest(&channel->reads)->arrival));
  if (channel->writes.size > channel->accepted &&
      channel->accepted < (size_t)memory->machine->dram_write_high)
    sambaKeepEarlier(&next, oldest(&channel->writes)[channel->accepted].arrival);
  return next == SAMBA_NEVER ? next : sambaLater(next, now + 1);
}

uint64_t sambaMemoryLastWrite(const SambaMemory *memory) { return wholeCycles(memory->last_write); }
