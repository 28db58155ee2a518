/* The simulated RDU: a stateful device. Device memory lives across launches; sections run on the
 * value engine, the timing engine or both. It reads decoded PEFs and knows nothing else. */
#ifndef SAMBA_BACKEND_SIM_SIMULATOR_H
#define SAMBA_BACKEND_SIM_SIMULATOR_H

#include "backend/pef/pef.h"
#include "backend/sim/launch.h"
#include "backend/sim/timing/timing.h"
#include "backend/sim/value/values.h"

typedef struct SambaSimulatorOptions {
  SambaValuesOptions values;
  SambaTimingOptions timing;
  SambaLaunchMode launch;
  bool no_values;    /* timing only: memory is neither initialized nor checked */
  bool no_timing;    /* values only: cycles stay 0 */
  bool no_memo;      /* time every call anew */
  bool cycle_engine; /* time with the cycle engine (backend/sim/cycle) instead of the fast one */
} SambaSimulatorOptions;

/* What one call took; units borrowed until the next launch (NULL without timing). */
typedef struct SambaCallReport {
  uint64_t cycles;
  SambaLaunchCost launch;
  uint64_t dram_read_bytes, dram_write_bytes, host_read_bytes, host_write_bytes;
  uint64_t flops, multiply_adds, events;
  uint64_t link_busy_max;
  const SambaUnitActivity *units;
} SambaCallReport;

typedef struct SambaSimulator SambaSimulator;

SambaStatus sambaSimulatorCreate(const SambaMachine *machine, const SambaSimulatorOptions *options,
                                 SambaSimulator **out_simulator);
void sambaSimulatorDestroy(SambaSimulator *simulator);
/* Allocates the regions, decodes the images, reads and verifies initial data. pef is borrowed until
 * destruction. */
SambaStatus sambaSimulatorLoad(SambaSimulator *simulator, const SambaPef *pef);
/* Whole symbols, elements of the symbol's device_dtype, row-major. Reading never-written memory is
 * a fault. */
SambaStatus sambaSimulatorWrite(SambaSimulator *simulator, uint32_t symbol, const void *data);
SambaStatus sambaSimulatorRead(SambaSimulator *simulator, uint32_t symbol, void *data);
/* Has the symbol's memory been written under a name of this symbol: by initial data, the host or a
 * launch? What was written may be lost since, when another symbol took the memory. */
bool sambaSimulatorIsWritten(const SambaSimulator *simulator, uint32_t symbol);
/* Launches one call; argins: bits per argin of the PEF. out_report may be NULL; after a fault it
 * says what was counted until then. */
SambaStatus sambaSimulatorLaunch(SambaSimulator *simulator, uint32_t call, const uint64_t *argins,
                                 SambaCallReport *out_report);
/* Simulated cycles since creation, launches included. */
uint64_t sambaSimulatorNow(const SambaSimulator *simulator);
void sambaSimulatorGetStatistics(const SambaSimulator *simulator,
                                 SambaValuesStatistics *out_statistics);
/* What loading a section id means for the tiles; borrowed. */
const SambaSectionLoad *sambaSimulatorGetLoad(const SambaSimulator *simulator, uint32_t section);
/* The decoded section of a section id; borrowed. */
const SambaSection *sambaSimulatorGetSection(const SambaSimulator *simulator, uint32_t section);

#endif
