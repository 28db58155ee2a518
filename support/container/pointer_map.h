/* A hash map from pointers to 32-bit numbers: SSA values and operations to indices. */
#ifndef SAMBA_SUPPORT_CONTAINER_POINTER_MAP_H
#define SAMBA_SUPPORT_CONTAINER_POINTER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SambaPointerMap { /* zero-initialize */
  struct SambaPointerMapEntry *entries;
  size_t size, capacity;
} SambaPointerMap;

/* Adds or replaces. key must not be NULL. */
void sambaPointerMapSet(SambaPointerMap *map, const void *key, uint32_t value);
/* False when the key is not there (out_value is left alone). */
bool sambaPointerMapGet(const SambaPointerMap *map, const void *key, uint32_t *out_value);
void sambaPointerMapFree(SambaPointerMap *map);

#endif
