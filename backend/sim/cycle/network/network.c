/* How vectors move; see network.h. */
#include "backend/sim/cycle/network/network.h"

#include <stdlib.h>

static bool isLink(const SambaWay *way) { return way->lane == SAMBA_NO_INDEX; }

static uint64_t *pendingWord(const SambaNetwork *network, const SambaWay *way) {
  return &network->lanes[way->lane].pending[way->place / 64];
}

static uint64_t pendingBit(const SambaWay *way) { return UINT64_C(1) << (way->place % 64); }

/* A link may be able to pass a vector. */
static void list(SambaNetwork *network, uint32_t index) {
  SambaWay *way = &network->ways[index];
  if (way->is_listed)
    return;
  way->is_listed = true;
  network->listed[network->listed_count++] = index;
}

/* One more vector is in reach, from cycle `at` on: tells who takes it. */
static void offer(SambaNetwork *network, const SambaFifo *fifo, uint64_t at) {
  uint32_t in_reach = sambaFifoInReach(fifo);
  if (!fifo->branch_count)
    sambaClockWake(network->clock, SAMBA_PART_UNIT, fifo->taker, at);
  for (uint32_t i = 0; i < fifo->branch_count; ++i) {
    const SambaWay *way = &network->ways[fifo->first_branch + i];
    if (way->ahead + 1 < in_reach)
      continue; /* it has others to pass on before */
    if (isLink(way)) {
      list(network, fifo->first_branch + i);
      continue;
    }
    *pendingWord(network, way) |= pendingBit(way);
    sambaClockWake(network->clock, SAMBA_PART_LANE, way->lane, at);
  }
}

/* When the vector that is put into a chain now reaches its end, if that was `at` without those
 * before it: the slot of the one that lies as far ahead as the last FIFO holds says when it left.
 */
static uint64_t reachesEndAt(const SambaNetwork *network, const SambaFifo *fifo, uint64_t at) {
  uint32_t back = fifo->depth + fifo->count - fifo->chain.end_depth;
  uint64_t credit_at = sambaFifoWhen(fifo, sambaFifoSlot(fifo, back % fifo->depth));
  uint64_t way_back = (fifo->chain.fifos - 1) * network->credit_cycles;
  return sambaLater(at + way_back, credit_at + fifo->chain.last_cycles) - way_back;
}

/* Puts a vector into a FIFO, to be seen from cycle `at` on. */
static void put(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  bool in_reach = !fifo->is_chain || fifo->count < fifo->chain.end_depth;
  if (fifo->is_chain && in_reach)
    at = reachesEndAt(network, fifo, at);
  sambaFifoPut(fifo, at);
  if (in_reach)
    offer(network, fifo, at);
}

/* A vector left a chain in cycle `at`: another one can move to its last FIFO. */
static void moveUp(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  if (fifo->count < fifo->chain.end_depth)
    return;
  uint32_t slot = sambaFifoSlot(fifo, fifo->chain.end_depth - 1u);
  at += network->credit_cycles + fifo->chain.last_cycles;
  at = sambaLater(at, sambaFifoWhen(fifo, slot));
  sambaFifoSetWhen(fifo, slot, at);
  offer(network, fifo, at);
}

/* The vector at the head of a FIFO leaves it in cycle `at`. Whoever fills it knows when there is
 * room, unless it was full. */
static void takeHead(SambaNetwork *network, uint32_t index, uint64_t at) {
  SambaFifo *fifo = &network->fifos[index];
  uint64_t credit_at = at + (fifo->is_control ? 1 : network->credit_cycles);
  if (fifo->is_chain) {
    at = sambaLater(at, fifo->chain.take_from);
    fifo->chain.take_from = (uint32_t)at + 1;
    credit_at = at + fifo->chain.fifos * network->credit_cycles;
  }
  bool was_full = sambaFifoIsFull(fifo);
  sambaFifoTake(fifo, credit_at);
  if (fifo->is_chain)
    moveUp(network, fifo, at);
  if (!was_full)
    return;
  const SambaWay *way = &network->ways[index];
  if (way->fed_by_unit)
    sambaClockWake(network->clock, SAMBA_PART_UNIT, way->from, credit_at);
  else if (isLink(way))
    list(network, index);
  else
    sambaClockWake(network->clock, SAMBA_PART_LANE, way->lane, credit_at);
}

/* The vector at the head of a FIFO with several branches has gone all of them. */
static void endMulticast(SambaNetwork *network, SambaFifo *fifo) {
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    fifo->branches_left += --network->ways[fifo->first_branch + i].ahead == 0;
}

/* A vector goes a way in cycle `at`. */
static void pass(SambaNetwork *network, uint32_t index, uint64_t at) {
  SambaWay *way = &network->ways[index];
  SambaFifo *from = &network->fifos[way->from];
  put(network, &network->fifos[index], at + way->cycles);
  if (from->branch_count == 1) {
    takeHead(network, way->from, at);
    return;
  }

  uint32_t passed = from->depth + sambaFifoSlot(from, way->ahead);
  sambaFifoSetWhen(from, passed, sambaLater(at, sambaFifoWhen(from, passed)));
  if (way->ahead++ || --from->branches_left)
    return;
  at = sambaFifoWhen(from, from->depth + from->head);
  from->when[from->depth + from->head] = 0;
  endMulticast(network, from);
  takeHead(network, way->from, at);
}

static bool hasVectorFor(const SambaNetwork *network, const SambaWay *way) {
  return way->ahead < sambaFifoInReach(&network->fifos[way->from]);
}

/* The cycle from which on a way can be gone by its next vector; SAMBA_NEVER: not before another
 * leaves the FIFO that it leads into, or reaches the one where it begins. */
static uint64_t wayIsReadyAt(const SambaNetwork *network, uint32_t index) {
  const SambaWay *way = &network->ways[index];
  uint64_t vector_at = sambaFifoVectorAt(&network->fifos[way->from], way->ahead);
  return sambaLater(vector_at, sambaFifoRoomAt(&network->fifos[index]));
}

/* Passes all vectors over links whose cycles are known by now. */
static void moveOverLinks(SambaNetwork *network) {
  while (network->listed_count) {
    uint32_t index = network->listed[--network->listed_count];
    SambaWay *way = &network->ways[index];
    way->is_listed = false;
    __builtin_prefetch(&network->fifos[index + 3], 1);
    while (hasVectorFor(network, way) && !sambaFifoIsFull(&network->fifos[index])) {
      uint64_t at = sambaLater(wayIsReadyAt(network, index), way->link_free_at);
      way->link_free_at = (uint32_t)at + 1;
      pass(network, index, at);
    }
  }
}

void sambaNetworkTake(SambaNetwork *network, uint32_t fifo) {
  takeHead(network, fifo, network->clock->now);
  moveOverLinks(network);
}

/* Streams that leave by one port of a unit take turns: who used it in the cycle before waits for
 * one who wanted it then. */
static bool entranceIsFree(SambaNetwork *network, uint32_t stream) {
  uint32_t index = network->streams[stream].entrance;
  if (index == SAMBA_NO_INDEX)
    return true;
  SambaEntrance *entrance = &network->entrances[index];
  uint64_t now = network->clock->now + 1;
  bool other_goes_first = entrance->wanted_at + 1 == now && entrance->wanted_by != stream &&
                          entrance->used_by == stream;
  if (entrance->used_at != now && !other_goes_first)
    return true;
  if (entrance->wanted_at != now && entrance->used_by != stream) {
    entrance->wanted_at = now;
    entrance->wanted_by = stream;
  }
  return false;
}

uint64_t sambaNetworkRoomAt(SambaNetwork *network, uint32_t stream) {
  const SambaStreamRoots *roots = &network->streams[stream];
  uint64_t at = 0;
  for (uint32_t r = 0; r < roots->count; ++r) {
    uint64_t room = sambaFifoRoomAt(&network->fifos[roots->roots[r].fifo]);
    at = room > at ? room : at;
  }
  if (at <= network->clock->now && !entranceIsFree(network, stream))
    return network->clock->now + 1;
  return at;
}

void sambaNetworkSend(SambaNetwork *network, uint32_t stream) {
  SambaStreamRoots *roots = &network->streams[stream];
  uint64_t now = network->clock->now;
  ++roots->sent;

  if (roots->entrance != SAMBA_NO_INDEX) {
    SambaEntrance *entrance = &network->entrances[roots->entrance];
    entrance->used_at = now + 1;
    entrance->used_by = stream;
    ++entrance->carried;
  }

  for (uint32_t r = 0; r < roots->count; ++r) {
    SambaFifo *fifo = &network->fifos[roots->roots[r].fifo];
    uint64_t at = now + roots->roots[r].cycles;
    put(network, fifo, at);
  }
  moveOverLinks(network);
}

/* The next way with a vector from a place on; way_count: there is none. */
static uint32_t nextPending(const SambaLane *lane, uint32_t place) {
  while (place < lane->way_count) {
    uint64_t rest = lane->pending[place / 64] >> (place % 64);
    if (rest)
      return place + (uint32_t)__builtin_ctzll(rest);
    place = (place / 64 + 1) * 64;
  }
  return lane->way_count;
}

void sambaNetworkFetch(const SambaNetwork *network, const uint32_t *lanes, size_t count) {
  enum { levels = 3, ahead = 4 };
  if (count > (levels + 1) * ahead)
    __builtin_prefetch(&network->lanes[lanes[(levels + 1) * ahead]], 1);
  for (int level = 1; level <= levels && count > (size_t)level * ahead; ++level) {
    const SambaLane *lane = &network->lanes[lanes[level * ahead]];
    uint32_t place = nextPending(lane, lane->turn);
    if (place == lane->way_count)
      place = nextPending(lane, 0);
    if (place == lane->way_count)
      continue;
    uint32_t way = lane->ways[place];
    const SambaFifo *fifo = &network->fifos[way];
    if (level == 3) {
      __builtin_prefetch(&network->ways[way], 1);
      __builtin_prefetch(fifo, 1);
    } else if (level == 2) {
      __builtin_prefetch(&network->fifos[network->ways[way].from], 1);
      __builtin_prefetch(&network->ways[fifo->first_branch], 1);
    } else {
      __builtin_prefetch(network->fifos[network->ways[way].from].when, 1);
      __builtin_prefetch(fifo->when, 1);
    }
  }
}

void sambaNetworkStepLane(SambaNetwork *network, uint32_t index) {
  SambaLane *lane = &network->lanes[index];
  uint64_t now = network->clock->now, next = SAMBA_NEVER;
  uint32_t turn = lane->turn;
  bool passed = false;

  /* Once around, from the one whose turn it is. */
  for (int half = 0; half < (turn ? 2 : 1); ++half) {
    uint32_t end = half ? turn : lane->way_count;
    for (uint32_t place = nextPending(lane, half ? 0 : turn); place < end;
         place = nextPending(lane, place + 1)) {
      const SambaWay *way = &network->ways[lane->ways[place]];
      uint64_t ready = wayIsReadyAt(network, lane->ways[place]);
      if (ready <= now && !passed) {
        pass(network, lane->ways[place], now);
        passed = true;
        lane->turn = place + 1 == lane->way_count ? 0 : place + 1;
        if (hasVectorFor(network, way)) {
          ready = wayIsReadyAt(network, lane->ways[place]);
        } else {
          ready = SAMBA_NEVER;
          lane->pending[place / 64] &= ~pendingBit(way);
        }
      }
      sambaKeepEarlier(&next, ready);
    }
  }

  moveOverLinks(network);
  if (next != SAMBA_NEVER)
    sambaClockWake(network->clock, SAMBA_PART_LANE, index, sambaLater(next, now + 1));
}

/* Counts the vectors that lanes carried into a FIFO and the FIFOs behind it. */
static void countCarried(const SambaNetwork *network, uint32_t index, uint64_t vectors,
                         uint64_t *carried) {
  const SambaFifo *fifo = &network->fifos[index];
  const SambaWay *way = &network->ways[index];
  if (!way->fed_by_unit && !isLink(way))
    carried[way->lane] += vectors;
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    countCarried(network, fifo->first_branch + i, vectors, carried);
}

uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network) {
  uint64_t *carried = sambaAllocateZeroed(network->lane_count, sizeof *carried), most = 0;
  for (uint32_t s = 0; s < network->stream_count; ++s) {
    const SambaStreamRoots *roots = &network->streams[s];
    const SambaFifo *first = &network->fifos[roots->roots[0].fifo];
    if (first->is_control)
      continue;
    most = sambaLater(most, roots->sent);
    countCarried(network, roots->roots[0].fifo, roots->sent, carried);
  }
  for (uint32_t l = 0; l < network->lane_count; ++l)
    most = sambaLater(most, carried[l]);
  for (uint32_t e = 0; e < network->entrance_count; ++e)
    most = sambaLater(most, network->entrances[e].carried);
  free(carried);
  return most;
}
