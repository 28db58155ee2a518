/* The shipped machines: the columns of shipped.def. */
#ifndef SAMBA_BACKEND_MACHINE_SHIPPED_H
#define SAMBA_BACKEND_MACHINE_SHIPPED_H

#include "backend/machine/machine.h"

/* A shipped machine ("tiny", "plasticine", "sn10", "sn40l") or NULL. */
const SambaMachine *sambaMachineFind(SambaStringRef name);
/* The i-th shipped machine or NULL past the end. */
const SambaMachine *sambaMachineShipped(int index);
/* "tiny, plasticine, ...": what exists, for messages and help. */
void sambaMachineNames(SambaText *out);

#endif
