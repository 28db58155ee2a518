/* Ending stages of structured operations: operands that are views or repeated values, operations
 * that nobody needs. */
#ifndef SAMBA_DIALECT_STAGES_STRUCTURED_STAGE_H
#define SAMBA_DIALECT_STAGES_STRUCTURED_STAGE_H

#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/stages/section_reader.h"

/* Ends the stage, whose operands' tensors are numbers of the reader's values, and appends it to the
 * graph. */
SambaStatus sambaStructuredAddStage(SambaSectionReader *reader, SambaStageBuilder *builder,
                                    uint16_t result, bool is_ours, uint32_t *ordinal);
/* A tensor for what a stage of the operation that is being read makes. */
uint32_t sambaStructuredAddTensor(SambaSectionReader *reader, const SambaTensorType *type);

#endif
