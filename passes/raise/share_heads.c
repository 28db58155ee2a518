/* Grouped heads: attention whose keys and values were repeated for the heads of the query that
 * share them reads them where they lie; see raise_idioms.c.
 *
 * Exporters write keys [.., G, S, E] as [.., G, 1, S, E], expand them to [.., G, R, S, E] and make
 * heads of that, [.., G * R, S, E], which a memory would hold R times. Here the heads of the query
 * split instead: [.., G, R, L, E] attends to keys [.., G, 1, S, E]. Where the mask does not tell
 * the rows of a group apart, these are the rows of one matrix, [.., G, R * L, E]. */
#include "dialect/samba/match.h"
#include "passes/raise/idioms.h"
#include "support/base/memory.h"

#include <stdlib.h>

/* Axis `heads` of the operands, which have this rank, is groups * repeats. */
typedef struct {
  intptr_t rank, heads;
  int64_t groups, repeats;
} Grouping;

/* What was repeated for the heads of a group, [.., G, 1, .., ..]; null: nothing was. */
static MlirValue repeatedOf(MlirValue value, Grouping *out) {
  MlirOperation reshape = sambaMatchMaker(value, "reshape");
  intptr_t rank = sambaMatchRank(value);
  if (mlirOperationIsNull(reshape) || rank < 3 || rank == SAMBA_MAX_RANK)
    return (MlirValue){NULL};
  MlirValue split = mlirOperationGetOperand(reshape, 0);
  MlirOperation expand = sambaMatchMaker(split, "expand");
  if (mlirOperationIsNull(expand) || sambaMatchRank(split) != rank + 1)
    return (MlirValue){NULL};
  MlirValue repeated = mlirOperationGetOperand(expand, 0);
  if (sambaMatchRank(repeated) != rank + 1)
    return (MlirValue){NULL};

  intptr_t heads = 0;
  while (heads < rank - 2 && sambaMatchSize(value, heads) == sambaMatchSize(split, heads))
    ++heads;
  *out = (Grouping){rank, heads, sambaMatchSize(split, heads), sambaMatchSize(split, heads + 1)};
  if (heads == rank - 2 || out->repeats < 2 ||
      sambaMatchSize(value, heads) != out->groups * out->repeats)
    return (MlirValue){NULL};
  for (intptr_t axis = 0; axis <= rank; ++axis) {
    int64_t size = axis == heads + 1 ? 1 : sambaMatchSize(split, axis);
    bool moves = axis > heads + 1 && sambaMatchSize(split, axis) != sambaMatchSize(value, axis - 1);
    if (sambaMatchSize(repeated, axis) != size || moves)
      return (MlirValue){NULL};
  }
  return repeated;
}

/* The value with these dimensions instead of `count` ones from `axis` on. */
static MlirValue withDims(MlirOperation root, MlirValue value, intptr_t axis, intptr_t count,
                          intptr_t new_count, const int64_t *new_dims) {
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = 0;
  for (intptr_t i = 0; i < axis; ++i)
    dims[rank++] = sambaMatchSize(value, i);
  for (intptr_t i = 0; i < new_count; ++i)
    dims[rank++] = new_dims[i];
  for (intptr_t i = axis + count; i < sambaMatchRank(value); ++i)
    dims[rank++] = sambaMatchSize(value, i);
  return sambaRaiseReshape(root, value, rank, dims);
}

/* The heads of a value as groups and repeats; of a mask that has one for all, as 1 and 1. */
static MlirValue splitHeads(MlirOperation root, MlirValue value, const Grouping *grouping) {
  intptr_t axis = grouping->heads - (grouping->rank - sambaMatchRank(value));
  if (axis < 0) /* a mask without heads: it broadcasts to both */
    return value;
  bool one = sambaMatchSize(value, axis) == 1;
  int64_t dims[] = {one ? 1 : grouping->groups, one ? 1 : grouping->repeats};
  return withDims(root, value, axis, 1, 2, dims);
}

/* The rows of all heads of a group as those of one. Of a mask: it has one row. */
static MlirValue joinRows(MlirOperation root, MlirValue value, const Grouping *grouping) {
  intptr_t axis = grouping->heads - (grouping->rank - sambaMatchRank(value));
  if (axis < 0 || sambaMatchSize(value, axis) == 1)
    return value;
  int64_t dims[] = {grouping->groups, grouping->repeats * sambaMatchSize(value, axis + 1)};
  return withDims(root, value, axis, 2, 2, dims);
}

/* Whether nothing but the head tells the rows of a group apart. Heads that a permutation has put in
 * front of the rows are no longer next to them in memory: joined, they would be copied. */
static bool joinsRows(MlirOperation attention, const Grouping *grouping, MlirValue mask) {
  MlirAttribute causal = sambaOperationAttribute(attention, "is_causal");
  MlirValue query = mlirOperationGetOperand(attention, 0);
  int64_t rows = sambaMatchSize(query, grouping->rank - 2);
  if (rows > 1 && !mlirOperationIsNull(sambaMatchMaker(query, "permute")))
    return false;
  if ((!mlirAttributeIsNull(causal) && mlirBoolAttrGetValue(causal)) ||
      grouping->heads != grouping->rank - 3)
    return false;
  if (mlirValueIsNull(mask))
    return true;
  intptr_t rank = sambaMatchRank(mask);
  bool one_row = rank < 2 || sambaMatchSize(mask, rank - 2) == 1;
  return one_row && (rows == 1 || rank < 3 || sambaMatchSize(mask, rank - 3) == 1);
}

/* The grouping of keys and values, and what they repeat; null: that one was not repeated. False
 * when neither was, or the heads of the operands do not agree. */
static bool isGrouped(MlirOperation attention, MlirValue *repeated, Grouping *out) {
  bool any = false;
  for (int i = 1; i < 3; ++i) {
    Grouping grouping;
    repeated[i] = repeatedOf(mlirOperationGetOperand(attention, i), &grouping);
    if (mlirValueIsNull(repeated[i]))
      continue;
    if (any && (grouping.heads != out->heads || grouping.groups != out->groups))
      return false;
    *out = grouping;
    any = true;
  }

  for (int i = 0; i < 3 && any; ++i) {
    MlirValue operand = mlirOperationGetOperand(attention, i);
    any = sambaMatchRank(operand) == out->rank &&
          sambaMatchSize(operand, out->heads) == out->groups * out->repeats;
  }
  return any;
}

void sambaShareHeads(MlirOperation attention) {
  MlirValue repeated[3] = {{NULL}, {NULL}, {NULL}}, operands[4], mask = {NULL};
  Grouping grouping;
  if (!isGrouped(attention, repeated, &grouping))
    return;
  intptr_t count = mlirOperationGetNumOperands(attention);
  if (count == 4)
    mask = mlirOperationGetOperand(attention, 3);
  bool joins = !mlirValueIsNull(repeated[1]) && !mlirValueIsNull(repeated[2]) &&
               joinsRows(attention, &grouping, mask);

  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(attention, i);
    bool is_repeated = i < 3 && !mlirValueIsNull(repeated[i]);
    if (joins)
      operands[i] = is_repeated ? withDims(attention, repeated[i], grouping.heads + 1, 1, 0, NULL)
                                : joinRows(attention, operand, &grouping);
    else
      operands[i] = is_repeated ? repeated[i] : splitHeads(attention, operand, &grouping);
  }

  intptr_t attribute_count = mlirOperationGetNumAttributes(attention);
  MlirNamedAttribute *attributes =
      sambaAllocate(sambaArraySize((size_t)attribute_count + 1, sizeof *attributes));
  for (intptr_t i = 0; i < attribute_count; ++i)
    attributes[i] = mlirOperationGetAttribute(attention, i);
  MlirValue result = sambaRaiseBuild(attention, "samba.scaled_dot_product_attention", count,
                                     operands, attribute_count, attributes);
  free(attributes);
  MlirValue old = sambaMatchResult(attention);
  mlirValueReplaceAllUsesOfWith(old, sambaRaiseReshapeLike(attention, result, old));
}
