/* Data of which most words are 0, kept without them: tables whose entries have room for more than
 * most of them use. */
#ifndef SAMBA_SUPPORT_CONTAINER_PACKED_WORDS_H
#define SAMBA_SUPPORT_CONTAINER_PACKED_WORDS_H

#include "support/base/memory.h"

typedef SAMBA_ARRAY(uint64_t) SambaPackedWords;

/* Appends `size` bytes, a multiple of 8: for each run of zeros and what follows it a word that
 * counts both, and then what follows. */
void sambaWordsPack(const void *data, size_t size, SambaPackedWords *out);
/* The reverse, of as many bytes; returns what was appended after them. */
const uint64_t *sambaWordsUnpack(const uint64_t *packed, void *out_data, size_t size);

#endif
