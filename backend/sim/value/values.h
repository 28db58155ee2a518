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
#include "backend/sim/call/call.h"

#include <signal.h>

typedef struct SambaValuesOptions {
  int threads;                       /* >= 1 */
  const char *cpu;                   /* JIT target CPU, NULL: the host's */
  bool trap_nan;                     /* a NaN written to memory is the fault `not a number` */
  bool keep_passes;                  /* run firing by firing; slower, the same bits */
  const volatile sig_atomic_t *stop; /* non-zero: the fault `interrupted`; NULL: nothing stops it */
} SambaValuesOptions;

typedef struct SambaValuesStatistics {
  uint64_t firings, macs, lane_operations;
  uint64_t jit_programs;               /* compiled so far */
  double jit_seconds, jit_cpu_seconds; /* host time spent on compiling programs */
} SambaValuesStatistics;

typedef struct SambaValues SambaValues;

SambaStatus sambaValuesCreate(const SambaMachine *machine, const SambaValuesOptions *options,
                              SambaValues **out_values);
void sambaValuesDestroy(SambaValues *values);

/* Runs one call of a section that sambaSectionCheck accepted. bindings: one per formal; argins: the
 * argument block (bits). Failures are named faults (SAMBA_FAULT) with section, unit, layer and
 * firing: `deadlock`, `starved`, `address out of range`, `read of never-written memory`, `missing
 * synchronisation`, `not a number`. Formals may be half-written after one. index_traces (may be
 * NULL) receives one trace per indexed access, for the timing engine. */
SambaStatus sambaValuesExecute(SambaValues *values, const SambaSection *section,
                               const SambaBinding *bindings, const uint64_t *argins,
                               uint32_t argin_count, SambaIndexTraces *index_traces);
void sambaValuesGetStatistics(const SambaValues *values, SambaValuesStatistics *out_statistics);

#endif
