/* The stage graph as the operator table means it: scalar loops in iteration order, no tiles, no
 * buffers. Bits, not tolerances: f32 operations rounded one by one, contractions by fma in order,
 * lane reductions lane by lane. */
#ifndef SAMBA_TEST_BACKEND_NAIVE_STAGES_H
#define SAMBA_TEST_BACKEND_NAIVE_STAGES_H

#include "backend/stage/stage.h"

/* tensors[t]: the elements of tensor t as the device stores them (row-major, little-endian).
 * Arguments are read, the others written. lanes: machine lanes that reduce together. */
void naiveEvaluate(const SambaStageGraph *graph, uint8_t **tensors, uint32_t lanes);
uint64_t naiveElements(const SambaStageTensor *tensor);

#endif
