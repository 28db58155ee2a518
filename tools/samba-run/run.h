/* samba-run's parts: what the command line asks, what is fed and fetched, comparison with
 * references, statistics. */
#ifndef SAMBA_TOOLS_SAMBA_RUN_RUN_H
#define SAMBA_TOOLS_SAMBA_RUN_RUN_H

#include "samba/session.h"
#include "support/file/tensor_file.h"

/* What the command line asks. NULL and negative numbers: not asked for. */
typedef struct SambaRunArguments {
  const char *pef;
  SambaStrings inputs, outputs, each_step, expectations, set;
  double rtol, atol, relative_l2;
  bool argmax, evaluate, trap_nan, values_only, timing_only, no_skip, no_memo;
  const char *fidelity, *launch, *sections, *section_types, *graph, *cpu;
  const char *stats, *trace, *report, *csv, *save, *load;
  int64_t threads, max_cycles, steps, micro_batches, seed;
} SambaRunArguments;

/* ---- What to run (selection.c) ---- */

/* Sections or section types, hyperparameters, number of steps. Lists are in the arena. */
SambaStatus sambaParseSteps(const SambaRunArguments *arguments, SambaArena *arena,
                            SambaSteps *out_steps);

/* ---- What goes in (feed.c) ---- */

/* An input whose file has a value for each step, or for each pass. */
typedef struct SambaSlicedInput {
  SambaTensorInfo info;
  const uint8_t *data;
  uint64_t bytes;  /* of one slice */
  uint64_t passes; /* that take the same slice */
} SambaSlicedInput;

typedef struct SambaFeed {
  SambaSession *session;
  SAMBA_ARRAY(SambaSlicedInput) sliced;
} SambaFeed;

/* Reads the input files; writes those that are the same in every step, and of the others what the
 * first pass takes. Refuses graph inputs that have no value afterwards. */
SambaStatus sambaFeedOpen(const SambaRunArguments *arguments, const SambaSteps *steps,
                          SambaSession *session, SambaArena *arena, SambaFeed *out_feed);
/* Writes what this pass takes. */
SambaStatus sambaFeedPass(const SambaFeed *feed, uint64_t pass);
void sambaFeedClose(SambaFeed *feed);

/* ---- What comes out (results.c) ---- */

/* A tensor whose values are stacked over the steps: its file, open since before the first step. */
typedef struct SambaStack {
  SambaTensorInfo info;
  bool of_pass; /* a value for each pass, not for each step */
  SambaAtomicFile file;
} SambaStack;

typedef struct SambaResults {
  SambaSession *session;
  SAMBA_ARRAY(SambaStack) stacks;
  SambaTensorFile *references; /* of the expectations, in the arena */
} SambaResults;

/* Everything that is asked for exists, can be written and overwrites nothing that is read: said
 * before anything runs. */
SambaStatus sambaResultsOpen(const SambaRunArguments *arguments, const SambaSteps *steps,
                             SambaSession *session, SambaArena *arena, SambaResults *out_results);
/* Appends the values of the tensors that have one for each pass, or for each step. */
SambaStatus sambaResultsAddPass(SambaResults *results);
SambaStatus sambaResultsAddStep(SambaResults *results);
/* Writes all files. */
SambaStatus sambaResultsWrite(const SambaRunArguments *arguments, SambaArena *arena,
                              SambaResults *results);
/* SAMBA_MISMATCH when an expectation does not hold. */
SambaStatus sambaResultsCompare(const SambaRunArguments *arguments, SambaArena *arena,
                                const SambaResults *results);
/* Throws away what was not written. */
void sambaResultsClose(SambaResults *results);

/* ---- Comparison with references (compare.c) ---- */

/* What --expect demands; a criterion that is negative was not asked for. */
typedef struct SambaCriteria {
  double rtol, atol;  /* |got - ref| <= atol + rtol * |ref| per element */
  double relative_l2; /* |got - ref|_2 <= bound * |ref|_2 */
  bool argmax; /* the largest element of each row (last axis) is the same, where the reference
                  decides clearly */
} SambaCriteria;

/* SAMBA_MISMATCH with where and how much when a criterion does not hold. Integers and booleans must
 * be equal. */
SambaStatus sambaCompareTensors(const char *name, const SambaTensor *tensor,
                                const SambaTensorFile *reference, const SambaCriteria *criteria);

/* ---- How far it is (progress.c) ---- */

typedef struct SambaProgress {
  bool shown;           /* standard error is a terminal */
  uint64_t steps, done; /* of the run */
  double start, last;   /* seconds: when it began, when the line was written last */
} SambaProgress;

SambaProgress sambaProgressStart(uint64_t steps);
/* Before call `call` of `calls` of a step. */
void sambaProgressShow(SambaProgress *progress, uint32_t call, uint32_t calls);
/* Clears the line. */
void sambaProgressEnd(const SambaProgress *progress);

/* ---- Statistics (statistics.c) ---- */

/* Writes --stats FILE.json; fault: what ended the run early, NULL: nothing did. */
SambaStatus sambaWriteStatistics(const char *path, const SambaSession *session, const char *fault);

#endif
