// MLIR's own flags (printing, timing, threading) for samba-compile: parsed by llvm::cl, applied to
// the pass manager.
#include "tools/samba-compile/mlir_flags.h"

#include "pipeline/register.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"

bool sambaParseMlirFlags(int argc, const char *const *argv) {
  sambaRegisterPasses(); // --mlir-print-ir-after=PASS wants to know their names
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  return llvm::cl::ParseCommandLineOptions(argc, argv, "samba-compile");
}

bool sambaApplyMlirFlags(MlirPassManager manager, void *) {
  if (mlir::failed(mlir::applyPassManagerCLOptions(*unwrap(manager))))
    return false;
  mlir::applyDefaultTimingPassManagerCLOptions(*unwrap(manager));
  return true;
}
