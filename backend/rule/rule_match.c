/* Matching by backtracking: a form's nodes are visited so that each but the first is a child or
 * parent of one before it, whose readers and makers are what it may be. */
#include "backend/rule/rule_match.h"

#include <stdlib.h>
#include <string.h>

typedef struct Match {
  const SambaRuleGraph *graph;
  const SambaRuleForm *form;
  const uint32_t *group_of;
  uint32_t order[SAMBA_MOST_RULE_NODES]; /* nodes as they are visited */
  uint32_t from[SAMBA_MOST_RULE_NODES];  /* of each visited: the node beside it */
  bool down[SAMBA_MOST_RULE_NODES];      /* it is a child of that */
  uint32_t found[SAMBA_MOST_RULE_NODES]; /* operator of each node; SAMBA_NO_INDEX: none yet */
  uint32_t steps;                        /* that this match may still take */
  uint32_t members[SAMBA_MOST_RULE_NODES], member_count; /* of a whole match, ascending */
  bool *reached; /* zeroes, one for each operator, for isConvex */
} Match;

/* Steps of the search from one operator: patterns are small, and those that repeat themselves in a
 * graph that repeats itself end here. */
enum { mostSteps = 10000 };

static bool contains(const uint32_t *starts, const uint32_t *list, uint32_t of, uint32_t wanted) {
  uint32_t low = starts[of], high = starts[of + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < starts[of + 1] && list[low] == wanted;
}

static bool isChild(const SambaRuleNode *node, uint32_t child) {
  for (uint32_t c = 0; c < node->child_count; ++c)
    if (node->children[c] == child)
      return true;
  return false;
}

/* Settles the order of the nodes, each beside one that stands before it. */
static void orderNodes(Match *match) {
  const SambaRuleForm *form = match->form;
  bool placed[SAMBA_MOST_RULE_NODES] = {true};
  uint32_t count = 1;

  match->order[0] = 0;
  for (uint32_t at = 0; at < count; ++at) {
    uint32_t node = match->order[at];
    for (uint32_t other = 0; other < form->node_count; ++other) {
      bool down = isChild(&form->nodes[node], other);
      if (placed[other] || (!down && !isChild(&form->nodes[other], node)))
        continue;
      placed[other] = true;
      match->order[count] = other;
      match->from[count] = node;
      match->down[count++] = down;
    }
  }
}

static bool hasType(const SambaRuleNode *node, const char *type) {
  for (uint32_t t = 0; t < node->type_count; ++t)
    if (strcmp(node->types[t], type) == 0)
      return true;
  return false;
}

/* Whether an operator can be a node, beside those that were found. */
static bool canBe(const Match *match, uint32_t n, uint32_t op) {
  const SambaRuleGraph *graph = match->graph;
  const SambaRuleNode *node = &match->form->nodes[n];
  if (!hasType(node, graph->types[op]))
    return false;
  if (!node->excluded && match->group_of[op] != SAMBA_NO_INDEX)
    return false;
  for (uint32_t other = 0; other < match->form->node_count; ++other) {
    uint32_t at = match->found[other];
    if (at == SAMBA_NO_INDEX)
      continue;
    if (at == op ||
        (isChild(node, other) && !contains(graph->reader_starts, graph->readers, op, at)) ||
        (isChild(&match->form->nodes[other], n) &&
         !contains(graph->maker_starts, graph->makers, op, at)))
      return false;
    if (graph->barrier && !node->excluded && !match->form->nodes[other].excluded &&
        graph->barrier[at] != graph->barrier[op])
      return false;
  }
  return true;
}

static int compareIndices(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Whether nothing outside of the match lies between its members. `reached` is zeroes again
 * afterwards. */
static bool isConvex(const Match *match) {
  const SambaRuleGraph *graph = match->graph;
  bool *reached = match->reached;
  uint32_t first = match->members[0], last = match->members[match->member_count - 1];
  bool convex = true;
  uint32_t next = 0; /* member */

  for (uint32_t op = first; op <= last; ++op) {
    bool member = match->members[next] == op, outside = false, inside = false;
    for (uint32_t i = graph->maker_starts[op]; i < graph->maker_starts[op + 1]; ++i) {
      uint32_t maker = graph->makers[i];
      outside |= maker >= first && reached[maker];
      inside |= bsearch(&maker, match->members, match->member_count, sizeof maker,
                        compareIndices) != NULL;
    }
    convex &= !(member && outside);
    reached[op] = !member && (inside || outside);
    next += member;
  }

  memset(reached + first, 0, (last - first + 1) * sizeof *reached);
  return convex;
}

/* Settles the members of a match that has an operator for each node. */
static void settleMembers(Match *match) {
  match->member_count = 0;
  for (uint32_t n = 0; n < match->form->node_count; ++n)
    if (!match->form->nodes[n].excluded)
      match->members[match->member_count++] = match->found[n];
  qsort(match->members, match->member_count, sizeof *match->members, compareIndices);
}

static bool matchFrom(Match *match, uint32_t visited) {
  if (visited == match->form->node_count) {
    settleMembers(match);
    return isConvex(match);
  }
  const SambaRuleGraph *graph = match->graph;
  uint32_t n = match->order[visited], beside = match->found[match->from[visited]];
  const uint32_t *starts = match->down[visited] ? graph->reader_starts : graph->maker_starts;
  const uint32_t *list = match->down[visited] ? graph->readers : graph->makers;

  for (uint32_t i = starts[beside]; i < starts[beside + 1] && match->steps; ++i) {
    --match->steps;
    if (!canBe(match, n, list[i]))
      continue;
    match->found[n] = list[i];
    if (matchFrom(match, visited + 1))
      return true;
    match->found[n] = SAMBA_NO_INDEX;
  }
  return false;
}

static bool matchAt(Match *match, uint32_t op) {
  for (uint32_t n = 0; n < match->form->node_count; ++n)
    match->found[n] = SAMBA_NO_INDEX;
  if (!canBe(match, 0, op))
    return false;
  match->found[0] = op;
  match->steps = mostSteps;
  return matchFrom(match, 1);
}

static void keepGroup(const Match *match, const SambaRule *rule, SambaArena *arena,
                      SambaRuleGroups *groups) {
  uint32_t count = match->member_count;
  for (uint32_t m = 0; m < count; ++m)
    groups->group_of[match->members[m]] = groups->count;
  groups->groups[groups->count++] = (SambaRuleGroup){
      rule, count, sambaArenaCopy(arena, match->members, count * sizeof *match->members)};
}

static void matchForm(const SambaRule *rule, const SambaRuleForm *form, const SambaRuleGraph *graph,
                      SambaArena *arena, bool *reached, SambaRuleGroups *groups) {
  Match match = {.graph = graph, .form = form, .group_of = groups->group_of, .reached = reached};
  orderNodes(&match);
  for (uint32_t op = 0; op < graph->count; ++op)
    if (matchAt(&match, op))
      keepGroup(&match, rule, arena, groups);
}

/* The graph while it is ordered: an atom is a group, or an operator without one. */
typedef struct Ordering {
  const SambaRuleGraph *graph;
  const SambaRuleGroups *groups;
  uint8_t *state; /* of each operator: see below; a group's stands at its first member */
  uint32_t *order, count;
  SAMBA_ARRAY(uint32_t) stack;
} Ordering;

enum { UNSEEN, OPEN, DONE };

static uint32_t atomOf(const Ordering *ordering, uint32_t op) {
  uint32_t group = ordering->groups->group_of[op];
  return group == SAMBA_NO_INDEX ? op : ordering->groups->groups[group].members[0];
}

/* The operators of an atom. */
static uint32_t membersOf(const Ordering *ordering, const uint32_t *atom,
                          const uint32_t **out_members) {
  uint32_t group = ordering->groups->group_of[*atom];
  *out_members = group == SAMBA_NO_INDEX ? atom : ordering->groups->groups[group].members;
  return group == SAMBA_NO_INDEX ? 1 : ordering->groups->groups[group].member_count;
}

/* Puts the atoms that `atom` reads, as far as they are not done, on the stack. False: one of them,
 * `out_closing`, waits for this one. */
static bool pushMakers(Ordering *ordering, uint32_t atom, uint32_t *out_closing) {
  const uint32_t *members;
  uint32_t count = membersOf(ordering, &atom, &members);
  for (uint32_t m = count; m-- > 0;) /* what comes first is on top */
    for (uint32_t i = ordering->graph->maker_starts[members[m] + 1];
         i-- > ordering->graph->maker_starts[members[m]];) {
      uint32_t maker = atomOf(ordering, ordering->graph->makers[i]);
      if (maker == atom || ordering->state[maker] == DONE)
        continue;
      *out_closing = maker;
      if (ordering->state[maker] == OPEN)
        return false;
      sambaArrayAppend(&ordering->stack, maker);
    }
  return true;
}

static void emitAtom(Ordering *ordering, uint32_t atom) {
  const uint32_t *members;
  uint32_t count = membersOf(ordering, &atom, &members);
  for (uint32_t m = 0; m < count; ++m)
    ordering->order[ordering->count++] = members[m];
  ordering->state[atom] = DONE;
}

/* The group on a way from an atom to itself that was found last; there is one. */
static uint32_t lastGroupOpen(const Ordering *ordering, uint32_t closing) {
  uint32_t last = 0;
  for (size_t i = ordering->stack.size; i-- > 0;) {
    uint32_t atom = ordering->stack.data[i], group = ordering->groups->group_of[atom];
    if (ordering->state[atom] == OPEN && group != SAMBA_NO_INDEX && group > last)
      last = group;
    if (atom == closing)
      break;
  }
  return last;
}

/* Orders the atoms, each behind those that it reads. The number of the group that should not be one
 * where a group waits for itself; SAMBA_NO_INDEX: all are in order. */
static uint32_t orderAtoms(Ordering *ordering) {
  for (uint32_t op = 0; op < ordering->graph->count; ++op) {
    sambaArrayAppend(&ordering->stack, atomOf(ordering, op));
    while (ordering->stack.size) {
      uint32_t atom = ordering->stack.data[ordering->stack.size - 1], closing;
      if (ordering->state[atom] == UNSEEN) {
        ordering->state[atom] = OPEN;
        if (!pushMakers(ordering, atom, &closing))
          return lastGroupOpen(ordering, closing);
        continue; /* it is there again when all of them are done */
      }
      --ordering->stack.size;
      if (ordering->state[atom] == OPEN)
        emitAtom(ordering, atom);
    }
  }
  return SAMBA_NO_INDEX;
}

/* Takes a group back; those behind it move up. */
static void takeBack(SambaRuleGroups *groups, uint32_t group) {
  for (uint32_t m = 0; m < groups->groups[group].member_count; ++m)
    groups->group_of[groups->groups[group].members[m]] = SAMBA_NO_INDEX;
  for (uint32_t g = group + 1; g < groups->count; ++g)
    for (uint32_t m = 0; m < groups->groups[g].member_count; ++m)
      --groups->group_of[groups->groups[g].members[m]];
  memmove(&groups->groups[group], &groups->groups[group + 1],
          (groups->count - group - 1) * sizeof *groups->groups);
  --groups->count;
}

static void orderOperators(const SambaRuleGraph *graph, SambaRuleGroups *groups,
                           uint32_t *out_order) {
  Ordering ordering = {.graph = graph, .groups = groups, .order = out_order};
  ordering.state = sambaAllocate(graph->count + 1);
  for (uint32_t wrong = 0; wrong != SAMBA_NO_INDEX;) {
    memset(ordering.state, UNSEEN, graph->count);
    ordering.count = 0;
    ordering.stack.size = 0;
    wrong = orderAtoms(&ordering);
    if (wrong != SAMBA_NO_INDEX)
      takeBack(groups, wrong);
  }
  sambaArrayFree(&ordering.stack);
  free(ordering.state);
}

/* Makes groups of what was joined before. */
static void keepJoined(const SambaRuleGraph *graph, const uint32_t *joined, SambaArena *arena,
                       SambaRuleGroups *groups) {
  uint32_t *group_of_number = SAMBA_ARENA_ARRAY(arena, uint32_t, graph->count + 1);
  sambaClearIndices(group_of_number, graph->count);
  for (uint32_t op = 0; op < graph->count; ++op) {
    if (joined[op] == SAMBA_NO_INDEX)
      continue;
    uint32_t *group = &group_of_number[joined[op]];
    if (*group == SAMBA_NO_INDEX)
      *group = groups->count++;
    groups->group_of[op] = *group;
    ++groups->groups[*group].member_count;
  }

  for (uint32_t g = 0; g < groups->count; ++g) {
    groups->groups[g].members = SAMBA_ARENA_ARRAY(arena, uint32_t, groups->groups[g].member_count);
    groups->groups[g].member_count = 0;
  }
  for (uint32_t op = 0; op < graph->count; ++op)
    if (groups->group_of[op] != SAMBA_NO_INDEX) {
      SambaRuleGroup *group = &groups->groups[groups->group_of[op]];
      group->members[group->member_count++] = op;
    }
}

void sambaRulesMatch(const SambaRules *rules, const SambaRuleGraph *graph, const uint32_t *joined,
                     SambaArena *arena, SambaRuleGroups *out_groups, uint32_t *out_order) {
  bool *reached = sambaAllocateZeroed(graph->count + 1, sizeof *reached);
  *out_groups =
      (SambaRuleGroups){.groups = SAMBA_ARENA_ARRAY(arena, SambaRuleGroup, graph->count + 1),
                        .group_of = SAMBA_ARENA_ARRAY(arena, uint32_t, graph->count + 1)};
  sambaClearIndices(out_groups->group_of, graph->count);
  if (joined)
    keepJoined(graph, joined, arena, out_groups);

  for (uint32_t r = 0; r < rules->count; ++r)
    for (uint32_t f = 0; f < rules->rules[r].form_count; ++f)
      matchForm(&rules->rules[r], &rules->rules[r].forms[f], graph, arena, reached, out_groups);
  free(reached);
  orderOperators(graph, out_groups, out_order);
}
