/* Sections that work in phases. A channel of the memory that reads and writes all the time turns
 * between both all the time, and each turn costs it some bursts. So the results are gathered in
 * PMUs of one slot while the section loads. When a slot is full it is stored, and whatever fills it
 * waits, which soon holds up the loads.
 *
 * Copies do not end a phase in step. One that stores while others load gets more than its part of
 * the memory, and would be ahead by more in every phase. So where there are several, a slot is not
 * full before slots of all copies are: those of the last result send a token each when they are, a
 * PCU repeats these to all other slots, and these have a second write port that takes them. */
#include "backend/codegen/codegen_internal.h"

#include <stdlib.h>

/* The last group with a result in memory: its slots are filled last. */
static uint32_t tellingGroup(const SambaCodegen *codegen) {
  uint32_t last = SAMBA_NO_INDEX;
  for (uint32_t g = 0; g < codegen->groups.count; ++g)
    if (codegen->graph->tensors[codegen->groups.groups[g]->output.tensor].role ==
        SAMBA_TENSOR_RESULT)
      last = g;
  return last;
}

/* Slots that tell when they are full: a port merges no more streams. */
static uint32_t tellingSlots(const SambaCodegen *codegen) {
  const uint32_t stores = codegen->plans[tellingGroup(codegen)].stores;
  const uint32_t most = (uint32_t)codegen->machine->flows_per_lane;
  return stores < most ? stores : most;
}

/* Counters of a port of a PMU: `slots` slots, in each so many tokens of so many elements. stride:
 * from token to token. */
static SambaAccess slotAccess(SambaCodegen *codegen, uint64_t slots, uint64_t tokens,
                              uint64_t elements, int64_t stride) {
  uint32_t *trips = SAMBA_ARENA_ARRAY(codegen->arena, uint32_t, 3);
  int64_t *strides = SAMBA_ARENA_ARRAY(codegen->arena, int64_t, 3);
  trips[0] = (uint32_t)slots, trips[1] = (uint32_t)tokens, trips[2] = (uint32_t)elements;
  strides[1] = stride, strides[2] = 1;
  return (SambaAccess){
      .counter_count = 3, .trips = trips, .slot_level = 1, .token_level = 2, .strides = strides};
}

/* A port whose tokens only say that something is done. */
static SambaPort signalPort(SambaDType dtype) {
  return (SambaPort){.dtype = dtype, .block = 1, .token_elements = 1};
}

/* A group's results are told apart: those that wait, and those that tell. */
static bool waits(const SambaCodegen *codegen, uint32_t g) {
  return codegen->phases > 1 && g != tellingGroup(codegen) &&
         codegen->graph->tensors[codegen->groups.groups[g]->output.tensor].role ==
             SAMBA_TENSOR_RESULT;
}
static bool tells(const SambaCodegen *codegen, uint32_t g) {
  bool others = false;
  for (uint32_t other = 0; other < codegen->groups.count; ++other)
    others |= waits(codegen, other);
  return others && g == tellingGroup(codegen);
}

SambaStatus sambaCodegenAddGathering(SambaCodegen *codegen, uint32_t g, uint32_t store,
                                     uint32_t number, uint32_t *out_unit) {
  const SambaGroup *group = codegen->groups.groups[g];
  const SambaPort taken = sambaAssemblyUnit(&codegen->assembly, store)->inputs[0];
  const bool told = tells(codegen, g) && codegen->signals.size < tellingSlots(codegen);
  const bool gated = waits(codegen, g);
  uint64_t tokens = 1;
  for (uint32_t c = 0; c < taken.access.token_level; ++c)
    tokens *= taken.access.trips[c];
  if (tokens % codegen->phases || tokens / codegen->phases > UINT32_MAX)
    return sambaStatusMake(SAMBA_INVALID,
                           "mapping of stage %u (%s): a store takes %llu tokens, which are not the "
                           "same in each of %u phases",
                           group->anchor, codegen->graph->stages[group->anchor].name,
                           (unsigned long long)tokens, codegen->phases);
  tokens /= codegen->phases;

  const uint64_t elements = tokens * taken.token_elements + gated;
  const char *name =
      sambaArenaFormat(codegen->arena, "%s.gather%u", codegen->plans[g].prefix, number);
  SAMBA_RETURN_IF_ERROR(sambaCheckBufferBytes(codegen, name, elements, taken.dtype, 1));
  *out_unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name,
                                   sambaCodegenLayer(codegen, group), 1 + gated, 1 + told);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);
  unit->buffer.slot_count = 1;
  unit->buffer.slot_elements = elements;
  unit->inputs[0] = unit->outputs[0] = taken;
  unit->inputs[0].access = unit->outputs[0].access = slotAccess(
      codegen, codegen->phases, tokens, taken.token_elements, (int64_t)taken.token_elements);
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){*out_unit, 0},
                       &(SambaEndpoint){store, 0}, 1);

  if (told) {
    unit->outputs[1] = signalPort(taken.dtype);
    unit->outputs[1].access = slotAccess(codegen, codegen->phases, 1, 1, 0);
    sambaArrayAppend(&codegen->signals, ((SambaEndpoint){*out_unit, 1}));
  }
  if (gated) { /* what comes is written behind the results, and never read */
    unit->inputs[1] = signalPort(taken.dtype);
    unit->inputs[1].access = slotAccess(codegen, codegen->phases, tellingSlots(codegen), 1, 0);
    unit->inputs[1].access.base = (int64_t)elements - 1;
    sambaArrayAppend(&codegen->gates, ((SambaEndpoint){*out_unit, 1}));
  }
  return NULL;
}

/* The PCU that repeats what the slots tell to all gates of a type. */
static void addRepeater(SambaCodegen *codegen, SambaDType dtype, const SambaEndpoints *gates) {
  const uint32_t told = (uint32_t)codegen->signals.size;
  const SambaDType from =
      sambaAssemblyUnit(&codegen->assembly, codegen->signals.data[0].unit)->outputs[1].dtype;
  uint32_t repeater =
      sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_COMPUTE, "phase", "", 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, repeater);
  const SambaAccess walk = slotAccess(codegen, codegen->phases, told, 1, 0);
  unit->compute = (SambaCompute){.counter_count = 3, .token_level = 2, .trips = walk.trips};
  unit->inputs[0] = signalPort(from);
  unit->outputs[0] = signalPort(dtype);
  unit->inputs[0].compute = (SambaComputePort){.level = 2, .strides = walk.strides};
  unit->outputs[0].compute = (SambaComputePort){.level = 2, .strides = walk.strides};

  /* Any value will do: nobody reads it. */
  SambaLaneOp *constant = SAMBA_ARENA_NEW(codegen->arena, SambaLaneOp);
  constant->opcode = SAMBA_LANE_CONSTANT;
  constant->type = (uint8_t)sambaDTypeLaneClass(dtype);
  unit->compute.program.op_count = 1;
  unit->compute.program.ops = constant;
  unit->outputs[0].compute.value = 1;
  for (uint32_t s = 0; s < told; ++s)
    sambaAssemblyConnect(&codegen->assembly, codegen->signals.data[s],
                         &(SambaEndpoint){repeater, 0}, 1);
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){repeater, 0}, gates->data, gates->size);
}

void sambaCodegenAddGates(SambaCodegen *codegen) {
  for (int dtype = 0; dtype < SAMBA_DTYPE_COUNT; ++dtype) {
    SambaEndpoints gates = {0};
    for (size_t i = 0; i < codegen->gates.size; ++i) {
      const SambaEndpoint gate = codegen->gates.data[i];
      if ((int)sambaAssemblyUnit(&codegen->assembly, gate.unit)->inputs[gate.port].dtype == dtype)
        sambaArrayAppend(&gates, gate);
    }
    if (gates.size)
      addRepeater(codegen, (SambaDType)dtype, &gates);
    sambaArrayFree(&gates);
  }
}
