/* What a firing needs of other units; see order_needs.h. */
#include "backend/section/check/order_needs.h"

#include "backend/section/access.h"
#include "backend/section/gathering.h"
#include "backend/section/pace.h"

#include <stdlib.h>

/* Ports that are looked at while one run of elements is followed, at most. */
enum { MOST_PORTS = 1 << 12 };

/* Input number `n` of the unit, its ports' streams counted one after the other: where it comes
 * from; SAMBA_NO_INDEX behind the last. */
static uint32_t sourceOf(const SambaSection *section, const SambaUnit *unit, uint32_t n) {
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    if (n < unit->inputs[p].stream_count)
      return section->streams[unit->inputs[p].streams[n]].source.unit;
    n -= unit->inputs[p].stream_count;
  }
  return SAMBA_NO_INDEX;
}

/* Units in the order in which a depth-first walk against the streams leaves them, from the end. */
static void visit(SambaNeeds *needs, uint32_t unit) {
  typedef struct {
    uint32_t unit, next;
  } Open;
  SAMBA_ARRAY(Open) open = {0};
  needs->seen[unit] = 1;
  sambaArrayAppend(&open, ((Open){unit, 0}));

  while (open.size) {
    Open *top = &open.data[open.size - 1];
    uint32_t source = sourceOf(needs->section, &needs->section->units[top->unit], top->next++);
    if (source == SAMBA_NO_INDEX) {
      needs->units[--needs->count] = top->unit;
      --open.size;
    } else if (!needs->seen[source]) {
      needs->seen[source] = 1;
      sambaArrayAppend(&open, ((Open){source, 0}));
    }
  }
  sambaArrayFree(&open);
}

SambaNeeds sambaNeedsOf(const SambaSection *section, uint32_t unit, SambaArena *arena) {
  uint32_t count = section->unit_count;
  SambaNeeds needs = {.section = section,
                      .units = SAMBA_ARENA_ARRAY(arena, uint32_t, count),
                      .count = count,
                      .of = SAMBA_ARENA_ARRAY(arena, SambaNeed, count),
                      .seen = SAMBA_ARENA_ARRAY(arena, uint8_t, count)};
  visit(&needs, unit);
  needs.units += needs.count;
  needs.count = count - needs.count;
  return needs;
}

static uint32_t placeOf(const SambaPort *port, uint32_t stream) {
  for (uint32_t s = 0; s < port->stream_count; ++s)
    if (port->streams[s] == stream)
      return s;
  return 0;
}

static bool isReduced(const SambaUnit *unit, const SambaPort *port) {
  uint64_t reduced = unit->compute.program.reduce_mask;
  for (uint32_t c = port->compute.level; c < unit->compute.token_level; ++c)
    if (unit->compute.trips[c] > 1 && !(reduced >> c & 1))
      return false;
  return true;
}

/* Steps of the source that have begun when the first vector of its port's n-th token leaves it. */
static uint64_t stepsBegun(const SambaUnit *source, const SambaPort *output, uint64_t n) {
  SambaPace pace = sambaPaceOf(source, output);
  if (n && source->kind == SAMBA_UNIT_COMPUTE && !isReduced(source, output))
    return sambaPaceAdd(sambaPaceStepsNeeded(pace, n - 1), 1);
  return sambaPaceStepsNeeded(pace, n);
}

/* What follows for a stream's source: `begun` tokens of it have begun to arrive, `ended` are there.
 */
static void needStream(SambaNeeds *needs, uint32_t index, uint64_t begun, uint64_t ended) {
  const SambaStream *stream = &needs->section->streams[index];
  const SambaUnit *source = &needs->section->units[stream->source.unit];
  const SambaPort *output = &source->outputs[stream->source.port];
  SambaNeed *need = &needs->of[stream->source.unit];
  uint32_t place = placeOf(output, index);
  if (stream->kind == SAMBA_STREAM_CONTROL)
    ended = begun;

  uint64_t first = stepsBegun(source, output, sambaPacePortTokens(output, place, begun));
  uint64_t last =
      sambaPaceStepsNeeded(sambaPaceOf(source, output), sambaPacePortTokens(output, place, ended));
  need->begun = first > need->begun ? first : need->begun;
  need->begun = last > need->begun ? last : need->begun;
  need->ended = last > need->ended ? last : need->ended;
}

/* What the sources of a unit's inputs must have done for what it must have done itself. */
static void needInputs(SambaNeeds *needs, uint32_t index) {
  const SambaUnit *unit = &needs->section->units[index];
  SambaNeed *need = &needs->of[index];
  const bool buffer = unit->kind == SAMBA_UNIT_BUFFER;
  uint64_t steps = need->begun;
  if (need->ended + 1 < steps) /* steps come one after the other */
    need->ended = steps - 1;
  if (buffer && unit->buffer.loop_carried) /* starts with full slots */
    steps -= steps < unit->buffer.slot_count ? steps : unit->buffer.slot_count;

  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    SambaPace pace = sambaPaceOf(unit, port);
    uint64_t begun = sambaPaceTokensTaken(pace, steps);
    uint64_t ended = buffer ? begun : need->ended / pace.steps_per_token;
    if (ended + 1 < begun)
      ended = begun - 1;
    for (uint32_t s = 0; s < port->stream_count; ++s)
      needStream(needs, port->streams[s], sambaPortStreamTokens(port, begun, s),
                 sambaPortStreamTokens(port, ended, s));
  }
}

SambaNeed sambaNeedOf(SambaNeeds *needs, uint64_t step, uint32_t unit) {
  if (!needs->seen[unit])
    return (SambaNeed){0};
  for (uint32_t i = 0; i < needs->count; ++i)
    needs->of[needs->units[i]] = (SambaNeed){0};
  needs->of[needs->units[0]].begun = step;
  for (uint32_t i = 0; i < needs->count; ++i)
    needInputs(needs, needs->units[i]);
  return needs->of[unit];
}

/* Marks the units that `target` is before, and `target`, with 2. */
static void markWays(SambaNeeds *needs, uint32_t target) {
  needs->seen[target] = 2;
  for (bool more = true; more;) {
    more = false; /* one walk finds all but for circles */
    for (uint32_t i = needs->count; i-- > 0;) {
      uint32_t unit = needs->units[i], source;
      for (uint32_t n = 0; needs->seen[unit] == 1; ++n) {
        source = sourceOf(needs->section, &needs->section->units[unit], n);
        if (source == SAMBA_NO_INDEX)
          break;
        more |= needs->seen[source] == 2;
        needs->seen[unit] = needs->seen[source];
      }
    }
  }
}

/* Whether one way from a port's stream to its source advances by whole tokens, turns of ports and
 * slots, and as on all other ways to that unit. */
static bool streamAdvancesEvenly(SambaNeeds *needs, uint32_t index, uint64_t sent) {
  const SambaStream *stream = &needs->section->streams[index];
  const SambaUnit *source = &needs->section->units[stream->source.unit];
  const SambaPort *output = &source->outputs[stream->source.port];
  SambaPace making = sambaPaceOf(source, output);
  uint64_t made = sambaPaceMultiply(sent, output->stream_count);
  uint64_t advance = sambaPaceStepsNeeded(making, made);
  uint64_t *known = &needs->of[stream->source.unit].begun;
  if (!sent || sent % (output->block ? output->block : 1) || made % making.tokens_per_step ||
      advance >= SAMBA_PACE_UNBOUNDED || (*known && *known != advance))
    return false;
  *known = advance;
  return true;
}

bool sambaNeedsAdvanceEvenly(SambaNeeds *needs, uint64_t steps, uint32_t target,
                             uint64_t *out_advance) {
  *out_advance = 0;
  if (!needs->seen[target])
    return true;
  markWays(needs, target);
  for (uint32_t i = 0; i < needs->count; ++i)
    needs->of[needs->units[i]] = (SambaNeed){0};
  needs->of[needs->units[0]].begun = steps;

  for (uint32_t i = 0; i < needs->count; ++i) {
    const SambaUnit *unit = &needs->section->units[needs->units[i]];
    uint64_t own = needs->of[needs->units[i]].begun;
    if (needs->seen[needs->units[i]] != 2 || needs->units[i] == target)
      continue;
    if (unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.loop_carried)
      return false;
    for (uint32_t p = 0; p < unit->input_count; ++p) {
      const SambaPort *port = &unit->inputs[p];
      SambaPace taking = sambaPaceOf(unit, port);
      uint64_t tokens = sambaPaceTokensTaken(taking, own);
      uint64_t turn = sambaPaceMultiply(port->block ? port->block : 1, port->stream_count);
      for (uint32_t s = 0; s < port->stream_count; ++s) {
        if (needs->seen[needs->section->streams[port->streams[s]].source.unit] != 2)
          continue;
        if (own % taking.steps_per_token || tokens % turn ||
            !streamAdvancesEvenly(needs, port->streams[s], tokens / port->stream_count))
          return false;
      }
    }
  }
  *out_advance = needs->of[target].begun;
  return true;
}

/*===-- Element by element --------------------------------------------------------------------===*/

/* A run of the elements that pass a port or a stream, counted from the first of the call. */
typedef struct Run {
  uint64_t first, count;
} Run;

/* Elements that pass between two changes of a port to its next stream. */
static uint64_t elementsOfTurn(const SambaPort *port) {
  return port->token_elements * (port->block ? port->block : 1);
}

/* One stream, or one turn of a port, passes the whole run. */
static bool passesInOneTurn(const SambaPort *port, const Run *run) {
  uint64_t elements = elementsOfTurn(port);
  return port->stream_count == 1 ||
         (run->first + run->count - 1) / elements == run->first / elements;
}

/* The stream that takes the run to the port, and the run's place among the stream's elements. */
static uint32_t runOfStream(const SambaPort *port, Run *run) {
  uint64_t elements = elementsOfTurn(port), turn = run->first / elements;
  run->first = turn / port->stream_count * elements + run->first % elements;
  return (uint32_t)(turn % port->stream_count);
}

/* The same the other way round, at the port that deals tokens to the stream at `place`. */
static void runOfPort(const SambaPort *port, uint32_t place, Run *run) {
  uint64_t elements = elementsOfTurn(port), turn = run->first / elements;
  run->first = (turn * port->stream_count + place) * elements + run->first % elements;
}

/* Both ports of a PCU pass an element at the same points of its counters: the element that comes
 * out is made of the one that goes in. */
static bool passAlike(const SambaUnit *unit, const SambaPort *input, const SambaPort *output) {
  const SambaComputePort *in = &input->compute, *out = &output->compute;
  if (in->level != out->level || input->token_elements != output->token_elements)
    return false;
  for (uint32_t c = in->level; c < unit->compute.counter_count; ++c)
    if (unit->compute.trips[c] > 1 && !in->strides[c] != !out->strides[c])
      return false;
  return true;
}

/* ports: those that may still be looked at. */
static bool followRun(const SambaSection *section, const SambaPort *input, Run run, uint32_t load,
                      uint32_t *ports, uint64_t *out_first) {
  if (!*ports || !input->token_elements || !passesInOneTurn(input, &run))
    return false;
  --*ports;
  uint32_t index = input->streams[runOfStream(input, &run)];
  SambaEndpoint from = section->streams[index].source;
  const SambaUnit *source = &section->units[from.unit];
  const SambaPort *output = &source->outputs[from.port];
  if (output->token_elements != input->token_elements || !passesInOneTurn(output, &run))
    return false;
  runOfPort(output, placeOf(output, index), &run);

  if (from.unit == load) {
    *out_first = run.first;
    return true;
  }
  if (from.port == 0 && sambaUnitGathers(section, source)) /* the same elements in the same order */
    return followRun(section, &source->inputs[0], run, load, ports, out_first);
  for (uint32_t p = 0; p < source->input_count && source->kind == SAMBA_UNIT_COMPUTE; ++p)
    if (passAlike(source, &source->inputs[p], output) &&
        followRun(section, &source->inputs[p], run, load, ports, out_first))
      return true;
  return false;
}

bool sambaNeedsFollow(const SambaSection *section, uint32_t store, uint64_t first, uint64_t count,
                      uint32_t load, uint64_t *out_first) {
  uint32_t ports = MOST_PORTS;
  return followRun(section, &section->units[store].inputs[0], (Run){first, count}, load, &ports,
                   out_first);
}
