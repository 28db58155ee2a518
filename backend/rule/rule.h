/* Fusion rules: patterns of operators that belong into one section.
 *
 * A rule file is YAML (facts of its syntax: docs/planner.md):
 *
 *   mlp:
 *     priority: 3
 *     heuristic: fuse
 *     pattern:
 *       up:   {op_type: linear, child: act}
 *       act:  {op_type: [silu, gelu], child: down, required: false}
 *       down: {op_type: linear}
 *
 * A pattern with optional nodes or options stands for several patterns without them, its *forms*.
 * They are made once, when the file is read. */
#ifndef SAMBA_BACKEND_RULE_RULE_H
#define SAMBA_BACKEND_RULE_RULE_H

#include "support/base/memory.h"
#include "support/base/status.h"

typedef struct SambaRuleNode {
  const char *label;
  uint32_t type_count; /* the operator is one of these */
  const char **types;
  bool excluded; /* it must be there, but does not join the section */
  uint32_t child_count;
  uint32_t *children; /* nodes of the form that read its result */
} SambaRuleNode;

/* Nodes are connected, without cycle; the first one is where a match begins. */
typedef struct SambaRuleForm {
  uint32_t node_count;
  SambaRuleNode *nodes;
} SambaRuleForm;

typedef struct SambaRule {
  const char *name;
  int64_t priority;
  const char *heuristic; /* NULL: none is named */
  uint32_t line;         /* of its name in the file */
  uint32_t form_count;
  SambaRuleForm *forms; /* those that are tried first come first */
} SambaRule;

typedef struct SambaRules {
  uint32_t count;
  SambaRule *rules; /* highest priority first, then in the order of the file */
} SambaRules;

/* Reads a rule file; everything lives in the arena. `name` stands before the messages. An error
 * tells line and column. */
SambaStatus sambaRulesRead(const char *name, const char *data, size_t size, SambaArena *arena,
                           SambaRules *out_rules);

/* The forms of a pattern while they are made: see rule_forms.c. */
typedef struct SambaRuleDraftNode {
  SambaRuleNode node;
  bool optional;         /* required: false */
  uint32_t option_count; /* match_first_option: the first of these that matches is a child too */
  uint32_t *options;
} SambaRuleDraftNode;

enum { SAMBA_MOST_RULE_NODES = 32, SAMBA_MOST_RULE_FORMS = 64 };

/* Makes the forms of a pattern, whose nodes are at most SAMBA_MOST_RULE_NODES. Options come in
 * their order, and a form with an optional node before the one without. NULL or why there are none:
 * a text in the arena. */
const char *sambaRuleForms(const SambaRuleDraftNode *nodes, uint32_t count, SambaArena *arena,
                           SambaRule *rule);

#endif
