/* The summary of a run; see summary.h. */
#include "runtime/summary.h"

#include <stdio.h>

/* Calls and cycles of each type, in the order of a step, when more types than FWD ran. */
static void printTypes(const SambaPef *pef, const SambaRunReport *report) {
  uint64_t calls[SAMBA_PEF_SECTION_TYPE_COUNT] = {0}, cycles[SAMBA_PEF_SECTION_TYPE_COUNT] = {0};
  uint64_t others = 0;
  for (uint32_t s = 0; s < report->section_count; ++s) {
    SambaPefSectionType type = pef->sections[report->sections[s].section].type;
    calls[type] += report->sections[s].calls;
    cycles[type] += report->sections[s].activity.cycles;
    others += type == SAMBA_PEF_SECTION_FWD ? 0 : report->sections[s].calls;
  }
  if (!others)
    return;

  const char *between = "";
  for (uint32_t place = 0; place < SAMBA_PEF_SECTION_TYPE_COUNT; ++place) {
    SambaPefSectionType type = sambaPefSectionTypeAt(place);
    if (!calls[type])
      continue;
    printf("%s%s: %llu call%s, %llu cycles", between, sambaPefSectionTypeName(type),
           (unsigned long long)calls[type], calls[type] == 1 ? "" : "s",
           (unsigned long long)cycles[type]);
    between = "; ";
  }
  printf("\n");
}

/* What was loaded, and into how many tiles of the machine. */
static void printLoads(const SambaRunReport *report) {
  uint64_t used = 0;
  for (uint64_t tile = 0; tile < report->machine.tiles; ++tile) {
    bool uses = false;
    for (uint32_t s = 0; s < report->section_count && !uses; ++s) {
      const SambaSectionReport *section = &report->sections[s];
      uses = section->calls && section->tile_bytes && section->tile_bytes[tile];
    }
    used += uses;
  }
  if (!used)
    return;

  printf("tiles %llu of %llu, program load %llu bytes", (unsigned long long)used,
         (unsigned long long)report->machine.tiles,
         (unsigned long long)report->activity.load_bytes);
  if (report->activity.hidden_load_cycles)
    printf(", %llu cycles of it behind execution",
           (unsigned long long)report->activity.hidden_load_cycles);
  printf("\n");
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
  printLoads(&report);
  printTypes(pef, &report);
  printf("DRAM read %llu bytes, written %llu bytes, %llu flop\n",
         (unsigned long long)report.activity.dram_read_bytes,
         (unsigned long long)report.activity.dram_write_bytes,
         (unsigned long long)report.activity.flops);
  if (report.activity.host_read_bytes || report.activity.host_write_bytes)
    printf("host memory read %llu bytes, written %llu bytes\n",
           (unsigned long long)report.activity.host_read_bytes,
           (unsigned long long)report.activity.host_write_bytes);
  SambaText reasons = {0};
  sambaMachineReasons(machine, &reasons);
  printf("machine %s: %s\n", machine->name, sambaTextGet(&reasons));
  sambaTextFree(&reasons);
}
