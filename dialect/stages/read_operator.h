/* The reader of sections: operations of the samba dialect. */
#ifndef SAMBA_DIALECT_STAGES_READ_OPERATOR_H
#define SAMBA_DIALECT_STAGES_READ_OPERATOR_H

#include "dialect/stages/section_reader.h"

/* Reads the operation that the reader is at by its row of the operator table. */
SambaStatus sambaReadOperator(SambaSectionReader *reader);

#endif
