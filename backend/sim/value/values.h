/* The value engine: runs a decoded section's dataflow with real values, in any order that respects
 * tokens.
 *
 * Bits are defined by docs/numerics.md and cannot depend on order, threads, tile sizes or the
 * host's vector width. Each distinct PCU program is compiled once per engine (LLVM), systolic
 * bodies run on register-tiled kernels. */
#ifndef SAMBA_BACKEND_SIM_VALUE_VALUES_H
#define SAMBA_BACKEND_SIM_VALUE_VALUES_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* The memory behind one formal of a section for one call; borrowed. */
typedef struct SambaBinding {
  uint8_t *data; /* device layout: row-major elements of the formal's dtype, little-endian; aligned
                    to 64 */
  uint64_t bytes;
  uint64_t address; /* device address of data[0] (timing, messages) */
  uint8_t *written; /* one bit per 64-byte line of data: holds data that somebody wrote; NULL:
                       everything written */
} SambaBinding;

typedef struct SambaValuesOptions {
  int threads;     /* >= 1 */
  const char *cpu; /* JIT target CPU, NULL: the host's */
  bool trap_nan;   /* a NaN written to memory is the fault `not a number` */
} SambaValuesOptions;

typedef struct SambaValuesStatistics {
  uint64_t firings, macs, lane_operations;
  double jit_seconds, jit_cpu_seconds; /* time spent compiling programs */
} SambaValuesStatistics;

typedef struct SambaValues SambaValues;

SambaStatus sambaValuesCreate(const SambaMachine *machine, const SambaValuesOptions *options,
                              SambaValues **out_values);
void sambaValuesDestroy(SambaValues *values);

/* Runs one call of a section that sambaSectionCheck accepted. bindings: one per formal; argins: the
 * argument block (bits). Failures are named faults (SAMBA_FAULT) with section, unit, layer and
 * firing: `deadlock`, `starved`, `address out of range`, `read of never-written memory`, `missing
 * synchronisation`, `not a number`. Formals may be half-written after one. index_trace (may be
 * NULL) receives, for the timing engine, the index values each indexed port consumed. */
typedef struct SambaIndexTrace { /* per unit with an indexed access: addends in elements, one per
                                  * index element consumed
                                  */
  uint32_t unit;
  size_t size, capacity;
  int64_t *data;
} SambaIndexTrace;
typedef struct SambaIndexTraces {
  size_t size, capacity;
  SambaIndexTrace *data;
} SambaIndexTraces;
SambaStatus sambaValuesExecute(SambaValues *values, const SambaSection *section,
                               const SambaBinding *bindings, const uint64_t *argins,
                               uint32_t argin_count, SambaIndexTraces *index_traces);
void sambaIndexTracesFree(SambaIndexTraces *traces);
void sambaValuesGetStatistics(const SambaValues *values, SambaValuesStatistics *out_statistics);

#endif
