/* Checksums of PEF files: BLAKE3, as LLVM's library implements it (several GB/s with the host's
 * vector unit). */
#ifndef SAMBA_BACKEND_PEF_CONTAINER_CHECKSUM_H
#define SAMBA_BACKEND_PEF_CONTAINER_CHECKSUM_H

#include "backend/pef/pef_types.h"

typedef struct SambaDigest SambaDigest;

SambaDigest *sambaDigestCreate(void);
void sambaDigestAppend(SambaDigest *digest, const void *data, size_t size);
/* Writes the result and frees the digest. */
void sambaDigestFinish(SambaDigest *digest, uint8_t out_digest[SAMBA_PEF_DIGEST_BYTES]);
/* All in one. */
void sambaDigestCompute(const void *data, size_t size, uint8_t out_digest[SAMBA_PEF_DIGEST_BYTES]);
bool sambaDigestIsZero(const uint8_t digest[SAMBA_PEF_DIGEST_BYTES]);

#endif
