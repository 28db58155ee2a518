/* A second, naive interpreter of sections, written from docs/execution-model.md alone: every token
 * an array of values, one element at a time, scalar arithmetic of the C library. For small
 * sections, as the judge of the value engine. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_REFERENCE_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_REFERENCE_H

#include "backend/sim/value/values.h"

/* Runs a legal section on the bindings' memory; false when it gets stuck or leaves a formal. lanes:
 * of the machine. */
bool referenceRun(const SambaSection *section, const SambaBinding *bindings, const uint64_t *argins,
                  int lanes);

#endif
