/* Targets: a shipped machine by name, or a machine file - a module with an rdu.machine
 * attribute. */
#ifndef SAMBA_DIALECT_RDU_MACHINE_FILE_H
#define SAMBA_DIALECT_RDU_MACHINE_FILE_H

#include "backend/machine/machine.h"

#include "mlir-c/IR.h"

/* Finds the target; the attribute lives in the location's context. Errors begin with the file, line
 * and column of what is wrong. */
SambaStatus sambaTargetMachine(MlirLocation location, const char *target, SambaMachine *out_machine,
                               MlirAttribute *out_attribute);

/* The machine as a machine file: every parameter with its meaning, value and source or "assumed".
 */
void sambaMachinePrint(const SambaMachine *machine, SambaText *out);

/* The machine of a module: that of its first section, samba.section or rdu.section, else the
 * module's own. */
SambaStatus sambaModuleMachine(MlirOperation module, SambaMachine *out_machine);

#endif
