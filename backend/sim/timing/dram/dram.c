/* The DRAM model; see dram.h. */
#include "backend/sim/timing/dram/dram.h"

#include <stdlib.h>
#include <string.h>

/* A request may be passed over this many windows' worth of times before it goes first. */
enum { bypassWindows = 4, ageWindows = 4 };

static uint64_t ticksOfPicoseconds(const SambaMachine *machine, int64_t picoseconds) {
  unsigned __int128 scaled = ((unsigned __int128)picoseconds * (uint64_t)machine->clock_hz)
                             << SAMBA_DRAM_TICK_BITS;
  return (uint64_t)((scaled + 999999999999u) / 1000000000000u);
}

/* Rounded up: no transfer is ever faster than the channel's bandwidth. */
static uint64_t ticksOfBurst(const SambaMachine *machine, int64_t megabytes_per_second) {
  unsigned __int128 scaled =
      ((unsigned __int128)machine->dram_burst_bytes * (uint64_t)machine->clock_hz)
      << SAMBA_DRAM_TICK_BITS;
  unsigned __int128 rate = (unsigned __int128)megabytes_per_second * 1000000u;
  return (uint64_t)((scaled + rate - 1) / rate);
}

/* Bits that an address of HBM or DDR can have; of a unit no fewer than one. */
static uint32_t addressBits(const SambaMachine *machine) {
  uint64_t bytes = (uint64_t)machine->hbm_bytes + (uint64_t)machine->ddr_bytes;
  uint64_t unit = (uint64_t)machine->dram_interleave_bytes + (uint64_t)machine->dram_row_bytes;
  return 64 - (uint32_t)__builtin_clzll(sambaTimeMax(bytes, unit));
}

/* So many steps fold all digits that there mostly are. */
enum { fewFolds = 3 };

/* unit_bits: of the number of a unit that is dealt. */
static SambaDramSpread spreadOver(uint64_t count, uint32_t unit_bits) {
  bool is_power = count && !(count & (count - 1));
  SambaDramSpread spread = {.count = count,
                            .is_power = is_power,
                            .shift = is_power ? (uint8_t)__builtin_ctzll(count) : 0};
  for (uint32_t i = 0; i < SAMBA_DRAM_FOLDS; ++i) {
    uint32_t shift = (uint32_t)spread.shift << i;
    spread.folds[i] = (uint8_t)(shift < 63 ? shift : 63); /* no address has that bit */
    spread.many_folds |= i >= fewFolds && shift < unit_bits;
  }
  return spread;
}

static void makeBanks(const SambaDram *dram, SambaDramChannel *channel, SambaArena *arena) {
  channel->banks = SAMBA_ARENA_LINES(arena, SambaDramBank, dram->banks.count);
  channel->open_rows = SAMBA_ARENA_LINES(arena, uint64_t, dram->banks.count);
  for (uint64_t b = 0; b < dram->banks.count; ++b)
    channel->open_rows[b] = SAMBA_DRAM_NO_ROW;
  channel->next_refresh = dram->refresh ? dram->refresh_interval : SAMBA_TIME_UNKNOWN;
}

void sambaDramInit(SambaDram *dram, SambaArena *arena, const SambaMachine *machine,
                   SambaDramCompletion *completion, void *user) {
  *dram = (SambaDram){.machine = machine, .completion = completion, .user = user};
  bool hbm = machine->hbm_bytes > 0 && machine->hbm_channels > 0 && machine->hbm_channel_mbps > 0;
  bool ddr = machine->ddr_bytes > 0 && machine->ddr_channels > 0 && machine->ddr_channel_mbps > 0;

  dram->hbm_channel_count = hbm ? (uint32_t)machine->hbm_channels : 0;
  dram->ddr_channel_count = ddr ? (uint32_t)machine->ddr_channels : 0;
  dram->channel_count = dram->hbm_channel_count + dram->ddr_channel_count + 1;
  dram->channels = SAMBA_ARENA_LINES(arena, SambaDramChannel, dram->channel_count);
  dram->window = (uint64_t)machine->dram_window;
  dram->write_high = (uint64_t)machine->dram_write_high;
  dram->write_low = (uint64_t)machine->dram_write_low;
  dram->interleave_shift = (uint32_t)__builtin_ctzll((uint64_t)machine->dram_interleave_bytes);
  dram->row_shift = (uint32_t)__builtin_ctzll((uint64_t)machine->dram_row_bytes);
  dram->burst_shift = (uint32_t)__builtin_ctzll((uint64_t)machine->dram_burst_bytes);
  uint32_t bits = addressBits(machine);
  dram->hbm = spreadOver(dram->hbm_channel_count, bits - dram->interleave_shift);
  dram->ddr = spreadOver(dram->ddr_channel_count, bits - dram->interleave_shift);
  dram->banks = spreadOver((uint64_t)machine->dram_banks, bits - dram->row_shift);
  dram->refresh = ticksOfPicoseconds(machine, machine->dram_refresh_ps);
  dram->refresh_interval = ticksOfPicoseconds(machine, machine->dram_refresh_interval_ps);
  uint64_t slowest = 0;

  for (uint32_t c = 0; c + 1 < dram->channel_count; ++c) {
    SambaDramChannel *channel = &dram->channels[c];
    makeBanks(dram, channel, arena);
    channel->burst_ticks =
        ticksOfBurst(machine, c < dram->hbm_channel_count ? machine->hbm_channel_mbps
                                                          : machine->ddr_channel_mbps);
    channel->scheduled = SAMBA_TIME_UNKNOWN;
    channel->turn = (uint64_t)machine->dram_window;
    slowest = sambaTimeMax(slowest, channel->burst_ticks);
  }

  SambaDramChannel *host = &dram->channels[dram->channel_count - 1];
  host->is_host = true;
  host->next_refresh = SAMBA_TIME_UNKNOWN;
  host->banks = SAMBA_ARENA_ARRAY(arena, SambaDramBank, 1);
  host->open_rows = SAMBA_ARENA_ARRAY(arena, uint64_t, 1);
  host->burst_ticks = ticksOfBurst(machine, machine->host_mbps);
  host->scheduled = SAMBA_TIME_UNKNOWN;
  dram->host_latency = ticksOfPicoseconds(machine, machine->host_latency_ns * 1000);
  dram->rcd = ticksOfPicoseconds(machine, machine->dram_trcd_ps);
  dram->rp = ticksOfPicoseconds(machine, machine->dram_trp_ps);
  dram->cl = ticksOfPicoseconds(machine, machine->dram_tcl_ps);
  dram->ras = ticksOfPicoseconds(machine, machine->dram_tras_ps);
  dram->turnaround = ticksOfPicoseconds(machine, machine->dram_turnaround_ps);
  dram->write_age =
      (sambaTimeMul(slowest, (uint64_t)machine->dram_window * ageWindows) >> SAMBA_DRAM_TICK_BITS) +
      1;
}

void sambaDramFree(SambaDram *dram) {
  for (uint32_t c = 0; c < dram->channel_count; ++c) {
    free(dram->channels[c].reads.requests);
    free(dram->channels[c].writes.requests);
  }
  dram->channel_count = 0;
}

/* Which place a unit of the address space lives in; *out_round: how many times all places came
 * before it. For powers of two the higher address bits are folded in, so that a power-of-two stride
 * does not camp on a few places; `count` consecutive aligned units still take every place once. */
static uint64_t foldedPlace(const SambaDramSpread *over, uint64_t unit, uint64_t *out_round) {
  if (!over->is_power) {
    *out_round = unit / over->count;
    return unit % over->count;
  }
  *out_round = unit >> over->shift;
  uint64_t folded = unit; /* twice as many digits in each step; of one place the only digit is 0 */
  for (uint32_t i = 0; i < fewFolds; ++i)
    folded ^= folded >> over->folds[i];
  for (uint32_t i = fewFolds; over->many_folds && i < SAMBA_DRAM_FOLDS; ++i)
    folded ^= folded >> over->folds[i];
  return folded & (over->count - 1);
}

SambaDramPlace sambaDramLocate(const SambaDram *dram, uint64_t address) {
  const SambaMachine *machine = dram->machine;
  uint64_t hbm_bytes = (uint64_t)machine->hbm_bytes;
  uint64_t first = 0;
  const SambaDramSpread *channels = &dram->hbm;
  if (address >= hbm_bytes + (uint64_t)machine->ddr_bytes)
    return (SambaDramPlace){.channel = (uint16_t)(dram->channel_count - 1),
                            .bursts =
                                (uint32_t)(machine->dram_row_bytes / machine->dram_burst_bytes)};

  if (!dram->hbm.count || (address >= hbm_bytes && dram->ddr.count)) {
    first = dram->hbm.count;
    address -= dram->hbm.count ? hbm_bytes : 0;
    channels = &dram->ddr;
  }

  uint64_t interleave = (uint64_t)machine->dram_interleave_bytes;
  uint64_t row_bytes = (uint64_t)machine->dram_row_bytes;
  uint64_t within = address & (interleave - 1);
  uint64_t round, row;
  uint64_t channel = foldedPlace(channels, address >> dram->interleave_shift, &round);
  uint64_t local = (round << dram->interleave_shift) + within;
  uint64_t bank = foldedPlace(&dram->banks, local >> dram->row_shift, &row);
  uint64_t left = sambaTimeMin(interleave - within, row_bytes - (local & (row_bytes - 1)));
  return (SambaDramPlace){.channel = (uint16_t)(first + channel),
                          .bank = (uint16_t)bank,
                          .row = row,
                          .bursts = (uint32_t)sambaTimeMax(1, left >> dram->burst_shift)};
}

/* Room for a request more at the end of a queue. It moves to the front before it has walked far, so
 * that the host's cache holds it. */
static void makeRoom(SambaDramQueue *queue) {
  enum { farFromFront = 32 };
  if (queue->head >= farFromFront && queue->head >= queue->size) {
    memmove(queue->requests, queue->requests + queue->head, queue->size * sizeof *queue->requests);
    queue->head = 0;
  }
  if (queue->head + queue->size < queue->capacity)
    return;
  size_t capacity = queue->capacity;
  queue->requests =
      sambaArrayGrow(queue->requests, &capacity, capacity + 1, sizeof *queue->requests);
  queue->capacity = (uint32_t)capacity;
}

static SambaDramRequest dequeue(SambaDramQueue *queue, uint32_t place) {
  SambaDramRequest *requests = queue->requests + queue->head;
  SambaDramRequest taken = requests[place];
  for (uint32_t i = place; i > 0; --i)
    requests[i] = requests[i - 1];
  --queue->size;
  queue->head = queue->size ? queue->head + 1 : 0;
  queue->bypassed = place ? queue->bypassed + 1 : 0;
  return taken;
}

static bool comesBefore(uint64_t arrival, uint32_t order, const SambaDramRequest *other) {
  return arrival < other->arrival || (arrival == other->arrival && order < other->order);
}

uint64_t sambaDramEnter(SambaDram *dram, uint32_t channel_index, uint64_t arrival, uint32_t order,
                        bool write, SambaDramRequest **out_request) {
  SambaDramChannel *channel = &dram->channels[channel_index];
  SambaDramQueue *queue = write ? &channel->writes : &channel->reads;
  makeRoom(queue);

  /* Address generators issue a little ahead, so a request may come out of order. */
  SambaDramRequest *requests = queue->requests + queue->head;
  uint32_t place = queue->size++;
  while (place > 0 && comesBefore(arrival, order, &requests[place - 1])) {
    requests[place] = requests[place - 1];
    --place;
  }
  requests[place].arrival = arrival;
  requests[place].order = order;
  requests[place].write = write;
  *out_request = &requests[place];

  uint64_t at = sambaTimeMax(arrival, write ? 0 : channel->next_decision);
  if (channel->scheduled <= at)
    return SAMBA_TIME_UNKNOWN;
  return channel->scheduled = at;
}

/* Closes the rows of banks that have been refreshed: bank b is refreshed at every interval number
 * congruent to b + 1 modulo the number of banks. */
static void refreshBanks(const SambaDram *dram, SambaDramChannel *channel, uint64_t now) {
  uint64_t banks = dram->banks.count, last = now / dram->refresh_interval;
  uint64_t interval = channel->next_refresh / dram->refresh_interval;
  if (last >= banks)
    interval = sambaTimeMax(interval, last - banks + 1); /* of each bank the last one counts */
  for (; interval <= last; ++interval) {
    uint64_t refreshed = (interval - 1) % banks;
    SambaDramBank *bank = &channel->banks[refreshed];
    uint64_t done = interval * dram->refresh_interval + dram->refresh;
    channel->open_rows[refreshed] = SAMBA_DRAM_NO_ROW;
    bank->activate_ready = sambaTimeMax(bank->activate_ready, done);
  }
  channel->next_refresh = interval * dram->refresh_interval;
}

/* Whether a request finds its row open. */
static bool hits(const SambaDramChannel *channel, const SambaDramRequest *request) {
  return channel->is_host || channel->open_rows[request->bank] == request->row;
}

/* The data of a request cannot start earlier, in ticks. */
static uint64_t busReady(const SambaDram *dram, const SambaDramChannel *channel, bool write) {
  bool turns = channel->bus_free && channel->last_was_write != write;
  return channel->bus_free + (turns ? dram->turnaround : 0);
}

/* When the data of a request could start if it were served at tick now. */
static uint64_t dataStart(const SambaDram *dram, const SambaDramChannel *channel,
                          const SambaDramRequest *request, bool hit, uint64_t now) {
  const SambaDramBank *bank = &channel->banks[request->bank];
  uint64_t column;
  if (channel->is_host)
    return sambaTimeMax(now + dram->host_latency, channel->bus_free);

  if (hit)
    column = sambaTimeMax(now, bank->column_ready);
  else if (channel->open_rows[request->bank] != SAMBA_DRAM_NO_ROW)
    column =
        sambaTimeMax(sambaTimeMax(now, bank->precharge_ready) + dram->rp, bank->activate_ready) +
        dram->rcd;
  else
    column = sambaTimeMax(now, bank->activate_ready) + dram->rcd;
  return sambaTimeMax(column + dram->cl, busReady(dram, channel, request->write));
}

static void serve(SambaDram *dram, SambaDramChannel *channel, const SambaDramRequest *request,
                  uint64_t now) {
  SambaDramBank *bank = &channel->banks[request->bank];
  bool hit = hits(channel, request);
  uint64_t start = dataStart(dram, channel, request, hit, now);
  uint64_t end = start + request->bursts * channel->burst_ticks;

  if (!hit) {
    uint64_t activate = channel->open_rows[request->bank] != SAMBA_DRAM_NO_ROW
                            ? sambaTimeMax(sambaTimeMax(now, bank->precharge_ready) + dram->rp,
                                           bank->activate_ready)
                            : sambaTimeMax(now, bank->activate_ready);
    channel->open_rows[request->bank] = request->row;
    bank->column_ready = activate + dram->rcd;
    bank->precharge_ready = activate + dram->ras;
    bank->activate_ready = activate;
  }

  bank->precharge_ready =
      sambaTimeMax(bank->precharge_ready, request->write ? end : end - sambaTimeMin(end, dram->cl));
  channel->bus_free = end;
  channel->last_was_write = request->write;
  dram->row_hits += request->bursts - !hit;
  dram->row_misses += !hit;
  uint64_t bytes = (uint64_t)request->bursts << dram->burst_shift;
  if (request->write) {
    *(channel->is_host ? &dram->host_write_bytes : &dram->write_bytes) += bytes;
    dram->last_write = sambaTimeMax(dram->last_write, end);
  } else {
    SambaDramTimes times = {start, channel->burst_ticks, request->bursts};
    *(channel->is_host ? &dram->host_read_bytes : &dram->read_bytes) += bytes;
    dram->completion(dram->user, request->owner, request->slot, times);
  }
}

/* First ready, first come: the oldest request that hits an open row; else the one whose data can
 * start first. The oldest goes first once it was passed over too often. */
static uint32_t choose(SambaDram *dram, SambaDramChannel *channel, SambaDramQueue *queue,
                       uint32_t eligible, uint64_t cycle) {
  uint32_t window = (uint32_t)sambaTimeMin(eligible, dram->window);
  uint32_t best = 0;
  uint64_t now = cycle << SAMBA_DRAM_TICK_BITS;

  if (queue->bypassed >= dram->window * bypassWindows)
    window = 1;
  if (now >= channel->next_refresh)
    refreshBanks(dram, channel, now);
  const SambaDramRequest *requests = queue->requests + queue->head;
  const uint64_t *open_rows = channel->open_rows; /* the host's one is always hit */
  uint32_t arrived = 0;
  for (; arrived < window && requests[arrived].arrival <= cycle; ++arrived)
    if (open_rows[requests[arrived].bank] == requests[arrived].row)
      return arrived;

  uint64_t best_start = UINT64_MAX, earliest = busReady(dram, channel, requests[0].write);
  for (uint32_t i = 0; i < arrived && best_start > earliest; ++i) {
    uint64_t start = dataStart(dram, channel, &requests[i], false, now);
    if (start < best_start) {
      best_start = start;
      best = i;
    }
  }

  return best;
}

/* The write queue holds dram_write_high bursts' requests; a write is acknowledged when it finds
 * room. */
static void acceptWrites(SambaDram *dram, SambaDramChannel *channel, uint64_t now) {
  SambaDramQueue *queue = &channel->writes;
  while (channel->accepted < queue->size && channel->accepted < dram->write_high) {
    const SambaDramRequest *request = &queue->requests[queue->head + channel->accepted];
    if (request->arrival > now)
      return;
    ++channel->accepted;
    SambaDramTimes times = {.begin = now << SAMBA_DRAM_TICK_BITS, .bursts = request->bursts};
    dram->completion(dram->user, request->owner, request->slot, times);
  }
}

static bool wantsWrite(SambaDram *dram, SambaDramChannel *channel, bool reads, bool writes,
                       uint64_t now) {
  if (!writes)
    return false;
  const SambaDramRequest *oldest = &channel->writes.requests[channel->writes.head];
  bool old = now - oldest->arrival > dram->write_age;
  bool over = reads && channel->turn >= dram->window;
  bool changes;
  if (channel->draining)
    changes = over || (!old && channel->accepted <= dram->write_low);
  else
    changes = (over || !reads) && (old || channel->accepted >= dram->write_high);
  if (changes) {
    channel->draining = !channel->draining;
    channel->turn = 0;
  }
  return !reads || channel->draining;
}

uint64_t sambaDramAdvance(SambaDram *dram, uint32_t channel_index, uint64_t now) {
  SambaDramChannel *channel = &dram->channels[channel_index];
  uint64_t tick = now << SAMBA_DRAM_TICK_BITS;
  uint64_t lookahead = channel->is_host ? dram->host_latency : dram->rp + dram->rcd + dram->cl;

  channel->scheduled = SAMBA_TIME_UNKNOWN;
  acceptWrites(dram, channel, now);
  while (channel->next_decision <= now) {
    bool reads = channel->reads.size && channel->reads.requests[channel->reads.head].arrival <= now;
    bool writes = channel->accepted > 0;
    if (!reads && !writes)
      break;
    bool write = wantsWrite(dram, channel, reads, writes, now);
    SambaDramQueue *queue = write ? &channel->writes : &channel->reads;
    SambaDramRequest request =
        dequeue(queue, choose(dram, channel, queue, write ? channel->accepted : queue->size, now));
    serve(dram, channel, &request, tick);
    channel->turn += request.bursts;
    if (write) {
      --channel->accepted;
      acceptWrites(dram, channel, now);
    }
    uint64_t next = channel->bus_free > lookahead ? channel->bus_free - lookahead : 0;
    channel->next_decision = next >> SAMBA_DRAM_TICK_BITS;
  }

  uint64_t next = SAMBA_TIME_UNKNOWN;
  if (channel->accepted)
    next = channel->next_decision;
  if (channel->reads.size)
    next = sambaTimeMin(next, sambaTimeMax(channel->next_decision,
                                           channel->reads.requests[channel->reads.head].arrival));
  if (channel->writes.size > channel->accepted && channel->accepted < dram->write_high)
    next = sambaTimeMin(next,
                        channel->writes.requests[channel->writes.head + channel->accepted].arrival);
  return channel->scheduled = next;
}

uint64_t sambaDramLastWrite(const SambaDram *dram) {
  uint64_t round = (UINT64_C(1) << SAMBA_DRAM_TICK_BITS) - 1;
  return (dram->last_write + round) >> SAMBA_DRAM_TICK_BITS;
}
