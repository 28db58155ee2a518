/* Repairs the checksums of PEF files. */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_FIX_H
#define SAMBA_BACKEND_PEF_CONTAINER_FIX_H

#include "backend/pef/pef_types.h"

/* Copies a PEF to `output` and makes all its checksums right, whatever its bytes say: for tests
 * that want damage to reach decoder and simulator, and for people with a hex editor. Refuses only
 * what is no ELF file. */
SambaStatus sambaPefFixChecksums(const char *path, const char *output);

#endif
