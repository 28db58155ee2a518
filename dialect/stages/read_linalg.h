/* The reader of sections: operations of arith, tensor and linalg. */
#ifndef SAMBA_DIALECT_STAGES_READ_LINALG_H
#define SAMBA_DIALECT_STAGES_READ_LINALG_H

#include "dialect/stages/section_reader.h"

/* Reads the operation that the reader is at. */
typedef SambaStatus (*SambaReadOperation)(SambaSectionReader *reader);
/* NULL for an operation that is none of these. */
SambaReadOperation sambaFindLinalgReader(MlirOperation operation);
/* Whether a tensor.insert_slice only says where the linalg.generic in front of it writes: nobody
 * else reads the generic. Then the two are one stage, and its mapping is the generic's. */
bool sambaInsertSliceIsPartialWrite(MlirOperation operation);

#endif
