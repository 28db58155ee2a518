/* Slots of buffers as small as the orders of their streams allow. */
#ifndef SAMBA_BACKEND_CODEGEN_SLOTS_H
#define SAMBA_BACKEND_CODEGEN_SLOTS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Cuts the slots of the section's buffers where all ports step the same outermost counters. The
 * parts hold together no more than the slots did, so what is read can follow what is written more
 * closely, and nothing that could be filled ahead no longer can. gathers: slots that gather what is
 * stored stay as they are. */
void sambaFitSlots(const SambaMachine *machine, SambaSection *section, bool gathers);

#endif
