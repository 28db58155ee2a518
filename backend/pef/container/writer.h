/* Writes PEF files. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_WRITER_H
#define SAMBA_BACKEND_PEF_CONTAINER_WRITER_H

#include "backend/pef/pef_types.h"

/* Writes a PEF: checks it, copies or computes the data, writes beside and renames
 * (support/file/atomic_file.h). Equal contents give equal bytes. Checksums, offsets and sizes of
 * blobs and trace digests are computed here; a checksum that is already there (not zero) must agree
 * with the data. For init file without `init_file` the path is made relative to the PEF. */
SambaStatus sambaPefWrite(SambaPef *pef, const char *path);
/* The same bytes to memory. Paths of external data are relative to the current folder. out_data:
 * free it. */
SambaStatus sambaPefWriteToMemory(SambaPef *pef, void **out_data, size_t *out_size);

#endif
