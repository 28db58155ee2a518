/* The wish to stop: of the user, whose signal handler sets a flag, or of another thread. */
#ifndef SAMBA_BACKEND_SIM_CALL_STOP_H
#define SAMBA_BACKEND_SIM_CALL_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* stop: NULL when nothing ever stops it. */
static inline bool sambaIsStopped(const volatile sig_atomic_t *stop) {
  return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

static inline void sambaStop(volatile sig_atomic_t *stop) {
  __atomic_store_n(stop, 1, __ATOMIC_RELAXED);
}

#endif
