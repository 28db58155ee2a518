/* How long each resource of the machine works for a section: no section is faster than its busiest
 * one. */
#ifndef SAMBA_BACKEND_ESTIMATE_BUSY_H
#define SAMBA_BACKEND_ESTIMATE_BUSY_H

#include "backend/machine/machine.h"
#include "backend/section/port_cycles.h"
#include "backend/section/section.h"

typedef enum {
#define X(NAME, name, what) SAMBA_RESOURCE_##NAME,
#include "backend/estimate/resources.def"
#undef X
  SAMBA_RESOURCE_COUNT
} SambaResource;

const char *sambaResourceName(SambaResource resource);

typedef struct SambaBusy {
  double cycles[SAMBA_RESOURCE_COUNT]; /* in which the resource works */
  uint32_t unit[SAMBA_RESOURCE_COUNT]; /* the busiest unit, SAMBA_NO_INDEX: the resource is none */
} SambaBusy;

/* Of all resources but the network, which is added by the second function. */
SambaBusy sambaSectionBusy(const SambaSection *section, const SambaMachine *machine,
                           SambaPortPatterns *patterns);
void sambaSectionAddNetworkBusy(const SambaSection *section, const SambaMachine *machine,
                                SambaBusy *all);
/* Cycles of the busiest resource, and which it is. */
double sambaBusyMost(const SambaBusy *all, SambaResource *out_resource);
/* Cycles of the busiest resource but the network: what a run takes at least. */
double sambaSectionBusyCycles(const SambaSection *section, const SambaMachine *machine);

#endif
