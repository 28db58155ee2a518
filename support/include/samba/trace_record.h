/* What was traced, as text: the record by which a model is compared with the PEF that was compiled
 * from it (sambaTraceGetRecord, sambaTraceRecordCreateFromFile, sambaSessionCheckTrace).
 *
 * It has one line for each argument, operator, result and optimizer, and a digest of all lines.
 * They depend on operators, attributes, shapes, names, regions and data flow, and on what is a loss
 * or wants a gradient; not on places in the program, data, or values of hyperparameters. */
#ifndef SAMBA_TRACE_RECORD_H
#define SAMBA_TRACE_RECORD_H

#include "samba/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAMBA_TRACE_DIGEST_BYTES = 32 };

typedef struct SambaTraceRecord SambaTraceRecord;

SAMBA_EXPORT uint32_t sambaTraceRecordGetLineCount(const SambaTraceRecord *record);
/* Without its newline; borrowed from the record. */
SAMBA_EXPORT const char *sambaTraceRecordGetLine(const SambaTraceRecord *record, uint32_t line);
/* The user's layer that the line is of; "" for none, or when it is not known. */
SAMBA_EXPORT const char *sambaTraceRecordGetLayer(const SambaTraceRecord *record, uint32_t line);
/* BLAKE3 of all lines, each with its newline: SAMBA_TRACE_DIGEST_BYTES, borrowed. */
SAMBA_EXPORT const uint8_t *sambaTraceRecordGetDigest(const SambaTraceRecord *record);

#ifdef __cplusplus
}
#endif

#endif
