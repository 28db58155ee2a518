/* Matches of rules, against a search that tries every assignment of operators to nodes, and against
 * the laws of groups: random graphs, random patterns. */
#include "backend/rule/rule_match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { mostOperators = 12, mostNodes = 4 };

/* A graph with its lists. */
typedef struct Graph {
  SambaRuleGraph graph;
  bool edge[mostOperators][mostOperators]; /* edge[i][j]: j reads i */
  const char *types[mostOperators];
  uint32_t reader_starts[mostOperators + 1], readers[mostOperators * mostOperators];
  uint32_t maker_starts[mostOperators + 1], makers[mostOperators * mostOperators];
  uint32_t barrier[mostOperators];
} Graph;

static const char *const typeNames[] = {"linear", "add", "relu"};

static uint32_t draw(uint64_t *random, uint32_t below) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*random >> 33) % below;
}

static void fillLists(Graph *graph, uint32_t count) {
  uint32_t readers = 0, makers = 0;
  for (uint32_t i = 0; i < count; ++i) {
    graph->reader_starts[i] = readers;
    graph->maker_starts[i] = makers;
    for (uint32_t j = 0; j < count; ++j) {
      if (graph->edge[i][j])
        graph->readers[readers++] = j;
      if (graph->edge[j][i])
        graph->makers[makers++] = j;
    }
  }
  graph->reader_starts[count] = readers;
  graph->maker_starts[count] = makers;
  graph->graph = (SambaRuleGraph){.count = count,
                                  .types = graph->types,
                                  .barrier = graph->barrier,
                                  .reader_starts = graph->reader_starts,
                                  .readers = graph->readers,
                                  .maker_starts = graph->maker_starts,
                                  .makers = graph->makers};
}

static void drawGraph(uint64_t *random, Graph *graph) {
  memset(graph, 0, sizeof *graph);
  uint32_t count = 2 + draw(random, mostOperators - 1);
  for (uint32_t j = 0; j < count; ++j) {
    graph->types[j] = typeNames[draw(random, 3)];
    graph->barrier[j] = j > 8;
    for (uint32_t i = j > 4 ? j - 4 : 0; i < j; ++i)
      graph->edge[i][j] = draw(random, 3) == 0;
  }
  fillLists(graph, count);
}

static void drawForm(uint64_t *random, SambaArena *arena, SambaRuleForm *form) {
  form->node_count = 1 + draw(random, mostNodes);
  form->nodes = SAMBA_ARENA_ARRAY(arena, SambaRuleNode, form->node_count);
  for (uint32_t n = 0; n < form->node_count; ++n) {
    SambaRuleNode *node = &form->nodes[n];
    node->types = SAMBA_ARENA_ARRAY(arena, const char *, 2);
    node->type_count = 1 + draw(random, 2);
    for (uint32_t t = 0; t < node->type_count; ++t)
      node->types[t] = typeNames[draw(random, 3)];
    node->excluded = n && draw(random, 6) == 0;
    node->children = SAMBA_ARENA_ARRAY(arena, uint32_t, mostNodes);
  }
  for (uint32_t n = 1; n < form->node_count; ++n) { /* beside an earlier one, above or below it */
    uint32_t other = draw(random, n);
    bool below = draw(random, 3) != 0;
    SambaRuleNode *parent = &form->nodes[below ? other : n];
    parent->children[parent->child_count++] = below ? n : other;
  }
}

static bool hasType(const SambaRuleNode *node, const char *type) {
  for (uint32_t t = 0; t < node->type_count; ++t)
    if (strcmp(node->types[t], type) == 0)
      return true;
  return false;
}

/* Whether an assignment is a match of the form. */
static bool isMatch(const Graph *graph, const SambaRuleForm *form, const uint32_t *found,
                    const uint32_t *group_of) {
  for (uint32_t n = 0; n < form->node_count; ++n) {
    const SambaRuleNode *node = &form->nodes[n];
    if (!hasType(node, graph->types[found[n]]) ||
        (!node->excluded && group_of && group_of[found[n]] != SAMBA_NO_INDEX))
      return false;
    for (uint32_t c = 0; c < node->child_count; ++c)
      if (!graph->edge[found[n]][found[node->children[c]]])
        return false;
    for (uint32_t m = 0; m < n; ++m)
      if (found[m] == found[n] || (!node->excluded && !form->nodes[m].excluded &&
                                   graph->barrier[found[m]] != graph->barrier[found[n]]))
        return false;
  }
  return true;
}

/* Whether a member is reached from a member through operators outside. */
static bool isConvex(const Graph *graph, const bool *member) {
  bool path[mostOperators][mostOperators]; /* through operators outside */
  uint32_t count = graph->graph.count;
  memcpy(path, graph->edge, sizeof path);
  for (uint32_t k = 0; k < count; ++k)
    for (uint32_t i = 0; i < count && !member[k]; ++i)
      for (uint32_t j = 0; j < count; ++j)
        path[i][j] |= path[i][k] && path[k][j];
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < count; ++j)
      if (member[i] && member[j] && path[i][j] && !graph->edge[i][j])
        return false;
  for (uint32_t i = 0; i < count; ++i) /* a direct edge hides no way around */
    for (uint32_t k = 0; k < count; ++k)
      for (uint32_t j = 0; j < count; ++j)
        if (member[i] && !member[k] && member[j] && path[i][k] && path[k][j])
          return false;
  return true;
}

/* Whether some assignment is a match of operators that no group has and that could be a section. */
static bool anyLeft(const Graph *graph, const SambaRuleForm *form, const uint32_t *group_of) {
  uint32_t count = graph->graph.count, all = 1;
  for (uint32_t n = 0; n < form->node_count; ++n)
    all *= count;
  for (uint32_t number = 0; number < all; ++number) {
    uint32_t found[mostNodes], rest = number;
    bool member[mostOperators] = {false};
    for (uint32_t n = 0; n < form->node_count; ++n, rest /= count) {
      found[n] = rest % count;
      member[found[n]] |= !form->nodes[n].excluded;
    }
    if (isMatch(graph, form, found, group_of) && isConvex(graph, member))
      return true;
  }
  return false;
}

/* Whether the members are those of some match. */
static bool comesFromForm(const Graph *graph, const SambaRuleForm *form,
                          const SambaRuleGroup *group) {
  uint32_t count = graph->graph.count, all = 1;
  for (uint32_t n = 0; n < form->node_count; ++n)
    all *= count;
  for (uint32_t number = 0; number < all; ++number) {
    uint32_t found[mostNodes], rest = number, members = 0;
    for (uint32_t n = 0; n < form->node_count; ++n, rest /= count)
      found[n] = rest % count;
    if (!isMatch(graph, form, found, NULL))
      continue;
    for (uint32_t n = 0; n < form->node_count; ++n)
      for (uint32_t m = 0; m < group->member_count; ++m)
        members += !form->nodes[n].excluded && group->members[m] == found[n];
    if (members == group->member_count)
      return true;
  }
  return false;
}

/* Each group stands together, and every operator behind what it reads. */
static void checkOrder(const Graph *graph, const SambaRuleGroups *groups, const uint32_t *order) {
  uint32_t at[mostOperators], count = graph->graph.count;
  bool seen[mostOperators] = {false};
  for (uint32_t i = 0; i < count; ++i) {
    assert_true(order[i] < count && !seen[order[i]]);
    seen[order[i]] = true;
    at[order[i]] = i;
  }
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t j = 0; j < count; ++j)
      assert_true(!graph->edge[i][j] || at[i] < at[j]);
  for (uint32_t g = 0; g < groups->count; ++g)
    for (uint32_t m = 1; m < groups->groups[g].member_count; ++m)
      assert_int_equal(at[groups->groups[g].members[m]], at[groups->groups[g].members[m - 1]] + 1);
}

static void testRandom(void **state) {
  (void)state;
  uint64_t random = 11;
  uint32_t found = 0, empty = 0;
  for (int round = 0; round < 3000; ++round) {
    SambaArena arena = {0};
    Graph graph;
    SambaRuleForm forms[2];
    drawGraph(&random, &graph);
    drawForm(&random, &arena, &forms[0]);
    drawForm(&random, &arena, &forms[1]);
    SambaRule list[] = {{.name = "a", .form_count = 1, .forms = &forms[0]},
                        {.name = "b", .form_count = 1, .forms = &forms[1]}};
    SambaRules rules = {2, list};
    SambaRuleGroups groups;
    uint32_t order[mostOperators];
    sambaRulesMatch(&rules, &graph.graph, NULL, &arena, &groups, order);

    checkOrder(&graph, &groups, order);
    for (uint32_t g = 0; g < groups.count; ++g) {
      bool member[mostOperators] = {false};
      for (uint32_t m = 0; m < groups.groups[g].member_count; ++m) {
        member[groups.groups[g].members[m]] = true;
        assert_int_equal(groups.group_of[groups.groups[g].members[m]], g);
      }
      assert_true(comesFromForm(&graph, groups.groups[g].rule->forms, &groups.groups[g]));
      assert_true(isConvex(&graph, member));
    }
    found += groups.count;
    if (!groups.count) {
      uint32_t none[mostOperators];
      memset(none, 0xff, sizeof none);
      assert_false(anyLeft(&graph, &forms[0], none) || anyLeft(&graph, &forms[1], none));
      ++empty;
    }
    sambaArenaDestroy(&arena);
  }
  assert_true(found > 1000);
  assert_true(empty > 100);
}

/* 0 -> 1 -> 3, 0 -> 2 -> 3: groups {0, 3} would lie around 1 and 2; {1, 2} with {0, 3} likewise. */
static void testTwoGroups(void **state) {
  (void)state;
  Graph graph = {.types = {"a", "b", "c", "d"}};
  SambaArena arena = {0};
  graph.edge[0][3] = graph.edge[1][2] = graph.edge[0][2] = graph.edge[1][3] = true;
  fillLists(&graph, 4);
  uint32_t child = 1;
  const char *a = "a", *d = "d", *b = "b", *c = "c";
  SambaRuleNode first[] = {{.type_count = 1, .types = &a, .child_count = 1, .children = &child},
                           {.type_count = 1, .types = &d}};
  SambaRuleNode second[] = {{.type_count = 1, .types = &b, .child_count = 1, .children = &child},
                            {.type_count = 1, .types = &c}};
  SambaRuleForm forms[] = {{2, first}, {2, second}};
  SambaRule list[] = {{.name = "ad", .form_count = 1, .forms = &forms[0]},
                      {.name = "bc", .form_count = 1, .forms = &forms[1]}};
  SambaRules rules = {2, list};
  SambaRuleGroups groups;
  uint32_t order[4];
  sambaRulesMatch(&rules, &graph.graph, NULL, &arena, &groups, order);
  assert_int_equal(groups.count, 1); /* they would read from each other: the first one stays */
  assert_string_equal(groups.groups[0].rule->name, "ad");
  assert_int_equal(groups.group_of[1], SAMBA_NO_INDEX);
  checkOrder(&graph, &groups, order);
  sambaArenaDestroy(&arena);
}

/* The same graph: {0, 3} joined before is given up for what lies between, {1, 2} is kept, and rules
 * do not take from it. */
static void testJoinedBefore(void **state) {
  (void)state;
  Graph graph = {.types = {"a", "b", "b", "d"}};
  SambaArena arena = {0};
  graph.edge[0][1] = graph.edge[0][2] = graph.edge[1][3] = graph.edge[2][3] = true;
  fillLists(&graph, 4);
  uint32_t child = 1;
  const char *a = "a", *b = "b";
  SambaRuleNode nodes[] = {{.type_count = 1, .types = &a, .child_count = 1, .children = &child},
                           {.type_count = 1, .types = &b}};
  SambaRuleForm form = {2, nodes};
  SambaRule rule = {.name = "ab", .form_count = 1, .forms = &form};
  SambaRules rules = {1, &rule};
  SambaRuleGroups groups;
  uint32_t order[4];

  const uint32_t around[] = {3, SAMBA_NO_INDEX, SAMBA_NO_INDEX, 3};
  sambaRulesMatch(&rules, &graph.graph, around, &arena, &groups, order);
  assert_int_equal(groups.count, 0);
  checkOrder(&graph, &groups, order);

  const uint32_t between[] = {SAMBA_NO_INDEX, 1, 1, SAMBA_NO_INDEX};
  sambaRulesMatch(&rules, &graph.graph, between, &arena, &groups, order);
  assert_int_equal(groups.count, 1);
  assert_null(groups.groups[0].rule);
  assert_int_equal(groups.groups[0].member_count, 2);
  assert_int_equal(groups.group_of[1], 0);
  assert_int_equal(groups.group_of[2], 0);
  checkOrder(&graph, &groups, order);
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testRandom), cmocka_unit_test(testTwoGroups),
                                     cmocka_unit_test(testJoinedBefore)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
