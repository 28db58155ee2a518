/* Opens PEF files. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_READER_H
#define SAMBA_BACKEND_PEF_CONTAINER_READER_H

#include "backend/pef/pef_types.h"

/* Reads and checks all tables (checksums, indices, sambaPefCheck); data stays in the file. */
SambaStatus sambaPefOpen(const char *path, SambaPef **out_pef);

#endif
