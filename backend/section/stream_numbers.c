/* Numbering streams; see stream_numbers.h. */
#include "backend/section/stream_numbers.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of streams and ends, for all ports and streams at once: the arena would give each of
 * these small lists a line of its own. */
typedef struct Lists {
  uint32_t *numbers;
  SambaEndpoint *ends;
} Lists;

static Lists makeLists(const SambaSection *section) {
  size_t numbers = 0, ends = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->input_count; ++p)
      numbers += unit->inputs[p].stream_count;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      numbers += unit->outputs[p].stream_count;
  }
  for (uint32_t i = 0; i < section->stream_count; ++i)
    ends += section->streams[i].destination_count;
  return (Lists){SAMBA_ARENA_ARRAY(section->arena, uint32_t, numbers),
                 SAMBA_ARENA_ARRAY(section->arena, SambaEndpoint, ends)};
}

static void renamePort(SambaPort *port, const uint32_t *new_of, Lists *lists) {
  for (uint32_t s = 0; s < port->stream_count; ++s)
    lists->numbers[s] = new_of[port->streams[s]];
  port->streams = lists->numbers;
  lists->numbers += port->stream_count;
}

void sambaSectionNumberStreams(SambaSection *section) {
  uint32_t count = section->stream_count;
  uint32_t *new_of = sambaAllocateZeroed(count, sizeof *new_of);
  SambaEndpoint **ends = sambaAllocateZeroed(count, sizeof *ends); /* the next one of each */
  SambaStream *streams = sambaAllocate(sambaArraySize(count, sizeof *streams));
  Lists lists = makeLists(section);
  uint32_t next = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      SambaPort *port = &section->units[u].outputs[p];
      for (uint32_t s = 0; s < port->stream_count; ++s) {
        streams[next] = section->streams[port->streams[s]];
        new_of[port->streams[s]] = next++;
      }
      renamePort(port, new_of, &lists);
    }

  for (uint32_t i = 0; i < count; ++i) {
    streams[i].destinations = ends[i] = lists.ends;
    lists.ends += streams[i].destination_count;
  }
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].input_count; ++p) {
      SambaPort *port = &section->units[u].inputs[p];
      renamePort(port, new_of, &lists);
      for (uint32_t s = 0; s < port->stream_count; ++s)
        *ends[port->streams[s]]++ = (SambaEndpoint){u, p};
    }

  if (count)
    memcpy(section->streams, streams, count * sizeof *streams);
  free(streams);
  free(new_of);
  free(ends);
}
