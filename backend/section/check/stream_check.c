/* Legality of streams, part of sambaSectionCheck: every stream stands exactly once in the list of
 * its source port and of each destination port, both ends agree on type, token size and number of
 * tokens. */
#include "backend/section/check/check_internal.h"

#include <stdlib.h>

/* One mention of a stream: by a port's list, or by the stream's own endpoints. */
typedef struct Mention {
  uint32_t stream, unit, port;
  bool output;
} Mention;

typedef SAMBA_ARRAY(Mention) Mentions;

static int compareMentions(const void *a, const void *b) {
  const Mention *x = a, *y = b;
  if (x->stream != y->stream)
    return x->stream < y->stream ? -1 : 1;
  if (x->output != y->output)
    return x->output ? -1 : 1;
  if (x->unit != y->unit)
    return x->unit < y->unit ? -1 : 1;
  return x->port < y->port ? -1 : x->port > y->port;
}

static const char *side(bool output) { return output ? "output" : "input"; }

static SambaStatus appendEndpoint(const SambaSection *section, Mentions *mentions, uint32_t stream,
                                  SambaEndpoint endpoint, bool output) {
  const char *role = output ? "source" : "destination";
  if (endpoint.unit >= section->unit_count)
    return sambaStatusMake(SAMBA_INVALID, "stream %u: its %s is unit %u, the section has %u units",
                           stream, role, endpoint.unit, section->unit_count);
  const SambaUnit *unit = &section->units[endpoint.unit];
  uint32_t ports = output ? unit->output_count : unit->input_count;
  if (endpoint.port >= ports)
    return sambaStatusMake(SAMBA_INVALID, "stream %u: its %s is %s %u of unit '%s', which has %u",
                           stream, role, side(output), endpoint.port, unit->name, ports);
  sambaArrayAppend(mentions, (Mention){stream, endpoint.unit, endpoint.port, output});
  return NULL;
}

static SambaStatus appendPort(const SambaSection *section, Mentions *mentions, uint32_t unit,
                              uint32_t port, bool output) {
  const SambaUnit *u = &section->units[unit];
  const SambaPort *p = output ? &u->outputs[port] : &u->inputs[port];

  for (uint32_t i = 0; i < p->stream_count; ++i) {
    uint32_t stream = p->streams[i];
    if (stream >= section->stream_count)
      return sambaStatusMake(
          SAMBA_INVALID, "unit '%s' %s %u: stream %u does not exist, the section has %u streams",
          u->name, side(output), port, stream, section->stream_count);
    if (section->streams[stream].kind != section->streams[p->streams[0]].kind)
      return sambaStatusMake(
          SAMBA_INVALID,
          "unit '%s' %s %u: streams %u and %u are of different kinds, expected one kind per port",
          u->name, side(output), port, p->streams[0], stream);
    sambaArrayAppend(mentions, (Mention){stream, unit, port, output});
  }

  return NULL;
}

/* Every mention by a port has its mention by the stream and the other way round; none
 * stands twice. */
static SambaStatus compareEnds(const SambaSection *section, Mentions *ports, Mentions *streams) {
  if (ports->size)
    qsort(ports->data, ports->size, sizeof *ports->data, compareMentions);
  if (streams->size)
    qsort(streams->data, streams->size, sizeof *streams->data, compareMentions);

  for (size_t i = 0; i < ports->size || i < streams->size; ++i) {
    const Mention *p = i < ports->size ? &ports->data[i] : NULL;
    const Mention *s = i < streams->size ? &streams->data[i] : NULL;
    int order = p ? -1 : 1; /* when one list has ended */
    if (p && s)
      order = compareMentions(p, s);
    const Mention *m = order <= 0 ? p : s;
    const char *unit = section->units[m->unit].name;
    if (i > 0 && compareMentions(m, order <= 0 ? p - 1 : s - 1) == 0)
      return sambaStatusMake(SAMBA_INVALID, "unit '%s' %s %u meets stream %u twice, expected once",
                             unit, side(m->output), m->port, m->stream);
    if (order < 0)
      return sambaStatusMake(SAMBA_INVALID, "unit '%s' %s %u lists stream %u, which %s", unit,
                             side(m->output), m->port, m->stream,
                             m->output ? "has another source"
                                       : "does not have it as a destination");
    if (order > 0)
      return sambaStatusMake(
          SAMBA_INVALID, "stream %u has unit '%s' %s %u as its %s, but that port does not list it",
          m->stream, unit, side(m->output), m->port, m->output ? "source" : "destination");
  }

  return NULL;
}

static SambaStatus checkMentions(const SambaSection *section, Mentions *ports, Mentions *streams) {
  for (uint32_t s = 0; s < section->stream_count; ++s) {
    const SambaStream *stream = &section->streams[s];
    if ((unsigned)stream->kind > SAMBA_STREAM_CONTROL)
      return sambaStatusMake(SAMBA_INVALID, "stream %u: kind %d is undefined", s,
                             (int)stream->kind);
    if (stream->destination_count == 0)
      return sambaStatusMake(SAMBA_INVALID, "stream %u: no destination", s);
    SAMBA_RETURN_IF_ERROR(appendEndpoint(section, streams, s, stream->source, true));
    for (uint32_t d = 0; d < stream->destination_count; ++d)
      SAMBA_RETURN_IF_ERROR(appendEndpoint(section, streams, s, stream->destinations[d], false));
  }

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    for (uint32_t p = 0; p < section->units[u].input_count; ++p)
      SAMBA_RETURN_IF_ERROR(appendPort(section, ports, u, p, false));
    for (uint32_t p = 0; p < section->units[u].output_count; ++p)
      SAMBA_RETURN_IF_ERROR(appendPort(section, ports, u, p, true));
  }

  return compareEnds(section, ports, streams);
}

/* What one end says about a stream. */
typedef struct End {
  const SambaUnit *unit;
  uint32_t port;
  const SambaPort *record;
} End;

static SambaStatus compareStreamEnds(const SambaSection *section, uint32_t index, End a,
                                     uint64_t made, End b, uint64_t taken) {
  const SambaStream *stream = &section->streams[index];
  if (a.record->dtype != b.record->dtype)
    return sambaStatusMake(SAMBA_INVALID,
                           "stream %u: unit '%s' output %u sends %s, unit '%s' input %u takes %s",
                           index, a.unit->name, a.port, sambaDTypeName(a.record->dtype),
                           b.unit->name, b.port, sambaDTypeName(b.record->dtype));
  if (a.record->token_elements != b.record->token_elements)
    return sambaStatusMake(SAMBA_INVALID,
                           "stream %u: unit '%s' output %u sends tokens of %llu elements, unit "
                           "'%s' input %u takes tokens of %llu",
                           index, a.unit->name, a.port,
                           (unsigned long long)a.record->token_elements, b.unit->name, b.port,
                           (unsigned long long)b.record->token_elements);
  if ((stream->kind == SAMBA_STREAM_CONTROL) != (a.record->token_elements == 0))
    return sambaStatusMake(SAMBA_INVALID,
                           "stream %u: kind %s with tokens of %llu elements, expected a control "
                           "stream exactly when tokens are empty",
                           index, stream->kind == SAMBA_STREAM_CONTROL ? "control" : "data",
                           (unsigned long long)a.record->token_elements);
  if (made != taken)
    return sambaStatusMake(
        SAMBA_INVALID,
        "stream %u: unit '%s' output %u sends %llu tokens, unit '%s' input %u takes %llu", index,
        a.unit->name, a.port, (unsigned long long)made, b.unit->name, b.port,
        (unsigned long long)taken);
  return sambaStreamOrderCheck(index, (SambaPortOf){a.unit, a.port}, (SambaPortOf){b.unit, b.port});
}

/* What each end of each stream counts: the tokens by their place in the port's round-robin list. */
static SambaStatus checkEnds(const SambaSection *section, uint64_t *made) {
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].output_count; ++p) {
      const SambaPort *port = &section->units[u].outputs[p];
      uint64_t tokens = sambaPortTokens(&section->units[u], true, p);
      for (uint32_t i = 0; i < port->stream_count; ++i)
        made[port->streams[i]] = sambaPortStreamTokens(port, tokens, i);
    }
  for (uint32_t u = 0; u < section->unit_count; ++u)
    for (uint32_t p = 0; p < section->units[u].input_count; ++p) {
      const SambaPort *port = &section->units[u].inputs[p];
      uint64_t tokens = sambaPortTokens(&section->units[u], false, p);
      for (uint32_t i = 0; i < port->stream_count; ++i) {
        uint32_t stream = port->streams[i];
        SambaEndpoint source = section->streams[stream].source;
        End a = {&section->units[source.unit], source.port,
                 &section->units[source.unit].outputs[source.port]};
        End b = {&section->units[u], p, port};
        SAMBA_RETURN_IF_ERROR(compareStreamEnds(section, stream, a, made[stream], b,
                                                sambaPortStreamTokens(port, tokens, i)));
      }
    }
  return NULL;
}

SambaStatus sambaStreamsCheck(const SambaSection *section) {
  Mentions ports = {0}, streams = {0};
  SambaStatus status = checkMentions(section, &ports, &streams);
  sambaArrayFree(&ports);
  sambaArrayFree(&streams);
  if (status)
    return status;
  uint64_t *made = sambaAllocateZeroed(section->stream_count, sizeof *made);
  status = checkEnds(section, made);
  free(made);
  return status;
}
