/* Which streams carry views of slots instead of copies. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_VIEWS_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_VIEWS_H

#include "backend/sim/value/unit/unit_run.h"

/* The output is a read port of a buffer, nothing of its tokens needs to be copied, and its
 * consumers can walk them as they lie in the slot; out_layout says how. */
bool sambaOutputIsView(SambaArena *arena, const SambaSection *section, uint32_t unit, uint32_t port,
                       SambaBlockLayout *out_layout);

/* Sets the layout of every port: that of views where all who meet at a port agree, else dense. */
void sambaViewsChoose(SambaSectionRun *run);

#endif
