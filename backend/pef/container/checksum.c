/* Checksums; see checksum.h. */
#include "backend/pef/container/checksum.h"

#include "llvm-c/blake3.h"

#include <stdlib.h>

_Static_assert(LLVM_BLAKE3_OUT_LEN == SAMBA_PEF_DIGEST_BYTES, "a digest is one BLAKE3 output");

struct SambaDigest {
  llvm_blake3_hasher hasher;
};

SambaDigest *sambaDigestCreate(void) {
  SambaDigest *digest = sambaAllocate(sizeof *digest);
  llvm_blake3_hasher_init(&digest->hasher);
  return digest;
}

void sambaDigestAppend(SambaDigest *digest, const void *data, size_t size) {
  llvm_blake3_hasher_update(&digest->hasher, data, size);
}

void sambaDigestFinish(SambaDigest *digest, uint8_t out_digest[SAMBA_PEF_DIGEST_BYTES]) {
  llvm_blake3_hasher_finalize(&digest->hasher, out_digest, SAMBA_PEF_DIGEST_BYTES);
  free(digest);
}

void sambaDigestCompute(const void *data, size_t size, uint8_t out_digest[SAMBA_PEF_DIGEST_BYTES]) {
  SambaDigest *digest = sambaDigestCreate();
  sambaDigestAppend(digest, data, size);
  sambaDigestFinish(digest, out_digest);
}

bool sambaDigestIsZero(const uint8_t digest[SAMBA_PEF_DIGEST_BYTES]) {
  uint8_t any = 0;
  for (int i = 0; i < SAMBA_PEF_DIGEST_BYTES; ++i)
    any |= digest[i];
  return !any;
}
