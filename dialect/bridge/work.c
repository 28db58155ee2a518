/* Counters of work; see work.h. */
#include "dialect/bridge/work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { mostRows = 64 };

typedef struct Row {
  const char *pass;
  atomic_uint_fast64_t counts[SAMBA_WORK_KINDS];
} Row;

/* Row 0 is for what belongs to no pass. Passes beyond the last row are counted there too. */
static Row rows[mostRows] = {{.pass = "before the first pass"}};
static int row_count = 1;
static pthread_mutex_t rows_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local Row *current = rows;
static Row ahead; /* that nobody reads */

void sambaWorkAdd(SambaWork work, uint64_t times) {
  atomic_fetch_add_explicit(&current->counts[work], times, memory_order_relaxed);
}
void sambaWorkCount(SambaWork work) { sambaWorkAdd(work, 1); }

static uint64_t countOf(const Row *row, int work) {
  return atomic_load_explicit(&row->counts[work], memory_order_relaxed);
}

uint64_t sambaWorkTotal(SambaWork work) {
  uint64_t total = 0;
  for (int r = 0; r < mostRows; ++r)
    total += countOf(&rows[r], work);
  return total;
}

void sambaWorkStartPass(const char *name) {
  if (current->pass && strcmp(current->pass, name) == 0)
    return;

  pthread_mutex_lock(&rows_mutex);
  int r = 1;
  while (r < row_count && strcmp(rows[r].pass, name) != 0)
    ++r;
  if (r == row_count && row_count < mostRows)
    rows[row_count++].pass = name;
  current = r < row_count ? &rows[r] : rows;
  pthread_mutex_unlock(&rows_mutex);
}

const char *sambaWorkPass(void) { return current->pass; }
void sambaWorkAhead(void) { current = &ahead; }
bool sambaWorkIsAhead(void) { return current == &ahead; }

void sambaWorkPrint(FILE *out) {
  static const char *const texts[SAMBA_WORK_KINDS] = {
      [SAMBA_WORK_GRAPHS_BUILT] = "graphs-built - Stage graphs built from IR",
      [SAMBA_WORK_PLANS_MADE] = "plans-made - Runs of the planner",
      [SAMBA_WORK_SECTIONS_READ] = "sections-read - Sections of units read from IR",
      [SAMBA_WORK_INTERVALS_PRICED] = "intervals-priced - Sections that the search tried",
      [SAMBA_WORK_INTERVALS_REUSED] = "intervals-reused - Sections with the price of equal ones",
      [SAMBA_WORK_INTERVALS_SKIPPED] = "intervals-skipped - Sections that cannot be better",
      [SAMBA_WORK_GRAPHS_REORDERED] = "graphs-reordered - Graphs that run in another order",
      [SAMBA_WORK_SEARCHES_OVER] = "searches-over - Searches that --search-seconds ended"};
  static const char line[] =
      "===-------------------------------------------------------------------------===";
  fprintf(out, "%s\n                      ... Samba's pass statistics report ...\n%s\n", line,
          line);

  for (int r = 0; r < row_count; ++r) {
    bool named = false;
    for (int work = 0; work < SAMBA_WORK_KINDS; ++work) {
      uint64_t count = countOf(&rows[r], work);
      if (count && !named)
        fprintf(out, "%s\n", rows[r].pass);
      if (count)
        fprintf(out, "  (S) %llu %s\n", (unsigned long long)count, texts[work]);
      named |= count > 0;
    }
  }
}

static void printAtEnd(void) { sambaWorkPrint(stderr); }

void sambaWorkPrintIfAskedFor(int argc, char *const *argv) {
  bool asked = false;
  for (int i = 1; i < argc; ++i)
    asked |= strcmp(argv[i], "-mlir-pass-statistics") == 0 ||
             strcmp(argv[i], "--mlir-pass-statistics") == 0;
  if (asked)
    atexit(printAtEnd);
}
