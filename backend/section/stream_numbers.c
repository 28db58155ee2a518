/* Numbering streams; see stream_numbers.h. */
#include "backend/section/stream_numbers.h"

#include <stdlib.h>

static const uint32_t *renamed(const SambaSection *section, const SambaPort *port,
                               const uint32_t *new_of) {
  uint32_t *streams = SAMBA_ARENA_ARRAY(section->arena, uint32_t, port->stream_count);
  for (uint32_t s = 0; s < port->stream_count; ++s)
    streams[s] = new_of[port->streams[s]];
  return streams;
}

void sambaSectionNumberStreams(SambaSection *section) {
  uint32_t count = section->stream_count;
  uint32_t *new_of = sambaAllocateZeroed(count, sizeof *new_of);
  uint32_t *filled = sambaAllocateZeroed(count, sizeof *filled);
  SambaEndpoint **ends = sambaAllocateZeroed(count, sizeof *ends);
  SambaStream *streams = SAMBA_ARENA_ARRAY(section->arena, SambaStream, count);
  uint32_t next = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      SambaPort *port = &section->units[u].outputs[p];
      for (uint32_t s = 0; s < port->stream_count; ++s) {
        streams[next] = section->streams[port->streams[s]];
        new_of[port->streams[s]] = next++;
      }
      port->streams = renamed(section, port, new_of);
    }

  for (uint32_t i = 0; i < count; ++i)
    streams[i].destinations = ends[i] =
        SAMBA_ARENA_ARRAY(section->arena, SambaEndpoint, streams[i].destination_count);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].input_count; ++p) {
      SambaPort *port = &section->units[u].inputs[p];
      port->streams = renamed(section, port, new_of);
      for (uint32_t s = 0; s < port->stream_count; ++s)
        ends[port->streams[s]][filled[port->streams[s]]++] = (SambaEndpoint){u, p};
    }

  section->streams = streams;
  free(new_of);
  free(filled);
  free(ends);
}
