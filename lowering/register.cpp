// The passes of lowering/Passes.td: each class gets its C body. (CMake defines GEN_PASS_DEF_X for every pass.)
#include "lowering/register.h"
#include "dialect/bridge/Pass.hpp"

extern "C" {
#include "lowering/lowering.h"
}

namespace samba {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lowering/passes.inc"

SAMBA_PASS_ON("samba.section", ConvertSambaToLinalg, sambaConvertSambaToLinalg(op))
SAMBA_PASS_ON("samba.section", TileSections, sambaTileSections(op, decisions.c_str()))
SAMBA_PASS_ON("samba.section", VerifyMapping, sambaVerifyMapping(op))
SAMBA_PASS(ConvertSambaGraphsToLinalg, sambaConvertGraphsToLinalg(op))
SAMBA_PASS(ConvertLinalgToRdu, sambaConvertLinalgToRdu(op))
SAMBA_PASS_ON("rdu.section", RduSplitPrograms, sambaRduSplitPrograms(op))
SAMBA_PASS_ON("rdu.section", RduPlace, sambaRduPlace(op))
SAMBA_PASS_ON("rdu.section", RduRoute, sambaRduRoute(op))
SAMBA_PASS_ON("rdu.section", RduVerifySection, sambaRduVerifySection(op))
} // namespace samba

void sambaRegisterLoweringPasses(void) { samba::registerSambaLoweringPasses(); }
