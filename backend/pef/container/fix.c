/* Repair of checksums (samba-objdump --fix-checksums): makes every checksum right, whatever the
 * bytes say. For tests that want damage to reach decoder and simulator, and for people who edit a
 * PEF with a hex editor. Trusts nothing: ranges that do not lie within the file are left alone. */
#include "backend/pef/container/fix.h"

#include "backend/pef/container/checksum.h"
#include "backend/pef/container/file.h"
#include "backend/pef/schema.h"
#include "support/file/atomic_file.h"
#include "support/file/input_file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { pieceBytes = 1 << 20 };

typedef struct Fixer {
  const char *path;
  int fd; /* of the copy */
  uint64_t bytes;
  const SambaElfSection *sections;
  uint32_t count;
} Fixer;

static SambaStatus writeAt(Fixer *fixer, uint64_t offset, const void *data, size_t size) {
  const char *from = data;
  while (size) {
    ssize_t done = pwrite(fixer->fd, from, size, (off_t)offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return sambaStatusMake(SAMBA_IO, "%s: writing failed: %s", fixer->path, strerror(errno));
    from += done;
    offset += (uint64_t)done;
    size -= (size_t)done;
  }
  return NULL;
}

/* Digest of a range with the `zeroed` bytes at `hole` taken as 0; a range outside the file gives
 * zeros. */
static SambaStatus digestRange(Fixer *fixer, uint64_t offset, uint64_t size, uint64_t hole,
                               uint64_t zeroed, uint8_t *out_digest) {
  SambaDigest *digest = sambaDigestCreate();
  uint8_t *piece = sambaAllocate(pieceBytes);
  SambaStatus status = NULL;

  for (uint64_t done = 0; done < size && !status;) {
    uint64_t bytes = size - done < pieceBytes ? size - done : pieceBytes;
    status = sambaPefFileRead(fixer->fd, fixer->path, "data", offset + done, piece, bytes);
    if (done == 0 && zeroed)
      memset(piece + hole, 0, zeroed);
    sambaDigestAppend(digest, piece, bytes);
    done += bytes;
  }

  free(piece);
  sambaDigestFinish(digest, out_digest);
  return status;
}

static const SambaElfSection *findSection(const Fixer *fixer, const char *name) {
  for (uint32_t i = 0; i < fixer->count; ++i)
    if (sambaStringRefEqualC(fixer->sections[i].name, name))
      return &fixer->sections[i];
  return NULL;
}

/* Offset of a field in the records of its table in the file. */
static uint32_t fieldOffset(const SambaPefTable *table, const char *name) {
  uint32_t offset = 0;
  for (uint32_t f = 0; f < table->field_count && strcmp(table->fields[f].name, name) != 0; ++f)
    offset += sambaPefFieldBytes(&table->fields[f]);
  return offset;
}

/* Where records of a table keep the digest of a range of another section. */
typedef struct DigestRule {
  SambaPefTableId table;
  const char *digest, *offset, *bytes; /* fields */
  uint32_t bytes_extra;                /* from the start of the field `bytes` to the size */
  const char *section;
  uint32_t header; /* bytes of the section before the data */
} DigestRule;
static const DigestRule digestRules[] = {
    {SAMBA_PEF_TABLE_Symbol, "init_checksum", "init_offset", "init_bytes", 0,
     SAMBA_PEF_WEIGHTS_NAME, 0},
    {SAMBA_PEF_TABLE_Graph, "trace_digest", "trace", "trace", 8, ".samba.traces",
     SAMBA_PEF_TABLE_HEADER_BYTES},
};

static SambaStatus fixRecord(Fixer *fixer, const DigestRule *rule, const uint8_t *record,
                             uint64_t at, const SambaElfSection *data) {
  const SambaPefTable *table = sambaPefTable(rule->table);
  uint64_t offset;
  uint64_t bytes;
  uint64_t there = data->bytes - rule->header;
  uint32_t init;
  uint8_t digest[SAMBA_PEF_DIGEST_BYTES];

  memcpy(&offset, record + fieldOffset(table, rule->offset), sizeof offset);
  memcpy(&bytes, record + fieldOffset(table, rule->bytes) + rule->bytes_extra, sizeof bytes);
  memcpy(&init, record + (rule->table == SAMBA_PEF_TABLE_Symbol ? fieldOffset(table, "init") : 0),
         sizeof init);
  if ((rule->table == SAMBA_PEF_TABLE_Symbol && init != SAMBA_PEF_INIT_BLOB) || !bytes ||
      offset > there || bytes > there - offset)
    return NULL;
  SAMBA_RETURN_IF_ERROR(
      digestRange(fixer, data->offset + rule->header + offset, bytes, 0, 0, digest));
  return writeAt(fixer, at + fieldOffset(table, rule->digest), digest, sizeof digest);
}

static SambaStatus fixRecords(Fixer *fixer, const DigestRule *rule) {
  const SambaPefTable *table = sambaPefTable(rule->table);
  char name[64];
  uint8_t record[512];

  snprintf(name, sizeof name, SAMBA_PEF_SECTION_PREFIX "%s", table->plural);
  const SambaElfSection *section = findSection(fixer, name);
  const SambaElfSection *data = findSection(fixer, rule->section);
  SambaPefTableHeader header;
  if (!section || !data || section->bytes < sizeof header || data->bytes < rule->header)
    return NULL;
  SAMBA_RETURN_IF_ERROR(
      sambaPefFileRead(fixer->fd, fixer->path, name, section->offset, &header, sizeof header));
  if (header.record_bytes < table->record_bytes || table->record_bytes > sizeof record)
    return NULL;
  uint64_t end = section->offset + section->bytes;
  for (uint64_t at = section->offset + sizeof header; end - at >= header.record_bytes;
       at += header.record_bytes) {
    SAMBA_RETURN_IF_ERROR(
        sambaPefFileRead(fixer->fd, fixer->path, name, at, record, table->record_bytes));
    SAMBA_RETURN_IF_ERROR(fixRecord(fixer, rule, record, at, data));
  }

  return NULL;
}

/* Tables and blobs, known or not: whatever has a table header. */
static SambaStatus fixSections(Fixer *fixer) {
  for (uint32_t i = 0; i < fixer->count; ++i) {
    const SambaElfSection *section = &fixer->sections[i];
    size_t prefix = strlen(SAMBA_PEF_SECTION_PREFIX);
    SambaPefTableHeader header;
    if (section->name.size < prefix ||
        memcmp(section->name.data, SAMBA_PEF_SECTION_PREFIX, prefix) != 0 ||
        section->bytes < sizeof header ||
        sambaStringRefEqualC(section->name, SAMBA_PEF_WEIGHTS_NAME))
      continue;
    uint64_t at = offsetof(SambaPefTableHeader, checksum);
    SAMBA_RETURN_IF_ERROR(digestRange(fixer, section->offset, section->bytes, at,
                                      sizeof header.checksum, header.checksum));
    SAMBA_RETURN_IF_ERROR(
        writeAt(fixer, section->offset + at, header.checksum, sizeof header.checksum));
  }

  return NULL;
}

static SambaStatus copyFile(const char *path, int from, uint64_t bytes, SambaAtomicFile *to) {
  uint8_t *piece = sambaAllocate(pieceBytes);
  SambaStatus status = NULL;
  for (uint64_t offset = 0; offset < bytes && !status;) {
    uint64_t size = bytes - offset < pieceBytes ? bytes - offset : pieceBytes;
    status = sambaPefFileRead(from, path, "the file", offset, piece, size);
    if (!status)
      status = sambaAtomicFileWrite(to, piece, size);
    offset += size;
  }
  free(piece);
  return status;
}

SambaStatus sambaPefFixChecksums(const char *path, const char *output) {
  int fd;
  uint64_t bytes;

  SAMBA_RETURN_IF_ERROR(sambaInputFileOpen(path, &fd, &bytes));
  SambaArena arena = {0};
  SambaElfSection *sections = NULL;
  Fixer fixer = {.path = path, .bytes = bytes};
  SambaAtomicFile file = {.fd = -1};
  SambaStatus status = sambaElfRead(&(SambaPefFile){.fd = fd, .path = path, .bytes = bytes}, &arena,
                                    &sections, &fixer.count);
  if (!status)
    status = sambaAtomicFileCreate(output, &file);
  if (!status)
    status = copyFile(path, fd, bytes, &file);
  fixer.sections = sections;
  fixer.fd = file.fd;
  for (size_t i = 0; i < sizeof digestRules / sizeof digestRules[0] && !status; ++i)
    status = fixRecords(&fixer, &digestRules[i]);
  if (!status)
    status = fixSections(&fixer);
  close(fd);
  sambaArenaDestroy(&arena);
  if (status) {
    sambaAtomicFileDiscard(&file);
    return status;
  }

  return sambaAtomicFileCommit(&file);
}
