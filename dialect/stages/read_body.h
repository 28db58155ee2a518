/* The body of a structured operation as a lane program: what one result needs of it. */
#ifndef SAMBA_DIALECT_STAGES_READ_BODY_H
#define SAMBA_DIALECT_STAGES_READ_BODY_H

#include "dialect/samba/table/core/stage_builder.h"
#include "dialect/stages/section_reader.h"

/* A structured operation on its way to stages. */
typedef struct SambaStructured {
  SambaSectionReader *reader;
  MlirOperation operation;
  MlirBlock body;
  MlirAttribute maps; /* of affine maps, one per operand */
  uint32_t input_count, loop_count;
  int64_t extents[SAMBA_MAX_STAGE_DIMS]; /* of the loops */
  bool reduced[SAMBA_MAX_STAGE_DIMS];
  bool is_ours;             /* a stage that was written as linalg: it is read as it was */
  SambaPointerMap computed; /* what a stage in front has left: SSA value -> its number in `whole` */
  SAMBA_ARRAY(SambaStageOperand) whole;
} SambaStructured;

/* One stage of it. */
typedef struct SambaBodyStage {
  SambaStructured *structured;
  uint32_t dim_of[SAMBA_MAX_STAGE_DIMS]; /* stage dimension of each loop */
  MlirValue accumulator;                 /* null: nothing is reduced */
  SambaStageBuilder builder;
  SambaPointerMap values;    /* SSA value -> program value */
  SambaPointerMap zeros;     /* narrow integers that came extended by zeros */
  SambaPointerMap depends;   /* SSA values that are made of the accumulator */
  SambaPointerMap needed;    /* operations of the body that the result needs */
  SambaPointerMap extracted; /* elements read at places of their own -> program value */
} SambaBodyStage;

/* Operands and program of what the body yields, but for what is made of the accumulator. The
 * builder has dimensions and output map; operands' tensors are numbers of the reader's values until
 * they are composed. */
SambaStatus sambaBodyRead(SambaBodyStage *stage, MlirValue yielded);
/* The program value of an SSA value of the body that has been read, or of a constant. */
SambaStatus sambaBodyValue(SambaBodyStage *stage, MlirValue value, uint16_t *out_value);
bool sambaBodyDependsOnAccumulator(const SambaBodyStage *stage, MlirValue value);
void sambaBodyStageFree(SambaBodyStage *stage);

/* An expression over loops as a sum over the stage's dimensions; false: it is none. */
bool sambaReadAxis(const SambaBodyStage *stage, MlirAffineExpr expression, SambaAxisMap *out_axis);
/* The map of operand `position`. */
SambaStatus sambaReadMap(const SambaBodyStage *stage, uint32_t position,
                         SambaStageOperand *out_operand);

#endif
