/* The attributes of the rdu dialect from C. The adapters of sections to structs are in
 * section/section_io.h. */
#ifndef SAMBA_DIALECT_RDU_RDU_H
#define SAMBA_DIALECT_RDU_RDU_H

#include "backend/machine/machine.h"
#include "backend/stage/stage.h"
#include "dialect/bridge/hooks.h"

/* Hooks of the dialect: any rdu.* attribute of IR, and the contents of #rdu.machine and
 * #rdu.mapping. */
bool sambaVerifyRduAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                             MlirNamedAttribute attribute);
SambaStatus sambaCheckRduAttribute(MlirStringRef mnemonic, MlirStringRef head, MlirAttribute body);

/* The machine of a #rdu.machine attribute (its sources borrow text of the attribute, which lives as
 * long as the context). */
SambaStatus sambaMachineFromAttribute(MlirAttribute attribute, SambaMachine *out_machine);
/* A shipped machine by name only, anything else with every parameter. */
MlirAttribute sambaMachineToAttribute(MlirLocation location, const SambaMachine *machine);

/* #rdu.mapping. From: what the attribute does not say stays zero. To: writes only what is
 * not zero. */
SambaStatus sambaMappingFromAttribute(MlirAttribute attribute, SambaMapping *out_mapping);
MlirAttribute sambaMappingToAttribute(MlirLocation location, const SambaMapping *mapping,
                                      uint32_t operand_count);

#endif
