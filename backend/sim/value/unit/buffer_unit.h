/* BUFFER: a ring of slots that write ports fill and read ports send from. */
#ifndef SAMBA_BACKEND_SIM_VALUE_UNIT_BUFFER_UNIT_H
#define SAMBA_BACKEND_SIM_VALUE_UNIT_BUFFER_UNIT_H

#include "backend/sim/value/unit/unit_run.h"

/* Once per call. */
void sambaBufferPrepare(SambaSectionRun *run, SambaUnitRun *unit);
/* Releases the blocks of a prepared buffer. */
void sambaBufferFinish(SambaSectionRun *run, SambaUnitRun *unit);
/* Writes and reads as many tokens as queues and slots allow. Fault: read of never-written memory.
 */
SambaStatus sambaBufferFire(SambaSectionRun *run, SambaUnitRun *unit);
bool sambaBufferDone(const SambaUnitRun *unit);

/* What a port of a buffer waits for: a queue, or (NULL) another port of the buffer. */
const SambaQueue *sambaBufferWaits(const SambaUnitRun *unit, bool output, uint32_t port,
                                   bool *out_other_is_output, uint32_t *out_other);
/* A port that still has tokens to take or send. */
void sambaBufferFirstWaiting(const SambaUnitRun *unit, bool *out_output, uint32_t *out_port);

/* How the elements of what a read port sends may lie: in the slot when nothing is copied, or, for
 * guarded ports, in a copy without repeats. False: its tokens are copied out as they are. */
bool sambaBufferViewLayout(SambaArena *arena, const SambaPort *port, SambaBlockLayout *out_layout);

#endif
