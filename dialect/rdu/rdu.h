/* The rdu dialect from C: the hooks of its ops and attributes. The adapters to structs are in
 * section_io.h. */
#ifndef SAMBA_DIALECT_RDU_RDU_H
#define SAMBA_DIALECT_RDU_RDU_H

#include "backend/machine/machine.h"
#include "backend/plan/stage/stage.h"
#include "dialect/bridge/bridge.h"
#include "support/text/string_ref.h"

SambaOpHooks sambaRduOpHooks(MlirStringRef name);
bool sambaVerifyRduAttribute(MlirOperation op, SambaAttributePlace place, unsigned index,
                             MlirNamedAttribute attribute);
SambaStatus sambaCheckRduAttribute(SambaStringRef mnemonic, SambaStringRef head,
                                   MlirAttribute body);

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
