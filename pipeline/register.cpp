// Everything that samba-opt, the plugin and samba-compile know by name: the passes of passes/ and
// lowering/, and the pipeline samba-to-rdu.
#include "pipeline/register.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

extern "C" {
#include "lowering/register.h"
#include "passes/register.h"
#include "pipeline/pipeline.h"
}

// The text of the pipeline's options goes to C, which answers with the text of the passes.
static mlir::LogicalResult
buildPipeline(mlir::OpPassManager &manager, llvm::StringRef options,
              llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> fail) {
  SambaArena arena = {nullptr};
  const char *passes = nullptr;
  SambaStatus status = sambaPipelineTextOf(&arena, {options.data(), options.size()}, &passes);
  mlir::LogicalResult result = status ? fail(sambaStatusGetMessage(status))
                                      : mlir::parsePassPipeline(passes, manager);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return result;
}

void sambaRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    sambaRegisterGraphPasses();
    sambaRegisterLoweringPasses();
    mlir::registerPassPipeline("samba-to-rdu", sambaPipelineDescription, buildPipeline,
                               [](auto) {});
  });
}
