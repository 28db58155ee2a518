/* #rdu.mapping as struct SambaMapping, and where operations carry it. */
#ifndef SAMBA_DIALECT_RDU_MAPPING_H
#define SAMBA_DIALECT_RDU_MAPPING_H

#include "backend/stage/stage.h"
#include "dialect/rdu/rdu_attribute_names.h"

#include "mlir-c/IR.h"

/* The #rdu.mapping of a stage of the operation; null when there is none. */
MlirAttribute sambaMappingAttributeOf(MlirOperation operation, uint32_t ordinal);
/* Fills *out_mapping from the operation's attribute; all zero and false when
 * there is none. */
bool sambaMappingOfOperation(MlirOperation operation, uint32_t ordinal, SambaMapping *out_mapping);
/* Sets the mappings of the operation's stages. */
void sambaMappingSetOnOperation(MlirOperation operation, uint32_t count,
                                const SambaMapping *mappings);

#endif
