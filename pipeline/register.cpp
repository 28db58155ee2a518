// Everything that samba-opt, the plugin and samba-compile know by name: the passes of passes/ and
// lowering/ with their C bodies, and the pipeline samba-to-rdu.
#include "pipeline/register.h"

#include "dialect/bridge/forward.hpp"
#include "dialect/bridge/work.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

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
    void runOnOperation() override {                                                               \
      MlirOperation op = wrap(getOperation().getOperation());                                      \
      sambaWorkStartPass(getArgument().data());                                                    \
      if (!samba##Name arguments)                                                                  \
        signalPassFailure();                                                                       \
    }                                                                                              \
  };
#include "lowering/pass_classes.inc"
#include "passes/pass_classes.inc"

static LogicalResult buildPipeline(OpPassManager &manager, StringRef options,
                                   function_ref<LogicalResult(const Twine &)> fail) {
  SambaStatus status = sambaPipelineAdd(wrap(&manager), {options.data(), options.size()});
  LogicalResult result = status ? fail(sambaStatusGetMessage(status)) : success();
  sambaStatusFree(status);
  return result;
}

} // namespace samba

void sambaRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    mlir::registerConvertElementwiseToLinalgPass();
    samba::registerSambaPasses();
    samba::registerSambaLoweringPasses();
    mlir::registerPassPipeline("samba-to-rdu", sambaPipelineDescription, samba::buildPipeline,
                               [](auto) {});
  });
}
