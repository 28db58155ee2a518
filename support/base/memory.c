/* Allocation; see memory.h and large_pages.h. */
#include "support/base/memory.h"

#include "support/base/large_pages.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { arenaBlockSize = 64 * 1024, arenaAlignment = 16, largePageSize = 2 * 1024 * 1024 };

struct SambaArenaBlock {
  struct SambaArenaBlock *next;
  size_t used, capacity;
  bool large_pages; /* this block, and those that come after it */
  _Alignas(16) char data[];
};

/* Test hook only; never touched in production (see sambaSetAllocationFailure). */
static uint64_t allocations_until_failure;
static void (*allocation_failure)(void);

static void failAllocation(size_t size) {
  fprintf(stderr,
          "error: out of memory: %zu bytes could not be allocated; use a smaller model or machine, "
          "or more memory\n",
          size);
  exit(1);
}

static void countAllocation(void) {
  if (allocations_until_failure && --allocations_until_failure == 0)
    allocation_failure();
}

void sambaSetAllocationFailure(uint64_t nth, void (*handler)(void)) {
  allocations_until_failure = nth;
  allocation_failure = handler;
}

void sambaKeepFreedMemory(void) {
  enum { pad = 16 << 20, most_free = 256 << 20, own_mapping = 32 << 20 };
  mallopt(M_TOP_PAD, pad);
  mallopt(M_TRIM_THRESHOLD, most_free);
  mallopt(M_MMAP_THRESHOLD, own_mapping);
}

void *sambaAllocate(size_t size) {
  countAllocation();
  void *pointer = malloc(size ? size : 1);
  if (!pointer)
    failAllocation(size);
  return pointer;
}

void *sambaAllocateZeroed(size_t count, size_t size) {
  countAllocation();
  void *pointer = calloc(count ? count : 1, size ? size : 1);
  if (!pointer)
    failAllocation(count);
  return pointer;
}

void *sambaReallocate(void *pointer, size_t count, size_t size) {
  countAllocation();
  size_t bytes = sambaArraySize(count, size);
  void *result = realloc(pointer, bytes ? bytes : 1);
  if (!result)
    failAllocation(bytes);
  return result;
}

size_t sambaArraySize(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    failAllocation(SIZE_MAX);
  return bytes;
}

void *sambaArrayGrow(void *data, size_t *capacity, size_t wanted, size_t size) {
  size_t next = *capacity ? *capacity * 2 : 8;
  if (next < wanted)
    next = wanted;
  data = sambaReallocate(data, next, size);
  *capacity = next;
  return data;
}

/* Whole large pages, which hold `size` bytes at least. */
static void *allocatePages(size_t size, size_t *out_size) {
  countAllocation();
  if (__builtin_add_overflow(size, (size_t)largePageSize - 1, out_size))
    failAllocation(size);
  *out_size -= *out_size % largePageSize;
  void *pages = aligned_alloc(largePageSize, *out_size);
  if (!pages)
    failAllocation(size);
#ifdef MADV_HUGEPAGE
  (void)madvise(pages, *out_size, MADV_HUGEPAGE); /* a wish: small pages do as well */
#endif
  return pages;
}

static struct SambaArenaBlock *addBlock(SambaArena *arena, size_t least, bool large_pages) {
  struct SambaArenaBlock *block;
  size_t capacity = least > arenaBlockSize ? least : arenaBlockSize, size;
  if (__builtin_add_overflow(capacity, sizeof *block, &size))
    failAllocation(least);
  block = large_pages ? allocatePages(size, &size) : sambaAllocate(size);
  block->next = arena->blocks;
  block->used = 0;
  block->large_pages = large_pages;
  block->capacity = size - sizeof *block;
  arena->blocks = block;
  return block;
}

void sambaArenaUseLargePages(SambaArena *arena) { addBlock(arena, 0, true); }

void *sambaArenaAllocate(SambaArena *arena, size_t size) {
  size_t rounded;
  if (__builtin_add_overflow(size, (size_t)arenaAlignment - 1, &rounded))
    failAllocation(size);
  rounded &= ~(size_t)(arenaAlignment - 1);
  struct SambaArenaBlock *block = arena->blocks;

  if (!block || block->capacity - block->used < rounded)
    block = addBlock(arena, rounded, block && block->large_pages);

  void *pointer = block->data + block->used;
  block->used += rounded;
  memset(pointer, 0, size);
  return pointer;
}

void *sambaArenaAllocateLines(SambaArena *arena, size_t size) {
  enum { line = 64 };
  if (size > SIZE_MAX - line)
    failAllocation(size);
  char *pointer = sambaArenaAllocate(arena, size + line - arenaAlignment);
  return pointer + (line - (uintptr_t)pointer % line) % line;
}

void *sambaArenaCopy(SambaArena *arena, const void *data, size_t size) {
  void *copy = sambaArenaAllocate(arena, size);
  if (size)
    memcpy(copy, data, size);
  return copy;
}

char *sambaArenaFormat(SambaArena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = sambaArenaAllocate(arena, size);
  va_start(arguments, format);
  vsnprintf(text, size, format, arguments);
  va_end(arguments);
  return text;
}

void sambaArenaDestroy(SambaArena *arena) {
  for (struct SambaArenaBlock *block = arena->blocks; block;) {
    struct SambaArenaBlock *next = block->next;
    free(block);
    block = next;
  }
  arena->blocks = NULL;
}
