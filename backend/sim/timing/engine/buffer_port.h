/* Ports of buffers: when a port may begin with a token, which port of a side of the memory is next,
 * and what the arrays of the banks add. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_BUFFER_PORT_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_BUFFER_PORT_H

#include "backend/sim/timing/engine/timing_state.h"

/* Its slot is full, or free, for the next token of the port. */
bool sambaBufferPortMayBegin(SambaEngine *engine, const SambaActor *actor);
/* In place: the earliest cycle in which the next firing of the write port can begin. */
uint64_t sambaBufferPortFollows(SambaEngine *engine, const SambaActor *write);
/* The turn of a port that could begin now, at its side of the memory: when to look again, or now.
 * SAMBA_TIME_UNKNOWN: it is looked at again anyway. */
uint64_t sambaBufferPortTurn(SambaEngine *engine, uint32_t actor);
/* What it does when it begins. */
void sambaBufferPortStart(SambaEngine *engine, SambaActor *actor);
/* Others may take cycles that the token of a port does not reckon with, of its arrays or of the
 * lanes on its way. Then, when its end has come, it goes on for as many. */
bool sambaBufferPortMayGoOn(const SambaEngine *engine, const SambaActor *actor);
bool sambaBufferPortGoesOn(SambaEngine *engine, uint32_t actor);
/* In place: the end of a read that a write follows is known. */
void sambaBufferPortTell(SambaEngine *engine, SambaActor *read);
void sambaBufferPortFinishSlot(SambaEngine *engine, SambaActor *actor);

#endif
