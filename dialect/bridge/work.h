/* Counters of the work that is worth saving: samba-compile --explain tells them, and
 * --mlir-pass-statistics tells them of each pass. */
#ifndef SAMBA_DIALECT_BRIDGE_WORK_H
#define SAMBA_DIALECT_BRIDGE_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  SAMBA_WORK_GRAPHS_BUILT,  /* stage graphs, from IR */
  SAMBA_WORK_PLANS_MADE,    /* runs of the planner */
  SAMBA_WORK_SECTIONS_READ, /* rdu.sections read from IR, verifiers included */
  /* Of the search for sections (o3): */
  SAMBA_WORK_INTERVALS_PRICED,  /* operators that were tried as a section */
  SAMBA_WORK_INTERVALS_REUSED,  /* that have the price of equal ones */
  SAMBA_WORK_INTERVALS_SKIPPED, /* that cannot be better than what is known */
  SAMBA_WORK_GRAPHS_REORDERED,  /* whose operators run in another order than traced */
  SAMBA_WORK_SEARCHES_OVER,     /* that ended by --search-seconds */
  SAMBA_WORK_KINDS
} SambaWork;

void sambaWorkCount(SambaWork work);
void sambaWorkAdd(SambaWork work, uint64_t times);
/* What the process has counted so far, on all threads. */
uint64_t sambaWorkTotal(SambaWork work);

/* What this thread counts from now on belongs to the pass, up to its next one: the verifiers that
 * run between them too. name: a literal. */
void sambaWorkStartPass(const char *name);
/* The pass that this thread counts for: threads that it starts may do likewise. */
const char *sambaWorkPass(void);
/* This thread works ahead of another, which may never ask for what comes of it: nothing counts from
 * now on, up to the start of a pass. */
void sambaWorkAhead(void);
bool sambaWorkIsAhead(void);
/* The counts that are not 0, pass by pass in the order in which they ran first; in the form of
 * MLIR's report of pass statistics. That report itself stays empty, because Debian builds LLVM
 * without statistics. */
void sambaWorkPrint(FILE *out);
/* Prints them to standard error when the program ends, if --mlir-pass-statistics stands among its
 * arguments. */
void sambaWorkPrintIfAskedFor(int argc, char *const *argv);

#ifdef __cplusplus
}
#endif
#endif
