/* The static check of depths: where paths part and meet again, no path has to hold more tokens than
 * it can.
 *
 * For each unit where streams meet ("join") the first steps are counted exactly. Upstream: how many
 * tokens must each stream have carried before the join's step can happen, and, since a unit's
 * outputs advance together, how many tokens must its other outputs have sent by then. Downstream:
 * how many tokens can each of these streams take while the join still waits: what the join took in
 * earlier steps, one token held at each unit input, the slots of buffers, the FIFOs along the
 * route. A buffer passes nothing on before a slot is whole; that is where the two differ. More
 * forced than takable means a certain deadlock. Everything that is not certain is counted in the
 * section's favour. */
#include "backend/place/verify/place_check.h"

#include "backend/section/access.h"
#include "backend/section/check/section_check.h"
#include "backend/section/pace.h"
#include "backend/section/width.h"

#include <stdlib.h>
#include <string.h>

#define UNBOUNDED SAMBA_PACE_UNBOUNDED
enum { MOST_STEPS = 64 };

typedef struct {
  const SambaSection *section;
  const SambaMachine *machine;
  uint32_t *order, *position; /* units in topological order, and its inverse */
  uint32_t *first_fifo;       /* per stream: index into fifo */
  uint64_t *fifo;             /* per stream and destination: tokens that fit the FIFOs of the way */
  uint32_t *destination_place;           /* as fifo: its place in the destination port's list */
  SambaPace **input_pace, **output_pace; /* per unit, of each port */
  /* Per join, valid where the stamp matches. */
  uint32_t join, *stamp; /* per unit: in the join's cone */
  uint64_t *forced;      /* per stream: tokens that must have been sent */
  uint64_t *room;        /* per stream: tokens that can have been sent */
  uint32_t *reason;      /* per unit: the stream for whose sake it had to advance so far */
  uint32_t *stream_stamp;
  SAMBA_ARRAY(uint32_t) cone;    /* positions in order of the units of the cone */
  SAMBA_ARRAY(uint32_t) streams; /* between them */
} Depths;

static uint64_t divideUp(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* The most tokens the port can have passed while the stream at `place` has got no more than n. */
static uint64_t portTokensAtMost(const SambaPort *port, uint32_t place, uint64_t n) {
  return n >= UNBOUNDED ? UNBOUNDED : sambaPacePortTokens(port, place, n + 1) - 1;
}

static bool isRoot(const SambaUnit *unit) {
  return unit->kind == SAMBA_UNIT_BUFFER && unit->buffer.loop_carried;
}

/* A unit that is left waits for a source that is left. */
static uint32_t waitsFor(const SambaSection *section, const uint32_t *waiting, uint32_t unit) {
  const SambaUnit *u = &section->units[unit];
  for (uint32_t p = 0; p < u->input_count; ++p)
    if (u->inputs[p].stream_count && waiting[section->streams[u->inputs[p].streams[0]].source.unit])
      return section->streams[u->inputs[p].streams[0]].source.unit;
  return unit;
}

static SambaStatus reportCircle(const SambaSection *section, const uint32_t *waiting) {
  uint32_t unit = 0;
  while (!waiting[unit])
    ++unit;
  for (uint32_t i = 0; i < section->unit_count; ++i) /* far enough back to be on the circle */
    unit = waitsFor(section, waiting, unit);
  SambaArena arena = {0};
  char *text = sambaArenaFormat(&arena, "%s", section->units[unit].name);
  uint32_t at = unit, listed = 0;

  do {
    at = waitsFor(section, waiting, at);
    text = sambaArenaFormat(&arena, "%s -> %s", section->units[at].name, text);
  } while (at != unit && ++listed < 16);
  SambaStatus status =
      sambaStatusMake(SAMBA_INVALID, "section @%s: units wait for each other in a circle: %s%s",
                      section->name, at != unit ? "... -> " : "", text);
  sambaStatusNote(status,
                  "make one buffer of the circle loop_carried, so that it starts with tokens");
  sambaArenaDestroy(&arena);

  return status;
}

/* Orders units so that whoever is needed for a unit's first step comes before it. */
static SambaStatus sortUnits(Depths *depths, SambaArena *arena) {
  const SambaSection *section = depths->section;
  uint32_t *waiting = SAMBA_ARENA_ARRAY(arena, uint32_t, section->unit_count);
  uint32_t size = 0;

  for (uint32_t u = 0; u < section->unit_count; ++u) {
    const SambaUnit *unit = &section->units[u];
    for (uint32_t p = 0; p < unit->input_count && !isRoot(unit); ++p)
      waiting[u] += unit->inputs[p].stream_count > 0;
    if (!waiting[u])
      depths->order[size++] = u;
  }

  for (uint32_t head = 0; head < size; ++head) {
    const SambaUnit *unit = &section->units[depths->order[head]];
    depths->position[depths->order[head]] = head;
    for (uint32_t p = 0; p < unit->output_count; ++p)
      for (uint32_t i = 0; i < unit->outputs[p].stream_count; ++i) {
        uint32_t s = unit->outputs[p].streams[i];
        const SambaStream *stream = &section->streams[s];
        for (uint32_t e = 0; e < stream->destination_count; ++e) {
          uint32_t to = stream->destinations[e].unit;
          if (depths->destination_place[depths->first_fifo[s] + e] == 0 &&
              !isRoot(&section->units[to]) && --waiting[to] == 0)
            depths->order[size++] = to;
        }
      }
  }

  return size == section->unit_count ? NULL : reportCircle(section, waiting);
}

/* Hops from the source to each destination of a stream; hops are in depth-first order. */
static void measureStream(Depths *depths, uint32_t s, SambaArena *arena) {
  static const int8_t steps[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
  const SambaStream *stream = &depths->section->streams[s];
  const SambaPort *port = &depths->section->units[stream->source.unit].outputs[stream->source.port];
  uint64_t bytes = sambaPaceMultiply(port->token_elements, sambaDTypeBytes(port->dtype));
  uint64_t vectors =
      divideUp(bytes, sambaStreamVectorBytes(depths->section, stream, depths->machine));
  uint32_t *length = SAMBA_ARENA_ARRAY(arena, uint32_t, stream->hop_count);

  for (uint32_t h = 0, from = 0; h < stream->hop_count; ++h) {
    const SambaHop *hop = &stream->hops[h];
    length[h] = 1;
    if (hop->in.port > SAMBA_SWITCH_WEST)
      continue;
    int32_t x = hop->x + steps[hop->in.port][0];
    int32_t y = hop->y + steps[hop->in.port][1];

    /* The hop that leads here is, in depth-first order, the one before or a little further back. */
    for (from = h; from-- > 0;) {
      const SambaHop *before = &stream->hops[from];
      if (before->x == x && before->y == y && before->out.port == (hop->in.port ^ 2) &&
          before->out.lane == hop->in.lane && before->out.flow == hop->in.flow)
        break;
    }

    if (from != SAMBA_NO_INDEX)
      length[h] = length[from] + 1;
  }

  for (uint32_t e = 0; e < stream->destination_count; ++e) {
    const SambaUnit *unit = &depths->section->units[stream->destinations[e].unit];
    bool is_ag = sambaUnitIsAddressGenerator(unit);
    uint32_t hops = depths->machine->network == SAMBA_NETWORK_IDEAL; /* a wire is one hop */
    for (uint32_t h = 0; h < stream->hop_count; ++h) {
      const SambaHop *hop = &stream->hops[h];
      bool here =
          is_ag ? hop->out.port == SAMBA_SWITCH_AG && hop->out.ag == (uint16_t)unit->load_store.ag
                : hop->out.port == SAMBA_SWITCH_UNIT && hop->x == unit->x && hop->y == unit->y;
      hops = here && length[h] > hops ? length[h] : hops;
    }

    uint64_t room = sambaPaceMultiply((uint64_t)hops + 1, (uint64_t)depths->machine->fifo_depth);
    depths->fifo[depths->first_fifo[s] + e] = vectors ? room / vectors : room;
    const SambaPort *input = &unit->inputs[stream->destinations[e].port];
    for (uint32_t i = 0; i < input->stream_count; ++i)
      if (input->streams[i] == s)
        depths->destination_place[depths->first_fifo[s] + e] = i;
  }
}

/* Where a stream of a unit comes from; NO_INDEX: it comes back through a merge, and is not needed
 * for the first steps. */
static uint32_t sourceBefore(const Depths *depths, uint32_t unit, uint32_t s) {
  uint32_t source = depths->section->streams[s].source.unit;
  return depths->position[source] < depths->position[unit] ? source : SAMBA_NO_INDEX;
}

static int compareDown(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a;
  uint32_t y = *(const uint32_t *)b;
  return x > y ? -1 : x < y;
}

/* Units upstream of a join, and the join itself, as they are found. Loop-carried buffers end the
 * cone: they start full. */
static void addCone(Depths *depths, uint32_t join) {
  depths->cone.size = 0;
  depths->stamp[join] = depths->join;
  sambaArrayAppend(&depths->cone, depths->position[join]);
  for (size_t i = 0; i < depths->cone.size; ++i) {
    uint32_t u = depths->order[depths->cone.data[i]];
    const SambaUnit *unit = &depths->section->units[u];
    for (uint32_t p = 0; p < unit->input_count && !isRoot(unit); ++p)
      for (uint32_t k = 0; k < unit->inputs[p].stream_count; ++k) {
        uint32_t source = sourceBefore(depths, u, unit->inputs[p].streams[k]);
        if (source == SAMBA_NO_INDEX || depths->stamp[source] == depths->join)
          continue;
        depths->stamp[source] = depths->join;
        sambaArrayAppend(&depths->cone, depths->position[source]);
      }
  }
}

/* The units upstream of a join, last first, and the streams between them. */
static void collectCone(Depths *depths, uint32_t join) {
  ++depths->join;
  addCone(depths, join);
  qsort(depths->cone.data, depths->cone.size, sizeof *depths->cone.data, compareDown);

  depths->streams.size = 0;
  for (size_t i = 0; i < depths->cone.size; ++i) {
    uint32_t u = depths->order[depths->cone.data[i]];
    const SambaUnit *unit = &depths->section->units[u];
    for (uint32_t p = 0; p < unit->input_count && !isRoot(unit); ++p)
      for (uint32_t k = 0; k < unit->inputs[p].stream_count; ++k) {
        uint32_t s = unit->inputs[p].streams[k];
        if (depths->stream_stamp[s] == depths->join || sourceBefore(depths, u, s) == SAMBA_NO_INDEX)
          continue;
        depths->stream_stamp[s] = depths->join;
        sambaArrayAppend(&depths->streams, s);
      }
  }
}

/* Nothing is known yet of a step of the join. */
static void startStep(Depths *depths) {
  for (size_t i = 0; i < depths->cone.size; ++i)
    depths->reason[depths->order[depths->cone.data[i]]] = SAMBA_NO_INDEX;
  for (size_t i = 0; i < depths->streams.size; ++i) {
    depths->forced[depths->streams.data[i]] = 0;
    depths->room[depths->streams.data[i]] = UNBOUNDED;
  }
}

/* Demands that `steps` steps of a unit make on its inputs. */
static void demandInputs(Depths *depths, uint32_t u, uint64_t steps) {
  const SambaUnit *unit = &depths->section->units[u];
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    uint64_t tokens = sambaPaceTokensTaken(depths->input_pace[u][p], steps);
    for (uint32_t i = 0; i < port->stream_count; ++i) {
      uint32_t s = port->streams[i];
      uint64_t share = sambaPortStreamTokens(port, tokens, i);
      if (depths->stream_stamp[s] == depths->join && share > depths->forced[s])
        depths->forced[s] = share;
    }
  }
}

/* What the advance of a unit forces upon all its outputs. */
static void forceOutputs(Depths *depths, uint32_t u, uint64_t steps) {
  const SambaUnit *unit = &depths->section->units[u];
  if (unit->kind == SAMBA_UNIT_BUFFER) /* ports are apart, but for slots that are used again */
    steps = steps > unit->buffer.slot_count ? steps - unit->buffer.slot_count : 0;

  for (uint32_t p = 0; p < unit->output_count; ++p) {
    const SambaPort *port = &unit->outputs[p];
    SambaPace pace = depths->output_pace[u][p];
    uint64_t tokens = sambaPaceMultiply(steps / pace.steps_per_token, pace.tokens_per_step);
    for (uint32_t i = 0; i < port->stream_count; ++i) {
      uint32_t s = port->streams[i];
      uint64_t share = sambaPortStreamTokens(port, tokens, i);
      if (depths->stream_stamp[s] == depths->join && share > depths->forced[s])
        depths->forced[s] = share;
    }
  }
}

/* Steps that a unit must have made for the tokens its streams of the cone must have carried. */
static uint64_t stepsForced(Depths *depths, uint32_t u) {
  const SambaUnit *unit = &depths->section->units[u];
  uint64_t most = 0;

  for (uint32_t p = 0; p < unit->output_count; ++p)
    for (uint32_t i = 0; i < unit->outputs[p].stream_count; ++i) {
      uint32_t s = unit->outputs[p].streams[i];
      if (depths->stream_stamp[s] != depths->join)
        continue;
      uint64_t steps = sambaPaceStepsNeeded(
          depths->output_pace[u][p], sambaPacePortTokens(&unit->outputs[p], i, depths->forced[s]));
      if (steps > most) {
        most = steps;
        depths->reason[u] = s;
      }
    }
  return most;
}

/* Room of the input streams of a unit that can make at most `steps` steps and holds `spare` tokens
 * more per input. */
static void limitInputs(Depths *depths, uint32_t u, uint64_t steps, bool whole) {
  const SambaUnit *unit = &depths->section->units[u];
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    uint64_t tokens =
        sambaPaceAdd(sambaPaceTokensTaken(depths->input_pace[u][p], steps), whole ? 0 : 1);
    for (uint32_t i = 0; i < port->stream_count; ++i) {
      uint32_t s = port->streams[i];
      if (depths->stream_stamp[s] != depths->join)
        continue;
      const SambaStream *stream = &depths->section->streams[s];
      for (uint32_t e = 0; e < stream->destination_count; ++e)
        if (stream->destinations[e].unit == u && stream->destinations[e].port == p) {
          uint64_t room = steps >= UNBOUNDED
                              ? UNBOUNDED
                              : sambaPaceAdd(sambaPortStreamTokens(port, tokens, i),
                                             depths->fifo[depths->first_fifo[s] + e]);
          depths->room[s] = room < depths->room[s] ? room : depths->room[s];
        }
    }
  }
}

/* Steps that a unit of the cone can make while the join waits. */
static uint64_t stepsPossible(const Depths *depths, uint32_t u) {
  const SambaUnit *unit = &depths->section->units[u];
  uint64_t least = UNBOUNDED;

  for (uint32_t p = 0; p < unit->output_count; ++p) {
    const SambaPort *port = &unit->outputs[p];
    SambaPace pace = depths->output_pace[u][p];
    for (uint32_t i = 0; i < port->stream_count; ++i) {
      if (depths->stream_stamp[port->streams[i]] != depths->join)
        continue;
      uint64_t tokens = portTokensAtMost(port, i, depths->room[port->streams[i]]);
      /* A slot that is being read is not free, unless it is used again in place; what is computed
       * beyond the last token sent waits at the output. */
      uint64_t steps = tokens / pace.tokens_per_step;
      if (unit->kind != SAMBA_UNIT_BUFFER)
        steps = sambaPaceMultiply(sambaPaceAdd(tokens, 1), pace.steps_per_token);
      else if (unit->buffer.in_place)
        steps = divideUp(tokens, pace.tokens_per_step);
      least = steps < least ? steps : least;
    }
  }

  if (unit->kind == SAMBA_UNIT_BUFFER)
    least = sambaPaceAdd(least, unit->buffer.slot_count);
  return least;
}

static SambaStatus reportShallow(const Depths *depths, uint32_t join, uint32_t s) {
  const SambaSection *section = depths->section;
  const SambaStream *stream = &section->streams[s];
  uint32_t destination = stream->destination_count ? stream->destinations[0].unit : join;

  for (uint32_t e = 0; e < stream->destination_count; ++e)
    if (depths->stamp[stream->destinations[e].unit] == depths->join)
      destination = stream->destinations[e].unit;
  const char *source = section->units[stream->source.unit].name;
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID,
      "section @%s: before %s can work, the stream %s -> %s has to hold %llu tokens, but it can "
      "hold only %llu",
      section->name, section->units[join].name, source, section->units[destination].name,
      (unsigned long long)depths->forced[s], (unsigned long long)depths->room[s]);
  uint32_t reason = depths->reason[stream->source.unit];
  if (reason != SAMBA_NO_INDEX && reason != s && section->streams[reason].destination_count)
    sambaStatusNote(
        status,
        "%s has to send that many because %s, which is also upstream of %s, needs them first",
        source, section->units[section->streams[reason].destinations[0].unit].name,
        section->units[join].name);
  sambaStatusNote(status, "put a buffer of enough slots on the path of %s -> %s", source,
                  section->units[destination].name);
  return status;
}

/* One step of the join whose cone is collected. */
static SambaStatus checkStep(Depths *depths, uint32_t join, uint64_t step) {
  const SambaSection *section = depths->section;
  const SambaUnit *unit = &section->units[join];

  startStep(depths);
  demandInputs(depths, join, step);
  bool buffer = unit->kind == SAMBA_UNIT_BUFFER;
  uint64_t ahead = 0;
  if (buffer) /* nobody waits for what nobody reads */
    ahead = unit->output_count ? unit->buffer.slot_count : UNBOUNDED;
  limitInputs(depths, join, sambaPaceAdd(step - 1, ahead), buffer);

  for (size_t i = 1; i < depths->cone.size; ++i) {
    uint32_t u = depths->order[depths->cone.data[i]];
    uint64_t steps = stepsForced(depths, u);
    forceOutputs(depths, u, steps);
    if (isRoot(&section->units[u]))
      continue;
    demandInputs(depths, u, steps);
    limitInputs(depths, u, stepsPossible(depths, u), section->units[u].kind == SAMBA_UNIT_BUFFER);
  }

  for (size_t i = 0; i < depths->streams.size; ++i) {
    uint32_t s = depths->streams.data[i];
    if (depths->forced[s] > depths->room[s])
      return reportShallow(depths, join, s);
  }

  return NULL;
}

/* Steps worth looking at: one round over the streams of merging ports. */
static uint64_t stepsToCheck(const Depths *depths, uint32_t u, uint32_t *out_streams) {
  const SambaUnit *unit = &depths->section->units[u];
  uint64_t steps = 1;
  *out_streams = 0;
  for (uint32_t p = 0; p < unit->input_count; ++p) {
    const SambaPort *port = &unit->inputs[p];
    *out_streams += port->stream_count;
    if (port->stream_count > 1) {
      uint64_t round = sambaPaceStepsNeeded(
          depths->input_pace[u][p],
          sambaPaceMultiply(port->stream_count, port->block ? port->block : 1));
      steps = round > steps ? round : steps;
    }
  }
  return steps < MOST_STEPS ? steps : MOST_STEPS;
}

static SambaPace *pacesOf(const SambaUnit *unit, const SambaPort *ports, uint32_t count,
                          SambaArena *arena) {
  SambaPace *paces = SAMBA_ARENA_ARRAY(arena, SambaPace, count);
  for (uint32_t p = 0; p < count; ++p)
    paces[p] = sambaPaceOf(unit, &ports[p]);
  return paces;
}

static SambaStatus checkDepths(Depths *depths, SambaArena *arena) {
  const SambaSection *section = depths->section;
  uint32_t units = section->unit_count;
  uint32_t streams = section->stream_count;
  uint32_t ends = 0;

  depths->first_fifo = SAMBA_ARENA_ARRAY(arena, uint32_t, streams);
  for (uint32_t s = 0; s < streams; ++s) {
    depths->first_fifo[s] = ends;
    ends += section->streams[s].destination_count;
  }

  depths->fifo = SAMBA_ARENA_ARRAY(arena, uint64_t, ends);
  depths->destination_place = SAMBA_ARENA_ARRAY(arena, uint32_t, ends);
  depths->order = SAMBA_ARENA_ARRAY(arena, uint32_t, units);
  depths->position = SAMBA_ARENA_ARRAY(arena, uint32_t, units);
  depths->stamp = SAMBA_ARENA_ARRAY(arena, uint32_t, units);
  depths->reason = SAMBA_ARENA_ARRAY(arena, uint32_t, units);
  depths->forced = SAMBA_ARENA_ARRAY(arena, uint64_t, streams);
  depths->room = SAMBA_ARENA_ARRAY(arena, uint64_t, streams);
  depths->stream_stamp = SAMBA_ARENA_ARRAY(arena, uint32_t, streams);
  for (uint32_t s = 0; s < streams; ++s)
    measureStream(depths, s, arena);
  depths->input_pace = SAMBA_ARENA_ARRAY(arena, SambaPace *, units);
  depths->output_pace = SAMBA_ARENA_ARRAY(arena, SambaPace *, units);
  for (uint32_t u = 0; u < units; ++u) {
    const SambaUnit *unit = &section->units[u];
    depths->input_pace[u] = pacesOf(unit, unit->inputs, unit->input_count, arena);
    depths->output_pace[u] = pacesOf(unit, unit->outputs, unit->output_count, arena);
  }
  SAMBA_RETURN_IF_ERROR(sortUnits(depths, arena));

  for (uint32_t u = 0; u < units; ++u) {
    uint32_t inputs;
    uint64_t steps = stepsToCheck(depths, u, &inputs);
    if (inputs > 1)
      collectCone(depths, u);
    for (uint64_t step = 1; inputs > 1 && step <= steps; ++step)
      SAMBA_RETURN_IF_ERROR(checkStep(depths, u, step));
  }

  return NULL;
}

SambaStatus sambaSectionCheckDepths(const SambaSection *section, const SambaMachine *machine) {
  SambaArena arena = {0};
  Depths depths = {.section = section, .machine = machine};
  SambaStatus status = checkDepths(&depths, &arena);
  sambaArrayFree(&depths.cone);
  sambaArrayFree(&depths.streams);
  sambaArenaDestroy(&arena);
  return status;
}

SambaStatus sambaSectionCheckStatic(const SambaSection *section, const SambaMachine *machine) {
  SAMBA_RETURN_IF_ERROR(sambaSectionCheck(section));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckDepths(section, machine));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckTurns(section, machine));
  SAMBA_RETURN_IF_ERROR(sambaSectionCheckDeals(section, machine));
  return sambaSectionCheckChannels(section, machine);
}
