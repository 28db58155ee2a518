/* Collecting the stages of a group; see chain.h. */
#include "backend/group/chain.h"

static void countReaders(const SambaStageGraph *graph, SambaChainReaders *out_readers) {
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    const SambaStage *stage = &graph->stages[s];
    for (uint32_t i = 0; i < stage->operand_count; ++i) {
      bool again = false;
      for (uint32_t j = 0; j < i; ++j)
        again |= stage->operands[j].tensor == stage->operands[i].tensor;
      out_readers[stage->operands[i].tensor].readers += !again;
    }
    ++out_readers[stage->output.tensor].writers;
  }
}

static bool isPure(const SambaAxisMap *map, const SambaStage *stage, uint32_t *out_dim) {
  uint32_t found = SAMBA_NO_INDEX;
  if (map->constant)
    return false;
  for (uint32_t dim = 0; dim < stage->dim_count; ++dim) {
    if (!map->coefficients[dim] || stage->extents[dim] == 1)
      continue;
    if (map->coefficients[dim] != 1 || found != SAMBA_NO_INDEX)
      return false;
    found = dim;
  }
  *out_dim = found;
  return true;
}

/* Whether `map` visits the tensor point by point: axis by axis one dimension of the same extent (or
 * a size-1 axis). out_dims[axis] is that dimension or SAMBA_NO_INDEX. */
static bool isIdentity(const SambaStageTensor *tensor, const SambaStage *stage,
                       const SambaStageOperand *map, uint32_t *out_dims) {
  uint32_t seen = 0;
  if (map->guarded || map->index_operand != SAMBA_NO_INDEX)
    return false;

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    if (!isPure(&map->axes[axis], stage, &out_dims[axis]))
      return false;
    if (out_dims[axis] == SAMBA_NO_INDEX) {
      if (tensor->dims[axis] != 1)
        return false;
      continue;
    }
    if (stage->extents[out_dims[axis]] != tensor->dims[axis] || seen & 1u << out_dims[axis])
      return false;
    seen |= 1u << out_dims[axis];
  }

  for (uint32_t dim = 0; dim < stage->dim_count; ++dim)
    if (!stage->reduced[dim] && stage->extents[dim] > 1 && !(seen & 1u << dim))
      return false; /* the tensor is broadcast along dim */
  return true;
}

static bool isElementwise(const SambaStage *stage) {
  for (uint32_t i = 0; i < stage->op_count; ++i)
    if (sambaLaneOpClass(stage->ops[i].opcode) == 'R')
      return false;
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (stage->operands[i].index_operand != SAMBA_NO_INDEX)
      return false;
  return stage->dim_count == 0 || !stage->reduced[stage->dim_count - 1];
}

/* Whether `next` may go into the chain, whose results it reads; out_dims: the anchor's dimension
 * that each dimension of next is. */
static bool mayFollow(const SambaChain *chain, const SambaStage *next, SambaDimMap *out_dims) {
  const SambaStageGraph *graph = chain->graph;
  uint32_t made[SAMBA_MAX_RANK], read[SAMBA_MAX_RANK];

  if (!isElementwise(next) || sambaStageScatters(next))
    return false;
  sambaClearIndices(out_dims->of, SAMBA_MAX_STAGE_DIMS);

  for (uint32_t i = 0; i < next->operand_count; ++i) {
    uint32_t tensor = next->operands[i].tensor;
    uint32_t member = chain->member_of[tensor];
    const SambaStageTensor *between = &graph->tensors[tensor];
    if (member == SAMBA_NO_INDEX)
      continue;
    const SambaStage *stage = &graph->stages[chain->stages[member]];
    if (between->role != SAMBA_TENSOR_INTERMEDIATE || chain->readers[tensor].writers != 1 ||
        sambaStageScatters(stage) || !isIdentity(between, stage, &stage->output, made) ||
        !isIdentity(between, next, &next->operands[i], read))
      return false;
    for (uint32_t axis = 0; axis < between->rank; ++axis) {
      if (read[axis] == SAMBA_NO_INDEX)
        continue;
      uint32_t dim = chain->dims[member].of[made[axis]];
      if (out_dims->of[read[axis]] != SAMBA_NO_INDEX && out_dims->of[read[axis]] != dim)
        return false; /* x + transpose(x) */
      out_dims->of[read[axis]] = dim;
    }
  }

  return true;
}

/* The first stage behind the chain that reads a result of it; SAMBA_NO_INDEX: none. */
static uint32_t nextReader(const SambaChain *chain) {
  const SambaStageGraph *graph = chain->graph;
  for (uint32_t s = chain->stages[chain->length - 1] + 1; s < graph->stage_count; ++s)
    for (uint32_t i = 0; i < graph->stages[s].operand_count; ++i)
      if (chain->member_of[graph->stages[s].operands[i].tensor] != SAMBA_NO_INDEX)
        return s;
  return SAMBA_NO_INDEX;
}

/* The stages that a mapping puts into one group, or those without a mapping: these have group 0.
 * Of a stage without dimensions only the group tells whether it has one. */
static bool belongTogether(const SambaStageGraph *graph, uint32_t a, uint32_t b) {
  const SambaMapping *first = &graph->mappings[a], *second = &graph->mappings[b];
  bool scalar = !graph->stages[a].dim_count || !graph->stages[b].dim_count;
  if (!scalar && !first->dim_count != !second->dim_count)
    return false;
  return first->group == second->group;
}

static void addToChain(SambaChain *chain, uint32_t stage) {
  const SambaStage *added = &chain->graph->stages[stage];
  for (uint32_t i = 0; i < added->operand_count; ++i) {
    uint32_t tensor = added->operands[i].tensor;
    bool again = false;
    for (uint32_t j = 0; j < i; ++j)
      again |= added->operands[j].tensor == tensor;
    if (!again && chain->member_of[tensor] != SAMBA_NO_INDEX)
      ++chain->inside[chain->member_of[tensor]];
  }
  chain->inside[chain->length] = 0;
  chain->member_of[added->output.tensor] = chain->length;
  chain->stages[chain->length++] = stage;
}

/* Takes stages from the chain's end. */
static void cutChain(SambaChain *chain, uint32_t length) {
  while (chain->length > length)
    chain->member_of[chain->graph->stages[chain->stages[--chain->length]].output.tensor] =
        SAMBA_NO_INDEX;
}

/* Whether nothing but the last result is read outside of the chain. */
static bool isClosed(const SambaChain *chain) {
  bool closed = true;
  for (uint32_t i = 0; i + 1 < chain->length; ++i) {
    uint32_t tensor = chain->graph->stages[chain->stages[i]].output.tensor;
    closed &= chain->graph->tensors[tensor].role == SAMBA_TENSOR_INTERMEDIATE &&
              chain->readers[tensor].readers == chain->inside[i];
  }
  return closed;
}

/* Whether one PCU takes all that the chain computes behind its anchor. */
static bool fitsOnePcu(const SambaChain *chain, const SambaMachine *machine) {
  uint32_t operations = 0;
  bool fits = true;
  for (uint32_t i = 1; i < chain->length; ++i) {
    const SambaStage *stage = &chain->graph->stages[chain->stages[i]];
    for (uint32_t op = 0; op < stage->op_count; ++op) {
      char kind = sambaLaneOpClass(stage->ops[op].opcode);
      fits &= kind != 'T';
      operations += kind == 'S';
    }
  }
  return fits && operations <= machine->simd_stages;
}

/* Whether a reduction uses each element of an operand in memory once, such as a matrix that a
 * vector is multiplied with. It takes as long as that operand takes to arrive. */
static bool streamsOperand(const SambaStageGraph *graph, const SambaStage *anchor) {
  for (uint32_t i = 0; i < anchor->operand_count && anchor->operand_count > 1; ++i) {
    const SambaStageTensor *tensor = &graph->tensors[anchor->operands[i].tensor];
    bool once = tensor->role == SAMBA_TENSOR_ARGUMENT, reduces = false;
    for (uint32_t dim = 0; dim < anchor->dim_count; ++dim) {
      bool used = anchor->extents[dim] == 1;
      for (uint32_t axis = 0; axis < tensor->rank; ++axis)
        used |= anchor->operands[i].axes[axis].coefficients[dim] != 0;
      once &= used;
      reduces |= anchor->reduced[dim];
    }
    if (once && reduces)
      return true;
  }
  return false;
}

/* Whether the last stage of the chain reads what another group of the section makes. */
static bool waitsForOthers(const SambaChain *chain) {
  const SambaStage *last = &chain->graph->stages[chain->stages[chain->length - 1]];
  for (uint32_t i = 0; i < last->operand_count; ++i)
    if (chain->member_of[last->operands[i].tensor] == SAMBA_NO_INDEX &&
        chain->graph->tensors[last->operands[i].tensor].role != SAMBA_TENSOR_ARGUMENT)
      return true;
  return false;
}

/* The only stage behind the chain's first that makes the tensor, when it could come into the chain
 * for a stage that reads it; SAMBA_NO_INDEX: there is none. */
static uint32_t makerBeside(const SambaChain *chain, uint32_t tensor, uint32_t before) {
  const SambaStageGraph *graph = chain->graph;
  uint32_t first = chain->stages[0], maker = first + 1;
  if (chain->member_of[tensor] != SAMBA_NO_INDEX || chain->readers[tensor].writers != 1 ||
      graph->tensors[tensor].role != SAMBA_TENSOR_INTERMEDIATE)
    return SAMBA_NO_INDEX;
  while (maker < before && graph->stages[maker].output.tensor != tensor)
    ++maker;
  if (maker >= before || chain->taken[maker] || !belongTogether(graph, first, maker))
    return SAMBA_NO_INDEX;
  const SambaStage *stage = &graph->stages[maker];
  bool computes = stage->op_count && isElementwise(stage) && !sambaStageScatters(stage);
  return computes ? maker : SAMBA_NO_INDEX;
}

/* The anchor's dimension that each dimension of `maker` is, when a stage with dimensions `dims`
 * reads its result point by point and so does the maker with what it takes from the chain. */
static bool mayComeBefore(const SambaChain *chain, const SambaStage *maker,
                          const SambaStage *reader, uint32_t operand, const SambaDimMap *dims,
                          SambaDimMap *out_dims) {
  const SambaStageTensor *between = &chain->graph->tensors[maker->output.tensor];
  uint32_t made[SAMBA_MAX_RANK], read[SAMBA_MAX_RANK];
  SambaDimMap inside;
  if (!isIdentity(between, maker, &maker->output, made) ||
      !isIdentity(between, reader, &reader->operands[operand], read) ||
      !mayFollow(chain, maker, &inside))
    return false;

  sambaClearIndices(out_dims->of, SAMBA_MAX_STAGE_DIMS);
  for (uint32_t axis = 0; axis < between->rank; ++axis)
    if (read[axis] != SAMBA_NO_INDEX)
      out_dims->of[made[axis]] = dims->of[read[axis]];
  for (uint32_t dim = 0; dim < maker->dim_count; ++dim)
    if (inside.of[dim] != SAMBA_NO_INDEX && inside.of[dim] != out_dims->of[dim])
      return false;
  return true;
}

/* Adds a stage to the chain, and before it those beside the chain that make what it reads. */
static void addWithMakers(SambaChain *chain, uint32_t stage, SambaDimMap dims) {
  const SambaStage *reader = &chain->graph->stages[stage];
  for (uint32_t i = 0; i < reader->operand_count && chain->joins && chain->length; ++i) {
    uint32_t maker = makerBeside(chain, reader->operands[i].tensor, stage);
    SambaDimMap own;
    if (maker != SAMBA_NO_INDEX &&
        mayComeBefore(chain, &chain->graph->stages[maker], reader, i, &dims, &own))
      addWithMakers(chain, maker, own);
  }
  chain->dims[chain->length] = dims;
  addToChain(chain, stage);
}

/* Operands that the chain reads and does not make. */
static uint32_t operandsOf(const SambaChain *chain) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < chain->length; ++s) {
    const SambaStage *stage = &chain->graph->stages[chain->stages[s]];
    for (uint32_t i = 0; i < stage->operand_count; ++i)
      count += chain->member_of[stage->operands[i].tensor] == SAMBA_NO_INDEX;
  }
  return count;
}

/* Collects the stages that begin at `first`. A stream from memory neither waits for what another
 * group makes nor brings PCUs behind each copy: what would is a group of its own. What an
 * elementwise stage makes may have several readers that all come in: values that several stages
 * need branch in the lanes. So do elementwise stages beside the chain that only it reads. What
 * follows other anchors takes PCUs for each of their copies: there values branch only where one PCU
 * is enough. Returns false when stages of the chain had to be given up. */
static bool followChain(SambaChain *chain, const SambaMachine *machine, uint32_t first) {
  const SambaStageGraph *graph = chain->graph;
  const SambaStage *anchor = &graph->stages[first];
  bool branches = isElementwise(anchor) && !sambaStageScatters(anchor);
  bool streams = graph->mappings[first].dim_count == 0 && streamsOperand(graph, anchor);
  uint32_t closed = 1;
  for (uint32_t d = 0; d < anchor->dim_count; ++d)
    branches &= !anchor->reduced[d];
  for (uint32_t d = 0; d < SAMBA_MAX_STAGE_DIMS; ++d)
    chain->dims[0].of[d] = d;
  chain->length = 0;
  chain->joins &= branches;
  addToChain(chain, first);

  for (;;) {
    uint32_t next = nextReader(chain);
    SambaDimMap dims;
    if (next == SAMBA_NO_INDEX || chain->taken[next] || !belongTogether(graph, first, next) ||
        !mayFollow(chain, &graph->stages[next], &dims))
      break;
    bool in_line = closed == chain->length;
    addWithMakers(chain, next, dims);
    bool ends = isClosed(chain);
    if (streams && (waitsForOthers(chain) || !fitsOnePcu(chain, machine)))
      break;
    if (!branches && !(in_line && ends) && !fitsOnePcu(chain, machine))
      break;
    if (chain->joins && operandsOf(chain) > SAMBA_MAX_GROUP_OPERANDS / 2)
      break;
    if (ends)
      closed = chain->length;
  }

  bool whole = chain->length == closed;
  cutChain(chain, closed);
  return whole;
}

/* Stages beside the chain come in too where all that came of that stays in it. */
void sambaChainCollect(SambaChain *chain, const SambaMachine *machine, uint32_t first) {
  chain->joins = true;
  if (followChain(chain, machine, first) || !chain->joins)
    return;
  cutChain(chain, 0);
  chain->joins = false;
  followChain(chain, machine, first);
}

SambaChain sambaChainCreate(const SambaStageGraph *graph, const bool *taken, SambaArena *arena) {
  uint32_t count = graph->stage_count;
  SambaChainReaders *readers = SAMBA_ARENA_ARRAY(arena, SambaChainReaders, graph->tensor_count);
  countReaders(graph, readers);
  SambaChain chain = {.graph = graph,
                      .readers = readers,
                      .taken = taken,
                      .stages = SAMBA_ARENA_ARRAY(arena, uint32_t, count),
                      .dims = SAMBA_ARENA_ARRAY(arena, SambaDimMap, count),
                      .member_of = SAMBA_ARENA_ARRAY(arena, uint32_t, graph->tensor_count),
                      .inside = SAMBA_ARENA_ARRAY(arena, uint32_t, count)};
  sambaClearIndices(chain.member_of, graph->tensor_count);
  return chain;
}

void sambaChainClear(SambaChain *chain) { cutChain(chain, 0); }
