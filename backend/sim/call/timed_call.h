/* What a timed call is asked for and what it answers, whichever engine times it. */
#ifndef SAMBA_BACKEND_SIM_CALL_TIMED_CALL_H
#define SAMBA_BACKEND_SIM_CALL_TIMED_CALL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct SambaTimingOptions {
  uint64_t max_cycles;               /* 0: no bound; beyond: the fault `too many cycles` */
  const volatile sig_atomic_t *stop; /* non-zero: the fault `interrupted`; NULL: nothing stops it */
  bool no_skip;      /* nothing is known before its cycle is reached: the cycle engine
                        steps links too */
  bool known_to_end; /* the section runs to its end on the chip: that need not be found out */
  int threads;       /* of the host, for the cycle engine; nothing depends on them. 0: one */
  /* Optional trace of firings, by the fast engine: called in no particular order. */
  void (*on_firing)(void *user, uint32_t unit, uint64_t start_cycle, uint64_t end_cycle);
  void *user;
} SambaTimingOptions;

/* Why a unit that is not finished does not work, in cycles. */
typedef struct SambaUnitActivity {
  uint64_t side_busy; /* of a buffer: the ports of its busier side together; of others: busy */
  uint64_t firings, busy, wait_input, wait_output, wait_memory;
  uint64_t bytes_in, bytes_out;
} SambaUnitActivity;

typedef struct SambaTimingResult {
  uint64_t cycles;                            /* of the section, launch apart */
  uint64_t dram_read_bytes, dram_write_bytes; /* bytes moved in whole bursts */
  uint64_t host_read_bytes, host_write_bytes; /* the same of host memory, which is no DRAM */
  uint64_t flops; /* 2 per MAC and FMA, 1 per other f32 operation but moves, counted at firings */
  uint64_t multiply_adds; /* of contractions: the MACs among them */
  uint64_t row_hits, row_misses;
  uint64_t events;          /* of the engine */
  uint64_t link_busy_max;   /* busiest lane's busy cycles */
  SambaUnitActivity *units; /* one per unit; owned, sambaTimingResultFree */
} SambaTimingResult;

void sambaTimingResultFree(SambaTimingResult *result);

#endif
