/* Stages: what an operator computes, as loop nests over tensors - the planner's only input.
 *
 * A stage iterates over a box of dimensions; each operand is a tensor read through an affine map
 * from dimensions to the tensor's axes; a lane program (the hardware's own operations) makes one
 * value per point; the output map writes it. The operator table (dialect/samba/table) fills stages,
 * the linalg reader makes them again from IR; no operator name occurs. Views cost nothing: slice,
 * transpose, expand and pad are composed into the operand maps (stage_compose.h), a reshape is an
 * alias of the tensor. */
#ifndef SAMBA_BACKEND_STAGE_STAGE_H
#define SAMBA_BACKEND_STAGE_STAGE_H

#include "backend/section/section.h"
#include "samba/attribute.h"
#include "support/base/index.h"

enum { SAMBA_MAX_STAGE_DIMS = 12, SAMBA_MAX_STAGE_OPERANDS = 8, SAMBA_MAX_PIPELINE_DIMS = 4 };

/* axis index = constant + sum over dimensions d of coefficients[d] * d */
typedef struct SambaAxisMap {
  int64_t constant;
  int64_t coefficients[SAMBA_MAX_STAGE_DIMS];
} SambaAxisMap;

typedef struct SambaStageOperand {
  uint32_t tensor;
  SambaAxisMap axes[SAMBA_MAX_RANK]; /* one per axis of the tensor */
  bool guarded;                      /* the map may leave the tensor: such points read `fill` */
  uint64_t fill;                     /* bits in the tensor's dtype */
  /* The value of this (integer) operand is added to axis index_axis (a gather); SAMBA_NO_INDEX:
   * none. */
  uint32_t index_operand;
  uint32_t index_axis;
} SambaStageOperand;

typedef struct SambaStage {
  const char *name;  /* of the operation it came from, for units and reports */
  const char *layer; /* the user's layer name, "" when none */
  uint32_t dim_count;
  int64_t extents[SAMBA_MAX_STAGE_DIMS];
  bool reduced[SAMBA_MAX_STAGE_DIMS]; /* reduced dimensions come last; flattened in this order */
  uint32_t operand_count;
  SambaStageOperand operands[SAMBA_MAX_STAGE_OPERANDS];
  /* Maps only parallel dimensions; never guarded unless a partial write (insert). With an
   * index_operand: a copy of operand 0 whose places along index_axis that operand gives, stored in
   * the order of the dimensions (a scatter). */
  SambaStageOperand output;
  bool
      lane_reduce; /* numerics: see docs/numerics.md; a property of the stage, not of its mapping */
  /* Values [0, operand_count) are the operands. At most one reduction or MAC, and if there is one
   * it is the last op whose value is the result. COUNTER's immediate is a dimension. */
  uint32_t op_count;
  SambaLaneOp *ops;
  uint32_t result; /* the program value written to the output */
} SambaStage;

typedef enum {
  SAMBA_TENSOR_ARGUMENT,    /* lives in DRAM, read */
  SAMBA_TENSOR_RESULT,      /* lives in DRAM, written */
  SAMBA_TENSOR_INTERMEDIATE /* made and used inside the section */
} SambaTensorRole;

static inline bool sambaStageScatters(const SambaStage *stage) {
  return stage->output.index_operand != SAMBA_NO_INDEX;
}

typedef struct SambaStageTensor {
  const char *name;
  SambaTensorRole role;
  SambaDType dtype;
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  /* A reshape of another tensor: same bytes, row-major, another shape. SAMBA_NO_INDEX: it
   * has memory of its own. */
  uint32_t alias_of;
} SambaStageTensor;

/* How one stage is mapped; the IR form is #rdu.mapping. All zero = let the planner decide. */
typedef struct SambaMapping {
  uint32_t dim_count;
  int64_t tile[SAMBA_MAX_STAGE_DIMS]; /* points of one tile along each dimension (1..extent) */
  uint32_t
      unroll[SAMBA_MAX_STAGE_DIMS]; /* copies side by side along each parallel dimension (>= 1) */
  uint32_t order[SAMBA_MAX_STAGE_DIMS]; /* tile loops, outermost first: a permutation of the
                                           dimensions */
  uint32_t operand_level[SAMBA_MAX_STAGE_OPERANDS]; /* a slot of the operand's buffer covers the
                                                       tile loops from this position inwards */
  /* slots, 2 = double buffer; of an operand whose slot is loaded only once: PMUs over which the
   * iterations of its outermost loop are spread, so that the first ones are used while the others
   * load (all of them or, 0 and 1, none) */
  uint32_t operand_depth[SAMBA_MAX_STAGE_OPERANDS];
  /* 1: copies whose slots overlap are loaded together, where a PMU holds what all of them read;
   * 2: two neighbouring copies share a buffer, where it holds what both read */
  uint32_t operand_joined[SAMBA_MAX_STAGE_OPERANDS];
  uint32_t group; /* stages of one section with equal group run as one pipeline of PCUs without
                     buffers between */
  /* The dimensions along which the section's stages are pipelined, outermost first; none: the
   * stages run one after the other. */
  uint32_t pipeline_count;
  uint32_t pipeline_dims[SAMBA_MAX_PIPELINE_DIMS];
  /* The section loads while PMUs gather its results, then it stores them: in so many rounds, the
   * same for all of its stages; 0: it loads and stores all the time. */
  uint32_t phases;
} SambaMapping;

typedef struct SambaStageGraph {
  SambaArena *arena;
  SambaArena *tables; /* of stages and mappings, which are large; NULL: arena */
  const char *name;
  uint32_t tensor_count, tensor_capacity;
  SambaStageTensor *tensors;
  uint32_t stage_count, stage_capacity;
  SambaStage *stages;     /* in topological order */
  SambaMapping *mappings; /* one per stage (same capacity), zero where not decided */
} SambaStageGraph;

/* Append; both return the new index and never fail. The struct is copied, arrays it points to are
 * borrowed from the arena. A tensor begins with memory of its own: alias_of is set afterwards. */
uint32_t sambaStageGraphAddTensor(SambaStageGraph *graph, const SambaStageTensor *tensor);
uint32_t sambaStageGraphAddStage(SambaStageGraph *graph, const SambaStage *stage);
/* Where the axes of one shape are in another that differs from it in axes of one point only, in
 * order; SAMBA_NO_INDEX of axes of one point. False: they differ in more. */
bool sambaAxesMatch(const int64_t *dims, uint32_t rank, const int64_t *other, uint32_t other_rank,
                    uint32_t *out_axis_of);
/* Marks the stages on which the marked tensors depend, and the tensors that these stages touch. */
void sambaStageGraphMarkUsed(const SambaStageGraph *graph, bool *tensors, bool *out_stages);
/* Everything the comments above promise; names stage, operand and axis that break it. */
SambaStatus sambaStageGraphCheck(const SambaStageGraph *graph);

#endif
