// A pass declared in TableGen whose body is C: SAMBA_PASS(Foo, sambaFoo(op)), or with options sambaFoo(op,
// preset.c_str()). SAMBA_PASS_ON names the only operation that the pass can run on where TableGen does not say.
#ifndef SAMBA_DIALECT_BRIDGE_PASS_HPP
#define SAMBA_DIALECT_BRIDGE_PASS_HPP

#include "dialect/bridge/bridge.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Pass/Pass.h"

#include "dialect/rdu/dialect-decls.inc"
#include "dialect/samba/dialect-decls.inc"

#define SAMBA_PASS_CLASS(Name, call, anchored)                                                                         \
  struct Name : impl::Name##Base<Name> {                                                                               \
    using Name##Base::Name##Base;                                                                                      \
    anchored void runOnOperation() override {                                                                          \
      MlirOperation op = wrap(static_cast<mlir::Operation *>(getOperation()));                                         \
      if (!(call))                                                                                                     \
        signalPassFailure();                                                                                           \
    }                                                                                                                  \
  };
#define SAMBA_PASS(Name, call) SAMBA_PASS_CLASS(Name, call, )
#define SAMBA_PASS_ON(anchor, Name, call)                                                                              \
  SAMBA_PASS_CLASS(                                                                                                    \
      Name, call,                                                                                                      \
      bool canScheduleOn(mlir::RegisteredOperationName name) const override { return name.getStringRef() == anchor; })

#endif
