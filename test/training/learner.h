/* For tests of the whole way: a graph is traced, compiled for training and run on the simulated
 * RDU, with values and without cycles. */
#ifndef SAMBA_TEST_TRAINING_LEARNER_H
#define SAMBA_TEST_TRAINING_LEARNER_H

#include "frontend/trace/trace.h"
#include "pipeline/compile.h"
#include "runtime/session.h"
#include "samba/operators.h"
#include "samba/training.h"

typedef struct Learner {
  MlirContext context;
  SambaTrace *trace;
  SambaSession *session;
  SambaArena arena; /* what was read */
  const char *path;
} Learner;

/* Fails with the message of an error. */
void succeeds(SambaStatus status);
/* Fails unless the status is an error that contains the text; frees it. */
void refuses(SambaStatus status, const char *text);

/* A trace to fill, then the session of its PEF. A graph without losses is trained all the same. */
void learnerBegin(Learner *learner, const char *path);
void learnerOpen(Learner *learner);
/* The status of compiling, for what is refused. */
SambaStatus learnerCompile(Learner *learner);
void learnerEnd(Learner *learner);

/* An f32 weight that is trained, and an f32 input. */
SambaTraceValue *trained(Learner *learner, const char *name, uint32_t rank, const int64_t *dims);
SambaTraceValue *fed(Learner *learner, const char *name, uint32_t rank, const int64_t *dims);

/* f32 tensors by name. What is read stays until the end. */
void put(Learner *learner, const char *name, const float *values);
const float *get(Learner *learner, const char *name);
uint64_t elementsOf(Learner *learner, const char *name);

/* A run of everything, or of the types whose first letters are given: Z, F, B, R, G, O. */
void runs(Learner *learner, const char *types);
void runsWith(Learner *learner, const char *types, const char *hyperparameter, double value);

void areNear(const float *got, const double *expected, uint64_t count, double tolerance);
void areAll(const float *got, double expected, uint64_t count, double tolerance);

#endif
