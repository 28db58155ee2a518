/* The forms of a pattern: what stays of it for each choice of options and of optional nodes. */
#include "backend/rule/rule.h"

#include <string.h>

typedef uint32_t NodeSet; /* one bit for each node */
_Static_assert(SAMBA_MOST_RULE_NODES <= 32, "a set of nodes is 32 bits");

/* A pattern with some of its choices made. */
typedef struct Draft {
  NodeSet nodes;
  NodeSet children[SAMBA_MOST_RULE_NODES];
} Draft;

typedef struct Forms {
  const SambaRuleDraftNode *nodes;
  uint32_t count;
  SambaArena *arena;
  SambaRule *rule;
  const char *why; /* there are none */
} Forms;

static const char notConnected[] =
    "its nodes are not connected; name each as a child of another, or write two rules";

static NodeSet bit(uint32_t node) { return (NodeSet)1 << node; }

/* What is connected with the first node that is left. */
static NodeSet connected(const Draft *draft, uint32_t count) {
  NodeSet found = draft->nodes & -draft->nodes, before = 0;
  while (found != before) {
    before = found;
    for (uint32_t i = 0; i < count; ++i) {
      if (!(draft->nodes & bit(i)))
        continue;
      if (found & bit(i))
        found |= draft->children[i];
      else if (draft->children[i] & found)
        found |= bit(i);
    }
  }
  return found;
}

static bool hasCycle(const Draft *draft, uint32_t count) {
  NodeSet left = draft->nodes, before = 0;
  while (left != before) {
    before = left;
    for (uint32_t i = 0; i < count; ++i)
      if ((left & bit(i)) && !(draft->children[i] & left))
        left &= ~bit(i);
  }
  return left != 0;
}

/* Takes a node out: those before it are then before those behind it. */
static void contract(Draft *draft, uint32_t node, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (draft->children[i] & bit(node))
      draft->children[i] = (draft->children[i] & ~bit(node)) | draft->children[node];
  draft->children[node] = 0;
  draft->nodes &= ~bit(node);
}

static void keepForm(Forms *forms, const Draft *draft) {
  SambaRule *rule = forms->rule;
  SambaRuleForm *form = &rule->forms[rule->form_count++];
  uint32_t number[SAMBA_MOST_RULE_NODES];

  *form = (SambaRuleForm){.nodes = SAMBA_ARENA_ARRAY(forms->arena, SambaRuleNode, forms->count)};
  for (uint32_t i = 0; i < forms->count; ++i)
    if (draft->nodes & bit(i)) {
      number[i] = form->node_count;
      form->nodes[form->node_count++] = forms->nodes[i].node;
    }
  for (uint32_t i = 0; i < forms->count; ++i) {
    if (!(draft->nodes & bit(i)))
      continue;
    SambaRuleNode *node = &form->nodes[number[i]];
    node->child_count = 0;
    node->children = SAMBA_ARENA_ARRAY(forms->arena, uint32_t, form->node_count);
    for (uint32_t child = 0; child < forms->count; ++child)
      if (draft->children[i] & bit(child))
        node->children[node->child_count++] = number[child];
  }
}

/* Checks a pattern whose choices are all made, and keeps it as a form. */
static void closeDraft(Forms *forms, Draft *draft) {
  NodeSet whole = draft->nodes;
  if (forms->rule->form_count == SAMBA_MOST_RULE_FORMS) {
    forms->why = sambaArenaFormat(
        forms->arena,
        "its options and optional nodes make more than %d patterns; write several rules",
        SAMBA_MOST_RULE_FORMS);
    return;
  }
  if (!whole) {
    forms->why = "every node of it is optional; one must be required";
    return;
  }
  if (hasCycle(draft, forms->count)) {
    forms->why = "its children form a cycle; an operator cannot read what comes of its own result";
    return;
  }
  if (connected(draft, forms->count) != whole) {
    forms->why = notConnected;
    return;
  }
  keepForm(forms, draft);
}

static void chooseOptional(Forms *forms, const Draft *draft, uint32_t node) {
  if (forms->why)
    return;
  while (node < forms->count && !(forms->nodes[node].optional && (draft->nodes & bit(node))))
    ++node;
  if (node == forms->count) {
    Draft last = *draft;
    closeDraft(forms, &last);
    return;
  }

  chooseOptional(forms, draft, node + 1);
  Draft without = *draft;
  contract(&without, node, forms->count);
  chooseOptional(forms, &without, node + 1);
}

/* An option that is not taken goes, with everything that hangs on it alone. */
static void chooseOption(Forms *forms, const Draft *draft, uint32_t node) {
  while (node < forms->count && !(forms->nodes[node].option_count && (draft->nodes & bit(node))))
    ++node;
  if (node == forms->count) {
    chooseOptional(forms, draft, 0);
    return;
  }

  const SambaRuleDraftNode *options = &forms->nodes[node];
  for (uint32_t taken = 0; taken < options->option_count && !forms->why; ++taken) {
    Draft chosen = *draft;
    chosen.children[node] |= bit(options->options[taken]);
    NodeSet dropped = 0;
    for (uint32_t other = 0; other < options->option_count; ++other)
      if (other != taken)
        dropped |= bit(options->options[other]);
    chosen.nodes &= ~dropped;
    for (uint32_t i = 0; i < forms->count; ++i)
      chosen.children[i] = dropped & bit(i) ? 0 : chosen.children[i] & ~dropped;
    chosen.nodes = connected(&chosen, forms->count);
    chooseOption(forms, &chosen, node + 1);
  }
}

const char *sambaRuleForms(const SambaRuleDraftNode *nodes, uint32_t count, SambaArena *arena,
                           SambaRule *rule) {
  Forms forms = {nodes, count, arena, rule, NULL};
  Draft draft = {.nodes = count == 32 ? UINT32_MAX : bit(count) - 1};
  Draft all = draft; /* with all options at once */
  NodeSet behind_options = 0;

  rule->form_count = 0;
  rule->forms = SAMBA_ARENA_ARRAY(arena, SambaRuleForm, SAMBA_MOST_RULE_FORMS);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t c = 0; c < nodes[i].node.child_count; ++c)
      draft.children[i] |= bit(nodes[i].node.children[c]);
    all.children[i] = draft.children[i];
    for (uint32_t o = 0; o < nodes[i].option_count; ++o)
      all.children[i] |= bit(nodes[i].options[o]);
    behind_options |= all.children[i] & ~draft.children[i];
  }

  if (behind_options & 1)
    return "its first node is an option of another; a match begins with the first node";
  if (connected(&all, count) != all.nodes)
    return notConnected;
  chooseOption(&forms, &draft, 0);
  return forms.why;
}
