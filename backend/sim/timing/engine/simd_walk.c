/* The walk of a SIMD unit; see simd_walk.h. */
#include "backend/sim/timing/engine/simd_walk.h"

#include "backend/section/width.h"

SambaSimdWalk sambaSimdWalkMake(SambaArena *arena, const SambaMachine *machine,
                                const SambaSection *section, const SambaUnit *unit,
                                uint64_t lanes) {
  SambaSimdWalk walk = {
      .unit = unit,
      .lanes = lanes,
      .counters = SAMBA_ARENA_ARRAY(arena, uint64_t, unit->compute.counter_count),
      .inputs = SAMBA_ARENA_ARRAY(arena, SambaSimdInput, unit->input_count),
  };
  for (uint32_t i = 0; i < unit->input_count; ++i) {
    const SambaPort *port = &unit->inputs[i];
    uint64_t bytes = sambaPortVectorBytes(section, unit, port, machine);
    uint64_t elements = bytes / sambaDTypeBytes(port->dtype);
    bool scalars =
        port->stream_count && section->streams[port->streams[0]].kind == SAMBA_STREAM_SCALAR;
    walk.inputs[i] =
        (SambaSimdInput){.port = port, .vector_elements = scalars || !elements ? 1 : elements};
  }
  return walk;
}

SambaSimdStep sambaSimdWalkNext(const SambaSimdWalk *walk) {
  const SambaCompute *compute = &walk->unit->compute;
  SambaSimdStep step = {1, true, true};
  uint32_t inner = compute->counter_count;
  if (inner == compute->token_level)
    return step;

  uint64_t left = compute->trips[inner - 1] - walk->counters[inner - 1];
  step.points = walk->lanes < left ? walk->lanes : left;
  for (uint32_t c = compute->token_level; c < inner; ++c) {
    uint64_t after = walk->counters[c] + (c + 1 == inner ? step.points : 1);
    bool last = after == compute->trips[c];
    step.ends_firing &= last;
    step.ends_sums &= last || c >= 64 || !(compute->program.reduce_mask >> c & 1);
  }
  return step;
}

uint64_t sambaSimdWalkUses(const SambaSimdWalk *walk, uint32_t index, const SambaSimdStep *step,
                           bool ends_token) {
  const SambaSimdInput *input = &walk->inputs[index];
  if (ends_token)
    return input->port->token_elements;
  const SambaCompute *compute = &walk->unit->compute;
  int64_t stride = 0, last = input->index;
  if (compute->counter_count > compute->token_level)
    stride = input->port->compute.strides[compute->counter_count - 1];
  if (stride > 0)
    last += stride * (int64_t)(step->points - 1);
  uint64_t elements = last < 0 ? 0 : (uint64_t)last + 1;
  return elements > input->elements ? elements : input->elements;
}

SambaSimdNeed sambaSimdInputNeed(const SambaSimdInput *input, uint64_t elements) {
  uint64_t whole = elements / input->vector_elements, rest = elements % input->vector_elements;
  SambaSimdNeed need = {whole + (rest > 0), whole};
  if (elements == input->port->token_elements)
    need.used_up = need.touched;
  return need;
}

void sambaSimdWalkAdvance(SambaSimdWalk *walk, const SambaSimdStep *step) {
  const SambaUnit *unit = walk->unit;
  uint64_t by = step->points;
  for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level; by = 1) {
    uint64_t trips = unit->compute.trips[c];
    walk->counters[c] += by;
    bool wraps = walk->counters[c] == trips;
    int64_t steps = (int64_t)by - (wraps ? (int64_t)trips : 0);
    for (uint32_t i = 0; i < unit->input_count; ++i)
      walk->inputs[i].index += steps * walk->inputs[i].port->compute.strides[c];
    if (!wraps)
      break;
    walk->counters[c] = 0;
  }
}

uint64_t sambaPipelinePlaces(const SambaMachine *machine, const SambaSection *section,
                             const SambaUnit *unit, const SambaPort *output, uint64_t lanes,
                             uint64_t latency) {
  uint64_t least = lanes * 8 / (uint64_t)machine->vector_bytes + 1;
  uint64_t bytes = lanes * sambaDTypeBytes(output->dtype);
  uint64_t width = sambaPortVectorBytes(section, unit, output, machine);
  uint64_t more = bytes > width ? (bytes - 1) / width : 0;
  return latency + 2 * more > least ? latency + 2 * more : least;
}
