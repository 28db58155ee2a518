/* support/base/side_by_side.h: every piece is done once, by a thread with a number of its own. */
#include "support/base/side_by_side.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { mostPieces = 1000, mostThreads = 5 };

typedef struct Tally {
  uint32_t threads;
  atomic_uint done[mostPieces]; /* how often */
  uint32_t of_thread[mostThreads];
  atomic_bool strange;
} Tally;

static void count(void *user, uint32_t piece, uint32_t thread) {
  Tally *tally = user;
  if (piece >= mostPieces || thread >= tally->threads) {
    atomic_store(&tally->strange, true);
    return;
  }
  atomic_fetch_add(&tally->done[piece], 1);
  ++tally->of_thread[thread]; /* nobody else's */
}

static void everyPieceIsDoneOnce(void **state) {
  (void)state;
  static const uint32_t pieces[] = {0, 1, 2, 4, mostPieces};
  for (uint32_t threads = 1; threads <= mostThreads; ++threads)
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
      Tally tally = {.threads = threads};
      uint32_t all = 0;
      sambaDoSideBySide(pieces[i], threads, count, &tally);
      assert_false(atomic_load(&tally.strange));
      for (uint32_t piece = 0; piece < mostPieces; ++piece)
        assert_int_equal(atomic_load(&tally.done[piece]), piece < pieces[i]);
      for (uint32_t thread = 0; thread < threads; ++thread)
        all += tally.of_thread[thread];
      assert_int_equal(all, pieces[i]);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(everyPieceIsDoneOnce)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
