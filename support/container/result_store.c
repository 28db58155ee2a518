/* Results by digest; see result_store.h. A hash table of chains, and a list in the order of
 * arrival. */
#include "support/container/result_store.h"

#include "support/base/memory.h"

#include <pthread.h>
#include <stdlib.h>

enum { chainCount = 1024 };

typedef struct Entry {
  SambaContentDigest digest;
  void *result;
  void (*destroy)(void *);
  struct Entry *next_in_chain;
  struct Entry *older, *newer;
} Entry;

struct SambaResultStore {
  pthread_mutex_t mutex;
  size_t most, size;
  Entry *oldest, *newest;
  Entry *chains[chainCount];
};

SambaResultStore *sambaResultStoreCreate(size_t most) {
  SambaResultStore *store = sambaAllocateZeroed(1, sizeof *store);
  pthread_mutex_init(&store->mutex, NULL);
  store->most = most;
  return store;
}

static void destroyEntry(Entry *entry) {
  if (entry)
    entry->destroy(entry->result);
  free(entry);
}

void sambaResultStoreDestroy(SambaResultStore *store) {
  for (Entry *entry = store->oldest, *newer; entry; entry = newer) {
    newer = entry->newer;
    destroyEntry(entry);
  }
  pthread_mutex_destroy(&store->mutex);
  free(store);
}

static Entry **chainOf(SambaResultStore *store, SambaContentDigest digest) {
  return &store->chains[digest.words[0] % chainCount];
}

static Entry *find(SambaResultStore *store, SambaContentDigest digest, void (*destroy)(void *)) {
  Entry *entry = *chainOf(store, digest);
  while (entry && (entry->destroy != destroy || entry->digest.words[0] != digest.words[0] ||
                   entry->digest.words[1] != digest.words[1]))
    entry = entry->next_in_chain;
  return entry;
}

/* Takes the entry out of the table. */
static Entry *detach(SambaResultStore *store, Entry *entry) {
  Entry **link = chainOf(store, entry->digest);
  while (*link != entry)
    link = &(*link)->next_in_chain;
  *link = entry->next_in_chain;

  *(entry->older ? &entry->older->newer : &store->oldest) = entry->newer;
  *(entry->newer ? &entry->newer->older : &store->newest) = entry->older;
  --store->size;
  return entry;
}

static void attach(SambaResultStore *store, Entry *entry) {
  Entry **chain = chainOf(store, entry->digest);
  entry->next_in_chain = *chain;
  *chain = entry;

  entry->older = store->newest;
  *(store->newest ? &store->newest->newer : &store->oldest) = entry;
  store->newest = entry;
  ++store->size;
}

void sambaResultStorePut(SambaResultStore *store, SambaContentDigest digest, void *result,
                         void (*destroy)(void *)) {
  if (!store) {
    destroy(result);
    return;
  }
  Entry *entry = sambaAllocate(sizeof *entry);
  *entry = (Entry){.digest = digest, .result = result, .destroy = destroy};

  pthread_mutex_lock(&store->mutex);
  Entry *dropped = find(store, digest, destroy);
  if (!dropped && store->size == store->most)
    dropped = store->oldest;
  if (dropped)
    detach(store, dropped);
  attach(store, entry);
  pthread_mutex_unlock(&store->mutex);

  destroyEntry(dropped);
}

void *sambaResultStoreTake(SambaResultStore *store, SambaContentDigest digest,
                           void (*destroy)(void *)) {
  if (!store)
    return NULL;
  pthread_mutex_lock(&store->mutex);
  Entry *entry = find(store, digest, destroy);
  if (entry)
    detach(store, entry);
  pthread_mutex_unlock(&store->mutex);

  void *result = entry ? entry->result : NULL;
  free(entry);
  return result;
}

bool sambaResultStoreRead(SambaResultStore *store, SambaContentDigest digest,
                          void (*destroy)(void *), void (*read)(const void *result, void *user),
                          void *user) {
  if (!store)
    return false;
  pthread_mutex_lock(&store->mutex);
  const Entry *entry = find(store, digest, destroy);
  if (entry && read)
    read(entry->result, user);
  pthread_mutex_unlock(&store->mutex);
  return entry;
}

void sambaResultStoreTrim(SambaResultStore *store, void (*destroy)(void *), size_t most) {
  if (!store)
    return;
  size_t count = 0;
  pthread_mutex_lock(&store->mutex);
  for (const Entry *entry = store->oldest; entry; entry = entry->newer)
    count += entry->destroy == destroy;
  for (Entry *entry = store->oldest, *newer; entry && count > most; entry = newer) {
    newer = entry->newer;
    if (entry->destroy != destroy)
      continue;
    destroyEntry(detach(store, entry));
    --count;
  }
  pthread_mutex_unlock(&store->mutex);
}
