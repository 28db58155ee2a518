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

typedef struct SambaSession SambaSession;

/* A tensor in host memory. */
typedef struct SambaHostTensor {
  SambaDType dtype;
  uint32_t rank;
  const uint64_t *dims; /* borrowed from the session */
  void *data;           /* owned by the receiver (free) */
  uint64_t bytes;
} SambaHostTensor;

/* Which calls of the schedule to run: those of some sections, those of some types of section, or
 * the half-open range [from, until) of call ids. Only one of the three may be given; all zero means
 * every call. */
typedef struct SambaRunOptions {
  uint32_t section_count;
  const uint32_t *sections;
  uint32_t type_count;
  const SambaPefSectionType *types;
  bool has_range;
  uint32_t from, until;
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
/* The tensor of that name (host dtype and shape are in it); the error for a name that does not
 * exist lists inputs and outputs. */
SambaStatus sambaSessionFindTensor(const SambaSession *session, SambaStringRef name,
                                   const SambaPefSymbol **out_symbol);
/* Leaves out an input: it needs no value. False when a section reads it, or when it is no input. */
bool sambaSessionSkipInput(SambaSession *session, SambaStringRef name);
/* The first graph input that was never set, or NULL. */
const SambaPefSymbol *sambaSessionFindMissingInput(const SambaSession *session);
/* The calls that the options ask for, in the order of the schedule. Refuses what is not there
 * before anything is launched. The caller frees out_calls. */
SambaStatus sambaSessionPlanRun(const SambaSession *session, const SambaRunOptions *options,
                                uint32_t **out_calls, uint32_t *out_count);
/* Runs these calls, with the argins' default values. progress (may be NULL) is called before each
 * call. An error of the device names the call; earlier calls have run and are in the report. */
SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                            void (*progress)(void *user, uint32_t done, uint32_t total),
                            void *user);
SambaStatus sambaSessionGetOutput(SambaSession *session, SambaStringRef name,
                                  SambaHostTensor *out_tensor);
/* What ran since the session was opened. */
void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report);

#endif
