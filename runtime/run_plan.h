/* Which calls a run launches, in which order: the one planner of the runtime. It turns what a user
 * asks for and the schedule of a PEF into a list of calls, and refuses before anything runs. */
#ifndef SAMBA_RUNTIME_RUN_PLAN_H
#define SAMBA_RUNTIME_RUN_PLAN_H

#include "backend/pef/pef.h"
#include "samba/session.h"

/* The types of the sections that the PEF has. */
uint32_t sambaSectionTypesOf(const SambaPef *pef);

/* The graph of that name; the error lists the graphs that there are. */
SambaStatus sambaFindGraph(const SambaPef *pef, SambaStringRef name, uint32_t *out_graph);

/* The calls in the order in which to launch them (ids of the schedule). Refused are: two ways to
 * ask at once, an unknown section, graph or call, and a type that no section has. out_calls:
 * malloc'ed, freed by the caller. */
SambaStatus sambaRunOrderPlan(const SambaPef *pef, const SambaRunOrder *order, uint32_t **out_calls,
                              uint32_t *out_count);

#endif
