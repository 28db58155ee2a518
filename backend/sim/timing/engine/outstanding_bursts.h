/* Address generators: credits for outstanding bursts, and reads that are merged with reads of the
 * same burst that are on their way. */
#ifndef SAMBA_BACKEND_SIM_TIMING_ENGINE_OUTSTANDING_BURSTS_H
#define SAMBA_BACKEND_SIM_TIMING_ENGINE_OUTSTANDING_BURSTS_H

#include "backend/sim/timing/engine/timing_state.h"

/* Cycles a generator issues ahead within one event. */
enum { SAMBA_ISSUE_AHEAD = 32 };

void sambaAddressGeneratorInit(SambaEngine *engine,
                               SambaAddressGenerator *generator); /* actor_count is set */
void sambaAddressGeneratorEvent(SambaEngine *engine, uint32_t generator);
/* Looks at all of its actors at cycle `at`. */
void sambaAddressGeneratorWake(SambaEngine *engine, uint32_t generator, uint64_t at);
/* Says of a generator whose actors are known how far it looks ahead. */
void sambaAddressGeneratorLookAhead(SambaEngine *engine, uint32_t generator);
/* Whether `bursts` more may be outstanding, from cycle `returned` of the generator on; if not, the
 * generator wakes when some have come back. */
bool sambaAddressGeneratorHasCredits(SambaEngine *engine, uint32_t generator, uint64_t bursts);
/* Where reads are merged: keeps what is known of a request; returns its slot. */
uint32_t sambaAddressGeneratorRemember(SambaEngine *engine, SambaGeneratorRequest request);
/* True when a read of this burst is on its way: the request in `slot` waits for that one.
 * Otherwise the burst is remembered, for later reads. */
bool sambaAddressGeneratorMergeRead(SambaEngine *engine, uint64_t burst, uint32_t generator,
                                    uint32_t slot);
/* The completion that dram.h asks for. The owner of a request is one of `memories`; its slot is
 * where it was remembered, or else the part of its token: a LOAD's group, a STORE's token. */
void sambaAddressGeneratorCompletion(void *engine, uint32_t owner, uint32_t slot,
                                     SambaDramTimes times);

#endif
