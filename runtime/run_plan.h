/* Which calls a run launches, in which order: the one planner of the runtime. It turns what a user
 * asks for and the schedule of a PEF into a list of calls, and refuses before anything runs. */
#ifndef SAMBA_RUNTIME_RUN_PLAN_H
#define SAMBA_RUNTIME_RUN_PLAN_H

#include "backend/pef/pef.h"

/* Sections that belong together in a list of section ids: a list inside the list. */
typedef struct SambaSectionGroup {
  uint32_t count;
  const uint32_t *sections;
} SambaSectionGroup;

/* What to run; all zero is the schedule as compiled. Section ids, section types and a range of
 * calls exclude each other. */
typedef struct SambaRunOrder {
  /* All calls of each section, in the order of the ids; an id may occur again. The members of a
   * group follow each other like the groups do. */
  uint32_t group_count;
  const SambaSectionGroup *groups;
  /* All sections of each type, in the order of the types; those of one type as scheduled. */
  uint32_t type_count;
  const SambaPefSectionType *types;
  /* The calls [from, until) of the schedule. */
  bool has_from, has_until;
  uint32_t from, until;
  /* Only calls of the graph of this name; empty: of all graphs. */
  SambaStringRef graph;
} SambaRunOrder;

/* A set of section types has bit `1 << type` for each of them. */
static inline uint32_t sambaSectionTypeBit(SambaPefSectionType type) { return 1u << type; }
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
