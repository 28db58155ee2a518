/* rdu-verify-linalg: whether a module of linalg or TOSA becomes a graph. The passes that make one
 * of it are the judges: they run on a copy. */
#include "dialect/samba/graph.h"
#include "dialect/stages/read_operators.h"
#include "lowering/passes.h"

static bool checkGraphs(MlirOperation module) {
  MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(module));
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (sambaOperationIsGraph(operation) && !sambaGraphCheckStructured(operation))
      return false;
  return true;
}

bool sambaRduVerifyLinalg(MlirOperation module) {
  MlirOperation copy = mlirOperationClone(module);
  bool fine = sambaConvertTosaToSamba(copy) && sambaEnterLinalg(copy) && sambaRaiseLinalg(copy) &&
              sambaSettleGraphs(copy) && sambaModuleCheckGraphs(copy) && checkGraphs(copy);
  mlirOperationDestroy(copy);
  return fine;
}
