/* A device that runs nothing: it records what a session asks of it, in order, and answers reads
 * from what was written. It shares no code with the simulator. */
#ifndef SAMBA_TEST_RUNTIME_RECORDING_DEVICE_H
#define SAMBA_TEST_RUNTIME_RECORDING_DEVICE_H

#include "runtime/device.h"

typedef enum { RECORDED_LOAD, RECORDED_WRITE, RECORDED_READ, RECORDED_LAUNCH } RecordedKind;

typedef struct Recorded {
  RecordedKind kind;
  uint32_t index;         /* of the symbol or the call */
  const uint8_t *data;    /* written: a copy of the bytes */
  const uint64_t *argins; /* launched: a copy of their values */
} Recorded;

/* What the device does, for the test to look at; zero-initialize it and free it with
 * recordingFree. It must outlive the device. */
typedef struct Recording {
  SAMBA_ARRAY(Recorded) entries;
  SambaArena arena;
  const char *machine; /* the device was made for */
  bool timing_only;    /* the device holds no values */
  bool destroyed;
  bool (*writes)(uint32_t call, uint32_t formal); /* what calls write; NULL: nothing */
  /* The n-th load, write, read or launch is refused with the error "the wire is cut"; 0: none. */
  size_t fails_at;
  bool fails_as_fault; /* and this is a fault: "a bit has flipped" */
} Recording;

/* A factory of devices that record into `recording`. Launching call c takes 100 + c cycles, c of
 * them in every kind of unit and of waiting. */
SambaDeviceFactory recordingDevice(Recording *recording);
void recordingFree(Recording *recording);

#endif
