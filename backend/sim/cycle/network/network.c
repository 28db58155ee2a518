/* How vectors move; see network.h. */
#include "backend/sim/cycle/network/network.h"

/* From the cycle in which a vector leaves a FIFO until its sender has the credit: what is left of
 * the credit's round trip after the hop. */
static uint64_t creditCycles(const SambaMachine *machine) {
  int64_t rest = machine->credit_cycles - machine->hop_cycles;
  return rest > 1 ? (uint64_t)rest : 1;
}

static void wakeTakers(SambaNetwork *network, const SambaFifo *fifo, uint64_t at) {
  if (fifo->taker != SAMBA_NO_INDEX)
    sambaClockWake(network->clock, SAMBA_PART_UNIT, fifo->taker, at);
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    sambaClockWake(network->clock, SAMBA_PART_LANE, network->branches[fifo->first_branch + i].lane,
                   at);
}

static void takeHead(SambaNetwork *network, SambaFifo *fifo) {
  uint64_t credit_at = network->clock->now + creditCycles(network->machine);
  if (fifo->is_control)
    credit_at = network->clock->now + 1;
  sambaFifoTake(fifo, credit_at);
  sambaClockWake(network->clock, fifo->fed_by_unit ? SAMBA_PART_UNIT : SAMBA_PART_LANE,
                 fifo->feeder, credit_at);
  fifo->branches_left = fifo->branch_count;
  for (uint32_t i = 0; i < fifo->branch_count; ++i)
    network->branches[fifo->first_branch + i].passed = false;
  /* Lanes that had passed the vector on before can go on with the next one. */
  if (fifo->count && fifo->branch_count > 1)
    wakeTakers(network, fifo, sambaLater(network->clock->now + 1, sambaFifoHeadAt(fifo)));
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
    sambaFifoPut(fifo, at);
    wakeTakers(network, fifo, at);
  }
}

/* The cycle from which on a branch can pass a vector on; SAMBA_NEVER: its lane is woken by the
 * vector or the credit that is missing. */
static uint64_t branchReadyAt(const SambaNetwork *network, const SambaBranch *branch) {
  if (branch->passed)
    return SAMBA_NEVER;
  uint64_t head = sambaFifoHeadAt(&network->fifos[branch->from]);
  uint64_t room = sambaFifoRoomAt(&network->fifos[branch->to]);
  return head > room ? head : room;
}

static void passOn(SambaNetwork *network, SambaBranch *branch) {
  SambaFifo *from = &network->fifos[branch->from], *to = &network->fifos[branch->to];
  uint64_t arrival = network->clock->now + branch->cycles;
  sambaFifoPut(to, arrival);
  wakeTakers(network, to, arrival);
  branch->passed = true;
  if (--from->branches_left == 0)
    takeHead(network, from);
}

void sambaNetworkStepLane(SambaNetwork *network, uint32_t index) {
  SambaLane *lane = &network->lanes[index];
  uint64_t now = network->clock->now;

  for (uint32_t i = 0; i < lane->branch_count; ++i) {
    uint32_t place =
        lane->turn + i < lane->branch_count ? lane->turn + i : lane->turn + i - lane->branch_count;
    SambaBranch *branch = &network->branches[lane->branches[place]];
    if (branchReadyAt(network, branch) > now)
      continue;
    passOn(network, branch);
    ++lane->carried;
    lane->turn = place + 1 == lane->branch_count ? 0 : place + 1;
    break;
  }

  uint64_t next = SAMBA_NEVER;
  for (uint32_t i = 0; i < lane->branch_count; ++i)
    sambaKeepEarlier(&next, branchReadyAt(network, &network->branches[lane->branches[i]]));
  if (next != SAMBA_NEVER)
    sambaClockWake(network->clock, SAMBA_PART_LANE, index, next > now ? next : now + 1);
}

uint64_t sambaNetworkBusyMaximum(const SambaNetwork *network) {
  uint64_t most = 0;
  for (uint32_t l = 0; l < network->lane_count; ++l)
    most = network->lanes[l].carried > most ? network->lanes[l].carried : most;
  for (uint32_t e = 0; e < network->entrance_count; ++e)
    most = network->entrances[e].carried > most ? network->entrances[e].carried : most;
  return most;
}
