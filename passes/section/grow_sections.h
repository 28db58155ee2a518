/* Sections that grow operator by operator along the trace (o1), and what limits them. */
#ifndef SAMBA_PASSES_SECTION_GROW_SECTIONS_H
#define SAMBA_PASSES_SECTION_GROW_SECTIONS_H

#include "dialect/stages/known_plan.h"
#include "passes/section/fusion_rules.h"

#include <stdatomic.h>

/* The operators of a graph while they are grouped. */
typedef struct SambaSectionGraph {
  const SambaPlanTarget *target;
  MlirOperation *operators;
  uint32_t count;
  uint32_t border;           /* a section begins there: behind the scalars of the updates */
  SambaFusedOperators fused; /* what rules join; group_of: NULL without rules */
  const atomic_bool *stops;  /* when that is true nothing joins any more; may be NULL */
} SambaSectionGraph;

/* The group of rules that an operator belongs to; NULL: none. */
const SambaRuleGroup *sambaGroupOfOperator(const SambaSectionGraph *partition, uint32_t index);
/* Whether a section must begin with the operator, which is not the first. */
bool sambaStartsSection(const SambaSectionGraph *partition, uint32_t index);
/* Operators of a section that begins with this one, at most. */
uint32_t sambaMostOperators(MlirOperation operation);
/* The operators of a pinned section that begins with this one; 0: none does. */
uint32_t sambaPinnedOperators(const SambaSectionGraph *partition, uint32_t first);

/* How many elementwise operators there are from a value with several readers to where all that
 * comes of it is one value again; 1: it does not become one. */
uint32_t sambaBranchingOperators(const MlirOperation *operators, uint32_t most);
/* Whether the operator is elementwise and alone in reading what the one before it makes. */
bool sambaOperatorFollows(MlirOperation before, MlirOperation operation);

/* Groups the operators greedily: the number of sections. section_of: of each operator its section.
 * ends: of each section, at most as many as operators, why it ends. */
uint32_t sambaGrowSections(const SambaSectionGraph *partition, uint32_t *section_of,
                           MlirAttribute *ends);

#endif
