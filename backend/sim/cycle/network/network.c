/* How vectors move; see network.h. */
#include "backend/sim/cycle/network/network.h"

#include <stdlib.h>
#include <string.h>

/* What a vector does at every FIFO on its way is short, and calls cost the host more than that. */
#define ALONG_THE_WAY static inline __attribute__((always_inline))

/* A link may be able to pass a vector. */
static void list(SambaNetwork *network, uint32_t index) {
  if (network->ways[index].is_listed)
    return;
  network->ways[index].is_listed = true;
  network->listed[network->listed_count++] = index;
}

/* The cycle from which on a way has both a vector and room for it. */
static uint32_t readyAt(const SambaWay *way) {
  return way->vector_at > way->room_at ? way->vector_at : way->room_at;
}

/* The cycle that the slot of a vector keeps, by the vector's number. */
static uint64_t whenOf(const SambaNetwork *network, const SambaFifo *fifo, uint32_t number) {
  return network->since + *sambaFifoSlot(fifo, number);
}
static void setWhen(const SambaNetwork *network, SambaFifo *fifo, uint32_t number, uint64_t cycle) {
  *sambaFifoSlot(fifo, number) = (uint16_t)(cycle - network->since);
}

/* The cycle from which on the next vector can be put; SAMBA_NEVER: not before one is taken. */
static uint64_t roomAt(const SambaNetwork *network, const SambaFifo *fifo) {
  if (sambaFifoIsFull(fifo))
    return SAMBA_NEVER;
  return whenOf(network, fifo, (uint32_t)fifo->tail - fifo->depth);
}

static void wakeCrossing(SambaNetwork *network, const SambaWay *way) {
  if (readyAt(way) != UINT32_MAX)
    sambaClockWakeCrossing(network->clock, way->crossing, readyAt(way));
}

static void wakeUnit(SambaNetwork *network, uint32_t unit, bool memory, uint64_t at) {
  sambaClockWake(network->clock, memory ? SAMBA_PART_MEMORY : SAMBA_PART_UNIT, unit, at);
}

/* One more vector is in reach, from cycle `at` on, and so these are: tells who takes it, unless it
 * has others to take before. */
ALONG_THE_WAY void offer(SambaNetwork *network, const SambaFifo *fifo, uint32_t in_reach,
                         uint64_t at) {
  if (!fifo->branch_count)
    wakeUnit(network, fifo->taker, fifo->to_memory, at);
  if (fifo->branch_count == 1 && in_reach > 1)
    return;
  for (uint32_t b = 0; b < fifo->branch_count; ++b) {
    SambaWay *way = &network->ways[fifo->first_branch + b];
    if (way->crossing == SAMBA_NO_INDEX) {
      list(network, fifo->first_branch + b);
    } else if (way->vector_at == UINT32_MAX) {
      way->vector_at = (uint32_t)at;
      wakeCrossing(network, way);
    }
  }
}

/* When the vector that is put into a chain now reaches its end, if that was `at` without those
 * before it: the slot of the one that lies as far ahead as the last FIFO holds says when it left.
 */
static uint64_t reachesEndAt(const SambaNetwork *network, const SambaFifo *fifo, uint64_t at) {
  uint64_t credit_at = whenOf(network, fifo, (uint32_t)fifo->tail - fifo->chain.end_depth);
  uint64_t way_back = (fifo->chain.fifos - 1) * network->credit_cycles;
  return sambaLater(at + way_back, credit_at + fifo->chain.last_cycles) - way_back;
}

/* Puts a vector into a FIFO, to be seen from cycle `at` on. */
ALONG_THE_WAY void put(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  uint32_t count = sambaFifoCount(fifo);
  bool in_reach = !fifo->is_chain || count < fifo->chain.end_depth;
  if (fifo->is_chain && in_reach)
    at = reachesEndAt(network, fifo, at);
  setWhen(network, fifo, fifo->tail, at);
  ++fifo->tail;
  if (in_reach)
    offer(network, fifo, count + 1, at);
}

/* A vector left a chain in cycle `at`: another one can move to its last FIFO. */
static void moveUp(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  if (sambaFifoCount(fifo) < fifo->chain.end_depth)
    return;
  uint32_t number = fifo->head + fifo->chain.end_depth - 1u;
  at += network->credit_cycles + fifo->chain.last_cycles;
  at = sambaLater(at, whenOf(network, fifo, number));
  setWhen(network, fifo, number, at);
  offer(network, fifo, fifo->chain.end_depth, at);
}

/* The vector at the end of a chain leaves it in cycle `at`, or as soon as it can. Returns the cycle
 * from which on its sender has the credit. */
static uint64_t takeFromChain(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  at = sambaLater(at, fifo->chain.take_from);
  fifo->chain.take_from = (uint32_t)at + 1;
  uint64_t credit_at = at + fifo->chain.fifos * network->credit_cycles;
  setWhen(network, fifo, fifo->head, credit_at);
  ++fifo->head;
  moveUp(network, fifo, at);
  return credit_at;
}

/* A FIFO that was full has room from cycle `at` on: tells who fills it. */
static void offerRoom(SambaNetwork *network, uint32_t index, uint64_t at) {
  const SambaFifo *fifo = &network->fifos[index];
  if (fifo->fed_by_unit) {
    wakeUnit(network, fifo->from, fifo->from_memory, at);
  } else if (fifo->is_link) {
    list(network, index);
  } else {
    network->ways[index].room_at = (uint32_t)at;
    wakeCrossing(network, &network->ways[index]);
  }
}

/* The vector at the head of a FIFO leaves it in cycle `at`, and its credit takes so many cycles.
 * Whoever fills it knows when there is room, unless it was full. */
ALONG_THE_WAY void takeHead(SambaNetwork *network, uint32_t index, uint64_t at,
                            uint64_t credit_cycles) {
  SambaFifo *fifo = &network->fifos[index];
  uint64_t credit_at = at + credit_cycles;
  bool was_full = sambaFifoIsFull(fifo);
  if (fifo->is_chain) {
    credit_at = takeFromChain(network, fifo, at);
  } else {
    setWhen(network, fifo, fifo->head, credit_at);
    ++fifo->head;
  }
  if (was_full)
    offerRoom(network, index, credit_at);
}

/* Of a FIFO with several branches: per slot, the cycle in which the last of those that have passed
 * the vector on did so. The line of a near one stands before its branches. */
static uint32_t *passedCycles(const SambaNetwork *network, SambaFifo *fifo) {
  return fifo->is_near ? (uint32_t *)&network->fifos[fifo->first_branch - 1] : fifo->far_passed;
}

/* The vector at the head of a FIFO with several branches has gone all of them. */
static void endMulticast(SambaNetwork *network, SambaFifo *fifo) {
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    fifo->branches_left += --network->ways[fifo->first_branch + i].ahead == 0;
}

/* A vector goes the way into a FIFO in cycle `at`. */
ALONG_THE_WAY void pass(SambaNetwork *network, uint32_t index, uint64_t at) {
  SambaFifo *to = &network->fifos[index], *from = &network->fifos[to->from];
  put(network, to, at + to->cycles);
  if (from->branch_count > 1) {
    SambaWay *way = &network->ways[index];
    uint32_t slot = ((uint32_t)from->head + way->ahead) & from->mask;
    uint32_t *passed = &passedCycles(network, from)[slot];
    *passed = *passed > at ? *passed : (uint32_t)at;
    if (way->ahead++ || --from->branches_left)
      return;
    at = *passed;
    *passed = 0;
    endMulticast(network, from);
  }
  takeHead(network, to->from, at, network->credit_cycles);
}

/* The cycle from which on the next vector that goes a way can leave the FIFO before it, SAMBA_NEVER
 * when there is none. */
static uint64_t nextVectorAt(const SambaNetwork *network, uint32_t index) {
  const SambaFifo *from = &network->fifos[network->fifos[index].from];
  return sambaNetworkVectorAt(network, from, network->ways[index].ahead);
}

/* Passes all vectors over links whose cycles are known by now. */
static void moveOverListed(SambaNetwork *network) {
  while (network->listed_count) {
    uint32_t index = network->listed[--network->listed_count];
    const SambaFifo *to = &network->fifos[index];
    SambaWay *way = &network->ways[index];
    way->is_listed = false;
    while (!sambaFifoIsFull(to)) {
      uint64_t vector_at = nextVectorAt(network, index);
      if (vector_at == SAMBA_NEVER)
        break;
      uint64_t at = sambaLater(sambaLater(vector_at, roomAt(network, to)), way->link_free_at);
      way->link_free_at = (uint32_t)at + 1;
      pass(network, index, at);
    }
  }
}
ALONG_THE_WAY void moveOverLinks(SambaNetwork *network) {
  if (network->listed_count)
    moveOverListed(network);
}

void sambaNetworkTake(SambaNetwork *network, uint32_t fifo) {
  bool is_control = network->fifos[fifo].is_control;
  takeHead(network, fifo, network->clock->now, is_control ? 1 : network->credit_cycles);
  moveOverLinks(network);
}

/* Streams that leave by one port of a unit take turns: who used it in the cycle before waits for
 * one who wanted it then. */
static bool entranceIsFree(SambaNetwork *network, const SambaStreamRoots *stream) {
  if (stream->entrance == SAMBA_NO_INDEX)
    return true;
  SambaEntrance *entrance = &network->entrances[stream->entrance];
  uint64_t now = network->clock->now + 1;
  bool other_goes_first = entrance->wanted_at + 1 == now && entrance->wanted_by != stream->index &&
                          entrance->used_by == stream->index;
  if (entrance->used_at != now && !other_goes_first)
    return true;
  if (entrance->wanted_at != now && entrance->used_by != stream->index) {
    entrance->wanted_at = now;
    entrance->wanted_by = stream->index;
  }
  return false;
}

uint64_t sambaNetworkRoomAt(SambaNetwork *network, const SambaStreamRoots *stream) {
  uint64_t at = roomAt(network, &network->fifos[stream->first.fifo]);
  for (uint32_t r = 1; r < stream->count; ++r)
    at = sambaLater(at, roomAt(network, &network->fifos[stream->others[r - 1].fifo]));
  if (at <= network->clock->now && !entranceIsFree(network, stream))
    return network->clock->now + 1;
  return at;
}

void sambaNetworkSend(SambaNetwork *network, SambaStreamRoots *stream) {
  uint64_t now = network->clock->now;
  ++stream->sent;

  if (stream->entrance != SAMBA_NO_INDEX) {
    SambaEntrance *entrance = &network->entrances[stream->entrance];
    entrance->used_at = now + 1;
    entrance->used_by = stream->index;
    ++entrance->carried;
  }

  put(network, &network->fifos[stream->first.fifo], now + stream->first.cycles);
  for (uint32_t r = 1; r < stream->count; ++r)
    put(network, &network->fifos[stream->others[r - 1].fifo], now + stream->others[r - 1].cycles);
  moveOverLinks(network);
}

/* The first member of a set of crossings in [from, end); `end`: there is none. */
static uint32_t firstOf(const uint64_t *set, uint32_t from, uint32_t end) {
  for (uint32_t word = from / 64; from < end; from = ++word * 64) {
    uint64_t rest = set[word] >> from % 64;
    if (rest)
      return from + (uint32_t)__builtin_ctzll(rest) < end ? from + (uint32_t)__builtin_ctzll(rest)
                                                          : end;
  }
  return end;
}

/* Every lane of a word chooses who crosses it in this cycle: of those that are ready, the first one
 * behind the one that crossed last, or the first one. What is done to the whole word is done to
 * each of its lanes: where the guard is set and the first bit subtracted, the bits below the lowest
 * ready one turn, and the guard when there is none. */
static uint64_t choose(SambaLanes *lanes, uint64_t ready) {
  uint64_t behind = ready & lanes->behind;
  uint64_t past_behind = (behind | lanes->guards) - lanes->firsts;
  uint64_t past_ready = (ready | lanes->guards) - lanes->firsts;
  uint64_t goes_on = past_behind & lanes->guards; /* lanes with somebody behind */
  uint64_t begins_anew = ~(goes_on - (goes_on >> lanes->size));
  uint64_t chosen = (behind & ~past_behind) | (ready & ~past_ready & begins_anew);

  uint64_t crossed = past_ready & lanes->guards; /* lanes with somebody */
  lanes->behind &= ~(crossed - (crossed >> lanes->size));
  lanes->behind |= crossed - (chosen << 1);
  return chosen;
}

/* The same of a lane whose crossings fill words of their own, from `first` on. */
static uint32_t chooseOfMany(SambaLanes *lane, const uint64_t *set, uint32_t first) {
  uint32_t end = first + lane->size;
  uint32_t chosen = firstOf(set, first + lane->turn, end);
  if (chosen == end)
    chosen = firstOf(set, first, end);
  if (chosen == end)
    return SAMBA_NO_INDEX;
  lane->turn = chosen + 1 - first;
  return chosen;
}

/* Notes who was chosen among the crossings of a word. */
static void noteChosen(SambaNetwork *network, uint32_t word, uint64_t chosen) {
  for (uint64_t rest = chosen; rest; rest &= rest - 1) {
    uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(rest);
    SambaCrossing crossing = network->crossings[index];
    uint32_t list = crossing.sort;
    if (network->share_of)
      list += network->share_of[index] * SAMBA_WAY_SORTS;
    network->chosen[list][network->counts[list]++] = crossing.way;
  }
}

/* Every lane of the share chooses; the others go to the set of the next cycle. */
static void chooseAll(SambaNetwork *network, uint64_t *set) {
  uint64_t next = network->clock->now + 1, waits = 0;
  uint64_t *next_set = sambaClockCrossings(network->clock, next);
  uint32_t of_many = SAMBA_NO_INDEX; /* who was chosen of the lane with words of its own */
  for (uint32_t i = 0; i < network->word_count; ++i) {
    uint32_t w = network->words[i];
    SambaLanes *lanes = &network->lanes[w];
    uint64_t chosen = 0;
    if (lanes->size <= SAMBA_LANES_LARGEST) {
      if (!set[w])
        continue;
      chosen = choose(lanes, set[w]);
    } else {
      if (lanes->firsts)
        of_many = chooseOfMany(lanes, set, w * 64);
      if (of_many / 64 == w)
        chosen = UINT64_C(1) << of_many % 64;
    }

    noteChosen(network, w, chosen);
    next_set[w] |= set[w] & ~chosen;
    waits |= set[w] & ~chosen;
    set[w] = 0;
  }
  if (waits)
    sambaClockUseCrossings(network->clock, next, true);
}

/* Removes those that were woken to look again, and are not ready. */
static void lookAgain(SambaNetwork *network, uint64_t *set) {
  for (uint32_t i = 0; i < network->word_count; ++i) {
    uint32_t w = network->words[i];
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      uint32_t bit = (uint32_t)__builtin_ctzll(rest);
      const SambaWay *way = &network->ways[network->crossings[w * 64 + bit].way];
      if (readyAt(way) <= network->clock->now)
        continue;
      set[w] &= ~(UINT64_C(1) << bit);
      wakeCrossing(network, way);
    }
  }
}

/* The set of the crossings that are woken for the cycle, complete in the share's words: with those
 * that other shares have woken. */
static uint64_t *gatherSet(const SambaNetwork *network) {
  uint64_t now = network->clock->now;
  uint64_t *set = sambaClockCrossings(network->clock, now);
  for (uint32_t s = 0; s < network->share_count; ++s) {
    uint64_t *more = sambaClockCrossings(network->shares[s]->clock, now);
    for (uint32_t i = 0; i < network->word_count && more != set; ++i) {
      uint32_t w = network->words[i];
      if (!more[w])
        continue;
      set[w] |= more[w];
      more[w] = 0;
    }
  }
  return set;
}

void sambaNetworkChoose(SambaNetwork *network, bool looks_again) {
  memset(network->counts, 0, network->share_count * SAMBA_WAY_SORTS * sizeof *network->counts);
  uint64_t *set = gatherSet(network);
  if (looks_again)
    lookAgain(network, set);
  chooseAll(network, set);
}

/* A vector has crossed in this cycle: wakes the way for the next one. */
ALONG_THE_WAY void wakeAgain(SambaNetwork *network, SambaWay *way, uint64_t now) {
  uint32_t at = readyAt(way);
  if (at != UINT32_MAX)
    sambaClockWakeCrossing(network->clock, way->crossing, sambaLater(at, now + 1));
}

static void cross(SambaNetwork *network, uint32_t index, uint64_t now) {
  SambaWay *way = &network->ways[index];
  pass(network, index, now);
  way->vector_at = (uint32_t)sambaEarlier(nextVectorAt(network, index), UINT32_MAX);
  way->room_at = (uint32_t)sambaEarlier(roomAt(network, &network->fifos[index]), UINT32_MAX);
  moveOverLinks(network);
  wakeAgain(network, way, now);
}

/* The same of a plain way, as most of them are. */
static void crossPlain(SambaNetwork *network, uint32_t index, uint64_t now) {
  SambaWay *way = &network->ways[index];
  SambaFifo *to = &network->fifos[index], *from = &network->fifos[to->from];
  uint32_t since = (uint32_t)network->since, cycle = (uint32_t)now;
  uint32_t tail = to->tail, count = (uint16_t)(tail - to->head) + 1u;
  to->near[tail % SAMBA_FIFO_NEAR] = (uint16_t)(cycle + to->cycles - since);
  to->tail = (uint16_t)++tail;
  bool is_full = count == to->depth;
  way->room_at = is_full ? UINT32_MAX : since + to->near[(tail - to->depth) % SAMBA_FIFO_NEAR];
  offer(network, to, count, now + to->cycles);

  uint32_t head = from->head, left = (uint16_t)(from->tail - head) - 1u;
  uint32_t credit_at = cycle + (uint32_t)network->credit_cycles;
  from->near[head % SAMBA_FIFO_NEAR] = (uint16_t)(credit_at - since);
  from->head = (uint16_t)++head;
  way->vector_at = left ? since + from->near[head % SAMBA_FIFO_NEAR] : UINT32_MAX;
  if (left + 1 == from->depth)
    offerRoom(network, to->from, credit_at);
  moveOverLinks(network);
  wakeAgain(network, way, now);
}

/* Fetches what those that cross soon need into the host's cache. */
static void fetchWays(const SambaNetwork *network, const uint32_t *ways, size_t count) {
  enum { far = 12, middle = 8, near = 4 };
  if (count <= far)
    return;
  const SambaFifo *fifos = network->fifos;
  __builtin_prefetch(&fifos[ways[far]], 1);
  __builtin_prefetch(&network->ways[ways[far]], 1);
  const SambaFifo *to = &fifos[ways[middle]];
  __builtin_prefetch(&fifos[to->from], 1);
  if (to->branch_count)
    __builtin_prefetch(&network->ways[to->first_branch], 1);
  to = &fifos[ways[near]];
  sambaNetworkFetchBehind(network, to);
  const SambaFifo *from = &fifos[to->from];
  if (!from->is_near)
    __builtin_prefetch(sambaFifoSlot(from, from->head), 1);
  if (from->branch_count > 1)
    __builtin_prefetch(&fifos[from->first_branch - 1], 1);
}

/* Lists what crosses in this share, and returns how many. Ways of a sort go one after the other:
 * the host guesses its branches better. */
static size_t listPassages(SambaNetwork *network, size_t *out_plain) {
  size_t count = 0;
  for (uint32_t sort = 0; sort < SAMBA_WAY_SORTS; ++sort) {
    uint32_t list = network->share * SAMBA_WAY_SORTS + sort;
    for (uint32_t s = 0; s < network->share_count; ++s) {
      const SambaNetwork *chooser = network->shares[s];
      uint32_t chosen = chooser->counts[list];
      memcpy(network->passages + count, chooser->chosen[list], chosen * sizeof(uint32_t));
      count += chosen;
    }
    if (sort + 1 == SAMBA_WAY_PLAIN_SORTS)
      *out_plain = count;
  }
  return count;
}

/* Lanes do not see each other's work within a cycle. So all of them choose, and then those who were
 * chosen cross. */
size_t sambaNetworkCross(SambaNetwork *network) {
  uint64_t now = network->clock->now;
  size_t plain = 0, count = listPassages(network, &plain);
  for (size_t i = 0; i < plain; ++i) {
    fetchWays(network, network->passages + i, count - i);
    crossPlain(network, network->passages[i], now);
  }
  for (size_t i = plain; i < count; ++i) {
    fetchWays(network, network->passages + i, count - i);
    cross(network, network->passages[i], now);
  }
  return count;
}

/* The slots of a FIFO and of those behind it count from a cycle that is so much later. */
static void countFrom(SambaNetwork *network, uint32_t index, uint64_t passed) {
  SambaFifo *fifo = &network->fifos[index];
  sambaFifoCountFrom(fifo, passed);
  for (uint32_t b = 0; b < fifo->branch_count; ++b)
    countFrom(network, fifo->first_branch + b, passed);
}

void sambaNetworkBeginWindow(SambaNetwork *network) {
  uint64_t passed = network->clock->now - network->since;
  if (passed < SAMBA_FIFO_BEHIND)
    return;
  for (uint32_t s = 0; s < network->stream_count; ++s) {
    const SambaStreamRoots *stream = &network->streams[s];
    for (uint32_t r = 0; r < stream->count; ++r)
      countFrom(network, r ? stream->others[r - 1].fifo : stream->first.fifo, passed);
  }
  network->since = network->clock->now;
}

uint64_t sambaNetworkLookahead(const SambaNetwork *network) {
  return sambaEarlier((uint64_t)network->machine->hop_cycles, network->credit_cycles);
}

/* Counts the vectors that lanes carried into a FIFO and the FIFOs behind it. */
static void countCarried(const SambaNetwork *network, uint32_t index, uint64_t vectors,
                         uint64_t *carried) {
  const SambaFifo *fifo = &network->fifos[index];
  if (!fifo->fed_by_unit && !fifo->is_link)
    carried[network->lane_of[network->ways[index].crossing]] += vectors;
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    countCarried(network, fifo->first_branch + i, vectors, carried);
}

uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network) {
  uint64_t *carried = sambaAllocateZeroed(network->lane_count, sizeof *carried), most = 0;
  for (uint32_t s = 0; s < network->stream_count; ++s) {
    const SambaStreamRoots *roots = &network->streams[s];
    const SambaFifo *first = &network->fifos[roots->first.fifo];
    if (first->is_control)
      continue;
    most = sambaLater(most, roots->sent);
    countCarried(network, roots->first.fifo, roots->sent, carried);
  }
  for (uint32_t l = 0; l < network->lane_count; ++l)
    most = sambaLater(most, carried[l]);
  for (uint32_t e = 0; e < network->entrance_count; ++e)
    most = sambaLater(most, network->entrances[e].carried);
  free(carried);
  return most;
}
