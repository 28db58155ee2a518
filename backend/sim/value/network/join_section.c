/* Writes a section anew with cut chains; see join_section.h. A counter that a cut divides becomes
 * two, so what is indexed by counters is mapped from the old chain to the new one. */
#include "backend/sim/value/network/join_section.h"

#include "backend/section/access.h"

#include <string.h>

/* From an old chain to the new one. */
typedef struct Chain {
  const uint32_t *old_trips;
  uint32_t old_level, old_count; /* token_level and length */
  SambaCut cut;
  uint32_t level, count;
  uint32_t *trips;
  uint32_t *from;  /* per new counter: the old one that it is, or is a half of */
  int64_t *factor; /* steps of the old counter that one of its own is */
} Chain;

static bool isDealt(SambaCut cut, uint32_t counter) {
  return cut.first < cut.deal.begin && counter >= cut.deal.begin && counter < cut.deal.end;
}

uint64_t sambaCutSteps(const uint32_t *trips, SambaCut cut, uint32_t level) {
  if (level <= cut.first)
    return 1;
  uint64_t steps = cut.part;
  for (uint32_t c = cut.first + 1; c < level; ++c)
    if (!isDealt(cut, c) && __builtin_mul_overflow(steps, (uint64_t)trips[c], &steps))
      return UINT64_MAX;
  return steps;
}

static void appendCounter(Chain *chain, uint32_t from, uint32_t trip, int64_t factor) {
  chain->trips[chain->count] = trip;
  chain->from[chain->count] = from;
  chain->factor[chain->count++] = factor;
}

static Chain makeChain(SambaArena *arena, const uint32_t *trips, uint32_t level, uint32_t count,
                       SambaCut cut) {
  Chain chain = {.old_trips = trips, .old_level = level, .old_count = count, .cut = cut};
  chain.trips = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  chain.from = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  chain.factor = SAMBA_ARENA_ARRAY(arena, int64_t, count + 1);

  for (uint32_t c = 0; c < cut.first; ++c)
    appendCounter(&chain, c, trips[c], 1);
  if (cut.first < level && cut.part < trips[cut.first])
    appendCounter(&chain, cut.first, trips[cut.first] / cut.part, cut.part);
  for (uint32_t c = cut.first; c < level; ++c)
    if (isDealt(cut, c))
      appendCounter(&chain, c, trips[c], 1);
  chain.level = chain.count;

  for (uint32_t c = cut.first; c < count; ++c)
    if (!isDealt(cut, c))
      appendCounter(&chain, c, c == cut.first && c < level ? cut.part : trips[c], 1);
  return chain;
}

/* Strides of addresses or guards: the outer half of a divided counter takes longer steps. */
static int64_t *mapStrides(SambaArena *arena, const Chain *chain, const int64_t *strides) {
  int64_t *mapped = SAMBA_ARENA_ARRAY(arena, int64_t, chain->count);
  for (uint32_t c = 0; c < chain->count; ++c)
    mapped[c] = strides[chain->from[c]] * chain->factor[c];
  return mapped;
}

/* Strides within the tokens of a compute port: the tokens that were apart lie one after the
 * other. */
static int64_t *mapTokenStrides(SambaArena *arena, const Chain *chain, const SambaPort *port) {
  int64_t *mapped = SAMBA_ARENA_ARRAY(arena, int64_t, chain->count);
  int64_t stride = (int64_t)port->token_elements;
  for (uint32_t c = chain->count; c-- > chain->level;) {
    if (chain->from[c] >= chain->old_level) {
      mapped[c] = port->compute.strides[chain->from[c]];
    } else if (chain->from[c] < port->compute.level) {
      mapped[c] = stride;
      stride *= (int64_t)chain->trips[c];
    }
  }
  return mapped;
}

/* A cut in steps of a port's tokens: of one stream after the other, as many as before. */
static void joinTokens(SambaPort *port, uint64_t factor) {
  port->token_elements *= factor;
  port->block = port->block % factor == 0 ? (uint32_t)(port->block / factor) : 1;
}

static void joinComputePort(SambaArena *arena, const Chain *chain, SambaPort *port) {
  port->compute.strides = mapTokenStrides(arena, chain, port);
  const uint32_t level = port->compute.level;
  if (level > chain->cut.first)
    port->compute.level = chain->level;
  joinTokens(port, sambaCutSteps(chain->old_trips, chain->cut, level));
}

static void joinProgram(SambaArena *arena, const Chain *chain, SambaProgram *program) {
  const bool split = chain->count > chain->old_count;
  const uint64_t mask = program->reduce_mask;
  program->reduce_mask = 0;
  for (uint32_t c = 0; c < chain->count; ++c)
    program->reduce_mask |= (mask >> chain->from[c] & 1) << c;

  SambaLaneOp *ops = sambaArenaCopy(arena, program->ops, program->op_count * sizeof *ops);
  for (uint32_t i = 0; i < program->op_count && split; ++i)
    if (ops[i].opcode == SAMBA_LANE_COUNTER && ops[i].immediate > chain->cut.first)
      ++ops[i].immediate;
  program->ops = ops;
}

static void joinCompute(SambaArena *arena, SambaUnit *unit, SambaCut cut) {
  SambaCompute *compute = &unit->compute;
  Chain chain = makeChain(arena, compute->trips, compute->token_level, compute->counter_count, cut);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    joinComputePort(arena, &chain, &unit->inputs[i]);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    joinComputePort(arena, &chain, &unit->outputs[i]);
  joinProgram(arena, &chain, &compute->program);
  compute->trips = chain.trips;
  compute->counter_count = chain.count;
  compute->token_level = chain.level;
}

static bool readsCounter(const SambaProgram *program, uint32_t counter) {
  for (uint32_t i = 0; i < program->op_count; ++i)
    if (program->ops[i].opcode == SAMBA_LANE_COUNTER && program->ops[i].immediate == counter)
      return true;
  return false;
}

static void dividePorts(SambaArena *arena, const Chain *chain, SambaPort *ports, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    ports[i].compute.strides = mapStrides(arena, chain, ports[i].compute.strides);
    ports[i].compute.level += ports[i].compute.level > chain->cut.first;
  }
}

bool sambaComputeDivide(SambaArena *arena, SambaUnit *unit, uint32_t counter, uint32_t part) {
  SambaCompute *compute = &unit->compute;
  if (compute->counter_count == SAMBA_MAX_COUNTERS || readsCounter(&compute->program, counter))
    return false;
  const SambaCut cut = {.first = counter, .part = part};
  Chain chain =
      makeChain(arena, compute->trips, compute->counter_count, compute->counter_count, cut);
  dividePorts(arena, &chain, unit->inputs, unit->input_count);
  dividePorts(arena, &chain, unit->outputs, unit->output_count);
  joinProgram(arena, &chain, &compute->program);
  compute->token_level += compute->token_level > counter;
  compute->trips = chain.trips;
  compute->counter_count = chain.count;
  return true;
}

/* The counters before the elements of an original token. */
static SambaTokenOrder makeOrder(SambaArena *arena, const Chain *chain) {
  SambaTokenOrder order = {.count = chain->count - (chain->old_count - chain->old_level),
                           .trips = chain->trips};
  uint64_t *firings = SAMBA_ARENA_ARRAY(arena, uint64_t, order.count);
  for (uint32_t c = 0; c < order.count; ++c)
    firings[c] = (uint64_t)chain->factor[c] *
                 sambaTripProduct(chain->old_trips, chain->from[c] + 1, chain->old_level);
  order.firings = firings;
  return order;
}

/* Returns by how much tokens grow. out_order may be NULL. */
static uint64_t joinAccess(SambaArena *arena, SambaAccess *access, SambaCut cut,
                           SambaTokenOrder *out_order) {
  Chain chain = makeChain(arena, access->trips, access->token_level, access->counter_count, cut);
  uint64_t factor = sambaCutSteps(access->trips, cut, access->token_level);
  if (out_order && cut.first < cut.deal.begin)
    *out_order = makeOrder(arena, &chain);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, access->guard_count);
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    guards[g] = access->guards[g];
    guards[g].strides = mapStrides(arena, &chain, access->guards[g].strides);
  }

  access->strides = mapStrides(arena, &chain, access->strides);
  access->guards = guards;
  if (access->has_index) /* index tokens grow too */
    access->index_counters +=
        access->token_level + chain.count - access->counter_count - chain.level;
  access->trips = chain.trips;
  access->counter_count = chain.count;
  access->token_level = chain.level;
  return factor;
}

static void joinBuffer(SambaArena *arena, SambaUnit *unit, const SambaCut *cuts,
                       SambaTokenOrder *orders) {
  for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
    bool output = i >= unit->input_count;
    SambaPort *port = output ? &unit->outputs[i - unit->input_count] : &unit->inputs[i];
    joinTokens(port, joinAccess(arena, &port->access, cuts[i], &orders[i]));
  }
}

/* Index and control ports take part: each has one token per firing. */
static void joinLoadStore(SambaArena *arena, SambaUnit *unit, SambaCut cut,
                          SambaTokenOrder *orders) {
  SambaPort *port = unit->kind == SAMBA_UNIT_LOAD ? &unit->outputs[0] : &unit->inputs[0];
  uint64_t factor = joinAccess(arena, &port->access, cut, &orders[0]);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    joinTokens(&unit->inputs[i], factor);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    joinTokens(&unit->outputs[i], factor);
}

SambaSection *sambaJoinedSectionCreate(SambaArena *arena, const SambaSection *section,
                                       const SambaCuts *cuts, SambaTokenOrder **out_orders) {
  SambaSection *joined = sambaArenaCopy(arena, section, sizeof *section);
  joined->arena = arena;
  joined->units =
      sambaArenaCopy(arena, section->units, section->unit_count * sizeof *section->units);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &joined->units[u];
    unit->inputs = sambaArenaCopy(arena, unit->inputs, unit->input_count * sizeof *unit->inputs);
    unit->outputs =
        sambaArenaCopy(arena, unit->outputs, unit->output_count * sizeof *unit->outputs);
    out_orders[u] =
        SAMBA_ARENA_ARRAY(arena, SambaTokenOrder, unit->input_count + unit->output_count);
    switch (unit->kind) {
    case SAMBA_UNIT_COMPUTE:
      joinCompute(arena, unit, cuts->units[u]);
      break;
    case SAMBA_UNIT_BUFFER:
      joinBuffer(arena, unit, cuts->ports[u], out_orders[u]);
      break;
    case SAMBA_UNIT_LOAD:
    case SAMBA_UNIT_STORE:
      joinLoadStore(arena, unit, cuts->units[u], out_orders[u]);
      break;
    }
  }

  return joined;
}

/*===-- Deals ---------------------------------------------------------------------------------===*/

/* Makes the innermost counters before token_level, from *out_first on, step `steps` times in all.
 */
static bool alignSteps(SambaArena *arena, SambaAccess *access, uint64_t steps,
                       uint32_t *out_first) {
  uint64_t product = 1;
  uint32_t first = access->token_level;
  while (product < steps && first > access->slot_level &&
         steps % (product * access->trips[first - 1]) == 0)
    product *= access->trips[--first];
  *out_first = first;
  if (product == steps)
    return true;
  if (first == access->slot_level || access->counter_count == SAMBA_MAX_COUNTERS)
    return false;

  const uint64_t part = steps / product;
  if (access->trips[first - 1] % part)
    return false;
  const uint32_t level = access->token_level;
  const SambaCut cut = {.first = first - 1, .part = (uint32_t)part};
  (void)joinAccess(arena, access, cut, NULL);
  access->token_level = level + 1; /* divided, not moved */
  return true;
}

bool sambaAccessAlignDeal(SambaArena *arena, const SambaPort *port, SambaAccess *access,
                          SambaDeal *out_deal) {
  uint64_t turns = (uint64_t)port->stream_count * port->block;
  SambaDeal deal;
  if (!alignSteps(arena, access, turns, &deal.begin) ||
      !alignSteps(arena, access, port->block, &deal.end))
    return false;
  /* Dividing a counter of the turn moves what is behind it, not the deal's begin. */
  *out_deal = deal;
  return true;
}
