/* Statistics of a run as JSON; see run.h. */
#include "tools/samba-run/run.h"

#include "backend/pef/image/image.h"
#include "runtime/device.h"
#include "runtime/session.h"
#include "runtime/summary.h"
#include "support/base/version.h"
#include "support/file/atomic_file.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Anonymous memory of this process (smaps_rollup), 0 when the system does not tell. */
static uint64_t anonymousBytes(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  unsigned long long kib = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Anonymous: %llu kB", &kib) == 1)
      break;
  if (file)
    fclose(file);
  return kib * 1024;
}

static cJSON *stringOf(SambaStringRef text) {
  char *copy = sambaAllocate(text.size + 1);
  memcpy(copy, text.data ? text.data : "", text.size);
  copy[text.size] = '\0';
  cJSON *string = cJSON_CreateString(copy);
  free(copy);
  return string;
}

static cJSON *layersOf(const SambaPef *pef, uint32_t section) {
  SambaArena arena = {0};
  SambaStringRef *names;
  uint32_t count = sambaPefImageLayers(&pef->images[pef->sections[section].image], &arena, &names);
  cJSON *layers = cJSON_CreateArray();
  for (uint32_t i = 0; i < count; ++i)
    cJSON_AddItemToArray(layers, stringOf(names[i]));
  sambaArenaDestroy(&arena);
  return layers;
}

/* The tiles of the machine that the section uses; NULL when the device does not say. */
static cJSON *tilesOf(const SambaSectionReport *sums, uint64_t tile_count) {
  cJSON *tiles = sums->tile_bytes ? cJSON_CreateArray() : NULL;
  for (uint64_t tile = 0; tiles && tile < tile_count; ++tile)
    if (sums->tile_bytes[tile])
      cJSON_AddItemToArray(tiles, cJSON_CreateNumber((double)tile));
  return tiles;
}

/* What launching is made of. */
static void addLaunch(cJSON *object, const SambaDeviceActivity *activity) {
  cJSON_AddNumberToObject(object, "launch_cycles", (double)activity->launch_cycles);
  cJSON_AddNumberToObject(object, "load_cycles", (double)activity->load_cycles);
  cJSON_AddNumberToObject(object, "hidden_load_cycles", (double)activity->hidden_load_cycles);
  cJSON_AddNumberToObject(object, "load_bytes", (double)activity->load_bytes);
}

/* How each tile spent the time: loading programs, loading arguments and being started, executing.
 * The rest of cycles + launch_cycles it was idle. */
static void addTiles(cJSON *root, const SambaRunReport *report) {
  cJSON *tiles = cJSON_CreateArray();
  for (uint64_t tile = 0; tile < report->machine.tiles; ++tile) {
    SambaDeviceActivity sums = {0};
    for (uint32_t s = 0; s < report->section_count; ++s)
      if (report->sections[s].tile_bytes && report->sections[s].tile_bytes[tile])
        sambaDeviceActivityAdd(&sums, &report->sections[s].activity);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "execute_cycles", (double)sums.cycles);
    cJSON_AddNumberToObject(object, "program_load_cycles", (double)sums.load_cycles);
    cJSON_AddNumberToObject(object, "argument_load_cycles",
                            (double)(sums.launch_cycles - sums.load_cycles));
    cJSON_AddItemToArray(tiles, object);
  }
  cJSON_AddItemToObject(root, "tiles", tiles);
}

static cJSON *sectionOf(const SambaSession *session, const SambaRunReport *report, uint32_t index) {
  const SambaSectionReport *sums = &report->sections[index];
  const SambaPef *pef = sambaSessionGetPef(session);
  const SambaPefSection *section = &pef->sections[sums->section];
  const SambaDeviceActivity *activity = &sums->activity;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddNumberToObject(object, "id", sums->section);
  cJSON_AddItemToObject(object, "name", stringOf(section->name));
  cJSON_AddStringToObject(object, "type", sambaPefSectionTypeName(section->type));
  cJSON_AddNumberToObject(object, "cycles", (double)activity->cycles);
  addLaunch(object, activity);
  cJSON_AddNumberToObject(object, "calls", (double)sums->calls);
  cJSON_AddNumberToObject(object, "pcus", section->pcus);
  cJSON_AddNumberToObject(object, "pmus", section->pmus);
  cJSON_AddNumberToObject(object, "ags", section->ags);
  cJSON_AddNumberToObject(object, "flops", (double)activity->flops);
  cJSON_AddNumberToObject(object, "multiply_adds", (double)activity->multiply_adds);
  cJSON_AddNumberToObject(object, "dram_read_bytes", (double)activity->dram_read_bytes);
  cJSON_AddNumberToObject(object, "dram_write_bytes", (double)activity->dram_write_bytes);
  cJSON_AddNumberToObject(object, "host_read_bytes", (double)activity->host_read_bytes);
  cJSON_AddNumberToObject(object, "host_write_bytes", (double)activity->host_write_bytes);
  cJSON_AddNumberToObject(object, "pcu_busy_cycles", (double)activity->pcu_busy);
  cJSON_AddNumberToObject(object, "pmu_busy_cycles", (double)activity->pmu_busy);
  cJSON_AddNumberToObject(object, "ag_busy_cycles", (double)activity->ag_busy);
  cJSON_AddNumberToObject(object, "pcu_busiest_cycles", (double)activity->pcu_busiest);
  cJSON_AddNumberToObject(object, "pmu_busiest_cycles", (double)activity->pmu_busiest);
  cJSON_AddNumberToObject(object, "ag_busiest_cycles", (double)activity->ag_busiest);
  cJSON_AddNumberToObject(object, "lane_busiest_cycles", (double)activity->lane_busiest);
  cJSON_AddNumberToObject(object, "wait_input_cycles", (double)activity->wait_input);
  cJSON_AddNumberToObject(object, "wait_output_cycles", (double)activity->wait_output);
  cJSON_AddNumberToObject(object, "wait_memory_cycles", (double)activity->wait_memory);
  cJSON *tiles = tilesOf(sums, report->machine.tiles);
  if (tiles)
    cJSON_AddItemToObject(object, "tiles", tiles);
  cJSON_AddItemToObject(object, "layers", layersOf(pef, sums->section));

  return object;
}

/* How the parameters of the machine are known. */
static void addReasons(cJSON *root, const SambaMachine *machine) {
  static const struct {
    const char *name;
    SambaReasonKind kind;
  } reasons[] = {{"parameters_sourced", SAMBA_REASON_SOURCED},
                 {"parameters_derived", SAMBA_REASON_DERIVED},
                 {"parameters_by_analogy", SAMBA_REASON_ANALOGY},
                 {"parameters_assumed", SAMBA_REASON_ASSUMED}};
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; ++i)
    cJSON_AddNumberToObject(root, reasons[i].name,
                            sambaMachineCountReasons(machine, reasons[i].kind));
}

SambaStatus sambaWriteStatistics(const char *path, const SambaSession *session, const char *fault) {
  const SambaMachine *machine = sambaSessionGetMachine(session);
  SambaRunReport report;

  sambaSessionGetReport(session, &report);
  const SambaDeviceActivity *activity = &report.activity;
  cJSON *root = cJSON_CreateObject();
  cJSON *sections = cJSON_CreateArray();
  cJSON *host = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "version", SAMBA_VERSION);
  cJSON_AddStringToObject(root, "target", machine->name);
  if (fault)
    cJSON_AddStringToObject(root, "fault", fault);
  addReasons(root, machine);
  cJSON_AddNumberToObject(root, "cycles", (double)activity->cycles);
  addLaunch(root, activity);
  cJSON_AddNumberToObject(root, "seconds",
                          (double)(activity->cycles + activity->launch_cycles) /
                              (double)machine->clock_hz);
  cJSON_AddNumberToObject(root, "flops", (double)activity->flops);
  cJSON_AddNumberToObject(root, "multiply_adds", (double)activity->multiply_adds);
  cJSON_AddNumberToObject(root, "dram_read_bytes", (double)activity->dram_read_bytes);
  cJSON_AddNumberToObject(root, "dram_write_bytes", (double)activity->dram_write_bytes);
  cJSON_AddNumberToObject(root, "host_read_bytes", (double)activity->host_read_bytes);
  cJSON_AddNumberToObject(root, "host_write_bytes", (double)activity->host_write_bytes);
  cJSON_AddNumberToObject(root, "calls", (double)report.calls);
  cJSON_AddNumberToObject(root, "host_to_device_bytes",
                          (double)report.transfers.host_to_device_bytes);
  cJSON_AddNumberToObject(root, "device_to_host_bytes",
                          (double)report.transfers.device_to_host_bytes);
  cJSON_AddNumberToObject(root, "conversions", (double)report.transfers.conversions);
  for (uint32_t s = 0; s < report.section_count; ++s)
    cJSON_AddItemToArray(sections, sectionOf(session, &report, s));
  cJSON_AddItemToObject(root, "sections", sections);
  addTiles(root, &report);
  cJSON_AddNumberToObject(host, "load_s", report.load_seconds);
  cJSON_AddNumberToObject(host, "transfer_s", report.transfers.seconds);
  cJSON_AddNumberToObject(host, "jit_programs", (double)report.device.compiled_programs);
  cJSON_AddNumberToObject(host, "jit_s", report.device.compile_seconds);

  /* Code generators are made while loading, code while launching. */
  cJSON_AddNumberToObject(host, "simulate_s",
                          fmax(report.simulate_seconds - report.device.compile_seconds, 0));
  cJSON_AddNumberToObject(host, "simulate_cpu_s",
                          fmax(report.simulate_cpu_seconds - report.device.compile_cpu_seconds, 0));
  cJSON_AddNumberToObject(host, "anon_bytes", (double)anonymousBytes());
  cJSON_AddNumberToObject(host, "events", (double)activity->events);
  cJSON_AddItemToObject(root, "host", host);
  char *text = cJSON_Print(root);
  SambaStatus status = text ? sambaWriteFile(path, text, strlen(text))
                            : sambaStatusMake(SAMBA_EXHAUSTED, "%s: out of memory", path);
  cJSON_free(text);
  cJSON_Delete(root);

  return status;
}
