/* Splitting lane programs; see split_programs.h. split_cut.c cuts each unit's program into parts;
 * here each part becomes a unit, with streams between. */
#include "backend/split/split_programs.h"

#include "backend/estimate/estimate.h"
#include "backend/section/stated_order.h"
#include "backend/split/split_internal.h"
#include "support/container/string_map.h"

#include <stdlib.h>
#include <string.h>

typedef struct Split {
  const SambaUnit *unit;
  SambaArena *arena;
  SambaSplitCut cut;
} Split;

/* --- Making units --- */

typedef struct Output { /* the new section while it grows */
  SambaArena *arena;
  uint32_t unit; /* the old unit that is split */
  SAMBA_ARRAY(SambaUnit) units;
  SAMBA_ARRAY(SambaStream) streams;   /* between parts: endpoints already in new numbers */
  SAMBA_ARRAY(SambaEndpoint) takers;  /* new ports of each old input port, in runs */
  uint32_t *taker_first;              /* per old unit: offset into `runs` */
  SAMBA_ARRAY(uint32_t) runs;         /* per old input port: first taker; one more at the end */
  SAMBA_ARRAY(SambaEndpoint) sources; /* new port of each old output port */
  uint32_t *source_first;             /* per old unit: offset into `sources` */
} Output;

static SambaDType valueDType(const Split *split, uint32_t value) {
  if (value < split->unit->input_count)
    return sambaProgramInputType(split->unit->inputs[value].dtype);
  return sambaLaneOpResultType(&split->unit->compute.program.ops[value - split->unit->input_count]);
}

/* The chain of a part: which old counters it keeps. */
typedef struct PartChain {
  uint32_t count, token_level;
  uint32_t *old; /* old counter of each */
} PartChain;

static PartChain chainOf(const Split *split, const SambaSplitPart *part) {
  PartChain chain = {0, 0,
                     SAMBA_ARENA_ARRAY(split->arena, uint32_t, split->unit->compute.counter_count)};
  for (uint32_t c = 0; c < split->unit->compute.counter_count; ++c) {
    if (part->reduced && split->unit->compute.program.reduce_mask >> c & 1)
      continue;
    chain.old[chain.count++] = c;
    chain.token_level += c < split->unit->compute.token_level;
  }
  return chain;
}

static void copyPort(const Split *split, const PartChain *chain, const SambaPort *from,
                     SambaPort *to) {
  *to = *from;
  int64_t *strides = SAMBA_ARENA_ARRAY(split->arena, int64_t, chain->count);
  to->compute.level = 0;
  for (uint32_t c = 0; c < chain->count; ++c) {
    strides[c] = from->compute.strides[chain->old[c]];
    to->compute.level +=
        chain->old[c] < from->compute.level && chain->old[c] < split->unit->compute.token_level;
  }
  to->compute.strides = strides;
}

/* A port for a value that moves between parts: all points of the part's tokens, row-major over its
 * inner counters. It is no tensor's, so its places are those of the points. */
static void densePort(const Split *split, const PartChain *chain, bool reduced, uint32_t value,
                      SambaPort *to) {
  memset(to, 0, sizeof *to);
  to->dtype = valueDType(split, value);
  to->block = 1;
  int64_t *strides = SAMBA_ARENA_ARRAY(split->arena, int64_t, chain->count);

  to->token_elements = 1;
  for (uint32_t c = chain->count; c-- > chain->token_level;) {
    if (reduced && split->unit->compute.program.reduce_mask >> chain->old[c] & 1)
      continue;
    strides[c] = (int64_t)to->token_elements;
    to->token_elements *= split->unit->compute.trips[chain->old[c]];
  }

  for (uint32_t c = 0; c < chain->token_level; ++c)
    to->compute.level +=
        !(reduced && split->unit->compute.program.reduce_mask >> chain->old[c] & 1);
  to->compute.strides = strides;

  SambaStatedOrder order;
  sambaStatedOrderStart(&order, SAMBA_ORDER_PLACES);
  sambaStatedOrderAppend(&order, (SambaOrderStep){to->token_elements, {1, 0}, {1, 0}});
  sambaPortState(to, &order, split->arena);
}

/* Appends the part's program; value_of maps old values to the part's, and already has the
 * inputs. */
static void makeProgram(const Split *split, uint32_t index, const PartChain *chain, uint32_t inputs,
                        uint32_t *value_of, SambaUnit *unit) {
  const SambaSplitPart *part = &split->cut.parts[index];
  const SambaProgram *program = &split->unit->compute.program;
  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(split->arena, SambaLaneOp, program->op_count);
  uint32_t count = 0;
  bool *made = sambaAllocateZeroed(program->op_count, sizeof *made);

  for (uint32_t p = part->first; p < part->end; ++p) {
    const SambaLaneOp *lane = &program->ops[split->cut.order[p]];
    SambaLaneOp op = *lane;
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i) {
      uint32_t value = lane->operands[i];
      if (sambaSplitIsSource(split->unit, value) && !made[value - split->unit->input_count]) {
        made[value - split->unit->input_count] = true;
        ops[count] = program->ops[value - split->unit->input_count];
        for (uint32_t c = 0; ops[count].opcode == SAMBA_LANE_COUNTER && c < chain->count; ++c)
          if (chain->old[c] == program->ops[value - split->unit->input_count].immediate)
            ops[count].immediate = c;
        value_of[value] = inputs + count++;
      }
      op.operands[i] = (uint16_t)value_of[value];
    }
    value_of[split->unit->input_count + split->cut.order[p]] = inputs + count;
    ops[count++] = op;
  }

  /* A program that only makes constants or counters. */
  for (uint32_t i = 0; i < split->unit->output_count && index + 1 == split->cut.part_count; ++i) {
    uint32_t value = split->unit->outputs[i].compute.value;
    if (sambaSplitIsSource(split->unit, value) && !made[value - split->unit->input_count]) {
      made[value - split->unit->input_count] = true;
      ops[count] = program->ops[value - split->unit->input_count];
      value_of[value] = inputs + count++;
    }
  }

  free(made);
  unit->compute.program = (SambaProgram){.systolic = part->systolic,
                                         .lane_reduce = program->lane_reduce,
                                         .op_count = count,
                                         .ops = ops};
  for (uint32_t i = 0; i < count; ++i)
    if (sambaLaneOpClass(ops[i].opcode) == 'R')
      unit->compute.program.reduce_mask =
          program->reduce_mask; /* reducing parts keep all counters */
}

/* The ports of a part's inputs; streams from other parts get their destinations here. */
static void makeInputs(Split *split, uint32_t index, const PartChain *chain, uint32_t base,
                       uint32_t *value_of, Output *out, SambaUnit *unit) {
  const SambaSplitPart *part = &split->cut.parts[index];
  unit->inputs = SAMBA_ARENA_ARRAY(split->arena, SambaPort, part->take_count);
  unit->input_count = part->take_count;

  for (uint32_t t = 0; t < part->take_count; ++t) {
    const SambaSplitTake *take = &part->takes[t];
    value_of[take->value] = t;
    if (take->from == SAMBA_NO_INDEX) {
      copyPort(split, chain, &split->unit->inputs[take->value], &unit->inputs[t]);
      continue;
    }
    const SambaSplitPart *from = &split->cut.parts[take->from];
    SambaEndpoint source = {base + take->from, 0};
    while (from->gives[source.port] != take->value)
      ++source.port;
    densePort(split, chain, part->reduced, take->value, &unit->inputs[t]);
    for (size_t i = 0; i < out->streams.size; ++i) {
      SambaStream *stream = &out->streams.data[i];
      if (stream->source.unit != source.unit || stream->source.port != source.port)
        continue;
      SambaEndpoint *all =
          SAMBA_ARENA_ARRAY(split->arena, SambaEndpoint, stream->destination_count + 1);
      if (stream->destination_count)
        memcpy(all, stream->destinations, stream->destination_count * sizeof *all);
      all[stream->destination_count++] = (SambaEndpoint){base + index, t};
      stream->destinations = all;
    }
  }
}

static void makeParts(Split *split, Output *out) {
  uint32_t all = split->unit->input_count + split->unit->compute.program.op_count;
  uint32_t *value_of = sambaAllocateZeroed(all, sizeof *value_of);
  uint32_t base = (uint32_t)out->units.size;

  for (uint32_t i = 0; i < split->cut.part_count; ++i) {
    const SambaSplitPart *part = &split->cut.parts[i];
    PartChain chain = chainOf(split, part);
    SambaUnit unit = *split->unit;
    unit.name =
        i ? sambaArenaFormat(split->arena, "%s.part%u", split->unit->name, i) : split->unit->name;
    unit.compute.counter_count = chain.count;
    unit.compute.token_level = chain.token_level;
    uint32_t *trips = SAMBA_ARENA_ARRAY(split->arena, uint32_t, chain.count);
    for (uint32_t c = 0; c < chain.count; ++c)
      trips[c] = split->unit->compute.trips[chain.old[c]];
    unit.compute.trips = trips;
    makeInputs(split, i, &chain, base, value_of, out, &unit);
    makeProgram(split, i, &chain, unit.input_count, value_of, &unit);
    unit.outputs =
        SAMBA_ARENA_ARRAY(split->arena, SambaPort, part->give_count + split->unit->output_count);
    unit.output_count = 0;
    for (uint32_t g = 0; g < part->give_count; ++g) {
      /* A part that reduces hands on reduced values; a later one has no reduced counters left. */
      SambaPort *port = &unit.outputs[unit.output_count];
      densePort(split, &chain, unit.compute.program.reduce_mask != 0 || part->reduced,
                part->gives[g], port);
      port->compute.value = value_of[part->gives[g]];
      sambaArrayAppend(&out->streams, (SambaStream){.kind = SAMBA_STREAM_VECTOR,
                                                    .source = {base + i, unit.output_count++}});
    }

    for (uint32_t o = 0; o < split->unit->output_count; ++o)
      if (split->cut.output_part[o] == i) {
        copyPort(split, &chain, &split->unit->outputs[o], &unit.outputs[unit.output_count]);
        unit.outputs[unit.output_count].compute.value =
            value_of[split->unit->outputs[o].compute.value];
        out->sources.data[out->source_first[out->unit] + o] =
            (SambaEndpoint){base + i, unit.output_count++};
      }
    sambaArrayAppend(&out->units, unit);
  }

  /* Which new ports take each old input. */
  for (uint32_t v = 0; v < split->unit->input_count; ++v) {
    sambaArrayAppend(&out->runs, (uint32_t)out->takers.size);
    for (uint32_t i = 0; i < split->cut.part_count; ++i)
      for (uint32_t t = 0; t < split->cut.parts[i].take_count; ++t)
        if (split->cut.parts[i].takes[t].value == v &&
            split->cut.parts[i].takes[t].from == SAMBA_NO_INDEX)
          sambaArrayAppend(&out->takers, (SambaEndpoint){base + i, t});
  }

  free(value_of);
}

static void keepUnit(const SambaUnit *unit, Output *out) {
  for (uint32_t v = 0; v < unit->input_count; ++v) {
    sambaArrayAppend(&out->runs, (uint32_t)out->takers.size);
    sambaArrayAppend(&out->takers, (SambaEndpoint){(uint32_t)out->units.size, v});
  }
  sambaArrayAppend(&out->units, *unit);
}

/* The cut is not needed any more when its units are there: it lies in `scratch`. */
static SambaStatus splitUnit(const SambaUnit *unit, const SambaMachine *machine,
                             SambaArena *scratch, Output *out) {
  Split split = {.unit = unit, .arena = out->arena};
  SAMBA_RETURN_IF_ERROR(sambaSplitCut(unit, machine, scratch, &split.cut));
  if (split.cut.part_count > 1)
    makeParts(&split, out);
  else
    keepUnit(unit, out);
  return NULL;
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
    stream.source = out->sources.data[out->source_first[stream.source.unit] + stream.source.port];
    stream.destinations = destinations;
    stream.destination_count = count;
    streams[i] = stream;
  }

  for (size_t i = 0; i < out->streams.size; ++i) {
    SambaStream *stream = &streams[old_streams + i];
    *stream = out->streams.data[i];
    uint32_t index = old_streams + (uint32_t)i;
    for (uint32_t end = 0; end <= stream->destination_count; ++end) {
      SambaPort *port = end ? &out->units.data[stream->destinations[end - 1].unit]
                                   .inputs[stream->destinations[end - 1].port]
                            : &out->units.data[stream->source.unit].outputs[stream->source.port];
      port->stream_count = 1;
      port->streams = sambaArenaCopy(arena, &index, sizeof index);
    }
  }

  section->streams = streams;
  section->stream_count = old_streams + (uint32_t)out->streams.size;
  section->units =
      sambaArenaCopy(arena, out->units.data, out->units.size * sizeof *out->units.data);
  section->unit_count = (uint32_t)out->units.size;
}

SambaStatus sambaSplitPrograms(SambaSection *section, const SambaMachine *machine) {
  Output out = {.arena = section->arena};
  SambaArena scratch = {0};
  out.taker_first = sambaAllocateZeroed(section->unit_count, sizeof *out.taker_first);
  out.source_first = sambaAllocateZeroed(section->unit_count, sizeof *out.source_first);
  SambaStatus status = NULL;

  for (uint32_t u = 0; u < section->unit_count && !status; ++u) {
    const SambaUnit *unit = &section->units[u];
    out.taker_first[u] = (uint32_t)out.runs.size;
    out.unit = u;
    out.source_first[u] = (uint32_t)out.sources.size;
    for (uint32_t o = 0; o < unit->output_count; ++o)
      sambaArrayAppend(&out.sources, (SambaEndpoint){(uint32_t)out.units.size, o});
    if (unit->kind == SAMBA_UNIT_COMPUTE)
      status = splitUnit(unit, machine, &scratch, &out);
    else
      keepUnit(unit, &out);
  }

  sambaArrayAppend(&out.runs, (uint32_t)out.takers.size);
  if (!status && out.units.size > section->unit_count)
    finish(section, &out);

  sambaArenaDestroy(&scratch);
  sambaArrayFree(&out.units);
  sambaArrayFree(&out.streams);
  sambaArrayFree(&out.takers);
  sambaArrayFree(&out.runs);
  sambaArrayFree(&out.sources);
  free(out.taker_first);
  free(out.source_first);

  return sambaStatusAnnotate(status, "section %s", section->name);
}
