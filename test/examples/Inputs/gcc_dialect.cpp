// A compiler with a dialect of its own, in whose modules Samba's operations stand.
#include <samba/mlir.h>

#include <mlir/CAPI/IR.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/Parser/Parser.h>

#include <cstdio>

namespace own {
using namespace mlir;

struct Leave : Op<Leave, OpTrait::VariadicOperands, OpTrait::ZeroRegions, OpTrait::ZeroResults,
                  OpTrait::ZeroSuccessors, OpTrait::IsTerminator> {
  using Op::Op;
  static StringRef getOperationName() { return "own.leave"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct OwnDialect : Dialect {
  explicit OwnDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<OwnDialect>()) {
    addOperations<Leave>();
  }
  static StringRef getDialectNamespace() { return "own"; }
};
} // namespace own

static const char text[] = "func.func @f(%x: tensor<4xf32>) {\n"
                           "  %0 = samba.relu %x : tensor<4xf32>\n"
                           "  \"own.leave\"(%0) : (tensor<4xf32>) -> ()\n"
                           "}\n";

int main() {
  mlir::MLIRContext mlir;
  mlir.loadDialect<own::OwnDialect, mlir::func::FuncDialect>();
  SambaContext *context;
  SambaStatus status = sambaContextCreateWithMlir(wrap(&mlir), &context);
  if (status)
    return 1;

  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &mlir);
  std::puts(module ? "verified" : "refused");
  sambaContextDestroy(context);
  return !module;
}
