/* The summary of a run, for people. */
#ifndef SAMBA_RUNTIME_SUMMARY_H
#define SAMBA_RUNTIME_SUMMARY_H

#include "runtime/session.h"

/* Prints four lines on standard output: cycles with launch apart, sections with the utilization of
 * PCUs and PMUs, DRAM traffic, and how the parameters of the machine are known. The
 * utilization of a kind of unit is the sum of its busy cycles, divided by the cycles of the
 * sections times all such units of the machine. */
void sambaPrintSummary(const SambaSession *session);

#endif
