/* The second half of the listing parser: streams, hops, and the section made of all lines; see
 * listing_parser.h. */
#include "backend/listing/listing_parser.h"

#include "backend/section/access.h"

#include <stdio.h>
#include <stdlib.h>

/* NAME.out0 or NAME.in1; NAME bare, quoted, or the number of a unit. Fails when there is no such
 * port line. */
static SambaStatus parseEndpoint(SambaListingParser *parser, bool output,
                                 SambaEndpoint *out_endpoint) {
  sambaListingAtLineEnd(&parser->cursor);
  size_t at = parser->cursor.at;
  const char *side = output ? ".out" : ".in";
  SambaStringRef name, suffix;
  bool quoted = at < parser->cursor.text.size && parser->cursor.text.data[at] == '"';

  if (quoted) {
    SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &name));
    suffix = sambaListingWord(&parser->cursor);
  } else {
    SambaStringRef word = sambaListingWord(&parser->cursor);
    size_t dot = word.size;
    while (dot > 0 && word.data[dot - 1] != '.')
      --dot;
    size_t length = dot ? dot - 1 : word.size;
    name = (SambaStringRef){word.data, length};
    suffix = (SambaStringRef){word.data + length, word.size - length};
  }

  size_t side_length = strlen(side);
  int64_t port = -1;
  if ((name.size || quoted) && suffix.size > side_length && suffix.size < side_length + 9 &&
      memcmp(suffix.data, side, side_length) == 0) {
    port = 0;
    for (size_t i = side_length; i < suffix.size && port >= 0; ++i)
      port =
          suffix.data[i] >= '0' && suffix.data[i] <= '9' ? port * 10 + (suffix.data[i] - '0') : -1;
  }

  if (port < 0)
    return sambaListingError(&parser->cursor, at, "expected a unit's port, like NAME%s0", side);
  uint64_t number = 0;
  bool numeric = !quoted && name.size < 10;

  for (size_t i = 0; i < name.size && numeric; ++i) {
    numeric = name.data[i] >= '0' && name.data[i] <= '9';
    number = number * 10 + (uint64_t)(name.data[i] - '0');
  }

  size_t unit = numeric ? number : 0;
  while (!numeric && unit < parser->units.size &&
         !sambaStringRefEqualC(name, parser->units.data[unit].unit.name))
    ++unit;
  if (unit >= parser->units.size)
    return sambaListingError(&parser->cursor, at, "no unit '%.*s' above", SAMBA_STRING_ARGS(name));
  SambaListingUnit *found = &parser->units.data[unit];
  size_t ports = output ? found->outputs.size : found->inputs.size;
  if ((uint64_t)port >= ports)
    return sambaListingError(&parser->cursor, at, "unit '%s' has %zu %s lines, no %s %lld",
                             found->unit.name, ports, output ? "output" : "input",
                             output ? "output" : "input", (long long)port);
  *out_endpoint = (SambaEndpoint){(uint32_t)unit, (uint32_t)port};
  SambaListingPort *line = output ? &found->outputs.data[port] : &found->inputs.data[port];
  sambaArrayAppend(&line->listed, (uint32_t)parser->streams.size);

  return NULL;
}

/* stream s0 vector a.out0 -> b.in0, c.in1 */
SambaStatus sambaListingParseStream(SambaListingParser *parser, size_t at) {
  (void)at;
  SambaListingStream line = {.first_hop = parser->hops.size};

  SAMBA_RETURN_IF_ERROR(sambaListingName(&parser->cursor, parser->arena, &line.name));
  sambaListingAtLineEnd(&parser->cursor);
  size_t kind_at = parser->cursor.at;
  SambaStringRef word = sambaListingWord(&parser->cursor);
  int kind = SAMBA_STREAM_VECTOR;
  while (kind <= SAMBA_STREAM_CONTROL &&
         !sambaStringRefEqualC(word, sambaStreamKindName((SambaStreamKind)kind)))
    ++kind;
  if (kind > SAMBA_STREAM_CONTROL)
    return sambaListingError(&parser->cursor, kind_at, "expected vector, scalar or control");
  line.stream.kind = (SambaStreamKind)kind;
  SAMBA_RETURN_IF_ERROR(parseEndpoint(parser, true, &line.stream.source));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "->"));
  SAMBA_ARRAY(SambaEndpoint) destinations = {0};
  SambaStatus status = NULL;

  do {
    SambaEndpoint endpoint = {0, 0};
    status = parseEndpoint(parser, false, &endpoint);
    sambaArrayAppend(&destinations, endpoint);
  } while (!status && sambaListingTake(&parser->cursor, ','));
  line.stream.destination_count = (uint32_t)destinations.size;
  line.stream.destinations = sambaArenaCopy(parser->arena, destinations.data,
                                            destinations.size * sizeof *destinations.data);
  sambaArrayFree(&destinations);
  SAMBA_RETURN_IF_ERROR(status);
  sambaArrayAppend(&parser->streams, line);
  if (!sambaListingAtLineEnd(&parser->cursor))
    return sambaListingError(&parser->cursor, parser->cursor.at, "expected the end of the line");
  return NULL;
}

/* north lane 0 flow 3, or ag 2 lane 0 flow 3 */
static SambaStatus parseSwitchLane(SambaListingParser *parser, SambaSwitchLane *out_lane) {
  sambaListingAtLineEnd(&parser->cursor);
  size_t at = parser->cursor.at;
  SambaStringRef word = sambaListingWord(&parser->cursor);
  uint8_t port = 0;

  while (sambaSwitchPortName(port) && !sambaStringRefEqualC(word, sambaSwitchPortName(port)))
    ++port;
  if (!sambaSwitchPortName(port))
    return sambaListingError(&parser->cursor, at, "expected north, east, south, west, unit or ag");
  int64_t ag = 0, lane, flow;
  if (port == SAMBA_SWITCH_AG)
    SAMBA_RETURN_IF_ERROR(
        sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "an address generator", &ag));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "lane"));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT8_MAX, "a lane", &lane));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "flow"));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, UINT16_MAX, "a flow", &flow));
  *out_lane = (SambaSwitchLane){port, (uint8_t)lane, (uint16_t)flow, (uint16_t)ag};

  return NULL;
}

/* hop (1, 0) ag 0 lane 0 flow 0 -> unit lane 1 flow 3 */
SambaStatus sambaListingParseHop(SambaListingParser *parser, size_t at) {
  if (parser->streams.size == 0)
    return sambaListingError(&parser->cursor, at, "a hop before any stream");
  SambaHop hop = {0};
  int64_t x, y;

  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "("));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, INT32_MAX, "a column", &x));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, ","));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&parser->cursor, 0, INT32_MAX, "a row", &y));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, ")"));
  hop.x = (int32_t)x;
  hop.y = (int32_t)y;
  SAMBA_RETURN_IF_ERROR(parseSwitchLane(parser, &hop.in));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&parser->cursor, "->"));
  SAMBA_RETURN_IF_ERROR(parseSwitchLane(parser, &hop.out));
  sambaArrayAppend(&parser->hops, hop);
  if (!sambaListingAtLineEnd(&parser->cursor))
    return sambaListingError(&parser->cursor, parser->cursor.at, "expected the end of the line");
  return NULL;
}

/* The port's streams: as its line orders them, else as the stream lines do. */
static SambaStatus finishStreams(SambaListingParser *parser, SambaListingPort *line) {
  if (line->streams.size) {
    if (line->streams.size != line->listed.size)
      return sambaListingError(&parser->cursor, line->at,
                               "this port lists %zu streams, but %zu stream lines name it",
                               line->streams.size, line->listed.size);
    for (size_t i = 0; i < line->streams.size; ++i) {
      size_t stream = 0;
      while (stream < parser->streams.size &&
             !sambaStringRefEqual(parser->streams.data[stream].name, line->streams.data[i].name))
        ++stream;
      if (stream == parser->streams.size)
        return sambaListingError(&parser->cursor, line->streams.data[i].at,
                                 "no stream '%.*s' below",
                                 SAMBA_STRING_ARGS(line->streams.data[i].name));
      line->listed.data[i] = (uint32_t)stream;
    }
  }

  line->port.stream_count = (uint32_t)line->listed.size;
  line->port.streams = sambaArenaCopy(parser->arena, line->listed.data,
                                      line->listed.size * sizeof *line->listed.data);
  if (!line->has_access)
    return NULL;
  line->port.access.guard_count = (uint32_t)line->guards.size;
  line->port.access.guards = sambaArenaCopy(parser->arena, line->guards.data,
                                            line->guards.size * sizeof *line->guards.data);
  return NULL;
}

/* Elements that a compute port's strides reach, counted from 0. */
static uint64_t spannedElements(const SambaUnit *unit, const SambaPort *port) {
  int64_t low, high;
  if (!sambaAffineRange(0, port->compute.strides, unit->compute.trips, unit->compute.counter_count,
                        &low, &high) ||
      high < 0)
    return 0;
  return (uint64_t)high + 1;
}

static void finishPort(const SambaListingUnit *unit, SambaListingPort *line, bool output,
                       uint32_t index) {
  SambaPort *port = &line->port;
  if (unit->unit.kind == SAMBA_UNIT_COMPUTE) {
    if (!line->has_level)
      port->compute.level = unit->unit.compute.token_level;
    if (!line->has_tokens)
      port->token_elements = spannedElements(&unit->unit, port);
    if (output && !line->has_value)
      port->compute.value = (uint32_t)(unit->inputs.size + unit->ops.size - 1);
  } else if (sambaPortHasAccess(&unit->unit, output, index)) {
    if (!line->has_tokens)
      port->token_elements = sambaTripProduct(port->access.trips, port->access.token_level,
                                              port->access.counter_count);
  } else if (!line->has_tokens && !output && index == (unit->unit.kind == SAMBA_UNIT_STORE)) {
    /* The index stream of a load or store; else a control port, whose tokens are empty. */
    const SambaListingPort *data =
        unit->unit.kind == SAMBA_UNIT_STORE ? unit->inputs.data : unit->outputs.data;
    bool there = unit->unit.kind == SAMBA_UNIT_STORE ? unit->inputs.size : unit->outputs.size;
    const SambaAccess *access = there ? &data[0].port.access : NULL;
    if (access && access->has_index &&
        access->index_counters <= access->counter_count - access->token_level)
      port->token_elements = sambaTripProduct(access->trips, access->token_level,
                                              access->token_level + access->index_counters);
  }
}

static SambaStatus finishUnit(SambaListingParser *parser, SambaListingUnit *line,
                              SambaUnit *out_unit) {
  SambaUnit *unit = &line->unit;
  unit->input_count = (uint32_t)line->inputs.size;
  unit->output_count = (uint32_t)line->outputs.size;
  unit->inputs = SAMBA_ARENA_ARRAY(parser->arena, SambaPort, line->inputs.size);
  unit->outputs = SAMBA_ARENA_ARRAY(parser->arena, SambaPort, line->outputs.size);
  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    unit->compute.program.op_count = (uint32_t)line->ops.size;
    unit->compute.program.ops =
        sambaArenaCopy(parser->arena, line->ops.data, line->ops.size * sizeof *line->ops.data);
  }

  for (uint32_t i = 0; i < unit->input_count; ++i) {
    finishPort(line, &line->inputs.data[i], false, i);
    SAMBA_RETURN_IF_ERROR(finishStreams(parser, &line->inputs.data[i]));
    unit->inputs[i] = line->inputs.data[i].port;
  }

  for (uint32_t i = 0; i < unit->output_count; ++i) {
    finishPort(line, &line->outputs.data[i], true, i);
    SAMBA_RETURN_IF_ERROR(finishStreams(parser, &line->outputs.data[i]));
    unit->outputs[i] = line->outputs.data[i].port;
  }

  *out_unit = *unit;
  return NULL;
}

SambaStatus sambaListingFinish(SambaListingParser *parser, SambaSection **out_section) {
  SambaSection *section = SAMBA_ARENA_NEW(parser->arena, SambaSection);
  section->arena = parser->arena;
  section->symbol_count = (uint32_t)parser->symbols.size;
  section->symbols = sambaArenaCopy(parser->arena, parser->symbols.data,
                                    parser->symbols.size * sizeof *parser->symbols.data);
  section->unit_count = (uint32_t)parser->units.size;
  section->units = SAMBA_ARENA_ARRAY(parser->arena, SambaUnit, parser->units.size);
  for (size_t i = 0; i < parser->units.size; ++i)
    SAMBA_RETURN_IF_ERROR(finishUnit(parser, &parser->units.data[i], &section->units[i]));
  section->stream_count = (uint32_t)parser->streams.size;
  section->streams = SAMBA_ARENA_ARRAY(parser->arena, SambaStream, parser->streams.size);
  const SambaHop *hops = sambaArenaCopy(parser->arena, parser->hops.data,
                                        parser->hops.size * sizeof *parser->hops.data);

  for (size_t i = 0; i < parser->streams.size; ++i) {
    section->streams[i] = parser->streams.data[i].stream;
    size_t first = parser->streams.data[i].first_hop;
    size_t last =
        i + 1 < parser->streams.size ? parser->streams.data[i + 1].first_hop : parser->hops.size;
    section->streams[i].hop_count = (uint32_t)(last - first);
    section->streams[i].hops = hops + first;
  }

  *out_section = section;
  return NULL;
}
