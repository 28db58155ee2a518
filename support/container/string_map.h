/* A hash map from byte strings to 32-bit numbers: names to indices. Keys are borrowed, not
 * copied. */
#ifndef SAMBA_SUPPORT_CONTAINER_STRING_MAP_H
#define SAMBA_SUPPORT_CONTAINER_STRING_MAP_H

#include "support/text/string_ref.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SambaStringMap { /* zero-initialize */
  struct SambaStringMapEntry *entries;
  size_t size, capacity;
} SambaStringMap;

/* Adds the key with this value; when it is there already, changes nothing and returns false with
 * its value in `out_present` (which may be NULL). The key's bytes must outlive the map. */
bool sambaStringMapInsert(SambaStringMap *map, SambaStringRef key, uint32_t value,
                          uint32_t *out_present);
/* False when the key is not there (out_value is left alone). */
bool sambaStringMapGet(const SambaStringMap *map, SambaStringRef key, uint32_t *out_value);
void sambaStringMapFree(SambaStringMap *map);

#endif
