/* Targets: a shipped machine by name, or a machine file - a module with an rdu.machine
 * attribute. */
#ifndef SAMBA_PASSES_MACHINE_FILE_H
#define SAMBA_PASSES_MACHINE_FILE_H

#include "backend/machine/machine.h"

#include "mlir-c/IR.h"

/* Finds the target; the attribute lives in the location's context. Errors name the target and what
 * is wrong with it. */
SambaStatus sambaTargetMachine(MlirLocation location, const char *target, SambaMachine *out_machine,
                               MlirAttribute *out_attribute);

#endif
