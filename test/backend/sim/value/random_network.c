/* Seeded random networks; see random_network.h. */
#include "test/backend/sim/value/random_network.h"

#include <stdlib.h>

enum { symbolElements = 1 << 16, mostOpen = 12, mostUses = 3 };

static uint32_t upTo(uint32_t n) { return 1 + (uint32_t)(lrand48() % n); } /* 1..n */
static bool chance(int percent) { return lrand48() % 100 < percent; }

static const SambaDType F = SAMBA_DTYPE_F32;

/* An output that others may take: so many tokens of rows x columns. */
typedef struct Open {
  uint32_t unit, port, stream; /* stream: SAMBA_NO_INDEX until somebody takes it */
  uint32_t tokens, rows, columns;
  uint32_t uses;
} Open;

typedef struct Network {
  Builder *builder;
  Open open[mostOpen];
  uint32_t count;
  uint32_t x, y; /* symbols */
} Network;

static void offer(Network *network, Open open) {
  open.stream = SAMBA_NO_INDEX;
  open.uses = 0;
  if (network->count < mostOpen)
    network->open[network->count++] = open;
}

/* Gives an input the output, which may have other takers. */
static void connect(Network *network, Open *open, uint32_t unit, uint32_t port) {
  ++open->uses;
  if (open->stream == SAMBA_NO_INDEX)
    open->stream = builderStream(network->builder, open->unit, open->port, unit, port);
  else
    builderDestination(network->builder, open->stream, unit, port);
}

static SambaAccess dense(Builder *builder, uint32_t tokens, uint32_t elements) {
  return builderAccess(2, 1, TRIPS(builder, tokens, elements), STRIDES(builder, elements, 1));
}

static void addLoad(Network *network, uint32_t tokens, uint32_t rows, uint32_t columns) {
  Builder *builder = network->builder;
  uint32_t unit = builderLoad(builder, network->x, dense(builder, tokens, rows * columns));
  offer(network, (Open){.unit = unit, .tokens = tokens, .rows = rows, .columns = columns});
}

/* Another output of the same shape, or the same one again. */
static Open *partner(Network *network, const Open *open) {
  for (int tries = 0; tries < 8; ++tries) {
    Open *other = &network->open[lrand48() % network->count];
    if (other->tokens == open->tokens && other->rows == open->rows &&
        other->columns == open->columns && other->uses < mostUses)
      return other;
  }
  return NULL;
}

/* An elementwise unit of one to three inputs and one or two outputs. */
static void addElementwise(Network *network, Open *first) {
  Builder *builder = network->builder;
  Open shape = *first;
  uint32_t trips[] = {shape.tokens, shape.rows, shape.columns};
  uint32_t unit = builderCompute(builder, 3, 1, builderTrips(builder, 3, trips));
  uint32_t inputs = 1, value = 0, elements = shape.rows * shape.columns;
  int64_t *strides = STRIDES(builder, 0, shape.columns, 1);
  if (chance(20))
    builder->section.units[unit].lanes = 1u << (2 + lrand48() % 3);

  Open *taken[3] = {first};
  while (inputs < 3 && chance(60) && (taken[inputs] = partner(network, first)))
    ++inputs;
  for (uint32_t i = 0; i < inputs; ++i) {
    builderComputeInput(builder, unit, F, 1, elements, strides);
    connect(network, taken[i], unit, i);
  }
  for (uint32_t i = 1; i < inputs; ++i)
    value = builderOp(builder, unit, SAMBA_LANE_ADD, F, value, i, 0, 0);
  if (inputs == 1)
    value = builderOp(builder, unit, SAMBA_LANE_NEG, F, 0, 0, 0, 0);
  for (uint32_t o = 0; o < (chance(30) ? 2u : 1u); ++o) {
    builderComputeOutput(builder, unit, F, 1, elements, strides, value);
    offer(network, (Open){unit, o, 0, shape.tokens, shape.rows, shape.columns, 0});
  }
}

/* Sums of the rows of each token, or of several tokens; what they were made of may meet them. */
static void addSums(Network *network, Open *open) {
  Builder *builder = network->builder;
  Open from = *open;
  uint32_t group = upTo(from.tokens);
  while (from.tokens % group)
    --group;
  bool over_rows = chance(50);
  uint32_t kept = over_rows ? from.columns : from.columns * from.rows;
  uint32_t trips[] = {from.tokens / group, group, from.rows, from.columns};
  uint32_t unit = builderCompute(builder, 4, 2, builderTrips(builder, 4, trips));
  builder->section.units[unit].compute.program.reduce_mask = over_rows ? 6 : 2;
  builderComputeInput(builder, unit, F, 2, from.rows * from.columns,
                      STRIDES(builder, 0, 0, from.columns, 1));
  uint32_t sum = builderOp(builder, unit, SAMBA_LANE_REDUCE_ADD, F, 0, 0, 0, 0);
  builderComputeOutput(builder, unit, F, 1, kept,
                       STRIDES(builder, 0, 0, over_rows ? 0 : from.columns, 1), sum);
  connect(network, open, unit, 0);
  uint32_t rows = over_rows ? 1 : from.rows;
  offer(network, (Open){unit, 0, 0, trips[0], rows, from.columns, 0});
  if (open->uses >= mostUses || chance(40))
    return;

  /* Each token with the sums of its group, held. */
  Open *sums = &network->open[network->count - 1];
  uint32_t meet = builderCompute(builder, 4, 2, builderTrips(builder, 4, trips));
  builderComputeInput(builder, meet, F, 2, from.rows * from.columns,
                      STRIDES(builder, 0, 0, from.columns, 1));
  builderComputeInput(builder, meet, F, 1, kept,
                      STRIDES(builder, 0, 0, over_rows ? 0 : from.columns, 1));
  uint32_t value = builderOp(builder, meet, SAMBA_LANE_SUB, F, 0, 1, 0, 0);
  builderComputeOutput(builder, meet, F, 2, from.rows * from.columns,
                       STRIDES(builder, 0, 0, from.columns, 1), value);
  connect(network, open, meet, 0);
  connect(network, sums, meet, 1);
  offer(network, (Open){meet, 0, 0, from.tokens, from.rows, from.columns, 0});
}

/* A ring of slots of some tokens each. */
static void addBuffer(Network *network, Open *open) {
  Builder *builder = network->builder;
  Open from = *open;
  uint32_t elements = from.rows * from.columns, group = upTo(from.tokens);
  while (from.tokens % group)
    --group;
  uint32_t slots = from.tokens / group;
  uint32_t unit = builderBuffer(builder, F, upTo(3), (uint64_t)group * elements);
  SambaAccess write =
      builderAccess(3, 2, TRIPS(builder, slots, group, elements), STRIDES(builder, 0, elements, 1));
  write.slot_level = 1;
  builderBufferWrite(builder, unit, write);
  connect(network, open, unit, 0);
  for (uint32_t o = 0; o < (chance(30) ? 2u : 1u); ++o) {
    builderBufferRead(builder, unit, write);
    offer(network, (Open){unit, o, 0, from.tokens, from.rows, from.columns, 0});
  }
}

/* Tokens dealt to copies of a unit, which may share the tokens of another output; merged again. */
static void addCopies(Network *network, Open *open) {
  Builder *builder = network->builder;
  Open from = *open;
  uint32_t copies = 2 + (uint32_t)(lrand48() % 2), elements = from.rows * from.columns;
  uint32_t block = upTo(2);
  if (open->uses || from.tokens % (copies * block))
    return;
  uint32_t each = from.tokens / copies;
  open->uses = mostUses;
  builder->section.units[from.unit].outputs[from.port].block = block;

  Open *shared = NULL;
  if (chance(70)) {
    addLoad(network, each, from.rows, from.columns);
    shared = &network->open[network->count - 1];
    if (chance(50) && network->count + 1 < mostOpen) {
      addBuffer(network, shared);
      shared = &network->open[network->count - 1];
    }
    if (shared->tokens != each || shared->rows * shared->columns != elements || shared->uses)
      shared = NULL;
  }
  uint32_t trips[] = {from.tokens, from.rows, from.columns};
  uint32_t merge = builderCompute(builder, 3, 1, builderTrips(builder, 3, trips));
  int64_t *strides = STRIDES(builder, 0, from.columns, 1);
  builderComputeInput(builder, merge, F, 1, elements, strides);
  builder->section.units[merge].inputs[0].block = block;
  builderComputeOutput(builder, merge, F, 1, elements, strides,
                       builderOp(builder, merge, SAMBA_LANE_NEG, F, 0, 0, 0, 0));

  trips[0] = each;
  for (uint32_t c = 0; c < copies; ++c) {
    uint32_t unit = builderCompute(builder, 3, 1, builderTrips(builder, 3, trips));
    builderComputeInput(builder, unit, F, 1, elements, strides);
    if (shared)
      builderComputeInput(builder, unit, F, 1, elements, strides);
    uint32_t value = builderOp(builder, unit, SAMBA_LANE_ADD, F, 0, shared != NULL, 0, 0);
    builderComputeOutput(builder, unit, F, 1, elements, strides, value);
    builderStream(builder, from.unit, from.port, unit, 0);
    if (shared)
      connect(network, shared, unit, 1);
    builderStream(builder, unit, 0, merge, 0);
  }
  offer(network, (Open){merge, 0, 0, from.tokens, from.rows, from.columns, 0});
}

/* Values that go around: sums += tokens, in a ring of one slot or more. */
static void addAround(Network *network, Open *open) {
  Builder *builder = network->builder;
  Open from = *open;
  uint32_t elements = from.rows * from.columns, slots = chance(70) ? 1 : 2;
  uint32_t unit = builderBuffer(builder, F, slots, elements);
  builder->section.units[unit].buffer.loop_carried = true;
  builder->section.units[unit].buffer.in_place = chance(50);
  SambaAccess access =
      builderAccess(2, 1, TRIPS(builder, from.tokens, elements), STRIDES(builder, 0, 1));
  access.slot_level = 1;
  builderBufferWrite(builder, unit, access);
  builderBufferRead(builder, unit, access);

  uint32_t trips[] = {from.tokens, from.rows, from.columns};
  uint32_t adder = builderCompute(builder, 3, 1, builderTrips(builder, 3, trips));
  int64_t *strides = STRIDES(builder, 0, from.columns, 1);
  builderComputeInput(builder, adder, F, 1, elements, strides);
  builderComputeInput(builder, adder, F, 1, elements, strides);
  uint32_t value = builderOp(builder, adder, SAMBA_LANE_ADD, F, 0, 1, 0, 0);
  builderComputeOutput(builder, adder, F, 1, elements, strides, value);
  connect(network, open, adder, 0);
  builderStream(builder, unit, 0, adder, 1);
  uint32_t around = builderStream(builder, adder, 0, unit, 0);
  offer(network, (Open){adder, 0, 0, from.tokens, from.rows, from.columns, 0});
  network->open[network->count - 1].stream = around;
  network->open[network->count - 1].uses = 1;
}

/* What nobody takes is stored. */
static void addStores(Network *network) {
  Builder *builder = network->builder;
  for (uint32_t i = 0; i < network->count; ++i) {
    Open *open = &network->open[i];
    if (open->uses)
      continue;
    uint32_t elements = open->rows * open->columns;
    uint32_t unit = builderStore(builder, network->y, dense(builder, open->tokens, elements));
    connect(network, open, unit, 0);
  }
}

void randomNetwork(Builder *builder) {
  Network network = {.builder = builder};
  uint32_t tokens = upTo(chance(50) ? 4 : 12), rows = upTo(8),
           columns = upTo(chance(50) ? 16 : 100);
  if (chance(60))
    columns = (columns + 15) / 16 * 16;
  network.x = builderSymbol(builder, "x", F, symbolElements, false);
  network.y = builderSymbol(builder, "y", F, symbolElements, true);
  addLoad(&network, tokens, rows, columns);
  if (chance(50))
    addLoad(&network, tokens, rows, columns);

  for (uint32_t parts = 2 + upTo(6); parts > 0 && network.count + 3 < mostOpen; --parts) {
    Open *open = &network.open[lrand48() % network.count];
    if (open->uses >= mostUses)
      continue;
    switch (lrand48() % 6) {
    case 0:
      addSums(&network, open);
      break;
    case 1:
      addBuffer(&network, open);
      break;
    case 2:
      addCopies(&network, open);
      break;
    case 3:
      addAround(&network, open);
      break;
    default:
      addElementwise(&network, open);
      break;
    }
  }
  addStores(&network);
}
