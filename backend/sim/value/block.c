/* Blocks and their pool: token memory is reused by size, so that a steady network allocates nothing. */
#include "backend/sim/value/engine.h"

#include <stdlib.h>

/* Four classes per power of two, from 256 bytes. */
static uint32_t classOf(size_t bytes, size_t *out_size) {
  size_t size = 256;
  uint32_t index = 0;
  while (size < bytes) {
    for (uint32_t quarter = 1; quarter <= 3; ++quarter)
      if (bytes <= size + size / 4 * quarter) {
        *out_size = size + size / 4 * quarter;
        return index + quarter;
      }
    size *= 2;
    index += 4;
  }
  *out_size = size;
  return index;
}

void sambaPoolInitialize(SambaPool *pool) {
  *pool = (SambaPool){0};
  pthread_mutex_init(&pool->mutex, NULL);
}

void sambaPoolDestroy(SambaPool *pool) {
  for (int i = 0; i < SAMBA_POOL_CLASSES; ++i)
    while (pool->free[i]) {
      SambaBlock *block = pool->free[i];
      pool->free[i] = block->next;
      free(block);
    }
  pthread_mutex_destroy(&pool->mutex);
}

SambaBlock *sambaBlockCreate(SambaPool *pool, size_t bytes) {
  size_t size;
  uint32_t size_class = classOf(bytes, &size);
  pthread_mutex_lock(&pool->mutex);
  SambaBlock *block = pool->free[size_class];
  if (block)
    pool->free[size_class] = block->next;
  pthread_mutex_unlock(&pool->mutex);
  if (!block) {
    block = sambaAllocate(sizeof *block + 64 + size);
    block->size_class = size_class;
    block->bytes = size;
    block->data = (uint8_t *)(((uintptr_t)(block + 1) + 63) & ~(uintptr_t)63);
  }
  atomic_init(&block->references, 1);
  atomic_init(&block->packed, NULL);
  block->packed_key = 0;
  block->next = NULL;
  return block;
}

SambaBlock *sambaBlockRetain(SambaBlock *block) {
  if (block)
    atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
  return block;
}

void sambaBlockRelease(SambaPool *pool, SambaBlock *block) {
  if (!block || atomic_fetch_sub_explicit(&block->references, 1, memory_order_acq_rel) != 1)
    return;
  sambaBlockRelease(pool, atomic_load_explicit(&block->packed, memory_order_relaxed));
  pthread_mutex_lock(&pool->mutex);
  block->next = pool->free[block->size_class];
  pool->free[block->size_class] = block;
  pthread_mutex_unlock(&pool->mutex);
}
