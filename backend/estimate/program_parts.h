/* How a lane program fills PCUs: the order of its operations, and how far one PCU gets. Planner and
 * splitter ask here. The checker counts for itself on purpose.
 *
 * A PCU holds simd_stages simple operations and reductions. A conversion takes a stage too, while
 * one is left and the tail has not begun. Then comes the tail: one transcendental function and any
 * conversions. The PCU of a systolic array has no stages: it holds the MAC, and in its tail what
 * works on the MAC's result alone. Constants and counters are wired and take nothing. */
#ifndef SAMBA_BACKEND_ESTIMATE_PROGRAM_PARTS_H
#define SAMBA_BACKEND_ESTIMATE_PROGRAM_PARTS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* A program in the order in which its operations enter the PCUs. */
typedef struct SambaOrderedProgram {
  const SambaLaneOp *ops;
  uint32_t op_count;
  uint32_t input_count; /* values [0, input_count) are the inputs */
  bool systolic;        /* the first ordered operation is the MAC of the array */
  uint32_t *order;      /* operation indices, without value sources */
  uint32_t count;       /* of the ordered operations */
  uint32_t feeding;     /* the first of them feed the reduction or are it; all when there is none */
  bool reduces;
} SambaOrderedProgram;

/* Fills order, count, feeding and reduces from the fields before them: operations as they stand,
 * those that feed the reduction first. `order` has room for all operations. */
void sambaProgramOrder(SambaOrderedProgram *program);

/* The position after the last operation that one PCU takes when it begins at `first`, by stages,
 * tail and reduction. What follows a reduction shares a PCU with what feeds it only when all of the
 * program fits one PCU or runs on the array. Ports and registers may ask for less. */
uint32_t sambaProgramPartEnd(const SambaOrderedProgram *program, const SambaMachine *machine,
                             uint32_t first);

/* PCUs that the program takes, one at least. More are needed when more values live between two PCUs
 * than these have ports. */
uint32_t sambaProgramParts(const SambaOrderedProgram *program, const SambaMachine *machine);

#endif
