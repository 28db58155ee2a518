/* Groups: the stages of a section that run as one pipeline of PCUs without buffers between, seen as
 * one stage.
 *
 * A group is an anchor stage and a chain of elementwise stages after it, each reading its
 * predecessor's output point by point as that tensor's only reader. Behind an elementwise anchor a
 * result may have several readers, all of them in the chain, and elementwise stages beside the
 * chain that only it reads come in too: only the last result leaves it. Here
 * the chain is one loop nest over the anchor's dimensions with one lane program (the programs
 * concatenated; a later step cuts it to what a PCU holds). Planner, codegen and cost model work on
 * groups. */
#ifndef SAMBA_BACKEND_GROUP_GROUP_H
#define SAMBA_BACKEND_GROUP_GROUP_H

#include "backend/estimate/unit_cycles.h"
#include "backend/group/chain.h"
#include "backend/machine/machine.h"
#include "backend/stage/stage.h"

typedef struct SambaGroupOperand {
  SambaStageOperand map;   /* over the group's dimensions; index_operand is a group operand */
  uint32_t stage, operand; /* whose mapping entry (operand_level, operand_depth) this is */
  uint32_t depends;        /* bit d: an axis of it, or of what indexes it, depends on dimension d */
  /* Of each dimension: the axes of the map along which it steps, as bits. */
  uint32_t axes[SAMBA_MAX_STAGE_DIMS];
  bool value;   /* the program reads it */
  bool late;    /* only what works on the sums of the anchor reads it */
  bool indexes; /* another operand takes its index from it */
} SambaGroupOperand;

typedef struct SambaGroup {
  uint32_t anchor; /* stage indices: first and last of the chain */
  uint32_t last;
  uint32_t stage_count;
  const uint32_t *stages;        /* all of them, in order */
  const SambaDimMap *stage_dims; /* of each */
  uint32_t dim_count, parallel_count;
  int64_t extents[SAMBA_MAX_STAGE_DIMS];
  bool reduced[SAMBA_MAX_STAGE_DIMS];
  uint32_t operand_count;
  SambaGroupOperand operands[SAMBA_MAX_GROUP_OPERANDS];
  SambaStageOperand
      output; /* over the group's dimensions; index_operand (of a scatter): a group operand */
  uint32_t op_count;
  SambaLaneOp *ops; /* values [0, operand_count) are the operands */
  uint32_t result;
  bool lane_reduce;
  bool copy;     /* moves elements only: no PCU */
  bool systolic; /* the anchor is a MAC that runs on the array: operands mac[0] (rows) and mac[1]
                    (columns) */
  uint32_t mac[2];
  /* The parallel dimensions, slowest in the result's memory first; those of the places of an
   * indexed store or a copied gather before all others. */
  uint32_t output_order[SAMBA_MAX_STAGE_DIMS];
  int64_t output_stride[SAMBA_MAX_STAGE_DIMS]; /* elements of the result that a step passes */
  uint32_t counted;         /* dimensions whose index the program reads, as bits */
  uint32_t sum_width;       /* 4-byte values that a running sum of each reduction takes together */
  uint32_t transcendentals; /* operations of the program's tails */
  uint32_t stage_ops;       /* operations that take a pipeline stage */
  SambaSimdFiring simd;     /* of one SIMD PCU for one point, once the program is split */
  /* Of each operation of a program that the array's PCU does not do alone: whether that one does
   * it. And the value that it hands to those behind it; SAMBA_NO_INDEX: there are none. */
  const bool *on_array;
  uint32_t handed;
  uint32_t pcus; /* that one copy takes once its program is split; a copy group: none */
} SambaGroup;

typedef struct SambaGroups {
  uint32_t count;
  SambaGroup **groups; /* producers first */
  uint32_t *group_of_stage;
} SambaGroups;

/* Builds the groups of a checked graph. Stages with a mapping (dim_count != 0) are grouped by
 * mapping.group, the others by the rule above. Fails when a hand-written group is not such a
 * chain. */
SambaStatus sambaGroupsBuild(const SambaStageGraph *graph, const SambaMachine *machine,
                             SambaArena *arena, SambaGroups *out_groups);

/* Whether the group's sums may go through a PMU between the parts of a reduction: a contraction on
 * the array, nothing joined to it, whose result is stored and not read in the same section. */
bool sambaGroupMayCarrySums(const SambaStageGraph *graph, const SambaGroup *group);

/* Whether an axis of the operand, or of the operand that indexes it, depends on dimension `dim`. */
static inline bool sambaGroupDepends(const SambaGroup *group, uint32_t operand, uint32_t dim) {
  return group->operands[operand].depends >> dim & 1;
}

#endif
