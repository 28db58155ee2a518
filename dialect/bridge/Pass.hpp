// A pass declared in TableGen whose body is a C function: CPass<impl::FooBase, sambaFoo>. The dialects' classes, for lists of
// dependent dialects.
#ifndef SAMBA_DIALECT_BRIDGE_PASS_HPP
#define SAMBA_DIALECT_BRIDGE_PASS_HPP

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "dialect/rdu/dialect-decls.inc"
#include "dialect/samba/dialect-decls.inc"

namespace samba {

template <template <class> class Base, bool (*run)(MlirOperation)> struct CPass : Base<CPass<Base, run>> {
  void runOnOperation() override {
    mlir::Operation *op = this->getOperation();
    if (!run(wrap(op)))
      this->signalPassFailure();
  }
};

// The same where `anchor` names the only operation that the pass can run on, and TableGen does not say.
template <template <class> class Base, bool (*run)(MlirOperation), const char *anchor>
struct AnchoredPass : Base<AnchoredPass<Base, run, anchor>> {
  void runOnOperation() override {
    if (!run(wrap(this->getOperation())))
      this->signalPassFailure();
  }
  bool canScheduleOn(mlir::RegisteredOperationName name) const override { return name.getStringRef() == anchor; }
};

} // namespace samba

#endif
