/* What the two files of the splitting of lane programs share: how a program is cut into parts. */
#ifndef SAMBA_BACKEND_SPLIT_SPLIT_INTERNAL_H
#define SAMBA_BACKEND_SPLIT_SPLIT_INTERNAL_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"
#include "support/base/index.h"

/* A value that a part takes on a stream: from the part `from`, or an input of the unit
 * (SAMBA_NO_INDEX). */
typedef struct SambaSplitTake {
  uint32_t value, from;
} SambaSplitTake;

typedef struct SambaSplitPart {
  uint32_t first, end;    /* of the ordered operations */
  bool systolic, reduced; /* reduced: runs after the reduction, on the parallel counters */
  uint32_t take_count, give_count;
  SambaSplitTake *takes;
  uint32_t *gives; /* values that later parts take from this one */
} SambaSplitPart;

typedef struct SambaSplitCut {
  uint32_t *order; /* operation indices; a value source is in no part's operations: it comes where
                      it is used */
  uint32_t part_count;
  SambaSplitPart *parts;
  uint32_t *output_part; /* of each output port of the unit */
} SambaSplitCut;

/* Cuts the unit's program into parts that each fit a PCU; one part when all of it does. */
SambaStatus sambaSplitCut(const SambaUnit *unit, const SambaMachine *machine, SambaArena *arena,
                          SambaSplitCut *out);

static inline bool sambaSplitIsSource(const SambaUnit *unit, uint32_t value) {
  return value >= unit->input_count &&
         sambaLaneOpClass(unit->compute.program.ops[value - unit->input_count].opcode) == 'V';
}

#endif
