/* Which streams carry views of slots instead of copies; see views.h. */
#include "backend/sim/value/network/views.h"

#include "backend/section/access.h"
#include "backend/sim/value/unit/buffer_unit.h"

#include <string.h>

/* How the tokens of a source port lie, before all consumers were asked. */
typedef struct Candidate {
  bool view;
  SambaBlockLayout layout;
} Candidate;

static bool sameLayout(const SambaBlockLayout *one, const SambaBlockLayout *other) {
  if (one->rank != other->rank || one->rank == 0)
    return one->rank == other->rank;
  return memcmp(one->trips, other->trips, one->rank * sizeof *one->trips) == 0 &&
         memcmp(one->strides, other->strides, one->rank * sizeof *one->strides) == 0;
}

static bool consumersAccept(const SambaSection *section, const SambaPort *port,
                            const SambaBlockLayout *layout) {
  int64_t strides[SAMBA_MAX_COUNTERS];
  for (uint32_t s = 0; s < port->stream_count; ++s) {
    const SambaStream *stream = &section->streams[port->streams[s]];
    for (uint32_t d = 0; d < stream->destination_count; ++d) {
      const SambaUnit *consumer = &section->units[stream->destinations[d].unit];
      if (consumer->kind != SAMBA_UNIT_COMPUTE ||
          !sambaBlockLayoutCompose(consumer, &consumer->inputs[stream->destinations[d].port],
                                   layout, strides))
        return false;
    }
  }
  return true;
}

bool sambaOutputIsView(SambaArena *arena, const SambaSection *section, uint32_t unit, uint32_t port,
                       SambaBlockLayout *out_layout) {
  *out_layout = (SambaBlockLayout){0};
  if (section->units[unit].kind != SAMBA_UNIT_BUFFER)
    return false;
  const SambaPort *output = &section->units[unit].outputs[port];
  if (sambaBufferViewLayout(arena, output, out_layout) &&
      (out_layout->rank == 0 || consumersAccept(section, output, out_layout)))
    return true;
  *out_layout = (SambaBlockLayout){0};
  return false;
}

/* All streams that meet in an input port must lie alike; false when one had to fall back
 * to copies. */
static bool agreeAtInput(const SambaPortRun *port, Candidate *const *candidates) {
  const SambaQueue *queue = port->queues[0];
  const Candidate *first = &candidates[queue->source][queue->source_port];
  bool agree = true;

  for (uint32_t s = 1; s < port->stream_count; ++s) {
    queue = port->queues[s];
    const Candidate *other = &candidates[queue->source][queue->source_port];
    agree &= first->view == other->view && sameLayout(&first->layout, &other->layout);
  }
  if (agree)
    return true;

  bool changed = false;
  for (uint32_t s = 0; s < port->stream_count; ++s) {
    queue = port->queues[s];
    Candidate *candidate = &candidates[queue->source][queue->source_port];
    changed |= candidate->layout.rank > 0;
    *candidate = (Candidate){0};
  }
  return !changed;
}

/* What each output would send when nothing is copied, if its consumers can walk it. */
static Candidate **findCandidates(SambaSectionRun *run) {
  const SambaSection *section = run->section;
  Candidate **candidates = SAMBA_ARENA_ARRAY(&run->arena, Candidate *, section->unit_count);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    candidates[u] = SAMBA_ARENA_ARRAY(&run->arena, Candidate, section->units[u].output_count);
    for (uint32_t p = 0; p < section->units[u].output_count; ++p)
      candidates[u][p].view =
          sambaOutputIsView(&run->arena, section, u, p, &candidates[u][p].layout);
  }
  return candidates;
}

void sambaViewsChoose(SambaSectionRun *run) {
  const SambaSection *section = run->section;
  Candidate **candidates = findCandidates(run);

  for (bool settled = false; !settled;) {
    settled = true;
    for (uint32_t u = 0; u < section->unit_count; ++u)
      for (uint32_t p = 0; p < section->units[u].input_count; ++p)
        if (run->units[u].inputs[p].stream_count > 1)
          settled &= agreeAtInput(&run->units[u].inputs[p], candidates);
  }

  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      SambaPortRun *port = &run->units[u].outputs[p];
      port->layout = candidates[u][p].layout;
      for (uint32_t q = 0; q < port->first[port->stream_count]; ++q)
        run->units[port->queues[q]->destination].inputs[port->queues[q]->destination_port].layout =
            port->layout;
    }
}
