/* Routing: negotiated congestion over the mesh, the algorithm.
 *
 * Every net grows a tree, destination after destination, the nearest to the tree first: a search
 * (A*) from all of the tree to the destination, over channels, so that the turn rule is part of the
 * graph. A channel costs its latency, more when it is crowded, much more when it would be overused;
 * what stays overused after a round becomes dearer for good (history) and the nets on it are routed
 * again. */
#include "backend/place/router/route_queue.h"
#include "backend/place/router/routing.h"

#include <stdlib.h>
#include <string.h>

enum {
  COST_SCALE = 16,    /* cost units per cycle of latency */
  DEAREST = 1 << 20,  /* a channel never costs more, so that path costs fit 32 bits */
  PATIENCE = 20,      /* rounds without fewer overused channels before giving up */
  PACE_ROUNDS = 3,    /* rounds over which it is seen how fast overused channels vanish */
  FEW_CHANNELS = 64,  /* of which that says nothing */
  FEW_LEFT = 8,       /* overused channels after the last round that are too many */
  FIRST_PRESSURE = 2, /* of the first round */
  FILL_ROUNDS = 60,   /* for fills, and for giving way */
  SURE_ROUNDS = 10,   /* for fills, even where they seem not to do */
  TURN_ROUNDS = 10,   /* for turns */
  TURN_SIGN = 6,      /* rounds after which it is seen whether turns find ways */
  TURN_LEFT = 16,     /* overused channels that are too many then */
  WISH_ROUNDS = 12,   /* for wishes */
  FEW_SHARE = 64,     /* one overused channel of so many is too much to give way */
  SLOW_SHARE = 16,    /* the same where streams may slow the section down */
  WISH_DOUBT = 2,     /* so many times as many must be foreseen, to end rounds before the last */
  FIRST_SHARE = 12,   /* one of so many after the first round is too much for turns */
};

/* A channel as searches see it. */
typedef struct {
  uint32_t base;               /* latency in cost units; 0: no such channel */
  uint32_t history;            /* added to base */
  uint32_t room_load;          /* of the emptiest lane; a lane without flow ids counts as full */
  uint32_t next;               /* switch to which it leads */
  uint32_t in_tree;            /* part of the tree of net `tree_search` */
  uint32_t search, cost, from; /* from: branch of the tree, or 0x80000000 | previous channel; both
                                  valid where `search` is that of the running one */
} Channel;

typedef struct {
  uint32_t x, y;         /* in cost units */
  uint8_t parity, exits; /* of its column; its channels, as bits */
} Node;

/* A sink that its net's tree has not reached, and how far it is from there. */
typedef struct {
  uint32_t index, distance;
} OpenSink;

typedef struct {
  SambaRouting *r;
  Channel *channels;
  Node *nodes;
  uint32_t *over;      /* per channel: by how much its lanes exceed rate and flow ids; 0: legal */
  uint32_t over_count; /* channels that do */
  uint32_t stride;     /* lanes of the larger class */
  uint32_t *lane_load; /* permille, at channel * stride + lane */
  uint32_t *lane_flows;
  uint32_t pressure;                        /* price of overuse in this round */
  uint8_t turns[2][4 * SAMBA_LANE_CLASSES]; /* [parity][arrival]: the ways on, as bits */
  uint32_t search, tree_search;
  uint32_t *node_stamp; /* per switch: reached by the tree `tree_search`, by branch node_branch */
  uint32_t *node_branch;
  SambaRouteQueue queue;
  SAMBA_ARRAY(uint32_t) path;
  SAMBA_ARRAY(OpenSink) open;
} Search;

#define FROM_CHANNEL 0x80000000u

/*===-- Channels ------------------------------------------------------------------------------===*/

/* The turn rules (route.h): may a stream that travels towards `side` go on towards `next` in column
 * x? Class 1 is the mirror image of class 0; from class 0 to class 1 every turn is free, and there
 * is no way back. */
static bool turnAllowed(uint32_t x, uint32_t side, uint32_t class, uint32_t next,
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

static uint32_t apart(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

static uint32_t estimate(const Search *search, uint32_t node, uint32_t to) {
  const Node *a = &search->nodes[node], *b = &search->nodes[to];
  return apart(a->x, b->x) + apart(a->y, b->y);
}

static uint32_t channelCost(const Search *search, const Channel *channel, uint32_t rate) {
  uint64_t base = (uint64_t)channel->base + channel->history;
  uint32_t after = channel->room_load + rate;
  if (after <= SAMBA_LANE_CAPACITY)
    base += channel->base * after / 4096;
  else
    base += base * search->pressure * (after - SAMBA_LANE_CAPACITY + 250) / 4096;
  return base < DEAREST ? (uint32_t)base : DEAREST;
}

static uint32_t lanesOf(const Search *search, uint32_t channel) {
  return search->r->class_lanes[sambaChannelClass(channel)];
}

/* What follows from the lanes of a channel, which have changed. */
static void updateChannel(Search *search, uint32_t channel) {
  uint32_t best = SAMBA_NO_INDEX, over = 0;
  for (size_t i = (size_t)channel * search->stride, end = i + lanesOf(search, channel); i < end;
       ++i) {
    uint32_t load = search->lane_load[i], flows = search->lane_flows[i];
    if (load > SAMBA_LANE_CAPACITY)
      over += load - SAMBA_LANE_CAPACITY;
    if (flows > search->r->flows)
      over += 100 * (flows - search->r->flows);
    load += flows >= search->r->flows ? SAMBA_LANE_CAPACITY : 0;
    best = load < best ? load : best;
  }
  search->channels[channel].room_load = best;
  search->over_count += over > 0;
  search->over_count -= search->over[channel] > 0;
  search->over[channel] = over;
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
  updateChannel(search, channel);

  return (uint16_t)lane;
}

static void release(Search *search, SambaNet *net) {
  for (size_t b = 0; b < net->tree.size; ++b) {
    SambaBranch branch = net->tree.data[b];
    size_t i = (size_t)branch.channel * search->stride + branch.lane;
    search->lane_load[i] -= net->load;
    --search->lane_flows[i];
    updateChannel(search, branch.channel);
  }
  net->tree.size = 0;
}

/*===-- Trees ---------------------------------------------------------------------------------===*/

/* Opens the ways on from a switch that was reached through channel `arrival` (SAMBA_NO_INDEX:
 * from the source). */
static void expand(Search *search, const SambaNet *net, uint32_t node, uint32_t arrival,
                   uint32_t cost, uint32_t from, uint32_t to) {
  const Node *at = &search->nodes[node];
  uint32_t ways = at->exits;
  if (arrival != SAMBA_NO_INDEX)
    ways &= search->turns[at->parity][arrival % (4 * SAMBA_LANE_CLASSES)];

  for (; ways; ways &= ways - 1) {
    uint32_t index = sambaChannel(node, 0, 0) + (uint32_t)__builtin_ctz(ways);
    Channel *channel = &search->channels[index];
    if (channel->in_tree == search->tree_search)
      continue;
    uint32_t total = cost + channelCost(search, channel, net->load);
    if (channel->search == search->search && channel->cost <= total)
      continue;
    channel->search = search->search;
    channel->cost = total;
    channel->from = from;
    sambaRouteQueuePush(&search->queue, total + estimate(search, channel->next, to), index, total);
  }
}

/* The way of the search to a channel becomes part of the tree. */
static void addPath(Search *search, SambaNet *net, uint32_t channel) {
  search->path.size = 0;
  uint32_t from = FROM_CHANNEL | channel, source = (uint32_t)net->tree.size;
  while (from & FROM_CHANNEL) {
    sambaArrayAppend(&search->path, from & ~FROM_CHANNEL);
    from = search->channels[from & ~FROM_CHANNEL].from;
  }

  uint32_t parent = from == source ? SAMBA_NO_INDEX : from;
  for (size_t i = search->path.size; i-- > 0;) {
    uint32_t next = search->path.data[i];
    uint32_t node = search->channels[next].next;
    sambaArrayAppend(&net->tree, (SambaBranch){next, parent, occupy(search, next, net->load), 0});
    parent = (uint32_t)net->tree.size - 1;
    search->channels[next].in_tree = search->tree_search;
    if (search->node_stamp[node] != search->tree_search) {
      search->node_stamp[node] = search->tree_search;
      search->node_branch[node] = parent;
    }
  }
}

/* Adds the cheapest path from the tree, which is `distance` away, to a switch. There always is one:
 * the odd-even rule leaves a shortest path. */
static void connect(Search *search, SambaNet *net, uint32_t sink, uint32_t distance) {
  ++search->search;
  sambaRouteQueueBegin(&search->queue, distance);

  /* The part of the tree that lies nearest is expanded first: seeds enter the queue through their
   * estimates. */
  expand(search, net, net->source, SAMBA_NO_INDEX, 0, (uint32_t)net->tree.size, sink);
  for (size_t b = 0; b < net->tree.size; ++b) {
    uint32_t arrival = net->tree.data[b].channel;
    expand(search, net, search->channels[arrival].next, arrival, 0, (uint32_t)b, sink);
  }

  uint32_t channel = SAMBA_NO_INDEX, cost;
  while (sambaRouteQueuePop(&search->queue, &channel, &cost)) {
    if (search->channels[channel].cost != cost)
      continue;
    uint32_t node = search->channels[channel].next;
    if (node == sink)
      break;
    expand(search, net, node, channel, cost, FROM_CHANNEL | channel, sink);
  }
  addPath(search, net, channel);
}

/* Sinks that are not in the tree yet, in order, and how far each is from it. */
static void measureSinks(Search *search, const SambaNet *net, uint32_t node) {
  for (size_t i = 0; i < search->open.size; ++i) {
    OpenSink *sink = &search->open.data[i];
    uint32_t distance = estimate(search, net->sinks[sink->index], node);
    sink->distance = distance < sink->distance ? distance : sink->distance;
  }
}

static OpenSink takeNearest(Search *search) {
  size_t nearest = 0;
  for (size_t i = 1; i < search->open.size; ++i)
    if (search->open.data[i].distance < search->open.data[nearest].distance)
      nearest = i;
  OpenSink sink = search->open.data[nearest];
  --search->open.size;
  memmove(search->open.data + nearest, search->open.data + nearest + 1,
          (search->open.size - nearest) * sizeof sink);
  return sink;
}

static void routeNet(Search *search, SambaNet *net) {
  ++search->tree_search;
  search->open.size = 0;
  for (uint32_t i = 0; i < net->sink_count; ++i)
    sambaArrayAppend(&search->open, (OpenSink){i, UINT32_MAX});
  measureSinks(search, net, net->source);

  while (search->open.size) {
    OpenSink sink = takeNearest(search);
    uint32_t node = net->sinks[sink.index];
    size_t old = net->tree.size;
    if (search->node_stamp[node] != search->tree_search)
      connect(search, net, node, sink.distance);
    net->sink_branch[sink.index] = search->node_branch[node];
    for (size_t b = old; b < net->tree.size; ++b)
      measureSinks(search, net, search->channels[net->tree.data[b].channel].next);
  }
}

/*===-- Rounds --------------------------------------------------------------------------------===*/

/* Packs the branches on an overused channel afresh, if they fit; claims has room for them. */
static void repackChannel(Search *search, uint32_t channel, SambaBranch **branches,
                          SambaLaneClaim *claims, uint32_t count) {
  uint32_t lanes = lanesOf(search, channel);
  if (!sambaLanesAssign(claims, count, lanes, search->r->flows))
    return;
  size_t first = (size_t)channel * search->stride;
  memset(search->lane_load + first, 0, search->stride * sizeof *search->lane_load);
  memset(search->lane_flows + first, 0, search->stride * sizeof *search->lane_flows);
  for (uint32_t i = 0; i < count; ++i) {
    branches[claims[i].index]->lane = claims[i].lane;
    search->lane_load[first + claims[i].lane] += claims[i].rate;
    ++search->lane_flows[first + claims[i].lane];
  }
  updateChannel(search, channel);
}

/* Nets come and go, which can leave a channel badly packed though all would fit: overused channels
 * are packed afresh. start: has an entry per channel and one more. */
static void repack(Search *search, uint32_t *start) {
  SambaRouting *routing = search->r;
  uint32_t channels = routing->channel_count, most = 0;
  memset(start, 0, ((size_t)channels + 1) * sizeof *start);
  for (uint32_t n = 0; n < routing->net_count; ++n)
    for (size_t b = 0; b < routing->nets[n].tree.size; ++b) {
      uint32_t channel = routing->nets[n].tree.data[b].channel;
      start[channel + 1] += search->over[channel] > 0;
    }
  for (uint32_t c = 0; c < channels; ++c) {
    most = start[c + 1] > most ? start[c + 1] : most;
    start[c + 1] += start[c];
  }

  SambaBranch **branches = sambaAllocate(sambaArraySize(start[channels], sizeof(SambaBranch *)));
  uint32_t *rates = sambaAllocate(sambaArraySize(start[channels], sizeof *rates));
  SambaLaneClaim *claims = sambaAllocate(sambaArraySize(most, sizeof *claims));
  for (uint32_t n = 0; n < routing->net_count; ++n)
    for (size_t b = 0; b < routing->nets[n].tree.size; ++b) {
      SambaBranch *branch = &routing->nets[n].tree.data[b];
      if (!search->over[branch->channel])
        continue;
      rates[start[branch->channel]] = routing->nets[n].load;
      branches[start[branch->channel]++] = branch;
    }

  /* Now start says where a channel's branches end. */
  for (uint32_t c = 0, from = 0; c < channels; from = start[c++]) {
    uint32_t count = start[c] - from;
    for (uint32_t i = 0; i < count; ++i)
      claims[i] = (SambaLaneClaim){rates[from + i], i, 0, 0};
    if (count)
      repackChannel(search, c, branches + from, claims, count);
  }
  free(claims);
  free(rates);
  free(branches);
}

static void makeNodes(Search *search, const uint32_t *columns, uint32_t row) {
  const SambaRouting *routing = search->r;
  int32_t width = routing->width;
  for (int32_t y = 0; y < routing->height; ++y)
    for (int32_t x = 0; x < width; ++x) {
      uint32_t node = (uint32_t)(y * width + x);
      const bool leads[] = {y > 0, x + 1 < width, y + 1 < routing->height, x > 0};
      const int32_t next[] = {-width, 1, width, -1};
      const uint32_t base[] = {row, x + 1 < width ? columns[x + 1] - columns[x] : 0, row,
                               x > 0 ? columns[x] - columns[x - 1] : 0};
      Node *made = &search->nodes[node];
      *made = (Node){.x = columns[x], .y = row * (uint32_t)y, .parity = x & 1};
      for (uint32_t way = 0; way < 4 * SAMBA_LANE_CLASSES; ++way) {
        uint32_t channel = sambaChannel(node, 0, 0) + way, side = sambaChannelSide(channel);
        if (!leads[side] || !lanesOf(search, channel) || !base[side])
          continue;
        made->exits |= (uint8_t)(1u << way);
        search->channels[channel].base = base[side];
        search->channels[channel].next = (uint32_t)((int32_t)node + next[side]);
      }
    }
}

static void searchCreate(Search *search, SambaRouting *routing) {
  *search =
      (Search){.r = routing, .stride = routing->class_lanes[0]}; /* class 0 has the odd lane */
  size_t channels = routing->channel_count;
  size_t lanes = channels * search->stride;
  size_t nodes = channels / (4 * SAMBA_LANE_CLASSES);

  search->channels = sambaAllocateZeroed(channels, sizeof *search->channels);
  search->nodes = sambaAllocateZeroed(nodes, sizeof *search->nodes);
  search->over = sambaAllocateZeroed(channels, sizeof *search->over);
  search->lane_load = sambaAllocateZeroed(lanes, sizeof *search->lane_load);
  search->lane_flows = sambaAllocateZeroed(lanes, sizeof *search->lane_flows);
  search->node_stamp = sambaAllocateZeroed(nodes, sizeof *search->node_stamp);
  search->node_branch = sambaAllocateZeroed(nodes, sizeof *search->node_branch);

  for (uint32_t way = 0; way < 2 * 4 * SAMBA_LANE_CLASSES; ++way)
    for (uint32_t next = 0; next < 4 * SAMBA_LANE_CLASSES; ++next)
      if (turnAllowed(way / (4 * SAMBA_LANE_CLASSES), sambaChannelSide(way), sambaChannelClass(way),
                      sambaChannelSide(next), sambaChannelClass(next)))
        search->turns[way / (4 * SAMBA_LANE_CLASSES)][way % (4 * SAMBA_LANE_CLASSES)] |=
            (uint8_t)(1u << next);

  uint32_t *columns = sambaAllocateZeroed((size_t)routing->width, sizeof *columns);
  for (int32_t x = 1; x < routing->width; ++x)
    columns[x] = columns[x - 1] +
                 COST_SCALE * (uint32_t)sambaMachineHopCycles(routing->machine, x - 1, 0, x, 0);
  makeNodes(search, columns,
            COST_SCALE * (uint32_t)sambaMachineHopCycles(routing->machine, 0, 0, 0, 1));
  free(columns);
}

static void searchDestroy(Search *search) {
  void *arrays[] = {search->channels,   search->nodes,      search->over,       search->lane_load,
                    search->lane_flows, search->node_stamp, search->node_branch};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i)
    free(arrays[i]);
  sambaRouteQueueFree(&search->queue);
  sambaArrayFree(&search->path);
  sambaArrayFree(&search->open);
}

/* The channel that is overused most, for the error message. */
static uint32_t worstChannel(const Search *search) {
  uint32_t worst = 0;
  for (uint32_t c = 0; c < search->r->channel_count; ++c)
    if (search->over[c] > search->over[worst])
      worst = c;
  return worst;
}

/* Overused channels become dearer for good. */
static void raiseHistory(Search *search) {
  for (uint32_t c = 0; c < search->r->channel_count; ++c) {
    uint32_t over = search->over[c];
    Channel *channel = &search->channels[c];
    if (over)
      channel->history += channel->base * (over < 2000 ? over + 200 : 2200) / 1000;
  }
}

/* Routes all nets, or those that cross an overused channel. */
static void routeAgain(Search *search, bool all) {
  for (uint32_t n = 0; n < search->r->net_count; ++n) {
    SambaNet *net = &search->r->nets[n];
    bool again = all;
    for (size_t b = 0; b < net->tree.size && !again && search->over_count; ++b)
      again = search->over[net->tree.data[b].channel] > 0;
    if (again) {
      release(search, net);
      routeNet(search, net);
    }
  }
}

/* How many rounds there are at most, and at least where they seem not to do; how many overused
 * channels after the last one are too many; whether the first rounds must bring them fast; how many
 * may be left after TURN_SIGN rounds. */
typedef struct {
  uint32_t most, sure, too_many;
  bool fast;
  uint32_t left;
} Rounds;

static const Rounds fill_rounds = {FILL_ROUNDS, SURE_ROUNDS, FEW_LEFT, false, SAMBA_NO_INDEX};
static const Rounds turn_rounds = {TURN_ROUNDS, 0, FEW_LEFT, false, TURN_LEFT};

/* Whether overused channels vanish too slowly to be gone after the last round: `counts` has how
 * many there were after each of the rounds until now. In the sections of Llama, BERT and ResNet-50
 * that find their ways three rounds leave a fifth of them, two fifths at most; where it is half of
 * them, the rounds end with hundreds. Wishes that were met had left 44% after two rounds and 32%
 * after three at most, nearly all that were not 49% and 38% at least. How the last few vanish is a
 * matter of luck; turns that found ways had 10 left after six rounds at most, the others 23 at
 * least. */
static bool isTooSlow(const Rounds *rounds, const uint32_t *counts, uint32_t round) {
  if (round == TURN_SIGN && counts[round] > rounds->left)
    return true;
  if (round < rounds->sure || counts[round] <= FEW_CHANNELS)
    return false;
  if (rounds->fast && round <= PACE_ROUNDS && counts[round] * round > counts[0])
    return true;
  if (round < PACE_ROUNDS)
    return false;
  uint64_t left = counts[round];
  for (uint32_t at = round; at + PACE_ROUNDS < rounds->most; at += PACE_ROUNDS)
    left = left * counts[round] / counts[round - PACE_ROUNDS];
  return left >= rounds->too_many;
}

/* Rounds until no channel is overused. all: of all nets in the first one; else the price of overuse
 * goes on from where it was, or the ways of many nets would be lost again. start: as in repack. */
static void negotiate(Search *search, const Rounds *rounds, bool all, uint32_t *start) {
  uint32_t *counts = sambaAllocateZeroed(rounds->most, sizeof *counts);
  uint32_t fewest = UINT32_MAX, waited = 0;

  if (all)
    search->pressure = FIRST_PRESSURE;
  for (uint32_t round = 0; round < rounds->most && waited < PATIENCE; ++round) {
    routeAgain(search, all && round == 0);
    if (search->over_count)
      repack(search, start);
    counts[round] = search->over_count;
    if (!search->over_count || isTooSlow(rounds, counts, round))
      break;
    raiseHistory(search);
    search->pressure = search->pressure < 4096 ? search->pressure * 8 / 5 + 1 : 4096;
    waited = search->over_count < fewest ? 0 : waited + 1;
    fewest = search->over_count < fewest ? search->over_count : fewest;
  }
  free(counts);
}

static bool isCrowded(const Search *search, const SambaNet *net) {
  for (size_t b = 0; b < net->tree.size; ++b)
    if (search->over[net->tree.data[b].channel])
      return true;
  return false;
}

/* A tenth less, but no less than `least`. */
static uint32_t littleLess(uint32_t load, uint32_t least) {
  uint32_t less = load * 9 / 10;
  return less > least ? less : least;
}

/* What a net does with next. Wishes, and what the section's pace needs, are given up little by
 * little: a product of 512 x 4096 x 4096 whose wishes are given up at once takes 8% longer. */
static uint32_t lessOf(const SambaNet *net) {
  if (net->load > net->turn)
    return littleLess(net->load, net->turn);
  if (net->load > net->fill)
    return net->fill;
  if (net->load > net->rate)
    return net->rate;
  return littleLess(net->load, net->least);
}

/* Nets that cross an overused channel do with less, on all of their ways. The others keep what they
 * have. Returns whether any does. */
static bool giveWay(Search *search, uint32_t *start) {
  SambaRouting *routing = search->r;
  bool any = false;
  for (uint32_t n = 0; n < routing->net_count; ++n) {
    SambaNet *net = &routing->nets[n];
    uint32_t less = lessOf(net);
    if (less == net->load || !isCrowded(search, net))
      continue;
    for (size_t b = 0; b < net->tree.size; ++b) {
      SambaBranch branch = net->tree.data[b];
      search->lane_load[(size_t)branch.channel * search->stride + branch.lane] -= net->load - less;
    }
    net->load = less;
    any = true;
  }
  for (uint32_t channel = 0; any && channel < routing->channel_count; ++channel)
    updateChannel(search, channel);
  if (any && search->over_count)
    repack(search, start);
  return any;
}

typedef enum { FILLS, TURNS, WISHES } Demand;

/* All nets begin anew, with that much. */
static void beginAnew(Search *search, Demand demand) {
  SambaRouting *routing = search->r;
  for (uint32_t n = 0; n < routing->net_count; ++n) {
    SambaNet *net = &routing->nets[n];
    release(search, net);
    net->load = demand == FILLS ? net->fill : net->turn;
    if (demand == WISHES)
      net->load = sambaNetWish(net);
  }
  for (uint32_t channel = 0; channel < routing->channel_count; ++channel)
    search->channels[channel].history = 0;
}

/* Nets give way every few rounds until no channel is overused, or nothing is won: where giving way
 * helps at all, the first time leaves half of the overused channels at most (it left 2 of 5, where
 * ways were found, and 8 of 10 and more where they were not). That tells nothing where nets give
 * way little by little. */
static void negotiateGivingWay(Search *search, Demand demand, uint32_t *start) {
  static const Rounds some = {PACE_ROUNDS, PACE_ROUNDS, 0, false, SAMBA_NO_INDEX};
  const bool little = demand == WISHES || search->r->demands.least;
  uint32_t fewest = UINT32_MAX, waited = 0;

  for (uint32_t round = 0; round < FILL_ROUNDS && waited < PATIENCE && search->over_count;
       round += PACE_ROUNDS) {
    uint32_t before = search->over_count;
    if (!giveWay(search, start) && demand == TURNS)
      return; /* fills are left */
    negotiate(search, &some, false, start);
    if (!little && !round && search->over_count > FEW_LEFT && search->over_count > before / 2)
      return;
    waited = search->over_count < fewest ? 0 : waited + PACE_ROUNDS;
    fewest = search->over_count < fewest ? search->over_count : fewest;
  }
}

/* Ways for that much. Where little is overused in the end, nets give way. Returns whether there are
 * ways. */
static bool negotiateAnew(Search *search, Demand demand, const Rounds *rounds, uint32_t *start) {
  const uint32_t share = search->r->demands.least ? SLOW_SHARE : FEW_SHARE;
  const uint32_t few = demand == TURNS ? TURN_LEFT : search->r->channel_count / share;

  beginAnew(search, demand);
  negotiate(search, rounds, true, start);
  if (search->over_count <= few)
    negotiateGivingWay(search, demand, start);
  return !search->over_count;
}

/* Whether turns alone leave so much overused after their first round that there are hardly any
 * ways, with wishes or without. In sections of Llama, BERT, GPT-2 and ResNet-50 that found their
 * ways it was one channel in 13 at most, in those that found none it was one in 11 and more. */
static bool areTurnsHopeless(Search *search, uint32_t *start) {
  beginAnew(search, TURNS);
  search->pressure = FIRST_PRESSURE;
  routeAgain(search, true);
  if (search->over_count)
    repack(search, start);
  return search->over_count > search->r->channel_count / FIRST_SHARE;
}

bool sambaRoutingNegotiate(SambaRouting *routing, uint32_t *out_channel) {
  Search *search = sambaAllocate(sizeof *search);
  searchCreate(search, routing);
  uint32_t *start =
      sambaAllocate(sambaArraySize((size_t)routing->channel_count + 1, sizeof *start));
  const uint32_t few = routing->channel_count / FEW_SHARE;
  const Rounds wish_rounds = {WISH_ROUNDS, 0, WISH_DOUBT * few, true, SAMBA_NO_INDEX};
  bool turns = false, wishes = false;

  for (uint32_t n = 0; n < routing->net_count; ++n) {
    turns |= routing->nets[n].turn > routing->nets[n].fill;
    wishes |= routing->nets[n].wish > routing->nets[n].rate;
  }
  if (turns && wishes && areTurnsHopeless(search, start)) {
    turns = false;
    for (uint32_t n = 0; n < routing->net_count; ++n)
      routing->nets[n].turn = routing->nets[n].fill;
  }
  bool legal = wishes && negotiateAnew(search, WISHES, &wish_rounds, start);
  if (!legal && turns)
    legal = negotiateAnew(search, TURNS, &turn_rounds, start);
  if (!legal)
    legal = negotiateAnew(search, FILLS, &fill_rounds, start);

  if (!legal)
    *out_channel = worstChannel(search);
  free(start);
  searchDestroy(search);
  free(search);

  return legal;
}
