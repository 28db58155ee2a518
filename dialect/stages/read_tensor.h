/* The reader of sections: constants and operations of tensor. */
#ifndef SAMBA_DIALECT_STAGES_READ_TENSOR_H
#define SAMBA_DIALECT_STAGES_READ_TENSOR_H

#include "dialect/stages/section_reader.h"

/* Reads the operation that the reader is at. */
typedef SambaStatus (*SambaReadOperation)(SambaSectionReader *reader);
/* NULL for an operation that is none of these. */
SambaReadOperation sambaFindTensorReader(MlirOperation operation);
/* Whether a tensor.insert_slice only says where the stage in front of it writes: nobody else reads
 * the stage. Then the two are one stage, and its mapping is that of the linalg.generic. */
bool sambaInsertSliceIsPartialWrite(MlirOperation operation);

#endif
