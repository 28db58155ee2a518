/* The bytes of a program load; see load_size.h. */
#include "backend/config/load_size.h"

#include "backend/config/record_codec.h"
#include "backend/config/switches.h"

#include <stdlib.h>

/* Only how many flows there are matters here. */
static SambaPortRecord *portRecords(const SambaPort *ports, uint32_t count) {
  SambaPortRecord *records = sambaAllocateZeroed((size_t)count + 1, sizeof *records);
  for (uint32_t p = 0; p < count; ++p)
    records[p] = (SambaPortRecord){.port = ports[p], .flow_count = ports[p].stream_count};
  return records;
}

uint64_t sambaUnitLoadBytes(const SambaUnit *unit) {
  SambaUnitRecord record = {.unit = *unit,
                            .inputs = portRecords(unit->inputs, unit->input_count),
                            .outputs = portRecords(unit->outputs, unit->output_count)};
  uint64_t bytes = sambaRecordBytes(SAMBA_RECORD_unit, &record);
  free(record.inputs);
  free(record.outputs);
  return bytes;
}

uint64_t sambaSwitchLoadBytes(uint32_t entries) {
  SambaSwitchRecord record = {.entry_count = entries};
  return sambaRecordBytes(SAMBA_RECORD_switch, &record);
}

SambaSectionLoad sambaSectionLoadMake(const SambaSection *section, const SambaMachine *machine,
                                      SambaArena *arena) {
  SambaSectionLoad load = {.tile_count = sambaMachineTileCount(machine)};
  load.tile_bytes = SAMBA_ARENA_ARRAY(arena, uint64_t, load.tile_count);

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    int32_t x, y;
    sambaUnitSwitch(machine, &section->units[u], &x, &y);
    load.tile_bytes[sambaMachineTileAt(machine, x, y)] += sambaUnitLoadBytes(&section->units[u]);
  }

  uint32_t entry_count, switch_count;
  SambaSwitchEntry *entries = sambaSwitchEntriesCollect(section, arena, &entry_count);
  SambaSwitchRecord *switches = sambaSwitchRecordsMake(entries, entry_count, arena, &switch_count);
  for (uint32_t s = 0; s < switch_count; ++s)
    load.tile_bytes[sambaMachineTileAt(machine, switches[s].x, switches[s].y)] +=
        sambaRecordBytes(SAMBA_RECORD_switch, &switches[s]);

  for (uint32_t tile = 0; tile < load.tile_count; ++tile)
    load.bytes += load.tile_bytes[tile];
  return load;
}
