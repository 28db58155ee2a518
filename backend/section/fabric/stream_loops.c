/* Loops of streams; see stream_loops.h.
 *
 * As a graph: nodes are the steps of units, the sources of streams, and the branches of their
 * trees. An edge says that vector i passes `to` no earlier than `cycles` after vector i - tokens x
 * (vectors of a firing) has passed `from`. The pace is the largest ratio of cycles to tokens of any
 * cycle in it, in cycles per firing. */
#include "backend/section/fabric/stream_loops.h"

#include "support/base/memory.h"

#include <stdlib.h>

/* A search that takes longer keeps what it has found. */
enum { mostPasses = 1024 };
/* Ports that take from more streams than this are looked at in their first turns only. */
enum { mostTurns = 4 };

typedef struct Edge {
  uint32_t from, to;
  double cycles, tokens;
} Edge;

typedef struct Graph {
  const SambaSection *section;
  const SambaMachine *machine;
  const SambaRoutes *routes; /* of each stream */
  const SambaLoopGrid *grid;
  uint32_t turn;    /* in which all ports take */
  SambaLoop *loops; /* gets the result */
  uint32_t node_count;
  SAMBA_ARRAY(Edge) edges;
  SAMBA_ARRAY(uint32_t) group; /* of nodes that edges join, a forest */
  /* of one search */
  double *distance;
  uint32_t *came_by, *seen; /* edge; round of the search for a cycle */
} Graph;

static uint32_t addNode(Graph *graph) {
  uint32_t node = graph->node_count++;
  sambaArrayAppend(&graph->group, node);
  return node;
}

static uint32_t groupOf(Graph *graph, uint32_t node) {
  uint32_t *group = graph->group.data;
  while (group[node] != node)
    node = group[node] = group[group[node]];
  return node;
}

static void addEdge(Graph *graph, uint32_t from, uint32_t to, double cycles, double tokens) {
  sambaArrayAppend(&graph->edges, (Edge){from, to, cycles, tokens});
  graph->group.data[groupOf(graph, from)] = groupOf(graph, to);
}

/* The source of a stream, and what ties it to the steps of its unit. */
static uint32_t addSource(Graph *graph, uint32_t index) {
  const SambaLoopStream *stream = &graph->grid->streams[index];
  uint32_t unit = graph->section->streams[index].source.unit;
  uint32_t source = addNode(graph);
  if (stream->tied) {
    addEdge(graph, unit, source, (double)stream->latency, 0);
    addEdge(graph, source, unit, 0, (double)stream->latency / (double)stream->vectors);
  }
  return source;
}

/* What leads to a hop without branching off: the node at which it begins, FIFOs, cycles. */
typedef struct Chain {
  uint32_t node, fifos;
  uint64_t cycles;
} Chain;

typedef struct Tree {
  Graph *graph;
  const SambaLoopStream *stream;
  const SambaRoutes *routes;
  uint32_t *branches; /* of each hop: those that follow it and lead to units that take evenly */
  Chain *chains;      /* to the far end of each hop */
  uint32_t *entries;  /* node of the FIFO at the end of each hop that branches */
  uint64_t credit;    /* cycles from the departure of a vector until its sender knows */
  uint32_t source;
} Tree;

static double tokensOf(const Tree *tree, uint32_t fifos) {
  uint64_t depth = (uint64_t)tree->graph->machine->fifo_depth;
  return (double)(depth * fifos) / (double)tree->stream->vectors;
}

static uint64_t cyclesOfHop(const Tree *tree, uint32_t hop) {
  uint32_t before = tree->routes->before[hop];
  return tree->routes->cycles[hop] - (before == SAMBA_NO_INDEX ? 0 : tree->routes->cycles[before]);
}

/* The FIFO at the end of a hop, from which several ways go on. A vector only enters it when all of
 * them have taken the one that was there before; until then it waits in the FIFOs that lead
 * there. */
static uint32_t entryOf(const Tree *tree, uint32_t hop) {
  if (tree->entries[hop] != SAMBA_NO_INDEX)
    return tree->entries[hop];
  const Chain *chain = &tree->chains[hop];
  uint32_t entry = tree->entries[hop] = addNode(tree->graph);
  addEdge(tree->graph, chain->node, entry, (double)chain->cycles, 0);
  if (chain->fifos > 1)
    addEdge(tree->graph, entry, chain->node,
            (double)((chain->fifos - 1) * tree->credit) - (double)cyclesOfHop(tree, hop),
            tokensOf(tree, chain->fifos - 1));
  return entry;
}

/* A new way from the source, or from the end of a hop. */
static uint32_t addBranch(const Tree *tree, uint32_t hop) {
  bool at_source = hop == SAMBA_NO_INDEX;
  uint32_t from = at_source ? tree->source : entryOf(tree, hop);
  uint32_t branch = addNode(tree->graph);
  uint64_t enters = at_source ? 0 : cyclesOfHop(tree, hop);
  addEdge(tree->graph, from, branch, 0, 0);
  addEdge(tree->graph, branch, from, (double)(tree->credit + enters), tokensOf(tree, 1));
  return branch;
}

static void growChain(const Tree *tree, uint32_t hop) {
  uint32_t before = tree->routes->before[hop];
  Chain *chain = &tree->chains[hop];
  if (before == SAMBA_NO_INDEX || tree->branches[before] > 1)
    *chain = (Chain){.node = addBranch(tree, before)};
  else
    *chain = tree->chains[before];
  ++chain->fifos;
  chain->cycles += cyclesOfHop(tree, hop);
}

/* A destination takes its vector when it has used the last element. */
static void addDestination(const Tree *tree, uint32_t unit, const SambaLoopTaker *taker,
                           uint32_t end) {
  bool own = end == SAMBA_NO_INDEX;
  Chain chain = own ? (Chain){addBranch(tree, end), 1, taker->latency} : tree->chains[end];
  addEdge(tree->graph, chain.node, unit, (double)chain.cycles, 0);
  /* What short FIFOs add at the destination itself is in the work of its firings. */
  uint64_t rest = sambaMachineFifosAreShort(tree->graph->machine) ? 0 : taker->rest;
  addEdge(tree->graph, unit, chain.node, (double)(chain.fifos * tree->credit + rest),
          tokensOf(tree, chain.fifos));
}

/* Marks the hops that lead to a destination. */
static void useHops(const Tree *tree, uint32_t end, bool *used) {
  for (uint32_t h = end; h != SAMBA_NO_INDEX && !used[h]; h = tree->routes->before[h]) {
    used[h] = true;
    if (tree->routes->before[h] != SAMBA_NO_INDEX)
      ++tree->branches[tree->routes->before[h]];
  }
}

static bool isInTurn(const Graph *graph, const SambaLoopTaker *taker) {
  return taker->evenly && graph->turn % taker->streams == taker->place;
}

static void addStream(Graph *graph, uint32_t index) {
  const SambaStream *record = &graph->section->streams[index];
  Tree tree = {
      .graph = graph, .stream = &graph->grid->streams[index], .routes = &graph->routes[index]};
  const SambaLoopTaker *takers = tree.stream->takers;
  bool any = false;
  for (uint32_t d = 0; d < record->destination_count; ++d)
    any |= isInTurn(graph, &takers[d]);
  if (!any)
    return;

  tree.branches = sambaAllocateZeroed(record->hop_count, sizeof *tree.branches);
  tree.chains = sambaAllocateZeroed(record->hop_count, sizeof *tree.chains);
  tree.entries = sambaAllocate(sambaArraySize(record->hop_count, sizeof *tree.entries));
  for (uint32_t h = 0; h < record->hop_count; ++h)
    tree.entries[h] = SAMBA_NO_INDEX;
  int64_t credit = graph->machine->credit_cycles - graph->machine->hop_cycles;
  tree.credit = credit > 1 ? (uint64_t)credit : 1;
  tree.source = addSource(graph, index);

  bool *used = sambaAllocateZeroed(record->hop_count, sizeof *used);
  for (uint32_t d = 0; d < record->destination_count; ++d)
    if (isInTurn(graph, &takers[d]))
      useHops(&tree, tree.routes->ends[d], used);
  for (uint32_t h = 0; h < record->hop_count; ++h)
    if (used[h])
      growChain(&tree, h);
  for (uint32_t d = 0; d < record->destination_count; ++d)
    if (isInTurn(graph, &takers[d]))
      addDestination(&tree, record->destinations[d].unit, &takers[d], tree.routes->ends[d]);

  free(used);
  free(tree.branches);
  free(tree.chains);
  free(tree.entries);
}

/* A cycle among the edges by which distances came, or SAMBA_NO_INDEX: one of its nodes. */
static uint32_t findCycle(Graph *graph, const uint32_t *nodes, uint32_t count, uint32_t *round) {
  for (uint32_t n = 0; n < count; ++n) {
    uint32_t mark = ++*round, node = nodes[n];
    uint32_t first = *round - n; /* the marks of this search begin here */
    while (graph->came_by[node] != SAMBA_NO_INDEX && graph->seen[node] < first) {
      graph->seen[node] = mark;
      node = graph->edges.data[graph->came_by[node]].from;
    }
    if (graph->came_by[node] != SAMBA_NO_INDEX && graph->seen[node] == mark)
      return node;
  }
  return SAMBA_NO_INDEX;
}

static SambaLoop loopAt(const Graph *graph, uint32_t start) {
  SambaLoop loop = {0};
  uint32_t node = start;
  do {
    const Edge *edge = &graph->edges.data[graph->came_by[node]];
    loop.cycles += edge->cycles;
    loop.tokens += edge->tokens;
    node = edge->from;
  } while (node != start);
  return loop;
}

/* The slowest loop of a group that is slower than `pace` cycles per firing: longest ways, until
 * none grows without end. */
static SambaLoop slowestLoop(Graph *graph, const uint32_t *edges, uint32_t edge_count,
                             const uint32_t *nodes, uint32_t node_count, double pace,
                             uint32_t *round) {
  SambaLoop slowest = {.cycles = pace, .tokens = 1};
  bool changed = true;
  for (uint32_t pass = 0; changed && pass < mostPasses; ++pass) {
    changed = false;
    for (uint32_t e = 0; e < edge_count; ++e) {
      const Edge *edge = &graph->edges.data[edges[e]];
      double length = graph->distance[edge->from] + edge->cycles - pace * edge->tokens;
      if (length <= graph->distance[edge->to] + 1e-6)
        continue;
      graph->distance[edge->to] = length;
      graph->came_by[edge->to] = edges[e];
      changed = true;
    }
    uint32_t node = changed ? findCycle(graph, nodes, node_count, round) : SAMBA_NO_INDEX;
    if (node == SAMBA_NO_INDEX)
      continue;
    SambaLoop loop = loopAt(graph, node);
    if (loop.cycles > pace * loop.tokens && loop.tokens > 0) {
      slowest = loop;
      pace = loop.cycles / loop.tokens;
    }
    for (uint32_t n = 0; n < node_count; ++n)
      graph->came_by[nodes[n]] = SAMBA_NO_INDEX;
  }
  return slowest;
}

/* By whole cycles of a firing: no more are told apart. */
static bool isSlower(const SambaLoop *loop, const SambaLoop *other) {
  return other->tokens == 0 ||
         (uint64_t)(loop->cycles / loop->tokens) > (uint64_t)(other->cycles / other->tokens);
}

static void searchGroup(Graph *graph, const uint32_t *edges, uint32_t edge_count,
                        const uint32_t *nodes, uint32_t node_count, uint32_t *round) {
  uint64_t pace = 0;
  for (uint32_t n = 0; n < node_count; ++n)
    if (nodes[n] < graph->section->unit_count && graph->grid->paces[nodes[n]] > pace)
      pace = graph->grid->paces[nodes[n]];
  SambaLoop loop = slowestLoop(graph, edges, edge_count, nodes, node_count, (double)pace, round);
  if (loop.cycles <= (double)pace * loop.tokens)
    return;
  for (uint32_t n = 0; n < node_count; ++n)
    if (nodes[n] < graph->section->unit_count && isSlower(&loop, &graph->loops[nodes[n]]))
      graph->loops[nodes[n]] = loop;
}

/* Things sorted by their group: those of group g stand at [first[g], first[g + 1]). */
static uint32_t *sortByGroup(Graph *graph, uint32_t count, bool edges, uint32_t *first) {
  uint32_t *sorted = sambaAllocate(sambaArraySize(count, sizeof *sorted));
  for (uint32_t g = 0; g <= graph->node_count; ++g)
    first[g] = 0;
  for (uint32_t i = 0; i < count; ++i)
    ++first[groupOf(graph, edges ? graph->edges.data[i].from : i)];
  uint32_t sum = 0;
  for (uint32_t g = 0; g <= graph->node_count; ++g) {
    sum += first[g];
    first[g] = sum;
  }
  for (uint32_t i = count; i-- > 0;)
    sorted[--first[groupOf(graph, edges ? graph->edges.data[i].from : i)]] = i;
  return sorted;
}

static void searchGroups(Graph *graph) {
  uint32_t nodes = graph->node_count;
  uint32_t *edge_first = sambaAllocate(sambaArraySize(nodes + 1, sizeof *edge_first));
  uint32_t *node_first = sambaAllocate(sambaArraySize(nodes + 1, sizeof *node_first));
  uint32_t *edges = sortByGroup(graph, (uint32_t)graph->edges.size, true, edge_first);
  uint32_t *members = sortByGroup(graph, nodes, false, node_first);
  graph->distance = sambaAllocateZeroed(nodes, sizeof *graph->distance);
  graph->came_by = sambaAllocate(sambaArraySize(nodes, sizeof *graph->came_by));
  graph->seen = sambaAllocateZeroed(nodes, sizeof *graph->seen);
  for (uint32_t n = 0; n < nodes; ++n)
    graph->came_by[n] = SAMBA_NO_INDEX;

  uint32_t round = 0;
  for (uint32_t g = 0; g < nodes; ++g)
    if (edge_first[g + 1] > edge_first[g])
      searchGroup(graph, edges + edge_first[g], edge_first[g + 1] - edge_first[g],
                  members + node_first[g], node_first[g + 1] - node_first[g], &round);
  free(graph->distance);
  free(graph->came_by);
  free(graph->seen);
  free(edge_first);
  free(node_first);
  free(edges);
  free(members);
}

static void searchTurn(Graph *graph) {
  for (uint32_t u = 0; u < graph->section->unit_count; ++u)
    addNode(graph);
  for (uint32_t s = 0; s < graph->section->stream_count; ++s)
    addStream(graph, s);
  searchGroups(graph);
  sambaArrayFree(&graph->edges);
  sambaArrayFree(&graph->group);
}

SambaLoopGrid sambaLoopGridMake(const SambaSection *section) {
  SambaLoopGrid grid = {0};
  grid.streams = SAMBA_ARENA_ARRAY(&grid.scratch, SambaLoopStream, section->stream_count);
  grid.paces = SAMBA_ARENA_ARRAY(&grid.scratch, uint64_t, section->unit_count);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    grid.streams[s].takers =
        SAMBA_ARENA_ARRAY(&grid.scratch, SambaLoopTaker, section->streams[s].destination_count);
  return grid;
}

void sambaLoopGridDestroy(SambaLoopGrid *grid) { sambaArenaDestroy(&grid->scratch); }

SambaLoop *sambaStreamLoopsFind(const SambaSection *section, const SambaMachine *machine,
                                const SambaRoutes *routes, const SambaLoopGrid *grid,
                                SambaArena *arena) {
  SambaLoop *loops = SAMBA_ARENA_ARRAY(arena, SambaLoop, section->unit_count);
  uint32_t turns = 1;
  for (uint32_t s = 0; s < section->stream_count; ++s)
    for (uint32_t d = 0; d < section->streams[s].destination_count; ++d) {
      uint32_t streams = grid->streams[s].takers[d].streams;
      turns = streams > turns ? streams : turns;
    }
  for (uint32_t turn = 0; turn < turns && turn < mostTurns; ++turn) {
    Graph graph = {.section = section,
                   .machine = machine,
                   .routes = routes,
                   .grid = grid,
                   .turn = turn,
                   .loops = loops};
    searchTurn(&graph);
  }
  return loops;
}
