/* All dialects that Samba works with; see dialects.h. */
#include "dialect/registry/dialects.h"

#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/samba/ops/samba_hooks.h"

#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/Tensor.h"

void sambaRegisterDialects(MlirDialectRegistry registry) {
  const MlirDialectHandle upstream[] = {
      mlirGetDialectHandle__arith__(), mlirGetDialectHandle__func__(),
      mlirGetDialectHandle__linalg__(), mlirGetDialectHandle__math__(),
      mlirGetDialectHandle__tensor__()};
  sambaInsertSamba(registry);
  sambaInsertRdu(registry);
  for (size_t i = 0; i < sizeof upstream / sizeof *upstream; ++i)
    mlirDialectHandleInsertDialect(upstream[i], registry);
}
