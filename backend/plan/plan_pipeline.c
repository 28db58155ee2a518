/* Finding the dimensions along which a section's groups can run as a pipeline: every group has one
 * parallel dimension that every tensor between the groups carries as one axis, read and written
 * point by point. Then a slice of all tensors needs nothing of other slices. A dimension that some
 * groups lack, or reduce, can be a loop inside of these: a slice of theirs takes all of its steps.
 * Union-find over the dimensions of groups and the axes of tensors. */
#include "backend/plan/plan_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Classes {
  uint32_t *parent;
  bool *spoiled;
  uint32_t dims; /* nodes [0, dims) are dimensions of groups, the rest axes of tensors */
} Classes;

static uint32_t find(Classes *classes, uint32_t node) {
  while (classes->parent[node] != node) {
    classes->parent[node] = classes->parent[classes->parent[node]];
    node = classes->parent[node];
  }
  return node;
}

static void tie(Classes *classes, uint32_t a, uint32_t b) {
  a = find(classes, a);
  b = find(classes, b);
  if (a == b)
    return;
  classes->parent[a > b ? a : b] = a > b ? b : a;
  classes->spoiled[a > b ? b : a] |= classes->spoiled[a > b ? a : b];
}

static uint32_t dimNode(uint32_t group, uint32_t dim) { return group * SAMBA_MAX_STAGE_DIMS + dim; }
static uint32_t axisNode(const Classes *classes, uint32_t tensor, uint32_t axis) {
  return classes->dims + tensor * SAMBA_MAX_RANK + axis;
}

/* Ties the axes of a tensor to the dimensions that walk them point by point. An axis of a tensor
 * between the groups that is walked otherwise can be no slice; an argument may be loaded anyhow. */
static void tieMap(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                   uint32_t g, const SambaStageOperand *map, bool between) {
  const SambaGroup *group = groups->groups[g];
  const SambaStageTensor *tensor = &graph->tensors[map->tensor];

  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    uint32_t found = SAMBA_NO_INDEX, used = 0;
    for (uint32_t dim = 0; dim < group->dim_count; ++dim)
      if (map->axes[axis].coefficients[dim]) {
        found = dim;
        ++used;
      }
    uint32_t node = axisNode(classes, map->tensor, axis);
    if (used == 1 && map->axes[axis].coefficients[found] == 1 && map->axes[axis].constant == 0 &&
        group->extents[found] == tensor->dims[axis])
      tie(classes, node, dimNode(g, found));
    else if (between)
      classes->spoiled[find(classes, node)] = true;
  }
}

/* The dimension of a group in the class with this root, SAMBA_NO_INDEX where it has none or reduces
 * it. False where it has more, or one of a single point. */
static bool dimOf(Classes *classes, const SambaGroups *groups, uint32_t g, uint32_t root,
                  uint32_t *out_dim) {
  const SambaGroup *group = groups->groups[g];
  uint32_t count = 0;
  *out_dim = SAMBA_NO_INDEX;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    if (find(classes, dimNode(g, dim)) != root)
      continue;
    ++count;
    if (!group->reduced[dim])
      *out_dim = dim;
  }
  return count < 2 && (*out_dim == SAMBA_NO_INDEX || group->extents[*out_dim] > 1);
}

/* Axes of a tensor in the class. */
static uint32_t axesIn(Classes *classes, const SambaStageGraph *graph, uint32_t tensor,
                       uint32_t root) {
  uint32_t count = 0;
  for (uint32_t axis = 0; axis < graph->tensors[tensor].rank; ++axis)
    count += find(classes, axisNode(classes, tensor, axis)) == root;
  return count;
}

/* The dims of the class with this root, one per group; false when the class is not a pipeline. */
static bool isPipeline(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                       const bool *between, uint32_t root, uint32_t *out_dims) {
  if (classes->spoiled[root])
    return false;
  for (uint32_t g = 0; g < groups->count; ++g)
    if (!dimOf(classes, groups, g, root, &out_dims[g]) || out_dims[g] == SAMBA_NO_INDEX)
      return false;
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    if (between[t] && axesIn(classes, graph, t, root) != 1)
      return false;
  return true;
}

/* The same of a class that some groups are without and that is the batch of a contraction: what
 * they read and make has no slices along it. */
static bool isInnerLoop(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                        const bool *between, uint32_t root, uint32_t *out_dims) {
  bool batch = false, without = false;
  if (classes->spoiled[root])
    return false;
  for (uint32_t g = 0; g < groups->count; ++g) {
    if (!dimOf(classes, groups, g, root, &out_dims[g]))
      return false;
    without |= out_dims[g] == SAMBA_NO_INDEX;
    batch |= out_dims[g] != SAMBA_NO_INDEX && sambaGroupIsBatch(groups->groups[g], out_dims[g]);
  }
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    if (between[t] && axesIn(classes, graph, t, root) > 1)
      return false;
  return batch && without;
}

/* Ties what the groups do to the tensors between them, and, where `arguments` says so, to the
 * arguments. */
static void tieGroups(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                      const bool *between, bool arguments) {
  for (uint32_t node = 0; node < classes->dims + graph->tensor_count * SAMBA_MAX_RANK; ++node) {
    classes->parent[node] = node;
    classes->spoiled[node] = false;
  }

  for (uint32_t g = 0; g < groups->count; ++g) {
    const SambaGroup *group = groups->groups[g];
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      const SambaStageOperand *map = &group->operands[i].map;
      if (between[map->tensor] || (arguments && !group->operands[i].indexes))
        tieMap(classes, graph, groups, g, map, between[map->tensor]);
    }
    if (between[group->output.tensor])
      tieMap(classes, graph, groups, g, &group->output, true);
  }
}

/* Class `index` of those that the ties make; false past the last one. */
static bool findClass(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                      const bool *between, uint32_t index, uint32_t *out_dims) {
  bool found = false;
  for (uint32_t dim = 0; groups->count && dim < groups->groups[0]->dim_count && !found; ++dim) {
    uint32_t root = find(classes, dimNode(0, dim));
    found = isPipeline(classes, graph, groups, between, root, out_dims) && index-- == 0;
  }
  return found;
}

/* Class `index` of those that only a part of the groups has. */
static bool findInnerLoop(Classes *classes, const SambaStageGraph *graph, const SambaGroups *groups,
                          const bool *between, uint32_t index, uint32_t *out_dims) {
  bool *seen = sambaAllocateZeroed(classes->dims, sizeof *seen);
  bool found = false;
  for (uint32_t g = 0; g < groups->count && !found; ++g)
    for (uint32_t dim = 0; dim < groups->groups[g]->dim_count && !found; ++dim) {
      uint32_t root = find(classes, dimNode(g, dim));
      if (root >= classes->dims || seen[root])
        continue;
      seen[root] = true;
      found = isInnerLoop(classes, graph, groups, between, root, out_dims) && index-- == 0;
    }
  free(seen);
  return found;
}

static bool findAny(const SambaStageGraph *graph, const SambaGroups *groups, bool inner,
                    uint32_t index, uint32_t *out_dims) {
  uint32_t dims = groups->count * SAMBA_MAX_STAGE_DIMS;
  uint32_t nodes = dims + graph->tensor_count * SAMBA_MAX_RANK;

  Classes classes = {sambaAllocateZeroed(nodes, sizeof(uint32_t)),
                     sambaAllocateZeroed(nodes, sizeof(bool)), dims};
  bool *between = sambaAllocateZeroed(graph->tensor_count, sizeof *between);
  for (uint32_t g = 0; g < groups->count; ++g)
    for (uint32_t i = 0; i < groups->groups[g]->operand_count; ++i)
      if (graph->tensors[groups->groups[g]->operands[i].map.tensor].role != SAMBA_TENSOR_ARGUMENT)
        between[groups->groups[g]->operands[i].map.tensor] = true;

  /* Groups that no tensor connects, such as the projections of queries, keys and values, run side
   * by side along what they read together. */
  tieGroups(&classes, graph, groups, between, false);
  bool any = findClass(&classes, graph, groups, between, 0, out_dims);
  if (!any && !inner)
    tieGroups(&classes, graph, groups, between, true);
  bool found = inner ? any && findInnerLoop(&classes, graph, groups, between, index, out_dims)
                     : findClass(&classes, graph, groups, between, index, out_dims);

  free(classes.parent);
  free(classes.spoiled);
  free(between);
  return found;
}

bool sambaPlanPipelineClass(const SambaStageGraph *graph, const SambaGroups *groups, uint32_t index,
                            uint32_t *out_dims) {
  return findAny(graph, groups, false, index, out_dims);
}

bool sambaPlanInnerLoop(const SambaStageGraph *graph, const SambaGroups *groups, uint32_t index,
                        uint32_t *out_dims) {
  return findAny(graph, groups, true, index, out_dims);
}
