// A compiler in C++ that builds linalg with OpBuilder in a context of its own and hands it over:
// max(a b + c, 0), compiled to memory, run on the simulated machine, compared with a plain loop.
#include <samba/mlir.h>
#include <samba/samba.h>

#include <mlir/CAPI/IR.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Verifier.h>

#include <cmath>
#include <cstdio>
#include <vector>

constexpr int64_t rows = 16, depth = 48, columns = 32;

static mlir::ModuleOp buildModule(mlir::MLIRContext &context) {
  mlir::OpBuilder builder(&context);
  mlir::Location where = builder.getUnknownLoc();
  auto module = mlir::ModuleOp::create(where);
  builder.setInsertionPointToEnd(module.getBody());

  auto matrix = [&](int64_t height, int64_t width) {
    return mlir::RankedTensorType::get({height, width}, builder.getF32Type());
  };
  mlir::RankedTensorType result = matrix(rows, columns);
  auto type =
      builder.getFunctionType({matrix(rows, depth), matrix(depth, columns), result}, result);
  auto function = mlir::func::FuncOp::create(builder, where, "layer", type);
  mlir::Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  mlir::Value a = body->getArgument(0), b = body->getArgument(1), c = body->getArgument(2);

  mlir::Value sum = mlir::linalg::MatmulOp::create(builder, where, result, mlir::ValueRange{a, b},
                                                   mlir::ValueRange{c})
                        .getResult(0);
  mlir::Value zero = mlir::arith::ConstantOp::create(builder, where, builder.getF32FloatAttr(0.0f));
  mlir::Value empty =
      mlir::tensor::EmptyOp::create(builder, where, result.getShape(), result.getElementType());
  mlir::AffineMap identity = builder.getMultiDimIdentityMap(2);
  auto relu = mlir::linalg::GenericOp::create(
      builder, where, mlir::TypeRange{result}, mlir::ValueRange{sum}, mlir::ValueRange{empty},
      {identity, identity},
      {mlir::utils::IteratorType::parallel, mlir::utils::IteratorType::parallel},
      [&](mlir::OpBuilder &inside, mlir::Location at, mlir::ValueRange values) {
        mlir::Value larger = mlir::arith::MaximumFOp::create(inside, at, values[0], zero);
        mlir::linalg::YieldOp::create(inside, at, larger);
      });
  mlir::func::ReturnOp::create(builder, where, relu.getResults());
  return module;
}

static std::vector<float> numbers(int64_t count, int seed) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float((i * 29 + seed * 13) % 37 - 18) / 16;
  return values;
}

static SambaStatus setInput(SambaSession *session, const char *name, int64_t height, int64_t width,
                            const std::vector<float> &values) {
  int64_t dims[] = {height, width};
  return sambaSessionSetInput(session, sambaStringRef(name), SAMBA_DTYPE_F32, 2, dims,
                              values.data());
}

// Runs the PEF and compares. What has no name in the module is arg0, arg1, .. and out0.
static SambaStatus simulate(SambaSession *session, const SambaPefData &pef) {
  auto a = numbers(rows * depth, 1), b = numbers(depth * columns, 2);
  auto c = numbers(rows * columns, 3), y = std::vector<float>(rows * columns);
  SambaTensor *tensor;
  SambaRunReport report;

  SAMBA_RETURN_IF_ERROR(sambaSessionLoadPefMemory(session, pef.data, pef.size));
  SAMBA_RETURN_IF_ERROR(setInput(session, "arg0", rows, depth, a));
  SAMBA_RETURN_IF_ERROR(setInput(session, "arg1", depth, columns, b));
  SAMBA_RETURN_IF_ERROR(setInput(session, "arg2", rows, columns, c));
  SAMBA_RETURN_IF_ERROR(sambaSessionRun(session, nullptr, nullptr, nullptr));
  SAMBA_RETURN_IF_ERROR(sambaSessionReadTensor(session, sambaStringRef("out0"), &tensor));
  SambaStatus status = sambaTensorCopyToFloat(tensor, y.data(), rows * columns);
  sambaTensorRelease(tensor);
  SAMBA_RETURN_IF_ERROR(status);

  double largest = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double sum = c[i * columns + j];
      for (int64_t k = 0; k < depth; ++k)
        sum += double(a[i * depth + k]) * b[k * columns + j];
      largest = std::fmax(largest, std::fabs(y[i * columns + j] - std::fmax(sum, 0)));
    }
  sambaSessionGetReport(session, &report);
  std::printf("largest difference from double precision: %.2g\n%s: %llu cycles\n", largest,
              report.machine.name, (unsigned long long)report.activity.cycles);
  return largest < 1e-4 ? nullptr : sambaStatusMake(SAMBA_MISMATCH, "it differs by too much");
}

static SambaStatus compileAndRun(mlir::MLIRContext &mlir, SambaContext *context) {
  SambaSimulatedDeviceOptions options = {};
  options.threads = 1;
  SambaDeviceFactory device = sambaSimulatedDevice(&options);
  SambaSession *session;
  SambaPefData pef;

  mlir::OwningOpRef<mlir::ModuleOp> module = buildModule(mlir);
  if (failed(mlir::verify(*module)))
    return sambaStatusMake(SAMBA_INVALID, "the module is not right");
  SAMBA_RETURN_IF_ERROR(sambaCompileMlirToMemory(context, wrap(*module), nullptr, &pef));
  SambaStatus status = sambaSessionCreate(&device, &session);
  if (!status) {
    status = simulate(session, pef);
    sambaSessionClose(session);
  }
  sambaFree(pef.data);
  return status;
}

int main() {
  mlir::MLIRContext mlir;
  mlir.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                   mlir::tensor::TensorDialect>();
  SambaContext *context;
  SambaStatus status = sambaContextCreateWithMlir(wrap(&mlir), &context);
  if (!status) {
    sambaContextSetTarget(context, "tiny");
    status = compileAndRun(mlir, context);
    sambaContextDestroy(context);
  }
  if (status)
    std::fprintf(stderr, "error: %s\n", sambaStatusGetMessage(status));
  int code = status ? 1 : 0;
  sambaStatusFree(status);
  return code;
}
