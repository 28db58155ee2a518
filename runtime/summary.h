/* The summary of a run, for people. */
#ifndef SAMBA_RUNTIME_SUMMARY_H
#define SAMBA_RUNTIME_SUMMARY_H

#include "runtime/session.h"

/* Prints cycles with launch apart, sections, utilization of PCUs and PMUs, DRAM traffic: three lines on standard
 * output. Utilization: busy cycles of the units in use over the section's cycles, of all units of the machine. */
void sambaPrintSummary(const SambaSession *session);

#endif
