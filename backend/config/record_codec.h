/* The codec of records: between bits and the structs that records.h binds them to. */
#ifndef SAMBA_BACKEND_CONFIG_RECORD_CODEC_H
#define SAMBA_BACKEND_CONFIG_RECORD_CODEC_H

#include "backend/config/records.h"
#include "support/container/byte_buffer.h"

/* Writing appends to `out`, and fails when a number has no room in its bits; reading when
 * the bytes end, a count exceeds what is left, or padding is not zero. Everything read lives in the
 * arena. */
SambaStatus sambaRecordWrite(SambaRecordId id, const void *structure, SambaByteBuffer *out);
SambaStatus sambaRecordRead(SambaRecordId id, const uint8_t *data, size_t size, SambaArena *arena,
                            void *structure);
/* Bytes that the record takes when it begins at a multiple of 64 bits, up to the next one. Numbers
 * are not looked at, only counts and what says which numbers are there: a record without counts may
 * be NULL, and so may an array of such records; no optional numbers are there then. */
uint64_t sambaRecordBytes(SambaRecordId id, const void *structure);

#endif
