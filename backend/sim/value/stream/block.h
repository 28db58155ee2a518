/* Blocks: the host memory of tokens and slots, and the pool that it comes from and returns to. */
#ifndef SAMBA_BACKEND_SIM_VALUE_STREAM_BLOCK_H
#define SAMBA_BACKEND_SIM_VALUE_STREAM_BLOCK_H

#include "support/base/memory.h"

#include <stdatomic.h>

/* Memory that is counted by reference. It is written only while nobody but its maker sees it. */
typedef struct SambaBlock {
  atomic_uint references;
  uint32_t size_class;
  struct SambaBlock *next; /* in the pool */
  _Atomic(struct SambaBlock *)
      packed; /* a systolic operand in the kernels' order, made once (systolic.c) */
  uint64_t packed_key;
  uint8_t *data; /* aligned to 64 */
} SambaBlock;

enum { SAMBA_POOL_CLASSES = 192 };
typedef struct SambaPool { /* one list per size, each with a lock that is held for a few
                              instructions */
  struct {
    atomic_flag taken;
    SambaBlock *blocks;
  } free[SAMBA_POOL_CLASSES];
} SambaPool;

void sambaPoolInitialize(SambaPool *pool);
/* Every block must have been released. */
void sambaPoolDestroy(SambaPool *pool);
/* At least `bytes`, one reference, contents undefined. */
SambaBlock *sambaBlockCreate(SambaPool *pool, size_t bytes);
/* One reference more; NULL is fine, here and below. */
SambaBlock *sambaBlockRetain(SambaBlock *block);
void sambaBlockRelease(SambaPool *pool, SambaBlock *block);

#endif
