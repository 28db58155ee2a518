/* The initial data of symbols. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_INITIAL_DATA_H
#define SAMBA_BACKEND_PEF_CONTAINER_INITIAL_DATA_H

#include "backend/pef/pef_types.h"

/* Reads the init data of one symbol (blob or file; init_bytes bytes, elements of init_dtype) into
 * `buffer` and verifies its checksum. A file that has become shorter since is a fault with the
 * symbol's name. Safe to call from several threads. */
SambaStatus sambaPefReadInit(const SambaPef *pef, const SambaPefSymbol *symbol, void *buffer);
/* The same in pieces, without verifying: bytes [offset, offset + size) of the data. */
SambaStatus sambaPefReadInitPart(const SambaPef *pef, const SambaPefSymbol *symbol, uint64_t offset,
                                 void *buffer, uint64_t size);
/* Verifies the checksum without keeping the data. */
SambaStatus sambaPefVerifyInit(const SambaPef *pef, const SambaPefSymbol *symbol);

#endif
