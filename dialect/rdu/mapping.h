/* #rdu.mapping as struct SambaMapping, and where operations carry it. */
#ifndef SAMBA_DIALECT_RDU_MAPPING_H
#define SAMBA_DIALECT_RDU_MAPPING_H

#include "backend/map/stage.h"

#include "mlir-c/IR.h"

/* The discardable attribute: one #rdu.mapping, or an array of them for an operation of several
 * stages. */
#define SAMBA_MAPPING_ATTRIBUTE "rdu.mapping"

/* Fills *out_mapping from the operation's attribute; all zero (pipeline_dim -1) and false when
 * there is none. */
bool sambaMappingOfOperation(MlirOperation operation, uint32_t ordinal, SambaMapping *out_mapping);
/* Sets the mappings of the operation's stages. */
void sambaMappingSetOnOperation(MlirOperation operation, uint32_t count,
                                const SambaMapping *mappings);

#endif
