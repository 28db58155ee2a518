/* The way of a stream through the switches: a tree of hops. */
#ifndef SAMBA_BACKEND_SECTION_FABRIC_ROUTES_H
#define SAMBA_BACKEND_SECTION_FABRIC_ROUTES_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct SambaRoutes {
  uint32_t *before;   /* of each hop: the one that leads to it, SAMBA_NO_INDEX: the source */
  uint64_t *cycles;   /* from the source to the far end of each hop */
  uint32_t *switches; /* as many */
  uint32_t *spare;    /* FIFOs from which a destination still gets vectors when a hop is blocked */
  uint32_t *ends;     /* of each destination: its last hop, SAMBA_NO_INDEX: a link of its own */
} SambaRoutes;

/* The ways of all streams. */
SambaRoutes *sambaRoutesFind(const SambaMachine *machine, const SambaSection *section,
                             SambaArena *arena);

#endif
