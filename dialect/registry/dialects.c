/* All dialects that Samba works with; see dialects.h. */
#include "dialect/registry/dialects.h"

#include "dialect/rdu/ops/rdu_hooks.h"
#include "dialect/samba/ops/samba_hooks.h"

#include "mlir-c/Dialect/Affine.h"
#include "mlir-c/Dialect/Arith.h"
#include "mlir-c/Dialect/Bufferization.h"
#include "mlir-c/Dialect/Complex.h"
#include "mlir-c/Dialect/ControlFlow.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/Linalg.h"
#include "mlir-c/Dialect/MLProgram.h"
#include "mlir-c/Dialect/Math.h"
#include "mlir-c/Dialect/MemRef.h"
#include "mlir-c/Dialect/Quant.h"
#include "mlir-c/Dialect/SCF.h"
#include "mlir-c/Dialect/Shape.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "mlir-c/Dialect/Tensor.h"
#include "mlir-c/Dialect/Tosa.h"
#include "mlir-c/Dialect/Vector.h"

typedef MlirDialectHandle (*GetHandle)(void);
/* Those that our passes make. */
static const GetHandle upstream[] = {
    mlirGetDialectHandle__arith__,  mlirGetDialectHandle__func__,
    mlirGetDialectHandle__linalg__, mlirGetDialectHandle__math__,
    mlirGetDialectHandle__tensor__, mlirGetDialectHandle__ml_program__};
/* Those that modules of other compilers may hold: read, or refused by name. */
static const GetHandle foreign[] = {mlirGetDialectHandle__affine__,
                                    mlirGetDialectHandle__bufferization__,
                                    mlirGetDialectHandle__cf__,
                                    mlirGetDialectHandle__complex__,
                                    mlirGetDialectHandle__memref__,
                                    mlirGetDialectHandle__quant__,
                                    mlirGetDialectHandle__scf__,
                                    mlirGetDialectHandle__shape__,
                                    mlirGetDialectHandle__sparse_tensor__,
                                    mlirGetDialectHandle__tosa__,
                                    mlirGetDialectHandle__vector__};
enum {
  UPSTREAM_COUNT = sizeof upstream / sizeof *upstream,
  FOREIGN_COUNT = sizeof foreign / sizeof *foreign
};

void sambaRegisterMadeDialects(MlirDialectRegistry registry) {
  sambaInsertSamba(registry);
  sambaInsertRdu(registry);
  for (size_t i = 0; i < UPSTREAM_COUNT; ++i)
    mlirDialectHandleInsertDialect(upstream[i](), registry);
}

void sambaRegisterDialects(MlirDialectRegistry registry) {
  sambaRegisterMadeDialects(registry);
  for (size_t i = 0; i < FOREIGN_COUNT; ++i)
    mlirDialectHandleInsertDialect(foreign[i](), registry);
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
