/* Structs to records; see records.h. The reader is the inverse, field kind by field kind. */
#include "backend/pef/container/record_writer.h"

#include "backend/pef/container/checksum.h"
#include "support/container/string_map.h"

#include <stddef.h>
#include <stdlib.h>

/* Records of a table that lie together: a root array or the children of one record. */
typedef struct Run {
  const char *records;
  uint32_t count;
} Run;

typedef struct Encoder {
  SambaPefRecords *out;
  SambaStringMap pool; /* text to its offset */
  SAMBA_ARRAY(Run) runs[SAMBA_PEF_TABLE_COUNT];
  uint64_t counts[SAMBA_PEF_TABLE_COUNT];
} Encoder;

static uint8_t *extend(SambaPefBuffer *buffer, size_t size) {
  sambaArrayReserve(buffer, buffer->size + size);
  uint8_t *at = buffer->data + buffer->size;
  buffer->size += size;
  return at;
}

static void put32(SambaPefBuffer *buffer, uint64_t value) {
  uint32_t narrow = (uint32_t)value;
  memcpy(extend(buffer, 4), &narrow, 4);
}

static void put64(SambaPefBuffer *buffer, uint64_t value) { memcpy(extend(buffer, 8), &value, 8); }

static void putText(Encoder *encoder, SambaPefBuffer *to, SambaStringRef text) {
  SambaPefBuffer *pool = &encoder->out->blobs[SAMBA_PEF_BLOB_STRINGS];
  uint64_t offset = pool->size - SAMBA_PEF_TABLE_HEADER_BYTES;
  uint32_t present = 0;

  if (!text.size) {
    offset = 0;
  } else if (!sambaStringMapInsert(&encoder->pool, text, (uint32_t)offset, &present)) {
    offset = present;
  } else {
    char *end = (char *)extend(pool, text.size + 1);
    memcpy(end, text.data, text.size);
    end[text.size] = '\0';
  }

  put32(to, offset);
  put32(to, text.size);
}

static void putBytes(Encoder *encoder, SambaPefBuffer *to, SambaPefBlob id, SambaPefBytes bytes) {
  SambaPefBuffer *blob = &encoder->out->blobs[id];
  while (blob->size % 8)
    *extend(blob, 1) = 0;
  put64(to, bytes.size ? blob->size - SAMBA_PEF_TABLE_HEADER_BYTES : 0);
  put64(to, bytes.size);
  if (bytes.size)
    memcpy(extend(blob, bytes.size), bytes.data, bytes.size);
}

static void putChildren(Encoder *encoder, SambaPefBuffer *to, const SambaPefField *field,
                        const char *record) {
  Run run = {sambaPefFieldChildren(record, field), sambaPefFieldCount(record, field)};
  put32(to, encoder->counts[field->target]);
  put32(to, run.count);
  encoder->counts[field->target] += run.count;
  if (run.count)
    sambaArrayAppend(&encoder->runs[field->target], run);
}

static void putField(Encoder *encoder, SambaPefBuffer *to, const SambaPefField *field,
                     const char *record) {
  const void *from = sambaPefFieldAt(record, field);
  uint32_t plain = sambaPefFieldPlainBytes(field);
  if (plain)
    memcpy(extend(to, plain), from, plain);
  switch ((SambaPefFieldKind)field->kind) {
  case SAMBA_PEF_FIELD_STRING:
    putText(encoder, to, *(const SambaStringRef *)from);
    break;
  case SAMBA_PEF_FIELD_BYTES:
    putBytes(encoder, to, field->target, *(const SambaPefBytes *)from);
    break;
  case SAMBA_PEF_FIELD_CHILDREN:
    putChildren(encoder, to, field, record);
    break;
  default:
    break;
  }
}

static void encodeTable(Encoder *encoder, const SambaPef *pef, uint32_t id) {
  const SambaPefTable *table = sambaPefTable(id);
  SambaPefBuffer *to = &encoder->out->tables[id];
  if (table->place != SAMBA_PEF_PLACE_CHILD) {
    Run run;
    run.records = sambaPefTableRecords(pef, id, &run.count);
    encoder->counts[id] = run.count;
    sambaArrayAppend(&encoder->runs[id], run);
  }
  for (size_t r = 0; r < encoder->runs[id].size; ++r)
    for (uint32_t i = 0; i < encoder->runs[id].data[r].count; ++i)
      for (uint32_t f = 0; f < table->field_count; ++f)
        putField(encoder, to, &table->fields[f],
                 encoder->runs[id].data[r].records + (size_t)i * table->struct_bytes);
}

/* Fills in what extend() left room for at the start of a section. */
static void finish(SambaPefBuffer *section, bool required, uint32_t record_bytes) {
  SambaPefTableHeader header = {.flags = required ? SAMBA_PEF_TABLE_REQUIRED : 0,
                                .record_bytes = record_bytes};
  memcpy(header.magic, SAMBA_PEF_TABLE_MAGIC, sizeof header.magic);
  header.count = (section->size - sizeof header) / record_bytes;
  memcpy(section->data, &header, sizeof header);
  sambaDigestCompute(section->data, section->size, header.checksum);
  memcpy(section->data, &header, sizeof header);
}

SambaStatus sambaPefRecordsEncode(const SambaPef *pef, SambaPefRecords *out_records) {
  *out_records = (SambaPefRecords){0};
  Encoder encoder = {.out = out_records};
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    extend(&out_records->tables[t], SAMBA_PEF_TABLE_HEADER_BYTES);
  for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT; ++b)
    extend(&out_records->blobs[b], SAMBA_PEF_TABLE_HEADER_BYTES);
  SambaStatus status = NULL;

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    encodeTable(&encoder, pef, t);
    if (out_records->tables[t].size > SAMBA_PEF_MAX_TABLE_BYTES && !status)
      status = sambaStatusMake(
          SAMBA_EXHAUSTED,
          "the table of %s has %zu bytes, but the format's limit is %llu; split the model",
          sambaPefTable(t)->plural, out_records->tables[t].size,
          (unsigned long long)SAMBA_PEF_MAX_TABLE_BYTES);
  }

  for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT; ++b)
    if (out_records->blobs[b].size > SAMBA_PEF_MAX_TABLE_BYTES && !status)
      status = sambaStatusMake(
          SAMBA_EXHAUSTED,
          "section %s has %zu bytes, but the format's limit is %llu; split the model",
          sambaPefBlobName(b), out_records->blobs[b].size,
          (unsigned long long)SAMBA_PEF_MAX_TABLE_BYTES);

  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t) {
    finish(&out_records->tables[t], sambaPefTable(t)->required, sambaPefTable(t)->record_bytes);
    sambaArrayFree(&encoder.runs[t]);
  }

  for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT; ++b)
    finish(&out_records->blobs[b], true, 1);
  sambaStringMapFree(&encoder.pool);
  if (status)
    sambaPefRecordsFree(out_records);
  return status;
}

void sambaPefRecordsFree(SambaPefRecords *records) {
  for (uint32_t t = 0; t < SAMBA_PEF_TABLE_COUNT; ++t)
    sambaArrayFree(&records->tables[t]);
  for (uint32_t b = 0; b < SAMBA_PEF_BLOB_COUNT; ++b)
    sambaArrayFree(&records->blobs[b]);
}
