/* The summary of a run, for people. */
#ifndef SAMBA_RUNTIME_SUMMARY_H
#define SAMBA_RUNTIME_SUMMARY_H

#include "runtime/session.h"

/* How many of a machine's parameters have a source; the others are assumed. */
uint32_t sambaCountSourcedParameters(const SambaMachine *machine);

/* Prints four lines on standard output: cycles with launch apart, sections with the utilization of
 * PCUs and PMUs, DRAM traffic, and how many parameters of the machine are sourced and assumed. The
 * utilization of a kind of unit is the sum of its busy cycles, divided by the cycles of the
 * sections times all such units of the machine. */
void sambaPrintSummary(const SambaSession *session);

#endif
