/* rdu IR to PEF structs: the only adapter between the two. */
#ifndef SAMBA_LOWERING_PEF_RDU_TO_PEF_H
#define SAMBA_LOWERING_PEF_RDU_TO_PEF_H

#include "backend/pef/pef.h"
#include "lowering/pef/emit_options.h"

#include "mlir-c/IR.h"

/* Makes the PEF of a module whose sections are placed and routed rdu.sections and whose graphs are
 * lists of samba.calls with addresses (samba-assign-memory). Nothing is written; data are referred
 * to. The PEF borrows from the module's context: write it before the context goes. */
SambaStatus sambaModuleToPef(MlirOperation module, const SambaEmitOptions *options,
                             SambaPef **out_pef);

#endif
