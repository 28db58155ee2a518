// samba-lsp-server: mlir-lsp-server with Samba's dialects, for editors.
#include "dialect/registry/dialects.h"
#include "support/base/version.h"

#include "mlir/CAPI/IR.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  sambaRegisterDialects(wrap(&registry));
  return !sambaAnswerVersion(argc, argv, "samba-lsp-server") &&
         mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
