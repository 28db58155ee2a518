// The passes of passes/Passes.td: each class gets its C body. (CMake defines GEN_PASS_DEF_X for every
// pass.)
#include "passes/register.h"
#include "dialect/bridge/Pass.hpp"

extern "C" {
#include "passes/passes.h"
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

void sambaRegisterGraphPasses(void) { samba::registerSambaPasses(); }
