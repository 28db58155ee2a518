/* The value engine's public face; see values.h. */
#include "backend/sim/value/kernel/tile_kernels.h"
#include "backend/sim/value/network/value_engine.h"

#include <stdlib.h>
#include <string.h>

SambaStatus sambaValuesCreate(const SambaMachine *machine, const SambaValuesOptions *options,
                              SambaValues **out_values) {
  SambaValues *values = sambaAllocateZeroed(1, sizeof *values);
  values->machine = *machine;
  if (options)
    values->options = *options;
  if (values->options.threads < 1)
    values->options.threads = 1;
  if (values->options.cpu)
    values->options.cpu = values->cpu = strdup(values->options.cpu);
  SambaStatus status = sambaJitCreate(values->options.cpu, &values->jit);

  if (status) {
    free(values->cpu);
    free(values);
    return status;
  }

  sambaPoolInitialize(&values->pool);
  *out_values = values;
  return NULL;
}

void sambaValuesDestroy(SambaValues *values) {
  if (!values)
    return;
  sambaJitDestroy(values->jit);
  sambaPoolDestroy(&values->pool);
  free(values->cpu);
  free(values);
}

SambaStatus sambaValuesExecute(SambaValues *values, const SambaSection *section,
                               const SambaBinding *bindings, const uint64_t *argins,
                               uint32_t argin_count, SambaIndexTraces *index_traces) {
  SambaRun run;
  SambaStatus status =
      sambaRunCreate(values, section, bindings, argins, argin_count, index_traces, &run);
  if (!status)
    status = sambaScheduleExecute(&run);
  for (uint32_t u = 0; run.units && u < section->unit_count; ++u) {
    const SambaRunUnit *unit = &run.units[u];
    values->statistics.firings += unit->fired;
    values->statistics.macs += unit->macs;
    values->statistics.lane_operations += unit->lane_operations;
  }
  sambaRunDestroy(&run);
  return status;
}

void sambaIndexTracesFree(SambaIndexTraces *traces) {
  for (size_t i = 0; i < traces->size; ++i)
    sambaArrayFree(&traces->data[i]);
  sambaArrayFree(traces);
}

void sambaValuesGetStatistics(const SambaValues *values, SambaValuesStatistics *out_statistics) {
  *out_statistics = values->statistics;
  out_statistics->jit_seconds = sambaJitSeconds(values->jit);
  out_statistics->jit_cpu_seconds = sambaJitCpuSeconds(values->jit);
}
