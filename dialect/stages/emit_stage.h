/* Stages as linalg: one linalg.generic per stage, with tensor.pad for guards and
 * tensor.insert_slice for partial writes. */
#ifndef SAMBA_DIALECT_STAGES_EMIT_STAGE_H
#define SAMBA_DIALECT_STAGES_EMIT_STAGE_H

#include "backend/stage/stage.h"
#include "dialect/rdu/rdu_attribute_names.h"

#include "mlir-c/IR.h"

/* True when the stage has a linalg form: no operand is indexed by another's values. */
bool sambaStageHasLinalgForm(const SambaStage *stage);

/* Appends the stage before `before`. values: one per tensor of the graph, null where the tensor has
 * no value yet; the output's entry is replaced by the new value. `constants`: one per tensor, a
 * splat attribute where the tensor is a splat constant that goes into the body, else null.
 * `slices`: parts of tensors are read through samba.slice (which the reader of sections knows),
 * else element by element. Never fails for stages that sambaStageGraphCheck accepted. Returns the
 * operation that a section reads the stage from. */
MlirOperation sambaStageEmitLinalg(const SambaStageGraph *graph, const SambaStage *stage,
                                   MlirBlock block, MlirOperation before, MlirLocation location,
                                   bool slices, MlirValue *values, const MlirAttribute *constants);

#endif
