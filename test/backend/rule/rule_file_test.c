/* Rule files: what is read, the forms that a pattern stands for, and every refusal. */
#include "backend/rule/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static SambaRules readFine(const char *text, SambaArena *arena) {
  SambaRules rules;
  SambaStatus status = sambaRulesRead("f.yaml", text, strlen(text), arena, &rules);
  if (status)
    fail_msg("%s", sambaStatusGetMessage(status));
  return rules;
}

static void expectRefused(const char *text, const char *message) {
  SambaArena arena = {0};
  SambaRules rules;
  SambaStatus status = sambaRulesRead("f.yaml", text, strlen(text), &arena, &rules);
  assert_non_null(status);
  if (!strstr(sambaStatusGetMessage(status), message))
    fail_msg("'%s' does not contain '%s'", sambaStatusGetMessage(status), message);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
}

/* The labels of a form with their children, as text. */
static const char *formText(const SambaRuleForm *form, SambaArena *arena) {
  const char *text = "";
  for (uint32_t n = 0; n < form->node_count; ++n) {
    const SambaRuleNode *node = &form->nodes[n];
    text = sambaArenaFormat(arena, "%s%s%s", text, n ? " " : "", node->label);
    for (uint32_t c = 0; c < node->child_count; ++c)
      text = sambaArenaFormat(arena, "%s>%s", text, form->nodes[node->children[c]].label);
  }
  return text;
}

static void testKeys(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaRules rules = readFine("qkv:\n"
                              "  priority: 2\n"
                              "  heuristic: {name: alone, tiles: 4}\n"
                              "  pattern:\n"
                              "    norm: {op_type: layer_norm, child: lin, included: false}\n"
                              "    lin: {op_type: linear, children: [a, b]}\n"
                              "    a: {op_type: [relu, gelu]}\n"
                              "    b: {op_type: add}\n"
                              "first:\n"
                              "  priority: 7\n"
                              "  heuristic: fuse\n"
                              "  pattern: {x: {op_type: add}}\n",
                              &arena);
  assert_int_equal(rules.count, 2);
  assert_string_equal(rules.rules[0].name, "first");
  assert_string_equal(rules.rules[0].heuristic, "fuse");
  assert_int_equal(rules.rules[0].line, 9);
  const SambaRule *rule = &rules.rules[1];
  assert_int_equal(rule->priority, 2);
  assert_string_equal(rule->heuristic, "alone");
  assert_int_equal(rule->form_count, 1);
  assert_string_equal(formText(rule->forms, &arena), "norm>lin lin>a>b a b");
  assert_true(rule->forms->nodes[0].excluded);
  assert_false(rule->forms->nodes[1].excluded);
  assert_int_equal(rule->forms->nodes[2].type_count, 2);
  assert_string_equal(rule->forms->nodes[2].types[1], "gelu");
  sambaArenaDestroy(&arena);
}

static void testForms(void **state) {
  (void)state;
  SambaArena arena = {0};
  SambaRules rules = readFine("optional:\n"
                              "  pattern:\n"
                              "    a: {op_type: linear, child: b}\n"
                              "    b: {op_type: relu, child: c, required: false}\n"
                              "    c: {op_type: linear, child: d}\n"
                              "    d: {op_type: add, required: false}\n"
                              "options:\n"
                              "  pattern:\n"
                              "    a: {op_type: linear, match_first_option: [s, g]}\n"
                              "    s: {op_type: silu, child: m}\n"
                              "    m: {op_type: mul}\n"
                              "    g: {op_type: gelu}\n",
                              &arena);
  const SambaRule *optional = &rules.rules[0], *options = &rules.rules[1];
  assert_int_equal(optional->form_count, 4);
  assert_string_equal(formText(&optional->forms[0], &arena), "a>b b>c c>d d");
  assert_string_equal(formText(&optional->forms[1], &arena), "a>b b>c c");
  assert_string_equal(formText(&optional->forms[2], &arena), "a>c c>d d");
  assert_string_equal(formText(&optional->forms[3], &arena), "a>c c");
  assert_int_equal(options->form_count, 2);
  assert_string_equal(formText(&options->forms[0], &arena), "a>s s>m m");
  assert_string_equal(formText(&options->forms[1], &arena), "a>g g");
  sambaArenaDestroy(&arena);
}

static void testRefusals(void **state) {
  (void)state;
  expectRefused("a: [1, 2", "f.yaml:2:1: this is not YAML: did not find expected");
  expectRefused("- a\n", "a rule file maps names of rules to a priority and a pattern");
  expectRefused("", "a rule file maps names of rules to a priority and a pattern");
  expectRefused("a: 3\n", "f.yaml:1:1: rule 'a' has no pattern");
  expectRefused("a: {priority: 3}\n", "rule 'a' has no pattern");
  expectRefused("[x]: {priority: 3}\n", "f.yaml:1:1: a key must be a name");
  expectRefused("a: {pattern: {x: {op_type: add}}}\na: {pattern: {x: {op_type: add}}}\n",
                "f.yaml:2:1: 'a' stands here for the second time");
  expectRefused("a: {prioriti: 3, pattern: {x: {op_type: add}}}\n",
                "f.yaml:1:5: a rule has no key 'prioriti'; it may have priority, heuristic, "
                "pattern; did you mean priority?");
  expectRefused("a: {priority: high, pattern: {x: {op_type: add}}}\n",
                "priority must be a whole number; the higher one wins");
  expectRefused("a: {heuristic: {tiles: 3}, pattern: {x: {op_type: add}}}\n",
                "heuristic must be a name, or have a 'name'");
  expectRefused("a: {pattern: {}}\n", "the pattern of rule 'a' must name its nodes");
  expectRefused("a: {pattern: {x: add}}\n", "node 'x' of rule 'a' has no op_type");
  expectRefused("a: {pattern: {x: {required: true}}}\n", "node 'x' of rule 'a' has no op_type");
  expectRefused("a: {pattern: {x: {op_type: []}}}\n", "op_type must be a name or a list of names");
  expectRefused("a: {pattern: {x: {op_type: [[y]]}}}\n",
                "op_type must be a name or a list of names");
  expectRefused("a: {pattern: {x: {op_type: add, child: y, children: [y]}, y: {op_type: add}}}\n",
                "a node has either 'child' or 'children'");
  expectRefused("a: {pattern: {x: {op_type: add, child: [y]}, y: {op_type: add}}}\n",
                "child must be one name; 'children' takes a list");
  expectRefused("a: {pattern: {x: {op_type: add, child: z}, y: {op_type: add}}}\n",
                "child of 'x': 'z' is no other node of rule 'a'");
  expectRefused("a: {pattern: {x: {op_type: add, child: x}}}\n",
                "child of 'x': 'x' is no other node of rule 'a'");
  expectRefused("a: {pattern: {x: {op_type: add, required: maybe}}}\n",
                "required must be true or false");
  expectRefused("a: {pattern: {x: {op_type: add, included: false}}}\n",
                "no node of rule 'a' is included");
  expectRefused("a: {pattern: {x: {op_type: add, required: false}}}\n",
                "every node of it is optional; one must be required");
  expectRefused("a: {pattern: {x: {op_type: add, child: y}, y: {op_type: add, child: x}}}\n",
                "its children form a cycle; an operator cannot read what comes of its own result");
  expectRefused("a: {pattern: {x: {op_type: add}, y: {op_type: add}}}\n",
                "its nodes are not connected; name each as a child of another, or write two rules");
  expectRefused("a: {pattern: {x: {op_type: add}, y: {op_type: add, match_first_option: [x]}}}\n",
                "its first node is an option of another; a match begins with the first node");
}

static void testLimits(void **state) {
  (void)state;
  SambaArena arena = {0};
  const char *nodes = "n0: {op_type: add, required: false}", *optional = nodes, *rules = "";
  for (int i = 1; i < 33; ++i)
    nodes = sambaArenaFormat(&arena, "n%d: {op_type: add, child: n%d}, %s", i, i - 1, nodes);
  expectRefused(sambaArenaFormat(&arena, "a: {pattern: {%s}}", nodes),
                "the pattern of rule 'a' has more than 32 nodes");
  for (int i = 1; i < 8; ++i)
    optional = sambaArenaFormat(&arena, "n%d: {op_type: add, child: n%d, required: false}, %s", i,
                                i - 1, optional);
  expectRefused(
      sambaArenaFormat(&arena, "a: {pattern: {x: {op_type: add, child: n7}, %s}}", optional),
      "its options and optional nodes make more than 64 patterns; write several rules");
  for (int i = 0; i < 1025; ++i)
    rules = sambaArenaFormat(&arena, "%sr%d: {pattern: {x: {op_type: add}}}\n", rules, i);
  expectRefused(rules, "f.yaml: it has 1025 rules; a rule file has at most 1024");
  sambaArenaDestroy(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(testKeys), cmocka_unit_test(testForms),
                                     cmocka_unit_test(testRefusals), cmocka_unit_test(testLimits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
