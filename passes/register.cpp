// The passes of Passes.td: each class gets its C body. A pass without options is one line, one with options fills their struct.
#include "passes/register.h"

#include "dialect/bridge/Pass.hpp"

#include "mlir/Transforms/Passes.h"

extern "C" {
#include "lowering/register.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
}

namespace samba {
#define GEN_PASS_DECL
#define GEN_PASS_DEF_ASSIGNMEMORY
#define GEN_PASS_DEF_MATERIALIZEVIEWS
#define GEN_PASS_DEF_MIXEDPRECISION
#define GEN_PASS_DEF_PARTITIONSECTIONS
#define GEN_PASS_DEF_RAISEIDIOMS
#include "passes/passes.inc"

namespace {
using AssignMemory = CPass<impl::AssignMemoryBase, sambaAssignMemoryPass>;
using MaterializeViews = CPass<impl::MaterializeViewsBase, sambaMaterializeViews>;
using RaiseIdioms = CPass<impl::RaiseIdiomsBase, sambaRaiseIdioms>;

struct MixedPrecision : impl::MixedPrecisionBase<MixedPrecision> {
  using MixedPrecisionBase::MixedPrecisionBase;
  void runOnOperation() override {
    if (!sambaMixedPrecision(wrap(getOperation().getOperation()), preset.c_str()))
      signalPassFailure();
  }
};

struct PartitionSections : impl::PartitionSectionsBase<PartitionSections> {
  using PartitionSectionsBase::PartitionSectionsBase;
  void runOnOperation() override {
    if (!sambaPartitionSections(wrap(getOperation().getOperation()), target.c_str(), opt.c_str()))
      signalPassFailure();
  }
};
} // namespace
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
  SambaPipelineOptions options = {o.target.c_str(), o.opt.c_str(), o.mapping.c_str(), o.precision.c_str(), o.inference.c_str(), o.rules.c_str(),
                                  o.decisions.c_str()};
  SambaArena arena = {nullptr};
  const char *passes = nullptr;
  SambaStatus status = sambaPipelineText(&arena, &options, &passes);
  mlir::LogicalResult result = status ? fail(sambaStatusGetMessage(status)) : mlir::parsePassPipeline(passes, manager);
  sambaStatusFree(status);
  sambaArenaDestroy(&arena);
  return result;
}

static void registerOnce() {
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::PassRegistration<samba::AssignMemory>();
  mlir::PassRegistration<samba::MaterializeViews>();
  mlir::PassRegistration<samba::MixedPrecision>();
  mlir::PassRegistration<samba::PartitionSections>();
  mlir::PassRegistration<samba::RaiseIdioms>();
  sambaRegisterLowerings();
  mlir::registerPassPipeline("samba-to-rdu", "From a traced graph to placed and routed rdu sections", buildPipeline,
                             [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handler) { handler(PipelineOptions()); });
}

void sambaRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, registerOnce);
}
