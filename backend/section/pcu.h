/* What a PCU has to hold: the law of its inputs, sums and array (docs/execution-model.md, "What a
 * PCU holds"). A PCU owns its input FIFOs, the registers between its stages and the accumulators of
 * its array. The elements of an operand pass once, in the order in which they are used; what is
 * used again stays in registers or is sent again. Pure functions of a unit; the checkers, the code
 * generator and reports ask the same ones. */
#ifndef SAMBA_BACKEND_SECTION_PCU_H
#define SAMBA_BACKEND_SECTION_PCU_H

#include "backend/section/section.h"

/* How the elements of one input's tokens are used, counter by counter. */
typedef struct SambaPcuWalk {
  uint64_t elements; /* of a token, in the order of their use */
  uint64_t held;     /* elements that are used again, so that registers must hold them; 0: none */
  uint32_t repeats;  /* the counter that uses them again; SAMBA_NO_INDEX: none */
  uint32_t broken;   /* a counter whose stride is not that of the next element; SAMBA_NO_INDEX */
  uint64_t expected; /* the stride that it should have */
} SambaPcuWalk;

/* The shape of one pass of the systolic array: the inner counters of a systolic unit. */
typedef struct SambaPcuPass {
  uint64_t rows, columns, depth;
  uint32_t misplaced; /* a counter that no pass can have there; SAMBA_NO_INDEX: none */
} SambaPcuPass;

/* Reduced counters that take more than one step, as bits. */
uint64_t sambaPcuReduced(const SambaUnit *unit);
/* Inputs that join only after the reduction: they are taken when the reduced counters have wrapped.
 * out_late has one entry per input. */
void sambaPcuLateInputs(const SambaUnit *unit, bool *out_late);
/* The walk of an input; late as above. */
SambaPcuWalk sambaPcuWalkInput(const SambaUnit *unit, uint32_t input, bool late);
/* The pass of a systolic unit. */
SambaPcuPass sambaPcuPass(const SambaUnit *unit);
/* The number of the mac of a systolic unit among its operations; SAMBA_NO_INDEX: it has none. */
uint32_t sambaPcuMac(const SambaUnit *unit);
/* Running sums of each reduction while the reduced counters run. */
uint64_t sambaPcuSums(const SambaUnit *unit);

/* The most values that live between two stages of the unit's program. Constants are wired. */
uint64_t sambaPcuLiveValues(const SambaUnit *unit);

/* Vectors of `vector_bytes` that hold what a walk uses again: its run may begin within a vector. */
uint64_t sambaPcuHeldVectors(const SambaPcuWalk *walk, SambaDType dtype, int64_t vector_bytes);
/* Vectors of `lanes` values of 4 bytes that hold the running sums of a SIMD program. */
uint64_t sambaPcuSumVectors(const SambaUnit *unit, int64_t lanes);

#endif
