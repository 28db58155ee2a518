/* One call of a section: its units, ports and queues, made and released. */
#ifndef SAMBA_BACKEND_SIM_VALUE_NETWORK_SECTION_RUN_H
#define SAMBA_BACKEND_SIM_VALUE_NETWORK_SECTION_RUN_H

#include "backend/sim/value/unit/unit_run.h"

/* Makes a run that is ready to be scheduled; context and arguments are borrowed until the run is
 * destroyed, which it must be even after an error. */
SambaStatus sambaSectionRunCreate(const SambaValueContext *context, const SambaSection *section,
                                  const SambaBinding *bindings, const uint64_t *argins,
                                  uint32_t argin_count, SambaIndexTraces *traces,
                                  SambaSectionRun *out_run);
void sambaSectionRunDestroy(SambaSectionRun *run);

#endif
