/* The host's clocks, in seconds. */
#ifndef SAMBA_RUNTIME_CLOCK_H
#define SAMBA_RUNTIME_CLOCK_H

#include <time.h>

static inline double sambaClockRead(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline double sambaClockNow(void) { return sambaClockRead(CLOCK_MONOTONIC); }

#endif
