/* The records of a PEF as bytes, before they go into the container (private to the writer). */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_RECORD_WRITER_H
#define SAMBA_BACKEND_PEF_CONTAINER_RECORD_WRITER_H

#include "backend/pef/schema.h"

typedef SAMBA_ARRAY(uint8_t) SambaPefBuffer;

/* One ELF section each, header and checksum included. */
typedef struct SambaPefRecords {
  SambaPefBuffer tables[SAMBA_PEF_TABLE_COUNT];
  SambaPefBuffer blobs[SAMBA_PEF_BLOB_COUNT];
} SambaPefRecords;

/* Encodes all tables. Sizes depend on the number of records and the texts only. Children are
 * numbered in the order of their parents, texts in the order of their first use: equal contents
 * give equal bytes. */
SambaStatus sambaPefRecordsEncode(const SambaPef *pef, SambaPefRecords *out_records);
void sambaPefRecordsFree(SambaPefRecords *records);

#endif
