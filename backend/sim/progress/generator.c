/* Loads and stores; see generator.h. */
#include "backend/sim/progress/generator.h"

#include "backend/section/access.h"

/* Pieces of the pattern that one request covers, at most. */
enum { mostPieces = 64 };

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool isGuarded(const SambaAccess *access, uint32_t counter) {
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (access->guards[g].strides[counter])
      return true;
  return false;
}

/* How the elements of an index value are asked for: run by run, each in pieces of one burst. A run
 * is the innermost dense counters, and one more when its steps leave no whole burst between. */
static void countPieces(SambaProgressGenerator *generator, const SambaMachine *machine,
                        const SambaAccess *access, uint64_t element_bytes) {
  uint32_t level = access->counter_count, outermost = access->token_level + access->index_counters;
  uint64_t run = 1, span = 1, burst = (uint64_t)machine->dram_burst_bytes;
  for (; level > outermost; --level) {
    uint32_t c = level - 1;
    bool dense = access->strides[c] == (int64_t)run && !isGuarded(access, c);
    if (access->trips[c] != 1 && !dense)
      break;
    run *= access->trips[c];
  }

  span = run;
  if (level > outermost) {
    int64_t gap = access->strides[level - 1] - (int64_t)run;
    if (gap >= 0 && (uint64_t)gap < burst / element_bytes) {
      span += (access->trips[level - 1] - 1) * (uint64_t)access->strides[level - 1];
      run *= access->trips[level - 1];
    }
  }

  uint64_t pieces = (span * element_bytes + burst - 1) / burst;
  uint64_t most = least((uint64_t)machine->ag_bursts, mostPieces);
  generator->index_elements = sambaTripProduct(access->trips, outermost, access->counter_count);
  generator->index_pieces = generator->index_elements / run * pieces;
  generator->group_elements = pieces > most ? run / pieces * most : run;
  generator->pieces_ahead = 2 * (uint64_t)machine->ag_bursts;
}

void sambaProgressGeneratorBuild(SambaProgressGenerator *generator, SambaArena *arena,
                                 const SambaFlows *flows, const SambaMachine *machine,
                                 const SambaSection *section, uint32_t index) {
  const SambaUnit *unit = &section->units[index];
  const SambaAccess *access = sambaMemoryAccess(unit);
  bool is_load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = is_load ? &unit->outputs[0] : &unit->inputs[0];
  *generator = (SambaProgressGenerator){.unit = unit, .is_load = is_load};
  generator->firings = sambaTripProduct(access->trips, 0, access->token_level);
  generator->token_elements =
      sambaTripProduct(access->trips, access->token_level, access->counter_count);
  generator->data = is_load ? SAMBA_NO_INDEX : 0;
  generator->index = SAMBA_NO_INDEX;
  if (access->has_index && unit->input_count > !is_load)
    generator->index = is_load ? 0 : 1;
  if (access->has_index)
    countPieces(generator, machine, access, sambaDTypeBytes(port->dtype));

  generator->inputs = SAMBA_ARENA_ARRAY(arena, SambaProgressInput, unit->input_count);
  generator->outputs = SAMBA_ARENA_ARRAY(arena, SambaProgressOutput, unit->output_count);
  for (uint32_t p = 0; p < unit->input_count; ++p)
    sambaProgressInputBuild(&generator->inputs[p], arena, flows, machine, section,
                            (SambaEndpoint){index, p});
  for (uint32_t p = 0; p < unit->output_count; ++p)
    sambaProgressOutputBuild(&generator->outputs[p], machine, section, (SambaEndpoint){index, p},
                             1);
}

/* Elements that so many vectors hold, and vectors that hold so many elements. */
static uint64_t elementsOf(const SambaPortTurn *turn, uint64_t vectors) {
  uint64_t in_token = vectors % turn->vectors * turn->vector_elements;
  return vectors / turn->vectors * turn->token_elements + least(in_token, turn->token_elements);
}

static uint64_t vectorsOf(const SambaPortTurn *turn, uint64_t elements) {
  uint64_t tokens = elements / turn->token_elements, rest = elements % turn->token_elements;
  return tokens * turn->vectors + (rest + turn->vector_elements - 1) / turn->vector_elements;
}

/* Elements that can be asked for with the index values that have arrived. */
static uint64_t indexed(const SambaProgressGenerator *generator, const SambaFlows *flows) {
  if (generator->index == SAMBA_NO_INDEX)
    return UINT64_MAX;
  const SambaProgressInput *input = &generator->inputs[generator->index];
  uint64_t arrived = sambaProgressArrived(input, flows);
  if (arrived == UINT64_MAX)
    return UINT64_MAX;
  return elementsOf(&input->turn, arrived) * generator->index_elements;
}

/* Takes index values up to that of element number `element`. */
static void takeIndices(SambaProgressGenerator *generator, SambaFlows *flows, uint64_t element) {
  if (generator->index == SAMBA_NO_INDEX)
    return;
  SambaProgressInput *input = &generator->inputs[generator->index];
  uint64_t all = generator->firings * generator->token_elements;
  uint64_t values = least(element / generator->index_elements + 1, all / generator->index_elements);
  uint64_t vectors = vectorsOf(&input->turn, values);
  sambaProgressTake(input, flows, least(vectors, sambaProgressArrived(input, flows)));
}

/* Firings for which control tokens have arrived. */
static uint64_t ordered(SambaProgressGenerator *generator, SambaFlows *flows) {
  uint64_t firings = generator->firings;
  for (uint32_t p = 0; p < generator->unit->input_count; ++p) {
    SambaProgressInput *input = &generator->inputs[p];
    if (p == generator->data || p == generator->index || !input->turn.count)
      continue;
    sambaProgressTake(input, flows, sambaProgressArrived(input, flows));
    firings = least(firings, input->turn.passed);
  }
  return firings;
}

/* A load asks for pieces of its pattern ahead of what has left, for each with its index value. */
static void lookAhead(SambaProgressGenerator *generator, SambaFlows *flows, uint64_t firings) {
  if (generator->index == SAMBA_NO_INDEX)
    return;
  uint64_t left = elementsOf(&generator->outputs[0].turn, generator->outputs[0].made);
  uint64_t values = left / generator->index_elements, rest = left % generator->index_elements;
  uint64_t pieces =
      values * generator->index_pieces + rest * generator->index_pieces / generator->index_elements;
  uint64_t next = (pieces + generator->pieces_ahead) / generator->index_pieces;
  uint64_t last = firings * generator->token_elements;
  if (last)
    takeIndices(generator, flows, least(next * generator->index_elements, last - 1));
}

static void advanceLoad(SambaProgressGenerator *generator, SambaFlows *flows) {
  SambaProgressOutput *output = &generator->outputs[0];
  uint64_t firings = ordered(generator, flows);
  for (;;) {
    lookAhead(generator, flows, firings);
    sambaProgressFlush(output, flows);
    uint64_t elements = least(firings * generator->token_elements, indexed(generator, flows));
    uint64_t tokens = elements / output->turn.token_elements;
    uint64_t vectors = tokens * output->turn.vectors +
                       elements % output->turn.token_elements / output->turn.vector_elements;
    vectors = least(vectors, sambaProgressRoom(output, flows));
    if (vectors <= output->made)
      return;
    sambaProgressMake(output, flows, vectors);
  }
}

static void advanceStore(SambaProgressGenerator *generator, SambaFlows *flows) {
  SambaProgressInput *data = &generator->inputs[generator->data];
  uint64_t all = ordered(generator, flows) * generator->token_elements;
  for (bool more = true; more;) {
    uint64_t here = least(all, indexed(generator, flows));
    uint64_t end = all; /* of what data are taken for */
    if (generator->index != SAMBA_NO_INDEX)
      end = least(all, here + generator->group_elements);
    uint64_t arrived = least(sambaProgressArrived(data, flows), vectorsOf(&data->turn, end));
    more = arrived > data->turn.passed;
    sambaProgressTake(data, flows, arrived);
    generator->passed = least(elementsOf(&data->turn, data->turn.passed), here);
    takeIndices(generator, flows, generator->passed);
  }

  for (uint32_t p = 0; p < generator->unit->output_count; ++p)
    sambaProgressMake(&generator->outputs[p], flows, generator->passed / generator->token_elements);
}

void sambaProgressGeneratorAdvance(SambaProgressGenerator *generator, SambaFlows *flows) {
  if (generator->is_load)
    advanceLoad(generator, flows);
  else
    advanceStore(generator, flows);
}

uint64_t sambaProgressGeneratorFirings(const SambaProgressGenerator *generator) {
  if (!generator->is_load)
    return generator->passed / generator->token_elements;
  return generator->outputs[0].turn.passed / generator->outputs[0].turn.vectors;
}

bool sambaProgressGeneratorIsDone(const SambaProgressGenerator *generator) {
  return sambaProgressGeneratorFirings(generator) == generator->firings;
}

uint32_t sambaProgressGeneratorMissing(const SambaProgressGenerator *generator,
                                       const SambaFlows *flows) {
  for (uint32_t p = 0; p < generator->unit->input_count; ++p) {
    const SambaProgressInput *input = &generator->inputs[p];
    if (input->turn.count && sambaProgressArrived(input, flows) <= input->turn.passed)
      return p;
  }
  return SAMBA_NO_INDEX;
}
