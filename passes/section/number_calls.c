/* Numbers of calls; see number_calls.h. */
#include "passes/section/number_calls.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

void sambaNumberCalls(MlirOperation module) {
  int64_t id = 0;
  MlirType i64 = mlirIntegerTypeGet(mlirOperationGetContext(module), 64);
  MlirOperation function = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(function); function = mlirOperationGetNextInBlock(function)) {
    if (!sambaOperationIsGraph(function))
      continue;
    MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
    for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
      if (sambaOperationIs(operation, "samba.call"))
        mlirOperationSetAttributeByName(operation, sambaMlirString("id"),
                                        mlirIntegerAttrGet(i64, id++));
  }
}
