/* Which sections run, how often and with which hyperparameters; see run.h. */
#include "tools/samba-run/run.h"

#include "support/text/command_line.h"

#include <stdlib.h>

static SambaStatus refuseIds(const char *text) {
  return sambaStatusMake(SAMBA_INVALID,
                         "--sections wants section ids like 0,3 or 0,[1,2],3, not '%s'", text);
}

/* "3,5" and "0,[1,2],3": a bracket makes a group, an id alone is one. */
static SambaStatus parseSections(const char *text, SambaArena *arena, SambaRunOrder *order) {
  size_t most = strlen(text) + 1;
  uint32_t *ids = SAMBA_ARENA_ARRAY(arena, uint32_t, most);
  SambaSectionGroup *groups = SAMBA_ARENA_ARRAY(arena, SambaSectionGroup, most);
  uint32_t count = 0;
  bool inside = false;

  for (const char *at = text;;) {
    if (*at == '[' && !inside) {
      inside = true;
      groups[order->group_count++] = (SambaSectionGroup){0, ids + count};
      ++at;
    } else if (!inside) {
      groups[order->group_count++] = (SambaSectionGroup){0, ids + count};
    }

    char *end;
    unsigned long id = strtoul(at, &end, 10);
    if (end == at || *at == '-' || *at == '+' || *at == ' ' || id > UINT32_MAX)
      return refuseIds(text);
    ids[count++] = (uint32_t)id;
    ++groups[order->group_count - 1].count;
    if (*end == ']' && inside) {
      inside = false;
      ++end;
    }
    if (!*end && !inside)
      break;
    if (*end != ',')
      return refuseIds(text);
    at = end + 1;
  }

  order->groups = groups;
  return NULL;
}

/* "FWD,BCKWD". */
static SambaStatus parseTypes(const char *text, SambaArena *arena, SambaRunOrder *order) {
  SambaSectionType *types = SAMBA_ARENA_ARRAY(arena, SambaSectionType, strlen(text) + 1);
  for (const char *at = text;;) {
    size_t length = strcspn(at, ",");
    if (!sambaSectionTypeFromName((SambaStringRef){at, length}, &types[order->type_count++]))
      return sambaStatusMake(
          SAMBA_INVALID,
          "there is no section type '%.*s'; types are ZEROGRAD, FWD, BCKWD, OPT, REDUCE, GRADNORM",
          (int)length, at);
    if (!at[length])
      break;
    at += length + 1;
  }

  order->types = types;
  return NULL;
}

static SambaStatus parseHyperparameters(const SambaStrings *pairs, SambaArena *arena,
                                        SambaRunOptions *run) {
  SambaHyperparameter *values = SAMBA_ARENA_ARRAY(arena, SambaHyperparameter, pairs->size + 1);
  for (size_t i = 0; i < pairs->size; ++i) {
    const char *name, *text;
    char *end;
    SAMBA_RETURN_IF_ERROR(sambaSplitPair(arena, "--set", pairs->data[i], &name, &text));
    values[i] = (SambaHyperparameter){sambaStringRef(name), strtod(text, &end)};
    if (end == text || *end)
      return sambaStatusMake(SAMBA_INVALID, "--set wants NAME=NUMBER, not '%s'", pairs->data[i]);
  }

  run->hyperparameter_count = (uint32_t)pairs->size;
  run->hyperparameters = values;
  return NULL;
}

SambaStatus sambaParseSteps(const SambaRunArguments *arguments, SambaArena *arena,
                            SambaSteps *out_steps) {
  bool has_batches = arguments->micro_batches >= 0;
  int64_t count = arguments->steps >= 0 ? arguments->steps : 1;
  *out_steps = (SambaSteps){.count = (uint64_t)count,
                            .micro_batches = has_batches ? (uint32_t)arguments->micro_batches : 0};
  SambaRunOrder *order = &out_steps->run.order;
  order->graph = sambaStringRef(arguments->graph);

  if (arguments->sections && arguments->section_types)
    return sambaStatusMake(SAMBA_INVALID, "--sections and --section-types exclude each other");
  if (has_batches && (arguments->sections || arguments->section_types))
    return sambaStatusMake(SAMBA_INVALID,
                           "--micro-batches runs whole steps; leave out --sections and "
                           "--section-types");
  if (count < 1 || count > 1000000000)
    return sambaStatusMake(SAMBA_INVALID, "--steps wants a number from 1 to 1000000000");
  if (has_batches && (arguments->micro_batches < 1 || arguments->micro_batches > 1000000))
    return sambaStatusMake(SAMBA_INVALID, "--micro-batches wants a number from 1 to 1000000");

  out_steps->run.evaluate = arguments->evaluate;
  SAMBA_RETURN_IF_ERROR(parseHyperparameters(&arguments->set, arena, &out_steps->run));
  if (arguments->sections)
    return parseSections(arguments->sections, arena, order);
  return arguments->section_types ? parseTypes(arguments->section_types, arena, order) : NULL;
}
