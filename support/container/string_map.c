/* String map; see string_map.h. Open addressing, linear probing, at most half full; hashes are kept
 * beside the keys. */
#include "support/container/string_map.h"

#include "support/base/memory.h"

#include <stdlib.h>

struct SambaStringMapEntry {
  SambaStringRef key;
  uint64_t hash; /* never 0 in a used entry */
  uint32_t value;
};

static uint64_t mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hashKey(SambaStringRef key) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ key.size;
  size_t at = 0;
  for (; key.size - at >= 8; at += 8) {
    uint64_t word;
    memcpy(&word, key.data + at, 8);
    hash = mix(hash ^ word, 0xd6e8feb86659fd93u);
  }
  uint64_t word = 0;
  if (key.size > at)
    memcpy(&word, key.data + at, key.size - at);
  hash = mix(hash ^ word, 0xa0761d6478bd642fu);
  return hash ? hash : 1;
}

static struct SambaStringMapEntry *findEntry(const SambaStringMap *map, SambaStringRef key,
                                             uint64_t hash) {
  size_t mask = map->capacity - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    struct SambaStringMapEntry *entry = &map->entries[at];
    if (!entry->hash || (entry->hash == hash && sambaStringRefEqual(entry->key, key)))
      return entry;
  }
}

static void grow(SambaStringMap *map) {
  SambaStringMap larger = {.capacity = map->capacity ? map->capacity * 2 : 16, .size = map->size};
  larger.entries = sambaAllocateZeroed(larger.capacity, sizeof *larger.entries);
  for (size_t i = 0; i < map->capacity; ++i)
    if (map->entries[i].hash)
      *findEntry(&larger, map->entries[i].key, map->entries[i].hash) = map->entries[i];
  free(map->entries);
  *map = larger;
}

bool sambaStringMapInsert(SambaStringMap *map, SambaStringRef key, uint32_t value,
                          uint32_t *out_present) {
  if ((map->size + 1) * 2 > map->capacity)
    grow(map);
  uint64_t hash = hashKey(key);
  struct SambaStringMapEntry *entry = findEntry(map, key, hash);
  if (entry->hash) {
    if (out_present)
      *out_present = entry->value;
    return false;
  }
  *entry = (struct SambaStringMapEntry){.key = key, .hash = hash, .value = value};
  ++map->size;
  return true;
}

bool sambaStringMapGet(const SambaStringMap *map, SambaStringRef key, uint32_t *out_value) {
  if (!map->capacity)
    return false;
  const struct SambaStringMapEntry *entry = findEntry(map, key, hashKey(key));
  if (!entry->hash)
    return false;
  *out_value = entry->value;
  return true;
}

void sambaStringMapFree(SambaStringMap *map) {
  free(map->entries);
  *map = (SambaStringMap){0};
}
