/* Sessions: a PEF on a device, its tensors by name, its schedule by sections.
 *
 *   SambaSimulatedDeviceOptions options = {.threads = 2};
 *   SambaDeviceFactory device = sambaSimulatedDevice(&options);
 *   sambaSessionOpen("mlp.pef", &device, &session);
 *   sambaSessionSetInput(session, sambaStringRef("x"), dtype, rank, dims, data);
 *   sambaSessionRun(session, NULL, NULL, NULL);
 *   sambaSessionGetOutput(session, sambaStringRef("y"), &tensor);
 *
 * Users see tensors in host dtypes and in row-major order. The session converts them to what device
 * memory holds. */
#ifndef SAMBA_RUNTIME_SESSION_H
#define SAMBA_RUNTIME_SESSION_H

#include "runtime/device.h"
#include "runtime/hyperparameters.h"
#include "runtime/run_plan.h"
#include "support/text/trace_record.h"

typedef struct SambaSession SambaSession;

/* A tensor in host memory. */
typedef struct SambaHostTensor {
  SambaDType dtype;
  uint32_t rank;
  const uint64_t *dims; /* borrowed from the session, which keeps them */
  void *data;           /* owned by the receiver (free) */
  uint64_t bytes;
} SambaHostTensor;

/* What one run does: everything with what is stored when all is zero. */
typedef struct SambaRunOptions {
  SambaRunOrder order;
  /* Stored before the run, and kept for later ones. */
  uint32_t hyperparameter_count;
  const SambaHyperparameter *hyperparameters;
  bool evaluate; /* dropout is off in this run; the stored rates stay */
} SambaRunOptions;

/* What the calls of one section that ran did, together. */
typedef struct SambaSectionReport {
  uint32_t section;
  uint64_t calls;
  SambaDeviceActivity activity;
} SambaSectionReport;

/* What all calls that ran did, together. */
typedef struct SambaRunReport {
  uint64_t calls;
  SambaDeviceActivity activity;
  SambaDeviceStatistics device;
  uint32_t section_count;                /* sections of the PEF, in order */
  const SambaSectionReport *sections;    /* borrowed from the session */
  double load_seconds, simulate_seconds; /* host time: opening and loading, launching */
  double simulate_cpu_seconds;           /* of all threads while launching */
} SambaRunReport;

/* Opens a PEF, makes a device for its machine and loads the PEF into it. Errors name the file. */
SambaStatus sambaSessionOpen(const char *path, const SambaDeviceFactory *factory,
                             SambaSession **out_session);
void sambaSessionClose(SambaSession *session);
const SambaPef *sambaSessionGetPef(const SambaSession *session);
const SambaMachine *sambaSessionGetMachine(const SambaSession *session);
SambaDevice *sambaSessionGetDevice(const SambaSession *session);

/* Writes a graph input, weight or other symbol. The dtype must be the symbol's host dtype and the
 * shape its own; errors name both. data is copied; a device that holds no values ignores it. */
SambaStatus sambaSessionSetInput(SambaSession *session, SambaStringRef name, SambaDType dtype,
                                 uint32_t rank, const uint64_t *dims, const void *data);
/* The tensor of that name (host dtype and shape are in it); nothing is read from the device. The
 * error for a name that does not exist lists inputs and outputs and the name that is most like it,
 * and says when the PEF cannot have such a tensor. */
SambaStatus sambaSessionFindTensor(const SambaSession *session, SambaStringRef name,
                                   const SambaPefSymbol **out_symbol);
/* Leaves out an input: it needs no value. False when a section reads it, or when it is no input. */
bool sambaSessionSkipInput(SambaSession *session, SambaStringRef name);
/* The first graph input without a value that a run in this order would read, or NULL. Without an
 * order, or with one that asks for everything: the first one at all. */
const SambaPefSymbol *sambaSessionFindMissingInput(const SambaSession *session,
                                                   const SambaRunOrder *order);
/* The calls that the order asks for; refuses before anything is launched. out_calls: malloc'ed. */
SambaStatus sambaSessionPlanRun(const SambaSession *session, const SambaRunOrder *order,
                                uint32_t **out_calls, uint32_t *out_count);
/* Runs them. Whatever can be refused is refused before the first launch, and then nothing has
 * changed. progress (may be NULL) is called before each call. An error of the device names the
 * call; the calls before it have run and are in the report. */
SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                            void (*progress)(void *user, uint32_t done, uint32_t total),
                            void *user);
/* How many runs with OPT sections have ended since the beginning of the training. */
uint64_t sambaSessionGetStep(const SambaSession *session);
void sambaSessionSetStep(SambaSession *session, uint64_t step);

/* Compares a model that was traced with the one that the PEF was compiled from; graph: its name in
 * the PEF, empty: the first. The failure tells the first line that differs. After a trace without
 * losses or optimizers, which matches the forward part of a training, only FWD sections run. */
SambaStatus sambaSessionCheckTrace(SambaSession *session, SambaStringRef graph,
                                   const SambaTraceRecord *traced);

/* Their values between runs, to read and to set. */
SambaHyperparameters *sambaSessionGetHyperparameters(SambaSession *session);
/* Starts the random generator again where it started, or at another seed (0 in a new session). The
 * seeds of dropout are drawn from it in each run with FWD sections, unless they are given. */
void sambaSessionResetGenerator(SambaSession *session);
void sambaSessionSeedGenerator(SambaSession *session, uint64_t seed);

/* Hyperparameters of the kinds whose bits `1 << kind` are set, in the order of the PEF. */
void sambaSessionForEachArgin(const SambaSession *session, uint32_t kinds,
                              void (*visit)(void *user, const SambaPefArgin *argin), void *user);
/* The same for tensors: weights, for example, are 1 << SAMBA_PEF_SYMBOL_WEIGHT. */
void sambaSessionForEachTensor(const SambaSession *session, uint32_t kinds,
                               void (*visit)(void *user, const SambaPefSymbol *symbol), void *user);
/* The set of section types in the PEF (sambaSectionTypeBit). */
uint32_t sambaSessionGetSectionTypes(const SambaSession *session);

SambaStatus sambaSessionGetOutput(SambaSession *session, SambaStringRef name,
                                  SambaHostTensor *out_tensor);
/* Several at once, in the order of the names: all of them or none. */
SambaStatus sambaSessionReadTensors(SambaSession *session, uint32_t count,
                                    const SambaStringRef *names, SambaHostTensor *out_tensors);
/* What ran since the session was opened. */
void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report);

#endif
