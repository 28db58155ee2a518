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
  bool split; /* the cut's counter becomes two */
  uint32_t level, count;
  uint32_t *trips;
} Chain;

uint64_t sambaCutSteps(const uint32_t *trips, SambaCut cut, uint32_t level) {
  if (level <= cut.first)
    return 1;
  return cut.part * sambaTripProduct(trips, cut.first + 1, level);
}

static Chain makeChain(SambaArena *arena, const uint32_t *trips, uint32_t level, uint32_t count,
                       SambaCut cut) {
  Chain chain = {.old_trips = trips, .old_level = level, .old_count = count, .cut = cut};
  chain.split = cut.first < level && cut.part < trips[cut.first];
  chain.level = cut.first + chain.split;
  chain.count = count + chain.split;
  chain.trips = SAMBA_ARENA_ARRAY(arena, uint32_t, chain.count);

  for (uint32_t c = 0; c < count; ++c)
    chain.trips[c + (chain.split && c >= cut.first)] = trips[c];
  if (chain.split) {
    chain.trips[cut.first] = trips[cut.first] / cut.part;
    chain.trips[cut.first + 1] = cut.part;
  }
  return chain;
}

/* Strides of addresses or guards: the outer half of a divided counter takes longer steps. */
static int64_t *mapStrides(SambaArena *arena, const Chain *chain, const int64_t *strides) {
  int64_t *mapped = SAMBA_ARENA_ARRAY(arena, int64_t, chain->count);
  for (uint32_t c = 0; c < chain->old_count; ++c)
    mapped[c + (chain->split && c >= chain->cut.first)] = strides[c];
  if (chain->split)
    mapped[chain->cut.first] = strides[chain->cut.first] * (int64_t)chain->cut.part;
  return mapped;
}

/* Strides within the tokens of a compute port: the tokens that were apart lie one after the
 * other. */
static int64_t *mapTokenStrides(SambaArena *arena, const Chain *chain, const SambaPort *port) {
  int64_t *mapped = SAMBA_ARENA_ARRAY(arena, int64_t, chain->count);
  for (uint32_t c = chain->old_level; c < chain->old_count; ++c)
    mapped[c + chain->split] = port->compute.strides[c];

  int64_t stride = (int64_t)port->token_elements;
  for (uint32_t c = port->compute.level; c-- > chain->cut.first;) {
    mapped[c + chain->split] = stride;
    stride *= (int64_t)chain->trips[c + chain->split];
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
  if (!chain->split)
    return;
  const uint64_t low = (UINT64_C(2) << chain->cut.first) - 1; /* up to the divided counter */
  const uint64_t high = ~(low >> 1);
  program->reduce_mask = (program->reduce_mask & low) | (program->reduce_mask & high) << 1;

  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(arena, SambaLaneOp, program->op_count);
  for (uint32_t i = 0; i < program->op_count; ++i) {
    ops[i] = program->ops[i];
    if (ops[i].opcode == SAMBA_LANE_COUNTER && ops[i].immediate > chain->cut.first)
      ++ops[i].immediate;
  }
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

/* Returns by how much tokens grow. */
static uint64_t joinAccess(SambaArena *arena, SambaAccess *access, SambaCut cut) {
  Chain chain = makeChain(arena, access->trips, access->token_level, access->counter_count, cut);
  uint64_t factor = sambaCutSteps(access->trips, cut, access->token_level);
  SambaGuard *guards = SAMBA_ARENA_ARRAY(arena, SambaGuard, access->guard_count);
  for (uint32_t g = 0; g < access->guard_count; ++g) {
    guards[g] = access->guards[g];
    guards[g].strides = mapStrides(arena, &chain, access->guards[g].strides);
  }

  access->strides = mapStrides(arena, &chain, access->strides);
  access->guards = guards;
  if (access->has_index) /* index tokens grow too */
    access->index_counters += access->token_level + chain.split - chain.level;
  access->trips = chain.trips;
  access->counter_count = chain.count;
  access->token_level = chain.level;
  return factor;
}

static void joinBuffer(SambaArena *arena, SambaUnit *unit, const SambaCut *cuts) {
  for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
    bool output = i >= unit->input_count;
    SambaPort *port = output ? &unit->outputs[i - unit->input_count] : &unit->inputs[i];
    joinTokens(port, joinAccess(arena, &port->access, cuts[i]));
  }
}

/* Index and control ports take part: each has one token per firing. */
static void joinLoadStore(SambaArena *arena, SambaUnit *unit, SambaCut cut) {
  SambaPort *port = unit->kind == SAMBA_UNIT_LOAD ? &unit->outputs[0] : &unit->inputs[0];
  uint64_t factor = joinAccess(arena, &port->access, cut);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    joinTokens(&unit->inputs[i], factor);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    joinTokens(&unit->outputs[i], factor);
}

SambaSection *sambaJoinedSectionCreate(SambaArena *arena, const SambaSection *section,
                                       const SambaCuts *cuts) {
  SambaSection *joined = sambaArenaCopy(arena, section, sizeof *section);
  joined->arena = arena;
  joined->units =
      sambaArenaCopy(arena, section->units, section->unit_count * sizeof *section->units);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    SambaUnit *unit = &joined->units[u];
    unit->inputs = sambaArenaCopy(arena, unit->inputs, unit->input_count * sizeof *unit->inputs);
    unit->outputs =
        sambaArenaCopy(arena, unit->outputs, unit->output_count * sizeof *unit->outputs);
    switch (unit->kind) {
    case SAMBA_UNIT_COMPUTE:
      joinCompute(arena, unit, cuts->units[u]);
      break;
    case SAMBA_UNIT_BUFFER:
      joinBuffer(arena, unit, cuts->ports[u]);
      break;
    case SAMBA_UNIT_LOAD:
    case SAMBA_UNIT_STORE:
      joinLoadStore(arena, unit, cuts->units[u]);
      break;
    }
  }

  return joined;
}
