/* What stage graphs compute, straight from their definition: scalar loops in program order, the
 * host's arithmetic, no tiles and no units. Nothing of the way down is used, so it can judge the
 * way down. */
#ifndef SAMBA_BACKEND_EVALUATE_EVALUATE_H
#define SAMBA_BACKEND_EVALUATE_EVALUATE_H

#include "backend/stage/stage.h"

/* values[t] holds one double per element of tensor t, as the tensor's dtype can hold it: given for
 * arguments, made here where it is NULL (free it). in_double: f32 is computed in double, and no
 * operation rounds to it. */
SambaStatus sambaEvaluateStages(const SambaStageGraph *graph, bool in_double, double **values);

/* The number that the bits of an element stand for. */
double sambaEvaluateBits(SambaDType dtype, uint64_t bits);

#endif
