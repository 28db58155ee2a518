/* Assembly of sections; see assembly.h. */
#include "backend/codegen/assembly.h"

#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

uint32_t sambaAssemblyAddUnit(SambaAssembly *assembly, SambaUnitKind kind, const char *name,
                              const char *layer, uint32_t inputs, uint32_t outputs) {
  uint32_t index = (uint32_t)assembly->units.size, owner = index;
  const char *unique = name;

  bool fresh = sambaStringMapInsert(&assembly->names, sambaStringRef(name), index, &owner);
  while (!fresh) {
    unique = sambaArenaFormat(assembly->arena, "%s_%u", name, assembly->suffixes.data[owner]++);
    fresh = sambaStringMapInsert(&assembly->names, sambaStringRef(unique), index, NULL);
  }
  sambaArrayAppend(&assembly->suffixes, 2);
  SambaUnit unit = sambaUnitMake(kind, unique, layer ? layer : "");
  unit.input_count = inputs;
  unit.output_count = outputs;
  unit.inputs = SAMBA_ARENA_ARRAY(assembly->arena, SambaPort, inputs);
  unit.outputs = SAMBA_ARENA_ARRAY(assembly->arena, SambaPort, outputs);
  for (uint32_t i = 0; i < inputs; ++i)
    unit.inputs[i].block = 1;
  for (uint32_t i = 0; i < outputs; ++i)
    unit.outputs[i].block = 1;
  sambaArrayAppend(&assembly->units, unit);

  return index;
}

void sambaAssemblyConnect(SambaAssembly *assembly, SambaEndpoint source,
                          const SambaEndpoint *destinations, size_t count) {
  SambaStream stream = {
      .kind = SAMBA_STREAM_VECTOR, .source = source, .destination_count = (uint32_t)count};
  stream.destinations = sambaArenaCopy(assembly->arena, destinations, count * sizeof *destinations);
  sambaArrayAppend(&assembly->streams, stream);
}

static SambaPort *portOf(SambaAssembly *assembly, SambaEndpoint endpoint, bool output) {
  SambaUnit *unit = &assembly->units.data[endpoint.unit];
  return output ? &unit->outputs[endpoint.port] : &unit->inputs[endpoint.port];
}

/* Calls visit for each end of each stream, in order. */
static void eachEnd(SambaAssembly *assembly, void (*visit)(SambaPort *port, uint32_t stream)) {
  for (uint32_t s = 0; s < assembly->streams.size; ++s) {
    const SambaStream *stream = &assembly->streams.data[s];
    visit(portOf(assembly, stream->source, true), s);
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      visit(portOf(assembly, stream->destinations[d], false), s);
  }
}

static void countStream(SambaPort *port, uint32_t stream) {
  (void)stream;
  ++port->stream_count;
}

static void listStream(SambaPort *port, uint32_t stream) {
  ((uint32_t *)port->streams)[port->stream_count++] = stream;
}

void sambaAssemblyFinish(SambaAssembly *assembly, SambaSection *out_section) {
  eachEnd(assembly, countStream);
  for (size_t u = 0; u < assembly->units.size; ++u) {
    SambaUnit *unit = &assembly->units.data[u];
    for (uint32_t i = 0; i < unit->input_count + unit->output_count; ++i) {
      SambaPort *port =
          i < unit->input_count ? &unit->inputs[i] : &unit->outputs[i - unit->input_count];
      port->streams = SAMBA_ARENA_ARRAY(assembly->arena, uint32_t, port->stream_count);
      port->stream_count = 0;
    }
  }

  eachEnd(assembly, listStream);
  out_section->unit_count = (uint32_t)assembly->units.size;
  out_section->units = sambaArenaCopy(assembly->arena, assembly->units.data,
                                      assembly->units.size * sizeof *assembly->units.data);
  out_section->stream_count = (uint32_t)assembly->streams.size;
  out_section->streams = sambaArenaCopy(assembly->arena, assembly->streams.data,
                                        assembly->streams.size * sizeof *assembly->streams.data);
  sambaAssemblyDestroy(assembly);
}

void sambaAssemblyDestroy(SambaAssembly *assembly) {
  sambaArrayFree(&assembly->units);
  sambaArrayFree(&assembly->streams);
  sambaStringMapFree(&assembly->names);
  sambaArrayFree(&assembly->suffixes);
}
