/* Where lazy tensors are computed; see device.h. */
#include "tools/libsamba/lazy/device.h"

#include "backend/pef/container/reader.h"
#include "backend/pef/pef.h"
#include "support/text/trace_record.h"
#include "tools/libsamba/context.h"

#include <stdlib.h>
#include <unistd.h>

enum { keptPrograms = 32 };

/* What a context computes with. */
typedef struct Device {
  SambaSimulatedDeviceOptions options;
  SambaDeviceFactory factory;
  SambaSession *session;    /* NULL until it is needed */
  SambaLazyProgram *loaded; /* one reference */
  /* The last used one first. */
  SAMBA_ARRAY(SambaLazyProgram *) programs;
  SambaContextStatistics statistics;
} Device;

static void releaseDevice(void *user) {
  Device *device = user;
  sambaSessionClose(device->session);
  sambaLazyProgramRelease(device->loaded);
  for (size_t i = 0; i < device->programs.size; ++i)
    sambaLazyProgramRelease(device->programs.data[i]);
  sambaArrayFree(&device->programs);
  free(device);
}

static Device *deviceOf(SambaContext *context) {
  if (!context->device) {
    Device *device = sambaAllocateZeroed(1, sizeof *device);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    device->options.threads = processors > 0 ? (int)processors : 1;
    device->factory = sambaSimulatedDevice(&device->options);
    context->device = device;
    context->release_device = releaseDevice;
  }
  return context->device;
}

void sambaContextGetStatistics(const SambaContext *context,
                               SambaContextStatistics *out_statistics) {
  const Device *device = context->device;
  *out_statistics = device ? device->statistics : (SambaContextStatistics){0};
}

/* ---- Programs ---- */

void sambaLazyProgramRelease(SambaLazyProgram *program) {
  if (!program || --program->references)
    return;
  sambaFree(program->pef.data);
  free(program->target);
  free(program);
}

/* The program that was compiled from such a trace, moved to the front; NULL: there is none. */
static SambaLazyProgram *findProgram(Device *device, const SambaTraceRecord *record,
                                     const char *target) {
  for (size_t i = 0; i < device->programs.size; ++i) {
    SambaLazyProgram *program = device->programs.data[i];
    if (memcmp(program->digest, record->digest, sizeof record->digest) != 0 ||
        strcmp(program->target, target) != 0)
      continue;
    memmove(device->programs.data + 1, device->programs.data, i * sizeof program);
    device->programs.data[0] = program;
    ++program->references;
    return program;
  }
  return NULL;
}

static void keepProgram(Device *device, SambaLazyProgram *program) {
  if (device->programs.size == keptPrograms)
    sambaLazyProgramRelease(device->programs.data[--device->programs.size]);
  sambaArrayAppend(&device->programs, program);
  memmove(device->programs.data + 1, device->programs.data,
          (device->programs.size - 1) * sizeof program);
  device->programs.data[0] = program;
  ++program->references;
}

/* What activations take in device memory, and what they would take without sharing. */
static SambaStatus measure(SambaLazyProgram *program) {
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(
      sambaPefOpenMemory("a lazy graph", program->pef.data, program->pef.size, &pef));
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (uint32_t s = 0; s < pef->symbols_count; ++s) {
    const SambaPefSymbol *symbol = &pef->symbols[s];
    if (symbol->kind != SAMBA_PEF_SYMBOL_ACTIVATION)
      continue;
    uint64_t from = symbol->address;
    program->sum_bytes += symbol->bytes;
    lowest = from < lowest ? from : lowest;
    highest = from + symbol->bytes > highest ? from + symbol->bytes : highest;
  }
  program->calls = pef->calls_count;
  program->planned_bytes = highest > lowest ? highest - lowest : 0;
  sambaPefDestroy(pef);
  return NULL;
}

SambaStatus sambaLazyCompile(SambaContext *context, SambaTrace *trace,
                             SambaLazyProgram **out_program) {
  Device *device = deviceOf(context);
  const SambaTraceRecord *record = sambaTraceGetRecord(trace);
  const char *target = sambaContextGetTarget(context);
  *out_program = findProgram(device, record, target);
  if (*out_program)
    return NULL;

  SambaLazyProgram *program = sambaAllocateZeroed(1, sizeof *program);
  program->references = 1;
  memcpy(program->digest, record->digest, sizeof program->digest);
  program->target = strcpy(sambaAllocate(strlen(target) + 1), target);
  SambaStatus status = sambaCompileTraceToMemory(context, trace, NULL, &program->pef);
  if (!status)
    status = measure(program);
  if (status) {
    sambaLazyProgramRelease(program);
    return status;
  }
  ++device->statistics.compilations;
  keepProgram(device, program);
  *out_program = program;
  return NULL;
}

/* ---- Sessions ---- */

SambaStatus sambaLazyLoad(SambaContext *context, SambaLazyProgram *program,
                          SambaSession **out_session) {
  Device *device = deviceOf(context);
  if (!device->session)
    SAMBA_RETURN_IF_ERROR(sambaSessionCreate(&device->factory, &device->session));
  if (device->loaded != program) {
    SAMBA_RETURN_IF_ERROR(
        sambaSessionLoadPefMemory(device->session, program->pef.data, program->pef.size));
    sambaLazyProgramRelease(device->loaded);
    device->loaded = program;
    ++program->references;
  }
  *out_session = device->session;
  return NULL;
}

SambaStatus sambaLazyRun(SambaContext *context, SambaSession *session, bool counted) {
  SambaRunReport before, after;
  sambaSessionGetReport(session, &before);
  SAMBA_RETURN_IF_ERROR(sambaSessionRun(session, NULL, NULL, NULL));
  sambaSessionGetReport(session, &after);
  SambaContextStatistics *statistics = &deviceOf(context)->statistics;
  if (counted) {
    statistics->launches += after.calls - before.calls;
    statistics->cycles += after.activity.cycles - before.activity.cycles;
  }
  return NULL;
}
