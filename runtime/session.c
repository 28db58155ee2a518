/* Sessions; see session.h. */
#include "runtime/session.h"

#include "backend/pef/container/reader.h"
#include "support/number/shape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct SambaSession {
  SambaPef *pef;
  SambaMachine machine;
  SambaDevice *device;
  bool *set;        /* per symbol: a value was given */
  uint64_t *argins; /* per argin of the PEF: its value */
  SambaSectionReport *sections;
  SambaRunReport report;
  SambaArena arena;
};

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

SambaStatus sambaSessionOpen(const char *path, const SambaDeviceFactory *factory,
                             SambaSession **out_session) {
  double start = now(CLOCK_MONOTONIC);
  SambaSession *session = sambaAllocateZeroed(1, sizeof *session);
  SambaStatus status = sambaPefOpen(path, &session->pef); /* its errors name the file */
  if (!status) {
    status = sambaPefGetMachine(session->pef, &session->machine);
    if (!status)
      status = factory->create(factory->options, &session->machine, &session->device);
    if (!status)
      status = session->device->functions->load(session->device, session->pef);
    status = sambaStatusAnnotate(status, "%s", path);
  }

  if (status) {
    sambaSessionClose(session);
    return status;
  }

  const SambaPef *pef = session->pef;
  session->set = sambaAllocateZeroed(pef->symbols_count, sizeof *session->set);
  session->argins = sambaAllocateZeroed(pef->argins_count, sizeof *session->argins);
  for (uint32_t i = 0; i < pef->argins_count; ++i)
    session->argins[i] = pef->argins[i].default_value;
  session->sections = sambaAllocateZeroed(pef->sections_count, sizeof *session->sections);
  for (uint32_t i = 0; i < pef->sections_count; ++i)
    session->sections[i].section = i;

  session->report.load_seconds = now(CLOCK_MONOTONIC) - start;
  *out_session = session;

  return NULL;
}

void sambaSessionClose(SambaSession *session) {
  if (!session)
    return;
  if (session->device)
    session->device->functions->destroy(session->device);
  sambaPefDestroy(session->pef);
  sambaArenaDestroy(&session->arena);
  free(session->set);
  free(session->argins);
  free(session->sections);
  free(session);
}

const SambaPef *sambaSessionGetPef(const SambaSession *session) { return session->pef; }
const SambaMachine *sambaSessionGetMachine(const SambaSession *session) {
  return &session->machine;
}
SambaDevice *sambaSessionGetDevice(const SambaSession *session) { return session->device; }

static uint64_t *dimsOf(SambaSession *session, const SambaPefSymbol *symbol) {
  uint64_t *dims = SAMBA_ARENA_ARRAY(&session->arena, uint64_t, symbol->dims_count + 1);
  for (uint32_t a = 0; a < symbol->dims_count; ++a)
    dims[a] = symbol->dims[a].size;
  return dims;
}

static SambaStatus findSymbol(const SambaSession *session, SambaStringRef name,
                              uint32_t *out_symbol) {
  *out_symbol = sambaPefFindSymbol(session->pef, name);
  if (*out_symbol != SAMBA_PEF_NONE)
    return NULL;
  SambaStatus status =
      sambaStatusMake(SAMBA_INVALID, "there is no tensor named '%.*s'", SAMBA_STRING_ARGS(name));

  for (uint32_t g = 0; g < session->pef->graphs_count; ++g) {
    const SambaPefGraph *graph = &session->pef->graphs[g];
    for (uint32_t i = 0; i < graph->inputs_count && i < 8; ++i)
      status =
          sambaStatusNote(status, "input '%.*s'",
                          SAMBA_STRING_ARGS(session->pef->symbols[graph->inputs[i].symbol].name));
    for (uint32_t i = 0; i < graph->outputs_count && i < 8; ++i)
      status =
          sambaStatusNote(status, "output '%.*s'",
                          SAMBA_STRING_ARGS(session->pef->symbols[graph->outputs[i].symbol].name));
  }

  return status;
}

SambaStatus sambaSessionFindTensor(const SambaSession *session, SambaStringRef name,
                                   const SambaPefSymbol **out_symbol) {
  uint32_t index;
  SAMBA_RETURN_IF_ERROR(findSymbol(session, name, &index));
  *out_symbol = &session->pef->symbols[index];
  return NULL;
}

/* Element conversions between host and device float types; equal types are copied. */
static SambaStatus convert(const SambaPefSymbol *symbol, SambaDType from, const void *source,
                           SambaDType to, void *target, uint64_t count) {
  if (from == to) {
    memcpy(target, source, count * sambaDTypeBytes(from));
    return NULL;
  }

  if (!sambaDTypeIsFloat(from) || !sambaDTypeIsFloat(to))
    return sambaStatusMake(
        SAMBA_UNSUPPORTED, "tensor '%.*s': %s on the host cannot be %s on the device",
        SAMBA_STRING_ARGS(symbol->name), sambaDTypeName(from), sambaDTypeName(to));

  sambaConvertFloats(from, source, to, target, count);
  return NULL;
}

static bool isBound(const SambaPef *pef, uint32_t symbol) {
  for (uint32_t c = 0; c < pef->calls_count; ++c)
    for (uint32_t b = 0; b < pef->calls[c].bindings_count; ++b)
      if (pef->calls[c].bindings[b].kind == SAMBA_PEF_BINDING_SYMBOL &&
          pef->calls[c].bindings[b].symbol == symbol)
        return true;
  return false;
}

SambaStatus sambaSessionSetInput(SambaSession *session, SambaStringRef name, SambaDType dtype,
                                 uint32_t rank, const uint64_t *dims, const void *data) {
  uint32_t index;
  SAMBA_RETURN_IF_ERROR(findSymbol(session, name, &index));
  const SambaPefSymbol *symbol = &session->pef->symbols[index];
  uint64_t *own = dimsOf(session, symbol);

  if (dtype != symbol->host_dtype || rank != symbol->dims_count ||
      (rank && memcmp(dims, own, rank * sizeof *dims))) {
    char given[SAMBA_SHAPE_TEXT_BYTES], wanted[SAMBA_SHAPE_TEXT_BYTES];
    return sambaStatusMake(
        SAMBA_INVALID, "input '%.*s' is %s, but the data are %s", SAMBA_STRING_ARGS(name),
        sambaShapeFormat(wanted, sizeof wanted, symbol->dims_count, (const int64_t *)own,
                         sambaDTypeName(symbol->host_dtype)),
        sambaShapeFormat(given, sizeof given, rank, (const int64_t *)dims, sambaDTypeName(dtype)));
  }

  if (!session->device->holds_values) {
    session->set[index] = true;
    return NULL;
  }

  void *converted = sambaAllocate(symbol->bytes);
  SambaStatus status =
      convert(symbol, dtype, data, symbol->device_dtype, converted, sambaPefSymbolElements(symbol));
  if (!status)
    status =
        sambaStatusAnnotate(session->device->functions->write(session->device, index, converted),
                            "input '%.*s'", SAMBA_STRING_ARGS(name));
  free(converted);
  session->set[index] |= !status;

  return status;
}

bool sambaSessionSkipInput(SambaSession *session, SambaStringRef name) {
  uint32_t index;
  SambaStatus status = findSymbol(session, name, &index);
  bool skipped = !status && session->pef->symbols[index].kind == SAMBA_PEF_SYMBOL_INPUT &&
                 !isBound(session->pef, index);
  sambaStatusFree(status);
  if (skipped)
    session->set[index] = true;
  return skipped;
}

const SambaPefSymbol *sambaSessionFindMissingInput(const SambaSession *session) {
  for (uint32_t g = 0; g < session->pef->graphs_count; ++g)
    for (uint32_t i = 0; i < session->pef->graphs[g].inputs_count; ++i) {
      uint32_t index = session->pef->graphs[g].inputs[i].symbol;
      if (!session->set[index] && session->pef->symbols[index].init == SAMBA_PEF_INIT_NONE)
        return &session->pef->symbols[index];
    }
  return NULL;
}

SambaStatus sambaSessionPlanRun(const SambaSession *session, const SambaRunOptions *options,
                                uint32_t **out_calls, uint32_t *out_count) {
  const SambaPef *pef = session->pef;
  if ((options->section_count != 0) + (options->type_count != 0) + options->has_range > 1)
    return sambaStatusMake(
        SAMBA_INVALID,
        "sections, section types and a range of calls exclude each other; give one of them");
  if (options->has_range && (options->from > options->until || options->until > pef->calls_count))
    return sambaStatusMake(SAMBA_INVALID,
                           "calls [%u, %u) are not in the schedule, which has %u calls",
                           options->from, options->until, pef->calls_count);
  bool *wanted = sambaAllocateZeroed(pef->sections_count, sizeof *wanted);
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < options->section_count && !status; ++i) {
    if (options->sections[i] >= pef->sections_count)
      status = sambaStatusMake(SAMBA_INVALID, "there is no section %u; the PEF has %u sections",
                               options->sections[i], pef->sections_count);
    else
      wanted[options->sections[i]] = true;
  }

  for (uint32_t i = 0; i < options->type_count && !status; ++i) {
    bool any = false;
    for (uint32_t s = 0; s < pef->sections_count; ++s)
      if (pef->sections[s].type == options->types[i])
        any = wanted[s] = true;
    if (!any)
      status = sambaStatusMake(SAMBA_INVALID, "no section of this PEF has type %s",
                               sambaPefSectionTypeName(options->types[i]));
  }

  if (!status) {
    bool all = !options->section_count && !options->type_count;
    uint32_t *calls = sambaAllocate(sambaArraySize(pef->calls_count, sizeof *calls));
    uint32_t count = 0;
    uint32_t from = options->has_range ? options->from : 0;
    uint32_t until = options->has_range ? options->until : pef->calls_count;
    for (uint32_t c = from; c < until; ++c)
      if (all || wanted[pef->calls[c].section])
        calls[count++] = c;
    *out_calls = calls;
    *out_count = count;
  }

  free(wanted);
  return status;
}

/* Runs one call and adds what it did to the reports. */
static SambaStatus launch(SambaSession *session, uint32_t call) {
  SambaDeviceActivity activity;
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
      session->device->functions->launch(session->device, call, session->argins, &activity),
      "call %u", call));

  SambaSectionReport *section = &session->sections[session->pef->calls[call].section];
  ++section->calls;
  sambaDeviceActivityAdd(&section->activity, &activity);
  ++session->report.calls;
  sambaDeviceActivityAdd(&session->report.activity, &activity);
  return NULL;
}

SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                            void (*progress)(void *user, uint32_t done, uint32_t total),
                            void *user) {
  static const SambaRunOptions everything = {0};
  uint32_t *calls, count;

  SAMBA_RETURN_IF_ERROR(
      sambaSessionPlanRun(session, options ? options : &everything, &calls, &count));
  double start = now(CLOCK_MONOTONIC);
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  SambaStatus status = NULL;

  for (uint32_t i = 0; i < count && !status; ++i) {
    if (progress)
      progress(user, i, count);
    status = launch(session, calls[i]);
  }

  session->report.simulate_seconds += now(CLOCK_MONOTONIC) - start;
  session->report.simulate_cpu_seconds += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  free(calls);
  return status;
}

SambaStatus sambaSessionGetOutput(SambaSession *session, SambaStringRef name,
                                  SambaHostTensor *out_tensor) {
  uint32_t index;
  SAMBA_RETURN_IF_ERROR(findSymbol(session, name, &index));
  const SambaPefSymbol *symbol = &session->pef->symbols[index];
  uint64_t elements = sambaPefSymbolElements(symbol);
  void *device = sambaAllocate(symbol->bytes);
  void *host = sambaAllocate(sambaArraySize(elements, sambaDTypeBytes(symbol->host_dtype)));
  SambaStatus status = session->device->functions->read(session->device, index, device);

  if (!status)
    status = convert(symbol, symbol->device_dtype, device, symbol->host_dtype, host, elements);
  free(device);
  if (status) {
    free(host);
    return status;
  }

  *out_tensor = (SambaHostTensor){.dtype = symbol->host_dtype,
                                  .rank = symbol->dims_count,
                                  .dims = dimsOf(session, symbol),
                                  .data = host,
                                  .bytes = elements * sambaDTypeBytes(symbol->host_dtype)};
  return NULL;
}

void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report) {
  *out_report = session->report;
  session->device->functions->statistics(session->device, &out_report->device);
  out_report->section_count = session->pef->sections_count;
  out_report->sections = session->sections;
}
