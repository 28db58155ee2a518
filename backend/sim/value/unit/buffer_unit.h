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

/* The layout of what a read port sends when nothing is copied; false: its tokens are copied out and
 * dense. */
bool sambaBufferViewLayout(SambaArena *arena, const SambaPort *port, SambaBlockLayout *out_layout);

#endif
