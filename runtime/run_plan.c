/* The planner of runs; see run_plan.h. */
#include "runtime/run_plan.h"

#include "support/text/text.h"

#include <stdlib.h>

typedef struct {
  const SambaPef *pef;
  uint32_t graph; /* SAMBA_PEF_NONE: all */
  SAMBA_ARRAY(uint32_t) calls;
} Plan;

const char *sambaSectionTypeName(SambaSectionType type) {
  return sambaPefSectionTypeName((SambaPefSectionType)type);
}

bool sambaSectionTypeFromName(SambaStringRef name, SambaSectionType *out_type) {
  SambaPefSectionType type;
  bool found = sambaPefSectionTypeFromName(name, &type);
  if (found)
    *out_type = (SambaSectionType)type;
  return found;
}

uint32_t sambaSectionTypesOf(const SambaPef *pef) {
  uint32_t types = 0;
  for (uint32_t s = 0; s < pef->sections_count; ++s)
    types |= sambaSectionTypeBit((SambaSectionType)pef->sections[s].type);
  return types;
}

static bool isOfGraph(const Plan *plan, uint32_t call) {
  return plan->graph == SAMBA_PEF_NONE || plan->pef->calls[call].graph == plan->graph;
}

SambaStatus sambaFindGraph(const SambaPef *pef, SambaStringRef name, uint32_t *out_graph) {
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    if (sambaStringRefEqual(pef->graphs[g].name, name)) {
      *out_graph = g;
      return NULL;
    }

  SambaStatus status =
      sambaStatusMake(SAMBA_INVALID, "there is no graph named '%.*s'", SAMBA_STRING_ARGS(name));
  for (uint32_t g = 0; g < pef->graphs_count; ++g)
    status = sambaStatusNote(status, "graph '%.*s'", SAMBA_STRING_ARGS(pef->graphs[g].name));
  return status;
}

/* Sections by id, groups one after the other. */
static SambaStatus planSections(Plan *plan, const SambaRunOrder *order) {
  const SambaPef *pef = plan->pef;
  for (uint32_t g = 0; g < order->group_count; ++g)
    for (uint32_t i = 0; i < order->groups[g].count; ++i) {
      uint32_t section = order->groups[g].sections[i];
      if (!pef->sections_count)
        return sambaStatusMake(SAMBA_INVALID, "there is no section %u; the PEF has none", section);
      if (section >= pef->sections_count)
        return sambaStatusMake(SAMBA_INVALID,
                               "there is no section %u; the PEF has sections 0 to %u", section,
                               pef->sections_count - 1);
      for (uint32_t call = 0; call < pef->calls_count; ++call)
        if (pef->calls[call].section == section && isOfGraph(plan, call))
          sambaArrayAppend(&plan->calls, call);
    }
  return NULL;
}

static SambaStatus refuseType(const SambaPef *pef, SambaSectionType type) {
  uint32_t present = sambaSectionTypesOf(pef);
  SambaText names = {0};
  for (SambaSectionType other = 0; other < SAMBA_SECTION_TYPE_COUNT; ++other)
    if (present & sambaSectionTypeBit(other))
      sambaTextFormat(&names, "%s%s", names.size ? ", " : "", sambaSectionTypeName(other));
  SambaStatus status = sambaStatusMake(
      SAMBA_INVALID, "no section of this PEF has type %s; its sections have: %s",
      sambaSectionTypeName(type), names.size ? sambaTextGet(&names) : "none, there are none");
  sambaTextFree(&names);
  return status;
}

static SambaStatus planTypes(Plan *plan, const SambaRunOrder *order) {
  const SambaPef *pef = plan->pef;
  uint32_t present = sambaSectionTypesOf(pef);
  for (uint32_t i = 0; i < order->type_count; ++i) {
    if (!(present & sambaSectionTypeBit(order->types[i])))
      return refuseType(pef, order->types[i]);
    for (uint32_t call = 0; call < pef->calls_count; ++call)
      if ((SambaSectionType)pef->sections[pef->calls[call].section].type == order->types[i] &&
          isOfGraph(plan, call))
        sambaArrayAppend(&plan->calls, call);
  }
  return NULL;
}

static SambaStatus planRange(Plan *plan, const SambaRunOrder *order) {
  uint32_t count = plan->pef->calls_count;
  uint32_t from = order->has_from ? order->from : 0;
  uint32_t until = order->has_until ? order->until : count;
  if (from > until || until > count)
    return sambaStatusMake(SAMBA_INVALID,
                           "calls [%u, %u) are not in the schedule, which has %u calls", from,
                           until, count);
  for (uint32_t call = from; call < until; ++call)
    if (isOfGraph(plan, call))
      sambaArrayAppend(&plan->calls, call);
  return NULL;
}

SambaStatus sambaRunOrderPlan(const SambaPef *pef, const SambaRunOrder *order, uint32_t **out_calls,
                              uint32_t *out_count) {
  Plan plan = {.pef = pef, .graph = SAMBA_PEF_NONE};
  if ((order->group_count != 0) + (order->type_count != 0) + (order->has_from || order->has_until) >
      1)
    return sambaStatusMake(
        SAMBA_INVALID,
        "sections, section types and a range of calls exclude each other; give one of them");
  if (order->graph.size)
    SAMBA_RETURN_IF_ERROR(sambaFindGraph(pef, order->graph, &plan.graph));
  sambaArrayReserve(&plan.calls, pef->calls_count + 1);

  SambaStatus status;
  if (order->group_count)
    status = planSections(&plan, order);
  else if (order->type_count)
    status = planTypes(&plan, order);
  else
    status = planRange(&plan, order);

  if (status) {
    sambaArrayFree(&plan.calls);
    return status;
  }
  *out_calls = plan.calls.data;
  *out_count = (uint32_t)plan.calls.size;
  return NULL;
}
