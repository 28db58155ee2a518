/* Results by digest; see result_store.h. There are few at a time, so that a list in the order of
 * arrival is enough. */
#include "support/container/result_store.h"

#include "support/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Entry {
  SambaContentDigest digest;
  void *result;
  void (*destroy)(void *);
} Entry;

struct SambaResultStore {
  pthread_mutex_t mutex;
  size_t most;
  SAMBA_ARRAY(Entry) entries; /* oldest first */
};

SambaResultStore *sambaResultStoreCreate(size_t most) {
  SambaResultStore *store = sambaAllocateZeroed(1, sizeof *store);
  pthread_mutex_init(&store->mutex, NULL);
  store->most = most;
  return store;
}

void sambaResultStoreDestroy(SambaResultStore *store) {
  for (size_t i = 0; i < store->entries.size; ++i)
    store->entries.data[i].destroy(store->entries.data[i].result);
  sambaArrayFree(&store->entries);
  pthread_mutex_destroy(&store->mutex);
  free(store);
}

/* The index of an entry, or the number of entries. The newest is asked for most often. */
static size_t find(const SambaResultStore *store, SambaContentDigest digest,
                   void (*destroy)(void *)) {
  for (size_t i = store->entries.size; i-- > 0;) {
    const Entry *entry = &store->entries.data[i];
    if (entry->destroy == destroy && entry->digest.words[0] == digest.words[0] &&
        entry->digest.words[1] == digest.words[1])
      return i;
  }
  return store->entries.size;
}

static Entry removeAt(SambaResultStore *store, size_t index) {
  Entry removed = store->entries.data[index];
  --store->entries.size;
  for (size_t i = index; i < store->entries.size; ++i)
    store->entries.data[i] = store->entries.data[i + 1];
  return removed;
}

void sambaResultStorePut(SambaResultStore *store, SambaContentDigest digest, void *result,
                         void (*destroy)(void *)) {
  if (!store) {
    destroy(result);
    return;
  }

  pthread_mutex_lock(&store->mutex);
  Entry dropped = {.result = NULL};
  size_t at = find(store, digest, destroy);
  if (at < store->entries.size)
    dropped = removeAt(store, at);
  else if (store->entries.size == store->most)
    dropped = removeAt(store, 0);
  sambaArrayAppend(&store->entries, (Entry){digest, result, destroy});
  pthread_mutex_unlock(&store->mutex);

  if (dropped.result)
    dropped.destroy(dropped.result);
}

void *sambaResultStoreTake(SambaResultStore *store, SambaContentDigest digest,
                           void (*destroy)(void *)) {
  if (!store)
    return NULL;
  pthread_mutex_lock(&store->mutex);
  size_t at = find(store, digest, destroy);
  void *result = at < store->entries.size ? removeAt(store, at).result : NULL;
  pthread_mutex_unlock(&store->mutex);
  return result;
}

bool sambaResultStoreHas(SambaResultStore *store, SambaContentDigest digest,
                         void (*destroy)(void *)) {
  if (!store)
    return false;
  pthread_mutex_lock(&store->mutex);
  bool has = find(store, digest, destroy) < store->entries.size;
  pthread_mutex_unlock(&store->mutex);
  return has;
}
