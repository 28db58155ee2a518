/* The open file or the memory behind a SambaPef, and reading that cannot be surprised: pread only,
 * never a mapping, so that a file which shrinks while it is used is an error with a name and not a
 * signal. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_FILE_H
#define SAMBA_BACKEND_PEF_CONTAINER_FILE_H

#include "backend/pef/schema.h"

typedef struct SambaPefFile {
  int fd;                /* -1: the bytes are in memory */
  const uint8_t *memory; /* borrowed; NULL: they are in a file */
  const char *path;      /* as given when it was opened; of memory: a name for messages */
  const char *folder;    /* of the path, with a slash at the end, or "" */
  uint64_t bytes;        /* when it was opened */
  uint64_t weights_offset, weights_bytes;
  /* Where each blob section's bytes begin, in the file and in memory (SambaPefBlob). */
  uint64_t blob_offsets[SAMBA_PEF_BLOB_COUNT];
  const uint8_t *blob_data[SAMBA_PEF_BLOB_COUNT];
} SambaPefFile;

/* What SambaPef.close_file is of a PEF that was opened. */
void sambaPefFileClose(SambaPefFile *file);
/* Reads exactly `size` bytes at `offset`; what: the thing that is read, for the message. */
SambaStatus sambaPefFileRead(int fd, const char *path, const char *what, uint64_t offset,
                             void *buffer, uint64_t size);
/* The same of a PEF; the range lies within file->bytes. */
SambaStatus sambaPefFileReadAt(const SambaPefFile *file, const char *what, uint64_t offset,
                               void *buffer, uint64_t size);

/* One section of the ELF container. */
typedef struct SambaElfSection {
  SambaStringRef name; /* escaped where it is shown; may be any bytes */
  uint64_t offset, bytes;
} SambaElfSection;

/* Reads header and section headers of a 64-bit little-endian ELF file. Every section lies within
 * the file, has a terminated name, and there are at most SAMBA_PEF_MAX_ELF_SECTIONS. Texts and
 * array live in the arena. */
SambaStatus sambaElfRead(const SambaPefFile *file, SambaArena *arena,
                         SambaElfSection **out_sections, uint32_t *out_count);

#endif
