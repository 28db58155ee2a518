/* Where tokens come from: read ports of buffered tensors, loads and the buffers behind them. A
 * buffer that one generator fills too slowly has several, each with its part of the slot; short
 * DRAM rows are loaded for several copies at once into a staging buffer that deals them out. */
#include "backend/codegen/codegen_internal.h"

#include "support/number/integer.h"

#include <stdlib.h>
#include <string.h>

/* What a copy sends are elements of its operand, what it takes are elements of its result: the
 * order of the stream between says both. */
static void stateCopy(SambaCodegen *codegen, const SambaTileNest *nest, uint32_t operand,
                      SambaEndpoint source) {
  if (nest->group->copy)
    sambaStateToken(nest, operand, codegen->arena,
                    &sambaAssemblyUnit(&codegen->assembly, source.unit)->outputs[source.port]);
}

/* What a PCU takes from a ring of PMUs: the tokens of a slice from each in turn. */
static void takeInTurn(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                       const SambaEndpoints *takers) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  uint32_t tensor = nest->group->operands[operand].map.tensor;
  int64_t tokens = sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, operand));
  int64_t slices = sambaTileNestTrips(nest, codegen->tensors[tensor].slices.count);
  for (size_t t = 0; t < takers->size; ++t)
    sambaAssemblyUnit(&codegen->assembly, takers->data[t].unit)
        ->inputs[takers->data[t].port]
        .block = (uint32_t)(tokens / slices) * sambaTileNestTokensInTurn(nest, operand);
}

/* Joins a read port with the takers of a range. A tail takes the tokens of its copies on one stream
 * where a lane has not as many flow ids as there are copies, and from a ring: before it turns to
 * the next PMU it takes some of each, over and over. */
static void connectTakers(SambaCodegen *codegen, const SambaTileNest *nest, uint32_t operand,
                          const SambaCopyRange *range, SambaEndpoint at, bool ring,
                          const SambaEndpoints *consumers) {
  uint32_t mask = sambaCopyMask(nest, operand);
  uint32_t together = sambaTileNestTakenInTurn(nest, operand);
  bool many = sambaCopyRangeSize(range, nest->group->dim_count) >
              (uint64_t)codegen->machine->flows_per_lane;
  if (together == 1 || !(ring || many)) {
    sambaConnectRange(codegen, nest, mask, range, at, consumers);
    return;
  }
  uint32_t copy[SAMBA_MAX_STAGE_DIMS], index = 0;
  memcpy(copy, range->first, sizeof copy);
  do {
    const SambaEndpoints *takers = &consumers[sambaCopyIndex(nest, mask, copy)];
    if (index++ % together == 0)
      sambaAssemblyConnect(&codegen->assembly, at, takers->data, takers->size);
  } while (sambaCopyNext(nest, range, copy));
  sambaAssemblyUnit(&codegen->assembly, at.unit)->outputs[at.port].block =
      sambaTileNestTokensInTurn(nest, operand);
}

/* Adds the copies of a tail that need the same tokens of the operand, for which they come again. */
static void repeatInTurn(const SambaTileNest *nest, uint32_t operand, SambaCopyRange *range) {
  if (sambaTileNestTokensInTurn(nest, operand) == 1)
    return;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (!sambaGroupDepends(nest->group, operand, dim))
      range->count[dim] = sambaTileNestTailCopies(nest, dim);
}

/* One read port: the tokens of a range of the sources, in turn. */
static void readRange(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                      const SambaCopyRange *range, SambaEndpoint at,
                      const SambaEndpoints *consumers) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  const SambaStageOperand *map = &nest->group->operands[operand].map;
  SambaWalk walk;
  uint32_t from = sambaStartSlices(codegen, nest, map, range, &walk);
  uint32_t level = sambaTileNestTokenLevel(nest, operand);
  sambaWalkLoops(&walk, nest, map, from, level > from ? level : from);
  SambaCopyRange repeated = *range;
  repeatInTurn(nest, operand, &repeated);
  sambaWalkCopies(&walk, nest, map, &repeated);
  sambaWalkToken(&walk, nest, operand);

  const SambaTensorPlan *plan = &codegen->tensors[map->tensor];
  for (uint32_t i = 0; i < plan->ring; ++i, at.unit += plan->buffers) {
    sambaSetBufferRead(codegen, map->tensor, at, &walk, map->fill);
    stateCopy(codegen, nest, operand, at);
    connectTakers(codegen, nest, operand, range, at, plan->ring > 1, consumers);
  }
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  memcpy(copy, range->first, sizeof copy);
  do
    if (plan->ring > 1)
      takeInTurn(codegen, g, operand,
                 &consumers[sambaCopyIndex(nest, sambaCopyMask(nest, operand), copy)]);
  while (sambaCopyNext(nest, range, copy));
}

/* The takers of each source that a twin serves. */
static SambaEndpoints *takersOfTwin(SambaCodegen *codegen, const SambaTileNest *nest,
                                    uint32_t operand, const SambaEndpoints *consumers,
                                    uint32_t twin) {
  uint32_t sources = sambaTileNestSources(nest, operand),
           twins = sambaTileNestTwinsInside(nest, operand);
  SambaEndpoints *own = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoints, sources);
  for (uint32_t source = 0; source < sources; ++source) {
    size_t first = consumers[source].size * twin / twins;
    size_t end = consumers[source].size * (twin + 1) / twins;
    own[source].data = consumers[source].data + first;
    own[source].size = end - first;
  }
  return own;
}

static void readBuffered(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                         const SambaEndpoints *consumers) {
  const SambaTileNest *nest = &codegen->plans[g].nest;
  uint32_t tensor = nest->group->operands[operand].map.tensor;
  uint32_t twins = sambaTileNestTwinsInside(nest, operand);
  bool dealt = sambaTileNestReadPorts(nest, operand) == 1;
  SambaEndpoints **takers = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoints *, twins);
  for (uint32_t twin = 0; twin < twins; ++twin)
    takers[twin] = takersOfTwin(codegen, nest, operand, consumers, twin);

  for (uint32_t replica = 0; replica < codegen->tensors[tensor].replicas; ++replica) {
    SambaCopyRange range;
    uint32_t copy[SAMBA_MAX_STAGE_DIMS], part = 0;
    sambaReplicaRange(nest, sambaCopyMask(nest, operand), codegen->tensors[tensor].slices.count,
                      replica, &range);
    memcpy(copy, range.first, sizeof copy);
    do {
      SambaCopyRange own = range;
      for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS && !dealt; ++dim)
        own.first[dim] = copy[dim], own.count[dim] = 1;
      for (uint32_t twin = 0; twin < twins; ++twin) {
        SambaEndpoint at =
            sambaBufferPort(codegen, tensor, g, operand, SAMBA_NO_INDEX, part++, replica);
        readRange(codegen, g, operand, &own, at, takers[twin]);
      }
    } while (!dealt && sambaCopyNext(nest, &range, copy));
  }
}

/* --- Loads and their buffers --- */

typedef struct Source { /* of one operand in memory */
  uint32_t group, operand;
  SambaTileSharing sharing;
  SambaTileNest buffers; /* its copies are the buffers */
  SambaTileNest loads;   /* its copies are loaded apart */
  uint32_t spread,
      spread_at;  /* buffers of each source, one per iteration of the loop at that position */
  uint32_t ring;  /* buffers of each source that take slots in turn */
  uint32_t twins; /* of each of these, with the same content for a part of the copies */
  uint32_t level; /* a slot per iteration of the loops before it */
  SambaTileBox slot;
  uint32_t ways; /* loads per buffer, each with its part along cut_axis */
  uint32_t cut_axis;
  uint32_t staged_dim; /* SAMBA_NO_INDEX: not staged */
  uint32_t chunks; /* staged: pieces of the slot along cut_axis that pass the staging buffer one by
                      one */
} Source;

/* The slot of a buffer; returns its elements. Where the outermost rows of a slot for an array end
 * within a word, they are padded: elements that follow each other would lie in two words, and the
 * array takes those of many rows in each cycle. */
static int64_t slotLayout(const SambaCodegen *codegen, const Source *source, uint32_t depth,
                          SambaTokenLayout *out_layout) {
  const SambaTileNest *nest = &codegen->plans[source->group].nest;
  const SambaTileBox *slot = &source->slot;
  int64_t element = sambaDTypeBytes(sambaTileNestDType(nest, source->operand));
  int64_t words = codegen->machine->pmu_word_bytes / element;
  *out_layout = sambaLayoutBox(slot);
  if (!nest->group->systolic || slot->rank < 2 || words < 2)
    return slot->elements;

  uint32_t axis = sambaOutermostAxis(slot);
  int64_t row = sambaCeilDiv(out_layout->stride[axis], words) * words;
  int64_t bytes = row * slot->size[axis] * element;
  if (axis + 1 == slot->rank || bytes * depth > codegen->machine->pmu_bytes)
    return slot->elements;
  out_layout->stride[axis] = row;
  return row * slot->size[axis];
}

/* Slots of a buffer; what is loaded once has one. */
static uint32_t depthOf(const SambaTileNest *nest, const Source *source) {
  if (sambaTileNestTrips(nest, source->level) == 1)
    return 1;
  return (nest->depth[source->operand] + source->ring - 1) / source->ring;
}

/* The write ports of a buffer: one per load, each for its part of the slot, or one that takes
 * staged chunks. */
static void setBufferWrites(SambaCodegen *codegen, const Source *source, const SambaWalk *slots,
                            const SambaTokenLayout *layout, SambaUnit *unit) {
  SambaDType dtype = sambaTileNestDType(&codegen->plans[source->group].nest, source->operand);
  uint32_t ports = source->staged_dim == SAMBA_NO_INDEX ? source->ways : 1;

  for (uint32_t w = 0; w < ports; ++w) {
    SambaTileBox part = sambaBoxPart(&source->slot, source->cut_axis, ports * source->chunks, w);
    SambaWalk walk;
    sambaWalkCopy(&walk, slots);
    if (source->chunks > 1) {
      walk.steps[walk.count] = (SambaWalkStep){.trips = source->chunks};
      walk.steps[walk.count++].axis[source->cut_axis] =
          part.size[source->cut_axis] * part.step[source->cut_axis];
    }
    walk.token_level = walk.count;
    sambaWalkBox(&walk, &part);
    sambaWalkFromFirst(&walk);
    walk.axis_start[source->cut_axis] +=
        sambaBoxPartStart(&source->slot, source->cut_axis, ports, w);
    sambaSetPort(codegen->arena, &unit->inputs[w], &walk, dtype,
                 sambaWalkAccess(&walk, layout, NULL, 0, codegen->arena));
  }
}

/* Moves a read to where the elements of one source begin in a slot that several share. */
static void moveToCopy(const SambaTileNest *nest, const Source *source, uint32_t index,
                       SambaWalk *walk) {
  const SambaStageOperand *map = &nest->group->operands[source->operand].map;
  uint32_t mask = sambaCopyMask(nest, source->operand);

  for (uint32_t dim = nest->group->dim_count; dim-- > 0;) {
    if (!(mask >> dim & 1))
      continue;
    int64_t copy = index % nest->unroll[dim];
    index /= nest->unroll[dim];
    if (dim == source->sharing.paired)
      copy %= source->sharing.neighbours;
    else if (!(source->sharing.joined >> dim & 1))
      continue;
    for (uint32_t axis = 0; axis < source->slot.rank; ++axis)
      walk->axis_start[axis] += map->axes[axis].coefficients[dim] * copy * nest->copy_step[dim];
  }
}

/* Of one source: those over which a slot is spread, or that take slots in turn. */
static uint32_t buffersOfEach(const Source *source) { return source->spread * source->ring; }

/* A buffer for one source or several: filled slot by slot, read token by token. twin: of those with
 * the same content. */
static SambaStatus addBuffer(SambaCodegen *codegen, const Source *source, uint32_t number,
                             uint32_t twin, uint32_t *out_unit) {
  uint32_t readers = source->sharing.ports;
  const SambaGroupPlan *plan = &codegen->plans[source->group];
  const SambaTileNest *nest = &plan->nest;
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[source->operand].map;
  SambaDType dtype = sambaTileNestDType(nest, source->operand);
  const uint32_t depth = depthOf(nest, source);
  SambaTokenLayout layout;
  const uint64_t elements = (uint64_t)slotLayout(codegen, source, depth, &layout);
  const char *name =
      sambaArenaFormat(codegen->arena, "%s.in%u.buffer%u", plan->prefix, source->operand, number);
  if (twin)
    name = sambaArenaFormat(codegen->arena, "%s.twin%u", name, twin);
  SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, elements, dtype, depth));
  *out_unit = sambaAssemblyAddUnit(
      &codegen->assembly, SAMBA_UNIT_BUFFER, name, sambaCodegenLayer(codegen, group),
      source->staged_dim == SAMBA_NO_INDEX ? source->ways : 1, readers);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);

  unit->buffer.slot_count = depth;
  unit->buffer.slot_elements = elements;
  SambaWalk slots;
  sambaWalkStart(&slots, nest, map, NULL);
  sambaWalkLoops(&slots, nest, map, 0, source->level);
  if (source->ring > 1)
    slots.steps[slots.count - 1].trips /= source->ring;
  sambaWalkClearAddresses(&slots, slots.count);
  slots.slot_level = slots.token_level = slots.count;
  setBufferWrites(codegen, source, &slots, &layout, unit);
  SambaWalk read;
  sambaWalkCopy(&read, &slots);
  uint32_t end = sambaTileNestTokenLevel(nest, source->operand);
  uint32_t middle = source->spread > 1 ? source->spread_at : end;
  sambaWalkLoops(&read, nest, map, source->level, middle);
  sambaWalkLoops(&read, nest, map, middle + 1, end);
  if (source->sharing.ports < source->sharing.neighbours) {
    SambaCopyRange in_turn;
    sambaCutCopies(nest, 0, 1, &in_turn);
    in_turn.count[source->sharing.paired] = source->sharing.neighbours;
    repeatInTurn(nest, source->operand, &in_turn);
    sambaWalkCopies(&read, nest, map, &in_turn);
  }
  sambaWalkToken(&read, nest, source->operand);
  for (uint32_t p = 0; p < readers; ++p) {
    SambaPort *port = &unit->outputs[p];
    sambaWalkMakeRelative(&read, &source->slot);
    moveToCopy(nest, source, number / buffersOfEach(source) * source->sharing.neighbours + p,
               &read);
    sambaSetPort(codegen->arena, port, &read, dtype,
                 sambaWalkAccess(&read, &layout, NULL, 0, codegen->arena));
    stateCopy(codegen, nest, source->operand, (SambaEndpoint){*out_unit, p});
  }

  return NULL;
}

/* It alone walks the tensor's last axis, densely over slot and copies, and is the last with several
 * copies. */
uint32_t sambaStagedSourceDim(const SambaTileNest *nest, uint32_t operand, const SambaTileBox *slot,
                              const SambaCopyRange *range) {
  const SambaGroup *group = nest->group;
  const SambaStageOperand *map = &group->operands[operand].map;
  uint32_t last = SAMBA_NO_INDEX;

  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (range->count[dim] > 1)
      last = dim;
  if (last == SAMBA_NO_INDEX || slot->rank < 2)
    return SAMBA_NO_INDEX;
  uint32_t row = slot->rank - 1;
  for (uint32_t axis = 0; axis < slot->rank; ++axis)
    if (map->axes[axis].coefficients[last] != (axis == row ? 1 : 0))
      return SAMBA_NO_INDEX;
  bool dense = slot->step[row] == 1 && slot->size[row] == nest->copy_step[last];
  return dense && slot->size[row] * sambaDTypeBytes(sambaTileNestDType(nest, operand)) <
                      sambaStagingRowBytes(nest->machine)
             ? last
             : SAMBA_NO_INDEX;
}

/* A staging slot is stored before it is forwarded: small. But where its rows cannot be dealt evenly
 * to the loads there should be many of them, or the largest part is much larger than the others,
 * and its load is late: then twice as large rather than uneven. */
typedef struct ChunkWish {
  int64_t bytes, rows; /* at most; for each load at least where they are uneven */
} ChunkWish;
static const ChunkWish chunkWishes[] = {{8192, 32}, {16384, 32}, {8192, 8}};

static uint32_t chunksAsWished(const SambaTileNest *nest, const Source *source, uint32_t copies,
                               const ChunkWish *wish) {
  int64_t bytes =
      source->slot.elements * copies * sambaDTypeBytes(sambaTileNestDType(nest, source->operand));
  int64_t size = source->slot.size[source->cut_axis];
  int64_t most =
      nest->machine->pmu_bytes / 2 < wish->bytes ? nest->machine->pmu_bytes / 2 : wish->bytes;
  for (int64_t chunks = 1; chunks <= size; ++chunks) {
    int64_t rows = size / chunks;
    bool cut = rows % source->ways == 0 || rows >= (int64_t)source->ways * wish->rows;
    if (size % chunks == 0 && cut && bytes / chunks <= most)
      return (uint32_t)chunks;
  }
  return 0;
}

/* Pieces of a staged slot: the fewest that are small enough and can be cut for the loads;
 * 0: none. */
static uint32_t chooseChunks(const SambaTileNest *nest, const Source *source, uint32_t copies) {
  uint32_t chunks = 0;
  for (uint32_t w = 0; w < sizeof chunkWishes / sizeof *chunkWishes && !chunks; ++w)
    chunks = chunksAsWished(nest, source, copies, &chunkWishes[w]);
  return chunks;
}

/* The loads that fill a staging buffer, each its part of a chunk. walk, slots: how they step in
 * memory and over the buffer's slots; wide: the chunk of all copies. */
static void addStageFillers(SambaCodegen *codegen, const Source *source, const SambaWalk *walk,
                            const SambaWalk *slots, const SambaTileBox *wide, uint32_t number,
                            uint32_t stage) {
  const SambaGroupPlan *plan = &codegen->plans[source->group];
  const SambaTileNest *nest = &plan->nest;
  const SambaStageOperand *map = &nest->group->operands[source->operand].map;
  SambaTokenLayout layout = sambaLayoutBox(wide);

  for (uint32_t w = 0; w < source->ways; ++w) {
    SambaTileBox own =
        sambaBoxPart(wide, source->cut_axis, source->ways, w); /* what this one brings */
    SambaWalk from, write;
    sambaWalkCopy(&from, walk);
    sambaWalkCopy(&write, slots);
    int64_t offset = sambaBoxPartStart(wide, source->cut_axis, source->ways, w);
    sambaWalkBox(&from, &own);
    from.axis_start[source->cut_axis] += offset;
    const char *name = sambaArenaFormat(codegen->arena, "%s.in%u.load%u", plan->prefix,
                                        source->operand, number * source->ways + w);
    uint32_t load = sambaCodegenAddLoad(
        codegen, map->tensor, name, sambaCodegenLayer(codegen, nest->group), 0, &from, map->fill);

    sambaWalkBox(&write, &own);
    sambaWalkFromFirst(&write);
    write.axis_start[source->cut_axis] += offset;
    sambaSetPort(codegen->arena, &sambaAssemblyUnit(&codegen->assembly, stage)->inputs[w], &write,
                 sambaTileNestDType(nest, source->operand),
                 sambaWalkAccess(&write, &layout, NULL, 0, codegen->arena));
    sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){load, 0}, &(SambaEndpoint){stage, w},
                         1);
  }
}

/* Deals the tokens of a port to the buffers of the range in turn; those that are loaded together
 * get the same ones. way: of the buffers of each source, and `port` of each. */
static void connectBuffers(SambaCodegen *codegen, const Source *source, const SambaCopyRange *range,
                           SambaEndpoint from, const uint32_t *buffers, uint32_t way,
                           uint32_t port) {
  const SambaTileNest *nest = &source->buffers;
  uint32_t mask = sambaCopyMask(nest, source->operand);
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  SambaCopyRange together;

  sambaCutCopies(nest, source->sharing.joined, 1, &together);
  uint32_t count = sambaCopyRangeSize(&together, nest->group->dim_count);
  count *= source->twins;
  SambaEndpoint *takers = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaEndpoint, count);
  memcpy(copy, range->first, sizeof copy);
  do {
    SambaCopyRange same = together;
    uint32_t one[SAMBA_MAX_STAGE_DIMS];
    for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
      if (!(source->sharing.joined >> dim & 1))
        same.first[dim] = copy[dim];
    memcpy(one, same.first, sizeof one);
    uint32_t taker = 0;
    do {
      uint32_t buffer = sambaCopyIndex(nest, mask, one) * buffersOfEach(source) + way;
      for (uint32_t twin = 0; twin < source->twins; ++twin)
        takers[taker++] = (SambaEndpoint){buffers[buffer * source->twins + twin], port};
    } while (sambaCopyNext(nest, &same, one));
    sambaAssemblyConnect(&codegen->assembly, from, takers, count);
  } while (sambaCopyNext(nest, range, copy));
}

/* Load -> staging buffer -> buffers of the range, chunk by chunk. */
static void addStagedLoad(SambaCodegen *codegen, const Source *source, const SambaCopyRange *range,
                          uint32_t number, const uint32_t *buffers) {
  const SambaGroupPlan *plan = &codegen->plans[source->group];
  const SambaTileNest *nest = &source->loads;
  const SambaStageOperand *map = &nest->group->operands[source->operand].map;
  SambaDType dtype = sambaTileNestDType(nest, source->operand);
  uint32_t copies = range->count[source->staged_dim];
  uint32_t row = source->slot.rank - 1;
  SambaTileBox part = sambaBoxPart(&source->slot, source->cut_axis, source->chunks, 0);
  SambaTileBox wide = part;

  wide.size[row] *= copies;
  wide.elements *= copies;
  SambaCopyRange others = *range;
  others.count[source->staged_dim] = 1;
  SambaWalk walk, slots;
  sambaWalkStart(&walk, nest, map, range);
  sambaWalkLoops(&walk, nest, map, 0, source->level);
  if (source->chunks > 1) {
    walk.steps[walk.count] = (SambaWalkStep){.trips = source->chunks};
    walk.steps[walk.count++].axis[source->cut_axis] =
        part.size[source->cut_axis] * part.step[source->cut_axis];
  }

  sambaWalkCopies(&walk, nest, map, &others);
  slots = walk;
  sambaWalkClearAddresses(&slots, slots.count);
  slots.slot_level = slots.token_level = slots.count;
  walk.token_level = walk.count;
  const char *layer = sambaCodegenLayer(codegen, nest->group);
  const char *name =
      sambaArenaFormat(codegen->arena, "%s.in%u.stage%u", plan->prefix, source->operand, number);
  uint32_t stage =
      sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name, layer, source->ways, 1);
  addStageFillers(codegen, source, &walk, &slots, &wide, number, stage);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, stage);

  /* Many slots: between load and buffers its tokens queue behind the long ones of the operands in
   * use. */
  int64_t slots_fit = codegen->machine->pmu_bytes / 4 / (wide.elements * sambaDTypeBytes(dtype));
  unit->buffer.slot_count = slots.count ? (uint32_t)sambaClampInteger(slots_fit, 2, 8) : 1;
  unit->buffer.slot_elements = (uint64_t)wide.elements;
  SambaWalk read;
  sambaWalkCopy(&read, &slots);
  read.steps[read.count] = (SambaWalkStep){.trips = copies};
  read.steps[read.count++].axis[row] = part.size[row];
  read.token_level = read.count;
  sambaWalkBox(&read, &part);
  sambaWalkFromFirst(&read);
  SambaTokenLayout layout = sambaLayoutBox(&wide);
  sambaSetPort(codegen->arena, &unit->outputs[0], &read, dtype,
               sambaWalkAccess(&read, &layout, NULL, 0, codegen->arena));
  connectBuffers(codegen, source, range, (SambaEndpoint){stage, 0}, buffers, 0, 0);
}

/* Loads of a range without staging: one per way, dealing slots (or, direct, tokens) to the range's
 * sources. */
static void addLoads(SambaCodegen *codegen, const Source *source, const SambaCopyRange *range,
                     uint32_t number, const uint32_t *buffers, const SambaEndpoints *consumers) {
  const SambaGroupPlan *plan = &codegen->plans[source->group];
  const SambaTileNest *nest = &source->loads;
  const SambaStageOperand *map = &nest->group->operands[source->operand].map;

  for (uint32_t w = 0; w < source->ways; ++w) {
    SambaTileBox part = sambaBoxPart(&source->slot, source->cut_axis, source->ways, w);
    SambaWalk walk;
    sambaWalkStart(&walk, nest, map, range);
    sambaWalkLoops(&walk, nest, map, 0, source->level);
    if (source->spread > 1)
      sambaWalkLoops(&walk, nest, map, source->spread_at, source->spread_at + 1);
    sambaWalkCopies(&walk, nest, map, range);
    walk.token_level = walk.count;
    sambaWalkBox(&walk, &part);
    walk.axis_start[source->cut_axis] +=
        sambaBoxPartStart(&source->slot, source->cut_axis, source->ways, w);
    const char *name = sambaArenaFormat(codegen->arena, "%s.in%u.load%u", plan->prefix,
                                        source->operand, number * source->ways + w);
    uint32_t load = sambaCodegenAddLoad(
        codegen, map->tensor, name, sambaCodegenLayer(codegen, nest->group), 0, &walk, map->fill);
    if (!buffers) {
      sambaConnectRange(codegen, nest, sambaCopyMask(nest, source->operand), range,
                        (SambaEndpoint){load, 0}, consumers);
      continue;
    }
    for (uint32_t way = 0; way < buffersOfEach(source); ++way)
      connectBuffers(codegen, source, range, (SambaEndpoint){load, 0}, buffers, way, w);
  }
}

/* Chooses whether the ranges are staged and in how many chunks. All or nothing: the buffers must
 * take the same chunks from every load. */
static void chooseStaging(const SambaTileNest *nest, const SambaCopyRange *ranges, uint32_t count,
                          Source *source) {
  if (buffersOfEach(source) > 1)
    return;
  uint32_t dim = sambaStagedSourceDim(nest, source->operand, &source->slot, &ranges[0]);
  if (dim == SAMBA_NO_INDEX || source->cut_axis == source->slot.rank - 1)
    return;

  uint32_t most = 1;
  for (uint32_t r = 0; r < count; ++r)
    most = ranges[r].count[dim] > most ? ranges[r].count[dim] : most;
  uint32_t ways = source->ways;
  uint32_t chunks = chooseChunks(nest, source, most);
  if (!chunks) { /* none can be cut for so many loads */
    source->ways = 1;
    chunks = chooseChunks(nest, source, most);
  }

  if (chunks) {
    source->chunks = chunks;
    source->staged_dim = dim;
  } else {
    source->ways = ways;
  }
}

/* Joins a port of a buffer with those of its readers that are this twin's. block: tokens that each
 * buffer of a source sends in turn. */
static void connectReaders(SambaCodegen *codegen, const Source *source, SambaEndpoint from,
                           uint32_t twin, int64_t block, const SambaEndpoints *readers) {
  size_t first = readers->size * twin / source->twins;
  size_t end = readers->size * (twin + 1) / source->twins;
  sambaAssemblyConnect(&codegen->assembly, from, readers->data + first, (uint32_t)(end - first));
  for (size_t t = first; t < end && buffersOfEach(source) > 1; ++t)
    sambaAssemblyUnit(&codegen->assembly, readers->data[t].unit)
        ->inputs[readers->data[t].port]
        .block = (uint32_t)block;
}

/* All buffers of the operand, joined with who reads them. */
static SambaStatus addBuffers(SambaCodegen *codegen, const Source *source,
                              const SambaEndpoints *consumers, uint32_t **out_buffers) {
  const SambaTileNest *nest = &codegen->plans[source->group].nest;
  uint32_t readers = source->sharing.ports;
  uint32_t neighbours = source->sharing.neighbours;
  uint32_t count = sambaTileNestSources(nest, source->operand) / neighbours * buffersOfEach(source);
  uint32_t *buffers = SAMBA_ARENA_ARRAY(&codegen->scratch, uint32_t, (size_t)count * source->twins);

  /* The PCUs take the tokens of one slot, or of one iteration of the spread loop, after the
   * other. */
  uint32_t stepped = source->spread > 1 ? source->spread_at + 1 : source->level;
  int64_t block = sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, source->operand)) /
                  sambaTileNestTrips(nest, stepped);
  for (uint32_t b = 0; b < count * source->twins; ++b) {
    uint32_t number = b / source->twins, twin = b % source->twins;
    SAMBA_RETURN_IF_ERROR(addBuffer(codegen, source, number, twin, &buffers[b]));
    for (uint32_t port = 0; port < readers; ++port)
      connectReaders(codegen, source, (SambaEndpoint){buffers[b], port}, twin, block,
                     &consumers[number / buffersOfEach(source) * neighbours + port]);
  }

  *out_buffers = buffers;
  return NULL;
}

static SambaStatus readMemory(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                              const SambaEndpoints *consumers) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  bool direct = sambaTileNestIsDirect(nest, operand);

  Source source = {.group = g,
                   .operand = operand,
                   .sharing = sambaTileNestSharing(nest, operand),
                   .staged_dim = SAMBA_NO_INDEX,
                   .chunks = 1,
                   .ways = 1};
  source.level =
      direct ? sambaTileNestTokenLevel(nest, operand) : sambaTileNestSlotLevel(nest, operand);
  source.spread = direct ? 1 : sambaTileNestSpread(nest, operand, &source.spread_at);
  source.ring = direct ? 1 : sambaTileNestRing(nest, operand);
  if (direct)
    sambaTileNestBox(nest, operand, source.level, &source.slot);
  else
    sambaTileNestSlotBox(nest, operand, &source.slot);
  source.cut_axis = sambaOutermostAxis(&source.slot);
  source.twins = sambaTileNestTwins(nest, operand);
  sambaTileNestOfBuffers(nest, operand, &source.buffers);
  sambaTileNestOfLoads(nest, operand, &source.loads);
  uint32_t wanted = plan->loads[operand];
  source.ways = plan->ways[operand];
  SambaCopyRange *ranges = SAMBA_ARENA_ARRAY(&codegen->scratch, SambaCopyRange, wanted);
  uint32_t count =
      sambaCutCopies(&source.loads, sambaCopyMask(&source.loads, operand), wanted, ranges);
  if (direct) {
    for (uint32_t r = 0; r < count; ++r)
      addLoads(codegen, &source, &ranges[r], r, NULL, consumers);
    return NULL;
  }

  chooseStaging(&source.loads, ranges, count, &source);
  uint32_t *buffers;
  SAMBA_RETURN_IF_ERROR(addBuffers(codegen, &source, consumers, &buffers));
  for (uint32_t r = 0; r < count; ++r) {
    if (source.staged_dim != SAMBA_NO_INDEX)
      addStagedLoad(codegen, &source, &ranges[r], r, buffers);
    else
      addLoads(codegen, &source, &ranges[r], r, buffers, consumers);
  }

  return NULL;
}

SambaStatus sambaCodegenAddSource(SambaCodegen *codegen, uint32_t g, uint32_t operand,
                                  const SambaEndpoints *consumers) {
  const SambaStageOperand *map = &codegen->groups.groups[g]->operands[operand].map;
  uint32_t replicas = sambaTileNestReplicas(&codegen->plans[g].nest);
  if (map->index_operand != SAMBA_NO_INDEX)
    for (uint32_t replica = 0; replica < replicas; ++replica)
      SAMBA_RETURN_IF_ERROR(sambaCodegenAddIndexedSource(codegen, g, operand, replica, consumers));
  else if (codegen->tensors[map->tensor].buffered)
    readBuffered(codegen, g, operand, consumers);
  else
    return readMemory(codegen, g, operand, consumers);
  return NULL;
}
