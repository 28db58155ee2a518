/* What is known of a token before its end: data from memory come unevenly, and a STORE behind units
 * that pass them on, element by element, writes them as they come. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H

#include "backend/sim/timing/engine/timing_state.h"

/* Finds the streams on the way from a LOAD to a STORE that such units join. */
void sambaPartialTokensBuild(SambaEngine *engine);
/* So many vectors of the token that was pushed last have left by `at`. */
void sambaPartialTokenTell(SambaEngine *engine, uint32_t stream, uint64_t vectors, uint64_t at);
/* A COMPUTE has begun with a firing: what is known of its input tokens holds for its results. */
void sambaPartialTokenPass(SambaEngine *engine, uint32_t actor);

#endif
