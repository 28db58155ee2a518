/* Ends of sections; see section_end.h. */
#include "passes/section/section_end.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/kind.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

static const char *const names[] = {"graph",  "order",   "number", "room",
                                    "cycles", "request", "search", "time"};

static MlirNamedAttribute textOf(MlirContext context, const char *key, SambaStringRef text) {
  return sambaNamedAttribute(context, key, mlirStringAttrGet(context, sambaToMlir(text)));
}

static MlirNamedAttribute cyclesOf(MlirContext context, const char *key, double cycles) {
  MlirType integer = mlirIntegerTypeGet(context, 64);
  return sambaNamedAttribute(context, key, mlirIntegerAttrGet(integer, (int64_t)cycles));
}

MlirAttribute sambaSectionEndAttribute(const SambaSectionEnd *end, MlirContext context,
                                       MlirOperation next) {
  MlirNamedAttribute parts[5];
  intptr_t count = 0;
  parts[count++] = textOf(context, "reason", sambaStringRef(names[end->kind]));
  if (!mlirOperationIsNull(next)) {
    SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(next));
    parts[count++] = textOf(context, "next", layer.size ? layer : sambaOperatorNameOf(next));
  }
  if (end->kind == SAMBA_END_BY_ROOM)
    parts[count++] = textOf(context, "why", sambaTextRef(&end->why));
  if (end->kind == SAMBA_END_BY_CYCLES) {
    parts[count++] = cyclesOf(context, "together", end->together);
    parts[count++] = cyclesOf(context, "apart", end->apart);
  }
  if (end->kind == SAMBA_END_BY_SEARCH)
    parts[count++] = cyclesOf(context, "more", end->more);
  return mlirDictionaryAttrGet(context, count, parts);
}
