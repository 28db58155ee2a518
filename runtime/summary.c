/* The summary of a run; see summary.h. */
#include "runtime/summary.h"

#include <stdio.h>

uint32_t sambaCountSourcedParameters(const SambaMachine *machine) {
  uint32_t sourced = 0;
  for (uint32_t i = 0; i < SAMBA_PARAMETER_COUNT; ++i)
    sourced += machine->sources[i] != NULL;
  return sourced;
}

void sambaPrintSummary(const SambaSession *session) {
  const SambaMachine *machine = sambaSessionGetMachine(session);
  const SambaPef *pef = sambaSessionGetPef(session);
  SambaRunReport report;

  sambaSessionGetReport(session, &report);
  uint64_t used = 0;
  double pcus = 0, pmus = 0;
  for (uint32_t s = 0; s < report.section_count; ++s) {
    used += report.sections[s].calls != 0;
    pcus += (double)report.sections[s].activity.pcu_busy;
    pmus += (double)report.sections[s].activity.pmu_busy;
  }

  double all = report.activity.cycles ? (double)report.activity.cycles : 1;
  printf(
      "%s: %llu cycles, launch %llu cycles, %.6f s at %.3g GHz\n", machine->name,
      (unsigned long long)report.activity.cycles, (unsigned long long)report.activity.launch_cycles,
      (double)(report.activity.cycles + report.activity.launch_cycles) / (double)machine->clock_hz,
      (double)machine->clock_hz / 1e9);
  printf("sections %llu of %u, calls %llu, PCU utilization %.2f%%, PMU utilization %.2f%%\n",
         (unsigned long long)used, pef->sections_count, (unsigned long long)report.calls,
         100 * pcus / all / (double)sambaMachinePcuCount(machine),
         100 * pmus / all / (double)sambaMachinePmuCount(machine));
  printf("DRAM read %llu bytes, written %llu bytes, %llu flop\n",
         (unsigned long long)report.activity.dram_read_bytes,
         (unsigned long long)report.activity.dram_write_bytes,
         (unsigned long long)report.activity.flops);
  uint32_t sourced = sambaCountSourcedParameters(machine);
  printf("machine %s: %u parameters sourced, %u assumed\n", machine->name, sourced,
         SAMBA_PARAMETER_COUNT - sourced);
}
