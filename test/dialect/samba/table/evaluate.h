/* A naive evaluator of stage graphs for tests: scalar loops in program order, host arithmetic, no
 * tiling. */
#ifndef SAMBA_TEST_DIALECT_SAMBA_TABLE_EVALUATE_H
#define SAMBA_TEST_DIALECT_SAMBA_TABLE_EVALUATE_H

#include "backend/stage/stage.h"

/* values[t] holds one double per element of tensor t (allocated by the caller for
 * arguments; made here for the others, malloc). Elements are kept as the numbers that the
 * tensor's dtype can hold. */
void evaluateStageGraph(const SambaStageGraph *graph, double **values);

/* With true, f32 is computed in double from now on, and no operation rounds to it: what central
 * differences need. Constants of programs stay the f32 numbers that they are. */
void evaluateInDouble(bool in_double);

/* The number that the bits of an element stand for. */
double evaluateBits(SambaDType dtype, uint64_t bits);

#endif
