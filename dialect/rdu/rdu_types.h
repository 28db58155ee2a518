/* The types of the rdu dialect from C: `!rdu.stream<64x64xbf16>`, `<scalar 1xi32>` and `<control>`
 * (which has no elements), `!rdu.symbol<128x128xbf16>`. */
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
MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, MlirType element);
SambaRduTypeKind sambaRduTypeKind(MlirType type);
intptr_t sambaRduTypeRank(MlirType type);
int64_t sambaRduTypeDim(MlirType type, intptr_t axis);
MlirType sambaRduTypeElement(MlirType type); /* null for control */

/* Whether a type may have this shape and element type. */
SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element);

/* What stands behind `!rdu.stream` and `!rdu.symbol`: token is the type's part. Returns text. */
enum { SAMBA_RDU_TYPE_SIZE = 4096 };
const char *sambaRduTypeText(MlirType token, char text[SAMBA_RDU_TYPE_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
