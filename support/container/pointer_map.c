/* Pointer map; see pointer_map.h. Open addressing, linear probing, at most half full. */
#include "support/container/pointer_map.h"

#include "support/base/memory.h"

#include <stdlib.h>

struct SambaPointerMapEntry {
  const void *key;
  uint32_t value;
};

static size_t slotOf(const SambaPointerMap *map, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
  size_t slot = (size_t)(hash >> 32) & (map->capacity - 1);
  while (map->entries[slot].key && map->entries[slot].key != key)
    slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

static void grow(SambaPointerMap *map) {
  SambaPointerMap next = {.capacity = map->capacity ? map->capacity * 2 : 64, .size = map->size};
  next.entries = sambaAllocateZeroed(next.capacity, sizeof *next.entries);
  for (size_t i = 0; i < map->capacity; ++i)
    if (map->entries[i].key)
      next.entries[slotOf(&next, map->entries[i].key)] = map->entries[i];
  free(map->entries);
  *map = next;
}

void sambaPointerMapSet(SambaPointerMap *map, const void *key, uint32_t value) {
  if (2 * (map->size + 1) > map->capacity)
    grow(map);
  struct SambaPointerMapEntry *entry = &map->entries[slotOf(map, key)];
  if (!entry->key)
    ++map->size;
  *entry = (struct SambaPointerMapEntry){key, value};
}

bool sambaPointerMapGet(const SambaPointerMap *map, const void *key, uint32_t *out_value) {
  if (!map->capacity)
    return false;
  const struct SambaPointerMapEntry *entry = &map->entries[slotOf(map, key)];
  if (entry->key)
    *out_value = entry->value;
  return entry->key != NULL;
}

void sambaPointerMapFree(SambaPointerMap *map) {
  free(map->entries);
  *map = (SambaPointerMap){0};
}
