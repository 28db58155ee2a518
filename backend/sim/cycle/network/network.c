/* How vectors move; see network.h. */
#include "backend/sim/cycle/network/network.h"

/* From the cycle in which a vector leaves a FIFO until its sender has the credit: what is left of
 * the credit's round trip after the hop. */
static uint64_t creditCycles(const SambaMachine *machine) {
  int64_t rest = machine->credit_cycles - machine->hop_cycles;
  return rest > 1 ? (uint64_t)rest : 1;
}

static uint64_t *pendingWord(const SambaNetwork *network, const SambaBranch *branch) {
  return &network->lanes[branch->lane].pending[branch->place / 64];
}

static uint64_t pendingBit(const SambaBranch *branch) {
  return UINT64_C(1) << (branch->place % 64);
}

/* Puts a vector into a FIFO, to be seen from cycle `at` on. */
static void put(SambaNetwork *network, SambaFifo *fifo, uint64_t at) {
  sambaFifoPut(fifo, at);
  if (fifo->taker != SAMBA_NO_INDEX)
    sambaClockWake(network->clock, SAMBA_PART_UNIT, fifo->taker, at);
  for (uint32_t i = 0; i < fifo->branch_count; ++i) {
    const SambaBranch *branch = &network->branches[fifo->first_branch + i];
    if (branch->ahead + 1 < fifo->count)
      continue; /* it has others to pass on before */
    *pendingWord(network, branch) |= pendingBit(branch);
    sambaClockWake(network->clock, SAMBA_PART_LANE, branch->lane, at);
  }
}

static void takeHead(SambaNetwork *network, SambaFifo *fifo) {
  uint64_t now = network->clock->now;
  uint64_t credit_at = now + (fifo->is_control ? 1 : creditCycles(network->machine));
  sambaFifoTake(fifo, credit_at);
  sambaClockWake(network->clock, fifo->fed_by_unit ? SAMBA_PART_UNIT : SAMBA_PART_LANE,
                 fifo->feeder, credit_at);
}

void sambaNetworkTake(SambaNetwork *network, uint32_t fifo) {
  takeHead(network, &network->fifos[fifo]);
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
  const SambaStreamRoots *roots = &network->streams[stream];
  uint64_t now = network->clock->now;

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
}

/* The cycle from which on a branch can pass its next vector on; SAMBA_NEVER: its lane is woken by
 * the credit that is missing. */
static uint64_t branchReadyAt(const SambaNetwork *network, const SambaBranch *branch) {
  const SambaFifo *from = &network->fifos[branch->from];
  uint64_t vector = from->when[sambaFifoSlot(from, branch->ahead)];
  return sambaLater(vector, sambaFifoRoomAt(&network->fifos[branch->to]));
}

static void passOn(SambaNetwork *network, SambaLane *lane, SambaBranch *branch) {
  SambaFifo *from = &network->fifos[branch->from];
  put(network, &network->fifos[branch->to], network->clock->now + branch->cycles);
  lane->turn = branch->place + 1 == lane->branch_count ? 0 : branch->place + 1;
  ++lane->carried;

  bool was_last = branch->ahead++ == 0 && --from->branches_left == 0;
  if (branch->ahead == from->count)
    *pendingWord(network, branch) &= ~pendingBit(branch);
  if (!was_last)
    return;
  takeHead(network, from);
  for (uint32_t i = 0; i < from->branch_count; ++i)
    from->branches_left += --network->branches[from->first_branch + i].ahead == 0;
}

/* The next branch with a vector from a place on; branch_count: there is none. */
static uint32_t nextPending(const SambaLane *lane, uint32_t place) {
  while (place < lane->branch_count) {
    uint64_t rest = lane->pending[place / 64] >> (place % 64);
    if (rest)
      return place + (uint32_t)__builtin_ctzll(rest);
    place = (place / 64 + 1) * 64;
  }
  return lane->branch_count;
}

void sambaNetworkFetch(const SambaNetwork *network, const uint32_t *lanes, size_t count) {
  enum { laneAhead = 12, branchAhead = 8, fifoAhead = 4 };
  if (count > laneAhead)
    __builtin_prefetch(&network->lanes[lanes[laneAhead]], 1);
  for (int level = 0; level < 2; ++level) {
    size_t ahead = level ? fifoAhead : branchAhead;
    if (count <= ahead)
      continue;
    const SambaLane *lane = &network->lanes[lanes[ahead]];
    uint32_t place = nextPending(lane, lane->turn);
    if (place == lane->branch_count)
      place = nextPending(lane, 0);
    if (place == lane->branch_count)
      continue;
    const SambaBranch *branch = &network->branches[lane->branches[place]];
    if (!level) {
      __builtin_prefetch(branch, 1);
      continue;
    }
    const char *fifos[] = {(const char *)&network->fifos[branch->from],
                           (const char *)&network->fifos[branch->to]};
    for (int f = 0; f < 2; ++f) {
      __builtin_prefetch(fifos[f], 1);
      __builtin_prefetch(fifos[f] + 64, 1);
    }
  }
}

void sambaNetworkStepLane(SambaNetwork *network, uint32_t index) {
  SambaLane *lane = &network->lanes[index];
  uint64_t now = network->clock->now, next = SAMBA_NEVER;
  uint32_t turn = lane->turn;
  bool passed = false;

  /* Once around, from the one whose turn it is. */
  for (int half = 0; half < 2; ++half) {
    uint32_t end = half ? turn : lane->branch_count;
    for (uint32_t place = nextPending(lane, half ? 0 : turn); place < end;
         place = nextPending(lane, place + 1)) {
      SambaBranch *branch = &network->branches[lane->branches[place]];
      uint64_t ready = branchReadyAt(network, branch);
      if (ready <= now && !passed) {
        passOn(network, lane, branch);
        passed = true;
        ready = branch->ahead < network->fifos[branch->from].count ? branchReadyAt(network, branch)
                                                                   : SAMBA_NEVER;
      }
      sambaKeepEarlier(&next, ready);
    }
  }

  if (next != SAMBA_NEVER)
    sambaClockWake(network->clock, SAMBA_PART_LANE, index, sambaLater(next, now + 1));
}

uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network) {
  uint64_t most = 0;
  for (uint32_t l = 0; l < network->lane_count; ++l)
    most = network->lanes[l].carried > most ? network->lanes[l].carried : most;
  for (uint32_t e = 0; e < network->entrance_count; ++e)
    most = network->entrances[e].carried > most ? network->entrances[e].carried : most;
  return most;
}
