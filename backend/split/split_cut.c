/* Cutting a lane program into parts that fit a PCU each; see split_programs.h. Two ways:
 *
 * In a chain each part takes what it needs from the part before, which passes on what later parts
 * need: streams between neighbours only. Programs with more live values than a PCU has outputs are
 * cut into a graph: each value goes from the part that makes it to all parts that use it, so one
 * operation alone always is a part. Parts take token for token, so neither way can block. */
#include "backend/split/split_internal.h"

#include "backend/section/access.h"
#include "support/base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Split {
  const SambaUnit *unit;
  const SambaMachine *machine;
  SambaArena *arena;
  uint32_t values;  /* ordered operations */
  uint32_t *order;  /* operation indices */
  uint32_t feeding; /* the first of them feed the reduction or are it (all when there is none) */
  bool has_reduction;
  bool again;         /* an operation stands on both sides of the reduction */
  uint32_t *last_use; /* per value: position in order of the last operation that uses it; atEnd: an
                         output */
  uint32_t *made_at;  /* per value: position of its operation; 0 for inputs */
  SAMBA_ARRAY(SambaSplitPart) parts;
} Split;

enum { unused = UINT32_MAX, atEnd = UINT32_MAX - 1 };

static char classOf(const Split *s, uint32_t op) {
  return sambaLaneOpClass(s->unit->compute.program.ops[op].opcode);
}
static char classAt(const Split *s, uint32_t position) { return classOf(s, s->order[position]); }
static uint32_t valueAt(const Split *s, uint32_t position) {
  return s->unit->input_count + s->order[position];
}
static bool isSource(const Split *s, uint32_t value) { return sambaSplitIsSource(s->unit, value); }
static uint32_t countValues(const Split *s) {
  return s->unit->input_count + s->unit->compute.program.op_count;
}

/* --- Orders --- */

static void markFeeding(const Split *s, uint32_t op, bool *feeds) {
  if (feeds[op])
    return;
  feeds[op] = true;
  const SambaLaneOp *lane = &s->unit->compute.program.ops[op];
  for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
    if (lane->operands[i] >= s->unit->input_count)
      markFeeding(s, lane->operands[i] - s->unit->input_count, feeds);
}

static void findUses(Split *s) {
  for (uint32_t v = 0; v < countValues(s); ++v)
    s->last_use[v] = unused;
  for (uint32_t p = 0; p < s->values; ++p) {
    const SambaLaneOp *lane = &s->unit->compute.program.ops[s->order[p]];
    s->made_at[valueAt(s, p)] = p;
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      s->last_use[lane->operands[i]] = p;
  }
  for (uint32_t i = 0; i < s->unit->output_count; ++i)
    s->last_use[s->unit->outputs[i].compute.value] = atEnd;
}

/* As the program stands, those that feed the reduction first; value sources are left out. */
static void orderAsWritten(Split *s) {
  const SambaProgram *program = &s->unit->compute.program;
  bool *feeds = sambaAllocateZeroed(program->op_count, sizeof *feeds);

  for (uint32_t i = 0; i < program->op_count; ++i)
    if (classOf(s, i) == 'R') {
      markFeeding(s, i, feeds);
      s->has_reduction = true;
    }
  uint32_t count = 0;

  for (int pass = s->has_reduction ? 0 : 1; pass < 2; ++pass) {
    for (uint32_t i = 0; i < program->op_count; ++i)
      if (classOf(s, i) != 'V' && (!s->has_reduction || feeds[i] == (pass == 0)))
        s->order[count++] = i;
    if (pass == 0)
      s->feeding = count;
  }

  if (!s->has_reduction)
    s->feeding = count;
  s->values = count;
  free(feeds);
  findUses(s);
}

/* Operands before their operation, the one with the larger program first: few values live
 * at once. */
static void visit(Split *s, uint32_t op, const uint32_t *weight, bool *done) {
  const SambaLaneOp *lane = &s->unit->compute.program.ops[op];
  uint32_t inputs = s->unit->input_count;
  uint32_t operands[3];
  uint32_t count = 0;

  if (done[op] || classOf(s, op) == 'V')
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
    visit(s, operands[i], weight, done);
  s->order[s->values++] = op;
}

/* Depth first from the reduction, then from the outputs. What both sides of the reduction use is
 * made on both. */
static void orderDepthFirst(Split *s) {
  const SambaProgram *program = &s->unit->compute.program;
  uint32_t inputs = s->unit->input_count;
  uint32_t *weight = sambaAllocateZeroed(program->op_count, sizeof *weight);
  bool *done = sambaAllocateZeroed(program->op_count, sizeof *done);

  for (uint32_t i = 0; i < program->op_count; ++i) {
    weight[i] = 1;
    for (int k = 0; k < sambaLaneOpOperands(program->ops[i].opcode); ++k)
      if (program->ops[i].operands[k] >= inputs)
        weight[i] += weight[program->ops[i].operands[k] - inputs];
    weight[i] = weight[i] > 1u << 20 ? 1u << 20 : weight[i];
  }

  s->values = 0;
  for (uint32_t i = 0; i < program->op_count; ++i)
    if (classOf(s, i) == 'R')
      visit(s, i, weight, done);
  s->feeding = s->values;
  for (uint32_t i = 0; i < program->op_count; ++i)
    done[i] = classOf(s, i) == 'R';
  for (uint32_t o = 0; o < s->unit->output_count; ++o)
    if (s->unit->outputs[o].compute.value >= inputs)
      visit(s, s->unit->outputs[o].compute.value - inputs, weight, done);
  if (!s->has_reduction)
    s->feeding = s->values;
  memset(done, 0, program->op_count * sizeof *done);

  for (uint32_t p = 0; p < s->values; ++p) {
    s->again |= done[s->order[p]];
    done[s->order[p]] = true;
  }

  free(weight);
  free(done);
  findUses(s);
}

/* --- What moves between parts --- */

static bool usesValue(const Split *s, uint32_t first, uint32_t end, uint32_t value) {
  for (uint32_t p = first; p < end; ++p) {
    const SambaLaneOp *lane = &s->unit->compute.program.ops[s->order[p]];
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      if (lane->operands[i] == value)
        return true;
  }
  return false;
}

/* Whether an input is taken by each part that uses it (held or broadcast, so it costs little)
 * instead of passed on. */
static bool isShared(const Split *s, uint32_t input) {
  const SambaPort *port = &s->unit->inputs[input];
  if (sambaTripProduct(s->unit->compute.trips, port->compute.level, s->unit->compute.token_level) >
      1)
    return true;
  for (uint32_t c = s->unit->compute.token_level; c < s->unit->compute.counter_count; ++c)
    if (!port->compute.strides[c] && s->unit->compute.trips[c] > 1)
      return true;
  return false;
}

/* A value that exists before `position` and is needed at or after it, and must come on a stream. An
 * input counts as existing once an earlier part has taken it. */
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
  uint32_t count = 0;
  for (uint32_t v = 0; v < countValues(s); ++v)
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
  uint32_t stages = 0;
  uint32_t position = first;
  uint32_t limit = (uint32_t)s->machine->simd_stages;
  bool tail = false, transcendental = false;

  for (; position < s->values; ++position) {
    char kind = classAt(s, position);
    if (systolic && position == first)
      continue;     /* the mac */
    if (systolic) { /* in the array's PCU only what works on the mac's result */
      const SambaLaneOp *lane = &s->unit->compute.program.ops[s->order[position]];
      uint32_t before = valueAt(s, position - 1);
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

/* --- Chains --- */

static bool chainPartFits(const Split *s, uint32_t first, uint32_t end) {
  uint32_t outputs = end == s->values ? s->unit->output_count : countLive(s, end);
  uint32_t live = 0;
  for (uint32_t p = first; p < end && live <= (uint32_t)s->machine->simd_registers; ++p) {
    live = 0;
    for (uint32_t v = 0; v < countValues(s); ++v)
      live += isLive(s, v, p) || isTaken(s, v, p, end);
  }
  return outputs <= (uint32_t)s->machine->unit_vector_outputs &&
         live <= (uint32_t)s->machine->simd_registers &&
         countInputs(s, first, end) <= (uint32_t)s->machine->unit_vector_inputs;
}

static bool cutChain(Split *s) {
  s->parts.size = 0;
  if (s->values == 0)
    sambaArrayAppend(&s->parts, (SambaSplitPart){0});

  for (uint32_t first = 0; first < s->values;) {
    bool systolic = s->unit->compute.program.systolic && first == 0,
         reduced = s->has_reduction && first >= s->feeding;
    uint32_t end = reachOf(s, first, systolic);
    /* Operations on both sides of the reduction share a part only when all of them fit one. */
    if (s->has_reduction && first < s->feeding && end > s->feeding &&
        (end < s->values || first > 0) && !systolic)
      end = s->feeding;
    while (end > first && !chainPartFits(s, first, end))
      --end;
    if (end == first)
      return false;
    sambaArrayAppend(
        &s->parts,
        (SambaSplitPart){.first = first, .end = end, .systolic = systolic, .reduced = reduced});
    first = end;
  }

  return true;
}

static void listChain(const Split *s, SambaSplitCut *cut) {
  for (uint32_t i = 0; i < cut->part_count; ++i) {
    SambaSplitPart *part = &cut->parts[i];
    bool last = i + 1 == cut->part_count;
    part->takes = SAMBA_ARENA_ARRAY(s->arena, SambaSplitTake, countValues(s));
    part->gives = SAMBA_ARENA_ARRAY(s->arena, uint32_t, countValues(s));
    for (uint32_t v = 0; v < countValues(s); ++v) {
      if (i && isLive(s, v, part->first))
        part->takes[part->take_count++] = (SambaSplitTake){v, i - 1};
      else if (isTaken(s, v, part->first, part->end))
        part->takes[part->take_count++] = (SambaSplitTake){v, SAMBA_SPLIT_OWN};
      if (!last && isLive(s, v, part->end))
        part->gives[part->give_count++] = v;
    }
  }

  for (uint32_t o = 0; o < s->unit->output_count; ++o)
    cut->output_part[o] = cut->part_count - 1;
}

/* --- Graphs --- */

/* Position at which the value that an operation at `position` uses is made; `unused` for inputs and
 * value sources. */
static uint32_t madeFor(const Split *s, uint32_t value, uint32_t position) {
  if (value < s->unit->input_count || isSource(s, value))
    return unused;
  for (uint32_t p = position; p-- > 0;)
    if (valueAt(s, p) == value)
      return p;
  return unused;
}

/* Whether an operation at or after `end` uses the value made at `position`. */
static bool isUsedLater(const Split *s, uint32_t position, uint32_t end) {
  for (uint32_t p = end; p < s->values; ++p) {
    const SambaLaneOp *lane = &s->unit->compute.program.ops[s->order[p]];
    for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
      if (lane->operands[i] == valueAt(s, position) && madeFor(s, lane->operands[i], p) == position)
        return true;
  }
  return false;
}

/* Output ports of the unit that a part with the operations [first, end) has. */
static uint32_t countOwnOutputs(const Split *s, uint32_t first, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t o = 0; o < s->unit->output_count; ++o) {
    uint32_t made = madeFor(s, s->unit->outputs[o].compute.value, s->values);
    count += made == unused ? end == s->values : made >= first && made < end;
  }
  return count;
}

/* The values that a part [first, end) takes; from: of the operation's position. */
static uint32_t listTakes(const Split *s, uint32_t first, uint32_t end, SambaSplitTake *takes) {
  uint32_t count = 0;
  for (uint32_t v = 0; v < countValues(s); ++v) {
    if (v < s->unit->input_count) {
      if (usesValue(s, first, end, v) || (end == s->values && s->last_use[v] == atEnd))
        takes[count++] = (SambaSplitTake){v, SAMBA_SPLIT_OWN};
      continue;
    }
    uint32_t made = unused;
    for (uint32_t p = first; p < end; ++p)
      if (usesValue(s, p, p + 1, v) && madeFor(s, v, p) < first)
        made = madeFor(s, v, p);
    if (made != unused)
      takes[count++] = (SambaSplitTake){v, made};
  }

  return count;
}

static bool graphPartFits(const Split *s, uint32_t first, uint32_t end, SambaSplitTake *scratch) {
  uint32_t takes = listTakes(s, first, end, scratch);
  uint32_t outputs = countOwnOutputs(s, first, end);
  for (uint32_t p = first; p < end; ++p)
    outputs += isUsedLater(s, p, end);
  return takes <= (uint32_t)s->machine->unit_vector_inputs &&
         outputs <= (uint32_t)s->machine->unit_vector_outputs &&
         (end == first + 1 || takes + end - first <= (uint32_t)s->machine->simd_registers);
}

/* False when not even one operation alone fits; out_first is its position then. */
static bool cutGraph(Split *s, uint32_t *out_first) {
  SambaSplitTake *scratch = SAMBA_ARENA_ARRAY(s->arena, SambaSplitTake, countValues(s));
  s->parts.size = 0;
  for (uint32_t first = 0; first < s->values;) {
    bool systolic = s->unit->compute.program.systolic && first == 0,
         reduced = s->has_reduction && first >= s->feeding;
    uint32_t end = reachOf(s, first, systolic);
    if (s->has_reduction && first < s->feeding && end > s->feeding && !systolic)
      end = s->feeding;
    while (end > first && !graphPartFits(s, first, end, scratch))
      --end;
    *out_first = first;
    if (end == first)
      return false;
    sambaArrayAppend(
        &s->parts,
        (SambaSplitPart){.first = first, .end = end, .systolic = systolic, .reduced = reduced});
    first = end;
  }

  return s->parts.size > 0;
}

static uint32_t partAt(const SambaSplitCut *cut, uint32_t position) {
  uint32_t part = 0;
  while (cut->parts[part].end <= position)
    ++part;
  return part;
}

static void listGraph(const Split *s, SambaSplitCut *cut) {
  for (uint32_t i = 0; i < cut->part_count; ++i) {
    SambaSplitPart *part = &cut->parts[i];
    part->takes = SAMBA_ARENA_ARRAY(s->arena, SambaSplitTake, countValues(s));
    part->gives = SAMBA_ARENA_ARRAY(s->arena, uint32_t, countValues(s));
    part->take_count = listTakes(s, part->first, part->end, part->takes);
    for (uint32_t t = 0; t < part->take_count; ++t)
      if (part->takes[t].from != SAMBA_SPLIT_OWN)
        part->takes[t].from = partAt(cut, part->takes[t].from);
    for (uint32_t p = part->first; p < part->end; ++p)
      if (isUsedLater(s, p, part->end))
        part->gives[part->give_count++] = valueAt(s, p);
  }

  for (uint32_t o = 0; o < s->unit->output_count; ++o) {
    uint32_t made = madeFor(s, s->unit->outputs[o].compute.value, s->values);
    cut->output_part[o] = made == unused ? cut->part_count - 1 : partAt(cut, made);
  }
}

/* One operation alone has more streams than a PCU has vector ports. */
static SambaStatus cannotCut(const SambaUnit *unit, const SambaMachine *machine, uint32_t op) {
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "unit %s: operation %u (%s) of its program needs more vector ports, but a PCU of %s has %lld "
      "inputs and %lld outputs",
      unit->name, op, sambaLaneOpName(unit->compute.program.ops[op].opcode), machine->name,
      (long long)machine->unit_vector_inputs, (long long)machine->unit_vector_outputs);
  if (unit->layer[0])
    sambaStatusNote(status, "unit %s works for layer '%s'", unit->name, unit->layer);
  return sambaStatusNote(status, "choose a machine with more vector ports per unit");
}

SambaStatus sambaSplitCut(const SambaUnit *unit, const SambaMachine *machine, SambaArena *arena,
                          SambaSplitCut *out) {
  uint32_t ops = unit->compute.program.op_count;
  uint32_t all = unit->input_count + ops;

  Split s = {.unit = unit, .machine = machine, .arena = arena};
  s.order = SAMBA_ARENA_ARRAY(arena, uint32_t, 2 * (size_t)ops);
  s.last_use = SAMBA_ARENA_ARRAY(arena, uint32_t, all);
  s.made_at = SAMBA_ARENA_ARRAY(arena, uint32_t, all);
  orderAsWritten(&s);
  bool chain = cutChain(&s), fits = chain;
  uint32_t stuck = 0;
  if (!chain) {
    orderDepthFirst(&s);
    chain = !s.again && cutChain(&s);
    fits = chain || cutGraph(&s, &stuck);
  }

  SambaStatus status = NULL;
  if (fits) {
    *out = (SambaSplitCut){.order = s.order, .part_count = (uint32_t)s.parts.size};
    out->parts = sambaArenaCopy(arena, s.parts.data, s.parts.size * sizeof *s.parts.data);
    out->output_part = SAMBA_ARENA_ARRAY(arena, uint32_t, unit->output_count);
    (chain ? listChain : listGraph)(&s, out);
  } else {
    status = cannotCut(unit, machine, s.order[stuck]);
  }

  sambaArrayFree(&s.parts);
  return status;
}
