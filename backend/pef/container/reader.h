/* Opens PEFs: files, and what a compiler left in memory. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_READER_H
#define SAMBA_BACKEND_PEF_CONTAINER_READER_H

#include "backend/pef/pef_types.h"

/* Reads and checks all tables (checksums, indices, sambaPefCheck); data stays in the file. */
SambaStatus sambaPefOpen(const char *path, SambaPef **out_pef);
/* The same from memory, which is borrowed until the PEF is destroyed or released. `name` is for
 * messages; files with initial data that it refers to lie in the current folder. */
SambaStatus sambaPefOpenMemory(const char *name, const void *data, size_t size, SambaPef **out_pef);

#endif
