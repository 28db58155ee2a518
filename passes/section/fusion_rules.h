/* Fusion rules on a graph of operators: reading a file of them, and what they say of each operator.
 * Matching itself is backend/rule. */
#ifndef SAMBA_PASSES_SECTION_FUSION_RULES_H
#define SAMBA_PASSES_SECTION_FUSION_RULES_H

#include "backend/rule/rule_match.h"

#include "mlir-c/IR.h"

/* What a section of a group may hold beside it. */
typedef enum {
  SAMBA_HEURISTIC_FUSE,  /* the members join at once; what stands beside them may join too */
  SAMBA_HEURISTIC_ALONE, /* the members are a section of their own */
  SAMBA_HEURISTIC_APART  /* every member is a section of its own */
} SambaHeuristic;

/* Reads the rules of a file, or those that come with Samba under this name. Emits an error, and
 * a warning for each heuristic that is not known: such a rule is SAMBA_HEURISTIC_FUSE. */
bool sambaFusionRulesRead(MlirOperation module, const char *path, SambaArena *arena,
                          SambaRules *out_rules);

/* Of a graph's operators: what the rules join. */
typedef struct SambaFusedOperators {
  uint32_t *group_of; /* SAMBA_NO_INDEX: no rule has this operator */
  SambaRuleGroup *groups;
} SambaFusedOperators;

/* Matches the rules and brings the operators into an order in which each group stands together.
 * `joined`: what is joined before, see sambaRulesMatch; such a group has no rule, and is a section
 * of its own. Operators of updates (phase OPT) and those that begin sections are in no group, a
 * group is in one phase. All lives in the arena. */
void sambaFusionRulesMatch(const SambaRules *rules, const uint32_t *joined,
                           MlirOperation *operators, uint32_t count, SambaArena *arena,
                           SambaFusedOperators *out_fused);

/* NULL, which stands for what was joined before, is alone. */
SambaHeuristic sambaHeuristicOf(const SambaRule *rule);

#endif
