/* Writing the data of symbols into an output file, hashed on the way (private to the writer). */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_WEIGHTS_H
#define SAMBA_BACKEND_PEF_CONTAINER_WEIGHTS_H

#include "backend/pef/pef_types.h"

/* Writes the symbol's data at `offset` of `fd` (fd -1: hashes it only) and puts the checksum into
 * the symbol; one that is there already must agree. */
SambaStatus sambaPefWriteData(SambaPefSymbol *symbol, int fd, const char *path, uint64_t offset);

/* Gives the next bytes of a symbol's data to the sink, front to back. */
SambaStatus sambaPefSinkWrite(SambaPefSink *sink, const void *data, uint64_t size);

#endif
