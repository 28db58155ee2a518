/* What a machine's units can hold: counters, memory, pipeline stages. Sites, lanes and routes are
 * checked apart (fabric.h, recover_streams.h), capacity of links by the route checker. */
#ifndef SAMBA_BACKEND_SECTION_CHECK_MACHINE_CHECK_H
#define SAMBA_BACKEND_SECTION_CHECK_MACHINE_CHECK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Pipeline stages of a COMPUTE unit's program; the mac of a systolic program is the array, not a
 * stage. (A systolic PCU has no stages: the array stands in their place. Nothing that takes a stage
 * may depend on what the tail computes.) */
uint32_t sambaProgramStages(const SambaUnit *unit);
/* Bytes of a BUFFER's slots, each of whole words; saturates at UINT64_MAX. */
uint64_t sambaBufferBytes(const SambaMachine *machine, const SambaUnit *unit);

/* Stages of the address pipeline that a port's pattern takes. A stage keeps one affine value up to
 * date: when a counter steps, it adds what that counter's step means, whatever the others are. So
 * the address takes one (none when it never changes), every guard takes one, and row or diagonal
 * banking takes one for the number of the row. */
uint32_t sambaAddressStages(const SambaBuffer *buffer, const SambaAccess *access);

/* Every unit fits its place on the machine: SAMBA_EXHAUSTED names unit, resource, need and limit.
 * The section has passed sambaSectionCheck. Encoder and decoder run it. */
SambaStatus sambaSectionCheckMachine(const SambaSection *section, const SambaMachine *machine);

#endif
