/* The second half of the listing parser: streams, hops, and the section made of all lines; see
 * listing_parser.h. */
#include "backend/listing/listing_parser.h"

#include "backend/section/access.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* NAME.out0 or NAME.in1; NAME bare, quoted, or the number of a unit. Fails when there is no such
 * port line. */
static SambaStatus parseEndpoint(SambaListingParser *p, bool output, SambaEndpoint *out_endpoint) {
  sambaListingAtLineEnd(&p->cursor);
  size_t at = p->cursor.at;
  const char *side = output ? ".out" : ".in";
  SambaStringRef name, suffix;
  bool quoted = at < p->cursor.text.size && p->cursor.text.data[at] == '"';

  if (quoted) {
    SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &name));
    suffix = sambaListingWord(&p->cursor);
  } else {
    SambaStringRef word = sambaListingWord(&p->cursor);
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
    return sambaListingError(&p->cursor, at, "expected a unit's port, like NAME%s0", side);
  uint64_t number = 0;
  bool numeric = !quoted && name.size < 10;

  for (size_t i = 0; i < name.size && numeric; ++i) {
    numeric = name.data[i] >= '0' && name.data[i] <= '9';
    number = number * 10 + (uint64_t)(name.data[i] - '0');
  }

  size_t unit = numeric ? number : 0;
  while (!numeric && unit < p->units.size &&
         !sambaStringRefEqualC(name, p->units.data[unit].unit.name))
    ++unit;
  if (unit >= p->units.size)
    return sambaListingError(&p->cursor, at, "no unit '%.*s' above", SAMBA_STRING_ARGS(name));
  SambaListingUnit *found = &p->units.data[unit];
  size_t ports = output ? found->outputs.size : found->inputs.size;
  if ((uint64_t)port >= ports)
    return sambaListingError(&p->cursor, at, "unit '%s' has %zu %s lines, no %s %" PRId64,
                             found->unit.name, ports, output ? "output" : "input",
                             output ? "output" : "input", port);
  *out_endpoint = (SambaEndpoint){(uint32_t)unit, (uint32_t)port};
  SambaListingPort *line = output ? &found->outputs.data[port] : &found->inputs.data[port];
  sambaArrayAppend(&line->listed, (uint32_t)p->streams.size);

  return NULL;
}

/* stream s0 vector a.out0 -> b.in0, c.in1 rate=250 */
SambaStatus sambaListingParseStream(SambaListingParser *p, size_t at) {
  (void)at;
  SambaListingStream line = {.stream = {.rate_permille = 1000}, .first_hop = p->hops.size};

  SAMBA_RETURN_IF_ERROR(sambaListingName(&p->cursor, p->arena, &line.name));
  sambaListingAtLineEnd(&p->cursor);
  size_t kind_at = p->cursor.at;
  SambaStringRef word = sambaListingWord(&p->cursor);
  int kind = SAMBA_STREAM_VECTOR;
  while (kind <= SAMBA_STREAM_CONTROL &&
         !sambaStringRefEqualC(word, sambaStreamKindName((SambaStreamKind)kind)))
    ++kind;
  if (kind > SAMBA_STREAM_CONTROL)
    return sambaListingError(&p->cursor, kind_at, "expected vector, scalar or control");
  line.stream.kind = (SambaStreamKind)kind;
  SAMBA_RETURN_IF_ERROR(parseEndpoint(p, true, &line.stream.source));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "->"));
  SAMBA_ARRAY(SambaEndpoint) destinations = {0};
  SambaStatus status = NULL;

  do {
    SambaEndpoint endpoint = {0, 0};
    status = parseEndpoint(p, false, &endpoint);
    sambaArrayAppend(&destinations, endpoint);
  } while (!status && sambaListingTake(&p->cursor, ','));
  line.stream.destination_count = (uint32_t)destinations.size;
  line.stream.destinations =
      sambaArenaCopy(p->arena, destinations.data, destinations.size * sizeof *destinations.data);
  sambaArrayFree(&destinations);
  SAMBA_RETURN_IF_ERROR(status);
  if (!sambaListingAtLineEnd(&p->cursor)) {
    int64_t rate;
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "rate"));
    SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "="));
    SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 1, 1000, "rate", &rate));
    line.stream.rate_permille = (uint32_t)rate;
  }

  sambaArrayAppend(&p->streams, line);
  if (!sambaListingAtLineEnd(&p->cursor))
    return sambaListingError(&p->cursor, p->cursor.at, "expected the end of the line");
  return NULL;
}

/* north lane 0 flow 3, or ag 2 lane 0 flow 3 */
static SambaStatus parseSwitchLane(SambaListingParser *p, SambaSwitchLane *out_lane) {
  sambaListingAtLineEnd(&p->cursor);
  size_t at = p->cursor.at;
  SambaStringRef word = sambaListingWord(&p->cursor);
  uint8_t port = 0;

  while (sambaSwitchPortName(port) && !sambaStringRefEqualC(word, sambaSwitchPortName(port)))
    ++port;
  if (!sambaSwitchPortName(port))
    return sambaListingError(&p->cursor, at, "expected north, east, south, west, unit or ag");
  int64_t ag = 0, lane, flow;
  if (port == SAMBA_SWITCH_AG)
    SAMBA_RETURN_IF_ERROR(
        sambaListingInteger(&p->cursor, 0, UINT16_MAX, "an address generator", &ag));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "lane"));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT8_MAX, "a lane", &lane));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "flow"));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, UINT16_MAX, "a flow", &flow));
  *out_lane = (SambaSwitchLane){port, (uint8_t)lane, (uint16_t)flow, (uint16_t)ag};

  return NULL;
}

/* hop (1, 0) ag 0 lane 0 flow 0 -> unit lane 1 flow 3 */
SambaStatus sambaListingParseHop(SambaListingParser *p, size_t at) {
  if (p->streams.size == 0)
    return sambaListingError(&p->cursor, at, "a hop before any stream");
  SambaHop hop = {0};
  int64_t x, y;

  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "("));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, INT32_MAX, "a column", &x));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, ","));
  SAMBA_RETURN_IF_ERROR(sambaListingInteger(&p->cursor, 0, INT32_MAX, "a row", &y));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, ")"));
  hop.x = (int32_t)x;
  hop.y = (int32_t)y;
  SAMBA_RETURN_IF_ERROR(parseSwitchLane(p, &hop.in));
  SAMBA_RETURN_IF_ERROR(sambaListingExpect(&p->cursor, "->"));
  SAMBA_RETURN_IF_ERROR(parseSwitchLane(p, &hop.out));
  sambaArrayAppend(&p->hops, hop);
  if (!sambaListingAtLineEnd(&p->cursor))
    return sambaListingError(&p->cursor, p->cursor.at, "expected the end of the line");
  return NULL;
}

/* The port's streams: as its line orders them, else as the stream lines do. */
static SambaStatus finishStreams(SambaListingParser *p, SambaListingPort *line) {
  if (line->streams.size) {
    if (line->streams.size != line->listed.size)
      return sambaListingError(&p->cursor, line->at,
                               "this port lists %zu streams, but %zu stream lines name it",
                               line->streams.size, line->listed.size);
    for (size_t i = 0; i < line->streams.size; ++i) {
      size_t stream = 0;
      while (stream < p->streams.size &&
             !sambaStringRefEqual(p->streams.data[stream].name, line->streams.data[i].name))
        ++stream;
      if (stream == p->streams.size)
        return sambaListingError(&p->cursor, line->streams.data[i].at, "no stream '%.*s' below",
                                 SAMBA_STRING_ARGS(line->streams.data[i].name));
      line->listed.data[i] = (uint32_t)stream;
    }
  }

  line->port.stream_count = (uint32_t)line->listed.size;
  line->port.streams =
      sambaArenaCopy(p->arena, line->listed.data, line->listed.size * sizeof *line->listed.data);
  if (!line->has_access)
    return NULL;
  line->port.access.guard_count = (uint32_t)line->guards.size;
  line->port.access.guards =
      sambaArenaCopy(p->arena, line->guards.data, line->guards.size * sizeof *line->guards.data);
  return NULL;
}

/* Elements that a compute port's strides reach, counted from 0. */
static uint64_t spannedElements(const SambaUnit *unit, const SambaPort *port) {
  int64_t low, high;
  if (!sambaAffineRange(port->compute.offset, port->compute.strides, unit->compute.trips,
                        unit->compute.counter_count, &low, &high) ||
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

static SambaStatus finishUnit(SambaListingParser *p, SambaListingUnit *line, SambaUnit *out_unit) {
  SambaUnit *unit = &line->unit;
  unit->input_count = (uint32_t)line->inputs.size;
  unit->output_count = (uint32_t)line->outputs.size;
  unit->inputs = SAMBA_ARENA_ARRAY(p->arena, SambaPort, line->inputs.size);
  unit->outputs = SAMBA_ARENA_ARRAY(p->arena, SambaPort, line->outputs.size);
  if (unit->kind == SAMBA_UNIT_COMPUTE) {
    unit->compute.program.op_count = (uint32_t)line->ops.size;
    unit->compute.program.ops =
        sambaArenaCopy(p->arena, line->ops.data, line->ops.size * sizeof *line->ops.data);
  }

  for (uint32_t i = 0; i < unit->input_count; ++i) {
    finishPort(line, &line->inputs.data[i], false, i);
    SAMBA_RETURN_IF_ERROR(finishStreams(p, &line->inputs.data[i]));
    unit->inputs[i] = line->inputs.data[i].port;
  }

  for (uint32_t i = 0; i < unit->output_count; ++i) {
    finishPort(line, &line->outputs.data[i], true, i);
    SAMBA_RETURN_IF_ERROR(finishStreams(p, &line->outputs.data[i]));
    unit->outputs[i] = line->outputs.data[i].port;
  }

  *out_unit = *unit;
  return NULL;
}

SambaStatus sambaListingFinish(SambaListingParser *p, SambaSection **out_section) {
  SambaSection *section = SAMBA_ARENA_NEW(p->arena, SambaSection);
  section->arena = p->arena;
  section->symbol_count = (uint32_t)p->symbols.size;
  section->symbols =
      sambaArenaCopy(p->arena, p->symbols.data, p->symbols.size * sizeof *p->symbols.data);
  section->unit_count = (uint32_t)p->units.size;
  section->units = SAMBA_ARENA_ARRAY(p->arena, SambaUnit, p->units.size);
  for (size_t i = 0; i < p->units.size; ++i)
    SAMBA_RETURN_IF_ERROR(finishUnit(p, &p->units.data[i], &section->units[i]));
  section->stream_count = (uint32_t)p->streams.size;
  section->streams = SAMBA_ARENA_ARRAY(p->arena, SambaStream, p->streams.size);
  const SambaHop *hops =
      sambaArenaCopy(p->arena, p->hops.data, p->hops.size * sizeof *p->hops.data);

  for (size_t i = 0; i < p->streams.size; ++i) {
    section->streams[i] = p->streams.data[i].stream;
    size_t first = p->streams.data[i].first_hop;
    size_t last = i + 1 < p->streams.size ? p->streams.data[i + 1].first_hop : p->hops.size;
    section->streams[i].hop_count = (uint32_t)(last - first);
    section->streams[i].hops = hops + first;
  }

  *out_section = section;
  return NULL;
}
