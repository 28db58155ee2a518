/* Routing: which lane and flow id of a link or of a unit's ports each stream gets. */
#include "backend/place/router/routing.h"

#include <stdlib.h>
#include <string.h>

static int compareClaims(const void *a, const void *b) {
  const SambaLaneClaim *ca = a, *cb = b;
  if (ca->rate != cb->rate)
    return ca->rate > cb->rate ? -1 : 1;
  return ca->index < cb->index ? -1 : ca->index > cb->index;
}

/* Largest first, each on the emptiest (spread) or the fullest lane that has room. */
static bool assignSorted(SambaLaneClaim *claims, uint32_t count, uint32_t lanes, uint32_t flows,
                         bool spread) {
  uint32_t load[64] = {0}, used[64] = {0};
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t best = lanes;
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (load[lane] + claims[i].rate > SAMBA_LANE_CAPACITY || used[lane] >= flows)
        continue;
      if (best == lanes || (spread ? load[lane] < load[best] : load[lane] > load[best]))
        best = lane;
    }
    if (best == lanes)
      return false;
    load[best] += claims[i].rate;
    claims[i].lane = (uint16_t)best;
    claims[i].flow = (uint16_t)used[best]++;
  }

  return true;
}

bool sambaLanesAssign(SambaLaneClaim *claims, uint32_t count, uint32_t lanes, uint32_t flows) {
  qsort(claims, count, sizeof *claims, compareClaims);
  return assignSorted(claims, count, lanes, flows, true) ||
         assignSorted(claims, count, lanes, flows, false);
}

void sambaRoutingAssignLanes(SambaRouting *routing) {
  /* Branches by channel: a counting sort over the channels in use. */
  uint32_t *start = sambaAllocateZeroed((size_t)routing->channel_count + 1, sizeof *start);
  size_t total = 0, most = 0;

  for (uint32_t n = 0; n < routing->net_count; ++n) {
    total += routing->nets[n].tree.size;
    for (size_t b = 0; b < routing->nets[n].tree.size; ++b)
      ++start[routing->nets[n].tree.data[b].channel + 1];
  }

  for (uint32_t c = 0; c < routing->channel_count; ++c) {
    most = start[c + 1] > most ? start[c + 1] : most;
    start[c + 1] += start[c];
  }

  typedef struct {
    const SambaNet *net;
    SambaBranch *branch;
  } User;
  User *users = sambaAllocateZeroed(total, sizeof *users);
  for (uint32_t n = 0; n < routing->net_count; ++n)
    for (size_t b = 0; b < routing->nets[n].tree.size; ++b) {
      SambaBranch *branch = &routing->nets[n].tree.data[b];
      users[start[branch->channel]++] = (User){&routing->nets[n], branch};
    }
  SambaLaneClaim *claims = sambaAllocateZeroed(most, sizeof *claims);

  for (size_t i = 0, j; i < total; i = j) {
    uint32_t class = sambaChannelClass(users[i].branch->channel);
    uint32_t lanes = routing->class_lanes[class];
    for (j = i; j < total && users[j].branch->channel == users[i].branch->channel; ++j)
      claims[j - i] = (SambaLaneClaim){sambaNetWish(users[j].net), (uint32_t)(j - i), 0, 0};
    if (!sambaLanesAssign(claims, (uint32_t)(j - i), lanes, routing->flows)) {
      for (size_t k = i; k < j; ++k)
        claims[k - i] = (SambaLaneClaim){users[k].net->load, (uint32_t)(k - i), 0, 0};
      sambaLanesAssign(claims, (uint32_t)(j - i), lanes, routing->flows);
    }
    for (size_t k = 0; k < j - i; ++k) {
      SambaBranch *branch = users[i + claims[k].index].branch;
      branch->lane = (uint16_t)(claims[k].lane + (class ? routing->class_lanes[0] : 0));
      branch->flow = claims[k].flow;
    }
  }

  free(claims);
  free(users);
  free(start);
}
