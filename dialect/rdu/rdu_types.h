/* The types of the rdu dialect from C: `!rdu.stream<64x64xbf16>`, with the order of its elements
 * `<64x64xbf16 by [1, 64]>`, `<scalar 1xi32>` and `<control>` (which has no elements),
 * `!rdu.symbol<128x128xbf16>`. */
#ifndef SAMBA_DIALECT_RDU_RDU_TYPES_H
#define SAMBA_DIALECT_RDU_RDU_TYPES_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "support/base/status.h"

typedef enum {
  SAMBA_RDU_VECTOR,
  SAMBA_RDU_SCALAR,
  SAMBA_RDU_CONTROL,
  SAMBA_RDU_SYMBOL
} SambaRduTypeKind;

bool sambaTypeIsRdu(MlirType type);
/* steps: of the order, one per dimension, for vector streams; NULL: none is stated. */
MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, const int64_t *steps, MlirType element);
SambaRduTypeKind sambaRduTypeKind(MlirType type);
intptr_t sambaRduTypeRank(MlirType type);
int64_t sambaRduTypeDim(MlirType type, intptr_t axis);
MlirType sambaRduTypeElement(MlirType type); /* null for control */
/* What a step along a dimension adds to the place of an element; false where the type does not say
 * in which order its elements pass. */
bool sambaRduTypeStep(MlirType type, intptr_t axis, int64_t *out_step);

/* Whether a type may have this shape, element type and steps (null, or an array). */
SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element,
                              MlirAttribute steps);

/* What stands behind `!rdu.stream` and `!rdu.symbol`: token is the type's part. Returns text. */
enum { SAMBA_RDU_TYPE_SIZE = 4096 };
const char *sambaRduTypeText(MlirType token, char text[SAMBA_RDU_TYPE_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
