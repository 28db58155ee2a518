/* Sections for the tests of placing and routing; see network.h. */
#include "test/backend/place/network.h"
#include "backend/machine/shipped.h"

#include <stdlib.h>
#include <string.h>

void networkCreate(Network *network, const char *name) {
  *network = (Network){.random = 88172645463325252u};
  network->section.name = name;
}

void networkDestroy(Network *network) {
  free(network->section.units);
  free(network->section.streams);
  free(network->rates);
  sambaArenaDestroy(&network->arena);
}

uint32_t networkRandom(Network *network, uint32_t bound) {
  network->random ^= network->random << 13;
  network->random ^= network->random >> 7;
  network->random ^= network->random << 17;
  return (uint32_t)((network->random >> 32) * bound >> 32);
}

uint32_t networkUnit(Network *network, SambaUnitKind kind, const char *layer) {
  SambaSection *section = &network->section;
  section->arena = &network->arena;
  uint32_t index = section->unit_count++;
  if (section->unit_count > network->unit_capacity)
    section->units = sambaArrayGrow(section->units, &network->unit_capacity, section->unit_count,
                                    sizeof *section->units);
  const char *name = sambaArenaFormat(&network->arena, "%s%u", sambaUnitKindName(kind), index);
  section->units[index] = sambaUnitMake(kind, name, layer);
  return index;
}

static uint32_t addStreamToPort(Network *network, SambaEndpoint end, bool output, uint32_t stream) {
  SambaUnit *unit = &network->section.units[end.unit];
  uint32_t *count = output ? &unit->output_count : &unit->input_count;
  SambaPort **ports = output ? &unit->outputs : &unit->inputs;

  if (end.port == UINT32_MAX) {
    SambaPort *more = SAMBA_ARENA_ARRAY(&network->arena, SambaPort, *count + 1);
    if (*count)
      memcpy(more, *ports, *count * sizeof *more);
    end.port = (*count)++;
    more[end.port] = (SambaPort){.dtype = SAMBA_DTYPE_F32, .block = 1, .token_elements = 16};
    *ports = more;
  }

  SambaPort *port = &(*ports)[end.port];
  uint32_t *streams = SAMBA_ARENA_ARRAY(&network->arena, uint32_t, port->stream_count + 1);
  if (port->stream_count)
    memcpy(streams, port->streams, port->stream_count * sizeof *streams);
  streams[port->stream_count++] = stream;
  port->streams = streams;

  return end.port;
}

uint32_t networkStream(Network *network, uint32_t rate, SambaEndpoint source,
                       const SambaEndpoint *destinations, uint32_t count) {
  SambaSection *section = &network->section;
  uint32_t index = section->stream_count++;

  if (section->stream_count > network->stream_capacity)
    section->streams = sambaArrayGrow(section->streams, &network->stream_capacity,
                                      section->stream_count, sizeof *section->streams);
  SambaEndpoint *ends = SAMBA_ARENA_ARRAY(&network->arena, SambaEndpoint, count);
  source.port = addStreamToPort(network, source, true, index);
  for (uint32_t d = 0; d < count; ++d)
    ends[d] = (SambaEndpoint){destinations[d].unit,
                              addStreamToPort(network, destinations[d], false, index)};
  section->streams[index] = (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                                          .source = source,
                                          .destination_count = count,
                                          .destinations = ends};
  if (section->stream_count > network->rate_capacity)
    network->rates = sambaArrayGrow(network->rates, &network->rate_capacity, section->stream_count,
                                    sizeof *network->rates);
  network->rates[index] = rate;
  return index;
}

uint32_t networkLink(Network *network, uint32_t rate, uint32_t source, uint32_t destination) {
  return networkStream(network, rate, (SambaEndpoint){source, UINT32_MAX},
                       &(SambaEndpoint){destination, UINT32_MAX}, 1);
}

void networkMatmul(Network *network, uint32_t rows, uint32_t columns, uint32_t loads,
                   uint32_t operand_rate, uint32_t result_rate) {
  uint32_t firstLoad = network->section.unit_count;
  uint32_t most = rows > columns ? rows : columns;

  for (uint32_t i = 0; i < loads; ++i)
    networkUnit(network, SAMBA_UNIT_LOAD, "operands");
  uint32_t first_pcu = network->section.unit_count;
  for (uint32_t i = 0; i < rows * columns; ++i)
    networkUnit(network, SAMBA_UNIT_COMPUTE, "matmul");
  SambaEndpoint *ends = SAMBA_ARENA_ARRAY(&network->arena, SambaEndpoint, most);

  for (uint32_t i = 0; i < rows + columns; ++i) {
    uint32_t buffer = networkUnit(network, SAMBA_UNIT_BUFFER, "operands");
    if (loads)
      networkLink(network, 10, firstLoad + i % loads, buffer);
    uint32_t count = i < rows ? columns : rows;
    for (uint32_t k = 0; k < count; ++k)
      ends[k] = (SambaEndpoint){first_pcu + (i < rows ? i * columns + k : k * columns + i - rows),
                                UINT32_MAX};
    networkStream(network, operand_rate, (SambaEndpoint){buffer, UINT32_MAX}, ends, count);
  }

  for (uint32_t i = 0; i < rows; ++i) {
    uint32_t store = networkUnit(network, SAMBA_UNIT_STORE, "results");
    for (uint32_t k = 0; k < columns; ++k)
      networkStream(network, result_rate, (SambaEndpoint){first_pcu + i * columns + k, UINT32_MAX},
                    &(SambaEndpoint){store, k ? 0 : UINT32_MAX}, 1);
  }
}

void networkRandomGraph(Network *network, uint32_t buffers, uint32_t computes, uint32_t ags,
                        uint32_t fanout, uint32_t rate) {
  uint32_t loads = ags / 2;
  uint32_t first = network->section.unit_count;

  for (uint32_t i = 0; i < loads; ++i)
    networkUnit(network, SAMBA_UNIT_LOAD, "in");
  uint32_t inner = buffers + computes;
  for (uint32_t i = 0; i < inner; ++i)
    networkUnit(network,
                i * (uint64_t)buffers / inner != (i + 1) * (uint64_t)buffers / inner
                    ? SAMBA_UNIT_BUFFER
                    : SAMBA_UNIT_COMPUTE,
                "inner");
  uint32_t last = network->section.unit_count;
  for (uint32_t i = 0; i < ags - loads; ++i)
    networkUnit(network, SAMBA_UNIT_STORE, "out");
  SambaEndpoint ends[64];

  for (uint32_t u = first; u < last; ++u) {
    uint32_t count = 0;
    uint32_t wanted = 1 + networkRandom(network, fanout);
    for (uint32_t k = 0; k < wanted && k < 64; ++k) {
      uint32_t reach = networkRandom(network, 40) + 1;
      uint32_t to = u < first + loads ? first + loads + networkRandom(network, inner) : u + reach;
      if (to >= network->section.unit_count || network->section.units[to].kind == SAMBA_UNIT_LOAD ||
          network->section.units[to].input_count >= 4)
        continue;
      ends[count++] = (SambaEndpoint){to, UINT32_MAX};
    }
    if (count)
      networkStream(network, 1 + networkRandom(network, rate), (SambaEndpoint){u, UINT32_MAX}, ends,
                    count);
  }
}

SambaMachine networkMachine(const char *name) { return *sambaMachineFind(sambaStringRef(name)); }
