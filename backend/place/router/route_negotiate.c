/* Routing: negotiated congestion over the mesh, the algorithm.
 *
 * Every net grows a tree, destination after destination, the nearest to the tree first: a search
 * (A*) from all of the tree to the destination, over channels, so that the turn rule is part of the
 * graph. A channel costs its latency, more when it is crowded, much more when it would be overused;
 * what stays overused after a round becomes dearer for good (history) and the nets on it are routed
 * again. */
#include "backend/place/router/routing.h"

#include <stdlib.h>
#include <string.h>

enum {
  COST_SCALE = 16,   /* cost units per cycle of latency */
  DEAREST = 1 << 20, /* a channel never costs more, so that path costs fit 32 bits */
  MOST_ROUNDS = 60,
  PATIENCE = 20, /* rounds without fewer overused channels before giving up */
};

typedef struct {
  uint64_t key; /* estimate of the whole path, then newest first */
  uint32_t cost, channel;
} HeapItem;

typedef struct {
  SambaRouting *r;
  uint32_t *base;      /* per channel: latency in cost units; 0: no such channel */
  uint32_t *history;   /* per channel: added to base */
  uint32_t stride;     /* lanes of the larger class */
  uint32_t *lane_load; /* permille, at channel * stride + lane */
  uint32_t *lane_flows;
  uint32_t *room_load; /* per channel: load of the emptiest lane; a lane without flow ids counts as
                          full */
  uint32_t pressure;   /* price of overuse in this round */
  /* Geometry, for the inner loops: where a channel leads, and the place of a switch. */
  uint32_t *next;
  uint16_t *node_x, *node_y;
  /* Distances for the estimate. */
  const uint32_t *column_cost;
  uint32_t row_cost;
  /* Search state, valid where the stamp says so. */
  uint32_t *stamp, *cost,
      *from; /* from: branch index of the tree, or 0x80000000 | previous channel */
  uint32_t search;
  uint32_t *tree_stamp; /* per channel: part of the tree of net `tree_search` */
  uint32_t *node_stamp; /* per switch: reached by that tree, by branch node_branch */
  uint32_t *node_branch;
  uint32_t tree_search;
  SAMBA_ARRAY(HeapItem) heap;
  SAMBA_ARRAY(uint32_t) path;
  SAMBA_ARRAY(uint32_t) sink_distance;
  uint32_t sequence;
} Search;

#define FROM_CHANNEL 0x80000000u

static void heapPush(Search *s, HeapItem item) {
  sambaArrayAppend(&s->heap, item);
  size_t i = s->heap.size - 1;
  HeapItem *data = s->heap.data;
  while (i && data[(i - 1) / 2].key > item.key) {
    data[i] = data[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  data[i] = item;
}

static HeapItem heapPop(Search *s) {
  HeapItem *data = s->heap.data;
  HeapItem top = data[0];
  HeapItem last = data[--s->heap.size];
  size_t i = 0;
  size_t size = s->heap.size;

  for (size_t child; (child = 2 * i + 1) < size; i = child) {
    if (child + 1 < size && data[child + 1].key < data[child].key)
      ++child;
    if (data[child].key >= last.key)
      break;
    data[i] = data[child];
  }

  if (size)
    data[i] = last;
  return top;
}

/* The turn rules (route.h): may a stream that travels towards `side` go on towards `next` in column
 * x? Class 1 is the mirror image of class 0; from class 0 to class 1 every turn is free, and there
 * is no way back. */
static bool turnAllowed(int32_t x, uint32_t side, uint32_t class, uint32_t next,
                        uint32_t next_class) {
  if ((side ^ next) == 2 || next_class < class)
    return false;
  if (next_class > class)
    return true;
  uint32_t east = class ? SAMBA_SWITCH_WEST : SAMBA_SWITCH_EAST;
  if ((x & 1) == 0)
    return !(side == east && next != east);
  return !(next == (east ^ 2) && side != next);
}

static uint32_t estimate(const Search *s, uint32_t node, int32_t toX, int32_t to_y) {
  int32_t x = s->node_x[node];
  int32_t y = s->node_y[node];
  uint32_t a = s->column_cost[x];
  uint32_t b = s->column_cost[toX];
  return (a > b ? a - b : b - a) + (uint32_t)abs(y - to_y) * s->row_cost;
}

static uint32_t channelCost(const Search *s, uint32_t channel, uint32_t rate) {
  uint64_t base = (uint64_t)s->base[channel] + s->history[channel];
  uint32_t after = s->room_load[channel] + rate;
  if (after <= SAMBA_LANE_CAPACITY)
    base += s->base[channel] * after / 4096;
  else
    base += base * s->pressure * (after - SAMBA_LANE_CAPACITY + 250) / 4096;
  return base < DEAREST ? (uint32_t)base : DEAREST;
}

static uint32_t lanesOf(const Search *s, uint32_t channel) {
  return s->r->class_lanes[sambaChannelClass(channel)];
}

static void updateRoom(Search *s, uint32_t channel) {
  uint32_t best = SAMBA_NO_INDEX;
  for (size_t i = (size_t)channel * s->stride, end = i + lanesOf(s, channel); i < end; ++i) {
    uint32_t load = s->lane_load[i] + (s->lane_flows[i] >= s->r->flows ? SAMBA_LANE_CAPACITY : 0);
    best = load < best ? load : best;
  }
  s->room_load[channel] = best;
}

/* Puts a net on the fullest lane that has room, else on the emptiest one. */
static uint16_t occupy(Search *s, uint32_t channel, uint32_t rate) {
  uint32_t best = SAMBA_NO_INDEX, emptiest = 0;
  size_t first = (size_t)channel * s->stride;

  for (uint32_t lane = 0; lane < lanesOf(s, channel); ++lane) {
    uint32_t load = s->lane_load[first + lane];
    if (load < s->lane_load[first + emptiest])
      emptiest = lane;
    if (load + rate <= SAMBA_LANE_CAPACITY && s->lane_flows[first + lane] < s->r->flows &&
        (best == SAMBA_NO_INDEX || load > s->lane_load[first + best]))
      best = lane;
  }

  uint32_t lane = best == SAMBA_NO_INDEX ? emptiest : best;
  s->lane_load[first + lane] += rate;
  ++s->lane_flows[first + lane];
  updateRoom(s, channel);

  return (uint16_t)lane;
}

static void release(Search *s, SambaNet *net) {
  for (size_t b = 0; b < net->tree.size; ++b) {
    SambaBranch branch = net->tree.data[b];
    size_t i = (size_t)branch.channel * s->stride + branch.lane;
    s->lane_load[i] -= net->rate;
    --s->lane_flows[i];
    updateRoom(s, branch.channel);
  }
  net->tree.size = 0;
}

/* Opens the ways on from a switch that was reached through channel `arrival` (SAMBA_NO_INDEX:
 * from the source). */
static void expand(Search *s, const SambaNet *net, uint32_t node, uint32_t arrival, uint32_t cost,
                   uint32_t from, int32_t to_x, int32_t to_y) {
  int32_t x = s->node_x[node];
  for (uint32_t channel = sambaChannel(node, 0, 0), end = sambaChannel(node + 1, 0, 0);
       channel < end; ++channel) {
    if (!s->base[channel] || s->tree_stamp[channel] == s->tree_search)
      continue;
    if (arrival != SAMBA_NO_INDEX &&
        !turnAllowed(x, sambaChannelSide(arrival), sambaChannelClass(arrival),
                     sambaChannelSide(channel), sambaChannelClass(channel)))
      continue;
    uint32_t total = cost + channelCost(s, channel, net->rate);
    if (s->stamp[channel] == s->search && s->cost[channel] <= total)
      continue;
    s->stamp[channel] = s->search;
    s->cost[channel] = total;
    s->from[channel] = from;
    uint64_t key = (uint64_t)(total + estimate(s, s->next[channel], to_x, to_y)) << 24 |
                   (0xffffff - (s->sequence++ & 0xffffff));
    heapPush(s, (HeapItem){key, total, channel});
  }
}

/* Adds the cheapest path from the tree to a switch. There always is one: the odd-even rule leaves a
 * shortest path. */
static void connect(Search *s, SambaNet *net, uint32_t sink) {
  int32_t toX = s->node_x[sink];
  int32_t toY = s->node_y[sink];

  ++s->search;
  s->heap.size = 0;
  s->sequence = 0;

  /* The part of the tree that lies nearest is expanded first: seeds enter the heap through their
   * estimates. */
  expand(s, net, net->source, SAMBA_NO_INDEX, 0, (uint32_t)net->tree.size, toX, toY);
  for (size_t b = 0; b < net->tree.size; ++b)
    expand(s, net, s->next[net->tree.data[b].channel], net->tree.data[b].channel, 0, (uint32_t)b,
           toX, toY);
  uint32_t source = (uint32_t)net->tree.size;
  uint32_t channel = SAMBA_NO_INDEX;

  while (s->heap.size) {
    HeapItem item = heapPop(s);
    if (s->cost[item.channel] != item.cost)
      continue;
    uint32_t node = s->next[item.channel];
    if (node == sink) {
      channel = item.channel;
      break;
    }

    expand(s, net, node, item.channel, item.cost, FROM_CHANNEL | item.channel, toX, toY);
  }

  s->path.size = 0;
  uint32_t from = FROM_CHANNEL | channel;
  while (from & FROM_CHANNEL) {
    sambaArrayAppend(&s->path, from & ~FROM_CHANNEL);
    from = s->from[from & ~FROM_CHANNEL];
  }

  uint32_t parent = from == source ? SAMBA_NO_INDEX : from;
  for (size_t i = s->path.size; i-- > 0;) {
    uint32_t next = s->path.data[i];
    uint32_t node = s->next[next];
    sambaArrayAppend(&net->tree, (SambaBranch){next, parent, occupy(s, next, net->rate), 0});
    parent = (uint32_t)net->tree.size - 1;
    s->tree_stamp[next] = s->tree_search;
    if (s->node_stamp[node] != s->tree_search) {
      s->node_stamp[node] = s->tree_search;
      s->node_branch[node] = parent;
    }
  }
}

static void routeNet(Search *s, SambaNet *net) {
  ++s->tree_search;
  s->sink_distance.size = 0;
  int32_t x = s->node_x[net->source];
  int32_t y = s->node_y[net->source];

  for (uint32_t i = 0; i < net->sink_count; ++i)
    sambaArrayAppend(&s->sink_distance, estimate(s, net->sinks[i], x, y));
  for (uint32_t i = 0; i < net->sink_count; ++i)
    net->sink_branch[i] = SAMBA_NO_INDEX;

  for (uint32_t left = net->sink_count; left > 0; --left) {
    uint32_t nearest = SAMBA_NO_INDEX;
    for (uint32_t i = 0; i < net->sink_count; ++i)
      if (net->sink_branch[i] == SAMBA_NO_INDEX &&
          (nearest == SAMBA_NO_INDEX || s->sink_distance.data[i] < s->sink_distance.data[nearest]))
        nearest = i;
    uint32_t sink = net->sinks[nearest];
    size_t old = net->tree.size;
    if (s->node_stamp[sink] != s->tree_search)
      connect(s, net, sink);
    net->sink_branch[nearest] = s->node_branch[sink];
    for (size_t b = old; b < net->tree.size; ++b) {
      uint32_t node = s->next[net->tree.data[b].channel];
      x = s->node_x[node];
      y = s->node_y[node];
      for (uint32_t i = 0; i < net->sink_count; ++i) {
        uint32_t distance =
            net->sink_branch[i] == SAMBA_NO_INDEX ? estimate(s, net->sinks[i], x, y) : UINT32_MAX;
        if (distance < s->sink_distance.data[i])
          s->sink_distance.data[i] = distance;
      }
    }
  }
}

/* By how much a channel's lanes exceed rate and flow ids together; 0: legal. */
static uint32_t overuse(const Search *s, uint32_t channel) {
  uint32_t total = 0;
  for (size_t i = (size_t)channel * s->stride, end = i + lanesOf(s, channel); i < end; ++i) {
    if (s->lane_load[i] > SAMBA_LANE_CAPACITY)
      total += s->lane_load[i] - SAMBA_LANE_CAPACITY;
    if (s->lane_flows[i] > s->r->flows)
      total += 100 * (s->lane_flows[i] - s->r->flows);
  }
  return total;
}

/* Nets come and go, which can leave a channel badly packed though all would fit: pack overused
 * channels afresh. */
static void repack(Search *s, const uint32_t *users, uint32_t *out_left) {
  SambaRouting *r = s->r;
  SAMBA_ARRAY(SambaLaneClaim) claims = {0};
  SAMBA_ARRAY(SambaBranch *) branches = {0};
  *out_left = 0;

  for (uint32_t c = 0; c < r->channel_count; ++c) {
    if (!users[c] || !overuse(s, c))
      continue;
    claims.size = branches.size = 0;
    for (uint32_t n = 0; n < r->net_count && branches.size < users[c]; ++n)
      for (size_t b = 0; b < r->nets[n].tree.size; ++b)
        if (r->nets[n].tree.data[b].channel == c) {
          sambaArrayAppend(&claims,
                           (SambaLaneClaim){r->nets[n].rate, (uint32_t)branches.size, 0, 0});
          sambaArrayAppend(&branches, &r->nets[n].tree.data[b]);
        }
    if (!sambaLanesAssign(claims.data, (uint32_t)claims.size, lanesOf(s, c), r->flows)) {
      ++*out_left;
      continue;
    }
    size_t first = (size_t)c * s->stride;
    memset(s->lane_load + first, 0, s->stride * sizeof *s->lane_load);
    memset(s->lane_flows + first, 0, s->stride * sizeof *s->lane_flows);
    for (size_t i = 0; i < claims.size; ++i) {
      branches.data[claims.data[i].index]->lane = claims.data[i].lane;
      s->lane_load[first + claims.data[i].lane] += claims.data[i].rate;
      ++s->lane_flows[first + claims.data[i].lane];
    }
    updateRoom(s, c);
  }

  sambaArrayFree(&claims);
  sambaArrayFree(&branches);
}

static void searchCreate(Search *s, SambaRouting *r) {
  *s = (Search){.r = r, .stride = r->class_lanes[0]}; /* class 0 has the odd lane */
  size_t channels = r->channel_count;
  size_t lanes = channels * s->stride;
  size_t nodes = channels / (4 * SAMBA_LANE_CLASSES);

  s->base = sambaAllocateZeroed(channels, sizeof *s->base);
  s->history = sambaAllocateZeroed(channels, sizeof *s->history);
  s->lane_load = sambaAllocateZeroed(lanes, sizeof *s->lane_load);
  s->lane_flows = sambaAllocateZeroed(lanes, sizeof *s->lane_flows);
  s->room_load = sambaAllocateZeroed(channels, sizeof *s->room_load);
  s->stamp = sambaAllocateZeroed(channels, sizeof *s->stamp);
  s->cost = sambaAllocateZeroed(channels, sizeof *s->cost);
  s->from = sambaAllocateZeroed(channels, sizeof *s->from);
  s->tree_stamp = sambaAllocateZeroed(channels, sizeof *s->tree_stamp);
  s->node_stamp = sambaAllocateZeroed(nodes, sizeof *s->node_stamp);
  s->node_branch = sambaAllocateZeroed(nodes, sizeof *s->node_branch);
  s->next = sambaAllocateZeroed(channels, sizeof *s->next);
  s->node_x = sambaAllocateZeroed(nodes, sizeof *s->node_x);
  s->node_y = sambaAllocateZeroed(nodes, sizeof *s->node_y);

  for (uint32_t node = 0; node < nodes; ++node) {
    s->node_x[node] = (uint16_t)(node % (uint32_t)r->width);
    s->node_y[node] = (uint16_t)(node / (uint32_t)r->width);
  }

  uint32_t *columns = sambaAllocateZeroed((size_t)r->width, sizeof *columns);
  for (int32_t x = 1; x < r->width; ++x)
    columns[x] =
        columns[x - 1] + COST_SCALE * (uint32_t)sambaMachineHopCycles(r->machine, x - 1, 0, x, 0);
  s->column_cost = columns;
  s->row_cost = COST_SCALE * (uint32_t)sambaMachineHopCycles(r->machine, 0, 0, 0, 1);

  for (uint32_t c = 0; c < r->channel_count; ++c) {
    uint32_t side = sambaChannelSide(c);
    int32_t x = s->node_x[sambaChannelSwitch(c)];
    if (sambaRoutingNext(r, c, &s->next[c]) && lanesOf(s, c))
      s->base[c] = side == SAMBA_SWITCH_EAST   ? columns[x + 1] - columns[x]
                   : side == SAMBA_SWITCH_WEST ? columns[x] - columns[x - 1]
                                               : s->row_cost;
  }
}

static void searchDestroy(Search *s) {
  void *arrays[] = {s->base,       s->history,    s->lane_load,   s->lane_flows,
                    s->room_load,  s->stamp,      s->cost,        s->from,
                    s->tree_stamp, s->node_stamp, s->node_branch, (void *)s->column_cost,
                    s->next,       s->node_x,     s->node_y};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
    free(arrays[i]);
  sambaArrayFree(&s->heap);
  sambaArrayFree(&s->path);
  sambaArrayFree(&s->sink_distance);
}

/* The channel that is overused most, for the error message. */
static uint32_t worstChannel(const Search *s, const uint32_t *users) {
  uint32_t worst = 0, most = 0;
  for (uint32_t c = 0; c < s->r->channel_count; ++c)
    if (users[c] && overuse(s, c) > most) {
      worst = c;
      most = overuse(s, c);
    }
  return worst;
}

bool sambaRoutingNegotiate(SambaRouting *r, uint32_t *out_channel) {
  Search s;
  searchCreate(&s, r);
  uint32_t *users = sambaAllocateZeroed(r->channel_count, sizeof *users);
  uint32_t left = 0, fewest = UINT32_MAX, waited = 0;

  s.pressure = 2;
  for (int round = 0; round < MOST_ROUNDS && waited < PATIENCE; ++round) {
    for (uint32_t n = 0; n < r->net_count; ++n) {
      SambaNet *net = &r->nets[n];
      bool again = round == 0;
      for (size_t b = 0; b < net->tree.size && !again; ++b)
        again = overuse(&s, net->tree.data[b].channel) > 0;
      if (again) {
        release(&s, net);
        routeNet(&s, net);
      }
    }
    memset(users, 0, r->channel_count * sizeof *users);
    for (uint32_t n = 0; n < r->net_count; ++n)
      for (size_t b = 0; b < r->nets[n].tree.size; ++b)
        ++users[r->nets[n].tree.data[b].channel];
    repack(&s, users, &left);
    if (!left)
      break;
    for (uint32_t c = 0; c < r->channel_count; ++c) {
      uint32_t over = users[c] ? overuse(&s, c) : 0;
      if (over)
        s.history[c] += s.base[c] * (over < 2000 ? over + 200 : 2200) / 1000;
    }
    s.pressure = s.pressure < 4096 ? s.pressure * 8 / 5 + 1 : 4096;
    waited = left < fewest ? 0 : waited + 1;
    fewest = left < fewest ? left : fewest;
  }

  if (left)
    *out_channel = worstChannel(&s, users);
  free(users);
  searchDestroy(&s);

  return left == 0;
}
