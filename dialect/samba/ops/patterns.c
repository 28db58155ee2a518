/* Canonicalization patterns: what a fold cannot say because a new operation is needed. */
#include "dialect/samba/ops/samba_hooks.h"
#include "dialect/samba/phase.h"
#include "dialect/samba/samba.h"

#include <stdlib.h>

static bool isNamed(MlirValue value, const char *name) {
  return mlirValueIsAOpResult(value) &&
         mlirStringRefEqual(sambaOperationName(mlirOpResultGetOwner(value)),
                            mlirStringRefCreateFromCString(name));
}

/* cat(a, cat(b, c)) along one dimension is cat(a, b, c), unless that is more than one section
 * takes. */
static MlirLogicalResult flattenCat(MlirRewritePattern pattern, MlirOperation op,
                                    MlirPatternRewriter rewriter, void *user_data) {
  (void)pattern, (void)user_data;
  MlirStringRef dim = mlirStringRefCreateFromCString("dim");
  MlirAttribute axis = mlirOperationGetAttributeByName(op, dim);
  MlirStringRef start = mlirStringRefCreateFromCString(SAMBA_SECTION_START_ATTRIBUTE);

  if (!mlirAttributeIsNull(mlirOperationGetAttributeByName(op, start)))
    return mlirLogicalResultFailure();
  SAMBA_ARRAY(MlirValue) operands = {0};
  bool found = false;

  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue value = mlirOperationGetOperand(op, i);
    if (isNamed(value, "samba.cat") &&
        mlirAttributeEqual(mlirOperationGetAttributeByName(mlirOpResultGetOwner(value), dim),
                           axis)) {
      MlirOperation inner = mlirOpResultGetOwner(value);
      for (intptr_t k = 0; k < mlirOperationGetNumOperands(inner); ++k)
        sambaArrayAppend(&operands, mlirOperationGetOperand(inner, k));
      found = true;
    } else {
      sambaArrayAppend(&operands, value);
    }
  }

  found = found && operands.size <= SAMBA_MAX_CAT_OPERANDS;
  if (found) {
    MlirNamedAttribute attribute = sambaNamedAttribute(mlirOperationGetContext(op), "dim", axis);
    MlirOperation flat =
        sambaOperationCreate("samba.cat", mlirOperationGetLocation(op), (intptr_t)operands.size,
                             operands.data, 1, &attribute);
    found = !mlirOperationIsNull(flat);
    if (found) {
      sambaPhaseTake(flat, op);
      MlirRewriterBase base = mlirPatternRewriterAsBase(rewriter);
      mlirRewriterBaseInsert(base, flat);
      mlirRewriterBaseReplaceOpWithOperation(base, op, flat);
    }
  }

  sambaArrayFree(&operands);
  return found ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}

static const struct {
  const char *name;
  MlirLogicalResult (*rewrite)(MlirRewritePattern, MlirOperation, MlirPatternRewriter, void *);
} patterns[] = {
    {"samba.cat", flattenCat},
};

void sambaAddPatterns(MlirContext context, MlirRewritePatternSet set) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
    MlirRewritePatternCallbacks callbacks = {.matchAndRewrite = patterns[i].rewrite};
    MlirStringRef name = mlirStringRefCreateFromCString(patterns[i].name);
    mlirRewritePatternSetAdd(
        set, mlirOpRewritePatternCreate(name, 1, context, callbacks, NULL, 0, NULL));
  }
}
