/* All dialects that Samba works with; see dialects.h. */
#include "dialect/registry/dialects.h"

#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/samba/ops/samba_hooks.h"

#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/Tensor.h"

typedef MlirDialectHandle (*GetHandle)(void);
static const GetHandle upstream[] = {mlirGetDialectHandle__arith__, mlirGetDialectHandle__func__,
                                     mlirGetDialectHandle__linalg__, mlirGetDialectHandle__math__,
                                     mlirGetDialectHandle__tensor__};
enum { UPSTREAM_COUNT = sizeof upstream / sizeof *upstream };

void sambaRegisterDialects(MlirDialectRegistry registry) {
  sambaInsertSamba(registry);
  sambaInsertRdu(registry);
  for (size_t i = 0; i < UPSTREAM_COUNT; ++i)
    mlirDialectHandleInsertDialect(upstream[i](), registry);
}

void sambaLoadDialects(MlirContext context) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  sambaRegisterDialects(registry);
  mlirContextAppendDialectRegistry(context, registry);
  mlirDialectRegistryDestroy(registry);

  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("samba"));
  mlirContextGetOrLoadDialect(context, mlirStringRefCreateFromCString("rdu"));
  for (size_t i = 0; i < UPSTREAM_COUNT; ++i)
    mlirDialectHandleLoadDialect(upstream[i](), context);
}
