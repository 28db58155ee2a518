// The passes of passes/Passes.td: each class gets its C body; and the named pipeline. (CMake defines GEN_PASS_DEF_X for
// every pass.)
#include "passes/register.h"
#include "dialect/bridge/Pass.hpp"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

extern "C" {
#include "lowering/register.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
}

namespace samba {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/passes.inc"

SAMBA_PASS(AssignMemory, sambaAssignMemoryPass(op))
SAMBA_PASS(DecomposeComposites, sambaDecomposeComposites(op, target.c_str()))
SAMBA_PASS(MaterializeViews, sambaMaterializeViews(op))
SAMBA_PASS(MixedPrecision, sambaMixedPrecision(op, preset.c_str()))
SAMBA_PASS(PartitionSections, sambaPartitionSections(op, target.c_str(), opt.c_str()))
SAMBA_PASS(RaiseIdioms, sambaRaiseIdioms(op))
} // namespace samba

// The named pipeline: the text of its options to C, which answers with the text of the passes.
static mlir::LogicalResult buildPipeline(mlir::OpPassManager &manager, llvm::StringRef options,
                                         llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> fail) {
  SambaArena arena = {nullptr};
  const char *passes = nullptr;
  SambaStatus status = sambaPipelineTextOf(&arena, {options.data(), options.size()}, &passes);
  mlir::LogicalResult result = status ? fail(sambaStatusGetMessage(status)) : mlir::parsePassPipeline(passes, manager);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return result;
}

void sambaRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerCanonicalizerPass();
    mlir::registerCSEPass();
    samba::registerSambaPasses();
    sambaRegisterLowerings();
    mlir::registerPassPipeline("samba-to-rdu", sambaPipelineDescription, buildPipeline, [](auto) {});
  });
}
