// samba-opt: mlir-opt with Samba's dialects, passes and the pipeline samba-to-rdu, beside all of
// upstream's.
#include "dialect/bridge/work.h"
#include "dialect/registry/dialects.h"
#include "pipeline/register.h"
#include "support/base/version.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  sambaRegisterDialects(wrap(&registry));
  mlir::registerAllPasses();
  sambaRegisterPasses();
  if (sambaAnswerVersion(argc, argv, "samba-opt"))
    return 0;
  auto result = mlir::MlirOptMain(argc, argv, "Samba's optimizer driver\n", registry);
  if (sambaWorkIsAskedFor(argc, argv))
    sambaWorkPrint(stderr);
  return mlir::asMainReturnCode(result);
}
