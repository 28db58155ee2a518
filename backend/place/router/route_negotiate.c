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

static void heapPush(Search *search, HeapItem item) {
  sambaArrayAppend(&search->heap, item);
  size_t i = search->heap.size - 1;
  HeapItem *data = search->heap.data;
  while (i && data[(i - 1) / 2].key > item.key) {
    data[i] = data[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  data[i] = item;
}

static HeapItem heapPop(Search *search) {
  HeapItem *data = search->heap.data;
  HeapItem top = data[0];
  HeapItem last = data[--search->heap.size];
  size_t i = 0;
  size_t size = search->heap.size;

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

static uint32_t estimate(const Search *search, uint32_t node, int32_t toX, int32_t to_y) {
  int32_t x = search->node_x[node];
  int32_t y = search->node_y[node];
  uint32_t a = search->column_cost[x];
  uint32_t b = search->column_cost[toX];
  return (a > b ? a - b : b - a) + (uint32_t)abs(y - to_y) * search->row_cost;
}

static uint32_t channelCost(const Search *search, uint32_t channel, uint32_t rate) {
  uint64_t base = (uint64_t)search->base[channel] + search->history[channel];
  uint32_t after = search->room_load[channel] + rate;
  if (after <= SAMBA_LANE_CAPACITY)
    base += search->base[channel] * after / 4096;
  else
    base += base * search->pressure * (after - SAMBA_LANE_CAPACITY + 250) / 4096;
  return base < DEAREST ? (uint32_t)base : DEAREST;
}

static uint32_t lanesOf(const Search *search, uint32_t channel) {
  return search->r->class_lanes[sambaChannelClass(channel)];
}

static void updateRoom(Search *search, uint32_t channel) {
  uint32_t best = SAMBA_NO_INDEX;
  for (size_t i = (size_t)channel * search->stride, end = i + lanesOf(search, channel); i < end;
       ++i) {
    uint32_t load = search->lane_load[i] +
                    (search->lane_flows[i] >= search->r->flows ? SAMBA_LANE_CAPACITY : 0);
    best = load < best ? load : best;
  }
  search->room_load[channel] = best;
}

/* Puts a net on the fullest lane that has room, else on the emptiest one. */
static uint16_t occupy(Search *search, uint32_t channel, uint32_t rate) {
  uint32_t best = SAMBA_NO_INDEX, emptiest = 0;
  size_t first = (size_t)channel * search->stride;

  for (uint32_t lane = 0; lane < lanesOf(search, channel); ++lane) {
    uint32_t load = search->lane_load[first + lane];
    if (load < search->lane_load[first + emptiest])
      emptiest = lane;
    if (load + rate <= SAMBA_LANE_CAPACITY && search->lane_flows[first + lane] < search->r->flows &&
        (best == SAMBA_NO_INDEX || load > search->lane_load[first + best]))
      best = lane;
  }

  uint32_t lane = best == SAMBA_NO_INDEX ? emptiest : best;
  search->lane_load[first + lane] += rate;
  ++search->lane_flows[first + lane];
  updateRoom(search, channel);

  return (uint16_t)lane;
}

static void release(Search *search, SambaNet *net) {
  for (size_t b = 0; b < net->tree.size; ++b) {
    SambaBranch branch = net->tree.data[b];
    size_t i = (size_t)branch.channel * search->stride + branch.lane;
    search->lane_load[i] -= net->rate;
    --search->lane_flows[i];
    updateRoom(search, branch.channel);
  }
  net->tree.size = 0;
}

/* Opens the ways on from a switch that was reached through channel `arrival` (SAMBA_NO_INDEX:
 * from the source). */
static void expand(Search *search, const SambaNet *net, uint32_t node, uint32_t arrival,
                   uint32_t cost, uint32_t from, int32_t to_x, int32_t to_y) {
  int32_t x = search->node_x[node];
  for (uint32_t channel = sambaChannel(node, 0, 0), end = sambaChannel(node + 1, 0, 0);
       channel < end; ++channel) {
    if (!search->base[channel] || search->tree_stamp[channel] == search->tree_search)
      continue;
    if (arrival != SAMBA_NO_INDEX &&
        !turnAllowed(x, sambaChannelSide(arrival), sambaChannelClass(arrival),
                     sambaChannelSide(channel), sambaChannelClass(channel)))
      continue;
    uint32_t total = cost + channelCost(search, channel, net->rate);
    if (search->stamp[channel] == search->search && search->cost[channel] <= total)
      continue;
    search->stamp[channel] = search->search;
    search->cost[channel] = total;
    search->from[channel] = from;
    uint64_t key = (uint64_t)(total + estimate(search, search->next[channel], to_x, to_y)) << 24 |
                   (0xffffff - (search->sequence++ & 0xffffff));
    heapPush(search, (HeapItem){key, total, channel});
  }
}

/* Adds the cheapest path from the tree to a switch. There always is one: the odd-even rule leaves a
 * shortest path. */
static void connect(Search *search, SambaNet *net, uint32_t sink) {
  int32_t toX = search->node_x[sink];
  int32_t toY = search->node_y[sink];

  ++search->search;
  search->heap.size = 0;
  search->sequence = 0;

  /* The part of the tree that lies nearest is expanded first: seeds enter the heap through their
   * estimates. */
  expand(search, net, net->source, SAMBA_NO_INDEX, 0, (uint32_t)net->tree.size, toX, toY);
  for (size_t b = 0; b < net->tree.size; ++b)
    expand(search, net, search->next[net->tree.data[b].channel], net->tree.data[b].channel, 0,
           (uint32_t)b, toX, toY);
  uint32_t source = (uint32_t)net->tree.size;
  uint32_t channel = SAMBA_NO_INDEX;

  while (search->heap.size) {
    HeapItem item = heapPop(search);
    if (search->cost[item.channel] != item.cost)
      continue;
    uint32_t node = search->next[item.channel];
    if (node == sink) {
      channel = item.channel;
      break;
    }

    expand(search, net, node, item.channel, item.cost, FROM_CHANNEL | item.channel, toX, toY);
  }

  search->path.size = 0;
  uint32_t from = FROM_CHANNEL | channel;
  while (from & FROM_CHANNEL) {
    sambaArrayAppend(&search->path, from & ~FROM_CHANNEL);
    from = search->from[from & ~FROM_CHANNEL];
  }

  uint32_t parent = from == source ? SAMBA_NO_INDEX : from;
  for (size_t i = search->path.size; i-- > 0;) {
    uint32_t next = search->path.data[i];
    uint32_t node = search->next[next];
    sambaArrayAppend(&net->tree, (SambaBranch){next, parent, occupy(search, next, net->rate), 0});
    parent = (uint32_t)net->tree.size - 1;
    search->tree_stamp[next] = search->tree_search;
    if (search->node_stamp[node] != search->tree_search) {
      search->node_stamp[node] = search->tree_search;
      search->node_branch[node] = parent;
    }
  }
}

static void routeNet(Search *search, SambaNet *net) {
  ++search->tree_search;
  search->sink_distance.size = 0;
  int32_t x = search->node_x[net->source];
  int32_t y = search->node_y[net->source];

  for (uint32_t i = 0; i < net->sink_count; ++i)
    sambaArrayAppend(&search->sink_distance, estimate(search, net->sinks[i], x, y));
  for (uint32_t i = 0; i < net->sink_count; ++i)
    net->sink_branch[i] = SAMBA_NO_INDEX;

  for (uint32_t left = net->sink_count; left > 0; --left) {
    uint32_t nearest = SAMBA_NO_INDEX;
    for (uint32_t i = 0; i < net->sink_count; ++i)
      if (net->sink_branch[i] == SAMBA_NO_INDEX &&
          (nearest == SAMBA_NO_INDEX ||
           search->sink_distance.data[i] < search->sink_distance.data[nearest]))
        nearest = i;
    uint32_t sink = net->sinks[nearest];
    size_t old = net->tree.size;
    if (search->node_stamp[sink] != search->tree_search)
      connect(search, net, sink);
    net->sink_branch[nearest] = search->node_branch[sink];
    for (size_t b = old; b < net->tree.size; ++b) {
      uint32_t node = search->next[net->tree.data[b].channel];
      x = search->node_x[node];
      y = search->node_y[node];
      for (uint32_t i = 0; i < net->sink_count; ++i) {
        uint32_t distance = net->sink_branch[i] == SAMBA_NO_INDEX
                                ? estimate(search, net->sinks[i], x, y)
                                : UINT32_MAX;
        if (distance < search->sink_distance.data[i])
          search->sink_distance.data[i] = distance;
      }
    }
  }
}

/* By how much a channel's lanes exceed rate and flow ids together; 0: legal. */
static uint32_t overuse(const Search *search, uint32_t channel) {
  uint32_t total = 0;
  for (size_t i = (size_t)channel * search->stride, end = i + lanesOf(search, channel); i < end;
       ++i) {
    if (search->lane_load[i] > SAMBA_LANE_CAPACITY)
      total += search->lane_load[i] - SAMBA_LANE_CAPACITY;
    if (search->lane_flows[i] > search->r->flows)
      total += 100 * (search->lane_flows[i] - search->r->flows);
  }
  return total;
}

/* Nets come and go, which can leave a channel badly packed though all would fit: pack overused
 * channels afresh. */
static void repack(Search *search, const uint32_t *users, uint32_t *out_left) {
  SambaRouting *routing = search->r;
  SAMBA_ARRAY(SambaLaneClaim) claims = {0};
  SAMBA_ARRAY(SambaBranch *) branches = {0};
  *out_left = 0;

  for (uint32_t c = 0; c < routing->channel_count; ++c) {
    if (!users[c] || !overuse(search, c))
      continue;
    claims.size = branches.size = 0;
    for (uint32_t n = 0; n < routing->net_count && branches.size < users[c]; ++n)
      for (size_t b = 0; b < routing->nets[n].tree.size; ++b)
        if (routing->nets[n].tree.data[b].channel == c) {
          sambaArrayAppend(&claims,
                           (SambaLaneClaim){routing->nets[n].rate, (uint32_t)branches.size, 0, 0});
          sambaArrayAppend(&branches, &routing->nets[n].tree.data[b]);
        }
    if (!sambaLanesAssign(claims.data, (uint32_t)claims.size, lanesOf(search, c), routing->flows)) {
      ++*out_left;
      continue;
    }
    size_t first = (size_t)c * search->stride;
    memset(search->lane_load + first, 0, search->stride * sizeof *search->lane_load);
    memset(search->lane_flows + first, 0, search->stride * sizeof *search->lane_flows);
    for (size_t i = 0; i < claims.size; ++i) {
      branches.data[claims.data[i].index]->lane = claims.data[i].lane;
      search->lane_load[first + claims.data[i].lane] += claims.data[i].rate;
      ++search->lane_flows[first + claims.data[i].lane];
    }
    updateRoom(search, c);
  }

  sambaArrayFree(&claims);
  sambaArrayFree(&branches);
}

static void searchCreate(Search *search, SambaRouting *routing) {
  *search =
      (Search){.r = routing, .stride = routing->class_lanes[0]}; /* class 0 has the odd lane */
  size_t channels = routing->channel_count;
  size_t lanes = channels * search->stride;
  size_t nodes = channels / (4 * SAMBA_LANE_CLASSES);

  search->base = sambaAllocateZeroed(channels, sizeof *search->base);
  search->history = sambaAllocateZeroed(channels, sizeof *search->history);
  search->lane_load = sambaAllocateZeroed(lanes, sizeof *search->lane_load);
  search->lane_flows = sambaAllocateZeroed(lanes, sizeof *search->lane_flows);
  search->room_load = sambaAllocateZeroed(channels, sizeof *search->room_load);
  search->stamp = sambaAllocateZeroed(channels, sizeof *search->stamp);
  search->cost = sambaAllocateZeroed(channels, sizeof *search->cost);
  search->from = sambaAllocateZeroed(channels, sizeof *search->from);
  search->tree_stamp = sambaAllocateZeroed(channels, sizeof *search->tree_stamp);
  search->node_stamp = sambaAllocateZeroed(nodes, sizeof *search->node_stamp);
  search->node_branch = sambaAllocateZeroed(nodes, sizeof *search->node_branch);
  search->next = sambaAllocateZeroed(channels, sizeof *search->next);
  search->node_x = sambaAllocateZeroed(nodes, sizeof *search->node_x);
  search->node_y = sambaAllocateZeroed(nodes, sizeof *search->node_y);

  for (uint32_t node = 0; node < nodes; ++node) {
    search->node_x[node] = (uint16_t)(node % (uint32_t)routing->width);
    search->node_y[node] = (uint16_t)(node / (uint32_t)routing->width);
  }

  uint32_t *columns = sambaAllocateZeroed((size_t)routing->width, sizeof *columns);
  for (int32_t x = 1; x < routing->width; ++x)
    columns[x] = columns[x - 1] +
                 COST_SCALE * (uint32_t)sambaMachineHopCycles(routing->machine, x - 1, 0, x, 0);
  search->column_cost = columns;
  search->row_cost = COST_SCALE * (uint32_t)sambaMachineHopCycles(routing->machine, 0, 0, 0, 1);

  for (uint32_t c = 0; c < routing->channel_count; ++c) {
    uint32_t side = sambaChannelSide(c);
    int32_t x = search->node_x[sambaChannelSwitch(c)];
    if (!sambaRoutingNext(routing, c, &search->next[c]) || !lanesOf(search, c))
      continue;
    search->base[c] = search->row_cost;
    if (side == SAMBA_SWITCH_EAST)
      search->base[c] = columns[x + 1] - columns[x];
    if (side == SAMBA_SWITCH_WEST)
      search->base[c] = columns[x] - columns[x - 1];
  }
}

static void searchDestroy(Search *search) {
  void *arrays[] = {search->base,       search->history,     search->lane_load,
                    search->lane_flows, search->room_load,   search->stamp,
                    search->cost,       search->from,        search->tree_stamp,
                    search->node_stamp, search->node_branch, (void *)search->column_cost,
                    search->next,       search->node_x,      search->node_y};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
    free(arrays[i]);
  sambaArrayFree(&search->heap);
  sambaArrayFree(&search->path);
  sambaArrayFree(&search->sink_distance);
}

/* The channel that is overused most, for the error message. */
static uint32_t worstChannel(const Search *search, const uint32_t *users) {
  uint32_t worst = 0, most = 0;
  for (uint32_t c = 0; c < search->r->channel_count; ++c)
    if (users[c] && overuse(search, c) > most) {
      worst = c;
      most = overuse(search, c);
    }
  return worst;
}

bool sambaRoutingNegotiate(SambaRouting *routing, uint32_t *out_channel) {
  Search s;
  searchCreate(&s, routing);
  uint32_t *users = sambaAllocateZeroed(routing->channel_count, sizeof *users);
  uint32_t left = 0, fewest = UINT32_MAX, waited = 0;

  s.pressure = 2;
  for (int round = 0; round < MOST_ROUNDS && waited < PATIENCE; ++round) {
    for (uint32_t n = 0; n < routing->net_count; ++n) {
      SambaNet *net = &routing->nets[n];
      bool again = round == 0;
      for (size_t b = 0; b < net->tree.size && !again; ++b)
        again = overuse(&s, net->tree.data[b].channel) > 0;
      if (again) {
        release(&s, net);
        routeNet(&s, net);
      }
    }
    memset(users, 0, routing->channel_count * sizeof *users);
    for (uint32_t n = 0; n < routing->net_count; ++n)
      for (size_t b = 0; b < routing->nets[n].tree.size; ++b)
        ++users[routing->nets[n].tree.data[b].channel];
    repack(&s, users, &left);
    if (!left)
      break;
    for (uint32_t c = 0; c < routing->channel_count; ++c) {
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
