/* Rule files; see rule.h. libyaml reads the YAML, here is what it must say. */
#include "backend/rule/rule.h"

#include "support/text/nearest.h"
#include "support/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { mostRules = 1024 };

/* A file while it is read. */
typedef struct RuleFile {
  const char *name;
  yaml_document_t document;
  SambaArena *arena;
} RuleFile;

/* One rule while it is read. */
typedef struct Pattern {
  const char *rule;
  uint32_t count;
  SambaRuleDraftNode nodes[SAMBA_MOST_RULE_NODES];
  yaml_node_t *values[SAMBA_MOST_RULE_NODES];
} Pattern;

static yaml_node_t *nodeAt(RuleFile *file, int index) {
  return yaml_document_get_node(&file->document, index);
}

/* The text of a scalar; a YAML text may hold a NUL, which no name of ours does. */
static const char *textOf(const yaml_node_t *node) {
  return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* An error with the place of a node. */
static SambaStatus refuse(const RuleFile *file, const yaml_node_t *node, const char *text) {
  return sambaStatusMake(SAMBA_INVALID, "%s:%zu:%zu: %s", file->name, node->start_mark.line + 1,
                         node->start_mark.column + 1, text);
}

static SambaStatus refuseUnknown(const RuleFile *file, const yaml_node_t *node, const char *what,
                                 const char *const *known) {
  SambaText text = {0};
  SambaNearest nearest = sambaNearestStart(sambaStringRef(textOf(node)));
  sambaTextFormat(&text, "%s has no key '%s'; it may have", what, textOf(node));
  for (size_t i = 0; known[i]; ++i) {
    sambaTextFormat(&text, "%s %s", i ? "," : "", known[i]);
    sambaNearestOffer(&nearest, sambaStringRef(known[i]));
  }
  if (nearest.found.size)
    sambaTextFormat(&text, "; did you mean %.*s?", (int)nearest.found.size, nearest.found.data);
  SambaStatus status = refuse(file, node, sambaTextGet(&text));
  sambaTextFree(&text);
  return status;
}

static bool isOneOf(const char *text, const char *const *known) {
  while (*known && strcmp(text, *known) != 0)
    ++known;
  return *known;
}

/* Checks the keys of a mapping: texts, each once, and of those that are known (NULL: any). */
static SambaStatus checkKeys(RuleFile *file, const yaml_node_t *map, const char *what,
                             const char *const *known) {
  for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
       ++pair) {
    yaml_node_t *key = nodeAt(file, pair->key);
    const char *text = textOf(key);
    if (!text || !*text)
      return refuse(file, key, "a key must be a name");
    if (known && !isOneOf(text, known))
      return refuseUnknown(file, key, what, known);
    for (yaml_node_pair_t *before = map->data.mapping.pairs.start; before < pair; ++before)
      if (strcmp(textOf(nodeAt(file, before->key)), text) == 0)
        return refuse(file, key,
                      sambaArenaFormat(file->arena, "'%s' stands here for the second time", text));
  }
  return NULL;
}

static yaml_node_t *find(RuleFile *file, const yaml_node_t *map, const char *key) {
  for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
       ++pair)
    if (strcmp(textOf(nodeAt(file, pair->key)), key) == 0)
      return nodeAt(file, pair->value);
  return NULL;
}

/* A name or a list of names: copies them into the arena. */
static SambaStatus readNames(RuleFile *file, yaml_node_t *value, const char *what,
                             uint32_t *out_count, const char ***out_names) {
  const char *one = textOf(value);
  size_t count = 1;
  if (value->type == YAML_SEQUENCE_NODE)
    count = (size_t)(value->data.sequence.items.top - value->data.sequence.items.start);
  else if (!one || !*one)
    count = 0;
  if (!count)
    return refuse(file, value,
                  sambaArenaFormat(file->arena, "%s must be a name or a list of names", what));

  *out_names = SAMBA_ARENA_ARRAY(file->arena, const char *, count);
  *out_count = (uint32_t)count;
  for (size_t i = 0; i < count; ++i) {
    yaml_node_t *item = one ? value : nodeAt(file, value->data.sequence.items.start[i]);
    const char *text = textOf(item);
    if (!text || !*text)
      return refuse(file, item,
                    sambaArenaFormat(file->arena, "%s must be a name or a list of names", what));
    (*out_names)[i] = sambaArenaFormat(file->arena, "%s", text);
  }
  return NULL;
}

static SambaStatus readTruth(RuleFile *file, yaml_node_t *value, const char *what, bool *out) {
  const char *text = textOf(value);
  if (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
    *out = strcmp(text, "true") == 0;
    return NULL;
  }
  return refuse(file, value, sambaArenaFormat(file->arena, "%s must be true or false", what));
}

/* Names of nodes: their numbers. */
static SambaStatus readNodes(RuleFile *file, const Pattern *pattern, uint32_t self,
                             yaml_node_t *value, const char *what, uint32_t *out_count,
                             uint32_t **out_nodes) {
  const char **names;
  SAMBA_RETURN_IF_ERROR(readNames(file, value, what, out_count, &names));
  *out_nodes = SAMBA_ARENA_ARRAY(file->arena, uint32_t, *out_count);
  for (uint32_t i = 0; i < *out_count; ++i) {
    uint32_t n = 0;
    while (n < pattern->count && strcmp(pattern->nodes[n].node.label, names[i]) != 0)
      ++n;
    if (n == pattern->count || n == self)
      return refuse(file, value,
                    sambaArenaFormat(file->arena, "%s of '%s': '%s' is no other node of rule '%s'",
                                     what, pattern->nodes[self].node.label, names[i],
                                     pattern->rule));
    (*out_nodes)[i] = n;
  }
  return NULL;
}

static const char *const nodeKeys[] = {
    "op_type", "child", "children", "required", "included", "match_first_option", NULL};

static SambaStatus readNode(RuleFile *file, Pattern *pattern, uint32_t n) {
  yaml_node_t *map = pattern->values[n], *value;
  SambaRuleDraftNode *draft = &pattern->nodes[n];
  bool required = true, included = true;

  SAMBA_RETURN_IF_ERROR(checkKeys(file, map, "a node of a pattern", nodeKeys));
  if (!(value = find(file, map, "op_type")))
    return refuse(file, map,
                  sambaArenaFormat(file->arena, "node '%s' of rule '%s' has no op_type",
                                   draft->node.label, pattern->rule));
  SAMBA_RETURN_IF_ERROR(
      readNames(file, value, "op_type", &draft->node.type_count, &draft->node.types));

  yaml_node_t *child = find(file, map, "child"), *children = find(file, map, "children");
  if (child && children)
    return refuse(file, child, "a node has either 'child' or 'children'");
  if (child && child->type != YAML_SCALAR_NODE)
    return refuse(file, child, "child must be one name; 'children' takes a list");
  if (child || children)
    SAMBA_RETURN_IF_ERROR(readNodes(file, pattern, n, child ? child : children,
                                    child ? "child" : "children", &draft->node.child_count,
                                    &draft->node.children));
  if ((value = find(file, map, "match_first_option")))
    SAMBA_RETURN_IF_ERROR(readNodes(file, pattern, n, value, "match_first_option",
                                    &draft->option_count, &draft->options));
  if ((value = find(file, map, "required")))
    SAMBA_RETURN_IF_ERROR(readTruth(file, value, "required", &required));
  if ((value = find(file, map, "included")))
    SAMBA_RETURN_IF_ERROR(readTruth(file, value, "included", &included));
  draft->optional = !required;
  draft->node.excluded = !included;
  return NULL;
}

static SambaStatus readPattern(RuleFile *file, yaml_node_t *map, SambaRule *rule) {
  Pattern pattern = {.rule = rule->name};
  if (map->type != YAML_MAPPING_NODE ||
      map->data.mapping.pairs.start == map->data.mapping.pairs.top)
    return refuse(
        file, map,
        sambaArenaFormat(file->arena, "the pattern of rule '%s' must name its nodes", rule->name));
  SAMBA_RETURN_IF_ERROR(checkKeys(file, map, "a pattern", NULL));
  if (map->data.mapping.pairs.top - map->data.mapping.pairs.start > SAMBA_MOST_RULE_NODES)
    return refuse(file, map,
                  sambaArenaFormat(file->arena, "the pattern of rule '%s' has more than %d nodes",
                                   rule->name, SAMBA_MOST_RULE_NODES));

  bool any = false;
  for (yaml_node_pair_t *pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
       ++pair) {
    yaml_node_t *value = nodeAt(file, pair->value);
    const char *label = sambaArenaFormat(file->arena, "%s", textOf(nodeAt(file, pair->key)));
    if (value->type != YAML_MAPPING_NODE)
      return refuse(file, value,
                    sambaArenaFormat(file->arena, "node '%s' of rule '%s' has no op_type", label,
                                     rule->name));
    pattern.values[pattern.count] = value;
    pattern.nodes[pattern.count++].node.label = label;
  }
  for (uint32_t n = 0; n < pattern.count; ++n) {
    SAMBA_RETURN_IF_ERROR(readNode(file, &pattern, n));
    any |= !pattern.nodes[n].node.excluded;
  }
  if (!any)
    return refuse(file, map,
                  sambaArenaFormat(file->arena, "no node of rule '%s' is included", rule->name));
  const char *why = sambaRuleForms(pattern.nodes, pattern.count, file->arena, rule);
  return why ? refuse(
                   file, map,
                   sambaArenaFormat(file->arena, "the pattern of rule '%s': %s", rule->name, why))
             : NULL;
}

static SambaStatus readPriority(RuleFile *file, yaml_node_t *value, SambaRule *rule) {
  const char *text = textOf(value);
  char *end = NULL;
  errno = 0;
  rule->priority = text ? strtoll(text, &end, 10) : 0;
  if (!text || end == text || *end || errno)
    return refuse(file, value, "priority must be a whole number; the higher one wins");
  return NULL;
}

/* A name, or a mapping with a name; what else stands there belongs to the heuristic. */
static SambaStatus readHeuristic(RuleFile *file, yaml_node_t *value, SambaRule *rule) {
  yaml_node_t *name = value;
  if (value->type == YAML_MAPPING_NODE) {
    SAMBA_RETURN_IF_ERROR(checkKeys(file, value, "a heuristic", NULL));
    name = find(file, value, "name");
  }
  const char *text = name ? textOf(name) : NULL;
  if (!text || !*text)
    return refuse(file, value, "heuristic must be a name, or have a 'name'");
  rule->heuristic = sambaArenaFormat(file->arena, "%s", text);
  return NULL;
}

static SambaStatus readRule(RuleFile *file, yaml_node_pair_t *pair, SambaRule *rule) {
  static const char *const keys[] = {"priority", "heuristic", "pattern", NULL};
  yaml_node_t *key = nodeAt(file, pair->key), *map = nodeAt(file, pair->value), *value;
  *rule = (SambaRule){.name = sambaArenaFormat(file->arena, "%s", textOf(key)),
                      .line = (uint32_t)key->start_mark.line + 1};
  if (map->type != YAML_MAPPING_NODE)
    return refuse(file, key, sambaArenaFormat(file->arena, "rule '%s' has no pattern", rule->name));

  SAMBA_RETURN_IF_ERROR(checkKeys(file, map, "a rule", keys));
  if ((value = find(file, map, "priority")))
    SAMBA_RETURN_IF_ERROR(readPriority(file, value, rule));
  if ((value = find(file, map, "heuristic")))
    SAMBA_RETURN_IF_ERROR(readHeuristic(file, value, rule));
  if (!(value = find(file, map, "pattern")))
    return refuse(file, key, sambaArenaFormat(file->arena, "rule '%s' has no pattern", rule->name));
  return readPattern(file, value, rule);
}

static SambaStatus readDocument(RuleFile *file, SambaRules *rules) {
  yaml_node_t *root = yaml_document_get_root_node(&file->document);
  if (!root || root->type != YAML_MAPPING_NODE)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s: a rule file maps names of rules to a priority and a pattern",
                           file->name);
  yaml_node_pair_t *first = root->data.mapping.pairs.start, *end = root->data.mapping.pairs.top;
  if (end - first > mostRules)
    return sambaStatusMake(SAMBA_INVALID, "%s: it has %td rules; a rule file has at most %d",
                           file->name, end - first, mostRules);
  SAMBA_RETURN_IF_ERROR(checkKeys(file, root, "a rule file", NULL));

  rules->rules = SAMBA_ARENA_ARRAY(file->arena, SambaRule, (size_t)(end - first));
  for (yaml_node_pair_t *pair = first; pair < end; ++pair) {
    SambaRule rule;
    SAMBA_RETURN_IF_ERROR(readRule(file, pair, &rule));
    uint32_t at = rules->count++;
    for (; at && rules->rules[at - 1].priority < rule.priority; --at)
      rules->rules[at] = rules->rules[at - 1];
    rules->rules[at] = rule;
  }
  return NULL;
}

SambaStatus sambaRulesRead(const char *name, const char *data, size_t size, SambaArena *arena,
                           SambaRules *out_rules) {
  RuleFile file = {.name = name, .arena = arena};
  yaml_parser_t parser;
  *out_rules = (SambaRules){0};
  if (!yaml_parser_initialize(&parser))
    return sambaStatusMake(SAMBA_IO, "%s: no memory to read it", name);
  yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);

  SambaStatus status = NULL;
  if (yaml_parser_load(&parser, &file.document)) {
    status = readDocument(&file, out_rules);
    yaml_document_delete(&file.document);
  } else {
    status = sambaStatusMake(SAMBA_INVALID, "%s:%zu:%zu: this is not YAML: %s", name,
                             parser.problem_mark.line + 1, parser.problem_mark.column + 1,
                             parser.problem ? parser.problem : "it cannot be read");
  }
  yaml_parser_delete(&parser);
  return status;
}
