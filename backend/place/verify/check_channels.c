/* The static check of the network: its channel dependences have no cycle.
 *
 * A channel is one lane of one link. A stream that enters a switch on one channel and leaves on
 * another makes the first wait for room in the second. Without a cycle of such waits some channel
 * can always drain into the units, whatever flows share lanes. */
#include "backend/place/verify/place_check.h"

#include "backend/section/fabric/fabric.h"

#include <stdlib.h>

typedef struct {
  uint64_t from, to;
  uint32_t stream;
} Dependence;

static int compareDependences(const void *a, const void *b) {
  const Dependence *da = a, *db = b;
  if (da->from != db->from)
    return da->from < db->from ? -1 : 1;
  if (da->to != db->to)
    return da->to < db->to ? -1 : 1;
  return da->stream < db->stream ? -1 : da->stream > db->stream;
}

/* A channel by the switch and side that it leaves. */
static uint64_t channelKey(const SambaMachine *machine, int32_t x, int32_t y, uint8_t side,
                           SambaStreamKind kind, uint8_t lane) {
  return ((uint64_t)y * (uint64_t)machine->grid_columns + (uint64_t)x) << 12 |
         (uint64_t)side << 10 | (uint64_t)kind << 8 | lane;
}

/* The channel on which a hop comes in, by the neighbour's side that it left. */
static uint64_t incomingKey(const SambaMachine *machine, const SambaHop *hop,
                            SambaStreamKind kind) {
  static const int8_t steps[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
  return channelKey(machine, hop->x + steps[hop->in.port][0], hop->y + steps[hop->in.port][1],
                    (uint8_t)(hop->in.port ^ 2), kind, hop->in.lane);
}

static size_t firstFrom(const Dependence *all, size_t count, uint64_t from) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (all[middle].from < from)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static SambaStatus reportCycle(const SambaSection *section, const SambaMachine *machine,
                               const Dependence *all, const size_t *path, size_t first,
                               size_t size) {
  SambaArena arena = {0};
  char *links = sambaArenaFormat(&arena, "%s", "");
  char *streams = links;

  for (size_t i = first; i < size; ++i) {
    const Dependence *d = &all[path[i]];
    uint64_t node = d->from >> 12;
    uint64_t columns = (uint64_t)machine->grid_columns;
    const SambaStream *stream = &section->streams[d->stream];
    links = sambaArenaFormat(&arena, "%s%s(%u,%u) %s lane %u", links, i > first ? ", " : "",
                             (unsigned)(node % columns), (unsigned)(node / columns),
                             sambaSwitchPortName((uint8_t)(d->from >> 10 & 3)),
                             (unsigned)(d->from & 0xff));
    streams = sambaArenaFormat(
        &arena, "%s%s%s -> %s", streams, i > first ? "; " : "",
        section->units[stream->source.unit].name,
        stream->destination_count ? section->units[stream->destinations[0].unit].name : "nothing");
  }

  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID, "section @%s: %s links wait for each other in a circle: %s", section->name,
      sambaStreamKindName((SambaStreamKind)(all[path[first]].from >> 8 & 3)), links);
  sambaStatusNote(status, "the streams that turn there: %s", streams);
  sambaStatusNote(
      status, "route one of them so that the circle stays open, or leave the routes to the router");
  sambaArenaDestroy(&arena);

  return status;
}

/* Depth-first search; state per dependence: 0 new, 1 on the path, 2 done (of the group that starts
 * there). */
static SambaStatus findCycle(const SambaSection *section, const SambaMachine *machine,
                             const Dependence *all, size_t count, SambaArena *arena) {
  uint8_t *state =
      SAMBA_ARENA_ARRAY(arena, uint8_t, count); /* at the first dependence of each `from` */
  size_t *path = SAMBA_ARENA_ARRAY(arena, size_t, count + 1); /* current dependence at each depth */
  size_t *group = SAMBA_ARENA_ARRAY(arena, size_t, count + 1); /* its first sibling */
  for (size_t start = 0; start < count; ++start) {
    if (state[start] || (start && all[start - 1].from == all[start].from))
      continue;
    size_t depth = 0;
    path[0] = group[0] = start;
    state[start] = 1;
    for (;;) {
      size_t at = path[depth];
      if (at >= count || all[at].from != all[group[depth]].from) {
        state[group[depth]] = 2;
        if (depth == 0)
          break;
        ++path[--depth];
        continue;
      }
      size_t next = firstFrom(all, count, all[at].to);
      if (next == count || all[next].from != all[at].to || state[next] == 2) {
        ++path[depth];
        continue;
      }
      if (state[next] == 1) {
        size_t first = 0;
        while (group[first] != next)
          ++first;
        return reportCycle(section, machine, all, path, first, depth + 1);
      }
      state[next] = 1;
      ++depth;
      path[depth] = group[depth] = next;
    }
  }

  return NULL;
}

SambaStatus sambaSectionCheckChannels(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  size_t hops = 0, count = 0, unique = 0;

  for (uint32_t s = 0; s < section->stream_count; ++s)
    hops += section->streams[s].hop_count;
  Dependence *all = SAMBA_ARENA_ARRAY(&arena, Dependence, hops);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    for (uint32_t h = 0; h < stream->hop_count; ++h) {
      const SambaHop *hop = &stream->hops[h];
      if (hop->in.port <= SAMBA_SWITCH_WEST && hop->out.port <= SAMBA_SWITCH_WEST)
        all[count++] = (Dependence){
            incomingKey(machine, hop, stream->kind),
            channelKey(machine, hop->x, hop->y, hop->out.port, stream->kind, hop->out.lane), s};
    }
  }

  if (count)
    qsort(all, count, sizeof *all, compareDependences);
  for (size_t i = 0; i < count; ++i)
    if (!unique || all[i].from != all[unique - 1].from || all[i].to != all[unique - 1].to)
      all[unique++] = all[i];
  SambaStatus status = findCycle(section, machine, all, unique, &arena);
  sambaArenaDestroy(&arena);

  return status;
}
