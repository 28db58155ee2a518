/* The summary of a run, for people. */
#ifndef SAMBA_RUNTIME_SUMMARY_H
#define SAMBA_RUNTIME_SUMMARY_H

#include "runtime/session.h"

/* How many of a machine's parameters have a source; the others are assumed. */
uint32_t sambaCountSourcedParameters(const SambaMachine *machine);

/* Prints cycles with launch apart, sections, utilization of PCUs and PMUs, DRAM traffic, and how
 * much of the machine is sourced and how much assumed: four lines on standard output. Utilization:
 * busy cycles of the units in use over the section's cycles, of all units of the machine. */
void sambaPrintSummary(const SambaSession *session);

#endif
