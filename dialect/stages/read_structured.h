/* The reader of sections: structured operations, linalg.generic and the named ones. */
#ifndef SAMBA_DIALECT_STAGES_READ_STRUCTURED_H
#define SAMBA_DIALECT_STAGES_READ_STRUCTURED_H

#include "dialect/stages/section_reader.h"

/* Reads the structured operation that the reader is at: a stage for each of its results that
 * somebody uses, and one behind it where a reduction does not start at its identity or is wider
 * than its result. */
SambaStatus sambaReadStructured(SambaSectionReader *reader);

#endif
