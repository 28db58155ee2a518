/* What the graph passes share; see graph.h. */
#include "passes/graph.h"

#include "dialect/bridge/build.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

bool sambaOperationIs(MlirOperation operation, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(operation)), sambaMlirString(name));
}

SambaStringRef sambaOperatorNameOf(MlirOperation operation) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  if (name.length <= 6 || memcmp(name.data, "samba.", 6) != 0)
    return (SambaStringRef){NULL, 0};
  return (SambaStringRef){name.data + 6, name.length - 6};
}

bool sambaOperationIsView(MlirOperation operation) {
  SambaStringRef name = sambaOperatorNameOf(operation);
  const SambaOperator *row = name.size ? sambaOperatorFind(name) : NULL;
  return row && row->view;
}

bool sambaOperationIsSplat(MlirOperation operation) {
  if (!sambaOperationIs(operation, "samba.constant"))
    return false;
  MlirAttribute value = mlirOperationGetAttributeByName(operation, sambaMlirString("value"));
  return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
}

MlirOperation sambaDefiningOperation(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

MlirBlock sambaBodyOf(MlirOperation operation) { return mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0)); }
