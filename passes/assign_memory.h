/* samba-assign-memory: device addresses of everything that crosses sections. */
#ifndef SAMBA_PASSES_ASSIGN_MEMORY_H
#define SAMBA_PASSES_ASSIGN_MEMORY_H

#include "backend/machine/machine.h"

#include "mlir-c/IR.h"

/* Arguments and constants: one i64. Calls: one i64 per result. Functions: start and bytes of the
 * memory that activations share. */
#define SAMBA_ADDRESS_ATTRIBUTE "rdu.address"
#define SAMBA_ADDRESSES_ATTRIBUTE "rdu.addresses"
#define SAMBA_ACTIVATIONS_ATTRIBUTE "rdu.activations"
/* On a module without sections - every result is known to have no elements - the machine. */
#define SAMBA_MODULE_MACHINE_ATTRIBUTE "rdu.machine"

enum { SAMBA_MEMORY_ALIGNMENT = 512 };
static inline uint64_t sambaMemoryRound(uint64_t bytes) {
  return (bytes + SAMBA_MEMORY_ALIGNMENT - 1) / SAMBA_MEMORY_ALIGNMENT * SAMBA_MEMORY_ALIGNMENT;
}

/* The machine of a module: that of its first section, samba.section or rdu.section, else the
 * module's own. */
SambaStatus sambaModuleMachine(MlirOperation module, SambaMachine *out_machine);

#endif
