/* Cutting a lane program into parts that fit a PCU each; see split_programs.h. Two ways:
 *
 * In a chain each part takes what it needs from the part before, which passes on what later parts
 * need: streams between neighbours only. Programs with more live values than a PCU has outputs are
 * cut into a graph: each value goes from the part that makes it to all parts that use it, so one
 * operation alone always is a part. Parts take token for token, so neither way can block. */
#include "backend/split/split_internal.h"

#include "backend/estimate/program_parts.h"
#include "backend/section/access.h"
#include "support/base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Split {
  const SambaUnit *unit;
  const SambaMachine *machine;
  SambaArena *arena;
  SambaOrderedProgram program;
  bool again;         /* an operation stands on both sides of the reduction */
  uint32_t *last_use; /* per value: position in order of the last operation that uses it; atEnd: an
                         output; SAMBA_NO_INDEX: none */
  uint32_t *made_at;  /* per value: position of its operation; 0 for inputs */
  SAMBA_ARRAY(SambaSplitPart) parts;
} Split;

enum { atEnd = SAMBA_NO_INDEX - 1 };

static char classOf(const Split *split, uint32_t op) {
  return sambaLaneOpClass(split->unit->compute.program.ops[op].opcode);
}
static uint32_t valueAt(const Split *split, uint32_t position) {
  return split->unit->input_count + split->program.order[position];
}
static bool isSource(const Split *split, uint32_t value) {
  return sambaSplitIsSource(split->unit, value);
}
static uint32_t countValues(const Split *split) {
  return split->unit->input_count + split->unit->compute.program.op_count;
}

/* --- Orders --- */

static void findUses(Split *split) {
  for (uint32_t v = 0; v < countValues(split); ++v)
    split->last_use[v] = SAMBA_NO_INDEX;
  for (uint32_t p = 0; p < split->program.count; ++p) {
    const SambaLaneOp *lane = &split->unit->compute.program.ops[split->program.order[p]];
    split->made_at[valueAt(split, p)] = p;
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      split->last_use[lane->operands[i]] = p;
  }
  for (uint32_t i = 0; i < split->unit->output_count; ++i)
    split->last_use[split->unit->outputs[i].compute.value] = atEnd;
}

/* Operands before their operation, the one with the larger program first: few values live
 * at once. */
static void visit(Split *split, uint32_t op, const uint32_t *weight, bool *done) {
  const SambaLaneOp *lane = &split->unit->compute.program.ops[op];
  uint32_t inputs = split->unit->input_count;
  uint32_t operands[3];
  uint32_t count = 0;

  if (done[op] || classOf(split, op) == 'V')
    return;
  done[op] = true;
  for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i) {
    if (lane->operands[i] < inputs)
      continue;
    uint32_t at = count++;
    uint32_t operand = lane->operands[i] - inputs;
    for (; at && weight[operands[at - 1]] < weight[operand]; --at)
      operands[at] = operands[at - 1];
    operands[at] = operand;
  }

  for (uint32_t i = 0; i < count; ++i)
    visit(split, operands[i], weight, done);
  split->program.order[split->program.count++] = op;
}

/* Depth first from the reduction, then from the outputs. What both sides of the reduction use is
 * made on both. */
static void orderDepthFirst(Split *split) {
  const SambaProgram *program = &split->unit->compute.program;
  uint32_t inputs = split->unit->input_count;
  uint32_t *weight = sambaAllocateZeroed(program->op_count, sizeof *weight);
  bool *done = sambaAllocateZeroed(program->op_count, sizeof *done);

  for (uint32_t i = 0; i < program->op_count; ++i) {
    weight[i] = 1;
    for (int k = 0; k < sambaLaneOpOperands(program->ops[i].opcode); ++k)
      if (program->ops[i].operands[k] >= inputs)
        weight[i] += weight[program->ops[i].operands[k] - inputs];
    weight[i] = weight[i] > 1u << 20 ? 1u << 20 : weight[i];
  }

  split->program.count = 0;
  for (uint32_t i = 0; i < program->op_count; ++i)
    if (classOf(split, i) == 'R')
      visit(split, i, weight, done);
  split->program.feeding = split->program.count;
  for (uint32_t i = 0; i < program->op_count; ++i)
    done[i] = classOf(split, i) == 'R';
  for (uint32_t o = 0; o < split->unit->output_count; ++o)
    if (split->unit->outputs[o].compute.value >= inputs)
      visit(split, split->unit->outputs[o].compute.value - inputs, weight, done);
  if (!split->program.reduces)
    split->program.feeding = split->program.count;
  memset(done, 0, program->op_count * sizeof *done);

  for (uint32_t p = 0; p < split->program.count; ++p) {
    split->again |= done[split->program.order[p]];
    done[split->program.order[p]] = true;
  }

  free(weight);
  free(done);
  findUses(split);
}

/* --- What moves between parts --- */

static bool usesValue(const Split *split, uint32_t first, uint32_t end, uint32_t value) {
  for (uint32_t p = first; p < end; ++p) {
    const SambaLaneOp *lane = &split->unit->compute.program.ops[split->program.order[p]];
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      if (lane->operands[i] == value)
        return true;
  }
  return false;
}

/* Whether an input is taken by each part that uses it (held or broadcast, so it costs little)
 * instead of passed on. */
static bool isShared(const Split *split, uint32_t input) {
  const SambaPort *port = &split->unit->inputs[input];
  if (sambaTripProduct(split->unit->compute.trips, port->compute.level,
                       split->unit->compute.token_level) > 1)
    return true;
  for (uint32_t c = split->unit->compute.token_level; c < split->unit->compute.counter_count; ++c)
    if (!port->compute.strides[c] && split->unit->compute.trips[c] > 1)
      return true;
  return false;
}

/* A value that exists before `position` and is needed at or after it, and must come on a stream. An
 * input counts as existing once an earlier part has taken it. */
static bool isLive(const Split *split, uint32_t value, uint32_t position) {
  if (isSource(split, value) || split->last_use[value] == SAMBA_NO_INDEX ||
      (split->last_use[value] != atEnd && split->last_use[value] < position))
    return false;
  if (value >= split->unit->input_count)
    return split->made_at[value] < position;
  return !isShared(split, value) && usesValue(split, 0, position, value);
}

/* The value is an input that a part [first, end) takes itself. */
static bool isTaken(const Split *split, uint32_t value, uint32_t first, uint32_t end) {
  bool used = usesValue(split, first, end, value) ||
              (end == split->program.count && split->last_use[value] == atEnd &&
               value < split->unit->input_count);
  return value < split->unit->input_count && used && !isLive(split, value, first);
}

/* Values that move between parts at this position. */
static uint32_t countLive(const Split *split, uint32_t position) {
  uint32_t count = 0;
  for (uint32_t v = 0; v < countValues(split); ++v)
    count += isLive(split, v, position);
  return count;
}

static uint32_t countInputs(const Split *split, uint32_t first, uint32_t end) {
  uint32_t count = first ? countLive(split, first) : 0;
  for (uint32_t v = 0; v < split->unit->input_count; ++v)
    count += isTaken(split, v, first, end);
  return count;
}

static bool isSystolic(const Split *split, uint32_t first) {
  return split->program.systolic && first == 0;
}

/* Whether a part has operations on both sides of the reduction, which only the array's may. */
static bool mixes(const Split *split, uint32_t first, uint32_t end) {
  const SambaOrderedProgram *program = &split->program;
  return program->reduces && first < program->feeding && end > program->feeding &&
         !isSystolic(split, first);
}

static void appendPart(Split *split, uint32_t first, uint32_t end) {
  sambaArrayAppend(&split->parts, (SambaSplitPart){.first = first,
                                                   .end = end,
                                                   .systolic = isSystolic(split, first),
                                                   .reduced = split->program.reduces &&
                                                              first >= split->program.feeding});
}

/* --- Chains --- */

static bool chainPartFits(const Split *split, uint32_t first, uint32_t end) {
  uint32_t outputs =
      end == split->program.count ? split->unit->output_count : countLive(split, end);
  uint32_t live = 0;
  for (uint32_t p = first; p < end && live <= (uint32_t)split->machine->simd_registers; ++p) {
    live = 0;
    for (uint32_t v = 0; v < countValues(split); ++v)
      live += isLive(split, v, p) || isTaken(split, v, p, end);
  }
  return outputs <= (uint32_t)split->machine->unit_vector_outputs &&
         live <= (uint32_t)split->machine->simd_registers &&
         countInputs(split, first, end) <= (uint32_t)split->machine->unit_vector_inputs;
}

static bool cutChain(Split *split) {
  split->parts.size = 0;
  if (split->program.count == 0)
    sambaArrayAppend(&split->parts, (SambaSplitPart){0});

  for (uint32_t first = 0; first < split->program.count;) {
    uint32_t end = sambaProgramPartEnd(&split->program, split->machine, first);
    while (end > first && !chainPartFits(split, first, end))
      --end;
    if (end == first)
      return false;
    appendPart(split, first, end);
    first = end;
  }

  return true;
}

static void listChain(const Split *split, SambaSplitCut *cut) {
  for (uint32_t i = 0; i < cut->part_count; ++i) {
    SambaSplitPart *part = &cut->parts[i];
    bool last = i + 1 == cut->part_count;
    part->takes = SAMBA_ARENA_ARRAY(split->arena, SambaSplitTake, countValues(split));
    part->gives = SAMBA_ARENA_ARRAY(split->arena, uint32_t, countValues(split));
    for (uint32_t v = 0; v < countValues(split); ++v) {
      if (i && isLive(split, v, part->first))
        part->takes[part->take_count++] = (SambaSplitTake){v, i - 1};
      else if (isTaken(split, v, part->first, part->end))
        part->takes[part->take_count++] = (SambaSplitTake){v, SAMBA_NO_INDEX};
      if (!last && isLive(split, v, part->end))
        part->gives[part->give_count++] = v;
    }
  }

  for (uint32_t o = 0; o < split->unit->output_count; ++o)
    cut->output_part[o] = cut->part_count - 1;
}

/* --- Graphs --- */

/* Position at which the value that an operation at `position` uses is made; SAMBA_NO_INDEX for
 * inputs and value sources. */
static uint32_t madeFor(const Split *split, uint32_t value, uint32_t position) {
  if (value < split->unit->input_count || isSource(split, value))
    return SAMBA_NO_INDEX;
  for (uint32_t p = position; p-- > 0;)
    if (valueAt(split, p) == value)
      return p;
  return SAMBA_NO_INDEX;
}

/* Whether an operation at or after `end` uses the value made at `position`. */
static bool isUsedLater(const Split *split, uint32_t position, uint32_t end) {
  for (uint32_t p = end; p < split->program.count; ++p) {
    const SambaLaneOp *lane = &split->unit->compute.program.ops[split->program.order[p]];
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      if (lane->operands[i] == valueAt(split, position) &&
          madeFor(split, lane->operands[i], p) == position)
        return true;
  }
  return false;
}

/* Output ports of the unit that a part with the operations [first, end) has. */
static uint32_t countOwnOutputs(const Split *split, uint32_t first, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < split->unit->output_count; ++o) {
    uint32_t made = madeFor(split, split->unit->outputs[o].compute.value, split->program.count);
    count += made == SAMBA_NO_INDEX ? end == split->program.count : made >= first && made < end;
  }
  return count;
}

/* The values that a part [first, end) takes; from: of the operation's position. */
static uint32_t listTakes(const Split *split, uint32_t first, uint32_t end, SambaSplitTake *takes) {
  uint32_t count = 0;
  for (uint32_t v = 0; v < countValues(split); ++v) {
    if (v < split->unit->input_count) {
      if (usesValue(split, first, end, v) ||
          (end == split->program.count && split->last_use[v] == atEnd))
        takes[count++] = (SambaSplitTake){v, SAMBA_NO_INDEX};
      continue;
    }
    uint32_t made = SAMBA_NO_INDEX;
    for (uint32_t p = first; p < end; ++p)
      if (usesValue(split, p, p + 1, v) && madeFor(split, v, p) < first)
        made = madeFor(split, v, p);
    if (made != SAMBA_NO_INDEX)
      takes[count++] = (SambaSplitTake){v, made};
  }

  return count;
}

/* Vector ports that a part of a graph needs. */
typedef struct PartPorts {
  uint32_t inputs, outputs;
} PartPorts;

static PartPorts countPorts(const Split *split, uint32_t first, uint32_t end) {
  SambaSplitTake *takes = sambaAllocateZeroed(countValues(split), sizeof *takes);
  PartPorts ports = {listTakes(split, first, end, takes), countOwnOutputs(split, first, end)};
  for (uint32_t p = first; p < end; ++p)
    ports.outputs += isUsedLater(split, p, end);
  free(takes);
  return ports;
}

static bool graphPartFits(const Split *split, uint32_t first, uint32_t end) {
  PartPorts ports = countPorts(split, first, end);
  return ports.inputs <= (uint32_t)split->machine->unit_vector_inputs &&
         ports.outputs <= (uint32_t)split->machine->unit_vector_outputs &&
         (end == first + 1 ||
          ports.inputs + end - first <= (uint32_t)split->machine->simd_registers);
}

/* False when not even one operation alone fits; out_first is its position then. */
static bool cutGraph(Split *split, uint32_t *out_first) {
  split->parts.size = 0;
  for (uint32_t first = 0; first < split->program.count;) {
    uint32_t end = sambaProgramPartEnd(&split->program, split->machine, first);
    if (mixes(split, first, end))
      end = split->program.feeding;
    while (end > first && !graphPartFits(split, first, end))
      --end;
    *out_first = first;
    if (end == first)
      return false;
    appendPart(split, first, end);
    first = end;
  }

  return split->parts.size > 0;
}

static uint32_t partAt(const SambaSplitCut *cut, uint32_t position) {
  uint32_t part = 0;
  while (cut->parts[part].end <= position)
    ++part;
  return part;
}

static void listGraph(const Split *split, SambaSplitCut *cut) {
  for (uint32_t i = 0; i < cut->part_count; ++i) {
    SambaSplitPart *part = &cut->parts[i];
    part->takes = SAMBA_ARENA_ARRAY(split->arena, SambaSplitTake, countValues(split));
    part->gives = SAMBA_ARENA_ARRAY(split->arena, uint32_t, countValues(split));
    part->take_count = listTakes(split, part->first, part->end, part->takes);
    for (uint32_t t = 0; t < part->take_count; ++t)
      if (part->takes[t].from != SAMBA_NO_INDEX)
        part->takes[t].from = partAt(cut, part->takes[t].from);
    for (uint32_t p = part->first; p < part->end; ++p)
      if (isUsedLater(split, p, part->end))
        part->gives[part->give_count++] = valueAt(split, p);
  }

  for (uint32_t o = 0; o < split->unit->output_count; ++o) {
    uint32_t made = madeFor(split, split->unit->outputs[o].compute.value, split->program.count);
    cut->output_part[o] = made == SAMBA_NO_INDEX ? cut->part_count - 1 : partAt(cut, made);
  }
}

/* The operation at `position` alone has more streams than a PCU has vector ports. */
static SambaStatus cannotCut(const Split *split, uint32_t position) {
  const SambaUnit *unit = split->unit;
  const SambaMachine *machine = split->machine;
  uint32_t op = split->program.order[position];
  PartPorts ports = countPorts(split, position, position + 1);

  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "unit %s: operation %u (%s) of its program needs %u vector inputs and %u outputs, but "
      "a PCU of %s has %lld inputs and %lld outputs",
      unit->name, op, sambaLaneOpName(unit->compute.program.ops[op].opcode), ports.inputs,
      ports.outputs, machine->name, (long long)machine->unit_vector_inputs,
      (long long)machine->unit_vector_outputs);
  if (unit->layer[0])
    sambaStatusNote(status, "unit %s works for layer '%s'", unit->name, unit->layer);
  return sambaStatusNote(status, "choose a machine with more vector ports per unit");
}

SambaStatus sambaSplitCut(const SambaUnit *unit, const SambaMachine *machine, SambaArena *arena,
                          SambaSplitCut *out) {
  const SambaProgram *program = &unit->compute.program;
  uint32_t all = unit->input_count + program->op_count;

  Split split = {.unit = unit, .machine = machine, .arena = arena};
  /* Depth first, an operation may stand on both sides of the reduction. */
  split.program = (SambaOrderedProgram){
      .ops = program->ops,
      .op_count = program->op_count,
      .input_count = unit->input_count,
      .systolic = program->systolic,
      .order = SAMBA_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)program->op_count)};
  split.last_use = SAMBA_ARENA_ARRAY(arena, uint32_t, all);
  split.made_at = SAMBA_ARENA_ARRAY(arena, uint32_t, all);
  sambaProgramOrder(&split.program);
  findUses(&split);
  bool chain = cutChain(&split), fits = chain;
  uint32_t stuck = 0;
  if (!chain) {
    orderDepthFirst(&split);
    chain = !split.again && cutChain(&split);
    fits = chain || cutGraph(&split, &stuck);
  }

  SambaStatus status = NULL;
  if (fits) {
    *out = (SambaSplitCut){.order = split.program.order, .part_count = (uint32_t)split.parts.size};
    out->parts =
        sambaArenaCopy(arena, split.parts.data, split.parts.size * sizeof *split.parts.data);
    out->output_part = SAMBA_ARENA_ARRAY(arena, uint32_t, unit->output_count);
    (chain ? listChain : listGraph)(&split, out);
  } else {
    status = cannotCut(&split, stuck);
  }

  sambaArrayFree(&split.parts);
  return status;
}
