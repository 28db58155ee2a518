/* Sessions; see session.h. */
#include "runtime/session.h"

#include "backend/pef/container/reader.h"
#include "runtime/missing_tensor.h"
#include "support/number/shape.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct SambaSession {
  SambaPef *pef;
  SambaMachine machine;
  SambaDevice *device;
  bool *set;       /* per symbol: a value was given */
  uint64_t **dims; /* per symbol: its shape, NULL until somebody asks */
  SambaHyperparameters hyperparameters;
  uint64_t step;
  bool forward_only; /* the model was traced without what trains it */
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
  session->dims = sambaAllocateZeroed(pef->symbols_count, sizeof *session->dims);
  sambaHyperparametersInitialize(&session->hyperparameters, pef, 0);
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
  sambaHyperparametersFree(&session->hyperparameters);
  free(session->set);
  free(session->dims);
  free(session->sections);
  free(session);
}

const SambaPef *sambaSessionGetPef(const SambaSession *session) { return session->pef; }
const SambaMachine *sambaSessionGetMachine(const SambaSession *session) {
  return &session->machine;
}
SambaDevice *sambaSessionGetDevice(const SambaSession *session) { return session->device; }

/* Made once for each symbol: a session may be asked thousands of times. */
static const uint64_t *dimsOf(SambaSession *session, uint32_t index) {
  const SambaPefSymbol *symbol = &session->pef->symbols[index];
  if (!session->dims[index]) {
    session->dims[index] = SAMBA_ARENA_ARRAY(&session->arena, uint64_t, symbol->dims_count + 1);
    for (uint32_t a = 0; a < symbol->dims_count; ++a)
      session->dims[index][a] = symbol->dims[a].size;
  }
  return session->dims[index];
}

static SambaStatus findSymbol(const SambaSession *session, SambaStringRef name,
                              uint32_t *out_symbol) {
  *out_symbol = sambaPefFindSymbol(session->pef, name);
  return *out_symbol == SAMBA_PEF_NONE ? sambaExplainMissingTensor(session->pef, name) : NULL;
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

static bool callBinds(const SambaPefCall *call, uint32_t symbol) {
  for (uint32_t b = 0; b < call->bindings_count; ++b)
    if (call->bindings[b].kind == SAMBA_PEF_BINDING_SYMBOL && call->bindings[b].symbol == symbol)
      return true;
  return false;
}

static bool isBound(const SambaPef *pef, uint32_t symbol) {
  for (uint32_t c = 0; c < pef->calls_count; ++c)
    if (callBinds(&pef->calls[c], symbol))
      return true;
  return false;
}

SambaStatus sambaSessionSetInput(SambaSession *session, SambaStringRef name, SambaDType dtype,
                                 uint32_t rank, const uint64_t *dims, const void *data) {
  uint32_t index;
  SAMBA_RETURN_IF_ERROR(findSymbol(session, name, &index));
  const SambaPefSymbol *symbol = &session->pef->symbols[index];
  const uint64_t *own = dimsOf(session, index);

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

  bool is_same = dtype == symbol->device_dtype;
  void *converted = is_same ? NULL : sambaAllocate(symbol->bytes);
  SambaStatus status = is_same ? NULL
                               : convert(symbol, dtype, data, symbol->device_dtype, converted,
                                         sambaPefSymbolElements(symbol));
  if (!status)
    status = sambaStatusAnnotate(
        session->device->functions->write(session->device, index, is_same ? data : converted),
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

/* Is it asked for everything? */
static bool isWhole(const SambaRunOrder *order) {
  return !order->group_count && !order->type_count && !order->has_from && !order->has_until;
}

static SambaStatus checkForward(const SambaPef *pef, const uint32_t *calls, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaPefSectionType type = pef->sections[pef->calls[calls[i]].section].type;
    if (type != SAMBA_PEF_SECTION_FWD)
      return sambaStatusMake(SAMBA_INVALID,
                             "call %u is of type %s, but the model was traced without losses or "
                             "optimizers; only FWD sections run",
                             calls[i], sambaPefSectionTypeName(type));
  }
  return NULL;
}

SambaStatus sambaSessionPlanRun(const SambaSession *session, const SambaRunOrder *order,
                                uint32_t **out_calls, uint32_t *out_count) {
  static const SambaPefSectionType forward = SAMBA_PEF_SECTION_FWD;
  SambaRunOrder own = *order;
  if (session->forward_only && isWhole(order)) {
    own.types = &forward;
    own.type_count = 1;
  }

  SAMBA_RETURN_IF_ERROR(sambaRunOrderPlan(session->pef, &own, out_calls, out_count));
  SambaStatus status =
      session->forward_only ? checkForward(session->pef, *out_calls, *out_count) : NULL;
  if (status)
    free(*out_calls);
  return status;
}

const SambaPefSymbol *sambaSessionFindMissingInput(const SambaSession *session,
                                                   const SambaRunOrder *order) {
  const SambaPef *pef = session->pef;
  bool is_whole = !order || (isWhole(order) && !order->graph.size);
  uint32_t *calls = NULL, count = 0;
  if (!is_whole) /* what cannot be planned is refused when it shall run */
    sambaStatusFree(sambaSessionPlanRun(session, order, &calls, &count));

  const SambaPefSymbol *missing = NULL;
  for (uint32_t g = 0; g < pef->graphs_count && !missing; ++g)
    for (uint32_t i = 0; i < pef->graphs[g].inputs_count && !missing; ++i) {
      uint32_t index = pef->graphs[g].inputs[i].symbol;
      bool is_read = is_whole;
      for (uint32_t c = 0; c < count && !is_read; ++c)
        is_read = callBinds(&pef->calls[calls[c]], index);
      if (is_read && !session->set[index] && pef->symbols[index].init == SAMBA_PEF_INIT_NONE)
        missing = &pef->symbols[index];
    }

  free(calls);
  return missing;
}

/* Runs one call and adds what it did to the reports. */
static SambaStatus launch(SambaSession *session, uint32_t call, const uint64_t *argins) {
  SambaDeviceActivity activity;
  SAMBA_RETURN_IF_ERROR(sambaStatusAnnotate(
      session->device->functions->launch(session->device, call, argins, &activity), "call %u",
      call));

  SambaSectionReport *section = &session->sections[session->pef->calls[call].section];
  ++section->calls;
  sambaDeviceActivityAdd(&section->activity, &activity);
  ++session->report.calls;
  sambaDeviceActivityAdd(&session->report.activity, &activity);
  return NULL;
}

/* Stores the hyperparameters that the run brings and finds what its launches get. */
static SambaStatus bindHyperparameters(SambaSession *session, const SambaRunOptions *options,
                                       const uint32_t *calls, uint32_t count,
                                       const uint64_t **out_argins) {
  SAMBA_RETURN_IF_ERROR(sambaHyperparametersSet(
      &session->hyperparameters, options->hyperparameter_count, options->hyperparameters));
  return sambaHyperparametersBind(&session->hyperparameters, calls, count, options->evaluate,
                                  out_argins);
}

static bool hasOptimizer(const SambaPef *pef, const uint32_t *calls, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (pef->sections[pef->calls[calls[i]].section].type == SAMBA_PEF_SECTION_OPT)
      return true;
  return false;
}

SambaStatus sambaSessionRun(SambaSession *session, const SambaRunOptions *options,
                            void (*progress)(void *user, uint32_t done, uint32_t total),
                            void *user) {
  static const SambaRunOptions everything = {0};
  const uint64_t *argins = NULL;
  uint32_t *calls, count;

  options = options ? options : &everything;
  SAMBA_RETURN_IF_ERROR(sambaSessionPlanRun(session, &options->order, &calls, &count));
  SambaStatus status = bindHyperparameters(session, options, calls, count, &argins);

  double start = now(CLOCK_MONOTONIC);
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (uint32_t i = 0; i < count && !status; ++i) {
    if (progress)
      progress(user, i, count);
    status = launch(session, calls[i], argins);
  }

  session->report.simulate_seconds += now(CLOCK_MONOTONIC) - start;
  session->report.simulate_cpu_seconds += now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  session->step += !status && hasOptimizer(session->pef, calls, count);
  free(calls);
  return status;
}

uint64_t sambaSessionGetStep(const SambaSession *session) { return session->step; }
void sambaSessionSetStep(SambaSession *session, uint64_t step) { session->step = step; }

SambaStatus sambaSessionCheckTrace(SambaSession *session, SambaStringRef graph,
                                   const SambaTraceRecord *traced) {
  const SambaPef *pef = session->pef;
  uint32_t at = 0;
  if (graph.size)
    SAMBA_RETURN_IF_ERROR(sambaFindGraph(pef, graph, &at));
  if (at >= pef->graphs_count || !pef->graphs[at].trace.size)
    return sambaStatusMake(SAMBA_INVALID, "the PEF has no record of a trace to compare with");

  const SambaPefBytes *trace = &pef->graphs[at].trace;
  return sambaTraceRecordCompare((SambaStringRef){(const char *)trace->data, trace->size}, traced,
                                 &session->forward_only);
}

SambaHyperparameters *sambaSessionGetHyperparameters(SambaSession *session) {
  return &session->hyperparameters;
}

void sambaSessionResetGenerator(SambaSession *session) {
  sambaHyperparametersRestart(&session->hyperparameters, session->hyperparameters.seed);
}

void sambaSessionSeedGenerator(SambaSession *session, uint64_t seed) {
  sambaHyperparametersRestart(&session->hyperparameters, seed);
}

void sambaSessionForEachArgin(const SambaSession *session, uint32_t kinds,
                              void (*visit)(void *user, const SambaPefArgin *argin), void *user) {
  for (uint32_t i = 0; i < session->pef->argins_count; ++i)
    if (kinds & 1u << session->pef->argins[i].kind)
      visit(user, &session->pef->argins[i]);
}

void sambaSessionForEachTensor(const SambaSession *session, uint32_t kinds,
                               void (*visit)(void *user, const SambaPefSymbol *symbol),
                               void *user) {
  for (uint32_t s = 0; s < session->pef->symbols_count; ++s)
    if (kinds & 1u << session->pef->symbols[s].kind)
      visit(user, &session->pef->symbols[s]);
}

uint32_t sambaSessionGetSectionTypes(const SambaSession *session) {
  return sambaSectionTypesOf(session->pef);
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
                                  .dims = dimsOf(session, index),
                                  .data = host,
                                  .bytes = elements * sambaDTypeBytes(symbol->host_dtype)};
  return NULL;
}

SambaStatus sambaSessionReadTensors(SambaSession *session, uint32_t count,
                                    const SambaStringRef *names, SambaHostTensor *out_tensors) {
  SambaStatus status = NULL;
  uint32_t done = 0;
  while (done < count && !status) {
    status = sambaSessionGetOutput(session, names[done], &out_tensors[done]);
    done += !status;
  }
  for (uint32_t i = 0; status && i < done; ++i)
    free(out_tensors[i].data);
  return status;
}

void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report) {
  *out_report = session->report;
  session->device->functions->statistics(session->device, &out_report->device);
  out_report->section_count = session->pef->sections_count;
  out_report->sections = session->sections;
}
