/* A PEF for the tests of sessions: all section types, hyperparameters of all kinds, a parameter
 * with gradient and state. Its sections do nothing; the recording device runs them. */
#ifndef SAMBA_TEST_RUNTIME_TRAINING_PEF_H
#define SAMBA_TEST_RUNTIME_TRAINING_PEF_H

#include "backend/pef/pef.h"
#include "runtime/session.h"
#include "test/runtime/recording_device.h"

/* The schedule: calls 0 to 7 run these sections, with these types. Section 1 is called twice. */
enum {
  trainingCalls = 8,
  trainingSections = 7,
  trainingArgins = 8,
  /* Symbols, in order; each but the loss has 4 elements of f32. */
  trainingX = 0,
  trainingWeight,
  trainingBias,
  trainingMean,
  trainingVelocity,
  trainingGradient,
  trainingLoss,
  trainingSymbols
};

/* Writes the PEF. `types`: set of section types (sambaSectionTypeBit) that it has, 0: all. Sections
 * and calls of other types are left out. */
void writeTrainingPef(const char *path, uint32_t types);
/* Changes the PEF before it is written. */
void writeChangedTrainingPef(const char *path, uint32_t types, void (*change)(SambaPef *pef));

/* A session of it on a recording device. */
SambaSession *openRecorded(const char *path, Recording *recording);
/* The same for tests whose state it is; closing deletes the file. */
typedef struct RecordedPef {
  Recording recording;
  SambaSession *session;
  const char *path;
} RecordedPef;
int openRecordedPef(const char *path, void **state);
int closeRecordedPef(void **state);

/* The calls that were launched since entry `from`, as text: "0 1 2". */
const char *launchedCalls(Recording *recording, size_t from);
/* The n-th launch, from 0. */
const Recorded *launchAt(const Recording *recording, size_t n);
/* Fails unless the status is an error that contains the text; frees it. */
void refusedWith(SambaStatus status, const char *text);
/* Fails with the message of an error. */
void succeeded(SambaStatus status);

#endif
