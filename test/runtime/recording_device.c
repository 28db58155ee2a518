/* A device that records; see recording_device.h. */
#include "test/runtime/recording_device.h"

#include <stdlib.h>

typedef struct {
  SambaDevice base;
  Recording *recording;
  const SambaPef *pef;
  const uint8_t **values; /* per symbol: what was written last */
  uint64_t now;
} RecordingDevice;

/* Appends an entry, or refuses what the test wants refused. */
static SambaStatus record(RecordingDevice *self, Recorded entry) {
  sambaArrayAppend(&self->recording->entries, entry);
  if (self->recording->entries.size != self->recording->fails_at)
    return NULL;
  return self->recording->fails_as_fault ? sambaStatusMake(SAMBA_FAULT, "a bit has flipped")
                                         : sambaStatusMake(SAMBA_IO, "the wire is cut");
}

static SambaStatus load(SambaDevice *device, const SambaPef *pef) {
  RecordingDevice *self = (RecordingDevice *)device;
  self->pef = pef;
  self->values =
      SAMBA_ARENA_ARRAY(&self->recording->arena, const uint8_t *, pef->symbols_count + 1);
  return record(self, (Recorded){.kind = RECORDED_LOAD});
}

static SambaStatus writeSymbol(SambaDevice *device, uint32_t symbol, const void *data) {
  RecordingDevice *self = (RecordingDevice *)device;
  self->values[symbol] =
      sambaArenaCopy(&self->recording->arena, data, self->pef->symbols[symbol].bytes);
  return record(self,
                (Recorded){.kind = RECORDED_WRITE, .index = symbol, .data = self->values[symbol]});
}

static SambaStatus readSymbol(SambaDevice *device, uint32_t symbol, void *data) {
  RecordingDevice *self = (RecordingDevice *)device;
  SAMBA_RETURN_IF_ERROR(record(self, (Recorded){.kind = RECORDED_READ, .index = symbol}));
  if (!self->values[symbol])
    return sambaStatusMake(SAMBA_FAULT, "nobody wrote symbol %u", symbol);
  memcpy(data, self->values[symbol], self->pef->symbols[symbol].bytes);
  return NULL;
}

static bool isWritten(const SambaDevice *device, uint32_t symbol) {
  return ((const RecordingDevice *)device)->values[symbol] != NULL;
}

static bool writes(const SambaDevice *device, uint32_t call, uint32_t formal) {
  const Recording *recording = ((const RecordingDevice *)device)->recording;
  return recording->writes && recording->writes(call, formal);
}

static SambaStatus launch(SambaDevice *device, uint32_t call, const uint64_t *argins,
                          SambaDeviceActivity *out_activity) {
  RecordingDevice *self = (RecordingDevice *)device;
  const uint64_t *copy =
      sambaArenaCopy(&self->recording->arena, argins, self->pef->argins_count * sizeof *argins);
  SAMBA_RETURN_IF_ERROR(
      record(self, (Recorded){.kind = RECORDED_LAUNCH, .index = call, .argins = copy}));

  *out_activity = (SambaDeviceActivity){.cycles = 100 + call,
                                        .launch_cycles = 7,
                                        .dram_read_bytes = 64,
                                        .dram_write_bytes = 32,
                                        .flops = 5,
                                        .multiply_adds = 2,
                                        .pcu_busy = call,
                                        .pmu_busy = call,
                                        .ag_busy = call,
                                        .wait_input = call,
                                        .wait_output = call,
                                        .wait_memory = call,
                                        .events = 3};
  self->now += out_activity->cycles + out_activity->launch_cycles;
  return NULL;
}

static SambaStatus copyPeer(SambaDevice *device, uint32_t symbol, SambaDevice *peer) {
  return peer->functions->write(peer, symbol, ((RecordingDevice *)device)->values[symbol]);
}

static uint64_t now(const SambaDevice *device) { return ((const RecordingDevice *)device)->now; }

static void statistics(const SambaDevice *device, SambaDeviceStatistics *out_statistics) {
  (void)device;
  *out_statistics = (SambaDeviceStatistics){.compile_seconds = 0.25, .compile_cpu_seconds = 0.5};
}

static void destroy(SambaDevice *device) {
  ((RecordingDevice *)device)->recording->destroyed = true;
  free(device);
}

static const SambaDeviceFunctions functions = {.load = load,
                                               .write = writeSymbol,
                                               .read = readSymbol,
                                               .is_written = isWritten,
                                               .writes = writes,
                                               .launch = launch,
                                               .copy_peer = copyPeer,
                                               .now = now,
                                               .statistics = statistics,
                                               .destroy = destroy};

static SambaStatus create(const void *options, const SambaMachine *machine,
                          SambaDevice **out_device) {
  RecordingDevice *device = sambaAllocateZeroed(1, sizeof *device);
  device->recording = (Recording *)options;
  device->recording->machine = sambaArenaFormat(&device->recording->arena, "%s", machine->name);
  device->base.functions = &functions;
  device->base.holds_values = !device->recording->timing_only;
  *out_device = &device->base;
  return NULL;
}

SambaDeviceFactory recordingDevice(Recording *recording) {
  return (SambaDeviceFactory){create, recording};
}

void recordingFree(Recording *recording) {
  sambaArrayFree(&recording->entries);
  sambaArenaDestroy(&recording->arena);
}
