/* Blocks and their pool; see block.h. Memory is reused by size, so that a network in its steady
 * state allocates nothing. */
#include "backend/sim/value/stream/block.h"

#include <sched.h>
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
  for (int i = 0; i < SAMBA_POOL_CLASSES; ++i) {
    atomic_flag_clear(&pool->free[i].taken);
    pool->free[i].blocks = NULL;
  }
}

void sambaPoolDestroy(SambaPool *pool) {
  for (int i = 0; i < SAMBA_POOL_CLASSES; ++i)
    while (pool->free[i].blocks) {
      SambaBlock *block = pool->free[i].blocks;
      pool->free[i].blocks = block->next;
      free(block);
    }
}

/* A lock is held for a few instructions only, so waiting for it is short, unless the system has
 * stopped the thread that holds it. Then this thread gives its processor away. */
static void lockClass(SambaPool *pool, uint32_t size_class) {
  for (uint32_t spins = 1;
       atomic_flag_test_and_set_explicit(&pool->free[size_class].taken, memory_order_acquire);
       ++spins)
    if (spins % 64 == 0)
      sched_yield();
}

static void unlockClass(SambaPool *pool, uint32_t size_class) {
  atomic_flag_clear_explicit(&pool->free[size_class].taken, memory_order_release);
}

SambaBlock *sambaBlockCreate(SambaPool *pool, size_t bytes) {
  size_t size;
  uint32_t size_class = classOf(bytes, &size);

  lockClass(pool, size_class);
  SambaBlock *block = pool->free[size_class].blocks;
  if (block)
    pool->free[size_class].blocks = block->next;
  unlockClass(pool, size_class);
  if (!block) {
    block = sambaAllocate(sizeof *block + 64 + size);
    block->size_class = size_class;
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
  lockClass(pool, block->size_class);
  block->next = pool->free[block->size_class].blocks;
  pool->free[block->size_class].blocks = block;
  unlockClass(pool, block->size_class);
}
