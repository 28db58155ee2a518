/* The interval tree, against a list of the same ranges. */
#include "support/container/interval_tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

enum { MOST = 400, LIMIT = 1000 };

typedef struct Listed {
  uint64_t begin, end;
  bool in;
} Listed;

static void expectFound(const SambaIntervalTree *tree, const Listed *list, uint64_t begin,
                        uint64_t end) {
  SambaIntervalValues found = {0};
  bool seen[MOST] = {false};
  sambaIntervalTreeFind(tree, begin, end, &found);

  for (size_t i = 0; i < found.size; ++i) {
    const Listed *range = &list[found.data[i]];
    assert_false(seen[found.data[i]]);
    assert_true(range->in && range->begin < end && begin < range->end);
    assert_true(i == 0 || list[found.data[i - 1]].begin <= range->begin);
    seen[found.data[i]] = true;
  }
  for (int i = 0; i < MOST; ++i)
    assert_int_equal(seen[i], list[i].in && list[i].begin < end && begin < list[i].end);
  sambaArrayFree(&found);
}

static void likeAList(void **state) {
  (void)state;
  static Listed list[MOST];
  SambaIntervalTree tree = {0};

  srand(7);
  for (int step = 0; step < 20000; ++step) {
    int i = rand() % MOST;
    if (list[i].in) {
      assert_true(sambaIntervalTreeRemove(&tree, list[i].begin, (uint32_t)i));
      list[i].in = false;
    } else {
      uint64_t begin = (uint64_t)(rand() % LIMIT);
      list[i] = (Listed){begin, begin + 1 + (uint64_t)(rand() % (rand() % 9 ? 20 : 300)), true};
      sambaIntervalTreeInsert(&tree, begin, list[i].end, (uint32_t)i);
    }
    uint64_t begin = (uint64_t)(rand() % LIMIT);
    if (step % 10 == 0)
      expectFound(&tree, list, begin, begin + (uint64_t)(rand() % 100));
  }
  assert_false(sambaIntervalTreeRemove(&tree, 5 * LIMIT, 0));
  sambaIntervalTreeFree(&tree);
}

static void atTheEnds(void **state) {
  (void)state;
  SambaIntervalTree tree = {0};
  SambaIntervalValues found = {0};
  sambaIntervalTreeFind(&tree, 0, UINT64_MAX, &found);
  assert_int_equal(found.size, 0);

  sambaIntervalTreeInsert(&tree, 10, 20, 1);
  sambaIntervalTreeFind(&tree, 0, 10, &found);
  sambaIntervalTreeFind(&tree, 20, 30, &found);
  assert_int_equal(found.size, 0);
  sambaIntervalTreeFind(&tree, 19, 20, &found);
  sambaIntervalTreeFind(&tree, 10, 11, &found);
  assert_int_equal(found.size, 2);

  sambaArrayFree(&found);
  sambaIntervalTreeFree(&tree);
}

/* Each range shares numbers with its neighbours only; a look at all of them takes minutes. */
static void isFast(void **state) {
  (void)state;
  enum { many = 500000 };
  SambaIntervalTree tree = {0};
  SambaIntervalValues found = {0};
  for (uint32_t i = 0; i < many; ++i)
    sambaIntervalTreeInsert(&tree, UINT64_C(512) * i, UINT64_C(512) * i + 700, i);
  for (uint32_t i = 0; i < many; ++i) {
    found.size = 0;
    sambaIntervalTreeFind(&tree, UINT64_C(512) * i, UINT64_C(512) * i + 1, &found);
    assert_int_equal(found.size, i ? 2 : 1);
  }
  sambaArrayFree(&found);
  sambaIntervalTreeFree(&tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(likeAList), cmocka_unit_test(atTheEnds),
                                     cmocka_unit_test(isFast)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
