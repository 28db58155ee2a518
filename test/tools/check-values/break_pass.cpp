// A pass that breaks values on purpose, for the tests of samba-check-values: every operation `from`
// becomes an operation `to` with the same operands, attributes and types. Without `to` the program
// crashes when there is one.
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

namespace {
struct BreakValues : mlir::PassWrapper<BreakValues, mlir::OperationPass<>> {
  BreakValues() = default;
  BreakValues(const BreakValues &other) : PassWrapper(other) {}
  llvm::StringRef getArgument() const override { return "test-break-values"; }
  llvm::StringRef getDescription() const override { return "Break values on purpose"; }
  void runOnOperation() override {
    llvm::SmallVector<mlir::Operation *> found;
    getOperation()->walk([&](mlir::Operation *operation) {
      if (operation->getName().getStringRef() == from)
        found.push_back(operation);
    });
    for (mlir::Operation *operation : found) {
      if (to.empty())
        abort();
      mlir::OperationState state(operation->getLoc(), std::string(to));
      state.addOperands(operation->getOperands());
      state.addTypes(operation->getResultTypes());
      state.addAttributes(operation->getAttrs());
      mlir::OpBuilder builder(operation);
      operation->replaceAllUsesWith(builder.create(state)->getResults());
      operation->erase();
    }
  }
  Option<std::string> from{*this, "from", llvm::cl::desc("operations that are replaced")};
  Option<std::string> to{*this, "to", llvm::cl::desc("what replaces them")};
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "test-break-values", "1",
          [] { mlir::PassRegistration<BreakValues>(); }};
}
