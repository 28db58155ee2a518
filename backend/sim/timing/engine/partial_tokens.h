/* Vectors whose times are known one by one: data from memory come unevenly, and a STORE behind
 * units that pass them on, element by element, writes them as they come. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H

#include "backend/sim/timing/engine/timing_state.h"

/* Finds the streams on the way from a LOAD to a STORE that such units join. */
void sambaPartialTokensBuild(SambaEngine *engine);
/* The next vector leaves at `at`, or when the link can take it. */
void sambaPartialTokensAdd(SambaEngine *engine, uint32_t stream, uint64_t at);
/* Those who wait for the vectors that were added go on. */
void sambaPartialTokensTell(SambaEngine *engine, uint32_t stream);
/* The last vector of the token that was pushed last has left at `last`: so have all others. */
void sambaPartialTokensEnd(SambaEngine *engine, uint32_t stream, uint64_t last);
/* When vector `number` arrives; SAMBA_TIME_UNKNOWN: that is not known yet. */
uint64_t sambaPartialTokensArrival(const SambaEngine *engine, const SambaCursor *cursor,
                                   uint64_t number);
/* A COMPUTE begins with a firing. */
void sambaPartialTokensBegin(SambaEngine *engine, uint32_t actor);
/* It goes on as far as is known of its inputs. */
void sambaPartialTokensPass(SambaEngine *engine, uint32_t actor);

#endif
