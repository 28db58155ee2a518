/* Sessions: their PEF, and the device that holds it; see session.h. Values are in values.c
 * and tensors.c, the tensors of a trace in traced.c, runs in run.c, descriptions in info.c. */
#include "runtime/session.h"

#include "backend/pef/container/reader.h"
#include "runtime/clock.h"
#include "runtime/masters.h"
#include "runtime/session_state.h"

#include <stdlib.h>

/* ---- Loading ---- */

static void destroyLoaded(SambaLoadedPef *loaded) {
  if (!loaded)
    return;
  if (loaded->device)
    loaded->device->functions->destroy(loaded->device);
  sambaArenaDestroy(&loaded->arena);
  sambaHyperparametersFree(&loaded->hyperparameters);
  sambaMastersFree(&loaded->masters);
  sambaStringMapFree(&loaded->names);
  for (uint32_t s = 0; loaded->traced && s < loaded->pef->symbols_count; ++s)
    sambaTensorRelease(loaded->traced[s]);
  free(loaded->traced);
  free(loaded->forgotten);
  free(loaded->fast);
  free(loaded->set);
  free(loaded->dims);
  free(loaded->sections);
  sambaPefDestroy(loaded->pef);
  free(loaded);
}

static SambaStatus makeDevice(const SambaDeviceFactory *factory, SambaLoadedPef *loaded) {
  SAMBA_RETURN_IF_ERROR(sambaPefGetMachine(loaded->pef, &loaded->machine));
  SAMBA_RETURN_IF_ERROR(factory->create(factory->options, &loaded->machine, &loaded->device));
  return loaded->device->functions->load(loaded->device, loaded->pef);
}

static const uint64_t *tilesOf(const SambaDevice *device, uint32_t section) {
  return device->functions->tile_bytes ? device->functions->tile_bytes(device, section) : NULL;
}

static void describe(SambaLoadedPef *loaded, uint64_t seed) {
  const SambaPef *pef = loaded->pef;
  loaded->set = sambaAllocateZeroed(pef->symbols_count, sizeof *loaded->set);
  loaded->dims = sambaAllocateZeroed(pef->symbols_count, sizeof *loaded->dims);
  loaded->traced = sambaAllocateZeroed(pef->symbols_count, sizeof *loaded->traced);
  loaded->forgotten = sambaAllocateZeroed(pef->symbols_count, sizeof *loaded->forgotten);
  loaded->fast = sambaAllocateZeroed(pef->symbols_count, sizeof *loaded->fast);
  for (uint32_t s = 0; s < pef->symbols_count; ++s) {
    const SambaPefSymbol *symbol = &pef->symbols[s];
    sambaStringMapInsert(&loaded->names, symbol->name, s, NULL);
    loaded->fast[s] =
        symbol->kind == SAMBA_PEF_SYMBOL_INPUT || symbol->flags & SAMBA_PEF_FAST_ACCESS;
  }

  sambaHyperparametersInitialize(&loaded->hyperparameters, pef, seed);
  sambaMastersFind(loaded);
  loaded->sections = sambaAllocateZeroed(pef->sections_count, sizeof *loaded->sections);
  for (uint32_t i = 0; i < pef->sections_count; ++i)
    loaded->sections[i] =
        (SambaSectionReport){.section = i, .tile_bytes = tilesOf(loaded->device, i)};
}

/* Makes the PEF, which the session owns from now on, that of the session; name: for messages. */
static SambaStatus take(SambaSession *session, const char *name, SambaPef *pef, double start) {
  SambaLoadedPef *loaded = sambaAllocateZeroed(1, sizeof *loaded);
  loaded->pef = pef;
  SambaStatus status = sambaStatusAnnotate(makeDevice(&session->factory, loaded), "%s", name);
  if (status) {
    destroyLoaded(loaded);
    return status;
  }

  sambaPefReleaseFile(pef); /* the device has read the initial data */
  describe(loaded, session->seed);
  loaded->report.load_seconds = sambaClockNow() - start;
  destroyLoaded(session->loaded);
  session->loaded = loaded;
  return NULL;
}

SambaStatus sambaSessionLoadPef(SambaSession *session, const char *path) {
  double start = sambaClockNow();
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpen(path, &pef)); /* its errors name the file */
  return take(session, path, pef, start);
}

SambaStatus sambaSessionLoadPefMemory(SambaSession *session, const void *data, size_t size) {
  static const char name[] = "the PEF in memory";
  double start = sambaClockNow();
  SambaPef *pef;
  SAMBA_RETURN_IF_ERROR(sambaPefOpenMemory(name, data, size, &pef));
  return take(session, name, pef, start);
}

/* ---- Lifetime ---- */

SambaStatus sambaSessionCreate(const SambaDeviceFactory *factory, SambaSession **out_session) {
  SambaSession *session = sambaAllocateZeroed(1, sizeof *session);
  session->factory = *factory;
  *out_session = session;
  return NULL;
}

SambaStatus sambaSessionOpen(const char *path, const SambaDeviceFactory *factory,
                             SambaSession **out_session) {
  SambaSession *session;
  SAMBA_RETURN_IF_ERROR(sambaSessionCreate(factory, &session));
  SambaStatus status = sambaSessionLoadPef(session, path);
  if (status)
    sambaSessionClose(session);
  else
    *out_session = session;
  return status;
}

SambaStatus sambaSessionReset(SambaSession *session, const char *path) {
  destroyLoaded(session->loaded);
  session->loaded = NULL;
  session->seed = 0;
  return path && *path ? sambaSessionLoadPef(session, path) : NULL;
}

void sambaSessionClose(SambaSession *session) {
  if (!session)
    return;
  destroyLoaded(session->loaded);
  free(session);
}

bool sambaSessionHasPef(const SambaSession *session) { return session->loaded; }

/* ---- What is inside ---- */

const SambaPef *sambaSessionGetPef(const SambaSession *session) {
  return session->loaded ? session->loaded->pef : NULL;
}

const SambaMachine *sambaSessionGetMachine(const SambaSession *session) {
  return session->loaded ? &session->loaded->machine : NULL;
}

SambaDevice *sambaSessionGetDevice(const SambaSession *session) {
  return session->loaded ? session->loaded->device : NULL;
}

SambaHyperparameters *sambaSessionGetHyperparameters(SambaSession *session) {
  return session->loaded ? &session->loaded->hyperparameters : NULL;
}

/* ---- Hyperparameters ---- */

SambaStatus sambaSessionSetHyperparameters(SambaSession *session, uint32_t count,
                                           const SambaHyperparameter *values) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  return sambaHyperparametersSet(&session->loaded->hyperparameters, count, values);
}

SambaStatus sambaSessionGetHyperparameter(const SambaSession *session, SambaStringRef name,
                                          double *out_value) {
  SAMBA_RETURN_IF_ERROR(sambaSessionRequirePef(session));
  return sambaHyperparametersGet(&session->loaded->hyperparameters, name, out_value);
}

void sambaSessionResetGenerator(SambaSession *session) {
  if (session->loaded)
    sambaHyperparametersRestart(&session->loaded->hyperparameters,
                                session->loaded->hyperparameters.seed);
}

void sambaSessionSeedGenerator(SambaSession *session, uint64_t seed) {
  session->seed = seed;
  if (session->loaded)
    sambaHyperparametersRestart(&session->loaded->hyperparameters, seed);
}

/* ---- Progress ---- */

uint64_t sambaSessionGetStep(const SambaSession *session) {
  return session->loaded ? session->loaded->step : 0;
}

void sambaSessionSetStep(SambaSession *session, uint64_t step) {
  if (session->loaded)
    session->loaded->step = step;
}

void sambaSessionGetReport(const SambaSession *session, SambaRunReport *out_report) {
  const SambaLoadedPef *loaded = session->loaded;
  *out_report = (SambaRunReport){0};
  if (!loaded)
    return;
  *out_report = loaded->report;
  loaded->device->functions->statistics(loaded->device, &out_report->device);
  out_report->section_count = loaded->pef->sections_count;
  out_report->sections = loaded->sections;
  out_report->machine = (SambaMachineInfo){.name = loaded->machine.name,
                                           .clock_hz = (uint64_t)loaded->machine.clock_hz,
                                           .pcus = (uint64_t)sambaMachinePcuCount(&loaded->machine),
                                           .pmus = (uint64_t)sambaMachinePmuCount(&loaded->machine),
                                           .tiles = sambaMachineTileCount(&loaded->machine)};
}
