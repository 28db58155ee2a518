/* Allocation: checked sizes, one arena, one typed growing array.
 *
 * Readers bound the sizes that a file or a user controls before they reach an allocation. So
 * running out of memory is rare, and it ends the process with one clear line and exit code 1.
 * Nothing is left half-written, because outputs are written beside their final name and renamed.
 * sambaSetAllocationFailure lets tests make the n-th allocation fail. */
#ifndef SAMBA_SUPPORT_BASE_MEMORY_H
#define SAMBA_SUPPORT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never NULL; size 0 gives a valid pointer. Release with free(). */
void *sambaAllocate(size_t size);
void *sambaAllocateZeroed(size_t count, size_t size);
void *sambaReallocate(void *pointer, size_t count, size_t size);
/* For programs, first thing in main: what is freed stays with the process. What is made for one
 * section is free again after it, and to give that back to the system and to ask for it page by
 * page takes longer than to use it again. Libraries leave this to the program that they are in. */
void sambaKeepFreedMemory(void);
/* Testing: calls handler(n) instead of allocating for the n-th allocation from now; 0 switches it
 * off. */
void sambaSetAllocationFailure(uint64_t nth, void (*handler)(void));

/* Arithmetic with a check: true when the result does not fit, and *out is of no use then. */
static inline bool sambaAddOverflows(int64_t a, int64_t b, int64_t *out_sum) {
  return __builtin_add_overflow(a, b, out_sum);
}
static inline bool sambaMulOverflows(int64_t a, int64_t b, int64_t *out_product) {
  return __builtin_mul_overflow(a, b, out_product);
}

/* An arena: everything allocated from it lives until sambaArenaDestroy. Not thread-safe. */
typedef struct SambaArena {
  struct SambaArenaBlock *blocks;
} SambaArena;
void *sambaArenaAllocate(SambaArena *arena, size_t size); /* zeroed, aligned to 16 */
/* The same, aligned to 64: what begins a line of the host's cache lies in fewer of them. */
void *sambaArenaAllocateLines(SambaArena *arena, size_t size);
void *sambaArenaCopy(SambaArena *arena, const void *data, size_t size);
char *sambaArenaFormat(SambaArena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sambaArenaDestroy(SambaArena *arena);
#define SAMBA_ARENA_NEW(arena, type) ((type *)sambaArenaAllocate((arena), sizeof(type)))
#define SAMBA_ARENA_ARRAY(arena, type, count)                                                      \
  ((type *)sambaArenaAllocate((arena), sambaArraySize((count), sizeof(type))))
#define SAMBA_ARENA_LINES(arena, type, count)                                                      \
  ((type *)sambaArenaAllocateLines((arena), sambaArraySize((count), sizeof(type))))
/* count * size; ends the process like a failed allocation when that overflows. */
size_t sambaArraySize(size_t count, size_t size);

/* A growing array: SAMBA_ARRAY(int) numbers = {0}; sambaArrayAppend(&numbers, 7);
 * sambaArrayFree(&numbers); */
#define SAMBA_ARRAY(type)                                                                          \
  struct {                                                                                         \
    type *data;                                                                                    \
    size_t size, capacity;                                                                         \
  }
#define sambaArrayReserve(array, count)                                                            \
  ((count) <= (array)->capacity                                                                    \
       ? (void)0                                                                                   \
       : (void)((array)->data = sambaArrayGrow((array)->data, &(array)->capacity, (count),         \
                                               sizeof *(array)->data)))
#define sambaArrayAppend(array, ...)                                                               \
  (sambaArrayReserve((array), (array)->size + 1),                                                  \
   (void)((array)->data[(array)->size++] = (__VA_ARGS__)))
#define sambaArrayFree(array)                                                                      \
  (free((array)->data), (array)->data = NULL, (array)->size = (array)->capacity = 0)
void *sambaArrayGrow(void *data, size_t *capacity, size_t wanted, size_t size);

#endif
