/* Streams without time; see flow.h. */
#include "backend/sim/progress/flow.h"

#include <stdlib.h>

/* The way of a stream as its hops say it. FIFO 0 is the one that the source fills, FIFO 1 + h lies
 * behind hop h; more lie behind links of destinations that no hop leads to. */
typedef struct Way {
  uint32_t fifo_count;
  uint32_t *parent, *depth; /* of each FIFO; depth: FIFOs before it */
  uint32_t *ends;           /* destinations behind it */
  bool *passes;             /* all of them lie behind one FIFO that follows */
  uint32_t *node;           /* of FIFOs where ways part */
  uint32_t *end_fifo;       /* of each destination */
} Way;

typedef struct Builder {
  SambaFlows *flows;
  SambaArena *arena;
  uint64_t fifo_depth;
  const SambaSection *section;
  SAMBA_ARRAY(SambaFlowNode) nodes;
  Way way; /* of the stream at work */
} Builder;

static bool leadsTo(const SambaHop *before, const SambaHop *hop) {
  static const SambaSwitchPort opposite[] = {SAMBA_SWITCH_SOUTH, SAMBA_SWITCH_WEST,
                                             SAMBA_SWITCH_NORTH, SAMBA_SWITCH_EAST};
  if (before->out.port >= SAMBA_SWITCH_UNIT || hop->in.port != opposite[before->out.port])
    return false;
  int32_t x = before->x, y = before->y;
  x += (before->out.port == SAMBA_SWITCH_EAST) - (before->out.port == SAMBA_SWITCH_WEST);
  y += (before->out.port == SAMBA_SWITCH_SOUTH) - (before->out.port == SAMBA_SWITCH_NORTH);
  return hop->x == x && hop->y == y && hop->in.lane == before->out.lane &&
         hop->in.flow == before->out.flow;
}

static void addFifo(Way *way, uint32_t parent) {
  uint32_t fifo = way->fifo_count++;
  way->parent[fifo] = parent;
  way->depth[fifo] = parent == SAMBA_NO_INDEX ? 0 : way->depth[parent] + 1;
  way->ends[fifo] = 0;
  way->passes[fifo] = false;
}

/* The FIFOs of the hops: what leads to a hop comes before it. */
static void followHops(Way *way, const SambaStream *stream) {
  way->fifo_count = 0;
  addFifo(way, SAMBA_NO_INDEX);
  for (uint32_t h = 0; h < stream->hop_count; ++h) {
    uint32_t parent = 0;
    if (stream->hops[h].in.port < SAMBA_SWITCH_UNIT)
      for (uint32_t before = h; before-- > 0 && !parent;)
        if (leadsTo(&stream->hops[before], &stream->hops[h]))
          parent = 1 + before;
    addFifo(way, parent);
  }
}

static bool endsAt(const SambaHop *hop, const SambaUnit *unit) {
  if (hop->out.port == SAMBA_SWITCH_AG)
    return sambaUnitIsAddressGenerator(unit) && hop->out.ag == unit->load_store.ag;
  return hop->out.port == SAMBA_SWITCH_UNIT && !sambaUnitIsAddressGenerator(unit) &&
         hop->x == unit->x && hop->y == unit->y;
}

/* The FIFOs at the destinations: of several at one unit the i-th gets the i-th hop that ends there;
 * without one it has a link of its own. */
static void findEnds(Builder *builder, const SambaStream *stream) {
  Way *way = &builder->way;
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    const SambaUnit *unit = &builder->section->units[stream->destinations[d].unit];
    uint32_t h = 0;
    while (h < stream->hop_count && (way->ends[1 + h] || !endsAt(&stream->hops[h], unit)))
      ++h;
    way->end_fifo[d] = h < stream->hop_count ? 1 + h : way->fifo_count;
    if (h == stream->hop_count)
      addFifo(way, 0);
    way->ends[way->end_fifo[d]] = 1;
  }

  /* Hops stand behind those that lead to them, and links behind all. */
  for (uint32_t f = way->fifo_count; f-- > 1;)
    way->ends[way->parent[f]] += way->ends[f];
  for (uint32_t f = 1; f < way->fifo_count; ++f)
    way->passes[way->parent[f]] |= way->ends[f] == way->ends[way->parent[f]];
}

/* The nearest FIFO before this one where ways part, or where the source is. */
static uint32_t partingBefore(const Way *way, uint32_t fifo) {
  do
    fifo = way->parent[fifo];
  while (fifo && (way->passes[fifo] || way->ends[fifo] < 2));
  return fifo;
}

static void addNode(Builder *builder, uint32_t fifo) {
  Way *way = &builder->way;
  SambaFlowNode node = {.parent = SAMBA_NO_INDEX, .limit = UINT64_MAX};
  way->node[fifo] = (uint32_t)builder->nodes.size;
  if (fifo) {
    uint32_t before = partingBefore(way, fifo);
    node.parent = way->node[before];
    node.held = builder->fifo_depth * (way->depth[fifo] - way->depth[before]);
    ++builder->nodes.data[node.parent].child_count;
  }
  sambaArrayAppend(&builder->nodes, node);
}

static void addChild(SambaFlowNode *nodes, uint32_t parent, uint32_t child, uint64_t limit) {
  SambaFlowNode *node = &nodes[parent];
  ((uint32_t *)node->children)[node->child_count++] = child;
  node->limit = limit < node->limit ? limit : node->limit;
}

/* Children of the stream's nodes, the last nodes first, so that limits are known. */
static void joinNodes(Builder *builder, const SambaFlow *flow) {
  SambaFlowNode *nodes = builder->nodes.data;
  for (size_t n = flow->root; n < builder->nodes.size; ++n) {
    nodes[n].children = SAMBA_ARENA_ARRAY(builder->arena, uint32_t, nodes[n].child_count);
    nodes[n].child_count = 0;
  }
  for (uint32_t e = 0; e < flow->end_count; ++e) {
    const SambaFlowEnd *end = &builder->flows->ends[flow->end_first + e];
    addChild(nodes, end->node, SAMBA_FLOW_IS_END | (flow->end_first + e), end->held);
  }
  for (size_t n = builder->nodes.size; n-- > flow->root + 1;)
    addChild(nodes, nodes[n].parent, (uint32_t)n, nodes[n].limit + nodes[n].held);
}

static void buildStream(Builder *builder, uint32_t index) {
  const SambaStream *stream = &builder->section->streams[index];
  SambaFlow *flow = &builder->flows->flows[index];
  Way *way = &builder->way;

  flow->root = (uint32_t)builder->nodes.size;
  flow->many = 1;
  if (stream->kind == SAMBA_STREAM_CONTROL) { /* nothing holds them up */
    sambaArrayAppend(&builder->nodes,
                     (SambaFlowNode){.parent = SAMBA_NO_INDEX, .limit = UINT64_MAX});
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      builder->flows->ends[flow->end_first + d].node = flow->root;
    return;
  }

  followHops(way, stream);
  findEnds(builder, stream);
  for (uint32_t f = 0; f < way->fifo_count; ++f)
    if (!f || (way->ends[f] >= 2 && !way->passes[f]))
      addNode(builder, f);
  for (uint32_t d = 0; d < stream->destination_count; ++d) {
    SambaFlowEnd *end = &builder->flows->ends[flow->end_first + d];
    uint32_t before = partingBefore(way, way->end_fifo[d]);
    end->node = way->node[before];
    end->held = builder->fifo_depth * (way->depth[way->end_fifo[d]] - way->depth[before] + 1);
    ++builder->nodes.data[end->node].child_count;
  }
  joinNodes(builder, flow);
  flow->many = builder->nodes.data[flow->root].limit / 2;
}

static void makeWay(Way *way, SambaArena *arena, const SambaSection *section) {
  uint32_t fifos = 1, ends = 0;
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    uint32_t count = 1 + stream->hop_count + stream->destination_count;
    fifos = count > fifos ? count : fifos;
    ends = stream->destination_count > ends ? stream->destination_count : ends;
  }
  way->parent = SAMBA_ARENA_ARRAY(arena, uint32_t, fifos);
  way->depth = SAMBA_ARENA_ARRAY(arena, uint32_t, fifos);
  way->ends = SAMBA_ARENA_ARRAY(arena, uint32_t, fifos);
  way->passes = SAMBA_ARENA_ARRAY(arena, bool, fifos);
  way->node = SAMBA_ARENA_ARRAY(arena, uint32_t, fifos);
  way->end_fifo = SAMBA_ARENA_ARRAY(arena, uint32_t, ends);
}

void sambaFlowsBuild(SambaFlows *flows, SambaArena *arena, const SambaMachine *machine,
                     const SambaSection *section, SambaAgenda *agenda) {
  Builder builder = {.flows = flows,
                     .arena = arena,
                     .fifo_depth = (uint64_t)machine->fifo_depth,
                     .section = section};
  uint32_t ends = 0;
  flows->agenda = agenda;
  flows->flows = SAMBA_ARENA_ARRAY(arena, SambaFlow, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    flows->flows[s].end_first = ends;
    flows->flows[s].end_count = section->streams[s].destination_count;
    ends += section->streams[s].destination_count;
  }

  flows->ends = SAMBA_ARENA_ARRAY(arena, SambaFlowEnd, ends);
  makeWay(&builder.way, arena, section);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    for (uint32_t e = 0; e < flows->flows[s].end_count; ++e)
      flows->ends[flows->flows[s].end_first + e].stream = s;
    buildStream(&builder, s);
  }
  flows->nodes =
      sambaArenaCopy(arena, builder.nodes.data, builder.nodes.size * sizeof *flows->nodes);
  sambaArrayFree(&builder.nodes);
}

uint64_t sambaFlowArrived(const SambaFlows *flows, uint32_t index) {
  const SambaFlowEnd *end = &flows->ends[index];
  uint64_t arrived = flows->flows[end->stream].sent;
  for (uint32_t n = end->node; flows->nodes[n].parent != SAMBA_NO_INDEX; n = flows->nodes[n].parent)
    arrived = flows->nodes[n].limit < arrived ? flows->nodes[n].limit : arrived;
  return arrived;
}

/* The destinations can go on to vector number `until`. */
static void wakeEnds(SambaFlows *flows, const SambaFlow *flow, uint64_t until) {
  for (uint32_t e = 0; e < flow->end_count; ++e) {
    const SambaFlowEnd *end = &flows->ends[flow->end_first + e];
    if (end->taken < until)
      sambaAgendaAdd(flows->agenda, end->actor, until - end->taken >= flow->many);
  }
}

void sambaFlowSend(SambaFlows *flows, uint32_t stream, uint64_t vectors) {
  SambaFlow *flow = &flows->flows[stream];
  flow->sent += vectors;
  wakeEnds(flows, flow, flow->sent);
}

/* How far a child lets the FIFO of its parent see. */
static uint64_t limitOfChild(const SambaFlows *flows, uint32_t child) {
  if (child & SAMBA_FLOW_IS_END) {
    const SambaFlowEnd *end = &flows->ends[child & ~SAMBA_FLOW_IS_END];
    return end->taken + end->held;
  }
  return flows->nodes[child].limit + flows->nodes[child].held;
}

static uint32_t slowestChild(const SambaFlows *flows, const SambaFlowNode *node) {
  uint32_t slowest = node->children[0];
  for (uint32_t c = 1; c < node->child_count; ++c)
    if (limitOfChild(flows, node->children[c]) < limitOfChild(flows, slowest))
      slowest = node->children[c];
  return slowest;
}

/* What a node's children let its FIFO see now that one of them, which let it see `before`, lets it
 * see more. */
static uint64_t limitAfter(const SambaFlows *flows, const SambaFlowNode *node, uint64_t before) {
  if (!node->child_count || before > node->limit)
    return node->limit; /* control; or others hold it up */
  uint64_t limit = UINT64_MAX;
  for (uint32_t c = 0; c < node->child_count && limit > node->limit; ++c) {
    uint64_t own = limitOfChild(flows, node->children[c]);
    limit = own < limit ? own : limit;
  }
  return limit;
}

void sambaFlowTake(SambaFlows *flows, uint32_t index, uint64_t vectors) {
  SambaFlowEnd *end = &flows->ends[index];
  const SambaFlow *flow = &flows->flows[end->stream];
  uint64_t before = end->taken + end->held;
  end->taken += vectors;
  for (uint32_t n = end->node; n != SAMBA_NO_INDEX; n = flows->nodes[n].parent) {
    SambaFlowNode *node = &flows->nodes[n];
    uint64_t limit = limitAfter(flows, node, before);
    if (limit == node->limit)
      return;
    before = node->limit + node->held;
    node->limit = limit;
    if (n == flow->root)
      sambaAgendaAdd(flows->agenda, flow->source, limit - flow->sent >= flow->many);
    else
      wakeEnds(flows, flow, limit < flow->sent ? limit : flow->sent);
  }
}

uint32_t sambaFlowSlowest(const SambaFlows *flows, uint32_t node) {
  for (;;) {
    uint32_t child = slowestChild(flows, &flows->nodes[node]);
    if (child & SAMBA_FLOW_IS_END)
      return child & ~SAMBA_FLOW_IS_END;
    node = child;
  }
}

uint32_t sambaFlowHeldUpAt(const SambaFlows *flows, uint32_t index) {
  const SambaFlowEnd *end = &flows->ends[index];
  uint64_t arrived = sambaFlowArrived(flows, index);
  if (arrived == flows->flows[end->stream].sent)
    return SAMBA_NO_INDEX;
  uint32_t n = end->node;
  while (flows->nodes[n].limit != arrived)
    n = flows->nodes[n].parent;
  return n;
}
