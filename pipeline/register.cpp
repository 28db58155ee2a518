// Everything that samba-opt, the plugin and samba-compile know by name: the passes of passes/ and
// lowering/ with their C bodies, and the pipelines.
#include "pipeline/register.h"

#include "dialect/bridge/forward.hpp"
#include "dialect/bridge/work.h"
#include "dialect/registry/dialects.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include <deque>

extern "C" {
#include "lowering/passes.h"
#include "passes/passes.h"
#include "pipeline/pipeline.h"
}

#include "dialect/rdu/classes.inc"
#include "dialect/samba/classes.inc"

namespace samba {

#define SAMBA_PASS(Name, arguments)                                                                \
  struct Name : impl::Name##Base<Name> {                                                           \
    using Name##Base::Name##Base;                                                                  \
    void getDependentDialects(DialectRegistry &all) const override {                               \
      sambaRegisterMadeDialects(wrap(&all));                                                       \
    }                                                                                              \
    void runOnOperation() override {                                                               \
      MlirOperation op = wrap(getOperation().getOperation());                                      \
      sambaWorkStartPass(getArgument().data());                                                    \
      if (!samba##Name arguments)                                                                  \
        signalPassFailure();                                                                       \
    }                                                                                              \
  };
#include "lowering/pass_classes.inc"
#include "passes/pass_classes.inc"

// The options of samba-to-rdu, from its table in C.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  std::deque<Option<std::string>> all;
  PipelineOptions() {
    for (const SambaPipelineOption *row = sambaPipelineOptionTable; row->name; ++row)
      all.emplace_back(*this, row->name, llvm::cl::desc(row->help), llvm::cl::init(row->initial));
  }
};

static LogicalResult build(const SambaPipeline *row, OpPassManager &manager, StringRef text,
                           function_ref<LogicalResult(const Twine &)> fail) {
  std::string why;
  llvm::raw_string_ostream stream(why);
  PipelineOptions options;
  if (failed(options.parseFromString(text, stream)))
    return fail(Twine(row->name) + ": " + why);
  auto values = llvm::map_to_vector(options.all, [](auto &option) { return option.c_str(); });
  SambaStatus status = sambaPipelineAdd(wrap(&manager), row, values.data());
  LogicalResult result = status ? fail(sambaStatusGetMessage(status)) : success();
  sambaStatusFree(status);
  return result;
}

} // namespace samba

void sambaRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerTransformsPasses();
    mlir::registerConvertElementwiseToLinalgPass();
    samba::registerSambaPasses();
    samba::registerSambaLoweringPasses();
    for (const SambaPipeline *row = sambaPipelineTable; row->name; ++row)
      mlir::registerPassPipeline(
          row->name, row->description, [row](auto &&...all) { return samba::build(row, all...); },
          [](auto help) { help(samba::PipelineOptions()); });
  });
}

bool sambaParseMlirFlags(int argc, const char *const *argv) {
  sambaRegisterPasses(); // --mlir-print-ir-after=PASS wants to know their names
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  return llvm::cl::ParseCommandLineOptions(argc, argv, "samba-compile");
}

bool sambaApplyMlirFlags(MlirPassManager manager, void *) {
  mlir::applyDefaultTimingPassManagerCLOptions(*unwrap(manager));
  return mlir::succeeded(mlir::applyPassManagerCLOptions(*unwrap(manager)));
}
