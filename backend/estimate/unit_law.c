/* The laws of emitted units; see unit_law.h. */
#include "backend/estimate/unit_law.h"

#include "backend/estimate/unit_cycles.h"
#include "backend/section/access.h"
#include "backend/section/pcu.h"
#include "backend/section/width.h"
#include "support/number/integer.h"

#include <math.h>
#include <stdlib.h>

/*===-- PCUs ----------------------------------------------------------------------------------===*/

static bool isReduced(const SambaUnit *unit, uint32_t counter) {
  return counter < 64 && (unit->compute.program.reduce_mask >> counter & 1);
}

/* Vectors of a walk over the inner counters, with those that are reduced or without. */
static double vectorsOf(const SambaUnit *unit, double lanes, bool reduced_too) {
  const SambaCompute *compute = &unit->compute;
  double rows = 1, row = 1;
  bool innermost = true;
  for (uint32_t c = compute->counter_count; c-- > compute->token_level;) {
    if (!reduced_too && isReduced(unit, c))
      continue;
    *(innermost ? &row : &rows) *= compute->trips[c];
    innermost = false;
  }
  return rows * ceil(row / lanes);
}

/* What a program takes of stages and tail. */
typedef struct ProgramCost {
  uint32_t stages, tail;
} ProgramCost;

/* Costs of what runs at every point, and of what follows a reduction. Returns whether there is
 * one. */
static bool splitProgram(const SambaUnit *unit, ProgramCost *out_before, ProgramCost *out_after) {
  const SambaProgram *program = &unit->compute.program;
  bool *after = sambaAllocateZeroed(program->op_count, sizeof *after);
  bool reduces = false;

  *out_before = *out_after = (ProgramCost){0};
  for (uint32_t i = 0; i < program->op_count; ++i) {
    const SambaLaneOp *op = &program->ops[i];
    int operands = sambaLaneOpOperands(op->opcode);
    for (int k = 0; k < operands; ++k) {
      uint32_t maker = op->operands[k] - unit->input_count;
      if (op->operands[k] >= unit->input_count && maker < i)
        after[i] |= after[maker] || sambaLaneOpClass(program->ops[maker].opcode) == 'R';
    }
    char kind = sambaLaneOpClass(op->opcode);
    ProgramCost *cost = after[i] ? out_after : out_before;
    cost->tail += kind == 'T';
    cost->stages += kind == 'S';
    reduces |= kind == 'R';
  }

  free(after);
  return reduces;
}

static double lanesOf(const SambaUnit *unit, const SambaMachine *machine) {
  SambaSimdFiring firing = {.lanes = unit->lanes};
  sambaSimdFiringProgram(&firing, unit->compute.program.ops, unit->compute.program.op_count);
  for (uint32_t i = 0; i < unit->input_count; ++i)
    sambaSimdFiringPort(&firing, unit->inputs[i].dtype);
  for (uint32_t i = 0; i < unit->output_count; ++i)
    sambaSimdFiringPort(&firing, unit->outputs[i].dtype);
  return (double)sambaSimdLanes(machine, &firing);
}

/* A SIMD reduction makes its first vector when the nest below the outermost reduced counter has run
 * for each of its elements. */
static double firstVector(const SambaUnit *unit, const SambaMachine *machine) {
  const SambaCompute *compute = &unit->compute;
  uint32_t c = compute->token_level;
  while (c < compute->counter_count && !isReduced(unit, c))
    ++c;
  if (c == compute->counter_count || !unit->output_count)
    return 0;

  double kept = 1;
  for (uint32_t k = c; k < compute->counter_count; ++k)
    kept *= isReduced(unit, k) ? 1 : compute->trips[k];
  double elements = (double)machine->vector_bytes / sambaDTypeBytes(unit->outputs[0].dtype);
  double nests = (double)sambaTripProduct(compute->trips, compute->token_level, c);
  return fmin(1, ceil(elements / kept) / nests);
}

SambaComputeLaw sambaComputeLaw(const SambaUnit *unit, const SambaMachine *machine) {
  const SambaCompute *compute = &unit->compute;
  ProgramCost before, after;
  bool reduces = splitProgram(unit, &before, &after);
  double lanes = lanesOf(unit, machine), tail_rate = (double)machine->tail_transcendentals;
  bool has_tail = before.tail + after.tail > 0;
  SambaComputeLaw law;

  if (compute->program.systolic) {
    const SambaLaneOp *mac = &compute->program.ops[sambaPcuMac(unit)];
    uint32_t a = sambaDTypeBytes(unit->inputs[mac->operands[0]].dtype);
    uint32_t b = sambaDTypeBytes(unit->inputs[mac->operands[1]].dtype);
    SambaArrayFiring firing = {1, 1, (int64_t)sambaPcuPass(unit).depth, 1, a > 2 || b > 2};
    law = (SambaComputeLaw){.work = sambaArrayCycles(machine, &firing),
                            .latency = sambaArrayLatency(machine, has_tail),
                            .first = 1};
  } else {
    double points = vectorsOf(unit, lanes, true);
    double passes = fmax(1, ceil(before.stages / (double)machine->simd_stages));
    law = (SambaComputeLaw){.work = points * fmax(passes, ceil(before.tail / tail_rate)),
                            .latency = sambaSimdLatency(machine, has_tail),
                            .first = firstVector(unit, machine)};
    bool folds = reduces && compute->counter_count > compute->token_level &&
                 isReduced(unit, compute->counter_count - 1);
    law.latency += folds ? ceil(log2(lanes)) * (double)machine->simd_stage_cycles : 0;
  }

  double results = reduces ? vectorsOf(unit, lanes, false) : 0;
  double passes = fmax(1, ceil(after.stages / (double)machine->simd_stages));
  law.work = fmax(fmax(law.work, 1), results * fmax(passes, ceil(after.tail / tail_rate)));
  return law;
}

/*===-- Memory --------------------------------------------------------------------------------===*/

static bool isGuardedAlong(const SambaAccess *access, uint32_t counter) {
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (access->guards[g].strides[counter])
      return true;
  return false;
}

enum { mostGuardSteps = 1 << 16 };

/* The share of the steps at which the guard holds, counted over the counters that move it. */
static double enabledShare(const SambaAccess *access, const SambaGuard *guard) {
  uint32_t moving[SAMBA_MAX_COUNTERS], at[SAMBA_MAX_COUNTERS] = {0};
  uint32_t count = 0;
  uint64_t steps = 1, enabled = 0, seen = 0;
  for (uint32_t c = 0; c < access->counter_count; ++c)
    if (guard->strides[c] && access->trips[c] > 1 && count < SAMBA_MAX_COUNTERS) {
      moving[count++] = c;
      steps *= access->trips[c] < mostGuardSteps ? access->trips[c] : mostGuardSteps;
      steps = steps < mostGuardSteps ? steps : mostGuardSteps;
    }

  int64_t value = guard->constant;
  for (; seen < steps; ++seen) {
    enabled += value >= 0 && value < guard->limit;
    uint32_t k = count;
    while (k-- > 0) {
      value += guard->strides[moving[k]];
      if (++at[k] < access->trips[moving[k]])
        break;
      value -= guard->strides[moving[k]] * (int64_t)access->trips[moving[k]];
      at[k] = 0;
    }
  }
  return (double)enabled / (double)seen;
}

static int64_t commonDivisor(int64_t a, int64_t b) {
  return (int64_t)sambaGreatestDivisor((uint64_t)llabs(a), (uint64_t)llabs(b));
}

SambaMemoryLaw sambaMemoryLaw(const SambaSection *section, const SambaUnit *unit,
                              const SambaMachine *machine) {
  bool load = unit->kind == SAMBA_UNIT_LOAD;
  const SambaPort *port = load ? &unit->outputs[0] : &unit->inputs[0];
  const SambaAccess *access = &port->access;
  int64_t element = sambaDTypeBytes(port->dtype), burst = machine->dram_burst_bytes;
  uint32_t outermost = access->token_level + (access->has_index ? access->index_counters : 0);
  uint32_t level = access->counter_count;
  double run = (double)element;

  /* A run: dense counters, and one more whose steps leave no whole burst between them. */
  while (level > outermost) {
    uint32_t c = level - 1;
    bool dense = (double)(access->strides[c] * element) == run && !isGuardedAlong(access, c);
    if (access->trips[c] != 1 && !dense)
      break;
    run *= access->trips[c];
    level = c;
  }
  if (level > outermost) {
    double stride = (double)(access->strides[level - 1] * element);
    if (stride >= run && stride - run < (double)burst) {
      double share = 1; /* guards cut a run at its ends */
      for (uint32_t g = 0; g < access->guard_count; ++g)
        if (access->guards[g].strides[level - 1])
          share *= enabledShare(access, &access->guards[g]);
      run += stride * fmax(0, (double)access->trips[level - 1] * share - 1);
      --level;
    }
  }

  /* Where runs begin in a burst, and whether the next begins in the burst in which one ends. */
  int64_t grain = commonDivisor(burst, access->base * element);
  double gap = (double)burst;
  for (uint32_t c = 0; c < level; ++c)
    if (access->trips[c] > 1) {
      grain = commonDivisor(grain, access->strides[c] * element);
      gap = (double)(access->strides[c] * element) - run;
    }
  if (access->has_index)
    grain = commonDivisor(grain, access->index_stride * element);
  double bytes = ceil(run / (double)grain) * (double)grain + (double)(burst - grain);
  if (gap >= 0)
    bytes -= fmax(0, (double)(burst - grain) - gap);

  double share = 1;
  for (uint32_t g = 0; g < access->guard_count; ++g)
    if (level == access->counter_count || !access->guards[g].strides[level])
      share *= enabledShare(access, &access->guards[g]);
  double runs = (double)sambaTripProduct(access->trips, access->token_level, level);
  double width =
      fmin((double)machine->ag_bytes, (double)sambaPortVectorBytes(section, unit, port, machine));
  /* A run that begins anywhere meets one channel more than it fills. */
  double place = (double)machine->dram_interleave_bytes;
  double requests = fmax(1, (bytes + place - (double)grain) / place);
  return (SambaMemoryLaw){.bytes = runs * share * bytes,
                          .requests = runs * share * requests,
                          .issue = runs * share * fmax(1, bytes / width) + runs * (1 - share),
                          .runs = runs * share,
                          .run = run,
                          .level = level};
}

/*===-- PMUs ----------------------------------------------------------------------------------===*/

/* Tokens whose cycles are looked at. */
enum { mostTokens = 16 };

double sambaPmuTokenCycles(const SambaSection *section, const SambaUnit *unit, bool output,
                           uint32_t index, const SambaMachine *machine,
                           SambaPortPatterns *patterns) {
  const SambaPort *port = output ? &unit->outputs[index] : &unit->inputs[index];
  uint64_t width = sambaPortVectorBytes(section, unit, port, machine);
  if (width > (uint64_t)machine->pmu_port_bytes)
    width = (uint64_t)machine->pmu_port_bytes;
  SambaPortCycles *cycles = sambaPortCyclesCreate(patterns, &unit->buffer, port, width);
  uint64_t tokens = sambaPortTokens(unit, output, index);
  if (sambaPortCyclesAreFixed(cycles) || tokens < 2)
    return fmax(1, (double)sambaPortTokenCycles(cycles, 0));

  uint64_t looked = tokens < mostTokens ? tokens : mostTokens;
  double sum = 0;
  for (uint64_t i = 0; i < looked; ++i)
    sum += (double)sambaPortTokenCycles(cycles, i * tokens / looked);
  return fmax(1, sum / (double)looked);
}

double sambaTokenVectors(const SambaPort *port, SambaStreamKind kind, uint64_t width) {
  double elements = (double)port->token_elements;
  double bytes = elements * sambaDTypeBytes(port->dtype);
  double vectors = kind == SAMBA_STREAM_SCALAR ? elements : ceil(bytes / (double)width);
  return fmax(vectors, 1);
}
