/* Vectors whose times are known one by one. Those come unevenly that come from memory, from banks
 * in which some of them meet, and from units whose steps make more or less than a vector. Stores
 * write them as they come, and writes that meet in banks depend on it: streams tell them when each
 * vector comes, through units that make their results vector by vector. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_PARTIAL_TOKENS_H

#include "backend/sim/timing/engine/timing_state.h"

/* Finds the streams whose vectors come unevenly, and that lead to one who asks. */
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
/* The same of vector `vector` of the token that a port has taken last, told or not. */
uint64_t sambaPartialTokensTakenArrival(const SambaEngine *engine, SambaCursor *cursor,
                                        uint64_t vector);
/* A COMPUTE or READ begins with a firing. */
void sambaPartialTokensBegin(SambaEngine *engine, uint32_t actor);
/* A COMPUTE goes on as far as is known of its inputs. */
void sambaPartialTokensPass(SambaEngine *engine, uint32_t actor);
/* The end of a WRITE whose token is known, by the cycles of its vectors. */
uint64_t sambaPartialTokensWritten(SambaEngine *engine, const SambaActor *write,
                                   SambaCursor *cursor);

#endif
