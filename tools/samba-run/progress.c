/* A line that says how far a run is, on terminals only; see run.h. */
#include "tools/samba-run/run.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double interval = 0.1; /* seconds between two writings of the line */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

SambaProgress sambaProgressStart(uint64_t steps) {
  return (SambaProgress){.shown = isatty(STDERR_FILENO), .steps = steps, .start = now()};
}

void sambaProgressShow(SambaProgress *progress, uint32_t call, uint32_t calls) {
  if (!progress->shown)
    return;
  double time = now();
  if (time - progress->last < interval)
    return;
  progress->last = time;
  if (progress->steps == 1) {
    fprintf(stderr, "\r\033[Kcall %u of %u ", call + 1, calls);
    return;
  }

  fprintf(stderr, "\r\033[K%llu of %llu steps done", (unsigned long long)progress->done,
          (unsigned long long)progress->steps);
  if (progress->done) {
    double left = (time - progress->start) / (double)progress->done *
                  (double)(progress->steps - progress->done);
    unsigned long seconds = (unsigned long)left;
    fprintf(stderr, ", %lu:%02lu:%02lu left ", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
}

void sambaProgressEnd(const SambaProgress *progress) {
  if (progress->shown)
    fprintf(stderr, "\r\033[K");
}
