/* Printing groups; see group_print.h. */
#include "backend/group/group_print.h"

static void printGroup(const SambaStageGraph *graph, const SambaGroup *group, SambaText *text) {
  for (uint32_t i = 0; i < group->stage_count; ++i) {
    const char *name = graph->stages[group->stages[i]].name;
    sambaTextFormat(text, "%s%u %s", i ? ", " : "", group->stages[i], name ? name : "");
  }

  sambaTextAppendC(text, " [");
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    sambaTextFormat(text, "%sd%u < %lld%s", dim ? ", " : "", dim, (long long)group->extents[dim],
                    group->reduced[dim] ? " reduced" : "");
  sambaTextAppendC(text, "]: ");

  if (group->copy)
    sambaTextAppendC(text, "a copy, no PCU");
  else if (group->systolic)
    sambaTextFormat(text, "systolic, rows from operand %u, columns from operand %u", group->mac[0],
                    group->mac[1]);
  else
    sambaTextAppendC(text, "SIMD");
  sambaTextFormat(text, ", %u operands, %u operations in stages, %u in tails\n",
                  group->operand_count, group->stage_ops, group->transcendentals);
}

void sambaGroupsPrint(const SambaStageGraph *graph, const SambaGroups *groups, SambaText *text) {
  sambaTextFormat(text, "groups of section %s\n", graph->name ? graph->name : "");
  for (uint32_t g = 0; g < groups->count; ++g) {
    sambaTextFormat(text, "  group %u: stages ", g);
    printGroup(graph, groups->groups[g], text);
  }
}
