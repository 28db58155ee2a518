/* Builds the network of a section from the hops that its switches were recovered to. */
#ifndef SAMBA_BACKEND_SIM_CYCLE_NETWORK_ROUTES_H
#define SAMBA_BACKEND_SIM_CYCLE_NETWORK_ROUTES_H

#include "backend/sim/cycle/network/network.h"

/* The lanes are known afterwards, so the clock is made between this and the first cycle. All
 * storage is the arena's. */
void sambaNetworkBuild(SambaNetwork *network, SambaArena *arena, const SambaMachine *machine,
                       const SambaSection *section);

#endif
