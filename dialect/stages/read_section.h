/* A section's body as a stage graph: linalg.generic becomes a stage again, views are composed into
 * operand maps, samba operations that have no structured form give the stages of the operator
 * table. */
#ifndef SAMBA_DIALECT_STAGES_READ_SECTION_H
#define SAMBA_DIALECT_STAGES_READ_SECTION_H

#include "backend/stage/stage.h"

#include "mlir-c/IR.h"

typedef struct SambaSectionStages {
  SambaStageGraph *graph; /* in the arena given to sambaSectionRead; mappings read from #rdu.mapping
                             attributes */
  uint32_t *stage_operation; /* per stage: the number of the operation it came from, in the body or
                                among those that were read */
  uint32_t *stage_ordinal;   /* per stage: its number among the stages of that operation */
  /* Per tensor: which formal of the section it is - arguments first, then results - or
   * SAMBA_NO_INDEX (intermediate). */
  uint32_t *tensor_formal;
  uint32_t argument_count,
      result_count; /* argins are no formals, but slots of the argument block */
} SambaSectionStages;

/* Reads the body of a samba.section; stages and mappings go to the arena `tables`, which may be the
 * same. Errors name the operation that has no hardware form. */
SambaStatus sambaSectionRead(MlirOperation section, SambaArena *arena, SambaArena *tables,
                             SambaSectionStages *out_stages);

/* Reads operations of a block as one graph (the partitioner's trial): values that are not made by
 * them are arguments, and results are what anybody else uses. There are no formals. */
SambaStatus sambaOperationsRead(const MlirOperation *operations, uint32_t count, SambaArena *arena,
                                SambaSectionStages *out_stages);

#endif
