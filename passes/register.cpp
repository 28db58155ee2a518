// The passes of passes/Passes.td: each class gets its C body; and the named pipeline. (CMake defines GEN_PASS_DEF_X for every pass.)
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
SAMBA_PASS(MaterializeViews, sambaMaterializeViews(op))
SAMBA_PASS(MixedPrecision, sambaMixedPrecision(op, preset.c_str()))
SAMBA_PASS(PartitionSections, sambaPartitionSections(op, target.c_str(), opt.c_str()))
SAMBA_PASS(RaiseIdioms, sambaRaiseIdioms(op))
} // namespace samba

// The named pipeline: options to C, which answers with text.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("machine: a shipped one (default sn40l) or a machine file")};
  Option<std::string> opt{*this, "opt", llvm::cl::desc("o0, o1 (default) or o3")};
  Option<std::string> mapping{*this, "mapping", llvm::cl::desc("section (default) or spatial")};
  Option<std::string> precision{*this, "precision", llvm::cl::desc("mp0 (default, alias f32), mp1 or mp4 (alias bf16)")};
  Option<std::string> inference{*this, "inference", llvm::cl::desc("true (default) or false")};
  Option<std::string> rules{*this, "rules", llvm::cl::desc("file of fusion rules")};
  Option<std::string> decisions{*this, "decisions", llvm::cl::desc("file of planner decisions")};
};

static mlir::LogicalResult buildPipeline(mlir::OpPassManager &manager, llvm::StringRef text,
                                         llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> fail) {
  PipelineOptions o;
  if (mlir::failed(o.parseFromString(text)))
    return mlir::failure();
  SambaPipelineOptions options = {o.target.c_str(),    o.opt.c_str(),   o.mapping.c_str(),  o.precision.c_str(),
                                  o.inference.c_str(), o.rules.c_str(), o.decisions.c_str()};
  SambaArena arena = {nullptr};
  const char *passes = nullptr;
  SambaStatus status = sambaPipelineText(&arena, &options, &passes);
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
    mlir::registerPassPipeline("samba-to-rdu", "From a traced graph to placed and routed rdu sections", buildPipeline,
                               [](auto handler) { handler(PipelineOptions()); });
  });
}
