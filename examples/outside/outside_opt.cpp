// An mlir-opt of somebody else's: MLIR's dialects and passes, Samba's, and a pass of its own that
// looks at samba operations without their C++ classes.
#include <samba/mlir.h>

#include <mlir/CAPI/IR.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/InitAllDialects.h>
#include <mlir/InitAllPasses.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>

#include <map>

namespace {

// Says how many operations of each name of the dialect samba a module has.
struct CountSamba : mlir::PassWrapper<CountSamba, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountSamba)
  llvm::StringRef getArgument() const override { return "count-samba"; }
  llvm::StringRef getDescription() const override { return "Counts samba operations by name"; }

  void runOnOperation() override {
    std::map<std::string, unsigned> counts;
    getOperation().walk([&](mlir::Operation *op) {
      if (op->getName().getDialectNamespace() == "samba")
        ++counts[op->getName().getStringRef().str()];
    });
    for (auto &[name, count] : counts)
      getOperation().emitRemark() << count << " of " << name;
  }
};

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlirRegisterAllSambaDialects(wrap(&registry));

  mlir::registerAllPasses();
  mlirRegisterAllSambaPasses();
  mlir::PassRegistration<CountSamba>();

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "MLIR's optimizer with Samba's dialects\n", registry));
}
