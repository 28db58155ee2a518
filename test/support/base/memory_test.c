/* support/base/memory.h: arenas, growing arrays, checked sizes, and what happens when the n-th
 * allocation fails. */
#include "support/base/large_pages.h"
#include "support/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void arenasGiveZeroedAlignedMemory(void **state) {
  (void)state;
  SambaArena arena = {0};
  uint8_t *blocks[200];

  for (int round = 0; round < 200; ++round) {
    size_t size = (size_t)(round * 977 % 3000) +
                  (round % 50 == 0 ? 200000 : 0); /* some larger than a block */
    blocks[round] = sambaArenaAllocate(&arena, size);
    assert_int_equal((uintptr_t)blocks[round] % 16, 0);
    for (size_t i = 0; i < size; ++i)
      assert_int_equal(blocks[round][i], 0);
    memset(blocks[round], round, size);
  }

  for (int round = 0; round < 200; ++round) /* nobody wrote over anybody */
    for (size_t i = 0; i < (size_t)(round * 977 % 3000); ++i)
      assert_int_equal(blocks[round][i], (uint8_t)round);
  assert_string_equal(sambaArenaFormat(&arena, "%s %d", "seven", 7), "seven 7");
  char *copy = sambaArenaCopy(&arena, "abc", 4);
  assert_string_equal(copy, "abc");
  assert_non_null(SAMBA_ARENA_ARRAY(&arena, int, 0));
  sambaArenaDestroy(&arena);
  assert_null(arena.blocks);
}

static void arenasUseLargePages(void **state) {
  (void)state;
  enum { page = 2 * 1024 * 1024, header = 64 };
  SambaArena arena = {0};
  char *before = sambaArenaAllocate(&arena, 16);
  sambaArenaUseLargePages(&arena);

  /* The first block of a page, one beside it, and one that begins other pages. */
  char *first = sambaArenaAllocate(&arena, 16), *second = sambaArenaAllocate(&arena, page / 2);
  char *third = sambaArenaAllocate(&arena, 2 * page);
  assert_true((uintptr_t)first % page <= header);
  assert_ptr_equal(second, first + 16);
  assert_true((uintptr_t)third % page <= header);
  for (size_t i = 0; i < 2 * page; ++i)
    assert_int_equal(third[i], 0);
  memset(third, 1, 2 * page);
  assert_int_equal(before[0] + first[0] + second[page / 2 - 1], 0);
  sambaArenaDestroy(&arena);
}

static void arraysGrow(void **state) {
  (void)state;
  SAMBA_ARRAY(int) numbers = {0};
  for (int i = 0; i < 1000; ++i)
    sambaArrayAppend(&numbers, i * i);
  assert_int_equal(numbers.size, 1000);
  for (int i = 0; i < 1000; ++i)
    assert_int_equal(numbers.data[i], i * i);
  sambaArrayReserve(&numbers, 5000);
  assert_true(numbers.capacity >= 5000);
  sambaArrayFree(&numbers);
  assert_null(numbers.data);
}

static void arithmeticIsChecked(void **state) {
  (void)state;
  int64_t result;
  assert_true(sambaAddOverflows(INT64_MAX, 1, &result));
  assert_true(sambaMulOverflows(INT64_MAX, 2, &result));
  assert_false(sambaMulOverflows(1 << 20, 1 << 20, &result));
  assert_int_equal(result, INT64_C(1) << 40);
  assert_int_equal(sambaArraySize(3, 5), 15);
}

static int failures;
static void countFailure(void) { ++failures; }

static void theNthAllocationIsReported(void **state) {
  (void)state;
  for (uint64_t nth = 1; nth <= 3; ++nth) {
    failures = 0;
    sambaSetAllocationFailure(nth, countFailure);
    for (uint64_t i = 1; i <= 3; ++i) {
      free(sambaAllocate(10));
      assert_int_equal(failures, i >= nth);
    }
    sambaSetAllocationFailure(0, NULL);
  }
  free(sambaAllocateZeroed(2, 3));
  assert_int_equal(failures, 1);
}

/* Runs the function in a child; returns its exit code and what it wrote to standard error. */
static int inChild(void (*function)(void), char *text, size_t size) {
  int pipes[2], result;
  assert_int_equal(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(pipes[1], STDERR_FILENO);
    function();
    _exit(77);
  }

  close(pipes[1]);
  size_t length = 0; /* a sanitizer may say a word of its own first */
  for (ssize_t got;
       length + 1 < size && (got = read(pipes[0], text + length, size - 1 - length)) > 0;)
    length += (size_t)got;
  text[length] = '\0';
  close(pipes[0]);
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));

  return WEXITSTATUS(result);
}

static void overflowSize(void) { sambaArraySize(SIZE_MAX, 2); }
static void tooMuch(void) { sambaReallocate(NULL, SIZE_MAX / 4, 1); }

static void outOfMemoryIsOneLineAndExitCodeOne(void **state) {
  (void)state;
  char text[16384];
  assert_int_equal(inChild(overflowSize, text, sizeof text), 1);
  assert_non_null(strstr(text, "error: out of memory: "));
  assert_int_equal(inChild(tooMuch, text, sizeof text), 1);
  assert_non_null(strstr(text, "use a smaller model or machine, or more memory"));
  assert_ptr_equal(strchr(strstr(text, "error: "), '\n'), text + strlen(text) - 1);
}

int main(void) {
  setenv("ASAN_OPTIONS", "allocator_may_return_null=1", 0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arenasGiveZeroedAlignedMemory),
      cmocka_unit_test(arenasUseLargePages),
      cmocka_unit_test(arraysGrow),
      cmocka_unit_test(arithmeticIsChecked),
      cmocka_unit_test(theNthAllocationIsReported),
      cmocka_unit_test(outOfMemoryIsOneLineAndExitCodeOne),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
