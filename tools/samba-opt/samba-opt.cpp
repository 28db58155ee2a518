// MLIR's tools with Samba's dialects and passes; SAMBA_TOOL is the name of the one that is built.
#include "dialect/bridge/work.h"
#include "dialect/registry/dialects.h"
#include "pipeline/register.h"
#include "support/base/version.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  llvm::StringRef tool = SAMBA_TOOL;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  sambaRegisterDialects(wrap(&registry));
  mlir::registerAllPasses();
  sambaRegisterPasses();
  if (sambaAnswerVersion(argc, argv, SAMBA_TOOL))
    return 0;
  sambaWorkPrintIfAskedFor(argc, argv);
  if (tool == "samba-lsp-server")
    return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
  if (tool == "samba-reduce") {
    mlir::MLIRContext context(registry);
    return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
  }
  return mlir::failed(mlir::MlirOptMain(argc, argv, "Samba's optimizer driver\n", registry));
}
