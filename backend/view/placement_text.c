/* Placement and routes as text; see placement_text.h. */
#include "backend/view/placement_text.h"

#include "backend/section/fabric/fabric.h"

#include <stdlib.h>

/*===-- Placement -----------------------------------------------------------------------------===*/

static void putMap(const SambaSection *section, const SambaMachine *machine, SambaText *out) {
  size_t columns = (size_t)machine->grid_columns;
  size_t sites = columns * (size_t)machine->grid_rows;
  char *map = sambaAllocate(sites);
  memset(map, '.', sites);
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    if (sambaUnitIsPlaced(unit) && !sambaUnitIsAddressGenerator(unit))
      map[(size_t)unit->y * columns + (size_t)unit->x] =
          unit->kind == SAMBA_UNIT_BUFFER ? 'M' : 'C';
  }

  for (size_t row = 0; row < sites; row += columns)
    sambaTextFormat(out, "  %.*s\n", (int)columns, map + row);
  free(map);
}

static void putUnit(const SambaUnit *unit, const SambaMachine *machine, SambaText *out) {
  if (!sambaUnitIsPlaced(unit)) {
    sambaTextAppendC(out, "  not placed");
  } else if (sambaUnitIsAddressGenerator(unit)) {
    int32_t x, y;
    sambaUnitSwitch(machine, unit, &x, &y);
    sambaTextFormat(out, "  ag %u at (%d, %d)", unit->load_store.ag, x, y);
  } else {
    sambaTextFormat(out, "  (%d, %d)", unit->x, unit->y);
  }
  sambaTextFormat(out, ": %s %s", sambaUnitKindName(unit->kind), unit->name);
  if (unit->layer[0])
    sambaTextFormat(out, " of %s", unit->layer);
  sambaTextAppendC(out, "\n");
}

void sambaPlacementPrint(const SambaSection *section, const SambaMachine *machine, SambaText *out) {
  sambaTextFormat(out, "placement of %s on %s (C: PCU in use, M: PMU in use)\n", section->name,
                  machine->name);
  putMap(section, machine, out);
  for (uint32_t u = 0; u < section->unit_count; ++u)
    putUnit(&section->units[u], machine, out);
}

/*===-- Routes --------------------------------------------------------------------------------===*/

static void putHop(const SambaHop *hop, const SambaHop *before, SambaText *out) {
  if (!before || before->x != hop->x || before->y != hop->y)
    sambaTextFormat(out, " (%d, %d)", hop->x, hop->y);
  if (hop->out.port == SAMBA_SWITCH_AG)
    sambaTextFormat(out, " ag %u", hop->out.ag);
  else
    sambaTextFormat(out, " %s", sambaSwitchPortName(hop->out.port));
}

static void putStream(const SambaSection *section, const SambaMachine *machine, uint32_t index,
                      SambaText *out) {
  const SambaStream *stream = &section->streams[index];
  sambaTextFormat(out, "  %u: %s %s.%u ->", index, sambaStreamKindName(stream->kind),
                  section->units[stream->source.unit].name, stream->source.port);
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    sambaTextFormat(out, "%s %s.%u", d ? "," : "",
                    section->units[stream->destinations[d].unit].name,
                    stream->destinations[d].port);
  if (stream->hop_count == 0) {
    sambaTextAppendC(out,
                     machine->network == SAMBA_NETWORK_IDEAL ? ": a wire\n" : ": not routed\n");
    return;
  }

  sambaTextFormat(out, ": %u hop%s,", stream->hop_count, stream->hop_count == 1 ? "" : "s");
  for (uint32_t h = 0; h < stream->hop_count; ++h)
    putHop(&stream->hops[h], h ? &stream->hops[h - 1] : NULL, out);
  sambaTextAppendC(out, "\n");
}

void sambaRoutesPrint(const SambaSection *section, const SambaMachine *machine, SambaText *out) {
  sambaTextFormat(out, "routes of %s (after each switch, where the stream leaves it)\n",
                  section->name);
  for (uint32_t s = 0; s < section->stream_count; ++s)
    putStream(section, machine, s, out);
}
