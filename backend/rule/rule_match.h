/* Where the patterns of rules are in a graph of operators, and in which order its operators stand
 * when what a rule joins stands together. */
#ifndef SAMBA_BACKEND_RULE_RULE_MATCH_H
#define SAMBA_BACKEND_RULE_RULE_MATCH_H

#include "backend/rule/rule.h"
#include "support/base/index.h"

/* Operators in an order in which each stands behind those that it reads. */
typedef struct SambaRuleGraph {
  uint32_t count;
  const char *const *types;
  const uint32_t *barrier; /* operators with different numbers do not join; NULL: all may */
  /* Of operator i: [starts[i], starts[i + 1]) of the list, ascending and each once. */
  const uint32_t *reader_starts, *readers; /* those that read a result of it */
  const uint32_t *maker_starts, *makers;   /* those whose results it reads */
} SambaRuleGraph;

/* Operators that a rule joins. */
typedef struct SambaRuleGroup {
  const SambaRule *rule; /* NULL: none, they were joined before */
  uint32_t member_count;
  uint32_t *members; /* ascending */
} SambaRuleGroup;

typedef struct SambaRuleGroups {
  uint32_t count;
  SambaRuleGroup *groups;
  uint32_t *group_of; /* of each operator; SAMBA_NO_INDEX: none */
} SambaRuleGroups;

/* Finds the matches, rule by rule and operator by operator; an operator joins once. `joined`:
 * operators with the same number below the graph's count are joined before; SAMBA_NO_INDEX: this
 * one is not; NULL: none is. No operator outside of a group reads from it and is read by it, and no
 * two groups read from each other, so each can be one section; groups that are not so are given up,
 * and those that were joined before last. out_order: the operators so that each group's stand
 * together; as the graph has them otherwise. All lives in the arena. */
void sambaRulesMatch(const SambaRules *rules, const SambaRuleGraph *graph, const uint32_t *joined,
                     SambaArena *arena, SambaRuleGroups *out_groups, uint32_t *out_order);

#endif
