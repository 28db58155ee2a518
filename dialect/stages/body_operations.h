/* What the operations of arith and math in a body of linalg are in lane programs: one row each. The
 * reader of bodies and docs/linalg.md take what is accepted from here. */
#ifndef SAMBA_DIALECT_STAGES_BODY_OPERATIONS_H
#define SAMBA_DIALECT_STAGES_BODY_OPERATIONS_H

#include "dialect/samba/table/core/stage_builder.h"

/* Lane values of narrow types hold what the type can: floats as f32, i8 and i16 extended by their
 * sign to i32. index is i64. */
typedef struct SambaBodyCall {
  SambaStageBuilder *builder;
  uint32_t operand_count;
  uint16_t values[3];
  SambaDType dtypes[3]; /* of the operands */
  SambaDType result;
  int64_t predicate;     /* of a comparison: MLIR's stable number; else -1 */
  bool is_zero_extended; /* of a conversion: i8 comes as 0 to 255 */
} SambaBodyCall;

enum { SAMBA_NO_VALUE = UINT16_MAX };

typedef struct SambaBodyRow {
  const char *name;
  /* The value of the result; SAMBA_NO_VALUE: not of these types. */
  uint16_t (*program)(const struct SambaBodyRow *row, const SambaBodyCall *call);
  uint8_t opcode;       /* of the float, or of both */
  bool exact;           /* what a narrow type holds stays one of its values */
  const char *operator; /* whose program it is, where an operator of the table is the same */
  const char *remark;   /* for documents, "" when there is nothing to say */
} SambaBodyRow;

/* NULL: the operation is none that a lane program can say. */
const SambaBodyRow *sambaBodyRowFind(SambaStringRef name);
/* In the order of the document; NULL past the end. */
const SambaBodyRow *sambaBodyRowAt(uint32_t index);

/* The row's program, rounded to the result's type after the operation. */
uint16_t sambaBodyRowProgram(const SambaBodyRow *row, const SambaBodyCall *call);

#endif
