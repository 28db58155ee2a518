/* How a lane program fills PCUs; see program_parts.h. */
#include "backend/estimate/program_parts.h"

#include "support/base/memory.h"

#include <stdlib.h>

static char classAt(const SambaOrderedProgram *program, uint32_t position) {
  return sambaLaneOpClass(program->ops[program->order[position]].opcode);
}

static void markFeeding(const SambaOrderedProgram *program, uint32_t op, bool *feeds) {
  if (feeds[op])
    return;
  feeds[op] = true;
  const SambaLaneOp *lane = &program->ops[op];
  for (int i = 0; i < sambaLaneOpOperands(lane->opcode); ++i)
    if (lane->operands[i] >= program->input_count)
      markFeeding(program, lane->operands[i] - program->input_count, feeds);
}

/* Appends the operations that feed the reduction, or those that do not. */
static void appendSide(SambaOrderedProgram *program, const bool *feeds, bool feeding) {
  for (uint32_t op = 0; op < program->op_count; ++op)
    if (feeds[op] == feeding && sambaLaneOpClass(program->ops[op].opcode) != 'V')
      program->order[program->count++] = op;
}

void sambaProgramOrder(SambaOrderedProgram *program) {
  bool *feeds = sambaAllocateZeroed(program->op_count, sizeof *feeds);
  program->count = 0;
  program->reduces = false;

  for (uint32_t op = 0; op < program->op_count; ++op)
    if (sambaLaneOpClass(program->ops[op].opcode) == 'R') {
      markFeeding(program, op, feeds);
      program->reduces = true;
    }

  appendSide(program, feeds, true);
  program->feeding = program->count;
  appendSide(program, feeds, false);
  if (!program->reduces)
    program->feeding = program->count;
  free(feeds);
}

/* Whether the array's PCU takes the operation at `position` behind the one before it. */
static bool followsAlone(const SambaOrderedProgram *program, uint32_t position) {
  const SambaLaneOp *lane = &program->ops[program->order[position]];
  uint32_t before = program->input_count + program->order[position - 1];
  return sambaLaneOpOperands(lane->opcode) == 1 && lane->operands[0] == before;
}

/* What a PCU holds so far. */
typedef struct PcuFill {
  uint32_t stages;
  bool tail, transcendental;
} PcuFill;

/* Puts one more operation into the PCU; false when it does not fit. */
static bool takeOperation(PcuFill *fill, uint32_t stages, char kind) {
  if (kind == 'T') {
    if (fill->transcendental)
      return false;
    fill->tail = fill->transcendental = true;
    return true;
  }

  if (kind == 'C' && (fill->tail || fill->stages == stages)) {
    fill->tail = true;
    return true;
  }
  if (fill->tail || fill->stages == stages)
    return false;
  ++fill->stages;
  return true;
}

uint32_t sambaProgramPartEnd(const SambaOrderedProgram *program, const SambaMachine *machine,
                             uint32_t first) {
  bool array = program->systolic && first == 0;
  uint32_t stages = array ? 0 : (uint32_t)machine->simd_stages;
  uint32_t end = array ? 1 : first;
  PcuFill fill = {.tail = array};

  while (end < program->count && (!array || followsAlone(program, end)) &&
         takeOperation(&fill, stages, classAt(program, end)))
    ++end;

  bool mixes = program->reduces && first < program->feeding && end > program->feeding;
  bool whole = first == 0 && end == program->count;
  return mixes && !whole && !array ? program->feeding : end;
}

uint32_t sambaProgramParts(const SambaOrderedProgram *program, const SambaMachine *machine) {
  uint32_t parts = 0;
  for (uint32_t first = 0; first < program->count; ++parts)
    first = sambaProgramPartEnd(program, machine, first);
  return parts ? parts : 1;
}
