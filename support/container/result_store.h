/* Results kept by the digest of what they were made from.
 *
 * Whoever computes something from a content that others may ask about again puts it here, and the
 * next one takes it out instead of computing it again. A digest that was never put, or whose result
 * was taken or dropped, means: compute it. So a store never changes what a program does, only how
 * often it does the same. Any number of threads may use one store. */
#ifndef SAMBA_SUPPORT_CONTAINER_RESULT_STORE_H
#define SAMBA_SUPPORT_CONTAINER_RESULT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 128 bits of a hash that nobody can make collide by accident. */
typedef struct SambaContentDigest {
  uint64_t words[2];
} SambaContentDigest;

typedef struct SambaResultStore SambaResultStore;

/* `most`: results kept at once; of more the oldest are dropped. */
SambaResultStore *sambaResultStoreCreate(size_t most);
void sambaResultStoreDestroy(SambaResultStore *store);

/* The store owns the result until it is taken. `destroy` frees it, and tells results of different
 * types apart: a result is only found with the function that it was put with. What was there under
 * the digest is dropped. Without a store the result is destroyed at once. */
void sambaResultStorePut(SambaResultStore *store, SambaContentDigest digest, void *result,
                         void (*destroy)(void *));
/* The result, which is the caller's from now on; NULL when there is none. store may be NULL. */
void *sambaResultStoreTake(SambaResultStore *store, SambaContentDigest digest,
                           void (*destroy)(void *));
/* Calls `read` with the result, which stays; no other thread can take it meanwhile. read may be
 * NULL: to know whether there is one. False when there is none. */
bool sambaResultStoreRead(SambaResultStore *store, SambaContentDigest digest,
                          void (*destroy)(void *), void (*read)(const void *result, void *user),
                          void *user);
/* Drops the oldest results that were put with `destroy` until there are `most` of them. */
void sambaResultStoreTrim(SambaResultStore *store, void (*destroy)(void *), size_t most);

#endif
