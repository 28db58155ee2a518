/* The value engine's public face; see values.h. */
#include "backend/sim/value/values.h"

#include "backend/sim/value/network/schedule.h"
#include "backend/sim/value/network/section_run.h"

#include <stdlib.h>
#include <string.h>

struct SambaValues {
  SambaMachine machine;
  SambaValuesOptions options;
  char *cpu; /* owned, of the options */
  SambaJit *jit;
  SambaPool pool;
  SambaValuesStatistics statistics;
};

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
  SambaValueContext context = {.pool = &values->pool,
                               .jit = values->jit,
                               .machine = &values->machine,
                               .cpu = values->cpu,
                               .trap_nan = values->options.trap_nan,
                               .keep_passes = values->options.keep_passes,
                               .stop = values->options.stop};
  SambaSectionRun run;
  SambaStatus status =
      sambaSectionRunCreate(&context, section, bindings, argins, argin_count, index_traces, &run);
  if (!status)
    status = sambaScheduleExecute(&run, values->options.threads);

  for (uint32_t u = 0; run.units && u < section->unit_count; ++u) {
    const SambaUnitRun *unit = &run.units[u];
    values->statistics.firings += unit->fired * sambaUnitJoinedFirings(&run, unit);
    values->statistics.macs += unit->macs;
    values->statistics.lane_operations += unit->lane_operations;
  }
  sambaSectionRunDestroy(&run);
  return status;
}

void sambaValuesGetStatistics(const SambaValues *values, SambaValuesStatistics *out_statistics) {
  *out_statistics = values->statistics;
  out_statistics->jit_programs = sambaJitCount(values->jit);
  out_statistics->jit_seconds = sambaJitSeconds(values->jit);
  out_statistics->jit_cpu_seconds = sambaJitCpuSeconds(values->jit);
}
