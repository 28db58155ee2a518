/* Splitting lane programs; see split_programs.h. For each unit: order the operations (what feeds the reduction first),
 * cut them greedily into parts, each as long as stages, tail, ports and registers allow, then make one unit per part.
 */
#include "backend/map/split_programs.h"

#include "backend/config/access.h"
#include "backend/map/estimate.h"
#include "support/string_map.h"

#include <stdlib.h>
#include <string.h>

typedef struct Part {
  uint32_t first, end;    /* of the ordered operations */
  bool systolic, reduced; /* reduced: runs after the reduction, on the parallel counters */
} Part;

typedef struct Split {
  const SambaUnit *unit;
  const SambaMachine *machine;
  SambaArena *arena;
  uint32_t values;  /* ordered operations */
  uint32_t *order;  /* operation indices */
  uint32_t feeding; /* the first of them feed the reduction or are it (all when there is none) */
  bool has_reduction;
  uint32_t *last_use; /* per value: position in order of the last operation that uses it; UINT32_MAX - 1: the end */
  uint32_t *made_at;  /* per value: position of its operation; 0 for inputs */
  SAMBA_ARRAY(Part) parts;
} Split;

enum { unused = UINT32_MAX, atEnd = UINT32_MAX - 1 };

static char classAt(const Split *s, uint32_t position) {
  return sambaLaneOpClass(s->unit->program.ops[s->order[position]].opcode);
}
static bool isSource(const Split *s, uint32_t value) {
  return value >= s->unit->input_count &&
         sambaLaneOpClass(s->unit->program.ops[value - s->unit->input_count].opcode) == 'V';
}

static void markFeeding(const Split *s, uint32_t op, bool *feeds) {
  if (feeds[op])
    return;
  feeds[op] = true;
  const SambaLaneOp *lane = &s->unit->program.ops[op];
  for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
    if (lane->operands[i] >= s->unit->input_count)
      markFeeding(s, lane->operands[i] - s->unit->input_count, feeds);
}

/* Operations in program order, those that feed the reduction first; value sources are left out, they come where used.
 */
static void orderOperations(Split *s) {
  const SambaProgram *program = &s->unit->program;
  bool *feeds = sambaAllocateZeroed(program->op_count, sizeof *feeds);
  for (uint32_t i = 0; i < program->op_count; ++i)
    if (sambaLaneOpClass(program->ops[i].opcode) == 'R') {
      markFeeding(s, i, feeds);
      s->has_reduction = true;
    }
  uint32_t count = 0;
  for (int pass = s->has_reduction ? 0 : 1; pass < 2; ++pass) {
    for (uint32_t i = 0; i < program->op_count; ++i)
      if (sambaLaneOpClass(program->ops[i].opcode) != 'V' && (!s->has_reduction || feeds[i] == (pass == 0)))
        s->order[count++] = i;
    if (pass == 0)
      s->feeding = count;
  }
  if (!s->has_reduction)
    s->feeding = count;
  s->values = count;
  free(feeds);
  uint32_t all = s->unit->input_count + program->op_count;
  for (uint32_t v = 0; v < all; ++v)
    s->last_use[v] = unused;
  for (uint32_t p = 0; p < count; ++p) {
    const SambaLaneOp *lane = &program->ops[s->order[p]];
    s->made_at[s->unit->input_count + s->order[p]] = p;
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      s->last_use[lane->operands[i]] = p;
  }
  for (uint32_t i = 0; i < s->unit->output_count; ++i)
    s->last_use[s->unit->outputs[i].value] = atEnd;
}

/* Whether an input is taken by each part that uses it (held or broadcast, so it costs little) instead of passed on. */
static bool isShared(const Split *s, uint32_t input) {
  const SambaPort *port = &s->unit->inputs[input];
  if (sambaTripProduct(s->unit->trips, port->level, s->unit->token_level) > 1)
    return true;
  for (uint32_t c = s->unit->token_level; c < s->unit->counter_count; ++c)
    if (!port->strides[c] && s->unit->trips[c] > 1)
      return true;
  return false;
}

static bool usesValue(const Split *s, uint32_t first, uint32_t end, uint32_t value) {
  for (uint32_t p = first; p < end; ++p) {
    const SambaLaneOp *lane = &s->unit->program.ops[s->order[p]];
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      if (lane->operands[i] == value)
        return true;
  }
  return false;
}

/* A value that exists before `position` and is needed at or after it, and must come on a stream. An input counts as
 * existing once an earlier part has taken it. */
static bool isLive(const Split *s, uint32_t value, uint32_t position) {
  if (isSource(s, value) || s->last_use[value] == unused ||
      (s->last_use[value] != atEnd && s->last_use[value] < position))
    return false;
  if (value >= s->unit->input_count)
    return s->made_at[value] < position;
  return !isShared(s, value) && usesValue(s, 0, position, value);
}

/* The value is an input that a part [first, end) takes itself. */
static bool isTaken(const Split *s, uint32_t value, uint32_t first, uint32_t end) {
  bool used = usesValue(s, first, end, value) ||
              (end == s->values && s->last_use[value] == atEnd && value < s->unit->input_count);
  return value < s->unit->input_count && used && !isLive(s, value, first);
}

/* Values that move between parts at this position. */
static uint32_t countLive(const Split *s, uint32_t position) {
  uint32_t count = 0, all = s->unit->input_count + s->unit->program.op_count;
  for (uint32_t v = 0; v < all; ++v)
    count += isLive(s, v, position);
  return count;
}

static uint32_t countInputs(const Split *s, uint32_t first, uint32_t end) {
  uint32_t count = first ? countLive(s, first) : 0;
  for (uint32_t v = 0; v < s->unit->input_count; ++v)
    count += isTaken(s, v, first, end);
  return count;
}

/* How far a part that starts here can go by stages and tail alone. */
static uint32_t reachOf(const Split *s, uint32_t first, bool systolic) {
  uint32_t stages = 0, position = first, limit = (uint32_t)s->machine->simd_stages;
  bool tail = false, transcendental = false;
  for (; position < s->values; ++position) {
    char kind = classAt(s, position);
    if (systolic && position == first)
      continue;     /* the mac */
    if (systolic) { /* in the array's PCU only what works on the mac's result */
      const SambaLaneOp *lane = &s->unit->program.ops[s->order[position]];
      uint32_t before = s->unit->input_count + s->order[position - 1];
      bool follows = false;
      for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
        follows |= lane->operands[i] == before;
      if (!follows || sambaLaneOpOperands(lane->opcode) != 1)
        break;
      tail = true;
    }
    if (kind == 'T') {
      if (transcendental)
        break;
      tail = transcendental = true;
    } else if (kind == 'C') {
      if (!tail && stages < limit)
        ++stages;
      else
        tail = true;
    } else {
      if (tail || stages == limit)
        break;
      ++stages;
    }
  }
  return position;
}

static SambaStatus cutParts(Split *s) {
  uint32_t all = s->unit->input_count + s->unit->program.op_count;
  for (uint32_t first = 0; first < s->values || (first == 0 && s->parts.size == 0);) {
    bool systolic = s->unit->program.systolic && first == 0, reduced = s->has_reduction && first >= s->feeding;
    uint32_t end = reachOf(s, first, systolic);
    /* Operations on both sides of the reduction share a part only when all of them fit one. */
    if (s->has_reduction && first < s->feeding && end > s->feeding && (end < s->values || first > 0) && !systolic)
      end = s->feeding;
    if (end == s->values && first == 0 && s->values == 0) {
      sambaArrayAppend(&s->parts, (Part){0, 0, systolic, reduced});
      break;
    }
    for (; end > first; --end) {
      uint32_t outputs = end == s->values ? s->unit->output_count : countLive(s, end);
      uint32_t live = 0;
      for (uint32_t p = first; p < end && live <= (uint32_t)s->machine->simd_registers; ++p) {
        live = 0;
        for (uint32_t v = 0; v < all; ++v)
          live += isLive(s, v, p) || isTaken(s, v, p, end);
      }
      if (outputs <= (uint32_t)s->machine->unit_vector_outputs && live <= (uint32_t)s->machine->simd_registers &&
          countInputs(s, first, end) <= (uint32_t)s->machine->unit_vector_inputs)
        break;
    }
    if (end == first)
      return sambaStatusMake(
          SAMBA_EXHAUSTED,
          "unit %s: its program of %u operations cannot be cut into parts with at most %lld vector inputs, %lld "
          "vector outputs and %lld registers of %s (it needs %u inputs and %u outputs at operation %u)",
          s->unit->name, s->unit->program.op_count, (long long)s->machine->unit_vector_inputs,
          (long long)s->machine->unit_vector_outputs, (long long)s->machine->simd_registers, s->machine->name,
          countInputs(s, first, first + 1), countLive(s, first + 1), s->order[first]);
    sambaArrayAppend(&s->parts, (Part){first, end, systolic, reduced});
    first = end;
  }
  return NULL;
}

/* --- Making units
 * ------------------------------------------------------------------------------------------------------ */

typedef struct Output { /* the new section while it grows */
  SambaArena *arena;
  SAMBA_ARRAY(SambaUnit) units;
  SAMBA_ARRAY(SambaStream) streams;  /* between parts: endpoints already in new numbers */
  SAMBA_ARRAY(SambaEndpoint) takers; /* new ports of each old input port, in runs */
  uint32_t *taker_first;             /* per old unit: offset into `runs` */
  SAMBA_ARRAY(uint32_t) runs;        /* per old input port: first taker; one more at the end */
  uint32_t *last_part;               /* per old unit: the new unit that has its outputs */
} Output;

static SambaDType valueDType(const Split *s, uint32_t value) {
  if (value < s->unit->input_count)
    return sambaProgramInputType(s->unit->inputs[value].dtype);
  return sambaLaneOpResultType(&s->unit->program.ops[value - s->unit->input_count]);
}

/* The chain of a part: which old counters it keeps. */
typedef struct PartChain {
  uint32_t count, token_level;
  uint32_t *old; /* old counter of each */
} PartChain;

static PartChain chainOf(const Split *s, const Part *part) {
  PartChain chain = {0, 0, SAMBA_ARENA_ARRAY(s->arena, uint32_t, s->unit->counter_count)};
  for (uint32_t c = 0; c < s->unit->counter_count; ++c) {
    if (part->reduced && s->unit->program.reduce_mask >> c & 1)
      continue;
    chain.old[chain.count++] = c;
    chain.token_level += c < s->unit->token_level;
  }
  return chain;
}

static void copyPort(const Split *s, const PartChain *chain, const SambaPort *from, SambaPort *to) {
  *to = *from;
  int64_t *strides = SAMBA_ARENA_ARRAY(s->arena, int64_t, chain->count);
  to->level = 0;
  for (uint32_t c = 0; c < chain->count; ++c) {
    strides[c] = from->strides[chain->old[c]];
    to->level += chain->old[c] < from->level && chain->old[c] < s->unit->token_level;
  }
  to->strides = strides;
}

/* A port for a value that moves between parts: all points of the part's tokens, row-major over its inner counters. */
static void densePort(const Split *s, const PartChain *chain, bool reduced, uint32_t value, SambaPort *to) {
  memset(to, 0, sizeof *to);
  to->dtype = valueDType(s, value);
  to->block = 1;
  to->access.replay = 1;
  int64_t *strides = SAMBA_ARENA_ARRAY(s->arena, int64_t, chain->count);
  to->token_elements = 1;
  for (uint32_t c = chain->count; c-- > chain->token_level;) {
    if (reduced && s->unit->program.reduce_mask >> chain->old[c] & 1)
      continue;
    strides[c] = (int64_t)to->token_elements;
    to->token_elements *= s->unit->trips[chain->old[c]];
  }
  for (uint32_t c = 0; c < chain->token_level; ++c)
    to->level += !(reduced && s->unit->program.reduce_mask >> chain->old[c] & 1);
  to->strides = strides;
}

/* Appends the part's program; value_of maps old values to the part's, and already has the inputs. */
static void makeProgram(const Split *s, const Part *part, const PartChain *chain, uint32_t inputs, uint32_t *value_of,
                        SambaUnit *unit) {
  const SambaProgram *program = &s->unit->program;
  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(s->arena, SambaLaneOp, program->op_count);
  uint32_t count = 0;
  bool *made = sambaAllocateZeroed(program->op_count, sizeof *made);
  for (uint32_t p = part->first; p < part->end; ++p) {
    const SambaLaneOp *lane = &program->ops[s->order[p]];
    SambaLaneOp op = *lane;
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i) {
      uint32_t value = lane->operands[i];
      if (isSource(s, value) && !made[value - s->unit->input_count]) {
        made[value - s->unit->input_count] = true;
        ops[count] = program->ops[value - s->unit->input_count];
        for (uint32_t c = 0; ops[count].opcode == SAMBA_LANE_COUNTER && c < chain->count; ++c)
          if (chain->old[c] == program->ops[value - s->unit->input_count].immediate)
            ops[count].immediate = c;
        value_of[value] = inputs + count++;
      }
      op.operands[i] = (uint16_t)value_of[value];
    }
    value_of[s->unit->input_count + s->order[p]] = inputs + count;
    ops[count++] = op;
  }
  /* A program that only makes constants or counters. */
  for (uint32_t i = 0; i < s->unit->output_count && part->end == s->values; ++i) {
    uint32_t value = s->unit->outputs[i].value;
    if (isSource(s, value) && !made[value - s->unit->input_count]) {
      made[value - s->unit->input_count] = true;
      ops[count] = program->ops[value - s->unit->input_count];
      value_of[value] = inputs + count++;
    }
  }
  free(made);
  unit->program =
      (SambaProgram){.systolic = part->systolic, .lane_reduce = program->lane_reduce, .op_count = count, .ops = ops};
  for (uint32_t i = 0; i < count; ++i)
    if (sambaLaneOpClass(ops[i].opcode) == 'R')
      unit->program.reduce_mask = program->reduce_mask; /* reducing parts keep all counters */
}

static void makeParts(Split *s, Output *out) {
  uint32_t all = s->unit->input_count + s->unit->program.op_count;
  uint32_t *value_of = sambaAllocateZeroed(all, sizeof *value_of);
  SambaEndpoint *source_of =
      sambaAllocateZeroed(all, sizeof *source_of); /* where a live value leaves the part before */
  uint32_t base = (uint32_t)out->units.size;
  for (size_t i = 0; i < s->parts.size; ++i) {
    const Part *part = &s->parts.data[i];
    bool last = i + 1 == s->parts.size;
    PartChain chain = chainOf(s, part);
    SambaUnit unit = *s->unit;
    unit.name = i ? sambaArenaFormat(s->arena, "%s.part%zu", s->unit->name, i) : s->unit->name;
    unit.counter_count = chain.count;
    unit.token_level = chain.token_level;
    uint32_t *trips = SAMBA_ARENA_ARRAY(s->arena, uint32_t, chain.count);
    for (uint32_t c = 0; c < chain.count; ++c)
      trips[c] = s->unit->trips[chain.old[c]];
    unit.trips = trips;
    unit.inputs = SAMBA_ARENA_ARRAY(s->arena, SambaPort, countInputs(s, part->first, part->end));
    unit.input_count = 0;
    for (uint32_t v = 0; v < all; ++v) {
      if (i && isLive(s, v, part->first)) { /* from the part before: a reduced value if that one reduced */
        SambaPort *port = &unit.inputs[unit.input_count];
        densePort(s, &chain, part->reduced, v, port);
        value_of[v] = unit.input_count;
        SambaStream stream = {
            .kind = SAMBA_STREAM_VECTOR, .source = source_of[v], .destination_count = 1, .rate_permille = 1};
        stream.destinations =
            sambaArenaCopy(s->arena, &(SambaEndpoint){base + (uint32_t)i, unit.input_count}, sizeof(SambaEndpoint));
        sambaArrayAppend(&out->streams, stream);
        ++unit.input_count;
      } else if (v < s->unit->input_count && isTaken(s, v, part->first, part->end)) {
        copyPort(s, &chain, &s->unit->inputs[v], &unit.inputs[unit.input_count]);
        value_of[v] = unit.input_count++;
      }
    }
    makeProgram(s, part, &chain, unit.input_count, value_of, &unit);
    uint32_t outputs = last ? s->unit->output_count : countLive(s, part->end);
    unit.outputs = SAMBA_ARENA_ARRAY(s->arena, SambaPort, outputs);
    unit.output_count = 0;
    for (uint32_t v = 0; v < all && !last; ++v)
      if (isLive(s, v, part->end)) {
        /* A part that reduces hands on reduced values; a later one has no reduced counters left. */
        densePort(s, &chain, unit.program.reduce_mask != 0 || part->reduced, v, &unit.outputs[unit.output_count]);
        unit.outputs[unit.output_count].value = value_of[v];
        source_of[v] = (SambaEndpoint){base + (uint32_t)i, unit.output_count++};
      }
    for (uint32_t o = 0; o < s->unit->output_count && last; ++o) {
      copyPort(s, &chain, &s->unit->outputs[o], &unit.outputs[o]);
      unit.outputs[o].value = value_of[s->unit->outputs[o].value];
      ++unit.output_count;
    }
    sambaArrayAppend(&out->units, unit);
  }
  /* Which new ports take each old input. */
  for (uint32_t v = 0; v < s->unit->input_count; ++v) {
    sambaArrayAppend(&out->runs, (uint32_t)out->takers.size);
    for (size_t i = 0; i < s->parts.size; ++i) {
      const Part *part = &s->parts.data[i];
      uint32_t port = 0;
      for (uint32_t w = 0; w < v; ++w)
        port += (i && isLive(s, w, part->first)) || isTaken(s, w, part->first, part->end);
      if (!(i && isLive(s, v, part->first)) && isTaken(s, v, part->first, part->end))
        sambaArrayAppend(&out->takers, (SambaEndpoint){base + (uint32_t)i, port});
    }
  }
  free(value_of);
  free(source_of);
}

static SambaStatus splitUnit(const SambaUnit *unit, const SambaMachine *machine, SambaArena *arena, Output *out) {
  uint32_t all = unit->input_count + unit->program.op_count;
  Split s = {.unit = unit, .machine = machine, .arena = arena};
  s.order = sambaAllocateZeroed(unit->program.op_count, sizeof *s.order);
  s.last_use = sambaAllocateZeroed(all, sizeof *s.last_use);
  s.made_at = sambaAllocateZeroed(all, sizeof *s.made_at);
  orderOperations(&s);
  SambaStatus status = cutParts(&s);
  if (!status && s.parts.size > 1) {
    makeParts(&s, out);
  } else if (!status) {
    for (uint32_t v = 0; v < unit->input_count; ++v) {
      sambaArrayAppend(&out->runs, (uint32_t)out->takers.size);
      sambaArrayAppend(&out->takers, (SambaEndpoint){(uint32_t)out->units.size, v});
    }
    sambaArrayAppend(&out->units, *unit);
  }
  free(s.order);
  free(s.last_use);
  free(s.made_at);
  sambaArrayFree(&s.parts);
  return status;
}

/* Renames streams to the new ports and moves everything into the section. */
static void finish(SambaSection *section, Output *out) {
  SambaArena *arena = section->arena;
  uint32_t old_streams = section->stream_count;
  SambaStream *streams = SAMBA_ARENA_ARRAY(arena, SambaStream, old_streams + out->streams.size);
  for (uint32_t i = 0; i < old_streams; ++i) {
    SambaStream stream = section->streams[i];
    uint32_t count = 0;
    for (uint32_t d = 0; d < stream.destination_count; ++d) {
      uint32_t run = out->taker_first[stream.destinations[d].unit] + stream.destinations[d].port;
      count += out->runs.data[run + 1] - out->runs.data[run];
    }
    SambaEndpoint *destinations = SAMBA_ARENA_ARRAY(arena, SambaEndpoint, count);
    count = 0;
    for (uint32_t d = 0; d < stream.destination_count; ++d) {
      uint32_t run = out->taker_first[stream.destinations[d].unit] + stream.destinations[d].port;
      for (uint32_t t = out->runs.data[run]; t < out->runs.data[run + 1]; ++t)
        destinations[count++] = out->takers.data[t];
    }
    stream.source.unit = out->last_part[stream.source.unit];
    stream.destinations = destinations;
    stream.destination_count = count;
    streams[i] = stream;
  }
  for (size_t i = 0; i < out->streams.size; ++i) {
    SambaStream *stream = &streams[old_streams + i];
    *stream = out->streams.data[i];
    uint32_t index = old_streams + (uint32_t)i;
    SambaPort *ports[2] = {&out->units.data[stream->source.unit].outputs[stream->source.port],
                           &out->units.data[stream->destinations[0].unit].inputs[stream->destinations[0].port]};
    for (int end = 0; end < 2; ++end) {
      ports[end]->stream_count = 1;
      ports[end]->streams = sambaArenaCopy(arena, &index, sizeof index);
    }
  }
  section->streams = streams;
  section->stream_count = old_streams + (uint32_t)out->streams.size;
  section->units = sambaArenaCopy(arena, out->units.data, out->units.size * sizeof *out->units.data);
  section->unit_count = (uint32_t)out->units.size;
}

SambaStatus sambaSplitPrograms(SambaSection *section, const SambaMachine *machine) {
  Output out = {.arena = section->arena};
  out.taker_first = sambaAllocateZeroed(section->unit_count, sizeof *out.taker_first);
  out.last_part = sambaAllocateZeroed(section->unit_count, sizeof *out.last_part);
  SambaStatus status = NULL;
  for (uint32_t u = 0; u < section->unit_count && !status; ++u) {
    const SambaUnit *unit = &section->units[u];
    out.taker_first[u] = (uint32_t)out.runs.size;
    if (unit->kind == SAMBA_UNIT_COMPUTE) {
      status = splitUnit(unit, machine, section->arena, &out);
    } else {
      for (uint32_t v = 0; v < unit->input_count; ++v) {
        sambaArrayAppend(&out.runs, (uint32_t)out.takers.size);
        sambaArrayAppend(&out.takers, (SambaEndpoint){(uint32_t)out.units.size, v});
      }
      sambaArrayAppend(&out.units, *unit);
    }
    out.last_part[u] = (uint32_t)out.units.size - 1;
  }
  sambaArrayAppend(&out.runs, (uint32_t)out.takers.size);
  if (!status && out.units.size > section->unit_count) {
    finish(section, &out);
    sambaSectionPlanRates(section, machine);
  }
  sambaArrayFree(&out.units);
  sambaArrayFree(&out.streams);
  sambaArrayFree(&out.takers);
  sambaArrayFree(&out.runs);
  free(out.taker_first);
  free(out.last_part);
  return sambaStatusAnnotate(status, "section %s", section->name);
}
