/* Call ids are places in the schedule. */
#ifndef SAMBA_PASSES_SECTION_NUMBER_CALLS_H
#define SAMBA_PASSES_SECTION_NUMBER_CALLS_H

#include "mlir-c/IR.h"

/* Numbers the calls of all graphs of a module anew, in their order. */
void sambaNumberCalls(MlirOperation module);

#endif
