/* The types of the rdu dialect from C: `!rdu.stream<64x64xbf16>`, with the order of its elements
 * `<64x64xbf16 by [1, 64]>`, of a gather `<64x64xbf16 by [1 : index, 1]>`, of a copy `<64x64xbf16
 * by {from = [64, 1], to = [1, 64]}>`, `<scalar 1xi32>` and `<control>` (which has no elements),
 * `!rdu.symbol<128x128xbf16>`. */
#ifndef SAMBA_DIALECT_RDU_RDU_TYPES_H
#define SAMBA_DIALECT_RDU_RDU_TYPES_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "backend/section/section.h"
#include "support/base/status.h"

typedef enum {
  SAMBA_RDU_VECTOR,
  SAMBA_RDU_SCALAR,
  SAMBA_RDU_CONTROL,
  SAMBA_RDU_SYMBOL
} SambaRduTypeKind;

bool sambaTypeIsRdu(MlirType type);
/* order: for vector streams, one step per dimension; kind SAMBA_ORDER_SHAPE or less: not used. */
MlirType sambaRduTypeGet(MlirContext context, SambaRduTypeKind kind, intptr_t rank,
                         const int64_t *shape, SambaOrderKind order_kind,
                         const SambaOrderStep *order, MlirType element);
SambaRduTypeKind sambaRduTypeKind(MlirType type);
intptr_t sambaRduTypeRank(MlirType type);
int64_t sambaRduTypeDim(MlirType type, intptr_t axis);
MlirType sambaRduTypeElement(MlirType type); /* null for control */
/* In which order the elements of a vector stream pass: one step per dimension. Returns what the
 * type says of it, SAMBA_ORDER_NONE for other types. */
SambaOrderKind sambaRduTypeOrder(MlirType type, SambaOrderStep *out_steps);

/* Whether a type may have this shape, element type and order (what stands behind `by`, or null). */
SambaStatus sambaRduTypeCheck(intptr_t rank, const int64_t *shape, MlirType element,
                              MlirAttribute order);

/* What stands behind `!rdu.stream` and `!rdu.symbol`: token is the type's part. Returns text. */
enum { SAMBA_RDU_TYPE_SIZE = 16384 };
const char *sambaRduTypeText(MlirType token, char text[SAMBA_RDU_TYPE_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
