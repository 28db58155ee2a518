/* How much a stream holds; see stream_room.h. */
#include "backend/place/verify/stream_room.h"

uint64_t sambaStreamHoldsAtMost(const SambaSection *section, const SambaMachine *machine,
                                const SambaStream *stream) {
  const SambaUnit *source = &section->units[stream->source.unit];
  uint64_t switches = stream->hop_count + (machine->network == SAMBA_NETWORK_IDEAL);
  uint64_t pipeline = (uint64_t)machine->pmu_latency_cycles;

  if (source->kind == SAMBA_UNIT_COMPUTE) {
    uint64_t array = (uint64_t)machine->systolic_drain_cycles;
    pipeline = (uint64_t)((machine->simd_stages + 1) * machine->simd_stage_cycles);
    pipeline = source->compute.program.systolic && array > pipeline ? array : pipeline;
  } else if (source->kind == SAMBA_UNIT_LOAD) {
    pipeline = 2 * (uint64_t)machine->ag_bursts;
  }
  return (switches + 1) * (uint64_t)machine->fifo_depth + pipeline + 2;
}
