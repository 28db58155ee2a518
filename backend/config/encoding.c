/* Sections to bits and back; see encoding.h. A section becomes an image (units with the flows of
 * their ports, switch entries), the generic record codec does the rest; back, the streams are
 * recovered from the image alone. */
#include "backend/config/encoding.h"

#include "backend/config/record_codec.h"
#include "backend/config/switches.h"
#include "backend/section/access.h"
#include "backend/section/check/machine_check.h"
#include "backend/section/check/section_check.h"
#include "backend/section/fabric/recover_streams.h"

#include <stdlib.h>

/* Counts of flows, hops and the like then fit 32 bits. */
enum { largestImage = 1 << 30 };

static SambaPortRecord *imagePorts(const SambaPort *ports, uint32_t count, const SambaFlowEnd **end,
                                   SambaArena *arena) {
  SambaPortRecord *records = SAMBA_ARENA_ARRAY(arena, SambaPortRecord, count);
  for (uint32_t p = 0; p < count; ++p) {
    SambaPortRecord *record = &records[p];
    record->port = ports[p];
    if (ports[p].stream_count <= 1) /* takes no turns */
      record->port.block = 1;
    record->kind = ports[p].stream_count ? (uint32_t)(*end)->kind : 0;
    record->flow_count = ports[p].stream_count;
    record->flows = SAMBA_ARENA_ARRAY(arena, SambaPortFlow, record->flow_count);
    for (uint32_t i = 0; i < record->flow_count; ++i, ++*end)
      record->flows[i] = (SambaPortFlow){(*end)->lane, (*end)->flow};
  }
  return records;
}

static void makeImage(const SambaSection *section, const SambaFabric *fabric, SambaArena *arena,
                      SambaImage *image) {
  *image = (SambaImage){.version = SAMBA_IMAGE_VERSION,
                        .split_k = section->split_k,
                        .symbol_count = section->symbol_count,
                        .unit_count = section->unit_count,
                        .symbols = section->symbols,
                        .units = SAMBA_ARENA_ARRAY(arena, SambaUnitRecord, section->unit_count)};
  image->switches =
      sambaSwitchRecordsMake(fabric->entries, fabric->entry_count, arena, &image->switch_count);
  const SambaFlowEnd *end = fabric->ends;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    SambaUnitRecord *record = &image->units[u];
    record->unit = *unit;
    record->inputs = imagePorts(unit->inputs, unit->input_count, &end, arena);
    record->outputs = imagePorts(unit->outputs, unit->output_count, &end, arena);
  }
}

static bool hasDestination(const SambaStream *stream, SambaEndpoint endpoint) {
  for (uint32_t d = 0; d < stream->destination_count; ++d)
    if (stream->destinations[d].unit == endpoint.unit &&
        stream->destinations[d].port == endpoint.port)
      return true;
  return false;
}

/* The bits keep hops, not streams: the hops must say what the streams say. */
static SambaStatus compareRoutes(const SambaSection *section, const SambaMachine *machine,
                                 const SambaFabric *fabric, SambaArena *arena) {
  SambaRecoveredStream *recovered;
  uint32_t count;

  SAMBA_RETURN_IF_ERROR(sambaStreamsRecover(machine, section->units, section->unit_count, fabric,
                                            arena, &recovered, &count));
  const uint32_t *order = sambaStreamsCanonicalOrder(section, arena);
  for (uint32_t i = 0; i < count; ++i) {
    const SambaStream *stream = &section->streams[order[i]];
    bool same = recovered[i].destination_count == stream->destination_count;
    for (uint32_t d = 0; d < recovered[i].destination_count && same; ++d)
      same = hasDestination(stream, recovered[i].destinations[d]);
    if (!same)
      return sambaStatusMake(
          SAMBA_INVALID,
          "stream %u from unit '%s' output %u: its hops reach other ports than its destinations",
          order[i], section->units[stream->source.unit].name, stream->source.port);
  }

  return NULL;
}

static SambaStatus encode(const SambaSection *section, const SambaMachine *machine,
                          SambaArena *arena, SambaByteBuffer *out) {
  SAMBA_RETURN_IF_ERROR(sambaPlacementCheck(machine, section->units, section->unit_count));
  SambaFabric fabric;
  SAMBA_RETURN_IF_ERROR(sambaFabricCollect(section, machine, arena, &fabric));
  SAMBA_RETURN_IF_ERROR(compareRoutes(section, machine, &fabric, arena));
  SambaImage image;
  makeImage(section, &fabric, arena, &image);
  return sambaRecordWrite(SAMBA_RECORD_section, &image, out);
}

SambaStatus sambaSectionEncode(const SambaSection *section, const SambaMachine *machine,
                               SambaByteBuffer *out) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckMachine(section, machine));
  SambaArena arena = {0};
  size_t size = out->size;
  SambaStatus status = encode(section, machine, &arena, out);
  sambaArenaDestroy(&arena);
  if (status)
    out->size = size;
  return sambaStatusAnnotate(status, "section '%s'", section->name ? section->name : "");
}

static SambaPort *sectionPorts(const SambaPortRecord *records, uint32_t count, uint32_t unit,
                               bool output, SambaFabric *fabric, SambaArena *arena) {
  SambaPort *ports = SAMBA_ARENA_ARRAY(arena, SambaPort, count);
  for (uint32_t p = 0; p < count; ++p) {
    ports[p] = records[p].port;
    ports[p].stream_count = records[p].flow_count;
    ports[p].streams = SAMBA_ARENA_ARRAY(arena, uint32_t, records[p].flow_count);
    for (uint32_t i = 0; i < records[p].flow_count; ++i)
      fabric->ends[fabric->end_count++] = (SambaFlowEnd){unit,
                                                         p,
                                                         output,
                                                         (SambaStreamKind)records[p].kind,
                                                         records[p].flows[i].lane,
                                                         records[p].flows[i].flow};
  }

  return ports;
}

static SambaStatus checkPortRecord(const SambaPortRecord *record) {
  if (record->kind > SAMBA_STREAM_CONTROL)
    return sambaStatusMake(SAMBA_INVALID, "stream kind %u is undefined, expected 0 to 2",
                           record->kind);
  return NULL;
}

/* Units and ends out of the image; streams are still missing. */
static SambaStatus makeUnits(const SambaImage *image, SambaArena *arena, SambaSection *section,
                             SambaFabric *fabric) {
  size_t ends = 0;
  for (uint32_t u = 0; u < image->unit_count; ++u) {
    const SambaUnitRecord *record = &image->units[u];
    for (uint32_t p = 0; p < record->unit.input_count; ++p)
      ends += record->inputs[p].flow_count;
    for (uint32_t p = 0; p < record->unit.output_count; ++p)
      ends += record->outputs[p].flow_count;
  }

  *fabric = (SambaFabric){.ends = SAMBA_ARENA_ARRAY(arena, SambaFlowEnd, ends)};
  SAMBA_RETURN_IF_ERROR(sambaSwitchRecordsJoin(image->switches, image->switch_count, arena,
                                               &fabric->entries, &fabric->entry_count));
  for (uint32_t u = 0; u < image->unit_count; ++u) {
    const SambaUnitRecord *record = &image->units[u];
    SambaUnit *unit = &section->units[u];
    *unit = record->unit;
    unit->name = sambaArenaFormat(arena, "%s%u", sambaUnitKindName(unit->kind), u);
    unit->layer = "";
    if (sambaUnitIsAddressGenerator(unit))
      unit->x = unit->y = -1;
    for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p) {
      bool output = p >= unit->input_count;
      uint32_t port = output ? p - unit->input_count : p;
      SambaStatus status = checkPortRecord(output ? &record->outputs[port] : &record->inputs[port]);
      if (status)
        return sambaStatusAnnotate(status, "unit '%s' %s %u", unit->name,
                                   output ? "output" : "input", port);
    }
    unit->inputs = sectionPorts(record->inputs, unit->input_count, u, false, fabric, arena);
    unit->outputs = sectionPorts(record->outputs, unit->output_count, u, true, fabric, arena);
  }

  return NULL;
}

/* Puts the recovered streams into the section and its ports. */
static void fillStreams(SambaSection *section, const SambaFabric *fabric,
                        const SambaRecoveredStream *recovered, SambaArena *arena) {
  uint32_t *end_streams = SAMBA_ARENA_ARRAY(arena, uint32_t, fabric->end_count);
  section->streams = SAMBA_ARENA_ARRAY(arena, SambaStream, section->stream_count);
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaRecoveredStream *from = &recovered[s];
    section->streams[s] = (SambaStream){.kind = from->kind,
                                        .source = from->source,
                                        .destination_count = from->destination_count,
                                        .destinations = from->destinations,
                                        .hop_count = from->hop_count,
                                        .hops = from->hops};
    end_streams[from->source_end] = s;
    for (uint32_t d = 0; d < from->destination_count; ++d)
      end_streams[from->destination_ends[d]] = s;
  }

  uint32_t end = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->input_count + unit->output_count; ++p) {
      const SambaPort *port =
          p < unit->input_count ? &unit->inputs[p] : &unit->outputs[p - unit->input_count];
      for (uint32_t i = 0; i < port->stream_count; ++i)
        ((uint32_t *)port->streams)[i] = end_streams[end++];
    }
  }
}

/* One section, one encoding: all else that could differ has its fixed place in the records. On an
 * ideal network, wires and lanes have their numbers. */
static SambaStatus checkOneEncoding(const SambaSection *section, const SambaMachine *machine,
                                    const SambaFabric *fabric, SambaArena *arena) {
  if (machine->network != SAMBA_NETWORK_IDEAL)
    return NULL;

  SambaFabric expected;
  SAMBA_RETURN_IF_ERROR(sambaFabricCollect(section, machine, arena, &expected));
  for (uint32_t i = 0; i < fabric->end_count; ++i) {
    const SambaFlowEnd *found = &fabric->ends[i], *wanted = &expected.ends[i];
    if (found->lane != wanted->lane || found->flow != wanted->flow)
      return sambaStatusMake(SAMBA_INVALID,
                             "unit '%s' %s %u: lane %u and wire %u, expected lane %u and wire %u",
                             section->units[found->unit].name, found->output ? "output" : "input",
                             found->port, found->lane, found->flow, wanted->lane, wanted->flow);
  }
  return NULL;
}

/* The first number of the records: whatever other versions put behind it. */
static SambaStatus checkImageVersion(const uint8_t *data, size_t size) {
  uint32_t version = size < 2 ? SAMBA_IMAGE_VERSION : (uint32_t)(data[0] | data[1] << 8);
  if (version == SAMBA_IMAGE_VERSION)
    return NULL;
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "its records have version %u, this program reads version %d", version,
                         SAMBA_IMAGE_VERSION);
}

static SambaStatus decode(const uint8_t *data, size_t size, const SambaMachine *machine,
                          SambaArena *arena, SambaSection *section) {
  SambaImage image = {0};
  if (size > largestImage)
    return sambaStatusMake(SAMBA_INVALID, "an image of %zu bytes, expected at most %zu", size,
                           (size_t)largestImage);
  SAMBA_RETURN_IF_ERROR(checkImageVersion(data, size));
  SAMBA_RETURN_IF_ERROR(sambaRecordRead(SAMBA_RECORD_section, data, size, arena, &image));
  *section = (SambaSection){.arena = arena,
                            .name = "section",
                            .symbol_count = image.symbol_count,
                            .unit_count = image.unit_count,
                            .symbols = image.symbols,
                            .units = SAMBA_ARENA_ARRAY(arena, SambaUnit, image.unit_count),
                            .split_k = image.split_k};
  for (uint32_t i = 0; i < image.symbol_count; ++i)
    section->symbols[i].name = sambaArenaFormat(arena, "arg%u", i);
  SambaFabric fabric;

  SAMBA_RETURN_IF_ERROR(makeUnits(&image, arena, section, &fabric));
  SAMBA_RETURN_IF_ERROR(sambaPlacementCheck(machine, section->units, section->unit_count));
  SambaRecoveredStream *recovered;
  SAMBA_RETURN_IF_ERROR(sambaStreamsRecover(machine, section->units, section->unit_count, &fabric,
                                            arena, &recovered, &section->stream_count));
  fillStreams(section, &fabric, recovered, arena);
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckMachine(section, machine));
  return checkOneEncoding(section, machine, &fabric, arena);
}

SambaStatus sambaSectionDecode(const uint8_t *data, size_t size, const SambaMachine *machine,
                               SambaArena *arena, SambaSection **out_section) {
  SambaSection *section = SAMBA_ARENA_NEW(arena, SambaSection);
  SAMBA_RETURN_IF_ERROR(decode(data, size, machine, arena, section));
  *out_section = section;
  return NULL;
}

uint32_t *sambaStreamsCanonicalOrder(const SambaSection *section, SambaArena *arena) {
  uint32_t *order = SAMBA_ARENA_ARRAY(arena, uint32_t, section->stream_count);
  uint32_t count = 0;
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      const SambaPort *port = &section->units[u].outputs[p];
      for (uint32_t i = 0; i < port->stream_count && count < section->stream_count; ++i)
        order[count++] = port->streams[i];
    }
  return order;
}

static const char *copyText(SambaSection *section, const char *text) {
  return sambaStringRefCopy(section->arena, sambaStringRef(text)).data;
}

void sambaSectionSetName(SambaSection *section, const char *name) {
  section->name = copyText(section, name);
}

void sambaSectionSetUnit(SambaSection *section, uint32_t unit, const char *name,
                         const char *layer) {
  if (unit >= section->unit_count)
    return;
  section->units[unit].name = copyText(section, name);
  section->units[unit].layer = copyText(section, layer);
}

void sambaSectionSetSymbol(SambaSection *section, uint32_t symbol, const char *name) {
  if (symbol < section->symbol_count)
    section->symbols[symbol].name = copyText(section, name);
}
