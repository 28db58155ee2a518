/* Indices that may be absent: one value says "none" wherever an index into a list can be missing.
 */
#ifndef SAMBA_SUPPORT_BASE_INDEX_H
#define SAMBA_SUPPORT_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SAMBA_NO_INDEX UINT32_MAX

/* A list of `count` indices, all none. */
static inline void sambaClearIndices(uint32_t *indices, size_t count) {
  if (count)
    memset(indices, 0xff, count * sizeof *indices);
}

#endif
