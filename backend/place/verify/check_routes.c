/* The route checker: recovers the streams from the switch configuration alone and compares them
 * with what was asked. */
#include "backend/place/verify/place_check.h"

#include "backend/section/fabric/recover_streams.h"

#include <stdlib.h>

/* One use of a lane of a link or of a unit's port. */
typedef struct {
  uint64_t key; /* place, then lane: equal keys share the lane */
  uint32_t rate, stream;
} LaneUse;

static int compareUses(const void *a, const void *b) {
  const LaneUse *ua = a, *ub = b;
  if (ua->key != ub->key)
    return ua->key < ub->key ? -1 : 1;
  return ua->stream < ub->stream ? -1 : ua->stream > ub->stream;
}

/* Keys: where (a unit's side or a switch's side), then kind and lane. */
static uint64_t laneKey(uint64_t place, SambaStreamKind kind, uint8_t lane) {
  return place << 16 | (uint64_t)kind << 8 | lane;
}
static uint64_t unitPlace(uint32_t unit, bool output) {
  return ((uint64_t)unit << 1 | output) << 1 | 1;
}
static uint64_t linkPlace(const SambaMachine *machine, const SambaHop *hop) {
  return (((uint64_t)hop->y * (uint64_t)machine->grid_columns + (uint64_t)hop->x) << 2 |
          hop->out.port)
         << 1;
}

static char *describePlace(SambaArena *arena, const SambaSection *section,
                           const SambaMachine *machine, uint64_t key) {
  uint64_t place = key >> 17;
  const char *kind = sambaStreamKindName((SambaStreamKind)(key >> 8 & 3));
  unsigned lane = (unsigned)(key & 0xff);
  if (key >> 16 & 1)
    return sambaArenaFormat(arena, "unit %s %s %s %u", section->units[place >> 1].name, kind,
                            place & 1 ? "output" : "input", lane);
  uint64_t node = place >> 2;
  uint64_t columns = (uint64_t)machine->grid_columns;
  return sambaArenaFormat(arena, "link (%u,%u) %s %s lane %u", (unsigned)(node % columns),
                          (unsigned)(node / columns), sambaSwitchPortName((uint8_t)(place & 3)),
                          kind, lane);
}

static SambaStatus checkLane(const SambaSection *section, const SambaMachine *machine,
                             const LaneUse *uses, size_t count) {
  uint64_t rate = 0;
  for (size_t i = 0; i < count; ++i)
    rate += uses[i].rate;
  if (rate <= 1000)
    return NULL;
  SambaArena arena = {0};
  char *streams = sambaArenaFormat(&arena, "%s", "");

  for (size_t i = 0; i < count && i < 8; ++i) {
    const SambaStream *stream = &section->streams[uses[i].stream];
    streams = sambaArenaFormat(
        &arena, "%s%s%s -> %s", streams, i ? "; " : "", section->units[stream->source.unit].name,
        stream->destination_count ? section->units[stream->destinations[0].unit].name : "nothing");
  }

  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "section @%s: %s carries %zu streams of %llu.%02llu in all, expected at most 1: %s%s",
      section->name, describePlace(&arena, section, machine, uses[0].key), count,
      (unsigned long long)(rate + 9) / 1000, (unsigned long long)(rate + 9) % 1000 / 10, streams,
      count > 8 ? "; and more" : "");
  sambaArenaDestroy(&arena);

  return status;
}

static SambaStatus checkCapacity(const SambaSection *section, const SambaMachine *machine,
                                 const SambaFabric *fabric, const uint32_t *end_streams,
                                 const uint32_t *rates, SambaArena *arena) {
  LaneUse *uses =
      SAMBA_ARENA_ARRAY(arena, LaneUse, (size_t)fabric->end_count + fabric->entry_count);
  size_t count = 0;

  for (uint32_t i = 0; i < fabric->end_count; ++i) {
    const SambaFlowEnd *end = &fabric->ends[i];
    uses[count++] = (LaneUse){laneKey(unitPlace(end->unit, end->output), end->kind, end->lane),
                              rates[end_streams[i]], end_streams[i]};
  }

  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    for (uint32_t h = 0; h < stream->hop_count; ++h)
      if (stream->hops[h].out.port <= SAMBA_SWITCH_WEST)
        uses[count++] = (LaneUse){
            laneKey(linkPlace(machine, &stream->hops[h]), stream->kind, stream->hops[h].out.lane),
            rates[s], s};
  }

  if (count)
    qsort(uses, count, sizeof *uses, compareUses);
  for (size_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && uses[j].key == uses[i].key; ++j) {
    }
    SAMBA_RETURN_IF_ERROR(checkLane(section, machine, &uses[i], j - i));
  }

  return NULL;
}

/* Which asked stream each flow end stands for: ends are in the order of units, ports and the ports'
 * stream lists. */
static uint32_t *streamsOfEnds(const SambaSection *section, const SambaFabric *fabric,
                               SambaArena *arena) {
  uint32_t *streams = SAMBA_ARENA_ARRAY(arena, uint32_t, fabric->end_count);
  uint32_t size = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (int output = 0; output < 2; ++output)
      for (uint32_t p = 0; p < (output ? unit->output_count : unit->input_count); ++p) {
        const SambaPort *port = output ? &unit->outputs[p] : &unit->inputs[p];
        for (uint32_t i = 0; i < port->stream_count; ++i)
          streams[size++] = port->streams[i];
      }
  }
  return streams;
}

static bool asksFor(const SambaStream *stream, SambaEndpoint end) {
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    if (stream->destinations[d].unit == end.unit && stream->destinations[d].port == end.port)
      return true;
  return false;
}

static SambaStatus compareStream(const SambaSection *section, const SambaRecoveredStream *found,
                                 uint32_t asked, const uint32_t *end_streams) {
  const SambaStream *stream = &section->streams[asked];
  const char *source = section->units[stream->source.unit].name;

  if (found->kind != stream->kind || found->source.unit != stream->source.unit ||
      found->source.port != stream->source.port)
    return sambaStatusMake(
        SAMBA_INVALID,
        "section @%s: stream %u was asked from %s output %u, but is routed from %s output %u",
        section->name, asked, source, stream->source.port, section->units[found->source.unit].name,
        found->source.port);

  for (uint32_t d = 0; d < found->destination_count; ++d) {
    SambaEndpoint end = found->destinations[d];
    if (end_streams[found->destination_ends[d]] != asked || !asksFor(stream, end))
      return sambaStatusMake(
          SAMBA_INVALID,
          "section @%s: stream %u from %s output %u is routed to %s input %u, which was not asked",
          section->name, asked, source, stream->source.port, section->units[end.unit].name,
          end.port);
  }

  if (found->destination_count != stream->destination_count)
    return sambaStatusMake(
        SAMBA_INVALID,
        "section @%s: stream %u from %s output %u reaches %u destinations, but %u were asked",
        section->name, asked, source, stream->source.port, found->destination_count,
        stream->destination_count);
  if (found->hop_count != stream->hop_count)
    return sambaStatusMake(SAMBA_INVALID,
                           "section @%s: stream %u from %s output %u has %u hops, but its flow "
                           "takes %u switch entries",
                           section->name, asked, source, stream->source.port, stream->hop_count,
                           found->hop_count);
  return NULL;
}

static SambaStatus checkRoutes(const SambaSection *asked, const SambaMachine *machine,
                               const uint32_t *rates, SambaArena *arena) {
  SambaFabric fabric;
  SambaRecoveredStream *found;
  uint32_t count;
  SambaStatus status = sambaPlacementCheck(machine, asked->units, asked->unit_count);

  if (!status)
    status = sambaFabricCollect(asked, machine, arena, &fabric);
  if (!status)
    status = sambaStreamsRecover(machine, asked->units, asked->unit_count, &fabric, arena, &found,
                                 &count);
  if (status)
    return sambaStatusAnnotate(status, "section @%s", asked->name);
  const uint32_t *end_streams = streamsOfEnds(asked, &fabric, arena);
  if (count != asked->stream_count)
    return sambaStatusMake(SAMBA_INVALID, "section @%s: %u streams were asked, but %u are routed",
                           asked->name, asked->stream_count, count);
  for (uint32_t i = 0; i < count; ++i)
    SAMBA_RETURN_IF_ERROR(
        compareStream(asked, &found[i], end_streams[found[i].source_end], end_streams));
  return machine->network == SAMBA_NETWORK_IDEAL
             ? NULL /* no two streams share anything */
             : checkCapacity(asked, machine, &fabric, end_streams, rates, arena);
}

SambaStatus sambaSectionCheckRoutes(const SambaSection *asked, const SambaMachine *machine,
                                    const uint32_t *rates) {
  SambaArena arena = {0};
  SambaStatus status = checkRoutes(asked, machine, rates, &arena);
  sambaArenaDestroy(&arena);
  return status;
}
